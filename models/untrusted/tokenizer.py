"""Load a stranger's tokenizer: transformers reads it from a folder with filtered copies of its files alone."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from transformers import AutoTokenizer
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

from models.failures import told
from models.formatting import one_line
from models.untrusted.candidates import TOKENIZERS, tokenizer_of
from models.untrusted.files import exists, read, read_fields, read_json
from models.untrusted.pipeline import check_built, check_ids, filtered
from models.untrusted.safe_config import described
from models.untrusted.settings import (
    ADDED,
    CONFIG,
    LONGEST_TOKEN,
    MOST_IDS,
    SPECIAL,
    added_tokens,
    special_tokens,
    tokenizer_settings,
)

_MOST_BYTES = 200 * 2**20  # in tokenizer.json; the largest published files have some 60 MB
_INSTEAD = "Save the model with a tokenizer of transformers' own, or choose another."
_FALLBACK = "TokenizersBackend"  # reads a tokenizer.json as it stands


def load_tokenizer(folder: Path) -> Any:
    """Load the tokenizer of a folder, without its model.

    Raises ValueError for files that hold no tokenizer data, and for a tokenizer that only Python code can run.
    """
    with TemporaryDirectory(prefix="headlight-") as copies, told("building it from its files", instead=_INSTEAD):
        _copy(folder, Path(copies))
        try:
            tokenizer = AutoTokenizer.from_pretrained(copies, trust_remote_code=False, local_files_only=True)
        except ValueError as error:
            raise ValueError(one_line(error)) from error  # in one line
    if not getattr(tokenizer, "is_fast", False):
        raise ValueError("it has no fast tokenizer (tokenizer.json); save it with a fast tokenizer first")
    with told("checking what was built", instead=_INSTEAD):
        check_built(tokenizer.backend_tokenizer)
    tokenizer.name_or_path = str(folder)
    return tokenizer


@cache
def known_classes() -> frozenset[str]:
    """Return the class names of transformers' own tokenizers, as files spell them."""
    names = {name.removesuffix("Fast") for name in TOKENIZER_MAPPING_NAMES.values() if name}
    names |= {_FALLBACK, "PreTrainedTokenizer", "BloomTokenizer"}
    return frozenset(names | {f"{name}Fast" for name in names})


def _copy(folder: Path, copies: Path) -> None:
    """Write filtered settings and the best kind of tokenizer data into the folder `copies`."""
    present = [name for kind in TOKENIZERS for name in kind if exists(folder, name)]
    data = tokenizer_of(present)
    if data is None:
        raise ValueError("there is no tokenizer; add its tokenizer.json")
    if data == "tokenizer.json":
        _write(copies / data, filtered(read_fields(folder, data, most=_MOST_BYTES)))
    elif data == "vocab.txt":
        (copies / data).write_bytes(_lines(folder, data))
    elif data == "merges.txt":
        (copies / data).write_bytes(_lines(folder, data))
        _write(copies / "vocab.json", _vocabulary(folder, "vocab.json"))
    else:
        raise ValueError(
            f"its tokenizer is {data}, which is not read here; save it with a fast tokenizer (tokenizer.json) first"
        )
    if exists(folder, "config.json"):
        _write(copies / "config.json", _class_alone(described(folder)))
    if exists(folder, CONFIG):
        _write(copies / CONFIG, tokenizer_settings(folder, classes=known_classes()))
    if exists(folder, SPECIAL):
        _write(copies / SPECIAL, special_tokens(folder))
    if exists(folder, ADDED):
        _write(copies / ADDED, added_tokens(folder))


def _class_alone(config: dict[str, Any]) -> dict[str, Any]:
    """Drop a configuration's tokenizer_class unless it is transformers' own."""
    named = config.get("tokenizer_class")
    known = isinstance(named, str) and named in known_classes()
    return {key: value for key, value in config.items() if key != "tokenizer_class" or known}


def _lines(folder: Path, name: str) -> bytes:
    content = read(folder, name, most=_MOST_BYTES)
    lines = content.split(b"\n")
    if len(lines) > MOST_IDS or max(map(len, lines)) > 8 * LONGEST_TOKEN:  # two tokens, at most four bytes a letter
        raise ValueError(f"{name} has {len(lines):,} lines, the longest of {max(map(len, lines)):,} bytes: no tokens")
    return content


def _vocabulary(folder: Path, name: str) -> dict[str, int]:
    raw = read_json(folder, name, most=_MOST_BYTES)
    if not isinstance(raw, dict) or len(raw) > MOST_IDS:
        raise ValueError(f"{name} holds no vocabulary of at most {MOST_IDS:,} tokens")
    check_ids(raw, name)
    return raw


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, allow_nan=False), encoding="utf-8")
