from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from huggingface_hub import constants
from huggingface_hub.utils import WeakFileLock
from safetensors.torch import save_file

import models
from models.limits import UNLIMITED, Limits
from models.untrusted.candidates import check, tokens_that_fit
from models.untrusted.folders import local
from models.untrusted.hub import cached, describe, fetch
from models.untrusted.hub_id import HubId, parse

BERT = HubId("org/bert")
COMMIT = "a" * 40  # the one that the hub of tests/local_hub.py serves


@pytest.fixture
def served(hub: Any, bert: Path) -> Any:
    hub.models["org/bert"] = bert
    return hub


def test_describing_fetches_the_configuration_alone(served: Any, bert: Path) -> None:
    (bert / "pytorch_model.bin").write_bytes(b"x" * 1000)
    (bert / "modeling.py").write_text("print()", encoding="utf-8")
    (bert / "consolidated.safetensors").write_bytes(b"x" * 1000)
    seen = describe(BERT)
    assert seen.commit == COMMIT
    assert {file.name: file.size for file in seen.files} == {
        name: (bert / name).stat().st_size for name in ("config.json", "tokenizer.json", "model.safetensors")
    }
    assert seen.config.architecture.__name__ == "BertForMaskedLM"
    assert seen.tokenizer == "tokenizer.json"
    assert seen.cached_bytes == (bert / "config.json").stat().st_size
    assert seen.download_bytes == seen.bytes - seen.cached_bytes
    assert {path.rpartition("/")[2] for path in served.paths() if "/resolve/" in path} == {"config.json"}
    assert all(f"/resolve/{COMMIT}/" in path for path in served.paths() if "/resolve/" in path)


def test_what_is_fetched_loads_and_works_without_a_network(
    served: Any, bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[tuple[int, int]] = []
    folder = fetch(describe(BERT), progress=lambda done, total: reports.append((done, total)))
    assert sorted(file.name for file in folder.iterdir()) == ["config.json", "model.safetensors", "tokenizer.json"]
    for file in folder.iterdir():
        assert file.read_bytes() == (bert / file.name).read_bytes()
    counts = [done for done, _ in reports]
    assert counts == sorted(counts)
    assert reports[-1] == (seen := describe(BERT).bytes, seen)
    assert len(reports) > 5
    assert models.load(folder).layers == 2
    assert cached() == ("org/bert",)
    served.refusal["org/bert"] = (503, "")
    assert describe(BERT).download_bytes == 0
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    offline = describe(BERT)
    assert offline.download_bytes == 0
    assert offline.notes[0] == "The hub cannot be reached; this is the local copy."
    assert fetch(offline) == folder
    with pytest.raises(ValueError, match=r"HF_HUB_OFFLINE is set, and org/other .* On this machine are org/bert;"):
        describe(HubId("org/other"))


def test_the_token_stays_with_the_hub(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub sends weights from a store elsewhere, which must not see the reader's token."""
    monkeypatch.setenv("HF_TOKEN", "hf_of_a_test")
    served.stores = True
    folder = fetch(describe(BERT))
    assert models.load(folder).layers == 2
    stored = [path for path in served.paths() if path.startswith("/store/")]
    assert stored
    assert served.signed
    assert not served.signed & set(stored)


def test_a_full_disk_is_a_sentence(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = describe(BERT)
    monkeypatch.setattr("models.untrusted.hub.shutil.disk_usage", lambda path: SimpleNamespace(free=1000))
    with pytest.raises(
        ValueError, match=r"would download 1\.\d+ MB, and .*cache has 1 kB free; make room, or set HF_HOME"
    ):
        fetch(seen)


def test_all_downloads_together_have_a_limit(served: Any, hub: Any, bert: Path) -> None:
    first = fetch(describe(BERT))
    size = sum(file.stat().st_size for file in first.iterdir())
    hub.models["org/second"] = bert
    second = describe(HubId("org/second"))
    before = len(served.paths())
    with pytest.raises(
        ValueError,
        match=r"org/second would download 1\.\d+ MB, and the models of the hub on this machine take 1\.\d+ MB of the "
        r"3\.\d+ MB that they may take together \(HEADLIGHT_DOWNLOADS_BYTES\)",
    ):
        fetch(second, limits=replace(UNLIMITED, downloads_bytes=2 * size - 1))
    assert len(served.paths()) == before, "it was refused before a byte"
    assert fetch(describe(BERT), limits=replace(UNLIMITED, downloads_bytes=1)) == first, "what is there needs no room"
    fetch(second, limits=replace(UNLIMITED, downloads_bytes=2 * size))


def test_what_others_fetch_meanwhile_counts(served: Any, hub: Any, bert: Path) -> None:
    hub.models["org/second"] = bert
    first, second = describe(BERT), describe(HubId("org/second"))
    limits = replace(UNLIMITED, downloads_bytes=first.bytes + second.bytes - 1)
    refused: list[str] = []

    def meanwhile(done: int, total: int) -> None:
        if not refused:
            with pytest.raises(ValueError, match="may take together") as caught:
                fetch(second, limits=limits)
            refused.append(str(caught.value))

    fetch(first, limits=limits, progress=meanwhile)
    assert len(refused) == 1
    fetch(second, limits=replace(limits, downloads_bytes=limits.downloads_bytes + 1))


def test_a_cache_that_may_not_be_written_is_a_sentence(served: Any, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the cache should be", encoding="utf-8")
    with pytest.raises(ValueError, match=r"org/bert could not be fetched: .*cache"):
        describe(BERT)


def test_waiting_for_another_process_can_be_stopped(served: Any, bert: Path) -> None:
    seen = describe(BERT)
    tag = hashlib.sha256((bert / "model.safetensors").read_bytes()).hexdigest()
    with (
        WeakFileLock(Path(constants.HF_HUB_CACHE) / ".locks" / "models--org--bert" / f"{tag}.lock"),
        pytest.raises(ValueError, match=r"Stopped after .* of model.safetensors"),
    ):
        fetch(seen, stop=lambda: any(path.endswith("model.safetensors") for path in served.paths()))
    threads = threading.active_count()
    fetch(seen)
    assert threading.active_count() <= threads + 1  # the server's own, for the connection that is kept open


def test_a_stopped_download_goes_on_where_it_was(served: Any, bert: Path) -> None:
    save_file({"weight": torch.zeros(1_000_000)}, bert / "model.safetensors")
    seen, reports = describe(BERT), []
    with pytest.raises(ValueError, match=r"^Stopped after .* of 4 MB of model.safetensors; what is there is kept"):
        fetch(seen, progress=lambda done, total: reports.append(done), stop=lambda: bool(reports) and reports[-1] > 2e6)
    folder = fetch(describe(BERT))
    (asked,) = served.ranges
    assert 1e6 < int(asked.removeprefix("bytes=").removesuffix("-")) < 4e6  # the rest alone is asked for
    assert (folder / "model.safetensors").read_bytes() == (bert / "model.safetensors").read_bytes()
    assert not list(folder.parents[1].glob("blobs/*.incomplete"))


def test_a_broken_connection_is_a_sentence_and_the_next_try_goes_on(served: Any, bert: Path) -> None:
    served.after = 2**20
    save_file({"weight": torch.ones(500_000)}, bert / "model.safetensors")
    describe(BERT)
    with pytest.raises(ValueError, match=r"connection broke after 1.05 MB of 2 MB of model.safetensors; try again"):
        fetch(describe(BERT))
    served.after = None
    assert (fetch(describe(BERT)) / "model.safetensors").read_bytes() == (bert / "model.safetensors").read_bytes()
    assert served.ranges == ["bytes=1048576-"]


def test_a_file_with_another_hash_is_thrown_away(served: Any) -> None:
    seen = describe(BERT)
    served.damaged = True
    with pytest.raises(ValueError, match=r"came damaged .* thrown away; try again"):
        fetch(seen)
    assert not list(Path(constants.HF_HUB_CACHE).glob("*/blobs/*.incomplete"))
    served.damaged = False
    assert models.load(fetch(seen)).layers == 2


@pytest.mark.parametrize(
    ("status", "code", "sentence"),
    [
        (404, "RepoNotFound", r"no model org/bert, or it is private.*HF_TOKEN"),
        (401, "", r"hub does not let this machine read org/bert \(401\).*HF_TOKEN"),
        (403, "GatedRepo", r"org/bert is gated: ask for access on http://127.0.0.1:\d+/org/bert.*HF_TOKEN"),
        (404, "RevisionNotFound", r"org/bert has no revision main"),
        (500, "", r"The hub answers 500 for org/bert; try again later"),
    ],
)
def test_refusals_are_sentences(served: Any, status: int, code: str, sentence: str) -> None:
    served.refusal["org/bert"] = (status, code)
    with pytest.raises(ValueError, match=sentence):
        describe(BERT)


def test_a_revision_is_a_branch_a_tag_or_a_commit(served: Any) -> None:
    for revision in ("v1", COMMIT, None):
        assert describe(HubId("org/bert", revision)).commit == COMMIT
    with pytest.raises(ValueError, match="org/bert has no revision v2; see"):
        describe(HubId("org/bert", "v2"))


def test_no_network_is_a_sentence(hub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("socket.socket.connect", lambda *_: (_ for _ in ()).throw(ConnectionRefusedError()))
    with pytest.raises(
        ValueError, match=r"http://127.0.0.1:9 cannot be reached, .* No model of the hub is on this mac"
    ):
        describe(BERT)


def test_the_hub_can_be_off(served: Any) -> None:
    with pytest.raises(ValueError, match="HEADLIGHT_HUB=1 turns it on"):
        describe(BERT, limits=replace(UNLIMITED, hub=False))
    assert served.asked == []


def test_pickles_adapters_and_empty_repositories_are_refused_before_anything_is_fetched(
    served: Any, bert: Path
) -> None:
    (bert / "adapter_config.json").write_text('{"base_model_name_or_path": "evil/model"}', encoding="utf-8")
    with pytest.raises(ValueError, match="adapter"):
        describe(BERT)
    (bert / "adapter_config.json").unlink()
    (bert / "model.safetensors").rename(bert / "pytorch_model.bin")
    with pytest.raises(ValueError, match=r"pickled \('pytorch_model.bin'\).*never opened"):
        describe(BERT)
    (bert / "pytorch_model.bin").unlink()
    with pytest.raises(ValueError, match="no safetensors weights"):
        describe(BERT)
    (bert / "config.json").unlink()
    with pytest.raises(ValueError, match=r"no config.json"):
        describe(BERT)
    assert not [path for path in served.paths() if "/resolve/" in path]


def test_several_weight_files(served: Any, bert: Path) -> None:
    one = (bert / "model.safetensors").read_bytes()
    (bert / "model.safetensors").unlink()
    (bert / "model-00001-of-00001.safetensors").write_bytes(one)
    (bert / "unlisted.safetensors").write_bytes(one)
    index = bert / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "model-00001-of-00001.safetensors"}}), encoding="utf-8")
    names = [file.name for file in describe(BERT).files]
    assert names[-2:] == ["model.safetensors.index.json", "model-00001-of-00001.safetensors"]
    assert "unlisted.safetensors" not in names


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "evil.py", "missing.safetensors", 3])
def test_an_index_that_names_other_files_is_refused(served: Any, bert: Path, name: object) -> None:
    (bert / "model.safetensors").rename(bert / "model-1.safetensors")
    index = bert / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "model-1.safetensors", "b": name}}), encoding="utf-8")
    (bert / "evil.py").write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match=r"no weight file of this model|names no weight files"):
        describe(BERT)


def test_a_configuration_of_a_gigabyte_is_not_fetched(served: Any, bert: Path) -> None:
    (bert / "config.json").write_bytes(b" " * 2_000_000)
    with pytest.raises(ValueError, match=r"config.json has 2,000,000 bytes, over 1,048,576"):
        describe(BERT)
    assert not [path for path in served.paths() if "/resolve/" in path]


def test_no_tokenizer_and_slow_tokenizers_are_notes(served: Any, bert: Path) -> None:
    (bert / "tokenizer.json").rename(bert / "vocab.txt")
    assert describe(BERT).tokenizer == "vocab.txt"
    assert "one would be made from vocab.txt" in describe(BERT).notes[0]
    (bert / "vocab.txt").unlink()
    assert describe(BERT).tokenizer is None
    assert "no text can be read" in describe(BERT).notes[0]


def test_over_a_limit_names_both_numbers_and_the_way_out(bert: Path) -> None:
    seen = local(bert)
    check(seen, UNLIMITED)
    parameters = seen.size.parameters
    for limits, sentence in (
        (Limits(parameters=1000), rf"parameters: {parameters:,}, .* limit here is 1,000\..*HEADLIGHT_PARAMETERS"),
        (Limits(layers=1), r"layers: 2, and the limit here is 1\..*HEADLIGHT_LAYERS"),
        (Limits(memory_bytes=100_000), r"1\.\d+ MB, and the limit here is 100 kB\..*HEADLIGHT_MEMORY_BYTES"),
        (Limits(capture_bytes=10), r"and the limit here is 10 bytes\..*HEADLIGHT_CAPTURE_BYTES"),
    ):
        with pytest.raises(ValueError, match=sentence):
            check(seen, limits)
    assert tokens_that_fit(seen, Limits(capture_bytes=seen.size.capture_bytes(7) + 1)) == 7
    assert tokens_that_fit(seen, Limits(tokens=5)) == 5


def test_kept_maps_count_towards_what_fits(bert: Path) -> None:
    seen = local(bert)
    network = transformers.BertModel.from_pretrained(bert, attn_implementation="eager")
    maps = network(torch.ones(1, 7, dtype=torch.long), output_attentions=True).attentions
    kept = seen.size.capture_bytes(7, maps=True)
    assert kept - seen.size.capture_bytes(7) == sum(one.nbytes for one in maps)
    assert tokens_that_fit(seen, Limits(capture_bytes=kept), maps=True) == 7
    assert tokens_that_fit(seen, Limits(capture_bytes=kept - 1), maps=True) == 6
    without_attention = replace(seen, size=replace(seen.size, heads=0))
    assert tokens_that_fit(without_attention, Limits(capture_bytes=kept), maps=True) == kept // seen.size.capture_bytes(
        1
    )


def test_a_download_over_the_limit(served: Any) -> None:
    with pytest.raises(
        ValueError, match=r"would download .* MB, and the limit here is 1 kB\. .*HEADLIGHT_DOWNLOAD_BYTES"
    ):
        check(describe(BERT), Limits(download_bytes=1000))


@pytest.mark.parametrize("fields", [{"num_hidden_layers": 10**6}, {"hidden_size": 10**12}, {"vocab_size": 10**30}])
def test_huge_numbers_are_refused_from_the_hub(
    served: Any, bert: Path, edit: Callable[..., None], fields: dict[str, int]
) -> None:
    edit(bert, **fields)
    with pytest.raises(ValueError, match=r"config.json has '\w+' = .*, over "):
        describe(BERT, limits=Limits())


def test_a_model_is_never_taken_from_the_working_directory(
    served: Any, tmp_path: Path, bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder org/bert beside the program that would be an adapter of another model: it is not even looked at."""
    trap = tmp_path / "work" / "org" / "bert"
    trap.mkdir(parents=True)
    (trap / "config.json").write_text('{"model_type": "evil"}', encoding="utf-8")
    (trap / "adapter_config.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "work")
    folder = fetch(describe(parse("org/bert")))
    assert (folder / "config.json").read_bytes() == (bert / "config.json").read_bytes()


@pytest.mark.heavy
def test_the_environment_of_huggingface_hub_holds(served: Any, tmp_path: Path) -> None:
    """Read HF_ENDPOINT and HF_HOME in a fresh process."""
    code = (
        "from models import hub; from models.untrusted.hub_id import parse; "
        "print(hub.fetch(hub.describe(parse('org/bert'))))"
    )
    environment = os.environ | {"HF_ENDPOINT": served.address, "HF_HOME": str(tmp_path / "home")}
    environment = {name: value for name, value in environment.items() if name != "HF_HUB_CACHE"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=Path(__file__).parents[3],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == tmp_path / "home" / "hub" / "models--org--bert" / "snapshots" / COMMIT
