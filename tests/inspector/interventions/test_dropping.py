"""A dropped head equals a model whose W_O has zeros for it: transformers' own eager attention, and torch's."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cosine
from torch import nn

import models
from inspector import record
from inspector.interventions import drop, drop_each, importance, surprises
from models.attention.dropping import HeadLike, dropping
from models.transformer.multi_head import MultiHeadAttention
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, reference, save
from tests.inspector.probe.test_families import record_as_given, run

FAMILIES = {family.name: family for family in CAPTURED}
# Where a head's output is mixed back into the stream: probe-backed ones first, then those of eager output.
OUTPUTS = {
    "bert": r"attention\.output\.dense$",
    "gpt2": r"attn\.c_proj$",
    "llama": r"o_proj$",  # two kv heads for four heads
    "gemma2": r"o_proj$",
    "t5": r"\.o$",
    "bart": r"(self|encoder)_attn\.out_proj$",
    "deberta": r"attention\.output\.dense$",
    "bloom": r"self_attention\.dense$",
    "falcon": r"self_attention\.dense$",
    "xlm": r"out_lin$",
    "fsmt": r"(self|encoder)_attn\.out_proj$",
}
EAGER = ("deberta", "bloom", "falcon", "xlm", "fsmt")


def outputs(network: nn.Module, pattern: str) -> dict[tuple[str, int], nn.Module]:
    """W_O of each attention, by stream and layer."""
    found: dict[tuple[str, int], nn.Module] = {}
    shape = "decoder" if not network.config.is_encoder_decoder else None
    for name, module in network.named_modules():
        if not re.search(pattern, name):
            continue
        cross = "encoder_attn" in name or "EncDec" in name
        stream = "cross" if cross else shape or ("decoder" if "decoder." in name else "encoder")
        found[stream, sum(of == stream for of, _ in found)] = module
    return found


@torch.no_grad()
def silence(module: nn.Module, head: int, *, heads: int) -> None:
    """The inputs of W_O that are this head's output count nothing any more."""
    weight = module.weight if type(module).__name__ == "Conv1D" else module.weight.T  # [H E, D]
    width = weight.shape[0] // heads
    weight[head * width : (head + 1) * width] = 0


@pytest.fixture(scope="module", params=list(OUTPUTS))
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("family") / request.param
    save(FAMILIES[request.param], path)
    return path


def chosen(streams: list[str]) -> list[HeadLike]:
    """Some heads of each stream: two of the first layer, one of the second."""
    return [(stream, layer, head) for stream in streams for layer, head in ((0, 1), (0, 2), (1, 3))]


def test_it_is_the_model_without_that_part_of_its_output_matrix(folder: Path) -> None:
    loaded = models.load(folder)
    assert (loaded.backend == "eager output") == (folder.name in EAGER)
    trace = record_as_given(loaded)
    heads = chosen(list(dict.fromkeys(site.stream for site in trace.sites)))
    dropped = drop(loaded, trace, heads=heads)
    network = reference(folder)
    found = outputs(network, OUTPUTS[folder.name])
    assert len(found) == len(trace.sites)
    for stream, layer, head in heads:
        silence(found["decoder" if loaded.shape == "encoder" else stream, layer], head, heads=4)
    _, maps, hidden, logits, _, _ = run(network, trace, shape=loaded.shape)
    assert_close(dropped.after.output, hidden, relative=1e-5)
    for stream, layers in maps.items():
        for layer, weights in enumerate(layers):
            if loaded.backend == "eager output":  # it hands out the zeros that were put there
                gone = [head for of, at, head in heads if (of, at) == (stream, layer)]
                assert np.abs(dropped.after.attention(layer=layer, stream=stream)[gone]).max() > 0.1
            assert_close(dropped.after.attention(layer=layer, stream=stream), weights, relative=1e-5)
    assert loaded.predict is not None
    assert_close(loaded.predict(dropped.after.hidden[None]), logits, relative=1e-5)
    assert np.abs(trace.output - hidden).max() > 0.01  # or nothing would be seen
    np.testing.assert_array_equal(record_as_given(loaded).output, trace.output)  # and nothing stays dropped


@pytest.mark.parametrize("shape", ["encoder", "decoder", "encoder-decoder"])
def test_every_head_of_a_layer_leaves_the_bias(shape: str) -> None:
    """The own Transformer: torch sees what each attention module gives."""
    loaded = models.load(f"own-{shape}")
    trace = record(loaded, "The cat sat.", **({"target": "Die Katze."} if shape == "encoder-decoder" else {}))
    modules = [module for module in loaded.network.modules() if isinstance(module, MultiHeadAttention)]
    seen: list[tuple[MultiHeadAttention, torch.Tensor]] = []
    hooks = [module.register_forward_hook(lambda module, _, out: seen.append((module, out))) for module in modules]
    last = trace.sites[-1]
    heads = [(last.stream, last.layer, head) for head in range(last.heads)]
    drop(loaded, trace, heads=heads)
    for hook in hooks:
        hook.remove()
    assert len(seen) == len(trace.sites)
    for module, out in seen[:-1]:
        assert (out - module.out.bias).abs().max() > 0.01
    module, out = seen[-1]
    assert_close(out, module.out.bias.expand_as(out), relative=0)


def test_own_weights_agree_with_a_copy_without_them(minilm_own: models.LoadedModel) -> None:
    heads: list[HeadLike] = [("encoder", 1, 3), ("encoder", 4, 11)]
    dropped = drop(minilm_own, "The cat sat on the mat.", heads=heads)
    network = models.load("minilm").network
    found = outputs(network, OUTPUTS["bert"])
    for _, layer, head in heads:
        silence(found["decoder", layer], head, heads=12)
    trace = record(models.load("minilm"), "The cat sat on the mat.")  # another network: load gives a new one each time
    with torch.no_grad():
        ids = torch.tensor([trace.encoding.ids])
        expected = network(input_ids=ids).last_hidden_state[0].numpy()
    assert_close(dropped.after.output, expected, relative=1e-5)
    np.testing.assert_array_equal(dropped.before.attention(layer=1), dropped.after.attention(layer=1))
    assert np.abs(dropped.before.attention(layer=2) - dropped.after.attention(layer=2)).max() > 1e-4


def test_an_encoder_decoder_reads_what_it_wrote_with_all_heads() -> None:
    loaded = models.load("translator")
    dropped = drop(loaded, "I love cats.", heads=[("cross", 1, 5), ("encoder", 0, 0)])
    assert dropped.before.target is not None
    assert dropped.before.target == dropped.after.target
    assert dropped.truths[0] == dropped.before.target.ids[1]
    assert len(dropped.truths) == len(dropped.before.target)
    given = drop(loaded, "I love cats.", heads=[("cross", 1, 5)], target="Ich mag Katzen.")
    assert given.before.target.tokens[1:] == loaded.encode("Ich mag Katzen.").tokens[1:-1]


def test_each_thread_drops_its_own(minilm_own: models.LoadedModel) -> None:
    trace = record(minilm_own, "The cat sat on the mat.")
    heads: list[HeadLike] = [("encoder", layer, layer) for layer in range(6)] * 3
    alone = [drop(minilm_own, trace, heads=[head]).after.output for head in heads]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda head: drop(minilm_own, trace, heads=[head]).after.output, heads))
    np.testing.assert_array_equal(alone, together)
    with dropping(heads), ThreadPoolExecutor(1) as pool:  # what one thread drops another does not
        np.testing.assert_array_equal(pool.submit(record, minilm_own, trace.text).result().output, trace.output)
    np.testing.assert_array_equal(record(minilm_own, trace.text).output, trace.output)


def test_each_head_alone_is_measured() -> None:
    loaded = models.load("mini-bert")
    trace = record(loaded, "The cat sat on the mat.")
    heads = importance.measure(loaded, trace, hidden=(2,))
    table = [next(heads) for _ in range(4)]
    assert [(one.layer, one.head) for one in table] == [(0, 0), (0, 1), (0, 2), (0, 3)]
    one = table[2]
    dropped = drop(loaded, trace, heads=[("encoder", 0, 2)], hidden=(2,))
    turns = [cosine(a, b) for a, b in zip(dropped.before.output, dropped.after.output, strict=True)]
    assert_close(one.moved, np.mean(turns), relative=1e-6, scale=1)
    losses = []
    for which in (dropped.before, dropped.after):
        logits = loaded.predict(which.hidden[2].double().float()).double()
        losses.append(torch.nn.functional.cross_entropy(logits, torch.tensor(trace.encoding.ids[2])).item())
    assert_close(one.surprise, (losses[1] - losses[0]) / np.log(2), relative=1e-5)
    assert all(one.surprise != other.surprise for one, other in pairwise(table))


def test_a_model_that_predicts_nothing_is_measured_by_its_states(minilm: models.LoadedModel) -> None:
    one = next(iter(importance.measure(minilm, "The cat sat.", heads=[("encoder", 2, 5)])))
    assert one.moved > 0
    assert np.isnan(one.surprise)
    with pytest.raises(ValueError, match="minilm has no head that predicts tokens"):
        surprises(minilm, next(drop_each(minilm, "The cat sat.")))


@pytest.mark.parametrize(
    ("heads", "sentence"),
    [
        ([], "no head is dropped; name one or more"),
        ([("encoder", 0, 12)], "head 12 is out of range: layer 0 of the encoder has heads 0 to 11"),
        ([("encoder", 6, 0)], "layer 6 is out of range: encoder has layers 0 to 5"),
        ([("cross", 0, 0)], "there is no stream 'cross': this model has encoder"),
    ],
)
def test_a_head_that_there_is_not_is_a_sentence(
    heads: list[HeadLike], sentence: str, minilm: models.LoadedModel
) -> None:
    with pytest.raises(ValueError, match=sentence):
        drop(minilm, "The cat sat.", heads=heads)


def test_only_what_guesses_can_be_hidden_from(minilm: models.LoadedModel) -> None:
    with pytest.raises(ValueError, match="minilm does not guess hidden tokens"):
        drop(minilm, "The cat sat.", heads=[("encoder", 0, 0)], hidden=(2,))
