"""The reader's text in a batch with other sentences, as read before a norm, shared by the questions on norms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import models
from inspector import batches, examples, normalization
from inspector.normalization.other_norms import Floats
from inspector.probe import record_batch
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.subject import Subject
from inspector.trace import NormRecord

BESIDE = Both(
    "Yes.\nA dog barked.\nWho is there?\nThe train was late again.\nBread is made of flour, water and salt.\nHe "
    "opened the window and looked at the sea.\nShe sat by the river bank and wondered whether the bank would lend "
    "her the money that she needed so much.",
    "好。\n狗叫了。\n谁在那里？\n火车又晚点了。\n面包是用面粉、水和盐做的。\n他打开窗户，看着大海。\n她坐在河边，"
    "想着银行会不会借给她那笔她非常需要的钱，可是谁也不能回答她的问题。",
)
"""Seven sentences that stand beside the reader's text in a batch, a line each."""


@dataclass(frozen=True)
class TextBatch:
    """Texts before the middle norm of the model, [B, T, D]; keep [B, T] is False on padding."""

    x: Floats
    keep: NDArray[np.bool_]
    epsilon: float

    @property
    def empty(self) -> Floats:
        """The states with zeros on padding."""
        zeroed: Floats = self.x * self.keep[..., None]
        return zeroed


def together(subject: Subject) -> TextBatch:
    """Read the reader's text as a batch with seven sentences, once for all questions."""
    return subject.once(
        "batch before a norm", lambda: before_a_norm(subject.loaded, [read_of(subject), *sentences(subject)])
    )


def before_a_norm(loaded: models.LoadedModel, texts: Sequence[str]) -> TextBatch:
    """Read texts as a batch, up to the middle norm of the model."""
    batch = record_batch(loaded, texts, keep_padding=True)
    usable = [at for at, norm in enumerate(batch.norms) if norm.input.shape[0] == batch.keep.size and plain(norm)]
    if not usable:
        raise UnanswerableError(
            f"{loaded.card.id} has no norm whose input can be put through another norm.",
            f"{loaded.card.id} 没有可以换成另一种归一化来计算的归一化层。",
        )
    middle = usable[len(usable) // 2]
    return TextBatch(batch.before(middle).astype(np.float64), batch.keep, batch.norms[middle].epsilon)


def read_of(subject: Subject) -> str:
    """The part of the reader's text that the recording read."""
    trace = subject.trace
    end = max((last for _, last in trace.encoding.spans or ()), default=0)
    return subject.text if trace.cut is None or not end else subject.text[:end]


def plain(norm: NormRecord) -> bool:
    """True for a norm of a token's features alone, without a gate and not in groups."""
    return norm.gate is None and norm.groups == 1


def compared(subject: Subject) -> pd.DataFrame:
    """The norms compared on the reader's batch, by norm: `normalization.compared`."""

    def make() -> pd.DataFrame:
        batch = together(subject)
        return normalization.compared(batch.x, batch.keep, epsilon=batch.epsilon).set_index("norm")

    return subject.once("norms compared", make)


def sentences(subject: Subject) -> list[str]:
    """The seven sentences in the language that the model has learned, the shortest first and the longest last."""
    return (BESIDE.en if examples.reads(subject.loaded.card.id, BESIDE.en) else BESIDE.zh).splitlines()


def changed(subject: Subject) -> tuple[float, float, pd.DataFrame]:
    """The largest move of a state before the changed middle token and after it, and the table of all tokens."""

    def make() -> tuple[float, float, pd.DataFrame]:
        read = subject.trace.target or subject.trace.encoding
        at = (len(read) - 1) // 2
        table, _ = batches.spread(subject.loaded, read_of(subject), token=at)
        earlier = table["position"] < at
        later = table["position"] > at
        return (
            float(table["largest"][earlier].max() if earlier.any() else 0.0),
            float(table["largest"][later].max() if later.any() else 0.0),
            table,
        )

    return subject.once("one token changed", make)
