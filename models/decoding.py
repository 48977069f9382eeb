"""Decoding, step by step: how the next token is chosen, and what is seen of each step; the same for every model.

A runner's `decode` and `search` (models/loaded.py) report these as they go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Decoding:
    """The choice of the next token: the likeliest, or drawn.

    temperature divides the logits: below 1 the likely become likelier. top_k: only the k likeliest (Fan et al. 2018);
    top_p: of these the fewest that hold a share p of their probability (Holtzman et al. 2020). The order is that of
    transformers: temperature, top_k, top_p. The same seed draws the same text.
    """

    sampled: bool = False
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    seed: int = 0

    def check(self) -> None:
        """Raise ValueError for parameters by which nothing can be drawn."""
        if not self.temperature > 0:
            raise ValueError(f"temperature is {self.temperature}; it must be above 0, and greedy is its limit at 0")
        if (self.top_k is not None and self.top_k < 1) or not 0 < self.top_p <= 1:
            raise ValueError(
                f"top_k is {self.top_k} and top_p {self.top_p}; keep at least 1 token, and a share above 0 up to 1"
            )


@dataclass(frozen=True, eq=False)
class DecodedStep:
    """One new token of one text, as the model was run for it.

    logits [V]: the model's own, on the CPU; scores [V]: the numbers that the token was chosen by: the logits after the
    rules of the model's generation_config and, where it is drawn, after temperature and cuts; -inf for a token that
    cannot be chosen. flops: of the decoder's matrix products, counted as they ran; cache_bytes: what its cache holds
    after the step.
    """

    logits: Tensor
    scores: Tensor
    token: int
    flops: int
    cache_bytes: int


Watch = Callable[[DecodedStep], None]


@dataclass(frozen=True, eq=False)
class BeamStep:
    """The N continuations that one step of a beam search kept, the likeliest first; each tensor [N].

    rows: which unfinished text of the step before each goes on from; tokens: the token it adds; total: log probability
    of all its new tokens; scores: that over the length penalty; over: whether it has ended.
    """

    rows: Tensor
    tokens: Tensor
    total: Tensor
    scores: Tensor
    over: Tensor


LengthPenalty = Literal["wu", "power"]
"""The divisor of log P for n new tokens: ((5 + n) / 6)^a (Wu et al. 2016), or n^a, as transformers divides."""


@dataclass(frozen=True)
class BeamAnswer:
    """The answer of a beam search: the new tokens' ids, and their score.

    open_could_win: the texts that had not ended when the search stopped could have been the answer as well.
    """

    ids: tuple[int, ...]
    score: float
    open_could_win: bool
