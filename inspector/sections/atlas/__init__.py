"""The page Atlas: what every head does over a corpus of texts, and one head whole."""

from inspector.atlas import library
from inspector.sections.atlas import heads
from inspector.sections.registry import Sections
from inspector.sections.section import Need
from inspector.wording import atlas as words

PAGE = Sections(
    words.ASKS,
    (heads.SECTION,),
    need=Need(words.CANNOT, lambda loaded: bool(library.of(loaded, keys=()).atlases), library.shipped()),
    streams=lambda subject: list(dict.fromkeys(subject.atlas.heads["stream"])),
)
