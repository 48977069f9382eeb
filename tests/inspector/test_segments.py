"""A text in segments beside its one pass, by the sidebar's own decoders, and what the page Time says of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import inspector
import models
from inspector import probe, segments
from inspector.wording.english.time import segments as words
from models.transformer.segment_memory import read_segments
from tests.closeness import assert_close

TEXT = "The cat sat on the mat because it was tired, and the dog slept beside it."


@pytest.fixture(scope="module")
def ids() -> tuple[int, ...]:
    return tuple(probe.record(models.load("mini-gpt"), TEXT).encoding.ids)


@pytest.mark.parametrize("positions", ["", "?positions=xl", "?positions=alibi", "?positions=sinusoidal"])
def test_relative_positions_agree_with_one_pass_and_a_table_does_not(positions: str, ids: tuple[int, ...]) -> None:
    loaded = models.load(f"mini-gpt{positions}")
    found = segments.read(loaded, ids, segment=5, memory=3)
    whole = loaded.run(torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.bool), torch.zeros(1, len(ids)).long())
    parts = read_segments(loaded.network, torch.tensor([ids]), segment=5, memory=3)
    assert_close(found.changed, ((parts - whole).abs().amax(dim=-1) / whole.abs().max())[0].numpy(), relative=1e-5)
    assert (found.changed[:5] < 1e-5).all()  # the first segment is what it is
    assert found.changed.max() > 0.01
    said = words.sentence(found)
    assert "Read in pieces with a memory of 3 tokens, a text changes" in said
    if found.begins_anew:
        assert (found.at_most > 0.01).any()
        assert "begin anew with each segment" in said
    else:
        assert (found.at_most < 1e-5).all()
        assert "A memory as long as the text leaves rounding (" in said
    assert words.cards(found)[0][1] == f"{found.count} of up to 5 tokens"
    whole = segments.read(loaded, ids, segment=len(ids) - 1, memory=len(ids))
    assert ("a text stays what it is" in words.sentence(whole)) != found.begins_anew


def test_maps_show_memory_and_segment_and_nothing_else(ids: tuple[int, ...]) -> None:
    found = segments.read(models.load("mini-gpt"), ids, segment=5, memory=3)
    assert [one.shape for one in found.maps] == [(6, len(ids), len(ids))] * 4
    for query in range(len(ids)):
        start = query // 5 * 5
        seen = [key for key in range(len(ids)) if max(start - 3, 0) <= key <= query]
        weights = found.maps[1][2][query]
        assert np.flatnonzero(~np.isnan(weights)).tolist() == seen
        assert_close(np.nansum(weights), 1, relative=1e-5)
    assert found.pairs == (~np.isnan(found.maps[0][0])).sum()
    layer, head = found.remembering(1)
    rows, start, first = found.place(1)
    assert (rows, start, first) == (slice(5, 10), 5, 2)
    share = found.of_memory(1, layer=layer, head=head)
    assert_close(share, float(found.maps[layer][head][5:10, 2:5].sum(axis=1).mean()), relative=1e-6)
    assert found.remembering(0) == (0, 0)
    own = (len(ids) - 1) % 5
    assert f"{own} of its own segment + (L − 1) · 5 + 3 of memory = {own} + 18 tokens" in words.reach(found)


def test_a_trace_with_relative_positions_is_kept_in_a_file_and_read_beside_others(tmp_path: Path) -> None:
    loaded = models.load("mini-gpt?positions=xl")
    alone = probe.record(loaded, "Yes.")
    inspector.save(alone, tmp_path / "xl.npz")
    opened = inspector.open(tmp_path / "xl.npz")
    padded = {side: probe.record_batch(loaded, ["Yes.", TEXT], padding=side)[0] for side in ("left", "right")}
    for layer in range(4):
        np.testing.assert_array_equal(opened.attention(layer=layer), alone.attention(layer=layer))
        for beside in padded.values():
            assert_close(beside.attention(layer=layer), alone.attention(layer=layer), relative=2e-5)


def test_what_cannot_be_read_is_a_sentence(minilm: models.LoadedModel, ids: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"reads both ways: .* choose mini-gpt"):
        segments.read(minilm, ids, segment=4, memory=4)
    with pytest.raises(ValueError, match="a text of 193 tokens; choose 1 to 192"):
        segments.read(models.load("mini-gpt"), [7] * 193, segment=4, memory=4)
    alone = segments.read(models.load("mini-gpt"), ids, segment=len(ids), memory=0)
    assert "in one segment, so there is nothing to remember" in words.sentence(alone)
