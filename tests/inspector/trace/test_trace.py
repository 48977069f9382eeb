"""A Trace computes any map again, exactly, and refuses what is not there."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

from inspector import Trace, record, record_batch
from inspector.trace import NormRecord
from inspector.trace.recompute import AttentionRecord, AttentionSite, blocks
from models import LoadedModel
from models.attention import AttentionCall, watch
from models.huggingface.eager_attention import IMPLEMENTATION, EagerAttention
from tests.closeness import assert_close

TEXT = "The cat sat on the mat because it was tired."


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return record(minilm, TEXT)


def test_public_names(trace: Trace) -> None:
    assert trace.tokens[:3] == ("[CLS]", "the", "cat")
    assert trace.tokens[-1] == "[SEP]"
    assert trace.words[:4] == (None, 0, 1, 2)
    assert trace.special == (True, *[False] * 11, True)
    assert trace.cut is None
    assert trace.unknown == 0
    assert trace.sites == tuple(AttentionSite("encoder", layer, 12, trace.tokens, trace.tokens) for layer in range(6))
    assert trace.attention(layer=3).shape == (12, 13, 13)
    assert trace.attention(layer=3, head=7).shape == (13, 13)
    assert trace.attention(layer=3, head=7).dtype == np.float32


def test_rows_sum_to_one_and_nothing_can_be_written(trace: Trace) -> None:
    weights = trace.attention(layer=2)
    assert_close(weights.sum(axis=-1), 1, relative=3e-6)
    for array in (weights, trace.attention(layer=2, head=0), trace.output, trace.norms[0].input, trace.norms[0].output):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_weights_and_scores_follow_the_paper(trace: Trace) -> None:
    """softmax(Q K^T / sqrt(d_k)) in numpy float64, from the captured queries and keys."""
    for layer, call in enumerate(trace.attentions):
        query, key = call.query.double().numpy(), call.key.double().numpy()
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        assert_close(trace.scores(layer=layer), scores, relative=1e-5)
        assert_close(trace.attention(layer=layer), weights, relative=5e-6)


def test_blocks_are_the_whole_map(minilm: LoadedModel) -> None:
    long = record(minilm, "word " * 300)
    whole = long.attention(layer=4)
    rows = [rows for rows, _ in long.blocks(layer=4)]
    assert [(r.start, r.stop) for r in rows] == [(0, 128), (128, 256), (256, 302)]
    for rows, block in long.blocks(layer=4):
        np.testing.assert_array_equal(block, whole[:, rows])


def test_a_single_head_of_a_layer_too_large_to_hold(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = trace.attention(layer=1)
    monkeypatch.setattr("inspector.trace.trace._LARGEST_LAYER", 0)
    np.testing.assert_array_equal(trace.attention(layer=1, head=5), whole[5])


def test_masked_cells_have_no_score(minilm: LoadedModel) -> None:
    """A causal tiny BERT: the upper triangle is masked, in transformers' eager attention as here."""
    torch.manual_seed(0)
    ours, eager = (
        BertModel._from_config(
            BertConfig(
                vocab_size=40,
                hidden_size=16,
                num_hidden_layers=1,
                num_attention_heads=2,
                intermediate_size=8,
                is_decoder=True,
            ),
            attn_implementation=implementation,
        ).eval()
        for implementation in (IMPLEMENTATION, "eager")
    )
    eager.load_state_dict(ours.state_dict())
    ids = torch.randint(0, 40, (1, 150))
    calls: list[AttentionCall] = []
    with torch.no_grad(), watch(calls.append):
        ours(ids, use_cache=False)
        expected = eager(ids, use_cache=False, output_attentions=True).attentions[0][0].numpy()
    site = AttentionSite("decoder", 0, 2, ("t",) * 150, ("t",) * 150)
    call = calls[0]
    kept = AttentionRecord(site, call.function, call.query[0], call.key[0], call.value[0], call.mask)
    upper = np.triu(np.ones((150, 150), bool), k=1)
    weights = np.concatenate([block for _, block in blocks(kept, "weights")], axis=1)
    scores = np.concatenate([block for _, block in blocks(kept, "scores")], axis=1)
    assert_close(weights, expected, relative=1e-6)
    assert (weights[:, upper] == 0).all()
    assert np.isneginf(scores[:, upper]).all()
    assert np.isfinite(scores[:, ~upper]).all()


def test_out_of_range_is_a_sentence_with_the_numbers(trace: Trace) -> None:
    with pytest.raises(ValueError, match=r"layer 6 is out of range: encoder has layers 0 to 5"):
        trace.attention(layer=6)
    with pytest.raises(ValueError, match=r"head 12 is out of range: layer 0 has heads 0 to 11"):
        trace.attention(layer=0, head=12)
    with pytest.raises(ValueError, match=r"head -13 is out of range"):
        trace.attention(layer=0, head=-13)
    with pytest.raises(ValueError, match=r"there is no stream 'cross': this model has encoder"):
        trace.attention(layer=0, stream="cross")


def test_padding_leaves_no_trace_in_a_batch(minilm: LoadedModel, trace: Trace) -> None:
    batch = record_batch(minilm, [TEXT, "word " * 60])[0]
    assert batch.tokens == trace.tokens
    assert_close(batch.attention(layer=5), trace.attention(layer=5), relative=1e-5)
    assert batch.attentions[0].query._base is None or batch.attentions[0].query._base.numel() < 60 * 384


def test_an_eager_function_is_only_ever_transformers_own() -> None:
    for source in ("os", "transformers.models.bert.modeling_bert; import os", "transformers.models.nothing.here"):
        call = EagerAttention(source, {"training": False}, {"scaling": 1.0})
        with pytest.raises(ValueError, match=r"is no modeling file of transformers|has no eager_attention_forward"):
            call(torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, 1, 1), None, rows=slice(0, 1))


def test_heads_share_kv_heads() -> None:
    site = AttentionSite("decoder", 0, 6, ("a",), ("a",), kv_heads=2)
    assert [site.kv_group(head) for head in range(6)] == [0, 0, 0, 1, 1, 1]
    assert AttentionSite("decoder", 0, 6, ("a",), ("a",)).kv_heads == 6
    with pytest.raises(ValueError, match="6 heads cannot share 4 kv heads"):
        AttentionSite("decoder", 0, 6, ("a",), ("a",), kv_heads=4)


@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_a_norm_that_names_nothing_more_is_torchs_over_the_whole_width(kind: str) -> None:
    made = np.random.default_rng(0)
    x, gamma = made.normal(size=(5, 8)), made.normal(size=8)
    beta = made.normal(size=8) if kind == "layer" else np.zeros(8)
    found = NormRecord("norm", 0, "ffn", "post", input=x, gamma=gamma, beta=beta, epsilon=1e-5, kind=kind)
    given, weight, bias = (torch.from_numpy(values) for values in (x, gamma, beta))
    torchs = torch.nn.functional.layer_norm if kind == "layer" else torch.nn.functional.rms_norm
    expected = torchs(given, (8,), weight, *([bias] if kind == "layer" else []), eps=1e-5).numpy()
    assert_close(found.output, expected, relative=1e-6)
