"""Patches equal plain hooks on transformers' own networks, cell by cell; other threads see nothing of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

import models
from inspector import patching, record
from inspector.patching import Pair
from models import LoadedModel
from tests.closeness import assert_close
from tests.inspector.interventions.test_dropping import OUTPUTS, outputs
from tests.inspector.patching.by_hand import answered, given, logits_of, made, modules, seen
from tests.inspector.probe.families import CAPTURED, reference, save

FAMILIES = {family.name: family for family in CAPTURED}
CLEAN, CORRUPTED, TARGET = (
    "the cat sat on the log because it was",
    "the cat sat on the mat because it was",
    "the log sat",
)
HEADS = {
    **{name: OUTPUTS[name] for name in ("bert", "gpt2", "llama", "gemma2", "t5", "bart")},
    "gpt_neox": r"attention\.dense$",
    "switch_transformers": r"\.o$",  # hands its layers a KV cache
    "modernbert": r"attn\.Wo$",
    "deepseek_v3": r"o_proj$",
}
PARTS: dict[str, dict[str, str]] = {  # of each family the modules whose output is added to the stream
    "llama": {"attention": r"self_attn$", "ffn": r"mlp$", "stream": r"layers\.\d+$"},
    "gpt2": {"attention": r"\.attn$", "ffn": r"\.mlp$", "stream": r"h\.\d+$"},
    "bert": {"attention": r"attention\.output\.dense$", "ffn": r"\d\.output\.dense$", "stream": r"layer\.\d+$"},
    "gemma2": {
        "attention": r"post_attention_layernorm$",
        "ffn": r"post_feedforward_layernorm$",
        "stream": r"layers\.\d+$",
    },
    "gpt_neox": {"attention": r"\d\.attention$", "ffn": r"\.mlp$", "stream": r"layers\.\d+$"},
    "mixtral": {"attention": r"self_attn$", "ffn": r"\.mlp$", "stream": r"layers\.\d+$"},
}


def pair(loaded: LoadedModel) -> Pair:
    target = {"target": TARGET} if loaded.shape == "encoder-decoder" else {}
    return patching.pair(loaded, CLEAN, CORRUPTED, answer=40, against=50, position=2 if target else 7, **target)


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    saved: dict[str, Path] = {}

    def of(name: str) -> Path:
        if name not in saved:
            saved[name] = tmp_path_factory.mktemp("family") / name
            save(FAMILIES[name], saved[name])
        return saved[name]

    return of


def with_head(x: Tensor, *, of: Tensor, head: int, heads: int, tokens: slice = slice(None)) -> Tensor:
    x, width = x.clone(), x.shape[-1] // heads
    x[:, tokens, head * width : (head + 1) * width] = of[:, tokens, head * width : (head + 1) * width]
    return x


@pytest.mark.parametrize("name", HEADS)
def test_a_head_is_put_in_its_place(family: Callable[[str], Path], name: str) -> None:
    loaded = models.load(family(name))
    both = pair(loaded)
    assert both.kept_corrupted.resumes
    network = reference(family(name))
    found = outputs(network, HEADS[name])
    table = patching.patch_heads(both)
    assert len(table) == 4 * len(found)
    expected = []
    for stream, layer, head in zip(table["stream"], table["layer"], table["head"], strict=True):
        module = found["decoder" if loaded.shape == "encoder" else stream, layer]
        change = partial(with_head, of=seen(network, both.clean, module, given_to=True), head=head, heads=4)
        expected.append(answered(network, both.corrupted, both.answer, given(module, change)))
    size = logits_of(network, both.clean, both.answer.position)
    assert_close(table["value"], expected, relative=1e-5, scale=size)
    clean, corrupted = (answered(network, trace, both.answer) for trace in (both.clean, both.corrupted))
    assert np.abs(table["effect"]).max() > 0.01  # or nothing would be seen
    assert_close(table["effect"], np.array(expected) - corrupted, relative=1e-5, scale=size)
    assert_close(table["share"] * (clean - corrupted), table["effect"], relative=1e-4)


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_put_in_its_place(family: Callable[[str], Path], name: str) -> None:
    loaded = models.load(family(name))
    both = pair(loaded)
    network = reference(family(name))
    table = patching.patch_parts(both)
    assert set(table["part"]) == set(PARTS[name])
    assert len(table) == len(PARTS[name]) * 2 * len(both.clean.tokens)
    expected = []
    for layer, part, position in zip(table["layer"], table["part"], table["position"], strict=True):
        module = modules(network, PARTS[name][part])[layer]
        theirs = seen(network, both.clean, module, given_to=part == "stream")

        def put(x: Tensor, at: int = position, theirs: Tensor = theirs) -> Tensor:
            x = x.clone()
            x.view(-1, x.shape[-1])[at] = theirs.view(-1, x.shape[-1])[at]
            return x

        expected.append(
            answered(network, both.corrupted, both.answer, (given if part == "stream" else made)(module, put))
        )
    assert_close(table["value"], expected, relative=1e-5, scale=logits_of(network, both.clean, both.answer.position))
    for part in PARTS[name]:
        assert np.abs(table["effect"][table["part"] == part]).max() > 1e-3, part


@pytest.mark.parametrize("name", ["llama", "bert", "bart"])
def test_a_head_at_one_token_is_put_in_its_place(family: Callable[[str], Path], name: str) -> None:
    loaded = models.load(family(name))
    both = pair(loaded)
    network = reference(family(name))
    stream = "decoder" if name == "llama" else "encoder"
    table = patching.patch_head_tokens(both, layer=1, stream=stream, into="clean")
    module = outputs(network, HEADS[name])["encoder" if name == "bart" else "decoder", 1]
    theirs = seen(network, both.corrupted, module, given_to=True)
    expected = []
    for head, position in zip(table["head"], table["position"], strict=True):
        change = partial(with_head, of=theirs, head=head, heads=4, tokens=slice(position, position + 1))
        expected.append(answered(network, both.clean, both.answer, given(module, change)))
    assert len(table) == 4 * len(both.clean.tokens)
    assert_close(table["value"], expected, relative=1e-5, scale=logits_of(network, both.clean, both.answer.position))
    assert np.abs(table["effect"]).max() > 1e-3


@pytest.mark.parametrize("name", ["llama", "gpt2", "bert", "t5"])
def test_reuse_changes_nothing(family: Callable[[str], Path], name: str) -> None:
    """Runs that begin at their layer, behind the equal tokens, give what whole forwards give."""
    loaded = models.load(family(name))
    both, again = pair(loaded), pair(loaded)
    assert both.kept_corrupted.resumes
    assert both.kept_corrupted.start == (both.differing[0] if loaded.shape == "decoder" else 0)
    for runs in ("kept_clean", "kept_corrupted"):
        again.__dict__[runs] = replace(getattr(again, runs), resumes=False, window=None)
    size = logits_of(reference(family(name)), both.clean, both.answer.position)
    for patch in (patching.patch_heads, partial(patching.patch_parts, parts=["stream"])):
        assert_close(patch(both)["value"], patch(again)["value"], relative=1e-5, scale=size)


def test_the_whole_stream_of_the_last_layer_is_the_answer(shipped: Callable[[str], LoadedModel]) -> None:
    """All that the answer reads at its position is in the stream there: its share is 1 at the end, 0 elsewhere."""
    loaded = shipped("mini-gpt")
    both = patching.pair(loaded, "The cat sat on the mat.", "The dog sat on the mat.")
    table = patching.patch_parts(both, parts=["stream"], layers=[0, 3]).set_index(["layer", "position"])
    clean, corrupted = both.measured(both.kept_clean), both.measured(both.kept_corrupted)
    deep, first = table.loc[3]["share"], table.loc[0]["value"]
    assert abs(clean - corrupted) > 0.1  # or nothing would be seen
    assert_close(first[both.differing[0]], clean, relative=1e-5)
    assert_close(first.drop(both.differing[0]), corrupted, relative=1e-5)
    assert deep.iloc[: both.differing[0]].abs().max() == 0
    assert deep.iloc[-1] > 0.1


def test_threads_see_nothing_of_a_patch(shipped: Callable[[str], LoadedModel]) -> None:
    loaded = shipped("mini-gpt")
    both = patching.pair(loaded, "The cat sat on the mat.", "The dog sat on the mat.")
    alone = patching.patch_heads(both)
    before = record(loaded, "The cat sat on the mat.")
    with ThreadPoolExecutor(2) as pool:
        tables = [pool.submit(patching.patch_heads, both) for _ in range(6)]
        traces = [pool.submit(record, loaded, "The cat sat on the mat.") for _ in range(12)]
        for table in tables:
            np.testing.assert_array_equal(table.result()["value"], alone["value"])
        for trace in traces:
            np.testing.assert_array_equal(trace.result().output, before.output)
    np.testing.assert_array_equal(record(loaded, "The cat sat on the mat.").output, before.output)


def test_progress_is_told_and_ends_the_work(shipped: Callable[[str], LoadedModel]) -> None:
    both = patching.pair(shipped("mini-gpt"), "The cat sat.", "The dog sat.")
    told: list[tuple[int, int]] = []
    patching.patch_heads(both, layers=[1], on_progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (len(patching.patch_heads(both, layers=[1])),) * 2

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        patching.patch_parts(both, on_progress=stop)
    assert patching.estimate(both, "heads").runs == len(patching.heads(both))
    assert patching.estimate(both, "part").seconds > 0


def test_what_cannot_be_patched(shipped: Callable[[str], LoadedModel]) -> None:
    loaded = shipped("mini-gpt")
    with pytest.raises(ValueError, match=r"has \d+ tokens and the corrupted one \d+"):
        patching.pair(loaded, "The cat sat.", "The cat sat on the mat.")
    with pytest.raises(ValueError, match="the same tokens"):
        patching.pair(loaded, "The cat sat.", "The cat sat.")
    with pytest.raises(ValueError, match="no head that predicts"):
        patching.pair(shipped("minilm"), "The cat sat.", "The dog sat.")
    with pytest.raises(ValueError, match="behind position 1, whose answer it cannot reach"):
        patching.pair(loaded, "The cat sat.", "The cat ran.", position=1)
    with pytest.raises(ValueError, match="position 99 is out of range"):
        patching.pair(loaded, "The cat sat.", "The dog sat.", position=99)
    with pytest.raises(ValueError, match=re.escape("is 4 tokens here") + "|tokens here"):
        patching.pair(loaded, "The cat sat.", "The dog sat.", answer="incomprehensibilities")
    both = patching.pair(loaded, "The cat sat.", "The dog sat.")
    with pytest.raises(ValueError, match="into is 'both'"):
        patching.patch_heads(both, into="both")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="layer 9 of the decoder has no attention"):
        patching.patch_head_tokens(both, layer=9)
    with pytest.raises(ValueError, match="no cross of"):
        patching.patch_parts(both, parts=["cross"])


def test_a_model_that_does_its_attention_by_itself(family: Callable[[str], Path]) -> None:
    both = pair(models.load(family("bloom")))
    with pytest.raises(ValueError, match="does its attention by itself"):
        patching.patch_heads(both)


def test_an_answer_may_be_a_log_probability(shipped: Callable[[str], LoadedModel]) -> None:
    loaded = shipped("mini-gpt")
    both = patching.pair(loaded, "The cat sat.", "The dog sat.", answer=5, normalised=True, against=9)
    assert loaded.predict is not None
    logits = loaded.predict(both.clean.hidden[None, -1:])[0, 0].double()
    want = torch.log_softmax(logits, -1)[5] - torch.log_softmax(logits, -1)[9]
    assert_close(both.measured(both.kept_clean), float(want), relative=1e-6)
