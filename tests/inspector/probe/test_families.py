"""Each family of transformers: what is recorded is what its own class gives under eager attention.

`pytest tests/inspector/probe/test_families.py --write-models-table` writes docs/models.md from what was measured.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from inspect import getmodule, getsource, signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from transformers import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)

import inspector
import models
from inspector import Trace, exactness, hold, lens, positional, record, record_batch
from inspector.probe.recording import PaddingSide
from inspector.trace import NormRecord
from models.attention import attend_rows, row_blocks
from models.config_facts import stack_configs
from models.loaded import LoadedModel
from tests.closeness import assert_close, relative_error
from tests.inspector.costs.counted.torch_counts import known_costs
from tests.inspector.probe.families import (
    CAPTURED,
    NONE,
    NOT_RUN,
    NOT_TEXT,
    REFUSED,
    WITHOUT_SOFTMAX,
    Family,
    reference,
    save,
)
from tests.inspector.probe.models_table import (
    COSTED,
    COUNTED,
    PATH,
    ROOT,
    TABLES,
    Row,
    columns,
    costed,
    counts,
    norms_of,
    positions_of,
    read_rows,
    write_table,
)
from tests.inspector.probe.sparse_maps import SPARSE, whole_map
from tests.rounds import in_turn

TEXT, PAIR, TARGET = "the cat sat on the log because it was", "it was tired", "the log sat on it"
ATTENTIONS = ("attention", "full_attention", "sliding_attention", "chunked_attention", "hybrid")  # kinds of layers
BLOCK = 4  # query rows at once, so that the maps of these short texts are made of several blocks
A_NORM = re.compile("^(?!ConvDropout).*Norm(1P|Gated)?$")
_PRE, _BOTH = "attention pre, ffn pre", "attention pre, attention output, ffn pre, ffn output"
_ROUTED = "other inside, attention pre, other output, attention output, ffn pre, ffn output, other inside, other inside"
# Norms beside those of two sublayers after each other, or of more than the stream (routers, further inputs, mixtures):
# where they stand in each layer, as read in transformers' source; of those in no simple place this alone is said.
PLACED_OTHERWISE = {
    "axk1": (_PRE, f"{_PRE}, ffn output"),
    "gemma3n_text": (_ROUTED,) * 4,
    "gemma4": (f"{_BOTH}, other output",) * 2,
    "gemma4_text": (f"{_BOTH}, other output",) * 2,
    "hrm_text": (", ".join(["other inside"] * 16),) * 2,
    "inkling2_text": (_PRE, _PRE),
    "nemotron_h": ("mixer pre, mixer inside", "attention pre"),
    "neomme": (_PRE, _PRE),
    "zamba2": ("mixer pre, mixer inside", f"{_PRE}, mixer pre, mixer inside"),
    "zaya": (f"{_PRE}, other inside",) * 2,
}
SUMMED_OTHERWISE = (*SPARSE, "diffllama")  # sparse attention; and two halves of the values in one product
STREAM_REFUSED = {"squeezebert", "hrm_text", "gemma3n_text"}
MIXED_AT_THE_END = {"inkling2_text"}  # its final norm takes a mixture of what several layers left
# A soft-cap, sinks, scores that are no plain product: the second run is made in the model's own function.
NOT_FUSED = {
    *("flint", "gemma2", "gpt_oss", "granite_swa", "granitemoe_swa", "inkling2_text", "mimo_v2_flash"),
    *("switch_transformers", "t5gemma", "vaultgemma"),
}
# What stands before the attention mixes padding into this model's texts: neighbours' embeddings.
READS_PADDING = {"mobilebert": ("left", "right")}
EQUAL = 8  # tokens of a text of one token
GLOBAL_TOKENS = 3  # of Pegasus-X
NOT_OF_THE_STREAM = re.compile("(q|k|query|key|q_a|kv_a|dt|b|c)_(layer)?norm|NoNorm|groupnorm")


class Ran(NamedTuple):
    """A norm that ran in transformers' own model: its name, its class, what it took and what it gave."""

    name: str
    kind: str
    input: Any
    output: Any


@dataclass(frozen=True)
class Parity:
    """A family recorded, and what transformers' own class gave.

    maps: by stream. norms: each that ran, in order. states: by stream, the residual stream before each layer and behind
    the last.
    """

    family: Family
    loaded: LoadedModel
    trace: Trace
    network: Any
    maps: dict[str, list[np.ndarray]]
    hidden: np.ndarray
    logits: torch.Tensor
    norms: list[Ran]
    states: dict[str, list[np.ndarray]]

    def where(self) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
        """The place of each map, with the map that transformers gives."""
        for stream, maps in self.maps.items():
            sites = [site for site in self.trace.sites if site.stream == stream]
            for site, weights in zip(sites, maps, strict=True):
                yield {"layer": site.layer, "stream": stream, "call": site.call}, weights


@pytest.fixture(scope="module", autouse=True)
def small_blocks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("inspector.trace.recompute.row_blocks", _small_blocks)
        yield


def _small_blocks(queries: int, keys: int, *, among: slice | None = None) -> Iterator[slice]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("models.attention.seam.BLOCK", BLOCK)
        return iter(list(row_blocks(queries, keys, among=among)))


@pytest.fixture(scope="module")
def measured() -> dict[str, Row]:
    return {}


@pytest.fixture(scope="module", params=in_turn(CAPTURED, of=2), ids=lambda family: family.name)
def parity(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Parity:
    family: Family = request.param
    folder = tmp_path_factory.mktemp(family.name)
    save(family, folder)
    loaded = models.load(folder)
    trace = record_as_given(loaded)
    return Parity(family, loaded, trace, *run(reference(folder), trace, shape=loaded.shape))


def record_as_given(loaded: LoadedModel) -> Trace:
    """One text, with its pair or its target, by the model's shape."""
    more = {"encoder": {"text_pair": PAIR}, "decoder": {}, "encoder-decoder": {"target": TARGET}}[loaded.shape]
    return record(loaded, TEXT, **more)


@torch.no_grad()
def run(network: Any, trace: Trace, *, shape: str) -> tuple[Any, ...]:
    """Run transformers on the tokens that were recorded."""
    inputs: dict[str, Any] = {"input_ids": torch.tensor([trace.encoding.ids])}
    config, takes = network.config, signature(network.forward).parameters
    tokens, spread = len(trace.tokens), config.model_type in SPARSE
    if shape == "encoder" and (getattr(config, "type_vocab_size", 0) or config.model_type == "xlnet"):
        inputs["token_type_ids"] = torch.tensor([trace.encoding.segments])
    if trace.target is not None:
        inputs["decoder_input_ids"] = torch.tensor([trace.target.ids])
    inputs |= {"use_cache": False} if "use_cache" in takes else {}
    out = network(**inputs, output_attentions=True, output_hidden_states=True)
    states, norms = watch_norms(network, inputs)
    if spread:
        norms = [
            ran._replace(input=ran.input[:, :tokens], output=ran.output[:, :tokens])
            for ran in norms
            if ran.output.shape[1] != GLOBAL_TOKENS
        ]
    names = {shape: "attentions"}
    if shape == "encoder-decoder":
        names = {stream: f"{stream}_attentions" for stream in ("encoder", "decoder", "cross")}
    given = {stream: [weights for weights in out[name] if weights is not None] for stream, name in names.items()}
    maps = {
        stream: [
            whole_map(config.model_type, weights, layer=layer, tokens=tokens)
            if spread and stream == "encoder"
            else weights[0].numpy()
            for layer, weights in enumerate(handed_out)
        ]
        for stream, handed_out in given.items()
    }
    kinds = getattr(config, "layer_types", None) or ()
    if len(maps[next(iter(maps))]) == len(kinds):  # MiniMax hands out the states of its linear attention too
        maps = {shape: [own for own, kind in zip(maps[shape], kinds, strict=True) if kind != "linear_attention"]}
    if network.config.model_type == "squeezebert":  # it hands out the scores
        maps = {"encoder": [softmax(scores) for scores in maps["encoder"]]}
    between = {
        stream: [vectors_of(state)[:tokens].numpy() for state in handed_out]
        for stream, handed_out in states_of(out, shape).items()
    }
    named = states.get("last_hidden_state")  # none where body and head are one module
    last = list(between.values())[-1][-1] if named is None else named[0].numpy()
    return network, maps, last, out.logits, norms, between


@torch.no_grad()
def watch_norms(network: Any, inputs: dict[str, Any]) -> tuple[Any, list[Ran]]:
    """Run the model without its head, with all states; hooks of our own watch each of its norms."""
    body, norms = network.base_model, list[Ran]()
    hooks = [
        module.register_forward_hook(
            lambda module, args, named, out, name=name: norms.append(
                Ran(name, type(module).__name__, next(iter((*args, *named.values()))), out)
            ),
            with_kwargs=True,
        )
        for name, module in (body if network.config.model_type == "xlnet" else network).named_modules()
        if A_NORM.search(type(module).__name__)
    ]
    states = body(**inputs, output_hidden_states=True)
    for hook in hooks:
        hook.remove()
    return states, norms


def states_of(out: Any, shape: str) -> dict[str, Any]:
    """The states that transformers hands out, by stream."""
    if shape == "encoder-decoder":
        return {stream: out[f"{stream}_hidden_states"] for stream in ("encoder", "decoder")}
    return {shape: out["hidden_states"]}


def vectors_of(state: Any) -> Any:
    """States [T, D]: Pegasus-X hands out its global tokens beside the last, Gemma 3n four streams, XLNet [T, 1, D]."""
    whole = state[0] if isinstance(state, tuple) or state.ndim == 4 else state
    return whole[0] if len(whole) == 1 else whole[:, 0]


def within(name: str) -> float:
    """The largest difference of outputs, larger where sums run in another order than in transformers."""
    return 5e-6 if name in SUMMED_OTHERWISE else 1e-6


def nearer_to_float64(parity: Parity, where: dict[str, Any], weights: np.ndarray) -> bool:
    """Return True where transformers' own map is farther from the one that it gives in float64 than `weights` is.

    On some processors its float32 map alone is off by more than the bound (LongT5, behind four layers: 1.6e-6).
    """
    _, maps, *_ = run(copy.deepcopy(parity.network).double(), parity.trace, shape=parity.loaded.shape)
    (exact,) = (exact for place, exact in replace(parity, maps=maps).where() if place == where)
    (eager,) = (eager for place, eager in parity.where() if place == where)
    return bool(np.abs(weights - exact).max() < np.abs(eager - exact).max())


def softmax(scores: np.ndarray, beside: np.ndarray | float = -np.inf) -> np.ndarray:
    """Compute the softmax in float64; beside [H, Q]: a score that each row has beside those of its keys."""
    shares = np.exp(scores.astype(np.float64))
    return shares / (shares.sum(axis=-1) + np.exp(beside))[..., None]


def sinks(parity: Parity, layer: int) -> np.ndarray | float:
    """The score beside those of the keys, less what each row's scores were lowered by so that the largest is 0."""
    attention, weights = parity.trace.record_of(layer, None), parity.trace.attention(layer=layer)
    if relative_error(weights.sum(axis=-1), 1) < 1e-5:  # none; or it scales the output alone (Granite SWA)
        return -np.inf
    given = getattr(attention.function, "arguments", {}).get("sinks")
    if given is not None:  # of each query (Inkling 2)
        return given.part({})[0, :, :, 0].numpy()
    mine = re.compile(rf"layers\.{layer}\..*sinks$")
    found = next(weight for name, weight in parity.network.named_parameters() if mine.search(name))
    scores = parity.trace.scores(layer=layer)
    key = attention.key.repeat_interleave(len(attention.query) // len(attention.key), dim=0)
    plain = (attention.query @ key.transpose(-1, -2) * attention.query.shape[-1] ** -0.5).numpy()
    own = np.arange(len(parity.trace.tokens))  # each token sees itself
    return found.detach().numpy()[:, None] - (plain - scores)[:, own, own]


def test_maps_scores_and_outputs_are_those_of_transformers(parity: Parity, measured: dict[str, Row]) -> None:
    trace, loaded = parity.trace, parity.loaded
    maps, scores = 0.0, 0.0
    for where, expected in parity.where():
        weights = trace.attention(**where)
        assert weights.shape == expected.shape
        difference = float(np.abs(weights - expected).max())
        assert difference <= 1e-6 or nearer_to_float64(parity, where, weights)
        maps = max(maps, difference)
        beside = -np.inf if loaded.shape == "encoder-decoder" else sinks(parity, where["layer"])
        if parity.family.name == "pegasus_x" and where["stream"] == "encoder":  # what transformers gives global tokens
            left = expected.sum(axis=-1)
            beside = np.log((1 - left) / left * np.exp(trace.scores(**where).astype(np.float64)).sum(axis=-1))
        if (sink := trace.sink(**where, head=0)) is not None:
            assert_close(weights[0].sum(axis=-1) + sink, 1, relative=1e-6)
        alone = softmax(trace.scores(**where), beside)
        scores = max(scores, float(np.abs(alone - weights).max()))
    outputs = float(np.abs(trace.output - parity.hidden).max())
    if loaded.predict is not None:
        outputs = max(outputs, float((loaded.predict(trace.hidden[None]) - parity.logits).abs().max()))
    assert outputs <= within(parity.family.name)
    assert scores <= 1e-6
    measured[parity.family.name] = Row.of(parity.family, loaded, trace, (maps, outputs, scores))


def test_every_layer_of_every_stream_is_there(parity: Parity) -> None:
    trace = parity.trace
    sites = {stream: [site for site in trace.sites if site.stream == stream] for stream in parity.maps}
    assert sum(map(len, sites.values())) == len(trace.sites) == parity.loaded.layers
    for stream, maps in parity.maps.items():
        assert [(site.layer, site.call) for site in sites[stream]] == places(parity.network.config, len(maps))
        assert all(np.ptp(weights[:, -1]) > 1e-3 for weights in maps)  # nothing to compare in a uniform map
    if parity.loaded.shape == "decoder":
        later = np.triu(np.ones((len(trace.tokens),) * 2, bool), k=1)
        assert all((trace.attention(layer=site.layer)[:, later] == 0).all() for site in trace.sites)
    if parity.loaded.shape == "encoder-decoder":
        assert trace.sites[-1].queries == trace.target.tokens
        assert trace.sites[-1].keys == trace.encoding.tokens


def places(config: Any, attentions: int) -> list[tuple[int, int]]:
    """Layer and call of each attention of a stack, as the configuration tells."""
    named = getattr(config, "layer_types", None) or getattr(config, "layers_block_type", None) or ()
    attend = [layer for layer, kind in enumerate(named) if kind in ATTENTIONS]
    if len(attend) == attentions:
        return [(layer, 0) for layer in attend]
    if config.model_type == "hrm_text":  # two stacks of two layers, each of which runs four times
        return [divmod(number, 2)[::-1] for number in range(attentions)]
    twice = config.model_type == "longcat_flash"
    return [divmod(number, 2) if twice else (number, 0) for number in range(attentions)]


def test_it_predicts_where_it_has_a_head(parity: Parity) -> None:
    assert (parity.loaded.predict is not None) == (parity.family.name != "xlnet")


def test_heads_know_their_kv_group(parity: Parity) -> None:
    config = stack_configs(parity.network.config)[-1]
    single = getattr(config, "multi_query", False)  # Falcon, GPT BigCode
    shared = 1 if single else getattr(config, "num_key_value_heads", None)
    named = parity.family.kv_heads or (shared,) * len(parity.trace.sites)
    for site, kv_heads in zip(parity.trace.sites, named, strict=True):
        assert site.kv_heads == (kv_heads or site.heads)
        groups = [site.kv_group(head) for head in range(site.heads)]
        assert groups == np.repeat(np.arange(site.kv_heads), site.heads // site.kv_heads).tolist()


def test_local_layers_are_those_of_the_configuration(parity: Parity) -> None:
    """The window is read off the mask; what the configuration says is another source."""
    windows = [site.window for site in parity.trace.sites]
    assert windows == list(parity.family.kinds or (None,) * len(windows))


def test_a_forward_in_blocks_gives_the_same(parity: Parity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.attention.seam.BLOCK", BLOCK)
    trace = record_as_given(parity.loaded)
    assert_close(trace.output, parity.hidden, relative=5e-5)
    for where, expected in parity.where():
        assert_close(trace.attention(**where), expected, relative=1e-5)


def test_local_layers_multiply_their_band_alone(parity: Parity) -> None:
    for attention in parity.trace.attentions:
        window, tokens = attention.site.window, len(attention.site.queries)
        if window is None or parity.loaded.backend != "probe" or attention.function.positional:
            continue
        rows = slice(tokens - BLOCK, tokens)
        query, key, value = (tensor[None] for tensor in (attention.query[:, rows], attention.key, attention.value))
        attended = attend_rows(attention.function, query, key, value, mask=attention.mask, rows=rows)
        assert attended.weights.shape[-1] == BLOCK + window - 1 < tokens


def test_norms_are_those_that_ran(parity: Parity) -> None:
    trace = parity.trace
    kept = {norm.name for norm in trace.norms}
    ran = [(name, out) for name, _, _, out in parity.norms if name in kept]
    assert [norm.name for norm in trace.norms] == [name for name, _ in ran]
    for norm, (_, out) in zip(trace.norms, ran, strict=True):
        assert_close(norm.output, tokens_first(out, norm.output.shape), relative=1e-5)
    refused = exactness.refusals(trace)
    others = {f"{name} {kind}" for name, kind, _, _ in parity.norms if name not in kept and name not in refused}
    assert not {other for other in others if not NOT_OF_THE_STREAM.search(other)}


def test_every_norm_that_ran_is_shown_or_named(parity: Parity) -> None:
    trace = parity.trace
    ran = Counter(ran.name for ran in parity.norms)
    shown = Counter(norm.name for norm in trace.norms)
    paths = (refused.name.replace(".self_attn.attention.", ".self_attn.") for refused in trace.refused)  # DiffLlama's
    named = Counter(path for path in paths if path in ran)
    assert shown + named == ran


def tokens_first(out: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A module's output as [T, D]: most give [1, T, D], XLNet [T, 1, D], OPT [T, D], SqueezeBERT [1, D, T]."""
    flat = (out[0] if isinstance(out, tuple) else out).squeeze()
    return (flat if flat.shape == shape else flat.T).numpy()


def test_it_is_held_to_a_second_run_but_where_the_model_does_its_attention_itself(parity: Parity) -> None:
    if parity.loaded.backend == "eager output":
        with pytest.raises(ValueError, match="the model does its attention by itself"):
            hold(parity.loaded, parity.trace)
        return
    held = hold(parity.loaded, parity.trace)
    assert held.holds, str(held)
    assert held.largest < 1e-5
    assert (held.fused < held.calls) == (parity.family.name in NOT_FUSED)
    wrong = replace(parity.trace.attentions[-1], key=parity.trace.attentions[-1].key.roll(1, dims=1))
    assert not hold(parity.loaded, replace(parity.trace, attentions=(*parity.trace.attentions[:-1], wrong))).holds


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_is_no_false_alarm(parity: Parity, dtype: str, tmp_path: Path) -> None:
    if parity.loaded.backend == "eager output":
        return
    save(parity.family, tmp_path)
    loaded = models.load(tmp_path, dtype=dtype)
    assert hold(loaded, record_as_given(loaded)).holds


@pytest.mark.parametrize("padding", ["left", "right"])
def test_padding_is_no_false_alarm(parity: Parity, padding: PaddingSide) -> None:
    if parity.loaded.backend == "eager output" or parity.loaded.shape == "encoder-decoder":
        return
    if (parity.family.name, padding) == ("recurrent_gemma", "left"):  # which reads it as text
        with pytest.raises(ValueError, match="reads the padding before a text as text"):
            record_batch(parity.loaded, ["the cat sat", TEXT], padding=padding)
        return
    for trace in record_batch(parity.loaded, ["the cat sat", TEXT], padding=padding):
        held = hold(parity.loaded, trace)
        apart = padding in READS_PADDING.get(parity.family.name, ()) and trace.text != TEXT
        assert held.holds != apart, str(held)


def test_norms_and_residual_stream_are_exact_or_refused(parity: Parity) -> None:
    norms, stream = exactness.check_norms(parity.trace), exactness.check_residual_stream(parity.trace)
    refused = exactness.refusals(parity.trace)
    assert norms.holds
    assert norms.exact or norms.shown == 0
    assert stream.holds
    assert stream.exact or [reason for name, reason in refused.items() if name.startswith("residual stream")]


def test_the_residual_stream_is_what_transformers_hands_out(parity: Parity) -> None:
    """Behind the last layer transformers hands out what its final norm gave: then that norm took it."""
    refused = exactness.refusals(parity.trace)
    assert {stream for stream in parity.states if f"residual stream of the {stream}" in refused} == (
        set(parity.states) if parity.family.name in STREAM_REFUSED else set()
    )
    for stream, states in parity.states.items():
        if parity.family.name in STREAM_REFUSED:
            with pytest.raises(ValueError, match="residual stream"):
                lens.residual_stream(parity.trace, stream=stream)
            continue
        shown = {residual.layer: residual.state for residual in lens.residual_stream(parity.trace, stream=stream)}
        assert [layer for layer in shown if layer >= 0] == list(range(len(states) - 1))
        for layer, state in shown.items():
            expected = states[layer + 1]
            if layer == len(states) - 2 and parity.family.name in MIXED_AT_THE_END:
                expected = left_by(parity.network.model.layers[-1], parity)
            elif layer == len(states) - 2 and relative_error(state, expected) > 1e-5:
                state = next(tokens_first(ran.output, state.shape) for ran in parity.norms if took(ran, state))
            assert_close(state, expected, relative=1e-5)


def took(ran: Ran, state: np.ndarray) -> bool:
    """True if that is what the norm took."""
    given = ran.input if isinstance(ran.input, torch.Tensor) else torch.empty(0)
    if given.squeeze().shape not in (state.shape, state.T.shape):  # not of the stream: queries, keys
        return False
    return relative_error(tokens_first(given, state.shape), state) < 1e-5


@torch.no_grad()
def left_by(layer: Any, parity: Parity) -> np.ndarray:
    """The states that a layer of transformers' model leaves of the text, by a hook of our own."""
    left = []
    hook = layer.register_forward_hook(lambda module, args, out: left.append(out))
    parity.network(input_ids=torch.tensor([parity.trace.encoding.ids]), use_cache=False)
    hook.remove()
    return (left[0][0] if isinstance(left[0], tuple) else left[0])[0].numpy()


@torch.no_grad()
def test_tables_of_positions_are_what_tells_equal_tokens_apart(parity: Parity) -> None:
    """A text of one token, again and again: what goes into layer 0 differs by what a table adds alone."""
    tables, network, shape = positional.tables(parity.loaded), parity.network, parity.loaded.shape
    inputs = {"input_ids": torch.full((1, EQUAL), parity.trace.encoding.ids[1])}
    inputs |= {"decoder_input_ids": inputs["input_ids"]} if shape == "encoder-decoder" else {}
    inputs |= {"use_cache": False} if "use_cache" in signature(network.forward).parameters else {}
    out = network(**inputs, output_attentions=True, output_hidden_states=True)
    _, norms = watch_norms(network, inputs)
    told: set[int] = set()
    for stream, states in states_of(out, shape).items():
        own = [ran for ran in norms if shape != "encoder-decoder" or in_decoder(ran.name) == (stream == "decoder")]
        given = [states[0], *(ran.input for ran in own if ran.input.ndim == 3)]
        apart = [beyond_the_first(vectors_of(vectors)[:EQUAL]) for vectors in given]
        explained = {
            number
            for number, table in enumerate(tables)
            for difference in apart
            if difference.shape == (EQUAL - 3, table.values.shape[1])
            and relative_error(difference, beyond_the_first(table.values[:EQUAL])) < 1e-5
        }
        assert bool(explained) == (np.abs(apart[0]).max() > 1e-5)
        told |= explained
    assert told == set(range(len(tables)))
    assert positions_of(parity.loaded, parity.family) == parity.family.positions
    rotary = any("Rotary" in type(module).__name__ for module in network.modules())
    rotary |= bool(re.search("apply_rotary|rotary_emb", getsource(getmodule(type(network)))))
    if positional.rotates(parity.loaded.config):
        assert rotary
    attends = {site.layer for site in parity.trace.sites}
    if not tables and len(attends) == len(next(iter(parity.states.values()))) - 1:  # nothing else mixes tokens
        maps = out["encoder_attentions" if shape == "encoder-decoder" else "attentions"]
        assert any(tells_apart(weights[0].numpy()) for weights in maps) == (parity.family.positions != NONE)


def in_decoder(name: str) -> bool:
    return "decoder" in name.split(".")


def tells_apart(weights: np.ndarray) -> bool:
    """True where the keys that a query sees do not all get the same weight, [H, Q, T]."""
    seen = np.where(weights > 0, weights, np.nan)
    return bool((np.nanmax(seen, axis=-1) > 1.001 * np.nanmin(seen, axis=-1)).any())


def beyond_the_first(vectors: Any) -> np.ndarray:
    """Vectors [T, D] of inner positions (MobileBERT looks at both neighbours), less the first of them: [T - 3, D]."""
    inner = np.asarray(vectors)[1:-1]
    return inner[1:] - inner[0]


def test_norms_stand_where_they_are_said_to(parity: Parity) -> None:
    """The residual stream tells: a pre-norm's input is what enters its layer, a post-norm's output what leaves it."""
    finals = [norm.stream for norm in parity.trace.norms if norm.placement == "final"]
    assert len(finals) == len(set(finals))  # HRM norms between runs of its layers too
    layers: dict[tuple[str, int], list[NormRecord]] = {}
    for norm in parity.trace.norms:
        if norm.layer is not None:
            layers.setdefault((norm.stream, norm.layer), []).append(norm)
    if parity.family.name in PLACED_OTHERWISE:
        placed = [", ".join(f"{norm.part} {norm.placement}" for norm in layers[key]) for key in sorted(layers)]
        assert tuple(placed) == PLACED_OTHERWISE[parity.family.name]
        return
    for (stream, layer), norms in layers.items():
        enters, leaves = parity.states[stream][layer : layer + 2]
        allowed = 1e-5 if parity.family.name in SUMMED_OTHERWISE else 0
        starts = relative_error(norms[0].input, enters) <= allowed
        ends = relative_error(norms[-1].output, leaves) < 1e-5
        config = parity.network.config
        kinds = getattr(config, "layer_types", None) or getattr(config, "layers_block_type", None)
        kind = "attention" if kinds is None else kinds[layer]
        attends = kind.startswith("hybrid") or ("attention" in kind and "linear" not in kind)
        whole = {"attention" if attends else "mixer", "ffn"}
        whole |= {"cross"} if "cross" in parity.maps and stream == "decoder" else set()
        parts = {norm.part for norm in norms}
        match norms[0].placement, norms[-1].placement:
            case "pre", "pre":
                assert (starts or (norms[0].part == "ffn" and layer == 0), ends) == (True, False)  # ModernBERT's first
            case "post", "post" if parity.family.name == "minimax":  # it norms the stream as a sublayer begins
                assert (starts, ends) == (True, False)
            case "post", "post":
                assert (starts, ends) == (False, True)
            case "pre", "output":
                assert (starts, ends) == (True, False)
                assert [norm.placement for norm in norms] == ["pre", "output"] * len(whole)
            case "output", "output":
                assert (starts, ends) == (False, False)
            case other:
                pytest.fail(f"{stream} {layer}: {other}")
        assert parts == whole or (layer == 0 and parts == {"ffn"}) or "side by side" in norms_of(parity.trace)


def test_a_trace_is_saved_and_opened(parity: Parity, tmp_path: Path) -> None:
    trace = parity.trace
    inspector.save(trace, tmp_path / "t.npz")
    again = inspector.open(tmp_path / "t.npz")
    assert (again.sites, again.encoding, again.target) == (trace.sites, trace.encoding, trace.target)
    for where, _ in parity.where():
        np.testing.assert_array_equal(again.attention(**where), trace.attention(**where))
        np.testing.assert_array_equal(again.scores(**where), trace.scores(**where))


@pytest.mark.parametrize("family", WITHOUT_SOFTMAX, ids=lambda family: family.name)
def test_layers_without_softmax_have_maps_and_the_output_is_that_of_transformers(
    family: Family, tmp_path: Path, measured: dict[str, Row]
) -> None:
    save(family, tmp_path)
    loaded = models.load(tmp_path)
    trace = record_as_given(loaded)
    ids = torch.tensor([trace.encoding.ids])
    segments = {"token_type_ids": torch.tensor([trace.encoding.segments])} if loaded.shape == "encoder" else {}
    with torch.no_grad():
        expected = reference(tmp_path)(input_ids=ids, **segments, output_hidden_states=True)
    assert_close(trace.output, expected.hidden_states[-1][0].numpy(), relative=1e-6)
    assert_close(loaded.predict(trace.hidden[None]), expected.logits, relative=1e-6)
    assert not trace.sites
    assert {site.layer for site in trace.mixer_sites} == {state.layer for state in trace.states} - {-1}
    assert exactness.check(trace, loaded).holds
    measured[family.name] = Row.mixed(family, loaded, trace)


@pytest.mark.parametrize("family", REFUSED, ids=lambda family: family.name)
def test_what_cannot_be_captured_is_refused_with_its_reason(
    family: Family, tmp_path: Path, measured: dict[str, Row]
) -> None:
    save(family, tmp_path)
    with pytest.raises(ValueError, match=r"cannot be captured: |cannot be recorded|attention") as refusal:
        models.load(tmp_path)
    reason = str(refusal.value).partition("cannot be captured: ")
    measured[family.name] = Row.refused(family, reason[2] or reason[0])


@pytest.mark.parametrize("family", NOT_RUN, ids=lambda family: family.name)
@pytest.mark.filterwarnings("ignore")
def test_what_transformers_does_not_run_still_fails(family: Family, tmp_path: Path, measured: dict[str, Row]) -> None:
    def built_and_run() -> None:
        save(family, tmp_path)
        reference(tmp_path)(input_ids=torch.arange(5)[None])

    with pytest.raises(Exception, match=re.escape(family.note)) as failure:
        built_and_run()
    said = " ".join(str(failure.value).replace("|", "/").split())
    measured[family.name] = Row(family.name, (f"{type(failure.value).__name__}: {said[:200]}",))


@pytest.mark.parametrize("name", NOT_TEXT)
def test_what_is_no_text_model_reads_something_else(name: str, measured: dict[str, Row]) -> None:
    kind = CONFIG_MAPPING[name]
    beside = {part.partition("_")[0] for part in kind.sub_configs}
    assert "audio" in beside or "speech" in beside or "encoder" in beside or "acoustic" in beside or name == "perceiver"
    measured[name] = Row(name, (NOT_TEXT[name],))


def test_every_type_of_transformers_stands_in_one_table() -> None:
    listed = {*MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, *MODEL_FOR_MASKED_LM_MAPPING_NAMES}
    listed |= {*MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES}
    named = [name for names in TABLES.values() for name in names]
    assert sorted(named) == sorted(set(named))
    assert set(named) == listed
    assert len(CAPTURED) >= 150
    assert len(REFUSED) <= 0.05 * (len(CAPTURED) + len(REFUSED))


def test_the_table_is_that_of_the_code(measured: dict[str, Row], request: pytest.FixtureRequest) -> None:
    names = [name for table in TABLES.values() for name in table]
    if request.config.getoption("--write-models-table"):
        write_table([replace(measured[name], costs=known_costs(name)) for name in names])
    written = read_rows()
    assert list(written) == names
    assert columns(written[name] for name in TABLES["Recorded"]) in PATH.read_text(encoding="utf-8")
    for name, row in measured.items():
        assert written[name].recorded() == row.recorded()
        assert all(difference <= within(name) for difference in written[name].differences)


def test_prose_counts_the_families_as_the_table_does() -> None:
    said = counts()
    assert all(said.values())  # each says it at least once
    assert {count for own in said.values() for count in own} == {f"{len(CAPTURED):,}"}
    rows, readme = read_rows(), (ROOT / "README.md").read_text(encoding="utf-8")
    assert [found[0] for found in COSTED.finditer(readme)] == [costed(rows)]
    unknown = [name for name in COUNTED if rows[name].costs.startswith("not counted")]
    assert len(unknown) <= 0.05 * len(COUNTED)
