"""Packed texts: texts in one row, with their mask and without, held to each text alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from inspector import batches
from inspector.sections.batch import together
from inspector.sections.batch.bars import bars
from inspector.sections.batch.together import Together
from inspector.sections.section import Block, Figure, Mark, Note, Sentence, Table
from inspector.wording import batch as words

CASES = {words.WITH_MASK: (True, True), words.RUNNING_ON: (True, False), words.WITHOUT_MASK: (False, False)}
"""Names of packed rows -> whether it has its mask, and whether positions begin anew in each text."""
CODE = """alone = batches.read(batches.packer(loaded), texts, layout="alone")
tables = []
for name, (masked, restart) in {cases!r}.items():
    batch = batches.read(loaded, texts, layout="packed", masked=masked, restart=restart)
    tables.append(batches.compare(batch, alone).assign(row=name))
table = pd.concat(tables, ignore_index=True)"""


def answer(read: Together) -> Iterator[Block]:
    """Yield how far packed texts are from the texts alone."""
    alone = read.once("packed alone", lambda: batches.read(batches.packer(read.loaded), read.texts, layout="alone"))
    rows = [read.read("packed", masked=masked, restart=restart) for masked, restart in CASES.values()]
    tables = [batches.compare(row, alone) for row in rows]
    table = pd.concat([one.assign(row=name) for name, one in zip(CASES, tables, strict=True)], ignore_index=True)
    yield Sentence(packing(tables), words.TERMS["packed"], (Mark("packed-chart", {"row": words.WITHOUT_MASK}),))
    yield Figure(
        "packed-chart",
        words.APART,
        bars(
            {name: 100 * float(one["relative"].mean()) for name, one in zip(CASES, tables, strict=True)},
            quantity=words.APART_AXIS,
            title=words.APART_TITLE,
            named=words.WITHOUT_MASK,
        ),
        words.APART_ALT,
        f"import pandas as pd\n{read.code}{CODE.format(cases=CASES)}",
        table,
        name="batch-packed",
    )
    yield Note(words.about_packing(tokens=sum(alone.lengths), inside=sum(length**2 for length in alone.lengths)))
    yield Table(
        "packed",
        table[["row", "text", "states", "relative", "weights", "to_others"]],
        words=words.APART_HEADS,
        folded=False,
    )
    if not read.own:
        yield Note(words.PACKED_IN_OWN)


def packing(tables: Sequence[pd.DataFrame]) -> str:
    """Say whether packed texts equal separate ones; tables: of `batches.compare`, in the order of CASES."""
    masked, running, unmasked = tables
    return words.packing(
        masked=float(masked["states"].max()),
        running=float(running["states"].max()),
        unmasked=float(unmasked["states"].max()),
        others=float(unmasked["to_others"].mean()),
    )


SECTION = together.section("packed", words.PACKED, answer, ())
