"""The frame of every page: navigation, sidebar, and the line with the page's purpose. app.py runs it."""

from contextlib import suppress

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from inspector.sections.registry import PAGES
from inspector.views.components import pointing, presses, terms, width
from inspector.views.server import process_settings
from inspector.views.shell import (
    ahead,
    asked_here,
    boundary,
    header,
    languages,
    link,
    model_picker,
    old_links,
    open_lesson,
    pages,
    sidebar,
)
from inspector.wording import reader
from inspector.wording.reader import pages as page_words
from inspector.wording.reader import shell as words

ICON = pages.VIEWS / "icon.png"  # a named icon would be fetched from a CDN
WORDMARK = pages.VIEWS / "wordmark.svg"
SIDEBAR = 280  # pixels: at 1440 it leaves 1000 for a page; the badge of exactness needs so much

st.set_page_config(page_title="Headlight", page_icon=str(ICON), layout="wide", initial_sidebar_state=SIDEBAR)
reader.told_by(languages.chosen)
languages.take()
page = pages.navigation()
about = PAGES[page.url_path]
st.set_page_config(page_title=f"{page.title} · Headlight")
st.logo(str(WORDMARK))
if any("?" in st.query_params.get(side, "") for side in ("model", "b")):
    ahead.wait()  # switches are read with the model, and two threads that import transformers at once break each other
old_links.follow(page.url_path)
sidebar.begin(page.url_path)
presses.watch()
asked = header.draw(about, narrow=width.is_narrow())
open_lesson.draw(page.url_path)
another = sidebar.draw(about, text_in_page=about.reads and width.is_narrow())
notices = st.container()
with suppress(StopException), boundary.drawn(words.THIS_PAGE):  # the page stops at a text that cannot be read
    with notices:  # what is said in a place of its own moves nothing on the page, which would be drawn anew
        ahead.wait()
    with process_settings.imports_frozen():
        page.run()
if width.is_narrow():
    asked = st.container()
with suppress(StopException), boundary.drawn(page_words.TITLES["questions"]):
    ahead.wait()
    asked_here.draw(asked, page.url_path)
with notices:
    link.show_problems()
if another is not None:
    with boundary.drawn(words.ANOTHER_MODEL):
        model_picker.draw(another)  # last: what it fetches must not keep the page waiting
terms.watch()
pointing.watch()
