"""The page Training: how the shipped models learned, from the files that their trainings left."""

from inspector.sections.registry import Sections
from inspector.sections.training import run
from inspector.wording import training as words

PAGE = Sections(words.ASKS, (run.SECTION,), streams=lambda subject: ())
