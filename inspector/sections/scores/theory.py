"""Random queries and keys of every width, with the scale and without, and one key that stands out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from inspector.plots.chart import Chart
from inspector.scores import theory
from inspector.sections.picks import Count, Decimal, Option
from inspector.sections.section import Block, Figure, Note, Paragraph, Row, Section, Sentence, Table
from inspector.wording import phrases, scores
from inspector.wording import score_theory as words

if TYPE_CHECKING:
    from inspector.scores.theory import Entries
    from inspector.sections.subject import Subject

SHOWN = (16, 1024)  # widths on either side of most crossovers, which are given as examples
ITSELF = (16, 512)
QUANTITIES = (("jacobian", "gradient"), ("variance", "excess"))
TICKS = {width: f"{width:,}" for width in theory.WIDTHS[::2]}
LEAST = 1e-12  # where a logarithmic axis ends at the latest: rounding is below
Both = tuple[float, float]  # without the scale, and with it


def answer(subject: Subject, *, theory_keys: int, theory_seed: int, theory_entries: Entries) -> Iterator[Block]:
    """Yield the curves of random queries and keys, what they settle, and the example to fill in."""
    keys, seed, entries = theory_keys, theory_seed, theory_entries
    own = tuple(sorted({record.query.shape[-1] for record in subject.trace.attentions} - {0}))[:3]
    widths = tuple(sorted({*theory.WIDTHS, *own}))
    table = subject.of_all(
        ("score theory", keys, entries, seed, widths),
        lambda: theory.drawn(keys=keys, entries=entries, seed=seed, widths=widths),
    )
    yield Sentence(moves(table, own=own), ("d_k", "softmax Jacobian"))
    code = (
        f"import inspector\n\ntable = inspector.scores.theory.drawn(\n    keys={keys}, entries={entries!r}, "
        f"seed={seed}, widths={widths}\n)"
    )
    first, second = (
        Row(
            tuple(
                Figure(
                    f"theory-{quantity}",
                    words.HEADINGS[quantity],
                    _curves(table, quantity, entries=entries, own=own),
                    words.ALT + words.ALTS[quantity],
                    code,
                    table,
                )
                for quantity in row
            )
        )
        for row in QUANTITIES
    )
    yield first
    yield Note(f"{examples(table, keys=keys)} {words.NORMS}")
    yield replace(MORE, answer=partial(_more, table=table, keys=keys, seed=seed, entries=entries, charts=second))
    yield Table("score-theory", table)
    yield EXAMPLE


def _more(
    subject: Subject, *, table: pd.DataFrame, keys: int, seed: int, entries: Entries, charts: Row
) -> Iterator[Block]:
    """Yield what else the curves settle, and the variance and the tails behind it."""
    itself = subject.of_all(
        ("score theory itself", keys, seed),
        lambda: {width: theory.itself(keys=keys, width=width, seed=seed) for width in ITSELF},
    )
    yield Paragraph(phrases.bullets(claims(table, entries=entries, itself=itself)))
    yield charts


def _curves(table: pd.DataFrame, quantity: str, *, entries: Entries, own: Sequence[int]) -> Chart:
    """Lay out a number by d_k: amber without the scale, indigo with it; solid the rows' median, dashed their mean.

    "excess" is one measured line, for a factor changes no tails, and the line of theory. own: the reader's d_k, marked.
    """
    columns = words.CURVES[quantity]
    if quantity == "excess":
        table = table.assign(theory=[theory.excess(width, entries) for width in table["width"]])
    lines = table.melt("width", list(columns), "curve", "value")
    if log := quantity != "excess":
        lines["value"] = lines["value"].where(lines["value"] > LEAST)
    low, high = (float(np.log10(end)) if log else float(end) for end in (lines["value"].min(), lines["value"].max()))
    return Chart(
        lines,
        "width",
        "value",
        by="curve",
        names=columns,
        parts={name: _part(name) for name in columns},
        styles={name: int(name.endswith(("_mean", "theory"))) for name in columns},
        x_title="d_k",
        y_title=words.AXES[quantity],
        title=words.HEADINGS[quantity],
        ticks=TICKS,
        x_marks={words.heads_here(width): width for width in own},
        x_log=True,
        y_log=log,
        y_range=(low - 0.05 * (high - low), high + 0.15 * (high - low)),  # room over the lines for the mark's words
        height=380,
    )


def _part(column: str) -> str:
    if column == "theory":
        return "residual"
    return "attention" if column.startswith(("scaled", "excess")) else "ffn"


def _example(subject: Subject, *, example_keys: int, example_width: int, example_sigmas: float) -> Iterator[Block]:
    """Yield the example of one key that stands out, with its formula and its numbers filled in."""
    keys, width, sigmas = example_keys, example_width, example_sigmas
    found = subject.of_all(
        ("score example", keys, width, sigmas), lambda: theory.example(keys=keys, width=width, sigmas=sigmas)
    )
    code = f"import inspector\n\ninspector.scores.theory.example(keys={keys}, width={width}, sigmas={sigmas})"
    formulas = [words.weight_formula(found, scaled=scaled) for scaled in (False, True)]
    weights = pd.DataFrame(
        [
            (words.ALONE, found.weight, found.scaled_weight),
            (words.AMONG, found.drawn_weight, found.scaled_drawn_weight),
            (words.LARGEST, found.drawn_largest, found.scaled_drawn_largest),
        ],
        columns=words.WEIGHT_HEADS,
    )
    yield Row(
        (
            (Paragraph(words.example(found)), *map(Paragraph, formulas)),
            Table("score-example", weights, folded=False, code=code),
        )
    )
    yield Paragraph(phrases.bullets(words.settled(found)))
    yield Note(words.OF_THE_KEY)


def moves(table: pd.DataFrame, *, own: Sequence[int]) -> str:
    """Say up to which width a row moves more without the scale; table: of `theory.drawn`; own: widths of heads."""
    last, rows = table.iloc[-1], table.set_index("width")
    return words.moves(
        crossover=theory.crossover(table),
        below=bool(last["jacobian_median"] < last["scaled_jacobian_median"]),
        heads={width: _both(rows, width, "jacobian_median") for width in own[:1]},
    )


def examples(table: pd.DataFrame, *, keys: int) -> str:
    """Give the numbers of two widths on either side of most crossovers."""
    rows = table.set_index("width")
    return words.examples(keys, {width: _both(rows, width, "jacobian_median") for width in SHOWN})


def claims(table: pd.DataFrame, *, entries: Entries, itself: Mapping[int, float]) -> Iterator[str]:
    """Say what the numbers make of the reasons that are often given for the scale.

    itself: d_k -> the weight of a token on itself without projections.
    """
    rows, large = table.set_index("width"), SHOWN[1]
    least = int(table["width"].min())
    ratios = table["scaled_variance"]
    yield words.variance(
        ratios=(float(ratios.min()), float(ratios.max())), d_k=large, variance=_both(rows, large, "variance")
    )
    yield words.normal(
        excess={width: float(rows["excess"][width]) for width in (least, large)}, theory=theory.excess(least, entries)
    )
    yield words.explosion(
        d_k=large, mean=_both(rows, large, "gradient_mean"), median=_both(rows, large, "gradient_median")
    )
    yield words.outputs(
        d_k=large, deviation=float(rows["variance"][large]) ** 0.5, largest=_both(rows, large, "largest_mean")
    )
    yield words.CONSTANT
    if itself:
        yield words.itself(itself)


def _both(rows: pd.DataFrame, width: int, name: str) -> Both:
    """Read a number of a width without the scale, and with it."""
    return float(rows[name][width]), float(rows[f"scaled_{name}"][width])


EXAMPLE = Section(
    "example",
    words.EXAMPLE,
    _example,
    (
        Count("example_keys", words.KEYS_N, lambda subject: theory.MOST_KEYS, lambda subject: 64, first_value=2),
        Count("example_width", "d_k", lambda subject: theory.WIDTHS[-1], lambda subject: 64, first_value=1),
        Decimal("example_sigmas", words.SIGMAS, last=20.0, default=1.0),
    ),
    about="course",
)
MORE = Section("theory_more", words.MORE, _more, about="course", folded=True)
SECTION = Section(
    "theory",
    scores.THEORY,
    answer,
    (
        Count("theory_keys", words.KEYS, lambda subject: theory.MOST_KEYS, lambda subject: 64, first_value=2),
        Count("theory_seed", words.SEED, lambda subject: 9999, lambda subject: 0),
        Option("theory_entries", words.ENTRIES_ASKED, lambda subject: words.ENTRIES),
    ),
    parts=(MORE, EXAMPLE),
)
