"""Gradient by distance: |d out_T / d x_t| of the loaded model by distance and depth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from inspector.components.matrix import Panel
from inspector.distance import reach, residual
from inspector.distance.reach import Scalar
from inspector.heads import is_punctuation
from inspector.plots.time import reach as draw
from inspector.sections import names
from inspector.sections.picks import Option, Token
from inspector.sections.section import (
    Block,
    Figure,
    Map,
    Mark,
    Measurement,
    Note,
    Paragraph,
    Row,
    Section,
    Sentence,
    Table,
)
from inspector.sections.time import steps
from inspector.text import Named, named, plain
from inspector.wording import time as wording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.sections.subject import Subject
    from inspector.trace import Trace

words = wording.reach

AT_ONCE = 128  # tokens: of as many gradients are taken without being asked for
SMALL = 40_000_000  # parameters: and in a model of as many
LEAST = 1e-6  # of a layer's largest gradient: less reaches a token in name only
PARTS = 2  # of the work: the model's own gradients, and the ways back
TAKEN = "from inspector import distance\n\ntable = distance.reach.measure(distance.reach.copy_of(loaded, trace), "
CUT = (
    "from inspector import distance\n\ntable = distance.residual.measure(distance.residual.copied_own(loaded, trace), "
)


@dataclass(frozen=True, eq=False)
class Taken:
    """The gradients from one token. ways: by the ways back, None where they cannot be told apart, and then why."""

    table: pd.DataFrame
    ways: pd.DataFrame | None
    why: str


def answer(subject: Subject, *, reach_token: int) -> Iterator[Block]:
    """Yield the gradients of one token's last state, of a long text or in a large model once they were asked for."""
    loaded, trace = subject.model, subject.trace
    with steps.told(loaded, words.TAKING):
        reach.check_size(loaded, trace)
    show = partial(_shown, subject, position=reach_token)
    tokens = max(len(trace.encoding), len(trace.target or ()))
    if tokens > AT_ONCE or sum(tensor.numel() for tensor in loaded.network.parameters()) > SMALL:
        key = (trace.key, "reach", reach_token)

        def work(on_progress: Callable[[int, int], object], so_far: Callable[[Taken], object]) -> Taken:
            return _taken(subject, reach_token, on_progress)

        yield Measurement("reach-start", key, work, words.too_long(tokens), show)
        return

    def make() -> Taken:
        with subject.progress(words.TAKING, unit="part") as on_progress:
            return _taken(subject, reach_token, on_progress)

    yield from show(subject.of_text(("reach", reach_token), make))


def _taken(subject: Subject, position: int, on_progress: Callable[[int, int], object]) -> Taken:
    """Take the gradients; ValueError in a sentence where that fails."""
    loaded, trace = subject.model, subject.trace
    with steps.told(loaded, words.TAKING):
        on_progress(0, PARTS)
        table = reach.measure(reach.copy_of(loaded, trace), position=position)
        on_progress(1, PARTS)
        try:
            return Taken(table, residual.measure(residual.copied_own(loaded, trace), position=position), "")
        except ValueError as error:
            return Taken(table, None, words.not_apart(str(error).replace(loaded.card.id, plain(names.name(loaded)))))


def _shown(subject: Subject, taken: Taken, *, position: int) -> Iterator[Block]:
    """Yield the part with the choices that these gradients leave."""
    scalars: dict[str, str] = {one: words.SCALARS[one] for one in reach.SCALARS if one in set(taken.table["scalar"])}
    first: Scalar = "direction" if reach.still(taken.table, "sum") else "sum"
    streams = {stream: stream for stream in sorted(set(taken.table["stream"]))}
    yield replace(
        GRADIENTS,
        answer=partial(_gradients, taken=taken, position=position),
        picks=(_scalar(lambda subject: scalars, first), _stream(lambda subject: streams)),
    )


def _gradients(
    subject: Subject, *, reach_scalar: Scalar, reach_stream: str, taken: Taken, position: int
) -> Iterator[Block]:
    """Yield the gradient of one token's last state by distance, and behind it by layer and by its ways back."""
    rows = of(taken.table, scalar=reach_scalar, stream=reach_stream)
    first = rows[rows["layer"] == 0]
    yield Sentence(
        reached(rows, token=named(_tokens(subject.trace), position), position=position, scalar=reach_scalar),
        ("gradient of a state",),
        (Mark("reach-distance", {"layer": 0}),) if first["norm"].max() > 0 else (),
    )
    code = (
        f"{subject.code}{TAKEN}position={position})\n"
        f"table = table[(table['scalar'] == {reach_scalar!r}) & (table['stream'] == {reach_stream!r})]"
    )
    yield _by_distance(rows, code)
    if reach.still(taken.table, "sum"):
        yield Note(words.moved_on("sum"))
    yield replace(
        MORE,
        answer=partial(
            _more, taken=taken, rows=rows, scalar=reach_scalar, stream=reach_stream, position=position, code=code
        ),
    )
    yield Table("reach", rows.drop(columns=["scalar", "stream"]), height=420)


def _more(
    subject: Subject, *, taken: Taken, rows: pd.DataFrame, scalar: Scalar, stream: str, position: int, code: str
) -> Iterator[Block]:
    """Yield each token's share by layer, what is differentiated, and what the residual carries."""
    trace = subject.trace
    source = bool(rows["distance"].isna().all())
    token = named(_tokens(trace), position)
    yield Paragraph(counted(rows, position=position))
    yield _map(rows, code)
    if scalar != "sum" or not reach.still(taken.table, "sum"):
        ends = "decoder" if trace.target is not None else stream
        width = trace.hidden.shape[-1]
        yield Note(
            words.scalar(scalar, token=token, position=position, width=width, stream=ends, source=source, least=LEAST)
        )
    if taken.ways is None:
        yield Note(taken.why)
    else:
        ways = of(taken.ways, scalar=scalar, stream=stream)
        parts = sublayers(taken.ways, stream=stream)
        said: tuple[Block, ...] = (
            Paragraph(carried(ways, token=token, source=source, parts=parts)),
            *(() if source else (Paragraph(words.product(parts)),)),
            Note(words.WAYS_BACK),
        )
        yield Row((_by_way(ways, f"{subject.code}{CUT}position={position})"), said))


def _map(rows: pd.DataFrame, code: str) -> Map:
    """Draw each token's share of its layer's gradient."""
    share = shares(rows)
    panel = Panel(
        share.to_numpy(),
        rows=[words.into(layer) for layer in range(len(share))],
        columns=list(rows[rows["layer"] == 0]["token"]),
    )
    return Map(
        "reach-map",
        words.BY_LAYER,
        (panel,),
        row_title=words.ROW,
        column_title=words.COLUMN,
        alt=words.BY_LAYER_ALT,
        quantity=words.SHARE,
        numbered="columns",
        scale="sqrt",
        code=code,
    )


def _by_distance(rows: pd.DataFrame, code: str) -> Figure:
    """Draw the curves of three layers, and the two means that the sentence compares."""
    last = int(rows["layer"].max())
    layers, parts = sorted({0, last // 2, last}), halves(rows)
    means = [draw.Mean(words.mean(half.distances, half.norm), half.norm, half.distances) for half in parts]
    figure = partial(draw.by_distance, rows, layers=layers, means=means if len(means) == 2 else ())
    return Figure("reach-distance", words.BY_DISTANCE, figure, words.BY_DISTANCE_ALT, code, rows)


def _by_way(ways: pd.DataFrame, code: str) -> Figure:
    """Draw the ways back."""
    figure = partial(draw.by_way, by_layer(ways), words.WAYS)
    return Figure("reach-ways", words.BY_WAY, figure, words.BY_WAY_ALT, code, ways)


# --- readings ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Half:
    """The other tokens than T at these distances, and the mean of their gradients at the input of layer 0."""

    distances: tuple[int, int]
    norm: float


def halves(rows: pd.DataFrame) -> tuple[Half, ...]:
    """Part the other tokens that have a gradient in near and far ones; one half where all are near, or all are far.

    rows: of one scalar and stream, of `reach.measure`; none of a source, whose positions cannot be compared.
    """
    seen = rows[(rows["layer"] == 0) & (rows["norm"] > 0)]
    if seen["distance"].isna().all():
        return ()
    others = seen[seen["distance"] != 0]
    away = others["distance"].abs()
    last = 0 if others.empty else int(away.max())
    split = (last + 1) // 2
    parts = ((first, end, others[away.between(first, end)]["norm"]) for first, end in ((1, split), (split + 1, last)))
    found = tuple(Half((first, end), float(norms.mean())) for first, end, norms in parts if len(norms))
    return found if len(found) != 1 else (Half((1, last), found[0].norm),)


def reached(rows: pd.DataFrame, *, token: Named, position: int, scalar: Scalar) -> str:
    """Say what distance does to the gradient of a token; rows: of one scalar and stream, of `reach.measure`."""
    first = rows[rows["layer"] == 0].reset_index(drop=True)
    source = bool(first["distance"].isna().all())
    others = first[first["norm"] > 0] if source else first[(first["norm"] > 0) & (first["position"] != position)]
    top = None if others.empty else int(others["norm"].idxmax())
    near, far, *_ = (*halves(rows), None, None)
    return words.reached(
        token=token,
        scalar=scalar,
        tokens=len(first),
        itself=0.0 if source else float(first["norm"][position]),
        mean=None if top is None else float(others["norm"].mean()),
        halves=None if near is None or far is None else (near.distances[1], near.norm, far.norm),
        top=None if top is None else (named(list(first["token"]), top), float(first["norm"][top])),
        source=source,
    )


def counted(rows: pd.DataFrame, *, position: int) -> str:
    """Say how many tokens have a gradient; rows: of one scalar and stream, of `reach.measure`."""
    first, last = (rows[rows["layer"] == layer].reset_index(drop=True) for layer in (0, rows["layer"].max()))
    source = bool(first["distance"].isna().all())
    return words.counted(
        tokens=len(first),
        reached=_above(first["norm"]),
        by_last=_above(last["norm"]),
        itself=0.0 if source else float(first["norm"][position]),
        source=source,
    )


def carried(rows: pd.DataFrame, *, token: Named, source: bool, parts: int) -> str:
    """Say what the residual does; rows: of one scalar and stream, of `residual.measure`. parts: sublayers in all."""
    first = rows[rows["layer"] == 0]
    own = (first["distance"] == 0).fillna(False)
    others = first[~own].groupby("way")["norm"].apply(lambda norms: float((norms**2).sum() ** 0.5))
    itself = first[own].set_index("way")["norm"]
    return words.carried(
        token=token,
        source=source,
        whole=float(others.get("all", 0.0)),
        sublayers=float(others.get("sublayers", 0.0)),
        itself=float(itself.get("all", 0.0)),
        skip=float(itself.get("skip", 0.0)),
        layers=int(rows["layer"].max()) + 1,
        parts=parts,
    )


def sublayers(table: pd.DataFrame, *, stream: str) -> int:
    """Count the sublayers of a stream's layers; table: of `residual.measure`, with all streams."""
    crosses = stream == "decoder" and table["stream"].nunique() > 1
    return (int(table[table["stream"] == stream]["layer"].max()) + 1) * (3 if crosses else 2)


def by_layer(rows: pd.DataFrame) -> pd.DataFrame:
    """Sum the whole gradient up, over all tokens, a row for each way and layer: way, layer, norm."""
    squared = rows.assign(norm=rows["norm"] ** 2).groupby(["way", "layer"], sort=False)["norm"].sum()
    return (squared**0.5).reset_index()


def shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Divide each token's norm by the sum of its layer, [layer, position]; 0 where a layer has no gradient."""
    norms = rows.pivot_table(index="layer", columns="position", values="norm")
    return norms.div(norms.sum(axis=1), axis=0).fillna(0.0)


def of(table: pd.DataFrame, *, scalar: Scalar, stream: str) -> pd.DataFrame:
    """Return the rows of one scalar and stream."""
    return table[(table["scalar"] == scalar) & (table["stream"] == stream)]


def last_of_text(trace: Trace) -> int:
    """Find the last word's last token among those that end in the last hidden state.

    Of a mark where the text has no word, of the last token where there is nothing but special ones.
    """
    read = trace.read_by("decoder") if trace.target is not None else trace.encoding
    own = [position for position, special in enumerate(read.special) if not special]
    words = [position for position in own if not is_punctuation(read.tokens[position])]
    return (words or own or [len(read) - 1])[-1]


def _tokens(trace: Trace) -> Sequence[str]:
    return trace.read_by("decoder" if trace.target is not None else "encoder").tokens


def _above(norms: pd.Series) -> int:
    largest = norms.max()
    return int(((norms > 0) & (norms >= LEAST * largest)).sum())


def _scalar(options: Callable[[Subject], dict[str, str]], first: str) -> Option:
    return Option("reach_scalar", words.DIFFERENTIATED, options, lambda subject: first)


def _stream(options: Callable[[Subject], dict[str, str]]) -> Option:
    return Option("reach_stream", words.STREAM, options)


MORE = Section("reach_more", wording.MORE, _more, folded=True)
GRADIENTS = Section("gradients", "", _gradients, (_scalar(lambda subject: {}, ""), _stream(lambda subject: {})))
SECTION = Section(
    "reach",
    words.REACH,
    answer,
    (
        Token(
            "reach_token",
            words.TOKEN,
            lambda subject: _tokens(subject.trace),
            lambda subject: last_of_text(subject.trace),
        ),
    ),
    needs_model=True,
    waits=words.TAKING,
    parts=(GRADIENTS, MORE),
    behind=words.ANOTHER,
)
