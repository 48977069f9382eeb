"""An FFN's units on a text: its activation function, which units answer, and what it is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from inspector import activations, feedforward, mixing
from inspector.plots import block as draw
from inspector.probe.blocks import MANY
from inspector.sections.block import inside
from inspector.sections.picks import Listed
from inspector.sections.section import Block, Figure, Note, Paragraph, Row, Section, Sentence, Table
from inspector.text import named, plain
from inspector.wording import block as words

if TYPE_CHECKING:
    from inspector.feedforward import Units
    from inspector.sections.subject import Subject
    from inspector.trace.blocks import Blocks, FFNRecord


def answer(subject: Subject, *, layer: int) -> Iterator[Block]:
    """Yield one layer's FFN: its numbers, its units, and what is lost without its activation function."""
    blocks, network = inside.blocks(subject), subject.model.network
    refused = [(layer, reason) for stream, layer, reason in blocks.refused if stream == subject.stream]
    if not (layers := _layers(subject)):
        reason = refused[0][1]
        raise ValueError(words.no_ffns(subject.trace.model, reason=reason, experts=reason == MANY))
    number = layers[layer]
    ffn = blocks.ffn(subject.stream, number)
    assert ffn is not None
    units = subject.once(("units", number), lambda: feedforward.units(ffn, network))
    busiest = subject.once(("busiest", number), lambda: feedforward.busiest(ffn, network, tokens=subject.tokens))
    yield Sentence(answered(units, busiest, layer=number, tokens=subject.tokens), ("FFN", "activation function"))
    code = (
        f"{inside.code(subject)}ffn = blocks.ffn({subject.stream!r}, {number})\n"
        "units = inspector.feedforward.units(ffn, loaded.network)"
    )
    yield Row(
        (
            _activation(units, code, number),
            Table("block-units", busiest.drop(columns="first"), words.BUSIEST, words.BUSIEST_HEADS, folded=False),
        ),
        widths=(3, 2),
    )
    yield Paragraph(straight(units), words.STRAIGHT)
    yield Table(
        "block-doubled", _doubled(subject, layer=number, ffn=units.doubled), words=words.DOUBLED_HEADS, folded=False
    )
    yield Note(words.DOUBLED)
    yield Row((_mixes(subject, ffn, layer=number), _rectified(subject, ffn, layer=number)))
    if refused:
        yield Note(plain(words.ffns_refused(len(refused), layer=refused[0][0], reason=refused[0][1])))
    yield ALL_LAYERS


def _layers(subject: Subject) -> list[int]:
    return list(dict.fromkeys(ffn.layer for ffn in inside.blocks(subject).ffns if ffn.stream == subject.stream))


def _activation(units: Units, code: str, layer: int) -> Figure:
    curves = feedforward.curves(units.edges, units.activation)
    return Figure(
        "block-activation",
        words.ACTIVATION,
        partial(draw.activation, units.counts, units.edges, curves, own=units.activation, pairs=units.pairs),
        words.ACTIVATION_ALT,
        code,
        note=" ".join(
            (
                words.silent(units.silent, of=units.units, activation=units.activation),
                words.pre_activations(
                    units.pairs, low=units.low, high=units.high, outside=units.pairs - int(units.counts.sum())
                ),
            )
        ),
        name=f"block-ffn-layer{layer}",
    )


def _doubled(subject: Subject, *, layer: int, ffn: float) -> pd.DataFrame:
    """List by how much the output grows with a doubled input."""
    rows = [(words.THE_FFN, ffn)]
    try:
        softmax, without = feedforward.attention_doubled(subject.trace, stream=subject.stream, layer=layer)
    except ValueError:  # this layer's queries were not seen: the FFN stands alone
        pass
    else:
        rows += [(words.WITHOUT_SOFTMAX, without), (words.WITH_SOFTMAX, softmax)]
    return pd.DataFrame(rows, columns=["input", "grows"])


def _mixes(subject: Subject, ffn: FFNRecord, *, layer: int) -> Paragraph:
    """Say which of FFN and attention mixes tokens, and which features."""
    position = min(1, len(subject.tokens) - 1)
    stream = subject.stream

    def mixed() -> tuple[mixing.ChangedCells, mixing.ChangedCells | None]:
        blocks, network = inside.blocks(subject), subject.model.network
        by_ffn = mixing.ffn(blocks, network, stream=stream, layer=layer, position=position)
        try:
            by_attention = mixing.attention(
                subject.trace, blocks, network, stream=stream, layer=layer, position=position
            )
        except ValueError:  # its W_V and W_O are not matrices of their own, which the words say
            return by_ffn, None
        return by_ffn, by_attention

    by_ffn, by_attention = subject.once(("mixes", layer), mixed)
    seen = min(len(subject.tokens), mixing.MOST)
    lines = words.mixes(tokens=seen, width=ffn.input.shape[1], ffn=by_ffn, attention=by_attention)
    return Paragraph(words.mixed(subject.tokens[position], layer=layer, lines=lines), words.MIXES)


def _rectified(subject: Subject, ffn: FFNRecord, *, layer: int) -> tuple[Block, ...]:
    """Say what speaks for ReLU and against it."""
    table = subject.once(("outputs", layer), lambda: activations.outputs(ffn, subject.model.network))
    lines = outputs(table, inside.blocks(subject), stream=subject.stream)
    named = table.assign(function=[words.ACTIVATIONS[function] for function in table["function"]])
    return (
        Paragraph(words.bullets(lines), words.RECTIFIED),
        Table("block-activations", named, words=words.OUTPUT_HEADS),
        DYING,
    )


def _dying(subject: Subject) -> Iterator[Block]:
    """Yield how many units die in small trainings."""
    died = subject.of_all("dying units", activations.dying)
    yield Paragraph(words.dying(died))
    yield Table("block-dying", died, words=words.DYING_HEADS, folded=False)
    yield Note(words.about_dying(units=activations.UNITS))


def _all_layers(subject: Subject) -> Iterator[Block]:
    table = subject.once(
        "all units",
        lambda: feedforward.by_layer(inside.blocks(subject), subject.model.network, stream=subject.stream),
    )
    yield Table("block-ffns", table, folded=False)


def answered(units: Units, busiest: pd.DataFrame, *, layer: int, tokens: Sequence[str]) -> str:
    """Say how much of an FFN answers on this text, and which unit most; busiest: of `feedforward.busiest`."""
    return words.answered(
        layer=layer,
        activation=units.activation,
        gated=units.gated,
        positive=units.positive / units.pairs,
        unit=int(busiest["unit"].iloc[0]),
        token=named(tokens, int(busiest["first"].iloc[0])),
    )


def straight(units: Units) -> str:
    """Say what is lost without the activation function."""
    return words.straight(straight=units.straight, doubled=units.doubled, mirrored=units.mirrored)


def outputs(table: pd.DataFrame, blocks: Blocks, *, stream: str) -> list[str]:
    """Say what speaks for ReLU and against it on an FFN's numbers, a line each; table: of `activations.outputs`."""
    chosen, relu = table.iloc[0], table.set_index("function").loc["relu"]
    sizes = [
        float(np.sqrt(np.square(ffn.input.astype(np.float64)).mean(axis=1)).mean())
        for ffn in blocks.ffns
        if ffn.stream == stream
    ]
    return words.outputs(
        activation=str(chosen["function"]),
        mean=float(chosen["mean"]),
        flat=float(chosen["flat"]),
        relu_mean=float(relu["mean"]),
        relu_flat=float(relu["flat"]),
        largest=float(chosen["largest"]),
        inputs=(min(sizes), max(sizes)) if len(sizes) > 1 else None,
        layers=len(sizes),
    )


DYING = Section(
    "dying", "", _dying, about="course", starts=words.TRAIN_FOUR, waits=words.training_four(activations.STEPS)
)
ALL_LAYERS = Section("block_all_layers", "", _all_layers, needs_model=True, starts=words.ALL_LAYERS)
LAYER = Listed("layer", words.LAYER, lambda subject: [words.layer(layer) for layer in _layers(subject)], width=130)
SECTION = Section("ffn", words.FFN, answer, (LAYER,), needs_model=True, parts=(DYING, ALL_LAYERS))
