"""Texts of files of every kind, in order and one at a time; a sentence for every file that cannot be read."""

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from inspector.atlas import corpus
from inspector.atlas.corpus import read
from inspector.atlas.lines import MOST_CHARACTERS, MOST_LINE_BYTES
from inspector.atlas.texts import Text

SENTENCES = Path(__file__).with_name("sentences.conllu")


def written(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def table(path: Path, columns: dict[str, object], **options: object) -> Path:
    pq.write_table(pa.table(columns), path, **options)
    return path


def test_each_line_is_a_text(tmp_path) -> None:
    path = written(tmp_path / "a.txt", "\ufeffOne.\r\n\n  Two, 二.\t\n \nThree\u2028here\x85.")
    assert list(read(path)) == [Text("One."), Text("Two, 二."), Text("Three\u2028here\x85.")]
    assert list(read(str(path))) == list(read(path))


def test_a_tab_parts_a_text_from_its_target(tmp_path) -> None:
    path = written(tmp_path / "a.TSV", "Go away!\t走开！\tCC-BY 2.0\n\nHe came.\t他来了。\r\n")
    assert list(read(path)) == [Text("Go away!", "走开！"), Text("He came.", "他来了。")]


def test_objects_in_lines_have_a_text_and_perhaps_a_target(tmp_path) -> None:
    rows = [{"text": "One.", "target": "Un.", "id": 1}, {"text": "Two\nlines."}, {"text": None}, {"text": " "}]
    path = written(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)) + "\n\n")
    assert list(read(path)) == [Text("One.", "Un."), Text("Two\nlines.")]
    named = written(tmp_path / "b.jsonl", '{"body": "\\ud83e\\udda9", "target": null}')
    assert list(read(named, column="body")) == [Text("🦩")]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
@pytest.mark.parametrize("use_dictionary", [True, False])
def test_rows_of_a_table_have_a_text_and_perhaps_a_target(tmp_path, kind, use_dictionary) -> None:
    texts = [f"Text {number % 7}." if number % 5 else None for number in range(1000)]
    columns = {"id": range(1000), "body": pa.array(texts).cast(kind)}
    path = table(tmp_path / "a.parquet", columns, row_group_size=300, use_dictionary=use_dictionary)
    assert list(read(path, column="body")) == [Text(text) for text in texts if text]
    both = table(tmp_path / "b.parquet", {"target": ["Un.", None], "text": ["One.", "Two."]})
    assert list(read(both)) == [Text("One.", "Un."), Text("Two.")]


def test_several_files_are_read_in_order(tmp_path) -> None:
    lines = written(tmp_path / "a.text", "One.\n")
    found = list(read([lines, SENTENCES, lines]))
    assert len(found) == 32
    assert found[0] == found[-1] == Text("One.")
    assert all(text.tree is not None for text in found[1:-1])


def test_texts_of_an_iterable_stream() -> None:
    taken = []

    def endless() -> Iterator[str | Text]:
        for number in range(10**9):
            taken.append(number)
            yield Text("", "nothing") if number == 0 else Text("b", "B") if number == 1 else f" text {number} "

    found = read(endless())
    assert (next(found), next(found)) == (Text("b", "B"), Text(" text 2 "))
    assert taken == [0, 1, 2]


@pytest.mark.parametrize("nothing", ["", "\n \n\t\r\n", "\ufeff"])
def test_a_corpus_without_a_text_is_refused(tmp_path, nothing) -> None:
    for kind in ("txt", "tsv", "jsonl"):
        with pytest.raises(ValueError, match="the corpus has no text; give at least one"):
            list(read(written(tmp_path / f"a.{kind}", nothing)))
    for given in ([], [" ", Text("")], table(tmp_path / "a.parquet", {"text": pa.array([None], pa.string())})):
        with pytest.raises(ValueError, match="the corpus has no text"):
            list(read(given))


def test_an_empty_file_beside_others_is_no_error(tmp_path) -> None:
    empty, full = written(tmp_path / "a.txt", ""), written(tmp_path / "b.txt", "One.")
    assert list(read([empty, full])) == [Text("One.")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.txt",
            "a\n" + "b" * 1_000_000,
            "a.txt, line 2 has 1,000,000 characters, and a text at most 100,000; cut it",
        ),
        ("a.txt", "a\n" + "b" * (MOST_LINE_BYTES + 5), "a.txt, line 2 has more than 4,194,304 bytes; cut it"),
        ("a.tsv", "a\t" + "b" * 100_001, "a.tsv, line 1 has 100,001 characters"),
        ("a.jsonl", json.dumps({"text": "b" * 100_001}), "a.jsonl, line 1 has 100,001 characters"),
        ("a.txt", b"abc\r\nd\xe4e\n", r"a.txt, line 2: byte 6 of the file \(0xe4\) is no UTF-8; save it as UTF-8"),
        ("a.txt", "hi".encode("utf-16"), r"a.txt, line 1: byte 0 of the file \(0xff\) is no UTF-8"),
        ("a.tsv", "a\tb\nno target", "a.tsv, line 2 has no text and target; write both, with a tab"),
        ("a.tsv", "\tb", "a.tsv, line 1 has no text and target"),
        ("a.jsonl", '{"text": "a"}\n{"text": ', "a.jsonl, line 2 is no JSON .*; write one object in each line"),
        ("a.jsonl", "[" * 200_000, "a.jsonl, line 1 is no JSON"),
        ("a.jsonl", '["text"]', "a.jsonl, line 1 is no object; write one in each line"),
        ("a.jsonl", '{"body": "a", "id": 1}', r"line 1 has no column text \(there are: body, id\); name the one with"),
        ("a.jsonl", '{"text": 5}', "line 1 has a text or target that is no string; write strings"),
        ("a.jsonl", '{"text": "a", "target": ["b"]}', "line 1 has a text or target that is no string"),
        ("a.jsonl", '{"text": "a\\ud800"}', "a.jsonl, line 1: character 1 is half a surrogate pair; remove it"),
        ("a.parquet", b"PAR1 no table", "a.parquet is damaged, or no Parquet"),
        ("a.csv", "a,b", "a.csv is a file of unknown kind; give one that ends in .txt, .text, .tsv, .jsonl, .parquet"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_line(tmp_path, name, content, message) -> None:
    with pytest.raises(ValueError, match=message):
        list(read(written(tmp_path / name, content)))


def test_texts_before_a_broken_line_are_given(tmp_path) -> None:
    found = read(written(tmp_path / "a.txt", b"One.\n\xff\n"))
    assert next(found) == Text("One.")
    with pytest.raises(ValueError, match="line 2"):
        next(found)


def test_a_text_may_be_as_long_as_the_limit(tmp_path) -> None:
    text = "语" * MOST_CHARACTERS
    assert list(read(written(tmp_path / "a.txt", text))) == [Text(text)]
    escaped = json.dumps({"text": "🦩" * MOST_CHARACTERS, "target": "🦩" * MOST_CHARACTERS})
    assert len(next(read(written(tmp_path / "a.jsonl", escaped))).text) == MOST_CHARACTERS
    assert next(read(table(tmp_path / "a.parquet", {"text": [text]}))) == Text(text)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"body": ["a"], "id": [1]},
            r"a.parquet has no column text \(there are: body, id\); name the one with the text",
        ),
        ({"text": [1]}, "a.parquet has a column text of int64; write strings"),
        ({"text": [["a"]]}, "a.parquet has a column text of list<"),
        ({"text": ["a"], "target": [1]}, "a.parquet has a column target of int64"),
        ({"text": ["a", "b" * 100_001]}, "a.parquet, row 2 has 100,001 characters, and a text at most 100,000; cut it"),
        ({"text": ["a", "b" * 500_000]}, "a.parquet, row 2 has 500,000 bytes, and a text 100,000 characters; cut it"),
    ],
)
def test_a_table_without_texts_is_refused(tmp_path, columns, message) -> None:
    with pytest.raises(ValueError, match=message):
        list(read(table(tmp_path / "a.parquet", columns)))


def test_a_table_with_invalid_utf_8_is_refused_with_the_row(tmp_path) -> None:
    bad = pa.Array.from_buffers(pa.string(), 1, pa.array([b"a\xff"], pa.binary()).buffers())
    path = table(tmp_path / "a.parquet", {"text": pa.chunked_array([pa.array(["fine"]), bad])})
    with pytest.raises(ValueError, match=r"a.parquet, row 2: byte 1 of the text is no UTF-8"):
        list(read(path))


def test_a_table_that_unpacks_to_too_much_is_refused_before_it_is_read(tmp_path, monkeypatch) -> None:
    path = table(
        tmp_path / "a.parquet", {"text": [f"{number:09d}" * 100 for number in range(1000)]}, compression="zstd"
    )
    assert len(list(read(path))) == 1000
    monkeypatch.setattr(corpus, "MOST_COLUMN_BYTES", 100_000)
    with pytest.raises(ValueError, match=r"row group 0: column text unpacks to 9\d\d,\d{3} bytes, at most 100,000"):
        next(read(path))


def test_memory_does_not_grow_with_a_table(tmp_path) -> None:
    def most_bytes(row_groups: int) -> int:
        path = tmp_path / f"{row_groups}.parquet"
        texts = [f"{number:05d}" * 100 for number in range(1000)]
        table(path, {"text": texts * row_groups}, row_group_size=1000, compression="none")
        before = pa.total_allocated_bytes()
        found = read(path)
        return max(pa.total_allocated_bytes() - before for number, _ in enumerate(found) if number % 100 == 0)

    assert most_bytes(20) <= 1.5 * most_bytes(2)


def test_lines_are_never_held_as_a_whole(tmp_path) -> None:
    path = tmp_path / "a.txt"
    with path.open("wb") as file:
        file.truncate(10**8)  # a line that takes no room on the disk
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="line 1 has more than 4,194,304 bytes"):
            next(read(path))
        assert tracemalloc.get_traced_memory()[1] < 4 * MOST_LINE_BYTES
    finally:
        tracemalloc.stop()


def test_a_damaged_table_is_refused(tmp_path) -> None:
    path = table(tmp_path / "a.parquet", {"text": [f"Text {number}." for number in range(1000)]}, compression="zstd")
    content = path.read_bytes()
    with pytest.raises(ValueError, match=r"a\.parquet"):
        list(read(written(path, content[:100] + b"\0" * 300 + content[400:])))


def test_a_place_that_is_no_file_is_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match="is a folder; give the files in it"):
        list(read(tmp_path))
    with pytest.raises(ValueError, match=r"none.txt is not there; give the path of a file, or texts in a list"):
        list(read(tmp_path / "none.txt"))
    with pytest.raises(ValueError, match=r"x.txt cannot be read \(File name too long\)|is not there"):
        list(read("x" * 5000 + "x.txt"))


def test_every_path_is_looked_at_before_the_first_is_read(tmp_path) -> None:
    with pytest.raises(ValueError, match=r"none.txt is not there"):
        next(read([written(tmp_path / "a.txt", "One."), tmp_path / "none.txt"]))


def test_what_is_no_text_is_refused() -> None:
    found = read(["One.", 2])  # type: ignore[list-item]
    assert next(found) == Text("One.")
    with pytest.raises(ValueError, match="text 2 of the corpus is of type int; give a str or a Text"):
        next(found)
    with pytest.raises(ValueError, match="text 1 has 100,001 characters"):
        next(read(["a" * 100_001]))
    with pytest.raises(ValueError, match="the column target holds targets"):
        next(read(["One."], column="target"))


BUDGET = corpus.Budget(texts=50, characters=10_000)


def refused_within(path: Path, match: str) -> None:
    """Hold that a file is refused within the budget, and that it took no memory that its reader could choose."""
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    with pytest.raises(ValueError, match=match):
        list(read(path, budget=BUDGET))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000
    assert pa.total_allocated_bytes() - before < 5_000_000


def test_a_table_that_unpacks_to_gigabytes_stops_at_the_budget(tmp_path) -> None:
    """One value of nearly the longest text, 5,000 times: some hundred bytes, and 2 GB as strings."""
    longest = pa.array(["\U0001f600" * (MOST_CHARACTERS - 10)])
    again = pa.DictionaryArray.from_arrays(pa.array([0] * 5000, pa.int32()), longest)
    for name, columns in (("a", {"text": again}), ("b", {"text": again, "target": again})):
        path = table(tmp_path / f"{name}.parquet", columns, compression="zstd")
        assert path.stat().st_size < 1500
        refused_within(path, "more than 10,000 characters, the most that are read here; cut it, or use the command")


def test_a_column_is_refused_by_its_size_before_it_is_unpacked(tmp_path) -> None:
    different = [f"{number:06d}" * 1000 for number in range(400)]
    path = table(tmp_path / "a.parquet", {"text": different}, compression="zstd", use_dictionary=False)
    refused_within(path, r"column text unpacks to 2,4\d\d,\d\d\d bytes, at most 1,088,576; cut it, or use the command")


@pytest.mark.parametrize("kind", [pa.list_(pa.string()), pa.struct([(f"field {n}", pa.string()) for n in range(99)])])
def test_a_nested_column_is_refused_in_a_short_sentence(tmp_path, kind) -> None:
    path = table(tmp_path / "a.parquet", {"text": pa.array([None], kind)})
    with pytest.raises(ValueError, match="write strings") as refusal:
        list(read(path, budget=BUDGET))
    assert len(str(refusal.value)) < 200 + len(str(path))


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("a.txt", "A line of words.\n" * 60, "more than 50 texts"),
        ("a.txt", "x" * 10_001, "more than 10,000 characters"),
        ("a.txt", "\n" * 20_000, "more than 10,000 characters"),
        ("a.tsv", "A text.\t" + "y" * 10_000, "more than 10,000 characters"),
        ("a.jsonl", '{"text": "A text."}\n' * 60, "more than 50 texts"),
        ("a.jsonl", '{"text": null}\n' * 20_000, "more than 10,000 characters"),
        ("a.conllu", "1\tword\t_\t_\t_\t_\t0\troot\t_\t_\n\n" * 60, "more than 50 texts"),
        ("a.parquet", None, "more than 10,000 characters"),
    ],
)
def test_every_kind_of_file_stops_at_the_budget(tmp_path, name, content, match) -> None:
    path = tmp_path / name
    if content is None:  # rows of nothing
        table(path, {"text": pa.array([None] * 100_000, pa.string())})
    else:
        written(path, content)
    refused_within(path, match)


def test_what_fits_the_budget_is_read_to_its_end(tmp_path) -> None:
    path = written(tmp_path / "a.txt", ("x" * 199 + "\n") * 50)
    assert len(list(read(path, budget=BUDGET))) == 50
    endless = (f"Text {number}." for number in range(10**12))
    with pytest.raises(ValueError, match="more than 50 texts"):
        list(read(endless, budget=BUDGET))
