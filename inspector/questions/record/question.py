"""A question: what is asked, what people say, what is measured, and the parts from which the verdict follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from inspector.questions.record.both import Both
from inspector.questions.record.checks import NumberCheck, Numbers
from inspector.questions.record.kinds import Kind
from inspector.questions.record.papers import Paper
from inspector.questions.record.picture import Picture
from inspector.questions.record.subject import Subject

Verdict = Literal["true", "false", "partly", "conditions"]
Mixed = Literal["partly", "conditions"]
Role = Literal["claim", "limit", "mechanism"]
Scope = Literal["algebra", "model", "text"]
Watch = Callable[[int, int], object]  # watch(done, total), in steps
Measure = Callable[[Subject], "Measurement"]
Run = Callable[[Subject, Watch], "Measurement"]
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_UNSAID = Both("", "")


@dataclass(frozen=True)
class ClaimPart:
    """A part of a claim, true where all of its checks hold.

    statement: the part as people say it. role: "claim", from which the verdict follows; "limit", what speaks against
    the claim or bounds it where it holds; "mechanism", what explains it.
    """

    statement: Both
    checks: tuple[NumberCheck, ...]
    role: Role = "claim"

    def holds(self, numbers: Numbers) -> bool:
        """Return True if the measured numbers bear the part out."""
        return all(check.holds(numbers) for check in self.checks)


@dataclass(frozen=True)
class Label:
    """A reader's label of a measured number: its name, and the unit after it, such as "FLOPs"; "%" is times 100.

    of: what was measured, where it is not the model that is asked; see measured.py.
    """

    name: Both
    unit: Both | str = ""
    of: Both | None = None


@dataclass(frozen=True)
class Measurement:
    """The numbers of a measure by name, and the figure's data."""

    numbers: Numbers
    picture: Picture | None = None


@dataclass(frozen=True)
class PublishedNumber:
    """A number that a paper reports, shown beside the measured one.

    value: as printed; "–" where the paper prints none, and `of` says what it shows. of: what the paper measured.
    same: False where the paper measures another quantity than the number beside it. from_memory: True where nobody
    has looked the value up. A reader is told of both.
    """

    value: str
    of: Both
    same: bool = True
    from_memory: bool = False


@dataclass(frozen=True)
class PageLink:
    """A link to the page that shows an answer in full. page: its address. state: the names and values of its link."""

    page: str
    state: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class StoredRun:
    """The numbers of a long experiment that was run once. command, seeds: repeat the run. date: of the run."""

    numbers: Numbers
    command: str
    seeds: str
    date: str


@dataclass(frozen=True)
class LongExperiment:
    """The experiment that the question's small measure stands for: a training, or a long clock.

    run: runs the experiment and tells `Watch` how far it is; ends where the watch raises. about: says what is done, and
    how long that takes on one core. parts, numbers: like those of a question. stored: the numbers of the last run.
    """

    run: Run
    about: Both
    parts: tuple[ClaimPart, ...]
    numbers: Mapping[str, Label]
    stored: StoredRun | None = None


@dataclass(frozen=True)
class StatedVerdict:
    """A verdict on what cannot be measured, such as who wrote something first. why: says why not, with the source."""

    verdict: Verdict
    why: Both


@dataclass(frozen=True)
class Question:
    """A question that people come with.

    number: 1 to 113, the claims; 114 to 143, findings that people quote; from 144 on, what is asked since.
    asked: the question. claim: what people say. parts: the claim in parts, from which the verdict follows.
    setting: what is measured, on which tokens and seeds, and why on another model than the reader's where that is so.
    because: why people believe otherwise, or what lies behind the answer; it names no measured number, for the text
    stands whatever the measure gave. refuted: what would refute the claim.
    measure: None where nothing can be measured; then `stated` gives the verdict. numbers: the labels of the measured
    numbers, in the order in which they are shown. formula: LaTeX, in which <name> stands for a measured number. of: the
    kind of models that can be asked; None where no loaded model takes part. published: the numbers that papers report,
    by the name of the measured number. mixed: the verdict where some claims hold and others do not: "partly" where they
    say different things, "conditions" where they say one thing under different conditions. reads_text: whether another
    text changes the numbers.
    """

    number: int
    asked: Both
    claim: Both
    because: Both
    refuted: Both
    parts: tuple[ClaimPart, ...] = ()
    measure: Measure | None = None
    numbers: Mapping[str, Label] = field(default_factory=lambda: _NOTHING)
    setting: Both = _UNSAID
    formula: str = ""
    papers: tuple[Paper, ...] = ()
    see: PageLink | None = None
    of: Kind | None = None
    whole: LongExperiment | None = None
    stated: StatedVerdict | None = None
    published: Mapping[str, PublishedNumber] = field(default_factory=lambda: _NOTHING)
    mixed: Mixed = "partly"
    reads_text: bool = True

    @property
    def scope(self) -> Scope:
        """Name what can change the numbers: nothing ("algebra"), a model ("model"), or a text too ("text")."""
        return "text" if self.reads_text else "algebra" if self.of is None else "model"


@dataclass(frozen=True)
class Theme:
    """Questions that belong together. id: in the page's link."""

    id: str
    name: Both
    questions: tuple[Question, ...]


def verdict(parts: tuple[ClaimPart, ...], numbers: Numbers, *, mixed: Mixed = "partly") -> Verdict:
    """Judge by the claims among the parts: true where all hold, false where none does, else as the question says."""
    held = held_claims(parts, [part.holds(numbers) for part in parts])
    return "true" if all(held) else mixed if any(held) else "false"


def held_claims(parts: Sequence[ClaimPart], held: Sequence[bool]) -> list[bool]:
    """Keep of what was found of each part what was found of the claims."""
    return [holds for part, holds in zip(parts, held, strict=True) if part.role == "claim"]
