"""Attention that is seen at the softmax of a model that bypasses the registry is computed again, large scores too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import models
from inspector import record
from models.huggingface.eager_output import RecomputedScores
from tests.closeness import assert_close
from tests.inspector.probe import families


def test_scores_in_the_hundreds_round_by_more_and_are_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ALiBi's grow with the text: here a unit in the last place of a score is up to 3e-5, and so are weights."""
    monkeypatch.setitem(families.SMALL, "max_position_embeddings", 700)
    (bloom,) = (family for family in families.CAPTURED if family.name == "bloom")
    families.save(bloom, tmp_path)
    settings = tmp_path / "tokenizer_config.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"model_max_length": 700}))
    loaded = models.load(tmp_path)
    trace = record(loaded, "the cat sat on the log " * 100)
    assert len(trace.tokens) > 500
    assert all(isinstance(call.function, RecomputedScores) for call in trace.attentions)
    assert trace.nbytes < 4 * 4 * len(trace.tokens) ** 2  # one layer's scores
    network = families.reference(tmp_path)
    ids = loaded.tokenizer(trace.text, return_tensors="pt")["input_ids"][:, : len(trace.tokens)]
    for layer, weights in enumerate(network(ids, output_attentions=True).attentions):
        assert_close(trace.attention(layer=layer), weights[0].detach(), relative=3e-5)
