"""Work that takes long with a large model waits until the reader asks for it; all other work begins at once."""

from __future__ import annotations

from collections.abc import Hashable

import streamlit as st

from inspector.wording import generate as words
from models import LoadedModel

AT_ONCE = 2e11  # weights times tokens: GPT-2's 40 new tokens without a cache, half a minute on one core


def waits(what: str, loaded: LoadedModel, *, tokens: int, of: Hashable, key: str) -> bool:
    """Offer a button and return True where the work takes long and the reader has not asked for it.

    what: the button's label. tokens: how many the model reads in all. of: what is asked for; another thing is asked for
    anew. key: where the session keeps what was asked for.
    """
    weights = sum(parameter.numel() for parameter in loaded.network.parameters())
    if weights * tokens <= AT_ONCE or st.session_state.get(key) == of:
        return False
    with st.container(border=True):
        st.text(words.takes_long(what=what, weights=weights, tokens=tokens))
        st.button(what, type="primary", key=f"{key}.go", on_click=st.session_state.update, args=({key: of},))
    return True


def tokens_read(loaded: LoadedModel, given: int, *, new_tokens: int, uncached: bool) -> int:
    """Count the tokens that a model reads as it writes: with the cache, in the recording, and without the cache.

    given: tokens of the text, or of the source. uncached: it writes without the cache too.
    """
    source, begun = (given, 1) if loaded.shape == "encoder-decoder" else (0, given)
    once = source + begun + new_tokens - 1  # nothing reads the newest token
    every_step = source + new_tokens * begun + new_tokens * (new_tokens - 1) // 2
    return 2 * once + (every_step if uncached else 0)
