"""Pooled vectors equal those of transformers, pooled as the authors publish; [CLS] apart equals the sums by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from scipy.optimize import nnls
from transformers import AutoModel

from inspector import record, sentence_vectors
from models import LoadedModel, fetch
from tests.closeness import assert_close

TEXTS = ("The doctor told him to rest.", "His physician advised him to lie down.", "It rained.", "买书。")


def test_poolings_equal_the_published_one_of_the_states_of_transformers(minilm: LoadedModel) -> None:
    published = json.loads((fetch.folder("minilm") / "1_Pooling" / "config.json").read_text())
    assert [way for way, taken in published.items() if taken is True] == ["pooling_mode_mean_tokens"]
    found = sentence_vectors.read(minilm, TEXTS)
    network = AutoModel.from_pretrained(fetch.folder("minilm"), attn_implementation="eager").eval()
    with torch.no_grad():
        states = [
            network(**minilm.tokenizer(text, return_tensors="pt")).last_hidden_state[0].double().numpy()
            for text in TEXTS
        ]
    for at, state in enumerate(states):
        cosine = state[0] @ state.mean(0) / np.linalg.norm(state[0]) / np.linalg.norm(state.mean(0))
        assert_close(found.agreement[at], cosine, relative=2e-6)
    mean = np.stack([state.mean(0) / np.linalg.norm(state.mean(0)) for state in states])
    assert_close(found.cosines("mean"), mean @ mean.T, relative=2e-6)
    first = np.stack([state[0] / np.linalg.norm(state[0]) for state in states])
    assert_close(found.cosines("cls"), first @ first.T, relative=2e-6)


def test_the_parts_of_cls_equal_the_sums_by_hand(minilm: LoadedModel) -> None:
    trace = record(minilm, TEXTS[0])
    table = sentence_vectors.cls_parts(minilm, trace)
    network = AutoModel.from_pretrained(fetch.folder("minilm"), attn_implementation="eager").eval().double()
    with torch.no_grad():
        out = network(torch.tensor([trace.encoding.ids]), output_attentions=True, output_hidden_states=True)
        for number, layer in enumerate(network.encoder.layer):
            x, weights = out.hidden_states[number][0], out.attentions[number][0, :, 0]  # [T, D], [H, T]
            value = layer.attention.self.value(x).view(len(x), 12, 32)
            others = torch.einsum("ht,the->he", weights[:, 1:], value[1:]).flatten()
            dense = layer.attention.output.dense
            others = others @ dense.weight.T
            own = x[0] + torch.einsum("h,he->he", weights[:, 0], value[0]).flatten() @ dense.weight.T + dense.bias
            assert table["others"][number] == pytest.approx(float(others.norm()), rel=1e-4)
            assert table["own"][number] == pytest.approx(float(own.norm()), rel=1e-4)
    shares = sentence_vectors.cls_attention(trace)
    assert_close(shares[["itself", "special", "text"]].sum(axis=1), 1, relative=1e-6)
    assert_close(shares["itself"][5], float(out.attentions[5][0, :, 0, 0].mean()), relative=1e-5)
    assert_close(shares["special"][5], float(out.attentions[5][0, :, 0, -1].mean()), relative=1e-5)


def test_the_nearest_average_equals_nnls() -> None:
    generator = np.random.default_rng(0)
    for tokens in (2, 5, 40):
        states = generator.normal(size=(tokens, 12))
        found = sentence_vectors.nearest_average(states, token=1)
        others = np.delete(states, 1, axis=0)
        heavy = 1e4  # the weight of the equation that the weights sum to 1
        theirs, _ = nnls(np.vstack([others.T, heavy * np.ones(tokens - 1)]), np.append(states[1], heavy), maxiter=5000)
        assert found.weights.sum() == pytest.approx(1)
        assert_close(found.miss, np.linalg.norm(theirs @ others - states[1]) / np.linalg.norm(states[1]), relative=1e-5)
    inside = np.array([[1.0, 1.0], [0.0, 0.0], [2.0, 0.0], [1.0, 3.0]])
    assert_close(sentence_vectors.nearest_average(inside).miss, 0, relative=1e-6, scale=1)


def test_ranks_of_paraphrases() -> None:
    cosines = np.array([[1, 0.5, 0.7, 0.1], [0.5, 1, 0.2, 0.3], [0.7, 0.2, 1, 0.7], [0.1, 0.3, 0.7, 1]])
    assert sentence_vectors.partner_ranks(cosines).tolist() == [2, 1, 1, 1]
    assert sentence_vectors.partner_ranks(cosines[:3, :3]).tolist() == [2, 1]
    with pytest.raises(ValueError, match="no pair"):
        sentence_vectors.partner_ranks(cosines[:1, :1])


def test_a_model_without_cls_is_refused(shipped) -> None:
    with pytest.raises(ValueError, match="choose an encoder"):
        sentence_vectors.read(shipped("mini-gpt"), TEXTS)


def test_the_nearest_average_of_opposite_states_is_found_at_once() -> None:
    """The longest step that the products allow leads to it; a step of twice that length goes to and fro for ever."""
    found = sentence_vectors.nearest_average(np.array([[1.0, 0.0], [10.0, 0.0], [-10.0, 0.0]]))
    assert_close(found.weights, [0.55, 0.45], relative=1e-9)
    assert found.miss < 1e-9
