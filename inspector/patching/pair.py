"""A clean and a corrupted text, the answer that is measured, and one forward of each, kept by layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import torch
from torch import Tensor

from inspector.interventions.change import hidden_in, recorded
from inspector.probe import record_blocks, record_inputs, tokenize_inputs
from inspector.probe.inputs import ModelInputs
from inspector.probe.layer_runs import LayerRuns, keep_layers
from inspector.trace import Trace
from inspector.trace.blocks import Blocks, LayerRecord
from models import LoadedModel
from models.tokenizers import token_names, word_id

Into = Literal["corrupted", "clean"]
"""The text that is run; what is put into it is of the other."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A measure of the logits at one position.

    token, against: ids; the logit of `token`, less that of `against` where there is one. normalised: True for the log
    of the token's probability instead of its logit (a difference of two is the same either way).
    """

    position: int
    token: int
    against: int | None = None
    normalised: bool = False

    def of(self, logits: Tensor) -> Tensor:
        """Measure logits [B, V] -> float64 [B]."""
        wide = logits.double()
        wide = wide.log_softmax(dim=-1) if self.normalised else wide
        return wide[:, self.token] - (0.0 if self.against is None else wide[:, self.against])

    def named(self, tokenizer: Any) -> tuple[str, str | None]:
        """The two tokens by their names."""
        ids = [self.token] if self.against is None else [self.token, self.against]
        names = token_names(tokenizer, ids)
        return names[0], names[1] if self.against is not None else None


@dataclass(frozen=True, eq=False)
class Pair:
    """Two texts of equal length and the answer; clean, corrupted: their recordings."""

    loaded: LoadedModel
    clean: Trace
    corrupted: Trace
    answer: Answer

    @property
    def differing(self) -> tuple[int, ...]:
        """The positions at which the texts have different tokens (of the source, in an encoder-decoder)."""
        ids = zip(self.clean.encoding.ids, self.corrupted.encoding.ids, strict=True)
        return tuple(place for place, (first, second) in enumerate(ids) if first != second)

    @cached_property
    def kept_clean(self) -> LayerRuns:
        """The clean text's forward, kept by layer."""
        return keep_layers(self.loaded, self.clean, window=self._window)

    @cached_property
    def kept_corrupted(self) -> LayerRuns:
        """The corrupted text's forward, kept by layer."""
        return keep_layers(self.loaded, self.corrupted, window=self._window)

    def runs(self, into: Into) -> tuple[LayerRuns, LayerRuns]:
        """The text that is run, and the one whose parts are put into it.

        Raises ValueError for a name that is neither.
        """
        if into not in ("corrupted", "clean"):
            raise ValueError(f"into is {into!a}; it can be 'corrupted' or 'clean'")
        both = self.kept_corrupted, self.kept_clean
        return both if into == "corrupted" else both[::-1]

    def measured(self, runs: LayerRuns) -> float:
        """The answer of an unchanged text."""
        return float(self.answer.of(runs.logits(runs.hidden[:, runs.rows], position=self.answer.position))[0])

    def layer_record(self, into: Into, stream: str, layer: int) -> LayerRecord | None:
        """Return what a layer's parts add in the text that is run; None for a layer that was not followed."""
        blocks = self._blocks_corrupted if into == "corrupted" else self._blocks_clean
        return next((record for record in blocks.of(stream) if record.layer == layer), None)

    @cached_property
    def _blocks_clean(self) -> Blocks:
        return record_blocks(self.loaded, self.clean)

    @cached_property
    def _blocks_corrupted(self) -> Blocks:
        return record_blocks(self.loaded, self.corrupted)

    @property
    def reached(self) -> range:
        """The positions of a decoder at which a patch can change the answer; of other models all of the text's."""
        if self.loaded.shape == "decoder":
            return range(self.differing[0], self.answer.position + 1)
        return range(len(self.clean.encoding))

    @property
    def _window(self) -> slice:
        """Before the first token that differs nothing changes, and behind the answer nothing counts (in a decoder)."""
        return slice(self.differing[0], self.answer.position + 1)


def pair(
    loaded: LoadedModel,
    clean: str | Trace,
    corrupted: str,
    *,
    answer: str | int | None = None,
    against: str | int | None = None,
    position: int | None = None,
    normalised: bool = False,
    target: str | None = None,
    hidden: Sequence[int] = (),
) -> Pair:
    """Read two texts of equal length that differ in some tokens.

    answer, against: tokens, as words or ids: by default what the model finds likeliest in the clean text, and in the
    corrupted one where that is another. position: whose prediction is measured; by default the first hidden token of a
    masked language model, of an encoder-decoder where the two texts differ most, else the last. normalised: measure the
    log of the probability. target: what an encoder-decoder writes, the same for both; by default what it writes itself
    after the clean text. hidden: positions that a masked language model does not see in either text.

    Raises ValueError for a model without a head, for texts of different lengths or without a difference, for a word
    that is no one token, for a position out of range, and in a decoder for one before the first difference.
    """
    first = recorded(loaded, clean, target=target)
    inputs = tokenize_inputs(loaded, corrupted, target=None if first.target is None else first.target_text or ".")
    if len(inputs.encoding) != len(first.encoding):
        raise ValueError(
            f"the clean text has {len(first.encoding)} tokens and the corrupted one {len(inputs.encoding)}; parts are "
            "put in each other's place token by token, so choose words that are cut into equally many pieces"
        )
    if first.target is not None:
        inputs = ModelInputs(inputs.encoding, first.target, first.sites[-1].predicts)
    second = record_inputs(loaded, inputs, text=corrupted, target=first.target_text)
    first, second = hidden_in(loaded, first, hidden), hidden_in(loaded, second, hidden)
    if first.encoding.ids == second.encoding.ids:
        raise ValueError("the two texts have the same tokens; change a word in one of them")
    asked = answer_of(loaded, [first, second], answer=answer, against=against, position=position, normalised=normalised)
    made = Pair(loaded, first, second, asked)
    if loaded.shape == "decoder" and made.differing[0] > asked.position:
        raise ValueError(
            f"the first token that differs is {made.differing[0]}, behind position {asked.position}, whose answer it "
            "cannot reach; ask at a later position"
        )
    return made


def answer_of(
    loaded: LoadedModel,
    traces: Sequence[Trace],
    *,
    answer: str | int | None,
    against: str | int | None,
    position: int | None,
    normalised: bool,
) -> Answer:
    """Read what is asked of one text or of two; see `pair`."""
    if loaded.predict is None:
        raise ValueError(
            f"{loaded.card.id} has no head that predicts tokens, so no answer can be measured; choose a model that "
            "fills in masks or writes"
        )
    read = traces[0].target or traces[0].encoding
    place = _position(loaded, traces) if position is None else position
    if not 0 <= place < len(read):
        raise ValueError(f"position {place} is out of range: the text has positions 0 to {len(read) - 1}")
    likeliest = [int(_logits(loaded, trace, place).argmax()) for trace in traces]
    token = likeliest[0] if answer is None else word_id(loaded.tokenizer, answer)
    other = likeliest[-1] if len(traces) > 1 and likeliest[-1] != token else None
    other = other if against is None else word_id(loaded.tokenizer, against)
    return Answer(position=place, token=token, against=other, normalised=normalised)


def _position(loaded: LoadedModel, traces: Sequence[Trace]) -> int:
    first, mask = traces[0], loaded.tokenizer.mask_token_id
    if loaded.fills_masks and mask in first.encoding.ids:
        return first.encoding.ids.index(mask)
    if first.target is None or len(traces) == 1:
        return len(first.target or first.encoding) - 1
    assert loaded.predict is not None
    with torch.inference_mode():
        clean, corrupted = (loaded.predict(trace.hidden[None])[0].float().log_softmax(dim=-1) for trace in traces)
    likeliest = clean.argmax(dim=-1, keepdim=True)
    return int((clean - corrupted).gather(1, likeliest).argmax())


def _logits(loaded: LoadedModel, trace: Trace, position: int) -> Tensor:
    assert loaded.predict is not None
    with torch.inference_mode():
        return loaded.predict(trace.hidden[None, position : position + 1])[0, 0].float()
