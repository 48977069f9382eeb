"""The card as one HTML file: a stranger's texts stay text, and nothing is fetched or run."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

import models
from inspector import atlas
from inspector.atlas import library
from inspector.atlas.reading import head_examples
from inspector.atlas.reading.head_examples import spans_in
from inspector.sections.atlas import card_file

HOSTILE = '<script>alert(1)</script> & <img src="http://x.example/a.png" onerror=alert(2)> said a cat to a dog.'


def test_texts_stay_text_and_nothing_is_fetched(minilm: models.LoadedModel, tmp_path: Path) -> None:
    made = atlas.build(minilm, [HOSTILE, "A cat sat."], out=tmp_path, name="<b>mine</b>", attribution="<i>me</i>")
    assert made is not None
    page = card_file.page(made, 2, measure="previous", spans_of=spans_in(minilm))
    body = page.partition("<body>")[2]
    assert "&lt;script&gt;alert(1)" in body
    assert not re.search(r"<(script|img|link|iframe|object|embed|form|b|i)[ >]", body)
    assert not re.search(r"""\s(src|href|onerror|onload)\s*=\s*["']?(?!#)""", re.sub(r"&lt;.*?&gt;", "", body))
    assert "default-src 'none'" in page
    assert "&lt;b&gt;mine&lt;/b&gt;" in body


@pytest.mark.parametrize("id", library.shipped())
def test_a_card_that_quotes_a_shipped_sentence_says_whose_it_is(id: str) -> None:
    shipped = atlas.open(library.SHIPPED / id)
    page = card_file.page(shipped, 0, measure="confidence")
    quoted = [one.text for one in head_examples.strongest(shipped, "confidence", 0)]
    assert html.escape(quoted[0].text[:40]) in page
    assert html.escape(shipped.manifest.attribution) in page
    licence = "by/2.0/fr/" if id == "translator" else "by-sa/4.0/"
    assert f"https://creativecommons.org/licenses/{licence}" in page
    assert all(html.escape(shipped.credits[text]) in page for text in quoted if id == "translator")


def test_every_text_of_a_shipped_atlas_has_its_authors() -> None:
    shipped = atlas.open(library.SHIPPED / "translator")
    assert shipped.credits.keys() == set(shipped.texts.values())
