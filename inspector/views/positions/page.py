"""Positions: how the model knows the order of the reader's tokens, with its own values, and what it makes of it."""

from __future__ import annotations

from inspector.readings import positions as read
from inspector.views.positions import curves, distance, kinds, length, order, subject
from inspector.views.shell import link, sentence, widgets
from inspector.wording.english import positions as words

SECTIONS = {
    "curves": "The curves",
    "distance": "By distance",
    "order": "Does it matter",
    "length": "Longer than trained",
    "kinds": "The kinds",
}

link.parameters("dimensions")
shown = subject.chosen()
compared = bool(shown.own) or not shown.inside
alike = read.alike(shown.tables[shown.first], tokens=len(shown.tokens)) if compared else None
seen = read.Positions(ways=shown.ways, own=bool(shown.own), alike=alike)
said = words.positions(seen)
if shown.rotations:
    said = f"{said} {words.turns(read.turns(shown.rotations[0], tokens=len(shown.tokens)))}"
sentence.show(said, words.terms(seen))

match widgets.bar("What to see of the positions", list(SECTIONS), "section", words=SECTIONS.__getitem__):
    case "curves":
        curves.show(shown)
    case "distance":
        distance.show(shown)
    case "order":
        order.show(shown)
    case "length":
        length.show(shown)
    case _:
        kinds.show(shown)
link.publish()
