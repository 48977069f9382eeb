"""Texts that cannot be measured: found alone, set aside with the reason, named; all else as if undisturbed."""

from __future__ import annotations

import json
from collections import Counter
from math import log2
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import models
from inspector import atlas
from inspector.atlas import block, building
from inspector.atlas.__main__ import main
from inspector.atlas.aside import Part, Search, Unit, Without
from inspector.atlas.running import UnitError, run
from inspector.atlas.tables import parquet_bytes
from inspector.wording.english import atlas as words
from tests.inspector.atlas import poison, sentences

BLOCK = 512


def ids(number: int) -> range:
    return range(BLOCK * number, BLOCK * (number + 1))


def searched(
    poisoned: set[int], *, blocks: int = 3, flaky: Counter[Unit] | None = None
) -> tuple[list[Unit], list[Unit]]:
    """Run blocks of which some texts fail, and return the units that were done, and all that were tried.

    flaky: how often units fail for no reason of their own.
    """
    search, done, tried = Search(ids), list[Unit](), list[Unit]()
    accidents = Counter(flaky)

    def measure(unit: Unit) -> int:
        tried.append(unit)
        aside = dict(unit.aside) if isinstance(unit, Without) else {}
        texts = unit.texts if isinstance(unit, Part) else ids(unit if isinstance(unit, int) else unit.block)
        accidents[unit] -= 1
        if accidents[unit] >= 0 or poisoned & (set(texts) - set(aside)):
            raise UnitError("poison")
        return len(texts)

    def tell(unit: Unit, texts: int) -> object:
        done.append(unit)
        return search.done(unit)

    run(measure, list[Unit](range(blocks)), on_done=tell, instead=search.failed)  # type: ignore[arg-type]
    return [unit for unit in done if not isinstance(unit, Part)], tried


@pytest.mark.parametrize("poisoned", [{BLOCK + 77}, {0}, {2 * BLOCK - 1}, {BLOCK + 3, BLOCK + 4, BLOCK + 300, 5}])
def test_the_texts_that_fail_are_found_and_no_others(poisoned: set[int]) -> None:
    done, tried = searched(poisoned)
    of_blocks = {id // BLOCK for id in poisoned}
    expected = [
        Without(number, tuple((id, "poison") for id in sorted(poisoned) if id in ids(number)))
        if number in of_blocks
        else number
        for number in range(3)
    ]
    assert sorted(done, key=lambda unit: unit if isinstance(unit, int) else unit.block) == expected
    assert max(Counter(tried).values()) == 2
    assert len(tried) <= 3 + len(poisoned) * (3 * log2(BLOCK) + 4), "halves, not one text after the other"


def test_a_unit_that_fails_once_is_run_again_and_nothing_is_set_aside() -> None:
    done, tried = searched(set(), flaky=Counter({1: 1}))
    assert done == [0, 1, 2]
    assert tried == [0, 1, 1, 2]


def test_a_block_that_fails_twice_by_accident_is_measured_whole() -> None:
    done, _ = searched(set(), flaky=Counter({1: 2}))
    assert done == [0, Without(1, ()), 2]


def test_where_all_texts_fail_it_is_no_fault_of_theirs() -> None:
    with pytest.raises(ValueError, match=r"18 units failed one after the other, the last one: poison"):
        searched(set(range(3 * BLOCK)))


def test_an_eighth_of_a_block_is_the_most_that_is_set_aside() -> None:
    search = Search(ids)
    for id in range(BLOCK // 8):
        search.failed(Part(0, (id,)), "poison")
    with pytest.raises(ValueError, match=r"65 of the 512 texts of block 0 cannot be measured: hardly the texts' fault"):
        search.failed(Part(0, (100,)), "poison")


def test_a_block_that_fails_although_each_text_can_be_measured_ends_the_run() -> None:
    whole = Counter({1: 9, Without(1, ()): 9})
    with pytest.raises(ValueError, match="block 1 cannot be measured, and no text of it is the reason alone: poison"):
        searched(set(), flaky=whole)


# --- atlases ----------------------------------------------------------------------------------------------------------

UNREADABLE = "\u200b"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def corpus(*poisons: str) -> list[str]:
    texts = sentences.sentences(60)[:40]
    for place, word in zip((21, 9), poisons, strict=False):
        texts[place] = f"She drank {word} and slept."
    return texts


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An atlas in one process of a corpus with a text that cannot be measured."""
    out = tmp_path_factory.mktemp("poisoned") / "atlas"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "MeasureBlock", poison.Poisoned)
        texts = corpus(poison.FAILING)
        assert atlas.build(models.load("own-encoder"), texts, out=out, block_texts=8) is not None
    return out


@pytest.mark.heavy
def test_the_bytes_are_those_of_a_corpus_without_the_text(poisoned: Path, tmp_path: Path) -> None:
    """The other corpus has a text with nothing to read in its place, so only names and texts of the plan differ."""
    loaded = models.load("own-encoder")
    texts = corpus(UNREADABLE)
    texts[21] = UNREADABLE
    assert atlas.build(loaded, texts, out=tmp_path, block_texts=8) is not None
    there, undisturbed = files(poisoned), files(tmp_path)
    numbers = [name for name in undisturbed if name.startswith(("blocks/", "merged/")) and name.endswith(".parquet")]
    words = {f"blocks/{21 // 8:06d}/{block.NUMBERS}"}
    assert len(numbers) == 5 * 4 + 5
    assert {name for name in numbers if there[name] != undisturbed[name]} == words
    one, other = (pq.read_table(block.path(folder, 21 // 8) / block.NUMBERS) for folder in (poisoned, tmp_path))
    assert parquet_bytes(one.drop_columns(["words"])) == parquet_bytes(other.drop_columns(["words"]))
    assert there.keys() == undisturbed.keys()


@pytest.mark.heavy
def test_the_atlas_names_the_text_and_not_its_block(
    poisoned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = "RuntimeError: a text that cannot be measured"
    opened = atlas.open(poisoned)
    assert opened.aside == {21: reason}
    assert (opened.counted.read, opened.counted.unread) == (39, 0)
    assert json.loads((block.path(poisoned, 2) / block.ABOUT).read_text(encoding="utf-8"))["aside"] == {"21": reason}
    assert "aside" not in json.loads((block.path(poisoned, 1) / block.ABOUT).read_text(encoding="utf-8"))
    assert f"Set aside, because measuring failed twice: text 21 ({reason})." in words.corpus(opened)
    assert main(["show", str(poisoned), "--most", "1"]) == 0
    assert f"Text 21 was set aside, because measuring it failed twice: {reason}" in capsys.readouterr().out
    assert main(["show", str(poisoned), "--most", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["atlas"]["aside"] == [{"id": 21, "reason": reason}]


@pytest.mark.heavy
def test_a_worker_that_a_text_kills_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "MeasureBlock", poison.Poisoned)
    texts = corpus(poison.DEADLY, poison.FAILING)
    made = atlas.build("own-encoder", texts, out=tmp_path / "two", block_texts=2, workers=2)
    assert made is not None
    died = "a worker died: killed from outside, or out of memory"
    assert made.aside == {9: "RuntimeError: a text that cannot be measured", 21: died}
    monkeypatch.undo()
    whole = atlas.build("own-encoder", texts, out=tmp_path / "whole", block_texts=2)
    assert whole is not None
    for number in range(20):
        one, other = (block.path(tmp_path / name, number) / block.NUMBERS for name in ("two", "whole"))
        assert (one.read_bytes() == other.read_bytes()) == (number not in (4, 10)), "no other block is touched"


@pytest.mark.parametrize("wrong", [[], {"x": "no number"}, {"3": 4}, {"9" * 30: "large"}])
def test_what_a_stranger_writes_there_is_held_to_its_kind(small: atlas.Atlas, tmp_path: Path, wrong: object) -> None:
    for path in small.folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    about = json.loads((tmp_path / "atlas.json").read_text(encoding="utf-8"))
    assert atlas.open(tmp_path).aside == {}
    (tmp_path / "atlas.json").write_text(json.dumps({**about, "aside": wrong}), encoding="utf-8")
    with pytest.raises(ValueError, match="is damaged"):
        atlas.open(tmp_path)
