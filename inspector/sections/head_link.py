"""The way from a section to a head's map on the page Attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.sections.section import Link
from inspector.wording import writers as words

if TYPE_CHECKING:
    from inspector.sections.subject import Subject


def to_map(
    subject: Subject, layer: int, head: int, call: int = 0, *, stream: str = "", cell: tuple[int, int] | None = None
) -> Link:
    """Lead to a head's map on the page Attention, of the subject's stream where `stream` is "".

    cell: the query and the key that are opened there.
    """
    place: dict[str, int | str] = {"layer": layer, "head": head}
    if call:
        place["call"] = call
    if cell is not None:
        place |= {"query": cell[0], "key": cell[1]}
    if len({site.stream for site in subject.trace.sites}) > 1:
        place["stream"] = stream or subject.stream
    given = {name: str(value) for name, value in place.items()}
    return Link("", words.to_map(layer=layer, head=head), given)
