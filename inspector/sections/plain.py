"""A section as a document for programs: the same blocks as on the page, in reading order, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, assert_never

from inspector.plain import about, document, matrix, table
from inspector.plots.slide import points
from inspector.sections import registry
from inspector.sections.section import (
    Ask,
    Block,
    Check,
    Choices,
    Figure,
    Files,
    HeadMaps,
    Link,
    Map,
    Measurement,
    Note,
    Numbers,
    Paragraph,
    Problem,
    Quote,
    Row,
    Section,
    Sentence,
    Table,
    Thumbnails,
)

if TYPE_CHECKING:
    from inspector.trace import Trace


def listed() -> dict[str, Any]:
    """Return every section: its path, such as "block/added", what it speaks of, and the ids of its choices.

    about: "text" (a recorded text), "model", "configuration", "atlas" or "course" (the same for all). needs_model: it
    runs the model or reads its weights.
    """
    return document(
        "sections",
        sections=[
            {
                "path": f"{page.address}/{section.id}",
                "page": page.title,
                "title": section.title,
                "about": section.about,
                "needs_model": section.needs_model,
                "choices": {pick.id: pick.label for pick in section.picks},
            }
            for page in registry.PAGES.values()
            if not page.board
            for section in registry.sections(page.address).sections
        ],
    )


def answered(
    path: str, blocks: Iterable[Block], *, trace: Trace | None, chosen: Mapping[str, Any], most: int | None = None
) -> dict[str, Any]:
    """Return what a section answered, see `block`. most: rows of a table and cells of a map that are kept, each.

    Raises ValueError for a path that leads to no section.
    """
    section = registry.section(path)
    return document(
        "section",
        path=path,
        title=section.title,
        recording=None if trace is None else about(trace),
        chosen=chosen,
        blocks=[plain for inner in blocks for plain in block(inner, most=most)],
    )


def block(given: Block, *, most: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield a block as plain values, its "block" the name of its kind; a row's blocks follow one another.

    A picture is given as its numbers. Of a part there is its title alone. A way to another page and a file to take
    away are left out.
    """
    match given:
        case Sentence():
            yield {"block": "sentence", "text": given.text}
        case Paragraph() | Note():
            kind = "note" if isinstance(given, Note) else "paragraph"
            yield {"block": kind, "heading": given.heading, "text": given.text}
        case Problem() | Check():
            holds = given.holds if isinstance(given, Check) else None
            yield {"block": type(given).__name__.lower(), "text": given.text} | (
                {} if holds is None else {"holds": holds}
            )
        case Numbers():
            numbers = [{"name": each.name, "value": each.value, "meaning": each.meaning} for each in given.numbers]
            yield {"block": "numbers", "heading": given.heading, "of": given.of, "numbers": numbers}
        case Table():
            heads = {str(column): words for column, words in given.words.items()}
            yield _titled("table", given) | {"words": heads, "table": table(given.frame, most=most)}
        case Figure():
            frame = points(given.draw(mode="light")) if given.table is None else given.table
            yield _picture("figure", given) | {"table": table(frame, most=most)}
        case Map():
            titles = {"rows": given.row_title, "columns": given.column_title, "quantity": given.quantity}
            panels = [
                {"title": panel.title, "rows": list(map(str, panel.rows)), "columns": list(map(str, panel.columns))}
                | _cells(panel.values, most)
                for panel in given.panels
            ]
            yield _picture("map", given) | titles | {"kinds": list(given.kinds), "panels": panels}
        case HeadMaps():
            maps = [{"title": each.title, **_cells(each.weights, most)} for each in given.maps]
            labels = {"rows": list(given.queries), "columns": list(given.keys)}
            yield {"block": "head maps", "id": given.id, "alt": given.alt, "code": given.code, **labels, "maps": maps}
        case Thumbnails():
            shown = {"block": "heads", "id": given.id, "alt": given.alt, "code": given.code}
            yield shown | {"table": table(given.table, most=most)}
        case Quote():
            yield {"block": "quote", "said": given.said, "text": given.text}
        case Choices():
            choices = [{"label": choice.label, "chosen": dict(choice.chosen)} for choice in given.choices]
            yield {"block": "choices", "choices": choices}
        case Ask() | Measurement():
            yield {"block": "long work", "id": given.id, "about": given.about}
        case Section():
            yield {"block": "part", "id": given.id, "title": given.title}
        case Row():
            for column in given.columns:
                for inner in column if isinstance(column, tuple) else (column,):
                    yield from block(inner, most=most)
        case Link() | Files():
            return
        case _:
            assert_never(given)


def _titled(kind: str, given: Table | Figure | Map) -> dict[str, Any]:
    return {"block": kind, "id": given.id, "heading": given.heading, "code": given.code}


def _picture(kind: str, given: Figure | Map) -> dict[str, Any]:
    return _titled(kind, given) | {"alt": given.alt, "sentence": given.sentence, "note": given.note}


def _cells(values: Any, most: int | None) -> dict[str, Any]:
    """Return a matrix, or its shape alone where it has more cells than may be given."""
    if most is not None and values.size > most:
        return {"values": None, "shape": list(values.shape)}
    return {"values": matrix(values), "shape": list(values.shape)}
