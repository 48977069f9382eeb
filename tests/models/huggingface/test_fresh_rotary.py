"""RoPE that scales by a text's length: what a text gives depends on that text alone, and is transformers' own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import models
from inspector import record
from models.loaded import LoadedModel
from tests.closeness import assert_close
from tests.inspector.probe.families import Family, reference, save

Numbers = np.ndarray[Any, Any]
WORD = "the cat sat on the log "
TEXTS = ("the cat", 3 * WORD, 8 * WORD)  # within the trained length, beyond, far beyond
LONG = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "original_max_position_embeddings": 8,
    "short_factor": [1.0, 1.1, 1.2, 1.3],
    "long_factor": [2.0, 3.0, 4.0, 5.0],
}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0}
FAMILIES = [
    pytest.param(Family("llama", "", {"rope_parameters": DYNAMIC, "max_position_embeddings": 8}), id="dynamic"),
    pytest.param(Family("phi3", "", {"rope_parameters": LONG, "original_max_position_embeddings": 8}), id="longrope"),
]


@pytest.mark.parametrize("family", FAMILIES)
def test_no_text_changes_the_numbers_of_another(family: Family, tmp_path: Path) -> None:
    """Every order, and two threads at once, give the bits of a model fresh from its file, which are transformers'."""
    save(family, tmp_path)

    def loaded() -> LoadedModel:
        return replace(models.load(tmp_path), max_tokens=64)

    def read(model: LoadedModel, text: str) -> Numbers:
        trace = record(model, text)
        return np.concatenate([trace.output.ravel(), trace.attention(layer=1).ravel()])

    fresh, shared = [read(loaded(), text) for text in TEXTS], loaded()
    for number in (number for order in permutations(range(3)) for number in order):
        np.testing.assert_array_equal(read(shared, TEXTS[number]), fresh[number])
    with ThreadPoolExecutor(2) as pool:
        numbers = [0, 2, 1, 2, 1, 0] * 8
        for number, found in zip(numbers, pool.map(lambda one: read(shared, TEXTS[one]), numbers), strict=True):
            np.testing.assert_array_equal(found, fresh[number])
    for text, numbers_of_text in zip(TEXTS, fresh, strict=True):
        ids = torch.tensor([record(shared, text).encoding.ids])
        own = reference(tmp_path).base_model(ids).last_hidden_state.detach().numpy().ravel()
        assert_close(numbers_of_text[: own.size], own, relative=1e-5)
