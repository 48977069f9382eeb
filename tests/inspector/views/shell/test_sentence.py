"""Terms in the sentence that opens a page: each a link at its first place, and the sentence else letter by letter."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from inspector.views.shell.sentence import with_terms
from inspector.wording import terms as glossary


def read(markdown: str) -> tuple[str, dict[str, str]]:
    """Return the text that a reader sees, and the meaning of each linked word, as a Markdown parser reads them."""
    text, start, title = "", 0, ""
    meanings: dict[str, str] = {}
    for token in MarkdownIt("commonmark").parseInline(markdown)[0].children or []:
        text += token.content
        if token.type == "link_open":
            title, start = str(token.attrs.get("title", "")), len(text)
        elif token.type == "link_close" and title:
            meanings[text[start:]] = title
    return text, meanings


@pytest.mark.parametrize(
    ("sentence", "linked"),
    [
        ("Layer 1, head 7 looks; another head does not.", {"head": "head"}),
        (
            "Heads rest on the first token, which is no token.",
            {"Heads": "head", "first token": "first token"},
        ),
        ("All queries give `head` half of their attention.", {"queries": "query", "attention": "attention"}),
        ("It rests on `[CLS]`, not on the overhead.", {"[CLS]": "[CLS]"}),
        ("A headless text of $head$ and [a head](#why).", {}),
    ],
)
def test_a_term_is_a_link_at_its_first_place_outside_of_code_and_links(sentence: str, linked: dict[str, str]) -> None:
    asked = ("head", "first token", "query", "attention", "[CLS]")
    marked, others = with_terms(sentence, asked)
    text, meanings = read(marked)
    assert text == read(sentence)[0]
    assert meanings == {word: glossary.MEANINGS[term] for word, term in linked.items()}
    assert set(others) == set(asked) - set(linked.values())
    assert list(others) == [term for term in asked if term in others]


def test_every_meaning_survives_its_link() -> None:
    for term, meaning in glossary.MEANINGS.items():
        marked, others = with_terms(f"It is `{term}`." if term.startswith("[") else f"It is {term}.", (term,))
        assert not others
        assert read(marked)[1] == {term: meaning}


def test_a_term_is_found_beside_what_the_text_gives() -> None:
    hostile = '`head](#x) "` and &#91;head&#93; rest on a head.'
    marked, _ = with_terms(hostile, ("head",))
    assert re.sub(r"\[(head)\]\(#term \"[^\"]*\"\)", r"\1", marked, count=1) == hostile
    assert read(marked)[0] == read(hostile)[0]
