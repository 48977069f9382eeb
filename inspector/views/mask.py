"""The address that What if had when it could only mask: its links go on there."""

from __future__ import annotations

import streamlit as st

st.switch_page("inspector/views/what_if.py", query_params=st.query_params.to_dict())
