"""The masks of attention: which of all pairs of a query and a key a model lets through, as a rule of the text's length.

The rule is read from the mask that the model's own code makes, once, of a short text (`inspector.costs.counted.shown`
follows it to the softmax). Attention that hides pairs and multiplies them all the same computes more than it needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Kind = Literal["all", "causal", "window", "band", "chunk"]


@dataclass(frozen=True)
class MaskRule:
    """The pairs that a mask leaves.

    kind: all; causal: a query sees itself and what comes before; window: of these the last `width` (Jiang et al. 2023);
    band: keys less than `width` away on either side (Beltagy et al. 2020); chunk: causal inside stretches of `width`
    tokens (Llama 4). width: 0 where the kind has none.
    """

    kind: Kind
    width: int = 0

    def pairs(self, queries: int, keys: int) -> int:
        """Count the pairs of a query and a key in sight; of all kinds but the first, queries are as many as keys.

        causal n (n + 1) / 2; window x n - x (x - 1) / 2 and band (2 x - 1) n - x (x - 1) with x = min(n, width).
        """
        n, x = queries, min(queries, self.width)
        match self.kind:
            case "all":
                return queries * keys
            case "causal":
                return _triangle(n)
            case "window":
                return x * n - x * (x - 1) // 2
            case "band":
                return (2 * x - 1) * n - x * (x - 1)
            case "chunk":
                whole, rest = divmod(n, self.width)
                return whole * _triangle(self.width) + _triangle(rest)

    def cells(self, queries: int, keys: int) -> Tensor:
        """Draw the mask, boolean [Q, T]; True where the query sees the key."""
        query, key = torch.arange(queries)[:, None], torch.arange(keys)
        match self.kind:
            case "all":
                return torch.ones(queries, keys, dtype=torch.bool)
            case "causal":
                return key <= query
            case "window":
                return (key <= query) & (query - key < self.width)
            case "band":
                return (query - key).abs() < self.width
            case "chunk":
                return (key <= query) & (query // self.width == key // self.width)


def recognise(shown: Tensor) -> MaskRule | None:
    """Find the rule that draws a mask [Q, T]; None where none of them does."""
    queries, keys = shown.shape
    rules = [MaskRule("all")]
    if queries == keys:
        rules.append(MaskRule("causal"))
        first = int(shown[-1].int().argmax())  # the first key that the last query sees
        if width := keys - first:
            rules += [MaskRule("window", width), MaskRule("band", width)]
        blind = (~shown[:, 0]).int()
        if start := int(blind.argmax()):  # the first query that does not see the first key
            rules.append(MaskRule("chunk", start))
    return next((rule for rule in rules if bool((rule.cells(queries, keys) == shown).all())), None)


def _triangle(n: int) -> int:
    return n * (n + 1) // 2
