"""Readings of the page Batch: what a layout shows each token, where a mask leaks, and what a layout costs."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from inspector.batches import OWN_MASK, UNTOLD, Batch, Layout, Seen
from inspector.readings.links import Named, named

ROUNDING = 1e-5  # of a row's weight: what float32 moves


@dataclass(frozen=True)
class Seeing:
    """A layout, and one text in it.

    rows, cells, padding: of the batch. text: the number of the text, tokens: its queries; keys: its own keys. fewest,
    most: keys that one of its queries sees. to_padding, to_others: the weight that its queries give to padding and to
    other texts, mean. sources: whether the cells are those of an encoder-decoder's sources.
    """

    layout: Layout
    texts: int
    rows: int
    cells: int
    padding: int
    text: int
    keys: int
    fewest: int
    most: int
    to_padding: float
    to_others: float
    sources: bool


@dataclass(frozen=True)
class Filling:
    """A mask's leaks in one head: fills that leave nothing, what the others leave, and what gives no weights.

    kept: fills after which nothing is left in float32; left: the mean weight after each other fill; problems: (fill,
    dtype, problem). other_texts: whether the weight is on other texts, not on padding; nothing: whether there is
    nothing that could leak.
    """

    kept: tuple[str, ...]
    left: tuple[tuple[str, float], ...]
    problems: tuple[tuple[str, str, str], ...]
    before_scale: bool
    added: bool
    other_texts: bool
    nothing: bool


@dataclass(frozen=True)
class Drifting:
    """The whole model under other fills.

    own, unmasked: the largest move of a real token's state with the model's own mask, and with padding that is not
    masked; worst: the fill that moves it most, and how far. padding_states: the mean size of a number in padding's last
    hidden states. to_padding: the weight on padding with the model's own mask; left: whether padding stands first.
    """

    own: float
    unmasked: float
    worst: tuple[str, float] | None
    padding_states: float
    to_padding: float
    left: bool


@dataclass(frozen=True)
class Packing:
    """Texts in one row held to the texts alone: the largest move of a number of a last hidden state.

    masked: with the mask, positions anew in each text; running: with the mask, positions running on; unmasked: without
    the mask; others: the mean weight on other texts without it. size: the largest state alone.
    """

    masked: float
    running: float
    unmasked: float
    others: float


@dataclass(frozen=True)
class Spreading:
    """One changed token: its place and name, what it became, and the mean move of tokens before it, and after it.

    before, after: None where there is no such token; before_largest: the largest move of a number before it.
    """

    changed: Named
    put: str
    before: float | None
    before_largest: float
    after: float | None
    itself: float


@dataclass(frozen=True)
class Costing:
    """Layouts beside the texts one by one.

    cells, padding: of the padded batch; padded, packed: FLOPs divided by those of the texts one by one; pairs, needed:
    scores of a head in the packed row, and those between tokens of one text. packed is None
    where texts cannot be packed.
    """

    texts: int
    cells: int
    padding: float
    padded: float
    packed: float | None
    pairs: int
    needed: int


def seeing(batch: Batch, seen: Seen) -> Seeing:
    """Read one text of a batch in one head."""
    fewest, most = seen.keys_seen
    return Seeing(
        layout=batch.layout,
        texts=len(batch.texts),
        rows=len(batch.rows),
        cells=batch.cells,
        padding=batch.padding,
        text=seen.text,
        keys=int((seen.key_owner == seen.text).sum()),
        fewest=fewest,
        most=most,
        to_padding=seen.to_padding,
        to_others=seen.to_others,
        sources="cross" in batch.rows[0].trace.streams,
    )


def filling(table: pd.DataFrame, *, batch: Batch, before_scale: bool, added: bool) -> Filling:
    """Read what each fill leaves; table: of `batches.leaks`."""
    plain = table[(table["dtype"] == "float32") & (table["problem"] == "")]
    leaks = [(str(fill), float(leak)) for fill, leak in zip(plain["fill"], plain["leak"], strict=True)]
    wrong = table[table["problem"] != ""]
    return Filling(
        kept=tuple(fill for fill, leak in leaks if leak == 0),
        left=tuple((fill, leak) for fill, leak in leaks if leak > 0),
        problems=tuple(zip(wrong["fill"], wrong["dtype"], wrong["problem"], strict=True)),
        before_scale=before_scale,
        added=added,
        other_texts=batch.layout == "packed",
        nothing=batch.layout == "alone" or (batch.layout != "packed" and not batch.padding) or len(batch.texts) == 1,
    )


def drifting(table: pd.DataFrame, *, layout: Layout) -> Drifting:
    """Read the moves; table: of `batches.drift`, whose first row is the model's own mask."""
    by_fill = table.set_index("fill")["drift"]
    between = by_fill.drop([OWN_MASK, UNTOLD])
    worst = None if between.empty else (str(between.idxmax()), float(between.max()))
    return Drifting(
        own=float(by_fill[OWN_MASK]),
        unmasked=float(by_fill[UNTOLD]),
        worst=worst,
        padding_states=float(table["padding_states"].iloc[0]),
        to_padding=float(table["to_padding"].iloc[0]),
        left=layout == "left",
    )


def packing(masked: pd.DataFrame, running: pd.DataFrame, unmasked: pd.DataFrame) -> Packing:
    """Read three packed rows; each table of `batches.compare`."""
    return Packing(
        masked=float(masked["states"].max()),
        running=float(running["states"].max()),
        unmasked=float(unmasked["states"].max()),
        others=float(unmasked["to_others"].mean()),
    )


def spreading(table: pd.DataFrame, *, token: int, put: str) -> Spreading:
    """Read how far a change spread; table: of `batches.spread`."""
    before, after = table[table["position"] < token], table[table["position"] > token]
    return Spreading(
        changed=named(list(table["token"]), token),
        put=put,
        before=None if before.empty else float(before["change"].mean()),
        before_largest=0.0 if before.empty else float(before["largest"].max()),
        after=None if after.empty else float(after["change"].mean()),
        itself=float(table["change"].iloc[token]),
    )


def costing(table: pd.DataFrame, *, texts: int) -> Costing:
    """Read what the layouts cost; table: of `batches.work`, without "packed" where texts cannot be packed."""
    rows = table.set_index("layout")
    packs = "packed" in rows.index
    alone = float(rows["flops"]["alone"])
    return Costing(
        texts=texts,
        cells=int(rows["cells"]["right"]),
        padding=float(rows["padding"]["right"]),
        padded=float(rows["flops"]["right"]) / alone,
        packed=float(rows["flops"]["packed"]) / alone if packs else None,
        pairs=int(rows["pairs"]["packed"]) if packs else 0,
        needed=int(rows["needed"]["alone"]),
    )
