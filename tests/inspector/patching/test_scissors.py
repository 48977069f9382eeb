"""Cuts equal plain hooks on transformers' own networks; what a cut adds up to; what cannot be cut."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import models
from inspector import patching
from inspector.patching import EdgeCut, HeadCut, Reader, SpanCut, Uncut, Writer
from models import LoadedModel
from models.attention.dropping import ModelHead
from tests.closeness import assert_close
from tests.inspector.patching.by_hand import given, hold_answer, made, seen
from tests.inspector.probe.families import CAPTURED, reference, save

FAMILIES = {family.name: family for family in CAPTURED}
TEXT, OTHER = "the cat sat on the log because it was", "the cat sat on the mat because it was"
# No norm on the stream or on what a sublayer adds: there zeroing a head moves the scale for all of them.
PRE_NORM = ("llama", "gpt2", "gpt_neox", "granite", "qwen3", "mixtral", "phi", "deepseek_v3", "cohere")


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    saved: dict[str, Path] = {}

    def of(name: str) -> Path:
        if name not in saved:
            saved[name] = tmp_path_factory.mktemp("family") / name
            save(FAMILIES[name], saved[name])
        return saved[name]

    return of


def uncut(loaded: LoadedModel, text: str = TEXT) -> Uncut:
    return patching.read(loaded, text, answer=40, against=50, position=7)


def write_of(network: Any, of: Uncut, output: nn.Module, head: int) -> Tensor:
    """Return what a head adds: its slice of the output matrix's input times its rows of the matrix."""
    z = seen(network, of.trace, output, given_to=True)
    weight = output.weight if type(output).__name__ == "Conv1D" else output.weight.T
    width = weight.shape[0] // 4
    rows = slice(head * width, (head + 1) * width)
    return (z[..., rows] @ weight[rows]).detach()


def sliced(x: Tensor, put: Tensor, columns: slice) -> Tensor:
    x = x.clone()
    x[..., columns] = put[..., columns]
    return x


@torch.no_grad()
def held_by_hand(norm: nn.Module, x: Tensor, delta: Tensor) -> Tensor:
    """The share of delta in an RMSNorm or a LayerNorm of x, in float64 from the paper's formulas."""
    x, delta = x.double(), delta.double()
    if isinstance(norm, nn.LayerNorm):
        scale = norm.weight / (x.var(dim=-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
        return scale * (delta - delta.mean(dim=-1, keepdim=True))
    return norm.weight.double() * delta / (x.square().mean(dim=-1, keepdim=True) + norm.variance_epsilon).sqrt()


@pytest.mark.parametrize("norms", ["live", "held"])
@pytest.mark.parametrize(("part", "head"), [("query", 1), ("query", 3), ("key", 1), ("value", 0)])
def test_an_edge_into_a_head_of_llama(family: Callable[[str], Path], part: str, head: int, norms: Any) -> None:
    of, network = uncut(models.load(family("llama"))), reference(family("llama"))
    layer = network.model.layers[1]
    delta = write_of(network, of, network.model.layers[0].self_attn.o_proj, 2)
    x = seen(network, of.trace, layer.input_layernorm, given_to=True)
    projection = getattr(layer.self_attn, f"{part[0]}_proj")
    with torch.no_grad():
        norm = layer.input_layernorm
        read = norm(x - delta) if norms == "live" else norm(x) - held_by_hand(norm, x, delta).float()
        put = projection(read)
    width = 8
    hook = made(projection, partial(sliced, put=put, columns=slice(head * width, (head + 1) * width)))
    edge = EdgeCut(Writer("head", "decoder", 0, 2), Reader(part, "decoder", 1, head), norms)  # type: ignore[arg-type]
    hold_answer(patching.cut(of, [edge]).after, network, of, hook)
    assert abs(patching.cut(of, [edge]).effect) > 1e-4


@pytest.mark.parametrize("writer", [Writer("embedding", "decoder"), Writer("ffn", "decoder", 0)])
def test_an_edge_into_a_fused_projection(family: Callable[[str], Path], writer: Writer) -> None:
    of, network = uncut(models.load(family("gpt2"))), reference(family("gpt2"))
    first, layer = network.transformer.h
    ffn = writer.kind == "ffn"
    delta = seen(network, of.trace, first.mlp, given_to=False) if ffn else seen(network, of.trace, first, given_to=True)
    x = seen(network, of.trace, layer.ln_1, given_to=True)
    with torch.no_grad():
        put = layer.attn.c_attn(layer.ln_1(x - delta))
    width = put.shape[-1] // 12
    hook = made(layer.attn.c_attn, partial(sliced, put=put, columns=slice(5 * width, 6 * width)))  # head 1's key
    edge = EdgeCut(writer, Reader("key", "decoder", 1, 1))
    hold_answer(patching.cut(of, [edge]).after, network, of, hook)


def test_edges_behind_norms_on_the_stream(family: Callable[[str], Path]) -> None:
    """BERT: a write goes through the norms on the stream, with their scales held, until it is read."""
    of, network = uncut(models.load(family("bert"))), reference(family("bert"))
    first, second = network.bert.encoder.layer
    delta = write_of(network, of, first.attention.output.dense, 1)
    norms = (first.attention.output.LayerNorm, first.output.LayerNorm)
    between = held_by_hand(norms[0], seen(network, of.trace, norms[0], given_to=True), delta)
    behind = held_by_hand(norms[1], seen(network, of.trace, norms[1], given_to=True), between).float()
    writer = Writer("head", "encoder", 0, 1)
    with torch.no_grad():
        put = second.attention.self.query(seen(network, of.trace, second, given_to=True) - behind)
    hook = made(second.attention.self.query, partial(sliced, put=put, columns=slice(16, 24)))
    edge = EdgeCut(writer, Reader("query", "encoder", 1, 2))
    hold_answer(patching.cut(of, [edge]).after, network, of, hook)
    ffn = EdgeCut(writer, Reader("ffn", "encoder", 0))
    hook = given(first.intermediate, lambda x: x - between.float())
    hold_answer(patching.cut(of, [ffn]).after, network, of, hook)
    last = EdgeCut(Writer("ffn", "encoder", 1), Reader("logit", "encoder"))
    added = seen(network, of.trace, second.output.dense, given_to=False)
    share = held_by_hand(
        second.output.LayerNorm, seen(network, of.trace, second.output.LayerNorm, given_to=True), added
    )
    hook = given(network.cls, lambda x: x - share.float())
    hold_answer(patching.cut(of, [last]).after, network, of, hook)


@pytest.mark.parametrize("norms", ["live", "held"])
def test_edges_into_the_ffn_and_the_logit(family: Callable[[str], Path], norms: Any) -> None:
    of, network = uncut(models.load(family("llama"))), reference(family("llama"))
    layer, end = network.model.layers[1], network.model.norm
    delta = write_of(network, of, network.model.layers[0].self_attn.o_proj, 0)

    @torch.no_grad()
    def read(norm: nn.Module) -> Tensor:
        x = seen(network, of.trace, norm, given_to=True)
        return norm(x - delta) if norms == "live" else norm(x) - held_by_hand(norm, x, delta).float()

    writer = Writer("head", "decoder", 0, 0)
    for reader, module, norm in (
        (Reader("ffn", "decoder", 1), layer.mlp, layer.post_attention_layernorm),
        (Reader("logit", "decoder"), network.lm_head, end),
    ):
        put = read(norm)
        run = patching.cut(of, [EdgeCut(writer, reader, norms)])
        hold_answer(run.after, network, of, given(module, lambda x, put=put: put))
        assert abs(run.effect) > 1e-4


def test_held_into_the_logit_is_the_share_of_the_paper(family: Callable[[str], Path]) -> None:
    """The logits' difference, in float64 by hand, loses gamma delta / deviation times the two tokens' rows."""
    of, network = uncut(models.load(family("llama"))), reference(family("llama"))
    x = seen(network, of.trace, network.model.norm, given_to=True)
    rows = network.lm_head.weight.detach().double()
    for head in range(4):
        delta = write_of(network, of, network.model.layers[0].self_attn.o_proj, head)
        share = held_by_hand(network.model.norm, x, delta)[0, 7]
        edge = EdgeCut(Writer("head", "decoder", 0, head), Reader("logit", "decoder"), "held")
        promised = -float(share @ (rows[40] - rows[50]))
        assert_close(patching.cut(of, [edge]).effect, promised, relative=1e-4, scale=of.measured)


@pytest.mark.parametrize("name", PRE_NORM)
def test_all_edges_out_of_a_head_are_the_head(family: Callable[[str], Path], name: str) -> None:
    of = uncut(models.load(family(name)))
    for layer, head in ((0, 1), (1, 2)):
        edges = every_edge(of, Writer("head", "decoder", layer, head))
        cut, whole = patching.cut(of, edges), patching.cut(of, [HeadCut(ModelHead("decoder", layer, head))])
        assert_close(cut.hidden, whole.hidden, relative=1e-5)
        assert float((whole.hidden - of.runs.hidden).abs().max()) > 1e-3


def every_edge(of: Uncut, writer: Writer) -> list[EdgeCut]:
    edges = [EdgeCut(writer, Reader("logit", "decoder"))]
    beside = {layer.layer: any(part.beside for part in layer.additions) for layer in of.writes.blocks.of("decoder")}
    for layer in range(writer.layer, len(of.runs.layers["decoder"])):
        call = of.runs.attention["decoder", layer, 0]
        if layer > writer.layer:
            for part, count in (
                ("query", call.query.shape[1]),
                ("key", call.key.shape[1]),
                ("value", call.key.shape[1]),
            ):
                edges += [EdgeCut(writer, Reader(part, "decoder", layer, head)) for head in range(count)]  # type: ignore[arg-type]
        if layer > writer.layer or not beside[layer]:
            edges.append(EdgeCut(writer, Reader("ffn", "decoder", layer)))
    return edges


def test_a_head_cut_is_a_silenced_slice(family: Callable[[str], Path]) -> None:
    of, network = uncut(models.load(family("gpt2"))), reference(family("gpt2"))
    output = network.transformer.h[1].attn.c_proj
    z = seen(network, of.trace, output, given_to=True)
    for to, put in (("zero", torch.zeros_like(z)), ("mean", z.mean(dim=1, keepdim=True).expand_as(z))):
        hook = given(output, partial(sliced, put=put, columns=slice(16, 24)))
        run = patching.cut(of, [HeadCut(ModelHead("decoder", 1, 2), to)])  # type: ignore[arg-type]
        hold_answer(run.after, network, of, hook)


def test_columns_are_left_out_of_the_mix(family: Callable[[str], Path]) -> None:
    """z loses sum_k A_qk v_k of the chosen keys; the other weights stay."""
    of, network = uncut(models.load(family("llama"))), reference(family("llama"))
    tokens, head = (1, 4), 3
    weights = torch.tensor(of.trace.attention(layer=0, head=head))
    value = of.trace.record_of(0, None).value[head // 2]
    lost = weights[:, list(tokens)] @ value[list(tokens)]
    output = network.model.layers[0].self_attn.o_proj
    z = seen(network, of.trace, output, given_to=True).clone()
    z[0, :, head * 8 : (head + 1) * 8] -= lost
    run = patching.cut(of, [SpanCut(ModelHead("decoder", 0, head), tokens)])
    hold_answer(run.after, network, of, given(output, lambda x: z))
    every = patching.cut(of, [SpanCut(ModelHead("decoder", 0, head), tuple(range(len(of.trace.tokens))))])
    assert_close(every.hidden, patching.cut(of, [HeadCut(ModelHead("decoder", 0, head))]).hidden, relative=1e-6)


def test_a_path_of_another_text(family: Callable[[str], Path]) -> None:
    """Path patching into a query: this text's write is taken from what it reads, the other's is put there."""
    loaded, network = models.load(family("llama")), reference(family("llama"))
    of, other = uncut(loaded), uncut(loaded, OTHER)
    layer, output = network.model.layers[1], network.model.layers[0].self_attn.o_proj
    delta = write_of(network, of, output, 2) - write_of(network, other, output, 2)
    x = seen(network, of.trace, layer.input_layernorm, given_to=True)
    with torch.no_grad():
        put = layer.self_attn.q_proj(layer.input_layernorm(x - delta))
    edge = EdgeCut(Writer("head", "decoder", 0, 2), Reader("query", "decoder", 1, 1))
    hook = made(layer.self_attn.q_proj, partial(sliced, put=put, columns=slice(8, 16)))
    run = patching.cut(of, [edge], instead=other)
    hold_answer(run.after, network, of, hook)
    assert run.effect != patching.cut(of, [edge]).effect


@pytest.mark.parametrize("name", ["mini-gpt", "mini-bert", "translator"])
def test_cutting_nothing_changes_no_bit(shipped: Callable[[str], LoadedModel], name: str) -> None:
    of = patching.read(shipped(name), "The cat sat on the mat.")
    stream = of.runs.last
    none = patching.cut(of, [])
    assert none.effect == 0
    for norms in ("live", "held"):
        edges = [
            EdgeCut(Writer("head", stream, 0, 1), Reader("query", stream, 1, 0), norms),  # type: ignore[arg-type]
            EdgeCut(Writer("head", stream, 0, 1), Reader("ffn", stream, 1), norms),  # type: ignore[arg-type]
            EdgeCut(Writer("embedding", stream), Reader("logit", stream), norms),  # type: ignore[arg-type]
        ]
        same = patching.cut(of, edges, instead=of)  # each write in its own place
        np.testing.assert_array_equal(same.hidden, of.runs.hidden)
        assert same.effect == 0
        assert abs(patching.cut(of, edges).effect) > 0


def test_a_query_across_reads_behind_the_attention_before(shipped: Callable[[str], LoadedModel]) -> None:
    """The translator's decoder: with all reads of a head's write in one layer cut, its cross query is one of these."""
    of = patching.read(shipped("translator"), "I love cats.")
    writer = Writer("head", "decoder", 1, 2)
    edges = [
        EdgeCut(writer, Reader("query", "cross", 1, head)) for head in range(of.runs.mixed["cross", 1, 0].shape[1])
    ]
    run = patching.cut(of, edges)
    assert ("cross", 1, 0) in run.calls
    was, now = of.runs.attention["cross", 1, 0], run.calls["cross", 1, 0]
    assert float((was.query - now.query).abs().max()) > 1e-3
    assert torch.equal(was.key, now.key)
    assert torch.equal(of.runs.attention["decoder", 1, 0].query, run.calls["decoder", 1, 0].query)


def test_a_kv_head_names_its_query_heads(family: Callable[[str], Path]) -> None:
    of = uncut(models.load(family("llama")))
    assert of.kv_heads(Reader("key", "decoder", 1, 1)) == (2, 3)
    assert of.kv_heads(Reader("query", "decoder", 1, 1)) == (1,)


def test_what_cannot_be_cut(family: Callable[[str], Path], shipped: Callable[[str], LoadedModel]) -> None:
    of = uncut(models.load(family("llama")))
    writer = Writer("head", "decoder", 1, 0)
    wrong: list[tuple[list[patching.Cut], str]] = [
        ([EdgeCut(writer, Reader("query", "decoder", 1, 0))], "reads before"),
        ([EdgeCut(Writer("ffn", "decoder", 0), Reader("ffn", "decoder", 0))], "reads before"),
        ([EdgeCut(writer, Reader("query", "decoder", 7, 0))], "layer 7 of the decoder has no attention"),
        ([EdgeCut(writer, Reader("key", "decoder", 1, 3))], "2 kv heads"),
        ([EdgeCut(Writer("head", "decoder", 0, 9), Reader("logit", "decoder"))], "head 9 is out of range"),
        ([HeadCut(ModelHead("decoder", 0, 4))], "head 4 is out of range"),
        ([SpanCut(ModelHead("decoder", 0, 0), (99,))], r"tokens \[99\] are out of range"),
        (
            [HeadCut(ModelHead("decoder", 0, 0)), EdgeCut(Writer("head", "decoder", 0, 0), Reader("logit", "decoder"))],
            "is cut whole",
        ),
    ]
    for cuts, message in wrong:
        with pytest.raises(ValueError, match=message):
            patching.cut(of, cuts)
    with pytest.raises(ValueError, match="no head that predicts"):
        patching.read(shipped("minilm"), "The cat sat.")


@pytest.mark.parametrize(
    "line",
    [
        "head 0.2 -> key 1.1",
        "embedding -> logit, norms held",
        "ffn 0 -> ffn 1",
        "attention 0 -> query 1.3",
        "cross head 1.2 -> zero",
        "head 0.1 -> mean",
        "head 0.1 without 2 5",
        "encoder head 0.1 -> encoder value 1.0",
    ],
)
def test_a_cut_is_written_as_it_is_read(line: str) -> None:
    assert patching.write(patching.parse(line, stream="decoder"), stream="decoder") == line


@pytest.mark.parametrize(
    "line", ["", "head 0 -> logit", "ffn 1 -> zero", "head 0.1", "head 0.1 -> key 1", "x -> logit"]
)
def test_what_is_no_cut_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="is no cut; write one like"):
        patching.parse(line, stream="decoder")


@pytest.mark.parametrize("name", ["mini-gpt", "translator"])
def test_promise_and_effect_into_the_logit(shipped: Callable[[str], LoadedModel], name: str) -> None:
    """Both are equal with norms held, for every writer; with norms live some are not."""
    of = patching.read(shipped(name), "The cat sat on the mat.")
    stream, layers = of.runs.last, len(of.runs.layers[of.runs.last])
    heads = of.runs.mixed[stream, 0, 0].shape[1]
    writers = [Writer("embedding", stream), *(Writer("ffn", stream, layer) for layer in range(layers))]
    writers += [Writer("head", stream, layer, head) for layer in range(layers) for head in range(heads)]
    writers += [Writer("attention", stream, layer) for layer in range(layers)]
    held = patching.measure_cuts(of, [EdgeCut(writer, Reader("logit", stream), "held") for writer in writers])
    assert_close(held["effect"], held["promise"], relative=1e-4, scale=of.measured)
    live = patching.measure_cuts(of, [EdgeCut(writer, Reader("logit", stream)) for writer in writers])
    assert np.abs(live["effect"] - live["promise"]).max() > 1e-2


def test_promise_and_effect_of_a_score(shipped: Callable[[str], LoadedModel]) -> None:
    of = patching.read(shipped("mini-gpt"), "The old captain saw Mr Waldo near the harbour, and the old captain saw")
    for part in ("query", "key"):
        for writer in (Writer("head", "decoder", 0, 2), Writer("ffn", "decoder", 0), Writer("embedding", "decoder")):
            reader = of.reader(part, ModelHead("decoder", 1, 4))  # type: ignore[arg-type]
            change = patching.score_change(of, EdgeCut(writer, reader, "held"), head=4, query=12, key=3)
            assert_close(change.effect, change.promise, relative=1e-4, scale=change.before)
            assert abs(change.promise) > 1e-3
    with pytest.raises(ValueError, match="no query or key of head"):
        patching.score_change(of, EdgeCut(writer, Reader("ffn", "decoder", 1)), head=0, query=1, key=0)


def test_the_weight_behind_a_cut_query_is_the_networks(family: Callable[[str], Path]) -> None:
    """The other scores of the row move too, so a score that rises may lose weight."""
    of, network = uncut(models.load(family("llama"))), reference(family("llama"))
    layer = network.model.layers[1]
    delta = write_of(network, of, network.model.layers[0].self_attn.o_proj, 2)
    x = seen(network, of.trace, layer.input_layernorm, given_to=True)
    edge = EdgeCut(Writer("head", "decoder", 0, 2), Reader("query", "decoder", 1, 3))
    change = patching.score_change(of, edge, head=3, query=7, key=2)
    with torch.no_grad():
        put = layer.self_attn.q_proj(layer.input_layernorm(x - delta))
        hook = made(layer.self_attn.q_proj, partial(sliced, put=put, columns=slice(24, 32)))
        ids = torch.tensor([of.trace.encoding.ids])
        before = network(ids, output_attentions=True).attentions[1][0, 3, 7, 2]
        with hook:
            after = network(ids, output_attentions=True).attentions[1][0, 3, 7, 2]
    assert abs(float(after - before)) > 1e-5
    assert_close(np.array(change.weights), np.array([float(before), float(after)]), relative=1e-5)


def test_each_head_alone_is_its_cut(shipped: Callable[[str], LoadedModel]) -> None:
    of = patching.read(shipped("mini-gpt"), "The cat sat on the mat.")
    table = patching.cut_heads(of, layers=[1])
    for row in table.itertuples():
        cut = [HeadCut(ModelHead("decoder", 1, int(row.head)))]
        assert_close(row.effect, patching.cut(of, cut).effect, relative=1e-5, scale=of.measured)
        assert_close(row.promise, patching.promise(of, cut[0]), relative=1e-9)
    span = SpanCut(ModelHead("decoder", 1, 2), (0, 3))
    parts = [patching.promise(of, SpanCut(ModelHead("decoder", 1, 2), (token,))) for token in (0, 3)]
    assert_close(patching.promise(of, span), sum(parts), relative=1e-9)
