"""Headlight: a visual attention inspector. `make app`, or `streamlit run app.py`."""

import streamlit as st
from starlette.middleware import Middleware

from inspector.views.server import start

start.check()  # before the modules that read settings

from inspector.views.server import assets, gate, maps  # noqa: E402
from inspector.views.shell import ahead, boundary  # noqa: E402

ahead.begin()
app = st.App(
    "inspector/views/shell/frame.py",
    middleware=[
        Middleware(gate.Gate, rules=gate.Rules.from_environment()),
        Middleware(maps.Maps),
        Middleware(assets.Assets),
    ],
    on_script_error=boundary.escaped,
    lifespan=start.announced,
)
