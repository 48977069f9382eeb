"""Choices of a reader: a section names them, a host draws them, and `checked` refuses what is none of the options.

Ids are names in the link, and a name means one kind of value on all pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from inspector.text import visible

if TYPE_CHECKING:
    from inspector.sections.subject import Subject


@dataclass(frozen=True)
class Option:
    """One of a few options, of which a single one is not drawn.

    options: id -> words, which the link has. default: an id, None for the first. look: a bar, a list for many, or a
    slider for numbers. width: of a list or a slider, in pixels. named: the label stands over the bar.
    """

    id: str
    label: str
    options: Callable[[Subject], Mapping[str, str]]
    default: Callable[[Subject], str] | None = None
    look: Literal["bar", "list", "slider"] = "bar"
    width: int = 320
    help: str | None = None
    named: bool = False

    def first(self, subject: Subject) -> str:
        """Return what is chosen at first."""
        return next(iter(self.options(subject))) if self.default is None else self.default(subject)

    def checked(self, subject: Subject, value: Any) -> str:
        """Return the id of an option, given it or its words."""
        options = self.options(subject)
        for id, words in options.items():
            if value in (id, words):
                return id
        raise ValueError(f"{_shown(value)} is no {self.label.lower()}; it can be {', '.join(options)}.")


@dataclass(frozen=True)
class Named(Option):
    """One of many options in a list that can be searched; the link has its id.

    resets: ids of the choices that go back to their default with another option. width: in pixels.
    """

    resets: tuple[str, ...] = ()
    width: int = 320

    def first(self, subject: Subject) -> str:
        """Return what is chosen at first; of no options "", and the section says why there are none."""
        return super().first(subject) if self.options(subject) else ""

    def checked(self, subject: Subject, value: Any) -> str:
        """Return the id of an option."""
        options = self.options(subject)
        if not isinstance(value, str) or value not in options:
            raise ValueError(f"{self.label}: {_shown(value)} is none of {len(options)} options.")
        return value


@dataclass(frozen=True)
class Words:
    """Words of the reader's that choose; the link has what they choose.

    chooses: what they mean, by the ids of picks, None for a default; empty where they mean nothing. example: stands in
    the field. most: characters.
    """

    id: str
    label: str
    chooses: Callable[[Subject, str], Mapping[str, str | int | None]]
    example: str = ""
    most: int = 200
    width: int = 260

    def first(self, subject: Subject) -> str:
        """Return what is written at first: nothing."""
        return ""

    def checked(self, subject: Subject, value: Any) -> str:
        """Return the words."""
        if not isinstance(value, str) or len(value) > self.most:
            raise ValueError(f"{self.label}: write at most {self.most} characters, not {_shown(value)}.")
        return value


@dataclass(frozen=True)
class Filter:
    """Any of several options; with none, all are shown. The link does not have it. width: in pixels."""

    id: str
    label: str
    options: Callable[[Subject], Sequence[str]]
    width: int = 260

    def first(self, subject: Subject) -> tuple[str, ...]:
        """Return what is chosen at first: none."""
        return ()

    def checked(self, subject: Subject, value: Any) -> tuple[str, ...]:
        """Return the chosen options."""
        options = self.options(subject)
        if not isinstance(value, list | tuple) or any(one not in options for one in value):
            raise ValueError(f"{self.label}: {_shown(value)} is none of {', '.join(options)}.")
        return tuple(value)


@dataclass(frozen=True)
class Listed:
    """One of many names in a list that can be searched; the link has its number. width: in pixels.

    default: a number, or what gives one.
    """

    id: str
    label: str
    options: Callable[[Subject], Sequence[str]]
    default: int | Callable[[Subject], int] = 0
    width: int = 320

    def first(self, subject: Subject) -> int:
        """Return what is chosen at first."""
        default = self.default(subject) if callable(self.default) else self.default
        return max(0, min(default, len(self.options(subject)) - 1))

    def checked(self, subject: Subject, value: Any) -> int:
        """Return the number of a name; of no names 0, and the section says why there are none."""
        last = len(self.options(subject)) - 1
        return 0 if last < 0 else _whole(self.label, value, first=0, last=last)


@dataclass(frozen=True)
class Token(Listed):
    """A token of the text that is looked at, drawn as chips; the link has its position."""


@dataclass(frozen=True)
class Count:
    """A whole number from `first_value` to what `last` gives, typed or, with `slider`, moved.

    again: the words of a button that takes the next number, and after the last the first; "" for none.
    """

    id: str
    label: str
    last: Callable[[Subject], int]
    default: Callable[[Subject], int]
    first_value: int = 0
    step: int = 1
    help: str | None = None
    width: int = 140
    slider: bool = False
    again: str = ""

    def first(self, subject: Subject) -> int:
        """Return what is chosen at first."""
        return self.default(subject)

    def checked(self, subject: Subject, value: Any) -> int:
        """Return the number."""
        return _whole(self.label, value, first=self.first_value, last=self.last(subject))


@dataclass(frozen=True)
class Clicked(Count):
    """A whole number that a click on a map chooses."""


@dataclass(frozen=True)
class ClickedWords:
    """A text that clicks on buttons make, which no control shows; the link has it. pattern: of all that it can be."""

    id: str
    label: str
    pattern: str

    def first(self, subject: Subject) -> str:
        """Return what is chosen at first: nothing."""
        return ""

    def checked(self, subject: Subject, value: Any) -> str:
        """Return the text."""
        if not isinstance(value, str) or re.fullmatch(self.pattern, value) is None:
            raise ValueError(f"{self.label}: {_shown(value)} is not as this page writes it.")
        return value


@dataclass(frozen=True)
class Decimal:
    """A number from `first_value` to `last`, whole or not."""

    id: str
    label: str
    default: float
    last: float
    first_value: float = 0.0
    help: str | None = None

    def first(self, subject: Subject) -> float:
        """Return what is chosen at first."""
        return self.default

    def checked(self, subject: Subject, value: Any) -> float:
        """Return the number."""
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not self.first_value <= value <= self.last:
            raise ValueError(f"{self.label}: {_shown(value)} is not between {self.first_value:g} and {self.last:g}.")
        return float(value)


@dataclass(frozen=True)
class Switch:
    """A choice between yes and no."""

    id: str
    label: str
    default: bool = False
    help: str | None = None

    def first(self, subject: Subject) -> bool:
        """Return what is chosen at first."""
        return self.default

    def checked(self, subject: Subject, value: Any) -> bool:
        """Return True or False."""
        if not isinstance(value, bool):
            raise ValueError(f"{self.label} can be True or False, not {_shown(value)}.")
        return value


@dataclass(frozen=True)
class Several:
    """One to `most` of many numbers, each a chip; the link has them all. label: in the singular."""

    id: str
    label: str
    options: Callable[[Subject], range]
    default: Callable[[Subject], Sequence[int]]
    most: int

    def first(self, subject: Subject) -> tuple[int, ...]:
        """Return what is chosen at first."""
        return tuple(self.default(subject))

    def checked(self, subject: Subject, value: Any) -> tuple[int, ...]:
        """Return the numbers."""
        options = self.options(subject)
        if not isinstance(value, Sequence) or isinstance(value, str) or not 0 < len(value) <= self.most:
            raise ValueError(f"{self.label}: choose 1 to {self.most}, not {_shown(value)}.")
        return tuple(_whole(self.label, number, first=options[0], last=options[-1]) for number in value)


@dataclass(frozen=True)
class Names:
    """One to `most` of several names, each a chip; the link has their ids, with commas. options: id -> words."""

    id: str
    label: str
    options: Callable[[Subject], Mapping[str, str]]
    default: Sequence[str]
    most: int

    def first(self, subject: Subject) -> tuple[str, ...]:
        """Return what is chosen at first."""
        return tuple(self.default)

    def checked(self, subject: Subject, value: Any) -> tuple[str, ...]:
        """Return the ids."""
        options = self.options(subject)
        if not isinstance(value, Sequence) or isinstance(value, str) or not 0 < len(value) <= self.most:
            raise ValueError(f"{self.label}: choose 1 to {self.most}, not {_shown(value)}.")
        if unknown := [id for id in value if id not in list(options)]:
            raise ValueError(f"{self.label}: {_shown(unknown[0])} is none of {len(options)} names.")
        return tuple(value)


@dataclass(frozen=True)
class Step:
    """A step of several that can be played one after another, `interval` seconds each.

    steps: the name of each, numbered from `first_value`. default: the step seen at first, the last where None, at which
    all is seen. id: in the link, which has the step's number, or its name where it is `named`. slider: of many steps
    one can be chosen on a slider. The player's controls stand under the part's first words or first picture.
    """

    id: str
    label: str
    steps: Callable[[Subject], Sequence[str]]
    interval: float = 1.2
    default: Callable[[Subject], int] | None = None
    first_value: int = 0
    slider: bool = False
    named: bool = False

    def last(self, subject: Subject) -> int:
        """Return the number of the last step."""
        return self.first_value + len(self.steps(subject)) - 1

    def first(self, subject: Subject) -> int:
        """Return what is chosen at first."""
        return self.last(subject) if self.default is None else self.default(subject)

    def checked(self, subject: Subject, value: Any) -> int:
        """Return the number of a step."""
        return _whole(self.label, value, first=self.first_value, last=self.last(subject))


@dataclass(frozen=True)
class Texts:
    """Texts of the reader, a line each; the link has them all.

    default: the lines at first, or what gives them. most: characters of all. examples: words -> lines, each a button
    that takes them.
    """

    id: str
    label: str
    default: str | Callable[[Subject], str]
    most: int
    examples: Mapping[str, str] = field(default_factory=dict)
    height: int = 148
    help: str | None = None

    def written(self, subject: Subject) -> str:
        """Return the lines at first as they stand in the field."""
        return self.default(subject) if callable(self.default) else self.default

    def first(self, subject: Subject) -> tuple[str, ...]:
        """Return what is written at first."""
        return self.checked(subject, self.written(subject))

    def checked(self, subject: Subject, value: Any) -> tuple[str, ...]:
        """Return the lines that are not empty, given them or the whole."""
        lines = value.splitlines() if isinstance(value, str) else value
        if not isinstance(lines, Sequence) or not all(isinstance(line, str) for line in lines):
            raise ValueError(f"{self.label}: {_shown(value)} is no text.")
        if (length := sum(map(len, lines))) > self.most:
            raise ValueError(f"{self.label}: {length:,} characters are more than {self.most:,}.")
        return tuple(line.strip() for line in lines if line.strip())


@dataclass(frozen=True)
class Line:
    """A line of the reader's, at most `most` characters; the link has it. default: gives what is written at first."""

    id: str
    label: str
    default: Callable[[Subject], str]
    most: int
    help: str | None = None
    width: int = 320

    def first(self, subject: Subject) -> str:
        """Return what is written at first."""
        return self.default(subject)

    def checked(self, subject: Subject, value: Any) -> str:
        """Return the line."""
        if not isinstance(value, str):
            raise ValueError(f"{self.label}: {_shown(value)} is no text.")
        if len(value) > self.most:
            raise ValueError(f"{self.label}: {len(value):,} characters are more than {self.most:,}.")
        return value


@dataclass(frozen=True)
class Head:
    """A head of the stream as (layer, head, call); call: which attention of a layer that attends more than once.

    The link has all three, and the head is the same on all pages that have this choice; at first a telling head.
    drawn: False where a section reads which head is open and offers no other.
    """

    id: str = "head"
    label: str = "Head"
    drawn: bool = True

    def first(self, subject: Subject) -> tuple[int, int, int]:
        """Return what is chosen at first."""
        return *subject.first_head, 0

    def checked(self, subject: Subject, value: Any) -> tuple[int, int, int]:
        """Return layer, head and call, given all three or (layer, head)."""
        if isinstance(value, tuple | list) and len(value) in (2, 3) and all(type(number) is int for number in value):
            layer, head, call = (*value, 0)[:3]
            for site in subject.trace.sites_of(subject.stream):
                if (site.layer, site.call) == (layer, call) and 0 <= head < site.heads:
                    return layer, head, call
        raise ValueError(f"{self.label}: {_shown(value)} is no (layer, head) of this text's {subject.stream}.")


Pick = (
    Option
    | Named
    | Words
    | Filter
    | Listed
    | Token
    | Count
    | Clicked
    | ClickedWords
    | Decimal
    | Switch
    | Several
    | Names
    | Head
    | Step
    | Line
    | Texts
)


def _whole(label: str, value: Any, *, first: int, last: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not first <= value <= last:
        raise ValueError(f"{label}: {_shown(value)} is none of {first} to {last}.")
    return value


def _shown(value: Any) -> str:
    """Quote a stranger's value: at most 60 characters, nothing invisible."""
    return repr(visible(value[:60]) if isinstance(value, str) else value)[:64]
