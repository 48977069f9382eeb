"""Sentences of the guesses that the browser keeps; chinese/questions/kept.py has the same names."""

from __future__ import annotations

KEPT = "Kept guesses"
ABOUT = (
    "They are kept in this browser alone: no account, and nothing in a link. A question comes back after 1, 3, 7, 16 "
    "and 35 days; a wrong guess brings it back the next day."
)
EXPORT = "Export"
EXPORT_HINT = "All guesses with their days, as a JSON file"
IMPORT = "Import a file"
FORGET = "Forget all"
BLOCKED = (
    "This browser stores nothing for this page: your guesses last as long as this visit. Export keeps them as a file."
)
FULL = "This browser's storage is full: your last guesses last as long as this visit. Export keeps them as a file."
UNREADABLE = {
    "large": "What this browser keeps under Headlight's key is larger than 64 KB, so it was not read.",
    "no list": "What this browser keeps under Headlight's key is no list of guesses, so it was not read.",
    "another version": "The guesses in this browser were kept by another version of Headlight, so they were not read.",
}
NOT_WRITTEN = (
    "It stays as it is, and new guesses last as long as this visit, until you press Forget all under Kept guesses."
)
REFUSED = {
    "large": "The file is larger than 64 KB: choose a file that Export wrote. Nothing was changed.",
    "no list": "The file is no list of guesses: choose a file that Export wrote. Nothing was changed.",
    "another version": "The file was written by another version of Headlight. Nothing was changed.",
}


def due(questions: int) -> str:
    """Name the button that opens the next question that is due."""
    return f"Due today: {questions}"


def count(questions: int) -> str:
    """Say how many guesses are kept."""
    return f"Guesses of {questions} {'question' if questions == 1 else 'questions'} are kept."


def next_due(day: str, questions: int) -> str:
    """Say when the next questions are due."""
    return f"Next: {questions} on {day}."


def back(day: str) -> str:
    """Say when a question comes back."""
    return f"Comes back on {day}."


def taken(questions: int, left_out: int) -> str:
    """Say what an imported file held."""
    said = f"{questions} {'guess' if questions == 1 else 'guesses'} taken from the file."
    return f"{said} {left_out} left out, which are no guesses or of no question." if left_out else said


def left_out(entries: int) -> str:
    """Say how many entries of the browser's storage were not taken."""
    return f"{entries} of the entries in this browser {'is' if entries == 1 else 'are'} no guess, or of no question."
