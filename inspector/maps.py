"""What of a map is shown: special tokens hidden, word pieces merged into words.

Both are one operation: choose tokens and put them into groups. A group's attention is the sum over its key tokens and
the mean over its query tokens (Clark et al. 2019, section 4.1), so that rows keep summing to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from inspector.trace import Array, AttentionSite, Trace
from models.tokenizers import Encoding


@dataclass(frozen=True)
class Groups:
    """Tokens put together, in the text's order.

    labels: the name of each group. members: the token positions behind each.
    """

    labels: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not self.members:
            raise ValueError("nothing is left to show: every token is special; show special tokens again")

    def containing(self, position: int | None) -> int | None:
        """The index of the group that has the token at `position`; None where it is hidden."""
        return next((index for index, group in enumerate(self.members) if position in group), None)

    @property
    def positions(self) -> np.ndarray:
        """The tokens of all groups, one after the other."""
        return np.concatenate([np.array(group) for group in self.members])

    @property
    def sizes(self) -> np.ndarray:
        """How many tokens each group has."""
        return np.array([len(group) for group in self.members])

    @property
    def starts(self) -> np.ndarray:
        """Where each group begins in `positions`."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])


@dataclass(frozen=True)
class Arrangement:
    """The groups of queries and keys; renormalise: rows are divided by their sum after tokens were left out."""

    queries: Groups
    keys: Groups
    renormalise: bool = False

    def apply(self, weights: Array) -> Array:
        """Attention between the groups: [..., Q, T] between tokens -> [..., query groups, key groups]."""
        between = weights[..., self.queries.positions[:, None], self.keys.positions]
        sums = np.add.reduceat(between, self.keys.starts, axis=-1)
        grouped = np.add.reduceat(sums, self.queries.starts, axis=-2) / self.queries.sizes[:, None]
        if self.renormalise:
            mass = grouped.sum(axis=-1, keepdims=True)
            grouped = np.divide(grouped, mass, out=np.zeros_like(grouped), where=mass > 0)
        shown: Array = grouped.astype(np.float32)
        return shown


def arrange(
    trace: Trace,
    *,
    stream: str | None = None,
    hide_special: bool = False,
    merge_words: bool = False,
    renormalise: bool = False,
) -> Arrangement:
    """The groups that a reader chose to see of one stream (the first where none is named).

    Hiding special tokens takes their attention away, so rows sum to less than 1 unless they are renormalised; without
    hidden tokens there is nothing to renormalise. A decoder's query is named by the token that it reads and the one
    that it predicts. Raises ValueError where nothing is left.
    """
    site = next(site for site in trace.sites if stream in (None, site.stream))
    own = trace.read_by(site.stream)
    source = trace.encoding if site.stream == "cross" else own
    queries = _groups(own, hide_special=hide_special, merge_words=merge_words)
    keys = _groups(source, hide_special=hide_special, merge_words=merge_words)
    return Arrangement(_with_predictions(queries, site), keys, renormalise=renormalise and hide_special)


def _groups(encoding: Encoding, *, hide_special: bool, merge_words: bool) -> Groups:
    shown = [position for position, special in enumerate(encoding.special) if not (hide_special and special)]
    # A special token has no word: its position keeps it apart from its neighbours.
    words = {position: (word, position if word is None else -1) for position, word in enumerate(encoding.words)}
    groups = groupby(shown, key=words.__getitem__) if merge_words else ((position, [position]) for position in shown)
    members = tuple(tuple(group) for _, group in groups)
    return Groups(tuple(_join([encoding.tokens[position] for position in group]) for group in members), members)


def _with_predictions(queries: Groups, site: AttentionSite) -> Groups:
    if site.predicts is None:
        return queries
    predicted = [site.predicts[group[-1]] for group in queries.members]
    labels = tuple(f"{read} → {token}" for read, token in zip(queries.labels, predicted, strict=True))
    return Groups(labels, queries.members)


def _join(pieces: list[str]) -> str:
    """A word from its pieces, without their marks (## within a word, ▁ or Ġ at its start); a lone one keeps its own."""
    if len(pieces) == 1:
        return pieces[0]
    return pieces[0].lstrip("▁Ġ") + "".join(piece.removeprefix("##") for piece in pieces[1:])
