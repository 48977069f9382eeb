"""Questions: what people say of the Transformer, guessed first and then settled on the reader's model and text."""

from __future__ import annotations

import streamlit as st

from inspector.questions.index import BY_NUMBER, QUESTIONS
from inspector.views.components.top import at_top_of
from inspector.views.questions import listing, opened, path, sheet
from inspector.views.questions.reader import Reader
from inspector.views.shell import languages, link, problems, recording_notes

link.parameters("q", "lang", "theme", *path.PARAMETERS)
last = max(BY_NUMBER)
number = link.number("q", default=None, first=1, last=last)
with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    ways = st.container(horizontal=True, vertical_alignment="center", gap="small", width="stretch")
    beside = st.container(horizontal=True, gap="small", width="content")
    language = languages.switch("Language / 语言")
words = languages.WORDS[language]
way = path.now()
link.publish()
try:
    reader = Reader.now()
except ValueError as error:
    problems.show(str(error), what=words.UNMEASURED)
    st.stop()
if reader.at_hand:
    recording_notes.badge(reader.model)
making = st.empty()
with beside:
    sheet.show(reader, words, language, making)
if way is not None:
    path.show(way, number, language)
if number in BY_NUMBER:
    with ways:
        opened.ways(number, words)
    opened.show(BY_NUMBER[number], reader, words, language)
else:
    if number is not None:
        st.text(words.unknown(number, last))
    ways.header(words.count(len(QUESTIONS)), anchor=False)
    st.caption(words.ABOUT)
    listing.show(reader, words, language)
    path.editor(language)
at_top_of(str(number))
