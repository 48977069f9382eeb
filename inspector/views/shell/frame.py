"""The frame of every page: navigation, sidebar, and the line with the page's purpose. app.py runs it."""

from contextlib import suppress

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from inspector.sections.registry import PAGES
from inspector.views.components import width
from inspector.views.server import process_settings
from inspector.views.shell import ahead, asked_here, boundary, header, link, model_picker, old_links, sidebar
from inspector.views.shell.pages import FILES, GROUPS, VIEWS

ICON = VIEWS / "icon.png"  # a named icon would be fetched from a CDN
WORDMARK = VIEWS / "wordmark.svg"
SIDEBAR = 280  # pixels: at 1440 it leaves 1000 for a page; the badge of exactness needs so much

st.set_page_config(page_title="Headlight", page_icon=str(ICON), layout="wide", initial_sidebar_state=SIDEBAR)
pages = {
    group: [
        st.Page(
            FILES[page.address],
            title=page.title,
            url_path=page.address,
            icon=f":material/{page.icon}:",
            default=not page.address,
        )
        for page in listed
    ]
    for group, listed in GROUPS.items()
}
page = st.navigation(pages, position="top")
st.set_page_config(page_title=f"{page.title} · Headlight")
st.logo(str(WORDMARK))
if any("?" in st.query_params.get(side, "") for side in ("model", "b")):
    ahead.wait()  # switches are read with the model, and two threads that import transformers at once break each other
old_links.follow(page.url_path)
sidebar.begin(page.url_path)
reads = PAGES[page.url_path].reads
asked = header.draw(page, PAGES[page.url_path].purpose, with_model=reads, pages=pages if width.is_narrow() else {})
another = sidebar.draw(text_in_page=reads and width.is_narrow())
notices = st.container()
with suppress(StopException), boundary.drawn("This page"):  # the page stops at a text that cannot be read
    with notices:  # what is said in a place of its own moves nothing on the page, which would be drawn anew
        ahead.wait()
    with process_settings.imports_frozen():
        page.run()
if width.is_narrow():
    asked = st.container()
with suppress(StopException), boundary.drawn("Questions"):
    ahead.wait()
    asked_here.draw(asked, page.url_path)
with notices:
    link.show_problems()
with boundary.drawn("Another model"):
    model_picker.draw(another)  # last: what it fetches must not keep the page waiting
