"""A text gives the same maps alone, padded on the right and padded on the left, in encoders and decoders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import inspector
import models
from inspector import record, record_batch
from models.registry import LoadedModel
from tests.inspector.families import CAPTURED, Family, save

NAMES = ("bert", "roberta", "modernbert", "gpt2", "llama", "opt", "bloom", "gpt_neo", "mistral", "falcon", "xlnet")
TEXTS = ["the cat sat on the log because it was tired", "the dog", "it was the mat"]


@pytest.fixture(scope="module", params=[family for family in CAPTURED if family.name in NAMES], ids=lambda f: f.name)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    family: Family = request.param
    folder = tmp_path_factory.mktemp(family.name)
    save(family, folder)
    return models.load(folder)


@pytest.mark.parametrize("padding", ["right", "left"])
def test_padding_changes_nothing(loaded: LoadedModel, padding: str, tmp_path: Path) -> None:
    traces = record_batch(loaded, TEXTS, padding=padding)
    assert len({len(trace.tokens) for trace in traces}) == len(TEXTS)
    for text, trace in zip(TEXTS, traces, strict=True):
        alone = record(loaded, text)
        assert trace.sites == alone.sites
        np.testing.assert_allclose(trace.output, alone.output, rtol=0, atol=1e-5)
        for site in alone.sites:
            expected = alone.attention(layer=site.layer)
            np.testing.assert_allclose(trace.attention(layer=site.layer), expected, rtol=0, atol=1e-5)
        assert len(trace.norms) == len(alone.norms)
        for norm, expected in zip(trace.norms, alone.norms, strict=True):
            np.testing.assert_allclose(norm.input, expected.input, rtol=0, atol=1e-5)
        trace.save(tmp_path / "t.npz")
        assert inspector.open(tmp_path / "t.npz").sites == trace.sites
