"""Faults planted into a recorded trace, one layer at a time: the second run sees each that moves a number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import inspector
import models
from inspector import Trace, record
from inspector.trace import AttentionRecord, recompute
from models.attention.functions import DotProductAttention
from models.attention.masks import CausalMask, WindowMask, all_of
from models.loaded import LoadedModel

pytestmark = pytest.mark.heavy

TEXT, OTHER = "the cat sat on the log because it was tired", "a dog ran to my bed although she had slept"
TARGETS = {"translator": ("I love cats.", "We read books.")}
MODELS = ("minilm", "mini-gpt", "translator", "own-decoder?kv_heads=2&positions=rope")

Fault = Callable[[Trace, int], Trace]
"""Plants a fault at an attention, by its place in the trace."""


def recorded(name: str, *, other: bool = False) -> tuple[LoadedModel, Trace]:
    return _recorded(name, other)


@cache
def _recorded(name: str, other: bool) -> tuple[LoadedModel, Trace]:
    loaded = models.load(name)
    one, two = TARGETS.get(name, (TEXT, OTHER))
    target = {"target": "J'aime les chats." if other else "Wir lesen."} if loaded.shape == "encoder-decoder" else {}
    return loaded, record(loaded, two if other else one, **target)


def changed(trace: Trace, number: int, **fields: Any) -> Trace:
    """Replace fields of one attention; the key, too, for maps are kept by it."""
    attentions = list(trace.attentions)
    attentions[number] = replace(attentions[number], **fields)
    return replace(trace, attentions=tuple(attentions), key=f"planted in {trace.key}")


def labelled(trace: Trace, number: int, **labels: Any) -> Trace:
    return changed(trace, number, site=replace(trace.sites[number], **labels))


def exchanged(trace: Trace, number: int, *labels: str) -> Trace:
    """Exchange labels of an attention with those of the next of its stream."""
    site = trace.sites[number]
    others = [place for place, other in enumerate(trace.sites) if other.stream == site.stream and place != number]
    other = others[number % len(others)]
    first = labelled(trace, number, **{label: getattr(trace.sites[other], label) for label in labels})
    return labelled(first, other, **{label: getattr(site, label) for label in labels})


def rolled(*tensors: str, dim: int) -> Fault:
    def plant(trace: Trace, number: int) -> Trace:
        own = trace.attentions[number]
        return changed(trace, number, **{name: getattr(own, name).roll(1, dims=dim) for name in tensors})

    return plant


def times(tensor: str, factor: float, *, head: int | None = None) -> Fault:
    def plant(trace: Trace, number: int) -> Trace:
        own = getattr(trace.attentions[number], tensor).clone()
        own[slice(None) if head is None else head] *= factor
        return changed(trace, number, **{tensor: own})

    return plant


def scaled(trace: Trace, number: int) -> Trace:
    function = trace.attentions[number].function
    if isinstance(function, DotProductAttention):
        return changed(trace, number, function=replace(function, scale=function.scale * 1.1))
    arguments = {**function.arguments, "scaling": function.arguments["scaling"] * 1.1}
    return changed(trace, number, function=replace(function, arguments=arguments))


def windowed(trace: Trace, number: int) -> Trace:
    record = trace.attentions[number]
    window = WindowMask(record.key.shape[1], 3)
    return changed(trace, number, mask=all_of(record.mask, window))


def masked_otherwise(trace: Trace, number: int) -> Trace:
    """A causal mask where there is none, none where there is one."""
    record = trace.attentions[number]
    return changed(trace, number, mask=CausalMask(record.key.shape[1]) if record.mask is None else None)


def queries_as_keys(trace: Trace, number: int) -> Trace:
    record = trace.attentions[number]
    shared = record.query.shape[0] // record.key.shape[0]
    if record.query.shape[1] != record.key.shape[1]:
        return rolled("query", dim=1)(trace, number)
    return changed(trace, number, query=record.key.repeat_interleave(shared, dim=0), key=record.query[::shared])


def inputs_of_another_text(trace: Trace, number: int) -> Trace:
    """Queries, keys and values of as many tokens of another text."""
    own = trace.attentions[number]
    name = next(name for name in MODELS if _recorded(name, False)[1].model == trace.model)
    theirs = recorded(name, other=True)[1].attentions[number]
    given = {}
    for tensor in ("query", "key", "value"):
        mine, new = getattr(own, tensor).clone(), getattr(theirs, tensor)
        count = min(mine.shape[1], new.shape[1])
        mine[:, :count] = new[:, :count]
        given[tensor] = mine
    return changed(trace, number, **given)


def reversed_tokens(trace: Trace, number: int) -> Trace:
    site = trace.sites[number]
    return labelled(trace, number, queries=site.queries[::-1], keys=site.keys[::-1])


def other_names(trace: Trace, number: int) -> Trace:
    """The names of another text's tokens, of the text and of every map."""
    names = trace.encoding.tokens[1:] + trace.encoding.tokens[:1]
    sites = [
        replace(
            site,
            keys=names if site.keys == trace.encoding.tokens else site.keys,
            queries=names if site.queries == trace.encoding.tokens else site.queries,
        )
        for site in trace.sites
    ]
    attentions = tuple(replace(one, site=site) for one, site in zip(trace.attentions, sites, strict=True))
    return replace(trace, attentions=attentions, encoding=replace(trace.encoding, tokens=names))


def others_to_predict(trace: Trace, number: int) -> Trace:
    predicts = trace.sites[number].predicts
    return trace if predicts is None else labelled(trace, number, predicts=predicts[1:] + predicts[:1])


def states_exchanged(trace: Trace, number: int) -> Trace:
    states = list(trace.states)
    one, other = number % len(states), (number + 1) % len(states)
    for mine, its in ((one, trace.states[other]), (other, trace.states[one])):
        states[mine] = replace(states[mine], norm=its.norm, side=its.side, state=its.state)
    return replace(trace, states=tuple(states))


def norms_exchanged(*fields: str) -> Fault:
    def plant(trace: Trace, number: int) -> Trace:
        norms = list(trace.norms)
        one, other = number % len(norms), (number + 1) % len(norms)
        norms[one], norms[other] = (
            replace(norms[mine], **{field: getattr(norms[its], field) for field in fields})
            for mine, its in ((one, other), (other, one))
        )
        return replace(trace, norms=tuple(norms))

    return plant


IN_THE_TRACE: dict[str, Fault] = {
    "heads of the queries rolled": rolled("query", dim=0),
    "heads of queries, keys, values rolled": rolled("query", "key", "value", dim=0),
    "kv heads rolled": rolled("key", "value", dim=0),
    "queries and keys exchanged": queries_as_keys,
    "queries rolled by one": rolled("query", dim=1),
    "keys rolled by one": rolled("key", dim=1),
    "keys and values rolled together": rolled("key", "value", dim=1),
    "values rolled by one": rolled("value", dim=1),
    "dimensions of queries and keys rolled": rolled("query", "key", dim=2),
    "dimensions of the values rolled": rolled("value", dim=2),
    "scale x 1.1": scaled,
    "queries x 1.1 in one head": times("query", 1.1, head=1),
    "values x 2": times("value", 2.0),
    "values x 1.01": times("value", 1.01),
    "a window where there is none": windowed,
    "another mask": masked_otherwise,
    "another text's queries, keys, values": inputs_of_another_text,
    "layers exchanged in their labels": lambda trace, number: exchanged(trace, number, "layer"),
    "streams and layers exchanged in their labels": lambda trace, number: exchanged(trace, number, "stream", "layer"),
    "tokens reversed": reversed_tokens,
    "another text's tokens": other_names,
    "other tokens to predict": others_to_predict,
    "states of the residual stream exchanged": states_exchanged,
    "kv heads that are not": lambda trace, number: labelled(trace, number, kv_heads=1),
    "a window that is said": lambda trace, number: labelled(trace, number, window=3),
    "order of the calls": lambda trace, number: replace(trace, attentions=trace.attentions[::-1]),
    "norms exchanged in their inputs": norms_exchanged("input"),
    "norms exchanged in all but their places": norms_exchanged("input", "gamma", "beta", "truth"),
    "norms exchanged in their parameters": norms_exchanged("gamma", "beta"),
    "norms exchanged in their layers": norms_exchanged("layer"),
    "norms exchanged in their parts": norms_exchanged("part"),
    "last hidden state of another layer": lambda trace, number: replace(trace, hidden=trace.hidden.roll(1, dims=0)),
}
"""Faults in what was recorded."""


def sharpened(weights: np.ndarray) -> np.ndarray:
    raised = weights.astype(np.float64) ** 1.1
    return (raised / raised.sum(axis=-1, keepdims=True)).astype(np.float32)


IN_RECOMPUTE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "rows sharpened": sharpened,
    "heads of the maps reversed": lambda weights: weights[::-1].copy(),
    "heads of the maps rolled": lambda weights: np.roll(weights, 1, axis=0),
    "maps rolled by one query": lambda weights: np.roll(weights, 1, axis=1),
    "maps rolled by one key": lambda weights: np.roll(weights, 1, axis=2),
    "two keys exchanged in one head": lambda weights: _exchanged_in_one_head(weights),
}
"""Faults in how maps [H, Q, T] are made of what was recorded."""


def _exchanged_in_one_head(weights: np.ndarray) -> np.ndarray:
    made = weights.copy()
    made[-1][:, [0, 1]] = weights[-1][:, [1, 0]]
    return made


def maps(trace: Trace) -> dict[tuple[str, int, int], np.ndarray]:
    """All maps as they are shown, by their labels."""
    return {
        (site.stream, site.layer, site.call): np.concatenate(
            [block for _, block in trace.blocks(layer=site.layer, stream=site.stream, call=site.call)], axis=1
        )
        for site in trace.sites
    }


@pytest.mark.parametrize("name", MODELS)
def test_a_trace_as_it_was_recorded_holds(name: str) -> None:
    loaded, trace = recorded(name)
    run = inspector.hold(loaded, trace)
    assert run.holds
    assert run.fused == run.calls == len(trace.sites)
    assert 0 < run.largest < 1e-5  # another implementation, so not the same bits
    assert {one.what for one in run.differences} >= {"queries", "keys", "values", "maps", "norms", "last hidden state"}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("fault", IN_THE_TRACE)
def test_what_is_wrong_in_a_trace_is_seen(fault: str, name: str) -> None:
    loaded, trace = recorded(name)
    for number, site in enumerate(trace.sites):
        wrong = IN_THE_TRACE[fault](trace, number)
        assert _shows_the_same(trace, wrong) or not inspector.hold(loaded, wrong).holds, site.name


def _shows_the_same(one: Trace, other: Trace) -> bool:
    """True where a fault exchanges what is equal: parameters that were never trained, labels of one layer."""
    calls = list(zip(one.attentions, other.attentions, strict=True))
    norms = list(zip(one.norms, other.norms, strict=True))
    return (
        one.hidden is other.hidden
        and one.states == other.states
        and all(mine.site == its.site and _equal(mine, its, "query", "key", "value") for mine, its in calls)
        and all(mine.mask is its.mask and mine.function is its.function for mine, its in calls)
        and all((mine.layer, mine.part) == (its.layer, its.part) for mine, its in norms)
        and all(_equal(mine, its, "input", "gamma", "beta") for mine, its in norms)
    )


def _equal(one: Any, other: Any, *names: str) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("fault", IN_RECOMPUTE)
def test_what_is_wrong_in_how_maps_are_made_is_seen(fault: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded, trace = recorded(name)
    block = recompute._block
    for planted in trace.attentions:

        def wrong(record: AttentionRecord, *given: Any, planted: AttentionRecord = planted) -> Any:
            made = block(record, *given)
            return replace(made, weights=IN_RECOMPUTE[fault](made.weights)) if record is planted else made

        before = maps(trace)
        monkeypatch.setattr(recompute, "_block", wrong)
        run, after = inspector.hold(loaded, trace), maps(trace)
        monkeypatch.setattr(recompute, "_block", block)
        assert any((before[place] != after[place]).any() for place in before)
        assert not run.holds, planted.site.name
