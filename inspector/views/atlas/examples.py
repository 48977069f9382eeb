"""Texts that show what a head does: its strongest, its usual ones, its strongest pairs; each opens in Attention."""

from __future__ import annotations

import streamlit as st

from inspector.atlas import Atlas, head_examples, measures
from inspector.atlas.head_examples import Example, Pair, SpansOf
from inspector.atlas.texts import Text
from inspector.views.shell import link, pages, widgets
from inspector.wording import token
from inspector.wording.english import atlas_card as said
from models import LoadedModel

KINDS = {"usual": said.USUAL, "strongest": said.STRONGEST, "pairs": "Strongest pairs of tokens"}
_LONGEST = 100  # characters of a text that are shown


def show(atlas: Atlas, place: int, *, measure: str, loaded: LoadedModel) -> None:
    """Draw one kind of texts, as the reader chooses."""
    st.subheader("On texts", anchor=False)
    kind = widgets.bar("Which texts", list(KINDS), "texts", words=KINDS.__getitem__)
    if kind == "pairs":
        for pair in head_examples.pairs(atlas, place, spans_of(loaded)):
            _row(atlas, place, loaded, pair.text, _pair(pair), given={"query": str(pair.query), "key": str(pair.key)})
        return
    own = measures.find(measure)
    listed = head_examples.by_decile if kind == "usual" else head_examples.strongest
    found: tuple[Example, ...] = listed(atlas, measure, place)
    if not found:
        st.caption("No text has this number for this head.")
    for example in found:
        said_value = said.value(example.value, own)
        _row(atlas, place, loaded, example.text, f"**{said_value}**", given={})


def spans_of(loaded: LoadedModel) -> SpansOf:
    """Make the function that finds the characters of the tokens."""
    return head_examples.spans_in(loaded)


def _row(atlas: Atlas, place: int, loaded: LoadedModel, text: Text, shown: str, *, given: dict[str, str]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(shown, width="content")
        st.text(cut(text.text), width="stretch")  # no Markdown: it would make a link of an address in it
        site = atlas.heads.iloc[place]
        state = {
            "text": text.text,
            "layer": str(site["layer"]),
            "head": str(site["head"]),
            "stream": str(site["stream"]),
        }
        state |= {"call": str(site["call"])} if site["call"] else {}
        state |= {"target": text.target} if text.target is not None else {}
        state |= {"model": loaded.card.id} | given
        link.lead("", state)
        st.page_link(
            pages.FILES[""],
            label="Open in Attention",
            icon=":material/open_in_new:",
            query_params=link.of_sidebar() | state,
            width="content",
        )


def _pair(pair: Pair) -> str:
    weight = said.value(pair.weight, measures.find("confidence"))
    query, key = (
        _word(pair.text, side, span, at)
        for side, span, at in (
            (pair.query_in, pair.query_span, pair.query),
            (pair.key_in, pair.key_span, pair.key),
        )
    )
    return f"**{weight}** {query} → {key}"


def _word(text: Text, side: str, span: tuple[int, int] | None, at: int) -> str:
    whole = text.text if side == "text" else (text.target or "")
    return token(whole[slice(*span)]) if span else f"token {at}"


def cut(text: str) -> str:
    """Cut a long text to its beginning."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
