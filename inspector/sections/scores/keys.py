"""The symmetry of scores and weights, and the matrix that compares two tokens."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from inspector import probe, scores
from inspector.plots.chart import Chart
from inspector.sections.picks import Option
from inspector.sections.scores.open_head import HEAD, SHOWN, OpenHead, heads_map, name_of, scores_and_weights
from inspector.sections.section import Block, Figure, Mark, Note, Paragraph, Row, Section, Sentence, Table
from inspector.text import plain
from inspector.wording import scores as words

if TYPE_CHECKING:
    from inspector.scores import Projections, Spectrum
    from inspector.sections.subject import Subject

SIDES = {words.SIDE_A: "q", words.SIDE_B: "ffn"}


def answer(subject: Subject, *, head: tuple[int, int, int]) -> Iterator[Block]:
    """Yield the head's symmetry, S beside A, the spectrum of W_Q W_K^T, and all heads."""
    if subject.stream == "cross":
        raise ValueError(words.TWO_TEXTS)
    opened = OpenHead.of(subject, head)
    other = opened.beside()
    table = _table(subject)
    row = opened.row_of(table)
    about = Mark("scores-scores", {"layer": opened.site.layer, "head": opened.number})
    yield Sentence(
        sides(row, causal=_is_causal(opened)),
        ("asymmetry", "scores", "attention"),
        () if math.isnan(row["scores"]) else (about,),
    )
    against = None if other is None else _table(other.subject)
    if other is not None and against is not None:
        yield Paragraph(words.beside(sides(other.row_of(against), causal=_is_causal(other))))
    yield scores_and_weights(opened, "scores", side="" if other is None else words.SIDE_A)
    if other is not None:
        yield scores_and_weights(other, "scores-b", side=words.SIDE_B)
    count = len(opened.site.keys)
    told = words.peak(float(row["peak"]), causal=_is_causal(opened))
    yield Note(" ".join(filter(None, (words.first(SHOWN, of=count) if count > SHOWN else "", told, words.ASYMMETRY))))
    yield replace(SPECTRUM, answer=partial(_spectrum, opened=opened, other=other))
    yield replace(ALL, answer=partial(_all, opened=opened, table=table, beside=against))
    yield Table("scores-symmetry", table, words.ALL_HEADS, height=420)
    yield from opened.sigmoid()


def _table(subject: Subject) -> pd.DataFrame:
    def make() -> pd.DataFrame:
        with subject.progress(words.COMPARING) as on_layer:
            return scores.symmetry.measure(subject.trace, stream=subject.stream, on_layer=on_layer)

    return subject.once("symmetry", make)


def _is_causal(opened: OpenHead) -> bool:
    """Return True where queries see no later tokens."""
    return opened.site.predicts is not None and opened.site.stream != "cross"


def _all(
    subject: Subject, *, symmetry: str, opened: OpenHead, table: pd.DataFrame, beside: pd.DataFrame | None
) -> Iterator[Block]:
    code = f"{subject.code}table = inspector.scores.symmetry.measure(trace, stream={subject.stream!r})"
    top = 1.0 if symmetry == "diagonal" else 2.0
    yield heads_map(opened, table, symmetry, quantity=words.SYMMETRIES[symmetry], code=code, top=top, beside=beside)


def _spectrum(subject: Subject, *, opened: OpenHead, other: OpenHead | None) -> Iterator[Block]:
    """Yield the singular values of W_Q W_K^T, and what they mean."""
    tables, told = [], []
    for one, side in ((opened, words.SIDE_A), (other, words.SIDE_B)):
        if one is None:
            continue
        before = "" if other is None else f"{side}: "
        try:
            found, spectrum = one.subject.once(("W_Q W_K", one.at), partial(_projected, one))
        except ValueError as error:
            loaded, said = one.subject.loaded, str(error).rstrip(".")
            said = said if loaded is None else said.replace(one.subject.trace.model, loaded.card.title)
            yield Note(plain(f"{before}{said}."))
            continue
        tables.append(spectrum.table.assign(side=side))
        told.append(Paragraph(before + product(one, found, spectrum)))
    if not told:
        return
    table = pd.concat(tables, ignore_index=True)
    chart = Chart(
        table,
        "place",
        "size",
        by="side",
        parts=SIDES,
        styles={words.SIDE_B: 1},
        x_title=words.PLACE,
        y_title=words.SIZE,
        y_range=(0, 1.05 * float(table["size"].max())),
        title=words.SPECTRUM_TITLE,
        listed=len(tables) > 1,
        height=320,
    )
    code = "\n".join(
        (
            f"{opened.subject.code}blocks = inspector.record_blocks(loaded, trace)",
            "found = inspector.scores.projections(",
            f"    trace, blocks, loaded.network, layer={opened.site.layer}, stream={opened.site.stream!r}",
            ")",
            f"spectrum = inspector.scores.of_product(found.query[{opened.number}], found.key[{opened.number}])",
            f"table = spectrum.table.assign(side={words.SIDE_A!r})",
        )
    )
    shown = table if len(tables) == 1 else None  # the lines give one side: those of the other start from its model
    yield Row((Figure("scores-spectrum", "", chart, words.SPECTRUM_ALT, code, shown), tuple(told)), widths=(3, 2))


def _projected(opened: OpenHead) -> tuple[Projections, Spectrum]:
    """Find W_Q and W_K of the layer, and the spectrum of the head; ValueError where they are not found."""
    loaded, trace, site = opened.subject.loaded, opened.subject.trace, opened.site
    if loaded is None:
        raise ValueError(words.NO_MODEL)
    if site.call:
        raise ValueError(words.SEVERAL_CALLS)
    blocks = opened.subject.of_text("blocks", lambda: probe.record_blocks(loaded, trace))
    found = scores.projections(trace, blocks, loaded.network, layer=site.layer, stream=site.stream)
    return found, scores.of_product(found.query[opened.number], found.key[opened.number])


def sides(row: pd.Series, *, causal: bool) -> str:
    """Say whether a head's scores and weights are symmetric; row: of `scores.symmetry.measure`."""
    weights = float(row["weights"])
    return words.sides(
        head=name_of(row),
        scores=float(row["scores"]),
        weights=weights if math.isfinite(weights) else None,
        causal=causal,
        diagonal=float(row["diagonal"]),
        even=float(row["even"]),
    )


def product(opened: OpenHead, found: Projections, spectrum: Spectrum) -> str:
    """Say what W_Q W_K^T of a head is, beside Q K^T on the text."""
    record = opened.record
    return words.product(
        width=found.query.shape[1],
        d_k=found.query.shape[2],
        rank=spectrum.rank,
        effective=spectrum.effective,
        energy=spectrum.energy,
        symmetric=spectrum.symmetric,
        positive=spectrum.positive,
        on_text=scores.of_product(record.query[0], record.key[0]).rank,
        tokens=len(opened.site.keys),
        values=found.key_from_value(opened.number),
        turned=found.turned,
    )


def _symmetries(subject: Subject) -> dict[str, str]:
    """List the numbers that are known of any head."""
    table = _table(subject)
    return {id: name for id, name in words.SYMMETRIES.items() if not table[id].isna().all()}


SPECTRUM = Section("spectrum", words.SPECTRUM, _spectrum)
ALL = Section("symmetries", words.ALL, _all, (Option("symmetry", words.NUMBER_OF_HEAD, _symmetries),))
SECTION = Section("keys", words.KEYS, answer, (HEAD,), compares=True, long=True, parts=(SPECTRUM, ALL))
