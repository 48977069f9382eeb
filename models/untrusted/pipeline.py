"""The gate for a tokenizer.json: known parts with known fields alone, with a bound on the output for any text.

A tokenizer of a few kilobytes can turn one sentence into terabytes, or never end, and only on one special text. So a
tokenizer is not tried out but bounded by rule: before the tokenizers library reads it, and again after it was built.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tokenizers.models import WordLevel, WordPiece

from models.untrusted.growth import check_growth
from models.untrusted.regexes import is_known
from models.untrusted.settings import LONGEST_TOKEN, MOST_ADDED, MOST_IDS

_MOST_PARTS = 32  # in one chain
_MOST_IN_TEMPLATE = 64  # tokens that are put around a text
_LONGEST_WORD = 200  # letters of a word that WordPiece cuts in every possible way; published tokenizers have 100
_LONGEST_AFFIX = 16
_MOST_SEGMENTS = 8
_SHORT_TOKEN = 64  # bytes; the tokens that SentencePiece makes have up to 16 letters
_MOST_READ = 4096  # bytes that Unigram may compare at one letter

Check = Callable[[Any], bool]
_Fields = Mapping[str, Check]


def filtered(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the known and bounded parts of a tokenizer.json, without padding, truncation and dropout (chance).

    Raises ValueError for an unknown or unbounded part, with the part's name.
    """
    model, added = _model(raw.get("model")), _added(raw.get("added_tokens") or [])
    ids = set(_ids(model)) | {token["id"] for token in added}
    parts = {key: _part(raw.get(key), key) for key in ("normalizer", "pre_tokenizer", "post_processor", "decoder")}
    check(parts, ids=ids)
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, **parts, "model": model}


def check_built(backend: Any) -> None:
    """Check a tokenizers.Tokenizer after transformers built it: transformers may have added parts."""
    states = {
        key: None if (part := getattr(backend, key)) is None else json.loads(part.__getstate__())
        for key in ("normalizer", "pre_tokenizer", "post_processor", "decoder")
    }
    check({key: _part(state, key) for key, state in states.items()}, ids=set(backend.get_vocab().values()))
    model = backend.model
    if isinstance(model, WordPiece | WordLevel) and model.token_to_id(model.unk_token) is None:
        name = ascii(model.unk_token)[:60]
        raise ValueError(f"its vocabulary lacks {name}, its own token for what is unknown; add it to the vocabulary")


def check(parts: Mapping[str, Any], *, ids: set[int]) -> None:
    """Raise ValueError where the parts together make a text too long, or write tokens that the vocabulary lacks."""
    chains = {key: list(_chain(part)) for key, part in parts.items()}
    for key, chain in chains.items():
        if len(chain) > _MOST_PARTS:
            raise ValueError(f"its {key} has {len(chain)} parts, over {_MOST_PARTS}")
    check_growth(chains["normalizer"] + chains["pre_tokenizer"])
    check_growth(chains["decoder"])
    written = [id for part in chains["post_processor"] for id in _written(part)]
    if len(written) > _MOST_IN_TEMPLATE:
        raise ValueError(f"its post_processor puts {len(written):,} tokens around a text, over {_MOST_IN_TEMPLATE}")
    if outside := set(written) - ids:
        raise ValueError(f"its post_processor writes the token {min(outside):,}, which its vocabulary does not have")


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _word(most: int) -> Check:
    return lambda value: isinstance(value, str) and len(value) <= most


def _number(least: int, most: int) -> Check:
    return lambda value: type(value) is int and least <= value <= most


def _one_of(*values: str) -> Check:
    return lambda value: isinstance(value, str) and value in values


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _letter(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 1


def _pattern(value: Any) -> bool:
    """Return True for a literal of one letter or more, and for a known regular expression."""
    if not isinstance(value, dict) or len(value) != 1:
        return False
    ((kind, text),) = value.items()
    if not isinstance(text, str):
        return False
    return is_known(text) if kind == "Regex" else kind == "String" and 0 < len(text) <= LONGEST_TOKEN


def _token_and_id(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and _word(LONGEST_TOKEN)(value[0]) and _id(value[1])


def _plain(*names: str) -> dict[str, _Fields]:
    """Declare parts that have no field."""
    return {name: {} for name in names}


_id = _number(0, MOST_IDS - 1)
_behavior = _one_of("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
_bytes_as_letters: _Fields = {"add_prefix_space": _flag, "trim_offsets": _flag, "use_regex": _flag}
_metaspace: _Fields = {
    **{"replacement": _letter, "add_prefix_space": _flag, "split": _flag},
    **{"prepend_scheme": _one_of("always", "never", "first"), "str_rep": _letter},
}
_replace: _Fields = {"pattern": _pattern, "content": _word(_LONGEST_AFFIX)}
_cls_and_sep: _Fields = {"sep": _token_and_id, "cls": _token_and_id}

_PARTS: dict[str, dict[str, _Fields]] = {
    "normalizer": {
        **_plain("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Nmt", "StripAccents", "ByteLevel"),
        "BertNormalizer": {
            **dict.fromkeys(("clean_text", "handle_chinese_chars", "lowercase"), _flag),
            "strip_accents": _or_none(_flag),
        },
        "Strip": {"strip_left": _flag, "strip_right": _flag},
        "Replace": _replace,
        "Prepend": {"prepend": _word(_LONGEST_AFFIX)},
        "Precompiled": {"precompiled_charsmap": _word(2**23)},
    },
    "pre_tokenizer": {
        **_plain("BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts"),
        "ByteLevel": _bytes_as_letters,
        "Metaspace": _metaspace,
        "Split": {"pattern": _pattern, "behavior": _behavior, "invert": _flag},
        "Punctuation": {"behavior": _behavior},
        "Digits": {"individual_digits": _flag},
        "CharDelimiterSplit": {"delimiter": _letter},
        "FixedLength": {"length": _number(1, 10_000)},
    },
    "post_processor": {
        "BertProcessing": _cls_and_sep,
        "RobertaProcessing": {**_cls_and_sep, "trim_offsets": _flag, "add_prefix_space": _flag},
        "ByteLevel": _bytes_as_letters,
        "TemplateProcessing": {},  # _template reads it
    },
    "decoder": {
        **_plain("Fuse", "ByteFallback"),
        "ByteLevel": _bytes_as_letters,
        "WordPiece": {"prefix": _word(_LONGEST_AFFIX), "cleanup": _flag},
        "Metaspace": _metaspace,
        "BPEDecoder": {"suffix": _word(_LONGEST_AFFIX)},
        "CTC": {"pad_token": _word(64), "word_delimiter_token": _word(64), "cleanup": _flag},
        "Replace": _replace,
        "Strip": {"content": _letter, "start": _number(0, 1000), "stop": _number(0, 1000)},
    },
}
_CHAINS = {
    "normalizer": "normalizers",
    "pre_tokenizer": "pretokenizers",
    "post_processor": "processors",
    "decoder": "decoders",
}
_affix = _or_none(_word(_LONGEST_AFFIX))
_MODELS: dict[str, _Fields] = {
    "BPE": {
        **{"unk_token": _or_none(_word(LONGEST_TOKEN)), "continuing_subword_prefix": _affix},
        **{"end_of_word_suffix": _affix, "fuse_unk": _flag, "byte_fallback": _flag, "ignore_merges": _flag},
    },
    "WordPiece": {
        **{"unk_token": _word(LONGEST_TOKEN), "continuing_subword_prefix": _word(_LONGEST_AFFIX)},
        "max_input_chars_per_word": _number(1, _LONGEST_WORD),
    },
    "WordLevel": {"unk_token": _word(LONGEST_TOKEN)},
    "Unigram": {"unk_id": _or_none(_id), "byte_fallback": _flag},
}


def _part(state: Any, key: str, *, nested: bool = False) -> Any:
    """Keep the known fields of a part in the tokenizers library's format; None for a pipeline without this part."""
    if state is None:
        return None
    kind = state.get("type") if isinstance(state, dict) else None
    if kind == "Sequence" and not nested:
        parts = state.get(_CHAINS[key])
        if not isinstance(parts, list) or len(parts) > _MOST_PARTS:
            raise ValueError(f"its {key} is a chain of {len(parts) if isinstance(parts, list) else 'no'} parts")
        flat = [inner for part in parts for inner in _flat(part, key)]
        return {"type": "Sequence", _CHAINS[key]: [_part(part, key, nested=True) for part in flat]}
    if not isinstance(kind, str) or kind not in _PARTS[key]:
        raise ValueError(f"its {key} has a part {ascii(kind)[:60]}, which is not known")
    if kind == "TemplateProcessing":
        return _template(state)
    return {"type": kind, **_known(state, _PARTS[key][kind], f"its {key} {kind}")}


def _flat(part: Any, key: str) -> Iterator[Any]:
    """Yield the parts of a chain of chains; files nest at most 32 deep (models/untrusted/files.py)."""
    inner = part.get(_CHAINS[key]) if isinstance(part, dict) and part.get("type") == "Sequence" else None
    if isinstance(inner, list):
        for nested in inner:
            yield from _flat(nested, key)
    else:
        yield part


def _known(state: Mapping[str, Any], fields: _Fields, where: str) -> dict[str, Any]:
    for name, fits in fields.items():
        if name in state and not fits(state[name]):
            raise ValueError(f"{where} has {name} = {ascii(state[name])[:80]}, which no published one has")
    return {name: state[name] for name in fields if name in state}


def _chain(part: Any) -> Iterator[Mapping[str, Any]]:
    if part is None:
        return
    if part["type"] == "Sequence":
        yield from next(value for name, value in part.items() if name != "type")
    else:
        yield part


def _template(state: Mapping[str, Any]) -> dict[str, Any]:
    where = "its post_processor TemplateProcessing"
    special = state.get("special_tokens")
    if not isinstance(special, dict) or len(special) > _MOST_IN_TEMPLATE:
        raise ValueError(f"{where} has no special tokens, or over {_MOST_IN_TEMPLATE}")
    for name, token in special.items():
        ids: Any = token.get("ids") if isinstance(token, dict) else None
        tokens: Any = token.get("tokens") if isinstance(token, dict) else None
        known = isinstance(ids, list) and isinstance(tokens, list) and 0 < len(ids) == len(tokens) <= _MOST_IN_TEMPLATE
        if not known or token.get("id") != name or not (all(map(_id, ids)) and all(map(_word(LONGEST_TOKEN), tokens))):
            raise ValueError(f"{where} has a special token {name[:60]!a} that is none")
    for key, texts in (("single", ["A"]), ("pair", ["A", "B"])):
        pieces = state.get(key)
        if not isinstance(pieces, list) or len(pieces) > _MOST_IN_TEMPLATE:
            count = f"{len(pieces):,}" if isinstance(pieces, list) else "no"
            raise ValueError(f"{where} puts {count} pieces together, over {_MOST_IN_TEMPLATE}")
        if sorted(_texts(pieces, special)) != texts:
            raise ValueError(f"{where} puts {key} together from other than {' and '.join(texts)}, each once")
    return {"type": "TemplateProcessing", **{name: state[name] for name in ("single", "pair", "special_tokens")}}


def _texts(pieces: list[Any], special: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts that a template names; raises ValueError for a piece that is no text and no special token."""
    for piece in pieces:
        kind, inner = next(iter(piece.items())) if isinstance(piece, dict) and len(piece) == 1 else ("", None)
        name = inner.get("id") if isinstance(inner, dict) else None
        segment = inner.get("type_id") if isinstance(inner, dict) else None
        if not (isinstance(name, str) and _number(0, _MOST_SEGMENTS)(segment)):
            raise ValueError(f"its post_processor TemplateProcessing has a piece {ascii(piece)[:80]}, which is none")
        if kind == "Sequence":
            yield name
        elif kind != "SpecialToken" or name not in special:
            raise ValueError(f"its post_processor TemplateProcessing has a piece {ascii(piece)[:80]}, which is none")


def _written(part: Mapping[str, Any]) -> Iterator[int]:
    """Yield the ids that a post-processor puts around a pair of texts, which gets the most special tokens."""
    if part["type"] == "TemplateProcessing":
        for piece in (*part["single"], *part["pair"]):
            if "SpecialToken" in piece:
                yield from part["special_tokens"][piece["SpecialToken"]["id"]]["ids"]
    for name in ("cls", "sep", "sep"):
        if name in part:
            yield part[name][1]


def _model(raw: Any) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise ValueError("its model is missing")
    kind = raw.get("type", _kind(raw))
    if not isinstance(kind, str) or kind not in _MODELS:
        raise ValueError(f"its model is {ascii(kind)[:60]}; known are {', '.join(_MODELS)}")
    known = {"type": kind, **_known(raw, _MODELS[kind], f"its model {kind}")}
    vocabulary: Any = raw.get("vocab")
    fits = isinstance(vocabulary, list if kind == "Unigram" else dict)
    if not fits or not 0 < len(vocabulary) <= MOST_IDS:
        raise ValueError(f"its model {kind} has no vocabulary of 1 to {MOST_IDS:,} tokens")
    if kind == "Unigram":
        _check_scores(vocabulary)
        _check_search(vocabulary)
        if (unknown := known.get("unk_id")) is not None and unknown >= len(vocabulary):
            raise ValueError(f"its token for what is unknown is {unknown:,}, and it has {len(vocabulary):,}")
    else:
        check_ids(vocabulary, "its vocabulary")
    if kind == "BPE":
        known |= {"dropout": None, "merges": _merges(raw.get("merges"))}
    return known | {"vocab": vocabulary}


def check_ids(vocabulary: Mapping[str, Any], where: str) -> None:
    """Raise ValueError for a token that is too long, or with an id outside the largest vocabulary."""
    for token, id in vocabulary.items():
        if len(token) > LONGEST_TOKEN or not _id(id):
            raise ValueError(f"{where} has {token[:60]!a}, which is too long or has no id from 0 to {MOST_IDS - 1:,}")


def _kind(raw: Mapping[str, Any]) -> str:
    """Infer the kind of model in an older file, which does not name it."""
    if "merges" in raw:
        return "BPE"
    if isinstance(raw.get("vocab"), list):
        return "Unigram"
    return "WordPiece" if "max_input_chars_per_word" in raw else "WordLevel"


def _check_scores(vocabulary: list[Any]) -> None:
    for entry in vocabulary:
        if not isinstance(entry, list) or len(entry) != 2 or not _word(LONGEST_TOKEN)(entry[0]):
            raise ValueError(f"its vocabulary has {ascii(entry)[:60]}, which is no token with its score")
        if type(entry[1]) not in (int, float) or not -1e9 < entry[1] < 1e9:
            raise ValueError(f"its vocabulary gives {entry[0][:60]!a} a score that is none")


def _check_search(vocabulary: list[Any]) -> None:
    """Raise ValueError where many long tokens begin alike: Unigram reads all tokens that can begin at each letter."""
    tokens = {entry[0].encode("utf-8", "replace") for entry in vocabulary}
    for token in tokens:
        if len(token) > _SHORT_TOKEN:  # the beginnings of n bytes have at most n (n + 1) / 2 bytes together
            read = sum(end for end in range(1, len(token) + 1) if token[:end] in tokens)
            if read > _MOST_READ:
                raise ValueError(
                    f"its vocabulary has tokens that begin alike, {read:,} bytes of them, over {_MOST_READ:,}; no "
                    "published one has"
                )


def _merges(merges: Any) -> list[Any]:
    if not isinstance(merges, list) or len(merges) > MOST_IDS:
        raise ValueError(f"its model BPE has no list of at most {MOST_IDS:,} merges")
    pair = _word(LONGEST_TOKEN)
    for merge in merges:
        both = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(both, list) or len(both) != 2 or not (pair(both[0]) and pair(both[1])):
            raise ValueError(f"its model BPE merges {ascii(merge)[:60]}, which is no pair of tokens")
    return merges


def _ids(model: Mapping[str, Any]) -> Iterator[int]:
    vocabulary = model["vocab"]
    return iter(range(len(vocabulary)) if isinstance(vocabulary, list) else vocabulary.values())


def _added(tokens: Any) -> list[dict[str, Any]]:
    if not isinstance(tokens, list) or len(tokens) > MOST_ADDED:
        count = f"{len(tokens):,}" if isinstance(tokens, list) else "no list of"
        raise ValueError(f"tokenizer.json adds {count} tokens, over {MOST_ADDED:,}; no published model needs that")
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    fields: _Fields = {"id": _id, "content": _word(LONGEST_TOKEN), **dict.fromkeys(flags, _flag)}
    added = []
    for token in tokens:
        if not isinstance(token, dict) or not {"id", "content"} <= token.keys():
            raise ValueError(f"tokenizer.json adds {ascii(token)[:60]}, which is no token")
        added.append(_known(token, fields, "a token that tokenizer.json adds"))
    return added
