"""A text as it is written, the newest token of a step marked, as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inspector.views.components import files
from inspector.views.components.clicks import reporter

SHOWN_BEFORE = 12  # tokens of what the model began from; of a long text only the last ones

_mount = files.declared("written")


def written(
    text: str,
    *,
    given: str,
    rest: str,
    before: Sequence[str],
    tokens: Sequence[str],
    notes: Sequence[str],
    step: int,
    playing: bool,
    colour: str,
    key: str,
    on_step: Callable[[int], None],
) -> None:
    """`text` as written up to a step behind what was `given`, how it goes on, and its `tokens` after those `before`.

    tokens: a step each, that of `step` in `colour`; later ones are faint, and hidden as it plays. notes: on each token,
    for hovering. on_step(number, from 1) is called before the run that follows a click or an arrow key.
    """

    def read(chosen: object) -> int | None:
        return chosen if isinstance(chosen, int) and 1 <= chosen <= len(tokens) else None

    data = {
        "given": given,
        "text": text,
        "rest": rest,
        "before": list(before[-SHOWN_BEFORE:]),
        "hidden": max(0, len(before) - SHOWN_BEFORE),
        "tokens": list(tokens),
        "notes": list(notes),
        "step": step,
        "playing": playing,
        "colour": colour,
    }
    _mount(key=key, data=data, on_step_change=reporter(key, "step", read, on_step))
