"""Differences that a batch makes: each text held to the text alone, the batch under other fills, one token changed.

Shapes: n tokens of a text, D width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import torch

from inspector.batches.layouts import Batch, Layout, read
from inspector.batches.leaks import FILLS
from inspector.probe import ModelInputs, record_rows, tokenize_inputs
from inspector.trace import Trace
from models import LoadedModel
from models.registry import own_model
from models.tokenizers import Encoding
from models.transformer.runner import OwnRunner
from models.transformer.variants import under

OWN_MASK, UNTOLD = "as the model masks", "padding not masked"


def compare(batch: Batch, alone: Batch) -> pd.DataFrame:
    """Hold each text of a batch to the same text alone, a row per text.

    states: the largest difference of a token's last hidden state, and relative: |difference| / |state|, mean over the
    tokens; weights: the largest difference of a weight between the text's own tokens, of all streams, layers and heads;
    to_padding, to_others: the weight on padding and on other texts, mean over streams, layers, heads and the text's
    queries. Raises ValueError for other texts.
    """
    if batch.texts != alone.texts:
        raise ValueError("the two batches hold other texts; read the same texts in both layouts")
    rows = []
    for text in range(len(batch.texts)):
        states, expected = (side.states(text).astype(np.float64) for side in (batch, alone))
        difference = states - expected
        relative = np.linalg.norm(difference, axis=1) / np.linalg.norm(expected, axis=1)
        rows.append((text, float(np.abs(difference).max()), float(relative.mean()), *_maps(batch, alone, text)))
    return pd.DataFrame(rows, columns=["text", "states", "relative", "weights", "to_padding", "to_others"])


def drift(loaded: LoadedModel, texts: Sequence[str], *, layout: Layout, refilled: bool = True) -> pd.DataFrame:
    """Read a padded batch through the whole model under other fills, a row per fill.

    drift: the largest difference of a real token's last hidden state from the text alone; relative as in `compare`;
    to_padding: the weight on padding, mean over streams, layers, heads and real queries; padding_states: the mean size
    |x| of a number in the last hidden states of padding, NaN without padding. The first row is the mask that the model
    has, the last reads padding as text (a causal mask stays); the others are the fills of `FILLS`, of a model of this
    project alone, read under its switch mask_fill, and left out where refilled is False. Raises ValueError as `read`.
    """
    alone = read(loaded, texts, layout="alone")
    variants: dict[str, LoadedModel | None] = {OWN_MASK: loaded}
    variants |= _refilled(loaded) if refilled else {}
    variants[UNTOLD] = None
    rows = []
    for name, model in variants.items():
        batch = read(loaded if model is None else model, texts, layout=layout, masked=model is not None)
        differences = compare(batch, alone)
        weights = np.array(batch.lengths) / sum(batch.lengths)
        rows.append(
            (
                name,
                float(differences["states"].max()),
                float(differences["relative"] @ weights),
                float(differences["to_padding"] @ weights),
                _padding_states(batch),
            )
        )
    return pd.DataFrame(rows, columns=["fill", "drift", "relative", "to_padding", "padding_states"])


def spread(loaded: LoadedModel, text: str, *, token: int) -> tuple[pd.DataFrame, str]:
    """Change one token, and measure how far each token's last hidden state moves.

    The token becomes the nearest other token of the text, the one before it first. Returns a table with position,
    token, change (the mean size |difference| of a number of the state) and largest, and the token that was put in. Of
    an encoder-decoder the target's token is changed.

    Raises ValueError for a token that there is not, and for a text of one token over and over.
    """
    inputs = tokenize_inputs(loaded, text)
    whole = inputs.encoding if inputs.target is None else inputs.target
    if not 0 <= token < len(whole):
        raise ValueError(f"there is no token {token}: the text has {len(whole)}, counted from 0")
    others = [at for at in range(len(whole)) if whole.ids[at] != whole.ids[token]]
    if not others:
        raise ValueError("the text is one token over and over, so none of its tokens can be put in another's place")
    put = min(others, key=lambda at: (abs(at - token), at))
    changed = _with_token(whole, token, whole.ids[put], whole.tokens[put])
    other = replace(inputs, encoding=changed) if inputs.target is None else replace(inputs, target=changed)
    before, after = _run_two(loaded, [inputs, other], text)
    moved = np.abs(after.output.astype(np.float64) - before.output.astype(np.float64))
    table = pd.DataFrame(
        {
            "position": range(len(whole)),
            "token": whole.tokens,
            "change": moved.mean(axis=1),
            "largest": moved.max(axis=1),
        }
    )
    return table, whole.tokens[put]


def _maps(batch: Batch, alone: Batch, text: int) -> tuple[float, float, float]:
    """The largest difference of a weight, and the mean weights on padding and on other texts."""
    row, row_alone = batch.row_of(text), alone.row_of(text)
    largest, padding, others = 0.0, [], []
    for site in row.trace.sites:
        query_owner, key_owner = row.owners(site.stream)
        every, expected = (
            side.trace.attention(layer=site.layer, stream=site.stream, call=site.call) for side in (row, row_alone)
        )
        weights = every[:, query_owner == text].astype(np.float64)  # [H, n, T]
        largest = max(largest, float(np.abs(weights[:, :, key_owner == text] - expected).max()))
        padding.append(float(weights[:, :, key_owner < 0].sum(axis=2).mean()))
        others.append(float(weights[:, :, (key_owner >= 0) & (key_owner != text)].sum(axis=2).mean()))
    return largest, float(np.mean(padding)), float(np.mean(others))


def _refilled(loaded: LoadedModel) -> dict[str, LoadedModel]:
    """A model of this project under each fill; none of another model."""
    if not isinstance(loaded.runner, OwnRunner):
        return {}
    refilled = {}
    for name, value in FILLS.items():
        if value is None:
            continue
        config = replace(loaded.config, mask_fill="zero" if name == "x 0" else value)
        network, _ = under(loaded.runner.whole, config, seed=0)
        refilled[name] = own_model(
            loaded.card, network, loaded.tokenizer, max_tokens=loaded.max_tokens, beams=loaded.runner.beams
        )
    return refilled


def _padding_states(batch: Batch) -> float:
    sizes = [np.abs(row.trace.output[row.written < 0].astype(np.float64)) for row in batch.rows]
    every = np.concatenate(sizes)
    return float(every.mean()) if every.size else float("nan")


def _with_token(whole: Encoding, at: int, id: int, name: str) -> Encoding:
    ids, tokens = ((*column[:at], new, *column[at + 1 :]) for column, new in ((whole.ids, id), (whole.tokens, name)))
    return replace(whole, ids=ids, tokens=tokens, spans=None)


def _run_two(loaded: LoadedModel, pair: Sequence[ModelInputs], text: str) -> tuple[Trace, ...]:
    """Record two texts of one length in one batch."""
    ids, segments = (torch.tensor([getattr(inputs.encoding, name) for inputs in pair]) for name in ("ids", "segments"))
    keep = torch.ones_like(ids, dtype=torch.bool)
    targets = [inputs.target.ids for inputs in pair if inputs.target is not None]
    if targets and loaded.run_pair is not None:
        run = partial(loaded.run_pair, ids, keep, torch.tensor(targets))
    else:
        run = partial(loaded.run, ids, keep, segments)
    return record_rows(loaded, pair, run, texts=[text, text])
