"""Tokens: how a text becomes tokens, what BERT learns from them, and what to do with a long one."""

from __future__ import annotations

from inspector.views.shell import link, session, widgets
from inspector.views.tokens import both, long, masking, merges, pieces, sparse, vector

SECTIONS = {
    "pieces": "One text, many vocabularies",
    "merges": "How pieces are learned",
    "masking": "Masking",
    "vector": "A sentence as a vector",
    "both": "Understand and continue",
    "sparse": "Sparse masks",
    "long": "Long texts",
}
SHOW = {
    "pieces": pieces.show,
    "merges": merges.show,
    "masking": masking.show,
    "vector": vector.show,
    "both": both.show,
    "sparse": sparse.show,
    "long": long.show,
}

link.parameters("merge")
inspected = session.inspected()
section = widgets.bar("What to see of tokens", list(SECTIONS), "section", words=SECTIONS.__getitem__)
SHOW[section](inspected)
link.publish()
