"""Additions of attention and FFN to the residual stream, and what they do to the prediction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from inspector import block
from inspector.plots.chart import Chart
from inspector.sections.block import inside
from inspector.sections.picks import Token
from inspector.sections.section import Block, Figure, Mark, Note, Row, Section, Sentence, Table
from inspector.text import Named, named, plain
from inspector.wording import block as words
from models.cards import WRITERS

if TYPE_CHECKING:
    import pandas as pd

    from inspector.sections.subject import Subject

PARTS = {"attention": "attention", "cross": "k", "ffn": "ffn"}
STYLES = {"cross": 1}


def answer(subject: Subject) -> Iterator[Block]:
    """Yield what the parts of a stream add, and what moves the prediction at a token."""
    code = f"{inside.code(subject)}stages = inspector.block.stages(trace, blocks, stream={subject.stream!r})\n"
    table = subject.once("additions", lambda: block.additions(inside.stages(subject)))
    call = f"{code}table = inspector.block.additions(stages)"
    largest = table.loc[table["share"].idxmax()]
    where = {"layer": int(largest["layer"]), "part": str(largest["part"])}
    yield Sentence(added(table), ("residual stream", "cosine", "FFN"), (Mark("block-shares", where),))
    bars = Chart(
        table, "layer", "share", "bars", by="part", names=words.PART_NAMES, parts=PARTS, styles=STYLES, x_title="layer"
    )
    lengths = replace(bars, y_title=words.SHARE, title=f"{words.ADDED}: {words.SHARE}")
    cosines = replace(bars, y="cosine", y_title=words.COSINE, title=f"{words.ADDED}: {words.COSINE}")
    yield Row(
        (
            Figure("block-shares", words.LENGTHS, lengths, words.LENGTHS_ALT, call, table),
            Figure("block-cosines", words.DIRECTIONS, cosines, words.DIRECTIONS_ALT, call, table),
        )
    )
    yield Note(f"{larger(table)} {words.MEANS}".lstrip())
    yield Row((_alike(subject, table, call), _moves(subject, code)))
    yield Table("block-additions", table)


def _alike(subject: Subject, table: pd.DataFrame, code: str) -> Figure | Note:
    if len(subject.tokens) < 2:
        return Note(words.ONE_TOKEN, words.ALIKE)
    chart = replace(_by_depth(table), y="alike", y_title=words.MEAN_COSINE, title=words.ALIKE)
    return Figure("block-alike", words.ALIKE, chart, words.ALIKE_ALT, code, table)


def _moves(subject: Subject, code: str) -> Section | Note:
    if subject.model.predict is None:
        return Note(words.no_head(writer=subject.first_at_hand(WRITERS)), words.MOVES)
    if subject.stream != ("decoder" if "decoder" in inside.streams(subject) else "encoder"):
        return Note(words.OTHER_STREAM, words.MOVES)
    return replace(MOVES, answer=partial(_moved, code=code))


def _moved(subject: Subject, *, token: int, code: str) -> Iterator[Block]:
    model = subject.model
    assert model.predict is not None
    try:
        table = subject.once(
            ("moved", token),
            lambda: block.moved(subject.trace, inside.stages(subject), model.predict, model.tokenizer, position=token),
        )
    except ValueError as error:
        yield Note(plain(f"{error}."))
        return
    chart = replace(
        _by_depth(table),
        y="probability",
        mark="bars",
        over="guess",
        hover={"bits": words.BITS, "guess": words.LIKELIEST},
        y_range=(0, 1.15 * max(float(table["probability"].max()), 1e-9)),
        y_title=words.FINAL,
        title=words.prediction(table["guess"].iloc[-1]),
        height=320,
    )
    code += f"table = inspector.block.moved(trace, stages, loaded.predict, loaded.tokenizer, position={token})"
    yield Figure(
        "block-lens",
        "",
        chart,
        words.MOVES_ALT,
        code,
        table,
        sentence=moved(table, token=named(subject.tokens, token)),
        note=words.LENS,
    )


def added(table: pd.DataFrame) -> str:
    """Say which part adds most, and how alike the tokens get; table: of `block.additions`."""
    largest = table.loc[table["share"].idxmax()]
    first, last = float(table["alike"].iloc[0]), float(table["alike"].iloc[-1])
    return words.added(
        part=str(largest["part"]),
        layer=int(largest["layer"]),
        share=float(largest["share"]),
        alike=None if first != first else (first, last),
    )


def larger(table: pd.DataFrame) -> str:
    """Say in how many layers the FFN adds more than attention; table: of `block.additions`."""
    sums = table.groupby(["layer", "part"])["share"].sum().unstack().reindex(columns=["attention", "ffn"]).dropna()
    return words.larger(
        larger=int((sums["ffn"] > sums["attention"]).sum()),
        equal=int((sums["ffn"] == sums["attention"]).sum()),
        layers=len(sums),
    )


def moved(table: pd.DataFrame, *, token: Named) -> str:
    """Say which sublayer raised the final prediction at a token most, and since when it is the likeliest.

    table: of `block.moved`.
    """
    top, last = table.loc[table.iloc[1:]["bits"].idxmax()], table.iloc[-1]
    since = len(table) - 1
    while since > 0 and table["guess"].iloc[since - 1] == last["guess"]:
        since -= 1
    return words.moved(
        token=token,
        guess=str(last["guess"]),
        probability=float(last["probability"]),
        layer=int(top["layer"]),
        part=str(top["part"]),
        bits=float(top["bits"]),
        known=(int(table["layer"].iloc[since]), str(table["part"].iloc[since])),
    )


def _by_depth(table: pd.DataFrame) -> Chart:
    """Lay out one number of each sublayer in the order in which they run."""
    sublayers = zip(table["layer"], table["part"], strict=True)
    places = [words.INPUT if layer < 0 else f"{layer} {words.PART_NAMES[part]}" for layer, part in sublayers]
    return Chart(table.assign(place=range(len(table))), "place", "", each="part", parts=PARTS, places=places)


MOVES = Section("moves", words.MOVES, _moved, (Token("token", words.TOKEN, lambda subject: subject.tokens, default=1),))
SECTION = Section("added", words.ADDED, answer, needs_model=True, parts=(MOVES,))
