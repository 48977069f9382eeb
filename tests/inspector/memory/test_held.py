"""The bytes that a value holds: storages, each once and whole. A cache counts the bytes that it keeps alive."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM

import inspector
import models
from inspector import record
from inspector.memory.held import held_bytes, storages
from tests.inspector.probe.families import CAPTURED, save, tokenizer

KB = 1024
FAMILIES = {family.name: family for family in CAPTURED}


@dataclass(frozen=True)
class Pair:
    one: object
    other: object = None


@dataclass(frozen=True)
class Guest:
    tensor: torch.Tensor
    lent: frozenset[int] = field(default=frozenset())


def rule_around(tensor: torch.Tensor) -> Callable[[int], torch.Tensor]:
    def rule(row: int) -> torch.Tensor:
        return tensor[row]

    return rule


def test_a_storage_counts_once_and_whole() -> None:
    batch = torch.zeros(8, KB)  # 32 KB
    view = batch[3:4, :10]
    assert storages(view) == {batch.data_ptr(): 32 * KB}
    assert storages([view, Pair(view, {"again": batch.T}), rule_around(batch)]) == storages(view)
    assert [*storages(view.clone()).values()] == [40]


def test_arrays_count_what_they_are_views_of() -> None:
    whole = np.zeros((8, KB), np.float32)
    assert sum(storages((whole[2], whole[5:])).values()) == 32 * KB
    tensor = torch.zeros(8, KB)
    assert storages(tensor[1].numpy().view()) == storages(tensor)
    assert storages(torch.from_numpy(whole)) == storages(whole)


def test_tables_texts_and_numbers_count_too() -> None:
    table = pd.DataFrame({"a": np.zeros(KB), "b": ["text"] * KB})
    assert held_bytes(table) == table.memory_usage(deep=True).sum()
    assert held_bytes(table.iloc[0]) == table.iloc[0].memory_usage(deep=True)
    assert held_bytes("a" * KB) == sys.getsizeof("a" * KB)
    text = "a" * KB
    assert held_bytes((text, text)) == sys.getsizeof(text) + sys.getsizeof((text, text))
    assert KB < held_bytes({"a": "b" * KB}) < KB + 500


def test_what_is_lent_is_not_counted_by_the_borrower() -> None:
    own, of_the_model = torch.zeros(KB), torch.zeros(KB)
    alone = held_bytes(Guest(own))
    assert 4 * KB < alone < 5 * KB
    lent = frozenset(storages(of_the_model))
    assert held_bytes((Guest(own), Guest(of_the_model, lent))) < held_bytes((Guest(own), Guest(of_the_model))) - 3 * KB


def test_a_trace_counts_its_text_but_not_its_models_tensors(minilm: models.LoadedModel) -> None:
    trace = record(minilm, "The cat sat on the mat because it was tired.")
    tensors = [t for record in trace.attentions for t in (record.query, record.key, record.value)]
    inputs = sum(t.nbytes for t in tensors) + trace.hidden.nbytes + sum(norm.input.nbytes for norm in trace.norms)
    learned = sum(norm.gamma.nbytes + norm.beta.nbytes for norm in trace.norms)
    assert inputs < trace.nbytes < inputs + learned
    assert {*storages([norm.gamma for norm in trace.norms])} <= trace.lent
    longer = record(minilm, "The cat sat on the mat because it was tired.", text_pair="It was")
    assert longer.nbytes > trace.nbytes


def test_an_opened_trace_owns_all_that_it_holds(minilm: models.LoadedModel, tmp_path: Path) -> None:
    trace = record(minilm, "The cat sat on the mat.")
    inspector.save(trace, tmp_path / "t.npz")
    opened = inspector.open(tmp_path / "t.npz")
    learned = sum(norm.gamma.nbytes + norm.beta.nbytes for norm in trace.norms)
    assert not opened.lent
    assert opened.nbytes >= trace.nbytes + learned


@pytest.mark.parametrize("name", ["bloom", "t5"])
def test_whatever_an_attention_keeps_is_counted(name: str, tmp_path: Path) -> None:
    save(FAMILIES[name], tmp_path)
    trace = record(models.load(tmp_path), "the cat sat on the log because it was tired")
    function = storages([record.function for record in trace.attentions])
    assert function
    assert function.items() <= storages(trace).items()
    assert trace.nbytes >= sum(function.values())


def save_long(name: str, folder: Path) -> None:
    """A model with random weights that reads 1,024 tokens."""
    sizes = {
        "bloom": {"hidden_size": 64, "n_layer": 2, "n_head": 8},
        "t5": {"d_model": 64, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 8, "decoder_start_token_id": 0},
    }
    config = AutoConfig.for_model(name, vocab_size=300, pad_token_id=0, bos_token_id=2, eos_token_id=3, **sizes[name])
    kind = AutoModelForSeq2SeqLM if name == "t5" else AutoModelForCausalLM
    kind.from_config(config).save_pretrained(folder)
    words = tokenizer()
    words.model_max_length = 1024
    words.save_pretrained(folder)


GROWS = """
import ctypes, gc, sys
from pathlib import Path
import torch
import inspector, models

def resident():
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(lines["VmRSS"].split()[0])

folder, opened = sys.argv[1], sys.argv[2:]
torch.set_num_threads(1)
loaded = models.load(folder)
target = "the cat " * 240 if loaded.shape == "encoder-decoder" else None  # else the model would write one, slowly
record = lambda n: inspector.record(loaded, "the cat " * (480 + n), target=target)
make = lambda n: inspector.open(opened[0]) if opened else record(n)
make(0)
make(1)
before, traces = resident(), []
while sum(trace.nbytes for trace in traces) < 50e6:
    traces.append(make(len(traces)))
print(sum(trace.nbytes for trace in traces) / (resident() - before))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", ["t5", "a file"])
@pytest.mark.heavy
def test_what_is_counted_is_what_the_process_grew(name: str, tmp_path: Path) -> None:
    """Some 50 MB of traces, in a process of their own: counted by us, measured by the kernel."""
    save_long(name if name == "t5" else "bloom", tmp_path)
    saved = []
    if name == "a file":
        saved = [str(tmp_path / "t.npz")]
        inspector.save(record(models.load(tmp_path), "the cat " * 480), saved[0])
    command = [sys.executable, "-c", GROWS, str(tmp_path), *saved]
    share = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert 0.9 <= share <= 1.2
