"""Norm-weighted attention and rollout against the whole tensors and plain matrix products, in float64."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertModel

import inspector
import models
from inspector import Trace, flow, record
from inspector.trace import AttentionRecord, AttentionSite
from models import LoadedModel, fetch
from models.attention import DotProductAttention
from models.attention.masks import CausalMask
from models.output_projection import OutputProjection, find
from models.tokenizers import Encoding
from tests.closeness import assert_close
from tests.models.own_models import own

SOURCE, TARGET = "The cat sat on the mat because it was tired.", "Die Katze war müde."


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A tiny random BERT."""
    folder = tmp_path_factory.mktemp("bert")
    torch.manual_seed(0)
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
    network = BertModel(BertConfig(vocab_size=30522, max_position_embeddings=32, initializer_range=0.2, **sizes))
    torch.nn.init.normal_(network.encoder.layer[1].attention.self.value.bias)
    network.save_pretrained(folder)
    AutoTokenizer.from_pretrained(fetch.folder("minilm"), local_files_only=True).save_pretrained(folder)
    return models.load(folder)


def brute_force(weights: np.ndarray, values: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """alpha f(x) whole: weights [H, Q, T], values [H, T, E], W_O [H, E, D] -> [H, Q, T, D]."""
    vectors = np.einsum("hte,hed->htd", values, matrix, dtype=np.float64)
    return weights[..., None].astype(np.float64) * vectors[:, None]


def test_a_real_bert_layer_against_the_whole_tensor(bert: LoadedModel) -> None:
    """The weights and values are transformers' own, from its eager attention and its value matrix."""
    trace = record(bert, SOURCE)
    eager = BertModel.from_pretrained(bert.card.id, attn_implementation="eager").eval()
    with torch.no_grad():
        out = eager(torch.tensor([trace.encoding.ids]), output_attentions=True, output_hidden_states=True)
    for layer, block in enumerate(eager.encoder.layer):
        attention = block.attention
        x = out.hidden_states[layer][0].double()
        values = (x @ attention.self.value.weight.double().T + attention.self.value.bias.double()).detach().numpy()
        values = values.reshape(len(x), 4, 6).transpose(1, 0, 2)
        matrix = attention.output.dense.weight.detach().double().numpy().T.reshape(4, 6, 24)
        parts = brute_force(out.attentions[layer][0].numpy(), values, matrix)
        whole = flow.norm_weighted(trace, find(bert), layer=layer)
        assert_close(whole, np.linalg.norm(parts.sum(axis=0), axis=-1), relative=2e-6)
        for head in range(4):
            one = flow.norm_weighted(trace, find(bert), layer=layer, head=head)
            assert one.dtype == np.float32
            assert_close(one, np.linalg.norm(parts[head], axis=-1), relative=2e-6)
        norms = flow.value_norms(trace, find(bert), layer=layer)
        assert_close(norms.plain, np.linalg.norm(values, axis=-1), relative=2e-6)
        assert_close(norms.projected, np.linalg.norm(values @ matrix, axis=-1), relative=2e-6)


@pytest.mark.parametrize(
    ("shape", "switches"),
    [
        ("encoder", {}),
        ("decoder", {"kv_heads": 2}),
        ("decoder", {"kv_heads": 1, "positions": "alibi"}),
        ("encoder-decoder", {"head_size": 10}),
        ("encoder", {"merge": "sum"}),
        ("encoder", {"projections": False}),
    ],
    ids=str,
)
def test_every_stream_against_the_whole_tensor(shape: str, switches: dict[str, object]) -> None:
    loaded = own(shape, **switches)
    trace = record(loaded, SOURCE * 10, target=TARGET if shape == "encoder-decoder" else None)
    for attention in trace.attentions:
        site = attention.site
        where = {"layer": site.layer, "stream": site.stream}
        matrix = find(loaded)[site.stream, site.layer, site.call].weight.numpy()
        group = site.heads // len(attention.value)
        values = np.stack([attention.value[head // group].double().numpy() for head in range(site.heads)])
        parts = brute_force(trace.attention(**where), values, matrix)
        whole = flow.norm_weighted(trace, find(loaded), **where)
        assert whole.shape == (len(site.queries), len(site.keys))
        assert_close(whole, np.linalg.norm(parts.sum(axis=0), axis=-1), relative=1e-6)
        one = flow.norm_weighted(trace, find(loaded), head=site.heads - 1, **where)
        assert_close(one, np.linalg.norm(parts[-1], axis=-1), relative=1e-6)


def test_heads_that_cancel_out() -> None:
    """Two heads with the same weights and opposite vectors: each moves something, the layer nothing."""
    trace = synthetic(tokens=5, heads=2)
    same = replace(trace.attentions[0], query=torch.zeros(2, 5, 4), value=torch.ones(2, 5, 4))
    trace = replace(trace, attentions=(same,), key="cancel")
    weight = torch.eye(4, 8).repeat(2, 1, 1)
    weight[1] *= -1
    projections = {("decoder", 0, 0): OutputProjection(weight, None)}
    assert_close(flow.norm_weighted(trace, projections, layer=0), 0, relative=1e-7)
    one = flow.norm_weighted(trace, projections, layer=0, head=1)
    assert_close(one, np.tril(np.ones((5, 5))) / np.arange(1, 6)[:, None] * 2, relative=1e-6)


def synthetic(*, tokens: int, heads: int) -> Trace:
    """A recorded causal layer of random numbers, of any length."""
    torch.manual_seed(0)
    names = tuple(f"t{i}" for i in range(tokens))
    site = AttentionSite("decoder", 0, heads, names, names)
    query, key, value = torch.randn(3, heads, tokens, 4)
    attention = AttentionRecord(site, DotProductAttention(0.5), query, key, value, CausalMask(keys=tokens))
    flags = (False,) * tokens
    encoding = Encoding(tuple(range(tokens)), names, tuple(range(tokens)), (0,) * tokens, flags, 0)
    return Trace("synthetic", "", None, encoding, (attention,), (), torch.zeros(tokens, 8))


@pytest.mark.parametrize("head", [None, 1])
def test_memory_is_that_of_the_result(head: int | None) -> None:
    """The tensor [H, Q, T, D] would be 64 times the result at 2,048 tokens, and the layer's maps 4 times."""
    tokens, heads = 2048, 4
    trace = synthetic(tokens=tokens, heads=heads)
    projections = {("decoder", 0, 0): OutputProjection(torch.randn(heads, 4, 16), torch.zeros(16))}
    result = 4 * tokens * tokens
    tracemalloc.start()
    norms = flow.norm_weighted(trace, projections, layer=0, head=head)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert norms.nbytes == result
    assert peak < 2.5 * result
    rows = [0, 700, 2047]
    weights = torch.softmax(
        (trace.attentions[0].query[:, rows] @ trace.attentions[0].key.mT * 0.5).masked_fill(
            torch.arange(tokens) > torch.tensor(rows)[:, None], -torch.inf
        ),
        dim=-1,
    ).numpy()
    parts = brute_force(weights, trace.attentions[0].value.numpy(), projections["decoder", 0, 0].weight.numpy())
    expected = parts.sum(axis=0) if head is None else parts[head]
    assert_close(norms[rows], np.linalg.norm(expected, axis=-1), relative=2e-6)


# --- rollout -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("residual", [0.5, 0.0, 0.25])
@pytest.mark.parametrize("shape", ["encoder", "decoder", "encoder-decoder"])
def test_rollout_against_matrix_products(shape: str, residual: float) -> None:
    loaded = own(shape, layers=4)
    trace = record(loaded, SOURCE * 14, target=TARGET if shape == "encoder-decoder" else None)
    assert shape == "encoder-decoder" or len(trace.tokens) > 128  # more than one block of rows
    for stream in {site.stream for site in trace.sites} - {"cross"}:
        tokens = len(trace.read_by(stream))
        products = [np.eye(tokens)]
        for layer in reversed(range(4)):
            mean = trace.attention(layer=layer, stream=stream).astype(np.float64).mean(axis=0)
            products.append(products[-1] @ (residual * np.eye(tokens) + (1 - residual) * mean))
        for token in (0, tokens - 1):
            shares = flow.rollout(trace, token=token, stream=stream, residual=residual)
            assert shares.shape == (5, tokens)
            assert_close(shares[::-1], [product[token] for product in products], relative=1e-12)
            assert_close(shares.sum(axis=1), 1, relative=1e-6)


def test_rollout_by_hand() -> None:
    """Uniform attention of the last of 4 tokens: half stays, an eighth goes to each; the first token sees itself."""
    trace = synthetic(tokens=4, heads=2)
    uniform = replace(trace.attentions[0], query=torch.zeros(2, 4, 4))
    trace = replace(trace, attentions=(uniform,), key="uniform")
    assert_close(flow.rollout(trace, token=3), [[0.125, 0.125, 0.125, 0.625], [0, 0, 0, 1]], relative=1e-6)
    np.testing.assert_array_equal(flow.rollout(trace, token=0), [[1, 0, 0, 0]] * 2)
    np.testing.assert_array_equal(flow.rollout(trace, token=2, residual=1), [[0, 0, 1, 0]] * 2)


# --- what cannot be answered ---------------------------------------------------------------------------------------


def test_what_is_out_of_range_is_a_sentence(bert: LoadedModel, tmp_path: Path) -> None:
    trace = record(bert, SOURCE)
    with pytest.raises(ValueError, match="layer 2 is out of range: encoder has layers 0 to 1"):
        flow.norm_weighted(trace, find(bert), layer=2)
    with pytest.raises(ValueError, match="head 4 is out of range: layer 0 has heads 0 to 3"):
        flow.norm_weighted(trace, find(bert), layer=0, head=4)
    with pytest.raises(ValueError, match="there is no stream 'cross'"):
        flow.value_norms(trace, find(bert), layer=0, stream="cross")
    for token in (-1, 14):
        with pytest.raises(ValueError, match=f"token {token} is out of range: the encoder read tokens 0 to"):
            flow.rollout(trace, token=token)
    with pytest.raises(ValueError, match=r"residual is 1\.5; it is the share"):
        flow.rollout(trace, token=0, residual=1.5)
    other = models.load("own-decoder")
    with pytest.raises(ValueError, match="has 4 heads of 6 features, and its projection has none"):
        flow.norm_weighted(trace, find(other), layer=0)
    with pytest.raises(ValueError, match="its projection has 4 heads of 16 features; pass the output projections of"):
        flow.norm_weighted(trace, find(models.load("own-encoder")), layer=0)


def test_what_means_nothing_is_a_sentence() -> None:
    shaw = own("decoder", positions="shaw", relative_distance=3)
    with pytest.raises(ValueError, match="positions 'shaw' add a vector to each value"):
        flow.norm_weighted(record(shaw, SOURCE), find(shaw), layer=0)
    translated = record(own("encoder-decoder"), SOURCE, target=TARGET)
    with pytest.raises(ValueError, match="cross-attention leads from the target to the source"):
        flow.rollout(translated, token=0, stream="cross")
    with pytest.raises(ValueError, match="this model has the streams encoder, decoder, cross: say which"):
        flow.rollout(translated, token=0)


def test_a_trace_from_a_file_flows_the_same(bert: LoadedModel, tmp_path: Path) -> None:
    trace = record(bert, SOURCE)
    inspector.save(trace, tmp_path / "t.npz")
    again = inspector.open(tmp_path / "t.npz")
    expected = flow.norm_weighted(trace, find(bert), layer=1)
    np.testing.assert_array_equal(flow.norm_weighted(again, find(bert), layer=1), expected)


@pytest.mark.parametrize("head", [None, 2])
def test_a_window_has_the_bits_of_the_whole(head: int | None) -> None:
    trace = synthetic(tokens=400, heads=4)
    projections = {("decoder", 0, 0): OutputProjection(torch.randn(4, 4, 16), None)}
    whole = flow.norm_weighted(trace, projections, layer=0, head=head)
    for queries, keys in (
        (slice(130, 300), slice(100, 290)),
        (slice(399, None), slice(0, 1)),
        (slice(5), slice(-3, None)),
    ):
        part = flow.norm_weighted(trace, projections, layer=0, head=head, queries=queries, keys=keys)
        np.testing.assert_array_equal(part, whole[queries, keys])
    with pytest.raises(ValueError, match="are no window of 400"):
        flow.norm_weighted(trace, projections, layer=0, queries=slice(7, 7))
