"""A page whose chosen model cannot do what the page is for shows its picture at once, with a model that can.

A line over the picture names the stand-in, and one click chooses it for all pages. Until then the sidebar's choice
stays, and so does the link, which leads to the same stand-in. At a page's top, in place of `session.inspected()`:

```python
shown = stand_in.inspected(
    "guesses no hidden words", can=lambda loaded: loaded.fills_masks, instead=["mini-bert", "mini-bert-zh"]
)
shown.trace, shown.loaded  # of the reader's model where it can, else of the stand-in
```
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from inspector import examples
from inspector.text import plain
from inspector.views.shell import available_models, header, loaded_models, problems, session
from inspector.wording.reader import shell as words

if TYPE_CHECKING:
    import models
    from inspector.trace import Trace


@dataclass(frozen=True)
class Recorded:
    """A recorded text and the model that read it.

    stands_in: True where it is not the model that the reader chose.
    """

    trace: Trace
    loaded: models.LoadedModel
    stands_in: bool


def inspected(
    cannot: str, *, can: Callable[[models.LoadedModel], bool], instead: Sequence[str], reads: bool = True
) -> Recorded:
    """Record the reader's text in the chosen model or, where that one cannot, in a stand-in, and say which.

    cannot: what the chosen model does not do, to follow its name: "guesses no hidden words", "does not write".
    can: whether a model can do what the page is for. instead: ids of models that can, the best first; the first
    that is at hand and has learned the text's script is taken, else the first that is at hand. reads: what is shown is
    of the reader's text.
    The reader's text stays. Where it is in a script that the stand-in did not learn the stand-in reads its own
    example, and the line says so; it does too where the text is the example that Headlight opened with.
    Where nothing can be read the page says why and stops, as with `session.inspected`.
    """
    seen = session.inspected(lambda: _chosen_or_stand_in(can, _at_hand(instead)))
    loaded = session.at_hand(seen, so="it cannot be run again")
    stands_in = seen.model != session.chosen_model()
    if stands_in:
        _tell(cannot, loaded, reads=reads)
    return Recorded(seen.trace, loaded, stands_in)


def can(does: Callable[[models.LoadedModel], bool]) -> bool:
    """Return True where the reader's model does something; True too where none is at hand, as the page will say."""
    model = session.chosen_model()
    try:
        with st.container(), st.spinner(words.LOADING):
            return model is None or does(session.load(model))
    except ValueError:  # the page says why as it reads the text
        return True


def loaded(cannot: str, *, can: Callable[[models.LoadedModel], bool], instead: Sequence[str]) -> models.LoadedModel:
    """Load the chosen model or, where that one cannot, the first of `instead`, and say which; no text is read.

    Where the model cannot be loaded the page says why and stops. cannot, can: see `inspected`.
    """
    try:
        with st.container(), st.spinner(words.LOADING):
            model = session.chosen_model()
            found = None if model is None else session.load(model)
            if found is None or not can(found):
                found = session.load(_at_hand(instead)[0])
    except ValueError as error:
        problems.show(str(error))
        st.stop()
    if found.card.id != model:
        _tell(cannot, found, reads=False)
    return found


def _at_hand(instead: Sequence[str]) -> list[str]:
    return [id for id in instead if loaded_models.is_at_hand(id)]


def _chosen_or_stand_in(can: Callable[[models.LoadedModel], bool], instead: Sequence[str]) -> session.Inspected:
    model = session.chosen_model()
    if model is not None and can(session.load(model)):
        return session.chosen()
    return _read_instead(instead)


def _read_instead(instead: Sequence[str]) -> session.Inspected:
    """Record the reader's text, or its own example, in the first stand-in that reads the text's script."""
    text = session.chosen_text()
    stand_in = next((id for id in instead if examples.reads(id, text)), instead[0])
    keep = examples.reads(stand_in, text) and not examples.untouched(text)
    return session.record(stand_in, text if keep else examples.of(stand_in))


def _tell(cannot: str, loaded: models.LoadedModel, *, reads: bool) -> None:
    """Say in a line which model is seen and why, with the button that chooses it."""
    model, text = session.chosen_model(), session.chosen_text()
    chosen = None if model is None else _bold(model)
    whose = words.ON_YOUR_TEXT if examples.reads(loaded.card.id, text) else words.ENGLISH_EXAMPLE
    whose = words.OWN_EXAMPLE if examples.untouched(text) else whose
    whose = whose if reads else ""
    opened = st.session_state.get("file") is not None
    header.name(words.MODEL, available_models.title_in_frame(loaded.card.id))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            words.so_you_see(model=_bold(loaded.card.id), chosen=chosen, cannot=cannot, whose=whose), width="content"
        )
        st.button(
            words.choose(model=available_models.name_in_frame(loaded.card.id)),
            on_click=_choose,
            args=(loaded.card.id,),
            key="choose stand-in",
            disabled=opened,
            help=words.REMOVE_FIRST if opened else words.FOR_ALL,
        )


def _bold(model: str) -> str:
    return f"**{plain(available_models.name_in_frame(model))}**"


def _choose(model: str) -> None:
    """Choose the stand-in for all pages; a text that the reader wrote stays."""
    state = st.session_state
    state["model"] = model
    if examples.untouched(state["text"]):
        state["text"] = examples.of(model)
