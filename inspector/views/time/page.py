"""Time: how far a gradient reaches, and what runs one after another and what at once."""

from __future__ import annotations

from inspector.views.shell import link, session, widgets
from inspector.views.time import clock, forcing, past, reach, recurrent

SECTIONS = {
    "reach": "Gradient by distance",
    "recurrent": "RNN, LSTM, GRU",
    "clock": "Serial or parallel",
    "forcing": "Teacher forcing",
    "past": "Old keys and queries",
}
SHOW = {
    "reach": reach.show,
    "recurrent": recurrent.show,
    "clock": clock.show,
    "forcing": forcing.show,
    "past": past.show,
}

link.parameters()
inspected = session.inspected()
section = widgets.bar("What to see of time", list(SECTIONS), "section", words=SECTIONS.__getitem__)
SHOW[section](inspected)
link.publish()
