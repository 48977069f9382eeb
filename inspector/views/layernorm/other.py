"""Another norm: the reader's sentences as a padded batch, its activations through several norms side by side."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector import normalization
from inspector.components.matrix import Panel
from inspector.normalization.other_norms import OtherNorm
from inspector.plots import other_norms as draw
from inspector.plots.theme import number, signed
from inspector.readings import other_norms as read
from inspector.views.components import width
from inspector.views.figures import chart, matrix
from inspector.views.layernorm.sentences import BATCHES, FIRST, OTHERS
from inspector.views.shell import available_models, link, recording_notes, session, widgets
from inspector.wording.english import other_norms as words
from models.formatting import format_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    import models
    from inspector.trace import PaddedBatch, Trace

LONGEST, MOST_TEXTS, MOST_COLUMNS = 600, 8, 48  # characters, lines, columns of padding to add
MOST_DIMENSIONS = 24
CONTENTS = ("what the model computes", "zeros")
PYTHON = """import inspector, models

loaded = models.load({model!r})
texts = {texts!r}
batch = inspector.record_batch(loaded, texts, padding={side!r}, keep_padding=True, columns={columns})
x = batch.before({norm}){zeros}  # [text, column, dimension]
"""
THROUGH = "after = inspector.normalization.through(x, batch.keep, norm='layer', epsilon={epsilon})"
ZEROS = " * batch.keep[..., None]"


def show(trace: Trace, loaded: models.LoadedModel, *, norm: int, name: str) -> None:
    """Draw the section. norm: whose activations, by its place in the trace; name: what the page calls it."""
    st.subheader("The same activations through another norm", anchor=False)
    place = st.empty()
    texts = _texts()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bind = link.bind_number("pad_more", default=0, last=MOST_COLUMNS)
        added = st.slider("Columns of padding added", 0, MOST_COLUMNS, 0, key="pad_more", bind=bind, width=320)
        side = widgets.bar("Side of the padding", ("right", "left"), "pad_side", words="padding {}".format)
        holds = widgets.bar("The padding holds", CONTENTS, "pad_holds", words="padding holds {}".format)
        affine = st.toggle("gamma and beta", key="affine", bind=link.bind_switch("affine"), help="Those of the model.")
    if not texts:
        place.caption("Write a sentence.")
        return
    try:
        plain = _batch(trace, loaded, texts, side=side, added=0)
        batch = plain if not added else _batch(trace, loaded, texts, side=side, added=added)
        others = _batch(trace, loaded, OTHERS, side="right", added=0)
    except ValueError as error:
        with place.container():
            session.show_problem(str(error))
        return
    before, x = (_activations(one, norm, holds=holds) for one in (plain, batch))
    keep, record = batch.keep, batch.norms[norm]
    running = normalization.running_statistics(others.before(norm), others.keep)
    special = batch.encodings[0].special
    column = next((at for at, is_special in enumerate(special) if not is_special), 0)
    found = read.padded(
        (before, plain.keep),
        (x, keep),
        token=batch.encodings[0].tokens[column],
        row=0,
        column=column,
        epsilon=record.epsilon,
        running=running,
    )
    place.markdown(words.padded(found))
    columns = None if not added else batch.keep.shape[1]
    python = partial(PYTHON.format, model=trace.model, norm=norm)
    own = python(texts=list(texts), side=side, columns=columns, zeros=ZEROS if holds == "zeros" else "")
    chart.show(
        partial(draw.cells, batch.tokens, keep, narrow=width.is_narrow()),
        alt=f"{len(texts)} sentences as rows of cells, padded to {keep.shape[1]} columns",
        key="batch-cells",
        python=own,
    )
    if unknown := sum(encoding.unknown for encoding in batch.encodings):
        chinese = any("\u4e00" <= mark <= "\u9fff" for text in texts for mark in text)
        other_model = " mini-BERT for Chinese reads Chinese characters: choose it in the sidebar." if chinese else ""
        told = recording_notes.unknown_in_words(unknown, of=int(keep.sum()))
        st.caption(f"{told}{other_model}")
    _statistics(found)
    made = {
        other: normalization.through(
            x,
            keep,
            norm=other,
            epsilon=record.epsilon,
            running=running,
            gamma=record.gamma.astype(np.float64) if affine else None,
            beta=record.beta.astype(np.float64) if affine else None,
        )[keep]
        for other in normalization.OTHERS
    }
    _side_by_side(made, batch, python=own + THROUGH.format(epsilon=record.epsilon))
    st.caption(
        f"Before the norm {name}, {'with' if affine else 'before'} gamma and beta; epsilon = {record.epsilon:.0e}. The "
        f"batch's statistics are those of these {len(texts)} sentences, running statistics those of "
        f"{len(OTHERS)} other sentences of this page ({int(others.keep.sum())} tokens, padding masked)."
    )
    _table(x, keep, epsilon=record.epsilon, running=running)
    left, right = st.columns(2, gap="medium")
    with left:
        _by_position(x, keep, python=own)
    with right:
        _noise(others, norm=norm, python=python(texts=list(OTHERS), side="right", columns=None, zeros=""))
    _verdicts(read.against(x, keep, epsilon=record.epsilon, running=running))


def _verdicts(found: read.Against) -> None:
    """Say what speaks for and against BatchNorm, and whether LayerNorm is the best norm."""
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("For BatchNorm and against it", anchor=False)
        st.markdown("\n".join(f"- {line}" for line in words.against(found)))
    with right:
        st.subheader("Is LayerNorm the best norm?", anchor=False)
        st.markdown(words.BEST)


def _texts() -> tuple[str, ...]:
    """Take the reader's sentences, a line each."""

    def take(text: str) -> None:
        st.session_state["batch"] = text

    typed = st.text_area(
        f"Sentences, one a line, at most {MOST_TEXTS}",
        FIRST,
        max_chars=LONGEST,
        key="batch",
        bind=link.bind_words("batch", default=FIRST, most=LONGEST),
        height=148,
    )
    with st.container(horizontal=True, gap="small"):
        for label, text in BATCHES.items():
            st.button(label, key=f"batch-{label}", on_click=take, args=(text,), type="tertiary")
    lines = [line.strip() for line in typed.splitlines() if line.strip()]
    if len(lines) > MOST_TEXTS:
        st.caption(f"{len(lines)} lines: the first {MOST_TEXTS} are read.")
    return tuple(lines[:MOST_TEXTS])


def _batch(trace: Trace, loaded: models.LoadedModel, texts: Sequence[str], *, side: str, added: int) -> PaddedBatch:
    """Record the batch, once; ValueError where it would take more memory than a recording may."""
    from inspector import probe

    columns = min(max(len(text) for text in texts) + 2, loaded.max_tokens) + added
    most = available_models.limits().capture_bytes
    taken = 4 * columns * len(texts) * sum(norm.input.shape[1] for norm in trace.norms)
    if taken > most:
        raise ValueError(
            f"{len(texts)} sentences of up to {columns} tokens take up to {format_bytes(taken)}, over the "
            f"{format_bytes(most)} of one recording: write shorter ones"
        )

    def make() -> PaddedBatch:
        plain = probe.record_batch(loaded, texts, padding="left" if side == "left" else "right", keep_padding=True)
        if not added:
            return plain
        wide = plain.keep.shape[1] + added
        return probe.record_batch(loaded, texts, padding=plain.padding, keep_padding=True, columns=wide)

    return session.cached(("batch", trace.key, tuple(texts), side, added), make)


def _activations(batch: PaddedBatch, norm: int, *, holds: str) -> np.ndarray:
    """[B, T, D]: what goes into the norm; zeros in the padding where the reader asks for them."""
    x = batch.before(norm)
    return np.where(batch.keep[..., None], x, 0) if holds == "zeros" else x


def _statistics(found: read.Padded) -> None:
    """Print the numbers that the slider moves, and those that it does not."""
    (batch_mean, batch_std), (layer_mean, layer_std) = found.batch[1], found.layer[1]
    widgets.numbers(
        [
            (
                "Mean in BatchNorm",
                signed(batch_mean),
                f"Of dimension {found.dimension}, over all cells, padding counted.",
            ),
            ("Deviation in BatchNorm", number(batch_std), "Of the same dimension, over the same cells."),
            ("Mean in LayerNorm", signed(layer_mean), "Of one token, over its own dimensions."),
            ("Deviation in LayerNorm", number(layer_std), "Of the same token."),
            ("Masked BatchNorm moves by", number(found.moved["masked batch"]), "At most, of a real token's numbers."),
        ]
    )


def _side_by_side(made: dict[OtherNorm, np.ndarray], batch: PaddedBatch, *, python: str) -> None:
    rows = [words.SHORT[other] for other in made]
    tokens = [
        token
        for row, kept in zip(batch.tokens, batch.keep, strict=True)
        for token, real in zip(row, kept, strict=True)
        if real
    ]
    largest = np.argsort(-made["none"].std(axis=0))[:MOST_DIMENSIONS]
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Deviation of each token", anchor=False)
        matrix.show(
            Panel(np.stack([out.std(axis=1) for out in made.values()]).astype(np.float32), rows=rows, columns=tokens),
            row_title="norm",
            column_title="token",
            quantity="deviation",
            numbered="columns",
            scale="sqrt",
            name="other-norms-tokens",
            key="other-tokens",
            python=python,
        )
        st.caption("Over the dimensions of a token. Before gamma and beta LayerNorm makes it 1 for every token.")
    with right:
        st.subheader("Deviation of each dimension", anchor=False)
        matrix.show(
            Panel(
                np.stack([out[:, largest].std(axis=0) for out in made.values()]).astype(np.float32),
                rows=rows,
                columns=[str(one) for one in largest],
            ),
            row_title="norm",
            column_title="dimension",
            quantity="deviation",
            numbered="rows",
            scale="sqrt",
            name="other-norms-dimensions",
            key="other-dimensions",
            python=python,
        )
        st.caption(
            f"Over the real tokens, the {len(largest)} largest dimensions. Before gamma and beta masked BatchNorm "
            "makes it 1."
        )


def _table(x: np.ndarray, keep: np.ndarray, *, epsilon: float, running: tuple[np.ndarray, np.ndarray]) -> None:
    st.subheader("What each norm takes, keeps and lets in", anchor=False)
    table = normalization.compared(x, keep, epsilon=epsilon, running=running)
    layer, batch = (table.set_index("norm").loc[one] for one in ("layer", "masked batch"))
    widgets.table(
        table.assign(norm=[words.NAMES[one] for one in table["norm"]]),
        name="other-norms",
        words={
            "norm": "norm",
            "pairs": "pairs",
            "cells": "numbers in each",
            "within": "order in a token",
            "across": "order in a dimension",
            "skew": "skew",
            "kurtosis": "kurtosis",
            "scaled": "change at 1,000 x",
            "others": "change without others",
        },
    )
    st.caption(
        f"LayerNorm takes {int(layer['pairs'])} pairs of mean and deviation, one for each token and none for a whole "
        f"text; BatchNorm {int(batch['pairs'])}, one for each dimension, over all texts and positions. Order is "
        "Kendall's tau before and after: 1 where no two dimensions of a token, or no two tokens of a dimension, change "
        "places. LayerNorm's output is standardised and need not be normal: its "
        f"skew is {number(layer['skew'])} and its kurtosis {number(layer['kurtosis'])}, those of a normal distribution "
        f"are 0 and 3. Without the other texts a token's numbers change by up to {number(batch['others'])} "
        f"in BatchNorm and by {number(layer['others'])} in LayerNorm, which computes the same in training and after. "
        "That noise of the batch is what can regularise in BatchNorm; LayerNorm has none."
    )


def _by_position(x: np.ndarray, keep: np.ndarray, *, python: str) -> None:
    st.subheader("BatchNorm by position", anchor=False)
    positions = normalization.by_position(x, keep)
    alone = positions[positions["count"] == 1]
    chart.show(
        partial(draw.by_position, positions),
        alt="texts that reach each column, and the deviation over them",
        key="by-position",
        python=python + "table = inspector.normalization.by_position(x, batch.keep)",
        table=positions,
    )
    st.caption(
        f"Statistics for each column alone: {len(alone)} of {len(positions)} columns have one text. Where there is one "
        "the deviation is 0, and BatchNorm makes every token beta. Pooled over columns, as nn.BatchNorm1d "
        "does it, this does not happen."
    )


def _noise(others: PaddedBatch, *, norm: int, python: str) -> None:
    st.subheader("Small batches are noisy", anchor=False)
    noise = normalization.noise(others.before(norm), others.keep)
    first, last = noise.iloc[0], noise.iloc[-1]
    chart.show(
        partial(draw.noise, noise),
        alt="deviation of BatchNorm's mean by texts in the batch",
        key="batch-noise",
        python=python + "table = inspector.normalization.noise(x, batch.keep)",
        table=noise,
    )
    st.caption(
        f"Drawn 400 times from the {len(OTHERS)} other sentences: the mean of a dimension moves by "
        f"{number(first['deviation'])} of the dimension's deviation with 1 text, by {number(last['deviation'])} "
        f"with {int(last['texts'])}. Batches of Transformers are not small: Vaswani et al. (2017, section 5.1) took "
        "about 25,000 source and 25,000 target tokens. Shen et al. (2020) find that in language the statistics of a "
        "batch fluctuate more than in images, whose cells are all real and of one size."
    )
