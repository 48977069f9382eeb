"""Every page of models with one head in one layer: what there is one of is told in the singular."""

from __future__ import annotations

import re

import pytest

from tests.inspector.views.page import READING, opened, said, turned

TEXT = "The cat sat on the mat because it was tired."
ENCODER, DECODER, BOTH = (
    "own-encoder?layers=1&heads=1",
    "mini-gpt?layers=1&heads=1&kv_heads=1",
    "translator?layers=1&heads=1",
)
THINGS = "heads|layers|tokens|texts|words|keys|queries|positions|norms|steps|segments|pairs|rows|columns|sentences|runs"
PLURAL = re.compile(rf"(?<![\w.,·/^−-])(?:of 1 of|(?:1|1 of 1|the 1) (?:(?!as )[a-z]+ )?(?:{THINGS})\b)")
SWITCHES = re.compile(r"layers 1&#44; heads 1(?:&#44; KV heads 1)?")  # a variant's name


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (ENCODER, TEXT),
        *(pytest.param(*both, marks=pytest.mark.heavy) for both in ((DECODER, TEXT), (BOTH, TEXT), (DECODER, "Cats"))),
    ],
)
def test_one_is_no_plural(model: str, text: str) -> None:
    app = opened(model=model, text=text)
    for page in READING:
        turned(app, page)
        assert not app.exception, page
        assert not PLURAL.findall(SWITCHES.sub("", said(app))), page
