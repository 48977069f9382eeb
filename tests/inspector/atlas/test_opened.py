"""An opened atlas gives back what was measured; a stranger's or a damaged one is refused with a sentence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from inspector import atlas
from inspector.atlas import block
from inspector.atlas.measures import NAMES
from inspector.atlas.merging import ABOUT
from inspector.atlas.statistics import STATISTICS
from tests.closeness import assert_close


def numbers(made: atlas.Atlas) -> dict[str, np.ndarray]:
    """Every text's numbers of all blocks, [texts, N] by measure."""
    folders = sorted((made.folder.parent / block.BLOCKS).iterdir())
    tables = [pq.read_table(folder / block.NUMBERS) for folder in folders]
    return {name: np.concatenate([np.stack(table[name].to_pylist()) for table in tables]) for name in NAMES}


def test_means_are_those_of_the_texts(small: atlas.Atlas) -> None:
    every, table = numbers(small), small.table()
    for name in ("entropy", "previous", "offset_-5", "part_2", "norm_sep"):
        assert_close(table[name], np.nanmean(every[name].astype(np.float64), axis=0), relative=1e-12)


def test_a_merged_folder_alone_is_an_atlas(small: atlas.Atlas, tmp_path: Path) -> None:
    shutil.copytree(small.folder, tmp_path / "alone")
    again = atlas.open(tmp_path / "alone")
    assert again.table().equals(small.table())
    assert set(again.examples("previous", 0)["text"]) <= again.texts.keys()


def test_a_folder_without_an_atlas_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds no atlas: it has no atlas\.json"):
        atlas.open(tmp_path)


def test_a_damaged_file_is_named(small: atlas.Atlas, tmp_path: Path) -> None:
    shutil.copytree(small.folder, tmp_path / "alone")
    path = tmp_path / "alone" / block.STATISTICS
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"statistics\.parquet is damaged"):
        atlas.open(tmp_path / "alone").table()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", 3),
        ("keep", "some"),
        ("firsts", [1]),
        ("model", 7),
        ("texts", 0),
        ("sites", [{"stream": "nowhere", "layer": 0, "call": 0, "heads": 12}]),
        ("sites", [{"stream": "encoder", "layer": 0, "call": 0, "heads": 10**9}]),
        ("measures", ["entropy"]),
        ("versions", {"torch": 2}),
    ],
)
def test_a_strangers_manifest_is_held_to_its_fields(
    small: atlas.Atlas, tmp_path: Path, field: str, value: object
) -> None:
    shutil.copytree(small.folder, tmp_path / "alone")
    path = tmp_path / "alone" / ABOUT
    found = json.loads(path.read_text(encoding="utf-8"))
    found["manifest"][field] = value
    path.write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(ValueError, match=r"atlas\.json is damaged"):
        atlas.open(tmp_path / "alone")


def test_statistics_of_another_number_of_heads_are_refused(small: atlas.Atlas) -> None:
    table = pq.read_table(small.folder / block.STATISTICS)
    assert table.schema.equals(STATISTICS)
    with pytest.raises(ValueError, match="do not fit"):
        type(small.statistics).from_table(table.slice(1), heads=72)


def test_a_text_of_the_sample_without_its_heads_is_refused(small: atlas.Atlas, tmp_path: Path) -> None:
    """Else each later text would be given another one's numbers."""
    shutil.copytree(small.folder, tmp_path / "alone")
    again = atlas.open(tmp_path / "alone")
    sample = again._sample
    column = sample.schema.get_field_index("previous")
    without = pa.array([None, *sample["previous"].to_pylist()[1:]], sample.schema.field(column).type)
    again.__dict__["_sample"] = sample.set_column(column, sample.schema.field(column), without)
    for read in (again.sample, again.sample_values):
        with pytest.raises(ValueError, match="cannot reshape"):
            read("previous", 0)
