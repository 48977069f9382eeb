"""A merge that was ended goes on from the sums that it kept, with the bytes of one that nothing ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from inspector import atlas
from inspector.atlas import block, merging, statistics, storage
from inspector.atlas.measures import NAMES
from inspector.atlas.statistics import EXAMPLE, PAIR, Strongest

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[3]
TREES = Path(__file__).with_name("sentences.conllu")
EVERY = 4  # blocks, of 15

_MERGE = """
import sys
from pathlib import Path
from inspector.atlas import merging
merging.merge(Path(sys.argv[1]), checkpoint=int(sys.argv[2]))
"""


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An atlas of a treebank in fifteen blocks, merged at once."""
    out = tmp_path_factory.mktemp("whole") / "atlas"
    assert atlas.build("own-encoder", TREES, out=out, block_texts=2) is not None
    return out


@pytest.fixture
def unmerged(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "atlas")
    shutil.rmtree(tmp_path / "atlas" / merging.MERGED)
    return tmp_path / "atlas"


def read_blocks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """List the blocks whose files a merge reads from now on."""
    numbers: list[int] = []
    part = merging._part

    def watched(folder: Path, manifest: object, number: int, *, allow_mixed: bool) -> pa.Table:
        numbers.append(number)
        return part(folder, manifest, number, allow_mixed=allow_mixed)  # type: ignore[arg-type]

    monkeypatch.setattr(merging, "_part", watched)
    return numbers


def ended_at(folder: Path, number: int) -> bytes:
    """End a merge by a block that is damaged; returns the bytes that make it whole."""
    path = block.path(folder, number) / block.STATISTICS
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[:-1])
    with pytest.raises(ValueError, match=rf"{number:06d}/statistics\.parquet is damaged"):
        merging.merge(folder, checkpoint=EVERY)
    path.write_bytes(content)
    return content


def test_a_merge_goes_on_from_the_sums_that_were_kept(
    whole: Path, unmerged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, kept in ((6, "000004"), (13, "000012")):
        ended_at(unmerged, number)
        assert storage.names(unmerged / merging.MERGING) == [kept]
    numbers = read_blocks(monkeypatch)
    merging.merge(unmerged, checkpoint=EVERY)
    assert sorted(numbers) == [12, 13, 14]
    assert files(unmerged) == files(whole), "nothing that was kept on the way stays"


def test_a_merge_that_is_killed_twice_has_the_same_bytes(whole: Path, unmerged: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", _MERGE, str(unmerged), "1"]
    for least in ("000001", "000005"):
        process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"})
        while process.poll() is None and not any(
            name >= least for name in storage.names(unmerged / merging.MERGING) if not name.startswith(".")
        ):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not (unmerged / merging.MERGED).exists(), "it was killed before its end"
    assert subprocess.run(command, cwd=ROOT).returncode == 0
    assert files(unmerged / merging.MERGED) == files(whole / merging.MERGED)
    assert not (unmerged / merging.MERGING).exists()


def test_sums_of_other_blocks_are_not_gone_on_from(
    unmerged: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended_at(unmerged, 10)
    path = block.path(unmerged, 1) / block.ABOUT
    about = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**about, "capability": "AVX1024"}), encoding="utf-8")
    numbers = read_blocks(monkeypatch)
    merging.merge(unmerged, checkpoint=EVERY, allow_mixed=True)
    assert sorted(numbers) == list(range(15))
    assert [one.partition(",")[0] for one in atlas.open(unmerged).mixed] == ["AVX1024"]


@pytest.mark.parametrize("name", ["fold.json", block.STATISTICS, block.EXAMPLES])
def test_damaged_sums_are_added_up_again(
    unmerged: Path, whole: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    ended_at(unmerged, 10)
    path = unmerged / merging.MERGING / "000008" / name
    path.write_bytes(path.read_bytes()[:-9])
    numbers = read_blocks(monkeypatch)
    merging.merge(unmerged, checkpoint=EVERY)
    assert sorted(numbers) == list(range(15))
    assert files(unmerged) == files(whole)


@pytest.mark.parametrize("schema", [EXAMPLE, PAIR], ids=["examples", "pairs"])
def test_the_strongest_are_those_of_one_sort_of_all(schema: pa.Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    """Held to pandas, on values with many equals, in tables that come in any order."""
    monkeypatch.setattr(statistics, "_MOST_WAITING", 100)
    chance, heads, tables = np.random.default_rng(7), 3, []
    for number in range(40):
        rows = 50
        columns: dict[str, object] = {
            "head": chance.integers(0, heads, rows).astype(np.int32),
            "text": np.arange(rows) + rows * number,
        }
        if schema == EXAMPLE:
            columns["measure"] = chance.choice(NAMES[:2], rows)
            columns["value"] = chance.integers(0, 30, rows).astype(np.float32)
        else:
            columns |= {"query": np.zeros(rows, np.int32), "key": np.ones(rows, np.int32)}
            columns["weight"] = chance.integers(0, 30, rows).astype(np.float32)
        frame = pd.DataFrame(columns)[schema.names]
        tables.append(frame)
    by, most, groups = ("value", 6, ["measure", "head"]) if schema == EXAMPLE else ("weight", 12, ["head"])
    every = pd.concat(tables)
    if schema == EXAMPLE:
        every["measure"] = every["measure"].map(NAMES.index)
    ordered = every.sort_values([*groups, by, "text"], ascending=[*(True for _ in groups), False, True])
    expected = ordered.groupby(groups).head(most)
    for order in (range(40), chance.permutation(40)):
        found = Strongest(schema, heads=heads)
        for place in order:
            found.add(_table(tables[place], schema))
        rows_found = found.table().to_pandas()
        assert rows_found["text"].tolist() == expected["text"].tolist()
        assert rows_found[by].tolist() == expected[by].tolist()


def _table(frame: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pandas(frame, schema=schema, preserve_index=False)


def test_examples_of_relations_are_chosen_as_those_of_measures_in_any_order() -> None:
    chance = np.random.default_rng(0)
    names = ["obj governor", "previous", "det dependent", "acl governor", "cls"]
    tables = [
        pd.DataFrame(
            {
                "measure": chance.choice(names, 40),
                "head": chance.integers(0, 3, 40).astype(np.int32),
                "text": np.arange(40) + 40 * block,
                "value": chance.random(40).astype(np.float32),
            }
        )
        for block in range(20)
    ]
    order = ["previous", "cls", "acl governor", "det dependent", "obj governor"]
    every = pd.concat(tables).assign(place=lambda rows: rows["measure"].map(order.index))
    expected = every.sort_values(["place", "head", "value"], ascending=[True, True, False])
    expected = expected.groupby(["place", "head"]).head(6)
    for places in (range(20), chance.permutation(20)):
        found = Strongest(EXAMPLE, heads=3)
        for at in places:
            found.add(_table(tables[at], EXAMPLE))
        assert found.table().to_pandas()["text"].tolist() == expected["text"].tolist()


@pytest.mark.parametrize("name", ["unheard", "", None])
def test_examples_of_an_unknown_measure_are_refused(name: str | None) -> None:
    frame = pd.DataFrame({"measure": [name], "head": [0], "text": [0], "value": [0.5]})
    with pytest.raises(ValueError, match="of other measures than this Headlight's"):
        Strongest(EXAMPLE, heads=3).add(_table(frame, EXAMPLE))


def test_examples_of_other_heads_are_refused() -> None:
    frame = pd.DataFrame({"head": [3], "text": [0], "query": [0], "key": [1], "weight": [0.5]})
    with pytest.raises(ValueError, match="of other heads than the 3 of this model"):
        Strongest(PAIR, heads=3).add(_table(frame, PAIR))


def test_a_sample_is_that_of_all_ids() -> None:
    ids = np.arange(5000)
    assert set(statistics.sampled(ids)) <= set(statistics.candidates(5000))
    assert len(statistics.candidates(5000)) == statistics.CANDIDATES
