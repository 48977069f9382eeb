"""The tables of an atlas, read by DuckDB, polars and pandas: the very lines of docs/atlas.md."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from inspector import atlas
from inspector.atlas import block
from tests.inspector.atlas import sentences

ROOT = Path(__file__).parents[3]
SECTION = re.search(r"## Reading it elsewhere\n(.*?)\n## ", (ROOT / "docs/atlas.md").read_text("utf-8"), re.DOTALL)
assert SECTION is not None
LINES = {
    re.findall(r"^import (duckdb|polars|pandas)\b", lines, re.MULTILINE)[0]: lines
    for lines in re.findall(r"```python\n(.*?)```", SECTION[1], re.DOTALL)
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with my-atlas, of several blocks."""
    out = tmp_path_factory.mktemp("elsewhere")
    assert atlas.build("own-encoder", sentences.sentences(20), out=out / "my-atlas", block_texts=8) is not None
    return out


def test_words_stand_beside_numbers_and_heads_have_names(folder: Path) -> None:
    made = atlas.open(folder / "my-atlas")
    table = pq.read_table(block.path(folder / "my-atlas", 1) / block.NUMBERS)
    assert table["words"].to_pylist() == sentences.sentences(20)[8:16]
    names = json.loads(table.schema.metadata[block.HEADS.encode()])
    assert names == [f"{row.stream} {row.layer}-{row.head}" for row in made.heads.itertuples()]


@pytest.mark.parametrize("package", LINES)
def test_the_lines_of_the_docs_find_the_strongest_texts_of_a_head(
    folder: Path, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(package, reason=f"{package} is not installed: pip install {package}")
    monkeypatch.chdir(folder)
    found: dict[str, Any] = {}
    exec(compile(LINES[package], f"docs/atlas.md, {package}", "exec"), found)
    strongest = found["strongest"]
    rows = strongest.fetchall() if package == "duckdb" else strongest.to_numpy().tolist()
    made = atlas.open(folder / "my-atlas")
    of_head = made.examples("previous", made.place(layer=0, head=2, stream="encoder"))
    assert [row[0] for row in rows[: len(of_head)]] == [made.texts[id].text for id in of_head["text"]]
    assert [row[-1] for row in rows[: len(of_head)]] == pytest.approx(of_head["value"].tolist(), rel=1e-6)


def test_all_three_are_in_the_docs() -> None:
    assert set(LINES) == {"duckdb", "polars", "pandas"}
