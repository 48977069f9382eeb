"""The frame of every page: navigation, sidebar, and the line with the page's purpose. app.py runs it."""

from contextlib import suppress
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from inspector.views.components import width
from inspector.views.shell import ahead, boundary, header, link, model_picker, sidebar

VIEWS = Path(__file__).parents[1]
ICON = VIEWS / "icon.png"  # a named icon would be fetched from a CDN
WORDMARK = VIEWS / "wordmark.svg"
# Group of pages -> file, address, title, icon and purpose of each page.
GROUPS = {
    "Read": (
        ("attention/page", "", "Attention", "grid_view", "See what every head of a Transformer looks at in your text."),
        ("compare/page", "compare", "Compare", "compare", "Set heads, texts and models side by side."),
        ("scores/page", "scores", "Scores", "score", "See what goes into the softmax, and what it makes of it."),
        ("what_if/page", "what_if", "What if", "alt_route", "Change the text or the model, and see what follows."),
    ),
    "Inside": (
        (
            "block/page",
            "block",
            "Block",
            "account_tree",
            "Follow a token through a layer, part by part.",
        ),
        ("layernorm/page", "layernorm", "LayerNorm", "equalizer", "See what each norm does to every token."),
        ("positions/page", "positions", "Positions", "waves", "See how the model knows the order of the tokens."),
        ("costs/page", "costs", "Costs", "calculate", "Count what attention costs, and what the FFN costs."),
    ),
    "Write": (
        ("generate/page", "generate", "Generate", "edit_note", "Watch a model write, token by token."),
        ("time/page", "time", "Time", "schedule", "See how far a gradient reaches, and what must wait for what."),
    ),
    "Learn": (
        (
            "tokens/page",
            "tokens",
            "Tokens",
            "text_fields",
            "See how a text becomes tokens, and what BERT makes of them.",
        ),
        ("batch/page", "batch", "Batch", "view_list", "See what a batch shows each token, and what padding costs."),
        ("lab/page", "lab", "Lab", "science", "Train two tiny networks, and see what a switch changes."),
        ("training/page", "training", "Training", "timeline", "See how the shipped models learned."),
    ),
}
SIDEBAR = 280  # pixels: at 1440 it leaves 1000 for a page; the badge of exactness needs so much
OWN_MODELS = ("lab", "training")  # pages that show models of their own, whatever the sidebar says
PURPOSES = {address: purpose for listed in GROUPS.values() for _, address, _, _, purpose in listed}

st.set_page_config(page_title="Headlight", page_icon=str(ICON), layout="wide", initial_sidebar_state=SIDEBAR)
pages = {
    group: [
        st.Page(VIEWS / f"{file}.py", title=title, url_path=address, icon=f":material/{icon}:", default=not address)
        for file, address, title, icon, _ in listed
    ]
    for group, listed in GROUPS.items()
}
page = st.navigation(pages, position="top")
st.set_page_config(page_title=f"{page.title} · Headlight")
st.logo(str(WORDMARK))
if any("?" in st.query_params.get(side, "") for side in ("model", "b")):
    ahead.wait()  # switches are read with the model, and two threads that import transformers at once break each other
sidebar.begin(page.url_path)
reads = page.url_path not in OWN_MODELS
header.draw(page, PURPOSES[page.url_path], with_model=reads, pages=pages if width.is_narrow() else {})
another = sidebar.draw(text_in_page=reads and width.is_narrow())
notices = st.container()
with suppress(StopException), boundary.drawn("This page"):  # the page stops at a text that cannot be read
    with notices:  # what is said in a place of its own moves nothing on the page, which would be drawn anew
        ahead.wait()
    page.run()
with notices:
    link.show_problems()
with boundary.drawn("Another model"):
    model_picker.draw(another)  # last: what it fetches must not keep the page waiting
