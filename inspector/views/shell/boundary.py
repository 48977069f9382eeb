"""The last line before a reader: what nobody foresaw is drawn as a sentence, where a traceback would stand.

What a page foresees it catches itself, as a ValueError, and goes on; see `problems.show`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec

from inspector.views.server import queue
from inspector.views.shell import problems
from models import failures

P = ParamSpec("P")
INSTEAD = "Your text is kept. Try another text, model or head, or another page."


@contextmanager
def drawn(what: str) -> Iterator[None]:
    """Draw whatever fails in the block as a sentence in its place, and log it whole; the run goes on behind the block.

    Long work of others pauses meanwhile.

    what: what is done in the block, the beginning of the sentence.
    """
    try:
        with queue.click():
            yield
    except BaseException as error:
        if not failures.is_failure(error):
            raise
        logging.getLogger(__name__).exception("%s failed", what)
        draw(error, what=what)


def draw(error: BaseException, *, what: str = "This page") -> None:
    """Show an error that nobody foresaw as a sentence."""
    problems.show(failures.sentence(error, what=what, instead=INSTEAD))


def escaped(error: Exception) -> bool:
    """Draw an error that no block caught, that of a callback for example; say that Streamlit need draw nothing.

    Streamlit calls this in the script's own thread, once it has logged the error.
    """
    draw(error)
    return True


def part(panel: Callable[P, None]) -> Callable[P, None]:
    """Draw what fails in a part of a page in that part's place; the decorator below `st.fragment`.

    Streamlit ends a fragment at its error before the page hears of it.
    """

    @wraps(panel)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        with drawn("This part of the page"):
            panel(*args, **kwargs)

    return guarded
