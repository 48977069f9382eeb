"""The relation that is asked for stands first in a head's table; each head's best one is as plain loops find it."""

from __future__ import annotations

import pytest

from inspector import atlas
from inspector.atlas import library
from inspector.atlas.reading.head_relations import best_of_each, better_than_offsets, of_each, with_asked
from inspector.atlas.relation_scores import MINIMUM
from inspector.atlas.relations import OFFSETS


@pytest.mark.parametrize("direction", ["governor", "dependent"])
@pytest.mark.parametrize(("layer", "head"), [(0, 0), (2, 8)])  # the second beats the offset on several relations
def test_the_relation_asked_for_is_first_and_once(direction: str, layer: int, head: int) -> None:
    shipped = atlas.open(library.SHIPPED / "minilm")
    place = 12 * layer + head
    better = better_than_offsets(shipped, place)
    assert bool(len(better)) is (layer == 2)
    table = with_asked(shipped, place, "nsubj", direction)
    pairs = list(zip(table["relation"], table["direction"], strict=True))
    assert pairs[0] == ("nsubj", direction)
    assert set(pairs[1:]) == set(zip(better["relation"], better["direction"], strict=True)) - {pairs[0]}
    assert len(pairs) == len(set(pairs))


@pytest.mark.parametrize("model", ["minilm", "mini-gpt"])
def test_the_best_relation_of_each_head_is_chosen_on_one_half_and_told_of_the_other(model: str) -> None:
    shipped = atlas.open(library.SHIPPED / model)
    counts = shipped.relations
    assert counts is not None
    best = best_of_each(shipped)
    assert list(best.index) == list(range(len(shipped.heads)))
    offsets = sorted((at for at, offset in enumerate(OFFSETS) if offset), key=lambda at: abs(OFFSETS[at]))
    for place in range(len(shipped.heads)):
        found: dict[tuple[str, str], tuple[float, float]] = {}
        for row, relation in enumerate(counts.relations):
            for way, direction in enumerate(("governor", "dependent")):
                chosen, scored = counts.totals[row, way].tolist()
                if min(chosen, scored) < MINIMUM:
                    continue
                fixed = max(offsets, key=lambda at: counts.offset_hits[row, way, 0, at])
                hits, fixed_hits = counts.hits[row, way, :, place], counts.offset_hits[row, way, :, fixed]
                gains = [(int(hits[half]) - int(fixed_hits[half])) / of for half, of in enumerate((chosen, scored))]
                found[relation, direction] = gains[0], gains[1]
        told = best.loc[place]
        assert found[told["relation"], told["direction"]][0] == pytest.approx(max(gain for gain, _ in found.values()))
        assert told["gain"] == pytest.approx(found[told["relation"], told["direction"]][1])
        assert bool(told["clear"]) is bool(told["low"] > told["baseline_high"])
        assert (told["layer"], told["head"]) == tuple(shipped.heads.loc[place, ["layer", "head"]])


def test_what_every_head_scores_on_a_relation_has_a_row_for_each() -> None:
    shipped = atlas.open(library.SHIPPED / "minilm")
    rows = of_each(shipped, "obj", "governor")
    assert list(rows.index) == list(range(72))
    assert rows.loc[24, "share"] == with_asked(shipped, 24, "obj", "governor").loc[0, "share"]
    assert of_each(shipped, "obj", "sideways").empty
    without = atlas.open(library.SHIPPED / "translator")
    assert best_of_each(without).empty
    assert of_each(without, "obj", "governor").empty
