"""What of a map is shown: special tokens hidden, word pieces merged into words.

Both are one operation: choose tokens and put them into groups. A group's attention is the sum over its key tokens and
the mean over its query tokens (Clark et al. 2019, section 4.1), so that rows keep summing to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from inspector.trace import Array, Trace


@dataclass(frozen=True)
class Arrangement:
    """Groups of tokens, in the text's order.

    labels: the name of each group. groups: the token positions behind each. renormalise: whether rows are divided by
    their sum, so that they sum to 1 again after tokens were left out.
    """

    labels: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    renormalise: bool = False

    def __post_init__(self) -> None:
        if not self.groups:
            raise ValueError("nothing is left to show: every token is special; show special tokens again")

    def apply(self, weights: Array) -> Array:
        """Attention between the groups: [..., Q, T] between tokens -> [..., groups, groups]."""
        members = np.concatenate([np.array(group) for group in self.groups])
        sizes = np.array([len(group) for group in self.groups])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        between = weights[..., members[:, None], members]
        sums = np.add.reduceat(np.add.reduceat(between, starts, axis=-1), starts, axis=-2)
        grouped = sums / sizes[:, None]
        if self.renormalise:
            mass = grouped.sum(axis=-1, keepdims=True)
            grouped = np.divide(grouped, mass, out=np.zeros_like(grouped), where=mass > 0)
        shown: Array = grouped.astype(np.float32)
        return shown


def arrange(
    trace: Trace, *, hide_special: bool = False, merge_words: bool = False, renormalise: bool = False
) -> Arrangement:
    """The groups that a reader chose to see.

    Hiding special tokens takes their attention away, so rows sum to less than 1 unless they are renormalised; without
    hidden tokens there is nothing to renormalise. Raises ValueError where nothing is left.
    """
    shown = [position for position, special in enumerate(trace.special) if not (hide_special and special)]
    # A special token has no word: its position keeps it apart from its neighbours.
    word = {position: (trace.words[position], position if trace.words[position] is None else -1) for position in shown}
    if merge_words:
        groups = [tuple(group) for _, group in groupby(shown, key=word.__getitem__)]
    else:
        groups = [(position,) for position in shown]
    labels = tuple(_join([trace.tokens[position] for position in group]) for group in groups)
    return Arrangement(labels, tuple(groups), renormalise=renormalise and hide_special)


def _join(pieces: list[str]) -> str:
    """A word from its pieces: WordPiece marks a continuation by ##; a lone piece keeps its mark."""
    if len(pieces) == 1:
        return pieces[0]
    return pieces[0] + "".join(piece.removeprefix("##") for piece in pieces[1:])
