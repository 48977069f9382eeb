"""Headlight: a visual attention inspector. `make app`, or `streamlit run app.py`."""

from contextlib import suppress
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from inspector.views import boundary, link, picker, sidebar

ICON = Path(__file__).parent / "inspector/views/icon.png"  # a named icon would be fetched from a CDN

st.set_page_config(page_title="Headlight", page_icon=str(ICON), layout="wide")

page = st.navigation(
    [
        st.Page("inspector/views/attention.py", title="Attention", icon=":material/grid_view:", default=True),
        st.Page("inspector/views/compare.py", title="Compare", icon=":material/compare:"),
        st.Page("inspector/views/what_if.py", title="What if", icon=":material/alt_route:"),
        st.Page("inspector/views/generate.py", title="Generate", icon=":material/edit_note:"),
        st.Page("inspector/views/layernorm.py", title="LayerNorm", icon=":material/equalizer:"),
        st.Page("inspector/views/positions.py", title="Positions", icon=":material/waves:"),
        st.Page("inspector/views/costs.py", title="Costs", icon=":material/calculate:"),
        st.Page("inspector/views/lab.py", title="Lab", icon=":material/science:"),
        st.Page("inspector/views/training.py", title="Training", icon=":material/timeline:"),
        st.Page("inspector/views/mask.py", title="Mask", visibility="hidden"),  # links of before go on
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
    picker.draw(another)  # last: what it fetches must not keep the page waiting
