"""Readings of the page Block: one token's way through a layer, and what attention and FFN add on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from inspector.block import Step, Walk
    from inspector.feedforward import Units
    from inspector.mixing import Mixed
    from inspector.trace.blocks import Blocks


@dataclass(frozen=True)
class Passed:
    """One token's way through a layer.

    enters, leaves: the length of its vector. added: by part, the length of what it adds. order: "pre" where the first
    sublayer reads a norm, "post" where a norm follows a sum, "both", or "none". beside: True where attention and FFN
    read the same stream and are added at once. off: of the end from the recorded output, of its largest entry. unseen:
    True where queries, keys and values were not seen.
    """

    token: str
    layer: int
    enters: float
    leaves: float
    added: dict[str, float]
    order: str
    beside: bool
    off: float
    unseen: bool = False


@dataclass(frozen=True)
class Added:
    """The additions of a stream's sublayers, summed up.

    part, layer, share: of the largest share of the stream's length. larger: in how many layers the FFN's share is more
    than attention's, of `layers` in which both add. equal: in how many they add the same. alike: the mean cosine of two
    tokens after the first sublayer and after the last; None for a single token.
    """

    part: str
    layer: int
    share: float
    larger: int
    equal: int
    layers: int
    alike: tuple[float, float] | None


@dataclass(frozen=True)
class Moved:
    """The sublayer that raised the final prediction most at one token.

    guess: the final prediction; probability: its own, and first: before the first sublayer. bits: how much the sublayer
    raised its log2; 0 or less where none raised it. known: after which sublayer of the order the guess stays the
    likeliest to the end, (layer, part).
    """

    token: str
    guess: str
    probability: float
    first: float
    layer: int
    part: str
    bits: float
    known: tuple[int, str]


@dataclass(frozen=True)
class Answered:
    """The answers of an FFN's units on a text.

    positive: share of all pre-activations above 0. silent: how many of `units` have none above 0 on this text. exact:
    True where the activation function gives exactly 0 below 0, so that silent units give 0. straight, doubled,
    mirrored: as in `feedforward.Units`. unit, token: of the largest output, and the token that moves it most.
    """

    layer: int
    activation: str
    gated: bool
    units: int
    positive: float
    silent: int
    exact: bool
    straight: float
    doubled: float
    mirrored: float
    unit: int
    token: str


@dataclass(frozen=True)
class Shared:
    """The tensors of a stream that are one.

    uses, storages: matrices as the layers used them, and how many tensors those are. layers: how many; alike: whether
    every layer uses the same. keys: the distance of W_K from W_V by layer, smallest and largest; None where they are
    not matrices of their own. one: whether they are one tensor in every layer.
    """

    uses: int
    storages: int
    layers: int
    alike: bool
    keys: tuple[float, float] | None
    one: bool


@dataclass(frozen=True)
class Mixes:
    """Tokens and dimensions that change with one number of one token, in FFN and attention (None: not shown)."""

    token: str
    tokens: int
    width: int
    ffn: Mixed
    attention: Mixed | None


@dataclass(frozen=True)
class Outputs:
    """Outputs of an FFN's own activation function and of ReLU on the same numbers: their means and flat shares.

    largest: of the own one. layers, inputs: how many FFNs the stream shows, and the smallest and largest mean root mean
    square of their inputs.
    """

    own: str
    own_mean: float
    own_flat: float
    relu_mean: float
    relu_flat: float
    largest: float
    layers: int
    inputs: tuple[float, float]


def outputs(table: pd.DataFrame, blocks: Blocks, *, stream: str) -> Outputs:
    """Read what ReLU would make of an FFN's numbers; table: of `activations.outputs`."""
    own, by_name = table.iloc[0], table.set_index("function")
    sizes = [
        float(np.sqrt(np.square(one.input.astype(np.float64)).mean(axis=1)).mean())
        for one in blocks.ffns
        if one.stream == stream
    ]
    return Outputs(
        own=str(own["function"]),
        own_mean=float(own["mean"]),
        own_flat=float(own["flat"]),
        relu_mean=float(by_name["mean"]["relu"]),
        relu_flat=float(by_name["flat"]["relu"]),
        largest=float(own["largest"]),
        layers=len(sizes),
        inputs=(min(sizes), max(sizes)),
    )


def answered(table: Units, busiest: pd.DataFrame, *, layer: int, token: str) -> Answered:
    """Sum up an FFN's units; token: the one that moves the first of `busiest` most."""
    return Answered(
        layer,
        table.activation,
        table.gated,
        table.units,
        table.positive / table.pairs,
        table.silent,
        table.activation in ("relu", "relu2"),
        table.straight,
        table.doubled,
        table.mirrored,
        int(busiest["unit"].iloc[0]),
        token,
    )


def shared(table: pd.DataFrame, keys: list[float | None]) -> Shared:
    """Count storages; table: of `sharing.storages`, keys: of `sharing.keys_from_values` for every layer."""
    sets = [frozenset(rows["storage"]) for _, rows in table.groupby("row", sort=False)]
    known = [one for one in keys if one is not None]
    return Shared(
        len(table),
        int(table["storage"].nunique()),
        len(sets),
        len(sets) > 1 and len(set(sets)) == 1,
        (min(known), max(known)) if known else None,
        bool(known) and len(known) == len(keys) and max(known) == 0,
    )


def passed(walk: Walk) -> Passed:
    """Sum up a walk."""
    parts = [step for step in walk.steps if step.part]
    before = any(_is_pre(walk.steps, number) for number in range(len(walk.steps)))
    after = any(step.kind == "norm" and not step.part for step in walk.steps)
    order = {(True, False): "pre", (False, True): "post", (True, True): "both"}.get((before, after), "none")
    added = {step.part: step.norm for step in parts if step.kind in ("out", "down", "norm") and _ends(walk.steps, step)}
    return Passed(
        walk.token,
        walk.layer,
        walk.steps[0].norm,
        walk.steps[-1].norm,
        added,
        order,
        any(step.beside for step in walk.steps),
        walk.off,
        walk.unseen,
    )


def added(table: pd.DataFrame) -> Added:
    """Find the largest addition; table: of `block.additions`."""
    top = table.loc[table["share"].idxmax()]
    sizes = table.groupby(["layer", "part"])["share"].sum().unstack()
    both = sizes.dropna(subset=[name for name in ("attention", "ffn") if name in sizes])
    both = both if {"attention", "ffn"} <= set(both) else both.iloc[:0]
    larger = int((both["ffn"] > both["attention"]).sum()) if len(both) else 0
    equal = int((both["ffn"] == both["attention"]).sum()) if len(both) else 0
    first, last = float(table["alike"].iloc[0]), float(table["alike"].iloc[-1])
    return Added(
        str(top["part"]),
        int(top["layer"]),
        float(top["share"]),
        larger,
        equal,
        len(both),
        None if first != first else (first, last),
    )


def moved(table: pd.DataFrame, *, token: str) -> Moved:
    """Find the sublayer that moved the prediction most; table: of `block.moved`."""
    top = table.iloc[1:]["bits"].idxmax()
    guess = table["guess"].iloc[-1]
    since = len(table) - 1
    while since > 0 and table["guess"].iloc[since - 1] == guess:
        since -= 1
    return Moved(
        token,
        guess,
        float(table["probability"].iloc[-1]),
        float(table["probability"].iloc[0]),
        int(table["layer"][top]),
        str(table["part"][top]),
        float(table["bits"][top]),
        (int(table["layer"].iloc[since]), str(table["part"].iloc[since])),
    )


def _is_pre(steps: tuple[Step, ...], number: int) -> bool:
    """Return True if the step is a norm with which a sublayer begins."""
    step = steps[number]
    if step.kind != "norm" or not step.part:
        return False
    return all(earlier.part != step.part for earlier in steps[:number])


def _ends(steps: tuple[Step, ...], step: Step) -> bool:
    """Return True if the step is the last of its sublayer: what is added to the stream."""
    return [one for one in steps if one.part == step.part][-1] is step
