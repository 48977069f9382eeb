"""The page Positions: how a model knows the order of its tokens, and what it makes of it."""

from inspector.sections.positions import curves, distance, kinds, length, opening, order
from inspector.sections.positions.found import streams
from inspector.sections.registry import Group, Sections
from inspector.wording import positions as words

PAGE = Sections(
    words.ASKS,
    (
        opening.SECTION,
        curves.SECTION,
        distance.SECTION,
        order.SECTION,
        Group("positions_further", words.FURTHER, (length.SECTION, kinds.SECTION)),
    ),
    opening=opening.SECTION.id,
    streams=streams,
)
