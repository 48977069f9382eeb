"""A bound on how much longer a tokenizer's pipeline can make any text, from the pipeline's description alone.

A text's weight is the number of characters of its compatibility decomposition (NFKD). No Unicode normal form changes
the weight or has more characters than the weight, and one character weighs at most 18 (U+FDFA). So a chain of
normalizers turns one character into at most 18 r characters, where r is the product, over the chain's replacements, of
the weight of the new text divided by the weight of the replaced text. Prefixes of words and pieces are counted apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from models.untrusted import charsmap
from models.untrusted.weight import weight

MOST_GROWTH = 2.0  # r; published pipelines have 1, or 2 where a table writes ss for ß
MOST_PREFIX = 8  # characters added to a word or letter; published pipelines add one or two
HEAVIEST = 18  # the most NFKD characters of one character


def check_growth(parts: Sequence[Mapping[str, Any]]) -> None:
    """Raise ValueError where a chain of normalizers, pre-tokenizers or decoders can make a text too long."""
    growth, prefix = 1.0, 0
    for part in parts:
        growth *= _growth(part)
        prefix += _prefix(part)
    if growth > MOST_GROWTH:
        raise ValueError(
            f"its pipeline can make a text {growth:,.3g} times as long, over {MOST_GROWTH:g}; no published one does"
        )
    if prefix > MOST_PREFIX:
        raise ValueError(
            f"its pipeline puts {prefix:,} characters beside a word, over {MOST_PREFIX}; no published one does"
        )


def _growth(part: Mapping[str, Any]) -> float:
    kind = part["type"]
    if kind == "Replace":
        pattern = part["pattern"]  # a known regular expression matches one character or more
        return max(1.0, weight(part["content"]) / weight(pattern.get("String", "x")))
    if kind == "Precompiled":
        return charsmap.growth(part["precompiled_charsmap"])
    return 2.0 if kind == "ByteLevel" and "add_prefix_space" not in part else 1.0  # the normalizer: two bytes for one


def _prefix(part: Mapping[str, Any]) -> int:
    kind = part["type"]
    if kind == "Prepend":
        return len(part["prepend"])
    if kind == "BertNormalizer":
        return 2 * int(part.get("handle_chinese_chars", True))  # a space on each side of an ideograph
    if kind == "Metaspace":
        return int(part.get("prepend_scheme", "always") != "never" and part.get("add_prefix_space", True))
    return int(kind == "ByteLevel" and bool(part.get("add_prefix_space", True)))
