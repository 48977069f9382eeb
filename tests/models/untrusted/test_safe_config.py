"""config.json as a stranger writes it: each attack is tried, and nothing runs, is fetched or takes the machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForMaskedLM, BertConfig, GPT2Config, T5Config

from models.limits import UNLIMITED, Limits
from models.untrusted.safe_config import safe_config

Edit = Callable[..., None]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("something was to be fetched")

    monkeypatch.setattr("socket.socket.connect", refuse)


def write(folder: Path, **fields: object) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(fields), encoding="utf-8")
    return folder


@pytest.mark.parametrize("kind", [BertConfig, GPT2Config, T5Config])
def test_a_plain_configuration_is_as_transformers_reads_it(tmp_path: Path, kind: Any) -> None:
    kind().save_pretrained(tmp_path)
    seen, same = safe_config(tmp_path, limits=Limits()), kind.from_pretrained(tmp_path)
    assert type(seen.config) is kind
    assert seen.config.to_dict() == same.to_dict()
    assert seen.ignored == ()
    assert seen.architecture.__name__ == kind.__name__.replace("Config", "Model")


def test_the_saved_dtype_is_told_and_not_taken(tmp_path: Path) -> None:
    for name, dtype in (("float16", torch.float16), ("torch.bfloat16", torch.bfloat16), ("load", None), ("x", None)):
        seen = safe_config(write(tmp_path, model_type="bert", torch_dtype=name))
        assert (seen.dtype, seen.config.dtype) == (dtype, None)


def test_code_is_never_run(bert: Path, edit: Edit) -> None:
    """auto_map names a file in the folder, and one of another repository; the architecture is transformers' own."""
    trap = bert / "ran"
    (bert / "evil.py").write_text(f"open({str(trap)!r}, 'w')", encoding="utf-8")
    for where in ("evil", "other/repository--evil"):
        edit(bert, auto_map={"AutoConfig": f"{where}.Config", "AutoModelForMaskedLM": f"{where}.Model"})
        seen = safe_config(bert)
        assert seen.ignored == ("custom code",)
        network = AutoModelForMaskedLM.from_pretrained(
            bert, config=seen.config, trust_remote_code=False, use_safetensors=True, local_files_only=True
        )
        assert type(network) is seen.architecture
    assert not trap.exists()


@pytest.mark.parametrize(
    "fields",
    [
        {"model_type": "evil"},
        {"architectures": ["EvilModel"]},
        {"architectures": ["torch"]},
        {"architectures": ["AutoModel"]},
        {"architectures": ["BertConfig"]},
        {"architectures": ["__builtins__"]},
        {"architectures": ["models.evil.Evil"]},
        {"architectures": [{}]},
        {"architectures": 3},
        {"model_type": ["bert"]},
        {"model_type": None},
    ],
)
def test_an_architecture_of_others_is_refused(bert: Path, edit: Edit, fields: dict[str, object]) -> None:
    edit(bert, auto_map={"AutoModel": "evil.Model"}, **fields)
    with pytest.raises(
        ValueError, match=r"is not one of transformers \S+ It brings its own code .* never run\. Choose"
    ):
        safe_config(bert)


@pytest.mark.parametrize("key", ["attn_implementation", "_attn_implementation", "_attn_implementation_internal"])
def test_a_kernel_in_the_configuration_is_not_fetched(bert: Path, edit: Edit, key: str) -> None:
    edit(bert, **{key: "evil/kernel"})
    seen = safe_config(bert)
    assert seen.config._attn_implementation == "eager"
    assert "evil" not in json.dumps(seen.config.to_dict(), default=str)
    AutoModelForMaskedLM.from_pretrained(bert, config=seen.config, use_safetensors=True, local_files_only=True)


def test_what_else_chooses_files_and_devices_is_left_out(bert: Path, edit: Edit) -> None:
    edit(
        bert,
        experts_implementation="evil/kernel",
        transformers_weights="../../pytorch_model.bin",
        extra_files=["../x.safetensors"],
        base_model_tp_plan={"layers.*": "colwise"},
        name_or_path="evil/model",
        output_attentions=True,
    )
    seen = safe_config(bert)
    assert set(seen.ignored) == {"an experts kernel", "another weights file", "further files", "a device plan"}
    assert not hasattr(seen.config, "transformers_weights")
    assert "evil" not in json.dumps(seen.config.to_dict(), default=str)


def test_a_kernel_deep_inside_is_left_out_too(tmp_path: Path) -> None:
    inner = {"model_type": "gemma3_text", "attn_implementation": "evil/kernel", "num_hidden_layers": 2}
    seen = safe_config(write(tmp_path, model_type="gemma3", text_config=inner))
    assert seen.ignored == ("an attention kernel",)
    assert seen.config.text_config._attn_implementation == "eager"
    assert seen.config.text_config.num_hidden_layers == 2


@pytest.mark.parametrize("method", ["bitsandbytes", "gptq", "awq", "fp8", "mxfp4", "compressed-tensors", "\x1b[31m", 3])
def test_quantised_weights_are_refused(bert: Path, edit: Edit, method: object) -> None:
    edit(bert, quantization_config={"quant_method": method})
    with pytest.raises(ValueError, match=r"quantised \('.*'\), and every quantised format is refused") as caught:
        safe_config(bert)
    assert str(caught.value).isprintable()


def test_another_model_behind_it_is_refused(tmp_path: Path) -> None:
    for fields in ({"backbone": "evil/model", "use_pretrained_backbone": True}, {"backbone_config": {"a": 1}}):
        with pytest.raises(ValueError, match=r"builds on another model \(backbone"):
            safe_config(write(tmp_path, model_type="dpt", **fields))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"num_hidden_layers": 10**6}, r"'num_hidden_layers' = 1,000,000, over 128; HEADLIGHT_LAYERS sets"),
        ({"model_type": "gpt2", "n_layer": 10**9}, r"'n_layer' = 1,000,000,000, over 128"),
        ({"model_type": "t5", "num_decoder_layers": 500}, r"'num_decoder_layers' = 500, over 128"),
        ({"num_labels": 10**9}, r"'num_labels' = 1,000,000,000, over 100,000"),
        ({"model_type": "mixtral", "num_local_experts": 10**6}, r"'num_local_experts' = 1,000,000, over 4,096"),
        ({"hidden_size": 10**12}, r"'hidden_size' = 1,000,000,000,000, over 16,777,216"),
        ({"vocab_size": 10**400}, r"'vocab_size' = a number of 401 digits, over"),
        ({"model_type": "gpt_neo", "attention_types": [[["global", "local"], 10**9]]}, r"'attention_types' = 1,0"),
        ({"model_type": "gemma3", "text_config": {"num_hidden_layers": 10**7}}, r"'num_hidden_layers' = 10,000,000"),
    ],
)
def test_huge_numbers_are_refused_before_anything_is_built(
    tmp_path: Path, fields: dict[str, Any], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "models.untrusted.safe_config._as_transformers_reads", lambda described: pytest.fail("it was built")
    )
    with pytest.raises(ValueError, match=sentence):
        safe_config(write(tmp_path, **{"model_type": "bert", **fields}), limits=Limits())


def test_large_numbers_that_are_no_sizes_pass(tmp_path: Path) -> None:
    fields = {"rope_theta": 10**9, "max_position_embeddings": 10_485_760, "num_hidden_layers": 128}
    labels = {"label2id": {"brick layer": 900, "other": 0}, "id2label": {"900": "brick layer", "0": "other"}}
    assert safe_config(write(tmp_path, model_type="llama", **fields), limits=Limits()).config.num_hidden_layers == 128
    assert safe_config(write(tmp_path, model_type="bert", **labels), limits=Limits()).config.num_labels == 2


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"model_type": "bert", "hidden_size": ' + b"9" * 5000 + b"}",
        b'{"model_type": "bert", "hidden_size": "many"}',
        b'{"model_type": "bert", "num_hidden_layers": 1e6}',
        b'{"model_type": "bert", "num_labels": "x"}',
        b'{"model_type": "bert", "id2label": [1, 2]}',
        b'{"model_type": "gpt2", "to_dict": 3, "validate": 4, "from_dict": {}}',
        b'{"model_type": "llama", "num_attention_heads": 0}',
    ],
)
def test_damaged_files_are_sentences(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"^config.json (is damaged|holds a|is no configuration of)") as caught:
        safe_config(tmp_path, limits=UNLIMITED)
    assert str(caught.value).isprintable()


def test_a_missing_and_a_long_file_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds no config.json; choose the folder of a transformers model"):
        safe_config(tmp_path)
    (tmp_path / "config.json").write_bytes(b" " * (2**20 + 1))
    with pytest.raises(ValueError, match=r"has 1,048,577 bytes, over 1,048,576"):
        safe_config(tmp_path)
