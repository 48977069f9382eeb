"""An atlas in an object store that is slow and fails now and then: the bytes of an atlas on a disk."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import models
from inspector import atlas
from inspector.atlas import block, merging, sources, storage
from inspector.atlas import corpus as corpora
from inspector.atlas.__main__ import main
from inspector.atlas.storage import ObjectPath
from tests.inspector.atlas import object_store, sentences
from tests.inspector.atlas.object_store import BUCKET, Unsteady

pytestmark = pytest.mark.heavy

NAMES = {"name": "x", "block_texts": 4}
SHARE = 0.01


@pytest.fixture
def store() -> Iterator[Unsteady]:
    with object_store.served(latency=0.002, seed=46) as application:
        yield application


@pytest.fixture(scope="module")
def untrained() -> models.LoadedModel:
    return models.load("own-encoder")


@pytest.fixture
def corpus(store: Unsteady, tmp_path: Path) -> list[ObjectPath]:
    """Twenty-four texts in two files, on the disk and in the store."""
    every, placed = sentences.sentences(24), []
    (tmp_path / "a.txt").write_text("\n".join(every[:10]), encoding="utf-8")
    (tmp_path / "b.txt").write_text("\n".join(every[10:]), encoding="utf-8")
    for path in (tmp_path / "a.txt", tmp_path / "b.txt"):
        there = storage.place(f"s3://{BUCKET}/corpus/{path.name}")
        assert isinstance(there, ObjectPath)
        storage.write(there, path.read_bytes())
        placed.append(there)
    return placed


def files(folder: storage.Place) -> dict[str, bytes]:
    """Bytes of all files of an atlas, but for where its texts lie."""
    if isinstance(folder, Path):
        paths = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
        found: dict[str, bytes] = {name: path.read_bytes() for name, path in paths.items()}
    else:
        every = storage._listed(folder, recursive=True)
        keys = [info.path for info in every if info.is_file]
        found = {key.removeprefix(f"{folder.key}/"): storage.read(ObjectPath(key), most=2**30) for key in keys}
    return {name: content for name, content in found.items() if name != sources.NAME}


def test_calls_that_fail_change_no_byte(
    store: Unsteady, corpus: list[ObjectPath], untrained: models.LoadedModel, tmp_path: Path
) -> None:
    assert atlas.build(untrained, [tmp_path / "a.txt", tmp_path / "b.txt"], out=tmp_path / "atlas", **NAMES) is not None
    out = storage.place(f"s3://{BUCKET}/some/atlas")
    store.share = SHARE
    made = atlas.build(untrained, corpus, out=out, **NAMES)
    store.share = 0.0
    assert store.refused > 0
    assert files(out) == files(tmp_path / "atlas")
    assert made is not None
    assert made.table().equals(atlas.open(tmp_path / "atlas").table())


def test_without_retries_a_build_names_the_object_and_the_next_goes_on(
    store: Unsteady, corpus: list[ObjectPath], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        atlas.build("own-encoder", [tmp_path / "a.txt", tmp_path / "b.txt"], out=tmp_path / "atlas", **NAMES)
        is not None
    )
    folder = f"s3://{BUCKET}/atlas"
    command = ["build", "own-encoder", *map(str, corpus), "--out", folder, "--block-texts", "4", "--name", "x"]
    store.share, done, said = SHARE, [], []
    while (code := main([*command, "--retries", "0"])) != 0:
        assert code == 1
        said.append(capsys.readouterr().err.splitlines()[-1])
        store.share = 0.0
        done.append(storage.whole(storage.place(folder) / block.BLOCKS, last=block.ABOUT))
        store.share = SHARE
        assert len(said) < 50
    store.share = 0.0
    assert said
    for sentence in said:
        assert f"s3://{BUCKET}/" in sentence
        assert "what is done is kept: run the same again" in sentence
        assert "\n" not in sentence
    assert all(before <= after for before, after in pairwise(done))
    assert files(storage.place(folder)) == files(tmp_path / "atlas")


def test_a_block_counts_as_done_when_its_last_file_is_there(
    store: Unsteady, corpus: list[ObjectPath], untrained: models.LoadedModel
) -> None:
    out = storage.place(f"s3://{BUCKET}/atlas")
    assert atlas.build(untrained, corpus, out=out, **NAMES) is not None
    whole = files(out)
    storage.remove(block.path(out, 3) / block.ABOUT)
    # Ten texts and fourteen, four a block: a file begins a block.
    with pytest.raises(ValueError, match="block 3 of 7 is not measured yet"):
        merging.merge(out)
    assert atlas.build(untrained, corpus, out=out, **NAMES) is not None
    assert files(out) == whole


def test_shards_read_the_corpus_twice_at_most_as_the_store_counts(
    store: Unsteady,
    corpus: list[ObjectPath],
    untrained: models.LoadedModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(storage, "_BUFFER_BYTES", 256)  # what is read ahead is small beside this small corpus
    size = len(storage.read(corpus[0], most=2**20)) + len(storage.read(corpus[1], most=2**20))
    store.sent.clear()
    command = ["plan", "own-encoder", *map(str, corpus), "--out", str(tmp_path / "plan"), "--block-texts", "4"]
    assert main([*command, "--name", "x"]) == 0
    parts = [tmp_path / f"part-{number}" for number in range(1, 9)]
    for number, part in enumerate(parts, start=1):
        atlas.build(untrained, corpus, out=part, planned=tmp_path / "plan", shard=(number, 8), **NAMES)
    sent = sum(count for name, count in store.sent.items() if "/corpus/" in name)
    assert size < sent <= 2 * size + 8 * 256
    atlas.gather(parts, out=f"s3://{BUCKET}/merged")
    assert atlas.build(untrained, [tmp_path / "a.txt", tmp_path / "b.txt"], out=tmp_path / "atlas", **NAMES) is not None
    assert files(storage.place(f"s3://{BUCKET}/merged")) == files(tmp_path / "atlas")


@pytest.mark.parametrize("name", ["s3://", "s3://bucket//key", "s3://bucket/../other"])
def test_a_name_that_is_no_object_s_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="names no object; write s3://bucket/folder"):
        storage.place(name)


def test_a_file_that_is_not_in_the_store_is_named(store: Unsteady) -> None:
    with pytest.raises(ValueError, match=r"s3://bucket/none\.txt is not there"):
        list(corpora.read(f"s3://{BUCKET}/none.txt"))
