"""A text as it is written, the newest token of a step marked, as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from inspector.views.components import files
from inspector.views.components.clicks import reporter

SHOWN_BEFORE = 12  # tokens of what the model began from; of a long text only the last ones
MOST_OF_A_TURN = 40  # tokens, where the turn before the one that is written is shown from its begin

_mount = files.declared("written")


def written(
    text: str,
    *,
    given: str,
    rest: str,
    before: Sequence[str],
    roles: Mapping[int, str],
    tokens: Sequence[str],
    notes: Sequence[str],
    step: int,
    playing: bool,
    colour: str,
    key: str,
    on_step: Callable[[int], None],
) -> None:
    """`text` as written up to a step behind what was `given`, how it goes on, and its `tokens` after those `before`.

    roles: who speaks from a place in `before` on, where the text is a dialogue.
    tokens: a step each, that of `step` in `colour`; later ones are faint, and hidden as it plays. notes: on each token,
    for hovering. on_step(number, from 1) is called before the run that follows a click or an arrow key.
    """

    def read(chosen: object) -> int | None:
        return chosen if isinstance(chosen, int) and 1 <= chosen <= len(tokens) else None

    shown = max(SHOWN_BEFORE, min(MOST_OF_A_TURN, len(before) - [0, *sorted(roles)][-2])) if roles else SHOWN_BEFORE
    first = max(0, len(before) - shown)
    data = {
        "given": given,
        "text": text,
        "rest": rest,
        "before": list(before[first:]),
        "roles": [roles.get(place, "") for place in range(first, len(before))],
        "hidden": first,
        "tokens": list(tokens),
        "notes": list(notes),
        "step": step,
        "playing": playing,
        "colour": colour,
    }
    _mount(key=key, data=data, on_step_change=reporter(key, "step", read, on_step))
