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
    "angles": "Dot or cosine",
    "theory": "Theory",
    "gradients": "Gradients",
    "importance": "Importance",
    "race": "Score functions",
    "weightings": "Weightings",
}

OF_THE_MODEL = ("every", "one", "keys", "angles")  # sections that speak of the weights as the model makes them

link.parameters("layer", "call", "head", "query", "left_at")
subject = chosen()
section = widgets.bar("What to see of the scores", list(SECTIONS), "section", words=SECTIONS.__getitem__)
match section:
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
if section in OF_THE_MODEL and not subject.record.function.normalised:
    st.caption(SIGMOID)
link.publish()
