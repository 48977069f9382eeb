"""Hostile folders and tokenizers, made from a seed, and the process that looks at each, loads it and reads with it.

    python tests/models/untrusted/hostile.py FOLDER

prints one JSON line when a case begins and one when it ends, so that whoever waits knows which case killed the process.
"""

from __future__ import annotations

import base64
import copy
import faulthandler
import json
import logging
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

SEED = 20261122
SECONDS = 10.0  # for one case
MEMORY = 3 * 2**30  # bytes beyond what the process has when it begins
SECRET = "PASSWORD=hunter2"
TEXTS = (
    "a" * 40 + "!",
    "The cat sat.",
    "قطة שלום",
    "😀👩‍👩‍👧",
    "a\x00b",
    "\ud800",
    "<s> </s> <unk>",
    "\ufdfa \u0130 ß",
)
LONG = (
    "a" * 20_000,
    " " * 19_999 + "b",
    (" " * 4_999 + "b") * 4,
    "ab " * 6_666,
    "\ufdfa" * 20_000,
    "\n\t" * 10_000,
    "1" * 20_000,
)

CONFIG = {
    "model_type": "bert",
    "architectures": ["BertForMaskedLM"],
    "vocab_size": 64,
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "max_position_embeddings": 32,
}
WORDS = ["<unk>", "<s>", "</s>", "a", "b", "ab", "aa", "aaaa", "cat", "▁", "▁a", "line-one"]


@dataclass(frozen=True)
class Case:
    """A folder to make. full: whether it gets long texts too. refused: whether it must be refused."""

    name: str
    make: Callable[[Path], None]
    full: bool = False
    refused: bool = False


def tokenizer(**parts: Any) -> dict[str, Any]:
    """A small tokenizer.json with some parts replaced."""
    model = {"type": "WordLevel", "vocab": {word: id for id, word in enumerate(WORDS)}, "unk_token": "<unk>"}
    empty = dict.fromkeys(("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"))
    return {"version": "1.0", "added_tokens": [], **empty, "model": model, **parts}


def bpe(**fields: Any) -> dict[str, Any]:
    vocabulary = {word: id for id, word in enumerate(WORDS)}
    merges = [["a", "b"], ["a", "a"], ["aa", "aa"]]
    return {"type": "BPE", "vocab": vocabulary, "merges": merges, "unk_token": "<unk>", **fields}


def unigram(**fields: Any) -> dict[str, Any]:
    return {"type": "Unigram", "vocab": [[word, -float(id)] for id, word in enumerate(WORDS)], "unk_id": 0, **fields}


def chain(kind: str, parts: list[Any]) -> dict[str, Any]:
    return {"type": "Sequence", {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers"}.get(kind, kind): parts}


def write(folder: Path, name: str, value: Any) -> None:
    (folder / name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def base(folder: Path, **parts: Any) -> None:
    write(folder, "config.json", CONFIG)
    write(folder, "tokenizer.json", tokenizer(**parts))
    write(folder, "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast"})  # as the file stands


def cases(secret: Path) -> Iterator[Case]:
    """All hostile folders; `secret` is a file outside of them."""
    chance = random.Random(SEED)
    yield Case("harmless", base, full=True)
    yield from _settings(secret, chance)
    yield from _kinds(secret)
    yield from _strikes()
    yield from _mutations(chance)


def _settings(secret: Path, chance: random.Random) -> Iterator[Case]:
    """Every field that names something, in each of the small files, and wrong types in every known one."""
    paths = [
        str(secret),
        "/etc/passwd",
        "/dev/zero",
        "../secret.txt",
        str(secret.with_name("pipe")),
        f"file://{secret}",
    ]
    odd = [3, -1, 10**30, 1e308, True, None, [], {}, ["x"] * 3, {"content": 3}, "x" * 5000, [[[[["x"]]]]], "\ud800"]
    fields = (
        *("vocab", "vocab_file", "merges", "merges_file", "tokenizer_file", "gguf_file", "init_inputs", "auto_map"),
        *("tokenizer_object", "spm_file", "normalizer_file", "entity_vocab_file", "chat_template", "name_or_path"),
        *("fast_tokenizer_files", "tokenizer_class", "backend", "unk_token", "additional_special_tokens", "unk_id"),
        *("extra_special_tokens", "model_max_length", "padding_side", "added_tokens_decoder", "add_prefix_space"),
        *("extra_ids", "model_input_names", "post_processor", "_json_padding", "_spm_precompiled_charsmap"),
    )
    for file in ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"):
        for field in fields if file != "added_tokens.json" else ("a token",):  # any name there is a token's text
            for value in (chance.choice(paths), *chance.sample(odd, 2)) if file != "added_tokens.json" else paths + odd:
                special = dict.fromkeys(("unk_token", "sep_token", "pad_token", "cls_token"), "line-one")
                content = {**special, field: value} if file != "added_tokens.json" else {field: value}

                def make(
                    folder: Path, file: str = file, content: Any = content, old: bool = chance.random() < 0.5
                ) -> None:
                    base(folder)
                    write(folder, file, content)
                    if old:  # the form whose settings transformers trusts most
                        (folder / "tokenizer.json").unlink()
                        write(folder, "vocab.txt", "\n".join(["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", *WORDS]))

                yield Case(f"{file} {field} = {ascii(value)[:40]}", make)


def _kinds(secret: Path) -> Iterator[Case]:
    """List what may stand at a file's name: no file, a file of no JSON, a link that leads out."""

    def sparse(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(10**10)

    kinds: dict[str, Callable[[Path], object]] = {
        "pipe": os.mkfifo,
        "folder": os.mkdir,
        "device": lambda path: path.symlink_to("/dev/zero"),
        "link": lambda path: path.symlink_to(secret),
        "loop": lambda path: path.symlink_to(path.name),
        "dangling": lambda path: path.symlink_to("nothing"),
        "empty": lambda path: path.write_bytes(b""),
        "no text": lambda path: path.write_bytes(b"\xff\xfe\x00" * 9),
        "deep": lambda path: path.write_text('{"a":' * 900 + "1" + "}" * 900),
        "deepest": lambda path: path.write_text("[" * 10**6),
        "cut": lambda path: path.write_text('{"version": "1.0", "mod'),
        "ten gigabytes": sparse,
        "many values": lambda path: path.write_text("[" + "[]," * 3_000_000 + "[]]"),
        "huge number": lambda path: path.write_text('{"model": ' + "9" * 100_000 + "}"),
    }
    for name in (
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "added_tokens.json",
        "config.json",
    ):
        for kind, put in kinds.items():

            def make(folder: Path, name: str = name, put: Callable[[Path], object] = put) -> None:
                base(folder)
                (folder / name).unlink(missing_ok=True)
                put(folder / name)

            yield Case(f"{name} is {kind}", make, refused=True)
    for name in ("vocab.txt", "merges.txt", "vocab.json"):
        for kind in ("pipe", "folder", "device", "link", "loop", "ten gigabytes"):

            def old(folder: Path, name: str = name, put: Callable[[Path], object] = kinds[kind]) -> None:
                base(folder)
                (folder / "tokenizer.json").unlink()
                for other in {"vocab.json", "merges.txt"} - {name} if name != "vocab.txt" else ():
                    write(folder, other, '{"a": 0}')
                put(folder / name)

            yield Case(f"{name} is {kind}", old, refused=True)


def _strikes() -> Iterator[Case]:
    """Tokenizers that read a sentence at once and strike on the reader's text."""
    longer = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 16}
    text = {"Sequence": {"id": "A", "type_id": 0}}
    begin = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    special = {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}
    template = {"type": "TemplateProcessing", "single": [text], "pair": [text], "special_tokens": special}
    charsmap = base64.b64encode((4).to_bytes(4, "little") + bytes(4) + b"x" * 10**6).decode()
    strikes: dict[str, dict[str, Any]] = {
        "8 x a -> 30 a": {"normalizer": chain("normalizer", [longer | {"content": "a" * 30}] * 8)},
        "2 x a -> 16 a": {"normalizer": chain("normalizer", [longer] * 2)},
        "a -> a megabyte": {"normalizer": longer | {"content": "a" * 10**6}},
        "an empty pattern": {"normalizer": longer | {"pattern": {"String": ""}}},
        "50 x a megabyte before": {
            "normalizer": chain("normalizer", [{"type": "Prepend", "prepend": "x" * 10**6}] * 50)
        },
        "30 x one before": {"normalizer": chain("normalizer", [{"type": "Prepend", "prepend": "x"}] * 30)},
        "ideographs apart, five times": {"normalizer": chain("normalizer", [{"type": "BertNormalizer"}] * 5)},
        "33 parts": {"normalizer": chain("normalizer", [{"type": "NFC"}] * 33)},
        "2,000,000 pieces": {"post_processor": template | {"single": [text] + [begin] * 2_000_000}},
        "the text 30 times": {"post_processor": template | {"single": [text] * 30}},
        "no text": {"post_processor": template | {"single": [begin]}},
        "65 tokens": {"post_processor": template | {"single": [text] + [begin] * 65}},
        "100,000 ids": {
            "post_processor": template
            | {"special_tokens": {"<s>": {"id": "<s>", "ids": [1] * 10**5, "tokens": ["<s>"] * 10**5}}}
        },
        "an id outside": {
            "post_processor": template
            | {
                "single": [text, begin],
                "special_tokens": {"<s>": {"id": "<s>", "ids": [10**9], "tokens": ["<s>"]}},
            }
        },
        "a segment outside": {"post_processor": template | {"single": [{"Sequence": {"id": "A", "type_id": 10**9}}]}},
        "another text": {"post_processor": template | {"single": [{"Sequence": {"id": "B", "type_id": 0}}]}},
        "bert with an id outside": {"post_processor": {"type": "BertProcessing", "sep": ["x", 4000], "cls": ["y", 1]}},
        "a table of nothing": {"normalizer": {"type": "Precompiled", "precompiled_charsmap": ""}},
        "a table of noise": {
            "normalizer": {
                "type": "Precompiled",
                "precompiled_charsmap": base64.b64encode(random.Random(SEED).randbytes(4000)).decode(),
            }
        },
        "a long word": {
            "model": {
                **{"type": "WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": "##"},
                **{"max_input_chars_per_word": 10**9, "vocab": {"<unk>": 0, "a": 1, "##a": 2}},
            }
        },
        "a long prefix": {"model": bpe(continuing_subword_prefix="x" * 10**6)},
        "a long suffix": {"model": bpe(end_of_word_suffix="x" * 10**6)},
        "an id of four billion": {"model": {"type": "WordLevel", "vocab": {"a": 4_294_967_295}, "unk_token": "a"}},
        "a negative id": {"model": {"type": "WordLevel", "vocab": {"a": -1}, "unk_token": "a"}},
        "a token of a megabyte": {"model": {"type": "WordLevel", "vocab": {"a" * 10**6: 1}, "unk_token": "a"}},
        "an unknown outside": {"model": unigram(unk_id=99)},
        "tokens that begin alike": {"model": unigram(vocab=[["a" * k, -1.0 * k] for k in range(1, 1000)])},
        "a score that is none": {"model": unigram(vocab=[["a", None]])},
        "merges of three": {"model": bpe(merges=["a b c"])},
        "merges of what is not there": {"model": bpe(merges=[["x", "y"]])},
        "50,000 added tokens": {"added_tokens": [{"id": id, "content": f"<{id}>"} for id in range(50_000)]},
        "an added token of a megabyte": {"added_tokens": [{"id": 40, "content": "x" * 10**6}]},
        "pieces of no letter": {"pre_tokenizer": {"type": "FixedLength", "length": 0}},
        "a model of another kind": {"model": {"type": "Evil"}},
        "no model": {"model": None},
        "a decoder that grows": {"decoder": {"type": "Sequence", "decoders": [longer] * 9}},
    }
    for pattern in (
        "(a+)+$",
        "(a|a)*b",
        "(a*)*",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(?=(a+))*b",
        "(.*a){25}",
        "a{1,100000}",
        "(",
    ):
        where = {"Regex": pattern}
        strikes[f"split on {pattern}"] = {
            "pre_tokenizer": {"type": "Split", "pattern": where, "behavior": "Isolated", "invert": False}
        }
        strikes[f"replace {pattern}"] = {"normalizer": {"type": "Replace", "pattern": where, "content": "b"}}
        strikes[f"decode {pattern}"] = {"decoder": {"type": "Replace", "pattern": where, "content": "b"}}
    for name, parts in strikes.items():
        yield Case(f"strike: {name}", lambda folder, parts=parts: base(folder, **parts), full=True, refused=True)
    bounded: dict[str, dict[str, Any]] = {
        "a table without a key": {"normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap}},
        "long tokens": {"model": unigram(vocab=[["<unk>", 0.0]] + [["a" * k, -1.0 * k] for k in range(1, 90)])},
        "one word": {"model": bpe()},
        "chance": {"model": bpe(dropout=0.5)},
        "no unknown": {"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "[UNK]"}},
        "no unknown in pieces": {"model": unigram(unk_id=None)},
        "a word of 200": {
            "model": {
                **{"type": "WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": "##"},
                **{"max_input_chars_per_word": 200, "vocab": {"<unk>": 0, "a": 1, "##" + "a" * 199: 2}},
            },
            "pre_tokenizer": {"type": "FixedLength", "length": 200},
        },
        "added tokens everywhere": {
            "added_tokens": [
                {"id": 20, "content": "a", **dict.fromkeys(("single_word", "special"), False)}
                | dict.fromkeys(("lstrip", "rstrip", "normalized"), True)
            ]
        },
        "as long as may be": {
            "normalizer": chain(
                "normalizer",
                [{"type": "NFKD"}, {"type": "Replace", "pattern": {"String": "ا"}, "content": "aa"}],
            ),
            "model": bpe(byte_fallback=True),
        },
        "as long as may be, in pieces": {
            "normalizer": chain(
                "normalizer",
                [{"type": "NFKD"}, {"type": "Replace", "pattern": {"String": "ا"}, "content": "aa"}],
            ),
            "model": unigram(vocab=[["<unk>", 0.0]] + [["a" * k, -1.0 * k] for k in range(1, 90)]),
        },
        "spaces before marks": {
            "normalizer": {"type": "Replace", "pattern": {"Regex": " +▁"}, "content": "▁"},
        },
        "spaces at the end": {
            "pre_tokenizer": {
                "type": "Split",
                "pattern": {"Regex": "\\s+$"},
                "behavior": "Isolated",
                "invert": False,
            }
        },
    }
    for name, parts in bounded.items():
        yield Case(f"bounded: {name}", lambda folder, parts=parts: base(folder, **parts), full=True)


def _mutations(chance: random.Random) -> Iterator[Case]:
    """A rich tokenizer.json with one place changed to what stands there never."""
    rich = tokenizer(
        added_tokens=[
            {"id": 20, "content": "<x>", "lstrip": True, **dict.fromkeys(("single_word", "rstrip", "special"), False)}
            | {"normalized": True}
        ],
        normalizer=chain("normalizer", [{"type": "NFKC"}, {"type": "Prepend", "prepend": "▁"}, {"type": "Lowercase"}]),
        pre_tokenizer={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
        model=bpe(continuing_subword_prefix=None, end_of_word_suffix="", fuse_unk=True, byte_fallback=True),
        post_processor={
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
        },
    )
    yield Case("rich", lambda folder: base(folder, **rich))
    odd = [
        None,
        True,
        -1,
        3,
        10**12,
        1e308,
        "",
        "x" * 100_000,
        [],
        {},
        [[]],
        {"type": "Sequence"},
        "/etc/passwd",
        [3] * 99,
    ]
    places = list(_places(rich))
    for number in range(120):
        place, value = chance.choice(places), chance.choice(odd)

        def make(folder: Path, place: tuple[Any, ...] = place, value: Any = value) -> None:
            base(folder, **_changed(rich, place, value))

        yield Case(f"mutation {number}: {'.'.join(map(str, place))} = {ascii(value)[:30]}", make)


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*place, key)
        if isinstance(inner, dict | list):
            yield from _places(inner, (*place, key))


def _changed(rich: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(rich)
    inner: Any = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return changed


def outcome(case: Case, folder: Path) -> dict[str, Any]:
    """Look at a folder, load its tokenizer and read with it; what was thrown, if anything."""
    from models.limits import Limits
    from models.tokenizers import encode, from_ids
    from models.untrusted.folders import local
    from models.untrusted.tokenizer import load_tokenizer

    told: list[str] = []
    most = 0
    try:
        _like_safetensors(folder)
        local(folder, limits=replace(Limits(), root=folder))
        loaded = load_tokenizer(folder)
    except ValueError as error:
        return {"refused": [type(error).__name__, str(error)]}
    if SECRET in loaded.get_vocab():
        return {"leaked": "vocabulary"}
    for text in (*TEXTS, *(LONG if case.full else ())):
        try:
            encoding = encode(loaded, text, max_tokens=512)
            most = max(most, encoding.cut.total if encoding.cut else len(encoding))
            from_ids(loaded, encoding.ids[:100])
            told.append(loaded.decode(list(encoding.ids[:100])))
        except ValueError as error:
            told.append(str(error))
    return {"loaded": type(loaded).__name__, "most": most, "leaked": "text" if SECRET in "".join(told) else None}


def _like_safetensors(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")


def main(root: Path) -> None:
    """Run every case under limits of memory and time, and watch what is opened."""
    import resource

    import models.tokenizers
    import models.untrusted.tokenizer  # noqa: F401, before memory is limited

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115, panics and warnings of hostile files say nothing new
    secret = root / "secret.txt"
    secret.write_text(f"line-one\n{SECRET}\nline-three\n", encoding="utf-8")
    os.mkfifo(root / "pipe")
    held = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, held + MEMORY))
    forbidden = {str(secret), str(root / "pipe"), "/etc/passwd", "/dev/zero"}
    opened: list[str] = []
    watching = False

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if watching and event == "open" and isinstance(arguments[0], str | bytes):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            if path in forbidden:
                opened.append(path)

    sys.addaudithook(watch)
    out = sys.stdout
    for number, case in enumerate(cases(secret)):
        folder = root / f"case-{number}"
        folder.mkdir()
        case.make(folder)
        print(json.dumps({"begins": case.name}), file=out, flush=True)
        faulthandler.dump_traceback_later(SECONDS, exit=True, file=sys.__stderr__)
        began = time.monotonic()
        opened.clear()
        watching = True
        try:
            found = outcome(case, folder)
        except BaseException as error:
            found = {"threw": f"{type(error).__name__}: {error}"[:300]}
        watching = False
        faulthandler.cancel_dump_traceback_later()
        result = {
            "seconds": round(time.monotonic() - began, 2),
            "ends": case.name,
            "must": case.refused,
            "opened": opened,
            **found,
        }
        print(json.dumps(result), file=out, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
