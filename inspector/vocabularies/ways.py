"""One text in one vocabulary: its tokens, and where in the text each stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from tokenizers import Tokenizer

from inspector.vocabularies.trained import UNKNOWN
from models.tokenizers import encode


@dataclass(frozen=True)
class CutText:
    """A text as one vocabulary cuts it, without special tokens.

    text: as it was cut. tokens; spans: the characters first, last + 1 of each. known: False for a token that stands for
    what the vocabulary does not hold. vocabulary: how many tokens it has, special ones included.
    """

    text: str
    tokens: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    known: tuple[bool, ...]
    vocabulary: int

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def unknown(self) -> int:
        """Count the tokens that stand for what the vocabulary does not hold."""
        return len(self) - sum(self.known)


def by_library(tokenizer: Tokenizer, text: str) -> CutText:
    """Cut a text with a tokenizer of `train`."""
    encoding = tokenizer.encode(text, add_special_tokens=False)
    unknown = tokenizer.token_to_id(UNKNOWN)
    known = tuple(id != unknown for id in encoding.ids)
    return CutText(text, tuple(encoding.tokens), tuple(encoding.offsets), known, tokenizer.get_vocab_size())


def by_model(tokenizer: Any, text: str) -> CutText:
    """Cut a text with a model's tokenizer, whole, however little of it the model reads.

    tokenizer: a fast one of transformers. Raises ValueError where there is nothing to read.
    """
    encoding = encode(tokenizer, text, max_tokens=len(text.encode()) * 4 + 64)
    assert encoding.spans is not None
    places = [at for at, special in enumerate(encoding.special) if not special]
    return CutText(
        text,
        tuple(encoding.tokens[at] for at in places),
        tuple(encoding.spans[at] for at in places),
        tuple(encoding.known[at] for at in places),
        len(tokenizer),
    )


def tokens(ways: Mapping[str, CutText]) -> pd.DataFrame:
    """List the tokens of several ways, a row each: vocabulary, position, token, first, end (characters), known."""
    rows = [
        (name, at, token, *span, known)
        for name, way in ways.items()
        for at, (token, span, known) in enumerate(zip(way.tokens, way.spans, way.known, strict=True))
    ]
    return pd.DataFrame(rows, columns=["vocabulary", "position", "token", "first", "end", "known"])
