"""The address that What if had when it could only mask: its links go on there."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

st.switch_page(Path(__file__).parent / "what_if" / "page.py", query_params=st.query_params.to_dict())
