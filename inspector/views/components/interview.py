"""A question of a mock interview as a Streamlit component: the clock runs in the browser, the page at its end alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from inspector.questions import interview as rules
from inspector.views.components import files
from inspector.views.components.clicks import reporter
from inspector.views.components.keeping import DRAFTS

_mount = files.declared("interview")


@dataclass(frozen=True)
class Left:
    """The reader is through with a question. words: the reader's own. skipped: True where there is to be no answer."""

    number: int
    words: str
    skipped: bool


def question(
    number: int, *, interview: str, words: Mapping[str, str], key: str, on_left: Callable[[Left], None]
) -> None:
    """Draw clock, field and buttons for a question. interview: as in the link, whose drafts the tab keeps.

    words: of the buttons and sentences, by the names that index.js has. on_left is called before the run that follows.
    """
    data = {
        "interview": interview,
        "number": number,
        "seconds": rules.SECONDS,
        "most": rules.MOST_WORDS,
        "drafts": DRAFTS,
        "words": dict(words),
    }
    _mount(key=key, data=data, height="content", on_left_change=reporter(key, "left", _left, on_left))


def _left(value: object) -> Left | None:
    match value:
        case {"number": int(number), "words": str(words), "how": "done" | "skipped" as how}:
            return Left(number, words[: rules.MOST_WORDS], how == "skipped")
    return None
