"""Pre-norm or post-norm: untrained stacks of the own Transformer by depth, and what each sublayer lets a token see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from inspector import normalization
from inspector.plots.chart import Chart, Panels
from inspector.sections.picks import Option
from inspector.sections.section import Block, Figure, Mark, Note, Paragraph, Row, Section, Sentence, Table
from inspector.wording import layernorm as words

if TYPE_CHECKING:
    import pandas as pd

    from inspector.sections.subject import Subject
    from models.transformer.config import Initialisation

CODE = "import inspector\n\ntable = inspector.normalization.{}"


def answer(subject: Subject, *, start: str) -> Iterator[Block]:
    """Yield activations, gradients and Jacobians of untrained stacks, and what a residual does in them."""
    drawn = cast("Initialisation", start)
    table = subject.of_all(("untrained depth", start), lambda: normalization.through_depth(initialisation=drawn))
    slopes = subject.of_all("untrained jacobians", normalization.jacobians)
    by_stack = ends(table)
    gradient, cosine = by_stack["gradient"].to_dict(), by_stack["cosine"].to_dict()
    last = int(table["layer"].max())
    about = (Mark("untrained-depth", {"stack": stack, "layer": last}) for stack in ("post-norm", "pre-norm"))
    yield Sentence(words.depth(gradient=gradient, cosine=cosine), about=tuple(about))
    yield Row(
        (
            Figure(
                "untrained-depth",
                words.WITH_AND_WITHOUT,
                through_depth(table),
                words.STACKS_ALT,
                CODE.format(f"through_depth(initialisation={start!r})"),
                table,
                note=words.ABOUT_STACKS,
            ),
            _jacobians(slopes),
        ),
        widths=(3, 2),
    )
    lines = words.residual(
        gradient=gradient, activation=by_stack["activation"].to_dict(), cosine=cosine, alike=alike(table)
    )
    yield Row(
        (
            Paragraph(words.bullets(lines), words.RESIDUAL),
            (Paragraph(words.SHIFT, words.IS_IT_SHIFT), DRIFT),
        )
    )


def through_depth(table: pd.DataFrame) -> Panels:
    """Draw activation, gradient and likeness of tokens by layer, a line per stack; table: of `through_depth`."""
    charts = [
        Chart(
            table,
            "layer",
            value,
            "curves",
            by="stack",
            styles={stack: at for at, stack in enumerate(table["stack"].unique())},
            x_title=words.AFTER_LAYER,
            y_title=value,
            y_log=value != "cosine",
        )
        for value in ("activation", "gradient", "cosine")
    ]
    return Panels(charts, words.UNTRAINED_LAYERS, words.UNTRAINED_ALONE, below=True, height=700)


def _jacobians(table: pd.DataFrame) -> Figure:
    """Draw how much a token's output depends on the token, its text and other texts."""
    by_kind = table.set_index("kind")
    chart = Chart(
        table.melt("kind", list(words.INPUTS), "input", "size"),
        "kind",
        "size",
        "bars",
        by="input",
        names=words.INPUTS,
        parts={"own": "norm", "others": "attention", "texts": "ffn"},
        styles={"others": 1, "texts": 3},
        x_title=words.SUBLAYER,
        y_title=words.OF_JACOBIAN,
        title=words.JACOBIANS,
        subtitle=words.UNTRAINED_BLOCKS,
        height=380,
    )
    return Figure(
        "untrained-jacobians",
        words.JACOBIANS,
        chart,
        words.JACOBIANS_ALT,
        CODE.format("jacobians()"),
        table,
        note=words.jacobians(others=by_kind["others"].to_dict(), texts=by_kind["texts"].to_dict()),
    )


def _drift(subject: Subject) -> Iterator[Block]:
    """Yield how far the inputs of a layer move in small trainings."""
    table = subject.of_all("drift", normalization.drift)
    yield Paragraph(drift(table))
    yield Table("layernorm-drift", table, words=words.MOVES, folded=False)
    yield Note(words.ABOUT_MOVES)


def ends(table: pd.DataFrame) -> pd.DataFrame:
    """Read the two ends of each stack; table: of `normalization.through_depth`.

    A row per stack: the gradient before layer 0 divided by that after the last, the last activation, the last cosine.
    """
    by_layer = {layer: rows.set_index("stack") for layer, rows in table.groupby("layer", sort=True)}
    first, last = by_layer[-1], by_layer[max(by_layer)]
    return last[["activation", "cosine"]].assign(gradient=first["gradient"] / last["gradient"])


def alike(table: pd.DataFrame) -> dict[str, int | None]:
    """Find the first layer of each stack after which the tokens of a text have become one, None where none is.

    table: of `normalization.through_depth`; the embedding, before all layers, is none of them.
    """
    one = table[(table["layer"] >= 0) & (1 - table["cosine"] < words.ALIKE)].groupby("stack")["layer"].min()
    return {stack: int(one[stack]) if stack in one else None for stack in table["stack"].unique()}


def drift(table: pd.DataFrame) -> str:
    """Say how far inputs moved, and which stack learned best; table: of `normalization.drift`."""
    by_norm = table.set_index("norm")
    return words.drift(moves=by_norm["mean"].to_dict(), losses=by_norm["last"].to_dict())


DRIFT = Section("drift", "", _drift, about="course", starts=words.TRAIN, waits=words.TRAINING)
START = Option("start", words.START, lambda subject: words.STARTS)
SECTION = Section("depth", words.DEPTH, answer, (START,), about="course", waits=words.RUNNING, parts=(DRIFT,))
