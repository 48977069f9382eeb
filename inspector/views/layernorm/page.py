"""Norms: what each norm does to each token of the text, and what it has learned."""

from inspector.views import sections

sections.show_page("layernorm")
