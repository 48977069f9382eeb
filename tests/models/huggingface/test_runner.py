"""Findings of a model's try-out: the shape is what its attention does, whatever its configuration is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import models
from inspector import exactness, heads, record
from tests.closeness import assert_close
from tests.inspector.probe.families import BUCKETS, LEARNED, ROPE, Family, reference, save

TEXT = "the cat sat on the log because the cat was tired"
GEMMA = {"query_pre_attn_scalar": 8, "sliding_window": 64}
BOTH_WAYS = [
    Family("gemma3_text", ROPE, {**GEMMA, "use_bidirectional_attention": True}),
    Family("bert-generation", LEARNED, {"is_decoder": False}),
]
ONE_WAY = [
    Family("gemma3_text", ROPE, GEMMA),
    Family("bert-generation", LEARNED, {"is_decoder": True}),
    Family("bert", LEARNED, {"is_decoder": True}),
    Family("openai-gpt", LEARNED),  # its mask adds -10,000
]


def loaded(family: Family, folder: Path) -> tuple[models.LoadedModel, Any]:
    save(family, folder)
    return models.load(folder), reference(folder)


@pytest.mark.parametrize("family", BOTH_WAYS, ids=lambda family: family.name)
@pytest.mark.filterwarnings("ignore")
def test_a_model_that_reads_both_ways_is_an_encoder(family: Family, tmp_path: Path) -> None:
    model, network = loaded(family, tmp_path)
    trace = record(model, TEXT)
    assert (model.shape, model.predict, model.write) == ("encoder", None, None)
    assert {(site.stream, site.predicts) for site in trace.sites} == {("encoder", None)}
    assert len(trace.tokens) == len(model.encode(TEXT).tokens)  # the token that ends a text is read too
    given = network(**model.tokenizer(TEXT, return_tensors="pt"), output_attentions=True).attentions
    for layer, weights in enumerate(given):
        assert float(weights.triu(1).max()) > 0
        assert_close(trace.attention(layer=layer), weights[0].detach(), relative=1e-6)
    measured = heads.measure(trace)
    assert_close(measured["induction"].iloc[0], induction(trace.attention(layer=0, head=0), trace), relative=1e-6)
    checked = exactness.check(trace, expected_layers=model.layers)
    assert checked.holds
    assert checked.future is None


def induction(weights: np.ndarray, trace: Any) -> float:
    """Olsson et al. 2022 by a plain loop; keys before and after the query count."""
    tokens, words = trace.tokens, trace.words
    shares = []
    for i in range(len(tokens)):
        keys = [j for j in range(1, len(tokens)) if words[i] is not None and words[j - 1] is not None]
        keys = [j for j in keys if tokens[j - 1] == tokens[i] and j - 1 != i]
        shares += [sum(float(weights[i, j]) for j in keys)] if keys else []
    return sum(shares) / len(shares)


@pytest.mark.parametrize("family", ONE_WAY, ids=lambda family: family.name)
@pytest.mark.filterwarnings("ignore")
def test_a_model_that_reads_one_way_is_a_decoder(family: Family, tmp_path: Path) -> None:
    model, _ = loaded(family, tmp_path)
    trace = record(model, TEXT)
    assert model.shape == "decoder"
    assert {site.stream for site in trace.sites} == {"decoder"}
    assert exactness.check(trace, expected_layers=model.layers).future == 0


def test_a_model_whose_rows_cannot_be_computed_alone_is_run_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long texts are recorded block by block: what the try-out of a few tokens would not show, it tries."""
    monkeypatch.setattr("models.huggingface.eager_attention.PER_QUERY", ())  # the bias is not cut to the rows
    model, network = loaded(Family("t5", BUCKETS, {"decoder_start_token_id": 0}), tmp_path)
    assert model.backend == "eager output"
    trace = record(model, TEXT, target=TEXT)
    given = network(
        **model.tokenizer(TEXT, return_tensors="pt"),
        decoder_input_ids=torch.tensor([trace.target.ids]),
        output_attentions=True,
    )
    for layer, weights in enumerate(given.encoder_attentions):
        mine = trace.attention(layer=layer, stream="encoder")
        assert_close(mine, weights[0].detach(), relative=1e-6)
