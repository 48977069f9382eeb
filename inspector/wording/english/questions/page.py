"""Sentences of the page Questions: plain text, for the page shows them letter by letter.

inspector/wording/chinese/questions/page.py has the same names.
"""

from __future__ import annotations

from collections.abc import Mapping

from inspector.questions.record.question import Role, Scope, Verdict
from inspector.wording.english.queue import waits as _waits

SEARCH = "Search"
SEARCH_HINT = "A word or a number"
THEME = "Theme"
ALL_THEMES = "All themes"
NO_MATCH = "No question has all of these words. Try fewer, or another theme."
SHOW_ALL = "Show all questions"

ALL_QUESTIONS = "All questions"
ANOTHER = "Another"
SAID = "People say:"
GUESS = "Guess first: is what people say true?"
GUESSES = {"true": "True", "false": "False", "between": "Only in part"}
JUST_SHOW = "Just show me"
MEASURING = "Measuring on your text"

HERE: dict[Verdict, str] = {
    "true": "Holds here",
    "false": "Does not hold here",
    "partly": "Holds in part",
    "conditions": "Holds under conditions",
}
"""Verdicts that were measured in a model on a text."""
ALWAYS: dict[Verdict, str] = {**HERE, "true": "Holds", "false": "Does not hold"}
"""Verdicts in which no loaded model takes part."""
CANNOT = "Cannot be asked of this model"
UNMEASURED = "Could not be measured"
STATED = "Nothing can be measured here: the verdict rests on sources."
HELD = "Holds"
NOT_HELD = "Does not hold"
ROLES: dict[Role, str] = {"claim": HELD, "limit": "But", "mechanism": "Why"}
"""The word before a part that holds."""
SCOPES: dict[Scope, str] = {
    "algebra": "No loaded model takes part: neither another text nor another model changes these numbers.",
    "model": "Of this model: another text does not change these numbers.",
    "text": "On this text: another text changes these numbers.",
}

NUMBERS = "Numbers"
HEADS = ("Number", "Measured", "In the paper")
FORMULA = "The formula with its numbers"
BECAUSE = "Why people say so"
REFUTED = "What would change this verdict"
SETTING = "How it is measured"
PAPERS = "Papers"

SETTLE = "Settle all"
STOP = "Stop"

WHOLE = "The whole experiment"
RUN_WHOLE = "Run it whole"
RUN_AGAIN = "Run it again"
LIVE = "Run here"
STORED = "Stored result"
NO_RUN_YET = "It has not been run here yet."
FIGURE = {
    "slide": "Slide",
    "slide_help": "The figure in large type, on a light or a dark ground",
    "menu": "Slide and files",
    "menu_of": "Slide and files of {}",
    "png_help": "The figure in large type, 2560 by 1440 pixels",
    "svg_help": "The figure in large type, sharp at any size",
    "csv_help": "The numbers of the figure, to the last digit",
    "background": "Background",
    "full_screen": "Full screen",
}
"""The words of a figure's menu."""
MODES = {"light": "Light", "dark": "Dark"}
MATRIX = {
    "linear": ", linear scale",
    "sqrt": ", square-root scale",
    "how_to": "arrow keys walk from cell to cell, Enter keeps a cell's number, Escape lets it go",
    "exactly": ", exactly ",
}
SOFTMAX_ALONE = "Softmax attention alone was measured: what mixes tokens in another way has weights that are no shares."


def count(questions: int) -> str:
    """Say how many questions there are."""
    return f"{questions} questions, settled on your text"


def here(questions: int) -> str:
    """Name the list of the questions that a page answers."""
    return f"Questions ({questions})"


INVITATION = "New here? Five questions"
ON_THIS_VIEW = "What you see answers"
ON_THIS_PAGE = "On this page"
EVERY = "All questions"


def quoted(statement: str) -> str:
    """Quote a part of a claim, which people say and not the page."""
    return f"“{statement}”"


def match(count: int, of: int) -> str:
    """Say how many questions a search found."""
    return f"{count} of {of} questions"


def heading(number: int, asked: str) -> str:
    """Head an opened question."""
    return f"{number}. {asked}"


def tally(counts: Mapping[str, int]) -> str:
    """Count verdicts; counts: of each verdict, "instead" (of another model) and "failed"."""
    clauses = [
        (counts.get("true", 0), "{} hold here"),
        (counts.get("false", 0), "{} do not"),
        (counts.get("partly", 0), "{} hold in part"),
        (counts.get("conditions", 0), "{} hold under conditions"),
    ]
    counted = ", ".join(words.format(number) for number, words in clauses)
    more = ""
    if counts.get("instead"):
        more += f" {counts['instead']} of these were asked of another model."
    if counts.get("failed"):
        more += f" {counts['failed']} could not be measured."
    return f"{counted}.{more}"


def settling(done: int, total: int) -> str:
    """Say how far the measuring of all questions is."""
    return f"Question {min(done + 1, total)} of {total}"


def running(done: int, total: int) -> str:
    """Say how far a whole experiment is."""
    return f"Step {done:,} of {total:,}"


def stopped(done: int, total: int) -> str:
    """Say that a whole experiment was stopped."""
    return f"Stopped after {done:,} of {total:,} steps: nothing is shown of it."


def guessed(guess: str, *, right: bool, rights: int, of: int) -> str:
    """Say whether a guess was right, and count the right ones of this visit."""
    sentence = f"You guessed “{guess}”: {'right' if right else 'not so'}."
    return f"{sentence} {rights} of {of} {'guess' if of == 1 else 'guesses'} right so far."


def cannot(model: str, lacks: str, instead: str) -> str:
    """Say why another model was asked."""
    why = f"{model} {lacks}." if lacks else f"{model} was not asked."
    return f"{why} {instead} can be asked: its numbers stand here."


def not_at_hand(model: str, instead: str) -> str:
    """Say that the model of a saved trace is missing, and which model was asked."""
    return f"The model {model} of the saved trace is not at hand. {instead} was asked: its numbers stand here."


def of_model(model: str, verdict: str) -> str:
    """Name the model that the verdict is about, where another than the reader's was asked."""
    return f"{model}: {verdict[0].lower()}{verdict[1:]}"


def held_of(held: int, claims: int) -> str:
    """Say how many of the claims in it hold."""
    return f"{held} of {claims} claims hold"


def bound(needs: str, *, holds: bool) -> str:
    """Say of a measured number what it must be, such as "< 5 %", and whether it is."""
    return f"{needs}, as it must be" if holds else f"would be {needs} if the sentence held"


def numbers_of(model: str) -> str:
    """Head the numbers of a model that is not the reader's."""
    return f"Numbers of {model}"


def published(value: str, of: str, *, same: bool = True, from_memory: bool = False) -> str:
    """Say what a paper reports, and what was measured there.

    same: of the quantity that is measured here; from_memory: not looked up.
    """
    marks = [] if same else ["not the same measure"]
    marks += ["from memory"] if from_memory else []
    told = "; ".join(filter(None, [of, *marks]))
    return f"{value} ({told})" if told else value


def see(page: str, model: str) -> str:
    """Name the button that opens the page with the whole answer; model: the stand-in, "" for the reader's model."""
    return f"See it on {page}" + (f", with {model}" if model else "")


def queued(place: int, before: tuple[str, ...], seconds: float | None) -> str:
    """Say the place in the queue of visitors, what goes first, and about how long that takes."""
    return _waits("The measuring", place, before, seconds)


def stored(command: str, seeds: str, date: str) -> str:
    """Say where a stored result comes from."""
    return f"Stored, not measured now. Command: {command}. Seeds: {seeds}. Date: {date}."


def read(tokens: int) -> str:
    """Introduce the text that was read; tokens: the most that a question reads."""
    return f"Text that was read (of a long one its first {tokens} tokens):"
