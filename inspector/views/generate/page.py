"""Generate: how a model writes, token by token; what the KV cache saves; the texts that a beam search weighs."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

import models
from inspector import examples, generating
from inspector.text import plain
from inspector.views import section_bar
from inspector.views.generate import beam_search, cache, decoding, steps
from inspector.views.generate.asking import tokens_read, waits
from inspector.views.shell import available_models, caching, link, loaded_models, problems, progress, stand_in, variants
from inspector.wording import generate as words
from models import dialogue, failures
from models.cards import WRITERS

PARTS = (words.WRITE, words.CACHE, words.BEAMS)
MOST = 256  # new tokens


def written() -> generating.WrittenText:
    """Write the text once, where the cache is asked for also without it, with a bar and a Stop where that is long."""
    place = st.empty()
    bar = progress.Bar(place, at_once=False, stop="stop writing")

    def write() -> generating.WrittenText:
        with bar.turn("Writing"):
            return generating.write(loaded, text, how=how, new_tokens=new_tokens, uncached=uncached, watch=seen)

    def seen(done: int) -> None:
        bar.draw(done, (1 + uncached) * new_tokens, words.decoded(done=done, uncached=uncached))

    made = caching.cached(("written", *asked), write)
    place.empty()
    return made


def offer_example(own: str) -> None:
    """Offer the model's own example where the text is another model's, which nobody wrote."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(words.not_its_example(model=plain(available_models.title(loaded.card.id))), width="content")
        st.button(words.TAKE_ITS_EXAMPLE, on_click=st.session_state.update, kwargs={"text": own})


def as_dialogue(text: str) -> str:
    """Return the text as the reader wants it read: as it is, or as a question in the model's chat template.

    The template of a stranger's model is a program without an end that is known: it is not run.
    """
    of_list = variants.base(loaded.card.id) in {card.id for card in models.catalogue()}
    if not (of_list and dialogue.has_template(loaded.tokenizer)) or dialogue.turns(
        loaded.tokenizer, loaded.encode(text).ids
    ):
        return text
    asks = st.toggle(words.AS_DIALOGUE, key="dialogue", bind=link.bind_switch("dialogue"), help=words.DIALOGUE_HELP)
    return dialogue.templated(loaded.tokenizer, text) if asks else text


link.parameters("section", "step")
with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    part = section_bar.among(words.ASKS, PARTS)
    place = st.container(width="content", horizontal=True, vertical_alignment="center")
shown = stand_in.inspected("does not write", can=lambda loaded: loaded.write is not None, instead=WRITERS)
loaded, text = shown.loaded, shown.trace.text
if not shown.stands_in and examples.untouched(text) and not examples.is_of(loaded.card.id, text):
    offer_example(examples.of(loaded.card.id))
loaded = replace(loaded, max_tokens=min(loaded.max_tokens, loaded_models.tokens_allowed(loaded.card.id)))
try:
    with place:
        text = as_dialogue(text)
    prompt = generating.prompt(loaded, text)
    with place:
        how, new_tokens = decoding.choose(min(prompt.room, MOST))
    given, uncached = len(prompt.encoding), part == words.CACHE
    tokens = tokens_read(loaded, given, new_tokens=new_tokens, uncached=uncached)
    begin = f"import models\n\nloaded = models.load({loaded.card.id!r})"
    asked = (loaded.card.id, text, how, new_tokens, uncached)
    if part == words.BEAMS:
        beam_search.draw(loaded, text, given=given, new_tokens=new_tokens, of=asked, python=begin)
    elif not waits("Write", loaded, tokens=tokens, of=asked, key="generate.write"):
        with failures.told("Writing the text", instead="It is kept: change it, or choose another model."):
            made = written()
        lines = (
            f"{begin}\nfrom inspector import generating\n\n"
            f"made = generating.write(loaded, {text!r}, how=generating.{how!r}, new_tokens={new_tokens}"
            f"{'' if uncached else ', uncached=False'})"
        )
        if part == words.CACHE:
            cache.draw(loaded, made, python=lines)
        else:
            steps.draw(made, model=loaded, said=decoding.in_words(how, new_tokens), python=lines)
except ValueError as error:
    problems.show(str(error))
link.publish()
