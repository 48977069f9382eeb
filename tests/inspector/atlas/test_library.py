"""The atlases at hand: shipped and built, each held to its model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest

import models
from inspector import atlas, heads, probe
from inspector.atlas import library, manifest
from inspector.atlas.merging import ABOUT, MERGED
from inspector.atlas.standing import SAID, most_unusual
from inspector.wording.english import atlas as said


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of a reader's own atlases, and nothing shipped."""
    monkeypatch.setenv(library.VARIABLE, str(tmp_path / "kept"))
    monkeypatch.setattr(library, "SHIPPED", tmp_path / "shipped")
    return tmp_path / "kept"


def put(made: atlas.Atlas, folder: Path, **changed: object) -> None:
    shutil.copytree(made.folder, folder)
    path = folder / ABOUT
    found = json.loads(path.read_text(encoding="utf-8"))
    found["manifest"] |= changed
    path.write_text(json.dumps(found), encoding="utf-8")


def test_nothing_is_there_without_an_atlas(kept: Path, minilm: models.LoadedModel) -> None:
    assert library.of(minilm) == library.Shelf(())


def test_own_and_shipped_atlases_of_the_model_are_found(
    kept: Path, minilm: models.LoadedModel, small: atlas.Atlas
) -> None:
    put(small, library.SHIPPED / "minilm")
    put(small, kept / "mine" / MERGED)
    put(small, kept / "of another model" / MERGED, model="mini-gpt")
    shelf = library.of(minilm)
    assert [one.folder for one in shelf.atlases] == [library.SHIPPED / "minilm", kept / "mine" / MERGED]
    assert shelf.problems == ()


def test_an_atlas_of_changed_weights_is_named_and_not_shown(
    kept: Path, minilm: models.LoadedModel, small: atlas.Atlas
) -> None:
    put(small, kept / "old" / MERGED, model_hash="0" * 64)
    put(small, library.SHIPPED / "minilm", model_hash="0" * 64)
    shelf = library.of(minilm)
    assert shelf.atlases == ()
    assert [problem.partition(" of ")[0] for problem in shelf.problems] == ["The shipped atlas", "The atlas old is"]


def test_a_damaged_atlas_is_named(kept: Path, minilm: models.LoadedModel, small: atlas.Atlas) -> None:
    put(small, kept / "broken" / MERGED)
    (kept / "broken" / MERGED / ABOUT).write_text("{", encoding="utf-8")
    (problem,) = library.of(minilm).problems
    assert "atlas.json is damaged" in problem


def test_the_same_weights_in_the_own_transformer_share_the_atlas(
    kept: Path, minilm_own: models.LoadedModel, small: atlas.Atlas
) -> None:
    put(small, library.SHIPPED / "minilm")
    shelf = library.of(minilm_own)
    assert (len(shelf.atlases), shelf.weights_of) == (1, "minilm")


def test_a_variant_has_none(kept: Path, minilm: models.LoadedModel, small: atlas.Atlas) -> None:
    put(small, library.SHIPPED / "minilm")
    assert library.of(replace(minilm, card=replace(minilm.card, redrawn=0.2))) == library.Shelf(())


def test_the_most_unusual_number_is_farther_out_than_all_others(minilm: models.LoadedModel, small: atlas.Atlas) -> None:
    measured = heads.measure(probe.record(minilm, "Yes yes yes yes yes yes."))
    for place in (2, 30, 71):
        numbers = measured.iloc[place].to_dict()
        found = most_unusual(small, place, numbers)
        assert found is not None
        shares = [max(small.below(name, place, numbers[name])) for name in SAID]
        assert found.share == max(share for share in shares if not isnan(share))
        sentence = said.standing(found, start="[CLS]", end="[SEP]")
        assert (
            f"{'more' if found.more else 'less'} than in {int(found.share * 100)} % of {found.texts} texts" in sentence
        )


@pytest.mark.parametrize("id", library.shipped())
def test_a_shipped_atlas_is_small_whole_and_of_its_model(shipped: Callable[[str], models.LoadedModel], id: str) -> None:
    folder = library.SHIPPED / id
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 2_000_000
    found = atlas.open(folder)
    assert found.manifest.model_hash == manifest.model_hash(shipped(id))
    assert found.manifest.attribution
    assert found.mixed == ()
    needed = {*found._examples["text"], *found._pairs["text"], *found.sample("entropy", 0)["text"]}
    assert needed <= found.texts.keys()


def test_numbers_of_a_shipped_atlas_are_measured_again(shipped: Callable[[str], models.LoadedModel]) -> None:
    """The sample's numbers, text by text, by the instrument that the page Attention uses."""
    for id in ("minilm", "mini-gpt"):
        found = atlas.open(library.SHIPPED / id)
        for place in (0, 13):
            site = found.heads.iloc[place]
            rows = found.sample("previous", place).iloc[[0, 60, 120]]
            for row in rows.itertuples():
                measured = heads.measure(probe.record(shipped(id), found.texts[row.text].text))
                own = measured[(measured["layer"] == site["layer"]) & (measured["head"] == site["head"])]
                assert own["previous"].item() == pytest.approx(row.value, abs=1e-5)
