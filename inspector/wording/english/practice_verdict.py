"""Sentences of `python -m inspector.practice` about a reader's file; the Chinese file has the same names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inspector.text import visible
from models.formatting import format_bytes, shortened

OWN_PROCESS = (
    "The file runs in a process of its own, which guards against accidents and not against malice: run only what you "
    "trust."
)
NO_RESULT = "The file wrote something else into the place of its results, and was ended."
WRONG_JOIN = "arrays are joined along another axis than the one in which they differ: tokens are axis 1 of [B, t, E]"
ONLY_SQUARE = "it works only where all lengths are equal: a length is taken from the wrong axis"
STAYED = "It left a process of its own running, which was ended."
UNKNOWN = "Wrong, and no known mistake gives this."
CHANGES = (
    "A second call on the same arguments gave something else: it keeps something between calls, or draws at random."
)
RESULT = "the result"
NOTHING = "nothing"
NO_RETURN = "None (is a return missing?)"
UNREADABLE: Mapping[str, str] = {
    "deep": "is nested more than {} deep",
    "text": "holds a text of more than {} characters",
    "whole number": "holds a whole number of more than {} digits",
    "dtype": "holds {} in an array, where numbers are due",
    "large": "has the shape {}: more than {} numbers",
    "long": "has {} entries",
    "no list": "is of the type {}: make it a list or an array",
    "type": "is of the type {}",
    "fails": "is of the type {} and cannot be read ({})",
}
"""Reasons why a result is no plain data, by the names that the process of the file gives them."""


# --- names ------------------------------------------------------------------------------------------------------------


def mistake(name: str) -> str:
    """Name a mistake by the name that its task gives it: a clause."""
    return name


def case(name: str) -> str:
    """Name an input by the name that its task gives it."""
    return name


def array(shape: Sequence[int]) -> str:
    """Name an array."""
    return f"an array {list(shape)}"


def collection(kind: str, length: int) -> str:
    """Name a tuple or a list."""
    return f"a {kind} of {length}"


def value(kind: str) -> str:
    """Name a value of another type."""
    return f"a {kind}"


# --- the file and its process -----------------------------------------------------------------------------------------


def no_file(file: str) -> str:
    """Refuse what is no file."""
    return f"There is no file {shortened(file, 200)}."


def no_text(file: str) -> str:
    """Refuse a file that is no text."""
    return f"{shortened(file, 200)} is no text in UTF-8."


def large_file(file: str, size: int, most: int) -> str:
    """Refuse a file that is too large."""
    return f"{shortened(file, 200)} has {format_bytes(size)}; a solution has at most {format_bytes(most)}."


def slow_start(seconds: float) -> str:
    """Say that Python itself did not come up."""
    return f"Python and its libraries did not start within {seconds:g} seconds."


def too_long(seconds: float, done: int) -> str:
    """Say that a file ran too long; done: cases that it finished."""
    where = "on the first input" if done == 0 else f"after {done} inputs"
    return f"It ran for {seconds:g} seconds and was ended {where}: look for a loop that does not end."


def too_much_memory(most: int) -> str:
    """Say that a file took too much memory."""
    return f"It took more than {format_bytes(most)} of memory and was ended."


def too_much_printed(most: int) -> str:
    """Say that a file printed too much."""
    return f"It printed more than {format_bytes(most)} and was ended."


def ended(code: int, signal: str) -> str:
    """Say that a process ended before it had a result."""
    if signal == "SIGXCPU":
        return "It took all the processor time that it may have and was ended by the system."
    if signal == "SIGKILL":
        return "It was ended by the system before it had a result, as happens where memory runs out."
    if signal:
        return f"It crashed ({signal}) before it had a result."
    return f"It ended its own process (exit code {code}) before it had a result."


# --- exceptions -------------------------------------------------------------------------------------------------------


def raised(kinds: Sequence[str], said: str, line: int | None, text: str, *, on: str) -> str:
    """Tell an exception of the reader's code. kinds: names of the class and of those above it; on: the input's name."""
    name = kinds[0]
    at = f" in line {line} (`{visible(text)}`)" if line else ""
    where = f" on {on}" if on else ""
    if "EOFError" in kinds:
        return f"It reads standard input{at}, where nothing is: take all from the arguments."
    if "SystemExit" in kinds:
        return f"It ends the program{at}{where}: return the result."
    if "MemoryError" in kinds or "DefaultCPUAllocator" in said or "allocate memory" in said:
        return f"It asked for more memory than it may have{at}{where}."
    if "NotImplementedError" in kinds and not said:
        return f"It is not written yet{at}."
    what = f": {visible(' '.join(said.split()))}" if said else ""
    return f"It raised {visible(name)}{at}{where}{what}"


def missing(function: str, found: Sequence[str]) -> str:
    """Say that a file does not define the function that is due."""
    others = f" It defines {', '.join(shortened(name, 40) for name in found)}." if found else ""
    return f"The file defines no function {function}.{others}"


def arguments(signature: str) -> str:
    """Say how the function is called."""
    return f"It is called as {signature}, by position."


# --- verdicts ---------------------------------------------------------------------------------------------------------


def because(cause: str) -> str:
    """Tell what an exception comes from."""
    return f"This comes where {cause}."


def right(made: int, recorded: Sequence[str]) -> str:
    """Say that a solution is right; made: the number of made inputs; recorded: the names of the recorded ones."""
    return f"Right: on {made} made inputs and on {' and '.join(recorded)}."


def but(mistake: str) -> str:
    """Add what is right only for the numbers that the task asks for."""
    return f"One thing more: {mistake}."


def wrong(mistakes: Sequence[str]) -> str:
    """Name the mistake that makes a result, or those of which one does."""
    if len(mistakes) == 1:
        return f"Wrong: {mistakes[0]}."
    listed = "\n".join(f"- {mistake}" for mistake in mistakes)
    return f"Wrong, by one of these, which give the same on all made inputs:\n{listed}"


def both(first: str, second: str) -> str:
    """Join two mistakes that were made at once."""
    return f"{first}; and {second}"


def close(mistakes: Sequence[str]) -> str:
    """Name what a result comes close to, though something else differs too."""
    return f"Wrong, and no known mistake gives just this. On some inputs it is what comes out where {mistakes[0]}."


def differs(part: str, place: Sequence[int], *, on: str, expected: str, given: str) -> str:
    """Say where a result differs first."""
    at = f"{part}{list(place)}" if place else part
    return f"On {on} it differs first at {at}: {expected} is due, {given} came."


def shape(part: str, *, on: str, expected: Sequence[int], given: Sequence[int]) -> str:
    """Say that a result has another shape."""
    return f"On {on} {part} has the shape {list(given)}; {list(expected)} is due."


def kind(part: str, *, on: str, expected: str, given: str) -> str:
    """Say that a result is something else than what is due."""
    return f"On {on} {part} is {given}; {expected} is due."


def unreadable(why: str, of: Sequence[str], *, on: str) -> str:
    """Say that a result is no plain data. why: a reason of UNREADABLE; of: its words and numbers."""
    return f"On {on} the result {visible(UNREADABLE[why].format(*of))}."


def written(names: Sequence[str]) -> str:
    """Say that arguments were changed that must not be."""
    return f"Wrong: it changes {' and '.join(names)}, which belong to the caller. Make new ones."


def extra(part: str) -> str:
    """Say that more is returned than is due."""
    return f"It returns a tuple; {part} alone is due."


def printed(text: str) -> str:
    """Show what a file printed."""
    return f"It printed:\n{text}"
