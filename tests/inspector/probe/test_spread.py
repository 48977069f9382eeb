"""A model that accelerate spreads over memory and disk is recorded as the same model loaded plainly.

Without an accelerator "auto" is the CPU, and with too little memory for it, disk; that takes the same hooks as GPUs do.
"""

from __future__ import annotations

import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

import inspector
import models
from inspector import Trace, record
from inspector.exactness import check
from inspector.memory.cache import SharedModels
from models.loaded import LoadedModel
from models.output_projection import find
from tests.inspector.probe.families import CAPTURED, save

TEXT, TARGET = "the cat sat on the log because it was tired", "the log sat on it"
NAMES = ("bert", "llama", "t5", "gpt_oss", "bloom", "longformer", "led", "longt5", "pegasus_x")
FAMILIES = {family.name: family for family in CAPTURED if family.name in NAMES}


@pytest.fixture(scope="module", params=FAMILIES)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[LoadedModel, LoadedModel]:
    """Loaded plainly, and offloaded to disk."""
    folder = tmp_path_factory.mktemp(request.param)
    save(FAMILIES[request.param], folder)
    return models.load(folder), offloaded(folder)


def offloaded(folder: Path) -> LoadedModel:
    return models.load(folder, device="auto", max_memory={"cpu": 1000})


def recorded(loaded: LoadedModel) -> Trace:
    return record(loaded, TEXT, target=TARGET) if loaded.shape == "encoder-decoder" else record(loaded, TEXT)


def same(one: Trace, other: Trace) -> None:
    assert one.sites == other.sites
    assert torch.equal(one.hidden, other.hidden)
    for site in one.sites:
        where = {"layer": site.layer, "stream": site.stream}
        np.testing.assert_array_equal(one.attention(**where), other.attention(**where))
    assert [norm.name for norm in one.norms] == [norm.name for norm in other.norms]
    for own, theirs in zip(one.norms, other.norms, strict=True):
        assert (own.placement, own.kind, own.epsilon) == (theirs.placement, theirs.kind, theirs.epsilon)
        for name in ("input", "gamma", "beta", "output"):
            np.testing.assert_array_equal(getattr(own, name), getattr(theirs, name))


def test_an_offloaded_model_is_recorded_as_it_is_plainly(pair: tuple[LoadedModel, LoadedModel]) -> None:
    plain, spread = pair
    assert spread.placed == "float32 on disk"
    assert all(parameter.device.type == "meta" for parameter in spread.network.parameters())
    assert (spread.layers, spread.shape, spread.backend) == (plain.layers, plain.shape, plain.backend)
    one, other = recorded(spread), recorded(plain)
    same(one, other)
    if spread.backend == "probe":
        assert check(one, spread).holds
    assert all(parameter.device.type == "meta" for parameter in spread.network.parameters())  # and none has stayed


def test_head_projections_and_tables_are_those_of_the_plain_model(pair: tuple[LoadedModel, LoadedModel]) -> None:
    plain, spread = pair
    hidden = recorded(plain).hidden[None]
    assert (spread.predict is None) == (plain.predict is None)
    if plain.predict is not None and spread.predict is not None:
        assert torch.equal(spread.predict(hidden), plain.predict(hidden))
    if plain.backend == "probe":
        one, other = find(spread), find(plain)
        assert one.keys() == other.keys()
        for place in one:
            assert torch.equal(one[place].weight, other[place].weight)
            assert one[place].weight.device.type == "cpu"
    if plain.network.config.model_type == "bert":
        np.testing.assert_array_equal(inspector.positional.table(spread), inspector.positional.table(plain))
    if plain.write is not None:
        assert spread.generate("the cat", new_tokens=3) == plain.generate("the cat", new_tokens=3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(FAMILIES["llama"], tmp_path)
    return tmp_path


def test_ten_threads_share_an_offloaded_model(folder: Path) -> None:
    plain, spread = models.load(folder), offloaded(folder)
    texts = [" ".join(TEXT.split()[: 3 + i % 7]) for i in range(20)]
    with ThreadPoolExecutor(10) as pool:
        traces = list(pool.map(lambda text: record(spread, text), texts))
    for text, trace in zip(texts, traces, strict=True):
        same(trace, record(plain, text))


def test_auto_without_an_accelerator_is_the_cpu(folder: Path) -> None:
    loaded = models.load(folder, device="auto", dtype="bfloat16")
    if not torch.cuda.is_available() and not torch.backends.mps.is_available():
        assert loaded.placed == "bfloat16 on cpu"
    same(recorded(loaded), recorded(models.load(folder, dtype="bfloat16")))


def test_a_part_in_memory_and_a_part_on_disk(folder: Path) -> None:
    size = (folder / "model.safetensors").stat().st_size
    loaded = models.load(folder, device="auto", max_memory={"cpu": int(size * 0.9)})
    assert loaded.placed == "float32, spread over cpu and disk"
    same(recorded(loaded), recorded(models.load(folder)))
    with pytest.raises(ValueError, match="spread over cpu and disk; load it on one device"):
        models.own_implementation(loaded)


def test_what_leaves_is_freed(folder: Path) -> None:
    shared = SharedModels(10)
    network = weakref.ref(shared.get("one", lambda: offloaded(folder)).network)
    recorded(shared.get("one", lambda: pytest.fail("it is held")))
    shared.get("two", lambda: models.load("own-encoder"))
    assert network() is None
