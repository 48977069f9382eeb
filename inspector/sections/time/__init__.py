"""The page Time: how far a gradient reaches, and what runs one after another and what at once."""

from inspector.sections.registry import Sections
from inspector.sections.time import clock, forcing, past, reach, recurrent, segments
from inspector.wording import time as words

PAGE = Sections(
    words.ASKS,
    (reach.SECTION, recurrent.SECTION, clock.SECTION, forcing.SECTION, past.SECTION, segments.SECTION),
    streams=lambda subject: (),
)
