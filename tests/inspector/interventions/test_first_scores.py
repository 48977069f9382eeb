"""The four terms of the first scores: their sum is the score, and their parts are the model's own embeddings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import models
from inspector import interventions, record
from models.loaded import LoadedModel
from tests.closeness import assert_close
from tests.inspector.probe.families import Family, save

TEXT = "The cat sat on the mat because it was tired."


@pytest.mark.parametrize("name", ["minilm", "gpt2", "bart", "opt"])
def test_four_terms_make_the_score(name: str, minilm: LoadedModel, tmp_path: Path) -> None:
    if name == "minilm":
        loaded = minilm
    else:
        save(Family(name, ""), tmp_path)
        loaded = models.load(tmp_path)
    trace = record(loaded, "the cat sat on the log")
    split = interventions.split_scores(loaded, trace)
    scores = trace.scores(layer=0, stream=split.stream).astype(np.float64)
    for head in range(split.heads):
        whole, seen = np.sum(list(split.terms(head).values()), axis=0), np.isfinite(scores[head])
        assert_close(whole[seen], scores[head][seen], relative=1e-5)
    assert np.isfinite(split.cosines).all()


def test_the_parts_are_the_models_own_embeddings(minilm: LoadedModel) -> None:
    trace = record(minilm, TEXT)
    split = interventions.split_scores(minilm, trace)
    own: Any = minilm.network.embeddings
    ids = torch.tensor(trace.encoding.ids)
    token = (own.word_embeddings.weight[ids] + own.token_type_embeddings.weight[0]).double().numpy()
    place = own.position_embeddings.weight[: len(ids)].double().numpy()
    assert_close(split.content, token, relative=1e-6)
    cosine = [a @ (a + b) / np.linalg.norm(a) / np.linalg.norm(a + b) for a, b in zip(token, place, strict=True)]
    assert_close(split.cosines, cosine, relative=1e-5)


def test_a_model_without_a_table_has_no_four_terms(tmp_path: Path) -> None:
    save(Family("llama", ""), tmp_path)
    llama = models.load(tmp_path)
    with pytest.raises(ValueError, match="no vector is added to a token"):
        interventions.split_scores(llama, record(llama, "the cat"))


def test_two_norms_of_an_embedding_leave_no_four_terms(minilm: LoadedModel) -> None:
    """The second norm takes what the first gave, which is no sum of a token and a position."""
    trace = record(minilm, "the cat sat")
    (norm,) = (norm for norm in trace.norms if norm.part == "embedding")
    for norms in ((norm, *trace.norms), (*trace.norms, replace(norm, input=norm.output))):
        with pytest.raises(ValueError, match="two norms stand before its first scores"):
            interventions.split_scores(minilm, replace(trace, norms=norms))
