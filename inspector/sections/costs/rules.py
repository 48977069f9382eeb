"""The rules of counting: the polynomial, whether formula and count agree, what masks leave, and published numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from inspector.costs.published import published
from inspector.sections.costs import counts
from inspector.sections.section import Block, Check, Note, Paragraph, Section, Table
from inspector.wording import costs as words

if TYPE_CHECKING:
    from inspector.costs.counted.counting import CountedCosts
    from inspector.sections.subject import Subject


def answer(subject: Subject, *, stream: str) -> Iterator[Block]:
    """Yield the FLOPs of a stream as a formula of the text's length, and how all is counted."""
    sizes, found = subject.configuration, counts.of(subject)
    counted = counts.counted(subject)
    if counted.formula is None:
        yield Paragraph(words.NO_POLYNOMIAL, words.POLYNOMIAL)
    else:
        yield Table("formula", terms(counted, stream=stream), words.POLYNOMIAL, folded=False)
        yield Note(words.coefficients(both=counted.shape == "encoder-decoder"))
    if found.closed:
        table = counted.table(tokens=sizes.tokens, target_tokens=sizes.target_tokens)
        ran = int(table["flops"].sum())
        derived = int(found.table["flops"][found.table["kind"] == "matmul"].sum())
        if derived == ran:
            yield Paragraph(words.CLOSED_AGREES.format(ran))
        else:
            yield Check(words.CLOSED_DIFFERS.format(derived, ran), holds=False)
    pairs = counted.needed(tokens=sizes.tokens, target_tokens=sizes.target_tokens)
    if not pairs.empty:  # else no scores and no mix: a state space, a Fourier transform
        yield Paragraph(needed(pairs), words.NEEDED)
        yield Table("needed", masks(pairs), words=words.MASKS, folded=False)
        yield Note(words.ABOUT_MASKS)
    yield Paragraph(words.RULES, words.DERIVATION)
    rows = [(one.what, one.printed, one.value, one.unit, one.convention) for one in published()]
    table = pd.DataFrame(rows, columns=words.PUBLISHED_COLUMNS)
    yield Table("published", table, words.PUBLISHED, folded=False)


def terms(model: CountedCosts, *, stream: str) -> pd.DataFrame:
    """List each component of a stream's layers with its coefficients, columns component and the polynomial's terms."""
    if model.formula is None:
        return pd.DataFrame()
    inside = [row for row in model.formula.rows if row.layer is not None and row.stream == stream]
    names = list(dict.fromkeys((row.part, row.component) for row in inside))
    rows = [
        (f"{'FFN' if part == 'ffn' else part}: {component}", *model.polynomial(component, part=part, stream=stream))
        for part, component in names
    ]
    table = pd.DataFrame(rows, columns=["component", *model.terms])
    kept = [name for name in table.columns if name == "component" or table[name].any()]
    return table[kept]


def needed(pairs: pd.DataFrame) -> str:
    """Say what scores and mix compute and what their masks leave; pairs: of `CountedCosts.needed`."""
    known = pairs[pairs["needed"].notna()]
    return words.needed(
        computed=int(pairs["flops"].sum()), known=int(known["flops"].sum()), needed=int(known["needed"].sum())
    )


def masks(pairs: pd.DataFrame) -> pd.DataFrame:
    """Sum the rows of `CountedCosts.needed` over layers with equal masks: a row per stream, component and mask.

    width is missing where a mask has none.
    """
    alike = pairs.assign(layers=1).groupby(["stream", "component", "mask", "width"], dropna=False, sort=False)
    summed = alike[["layers", "flops", "needed"]].sum(min_count=1).reset_index().astype({"width": "Int64"})
    summed.loc[summed["width"] == 0, "width"] = pd.NA
    return summed[["stream", "component", "mask", "width", "layers", "flops", "needed"]]


SECTION = Section("derivation", words.DERIVATION, answer, (counts.STREAM,), about="configuration", waits=words.COUNTING)
