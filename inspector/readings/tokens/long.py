"""Readings of the section Long texts: what each way loses against full attention, and how far it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from inspector.long_texts import NAMES, Compared, Name
from inspector.trace import Trace

WHOLE: tuple[Name, ...] = ("windows", "chunks")  # ways that read a text of any length


@dataclass(frozen=True)
class Kept:
    """A way's results: the mean cosine of its tokens' states, the text's vector's, and the share that it drops.

    times: its FLOPs divided by full attention's, NaN where they are not counted. cut: share of full attention's weight.
    loss: on what the model guesses, and full attention's on the same tokens, NaN where it guesses nothing.
    """

    cosine: float
    vector: float
    dropped: float
    times: float
    cut: float
    loss: float
    loss_full: float


@dataclass(frozen=True)
class Losing:
    """Every way beside full attention on one text.

    read, whole: tokens that the model reads at once, and those of the text, special ones included. most: that the model
    reads at all. piece: tokens of a piece, special ones included. passes: of the windows. plain: the cosine of the
    hierarchy's text vector without its second level. one: whether the text fits into one piece.
    """

    ways: Mapping[Name, Kept]
    read: int
    whole: int
    most: int
    piece: int
    passes: int
    chunks: int
    plain: float

    @property
    def one(self) -> bool:
        """True where every way reads all of the text at once."""
        return self.read <= self.piece


def losing(found: Compared, trace: Trace, *, piece: int, most: int) -> Losing:
    """Read what was compared; piece: tokens of a piece; most: that the model reads."""
    rows = found.table.set_index("way")
    full = float(rows.loc["full", "flops"])
    ways: dict[Name, Kept] = {
        name: Kept(
            **{key: float(rows.loc[name, key]) for key in ("cosine", "vector", "dropped", "cut", "loss", "loss_full")},
            times=float(rows.loc[name, "flops"]) / full,
        )
        for name in NAMES
    }
    return Losing(
        ways=ways,
        read=len(trace.encoding),
        whole=whole_length(trace),
        most=most,
        piece=piece,
        passes=int(rows.loc["windows", "passes"]),
        chunks=int(rows.loc["chunks", "passes"]),
        plain=found.plain,
    )


def whole_length(trace: Trace) -> int:
    """Count the tokens of the text before it was cut to what the model reads, special ones included."""
    cut = trace.cut
    return cut.total if cut is not None and cut.unit == "tokens" else len(trace.encoding)


def lines(found: Compared, *, whole: int, names: Mapping[Name, str]) -> pd.DataFrame:
    """Lay out the table as the page shows it: shares in percent, FLOPs beside full attention's.

    reach: share of the whole text, beyond what the model reads at once, that the way gives a state.
    """
    table = found.table
    tokens = whole - found.specials
    reach = [
        100.0 if name in WHOLE else 100 * kept / tokens for name, kept in zip(table.way, table.tokens, strict=True)
    ]
    shown = pd.DataFrame(
        {
            "way": [names[name] for name in table["way"]],
            "reach": reach,
            "dropped": 100 * table["dropped"],
            "passes": table["passes"],
            "runs": table["runs"],
            "times": table["flops"] / float(table["flops"].iloc[0]),
            **{name: table[name] for name in ("cosine", "worst", "vector")},
            "cut": 100 * table["cut"],
        }
    )
    if not found.guessed:
        return shown
    return shown.assign(
        loss=table["loss"],
        loss_full=table["loss_full"],
        accuracy=100 * table["accuracy"],
        accuracy_full=100 * table["accuracy_full"],
    )
