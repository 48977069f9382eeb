"""Scores: q . k of every head before the softmax, what the scale makes of it, and what the softmax makes of both."""

from inspector.views import sections

sections.show_page("scores")
