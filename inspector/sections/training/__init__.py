"""The page Training: how the shipped models learned, from the files that their trainings left."""

from inspector.sections.registry import Sections
from inspector.sections.training import curves, moments, run, sizes
from inspector.wording import training as words

PAGE = Sections(words.ASKS, (moments.SECTION, curves.SECTION, sizes.SECTION, run.SECTION), streams=lambda subject: ())
