"""The models that a visitor can choose from: those of the catalogue, and those that were loaded in this session."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

import models
from inspector.views.shell.model_shelf import shelf
from inspector.views.shell.variants import base, changes, is_variant, side_b
from inspector.wording import shell as wording
from inspector.wording import switches as words
from inspector.wording.reader import shell as frame_wording
from inspector.wording.reader import switches as frame_words

if TYPE_CHECKING:
    from models.loaded import Shape


def ids() -> list[str]:
    """The trained models of the catalogue, then those that this session has added, then the untrained ones.

    A variant that is in use, side A or side B, follows the model whose weights it has.
    """
    in_use = [id for id in dict.fromkeys((st.session_state.get("model"), side_b())) if id and is_variant(id)]
    return [id for known in _bases() for id in (known, *(variant for variant in in_use if base(variant) == known))]


def _bases() -> list[str]:
    """All but the variants."""
    known = models.catalogue()
    added = [id for id in st.session_state.get("added", ()) if id in shelf().facts]
    return [card.id for card in known if card.trained] + added + [card.id for card in known if not card.trained]


def card(id: str) -> models.Card:
    """The card of one of the `ids`; of a variant what is known before it is built."""
    if is_variant(id):
        title = f"{name(base(id))}: {words.changes(changes(id))}"
        return replace(card(base(id)), id=id, title=title, summary=wording.variant_summary(model=name(base(id))))
    catalogue = {card.id: card for card in models.catalogue()}
    return catalogue[id] if id in catalogue else shelf().facts[id].card


def title(id: str) -> str:
    """Name a model for the reader: its card's title; the id itself of a saved trace's model that is not at hand.

    A variant in use is told from the other side: "mini-BERT, A: scale none".
    """
    return _title(id)


def title_in_frame(id: str) -> str:
    """Name a model like `title`, in the reader's language."""
    return _title(id, in_frame=True)


def titles_in_frame() -> dict[str, str]:
    """Name each of the `ids` like `title`, in the reader's language."""
    return {id: _title_of_known(id, in_frame=True) for id in ids()}


def name(id: str) -> str:
    """Name a model within a sentence: "MiniLM", "mini-BERT with scale none"; the id itself of one not at hand."""
    return _name(id)


def name_in_frame(id: str) -> str:
    """Name a model like `name`, in the reader's language."""
    return _name(id, in_frame=True)


def _title(id: str, *, in_frame: bool = False) -> str:
    return _title_of_known(id, in_frame=in_frame) if id in ids() else id


def _title_of_known(id: str, *, in_frame: bool) -> str:
    say, say_switches = (frame_wording, frame_words) if in_frame else (wording, words)
    if not is_variant(id):
        of_card: str = say.model(card(id).title)
        return of_card
    side = "A" if id == st.session_state.get("model") else "B"
    titled: str = say.of_side(_name(base(id), in_frame=in_frame), side, say_switches.changes(changes(id), most=3))
    return titled


def _name(id: str, *, in_frame: bool = False) -> str:
    say, say_switches = (frame_wording, frame_words) if in_frame else (wording, words)
    if id not in ids() and base(id) not in ids():
        return id
    named: str = say.model(card(base(id)).title.split(",")[0])
    if is_variant(id):
        named = say.with_switches(named, say_switches.changes(changes(id), most=3))
    return named


def shape(id: str) -> Shape:
    """encoder, decoder or encoder-decoder."""
    return card(id).shape


def trained(id: str) -> bool:
    """Return True if the model was trained; a model outside the catalogue is taken to be trained.

    A variant is what its base is; `facts` say which share of it was redrawn.
    """
    return all(card.trained for card in models.catalogue() if card.id == base(id))
