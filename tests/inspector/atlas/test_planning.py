"""A corpus planned by ranges: nothing copied, nothing read twice, and never measured where it changed meanwhile."""

from __future__ import annotations

import io
import json
import os
from bisect import bisect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import models
from inspector import atlas
from inspector.atlas import block, building, corpus, manifest, planning, sources, storage
from inspector.atlas.__main__ import main
from inspector.atlas.corpus import Start
from inspector.atlas.texts import Text

TREES = Path(__file__).with_name("sentences.conllu")
LINES = [f"Sentence {number} of {number % 7} and {'some ' * (number % 11)}more." for number in range(100)]


@pytest.fixture(scope="module")
def untrained() -> models.LoadedModel:
    return models.load("own-encoder")


def write_lines(path: Path) -> Path:
    path.write_bytes("\ufeff".encode() + b"\r\n \n".join(line.encode() for line in LINES))
    return path


def write_pairs(path: Path) -> Path:
    path.write_text("\n\n".join(f"{line}\tZiel {line}" for line in LINES), encoding="utf-8")
    return path


def write_objects(path: Path) -> Path:
    rows = [{"text": line, "target": line[:5]} for line in LINES]
    path.write_text("\n".join(json.dumps(row) for row in [*rows[:50], {"text": None}, *rows[50:]]), encoding="utf-8")
    return path


def write_table(path: Path) -> Path:
    texts = [*LINES[:30], None, " ", *LINES[30:]]
    pq.write_table(pa.table({"text": texts, "target": [text and text[:3] for text in texts]}), path, row_group_size=13)
    return path


WRITERS = {".txt": write_lines, ".tsv": write_pairs, ".jsonl": write_objects, ".parquet": write_table}


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_text_read_from_its_place_is_the_text_and_all_that_follow(tmp_path: Path, kind: str) -> None:
    paths = [WRITERS[kind](tmp_path / f"a{kind}"), TREES, WRITERS[kind](tmp_path / f"b{kind}")]
    every = list(corpus.read(paths))
    assert len(every) == 230
    for number, (start, text) in enumerate(corpus.read_placed(paths)):
        assert text == every[number]
        if number % 9 == 0:
            assert list(corpus.read_on(paths, start, column="text")) == every[number:]
    if kind != ".parquet":
        (first, _), (last, _) = list(corpus.read_placed(paths))[40:161:120]
        assert list(corpus.read_on(paths, first, column="text", stop=last)) == every[40:160]


def test_a_refusal_names_the_line_of_the_file_wherever_the_reading_began(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"One.\nTwo.\nThr\xffee.\n")
    (start, _), (second, _) = [next(corpus.read_placed(path)), *[(Start(0, 5, 1), None)]]
    assert start == Start(0, 0, 0)
    with pytest.raises(ValueError, match=r"a\.txt, line 3: byte 13 of the file \(0xff\)"):
        list(corpus.read_on([path], second, column="text"))


@pytest.mark.parametrize("kind", [*WRITERS, ".conllu"])
@pytest.mark.parametrize("copy", [False, True])
def test_blocks_hold_the_texts_in_their_order(
    untrained: models.LoadedModel, tmp_path: Path, kind: str, copy: bool
) -> None:
    path = TREES if kind == ".conllu" else WRITERS[kind](tmp_path / f"a{kind}")
    out = tmp_path / "atlas"
    plan = planning.plan(untrained, [path], folder=out, corpus="x", block_texts=16, block_bytes=300, copy=copy)
    assert (out / planning.TEXTS).is_dir() == copy
    every, held = list(corpus.read(path)), []
    for number in range(len(plan.blocks)):
        texts = planning.read_texts(out, plan, number)
        assert list(texts) == list(range(plan.firsts[number], plan.firsts[number] + plan.count(number)))
        sizes = [len(text.text.encode()) + len((text.target or "").encode()) for text in texts.values()]
        assert len(sizes) <= 16
        assert sum(sizes) <= 300 or len(sizes) == 1
        held += texts.values()
    assert held == every
    assert [plan.block_of(id) for id in plan.firsts] == list(range(len(plan.blocks)))
    back = [planning.read_texts(out, plan, number) for number in reversed(range(len(plan.blocks)))]
    assert [text for texts in reversed(back) for text in texts.values()] == every


@pytest.mark.parametrize("kind", WRITERS)
def test_copied_and_ranged_plans_are_one_plan(untrained: models.LoadedModel, tmp_path: Path, kind: str) -> None:
    path = WRITERS[kind](tmp_path / f"a{kind}")
    ways = [("ranges", path), ("copied", path), ("texts", corpus.read(path))]
    plans = [
        planning.plan(untrained, texts, folder=tmp_path / name, corpus="x", block_texts=10, copy=name == "copied")
        for name, texts in (ways[:2] if kind == ".parquet" else ways)  # texts alone do not say where row groups end
    ]
    assert len({plan.key for plan in plans}) == 1


class Counted(io.BufferedReader):
    """A file that counts what is read of it."""

    def __init__(self, path: Path, counts: dict[str, int]) -> None:
        super().__init__(io.FileIO(path), 4096)
        self._name, self._counts = path.name, counts

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(-1 if size is None else size)
        self._counts[self._name] = self._counts.get(self._name, 0) + len(line)
        return line


@pytest.fixture
def read_bytes(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Bytes of lines that are read of each file of a corpus."""
    counts: dict[str, int] = {}

    def counted(path: Path, *, offset: int = 0, stop: int | None = None) -> Any:
        file = Counted(path, counts)
        file.seek(offset)
        return file

    monkeypatch.setattr(storage, "open_file", counted)
    return counts


def test_a_resume_reads_nothing_of_the_corpus(
    untrained: models.LoadedModel, tmp_path: Path, read_bytes: dict[str, int]
) -> None:
    path, out = write_lines(tmp_path / "a.txt"), tmp_path / "atlas"
    planned = planning.plan(untrained, path, folder=out, corpus="x")
    assert read_bytes == {"a.txt": path.stat().st_size}
    assert planning.plan(untrained, path, folder=out, corpus="x") == planned
    assert read_bytes == {"a.txt": path.stat().st_size}


def test_a_file_with_another_time_and_the_same_texts_is_the_same_corpus(
    untrained: models.LoadedModel, tmp_path: Path, read_bytes: dict[str, int]
) -> None:
    path, out = write_lines(tmp_path / "a.txt"), tmp_path / "atlas"
    planned = planning.plan(untrained, path, folder=out, corpus="x")
    os.utime(path, ns=(0, 0))
    for times_read in (2, 2):  # read once for its hash, then known by its new time
        assert planning.plan(untrained, path, folder=out, corpus="x") == planned
        assert read_bytes["a.txt"] == times_read * path.stat().st_size


def test_a_file_that_changed_is_named_at_the_next_build(untrained: models.LoadedModel, tmp_path: Path) -> None:
    paths = [write_lines(tmp_path / "a.txt"), write_pairs(tmp_path / "b.tsv")]
    planning.plan(untrained, paths, folder=tmp_path / "atlas", corpus="x")
    before = files(tmp_path / "atlas")
    paths[1].write_text("Other\tTexts", encoding="utf-8")
    with pytest.raises(ValueError, match=r"of another corpus: \S+b\.tsv has changed since"):
        planning.plan(untrained, paths, folder=tmp_path / "atlas", corpus="x")
    assert files(tmp_path / "atlas") == before


@pytest.mark.parametrize("kind", [".txt", ".jsonl", ".parquet"])
def test_texts_that_changed_after_the_plan_are_named_and_never_measured(
    untrained: models.LoadedModel, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = WRITERS[kind](tmp_path / f"a{kind}"), tmp_path / "atlas"
    plan = planning.plan(untrained, path, folder=out, corpus="x", block_texts=20)
    monkeypatch.setitem(globals(), "LINES", [line.replace("Sentence 50", "Sentence 5O") for line in LINES])
    about = path.stat()
    WRITERS[kind](path)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))  # the time tells nothing: the hash does
    task = block.MeasureBlock(out, untrained)
    assert task(0) == plan.count(0) > 10
    changed = bisect(plan.firsts, 50) - 1
    with pytest.raises(
        ValueError, match=rf"a\{kind} has changed since the atlas was planned: the texts of block {changed}"
    ):
        task(changed)
    path.unlink()
    with pytest.raises(ValueError, match=rf"a\{kind} has changed since the atlas was planned"):
        task(1)  # back to a block before, so that the file is opened anew
    assert sorted(one.name for one in (out / block.BLOCKS).iterdir()) == ["000000"]


@pytest.mark.heavy
def test_shards_that_take_over_a_plan_read_the_corpus_twice_at_most(
    untrained: models.LoadedModel, tmp_path: Path, read_bytes: dict[str, int]
) -> None:
    path, shards = write_lines(tmp_path / "a.txt"), 8
    common = {"block_texts": 4, "name": "x"}
    planned = ["plan", "own-encoder", str(path), "--out", str(tmp_path / "plan"), "--block-texts", "4", "--name", "x"]
    assert main(planned) == 0
    parts = [tmp_path / f"part-{number}" for number in range(1, shards + 1)]
    for number, part in enumerate(parts, start=1):
        options = {**common, "shard": (number, shards), "planned": tmp_path / "plan"}
        assert atlas.build(untrained, path, out=part, **options) is None
    assert path.stat().st_size < read_bytes["a.txt"] <= 2 * path.stat().st_size
    atlas.gather(parts, out=tmp_path / "merged")
    assert atlas.build(untrained, path, out=tmp_path / "whole", **common) is not None
    assert files(tmp_path / "merged") == files(tmp_path / "whole")


def test_row_groups_of_many_blocks_are_read_once(untrained: models.LoadedModel, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": LINES}), path)
    plan = planning.plan(untrained, path, folder=tmp_path / "atlas", corpus="x", block_texts=5)
    known = sources.read(tmp_path / "atlas")
    assert known is not None
    begun: list[Start] = []
    read_on = corpus.read_on

    def watched(paths: list[storage.Place], start: Start, *, column: str) -> Iterator[Text]:
        begun.append(start)
        return read_on(paths, start, column=column)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "read_on", watched)
        texts = [planning.read_texts(tmp_path / "atlas", plan, number) for number in (0, 1, 2, 5, 3, 4)]
    assert [text.text for of_block in texts[:4] for text in of_block.values()] == [*LINES[:15], *LINES[25:30]]
    assert begun == [known.starts[0], known.starts[3]]


@pytest.mark.parametrize(("rows", "times"), [(16, 1), (1000, 4)])
def test_shards_of_a_table_begin_with_a_row_group_where_one_is_near(
    untrained: models.LoadedModel, tmp_path: Path, rows: int, times: int
) -> None:
    """Row groups of two blocks are read by one shard each; a single one, far from every cut, by all four."""
    texts = [f"Cat {number} sat." for number in range(448)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet", row_group_size=rows)
    plan = planning.plan(untrained, tmp_path / "a.parquet", folder=tmp_path / "atlas", corpus="x", block_texts=10)
    known = sources.read(tmp_path / "atlas")
    shards = [building.of_shard(plan, (number, 4), known) for number in range(1, 5)]
    assert [block for shard in shards for block in shard] == list(range(len(plan.blocks)))
    assert max(map(len, shards)) <= 1.25 * len(plan.blocks) / 4
    read: list[int] = []
    iter_batches = pq.ParquetFile.iter_batches

    def watched(file: pq.ParquetFile, *given: Any, row_groups: list[int], **options: Any) -> Iterator[Any]:
        read.extend(row_groups)
        return iter_batches(file, *given, row_groups=row_groups, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pq.ParquetFile, "iter_batches", watched)
        for shard in shards:
            sources._open.reader = None  # each shard is a process of its own
            for block in shard:
                planning.read_texts(tmp_path / "atlas", plan, block)
    assert sorted(read) == sorted(times * list(range(-(-448 // rows))))


@pytest.mark.heavy
@pytest.mark.parametrize("keep", manifest.KEEP)
def test_what_is_kept_of_each_text_changes_no_number_of_the_atlas(
    untrained: models.LoadedModel, tmp_path: Path, keep: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, whole = write_lines(tmp_path / "a.txt"), tmp_path / "whole"
    assert atlas.build(untrained, path, out=whole, block_texts=10) is not None
    chosen = tmp_path / keep
    assert main(["build", "own-encoder", str(path), "--out", str(chosen), "--block-texts", "10", "--keep", keep]) == 0
    assert f"--keep {keep}" in capsys.readouterr().err
    merged, kept = files(whole / "merged"), files(chosen / "merged")
    same = {"statistics.parquet", "examples.parquet", "pairs.parquet"}
    same |= {"sample.parquet", "texts.parquet"} if keep != "none" else set()
    assert {name: merged[name] for name in same} == {name: kept[name] for name in same}
    opened = atlas.open(chosen)
    assert len(opened.sample("previous", 0)) == (0 if keep == "none" else 100)
    assert set(opened.examples("previous", 0)["text"]) <= opened.texts.keys()
    assert bool(list(chosen.glob("blocks/*/texts.parquet"))) == (keep != "none")


def test_another_choice_of_what_is_kept_is_another_atlas(untrained: models.LoadedModel, tmp_path: Path) -> None:
    planning.plan(untrained, TREES, folder=tmp_path, corpus="x")
    with pytest.raises(ValueError, match=r"another choice of what is kept of each text \(all, not none\)"):
        planning.plan(untrained, TREES, folder=tmp_path, corpus="x", keep="none")
    with pytest.raises(ValueError, match="keep is 'some'; choose one of none, sample, all"):
        planning.plan(untrained, TREES, folder=tmp_path / "b", corpus="x", keep="some")


def test_an_atlas_of_version_0_1_is_opened_and_not_built_on(untrained: models.LoadedModel, tmp_path: Path) -> None:
    assert atlas.build(untrained, LINES[:10], out=tmp_path, block_texts=4) is not None
    for path in (tmp_path / "manifest.json", tmp_path / "merged" / "atlas.json"):
        fields = json.loads(path.read_text(encoding="utf-8"))
        old = fields.get("manifest", fields)
        old["format"] = 1
        for name in ("keep", "block_bytes", "firsts"):
            del old[name]
        path.write_text(json.dumps(fields), encoding="utf-8")
    opened = atlas.open(tmp_path)
    assert opened.manifest.firsts == ()
    assert manifest.read(tmp_path).firsts == (0, 4, 8)
    with pytest.raises(ValueError, match=r"another format of an earlier Headlight \(1, not 2\)"):
        atlas.build(untrained, LINES[:10], out=tmp_path, block_texts=4)


def test_sources_of_a_stranger_are_held_to_their_fields(untrained: models.LoadedModel, tmp_path: Path) -> None:
    planning.plan(untrained, TREES, folder=tmp_path, corpus="x")
    path = tmp_path / sources.NAME
    fields = json.loads(path.read_text(encoding="utf-8"))
    for wrong in (
        [],
        {**fields, "more": 1},
        {**fields, "starts": [[1, 0, 0]]},
        {**fields, "starts": [[0, -1, 0]]},
        {**fields, "files": [{**fields["files"][0], "size": "1"}]},
    ):
        path.write_text(json.dumps(wrong), encoding="utf-8")
        with pytest.raises(ValueError, match=r"sources\.json is damaged"):
            sources.read(tmp_path)
