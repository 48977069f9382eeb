"""Texts that have broken programs, through the page: shown, or refused in a sentence, and always kept.

Half of a character (a lone surrogate) is none of them: no message from a browser can carry it.
"""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.inspector.views.page import opened, said

TEXTS = {
    "a word of 10,000 letters": "x" * 10_000,
    "20,000 letters": "word " * 4_000,
    "controls": "".join(map(chr, range(1, 32))) + "cat\x7f\x85",
    "null": "a\x00b",
    "right to left": "\u202eabc\u202d \u2066cat\u2069",
    "zalgo": "c" + "\u0300\u0301\u0302\u0336" * 300 + "at",
    "spaces": " \t\n\u00a0\u2003\u3000" * 50,
    "zero width": "\u200b\u200c\u200d\ufeff" * 50,
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈👍🏽🇩🇪" * 40,
    "html": "<script>alert(1)</script><img src=x onerror=alert(1)>" * 5,
    "markdown": "# a **b** `c` [d](javascript:alert(1)) ![e](http://x) | f | > g" * 3,
    "latex": "$x$ $$\\frac{1}{0}$$ \\input{/etc/passwd}",
    "directives": ":red[x] :material/home: :smile: ^^sup^^",
    "special tokens": "[CLS] [SEP] [MASK] [PAD] [UNK] <s> </s> <|endoftext|>",
    "format": "%s %n {0} {} ${HOME} {{7*7}}",
    "sql": "'; DROP TABLE t; --",
    "backslashes": "\\" * 500,
    "quotes": "\"'`" * 300,
    "private use": "\ue000\uf8ff\U000f0000",
    "no characters": "\ufffe\uffff\U0001ffff",
    "many scripts": "猫 кот قطة γάτα बिल्ली 고양이 แมว חתול",
    "combined": "e\u0301 é ﬁ ² ٣ Ⅷ ½ İ ß ﷽",
    "a number": "9" * 400,
    "newlines": "\n" * 500 + "cat",
    "carriage returns": "a\r\nb\rc\u2028d\u2029e",
    "punctuation": "!?.,;:-" * 200,
    "one letter": "a",
    "formula": "=HYPERLINK(A1) @SUM(1) +1 -2",
    "json": '{"a": [1, {"b": null}]}' * 20,
    "nested": "(" * 500 + ")" * 500,
    "dots": "…" * 300,
    "tags": "\U000e0041\U000e0042\U000e007f",
    "variation": "a\ufe0f\ufe0e" * 100,
    "soft hyphens": "c\u00ada\u00adt" * 50,
    "hangul": "\u1100\u1161\u11a8" * 100,
    "flags cut": "🇩" * 33,
    "regex": "a" * 40 + "!",
    "url": "https://example.org/" + "a/" * 300,
}


@pytest.fixture(scope="module", params=["minilm", "mini-bert"])
def app(request: pytest.FixtureRequest) -> AppTest:
    """One visit for all texts: what one of them leaves behind would meet the next."""
    return opened(model=request.param)


@pytest.mark.parametrize("text", list(TEXTS.values()), ids=list(TEXTS))
def test_a_hostile_text_is_shown_or_is_a_sentence(app: AppTest, text: str) -> None:
    app.session_state["text"] = text
    app.run(timeout=30)
    assert not app.exception
    words = said(app)
    assert "does not know" not in words
    assert app.get("bidi_component") or "Cannot be shown" in words
    assert app.session_state["text"] == text
    for element in (*app.markdown, *app.caption, *app.warning):
        assert "<script" not in element.value
        assert "javascript:" not in element.value
