"""Importance of the order: the text in another order, what a position does to a token, and the four-term split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector import interventions
from inspector.components.matrix import Panel
from inspector.plots.chart import Chart
from inspector.sections.picks import Option
from inspector.sections.positions.found import HEAD, code_of_split, find, split
from inspector.sections.section import Block, Figure, Map, Note, Paragraph, Section
from inspector.text import plain
from inspector.wording import positions as words
from models import failures

if TYPE_CHECKING:
    from inspector.interventions import Order, Reordered, ScoreSplit
    from inspector.positional import Way
    from inspector.sections.subject import Subject
    from inspector.trace import Trace

MOST = 1024  # tokens of a text that is read again
READ = 60  # tokens in their new order that are named


def answer(subject: Subject) -> Iterator[Block]:
    """Yield the change by another order, the change by adding the position, and the split of the first scores."""
    yield ANOTHER
    if len(subject.tokens) > MOST:
        yield Note(words.too_long_to_count(MOST), words.AT_ONCE)
    else:
        counted = subject.once("steps", lambda: steps(subject.trace, stream=subject.stream))
        yield Paragraph(counted, words.AT_ONCE)
        yield Note(words.ABOUT_STEPS)
    try:
        found = split(subject)
    except ValueError as error:
        yield Note(words.no_split(plain(str(error))), words.DISTURBS)
    else:
        yield _moved(subject, found)
        yield FOUR


def _another(subject: Subject, *, order: Order) -> Iterator[Figure | Note]:
    """Yield how far each token's last hidden state changes by an order, or why there is nothing to compare."""
    if len(subject.tokens) > MOST:
        yield Note(words.too_long(MOST))
        return

    def make() -> Reordered:
        with failures.told(words.READING, instead=words.ANOTHER_TEXT):
            return interventions.reorder(subject.model, subject.trace, order)

    try:
        found = subject.of_text(("order", order), make)
    except ValueError as error:
        yield Note(f"{plain(str(error).removesuffix('.'))}.")
        return
    shape, tokens = subject.model.shape, subject.trace.tokens
    changes = pd.DataFrame({"changed": found.changed, "without": found.without}, index=tokens, dtype=float)
    table = changes.mul(100).dropna(axis="columns", how="all").rename_axis("token").reset_index()
    read = () if order == "shift" else found.order
    yield Figure(
        "order-chart",
        "",
        _by_token(table, words.WITH_OR_WITHOUT, y_title=words.CHANGE, title=words.CHANGES),
        words.ANOTHER_ALT,
        f"import pandas as pd\n{subject.code}found = inspector.interventions.reorder(loaded, trace, {order!r})\n"
        'changes = {"changed": found.changed, "without": found.without}\n'
        "table = pd.DataFrame(changes, index=trace.tokens, dtype=float).mul(100)\n"
        'table = table.dropna(axis="columns", how="all").rename_axis("token").reset_index()',
        table,
        sentence=ordered(found, order=order, causal=shape == "decoder", ways=find(subject).ways),
        note=words.about_order(
            [tokens[place] for place in read[:READ]],
            of_the_encoder=shape == "encoder-decoder",
            more=len(read) > READ,
        ),
        name=f"{subject.trace.model}-{order}",
    )


def _moved(subject: Subject, found: ScoreSplit) -> Figure:
    content, position = found.lengths
    table = pd.DataFrame({"token": subject.trace.tokens, "position": position, "content": content})
    return Figure(
        "moved",
        words.DISTURBS,
        _by_token(table, words.ROW_OR_VECTOR, y_title=words.A_LENGTH, title=words.ADDED_UP),
        words.DISTURBS_ALT,
        f"import pandas as pd\n{code_of_split(subject)}content, position = split.lengths\n"
        'table = pd.DataFrame({"token": trace.tokens, "position": position, "content": content})',
        table,
        sentence=moved(found),
        name=f"{subject.trace.model}-moved",
    )


def _by_token(table: pd.DataFrame, names: Mapping[str, str], *, y_title: str, title: str) -> Chart:
    """Lay out columns of a table side by side for each token: what the positions make first, in their colour."""
    rows = table.assign(place=range(len(table))).melt(["token", "place"], var_name="of", value_name="size")
    return Chart(
        rows,
        "place",
        "size",
        "bars",
        by="of",
        names=names,
        parts=dict(zip(names, ("positions", "residual"), strict=True)),
        tokens=tuple(table["token"]),
        x_title=words.TOKEN,
        y_title=y_title,
        title=title,
        listed=rows["of"].nunique() > 1,
        height=344,
    )


def _four(subject: Subject, *, split_head: int, term: str) -> Iterator[Map]:
    """Yield one of the four terms of a head's scores beside their sum."""
    found, tokens = split(subject), subject.trace.tokens
    terms = found.terms(split_head)
    whole = np.sum(list(terms.values()), axis=0)
    scores = subject.trace.scores(layer=0, head=split_head, stream=found.stream)
    seen = np.isfinite(scores)
    yield Map(
        "four",
        "",
        tuple(
            Panel(np.where(seen, values, 0), rows=tokens, columns=tokens, title=title)
            for title, values in ((term.capitalize(), terms[term]), (words.THEIR_SUM, whole))
        ),
        "query",
        "key",
        words.four_alt(term, head=split_head),
        quantity=words.PART_OF_SCORE,
        diverging=True,
        code=f"{code_of_split(subject)}table = split.terms({split_head})[{term!r}]",
        sentence=words.shares(shares(found, split_head, causal=found.stream == "decoder"), head=split_head),
        note=words.about_four(float(np.abs(np.where(seen, whole - np.where(seen, scores, 0), 0)).max())),
        name=f"{subject.trace.model}-{term}",
    )


def ordered(found: Reordered, *, order: Order, causal: bool, ways: Sequence[Way]) -> str:
    """Say what another order did; causal: each token sees only those before it."""
    return words.ordered(
        order,
        by=found.by,
        changed=float(np.nanmean(found.changed)),
        without=None if found.without is None else float(np.nanmean(found.without)),
        blind=found.without is not None and float(np.nanmax(found.without)) < words.ROUNDING,
        causal=causal,
        ways=ways,
    )


def steps(trace: Trace, *, stream: str) -> str:
    """Say in how many steps a text is read, and how many pairs of tokens the first layer joins."""
    sites = trace.sites_of(stream)
    first = min(site.layer for site in sites)
    heads = next(site.heads for site in sites if site.layer == first)
    joined = trace.attention(layer=first, head=0, stream=stream) > 0
    for head in range(1, heads):
        joined |= trace.attention(layer=first, head=head, stream=stream) > 0
    tokens = len(trace.read_by(stream).tokens)
    return words.steps(
        tokens=tokens,
        layers=len({site.layer for site in sites}),
        layer=first,
        joined=int(joined.sum()),
        pairs=tokens * (tokens + 1) // 2 if stream == "decoder" else joined.size,
        ends=bool(joined[-1, 0]),
    )


def moved(found: ScoreSplit) -> str:
    """Say what adding the position does to the tokens of a text; vectors of length 0 are left out."""
    content, position = found.lengths
    cosines = found.cosines[~np.isnan(found.cosines)]
    if not len(cosines):
        return words.NO_DIRECTION
    ratios = position[content > 0] / content[content > 0]
    return words.moved(cosine=float(cosines.mean()), lowest=float(cosines.min()), ratio=float(ratios.mean()))


def shares(found: ScoreSplit, head: int, *, causal: bool) -> dict[str, float]:
    """Share each of the four terms has in how a head's scores differ within a row; they sum to 1.

    The covariance of the term with the whole score over the keys that a query sees, less each row's mean (a number for
    a whole row leaves its weights as they are). NaN where the scores of no row differ.
    """
    terms = found.terms(head)
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


ANOTHER = Section(
    "another_order",
    words.ANOTHER,
    _another,
    (Option("order", words.ORDER, lambda subject: words.ORDERS),),
    needs_model=True,
    waits=words.READING,
)
FOUR = Section(
    "four_terms",
    words.FOUR,
    _four,
    (HEAD, Option("term", words.TERM, lambda subject: {part: part.capitalize() for part in interventions.PARTS})),
    needs_model=True,
)
SECTION = Section("order", words.MATTERS, answer, needs_model=True, parts=(ANOTHER, FOUR))
