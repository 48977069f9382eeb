"""Readings of the page Positions: how the model knows the order, and what it makes of it on the reader's text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from inspector import positional
from inspector.positional import DistanceBias, DistanceVectors, Kind, Rotation, Way

if TYPE_CHECKING:
    import pandas as pd

    from inspector.interventions import Order, Reordered, ScoreSplit
    from inspector.trace import Trace


@dataclass(frozen=True)
class Alike:
    """The similarity of the first `tokens` rows of a table: mean cosines of rows that are 1 and `apart` rows apart.

    apart: half of the text, at least 2; far is None for a text that is too short to have such rows. whole: whether the
    rows are all places of the text, which may be longer than the table. Means over rows of zeros are NaN.
    """

    tokens: int
    near: float
    apart: int
    far: float | None
    whole: bool = True


@dataclass(frozen=True)
class Positions:
    """The ways in which a model knows the order, and the similarity of this text's positions.

    own: whether it is measured in a table of the model's own, or in the paper's; alike: None for a single token.
    """

    ways: tuple[Way, ...]
    own: bool
    alike: Alike | None


def alike(table: NDArray[np.floating[Any]], *, tokens: int) -> Alike | None:
    """Measure how alike the positions of a text are; table: [T, D] with a row for each position, at least 2 of them."""
    rows = table[:tokens]
    if len(rows) < 2:
        return None
    cosine = positional.similarity(rows)
    apart = max(2, len(rows) // 2)
    far = float(np.diagonal(cosine, apart).mean()) if apart < len(rows) else None
    near, whole = float(np.diagonal(cosine, 1).mean()), len(rows) == tokens
    return Alike(tokens=len(rows), near=near, apart=apart, far=far, whole=whole)


@dataclass(frozen=True)
class Turns:
    """The turns of RoPE: how many pairs, tokens of the shortest and of the longest whole turn, and how many are whole.

    whole: pairs that turn once or more within `tokens`. still: pairs that are not turned. factor: what queries and keys
    are stretched by.
    """

    pairs: int
    shortest: float
    longest: float
    whole: int
    still: int
    tokens: int
    factor: float
    variant: str

    @property
    def pure(self) -> bool:
        """True where the turns stretch nothing."""
        return abs(self.factor - 1) < 1e-5


def turns(rotation: Rotation, *, tokens: int) -> Turns:
    """Read the turns of a rotation over a text."""
    waves = rotation.wavelengths
    turned = waves[np.isfinite(waves)]
    return Turns(
        pairs=len(waves),
        shortest=float(turned.min(initial=np.inf)),
        longest=float(turned.max(initial=0)),
        whole=int((waves <= tokens).sum()),
        still=len(waves) - len(turned),
        tokens=tokens,
        factor=rotation.factor,
        variant=rotation.variant,
    )


@dataclass(frozen=True)
class Ordered:
    """The mean change of the last hidden states by another order, with positions and without (None: see `kept`)."""

    order: Order
    by: int
    changed: float
    without: float | None
    blind: bool
    causal: bool
    kept: str
    ways: tuple[Way, ...]


BLIND = 1e-4  # of a state's length: rounding alone stays below


def ordered(found: Reordered, *, order: Order, causal: bool, ways: tuple[Way, ...]) -> Ordered:
    """Read what another order did; causal: whether each token sees only those before it."""
    without = None if found.without is None else float(np.nanmean(found.without))
    return Ordered(
        order=order,
        by=found.by,
        changed=float(np.nanmean(found.changed)),
        without=without,
        blind=found.without is not None and float(np.nanmax(found.without)) < BLIND,
        causal=causal,
        kept=found.kept,
        ways=ways,
    )


def shares(split: ScoreSplit, head: int, *, causal: bool) -> dict[str, float]:
    """Share each of the four terms has in how a head's scores differ within a row; they sum to 1.

    The covariance of the term with the whole score over the keys that a query sees, less each row's mean (a number for
    a whole row leaves its weights as they are). NaN where the scores of no row differ.
    """
    terms = split.terms(head)
    length = len(next(iter(terms.values())))
    seen = np.tril(np.ones((length, length), dtype=bool)) if causal else np.ones((length, length), dtype=bool)

    def centred(values: NDArray[np.float64]) -> NDArray[np.float64]:
        means = np.where(seen, values, 0).sum(axis=1, keepdims=True) / seen.sum(axis=1, keepdims=True)
        return np.where(seen, values - means, 0)

    whole = centred(np.sum(list(terms.values()), axis=0))
    size = float((whole**2).sum())
    return {
        name: float((centred(term) * whole).sum()) / size if size > 0 else float("nan") for name, term in terms.items()
    }


@dataclass(frozen=True)
class Beyond:
    """The values beyond the longest text of a model: `tokens` tokens.

    shared: from how many tokens back on all distances have one vector (Shaw, DeBERTa, Inkling). rows: of its table,
    None without one. turns: RoPE's pairs that need more than `tokens` tokens for one turn, of `pairs`. farthest: T5's
    distance from which on all share a bucket. taken: what ALiBi takes off at `tokens` tokens, in the flattest and in
    the steepest head.
    """

    ways: tuple[Way, ...]
    tokens: int
    rows: int | None
    turns: int | None
    pairs: int | None
    farthest: int | None
    taken: tuple[float, float] | None
    growing: bool = False
    shared: int | None = None


def beyond(
    ways: tuple[Way, ...],
    *,
    tokens: int,
    rows: int | None,
    rotation: Rotation | None,
    biases: tuple[DistanceBias, ...],
    vectors: tuple[DistanceVectors, ...] = (),
) -> Beyond:
    """Read what each way in which a model knows positions has beyond `tokens` tokens."""
    slopes = [bias.slopes for bias in biases if bias.kind == "alibi"]
    far = [bias.farthest for bias in biases if bias.farthest is not None]
    shared = [one.farthest for one in vectors if one.farthest is not None]
    return Beyond(
        ways=ways,
        tokens=tokens,
        rows=rows,
        turns=None if rotation is None else int((rotation.wavelengths > tokens).sum()),
        pairs=None if rotation is None else len(rotation.wavelengths),
        farthest=max(far) if far else None,
        taken=(float(slopes[0].min() * tokens), float(slopes[0].max() * tokens)) if slopes else None,
        growing=rotation is not None and ("dynamic" in rotation.variant or rotation.variant == "longrope"),
        shared=max(shared) if shared else None,
    )


@dataclass(frozen=True)
class Looks:
    """The distance to which a head gives most on average: that head, and the distance of all heads' mean.

    within: only distances up to so many tokens are compared.
    """

    heads: int
    distances: int
    within: int
    layer: int
    head: int
    distance: int
    weight: float
    mean: int


def looks(found: NDArray[np.float64], apart: NDArray[np.int64], heads: list[tuple[int, int]]) -> Looks:
    """Read mean attention by distance [N, R] of heads (layer, head) at distances [R]; of equal ones the first.

    Distances that fewer than half of the text's queries have are left out: few weights make a mean that says little.
    """
    near = np.abs(apart) <= max(np.abs(apart).max() // 2, 1)
    inside, places = np.nan_to_num(found[:, near]), apart[near]
    row, column = np.unravel_index(int(inside.argmax()), inside.shape)
    layer, head = heads[int(row)]
    return Looks(
        heads=len(heads),
        distances=len(places),
        within=int(np.abs(places).max()),
        layer=layer,
        head=head,
        distance=int(places[column]),
        weight=float(inside[row, column]),
        mean=int(places[inside.mean(axis=0).argmax()]),
    )


@dataclass(frozen=True)
class Moved:
    """Mean and lowest cosine of a token's vector before and after its position is added; mean ratio of lengths."""

    cosine: float
    lowest: float
    ratio: float


def moved(split: ScoreSplit) -> Moved:
    """Read what adding the position does to the tokens of a text; vectors of length 0 are left out."""
    content, position = split.lengths
    cosines = split.cosines[~np.isnan(split.cosines)]
    if not len(cosines):
        return Moved(float("nan"), float("nan"), float("nan"))
    ratios = position[content > 0] / content[content > 0]
    return Moved(float(cosines.mean()), float(cosines.min()), float(ratios.mean()))


@dataclass(frozen=True)
class Sides:
    """Differences of one query's and key's score at one distance, by kind: 0, rounding (below 1e-9), or more.

    distance: tokens between the two; places: positions that are tried.
    """

    same: tuple[Kind, ...]
    rounding: tuple[tuple[Kind, float], ...]
    more: tuple[tuple[Kind, float], ...]
    distance: int
    places: int


def sides(table: pd.DataFrame) -> Sides:
    """Sort the kinds by what they make of one distance; table: of `positional.side_by_side`."""
    found = [(kind, float(value)) for kind, value in zip(table["kind"], table["same"], strict=True)]
    return Sides(
        same=tuple(kind for kind, value in found if value == 0),
        rounding=tuple((kind, value) for kind, value in found if 0 < value < 1e-9),
        more=tuple((kind, value) for kind, value in found if value >= 1e-9),
        distance=positional.APART,
        places=positional.POSITIONS,
    )


@dataclass(frozen=True)
class Steps:
    """Steps that follow one another as a text of `tokens` is read: `layers` with attention, whatever the length.

    joined: pairs of query and key with a weight above 0 in some head of the first of them, `layer`, of the `pairs` that
    may be; ends: whether the last query has one to the first key.
    """

    tokens: int
    layers: int
    layer: int
    joined: int
    pairs: int
    ends: bool


def steps(trace: Trace, *, stream: str) -> Steps:
    """Count the steps in which a text is read, and the pairs of tokens that the first layer joins."""
    sites = [site for site in trace.sites if site.stream == stream]
    first = min(site.layer for site in sites)
    heads = next(site.heads for site in sites if site.layer == first)
    joined = trace.attention(layer=first, head=0, stream=stream) > 0
    for head in range(1, heads):
        joined |= trace.attention(layer=first, head=head, stream=stream) > 0
    count = len(trace.read_by(stream).tokens)
    return Steps(
        tokens=count,
        layers=len({site.layer for site in sites}),
        layer=first,
        joined=int(joined.sum()),
        pairs=count * (count + 1) // 2 if stream == "decoder" else joined.size,
        ends=bool(joined[-1, 0]),
    )


@dataclass(frozen=True)
class Longer:
    """Bits a token beyond a model's longest text, read at once and in windows that fit. tokens: of the passage."""

    tokens: int
    longest: int
    at_once: float
    in_windows: float


def longer(table: pd.DataFrame, *, longest: int) -> Longer:
    """Average what lies beyond `longest` tokens; table: of `positional.longer`."""
    beyond = table[table["position"] >= longest]
    means = [float(np.average(beyond[one], weights=beyond["tokens"])) for one in ("at_once", "in_windows")]
    return Longer(int(table["tokens"].sum()) + 1, longest, at_once=means[0], in_windows=means[1])
