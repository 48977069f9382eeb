"""The card as one HTML file: a stranger's texts stay text, and nothing is fetched or run."""

from __future__ import annotations

import re
from pathlib import Path

import models
from inspector import atlas
from inspector.atlas.head_examples import spans_in
from inspector.export import atlas_card

HOSTILE = '<script>alert(1)</script> & <img src="http://x.example/a.png" onerror=alert(2)> said a cat to a dog.'


def test_texts_stay_text_and_nothing_is_fetched(minilm: models.LoadedModel, tmp_path: Path) -> None:
    made = atlas.build(minilm, [HOSTILE, "A cat sat."], out=tmp_path, name="<b>mine</b>", attribution="<i>me</i>")
    assert made is not None
    page = atlas_card.page(made, 2, measure="previous", spans_of=spans_in(minilm))
    body = page.partition("<body>")[2]
    assert "&lt;script&gt;alert(1)" in body
    assert not re.search(r"<(script|img|link|iframe|object|embed|form|b|i)[ >]", body)
    assert not re.search(r"""\s(src|href|onerror|onload)\s*=\s*["']?(?!#)""", re.sub(r"&lt;.*?&gt;", "", body))
    assert "default-src 'none'" in page
    assert "&lt;b&gt;mine&lt;/b&gt;" in body
