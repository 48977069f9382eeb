"""The frame of every page: title, navigation, sidebar. app.py runs it."""

from contextlib import suppress
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from inspector.views.shell import boundary, link, model_picker, sidebar

VIEWS = Path(__file__).parents[1]
ICON = VIEWS / "icon.png"  # a named icon would be fetched from a CDN

st.set_page_config(page_title="Headlight", page_icon=str(ICON), layout="wide")

page = st.navigation(
    [
        st.Page(VIEWS / "attention" / "page.py", title="Attention", icon=":material/grid_view:", default=True),
        st.Page(VIEWS / "compare" / "page.py", title="Compare", url_path="compare", icon=":material/compare:"),
        st.Page(VIEWS / "what_if" / "page.py", title="What if", url_path="what_if", icon=":material/alt_route:"),
        st.Page(VIEWS / "generate" / "page.py", title="Generate", url_path="generate", icon=":material/edit_note:"),
        st.Page(VIEWS / "layernorm.py", title="LayerNorm", icon=":material/equalizer:"),
        st.Page(VIEWS / "positions.py", title="Positions", icon=":material/waves:"),
        st.Page(VIEWS / "costs.py", title="Costs", icon=":material/calculate:"),
        st.Page(VIEWS / "lab" / "page.py", title="Lab", url_path="lab", icon=":material/science:"),
        st.Page(VIEWS / "training" / "page.py", title="Training", url_path="training", icon=":material/timeline:"),
    ],
    position="top",
)
another = sidebar.draw(page.url_path)
notices = st.container()
with suppress(StopException), boundary.drawn("This page"):  # the page stops at a text that cannot be read
    page.run()
with notices:
    link.show_problems()
with boundary.drawn("Another model"):
    model_picker.draw(another)  # last: what it fetches must not keep the page waiting
