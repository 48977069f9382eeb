"""No field of a model's small JSON files names a file, code, or anything else that is not known."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from transformers import GPT2Config, GPT2LMHeadModel

import models
from models.registry import load_candidate
from models.untrusted.folders import local
from models.untrusted.hub import describe, fetch
from models.untrusted.hub_id import HubId
from models.untrusted.settings import generation_rules
from models.untrusted.tokenizer import load_tokenizer

SECRET = ["line-one", "PASSWORD=hunter2", "line-three", "line-four"]
SPECIAL = ("unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
Write = Callable[..., Path]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text("\n".join(SECRET), encoding="utf-8")
    return path


@pytest.fixture
def folder(bert: Path) -> Path:
    """A tiny BERT whose tokenizer is a vocab.txt, the form whose settings could name another."""
    (bert / "tokenizer.json").unlink()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "line", "one", *SECRET[:1]]
    (bert / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    return bert


def write(folder: Path, name: str, fields: Any) -> None:
    (folder / name).write_text(json.dumps(fields), encoding="utf-8")


@pytest.mark.parametrize("file", ["tokenizer_config.json", "special_tokens_map.json"])
@pytest.mark.parametrize("field", ["vocab", "vocab_file", "tokenizer_file", "merges", "merges_file", "gguf_file"])
def test_no_field_names_a_file(folder: Path, secret: Path, file: str, field: str) -> None:
    """Name a file in each field; without the gate the first case makes the lines of the secret the vocabulary."""
    write(folder, file, {field: str(secret), **dict.fromkeys(SPECIAL, SECRET[0])})
    loaded = models.load(folder)
    assert "PASSWORD=hunter2" not in loaded.tokenizer.get_vocab()
    assert "PASSWORD=hunter2" not in loaded.encode("PASSWORD=hunter2 line one").tokens


def test_no_field_names_a_file_on_the_hub(hub: Any, folder: Path, secret: Path) -> None:
    write(folder, "tokenizer_config.json", {"vocab": str(secret), **dict.fromkeys(SPECIAL, SECRET[0])})
    hub.models["evil/repo"] = folder
    candidate = describe(HubId("evil/repo"))
    loaded = load_candidate(candidate, fetch(candidate))
    assert "PASSWORD=hunter2" not in loaded.tokenizer.get_vocab()


@pytest.mark.parametrize("name", ["tokenizer_config.json", "vocab.txt", "special_tokens_map.json", "added_tokens.json"])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link", "loop"])
def test_only_regular_files_inside_the_folder_are_read(folder: Path, secret: Path, name: str, kind: str) -> None:
    (folder / name).unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(folder / name)
    elif kind == "folder":
        (folder / name).mkdir()
    else:
        target = {"device": Path("/dev/zero"), "link": secret, "loop": folder / name}[kind]
        (folder / name).symlink_to(target)
    with pytest.raises(ValueError, match=r"no regular file|leads out of its folder|cannot be read"):
        load_tokenizer(folder)


def test_links_inside_the_folder_are_read(bert: Path) -> None:
    (bert / "tokenizer.json").rename(bert / "kept.json")
    (bert / "tokenizer.json").symlink_to("kept.json")
    assert load_tokenizer(bert)("cat")["input_ids"] == [101, 4937, 102]


def test_a_class_that_is_no_tokenizer_is_left_out(bert: Path) -> None:
    for name in ("AutoModel", "BertModel", "os", "PreTrainedModel", ["x"], 3):
        write(
            bert, "tokenizer_config.json", {"tokenizer_class": name, "auto_map": {"AutoTokenizer": ["evil.py", None]}}
        )
        assert load_tokenizer(bert)("cat")["input_ids"] == [101, 4937, 102]


@pytest.mark.parametrize("length", ["Infinity", "-5", "1e400", '"x"', "NaN", "0", "true", "null", "[]", "1" * 400])
def test_a_length_that_is_none_is_left_out(bert: Path, length: str) -> None:
    (bert / "tokenizer_config.json").write_text(f'{{"model_max_length": {length}}}', encoding="utf-8")
    assert models.load(bert).max_tokens == 32


def test_the_rules_of_writing_are_read_within_their_limits(tmp_path: Path) -> None:
    good = {
        "no_repeat_ngram_size": 3,
        "min_length": 56,
        "repetition_penalty": 1.1,
        "length_penalty": 2.0,
        "early_stopping": True,
        "bad_words_ids": [[7], [8, 9]],
        "suppress_tokens": [4, 5],
    }
    write(tmp_path, "generation_config.json", good)
    assert generation_rules(tmp_path, {}, vocabulary=10) == good
    bad = {
        "no_repeat_ngram_size": 10**9,
        "min_length": -1,
        "min_new_tokens": True,
        "repetition_penalty": 0,
        "encoder_repetition_penalty": float("inf"),
        "length_penalty": "2",
        "early_stopping": "soon",
        "bad_words_ids": [[], [10], [3], "x", [1] * 33],
        "suppress_tokens": [3, 10, -1, "x"],
        "begin_suppress_tokens": {"a": 1},
        "num_beams": 10**6,
        "do_sample": True,
        "temperature": 9,
        "cache_implementation": "static",
        "custom_generate": "code",
    }
    write(tmp_path, "generation_config.json", bad)
    assert generation_rules(tmp_path, {"eos_token_id": 3}, vocabulary=10) == {}


def test_generation_settings_but_token_ids_and_rules_are_left_out(bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "gpt2"
    GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=2, n_embd=8, n_positions=16, vocab_size=30522)).save_pretrained(folder)
    (folder / "tokenizer.json").write_bytes((bert / "tokenizer.json").read_bytes())
    write(
        folder,
        "generation_config.json",
        {
            **{"eos_token_id": [3, 10**9], "decoder_start_token_id": 10**9, "pad_token_id": -1, "bos_token_id": "x"},
            **{"assistant_early_exit": 1, "cache_implementation": "static", "return_dict_in_generate": True},
        },
    )
    settings: Any = models.load(folder).network.generation_config
    assert settings.eos_token_id == [3]
    assert settings.bos_token_id is None or settings.bos_token_id < 30522
    assert settings.decoder_start_token_id is None
    assert settings.assistant_early_exit is None
    assert settings.cache_implementation is None
    assert not settings.return_dict_in_generate
    assert settings.no_repeat_ngram_size is None
    (folder / "generation_config.json").write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match=r"generation_config.json is damaged"):
        models.load(folder)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"unk_token": 3}, "unk_token = 3, which is no token"),
        ({"unk_token": "a" * 2000}, "which is no token"),
        ({"do_lower_case": "maybe"}, "do_lower_case = 'maybe'; it should be true or false"),
        ({"padding_side": "/etc/passwd"}, "it should be left or right"),
        ({"added_tokens_decoder": {"9" * 30: {"content": "x"}}}, "no id with its token"),
        ({"added_tokens_decoder": {"7": {"content": "x", "lstrip": "y"}}}, "not all true or false"),
        ({"extra_ids": 10**9}, "extra_ids = 1000000000; it should be"),
        ({"additional_special_tokens": ["x"] * 50_000}, "adds 50,000 tokens, over 40,000"),
    ],
)
def test_known_fields_with_impossible_values_are_sentences(bert: Path, fields: dict[str, Any], sentence: str) -> None:
    write(bert, "tokenizer_config.json", fields)
    with pytest.raises(ValueError, match=sentence):
        load_tokenizer(bert)


def test_a_configuration_that_nests_too_deep_is_a_sentence(bert: Path) -> None:
    (bert / "config.json").write_text('{"model_type": "bert", "x": ' + "[" * 900 + "]" * 900 + "}", encoding="utf-8")
    with pytest.raises(ValueError, match=r"config.json is damaged: it nests more than 32 deep"):
        local(bert)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e400", '{"__float__": "NaN"}'])
def test_a_number_that_is_not_finite_is_refused(bert: Path, value: str) -> None:
    path = bert / "config.json"
    path.write_text(path.read_text(encoding="utf-8").replace("1e-12", value), encoding="utf-8")
    with pytest.raises(ValueError, match=r"'layer_norm_eps' = -?(nan|inf), and a model computes with finite numbers"):
        local(bert)


@pytest.mark.parametrize("kind", ["gemma3", "bert", "encoder-decoder", "t5gemma", "qwen2_vl"])
def test_a_part_that_is_no_configuration_is_a_sentence(bert: Path, edit: Callable[..., None], kind: str) -> None:
    for value in ("x", 3, [1], True):
        edit(bert, model_type=kind, text_config=value, encoder=value, decoder=value)
        with pytest.raises(ValueError, match=r"config\.json|architecture|text model") as caught:
            local(bert)
        assert str(caught.value).isprintable()
