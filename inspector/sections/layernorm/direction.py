"""The direction of each token before and after a norm: what scaling alone would leave as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspector import normalization
from inspector.plots.chart import Chart
from inspector.sections.layernorm import stream
from inspector.sections.section import Block, Figure, Mark, Section, Sentence
from inspector.wording import layernorm as words

if TYPE_CHECKING:
    from inspector.sections.subject import Subject


def answer(subject: Subject) -> Iterator[Block]:
    """Yield the mean cosine of the tokens before and after each norm."""
    names = {number: words.brief(norm) for number, norm in stream.norms(subject).items()}
    table = subject.of_text("norm direction", lambda: normalization.direction(subject.trace))
    means = table[table["norm"].isin(names)].groupby("norm", as_index=False)["cosine"].mean()
    least = means.loc[means["cosine"].idxmin()]
    norm = stream.norms(subject)[int(least["norm"])]
    said = words.turned(words.name(norm), cosine=least["cosine"], mean=means["cosine"].mean())
    yield Sentence(said, ("cosine",), (Mark("norm-direction", {"norm": int(least["norm"])}),))
    chart = Chart(
        means.assign(place=range(len(means))),
        "place",
        "cosine",
        "bars",
        parts={"cosine": "norm"},
        places=list(names.values()),
        x_title="norm",
        y_title=words.COSINE,
    )
    code = stream.code(subject, table="direction") + '.groupby("norm", as_index=False)["cosine"].mean()'
    yield Figure("norm-direction", words.COSINE, chart, words.DIRECTION_ALT, code, means)


SECTION = Section("direction", words.DIRECTION, stream.where_norms(answer))
