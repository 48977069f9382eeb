"""Reads a corpus text by text, from files of several kinds or from any iterable; nothing is ever held as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from inspector.atlas.texts import Text


def read(
    corpus: str | os.PathLike[str] | Sequence[os.PathLike[str]] | Iterable[str | Text], *, column: str = "text"
) -> Iterator[Text]:
    """Yield the texts of a corpus; a str or a path is a file, other strings are texts."""
    if isinstance(corpus, str | os.PathLike):
        corpus = [Path(corpus)]
    for one in corpus:
        if isinstance(one, os.PathLike):
            with open(one, encoding="utf-8") as lines:
                yield from (Text(line.strip()) for line in lines if line.strip())
        else:
            yield Text(one) if isinstance(one, str) else one
