"""The page Batch: several texts at once, padded, packed or one by one, and what that does to every number."""

from inspector.sections.batch import cost, fills, packed, seen
from inspector.sections.registry import Sections
from inspector.sections.section import Link
from inspector.wording import batch as words

PAGE = Sections(
    words.ASKS,
    (seen.SECTION, fills.SECTION, packed.SECTION, cost.SECTION),
    streams=lambda subject: (),
    links=(
        Link("layernorm", words.LAYERNORM, {"section": "Another norm"}),
        Link("tokens", words.CHANGED, {"section": "One token changed"}),
    ),
)
