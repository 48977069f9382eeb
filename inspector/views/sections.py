"""A page of sections: the bar that chooses a section, and each section's choices and blocks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from inspector.sections import registry
from inspector.sections.picks import Listed, Named, Step, Texts
from inspector.sections.section import (
    Ask,
    Block,
    Check,
    Choices,
    Figure,
    Files,
    HeadMaps,
    Link,
    Map,
    Measurement,
    Need,
    Note,
    Numbers,
    Paragraph,
    Problem,
    Quote,
    Row,
    Section,
    Sentence,
    Table,
    Thumbnails,
)
from inspector.sections.subject import Subject
from inspector.text import plain
from inspector.views import section_bar
from inspector.views.choices import assign, choose, clicked_cell, clicked_point
from inspector.views.components import width
from inspector.views.figures import chart, heads, matrix, save
from inspector.views.shell import (
    available_models,
    boundary,
    caching,
    controls,
    link,
    loaded_models,
    measuring,
    pages,
    problems,
    progress,
    python_lines,
    readings,
    sentence,
    session,
    stand_in,
    variants,
)
from inspector.views.shell.player import Player
from inspector.wording import pages as words

ASIDE = (1, 3)  # widths of the choices and of the blocks beside them


class Top(NamedTuple):
    """Places of a section: of its sentence, of texts that are typed, of the other choices, and of its blocks.

    onward: of the choices of parts that go on with it.
    """

    sentence: DeltaGenerator
    texts: DeltaGenerator
    choices: DeltaGenerator
    onward: DeltaGenerator
    blocks: DeltaGenerator


class Waiting:
    """The words of what a section waits for, which the page says while they are begun.

    A spinner of Streamlit's starts a thread, which takes half a millisecond: a part that waits for the same as its
    section shares the section's.
    """

    def __init__(self, words: str = "") -> None:
        self.words = words
        self._begun = ExitStack()
        self._is_begun = False

    def begin(self) -> None:
        """Say the words, where they are not said already."""
        if self.words and not self._is_begun:
            self._begun.enter_context(st.spinner(self.words))
            self._is_begun = True

    def end(self) -> None:
        """Say them no longer."""
        self._begun.close()
        self._is_begun = False

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Say them within the block, and behind it only where they were said before it."""
        was_begun = self._is_begun
        self.begin()
        try:
            yield
        finally:
            if not was_begun:
                self.end()


@dataclass(frozen=True)
class Around:
    """Surroundings of a section or a part.

    chosen: what is chosen there, by the ids of choices, which are not drawn again. within: tells a part's places apart.
    top: places of its sentence, of texts that are typed and of other choices, for a part that goes on with its section;
    None where a section has its own. below: what is chosen in the parts that are drawn. follow: takes what a button
    chooses, by the ids of choices. waiting: what the section around waits for.
    """

    chosen: Mapping[str, Any] = field(default_factory=dict)
    within: Hashable = ()
    top: Top | None = None
    below: dict[str, Any] = field(default_factory=dict)
    follow: Callable[[Mapping[str, Any]], None] = assign
    waiting: Waiting = field(default_factory=Waiting)


def show_page(
    address: str, make: Callable[[Need | None], Subject | None] | None = None, *, parameters: Sequence[str] = ()
) -> Subject | None:
    """Draw a page: the section that opens it, and the one of the bar that is chosen; a single one has no bar.

    make: takes what the model must be able to do, and gives the subject, None where there is none yet; of the reader's
    text where None, or of none on a page that reads none. parameters: those that `make` assigns. Returns the subject.
    """
    page = registry.sections(address)
    link.parameters(*page.assigned, *parameters)
    top = st.container()
    chosen = section_bar.choose(page)
    with nullcontext() if chosen.need else top:  # a line that names a stand-in stands under the bar that asked for it
        text = registry.PAGES[address].reads and not (_is_course(chosen, page) and session.nothing_to_read())
        subject = (make or (of_text if text else of_course))(page.need_of(chosen))
        if subject is None:
            return None
        subject = _on_page(subject)
        if streams := page.streams(subject):
            subject = replace(subject, stream=controls.stream(streams, key=page.stream_name))
    around = Around()
    with top:
        for section in page.sections:
            if section.needs_model and subject.loaded is None:  # which the section below says
                continue
            if section.id == page.opening:  # whole with the page, for its choices may hold below
                around = Around(_show(section, subject, around))
    show(chosen, subject, around)
    for way in page.links:
        _draw(way, subject, around)
    link.publish()
    return subject


def host(section: Section, subject: Subject) -> None:
    """Draw a section on a page of another kind, whose bar has chosen it, and the choice of its stream."""
    subject = replace(_on_page(subject), stream=controls.stream(subject.trace.streams))
    show(section, subject, Around())
    link.publish()


def inside(
    section: Section, subject: Subject, chosen: Mapping[str, Any], *, follow: Callable[[Mapping[str, Any]], None]
) -> None:
    """Draw a section within a board that makes all its choices. follow: takes what a button of the section chooses."""
    _show(section, _on_page(subject), Around(chosen, follow=follow))


def _on_page(subject: Subject) -> Subject:
    return replace(
        subject,
        progress=progress.layers,
        narrow=width.is_narrow(),
        stacked=width.is_stacked(),
        measured=measuring.last,
    )


def show(section: Section, subject: Subject, around: Around) -> None:
    """Draw a section; where none of it runs long, a choice in it draws it alone anew."""
    if section.starts or section.waits or section.long:  # Stop ends no work of a fragment
        _show(section, subject, around)
    else:
        st.fragment(boundary.part(_show_and_publish))(section, subject, around)


def _show_and_publish(section: Section, subject: Subject, around: Around) -> None:
    _show(section, subject, around)
    link.publish()


def of_text(need: Need | None) -> Subject:
    """Record the reader's text in the chosen model, or in one that can do what the section needs."""
    if need is None:
        inspected = session.inspected()
        return session.subject(inspected.trace, inspected.loaded)
    shown = stand_in.inspected(need.cannot, can=need.can, instead=need.instead, reads=need.reads)
    if shown.stands_in and (reason := _why_not(need)):
        st.caption(plain(words.WHY_NOT.format(reason)))
    return session.subject(shown.trace, shown.loaded)


def of_model(need: Need) -> Subject:
    """Take the model that the reader chose, or one that can do what the page needs; no text is read."""
    return session.subject(None, stand_in.loaded(need.cannot, can=need.can, instead=need.instead))


def of_course(need: Need | None) -> Subject:
    """Make the subject of a course, which is the same whatever the reader's text."""
    return Subject(None, cache=caching.cached, load=session.load, at_hand=loaded_models.is_at_hand)


def _is_course(section: Section, page: registry.Sections) -> bool:
    """Return True if nothing on a page in this section speaks of a text."""
    return section.about == "course" and not page.opening and page.need_of(section) is None


def _why_not(need: Need) -> str:
    model = session.chosen_model()
    return "" if model is None else need.why_not(session.load(model))


def _show(section: Section, subject: Subject, around: Around) -> dict[str, Any]:
    """Draw a section's choices and its blocks; returns what is chosen, in its parts and around it too."""
    top = around.top
    if top is None:
        top = _places(section)
        with top.blocks:
            return _show(section, subject, replace(around, top=top))
    if section.needs_model and subject.loaded is None:
        not_there = words.NOT_AT_HAND.format(available_models.title(subject.trace.model))
        problems.show(words.ONLY_GIVEN if subject.trace.given else not_there)
        return {}
    waiting = around.waiting if around.waiting.words == section.waits else Waiting(section.waits)
    with waiting.shown() if section.picks else nullcontext():
        return _choose_and_draw(section, subject, replace(around, waiting=waiting), top)


def _choose_and_draw(section: Section, subject: Subject, around: Around, top: Top) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    waiting = around.waiting
    steps = next((pick for pick in section.picks if isinstance(pick, Step)), None)
    with top.choices:
        for pick in section.picks:
            if pick.id in around.chosen:
                chosen[pick.id] = around.chosen[pick.id]
            elif pick is not steps and (not isinstance(pick, Listed | Named) or pick.options(subject)):
                with top.texts if isinstance(pick, Texts) else nullcontext():
                    chosen[pick.id] = choose(pick, subject)
    known = {**around.chosen, **chosen}
    if section.starts or steps is not None:  # what follows stands still, and what is said over it would move it
        waiting.end()
    if section.starts and not st.toggle(section.starts, key=section.id, bind=link.bind_switch(section.id)):
        return known
    if steps is not None:
        _play(section, subject, steps, within=around.within)
        return known
    inner = replace(
        around,
        chosen=known,
        within=(section.id, *chosen.values()),
        top=top._replace(choices=top.onward),
        below={},
    )
    try:
        subject = replace(subject, beside=_beside(subject)) if section.compares else subject
        for block in _awaited(section.blocks(subject, **chosen), waiting):
            if isinstance(block, Ask) and not _asked(block, subject):
                return known
            with top.sentence if isinstance(block, Sentence) else nullcontext():
                _draw(block, subject, inner)
    except ValueError as error:
        problems.show(str(error))
    return known | inner.below


def _places(section: Section) -> Top:
    sentence_place = st.container()
    left, right = st.columns(ASIDE, gap="medium") if section.aside else (st, st)  # a place in an empty one has a gap
    if not section.behind:
        texts, row = left.container(), _row_of_choices(left)
        return Top(sentence_place, texts, row, row, right.container())
    row = _row_of_choices(left)
    opened = row.popover(section.behind, icon=":material/edit_note:")
    return Top(sentence_place, opened.container(), _row_of_choices(opened), row, right.container())


def _row_of_choices(place: Any) -> DeltaGenerator:
    row: DeltaGenerator = place.container(horizontal=True, vertical_alignment="bottom", gap="small")
    return row


def _awaited(blocks: Iterator[Block], waiting: Waiting) -> Iterator[Block]:
    """Yield blocks; while the next is made the page says what it waits for, unless a block says so itself."""
    with waiting.shown():
        for block in blocks:
            if _says(block, waiting.words):
                waiting.end()
            yield block
            waiting.begin()


def _says(block: Block, words: str) -> bool:
    """Tell a block that says itself what it waits for, or that waits for the reader."""
    match block:
        case Section():
            return block.waits != words
        case Row():
            columns = (column if isinstance(column, tuple) else (column,) for column in block.columns)
            return any(_says(inner, words) for column in columns for inner in column)
        case _:
            return isinstance(block, Ask | Measurement)


def _asked(ask: Ask, subject: Subject) -> bool:
    """Return True once the reader pressed the button, which is drawn until then."""
    pressed: set[Hashable] = st.session_state.setdefault(f"{ask.id}.asked", set())
    key = (subject.trace.key, ask.of)
    if key not in pressed:
        st.caption(ask.about)
        st.button(ask.label, icon=":material/play_arrow:", key=ask.id, on_click=pressed.add, args=(key,))
    return key in pressed


def _beside(subject: Subject) -> Subject | None:
    """Record the text in side B of the sidebar's switches; where it cannot be read there the page says why."""
    model, trace = variants.side_b(), subject.trace
    if model is None or model == trace.model:
        return None
    try:
        seen = session.record(model, trace.text, text_pair=trace.text_pair, target=trace.target_text)
    except ValueError as error:
        st.caption(plain(words.NO_SIDE_B.format(str(error).rstrip("."))))
        return None
    return replace(session.subject(seen.trace, seen.loaded), stream=subject.stream, progress=subject.progress)


def _draw(block: Block, subject: Subject, around: Around) -> None:
    match block:
        case Sentence():
            sentence.show(block.text, block.terms)
        case Paragraph():
            _heading(block.heading)
            if block.text:
                st.markdown(block.text, help=block.help or None)
        case Note():
            _heading(block.heading)
            st.caption(block.text)
            if block.code:
                with st.popover(words.PYTHON):
                    python_lines.show(block.code)
        case Problem():
            problems.show(block.text)
        case Figure():
            chart.show(
                block.draw,
                alt=block.alt,
                key=block.id,
                heading=block.heading,
                sentence=block.sentence,
                name=block.name,
                python=block.code,
                table=block.table,
                on_pick=partial(clicked_point, block.id, block.chooses) if block.chooses else None,
            )
            if block.note:
                st.caption(block.note)
        case Map():
            matrix.show(
                *block.panels,
                row_title=block.row_title,
                column_title=block.column_title,
                quantity=block.quantity,
                numbered=block.numbered,
                top=block.top,
                diverging=block.diverging,
                scale=block.scale,
                kinds=block.kinds,
                heading=block.heading,
                sentence=block.sentence,
                name=block.name or block.id,
                key=block.id,
                python=block.code,
                on_pick=partial(clicked_cell, block.chooses, block.choosing) if block.chooses else None,
            )
            if block.note:
                st.caption(block.note)
        case Thumbnails() | HeadMaps():
            heads.show(block, on_choose=assign)
            if block.note:
                st.caption(block.note)
        case Numbers():
            _heading(block.heading)
            numbers = [(number.name, number.value, number.meaning) for number in block.numbers]
            readings.cards(numbers) if block.cards else readings.line(numbers, of=block.of, about=block.about)
        case Check():
            icon = ":material/verified:" if block.holds else ":material/warning:"
            st.badge(plain(block.text), icon=icon, color="green" if block.holds else "red")
        case Table():
            folded = block.folded and not block.prose
            _heading("" if folded else block.heading)
            if block.prose:
                st.table(block.frame.set_index(block.frame.columns[0]))
                return
            with st.expander(block.heading or words.ALL_NUMBERS) if folded else nullcontext():
                readings.table(block.frame, name=block.id, words=block.words, height=block.height)
            if block.code:
                with st.expander(words.PYTHON):
                    python_lines.show(block.code)
        case Quote():
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(block.said, width="content")
                st.text(block.text, width="stretch")  # no Markdown: it would make a link of an address in it
                if block.link is not None:
                    link.to(block.link.page, block.link.given, label=block.link.label)
        case Choices():
            with st.container(horizontal=True):
                for choice in block.choices:
                    if choice.chosen:
                        st.button(choice.label, key=choice.id, on_click=around.follow, args=(choice.chosen,))
                    else:
                        st.markdown(choice.label, width="content")
        case Files():
            save.row(block.files)
        case Link():
            given = link.of_sidebar() | dict(block.given)
            icon = f":material/{registry.PAGES[block.page].icon}:"
            st.page_link(pages.FILES[block.page], label=block.label, icon=icon, query_params=given)
        case Row():
            widths = list(block.widths) or len(block.columns)
            inside = replace(around, top=None)
            for place, column in zip(st.columns(widths, gap="medium"), block.columns, strict=True):
                with place:
                    for inner in column if isinstance(column, tuple) else (column,):
                        _draw(inner, subject, inside)
        case Measurement():
            result = measuring.run(block.work, known=block.key, key=block.id, about=block.about)
            for inner in () if result is None else block.answer(result):
                _draw(inner, subject, around)
        case Section(folded=True):
            beside = f":material/{block.icon}:" if block.icon else None
            with st.expander(block.title, key=block.id, icon=beside, on_change="rerun") as part:
                if part.open:
                    around.below.update(_show(block, subject, replace(around, top=None)))
        case Section():
            _heading(block.title)
            inside = replace(around, top=None) if block.title else around
            around.below.update(_show(block, subject, inside))


def _heading(heading: str) -> None:
    if heading:
        st.subheader(heading, anchor=False)


# --- a part that plays ------------------------------------------------------------------------------------------------


def _play(section: Section, subject: Subject, pick: Step, *, within: Hashable) -> None:
    """Draw a part whose steps are played or walked through; only the part is drawn again."""
    names = list(pick.steps(subject))
    player = Player(
        section.id,
        step=pick.id,
        interval=pick.interval,
        first=pick.first_value,
        last=pick.last(subject),
        opens=pick.first(subject),
        names=names if pick.named else (),
    )
    of = () if section.about == "course" else (subject.trace.key, subject.stream)
    player.load((*of, within))
    player.panel(_panel)(section, subject, pick, names, player)


def _panel(section: Section, subject: Subject, pick: Step, names: list[str], player: Player) -> None:
    step = player.seen()
    drawn = False
    for block in section.blocks(subject, **{pick.id: step}):
        _draw(block, subject, Around())
        if isinstance(block, Sentence | Paragraph | Figure | Map) and not drawn:
            drawn = True
            _controls(pick, names, step, player)


def _controls(pick: Step, names: list[str], step: int, player: Player) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        player.buttons()
        if not pick.slider:
            number = step - pick.first_value
            st.markdown(words.STEP.format(number + 1, len(names), names[number]), width="content")
        elif len(names) > 1:
            player.slider(step, label=pick.label, key=pick.id)
