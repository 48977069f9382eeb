"""Sentences of the printable sheet of questions, plain text; inspector/wording/chinese/questions/sheet.py alike."""

from __future__ import annotations

from collections.abc import Mapping

TITLE = "Questions about the Transformer"
MODEL = "Model"
TEXT = "Text"
DATE = "Date"
CONTENTS = "Contents"
SEE = "Where to see it"
PARTS = "Parts of the claim"
BOTH = "English and Chinese"
LANGUAGE = "Language"
WHY_NOT = "Why nothing can be measured"


def about(questions: int) -> str:
    """Say what the sheet is."""
    return (
        f"{questions} questions, each with what people say, what was measured on the model and text below, and the "
        "verdict that follows from the numbers."
    )


def tally(counts: Mapping[str, int]) -> str:
    """Count verdicts; counts: of each verdict, and "failed"."""
    clause = (
        f"{counts.get('true', 0)} hold, {counts.get('false', 0)} do not, {counts.get('partly', 0)} hold in part, "
        f"{counts.get('conditions', 0)} hold under conditions"
    )
    return f"{clause}, {counts['failed']} could not be measured." if counts.get("failed") else f"{clause}."


def measured_on(model: str, text: str) -> str:
    """Say that another model was asked, and which text it read."""
    return f"Measured on {model}, because the model of this sheet cannot be asked. It read: {text}"


def published(value: str, of: str, *, same: bool = True, from_memory: bool = False) -> str:
    """Tell a paper's figure; same: of the measured quantity; from_memory: not looked up."""
    marks = [] if same else ["not the same measure"]
    marks += ["from memory"] if from_memory else []
    told = "; ".join(filter(None, [of, *marks]))
    return f"{value} ({told})" if told else value


LENGTH = "Length"
SHORT, LONG = "Verdicts and parts", "Whole answers"

PREPARE = "Take them along"
PREPARE_HINT = (
    "Measures the questions of this list on your text, and makes three files of the answers: a sheet to print in both "
    "languages, cards for Anki, and a table."
)
CARDS = "Cards for Anki, in the language of this page. A later package updates the cards that you have."
TABLE = "A table: the question, the verdict, its numbers and the cause."
SAVE = "Save the sheet"


def ready(questions: int) -> str:
    """Say that the files are made, and what is left to do."""
    return f"Three files are made, with {questions} {'answer' if questions == 1 else 'answers'}: press one of them."
