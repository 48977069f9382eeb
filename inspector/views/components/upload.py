"""A button that chooses a small text file, as a Streamlit component: the browser reads the file."""

from __future__ import annotations

from collections.abc import Callable

from inspector.views.components import files
from inspector.views.components.clicks import reporter

_mount = files.declared("upload")


def upload(words: str, *, accept: str, most: int, key: str, on_text: Callable[[str | None], None]) -> None:
    """Draw the button. accept: the ending of files that are offered. most: the bytes of a file, more are not read.

    on_text is called before the run that follows, with the file's text, None for a file that is too large.
    """

    def read(value: object) -> tuple[str | None] | None:
        match value:
            case {"text": str(text), "large": bool(large)}:
                return (None if large or len(text) > most else text,)
        return None

    data = {"words": words, "accept": accept, "most": most}
    _mount(
        key=key,
        data=data,
        height="content",
        width="content",
        on_file_change=reporter(key, "file", read, lambda found: on_text(found[0])),
    )
