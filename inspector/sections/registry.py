"""All pages and their sections: navigation, links, questions, docs/pages.md and tests read them here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from inspector.sections.picks import Clicked, ClickedWords, Head, Listed, Named, Names, Pick, Several, Step
from inspector.sections.section import Link, Need, Section
from inspector.wording import pages as words

if TYPE_CHECKING:
    from inspector.sections.subject import Subject


@dataclass(frozen=True)
class Page:
    """A page. address: of its link, "" of the first. group: of the menu; icon: a name of Material Symbols.

    board: a view with code of its own, whose pictures are touched; else a page of sections. reads: it shows the
    reader's text; runs: it asks the reader's model. The sidebar has what the page reads and runs. attends: what it
    shows is of softmax attention, whose rows are shares. in_chinese: its content is in Chinese too, not only the frame
    around it.
    """

    address: str
    group: str
    icon: str
    board: bool = True
    reads: bool = True
    runs: bool = True
    attends: bool = False
    in_chinese: bool = False

    @property
    def title(self) -> str:
        """The page's name in the menu."""
        return words.TITLES[self.address]

    @property
    def purpose(self) -> str:
        """The line that says what the page is for."""
        return words.PURPOSES[self.address]


def _streams(subject: Subject) -> Sequence[str]:
    """Return the streams of the recorded text, none where no text is."""
    return () if subject.recording is None else subject.recording.streams


@dataclass(frozen=True)
class Group:
    """Sections behind one choice of the bar, for readers who go on; a list chooses among them. title: in the bar."""

    id: str
    title: str
    sections: tuple[Section, ...]


@dataclass(frozen=True)
class Sections:
    """The sections of a page. asks: the label of their bar. bar: what it offers. opening: the id of the section above.

    What is chosen in that one holds for a choice of the same id below. need: what the model must be able to do for all
    sections. streams: those that the sections can look at, none where they choose by themselves; stream_name: in the
    link. elsewhere: sections that another page shows, among what it has to the same question.
    """

    asks: str
    bar: tuple[Section | Group, ...]
    opening: str = ""
    need: Need | None = None
    streams: Callable[[Subject], Sequence[str]] = _streams
    stream_name: str = "stream"
    links: tuple[Link, ...] = ()
    elsewhere: tuple[Section, ...] = ()

    @property
    def sections(self) -> tuple[Section, ...]:
        """All sections, those of groups and those that another page shows too."""
        listed = (entry.sections if isinstance(entry, Group) else (entry,) for entry in self.bar)
        return tuple(part for sections in (*listed, self.elsewhere) for part in sections)

    @property
    def below(self) -> tuple[Section | Group, ...]:
        """Offers of the bar: all but the section above it."""
        return tuple(entry for entry in self.bar if entry.id != self.opening)

    def need_of(self, section: Section) -> Need | None:
        """Return what the model must be able to do for a section: its own need, or the page's."""
        return section.need or self.need

    @property
    def picks(self) -> tuple[Pick, ...]:
        """All choices of the sections and of their parts."""
        return tuple(pick for section in self.sections for part in (section, *section.parts) for pick in part.picks)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names in the link of all choices: of a section, of a stream, of picks, and of what a switch starts."""
        every = [part for section in self.sections for part in (section, *section.parts)]
        starts = [part.id for part in every if part.starts or part.folded]
        names = [self.stream_name, *(pick.id for pick in self.picks), *starts, *self.assigned]
        return tuple(dict.fromkeys(names))

    @property
    def assigned(self) -> tuple[str, ...]:
        """The parameters that the page assigns by itself, for no widget holds them in the link."""
        kinds = Clicked | ClickedWords | Listed | Named | Names | Several | Head | Step
        names = [pick.id for pick in self.picks if isinstance(pick, kinds)]
        places = ["layer", "call"] if any(isinstance(pick, Head) for pick in self.picks) else []
        return tuple(dict.fromkeys(["section", *names, *places]))


PAGES = {
    page.address: page
    for page in (
        Page("", "read", "grid_view"),
        Page("compare", "read", "compare"),
        Page("scores", "read", "score", board=False, attends=True),
        Page("what_if", "read", "alt_route", attends=True),
        Page("block", "inside", "account_tree", board=False),
        Page("layernorm", "inside", "equalizer", board=False),
        Page("positions", "inside", "waves", board=False),
        Page("costs", "inside", "calculate", board=False),
        Page("generate", "write", "edit_note", attends=True),
        Page("time", "write", "schedule", board=False),
        Page("questions", "learn", "quiz", in_chinese=True),
        Page("practice", "learn", "code", reads=False, runs=False, in_chinese=True),
        Page("lessons", "learn", "school", reads=False, runs=False, in_chinese=True),
        Page("tokens", "learn", "text_fields", board=False),
        Page("batch", "learn", "view_list", board=False),
        Page("lab", "learn", "science", reads=False, runs=False),
        Page("training", "learn", "timeline", board=False, reads=False, runs=False),
        Page("atlas", "corpus", "map", board=False, reads=False),
    )
}


def sections(address: str) -> Sections:
    """Return the sections of a page; ValueError where it has none."""
    if address not in PAGES or PAGES[address].board:
        names = ", ".join(page.address for page in PAGES.values() if not page.board)
        raise ValueError(f"{address!r} is no page of sections; these are: {names}.")
    page: Sections = import_module(f"{__package__}.{address}").PAGE
    return page


def section(path: str) -> Section:
    """Return a section by its page's address and its id, such as "block/added"; ValueError where there is none."""
    address, _, id = path.partition("/")
    listed = {section.id: section for section in sections(address).sections}
    if id not in listed:
        raise ValueError(f"The page {address} has no section {id!r}; it has {', '.join(listed)}.")
    return listed[id]
