"""The relation that a reader asks for stands first in a head's table, once, whether it beats an offset or not."""

from __future__ import annotations

import pytest

from inspector import atlas
from inspector.atlas import library
from inspector.atlas.reading.head_relations import better_than_offsets, with_asked


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
