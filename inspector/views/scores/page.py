"""Scores: q . k of every head before the softmax, what the scale makes of it, and what the softmax makes of both."""

from __future__ import annotations

from inspector.views.scores import every, theory
from inspector.views.scores.subject import chosen
from inspector.views.shell import link, widgets

SECTIONS = {
    "every": "Every head",
    "theory": "Theory",
}

link.parameters("layer", "call", "head", "query")
subject = chosen()
match widgets.bar("What to see of the scores", list(SECTIONS), "section", words=SECTIONS.__getitem__):
    case "theory":
        theory.show(subject)
    case _:
        every.show(subject)
link.publish()
