"""Words of a reader lead to the number of an atlas that they mean."""

from __future__ import annotations

import pytest

from inspector.atlas.measures import NAMES
from inspector.atlas.reading import search
from inspector.atlas.reading.head_relations import BEST

RELATIONS = ("nsubj", "nsubj:pass", "obj", "det", "amod", "case", "nmod:poss", "aux:pass", "compound:prt", "conj", "cc")
RELATIONS += ("obl:agent",)
KEYS = [*NAMES, BEST, *(f"{relation} {way}" for relation in RELATIONS for way in ("governor", "dependent"))]


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("governors of nsubj", "nsubj governor"),
        ("dependents of nsubj:pass", "nsubj:pass dependent"),
        ("previous token", "previous"),
        ("looks at the next token", "next"),
        ("rests on punctuation", "punctuation"),
        ("[SEP]", "sep"),
        ("[CLS]", "cls"),
        ("attention sink", "first"),
        ("induction heads", "induction"),
        ("direct objects", "obj governor"),
        ("beats the best offset", "best_offset"),
        ("syntax", "best_offset"),
        ("articles", "det governor"),
        ("subjects", "nsubj governor"),
        ("passive agents", "obl:agent governor"),
        ("passive subjects", "nsubj:pass governor"),
        ("possessives", "nmod:poss governor"),
        ("particles", "compound:prt governor"),
        ("3 tokens back", "offset_-3"),
        ("two tokens ahead", "offset_+2"),
        ("1 token back", "previous"),
        ("pieces of the same word", "word"),
        ("broad attention", "entropy"),
        ("long-range", "distance"),
        ("offset_-16", "offset_-16"),
        ("norm_sep", "norm_sep"),
        ("numbers", "to_number"),
    ],
)
def test_words_lead_to_what_they_mean(asked: str, meant: str) -> None:
    assert search.find(asked, among=KEYS) == meant


@pytest.mark.parametrize("asked", ["", "   ", "heads that", "banana", "99 tokens back", "$x$ <b>", "the"])
def test_words_that_mean_nothing_here_find_nothing(asked: str) -> None:
    assert search.find(asked, among=[key for key in KEYS if key != "det governor"]) is None


def test_without_a_treebank_no_relation_is_found() -> None:
    assert search.find("governors of nsubj", among=NAMES) is None
