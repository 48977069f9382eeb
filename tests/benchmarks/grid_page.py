"""A page with one button that draws the grid of all heads, for beside_bertviz.py.

The recording is there before; what a click costs is everything after: the maps computed again, made small, packed, sent
and drawn. HEADLIGHT_BENCHMARK names the saved trace.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
import streamlit as st

import inspector
from inspector import maps
from inspector.components.grid import grid_bytes, side
from inspector.components.head import HeadMessage
from inspector.components.pack import quantise
from inspector.plots import theme
from inspector.views.components.grid import grid
from inspector.views.components.head import head
from inspector.views.server import process_settings

st.set_page_config(layout="wide")
process_settings.use_threads()
process_settings.tune_memory()


@st.cache_resource
def _trace() -> inspector.Trace:
    return inspector.open(os.environ["HEADLIGHT_BENCHMARK"])


trace = _trace()
count, heads, tokens = len(trace.sites), trace.sites[0].heads, len(trace.tokens)
st.caption(f"{tokens} tokens recorded")
draws_grid, draws_window = st.button("Draw the grid"), st.button("Draw a window")
number = st.session_state["drawn"] = st.session_state.get("drawn", 0) + 1  # another picture, or nothing would be sent
if draws_grid:
    shown = maps.arrange(trace)
    most = side(count, heads)
    layers = [maps.pooled(trace, shown, layer=site.layer, stream="encoder", side=most) for site in trace.sites]
    pictures = quantise(np.stack(layers))
    scales: tuple[theme.Scale, theme.Scale] = ("linear", "sqrt")
    data = grid_bytes(pictures, tokens=tokens, scale=scales[number % 2])
    grid(data, key="grid")
if draws_window:
    part = slice(0, min(tokens, maps.WINDOW))
    weights = trace.window(layer=count - 1, head=number % heads, queries=part, keys=part)
    names = trace.tokens[part]
    head(HeadMessage(weights, queries=names, keys=names).to_bytes(), key="head")
