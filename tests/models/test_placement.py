"""The device and the precision of weights: words and sentences, and what a machine without an accelerator can run."""

from __future__ import annotations

import re

import pytest
import torch

import models
from models.placement import (
    Placement,
    describe_placement,
    devices,
    dtype_of,
    input_device,
    is_offloaded,
    is_on_cpu,
    is_spread,
)


def test_the_defaults_are_float32_on_the_cpu() -> None:
    assert Placement.from_environment({}) == Placement("float32", "cpu")
    loaded = models.load("own-decoder")
    assert (dtype_of(loaded.network), input_device(loaded.network)) == (torch.float32, torch.device("cpu"))
    assert loaded.placed == "float32 on cpu"


def test_a_network_on_the_cpu_alone() -> None:
    network = torch.nn.Linear(1, 1)
    assert is_on_cpu(network)
    assert not is_on_cpu(torch.nn.Linear(1, 1, device="meta"))
    for places in ({"": "cpu", "head": "disk"}, {"": 0, "head": "cpu"}):
        network.hf_device_map = places
        assert not is_on_cpu(network)


def test_the_environment_chooses() -> None:
    chosen = Placement.from_environment({"HEADLIGHT_DTYPE": " bfloat16 ", "HEADLIGHT_DEVICE": "cuda:1"})
    assert chosen == Placement("bfloat16", "cuda:1")
    with pytest.raises(ValueError, match=r"^HEADLIGHT_DTYPE is 'int8'; it can be float32, bfloat16"):
        Placement.from_environment({"HEADLIGHT_DTYPE": "int8"})
    with pytest.raises(ValueError, match=r"^HEADLIGHT_DEVICE is 'tpu'; it can be cpu, cuda"):
        Placement.from_environment({"HEADLIGHT_DEVICE": "tpu"})


@pytest.mark.parametrize("device", ["", "cuda:", "cuda:-1", "CPU", "meta", "cuda:0,1", "cuda:１", 0])
def test_other_words_are_no_device(device: str) -> None:
    with pytest.raises(ValueError, match="it can be cpu, cuda"):
        models.load("own-decoder", device=device)


@pytest.mark.parametrize("id", ["minilm", "minilm-own", "translator", "own-encoder"])
def test_a_device_that_is_not_there_is_a_sentence(id: str) -> None:
    with pytest.raises(ValueError, match=r"There is no device 'cuda:77' on this machine.*there is .*cpu\. Choose one"):
        models.load(id, device="cuda:77")


def test_the_first_accelerator_is_chosen_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert devices() == ("cpu",)
    assert Placement(device="auto").torch_device() == torch.device("cpu")
    with pytest.raises(ValueError, match=re.escape("there is cpu.")):
        Placement(device="mps").torch_device()
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert Placement(device="auto").torch_device() == torch.device("mps")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert Placement(device="auto").torch_device() == torch.device("cuda:0")
    assert Placement(device="cuda").torch_device() == torch.device("cuda:0")
    with pytest.raises(ValueError, match=re.escape("there is cuda:0, cuda:1, mps, cpu.")):
        Placement(device="cuda:2").torch_device()


def test_auto_keeps_the_stored_dtype() -> None:
    auto = Placement(dtype="auto")
    assert auto.torch_dtype(torch.bfloat16) == torch.bfloat16
    assert auto.torch_dtype(None) == torch.float32
    assert Placement(dtype="float16").torch_dtype(torch.bfloat16) == torch.float16
    with pytest.raises(ValueError, match=r"stored in torch\.int8.*choose dtype='float32'"):
        auto.torch_dtype(torch.int8)
    assert models.load("mini-bert", dtype="auto").placed == "float16 on cpu"


def test_max_memory_belongs_to_auto_and_to_transformers() -> None:
    with pytest.raises(ValueError, match="use it with device='auto'"):
        models.load("minilm", max_memory={"cpu": "1GB"})
    with pytest.raises(ValueError, match="this one is small"):
        models.load("own-decoder", device="auto", max_memory={"cpu": "1GB"})


def test_where_a_spread_network_is() -> None:
    network = torch.nn.Linear(2, 2, device="meta", dtype=torch.bfloat16)
    network.hf_device_map = {"a": 0, "b": 1, "c": "cpu", "d": "disk", "e": 0}
    assert describe_placement(network) == "bfloat16, spread over cuda:0, cuda:1, cpu and disk"
    assert input_device(network) == torch.device("cuda:0")
    assert is_spread(network)
    assert is_offloaded(network)
    network.hf_device_map = {"a": 0, "b": 1}
    assert is_spread(network)
    assert not is_offloaded(network)
    network.hf_device_map = {"": "disk"}
    assert describe_placement(network) == "bfloat16 on disk"
    assert input_device(network) == torch.device("cpu")
    assert is_offloaded(network)
