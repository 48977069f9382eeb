"""A text read twice, before and after something was changed, and what the model has to predict in both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from inspector.probe import ModelInputs, record, record_inputs
from inspector.trace import Trace
from models import LoadedModel
from models.in_memory import is_of, not_loaded
from models.loaded import Runner
from models.tokenizers import Encoding, substituted, token_id

NOTHING = (range(0), range(0))


@dataclass(frozen=True, eq=False, kw_only=True)
class Change:
    """before, after: the two recordings.

    replaced: the positions of the text's tokens that are others now, before and after; around them tokens match one to
    one. truths: the positions where the model predicts (of the decoder's queries where there is one, counted before),
    each with the id of the true token: of the one that comes next, or in a masked language model of the one that is
    hidden there; None after a text's end. Empty for a model that predicts nothing.
    """

    before: Trace
    after: Trace
    truths: Mapping[int, int | None]
    replaced: tuple[range, range] = NOTHING

    def later(self, position: int) -> int:
        """Map a query position in `before` to its position in `after`.

        The last replaced piece maps to the last new piece.
        """
        was, now = self.replaced
        moved = self.before.target is None and len(was) > 0 and position >= was.stop - 1
        return position + now.stop - was.stop if moved else position


def recorded(
    loaded: LoadedModel, text: str | Trace, *, text_pair: str | None = None, target: str | None = None
) -> Trace:
    """Record `text`, or return it unchanged if it is already a Trace of this model.

    Raises ValueError for a Trace of another model, and where nothing can be read.
    """
    if not isinstance(loaded, LoadedModel):
        raise ValueError(not_loaded(loaded))
    if isinstance(text, str):
        return record(loaded, text, text_pair=text_pair, target=target)
    if not is_of(loaded, text.model):
        raise ValueError(f"the trace is of {text.model} and the model is {loaded.card.id}; give both of one model")
    return text


def inputs_of(trace: Trace) -> ModelInputs:
    """The inputs of the model for a recording."""
    return ModelInputs(trace.encoding, trace.target, (trace.sites or trace.mixer_sites)[-1].predicts)


def read(runner: Runner, inputs: ModelInputs) -> Tensor:
    """Run a network on a text's inputs, without a recording: the last hidden state [1, Q, D], with its gradients."""
    encoding, target = inputs.encoding, inputs.target
    ids = torch.tensor([encoding.ids])
    keep = torch.ones_like(ids, dtype=torch.bool)
    if target is not None:
        return runner.read_pair(ids, keep, torch.tensor([target.ids]))
    return runner.read(ids, keep, torch.tensor([encoding.segments]))


def again(loaded: LoadedModel, trace: Trace, inputs: ModelInputs) -> Trace:
    """Record other inputs of the same text."""
    return record_inputs(loaded, inputs, text=trace.text, text_pair=trace.text_pair, target=trace.target_text)


def truths_of(
    loaded: LoadedModel, trace: Trace, *, hidden: Sequence[int] = (), replaced: range = NOTHING[0]
) -> dict[int, int | None]:
    """See `Change.truths`; `trace` is of the text with nothing hidden, `replaced` are positions that get others."""
    if loaded.predict is None:
        return {}
    if loaded.shape == "encoder":
        return {position: trace.encoding.ids[position] for position in hidden}
    predicts = (trace.sites or trace.mixer_sites)[-1].predicts or ()

    def known(token: str | None) -> int | None:
        return None if token is None else token_id(loaded.tokenizer, token)

    if trace.target is not None:  # its last token predicts one that it does not read
        return dict(enumerate(known(token) for token in predicts))
    ids = trace.encoding.ids
    truths: dict[int, int | None] = {
        position: ids[position + 1] for position in range(len(ids) - 1) if position + 1 not in replaced
    }
    return truths | {len(ids) - 1: known(predicts[-1])}


def hide(loaded: LoadedModel, encoding: Encoding, positions: Sequence[int]) -> Encoding:
    """The encoding with the mask token at `positions`; all else as it was.

    Raises ValueError for a tokenizer without a mask token, and a position out of range or of a special token.
    """
    mask_id = loaded.tokenizer.mask_token_id
    if mask_id is None:
        raise ValueError(
            f"the tokenizer of {loaded.card.id} has no mask token, so nothing can be hidden from the model; "
            "swap a word for another instead"
        )
    for position in positions:
        check_position(encoding, position)
    return substituted(loaded.tokenizer, encoding, dict.fromkeys(positions, mask_id))


def hidden_in(loaded: LoadedModel, trace: Trace, positions: Sequence[int]) -> Trace:
    """The recording with tokens hidden from a masked language model, which is then to guess them.

    Raises ValueError for a model that does not guess what is hidden.
    """
    if not positions:
        return trace
    if not loaded.fills_masks:
        raise ValueError(
            f"{loaded.card.id} does not guess hidden tokens, so there is nothing to hide from it here; leave hidden out"
        )
    return again(loaded, trace, replace(inputs_of(trace), encoding=hide(loaded, trace.encoding, positions)))


def check_position(encoding: Encoding, position: int) -> None:
    """Raise ValueError unless there is a token of the text itself at `position`."""
    if not 0 <= position < len(encoding):
        raise ValueError(f"position {position} is out of range: the text has positions 0 to {len(encoding) - 1}")
    if encoding.special[position]:
        raise ValueError(
            f"position {position} is {encoding.tokens[position]}, which the tokenizer added: choose a token of the text"
        )
