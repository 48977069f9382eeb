"""The known fields of a model's small JSON files; all other fields are left out.

transformers passes the fields of a tokenizer's settings to the constructor, where `vocab`, `tokenizer_file` and others
name files, and `auto_map` names code. Generation settings choose caches, kernels and code. All of these are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from models.untrusted.files import exists, read_fields

CONFIG, SPECIAL, ADDED = "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"
GENERATION = "generation_config.json"
MOST_IDS = 2**22  # tokens of a vocabulary; the largest published vocabularies have a million
MOST_ADDED = 40_000  # tokens beside the vocabulary; a hundred thousand take transformers 9 seconds to add
LONGEST_TOKEN = 1024  # characters; published tokens have up to 512
_MOST_BYTES = 16 * 2**20  # in one of these files; files with thousands of added tokens have some 3 MB

_TOKENS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_LISTS = ("additional_special_tokens", "extra_special_tokens")
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
_SWITCHES = (
    *("add_bos_token", "add_eos_token", "add_prefix_space", "clean_text", "clean_up_tokenization_spaces"),
    *("do_lower_case", "fix_mistral_regex", "keep_accents", "legacy", "legacy_behaviour", "remove_space"),
    *("split_by_punct", "split_special_tokens", "strip_accents", "tokenize_chinese_chars", "trim_offsets"),
)
_SIDES = ("padding_side", "truncation_side")
_WORDS = ("src_lang", "tgt_lang", "language", "task", "wordpieces_prefix")
_NUMBERS = ("extra_ids", "offset")  # how many tokens T5 and Pegasus add themselves
_LENGTHS = ("model_max_length", "max_len")
_INPUTS = {"input_ids", "token_type_ids", "attention_mask"}
_TOKEN_IDS = (
    *("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id"),
    *("forced_bos_token_id", "forced_eos_token_id"),
)
_SEVERAL = ("eos_token_id", "forced_eos_token_id")  # may be a list, which means: any token of the list
_NGRAMS = ("no_repeat_ngram_size", "encoder_no_repeat_ngram_size")
_LEAST = ("min_length", "min_new_tokens")
_PENALTIES = ("repetition_penalty", "encoder_repetition_penalty")
_SUPPRESSED = ("suppress_tokens", "begin_suppress_tokens")
MOST_BAD_WORDS, LONGEST_BAD_WORD = 1000, 32  # tokens


def tokenizer_settings(folder: Path, *, classes: frozenset[str]) -> dict[str, Any]:
    """Read tokenizer_config.json; the tokenizer's class is kept if it is in `classes`.

    Raises ValueError for a known field with an impossible value.
    """
    raw = read_fields(folder, CONFIG, most=_MOST_BYTES)
    settings = _special(raw, CONFIG, typed=True)
    settings |= _each(raw, _SWITCHES, lambda value: value is None or isinstance(value, bool), "true or false")
    settings |= _each(raw, _SIDES, lambda value: value in ("left", "right"), "left or right")
    settings |= _each(raw, _WORDS, _is_word, "a word")
    settings |= _each(raw, _NUMBERS, lambda value: _is_id(value, 1001), "a number from 0 to 1,000")
    settings |= {name: length for name in _LENGTHS if (length := _length(raw.get(name))) is not None}
    if isinstance(inputs := raw.get("model_input_names"), list):
        settings["model_input_names"] = [name for name in inputs if isinstance(name, str) and name in _INPUTS]
    if "added_tokens_decoder" in raw:
        settings["added_tokens_decoder"] = _decoder(raw["added_tokens_decoder"])
    if isinstance(named := raw.get("tokenizer_class"), str) and named in classes:
        settings["tokenizer_class"] = named
    return settings


def special_tokens(folder: Path) -> dict[str, Any]:
    """Read special_tokens_map.json; raises ValueError for a special token that is no token."""
    return _special(read_fields(folder, SPECIAL, most=_MOST_BYTES), SPECIAL, typed=False)


def added_tokens(folder: Path) -> dict[str, int]:
    """Read added_tokens.json: token -> id; raises ValueError for anything else."""
    raw = read_fields(folder, ADDED, most=_MOST_BYTES)
    _check_count(len(raw), ADDED)
    for token, id in raw.items():
        if len(token) > LONGEST_TOKEN or not _is_id(id, MOST_IDS):
            raise ValueError(f"{ADDED} has {token[:60]!a}: {_short(id)}, which is no token with its id")
    return raw


def generation_ids(folder: Path, *, vocabulary: int) -> dict[str, int | list[int]]:
    """Read the token ids of generation_config.json that are below `vocabulary`; empty where the file is missing.

    Raises ValueError where the file is damaged.
    """
    if not exists(folder, GENERATION):
        return {}
    return known_ids(read_fields(folder, GENERATION, most=_MOST_BYTES), vocabulary=vocabulary)


def generation_rules(folder: Path, ids: Mapping[str, int | list[int]], *, vocabulary: int) -> dict[str, Any]:
    """Read the rules by which a model writes from generation_config.json; a rule out of its limits is left out.

    Lengths, repeated n-grams, bad words and suppressed tokens, penalties, early stopping; nothing that chooses a way to
    write (beams, sampling), a cache, another model or code. ids: of `generation_ids`; what must be written, and what
    ends a text, is not forbidden. Raises ValueError where the file is damaged.
    """
    if not exists(folder, GENERATION):
        return {}
    fields = read_fields(folder, GENERATION, most=_MOST_BYTES)
    return known_rules(fields, needed=needed_ids(ids), vocabulary=vocabulary)


def needed_ids(ids: Mapping[str, int | list[int]]) -> frozenset[int]:
    """List what must be written and what ends a text, which no rule forbids."""
    return frozenset(id for name in (*_SEVERAL, "forced_bos_token_id") for id in _listed(ids.get(name)))


def known_rules(fields: Mapping[str, Any], *, needed: frozenset[int] = frozenset(), vocabulary: int) -> dict[str, Any]:
    """Keep the rules of writing in `fields` that are within their limits; see `generation_rules`."""
    rules: dict[str, Any] = {}
    for names, fits in (
        (_NGRAMS, lambda value: _is_id(value, 101)),
        (_LEAST, lambda value: _is_id(value, 4097)),
        (_PENALTIES, lambda value: _is_number(value) and 0 < value <= 10),
        (("length_penalty",), lambda value: _is_number(value) and abs(value) <= 10),
        (("early_stopping",), lambda value: isinstance(value, bool) or value == "never"),
    ):
        rules |= {name: fields[name] for name in names if fits(fields.get(name))}
    for name in _SUPPRESSED:
        forbidden = [id for id in _listed(fields.get(name))[:MOST_ADDED] if _is_id(id, vocabulary) and id not in needed]
        rules |= {name: forbidden} if forbidden else {}
    if isinstance(words := fields.get("bad_words_ids"), list):
        fitting = [word for word in words[:MOST_BAD_WORDS] if _is_word_of_ids(word, vocabulary)]
        rules |= {"bad_words_ids": bad} if (bad := [word for word in fitting if not needed.issuperset(word)]) else {}
    return rules


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _is_word_of_ids(value: Any, vocabulary: int) -> bool:
    return (
        isinstance(value, list) and 0 < len(value) <= LONGEST_BAD_WORD and all(_is_id(id, vocabulary) for id in value)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def known_ids(fields: Mapping[str, Any], *, vocabulary: int) -> dict[str, int | list[int]]:
    """Keep the token ids in `fields` that are whole numbers from 0 to below `vocabulary`."""
    ids_by_name: dict[str, int | list[int]] = {}
    for name in _TOKEN_IDS:
        value = fields.get(name)
        if isinstance(value, int) and _is_id(value, vocabulary):
            ids_by_name[name] = value
        elif isinstance(value, list) and name in _SEVERAL:
            ids_by_name |= {name: ids} if (ids := [id for id in value[:1000] if _is_id(id, vocabulary)]) else {}
    return ids_by_name


def _special(raw: Mapping[str, Any], file: str, *, typed: bool) -> dict[str, Any]:
    """Read special tokens by name; typed: mark tokens that have flags as tokenizer_config.json marks them (__type)."""
    tokens: dict[str, Any] = {}
    for name in _TOKENS:
        if name in raw:
            tokens[name] = None if raw[name] is None else _token(raw[name], f"{file} has {name}", typed=typed)
    for name in _LISTS:
        value = raw.get(name)
        if value is None:
            continue
        if not isinstance(value, dict | list):
            raise ValueError(f"{file} has {name} = {_short(value)}, which is no list of tokens")
        _check_count(len(value), file)
        where = f"{file} has in {name}"
        if isinstance(value, list):
            tokens[name] = [_token(token, where, typed=typed or name == "additional_special_tokens") for token in value]
        else:
            tokens[name] = {
                key: _token(token, where, typed=typed) for key, token in value.items() if _names_a_token(key)
            }
    return tokens


def _names_a_token(key: str) -> bool:
    return key.isidentifier() and key.endswith("_token") and len(key) < 64


def _token(value: Any, where: str, *, typed: bool) -> str | dict[str, Any]:
    content = value.get("content") if isinstance(value, dict) else value
    if not isinstance(content, str) or len(content) > LONGEST_TOKEN:
        raise ValueError(f"{where} = {_short(value)}, which is no token")
    if not isinstance(value, dict):
        return content
    flags = {flag: value[flag] for flag in _FLAGS if flag in value and (typed or flag != "special")}
    if not all(isinstance(flag, bool) for flag in flags.values()):
        raise ValueError(f"{where} = {_short(value)}, whose {', '.join(flags)} are not all true or false")
    return {"content": content, **flags} | ({"__type": "AddedToken"} if typed else {})


def _decoder(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{CONFIG} has added_tokens_decoder = {_short(value)}, not tokens by their ids")
    _check_count(len(value), CONFIG)
    decoder = {}
    for key, fields in value.items():
        if not (key.isascii() and key.isdigit() and len(key) < 10 and int(key) < MOST_IDS and isinstance(fields, dict)):
            raise ValueError(
                f"{CONFIG} has in added_tokens_decoder {key[:60]!a}: {_short(fields)}, no id with its token"
            )
        token = _token(fields, f"{CONFIG} has in added_tokens_decoder", typed=True)
        assert isinstance(token, dict)
        decoder[key] = {name: part for name, part in token.items() if name != "__type"}
    return decoder


def _each(raw: Mapping[str, Any], names: Iterable[str], fits: Callable[[Any], bool], words: str) -> dict[str, Any]:
    for name in names:
        if name in raw and not fits(raw[name]):
            raise ValueError(f"{CONFIG} has {name} = {_short(raw[name])}; it should be {words}")
    return {name: raw[name] for name in names if name in raw}


def _is_word(value: Any) -> bool:
    return value is None or (isinstance(value, str) and len(value) <= 64)


def _length(value: Any) -> int | None:
    """Read the length of the longest text in tokens; None for an infinity, a negative number or a word."""
    if isinstance(value, float):
        value = int(value) if math.isfinite(value) else None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        return None
    return min(value, 10**30)  # transformers' own number for "no limit"


def _is_id(value: Any, vocabulary: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < vocabulary


def _check_count(count: int, file: str) -> None:
    if count > MOST_ADDED:
        raise ValueError(f"{file} adds {count:,} tokens, over {MOST_ADDED:,}; no published model needs that")


def _short(value: Any) -> str:
    if isinstance(value, int) and abs(value) >= 10**15:  # Python may refuse to write the number out
        return "a huge number"
    return ascii(value)[:60] if isinstance(value, int | float | str | None) else f"a {type(value).__name__}"
