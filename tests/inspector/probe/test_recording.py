"""A recording equals transformers' own eager attention, alone, in batches and under ten threads."""

from __future__ import annotations

import copy
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoModel, BertModel

from inspector import Trace, record, record_batch
from inspector.exactness import check
from models import LoadedModel, fetch
from models.transformer.runner import OwnRunner
from tests.closeness import assert_close

WORDS = [
    *("the", "cat", "sat", "on", "a", "mat", "because", "it", "was", "tired", "and", "unbelievably"),
    *("antidisestablishmentarian", "rivers", "of", "ink", "42", ",", ";", "你好", "😀"),
]
LENGTHS = (1, 2, 3, 4, 5, 7, 10, 16, 25, 40, 64, 90, 120, 127, 128, 129, 180, 256, 257, 333, 420, 509, 510)


def text_of(tokens: int, loaded: LoadedModel, *, seed: int) -> str:
    """A text of exactly so many tokens between [CLS] and [SEP]."""
    chance, words = random.Random(seed), []
    pieces = {word: len(loaded.tokenizer.tokenize(word)) for word in WORDS}  # BERT cuts each word by itself
    while tokens > 0:
        word = chance.choice(WORDS)
        words.append(word if pieces[word] <= tokens else "cat")
        tokens -= pieces[words[-1]]
    return " ".join(words)


@pytest.fixture(scope="module")
def eager() -> BertModel:
    """transformers' own model with eager attention: nothing of ours."""
    return AutoModel.from_pretrained(fetch.folder("minilm"), attn_implementation="eager", use_safetensors=True).eval()


@pytest.fixture(scope="module")
def texts(minilm: LoadedModel) -> list[str]:
    return [text_of(length, minilm, seed=length) for length in LENGTHS]


@pytest.fixture(scope="module")
def traces(minilm: LoadedModel, texts: list[str]) -> list[Trace]:
    """Record all texts once, for the two tests that hold the recordings to another implementation."""
    return [record(minilm, text) for text in texts]


def in_float64(loaded: LoadedModel) -> LoadedModel:
    network = copy.deepcopy(loaded.network).double()
    return replace(loaded, network=network, runner=OwnRunner.of(network, loaded.tokenizer))


def test_every_map_equals_eager_output_attentions(
    minilm: LoadedModel, eager: BertModel, texts: list[str], traces: list[Trace]
) -> None:
    assert len(texts) >= 20
    for text, trace, length in zip(texts, traces, LENGTHS, strict=True):
        with torch.no_grad():
            expected = eager(**minilm.tokenizer(text, return_tensors="pt"), output_attentions=True)
        assert len(trace.tokens) == length + 2
        assert len(trace.sites) == len(expected.attentions) == 6
        for layer, weights in enumerate(expected.attentions):
            assert_close(trace.attention(layer=layer), weights[0].numpy(), relative=3e-5)
        assert_close(trace.output, expected.last_hidden_state[0].numpy(), relative=1e-5)


@pytest.mark.parametrize("padding", ["right", "left"])
def test_padded_batches_equal_eager(minilm: LoadedModel, eager: BertModel, texts: list[str], padding: str) -> None:
    chosen = [texts[i] for i in (0, 4, 9, 13, 16)]
    traces = record_batch(minilm, chosen, padding=padding)
    inputs = minilm.tokenizer(chosen, padding=True, padding_side=padding, return_tensors="pt")
    # Positions count real tokens: what stands before a text changes nothing in it.
    inputs["position_ids"] = (inputs["attention_mask"].cumsum(dim=1) - 1).clamp(min=0)
    with torch.no_grad():
        expected = eager(**inputs, output_attentions=True)
    for row, trace in enumerate(traces):
        real = inputs["attention_mask"][row].bool()
        assert len(trace.tokens) == int(real.sum())
        for layer, weights in enumerate(expected.attentions):
            alone = weights[row][:, real][:, :, real].numpy()
            assert_close(trace.attention(layer=layer), alone, relative=1e-5)
        assert_close(trace.output, expected.last_hidden_state[row, real].numpy(), relative=1e-5)


@pytest.mark.heavy
def test_own_transformer_with_the_same_weights(minilm_own: LoadedModel, texts: list[str], traces: list[Trace]) -> None:
    for text, theirs in zip(texts, traces, strict=True):
        ours = record(minilm_own, text)
        for layer in range(6):
            assert_close(ours.attention(layer=layer), theirs.attention(layer=layer), relative=4e-5)
        assert_close(ours.output, theirs.output, relative=5e-5)


def test_own_transformer_in_float64(minilm_own: LoadedModel, eager: BertModel, texts: list[str]) -> None:
    own, reference = in_float64(minilm_own), copy.deepcopy(eager).double()
    for text in (texts[3], texts[12], texts[18]):
        trace = record(own, text)
        with torch.no_grad():
            expected = reference(**own.tokenizer(text, return_tensors="pt"), output_attentions=True)
        assert_close(trace.output, expected.last_hidden_state[0].numpy(), relative=1e-10)
        for call, weights in zip(trace.attentions, expected.attentions, strict=True):
            rows = slice(0, len(trace.tokens))
            ours = call.function(call.query[None], call.key[None], call.value[None], None, rows=rows)[1]
            assert_close(ours[0].numpy(), weights[0].numpy(), relative=1e-10)


@pytest.mark.heavy
def test_ten_threads_record_what_one_records(minilm: LoadedModel) -> None:
    texts = [text_of(3 + i % 37, minilm, seed=i) for i in range(200)]
    alone = [record(minilm, text) for text in texts]
    with ThreadPoolExecutor(10) as pool:
        together = list(pool.map(lambda text: record(minilm, text), texts))
    equal = 0
    for expected, got in zip(alone, together, strict=True):
        assert got.tokens == expected.tokens
        assert [norm.name for norm in got.norms] == [norm.name for norm in expected.norms]
        equal += (
            all(
                torch.equal(getattr(a, name), getattr(b, name))
                for a, b in zip(expected.attentions, got.attentions, strict=True)
                for name in ("query", "key", "value")
            )
            and all(
                np.array_equal(a.attention(layer=layer), b.attention(layer=layer))
                for a, b in [(expected, got)]
                for layer in (0, 5)
            )
            and all(np.array_equal(a.input, b.input) for a, b in zip(expected.norms, got.norms, strict=True))
        )
    assert equal == 200


def test_hooks_go_in_once(minilm: LoadedModel) -> None:
    for _ in range(3):
        record(minilm, "a cat")
    norms = [m for m in minilm.network.modules() if isinstance(m, torch.nn.LayerNorm)]
    assert [len(norm._forward_hooks) for norm in norms] == [1] * 13


def test_nothing_is_kept_outside_a_recording(minilm: LoadedModel) -> None:
    trace = record(minilm, "a cat")
    before = len(trace.norms)
    ids = torch.tensor([trace.encoding.ids])
    with torch.no_grad():
        minilm.run(ids, torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids))
    assert len(trace.norms) == before == 13


def test_memory_is_linear_in_the_text(minilm: LoadedModel) -> None:
    short, long = (record(minilm, text_of(length, minilm, seed=1)) for length in (126, 510))
    assert long.nbytes / short.nbytes == pytest.approx(512 / 128, rel=0.01)


def test_norm_inputs_are_what_the_norms_saw(minilm: LoadedModel, eager: BertModel) -> None:
    """An ordinary hook on transformers' own model, another path than the probe's."""
    seen: list[tuple[np.ndarray, np.ndarray]] = []
    handles = [
        module.register_forward_hook(lambda m, i, o: seen.append((i[0][0].detach().numpy(), o[0].detach().numpy())))
        for module in eager.modules()
        if isinstance(module, torch.nn.LayerNorm)
    ]
    text = "The cat sat on the mat."
    with torch.no_grad():
        eager(**minilm.tokenizer(text, return_tensors="pt"))
    for handle in handles:
        handle.remove()
    trace = record(minilm, text)
    assert len(seen) == len(trace.norms) == 13
    for (before, after), norm in zip(seen, trace.norms, strict=True):
        assert_close(norm.input, before, relative=1e-5)
        assert_close(norm.output, after, relative=1e-5)


def test_norms_know_their_place(minilm: LoadedModel, minilm_own: LoadedModel) -> None:
    expected = [(None, "embedding", "embedding")]
    expected += [(layer, part, "post") for layer in range(6) for part in ("attention", "ffn")]
    for loaded in (minilm, minilm_own):
        norms = record(loaded, "a cat").norms
        assert [(norm.layer, norm.part, norm.placement) for norm in norms] == expected


def test_a_pair_of_texts_has_segments(minilm: LoadedModel, eager: BertModel) -> None:
    trace = record(minilm, "The trophy is big.", text_pair="It does not fit.")
    with torch.no_grad():
        inputs = minilm.tokenizer("The trophy is big.", "It does not fit.", return_tensors="pt")
        expected = eager(**inputs, output_attentions=True)
    assert trace.encoding.segments == tuple(inputs["token_type_ids"][0].tolist())
    assert_close(trace.attention(layer=5), expected.attentions[5][0].numpy(), relative=1e-5)


def test_the_fused_kernel_agrees_and_the_badge_holds(minilm: LoadedModel, minilm_own: LoadedModel) -> None:
    for loaded in (minilm, minilm_own):
        trace = record(loaded, "The cat sat on the mat because it was tired.")
        checked = check(trace, loaded)
        assert checked.holds, str(checked)
        assert 0 < checked.second.largest < 1e-5  # another implementation, so not the same bits


def test_the_badge_is_refused_when_something_differs(minilm: LoadedModel) -> None:
    trace = record(minilm, "The cat sat on the mat.")
    assert not check(trace, expected_layers=7).holds
    other = record(minilm, "The dog sat on the mat.")
    held = check(replace(trace, hidden=other.hidden), minilm)
    assert not held.holds
    assert held.second.worst.what == "last hidden state"
    assert held.second.worst.relative > 1e-2


def test_bad_arguments_are_sentences(minilm: LoadedModel) -> None:
    with pytest.raises(ValueError, match=r"padding is 'middle'; it can be 'right' or 'left'"):
        record_batch(minilm, ["a"], padding="middle")
    assert record_batch(minilm, []) == []
