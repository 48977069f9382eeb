"""Reads a corpus text by text, from files of several kinds or from any iterable; nothing is ever held as a whole.

The ending of a file's name says its kind:

.txt, .text: a text in each line. .tsv: a text, a tab and its target; further columns, such as an attribution, are left
out. .jsonl: an object in each line. .parquet: a table. .conllu: sentences of a treebank with their trees.

White space around a line's text is left out; blank texts and nulls are skipped.

A corpus of a stranger's is read within a `Budget`: what it holds is counted while it is read, and the reading stops
where the budget is spent. Each text of a file has a `Start`, from which it can be read again without what comes before.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple, cast

import pyarrow as pa
import pyarrow.parquet as pq

from inspector.atlas import conllu, storage
from inspector.atlas.lines import MOST_CHARACTERS, check_length, read_lines, unreadable
from inspector.atlas.storage import Place
from inspector.atlas.texts import Text

MOST_COLUMN_BYTES = 2**30  # of one column in a row group of a Parquet file, unpacked
_TARGET = "target"
_BATCH_ROWS = 256
_BUFFER_BYTES = 2**20
_MOST_BYTES_OF_A_CHARACTER = 4  # in UTF-8
_COMMAND_LINE = "cut it, or use the command line, which takes any number: python -m inspector.atlas build"
Corpus = str | os.PathLike[str] | Sequence[os.PathLike[str]] | Iterable[str | Text]
"""A file, a list of files, or texts; a str is a file's name."""


class Start(NamedTuple):
    """The place of a text in the files of a corpus.

    file: from 0, in their order. offset: the byte that it begins at, in a table the row, from 0. line: how many lines
    come before, in a table 0. group: the first row of the text's row group, 0 where the file is no table.
    """

    file: int = 0
    offset: int = 0
    line: int = 0
    group: int = 0


class _Placed(NamedTuple):
    """A text with its place: for messages (file and line), and to read on from."""

    where: str
    start: Start
    text: Text


@dataclass(frozen=True)
class Budget:
    """The most that is read of a corpus: texts, and characters of texts and targets.

    The end of a row or a line counts as a character, whatever stands in it, so that blank rows end too.
    """

    texts: int
    characters: int

    def check(self, *, texts: int, characters: int) -> None:
        """Raise ValueError where what is read so far is more."""
        for count, most, what in ((texts, self.texts, "texts"), (characters, self.characters, "characters")):
            if count > most:
                raise ValueError(
                    f"the corpus has more than {most:,} {what}, the most that are read here; {_COMMAND_LINE}"
                )


def read(corpus: Corpus, *, column: str = "text", budget: Budget | None = None) -> Iterator[Text]:
    """Yield the texts of a corpus; a str or a path is a file, other strings are texts.

    column: of Parquet and JSONL files, with the text; the column "target" is read where there is one. budget: the most
    that is read. Raises ValueError for a corpus beyond the budget, and, with the file and the line, for a file that is
    missing or of an unknown kind, a text of more than `lines.MOST_CHARACTERS`, one that is no UTF-8, broken CoNLL-U, a
    missing column, and a corpus without a text. Paths of a list are looked at before the first is read.
    """
    return (text for _, text in read_placed(corpus, column=column, budget=budget))


def read_placed(corpus: Corpus, *, column: str = "text", budget: Budget | None = None) -> Iterator[tuple[Start, Text]]:
    """Yield texts as `read` does, each with its place; a place says something where the corpus is files."""
    if column == _TARGET:
        raise ValueError("the column target holds targets, not texts; choose another column for the text")
    items: Iterable[os.PathLike[str] | str | Text]
    items = [storage.place(corpus)] if isinstance(corpus, str | os.PathLike) else corpus
    if isinstance(items, Sequence):
        for item in items:
            if isinstance(item, os.PathLike):
                check_file(storage.place(item))
    texts = characters = 0
    for where, start, text in _texts(items, column, budget):
        is_text = bool(text.text.strip())
        texts += is_text
        characters += len(text.text) + len(text.target or "") + 1
        if budget is not None:
            budget.check(texts=texts, characters=characters)
        if is_text:
            _check(text, where)
            yield start, text
    if not texts:
        raise ValueError("the corpus has no text; give at least one")


def read_on(paths: Sequence[Place], start: Start, *, column: str, stop: Start | None = None) -> Iterator[Text]:
    """Yield the texts of files from a place on, as `read` yields them all.

    stop: the place of the first text that is not asked for; a table may yield it nevertheless.
    """
    last = len(paths) if stop is None else stop.file + (stop.offset > 0)
    for number, path in enumerate(paths[start.file : last], start=start.file):
        check_file(path)
        begin = start if number == start.file else Start(number)
        end = stop.offset if stop is not None and number == stop.file else None
        for where, _, text in _READERS[path.suffix.lower()](path, column, None, begin, end):
            if text.text.strip():
                _check(text, where)
                yield text


def files_of(corpus: Corpus) -> list[Place] | None:
    """The files that a corpus is made of, in their order; None where it is, or has, texts that no file holds."""
    if isinstance(corpus, str | os.PathLike):
        corpus = [storage.place(corpus)]
    if not isinstance(corpus, Sequence):
        return None
    paths = [storage.place(item) for item in corpus if isinstance(item, os.PathLike)]
    return paths if paths and len(paths) == len(corpus) else None


def _texts(corpus: Iterable[os.PathLike[str] | str | Text], column: str, budget: Budget | None) -> Iterator[_Placed]:
    for number, item in enumerate(corpus):
        if isinstance(item, os.PathLike):
            path = storage.place(item)
            check_file(path)
            yield from _READERS[path.suffix.lower()](path, column, budget, Start(number), None)
        elif isinstance(item, str | Text):
            yield _Placed(f"text {number + 1:,}", Start(), Text(item) if isinstance(item, str) else item)
        else:
            raise ValueError(
                f"text {number + 1:,} of the corpus is of type {type(item).__name__}; give a str or a Text"
            )


def check_file(path: Place) -> None:
    """Raise ValueError where a file of a corpus is missing or of an unknown kind."""
    try:
        folder, there = path.is_dir(), path.is_file()
    except OSError as error:
        raise unreadable(path, error) from error
    if folder:
        raise ValueError(f"{path} is a folder; give the files in it")
    if not there:
        raise ValueError(f"{str(path)[:200]} is not there; give the path of a file, or texts in a list")
    if path.suffix.lower() not in _READERS:
        raise ValueError(f"{path} is a file of unknown kind; give one that ends in {', '.join(_READERS)}")


def _check(text: Text, where: str) -> None:
    for part in (text.text, text.target or ""):
        check_length(part, where)
        try:
            part.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"{where}: character {error.start:,} is half a surrogate pair; remove it") from error


def _lines(path: Place, column: str, budget: Budget | None, start: Start, stop: int | None) -> Iterator[_Placed]:
    for number, offset, line in read_lines(path, offset=start.offset, before=start.line, stop=stop):
        yield _Placed(_place(path, number), Start(start.file, offset, number - 1), Text(line.strip()))


def _pairs(path: Place, column: str, budget: Budget | None, start: Start, stop: int | None) -> Iterator[_Placed]:
    for number, offset, line in read_lines(path, offset=start.offset, before=start.line, stop=stop):
        if not line.strip():
            continue
        text, _, rest = line.partition("\t")
        target = rest.partition("\t")[0].strip()
        if not text.strip() or not target:
            raise ValueError(f"{_place(path, number)} has no text and target; write both, with a tab between them")
        yield _Placed(_place(path, number), Start(start.file, offset, number - 1), Text(text.strip(), target))


def _objects(path: Place, column: str, budget: Budget | None, start: Start, stop: int | None) -> Iterator[_Placed]:
    for number, offset, line in read_lines(path, offset=start.offset, before=start.line, stop=stop):
        if not line.strip():
            continue
        where = _place(path, number)
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{where} is no JSON ({str(error)[:100]}); write one object in each line") from error
        if not isinstance(row, dict):
            raise ValueError(f"{where} is no object; write one in each line")
        if column not in row:
            raise _missing(where, column, list(row))
        text, target = row[column], row.get(_TARGET)
        if not isinstance(text, str | None) or not isinstance(target, str | None):
            raise ValueError(f"{where} has a {column} or {_TARGET} that is no string; write strings")
        yield _Placed(where, Start(start.file, offset, number - 1), Text(text or "", target))


def _rows(path: Place, column: str, budget: Budget | None, start: Start, stop: int | None) -> Iterator[_Placed]:
    """Yield a table's texts. Values that repeat stay a dictionary, so a small file cannot unpack to a huge batch."""
    most = MOST_COLUMN_BYTES
    if budget is not None:
        most = min(most, _MOST_BYTES_OF_A_CHARACTER * budget.characters + _BUFFER_BYTES)
    try:
        with pq.ParquetFile(storage.open_table(path)) as file:
            columns, footer = _columns(file, path, column, most=most), file.metadata
        with pq.ParquetFile(
            storage.open_table(path), metadata=footer, read_dictionary=columns, buffer_size=_BUFFER_BYTES
        ) as file:
            for group, row, text, target in _cells(file, columns, first=start.offset):
                where = f"{path}, row {row + 1:,}"
                content = Text(_string(text, where) or "", _string(target, where))
                yield _Placed(where, Start(start.file, row, group=group), content)
    except OSError as error:
        raise unreadable(path, error) from error
    except pa.ArrowException as error:
        raise ValueError(f"{path} is damaged, or no Parquet ({str(error)[:200]}); write it again") from error


def _columns(file: pq.ParquetFile, path: Place, column: str, *, most: int) -> list[str]:
    """The names of the columns to read; ValueError where they cannot be."""
    names = file.schema_arrow.names
    if column not in names:
        raise _missing(str(path), column, names)
    columns = [name for name in (column, _TARGET) if name in names]
    for name in columns:
        _check_column(file, path, name, most=most)
    return columns


def _cells(
    file: pq.ParquetFile, columns: list[str], *, first: int
) -> Iterator[tuple[int, int, pa.Scalar, pa.Scalar | None]]:
    """Yield the row group's first row, and each row from the one numbered `first` on; groups before it are not read."""
    row = 0
    # One reader a row group: a reader of them all keeps what it has passed.
    for group in range(file.num_row_groups):
        begin = row
        if row + (rows := file.metadata.row_group(group).num_rows) <= first:
            row += rows
            continue
        for batch in file.iter_batches(_BATCH_ROWS, row_groups=[group], columns=columns, use_threads=False):
            skipped = min(max(0, first - row), batch.num_rows)
            text, *target = (batch.column(name).slice(skipped) for name in columns)
            numbers = range(row + skipped, row + batch.num_rows)
            yield from zip(
                repeat(begin, len(text)), numbers, text, target[0] if target else repeat(None, len(text)), strict=True
            )
            row += batch.num_rows


def _check_column(file: pq.ParquetFile, path: Place, name: str, *, most: int) -> None:
    """Raise ValueError for a column that is no strings, is there twice, or unpacks to more than `most` bytes."""
    if file.schema_arrow.names.count(name) > 1:
        raise ValueError(f"{path} has the column {name} more than once; rename one")
    kind = file.schema_arrow.field(name).type
    held = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not pa.types.is_string(held) and not pa.types.is_large_string(held):
        raise ValueError(f"{path} has a column {name} of {str(kind)[:60]}; write strings")
    place = next(i for i in range(file.metadata.num_columns) if file.schema.column(i).path == name)
    for group in range(file.num_row_groups):
        size = file.metadata.row_group(group).column(place).total_uncompressed_size
        if size > most:
            way_out = "write smaller row groups" if most == MOST_COLUMN_BYTES else _COMMAND_LINE
            raise ValueError(
                f"{path}, row group {group}: column {name} unpacks to {size:,} bytes, at most {most:,}; {way_out}"
            )


def _string(value: pa.Scalar | None, where: str) -> str | None:
    if isinstance(value, pa.DictionaryScalar):
        value = value.value
    if value is None or not value.is_valid:
        return None
    content = value.as_buffer()
    if content.size > MOST_CHARACTERS * _MOST_BYTES_OF_A_CHARACTER:
        raise ValueError(f"{where} has {content.size:,} bytes, and a text {MOST_CHARACTERS:,} characters; cut it")
    try:
        return cast("str", value.as_py())
    except UnicodeDecodeError as error:
        raise ValueError(f"{where}: byte {error.start:,} of the text is no UTF-8; save it as UTF-8") from error


def _sentences(path: Place, column: str, budget: Budget | None, start: Start, stop: int | None) -> Iterator[_Placed]:
    for line, text in conllu.read_from(path, offset=start.offset, before=start.line, stop=stop):
        yield _Placed(_place(path, line.number), Start(start.file, line.offset, line.number - 1), text)


def _place(path: Place, line: int) -> str:
    return f"{path}, line {line}"


def _missing(where: str, column: str, names: Sequence[str]) -> ValueError:
    there = ", ".join(name[:40] for name in names[:8]) or "none"
    return ValueError(f"{where} has no column {column} (there are: {there}); name the one with the text")


_READERS: dict[str, Callable[[Place, str, Budget | None, Start, int | None], Iterator[_Placed]]] = {
    ".txt": _lines,
    ".text": _lines,
    ".tsv": _pairs,
    ".jsonl": _objects,
    ".parquet": _rows,
    ".conllu": _sentences,
}
