"""The logit lens: what the model would predict if it stopped after each layer (nostalgebraist 2020).

The residual stream after a layer is what that layer left when the text was recorded. It then goes through what the
model has at its own end: the final norm, where there is one, and the head.

Shapes: Q query positions, D width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from inspector.trace import HALF, NormRecord, Trace
from models import LoadedModel
from models.tokenizers import token_id, token_names

Floats = NDArray[np.floating[Any]]
Predict = Callable[[Tensor], Tensor]  # last hidden state [B, Q, D] -> logits [B, Q, V]

_ROWS = 128  # positions at once: the logits of each are V numbers
# Of the largest entry. A norm computed again differs by 1e-6, in half precision by 2 last digits: its own rounding and
# that of its gamma's product. Another state differs by more than this.
_TOLERANCE, _HALF_DIGITS = 1e-3, 2


class Residual(NamedTuple):
    """The residual stream after a layer, [Q, D]; layer -1 is what goes into layer 0."""

    stream: str
    layer: int
    state: Floats


def residual_stream(trace: Trace, *, stream: str | None = None) -> list[Residual]:
    """The residual stream after each layer, before any final norm: of "encoder" or "decoder", or of all there are.

    It is what the layers themselves took and left when the text was recorded. Layer -1 is there where layer 0 begins
    with a norm.

    Raises ValueError where it is not known, with the reason.
    """
    streams = [name for name in trace.streams if name != "cross"]
    if stream is not None and stream not in streams:
        raise ValueError(f"there is no residual stream {stream!a}: this model has {', '.join(streams)}")
    return [residual for name in streams if stream in (None, name) for residual in _residuals(trace, name)]


def logit_lens(
    trace: Trace,
    predict: LoadedModel | Predict | None,
    tokenizer: Any = None,
    *,
    truth: Sequence[str | None] | None = None,
    positions: Sequence[int] | None = None,
    top: int = 5,
) -> pd.DataFrame:
    """Predict from each state of the residual stream, a row per layer, position and rank (nostalgebraist 2020).

    probability = softmax(head(final norm(x_l))); after the last layer that is the model's own prediction.

    predict: the recorded model, or another head with its tokenizer. truth: for each position the token to be predicted
    there, None where there is none; in a decoder the next token, unless said otherwise. positions: which queries, by
    default all. top: how many predictions of each.

    Columns: layer (-1 before layer 0, see `residual_stream`), position, token (that is read there), rank (1 for the
    likeliest), prediction, probability (0..1), truth, truth_rank (nullable), truth_probability (NaN without a truth).

    Raises ValueError for a model without a head or without known states, and for what is out of range.
    """
    head, tokenizer = (predict.predict, predict.tokenizer) if isinstance(predict, LoadedModel) else (predict, tokenizer)
    if head is not None and tokenizer is None:
        raise ValueError("a head alone knows no tokens: give its tokenizer too, or the loaded model in place of both")
    if head is None:
        raise ValueError(
            f"{trace.model} has no head that predicts tokens; choose a model that fills in masks or writes"
        )
    stream = _last_stream(trace)
    tokens = trace.read_by(stream).tokens
    chosen = list(range(len(tokens))) if positions is None else list(positions)
    wrong = [position for position in chosen if not 0 <= position < len(tokens)]
    if not chosen:
        raise ValueError("positions is empty; choose at least one, or leave it out for all")
    if wrong:
        raise ValueError(f"position {wrong[0]} is out of range: the {stream} read tokens 0 to {len(tokens) - 1}")
    if top < 1:
        raise ValueError(f"top is {top}; ask for at least 1 prediction")
    truth = trace.sites[-1].predicts if truth is None else truth
    expected = _ids([None] * len(tokens) if truth is None else truth, tokenizer, positions=len(tokens))
    tables = []
    for layer, states in _ends(trace, stream):
        for start in range(0, len(chosen), _ROWS):
            rows = chosen[start : start + _ROWS]
            with torch.inference_mode():
                table = _likeliest(head(states[None, rows])[0].float(), expected[rows], top=top)
            table.insert(0, "layer", layer)
            table.insert(1, "position", np.repeat(rows, len(table) // len(rows)))
            tables.append(table)
    lens = pd.concat(tables, ignore_index=True)
    lens.insert(2, "token", [tokens[position] for position in lens["position"]])
    lens.insert(4, "prediction", token_names(tokenizer, lens.pop("id").tolist()))
    lens.insert(6, "truth", [None if truth is None else truth[position] for position in lens["position"]])
    return lens


# --- predictions ---------------------------------------------------------------------------------------------------


def _ids(truth: Sequence[str | None], tokenizer: Any, *, positions: int) -> Tensor:
    """The id of each token, -1 for None: [Q]."""
    if len(truth) != positions:
        raise ValueError(f"truth has {len(truth)} tokens for {positions} positions; pass one for each, or None")
    ids = [-1 if token is None else token_id(tokenizer, token) for token in truth]
    for token, id in zip(truth, ids, strict=True):
        if id is None:
            raise ValueError(f"{token!a} is no token of this model; give the truth as its tokenizer cuts it")
    return torch.tensor(ids)


def _likeliest(logits: Tensor, truth: Tensor, *, top: int) -> pd.DataFrame:
    """logits [rows, V] and ids [rows] -> `top` lines a row: rank, id, probability, truth_rank, truth_probability."""
    probabilities = logits.softmax(dim=-1)
    top = min(top, logits.shape[-1])
    likeliest = probabilities.topk(top)
    there = truth.clamp(min=0)[:, None]
    ranks = 1 + (logits > logits.gather(1, there)).sum(dim=1)  # of equals all have the best rank
    known = pd.Series((truth >= 0).numpy()).repeat(top).reset_index(drop=True)
    columns = {
        "rank": np.tile(np.arange(1, top + 1), len(logits)),
        "id": likeliest.indices.flatten().numpy(),
        "probability": likeliest.values.flatten().numpy(),
        "truth_rank": pd.Series(ranks.repeat_interleave(top).numpy(), dtype="Int64").where(known),
        "truth_probability": pd.Series(probabilities.gather(1, there)[:, 0].repeat_interleave(top).numpy()).where(
            known
        ),
    }
    return pd.DataFrame(columns)


# --- states --------------------------------------------------------------------------------------------------------


def _residuals(trace: Trace, stream: str) -> list[Residual]:
    why = next((it.reason for it in trace.refused if it.what == "residual stream" and it.name == stream), None)
    if why is not None:
        raise ValueError(f"the residual stream of {trace.model}'s {stream} is not known: {why}")
    residuals = [
        Residual(stream, record.layer, trace.state(record)) for record in trace.states if record.stream == stream
    ]
    if not residuals:
        raise ValueError(
            f"the residual stream of {trace.model}'s {stream} was not recorded: this trace was saved before it was; "
            "record the text again"
        )
    return residuals


def head_inputs(trace: Trace) -> Callable[[Floats], Floats]:
    """Return what the model does to a state of its last stream before the head is asked: its final norm, or nothing.

    Raises ValueError where more stands there, or where the residual stream is not known.
    """
    stream = _last_stream(trace)
    final = _final_norm(trace, stream)
    residuals = residual_stream(trace, stream=stream)

    def ended(state: Floats) -> Floats:
        return state if final is None else replace(final, input=state).output

    if not _same(ended(residuals[-1].state), trace):
        raise ValueError(
            f"between the last layer of {trace.model} and its last hidden state stands more than a norm, so the head "
            "cannot be asked after an earlier layer"
        )
    return ended


def _ends(trace: Trace, stream: str) -> Iterator[tuple[int, Tensor]]:
    """Yield the head's input for a stop after each layer: (layer, [Q, D]); after the last, the recorded input."""
    ended, residuals = head_inputs(trace), residual_stream(trace, stream=stream)
    for residual in residuals[:-1]:
        yield residual.layer, torch.tensor(ended(residual.state))
    yield residuals[-1].layer, trace.hidden


def _same(end: Floats, trace: Trace) -> bool:
    """Return True if the states equal the last hidden state, apart from rounding."""
    output, dtype = trace.output, trace.hidden.dtype
    tolerance = _TOLERANCE + (_HALF_DIGITS * torch.finfo(dtype).eps if dtype in HALF else 0.0)
    return end.shape == output.shape and bool(np.abs(end - output).max() <= tolerance * np.abs(output).max())


def _final_norm(trace: Trace, stream: str) -> NormRecord | None:
    return next((norm for norm in trace.norms if norm.stream == stream and norm.placement == "final"), None)


def _last_stream(trace: Trace) -> str:
    """The stream whose last state is the model's: the decoder's where there is one."""
    return "decoder" if "decoder" in trace.streams else "encoder"
