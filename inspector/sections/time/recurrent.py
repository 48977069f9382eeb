"""RNN, LSTM, GRU: a gradient through torch.nn's recurrent networks and attention, on random input."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from inspector import distance
from inspector.distance import KINDS, WITH_POSITIONS, Kind, Setting
from inspector.plots.chart import SYMBOLS, Chart
from inspector.sections.picks import Count, Decimal
from inspector.sections.section import (
    Block,
    Figure,
    Link,
    Mark,
    Measurement,
    Note,
    Paragraph,
    Row,
    Section,
    Sentence,
    Table,
)
from inspector.text import number
from inspector.wording import time as wording

if TYPE_CHECKING:
    from inspector.sections.subject import Subject

words = wording.recurrent

AT_ONCE, NARROW = 150, 64  # steps, width: the parts of as many are measured without being asked for
VANISHES, EXPLODES = 1e-9, 10  # times the last input's gradient: below and above them the first input's is told
FLOOR = 1e-40  # where the axis ends at the latest; what is smaller, or 0, is drawn on its edge
MARKS = 12  # triangles of a line on the edge, at most
TRIANGLE = SYMBOLS.index("triangle-down")
COMPARED: tuple[Kind, ...] = ("tanh-RNN", "attention")  # in the sentence, and written at their points
COLOURS = {"tanh-RNN": "heads 1", "GRU": "heads 2", "LSTM": "heads 3", "open LSTM": "heads 3", "attention": "attention"}
IN_THE_LAB = {
    "lab_topic": "Recurrence",
    "lab_task": "reverse",
    "lab_length": "8",
    "lab_steps": "300",
    "lab_rate": "0.005",
    "lab_a_network": "RNN with attention",
    "lab_b_network": "RNN",
}
"""The Lab's experiment RNN with attention or without, as its link has it."""


def answer(
    subject: Subject,
    *,
    recurrent_steps: int,
    recurrent_width: int,
    recurrent_bias: float,
    recurrent_scale: float,
    recurrent_seed: int,
) -> Iterator[Block]:
    """Yield the gradient by distance, and behind it why it is so, in the shared weights and in the order of inputs."""
    setting = Setting(recurrent_steps, recurrent_width, recurrent_bias, recurrent_scale, recurrent_seed)
    table, radius, order = subject.of_all(
        ("recurrent", setting), lambda: (distance.curves(setting), distance.radius(setting), distance.shuffled(setting))
    )
    said = recurrence(table, setting)
    about = tuple(Mark("recurrent-gradient", {"network": kind, "step": 1}) for kind in COMPARED)
    yield Sentence(said, ("gradient of a state", "forget bias"), about)
    names = {kind: words.name(kind, setting) for kind in KINDS}
    chart = by_distance(table, names, title=words.CURVES, quantity=words.GRADIENT, named=COMPARED)
    alt, code = words.curves_alt(said), _code(setting, "curves")
    yield Figure("recurrent-gradient", words.CURVES, chart, alt, code, table)
    yield replace(MORE, answer=partial(_more, setting=setting, names=names, table=table, radius=radius, order=order))
    yield Link("lab", words.TRAIN, IN_THE_LAB)


def _more(
    subject: Subject,
    *,
    setting: Setting,
    names: Mapping[Kind, str],
    table: pd.DataFrame,
    radius: float,
    order: pd.DataFrame,
) -> Iterator[Block]:
    """Yield each step's part in the shared weights, why a gradient vanishes, and what positions stand in for."""
    parts, drawn = _parts(subject, setting, names)
    yield from drawn
    parts = subject.measured(_key(setting)) if parts is None else parts  # by now, if the reader just asked for it
    points = [*claims(table, setting, radius=radius), ordered(order)]
    if parts is not None:
        points.insert(2, shared(parts))
    yield Paragraph(words.bullets(points))
    yield Paragraph(words.product(setting.steps))
    yield Note(words.setting(setting) + words.zeros(setting, zeros(table)))
    paths = Table("path-lengths", words.paths(setting), words.PATHS, folded=False)
    moves = Table("shuffled", words.ordered(order, setting), words.SHUFFLED, folded=False)
    yield Row(((paths, Note(words.about_paths(setting))), (moves, Note(words.ABOUT_SHUFFLED))), widths=(3, 2))
    yield Table("methods", words.methods(), words.METHODS, prose=True)
    yield Note(words.ABOUT_METHODS)


def _parts(
    subject: Subject, setting: Setting, names: Mapping[Kind, str]
) -> tuple[pd.DataFrame | None, tuple[Block, ...]]:
    """Measure each step's part; of many steps or a large width once the reader asked for it."""

    def figure(parts: pd.DataFrame, heading: str) -> Figure:
        drawn = by_distance(parts, names, title=words.PARTS, quantity=words.PART)
        return Figure("recurrent-parts", heading, drawn, words.PARTS_ALT, _code(setting, "parts"), parts)

    if setting.steps <= AT_ONCE and setting.width <= NARROW:
        parts = subject.of_all(_key(setting), lambda: distance.parts(setting))
        return parts, (figure(parts, words.PARTS),)

    def work(on_progress: Callable[[int, int], object], so_far: Callable[[pd.DataFrame], object]) -> pd.DataFrame:
        return distance.parts(setting, on_progress=on_progress)

    def answer(parts: pd.DataFrame) -> Iterator[Block]:
        yield figure(parts, "")

    measurement = Measurement("recurrent-parts-start", _key(setting), work, words.takes(setting), answer)
    return None, (Paragraph("", words.PARTS), measurement)


def _key(setting: Setting) -> tuple[str, Setting]:
    return "recurrent parts", setting


def by_distance(
    table: pd.DataFrame, names: Mapping[Kind, str], *, title: str, quantity: str, named: Sequence[Kind] = ()
) -> Chart:
    """Draw a norm by distance on a logarithmic scale that loses no zero, a line for each network.

    table: columns network, step and norm. names: of the networks, in the legend. quantity: what the norm is of. named:
    the networks whose norm at the first step is written at its point. What is below FLOOR stands on the axis' edge, as
    triangles.
    """
    last, norms = int(table["step"].max()), table["norm"]
    low = max(math.floor(math.log10(norms[norms >= FLOOR].min())) - 1, round(math.log10(FLOOR)))
    rows = table.assign(distance=last - table["step"], told=[number(norm) for norm in norms])
    lines = rows.assign(drawn=norms.where(norms >= 10.0**low))
    hidden = [
        below.iloc[:: max(1, len(below) // MARKS)].assign(drawn=10.0**low, network=f"{kind}, below")
        for kind, below in rows[lines["drawn"].isna()].groupby("network", sort=False)
    ]
    named_here = (rows["step"] == 1) & rows["network"].isin(named)
    lines = lines.assign(
        words=rows["told"].where(named_here, ""), drawn=lines["drawn"].where(~named_here, norms.clip(lower=10.0**low))
    )
    below = {f"{kind}, below": kind for kind in names}
    return Chart(
        pd.concat([lines, *hidden]).fillna({"words": ""}),
        "distance",
        "drawn",
        "curves",
        by="network",
        names={**names, **dict.fromkeys(below, "")},
        parts={**COLOURS, **{edge: COLOURS[kind] for edge, kind in below.items()}},
        styles={"GRU": 1, "LSTM": 2, **dict.fromkeys(below, TRIANGLE)},
        marks=dict.fromkeys(below, "points"),
        points_at="words",
        sizes=dict.fromkeys(names, 2.5),
        hover={"step": words.INPUT, "told": words.NORM},
        x_title=words.DISTANCE,
        y_title=quantity,
        title=title,
        subtitle=words.edge(low) if hidden else "",
        x_range=(-last / 60, last - 1 + last / (5 if named else 60)),
        y_range=(low, math.log10(norms.max()) + 0.5),
        y_log=True,
        below=True,
        height=400,
    )


def _code(setting: Setting, function: str) -> str:
    return f"from inspector import distance\n\nsetting = distance.{setting}\ntable = distance.{function}(setting)"


# --- readings ---------------------------------------------------------------------------------------------------------


def recurrence(table: pd.DataFrame, setting: Setting) -> str:
    """Say what is left of the gradient at the first input; table: of `distance.curves`."""
    first, last = _first(table), _last(table)
    vanishing = [kind for kind in KINDS if first[kind] < VANISHES * last[kind]]
    return words.recurrence(setting, first=first, vanishing=vanishing, exploding=_exploding(table))


def claims(table: pd.DataFrame, setting: Setting, *, radius: float) -> Iterator[str]:
    """Say why, a point each; table: of `distance.curves`, radius: the spectral radius of the tanh-RNN's W_hh."""
    gate = 1 / (1 + math.exp(-setting.forget_bias))
    near = table[(table["network"] == "attention") & (table["step"] == max(setting.steps - words.NEAR, 1))]
    yield from words.claims(
        setting,
        first=_first(table),
        last=_last(table),
        near=float(near["norm"].iloc[0]),
        radius=radius,
        gate=gate,
        exploding=_exploding(table),
    )


def shared(parts: pd.DataFrame) -> str:
    """Say in whose weights the steps' parts are; parts: of `distance.parts`."""
    rows = parts[parts["network"] == "tanh-RNN"]
    norms = rows["norm"].to_numpy()
    return words.shared_weights(
        total=float(rows["total"].iloc[0]),
        first=float(norms[0]),
        last=float(norms[-1]),
        counted=int((norms > norms.max() / 100).sum()),
        off=float(parts["off"].max()),
    )


def ordered(table: pd.DataFrame) -> str:
    """Say what the order of the inputs changes; table: of `distance.shuffled`."""
    change = table.set_index("network")["change"]
    recurrent = change.drop(["attention", WITH_POSITIONS])
    return words.order(
        recurrent=(float(recurrent.min()), float(recurrent.max())),
        attention=float(change["attention"]),
        with_positions=float(change[WITH_POSITIONS]),
    )


def zeros(table: pd.DataFrame) -> list[Kind]:
    """List the networks whose gradient at the first input is 0 in float64."""
    first = _first(table)
    return [kind for kind in KINDS if first[kind] == 0]


def _first(table: pd.DataFrame) -> dict[Kind, float]:
    return _at(table, 1)


def _last(table: pd.DataFrame) -> dict[Kind, float]:
    return _at(table, int(table["step"].max()))


def _at(table: pd.DataFrame, step: int) -> dict[Kind, float]:
    norms = table[table["step"] == step].set_index("network")["norm"]
    return {kind: float(norms[kind]) for kind in KINDS}


def _exploding(table: pd.DataFrame) -> list[Kind]:
    first, last = _first(table), _last(table)
    return [kind for kind in KINDS if first[kind] > EXPLODES * last[kind]]


MORE = Section("recurrent_more", wording.MORE, _more, about="course", folded=True)
SECTION = Section(
    "recurrent",
    words.RECURRENT,
    answer,
    (
        Count("recurrent_steps", words.STEPS, lambda subject: distance.MOST_STEPS, lambda subject: 100, first_value=2),
        Count("recurrent_width", words.WIDTH, lambda subject: distance.MOST_WIDTH, lambda subject: 32, first_value=2),
        Decimal("recurrent_bias", words.FORGET_BIAS, default=2.0, last=8.0),
        Decimal("recurrent_scale", words.FACTOR, default=1.0, last=10.0, help=words.FACTOR_HELP),
        Count("recurrent_seed", words.SEED, lambda subject: distance.MOST_SEED, lambda subject: 0),
    ),
    about="course",
    waits=words.RUNNING,
    parts=(MORE,),
    behind=wording.SETTINGS,
)
