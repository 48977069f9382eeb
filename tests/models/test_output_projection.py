"""The projection that is found rebuilds what each attention module really gave out, in every architecture tried."""

from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor, nn

import models
from models import LoadedModel
from models.attention import AttentionCall, watch
from models.config_facts import attention_count
from models.huggingface.loading import IMPLEMENTATION, shape_of
from models.huggingface.runner import PretrainedRunner
from models.loaded import Card
from models.output_projection import OutputProjection, _projections, find
from models.transformer.multi_head import MultiHeadAttention
from models.transformer.runner import OwnRunner
from tests.closeness import assert_close
from tests.models.own_models import own

SIZES = {
    "vocab_size": 40,
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 32,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 1,
}
ENDS = {"bos_token_id": 1, "eos_token_id": 1}
FEW = {"num_key_value_heads": 2}
THEIRS: dict[str, tuple[dict[str, Any], str]] = {
    "Bert": (SIZES, "attention.output.dense"),
    "Roberta": (SIZES, "attention.output.dense"),
    "Albert": ({**SIZES, "embedding_size": 24}, "attention.dense"),
    "Electra": ({**SIZES, "embedding_size": 16}, "attention.output.dense"),
    "DistilBert": ({"vocab_size": 40, "dim": 24, "n_layers": 2, "n_heads": 4, "hidden_dim": 32}, "out_lin"),
    "GPT2": ({"vocab_size": 40, "n_embd": 24, "n_layer": 2, "n_head": 4, **ENDS}, "attn.c_proj"),
    "GPTNeoX": (SIZES, "attention.dense"),
    "Llama": ({**SIZES, **FEW}, "o_proj"),
    "Qwen3": ({**SIZES, **FEW, "head_dim": 10}, "o_proj"),
    "Gemma2": ({**SIZES, **FEW, "head_dim": 10}, "o_proj"),
    "T5": ({"vocab_size": 40, "d_model": 24, "d_kv": 5, "num_layers": 2, "num_heads": 4, "d_ff": 32}, ".o"),
}
"""Model of transformers -> its sizes, and what the path of its output projection ends in."""

OURS: dict[str, dict[str, Any]] = {
    "encoder": {},
    "decoder": {"kv_heads": 2},
    "encoder-decoder": {"bias": False},
    "encoder, heads added up": {"merge": "sum"},
    "decoder, heads as wide as the model": {"head_size": "full", "merge": "sum", "score": "general"},
    "decoder, xl": {"positions": "xl"},
    "decoder, shaw": {"positions": "shaw", "relative_distance": 3},
    "encoder, one layer many times": {"shared_layers": True, "norm_placement": "pre"},
}


def theirs(name: str) -> LoadedModel:
    """A random model of transformers, as the registry would load it."""
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**THEIRS[name][0])
    kind = getattr(transformers, f"{name}Model")
    network = kind._from_config(config, attn_implementation=IMPLEMENTATION).eval().requires_grad_(False)
    for parameter in network.parameters():  # biases begin at 0, which would hide them
        parameter.add_(0.1 * torch.randn_like(parameter))
    shape = shape_of(config)
    runner = PretrainedRunner(network, config, None, shape, "probe", max_tokens=16)
    layers = attention_count(config, shape=shape)
    return LoadedModel(Card(name, name, "random", "-", shape), network, config, None, runner, layers, max_tokens=16)


class Silent(OwnRunner):
    """Runs nothing."""

    def read(self, ids: Tensor, keep: Tensor, segments: Tensor) -> Tensor:
        return torch.zeros(1, 4, 64)


def run(loaded: LoadedModel) -> None:
    """A text that the finder has not seen; a target of another length."""
    ids, target = torch.tensor([[7, 3, 11, 30, 2, 2, 19]]), torch.tensor([[5, 9, 4]])
    keep = torch.ones_like(ids, dtype=torch.bool)
    with torch.inference_mode():
        loaded.run(ids, keep, torch.zeros_like(ids)) if not loaded.run_pair else loaded.run_pair(ids, keep, target)


def recorded(loaded: LoadedModel, is_output: Callable[[str, nn.Module], bool]) -> tuple[list[AttentionCall], list]:
    """The attention calls of a run and what the chosen modules gave out, both in the order in which they ran."""
    calls: list[AttentionCall] = []
    outputs: list[Tensor] = []
    handles = [
        module.register_forward_hook(lambda module, args, output: outputs.append(output[0]))
        for name, module in loaded.network.named_modules()
        if is_output(name, module)
    ]
    with watch(calls.append):
        run(loaded)
    for handle in handles:
        handle.remove()
    return calls, outputs


def rebuilt(call: AttentionCall, projection: OutputProjection) -> Tensor:
    """sum_h A_h V_h W_O^h + b_O, head by head in float64: [Q, D]."""
    queries, heads = call.query.shape[2], call.query.shape[1]
    mask = None if call.mask is None else call.mask.rows(0, queries)
    weights = call.function(call.query, call.key, call.value, mask, rows=slice(0, queries))[1][0].double()
    group = heads // call.value.shape[1]
    total = torch.zeros(queries, projection.weight.shape[2], dtype=torch.float64)
    for head in range(heads):
        total += weights[head] @ call.value[0, head // group].double() @ projection.weight[head].double()
    return total if projection.bias is None else total + projection.bias


@pytest.mark.parametrize("name", THEIRS)
def test_the_output_of_transformers_attention_is_rebuilt(name: str) -> None:
    loaded = theirs(name)
    ending = THEIRS[name][1]
    calls, outputs = recorded(loaded, lambda path, module: path.endswith(ending))
    assert len(calls) == len(outputs) == (6 if name == "T5" else 2)
    for call, projection, output in zip(calls, find(loaded).values(), outputs, strict=True):
        assert_close(rebuilt(call, projection).float(), output, relative=3e-6)


@pytest.mark.parametrize("name", OURS)
def test_the_output_of_the_own_attention_is_rebuilt(name: str) -> None:
    loaded = own(name.split(",")[0], **OURS[name])
    found = find(loaded)
    calls, outputs = recorded(loaded, lambda path, module: isinstance(module, MultiHeadAttention))
    assert len(calls) == len(found) == loaded.layers
    for call, (place, projection), output in zip(calls, found.items(), outputs, strict=True):
        assert place[0] == call.stream
        if loaded.config.positions != "shaw":  # there values are not all that is mixed
            assert_close(rebuilt(call, projection).float(), output, relative=2e-6)


def test_streams_and_layers_are_numbered_as_in_a_trace() -> None:
    places = [("encoder", 0), ("encoder", 1), ("decoder", 0), ("cross", 0), ("decoder", 1), ("cross", 1)]
    loaded = models.load("own-encoder-decoder")
    assert list(find(loaded)) == [(*place, 0) for place in places]
    layers = loaded.network.decoder.layers
    for index, layer in enumerate(layers):
        for stream, module in (("decoder", layer.attention), ("cross", layer.cross_attention)):
            projection = find(loaded)[stream, index, 0]
            assert_close(projection.weight.flatten(end_dim=1), module.out.weight.T, relative=0)
            assert_close(projection.bias, module.out.bias, relative=0)


def test_without_projections_the_heads_are_the_output() -> None:
    loaded = own("encoder", projections=False)
    for projection in find(loaded).values():
        assert projection.bias is None
        assert torch.equal(projection.weight.flatten(end_dim=1), torch.eye(64))
    calls, outputs = recorded(loaded, lambda path, module: isinstance(module, MultiHeadAttention))
    for call, projection, output in zip(calls, find(loaded).values(), outputs, strict=True):
        assert_close(rebuilt(call, projection).float(), output, relative=3e-6)


def test_found_once_and_forgotten_with_the_network() -> None:
    loaded = own("encoder")
    assert find(loaded) is find(replace(loaded))
    weight = find(loaded)["encoder", 0, 0].weight
    assert weight.data_ptr() == loaded.network.layers[0].attention.out.weight.data_ptr()  # a view costs nothing
    before = len(_projections)
    del loaded
    gc.collect()
    assert len(_projections) < before


def hooks(network: nn.Module) -> list[tuple[int, int]]:
    """Count the hooks of every module: the seam's own stay for good."""
    return [(len(module._forward_hooks), len(module._forward_pre_hooks)) for module in network.modules()]


def test_two_threads_on_one_network() -> None:
    """One finds while the other runs the same network, and nothing is left on it."""
    loaded = own("encoder")
    start, before = Barrier(4), hooks(loaded.network)

    def one(number: int) -> Any:
        start.wait()
        return find(loaded) if number % 2 else recorded(loaded, lambda path, module: False)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(one, range(4)))
    assert results[1] is results[3]
    assert [len(calls) for calls, _ in (results[0], results[2])] == [2, 2]
    assert hooks(loaded.network) == before


class Gated(nn.Module):
    """A gate between the heads and W_O."""

    def __init__(self, out: nn.Linear) -> None:
        super().__init__()
        self.out = out

    def forward(self, x: Tensor) -> Tensor:
        return self.out(x * torch.sigmoid(x))


def test_what_is_not_found_is_a_sentence() -> None:
    loaded = own("decoder")
    attention = loaded.network.layers[1].attention
    attention.out = Gated(attention.out)
    with pytest.raises(
        ValueError, match=r"own-decoder has no output projection that takes the heads of decoder layer 1"
    ):
        find(loaded)
    loaded = own("encoder")
    silent = replace(loaded, runner=Silent.of(loaded.network, loaded.tokenizer))
    with pytest.raises(ValueError, match="own-encoder shows none of its attention"):
        find(silent)
