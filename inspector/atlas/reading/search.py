"""Finds, from a reader's words, the number of an atlas that they ask for: a measure, a relation, the best of relations.

```python
search.find("governors of nsubj", among=["previous", "nsubj governor"])  # "nsubj governor"
search.find("3 tokens back", among=["offset_-3"])  # "offset_-3"
```
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from inspector.atlas.measures import NAMES, offset_name
from inspector.atlas.reading.head_relations import BEST

_MEASURES = {
    BEST: "beats beat best fixed offset offsets baseline relations syntax syntactic",
    "previous": "previous token before back preceding",
    "next": "next token behind ahead after following",
    "self": "self itself own same position",
    "cls": "cls start begin",
    "sep": "sep separator end no-op rest delimiter",
    "first": "first token sink start",
    "sink": "sink receives most one token",
    "punctuation": "punctuation comma commas period periods full stop marks",
    "induction": "induction copy copies repeat repeats repeated pattern continues followed",
    "duplicate": "duplicate same token elsewhere again identical",
    "word": "word pieces pieces subwords within rest of word",
    "entropy": "entropy broad spread spreads diffuse everywhere uniform",
    "relative_entropy": "relative entropy",
    "confidence": "confidence confident sharp sharpest peaked focused strongest certain",
    "distance": "distance far long range long-range away",
    "information": "information chooses depends query content",
    "to_special": "special tokens added",
    "to_number": "number numbers digits",
    "to_rest": "later pieces of words suffix suffixes",
    "to_start": "words first pieces content",
    "to_unknown": "unknown unk",
    "part_1": "first quarter beginning of the text",
    "part_2": "second quarter",
    "part_3": "third quarter",
    "part_4": "last quarter end of the text",
}
_RELATIONS = {
    "nsubj": "subject subjects nominal",
    "nsubj:pass": "passive subject subjects",
    "obj": "object objects direct dobj",
    "iobj": "indirect object objects",
    "det": "determiner determiners article articles the",
    "amod": "adjective adjectives",
    "advmod": "adverb adverbs",
    "case": "preposition prepositions pobj case",
    "nmod": "noun modifier modifiers",
    "nmod:poss": "possessive possessives poss his her",
    "nummod": "numeral numerals",
    "aux": "auxiliary auxiliaries",
    "aux:pass": "passive auxiliary auxiliaries auxpass",
    "cop": "copula be",
    "compound": "compound compounds",
    "compound:prt": "particle particles prt phrasal",
    "cc": "conjunction conjunctions coordinating",
    "conj": "conjunct conjuncts coordinated",
    "mark": "marker markers subordinating that because",
    "obl": "oblique obliques",
    "obl:agent": "passive agent agents",
    "acl": "clause adnominal",
    "advcl": "adverbial clause",
    "xcomp": "open clausal complement",
    "ccomp": "clausal complement",
}
_OFFSET = re.compile(
    r"(\d+|two|three|four|five)\s+(?:tokens?|words?|places?)?\s*(back|before|left|ahead|after|right|on)\b"
)
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}
_BACK = ("back", "before", "left")
_FROM_GOVERNOR = ("dependents", "dependent", "dependants")
_COMMON = frozenset(
    (
        "a",
        "an",
        "the",
        "of",
        "token",
        "tokens",
        "to",
        "on",
        "at",
        "in",
        "it",
        "is",
        "that",
        "which",
        "who",
        "heads",
        "head",
        "looks",
        "look",
        "attends",
        "attend",
        "rests",
        "governors",
        "governor",
        "relation",
        "finds",
        "find",
        "do",
        "does",
        "its",
    )
)


def find(asked: str, *, among: Sequence[str]) -> str | None:
    """Find the key that the words mean: a measure's name, or a relation and its direction; None where nothing fits.

    among: the keys that the atlas has. A key or a relation by its own name wins, then an offset in numbers, then the
    key with most of the words; the first of equals.
    """
    text = asked.strip().lower().replace("[", " ").replace("]", " ")
    words = re.findall(r"[\w:-]+", text)
    known = list(among)
    if asked.strip() in known:
        return asked.strip()
    direction = "dependent" if any(word in _FROM_GOVERNOR for word in words) else "governor"
    relations = {key.rpartition(" ")[0] for key in known if " " in key}
    for word in sorted(words, key=len, reverse=True):
        if word in relations:
            return f"{word} {direction}"
    if (offset := _offset(text)) is not None:
        return offset if offset in known else None
    scores = {key: _score(words, key, direction) for key in known}
    best = max(scores, key=scores.__getitem__, default=None)
    return best if best is not None and scores[best] > 0 else None


def _offset(text: str) -> str | None:
    match = _OFFSET.search(text)
    if match is None:
        return None
    number = _NUMBERS.get(match[1]) or int(match[1])
    return offset_name(-number if match[2] in _BACK else number)


def _score(words: Sequence[str], key: str, direction: str) -> float:
    """Count the words that a key is known by; a key that is known by little else comes first among equals."""
    relation, _, way = key.rpartition(" ")
    if relation and way != direction:
        return 0
    name = relation or key
    named = {*(_RELATIONS if relation else _MEASURES).get(name, "").split(), name}
    hits = sum(word in named and word not in _COMMON for word in words)
    return hits and hits - len(named) / 1000 - (NAMES.index(key) / 1e6 if key in NAMES else 0)
