"""The app around grid_page.py, which serves the components' files."""

import sys
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

sys.path.insert(0, str(Path(__file__).parents[2]))

from inspector.views.server.assets import Assets

app = st.App("grid_page.py", middleware=[Middleware(Assets)])
