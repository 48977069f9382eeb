"""Words of the report of a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inspector.wording.english.phrases import listed

TITLE, CONTENTS, NUMBERS = "What Headlight sees in a text", "Contents", "Numbers"
FORMULA = "Words with a formula"
MODEL, TEXT, SECOND, TARGET, TOKENS, DATE = "Model", "Text", "Second text", "Target", "Tokens", "Date"


def counted(sections: int, *, pictures: int, tables: int) -> str:
    """Say what the report holds."""
    as_tables = f", {tables} of them as tables, for they are drawn by hand" if tables else ""
    return f"{sections} sections at their first choices, {pictures} pictures{as_tables}. Every number was recorded."


def cannot(model: str, cannot: str, *, instead: Sequence[str] = ()) -> str:
    """Say that a section needs another model. instead: ids of models that can do what it shows."""
    return f"{model} {cannot}{f'; {listed(instead)} can' if instead else ''}."


def mixers(kinds: Iterable[str]) -> str:
    """Say that the sections leave out the maps of layers that mix tokens without softmax attention."""
    by = listed([f"a {kind}" for kind in kinds])
    return (
        f"Layers of this model mix tokens by {by}. Sections on weights and scores read softmax attention alone: the "
        "maps of these layers are on the page Attention, and in its files."
    )


def more_rows(count: int) -> str:
    """Say how many rows a table leaves out."""
    return f"{count:,} rows more: the page's CSV and its Python lines have them all."
