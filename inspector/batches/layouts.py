"""The layouts of a batch, and what each token of each text sees in it.

Shapes: B rows, T columns of the source or the only text, Q of what a decoder beside a source reads, H heads, D width.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Literal, TypeVar, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

import models
from inspector.probe import ModelInputs, record_rows, tokenize_inputs
from inspector.trace import Array, Trace
from models import LoadedModel
from models.tokenizers import Encoding
from models.transformer.runner import OwnRunner

T = TypeVar("T")
Layout = Literal["right", "left", "packed", "alone"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
PADDING = -1  # the owner of a cell that holds no text's token
Owners = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HeadView:
    """The mask and the weights of one head in one row of the batch.

    queries, keys: the row's tokens; query_owner [Q], key_owner [T]: the text of each, PADDING on padding. text: the
    text that is looked at. mask: boolean [Q, T], True where the query attends to the key; weights: float32 [Q, T].
    """

    text: int
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    query_owner: Owners
    key_owner: Owners
    mask: NDArray[np.bool_]
    weights: Array

    @property
    def to_padding(self) -> float:
        """The weight on padding, mean over the text's queries."""
        return self._mean(self.key_owner == PADDING)

    @property
    def to_others(self) -> float:
        """The weight on tokens of other texts, mean over the text's queries."""
        return self._mean((self.key_owner != PADDING) & (self.key_owner != self.text))

    @property
    def to_masked(self) -> float:
        """The weight on keys that the mask hides, wherever they are, mean over the text's queries."""
        of_text = self.query_owner == self.text
        return float((self.weights[of_text].astype(np.float64) * ~self.mask[of_text]).sum(axis=1).mean())

    @property
    def keys_seen(self) -> tuple[int, int]:
        """The fewest and the most keys that a query of the text sees."""
        counts = self.mask[self.query_owner == self.text].sum(axis=1)
        return int(counts.min()), int(counts.max())

    def _mean(self, keys: NDArray[np.bool_]) -> float:
        rows = self.weights[self.query_owner == self.text].astype(np.float64)
        return float(rows[:, keys].sum(axis=1).mean())


@dataclass(frozen=True, eq=False)
class BatchRow:
    """One row as it ran: its recording, padding and all, and the text of each of its tokens.

    owner: [T], PADDING on padding; written: [Q] of what a decoder beside a source reads, else `owner` itself.
    """

    trace: Trace
    owner: Owners
    written: Owners

    def owners(self, stream: str) -> tuple[Owners, Owners]:
        """The owners of a stream's queries and keys."""
        if stream == "encoder":
            return self.owner, self.owner
        return self.written, self.written if stream == "decoder" else self.owner


@dataclass(frozen=True, eq=False)
class Batch:
    """Texts as they were read together.

    model: the id of the model that read them. rows: B of them; alone as many as texts, each of its own length.
    """

    model: str
    layout: Layout
    texts: tuple[str, ...]
    rows: tuple[BatchRow, ...]

    @property
    def cells(self) -> int:
        """The columns of all rows: what projections and FFN compute, padding included."""
        return sum(len(row.owner) for row in self.rows)

    @property
    def padding(self) -> int:
        """The cells that hold padding."""
        return sum(int((row.owner == PADDING).sum()) for row in self.rows)

    @property
    def lengths(self) -> tuple[int, ...]:
        """The tokens of each text."""
        return tuple(int(sum((row.owner == text).sum() for row in self.rows)) for text in range(len(self.texts)))

    def row_of(self, text: int) -> BatchRow:
        """The row that holds a text; ValueError where there is no such text."""
        if not 0 <= text < len(self.texts):
            raise ValueError(f"there is no text {text}: the batch has {len(self.texts)}, counted from 0")
        return next(row for row in self.rows if (row.owner == text).any())

    def states(self, text: int) -> Array:
        """The last hidden states of a text's tokens, [n, D]; of a decoder's where there is one."""
        row = self.row_of(text)
        states: Array = row.trace.output[row.written == text]
        return states

    def seen(self, text: int, *, layer: int, head: int, stream: str | None = None, call: int = 0) -> HeadView:
        """The mask and the weights of a head in the row that holds the text.

        The stream may be left out where there is one. Raises ValueError for a text, layer, head or stream that there is
        not.
        """
        row = self.row_of(text)
        record = row.trace.record_of_head(layer, head, stream, call=call)
        queries, keys = record.site.queries, record.site.keys
        mask = np.ones((len(queries), len(keys)), dtype=bool)
        if record.mask is not None:
            mask &= record.mask.rows(0, len(queries)).numpy()[0, 0]
        weights = row.trace.attention(layer=layer, head=head, stream=record.site.stream, call=call)
        return HeadView(text, queries, keys, *row.owners(record.site.stream), mask, weights)


def read(
    loaded: LoadedModel,
    texts: Sequence[str],
    *,
    layout: Layout,
    masked: bool = True,
    restart: bool = True,
    most_cells: int | None = None,
) -> Batch:
    """Read texts together, and record each row as it ran.

    layout: "right" and "left": a row for each text, padded to the longest on that side; "packed": all texts in one row,
    each blind to the others (a block-diagonal mask); "alone": one after the other. masked: False leaves the mask out:
    padding is read as text, packed texts see each other. restart: whether positions of a table begin anew with each
    text of a packed row, which they can with the mask alone. The sources of an encoder-decoder are laid out so, and
    what its decoder reads is padded on the right. A packed row is read by the own Transformer (see `packer`).

    Raises ValueError for no text, an unknown layout, a row longer than the model reads, more cells than `most_cells`,
    and a model whose texts cannot be packed.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"layout is {layout!a}; it can be {', '.join(LAYOUTS)}")
    if not texts:
        raise ValueError("a batch needs a text")
    inputs = [tokenize_inputs(loaded, text) for text in texts]
    _check_size([len(text_inputs.encoding) for text_inputs in inputs], loaded, layout=layout, most_cells=most_cells)
    if layout == "packed":
        row = _pack(packer(loaded), inputs, texts=texts, masked=masked, restart=restart)
        return Batch(row.trace.model, layout, tuple(texts), (row,))
    if layout == "alone":
        alone = [
            _padded(loaded, [text_inputs], texts=[text], left=False, masked=True, first=number)[0]
            for number, (text, text_inputs) in enumerate(zip(texts, inputs, strict=True))
        ]
        return Batch(loaded.card.id, layout, tuple(texts), tuple(alone))
    rows = _padded(loaded, inputs, texts=texts, left=layout == "left", masked=masked)
    return Batch(loaded.card.id, layout, tuple(texts), tuple(rows))


def packer(loaded: LoadedModel) -> LoadedModel:
    """The model that reads this one's packed rows: itself, or its weights in the own Transformer.

    Raises ValueError for an encoder-decoder, and for a model that the own Transformer cannot hold.
    """
    if loaded.shape == "encoder-decoder":
        raise ValueError("an encoder-decoder reads a source and a target, and packs neither; pad its texts")
    return loaded if isinstance(loaded.runner, OwnRunner) else models.own_implementation(loaded)


def padded_rows(encodings: Sequence[Encoding], tokenizer: Any, *, left: bool) -> tuple[list[Encoding], Tensor]:
    """Pad texts to the longest -> the rows, and keep [B, T], False on padding."""
    longest = max(map(len, encodings))
    pad, name = tokenizer.pad_token_id or 0, tokenizer.pad_token or "padding"
    rows, keep = [], []
    for encoding in encodings:
        fillers = {"ids": pad, "tokens": name, "words": None, "segments": 0, "special": True}
        more = longest - len(encoding)
        columns = {
            column: (
                (filler,) * more + getattr(encoding, column) if left else getattr(encoding, column) + (filler,) * more
            )
            for column, filler in fillers.items()
        }
        rows.append(replace(encoding, **columns, spans=None))
        keep.append([False] * more + [True] * len(encoding) if left else [True] * len(encoding) + [False] * more)
    return rows, torch.tensor(keep)


def _padded(
    loaded: LoadedModel,
    inputs: Sequence[ModelInputs],
    *,
    texts: Sequence[str],
    left: bool,
    masked: bool,
    first: int = 0,
) -> list[BatchRow]:
    """Run the texts as padded rows; first: the number of the first of them."""
    rows, keep = padded_rows([text_inputs.encoding for text_inputs in inputs], loaded.tokenizer, left=left)
    targets = [text_inputs.target for text_inputs in inputs if text_inputs.target is not None]
    ids, segments = (torch.tensor([getattr(row, name) for row in rows]) for name in ("ids", "segments"))
    told = keep if masked else torch.ones_like(keep)
    owners = _owners(keep, first)
    if not targets or loaded.run_pair is None:
        ran = [
            ModelInputs(row, predicts=_predicts(text_inputs, keep[at], row))
            for at, (text_inputs, row) in _both(inputs, rows)
        ]
        run = partial(loaded.run, ids, told, segments)
        written = owners
    else:
        read, keep_targets = padded_rows(targets, loaded.tokenizer, left=False)
        ran = [
            ModelInputs(row, read[at], predicts=_predicts(text_inputs, keep_targets[at], read[at]))
            for at, (text_inputs, row) in _both(inputs, rows)
        ]
        run = partial(loaded.run_pair, ids, told, torch.tensor([target.ids for target in read]))
        written = _owners(keep_targets, first)
    traces = record_rows(loaded, ran, run, texts=texts)
    return [BatchRow(*row) for row in zip(traces, owners, written, strict=True)]


def _both(inputs: Sequence[ModelInputs], rows: Sequence[Encoding]) -> list[tuple[int, tuple[ModelInputs, Encoding]]]:
    return list(enumerate(zip(inputs, rows, strict=True)))


def _pack(
    loaded: LoadedModel, inputs: Sequence[ModelInputs], *, texts: Sequence[str], masked: bool, restart: bool
) -> BatchRow:
    """Run all texts as one row."""
    encodings = [text_inputs.encoding for text_inputs in inputs]
    whole = Encoding(
        ids=_joined(encoding.ids for encoding in encodings),
        tokens=_joined(encoding.tokens for encoding in encodings),
        words=_joined(encoding.words for encoding in encodings),
        segments=_joined(encoding.segments for encoding in encodings),
        special=_joined(encoding.special for encoding in encodings),
        unknown=sum(encoding.unknown for encoding in encodings),
        unknown_id=encodings[0].unknown_id,
    )
    owner = torch.repeat_interleave(
        torch.arange(len(encodings)), torch.tensor([len(encoding) for encoding in encodings])
    )
    predicts = None if inputs[0].predicts is None else _joined(text_inputs.predicts or () for text_inputs in inputs)
    runner = loaded.runner
    assert isinstance(runner, OwnRunner)
    run = partial(
        runner.read_packed,
        torch.tensor([whole.ids]),
        owner[None],
        torch.tensor([whole.segments]),
        masked=masked,
        restart=restart and masked,
    )
    (trace,) = record_rows(loaded, [ModelInputs(whole, predicts=predicts)], run, texts=["\n".join(texts)])
    return BatchRow(trace, owner.numpy(), owner.numpy())


def _joined(columns: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(chain.from_iterable(columns))


def _owners(keep: Tensor, first: int) -> list[Owners]:
    return [np.where(row.numpy(), first + number, PADDING) for number, row in enumerate(keep)]


def _predicts(inputs: ModelInputs, keep: Tensor, row: Encoding) -> tuple[str | None, ...] | None:
    """The token that each token of a padded row has to predict; padding predicts padding."""
    if inputs.predicts is None:
        return None
    real = iter(inputs.predicts)
    return tuple(next(real) if is_real else token for is_real, token in zip(keep.tolist(), row.tokens, strict=True))


def _check_size(lengths: Sequence[int], loaded: LoadedModel, *, layout: Layout, most_cells: int | None) -> None:
    longest, total = max(lengths), sum(lengths)
    if layout == "packed" and total > loaded.max_tokens:
        raise ValueError(
            f"packed in one row the texts have {total:,} tokens, and {loaded.card.id} reads {loaded.max_tokens:,}: "
            "leave a text out, or pad them"
        )
    cells = total if layout in ("packed", "alone") else longest * len(lengths)
    if most_cells is not None and cells > most_cells:
        raise ValueError(
            f"{len(lengths)} texts of up to {longest:,} tokens make {cells:,} cells, and {most_cells:,} are read at "
            "most: write fewer or shorter ones"
        )
