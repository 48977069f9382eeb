"""Time and memory: what each layout computes, what of it is padding, and how long it takes here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from inspector import batches
from inspector.costs import clock
from inspector.sections.batch import together
from inspector.sections.batch.bars import bars
from inspector.sections.batch.together import Together
from inspector.sections.section import Block, Figure, Mark, Measurement, Paragraph, Sentence, Table
from inspector.wording import batch as words

if TYPE_CHECKING:
    import pandas as pd

    from inspector.batches import LayoutTimes
    from inspector.costs.clock import LayerShape


def answer(read: Together) -> Iterator[Block]:
    """Yield what each layout computes, and the clock."""
    lengths, sites = read.read("alone").lengths, read.subject.trace.sites
    shape = clock.layer_shape(read.loaded.config)
    layers = len([site for site in sites if site.stream == sites[0].stream])
    table = batches.work(shape, lengths, layers=layers)
    code = (
        f"{read.code}from inspector.costs import clock\n\n"
        f"table = batches.work(clock.layer_shape(loaded.config), {list(lengths)}, layers={layers})"
    )
    if read.loaded.shape == "encoder-decoder":  # which packs no texts
        table = table[table["layout"] != "packed"]
        code += '\ntable = table[table["layout"] != "packed"]'
    names = [words.LAYOUTS[layout] for layout in table["layout"]]
    yield Sentence(costing(table), words.TERMS["cost"], (Mark("batch-flops", {"layout": "right"}),))
    yield Figure(
        "batch-flops",
        words.FLOPS,
        bars(
            dict(zip(names, (table["flops"] / 1e6).tolist(), strict=True)),
            quantity=words.FLOPS_AXIS,
            title=words.FLOPS_TITLE,
            named=words.LAYOUTS["right"],
        ),
        words.FLOPS_ALT,
        code,
        table,
        note=_formula(shape, table, layers=layers, encoder=any(site.stream == "cross" for site in sites)),
    )
    shown = table.assign(layout=names, padding=100 * table["padding"])
    yield Table("layouts", shown, words=words.COST_HEADS, folded=False)
    yield Paragraph("", words.CLOCK)
    yield _clock(read)


def costing(table: pd.DataFrame) -> str:
    """Say what the layouts cost; table: of `batches.work`, without "packed" where texts cannot be packed."""
    rows = table.set_index("layout")
    alone = float(rows["flops"]["alone"])
    return words.costing(
        cells=int(rows["cells"]["right"]),
        padding=float(rows["padding"]["right"]),
        padded=float(rows["flops"]["right"]) / alone,
        packed=float(rows["flops"]["packed"]) / alone if "packed" in rows.index else None,
    )


def _formula(shape: LayerShape, table: pd.DataFrame, *, layers: int, encoder: bool) -> str:
    padded, rows = table.iloc[0], table.set_index("layout")
    packs = "packed" in rows.index
    return words.flops_formula(
        projections=shape.projection_parameters,
        ffn=shape.ffn_parameters,
        width=shape.heads * shape.head_width,
        layers=layers,
        encoder=encoder,
        rows=int(padded["rows"]),
        tokens=int(padded["columns"]),
        flops=int(padded["flops"]),
        pairs=(int(rows["pairs"]["packed"]), int(rows["needed"]["alone"])) if packs else None,
    )


def _clock(read: Together) -> Measurement:
    def work(on_progress: Callable[[int, int], object], so_far: Callable[[LayoutTimes], object]) -> LayoutTimes:
        return batches.measure(read.loaded, read.texts, on_progress=on_progress, on_turn=so_far)

    known = ("layouts", read.subject.trace.model, read.texts)
    return Measurement("measure-layouts", known, work, words.TO_TIME, partial(_timed, read))


def _timed(read: Together, timed: LayoutTimes) -> Iterator[Block]:
    """Yield what the clock found."""
    found = timed.table
    milliseconds = {
        words.LAYOUTS[name]: 1000 * seconds for name, seconds in zip(found["layout"], found["seconds"], strict=True)
    }
    yield Figure(
        "batch-clock",
        "",
        bars(milliseconds, quantity=words.CLOCK_AXIS, title=words.CLOCK_TITLE),
        words.CLOCK_ALT,
        f"{read.code}table = batches.measure(loaded, texts).table",
        found,
        note=words.timed(timed.repeats, clock=timed.clock, of_project=read.own, problems=timed.problems),
    )


SECTION = together.section("cost", words.COST, answer, ())
