"""Sentences of a treebank in CoNLL-U, the format of Universal Dependencies (universaldependencies.org/format.html).

A sentence's text is put together from FORM and SpaceAfter=No, so that each word's characters are known. Words of a
multiword token (1-2) share its characters; empty nodes (8.1) belong to the enhanced graph and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from inspector.atlas.lines import Line, check_length, read_lines
from inspector.atlas.storage import Place
from inspector.atlas.texts import Text, Tree

MOST_WORDS = 5_000  # of a sentence
MOST_RELATION = 100  # characters of a relation's name
_COLUMNS = 10
_ID = re.compile(r"([0-9]{1,9})(?:(-|\.)([0-9]{1,9}))?")
_HEAD = re.compile(r"[0-9]{1,9}")


def read(path: Place) -> Iterator[Text]:
    """Yield the sentences of a file with their trees.

    Raises ValueError, with the file and the line, for a line that has not 10 columns, ids that do not count on, a head
    out of range, a word that is its own governor, a cycle, several roots or none, a multiword token that does not fit,
    and sentences of more than MOST_WORDS or MOST_CHARACTERS.
    """
    return (text for _, text in read_from(path))


def read_from(path: Place, *, offset: int = 0, before: int = 0, stop: int | None = None) -> Iterator[tuple[Line, Text]]:
    """Yield sentences with the line that each begins with; offset, before and stop as `lines.read_lines` has them."""
    sentence, first = _Sentence(path), None
    for line in read_lines(path, offset=offset, before=before, stop=stop):
        first = first or line
        if not line.characters:
            yield from ((first, text) for text in sentence.finished())
            sentence, first = _Sentence(path), None
        elif not line.characters.startswith("#"):
            sentence.add(line.number, line.characters)
    if first is not None:
        yield from ((first, text) for text in sentence.finished())


@dataclass
class _Sentence:
    """A sentence as far as it has been read. lines: of each word its number in the file."""

    path: Place
    text: str = ""
    glued: bool = True  # nothing stands between the text and what comes next
    surface: tuple[int, int] = (0, 0)  # characters of the unit that was written last
    token: range = range(0)  # ids of the multiword token that was read last
    token_line: int = 0
    empty_nodes: int = 0  # behind the last word
    spans: list[tuple[int, int]] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def add(self, line: int, content: str) -> None:
        """Add a word, a multiword token or an empty node."""
        columns = content.split("\t")
        if len(columns) != _COLUMNS:
            raise self._refused(line, f"has {len(columns)} columns, not {_COLUMNS}; part them by tabs")
        match = _ID.fullmatch(columns[0])
        if match is None:
            raise self._refused(line, f"has the id {columns[0][:20]!r}; write it as 1, 1-2 or 1.1")
        first, kind, second = int(match[1]), match[2], int(match[3] or 0)
        if kind == ".":
            self._add_empty_node(line, first, second)
        elif kind == "-":
            self._add_token(line, range(first, second + 1), columns)
        else:
            self._add_word(line, first, columns)

    def finished(self) -> Iterator[Text]:
        """Yield the sentence, where it has words."""
        words = len(self.heads)
        if self.token and self.token[-1] > words:
            raise self._refused(
                self.token_line, f"has a multiword token up to word {self.token[-1]} of {words}; correct its range"
            )
        if words:
            self._check_tree()
            starts, stops = zip(*self.spans, strict=True)
            governors = tuple(head - 1 for head in self.heads)
            yield Text(self.text, tree=Tree(starts, stops, governors, tuple(self.relations)))

    def _add_empty_node(self, line: int, word: int, place: int) -> None:
        if (word, place) != (len(self.heads), self.empty_nodes + 1):
            raise self._refused(line, f"has the id {word}.{place}, not {len(self.heads)}.{self.empty_nodes + 1}")
        self.empty_nodes += 1

    def _add_token(self, line: int, ids: range, columns: Sequence[str]) -> None:
        words = len(self.heads)
        if not ids or ids[0] != words + 1 or (self.token and self.token[-1] > words):
            raise self._refused(line, f"has a multiword token {columns[0]} after {words} words; correct its range")
        self.token, self.token_line = ids, line
        self._write(line, columns)

    def _add_word(self, line: int, id: int, columns: Sequence[str]) -> None:
        if id != len(self.heads) + 1:
            raise self._refused(line, f"has the id {id}, not {len(self.heads) + 1}; number the words one by one")
        if id > MOST_WORDS:
            raise self._refused(line, f"has word {id:,} of a sentence, which may have {MOST_WORDS:,}; cut it")
        head, relation = columns[6:8]
        if _HEAD.fullmatch(head) is None:
            raise self._refused(line, f"has the head {head[:20]!r}; give the number of a word, or 0 for the root")
        if int(head) == id:
            raise self._refused(line, f"has word {id} as its own governor; correct its head")
        if not 0 < len(relation) <= MOST_RELATION:
            raise self._refused(line, f"has a relation of {len(relation):,} characters; give 1 to {MOST_RELATION}")
        if id not in self.token:
            self._write(line, columns)
        self.spans.append(self.surface)
        self.heads.append(int(head))
        self.relations.append(relation)
        self.lines.append(line)
        self.empty_nodes = 0

    def _write(self, line: int, columns: Sequence[str]) -> None:
        """Put a word or a multiword token behind the text."""
        form, notes = columns[1], columns[9]
        if not form.strip():
            raise self._refused(line, "has an empty form; write the word")
        start = len(self.text) if self.glued else len(self.text) + 1
        self.text += form if self.glued else f" {form}"
        check_length(self.text, f"{self.path}, line {line}: the sentence")
        self.surface = (start, len(self.text))
        self.glued = "SpaceAfter=No" in notes.split("|")

    def _check_tree(self) -> None:
        """Raise ValueError where the heads are no tree: one root, from which every word is reached."""
        words = len(self.heads)
        for line, head in zip(self.lines, self.heads, strict=True):
            if head > words:
                raise self._refused(line, f"has the head {head} in a sentence of {words} words; correct it")
        roots = [id for id, head in enumerate(self.heads, start=1) if head == 0]
        if len(roots) != 1:
            named = f"{len(roots)} roots (words {', '.join(map(str, roots[:8]))})" if roots else "no root"
            raise self._refused(self.lines[0], f"begins a sentence with {named}; give one word the head 0")
        reached = {0}
        for id in range(1, words + 1):
            way: dict[int, None] = {}
            while id not in reached:
                if id in way:
                    raise self._refused(self.lines[id - 1], f"has word {id} in a cycle of governors; correct its head")
                way[id] = None
                id = self.heads[id - 1]
            reached.update(way)

    def _refused(self, line: int, reason: str) -> ValueError:
        return ValueError(f"{self.path}, line {line} {reason}")
