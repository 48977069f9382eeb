"""A question: what is asked, what people say, what is measured, and the parts from which the verdict follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from inspector.questions.record.both import Both
from inspector.questions.record.checks import Check, Numbers
from inspector.questions.record.kinds import Kind
from inspector.questions.record.papers import Paper
from inspector.questions.record.picture import Picture
from inspector.questions.record.subject import Subject

Verdict = Literal["true", "false", "depends"]
Watch = Callable[[int, int], object]  # is told how many of how many steps are done
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_UNSAID = Both("", "")


@dataclass(frozen=True)
class Part:
    """A part of a claim, as people say it; it is true where all its checks hold."""

    said: Both
    checks: tuple[Check, ...]

    def holds(self, numbers: Numbers) -> bool:
        """Return True if the measured numbers bear the part out."""
        return all(check.holds(numbers) for check in self.checks)


@dataclass(frozen=True)
class Quantity:
    """A measured number, for a reader. unit: as it follows the number, such as "FLOPs"; "%" is times 100."""

    name: Both
    unit: Both | str = ""


@dataclass(frozen=True)
class Measured:
    """The numbers of a measure by name, and the figure's data."""

    numbers: Numbers
    picture: Picture | None = None


@dataclass(frozen=True)
class Published:
    """A paper's report of the number that stands beside it. value: as the paper writes it. of: of what."""

    value: str
    of: Both


@dataclass(frozen=True)
class See:
    """The page and its state that show an answer whole. page: its address. state: the names and values of its link."""

    page: str
    state: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Stored:
    """The numbers of a whole run, made once. command, seeds and date: how it is made again, and when it was made."""

    numbers: Numbers
    command: str
    seeds: str
    date: str


@dataclass(frozen=True)
class Whole:
    """The experiment that the question's small measure stands for: a training, or a long clock.

    run: makes it, and tells `Watch` how far it is; ends where that raises. about: what is done and how long it takes on
    one core. parts, numbers: as of a question. stored: what it gave when it was run last.
    """

    run: Callable[[Subject, Watch], Measured]
    about: Both
    parts: tuple[Part, ...]
    numbers: Mapping[str, Quantity]
    stored: Stored | None = None


@dataclass(frozen=True)
class Stated:
    """The verdict on what cannot be measured, such as who wrote something first. why: why not, and the source."""

    verdict: Verdict
    why: Both


@dataclass(frozen=True)
class Question:
    """A question that people come with.

    number: 1 to 113, the claims; from 114 on, findings about heads that people quote.
    asked: the question. said: what people say. parts: the claim in parts, from which the verdict follows.
    setting: what is measured, and on what: tokens, seeds, and why another model than the reader's where it is one.
    because: why people believe otherwise, or what lies behind; no number that was measured, for it stands whatever
    the measure gave. refuted: what would refute it.
    measure: None where nothing can be measured; then `stated` says the verdict. numbers: what the measure gives, in the
    order in which it is shown. formula: LaTeX, in which <name> stands for a measured number. of: which models can be
    asked; None where no loaded model takes part. published: what a paper reports of a number.
    """

    number: int
    asked: Both
    said: Both
    because: Both
    refuted: Both
    parts: tuple[Part, ...] = ()
    measure: Callable[[Subject], Measured] | None = None
    numbers: Mapping[str, Quantity] = field(default_factory=lambda: _NOTHING)
    setting: Both = _UNSAID
    formula: str = ""
    papers: tuple[Paper, ...] = ()
    see: See | None = None
    of: Kind | None = None
    whole: Whole | None = None
    stated: Stated | None = None
    published: Mapping[str, Published] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True)
class Theme:
    """Questions that belong together. id: in the page's link."""

    id: str
    name: Both
    questions: tuple[Question, ...]


def verdict(parts: tuple[Part, ...], numbers: Numbers) -> Verdict:
    """Judge a claim by its parts: true where all hold, false where none does, else it depends on which is meant."""
    held = [part.holds(numbers) for part in parts]
    return "true" if all(held) else "depends" if any(held) else "false"
