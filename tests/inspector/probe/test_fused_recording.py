"""A recording in the fused kernel is SDPA of transformers, is held to the model's own attention, and says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel

import inspector
from inspector import Trace, exactness, record
from inspector.probe import hold
from inspector.wording import exactness as words
from models import LoadedModel, fetch
from tests.closeness import assert_close

TEXT = "The cat sat on the mat because it was tired. " * 14  # more rows than a block has


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return record(minilm, TEXT, fused=True)


def test_its_states_and_maps_are_those_of_transformers(minilm: LoadedModel, trace: Trace) -> None:
    inputs = minilm.tokenizer(TEXT, return_tensors="pt")
    of = {
        kernel: AutoModel.from_pretrained(
            fetch.folder("minilm"), attn_implementation=kernel, use_safetensors=True
        ).eval()
        for kernel in ("sdpa", "eager")
    }
    with torch.inference_mode():
        hidden = of["sdpa"](**inputs).last_hidden_state[0]
        maps = of["eager"](**inputs, output_attentions=True).attentions
    assert_close(trace.output, hidden.numpy(), relative=1e-6)
    for layer, map_ in enumerate(maps):
        assert_close(trace.attention(layer=layer), map_[0].numpy(), relative=1e-5)


def test_it_is_held_to_the_models_own_attention(minilm: LoadedModel, trace: Trace) -> None:
    second = hold(minilm, trace)
    assert (second.holds, second.fused) == (True, 0)
    checked = exactness.check(trace, minilm)
    assert checked.second == second
    assert checked.holds
    assert "recorded with attention in torch's fused kernel" in str(checked)
    assert words.title(checked).endswith("recorded in the fused kernel")
    assert "with other code for attention" in words.caption(checked)
    moved = replace(trace.attentions[2], query=trace.attentions[2].query * 1.001)
    assert not hold(minilm, replace(trace, attentions=(*trace.attentions[:2], moved, *trace.attentions[3:]))).holds


def test_a_recording_as_it_is_by_default_says_nothing_of_a_kernel(minilm: LoadedModel) -> None:
    trace = record(minilm, "A cat.")
    checked = exactness.check(trace, minilm)
    assert not trace.fused
    assert "recorded with attention" not in str(checked)
    assert "recorded in" not in words.title(checked)


def test_the_file_keeps_it(trace: Trace, tmp_path: Path) -> None:
    inspector.save(trace, tmp_path / "trace.npz")
    opened = inspector.open(tmp_path / "trace.npz")
    assert opened.fused
    np.testing.assert_array_equal(opened.attention(layer=3), trace.attention(layer=3))


def test_a_model_that_does_its_attention_by_itself_is_refused(minilm: LoadedModel) -> None:
    with pytest.raises(ValueError, match=r"by itself.*record without fused"):
        record(replace(minilm, backend="eager output"), "A cat.", fused=True)
