from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from models.limits import UNLIMITED, Limits
from models.untrusted.folders import allowed, local
from models.untrusted.hub import fetch


class Trap:
    """Unpickled, it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


def test_a_folder_is_described(bert: Path) -> None:
    seen = local(bert, limits=replace(Limits(), root=bert.parent))
    assert [file.name for file in seen.files] == ["config.json", "tokenizer.json", "model.safetensors"]
    assert (seen.folder, seen.commit, seen.download_bytes) == (bert, None, 0)
    assert fetch(seen) == bert
    assert seen.memory_bytes(torch.float16) * 2 == seen.memory_bytes()
    network = seen.config.architecture(seen.config.config)
    assert seen.size.parameters == sum(parameter.numel() for parameter in network.parameters())


def test_pickles_are_never_opened(bert: Path, tmp_path: Path) -> None:
    trap = tmp_path / "ran"
    (bert / "model.safetensors").unlink()
    for name in ("pytorch_model.bin", "model.pt", "weights.PKL"):
        (bert / name).write_bytes(pickle.dumps(Trap(trap)))
        with pytest.raises(ValueError, match=r"weights are pickled .*never opened"):
            local(bert)
        (bert / name).unlink()
    assert not trap.exists()
    os.mkdir(trap)  # as the pickle would have
    assert trap.exists()


def test_an_adapter_is_refused(bert: Path) -> None:
    (bert / "adapter_config.json").write_text('{"base_model_name_or_path": "evil/model"}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"adapter .* would load another model; merge it"):
        local(bert)


def test_a_damaged_index_is_a_sentence(bert: Path) -> None:
    (bert / "model.safetensors").unlink()
    for content in ("{", "[]", '{"weight_map": 3}', "[" * 100_000):
        (bert / "model.safetensors.index.json").write_text(content, encoding="utf-8")
        with pytest.raises(ValueError, match=r"model.safetensors.index.json is damaged"):
            local(bert)


@pytest.mark.parametrize(
    "path", ["{root}/../outside", "{outside}", "{root}/link", "{root}/missing", "/", "~", "../outside"]
)
def test_nothing_outside_the_root_is_read(tmp_path: Path, bert: Path, path: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    bert.rename(outside)
    (root / "link").symlink_to(outside)
    limits = replace(Limits(), root=root)
    with pytest.raises(
        ValueError, match=r"There is no folder .* under .*root; HEADLIGHT_ROOT sets where models may lie"
    ):
        local(path.format(root=root, outside=outside), limits=limits)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_file_that_links_out_of_the_root_is_refused(tmp_path: Path, bert: Path, name: str) -> None:
    secret = tmp_path / "secret"
    (bert / name).rename(secret)
    (bert / name).symlink_to(secret)
    with pytest.raises(ValueError, match=rf"'{name}' is a link that leads out of"):
        local(bert, limits=replace(Limits(), root=bert))
    assert local(bert, limits=replace(Limits(), root=tmp_path)).name == str(bert)


@pytest.mark.parametrize("path", ["\x00", "~nobody-here/x", "a" * 5000, ""])
def test_what_is_no_path_is_a_sentence(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match=r"is no path of a folder|There is no folder"):
        allowed(path, limits=replace(Limits(), root=tmp_path))


def test_folders_are_off_unless_a_root_is_set(bert: Path) -> None:
    with pytest.raises(ValueError, match=r"Local folders are off here; start Headlight with HEADLIGHT_ROOT"):
        local(bert, limits=Limits())
    assert allowed(bert, limits=UNLIMITED) == bert


def test_a_small_folder_that_describes_a_large_model(bert: Path, edit: Callable[..., None]) -> None:
    edit(bert, hidden_size=2**17, intermediate_size=2**19, num_hidden_layers=100, num_attention_heads=1024)
    seen = local(bert, limits=replace(Limits(), root=bert))
    assert seen.size.parameters > 10**13
    assert seen.bytes < 5 * 10**6


@pytest.mark.parametrize("name", ["num_attention_heads", "hidden_size", "num_hidden_layers"])
def test_a_negative_size_is_named(bert: Path, edit: Callable[..., None], name: str) -> None:
    edit(bert, **{name: -2})
    with pytest.raises(ValueError, match=f"config.json has a {name} of -2; a model has 1 or more"):
        local(bert)


def test_a_pipe_is_not_said_to_be_missing(bert: Path) -> None:
    (bert / "tokenizer.json").unlink()
    os.mkfifo(bert / "tokenizer.json")
    with pytest.raises(ValueError, match=r"'tokenizer\.json' is no regular file"):
        local(bert)


@pytest.mark.parametrize(
    "fields",
    [
        {"num_attention_heads": 3},
        {"hidden_act": "evil"},
        {"model_type": "llama", "architectures": [], "rope_scaling": {"type": 7}},
        {"model_type": "resnet", "architectures": []},
    ],
)
def test_what_cannot_be_built_is_a_sentence(bert: Path, edit: Callable[..., None], fields: dict[str, object]) -> None:
    edit(bert, **fields)
    with pytest.raises(
        ValueError, match=r"cannot be built|fits no machine|no configuration of|not text|be recorded"
    ) as caught:
        local(bert)
    assert str(caught.value).isprintable()


def test_a_tokenizer_of_a_gigabyte_is_refused(bert: Path) -> None:
    with (bert / "tokenizer.json").open("wb") as file:
        file.truncate(10**9)  # holes: takes no disk
    with pytest.raises(ValueError, match=r"tokenizer.json has 1 GB, over 210 MB; that is no tokenizer's"):
        local(bert)
