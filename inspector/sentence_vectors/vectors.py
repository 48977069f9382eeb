"""Sentences as vectors by two poolings, and how near they are to each other.

[CLS]: the last hidden state of the first token (Devlin et al. 2019). mean: the mean of all tokens' last hidden states,
special tokens included, as sentence-transformers takes it (Reimers & Gurevych 2019). Both are compared by their cosine.

Shapes: N sentences, T tokens, D width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from inspector.probe import record
from inspector.trace import Trace
from models import LoadedModel
from models.tokenizers import Encoding

Float64Array = NDArray[np.float64]
Pooling = Literal["cls", "mean"]
POOLINGS: tuple[Pooling, ...] = get_args(Pooling)


@dataclass(frozen=True, eq=False)
class SentenceVectors:
    """Sentences as a model read them, one by one.

    traces: a recording for each; cls, mean: their vectors, float64 [N, D].
    """

    traces: tuple[Trace, ...]
    cls: Float64Array
    mean: Float64Array

    def cosines(self, pooling: Pooling) -> Float64Array:
        """The cosine of each sentence's vector with each, [N, N]."""
        return _cosines(self.cls if pooling == "cls" else self.mean)

    @property
    def agreement(self) -> Float64Array:
        """The cosine of each sentence's [CLS] with its own mean, [N]."""
        both = zip(self.cls, self.mean, strict=True)
        return np.array([_cosines(np.stack(pair))[0, 1] for pair in both])

    @property
    def unknown(self) -> int:
        """The count of tokens that the tokenizer does not know."""
        return sum(trace.unknown for trace in self.traces)


def read(loaded: LoadedModel, texts: Sequence[str]) -> SentenceVectors:
    """Read sentences one by one, without padding, and pool each.

    Raises ValueError for no sentence, and a model whose texts do not begin with [CLS].
    """
    if not texts:
        raise ValueError("there is no sentence; write one a line")
    traces = tuple(_recorded(loaded, text) for text in texts)
    states = [trace.output.astype(np.float64) for trace in traces]
    return SentenceVectors(
        traces,
        np.stack([states_of_text[0] for states_of_text in states]),
        np.stack([states_of_text.mean(axis=0) for states_of_text in states]),
    )


def starts_with_cls(loaded: LoadedModel, encoding: Encoding | None = None) -> bool:
    """Return True for an encoder whose texts begin with a token for the whole, [CLS]."""
    first = loaded.tokenizer.cls_token_id
    return loaded.shape == "encoder" and first is not None and (encoding is None or encoding.ids[0] == first)


def partner_ranks(cosines: Float64Array) -> NDArray[np.int64]:
    """Rank each sentence's paraphrase among all other sentences by cosine: 1 where none is nearer.

    cosines [N, N]; sentences 0 and 1 are paraphrases, 2 and 3, and so on; a last one alone is ranked by nobody and has
    no rank, yet it can stand in the way of others -> [N // 2 * 2].

    Raises ValueError for fewer than two sentences.
    """
    pairs = len(cosines) // 2 * 2
    if not pairs:
        raise ValueError(f"{len(cosines)} sentence is no pair; write two or more, a line each")
    ranks = []
    for at in range(pairs):
        others = np.delete(np.arange(len(cosines)), at)
        ranks.append(1 + int((cosines[at, others] > cosines[at, at ^ 1]).sum()))
    return np.array(ranks)


def _recorded(loaded: LoadedModel, text: str) -> Trace:
    trace = record(loaded, text)
    if not starts_with_cls(loaded, trace.encoding):
        raise ValueError(f"the texts of {loaded.card.id} begin with no [CLS]; choose an encoder, as MiniLM")
    return trace


def _cosines(vectors: Float64Array) -> Float64Array:
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines: Float64Array = np.clip(units @ units.T, -1.0, 1.0)
    return cosines
