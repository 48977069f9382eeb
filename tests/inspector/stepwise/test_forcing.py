"""One pass against step by step: in float64 on an own decoder, and against transformers' own cache."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import inspector
import models
from inspector import stepwise
from models import LoadedModel
from models.decoding import DecodedStep
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, save
from tests.models.own_models import own

TEXT = "the cat sat on the log"


def saved(name: str, folder: Path) -> LoadedModel:
    save(next(family for family in CAPTURED if family.name == name), folder / name)
    return models.load(str(folder / name))


@pytest.mark.parametrize("id", ["own-decoder", "own-encoder-decoder"])
def test_step_by_step_is_the_one_pass(id: str) -> None:
    loaded = models.load(id)
    trace = inspector.record(loaded, TEXT)
    tokens = len(trace.read_by("decoder"))
    done: list[int] = []
    found = stepwise.compare(loaded, trace, tokens=tokens, watch=done.append)
    assert done == list(range(1, 3 * tokens + 1))
    assert found.exact is not None
    assert found.exact < 1e-12
    assert 0 < found.largest < 1e-4
    assert found.agreeing == tokens
    assert found.table["token"].tolist() == list(trace.read_by("decoder").tokens)


def test_a_decoder_of_doubles_by_hand() -> None:
    """The difference that the page tells, taken from the network itself: whole beginnings against the one pass."""
    loaded = own("decoder")
    network = loaded.network.double()
    ids = torch.tensor([[3, 9, 4, 1, 5, 9]])
    with torch.inference_mode():
        at_once = network.logits(network(ids))[0]
        alone = [network.logits(network(ids[:, :read]))[0, -1] for read in range(1, 7)]
    assert_close(torch.stack(alone), at_once, relative=1e-12)
    steps: list[DecodedStep] = []
    loaded.runner.follow(ids, watch=steps.append)
    assert_close(torch.stack([step.logits for step in steps]), at_once, relative=1e-12)
    grows = [step.cache_bytes for step in steps]
    assert np.diff(grows).tolist() == [grows[0]] * 5


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_transformers_own_cache_says_the_same(name: str, tmp_path: Path) -> None:
    loaded = saved(name, tmp_path)
    trace = inspector.record(loaded, TEXT, target=TEXT if loaded.shape == "encoder-decoder" else None)
    read = torch.tensor([trace.read_by("decoder").ids])
    network, count = loaded.network, read.shape[1]
    source = {} if trace.target is None else {"input_ids": torch.tensor([trace.encoding.ids])}
    name_of = "decoder_input_ids" if source else "input_ids"
    with torch.inference_mode():
        at_once = network(**source, **{name_of: read}, use_cache=False).logits[0]
        past, stepped = None, []
        for at in range(count):  # transformers' own way to read on, without this project's runner
            out = network(**source, **{name_of: read[:, at : at + 1]}, past_key_values=past, use_cache=True)
            past = out.past_key_values
            stepped.append(out.logits[0, -1])
    for cached in (True, False):
        steps: list[DecodedStep] = []
        ids = None if trace.target is None else torch.tensor([trace.encoding.ids])
        loaded.runner.follow(read, source=ids, watch=steps.append, cached=cached)
        got = torch.stack([step.logits for step in steps])
        assert_close(got, torch.stack(stepped), relative=1e-5)
        assert bool(steps[-1].cache_bytes) == cached
    found = stepwise.compare(loaded, trace, tokens=count)
    assert found.exact is None
    assert found.size == pytest.approx(float(at_once.abs().max()), rel=1e-4)
    assert found.largest < 1e-5
    assert found.agreeing == count
    assert found.cache_bytes > 0
    if name == "t5":  # whose body and head are one module
        from torch.utils.flop_counter import FlopCounterMode

        with FlopCounterMode(display=False) as counter, torch.no_grad():
            network(**source, **{name_of: read}, use_cache=False)
        with FlopCounterMode(display=False) as encoder, torch.no_grad():
            network.get_encoder()(**source)
        assert found.flops == counter.get_total_flops() - encoder.get_total_flops()


def test_a_model_that_keeps_no_cache(tmp_path: Path) -> None:
    loaded = saved("openai-gpt", tmp_path)
    trace = inspector.record(loaded, TEXT)
    found = stepwise.compare(loaded, trace, tokens=4)
    assert found.cache_bytes == 0
    assert found.totals["cached"] == found.totals["uncached"]
    with pytest.raises(ValueError, match="cannot be watched while it writes"):
        stepwise.reads(loaded, trace, tokens=4)
    with pytest.raises(ValueError, match="cannot be seen"):
        stepwise.old_keys(loaded, trace)


def test_the_pass_costs_what_torch_counts_and_about_a_cached_run() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    loaded = models.load("own-decoder")
    trace = inspector.record(loaded, TEXT)
    ids = torch.tensor([trace.encoding.ids])
    found = stepwise.compare(loaded, trace, tokens=ids.shape[1])
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        loaded.network.logits(loaded.network(ids))
    totals = found.totals
    assert totals["pass"] == counter.get_total_flops()
    config, n = loaded.config, ids.shape[1]
    hidden_half = 4 * config.layers * config.heads * config.head_width * (n * n - n * (n + 1) // 2)
    assert totals["pass"] - totals["cached"] == hidden_half  # pairs that the causal mask hides, computed all the same
    assert totals["uncached"] > totals["pass"]


def test_what_writes_nothing_is_told() -> None:
    encoder = models.load("own-encoder")
    trace = inspector.record(encoder, TEXT)
    for call in (stepwise.compare, stepwise.reads):
        with pytest.raises(ValueError, match="own-encoder is an encoder: it reads the whole text at once"):
            call(encoder, trace, tokens=2)
    with pytest.raises(ValueError, match="an encoder reads a text at once"):
        encoder.runner.follow(torch.tensor([[1, 2]]), watch=print)
    decoder = models.load("own-decoder")
    with pytest.raises(ValueError, match="tokens is 99; the text has"):
        stepwise.compare(decoder, inspector.record(decoder, TEXT), tokens=99)
    headless = replace(decoder, runner=replace(decoder.runner, head=None))
    assert stepwise.why_not(headless) == "has no head that predicts tokens, so it writes nothing"
