"""A recording tells how far it is, and what is raised there ends it and leaves nothing behind."""

from __future__ import annotations

import math
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from inspector import exactness, heads, overview, record, record_routing
from inspector.memory.cache import ByteBudgetCache
from inspector.probe import hold
from inspector.trace import Trace
from models import LoadedModel, load
from models.attention.seam import BLOCK
from tests.closeness import assert_close
from tests.inspector.probe.hybrids import loaded_family

TEXT = "The cat sat on the mat because it was tired."
LONGER = "The cat sat on the mat because it was tired. " * 30  # several blocks of queries


class PressedError(Exception):
    """The reader pressed Stop."""


def test_every_attention_call_is_counted_and_their_parts_in_order(minilm: LoadedModel) -> None:
    seen: list[tuple[float, int]] = []
    trace = record(minilm, LONGER, on_progress=lambda done, layers: seen.append((done, layers)))
    blocks = math.ceil(len(trace.tokens) / BLOCK)
    assert blocks > 1
    assert len(seen) == 6 * (1 + blocks)  # as a call begins, and after each of its blocks
    assert seen == sorted(seen)
    assert {layers for _, layers in seen} == {6}
    assert [done for done, _ in seen if done == int(done)] == sorted([*range(6), *range(1, 7)])


@pytest.mark.parametrize("model", ["translator", "mini-bert"])
def test_the_last_call_is_the_one_that_was_announced(model: str) -> None:
    begun: set[float] = set()
    totals: set[int] = set()
    trace = record(load(model), TEXT, on_progress=lambda done, layers: (begun.add(done), totals.add(layers)))
    assert totals == {len(trace.sites)}
    assert begun >= set(range(len(trace.sites)))


def test_the_second_run_tells_too(minilm: LoadedModel) -> None:
    seen: list[float] = []
    trace = record(minilm, TEXT)
    held = hold(minilm, trace, on_progress=lambda done, _: seen.append(done))
    assert seen == list(range(6))
    assert held == hold(minilm, trace)


@pytest.mark.parametrize("at", [0, 2.5, 5])
def test_what_is_raised_ends_the_recording_and_the_next_one_is_intact(minilm: LoadedModel, at: float) -> None:
    before = record(minilm, LONGER)

    def press(done: float, _: int) -> None:
        if done >= at:
            raise PressedError

    with pytest.raises(PressedError):
        record(minilm, LONGER, on_progress=press)
    after = record(minilm, LONGER)
    assert [site.layer for site in after.sites] == list(range(6))
    assert len(after.norms) == len(before.norms)
    np.testing.assert_array_equal(after.output, before.output)
    np.testing.assert_array_equal(after.attention(layer=5, head=3), before.attention(layer=5, head=3))


def test_one_look_gives_what_the_single_ones_give(minilm: LoadedModel) -> None:
    trace, seen = record(minilm, LONGER), []
    look = overview.measure(trace, sides={"encoder": 20}, on_progress=lambda done, layers: seen.append((done, layers)))
    pd.testing.assert_frame_equal(look.measures.drop(columns="label"), heads.measure(trace), check_exact=True)
    maps = np.stack([trace.attention(layer=layer) for layer in range(6)])
    tall = math.ceil(len(trace.tokens) / 20)
    first = maps[:, :, :tall, :tall].max(axis=(2, 3))
    np.testing.assert_array_equal(look.pictures["encoder"][:, :, 0, 0], first)
    checked = look.checks.result(expected_layers=6)
    assert checked == exactness.check(trace, expected_layers=6)
    assert_close(checked.row_sum_error, np.abs(maps.sum(axis=-1, dtype=np.float64) - 1).max(), relative=1e-12)
    assert seen[-1] == (6, 6)
    assert seen == sorted(seen)


def test_a_look_can_be_ended(minilm: LoadedModel) -> None:
    def press(done: float, _: int) -> None:
        if done > 3:
            raise PressedError

    with pytest.raises(PressedError):
        overview.measure(record(minilm, TEXT), sides={"encoder": 96}, on_progress=press)


def test_a_stopped_recording_leaves_the_other_visitor_s_alone(minilm: LoadedModel) -> None:
    """Both ask for the same text at once: one stops within it, the other gets it, and so does who comes later."""
    cache: ByteBudgetCache[Trace] = ByteBudgetCache(10**9)
    inside, stopped, kept = threading.Event(), threading.Event(), []

    def press(done: float, _: int) -> None:
        inside.set()
        if done > 2:
            raise PressedError

    def wait(done: float, _: int) -> None:
        if done == 3:
            assert stopped.wait(timeout=60)

    def ask(on_progress: object) -> Trace:
        return cache.get("text", lambda: record(minilm, TEXT, on_progress=on_progress), size=lambda t: t.nbytes)

    other = threading.Thread(target=lambda: kept.append(ask(wait)))
    other.start()
    with pytest.raises(PressedError):
        ask(press)
    assert inside.is_set()
    stopped.set()
    other.join(timeout=60)
    assert ask(press) is kept[0]
    np.testing.assert_array_equal(kept[0].output, record(minilm, TEXT).output)


@pytest.mark.heavy
def test_experts_tell_how_far_they_are_and_a_stop_leaves_nothing_behind(tmp_path: Path) -> None:
    loaded = loaded_family("mixtral", tmp_path)
    trace = record(loaded, TEXT)
    seen: list[tuple[float, int]] = []
    routing = record_routing(loaded, trace, on_progress=lambda done, mixtures: seen.append((done, mixtures)))
    used = [len(set(router.chosen.ravel().tolist())) for router in routing.layers]
    assert seen == [(at + (n + 1) / of, len(used)) for at, of in enumerate(used) for n in range(of)]

    def press(done: float, mixtures: int) -> None:
        if done > 1:
            raise PressedError

    with pytest.raises(PressedError):
        record_routing(loaded, trace, on_progress=press)
    again = record_routing(loaded, trace)
    for before, after in zip(routing.layers, again.layers, strict=True):
        np.testing.assert_array_equal(before.weights, after.weights)
    np.testing.assert_array_equal(record(loaded, TEXT).output, trace.output)
