"""Ten threads, five models, caches too small for them: every recording equals the one taken alone, bit for bit."""

from __future__ import annotations

import hashlib
import random
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertModel, GPT2Config, GPT2Model

import models
from inspector import Trace, record
from inspector.memory.cache import ByteBudgetCache
from models import LoadedModel, fetch

TEXTS = ("The cat sat.", "Was the big river bank full of ink?", "word " * 140, "我 a 😀")
RECORDINGS = 100


@pytest.fixture(scope="module")
def ids(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Three models of the catalogue, two of transformers in folders; all tiny."""
    tokenizer = AutoTokenizer.from_pretrained(fetch.folder("minilm"))
    torch.manual_seed(0)
    sizes = {"vocab_size": len(tokenizer)}
    bert = BertConfig(**sizes, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)
    gpt = GPT2Config(**sizes, n_embd=16, n_layer=2, n_head=2, n_positions=256)
    folders = []
    for network in (BertModel(bert), GPT2Model(gpt)):
        folder = tmp_path_factory.mktemp(type(network).__name__)
        network.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        folders.append(str(folder))
    return ["own-encoder", "own-decoder", "own-encoder-decoder", *folders]


def digest(trace: Trace) -> str:
    """Hash all numbers of a recording: what was kept, and maps, windows and pictures made from it."""
    site = trace.sites[-1]
    which = {"layer": site.layer, "stream": site.stream}
    arrays = [trace.output, *(norm.input for norm in trace.norms), trace.attention(**which)]
    arrays += [trace.window(**which, head=0, queries=slice(1, 3), keys=slice(0, 2)), trace.pooled(**which, side=3)]
    tensors = [tensor for call in trace.attentions for tensor in (call.query, call.key, call.value)]
    both = [*(array.tobytes() for array in arrays), *(tensor.numpy().tobytes() for tensor in tensors)]
    return hashlib.sha256(b"".join(both)).hexdigest()


def recorded(loaded: LoadedModel, text: str) -> Trace:
    return record(loaded, text, target="a cat" if loaded.shape == "encoder-decoder" else None)


def size_of(loaded: LoadedModel) -> int:
    return sum(parameter.nbytes for parameter in loaded.network.parameters())


@pytest.mark.heavy
def test_every_recording_equals_the_one_taken_alone(ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    alone = {}
    sizes = []
    for id in ids:
        loaded = models.load(id)
        sizes.append(size_of(loaded))
        alone |= {(id, text): digest(recorded(loaded, text)) for text in TEXTS}
    assert len(set(alone.values())) == len(alone)

    monkeypatch.setattr("inspector.trace.trace._maps", ByteBudgetCache(200_000))
    shared: ByteBudgetCache[LoadedModel] = ByteBudgetCache(max(sizes) + min(sizes))
    traces: ByteBudgetCache[Trace] = ByteBudgetCache(2_000_000)
    made: list[str] = []

    def load(id: str) -> LoadedModel:
        made.append(id)
        return models.load(id)

    def work(number: int) -> tuple[tuple[str, str], str]:
        chance = random.Random(number)
        id, text = chance.choice(ids), chance.choice(TEXTS)

        def take() -> Trace:
            return recorded(shared.get(id, lambda: load(id), size=size_of), text)

        found = digest(traces.get((id, text), take, size=lambda trace: trace.nbytes))
        assert shared.used <= shared.budget
        assert traces.used <= traces.budget
        return (id, text), found

    with ThreadPoolExecutor(10) as pool:
        for case, found in pool.map(work, range(RECORDINGS)):
            assert found == alone[case], case
    assert len(made) > len(ids), "no model was evicted, so the caches were not put to the test"
