"""Heads of two texts as a map: a deep model's layers lie beside each other, and what is told is the framed cell's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import inspector
from inspector import patching
from inspector.sections import registry
from inspector.sections.picks import Head
from inspector.sections.section import Block, Link, Map, flat
from inspector.sections.subject import Subject
from inspector.text import number
from models import LoadedModel
from tests.closeness import assert_close
from tests.models.own_models import own

TEXT, OTHER = "the cat sat on the mat", "the cat sat on the log"


def blocks(loaded: LoadedModel) -> Iterator[Block]:
    subject = Subject(inspector.record(loaded, TEXT), loaded, stream="decoder")
    return flat(registry.section("scores/two_texts").blocks(subject, corrupted=OTHER))


@pytest.fixture(scope="module")
def deep() -> LoadedModel:
    return own("decoder", layers=4, heads=2)


@pytest.fixture(scope="module")
def wide() -> LoadedModel:
    return own("decoder", layers=2, heads=4)


def shares(loaded: LoadedModel) -> tuple[np.ndarray, tuple[int, int]]:
    """Measure what each head brings, [layer, head], and which head brings most."""
    table = patching.patch_heads(patching.pair(loaded, TEXT, OTHER))
    grid = np.full((table["layer"].max() + 1, table["head"].max() + 1), np.nan)
    grid[table["layer"], table["head"]] = table["share"]
    layer, head = np.unravel_index(np.abs(grid).argmax(), grid.shape)
    return grid, (int(layer), int(head))


@pytest.mark.parametrize("lies", [True, False])
def test_the_longer_side_of_the_heads_lies_across(lies: bool, deep: LoadedModel, wide: LoadedModel) -> None:
    loaded = deep if lies else wide
    listed = list(blocks(loaded))
    grid, (layer, head) = shares(loaded)
    drawn = next(block for block in listed if isinstance(block, Map))
    (panel,) = drawn.panels
    assert panel.values.shape == (2, 4)
    assert_close(panel.values, grid.T if lies else grid, relative=1e-6)
    assert (drawn.row_title, drawn.column_title) == (("head", "layer") if lies else ("layer", "head"))
    assert panel.named == ((head, layer) if lies else (layer, head))
    assert f"layer {layer}, head {head}: {number(float(grid[layer, head]))}" in drawn.sentence
    assert drawn.chooses is not None
    chosen = drawn.chooses(1, 3)
    assert [(type(pick), value) for pick, value in chosen.items()] == [(Head, (3, 1, 0) if lies else (1, 3, 0))]
    given = {"loaded": loaded, "inspector": inspector, "trace": inspector.record(loaded, TEXT)}
    exec(drawn.code[drawn.code.index("pair =") :], given)
    assert_close(np.asarray(given["table"]), panel.values, relative=1e-6)


def test_the_head_that_is_told_leads_to_its_map(deep: LoadedModel) -> None:
    _, (layer, head) = shares(deep)
    links = [block for block in blocks(deep) if isinstance(block, Link)]
    assert [links[0].given[name] for name in ("layer", "head")] == [str(layer), str(head)]
    assert f"layer {layer}, head {head}" in links[0].label
    assert all(link.page == "" for link in links)
