"""The atlases at hand: shipped and built, each held to its model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import models
from inspector import atlas, heads, probe
from inspector.atlas import Text, library, manifest, planning
from inspector.atlas.merging import ABOUT, MERGED
from inspector.atlas.reading.standing import SAID, most_unusual
from inspector.wording.english import atlas as said
from models.registry import is_installed
from tests.closeness import assert_close


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


@pytest.mark.heavy
def test_a_number_is_unusual_among_texts_of_like_length_or_not_told(minilm: models.LoadedModel) -> None:
    shipped = atlas.open(library.SHIPPED / "minilm")
    trace = probe.record(minilm, "Yes yes yes yes yes yes yes yes yes yes.")
    measured, told = heads.measure(trace), set()
    length = {id: len(probe.record(minilm, shipped.texts[id].text).tokens) for id in shipped.sample("sep", 0)["text"]}
    like = [id for id, tokens in length.items() if 2 / 3 * len(trace.tokens) <= tokens <= 1.5 * len(trace.tokens)]
    assert 30 <= len(like) < len(length)
    for place in range(72):
        numbers, shares = measured.iloc[place].to_dict(), {}
        for name in SAID:
            sample = shipped.sample(name, place).set_index("text")["value"]
            values = sample[[id for id in like if id in sample.index]]
            for more in (True, False):
                beyond = values < numbers[name] - 1e-5 if more else values > numbers[name] + 1e-5
                shares[name, more] = beyond.mean() if len(values) >= 30 else 0.0
        found = most_unusual(shipped, place, numbers, tokens=len(trace.tokens))
        assert (found is None) == (max(shares.values()) < 0.975), place
        if found is not None:
            assert found.share == shares[found.measure.name, found.more] == max(shares.values())
            part = "any" if found.share == 1 else f"{int(found.share * 100)} %"
            end = f"{'more' if found.more else 'less'} than in {part} of {found.texts} texts of like length."
            assert said.standing(found, start="[CLS]", end="[SEP]").endswith(end)
        told.add(found is None)
    assert told == {True, False}
    assert most_unusual(shipped, 0, measured.iloc[0].to_dict(), tokens=500) is None  # no text of the sample is as long


@pytest.mark.parametrize("id", library.shipped())
def test_a_shipped_atlas_is_small_whole_and_of_its_model(shipped: Callable[[str], models.LoadedModel], id: str) -> None:
    if not is_installed(id):
        pytest.skip(f"{id} is not installed")
    folder = library.SHIPPED / id
    assert sum(path.stat().st_size for path in folder.iterdir()) <= (4_000_000 if id == "smollm2" else 2_000_000)
    found = atlas.open(folder)
    assert found.manifest.model_hash == manifest.model_hash(shipped(id))
    assert found.manifest.attribution
    assert found.mixed == ()
    needed = {*found._examples["text"], *found._pairs["text"], *found.sample("entropy", 0)["text"]}
    assert needed <= found.texts.keys()
    if found.scores is not None:
        assert {*(found.scores["relation"] + " " + found.scores["direction"])} <= {*found._examples["measure"]}


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
                assert_close(own["previous"].item(), row.value, relative=1e-5, scale=1)


KEY, OTHER = "key-" + "a" * 22, "key-" + "b" * 22


def test_an_atlas_under_a_key_is_found_with_the_key_alone(
    kept: Path, minilm: models.LoadedModel, small: atlas.Atlas
) -> None:
    put(small, kept / KEY / MERGED, corpus="private")
    put(small, kept / "of the host" / MERGED)
    assert [library.id_of(one) for one in library.of(minilm, keys=()).atlases] == ["of the host"]
    assert [library.id_of(one) for one in library.of(minilm, keys=[OTHER]).atlases] == ["of the host"]
    assert [library.id_of(one) for one in library.of(minilm, keys=[KEY]).atlases] == [KEY, "of the host"]
    assert [library.id_of(one) for one in library.of(minilm).atlases] == [KEY, "of the host"]
    assert library.folders(kept, keys=[OTHER]) == []
    assert [own.id for own in library.folders(kept, keys=[KEY])] == [KEY]
    assert [own.id for own in library.folders(kept)] == [KEY, "of the host"]
    assert [library.any_of("minilm", keys=keys) for keys in ((), [KEY], None)] == [True, True, True]
    library.remove(kept, "of the host")
    assert [library.any_of("minilm", keys=keys) for keys in ((), [KEY], None)] == [False, True, True]


def test_what_a_removal_left_is_listed_counted_once_and_removed(
    kept: Path, minilm: models.LoadedModel, small: atlas.Atlas
) -> None:
    part = kept / "mine" / "blocks" / "000003"
    part.mkdir(parents=True)
    (part / "texts.parquet").write_bytes(bytes(1000))
    (kept / "letters").mkdir()
    (kept / "letters" / "to a friend.txt").write_text("not an atlas's")
    put(small, kept / "whole" / MERGED)
    size = sum(path.stat().st_size for path in (kept / "whole").rglob("*") if path.is_file())
    assert [(own.name, own.atlas is None) for own in library.folders(kept)] == [("mine", True), ("whole", False)]
    assert library.nbytes(kept, without=kept / "whole") == 1000
    assert library.nbytes(kept, without=kept / "new") == 1000 + size
    library.remove(kept, "mine")
    library.remove(kept, "letters")
    library.remove(kept, "..")
    assert sorted(path.name for path in kept.iterdir()) == ["letters", "whole"]
    assert "not built to its end" in said.stored("mine", None)


def test_a_name_that_is_taken_gets_a_number_and_a_build_goes_on_in_its_folder(
    kept: Path, minilm: models.LoadedModel
) -> None:
    first, second = [Text("The cat sat.")], [Text("A dog ran.")]
    assert library.place(kept, minilm, first, name="my texts") == ("my texts", kept / "my texts")
    atlas.build(minilm, first, out=kept / "my texts", name="my texts")
    assert library.place(kept, minilm, first, name="my texts") == ("my texts", kept / "my texts")
    title, folder = library.place(kept, minilm, second, name="my texts")
    assert (title, folder) == ("my texts 2", kept / "my texts 2")
    planning.plan(minilm, second, folder=folder, corpus=title)  # begun, and stopped at once
    assert library.place(kept, minilm, second, name="my texts") == (title, folder)
    assert library.place(kept, minilm, [Text("Rain.")], name="my texts")[0] == "my texts 3"


def test_under_keys_names_are_told_apart_among_the_reader_s_own(kept: Path, minilm: models.LoadedModel) -> None:
    first, second = [Text("The cat sat.")], [Text("A dog ran.")]
    title, folder = library.place(kept, minilm, first, name="my texts", keys=())
    assert title == "my texts"
    assert library.is_key(folder.name)
    planning.plan(minilm, first, folder=folder, corpus=title)
    keys = [folder.name]
    assert library.place(kept, minilm, first, name="my texts", keys=keys) == (title, folder)
    assert library.place(kept, minilm, second, name="my texts", keys=keys)[0] == "my texts 2"
    stranger, other = library.place(kept, minilm, first, name="my texts", keys=())
    assert stranger == "my texts"
    assert other not in (folder, kept / "my texts")


def test_a_removal_renames_first_so_that_a_build_finds_nothing(kept: Path, minilm: models.LoadedModel) -> None:
    texts = [f"Sentence {number} of a few." for number in range(12)]
    out = kept / "mine"

    def remove_after_one_block(done: int, total: int) -> None:
        if done:
            library.remove(kept, "mine")

    with pytest.raises(ValueError, match=r"manifest|missing"):
        atlas.build(minilm, texts, out=out, name="mine", block_texts=4, on_progress=remove_after_one_block)
    assert not library.is_begun(out)
    library.remove(kept, "mine")  # what was measured since
    assert list(kept.iterdir()) == []


def test_an_error_names_no_path_of_this_machine(kept: Path, minilm: models.LoadedModel, small: atlas.Atlas) -> None:
    put(small, kept / "mine" / MERGED)
    (kept / "mine" / MERGED / ABOUT).write_text("{", encoding="utf-8")
    (problem,) = library.of(minilm).problems
    assert str(kept) not in problem
    assert "mine" in problem
    assert KEY not in library.without_path(ValueError(f"{kept / KEY} is damaged"), kept / KEY)
