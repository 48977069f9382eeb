"""Another norm: the reader's sentences as a padded batch, its activations through several norms side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from inspector import normalization, probe
from inspector.components.matrix import Panel
from inspector.normalization import SENTENCES
from inspector.normalization.other_norms import Floats, OtherNorm
from inspector.plots import other_norms as draw
from inspector.plots.chart import Chart, Panels
from inspector.sections.layernorm import stream
from inspector.sections.picks import Count, Option, Switch, Texts
from inspector.sections.section import (
    Block,
    Figure,
    Map,
    Note,
    Number,
    Numbers,
    Paragraph,
    Row,
    Section,
    Sentence,
    Table,
)
from inspector.text import number, signed
from inspector.wording import layernorm as words
from models.formatting import format_bytes
from models.limits import Limits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.sections.subject import Subject
    from inspector.trace import PaddedBatch

    Keep = NDArray[np.bool_]

LONGEST, MOST_TEXTS, MOST_COLUMNS = 600, 8, 48  # characters, lines, columns of padding to add
MOST_DIMENSIONS = 24
ROUNDING = 1e-4  # of the largest number: what the model's own float32 moves between two runs
MOVED: tuple[OtherNorm, ...] = ("layer", "rms", "batch", "masked batch", "running batch")
CODE = """import inspector, models
import pandas as pd

loaded = models.load({model!r})
texts = {texts!r}
batch = inspector.record_batch(loaded, texts, padding={side!r}, keep_padding=True{columns})
x = batch.before({norm}){zeros}  # [text, column, dimension]
"""
OTHERS = """import inspector, models

loaded = models.load({model!r})
batch = inspector.record_batch(loaded, inspector.normalization.SENTENCES, keep_padding=True)
x = batch.before({norm})  # [text, column, dimension]
"""
THROUGH = """others = inspector.record_batch(loaded, inspector.normalization.SENTENCES, keep_padding=True)
running = inspector.normalization.running_statistics(others.before({norm}), others.keep)
norm = batch.norms[{norm}]
after = {{
    other: inspector.normalization.through(
        x, batch.keep, norm=other, epsilon=norm.epsilon, running=running{affine}
    )[batch.keep]
    for other in inspector.normalization.OTHERS
}}
"""
AFFINE = ", gamma=norm.gamma.astype(float), beta=norm.beta.astype(float)"


def answer(
    subject: Subject,
    *,
    norm: int,
    norm_texts: tuple[str, ...],
    pad_more: int,
    pad_side: str,
    pad_holds: str,
    affine: bool,
) -> Iterator[Block]:
    """Yield what padding and other texts do to each norm's output on the reader's sentences."""
    if subject.stream != subject.trace.norms[0].stream or subject.trace.target is not None:
        yield Note(words.ONE_BY_ONE)
        return
    if not (texts := norm_texts[:MOST_TEXTS]):
        yield Note(words.WRITE)
        return
    at, record = list(stream.norms(subject).items())[norm]
    plain = _batch(subject, texts, side=pad_side)
    batch = _batch(subject, texts, side=pad_side, added=pad_more) if pad_more else plain
    others = _batch(subject, SENTENCES, side="right")
    before, x = (_activations(one, at, holds=pad_holds) for one in (plain, batch))
    running = normalization.running_statistics(others.before(at), others.keep)
    special = batch.encodings[0].special
    column = next((place for place, is_special in enumerate(special) if not is_special), 0)
    found = padded((before, plain.keep), (x, batch.keep), column=column, epsilon=record.epsilon, running=running)
    yield Sentence(padding(found))
    if len(norm_texts) > MOST_TEXTS:
        yield Note(words.too_many(len(norm_texts), most=MOST_TEXTS))
    code = CODE.format(
        model=subject.trace.model,
        texts=list(texts),
        side=pad_side,
        columns=f", columns={batch.keep.shape[1]}" if pad_more else "",
        norm=at,
        zeros=" * batch.keep[..., None]" if pad_holds == "zeros" else "",
    )
    yield Figure(
        "batch-cells",
        words.THE_SAME,
        partial(draw.cells, batch.tokens, batch.keep, narrow=subject.narrow),
        words.cells_alt(len(texts), columns=batch.keep.shape[1]),
        f"{code}table = pd.DataFrame(batch.tokens)",
        pd.DataFrame(batch.tokens),
    )
    if unknown := sum(encoding.unknown for encoding in batch.encodings):
        chinese = any("\u4e00" <= mark <= "\u9fff" for text in texts for mark in text)
        yield Note(words.unknown(unknown, of=int(batch.keep.sum()), chinese=chinese))
    yield _statistics(found)
    made = {
        other: normalization.through(
            x,
            batch.keep,
            norm=other,
            epsilon=record.epsilon,
            running=running,
            gamma=record.gamma.astype(np.float64) if affine else None,
            beta=record.beta.astype(np.float64) if affine else None,
        )[batch.keep]
        for other in normalization.OTHERS
    }
    yield _side_by_side(made, batch, code=code + THROUGH.format(norm=at, affine=AFFINE if affine else ""))
    tokens = int(others.keep.sum())
    yield Note(words.about_others(record, affine=affine, texts=len(texts), others=len(SENTENCES), tokens=tokens))
    table = subject.of_text(
        ("norms compared", at, texts, pad_side, pad_more, pad_holds),
        lambda: normalization.compared(x, batch.keep, epsilon=record.epsilon, running=running),
    )
    yield Table(
        "other-norms",
        table.assign(norm=[words.NAMES[one] for one in table["norm"]]),
        words.COMPARED,
        words.COMPARED_HEADS,
        folded=False,
    )
    by_norm = table.set_index("norm").T.to_dict()
    yield Note(words.compared(layer=by_norm["layer"], batch=by_norm["masked batch"]))
    positions = _by_position(x, batch.keep, code=code)
    noise = subject.of_text(("noise of norm", at), lambda: normalization.noise(others.before(at), others.keep))
    yield Row((positions, _noise(noise, code=OTHERS.format(model=subject.trace.model, norm=at))))
    lines = against(x, batch.keep, epsilon=record.epsilon, running=running)
    yield Row((Paragraph(words.bullets(lines), words.FOR_AND_AGAINST), Paragraph(words.BEST, words.IS_IT_BEST)))


def _batch(subject: Subject, texts: tuple[str, ...], *, side: str, added: int = 0) -> PaddedBatch:
    """Record the batch, once; ValueError where it would take more memory than a recording may."""
    loaded = subject.model
    columns = min(max(len(text) for text in texts) + 2, loaded.max_tokens) + added
    most = Limits.from_environment().capture_bytes
    taken = 4 * columns * len(texts) * sum(norm.input.shape[1] for norm in subject.trace.norms)
    if taken > most:
        large, limit = format_bytes(taken), format_bytes(most)
        raise ValueError(words.too_large(len(texts), tokens=columns, taken=large, most=limit))

    def make() -> PaddedBatch:
        padding: Literal["right", "left"] = "left" if side == "left" else "right"
        plain = probe.record_batch(loaded, texts, padding=padding, keep_padding=True)
        if not added:
            return plain
        wide = plain.keep.shape[1] + added
        return probe.record_batch(loaded, texts, padding=plain.padding, keep_padding=True, columns=wide)

    return subject.of_text(("batch", texts, side, added), make)


def _activations(batch: PaddedBatch, norm: int, *, holds: str) -> Floats:
    """Read what goes into the norm, [B, T, D]; zeros in the padding where the reader asks for them."""
    x = batch.before(norm)
    return np.where(batch.keep[..., None], x, 0) if holds == "zeros" else x


def _statistics(found: Padded) -> Numbers:
    """List the numbers that the slider moves, and those that it does not."""
    values = [
        show(value)
        for pair in (found.batch[1], found.layer[1])
        for show, value in zip((signed, number), pair, strict=True)
    ]
    told = map(Number, words.STATISTICS, values, words.statistics(found.dimension))
    return Numbers((*told, Number(words.MASKED, number(found.moved["masked batch"]), words.MASKED_MEANS)))


def _side_by_side(made: Mapping[OtherNorm, Floats], batch: PaddedBatch, *, code: str) -> Row:
    """Draw the deviation of each token and of the largest dimensions after each norm."""
    rows = [words.SHORT[other] for other in made]
    tokens = [
        token
        for row, kept in zip(batch.tokens, batch.keep, strict=True)
        for token, real in zip(row, kept, strict=True)
        if real
    ]
    by_token = pd.DataFrame({other: out.std(axis=1) for other, out in made.items()})
    by_dimension = pd.DataFrame({other: out.std(axis=0) for other, out in made.items()})
    by_dimension = by_dimension.nlargest(MOST_DIMENSIONS, "none")
    return Row(
        (
            Map(
                "other-tokens",
                words.OF_TOKENS,
                (Panel(by_token.T.to_numpy(np.float32), rows=rows, columns=tokens),),
                row_title="norm",
                column_title="token",
                alt=words.OF_TOKENS_ALT,
                quantity="deviation",
                numbered="columns",
                scale="sqrt",
                code=f"{code}table = pd.DataFrame({{other: out.std(axis=1) for other, out in after.items()}})",
                note=words.ABOUT_TOKENS,
                name="other-norms-tokens",
            ),
            Map(
                "other-dimensions",
                words.OF_DIMENSIONS,
                (
                    Panel(
                        by_dimension.T.to_numpy(np.float32),
                        rows=rows,
                        columns=[str(dimension) for dimension in by_dimension.index],
                    ),
                ),
                row_title="norm",
                column_title="dimension",
                alt=words.OF_DIMENSIONS_ALT,
                quantity="deviation",
                numbered="rows",
                scale="sqrt",
                code=(
                    f"{code}table = pd.DataFrame({{other: out.std(axis=0) for other, out in after.items()}})\n"
                    f'table = table.nlargest({MOST_DIMENSIONS}, "none")'
                ),
                note=words.about_dimensions(len(by_dimension)),
                name="other-norms-dimensions",
            ),
        )
    )


def _by_position(x: Floats, keep: Keep, *, code: str) -> Figure:
    """Draw how many texts reach each column, and what BatchNorm finds there."""
    table = normalization.by_position(x, keep)
    texts = Chart(table, "position", "count", "bars", parts={"count": "residual"}, y_title=words.TEXTS, from_zero=True)
    deviation = Chart(
        table,
        "position",
        "deviation",
        parts={"deviation": "norm"},
        x_title=words.COLUMN,
        y_title="deviation",
        from_zero=True,
    )
    return Figure(
        "by-position",
        words.BY_POSITION,
        Panels((texts, deviation), words.BY_POSITION, height=380),
        words.BY_POSITION_ALT,
        f"{code}table = inspector.normalization.by_position(x, batch.keep)",
        table,
        note=words.by_position(int((table["count"] == 1).sum()), columns=len(table)),
    )


def _noise(table: pd.DataFrame, *, code: str) -> Figure:
    """Draw how far BatchNorm's mean moves from batch to batch, by the number of texts."""
    chart = Chart(
        table.assign(place=range(len(table))),
        "place",
        "deviation",
        parts={"deviation": "norm"},
        places=[str(texts) for texts in table["texts"]],
        x_title=words.IN_BATCH,
        y_title=words.OF_MEAN,
        unit=words.OF_DIMENSION,
        title=words.NOISE,
        y_range=(0, 1.05 * float(table["deviation"].max())),
        height=380,
    )
    one, many = table["deviation"].iloc[0], table["deviation"].iloc[-1]
    return Figure(
        "batch-noise",
        words.SMALL,
        chart,
        words.SMALL_ALT,
        f"{code}table = inspector.normalization.noise(x, batch.keep)",
        table,
        note=words.noise(
            sentences=len(SENTENCES), one_text=float(one), many=float(many), texts=int(table["texts"].iloc[-1])
        ),
    )


@dataclass(frozen=True)
class Padded:
    """A batch with more padding and without, on its real tokens.

    padding, cells: cells of padding and all cells, with the padding that was added; added: the columns of it.
    dimension: whose mean and deviation BatchNorm is read at: the one of the largest deviation. batch, layer: statistics
    (mean, deviation) without and with the added padding: of that dimension, padding counted, and of one token of the
    first text. moved: the largest change of a real token's numbers after each norm. largest: the largest number after
    LayerNorm.
    """

    padding: int
    cells: int
    added: int
    dimension: int
    batch: tuple[tuple[float, float], tuple[float, float]]
    layer: tuple[tuple[float, float], tuple[float, float]]
    moved: Mapping[OtherNorm, float]
    largest: float


def padded(
    before: tuple[Floats, Keep],
    after: tuple[Floats, Keep],
    *,
    column: int,
    epsilon: float,
    running: tuple[Floats, Floats],
) -> Padded:
    """Compare a batch [B, T, D] and its keep [B, T] with the same batch with more padding.

    column: of the token whose LayerNorm is read, its place among the real tokens of the first text.
    """
    (x, keep), (y, padded_keep) = before, after
    moved: dict[OtherNorm, float] = {}
    largest = 0.0
    for norm in MOVED:
        first, second = (
            normalization.through(values, kept, norm=norm, epsilon=epsilon, running=running)[kept]
            for values, kept in (before, after)
        )
        moved[norm] = float(np.abs(second - first).max())
        largest = max(largest, float(np.abs(first).max())) if norm == "layer" else largest
    dimension = int(x[keep].astype(np.float64).std(axis=0).argmax())
    return Padded(
        padding=int((~padded_keep).sum()),
        cells=padded_keep.size,
        added=y.shape[1] - x.shape[1],
        dimension=dimension,
        batch=(_spread(x[..., dimension]), _spread(y[..., dimension])),
        layer=(_spread(x[0][keep[0]][column]), _spread(y[0][padded_keep[0]][column])),
        moved=moved,
        largest=largest,
    )


def _spread(values: Floats) -> tuple[float, float]:
    """Compute mean and deviation."""
    exact = values.astype(np.float64)
    return float(exact.mean()), float(exact.std())


def padding(found: Padded) -> str:
    """Say what the padding does to BatchNorm and to LayerNorm."""
    if not found.added:
        return words.padding(cells=found.padding, of=found.cells)
    return words.padding_added(
        cells=found.padding,
        added=found.added,
        batch=found.moved["batch"],
        layer=found.moved["layer"],
        rounding=found.moved["layer"] <= ROUNDING * max(found.largest, 1.0),
    )


def against(x: Floats, keep: Keep, *, epsilon: float, running: tuple[Floats, Floats]) -> list[str]:
    """Say what speaks for BatchNorm and against it on a padded batch; running: mean and variance of other texts."""
    lengths, counts = keep.sum(axis=1), keep.sum(axis=0)
    norms: tuple[OtherNorm, ...] = ("masked batch", "running batch")
    own, kept = (normalization.through(x, keep, norm=norm, epsilon=epsilon, running=running)[keep] for norm in norms)
    return words.against(
        texts=len(x),
        shortest=int(lengths.min()),
        longest=int(lengths.max()),
        columns=int((counts > 0).sum()),
        alone=int((counts == 1).sum()),
        padding=float(1 - keep.mean()),
        gap=float(np.abs(own - kept).max()),
    )


PICKS = (
    stream.NORM,
    Texts("norm_texts", words.sentences(MOST_TEXTS), words.EXAMPLES["English"], LONGEST, words.EXAMPLES),
    Count("pad_more", words.ADDED, lambda subject: MOST_COLUMNS, lambda subject: 0, width=320, slider=True),
    Option("pad_side", words.SIDE, lambda subject: words.SIDES),
    Option("pad_holds", words.HOLDS, lambda subject: words.CONTENTS),
    Switch("affine", words.AFFINE, help=words.AFFINE_HELP),
)
SECTION = Section("other", words.OTHER, stream.where_norms(answer), PICKS, needs_model=True)
