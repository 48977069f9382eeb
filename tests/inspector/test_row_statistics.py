"""Statistics of a row: its scores are what the softmax was given, its entropy is torch's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import models
from inspector import Trace, record, row_statistics
from inspector.maps import Arrangement, Groups, arrange
from models import LoadedModel
from models.attention import attend_rows, row_blocks
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, save

TEXT, TARGET = "the cat sat on the log because it was", "the log sat on it"


@pytest.fixture(scope="module", params=["bert", "gpt2", "gemma2", "gpt_oss", "t5", "bloom"])
def trace(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """Learned positions, soft-capped scores, sinks, a position bias, a slope of the distance."""
    family = next(family for family in CAPTURED if family.name == request.param)
    folder: Path = tmp_path_factory.mktemp(family.name)
    save(family, folder)
    return record(models.load(folder), TEXT, target=TARGET if family.name == "t5" else None)


def test_scores_told_are_the_softmaxs_input(trace: Trace) -> None:
    for site in trace.sites:
        where = {"layer": site.layer, "head": 1, "stream": site.stream}
        told = row_statistics.of_head(trace, arrange(trace, stream=site.stream), **where)
        weights, scores = trace.attention(**where).astype(np.float64), trace.scores(**where)
        assert told is not None
        assert told.offset is not None
        assert told.keys == len(site.keys)
        seen = weights > 0
        again = np.log(weights, where=seen, out=np.zeros_like(weights)) + np.array(told.offset)[:, None]
        assert_close(again[seen], scores[seen], relative=2e-6)
        assert (scores[~seen] == -np.inf).all()


def test_entropy_is_torchs(trace: Trace) -> None:
    for site in trace.sites:
        where = {"layer": site.layer, "head": 0, "stream": site.stream}
        told = row_statistics.of_head(trace, arrange(trace, stream=site.stream), **where)
        weights = torch.tensor(trace.attention(**where), dtype=torch.float64)
        expected = torch.special.entr(weights).sum(dim=-1).numpy()
        assert_close(told.entropy, expected, relative=1e-12)


def test_rows_are_whole_where_a_part_is_shown(minilm: LoadedModel) -> None:
    trace = record(minilm, "the cat sat on a mat and wanted milk from some big river bank " * 21)
    where = {"layer": 2, "head": 3, "stream": "encoder"}
    everything = arrange(trace)
    whole = row_statistics.of_head(trace, everything, **where)
    hidden = row_statistics.of_head(trace, arrange(trace, hide_special=True), **where)
    assert hidden == replace(whole, entropy=whole.entropy[1:-1], offset=whole.offset[1:-1])
    part = [Groups(side.labels[120:140], side.members[120:140]) for side in (everything.queries, everything.keys)]
    window = row_statistics.of_head(trace, Arrangement(*part), **where)
    assert window == replace(whole, entropy=whole.entropy[120:140], offset=whole.offset[120:140])


def test_the_map_and_its_rows_numbers_come_from_one_pass(minilm: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = record(minilm, "the cat sat on a mat and wanted milk from some big river bank " * 21)
    shown, where = arrange(trace), {"layer": 2, "head": 3, "stream": "encoder"}
    expected = row_statistics.of_head(trace, shown, **where)
    rows = row_statistics.reader(trace.record_of(2, "encoder"), shown)
    computed = []

    def count(*inputs, rows, **rest):
        computed.append(rows)
        return attend_rows(*inputs, rows=rows, **rest)

    monkeypatch.setattr("inspector.trace.recompute.attend_rows", count)
    window = trace.window(**where, queries=slice(None), keys=slice(None), on_block=rows.see)
    assert rows.result() == expected
    assert computed == list(row_blocks(len(trace.tokens), len(trace.tokens)))
    np.testing.assert_array_equal(window, trace.attention(**where))


def test_nothing_is_told_of_rows_that_are_not_the_softmaxs(minilm: LoadedModel) -> None:
    trace = record(minilm, "antidisestablishmentarianism")
    where = {"layer": 0, "head": 0, "stream": "encoder"}
    assert row_statistics.of_head(trace, arrange(trace, merge_words=True), **where) is None
    assert row_statistics.of_head(trace, arrange(trace, hide_special=True, renormalise=True), **where) is None


def test_coarse_weights_tell_no_score(minilm: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = record(minilm, "the cat sat")
    bands = row_statistics.recompute.bands

    def coarse(record, **which):
        for block in bands(record, **which):
            weights = torch.tensor(block.weights).bfloat16().float().numpy()
            yield replace(block, weights=weights)

    monkeypatch.setattr(row_statistics.recompute, "bands", coarse)
    told = row_statistics.of_head(trace, arrange(trace), layer=0, head=0, stream="encoder")
    assert told.offset is None
    assert min(told.entropy) > 0
