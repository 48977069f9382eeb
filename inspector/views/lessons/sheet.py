"""A reader's answers to the open lesson: kept in the browser, exported, imported and forgotten, as guesses are.

sheet = Sheet.of(lesson)             # at the page's top: what the browser told since the run before is in it
sheet.take(3, 0.41)
sheet.keep()                         # at its end: tells the browser what to keep
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType

import streamlit as st

from inspector.lessons import answers as files
from inspector.lessons.answers import Answers
from inspector.lessons.judging import Answer, Judged, judge
from inspector.lessons.lesson import Guess, Lesson
from inspector.questions.index import BY_NUMBER
from inspector.questions.record.question import Verdict
from inspector.views.components import keeping
from inspector.views.components.upload import upload
from inspector.views.shell import downloads
from inspector.views.shell.question_reader import Reader

FILE = "headlight-answers.json"
KEY = "headlight.lesson"
"""The beginning of the key under which a browser keeps the answers to a lesson; its digest follows."""
_SHEETS = "lessons.sheets"  # in the session: the sheets of this visit, by the digest of the lesson


@dataclass
class Sheet:
    """Answers, and what the session knows of the browser's storage.

    verdicts: of questions as they were measured, by their step. written: what the browser is told to keep, None where
    the browser leads. said: a sentence about the last file that was imported.
    """

    lesson: Lesson
    answers: Answers
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    told: keeping.Told | None = None
    written: str | None = None
    unreadable: files.Why | None = None
    left_out: int = 0
    said: str = ""

    @classmethod
    def of(cls, lesson: Lesson) -> Sheet:
        """Return the session's sheet of a lesson, with what the browser told since the run before."""
        sheets: dict[str, Sheet] = st.session_state.setdefault(_SHEETS, {})
        sheet = sheets.get(lesson.digest)
        if sheet is None:
            sheet = sheets[lesson.digest] = cls(lesson, Answers(lesson.digest, lesson.title.en))
        sheet.lesson = lesson  # words may have been put right
        sheet._hear()
        return sheet

    @property
    def judged(self) -> Mapping[int, Judged]:
        """Each answer judged as far as that is known, by the step."""
        given = self.answers.given
        return {
            at: judge(step.asks, given.get(at), verdict=self.verdicts.get(at))
            for at, step in self.lesson.asking.items()
        }

    def take(self, at: int, answer: Answer | None) -> bool:
        """Keep an answer to a step, or take it back; False where the file would be larger than one may be."""
        given = {number: kept for number, kept in self.answers.given.items() if number != at}
        return self._changed(replace(self.answers, given=given if answer is None else given | {at: answer}))

    def name(self, student: str) -> None:
        """Keep the reader's name, as the reader types it."""
        self._changed(replace(self.answers, student=student.strip()[: files.MOST_STUDENT]))

    def measure(self, at: int, guess: Guess, words: ModuleType) -> Verdict | None:
        """Measure the question of a step, once; None where it gives no verdict. ValueError where a model is missing."""
        if at not in self.verdicts:
            verdict = Reader(guess.model, guess.text).answer(BY_NUMBER[guess.question], words).verdict
            if verdict is None:
                return None
            self.verdicts[at] = verdict
        return self.verdicts[at]

    def keep(self) -> None:
        """Tell the browser what to keep; called in every run, at the page's end."""
        keeping.watch(self.written, of=self._place)

    def problem(self, words: ModuleType) -> str:
        """Say what went wrong with the browser's storage, "" where nothing did."""
        if self.unreadable is not None:
            return str(words.UNREADABLE[self.unreadable])
        if self.told is not None and self.told.problem in ("blocked", "full"):
            return str(words.STORAGE[self.told.problem])
        return str(words.left_out(self.left_out)) if self.left_out else ""

    def _hear(self) -> None:
        told = keeping.told(self._place)
        if told is None or told == self.told:
            return
        there = self.written if self.written is not None or self.told is None else self.told.text
        first, self.told = self.told is None, told
        if told.problem == "large":
            self.unreadable = "large"
        elif not told.problem and told.text != there:
            before = self.answers if first else None
            self.unreadable, self.left_out, self.written = None, 0, None
            self._read(told.text)
            if before is not None and (before.given or before.student) and self.unreadable is None:
                self._changed(_joined(before, self.answers))  # answered before the browser told

    def _read(self, text: str) -> None:
        """Take the browser's text in the place of what the session knew."""
        if not text:
            self.answers = Answers(self.lesson.digest, self.lesson.title.en)
            return
        try:
            found = files.read(text)
        except files.UnreadableError as error:
            self.unreadable = error.why
            return
        if found.answers.lesson == self.lesson.digest:
            self.answers, self.left_out = found.answers, found.left_out

    def _changed(self, answers: Answers) -> bool:
        text = files.written(answers, {})
        if len(text.encode(errors="replace")) > files.MOST_BYTES:
            return False
        self.answers = answers
        if self.unreadable is None:  # what could not be read stays until the reader forgets it
            self.written = text
        return True

    def forget(self) -> None:
        """Forget every answer, in the browser and in this visit."""
        self.answers, self.unreadable, self.left_out = Answers(self.lesson.digest, self.lesson.title.en), None, 0
        self.said, self.written = "", ""

    def load(self, text: str | None, words: ModuleType) -> None:
        """Join the answers of a file with those that are kept, or say why the file is none."""
        try:
            if text is None:
                raise files.UnreadableError("large")
            found = files.read(text)
        except files.UnreadableError as error:
            self.said = words.REFUSED[error.why]
            return
        if found.answers.lesson != self.lesson.digest:
            self.said = words.of_another(found.answers.title)
            return
        taken = self._changed(_joined(found.answers, self.answers))
        self.said = words.taken(len(found.answers.given), found.left_out) if taken else words.NO_ROOM

    @property
    def _place(self) -> keeping.Place:
        return keeping.Place(f"{KEY}.{self.lesson.digest}", files.MOST_BYTES)


def _joined(later: Answers, before: Answers) -> Answers:
    """Join the answers of a lesson; of two to one step the later counts, and the name that was there stays."""
    return replace(before, given={**before.given, **later.given}, student=before.student or later.student)


def panel(sheet: Sheet, words: ModuleType) -> None:
    """Draw how far the reader is, the name, and the file that is handed in."""
    digest = sheet.lesson.digest
    judged, asking = sheet.judged, sheet.lesson.asking
    rights = [one.right for one in judged.values()] if sheet.lesson.feedback else []
    answered = len(asking.keys() & sheet.answers.given.keys())
    st.subheader(words.ANSWERS, anchor=False)
    st.text(words.so_far(answered, len(asking), rights.count(True) if sheet.lesson.feedback else None))
    if said := sheet.problem(words):
        st.caption(said)
    key = f"student {digest}"
    if st.session_state.get(key) != sheet.answers.student:  # from the browser, or from a file
        st.session_state[key] = sheet.answers.student
    st.text_input(
        words.NAME,
        max_chars=files.MOST_STUDENT,
        key=key,
        help=words.NAME_HELP,
        on_change=lambda: sheet.name(str(st.session_state[key] or "")),
    )
    if sheet.said:
        st.text(sheet.said)
    with st.container(horizontal=True, gap="small"):
        if sheet.answers.given:
            shown = judged if sheet.lesson.feedback else {}
            text = files.written(sheet.answers, shown)
            downloads.button(FILE, text.encode, words.HAND_IN_HELP, label=words.HAND_IN)
        upload(
            words.IMPORT,
            accept=".json",
            most=files.MOST_BYTES,
            key=f"import answers {digest}",
            on_text=lambda text: sheet.load(text, words),
        )
        if sheet.answers.given or sheet.answers.student or sheet.unreadable is not None:
            st.button(
                words.FORGET, icon=":material/delete:", key="forget answers", type="tertiary", on_click=sheet.forget
            )
    st.caption(words.KEPT)
