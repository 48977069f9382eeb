"""The sentence that opens a page: what its picture shows, in larger type, with the terms in it to be opened."""

from __future__ import annotations

import re
from collections.abc import Sequence

import streamlit as st

from inspector.views.components import terms as component
from inspector.wording import terms as glossary

_CODE = r"(?P<fence>`+)(?!`).*?(?<!`)(?P=fence)(?!`)"
_CLOSED = re.compile(rf"{_CODE}|\[[^\]]*\]\([^)]*\)|\$[^$]+\$|&#?\w+;")
"""Parts of a sentence in which no link can begin: code, links, mathematics and character references."""


def show(sentence: str, terms: Sequence[str] = ()) -> None:
    """Draw a page's sentence as the heading below its title; a click on a term in it shows what the term means.

    sentence: Markdown in one paragraph, of inspector.wording; terms: names in the glossary. What the sentence does not
    name by its word is explained behind a mark at its end.
    """
    linked, others = with_terms(sentence, terms)
    meanings = [f"**{term}**: {glossary.MEANINGS[term]}" for term in others]
    st.header(linked, anchor=False, help="\n\n".join(meanings) or None)


def note(text: str, terms: Sequence[str]) -> None:
    """Draw a sentence in small type, each term that stands in it with its meaning."""
    st.caption(with_terms(text, terms)[0])


def with_terms(sentence: str, terms: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Make a link of the first place of each term in a sentence, and return the terms that are not in it.

    A term may stand in the plural and begin with a capital; [CLS] and [SEP] stand in code, as all tokens do.
    """
    closed = [(match.span(), match.group()) for match in _CLOSED.finditer(sentence)]
    places: dict[str, tuple[int, int]] = {}
    for term in sorted(terms, key=len, reverse=True):  # "first token" before "token"
        code = (span for span, text in closed if text == f"`{term}`" and term.startswith("["))
        words = (match.span() for match in _pattern(term).finditer(sentence))
        taken = [*(span for span, _ in closed), *places.values()]
        free = (span for span in words if not any(span[0] < end and start < span[1] for start, end in taken))
        place = min([*code, *free], default=None)
        if place is not None:
            places[term] = place
    for term, (start, end) in sorted(places.items(), key=lambda item: -item[1][0]):
        meaning = glossary.MEANINGS[term].replace('"', "&quot;")
        sentence = f'{sentence[:start]}[{sentence[start:end]}]({component.ADDRESS} "{meaning}"){sentence[end:]}'
    return sentence, tuple(term for term in terms if term not in places)


def _pattern(term: str) -> re.Pattern[str]:
    ending = f"{re.escape(term[:-1])}(?:y|ies)" if term.endswith("y") else f"{re.escape(term)}s?"
    return re.compile(rf"(?<![\w-]){ending}(?![\w-])", re.IGNORECASE)
