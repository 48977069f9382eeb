"""Questions: what people say of the Transformer, guessed first and then settled on the reader's model and text."""

from __future__ import annotations

import streamlit as st

from inspector.questions.index import BY_NUMBER, MERGED, QUESTIONS
from inspector.views.components.top import at_top_of
from inspector.views.questions import guesses, guessing, interviewing, listing, opened, path, sheet
from inspector.views.shell import languages, link, problems, recording_notes
from inspector.views.shell.question_reader import Reader

link.parameters("q", "theme", "level", *interviewing.PARAMETERS, *path.PARAMETERS)
number = link.number("q", default=None, first=1, last=max(BY_NUMBER))
number = MERGED.get(number, number) if number is not None else None
with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    ways = st.container(horizontal=True, vertical_alignment="center", gap="small", width="stretch")
    beside = st.container(horizontal=True, gap="small", width="content")
language = languages.chosen()
words = languages.WORDS[language]
way = path.now()
interview = interviewing.now()
theme = listing.theme() if number is None and way is None and interview is None else ""
level = listing.level()
link.publish()
guesses.hear()
try:
    reader = Reader.now()
except ValueError as error:
    problems.show(str(error), what=words.UNMEASURED)
    st.stop()
if reader.at_hand:
    recording_notes.badge(reader.model)
guesses.show_problem(language)
if way is not None:
    path.show(way, number, language)
    if number in BY_NUMBER:
        opened.show(BY_NUMBER[number], reader, words, language, alone=False)
elif interview is not None and number is None:
    with ways:
        interviewing.head(*interview, language)
    interviewing.show(*interview, reader, words, language)
elif theme:
    making = st.empty()
    with beside:
        sheet.show(theme, level, reader, words, language, place=making)
    with ways:
        st.header(words.count(len(QUESTIONS)), anchor=False, width="content")
        guesses.show(language, always=True)
        interviewing.way(language)
    path.editor(language)
    listing.show(theme, level, reader, words, language)
else:
    question = BY_NUMBER[number] if number in BY_NUMBER else guessing.another()
    with ways:
        listing.way(words)
    opened.show(question, reader, words, language, alone=True)
    with ways:  # last: a guess that was judged in this run is among them
        guesses.show(language, always=False)
guesses.keep()
at_top_of(f"{number} {bool(theme)} {interview}")
