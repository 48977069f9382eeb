"""Scores: q . k of every head before the softmax, what the scale makes of it, and what the softmax makes of both."""

from __future__ import annotations

import streamlit as st

from inspector.views.scores import angles, every, gradients, importance, keys, one, race, theory, weightings
from inspector.views.scores.subject import chosen
from inspector.views.shell import link, widgets
from inspector.wording.english.score_functions import SIGMOID

SECTIONS = {
    "every": "Every head",
    "one": "One head",
    "keys": "Queries and keys",
    "angles": "Dot, cosine, distance",
    "theory": "Theory",
    "gradients": "Gradients",
    "importance": "Is weight importance?",
    "race": "Dot, general or additive",
    "weightings": "Other weightings",
}

link.parameters("layer", "call", "head", "query", "left_at")
subject = chosen()
match widgets.bar("What to see of the scores", list(SECTIONS), "section", words=SECTIONS.__getitem__):
    case "one":
        one.show(subject)
    case "keys":
        keys.show(subject)
    case "angles":
        angles.show(subject)
    case "theory":
        theory.show(subject)
    case "gradients":
        gradients.show(subject)
    case "importance":
        importance.show(subject)
    case "race":
        race.show(subject)
    case "weightings":
        weightings.show(subject)
    case _:
        every.show(subject)
if not subject.record.function.normalised:
    st.caption(SIGMOID)
link.publish()
