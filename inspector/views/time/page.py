"""Time: how far a gradient reaches, and what runs one after another and what at once."""

from __future__ import annotations

from inspector.views.shell import link, session, stand_in, widgets
from inspector.views.time import clock, forcing, past, reach, recurrent, segments, steps

SECTIONS = {
    "reach": "Gradient by distance",
    "recurrent": "RNN, LSTM, GRU",
    "clock": "Serial or parallel",
    "forcing": "Teacher forcing",
    "past": "Old keys and queries",
    "segments": "Memory over segments",
}
SHOW = {
    "reach": reach.show,
    "recurrent": recurrent.show,
    "clock": clock.show,
    "past": past.show,
}

link.parameters("reach_token")
section = widgets.bar("What to see of time", list(SECTIONS), "section", words=SECTIONS.__getitem__)
if section == "forcing":  # which needs a model that writes
    forcing.show(stand_in.inspected(steps.CANNOT, can=lambda loaded: loaded.write is not None, instead=steps.WRITERS))
elif section == "segments":  # which needs a decoder
    shown = stand_in.inspected(segments.CANNOT, can=lambda loaded: loaded.shape == "decoder", instead=["mini-gpt"])
    segments.show(shown)
else:
    SHOW[section](session.inspected())
link.publish()
