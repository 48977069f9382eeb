"""Lines of a file that anybody may have written: UTF-8, each of bounded length, with its number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from inspector.atlas import storage
from inspector.atlas.storage import Place

MOST_LINE_BYTES = 4 * 2**20
MOST_CHARACTERS = 100_000  # of one text


class Line(NamedTuple):
    """A line of a file: its number, from 1, the byte that it begins at, and its characters without its end."""

    number: int
    offset: int
    characters: str


def read_lines(path: Place, *, offset: int = 0, before: int = 0, stop: int | None = None) -> Iterator[Line]:
    """Yield each line's number, its first byte, and its characters without the end of the line (LF or CRLF).

    offset, before: the byte to begin at, and how many lines come before it; stop: the byte that the first line which is
    not asked for begins at. A byte order mark is left out. Raises
    ValueError, with the file and the line, for more than MOST_LINE_BYTES (no more are read), for bytes that are no
    UTF-8, and where the file cannot be read.
    """
    try:
        with storage.open_file(path, offset=offset, stop=stop) as file:
            yield from _decoded(path, file, offset, before, stop)
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Place, error: OSError) -> ValueError:
    """The refusal of a file that the system does not give."""
    return ValueError(f"{path} cannot be read ({error.strerror or error}); give a file that you may read")


def check_length(text: str, where: str) -> None:
    """Raise ValueError for a text of more than MOST_CHARACTERS. where: its file and line, for the message."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"{where} has {len(text):,} characters, and a text at most {MOST_CHARACTERS:,}; cut it")


def _decoded(path: Place, file: BinaryIO, offset: int, before: int, stop: int | None) -> Iterator[Line]:
    for number, line in enumerate(iter(lambda: file.readline(MOST_LINE_BYTES + 1), b""), start=before + 1):
        if len(line) > MOST_LINE_BYTES:
            raise ValueError(f"{path}, line {number} has more than {MOST_LINE_BYTES:,} bytes; cut it")
        try:
            characters = line.decode()
        except UnicodeDecodeError as error:
            place = offset + error.start
            raise ValueError(
                f"{path}, line {number}: byte {place:,} of the file (0x{line[error.start]:02x}) is no UTF-8; "
                "save it as UTF-8"
            ) from error
        if number == 1:
            characters = characters.removeprefix("\ufeff")
        yield Line(number, offset, characters.removesuffix("\n").removesuffix("\r"))
        offset += len(line)
        if stop is not None and offset >= stop:
            return
