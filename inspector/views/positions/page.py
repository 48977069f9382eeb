"""Positions: how the model knows the order of the reader's tokens, with its own values, and what it makes of it."""

from inspector.views import sections

sections.show_page("positions")
