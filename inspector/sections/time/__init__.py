"""The page Time: how far a gradient reaches, and what runs one after another and what at once."""

from inspector.sections.registry import Group, Sections
from inspector.sections.time import clock, forcing, past, reach, recurrent, segments
from inspector.wording import time as words

PAGE = Sections(
    words.ASKS,
    (
        reach.SECTION,
        Group("time_beside", words.BESIDE, (recurrent.SECTION, clock.SECTION)),
        Group("time_steps", words.STEPS, (forcing.SECTION, past.SECTION, segments.SECTION)),
    ),
    streams=lambda subject: (),
)
