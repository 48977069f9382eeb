"""Tokens: how a text becomes tokens, what BERT learns from them, and what to do with a long one."""

from inspector.views import sections

sections.show_page("tokens")
