"""A reader's function at a head, an FFN and the residual stream: held to plain hooks on transformers' own model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import inspector
import models
from inspector import exactness, interventions, record
from models import LoadedModel
from models.attention.dropping import ModelHead
from tests.closeness import assert_close
from tests.inspector.probe import families

TEXT = "the cat sat on the log"
FAMILIES = {family.name: family for family in families.CAPTURED}
PARTS: dict[str, tuple[str, str, str]] = {  # of layer 1: what leaves it, its FFN's second matrix, its W_O
    "bert": ("encoder.layer.1", "output.dense", "attention.output.dense"),
    "gpt2": ("transformer.h.1", "mlp.c_proj", "attn.c_proj"),
    "llama": ("model.layers.1", "mlp.down_proj", "self_attn.o_proj"),
    "gpt_neox": ("gpt_neox.layers.1", "mlp.dense_4h_to_h", "attention.dense"),
    "t5": ("decoder.block.1", "layer.2.DenseReluDense.wo", "layer.0.SelfAttention.o"),
}


def changed(x: Tensor) -> Tensor:
    """Change rows and columns unevenly, so that a transposed or misplaced edit is seen."""
    steps = torch.arange(x.numel(), dtype=x.dtype).reshape(x.shape)
    return 0.5 * x + 0.01 * torch.sin(steps)


@pytest.fixture(scope="module", params=PARTS)
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp(request.param)
    families.save(FAMILIES[request.param], folder)
    return request.param, folder


def with_hook(network: nn.Module, at: str, name: str, heads: int) -> Callable[[], None]:
    """Put the change on transformers' own model by a plain hook, and return what takes it away."""
    layer, ffn, out = PARTS[name]

    def left(module: nn.Module, given: Any, output: Any) -> Any:
        state = output if isinstance(output, Tensor) else output[0]
        made = changed(state[0])[None]
        return made if isinstance(output, Tensor) else (made, *output[1:])

    def entering(module: nn.Module, given: Any) -> Any:
        mixed = given[0].clone()  # [1, Q, H E]
        of_heads = mixed[0].unflatten(-1, (heads, -1))
        of_heads[:, 2] = changed(of_heads[:, 2].clone())
        return (mixed, *given[1:])

    block = next(module for path, module in network.named_modules() if path.endswith(layer))
    if at == "residual":
        return block.register_forward_hook(left).remove
    if at == "ffn":
        return block.get_submodule(ffn).register_forward_hook(left).remove
    return block.get_submodule(out).register_forward_pre_hook(entering).remove


@pytest.mark.parametrize("at", ["head", "ffn", "residual"])
def test_it_is_what_a_plain_hook_on_transformers_gives(at: Any, family: tuple[str, Path]) -> None:
    name, folder = family
    loaded = models.load(folder)
    target = {"target": "the dog"} if loaded.shape == "encoder-decoder" else {}
    stream = "encoder" if loaded.shape == "encoder" else "decoder"
    edited = interventions.edit(
        loaded, TEXT, at=at, layer=1, head=2 if at == "head" else None, stream=stream, function=changed, **target
    )
    network = families.reference(folder)
    given = {"input_ids": torch.tensor([edited.before.encoding.ids])}
    if edited.before.target is not None:
        given["decoder_input_ids"] = torch.tensor([edited.before.target.ids])
    hidden = "decoder_hidden_states" if edited.before.target is not None else "hidden_states"
    states = []
    for hook in (False, True):
        remove = with_hook(network, at, name, loaded.config.num_attention_heads) if hook else lambda: None
        with torch.no_grad():
            states.append(network(**given, output_hidden_states=True)[hidden][-1][0])
        remove()
    assert_close(edited.before.hidden, states[0], relative=1e-5)
    assert_close(edited.after.hidden, states[1], relative=1e-5)
    assert float((states[1] - states[0]).abs().max()) > 1e-3
    assert torch.equal(record(loaded, TEXT, **target).hidden, edited.before.hidden)  # nothing stays behind


@pytest.fixture(scope="module")
def loaded() -> LoadedModel:
    return models.load("mini-gpt")


@pytest.mark.parametrize("at", ["head", "ffn", "residual"])
def test_what_changes_nothing_changes_nothing(at: Any, loaded: LoadedModel) -> None:
    edited = interventions.edit(loaded, TEXT, at=at, layer=1, function=lambda x: x)
    assert torch.equal(edited.after.hidden, edited.before.hidden)


def test_zero_is_dropping_a_head(loaded: LoadedModel) -> None:
    edited = interventions.edit(loaded, TEXT, at="head", layer=-1, head=-1, function=torch.zeros_like)
    site = edited.before.sites[-1]
    assert (edited.layer, edited.head) == (site.layer, site.heads - 1)
    dropped = interventions.drop(loaded, TEXT, heads=[ModelHead("decoder", site.layer, site.heads - 1)])
    assert torch.equal(edited.after.hidden, dropped.after.hidden)


@pytest.mark.parametrize("model", ["mini-gpt", "own-encoder"])
@pytest.mark.parametrize("layer", [0, 1, -1])
def test_a_trace_of_the_changed_run_holds_what_was_read_on(layer: int, model: str) -> None:
    loaded = models.load(model)
    edited = interventions.edit(loaded, TEXT, at="residual", layer=layer, function=changed)
    state = next(state for state in edited.after.states if state.layer == edited.layer)
    expected = changed(interventions.read_at(loaded, TEXT, at="residual", layer=layer))
    assert torch.equal(torch.tensor(edited.after.state(state)), expected)
    assert exactness.check(edited.after).holds


def test_a_patch_of_all_of_the_last_layer_is_the_other_text(loaded: LoadedModel) -> None:
    other = "the dog sat on the log"
    there = record(loaded, other)
    value = interventions.read_at(loaded, there, at="residual", layer=-1)
    edited = interventions.edit(loaded, TEXT, at="residual", layer=-1, function=lambda x: value)
    assert torch.equal(edited.after.hidden, there.hidden)


def test_a_head_is_its_weights_times_its_values(loaded: LoadedModel) -> None:
    trace = record(loaded, TEXT)
    every = interventions.read_at(loaded, trace, at="head", layer=2)
    alone = interventions.read_at(loaded, trace, at="head", layer=2, head=3)
    record_of = trace.record_of_head(2, 3, None)
    expected = torch.tensor(trace.attention(2, 3)).double() @ record_of.value[0].double()
    assert torch.equal(every[3], alone)
    assert_close(alone.double(), expected, relative=1e-5)


def test_threads_edit_for_themselves(loaded: LoadedModel) -> None:
    plain = record(loaded, TEXT).hidden
    expected = interventions.edit(loaded, TEXT, at="ffn", layer=1, function=changed).after.hidden
    seen: list[Tensor] = []

    def beside(x: Tensor) -> Tensor:
        other = Thread(target=lambda: seen.append(record(loaded, TEXT).hidden))
        other.start()
        other.join()
        return changed(x)

    edited = interventions.edit(loaded, TEXT, at="ffn", layer=1, function=beside)
    assert torch.equal(seen[0], plain)
    assert torch.equal(edited.after.hidden, expected)


def raises(x: Tensor) -> Tensor:
    raise KeyError("x" * 5)


@pytest.mark.parametrize("at", ["head", "ffn", "residual"])
@pytest.mark.parametrize(
    ("function", "said"),
    [
        (raises, r"the function failed at the \w+ of layer 1 \(decoder\) on a tensor .*KeyError: 'xxxxx'"),
        (lambda x: None, "returned NoneType at the"),
        (lambda x: x.numpy(), "returned ndarray at the"),
        (lambda x: x[..., :1], "where .* is read on"),
        (lambda x: x[None], "where .* is read on"),
        (lambda x: x.long(), "of torch.int64 at the"),
        (lambda x: x * torch.nan, "returned NaN or infinity at the"),
        (lambda x: x / 0, "returned NaN or infinity at the"),
        (3, "function is int: give a function"),
    ],
)
def test_a_wrong_function_is_a_sentence(at: Any, function: Any, said: str, loaded: LoadedModel) -> None:
    before = record(loaded, TEXT).hidden
    with pytest.raises(ValueError, match=said):
        interventions.edit(loaded, TEXT, at=at, layer=1, function=function)
    assert torch.equal(record(loaded, TEXT).hidden, before)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ({"at": "mlp", "layer": 0}, "at is 'mlp': it can be head, ffn, residual"),
        ({"at": ["head"], "layer": 0}, "it can be head, ffn, residual"),
        ({"at": "residual", "layer": 9}, "layer 9 is out of range: decoder has layers 0 to 3"),
        ({"at": "ffn", "layer": -5}, "layer -5 is out of range"),
        ({"at": "head", "layer": 0, "head": 6}, "head 6 is out of range"),
        ({"at": "ffn", "layer": 0, "head": 1}, "has no heads: leave head out"),
        ({"at": "ffn", "layer": 0, "stream": "encoder"}, "there is no ffn of a stream 'encoder': there is decoder"),
        ({"at": "head", "layer": 0, "call": 1}, "call 1 is out of range"),
        ({"at": "ffn", "layer": 0, "call": 1}, "is not seen"),
        ({"at": "residual", "layer": "1"}, "give a whole number"),
    ],
)
def test_a_place_that_there_is_not_is_a_sentence(place: dict[str, Any], said: str, loaded: LoadedModel) -> None:
    with pytest.raises(ValueError, match=said):
        interventions.edit(loaded, TEXT, function=changed, **place)


def test_a_stream_is_named_where_there_are_several() -> None:
    translator = models.load("own-encoder-decoder")
    with pytest.raises(ValueError, match="encoder, decoder: say which with stream="):
        interventions.edit(translator, TEXT, at="ffn", layer=0, function=changed, target="the dog")
    for stream in ("encoder", "decoder", "cross"):
        edited = interventions.edit(
            translator, TEXT, at="head", layer=1, stream=stream, function=torch.zeros_like, target="the dog"
        )
        assert not torch.equal(edited.after.hidden, edited.before.hidden)


def test_a_mixture_of_experts_has_no_ffn_to_edit(tmp_path: Path) -> None:
    families.save(FAMILIES["mixtral"], tmp_path)
    with pytest.raises(ValueError, match="it is a mixture of experts"):
        interventions.edit(models.load(tmp_path), TEXT, at="ffn", layer=0, function=changed)


@pytest.mark.parametrize("at", ["head", "ffn", "residual"])
def test_one_set_of_weights_that_runs_twice_is_edited_in_one_layer(at: Any, tmp_path: Path) -> None:
    families.save(FAMILIES["albert"], tmp_path)
    loaded = models.load(tmp_path)
    assert (
        interventions.read_at(loaded, TEXT, at=at, layer=0).shape
        == interventions.read_at(loaded, TEXT, at=at, layer=1).shape
    )
    edited = interventions.edit(loaded, TEXT, at=at, layer=1, function=torch.zeros_like)
    below = interventions.read_at(loaded, TEXT, at="residual", layer=0)
    states = {state.layer: torch.tensor(edited.after.state(state)) for state in edited.after.states}
    assert torch.equal(states[0], below)
    assert not torch.equal(edited.after.hidden, edited.before.hidden)


def test_surprises_read_what_it_did(loaded: LoadedModel) -> None:
    edited = inspector.interventions.edit(loaded, TEXT, at="residual", layer=0, function=torch.zeros_like)
    assert len(interventions.surprises(loaded, edited)) == len(edited.truths)
