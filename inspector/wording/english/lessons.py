"""Sentences of the page Lessons: plain text; inspector/wording/chinese/lessons.py has the same names."""

from __future__ import annotations

from collections.abc import Sequence

# --- opening a lesson -------------------------------------------------------------------------------------------------

ABOUT = (
    "A lesson is one file of a teacher's: texts, questions, tasks and numbers to find, in an order. Open it here or by "
    "its link. Your answers come back as one file. No server keeps anything."
)
CHOOSE = "Choose a lesson, or open one of your own"
OPEN = "Open"
OF_YOURS = "A lesson of your teacher's, or your own"
OPEN_FILE = "Open a lesson's file"
EXAMPLE = "A file to begin with"
EXAMPLE_HELP = "The lesson as a TOML file, which an editor opens; docs/lessons.md says what each field means"
NOT_OPENED = "The lesson was not opened"
OPEN_AGAIN = "The lesson is too long for a link to bring it back. Open its file again: your answers are kept."
HAND_ON = "Share this lesson"
LINK = "The link holds the whole lesson:"
SAVE = "Save the lesson's file"
LEAVE = "Leave the lesson"

# --- a step -----------------------------------------------------------------------------------------------------------

STEP = "Step"
PREVIOUS = "Previous step"
NEXT = "Next step"
READ = "To read"
NUMBER = "A number to find"
STANDS = {None: "answered", True: "right", False: "not right"}
MEASURING = "Measuring"
SEE_MEASURED = "See what was measured"
KEPT_UNSEEN = "Your guess is kept. Your teacher sees whether it is right; you may change it."
NUMBER_HINT = "such as 0.41 or 4.1e-3"
NO_NUMBER = "That is no number: write digits and a point, such as 0.41, without a unit and without commas."
TAKE = "Keep it"
TO_TASK = "Open the task on Practice"
YOUR_FILE = "Your function, as Python"
NOT_RUN = "No server runs your file: it is handed in as text. Run it yourself before:"
CHOOSE_FILE = "Choose a file"

# --- answers ----------------------------------------------------------------------------------------------------------

ANSWERS = "Your answers"
NAME = "Your name, as your teacher knows it"
NAME_HELP = "It stands in your file of answers and nowhere else"
HAND_IN = "Save the file to hand in"
HAND_IN_HELP = "Your answers to this lesson as one JSON file; go on from it in another browser with Import"
IMPORT = "Import answers"
FORGET = "Forget all"
KEPT = "They are kept in this browser alone, until you forget them. The file is for your teacher."
STORAGE = {
    "blocked": "This browser stores nothing for this page: your answers last as long as this visit. Save the file.",
    "full": "This browser's storage is full: your last answers last as long as this visit. Save the file.",
}
UNREADABLE = {
    "large": "What this browser keeps of this lesson is larger than 256 KB, so it was not read.",
    "no answers": "What this browser keeps of this lesson is no list of answers, so it was not read.",
    "another version": "Another version of Headlight kept the answers in this browser, so they were not read.",
}
REFUSED = {
    "large": "The file is larger than 256 KB: choose a file that this page saved. Nothing was changed.",
    "no answers": "The file holds no answers: choose a file that this page saved. Nothing was changed.",
    "another version": "Another version of Headlight wrote the file. Nothing was changed.",
}
NO_ROOM = "With these answers the file would be larger than 256 KB. Nothing was changed."


def size(steps: int, asking: int) -> str:
    """Say how long a lesson is."""
    return f"{steps} {'step' if steps == 1 else 'steps'}, {asking} to answer"


def no_lesson(known: Sequence[str]) -> str:
    """Say that a link names a lesson that there is not."""
    return f"The link asks for a lesson that there is not; those that come along are {', '.join(known)}."


def too_long(most: int) -> str:
    """Say that a lesson fits no link."""
    return f"The lesson is too long for a link of {most:,} letters. Hand out its file, which this page opens."


def question(number: int) -> str:
    """Name a step that asks a question."""
    return f"Question {number}"


def practice(number: int) -> str:
    """Name a step that asks for a practice task."""
    return f"Practice {number}"


def step(at: int, of: int, kind: str, stands: str) -> str:
    """Name a step in the list of all."""
    return f"Step {at} of {of} · {kind}{f' · {stands}' if stands else ''}"


def to_page(title: str) -> str:
    """Label the way to the page of a step."""
    return f"Open {title}"


def not_offered(model: str) -> str:
    """Say that a step reads in a model that is not offered here."""
    return (
        f"This step reads in the model {model}, which is not offered here, and a lesson loads none. Add it under "
        "“Another model” in the sidebar of a page such as Attention, and come back."
    )


def found(unit: str) -> str:
    """Label the field for a number."""
    return f"What you found, {unit}" if unit else "What you found"


def guessed(guess: str, verdict: str) -> str:
    """Say what was guessed, and what the verdict is."""
    return f"You guessed “{guess}”. The verdict: {verdict}."


def right(value: object, by: str) -> str:
    """Say that a number is right. by: what it was held to."""
    return f"{_number(value)} is right: {by} was expected."


def wrong(value: float, *, low: bool, within: str) -> str:
    """Say that a number is wrong. within: how near it must come."""
    return f"{_number(value)} is too {'small' if low else 'large'}: it must come within {within} of what is expected."


def kept_number(value: object) -> str:
    """Say which number is kept, where the lesson does not tell at once what is right."""
    return f"{_number(value)} is kept. Your teacher sees whether it is right; you may change it."


def kept_code(lines: int) -> str:
    """Say that a file is kept."""
    are = "line is" if lines == 1 else "lines are"
    return f"{lines} {are} among your answers. Your teacher holds them to the real layer."


def large_code(most: int) -> str:
    """Refuse a file that is too large."""
    return f"The file has more than {most:,} characters, or all answers together more than 256 KB. It was not kept."


def so_far(answered: int, of: int, right: int | None) -> str:
    """Count the answers. right: None where the lesson does not tell what is right."""
    return f"{answered} of {of} answered" + (f", {right} right" if right is not None else "")


def taken(answers: int, left_out: int) -> str:
    """Say what an imported file held."""
    said = f"{answers} {'answer' if answers == 1 else 'answers'} taken from the file."
    return f"{said} {left_out} left out, which are none." if left_out else said


def of_another(title: str) -> str:
    """Refuse the answers to another lesson."""
    return f"The file answers another lesson, “{title}”. Nothing was changed."


def left_out(entries: int) -> str:
    """Say how many entries of the browser's storage were not taken."""
    return f"{entries} of the entries in this browser {'is' if entries == 1 else 'are'} no answer."


def _number(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)[:40]
