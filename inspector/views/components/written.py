"""A text as it is written, and its tokens, the newest token of a step marked, as Streamlit components."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from inspector.text import read_marks
from inspector.views.components import files
from inspector.views.components.clicks import reporter

SHOWN_BEFORE = 12  # tokens of what the model began from; of a long text only the last ones
MOST_OF_A_TURN = 40  # tokens, where the turn before the one that is written is shown from its begin

_mount = files.declared("written")


def text(so_far: str, *, given: str, rest: str, key: str) -> None:
    """Draw a text as it reads: what was `given`, what is written `so_far`, and an empty place for the rest."""
    _mount(key=key, data={"given": given, "text": so_far, "rest": rest})


def tokens(
    steps: Sequence[str],
    *,
    before: Sequence[str],
    roles: Mapping[int, str],
    notes: Sequence[str],
    step: int,
    playing: bool,
    colour: str,
    key: str,
    on_step: Callable[[int], None],
) -> None:
    """Draw the tokens that were written, a step each, behind the last of those `before`.

    roles: who speaks from a place in `before` on, where the text is a dialogue. The token of `step` stands in `colour`;
    later ones are faint, and hidden as it plays. notes: on each token, for hovering. on_step(number, from 1) is called
    before the run that follows a click or an arrow key.
    """

    def read(chosen: object) -> int | None:
        return chosen if isinstance(chosen, int) and 1 <= chosen <= len(steps) else None

    shown = max(SHOWN_BEFORE, min(MOST_OF_A_TURN, len(before) - [0, *sorted(roles)][-2])) if roles else SHOWN_BEFORE
    first = max(0, len(before) - shown)
    data = {
        "before": list(map(read_marks, before[first:])),
        "roles": [roles.get(place, "") for place in range(first, len(before))],
        "hidden": first,
        "tokens": list(map(read_marks, steps)),
        "notes": list(notes),
        "step": step,
        "playing": playing,
        "colour": colour,
    }
    _mount(key=key, data=data, on_step_change=reporter(key, "step", read, on_step))
