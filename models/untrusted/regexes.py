"""The regular expressions by which published tokenizers split and replace; no others are accepted.

A regular expression can take minutes on one text and a millisecond on all others: `(a+)+$` reads a sentence at once and
never ends on "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!". A trial cannot show this, so only known expressions pass: expressions
that transformers builds by itself or that widespread models use, and any single class of characters, repeated or not.
"""

from __future__ import annotations

import re

_SHORT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"  # 's, 't, 're, ... in either case
_END = r"|\s*[\r\n]+|\s+(?!\S)|\s+"  # line ends, then spaces; the last of them goes with the next word
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_NO_HAN_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
_NO_HAN_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
_CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def _cased(upper: str, lower: str, short: str, rest: str) -> str:
    """Build the expression for words that begin at a capital letter, as in o200k."""
    lead = r"[^\r\n\p{L}\p{N}]?"
    return rf"{lead}{upper}*{lower}+{short}|{lead}{upper}+{lower}*{short}|{rest}{_END}"


_PUBLISHED = {
    "GPT-2, GPT-NeoX, OPT, Phi, OLMo, StarCoder, Whisper": (
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    ),
    "GPT-2 as tiktoken writes it": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "GPT-2 as tiktoken has it since": (
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
    ),
    "Falcon": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)",
    "Falcon: numbers by three": "[0-9][0-9][0-9]",
    "BLOOM": r" ?[^(\s|[.,!?…。，、।۔،])]+",
    "GPT-3 in Finnish, and others of BLOOM's kind": r" ?[^(\s|[.,!?])]+",
    "Llama 3, GLM-4, OLMo 2, SmolLM3, cl100k": (
        _SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + _END
    ),
    "Llama 3 with short forms in small letters": (
        r"(?:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + _END
    ),
    "cl100k as tiktoken writes it: DBRX, Phi-4": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
    ),
    "cl100k as tiktoken has it since": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "Qwen2, Qwen2.5, Qwen3": _SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*" + _END,
    "Qwen3.5": _SHORT + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + _END,
    "GPT-4o, gpt-oss, Llama 4": _cased(_UPPER, _LOWER, f"{_SHORT}?", r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*"),
    "Mistral Tekken, Nemotron, Apertus": _cased(_UPPER, _LOWER, "", r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*"),
    "Kimi K2": r"[\p{Han}]+|"
    + _cased(_NO_HAN_UPPER, _NO_HAN_LOWER, f"{_SHORT}?", r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"),
    "DeepSeek LLM and V2: spaces at the end": r"\s+$",
    "DeepSeek V3, R1, Hunyuan": (
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
        + _END
    ),
    "CLIP": _CLIP,
    "CLIP as transformers builds it": r"<\|startoftext\|>|<\|endoftext\|>|" + _CLIP,
    "Nougat": r"[\(\)\[\]\{\}]|([!\"#\$%\&'\*\+,\-\./:;<=>\?\\\^_`\|\~])\1*",
    "DeBERTa-v2, BARThez": r"\s{2,}|[\n\r\t]",
    "SeamlessM4T: spaces before a mark": " +▁",
    "SeamlessM4T: marks alone": "^▁+$",
}

# One class of characters, perhaps after a space, perhaps repeated: `\p{N}{1,3}`, ` {2,}`, `\s?[A-Za-z]+`, `[一-龥]+`.
_ONE_CLASS = re.compile(
    r"(?: \?|\\s\?)?(?:\[(?:[^\[\]\\&]|\\[^pP]|\\[pP]\{\w+\})+\]|\\[pP]\{\w+\}|\\[sdwnrtSDW]|[ ▁])"
    r"(?:\+|\{[1-9]\d?(?:,(?:\d\d?)?)?\})?"
)


def _spelled(pattern: str) -> str:
    """Write a pattern's control characters and quotes as escapes, however its file spells them."""
    for character, escape in (("\r", r"\r"), ("\n", r"\n"), ("\t", r"\t"), (r"\"", '"')):
        pattern = pattern.replace(character, escape)
    return pattern


KNOWN = {_spelled(pattern): owner for owner, pattern in _PUBLISHED.items()}
"""The models that use each known expression."""


def is_known(pattern: str) -> bool:
    """Return True for the regular expressions of published tokenizers; each matches at least one character."""
    pattern = _spelled(pattern)
    return pattern in KNOWN or (len(pattern) < 1000 and _ONE_CLASS.fullmatch(pattern) is not None)
