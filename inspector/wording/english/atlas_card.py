"""Words of one head on the page Atlas: its card, its texts, heads like it."""

from __future__ import annotations

from math import isnan, log10
from typing import TYPE_CHECKING

from inspector.atlas.measures import Measure
from inspector.atlas.reading.distribution import MeasureDistribution
from inspector.plots.atlas.units import written
from inspector.text import signed, token
from inspector.wording.english.phrases import count_of, percent

if TYPE_CHECKING:
    from inspector.atlas import Atlas

GIVES = {
    "self": "to the token itself",
    "previous": "to the previous token",
    "next": "to the next token",
    "first": "to the first token",
    "cls": "to [CLS]",
    "sep": "to [SEP]",
    "punctuation": "to punctuation",
}
_THE_SAME = {
    ("first", "previous"): "which for the second token is the first",
    ("cls", "previous"): "which for the second token is [CLS]",
    ("sep", "next"): "which for the last word is [SEP]",
    **{(name, "self"): f"which for {GIVES[name].removeprefix('to ')} is the same" for name in ("first", "cls", "sep")},
}
"""Keys that are counted twice: (a share, the share told beside it) -> what is said of the second."""
RELATIONS = {
    "acl": "clauses that modify a noun",
    "acl:relcl": "relative clauses",
    "advcl": "adverbial clauses",
    "advmod": "adverbs",
    "amod": "adjectives",
    "appos": "appositions",
    "aux": "auxiliaries",
    "aux:pass": "passive auxiliaries",
    "case": "prepositions",
    "cc": "coordinating conjunctions",
    "ccomp": "clausal complements",
    "compound": "parts of compounds",
    "compound:prt": "verb particles",
    "conj": "conjuncts",
    "cop": "copulas",
    "csubj": "clausal subjects",
    "det": "determiners",
    "discourse": "discourse elements",
    "expl": "expletives",
    "fixed": "fixed expressions",
    "flat": "parts of names",
    "iobj": "indirect objects",
    "list": "items of lists",
    "mark": "subordinating conjunctions",
    "nmod": "nouns that modify a noun",
    "nmod:poss": "possessives",
    "nsubj": "subjects",
    "nsubj:pass": "passive subjects",
    "nummod": "numerals",
    "obj": "objects",
    "obl": "oblique nominals",
    "obl:agent": "passive agents",
    "parataxis": "parataxis",
    "vocative": "vocatives",
    "xcomp": "open complements",
}
"""Dependents in plain words, by the names of Universal Dependencies."""
ALL = 0.995  # of the weight
FOCUSED = 0.25  # of the weight, from which on it says what the head does
LEAST = 0.05  # of the weight, from which on a second share is told
TOLD = 0.3  # correlation, from which on it is told
FEWEST = 10  # texts, from which on a correlation is told
STRONGEST = "Texts in which it is strongest"
USUAL = "Texts from its weakest tenth to its strongest"
PAIRS = "Strongest pairs of tokens: the query framed, the key filled"
ON_TEXTS, WHICH_TEXTS, OPEN = "On texts", "Kind of texts", "Open in Attention"
KINDS = {"usual": "Weakest to strongest", "strongest": "Strongest texts", "pairs": "Strongest pairs"}
NO_EXAMPLE = "No text has this number for this head."
WHICH_FIGURE = "Figure of the head"
FIGURES = {"texts": "All texts", "offsets": "By offset", "relations": "Relations"}
NO_TEXT = "No text has this number for this head: choose another one."
LIKE_IT = "Heads like it"
TAKE = "Take the card away"
PNG, SVG = "the card as a picture, 2560 by 1440 pixels", "the card as a picture, sharp at any size"
HTML, PARQUET, CSV = "the card as one offline page", "every measure", "the same"
EVERY = "Every measure"
RELATIONS_BESIDE = "Relations beside the best fixed offset"
RELATION_COLUMNS = ("relation", "this head", "95 %", "offset's", "95 %", "offset", "cases")
CHOSEN = (
    "Listed is what beats the best fixed offset on half of the sentences; the numbers are of the other half "
    "(Clark et al. 2019, section 4.2)."
)
_LICENCES = {
    "CC BY-SA 4.0": "https://creativecommons.org/licenses/by-sa/4.0/",
    "CC-BY 2.0 FR": "https://creativecommons.org/licenses/by/2.0/fr/",
}
ASKED = "The relation that was asked for comes first."
BEST_FIRST = "The relation on which the head is best in one half of the sentences comes first."
LIKE = "Near in the means of all measures: 0 is the same, two heads drawn at random are 1.41 apart."
LIKE_MEANS = (
    "Every measure's mean over the texts is standardised over all heads listed here, and the distance is the root of "
    "the mean squared difference, in which the groups of measures (head, offset, part, class, norm-weighted) count "
    "alike. 1.41 is the root mean square of two heads drawn at random. It says nothing of single maps."
)


def name(*, layer: int, head: int, stream: str, call: int | None) -> str:
    """Name the head: "layer 2, head 0". stream, call: "" and None where the model has only one."""
    attention = "" if call is None else f", attention {call}"
    return f"{f'{stream} ' if stream else ''}layer {layer}{attention}, head {head}"


def opening(name: str, measure: Measure, value: float, *, most: tuple[str, float] | None, first: bool) -> str:
    """Say how much the open head does of what is asked for: "Layer 0, head 2 gives 98 % of its weight to ...".

    value: its mean over the texts, NaN where it has none. most: the head that does most of it and its mean, None where
    it is the open one; first: whether that one does more than any other.
    """
    told = "has no text with this number" if isnan(value) else does(measure, written(value, measure.unit))
    if most is None:
        return f"{_capital(name)} {told} on average{', more than any other head' if first else ''}."
    other, largest = most
    return f"{_capital(name)} {told}; {other} has most, {written(largest, measure.unit)}."


def opening_relation(
    name: str, relation: str, direction: str, *, share: float, baseline: float, most: tuple[str, float] | None
) -> str:
    """Say how often the open head finds the governors of the relation that is asked for.

    share, baseline: its own, and the best fixed offset's. most: the head that finds most and its share, None where it
    is the open one.
    """
    begins = f"{_capital(name)}: {_found(relation, direction)} in {percent(share)} of cases"
    if most is None:
        return f"{begins}, the best offset in {percent(baseline)}."
    return f"{begins}; {most[0]} finds most, {percent(most[1])}."


def opening_best(
    name: str, relation: str, direction: str, *, gain: float, clear: bool, most: tuple[str, float] | None
) -> str:
    """Say by how much the open head beats the best fixed offset on its best relation.

    gain: in percentage points. clear: the intervals of both shares part. most: the head that beats it by most and by
    how much, None where it is the open one.
    """
    side = "" if direction == "governor" else ", from the governor's side"
    told = f"{points(gain)} at finding the governor of {relation}{side}"
    if most is None and clear:
        return f"{_capital(name)} beats the best fixed offset by most: {told}."
    beats = "beats the best fixed offset by" if clear else "does not clearly beat the best fixed offset:"
    other = "" if most is None else f"; {most[0]} is first, {points(most[1])}"
    return f"{_capital(name)} {beats} {told}{other}."


def points(gain: float) -> str:
    """Write a difference of two shares, given in percentage points."""
    return f"{signed(gain)} percentage points"


def does(measure: Measure, value: str) -> str:
    """Say what a head does with a mean: "gives 98 % of its weight to the token before".

    Of what only some tokens have, such as an earlier copy, the mean is over these tokens.
    """
    if measure.says.startswith("looks at "):
        some = ", if any" if measure.name in ("induction", "duplicate", "word") else ""
        return f"gives {value} of its weight to {measure.says.removeprefix('looks at ')}{some}"
    return {
        "entropy": f"spreads its weight: the entropy of a row is {value}",
        "relative_entropy": f"spreads its weight to {value} of the most that a text's length allows",
        "distance": f"looks {value} far",
        "confidence": f"gives {value} of its weight to its strongest key",
        "information": f"chooses its keys by the query, which tells {value} of them",
        "sink": f"gives {value} of its weight to the one token that receives most",
    }.get(measure.name, f"{measure.says} with {value} of its weight")


def _capital(name: str) -> str:
    return f"{name[0].upper()}{name[1:]}"


def head(
    *, name: str, texts: int, most: MeasureDistribution | None, beside: MeasureDistribution | None, spread: float
) -> str:
    """Say what a head does over all texts.

    most: the share that is largest on average, None where no share is known; beside: the largest share by another rule,
    where `most` lies on a special token or the first: told where `most` leaves that much, and with what both count,
    for they may add up to more than all. spread: mean relative entropy.
    """
    begins = f"Over {count_of(texts, 'text')}, {name}"
    if most is None:
        return f"{begins} has no number that a text gives."
    gives = f"{_share(most.mean)} of its weight {GIVES[most.measure.name]}"
    low, high = most.middle_half
    half = f" (half of the texts: {_share(low)} to {_share(high)})" if high <= ALL else ""
    half = f" (half of the texts: over {_share(low)})" if low <= ALL < high else half
    second = ""
    if beside is not None and min(beside.mean, 1 - most.mean) >= LEAST:
        twice = _THE_SAME.get((most.measure.name, beside.measure.name), "")
        second = f", and {_share(beside.mean)} {GIVES[beside.measure.name]}{f', {twice}' if twice else ''}"
    if most.mean >= FOCUSED:
        return f"{begins} gives {gives}{half}{second}."
    return (
        f"{begins} spreads its weight, to {percent(spread)} of the most that a text's length allows; the largest part "
        f"under a plain rule is {gives}{second}."
    )


def relation(name: str, direction: str, *, share: float, baseline: float, others: int) -> str:
    """Say how often a head finds the governors of a relation, and the best fixed offset does.

    direction: "governor" or "dependent". others: further relations on which the head clearly beats offsets.
    """
    more = f"; it beats offsets clearly on {others} more" if others else ""
    return (
        f"{_capital(_found(name, direction))} in {percent(share)} of cases, the best fixed offset in "
        f"{percent(baseline)}{more}."
    )


def _found(name: str, direction: str) -> str:
    """Name what a head finds: "from subjects (nsubj), its strongest key is the governor"."""
    dependents = _dependents(name)
    if direction == "governor":
        return f"from {dependents}, its strongest key is the governor"
    return f"what looks most at {dependents} is the governor"


def _dependents(name: str) -> str:
    """Name the dependents of a relation: "subjects (nsubj)"."""
    plain = RELATIONS.get(name)
    named = plain if plain == name else f"{plain} ({name})"
    return named if plain else f"words in the relation {name}"


def offsets_alt(name: str) -> str:
    """Tell what the figure by offset shows."""
    return f"mean weight of {name} by offset from the query"


def relations_alt(name: str) -> str:
    """Tell what the figure of relations shows."""
    return f"relations that {name} finds more often than the best fixed offset"


def texts_alt(told: str, *, texts: int) -> str:
    """Tell what the histogram over all texts shows. told: its heading."""
    return f"{told}: a histogram over {texts:,} texts"


def sorted_by(measure: Measure) -> str:
    """Say what the number before each text is."""
    return f"{chart(measure)}, on each text."


def sorted_by_relation(name: str, direction: str) -> str:
    """Say what the number before each text is where texts are ranked by a relation."""
    dependents, one = _dependents(name), "the mean on each text"
    if direction == "governor":
        return f"How much it gives from {dependents} to their governors, {one}."
    return f"How much it gives from governors to {dependents}, {one}."


def pair(*, weight: str, query: str | None, key: str | None, places: tuple[int, int]) -> str:
    """Write a pair of tokens with its weight. query, key: their characters, None where they are not known."""
    shown = (f"token {at}" if told is None else token(told) for told, at in zip((query, key), places, strict=True))
    return f"**{weight}** {' → '.join(shown)}"


def like(name: str, *, distance: float, model: str = "") -> str:
    """Name a head that is like the open head. model: the model of that head, where it is another one."""
    return f"{f'{model}: ' if model else ''}{name} ({distance:.2f})"


def chart(measure: Measure) -> str:
    """Head a histogram: "How much it looks at the token before"."""
    if measure.says.startswith("looks at"):
        return f"How much it {measure.says}"
    return {
        "entropy": "How far it spreads its weight (entropy of a row)",
        "relative_entropy": "How far it spreads its weight, of the most possible",
        "distance": "How far it looks, on average",
        "confidence": "How much it gives to its strongest key",
        "information": "How much it chooses its keys by the query",
        "sink": "How much it gives to the one token that receives most",
    }.get(measure.name, f"How much it {measure.says}")


def summary(distribution: MeasureDistribution) -> str:
    """Say a measure in numbers: "mean 21 %; half of the texts 17 % to 23 %; smaller in longer texts (r = ...)"."""
    low, high = (value(end, distribution.measure) for end in distribution.middle_half)
    return (
        f"mean {value(distribution.mean, distribution.measure)}; half of the texts {low} to {high}; "
        f"{length(distribution)}"
    )


def length(distribution: MeasureDistribution) -> str:
    """Say what the text's length does to a measure."""
    r = distribution.correlation
    if distribution.texts < FEWEST:
        return f"what the text's length does cannot be told from {distribution.texts} texts"
    if isnan(r):
        return "the same whatever the text's length"
    number = f"r = {r:.2f}".replace("-0.00", "0.00").replace("-", "−")
    if abs(r) < TOLD:
        return f"the text's length hardly changes it ({number})"
    return f"{'larger' if r > 0 else 'smaller'} in longer texts ({number})"


def value(number: float, measure: Measure) -> str:
    """Write a value of a measure with its unit."""
    return written(number, measure.unit)


def source(atlas: Atlas) -> str:
    """Name model, corpus and texts, and who wrote them."""
    manifest = atlas.manifest
    texts = f"{manifest.model} over {manifest.corpus or 'a corpus without a name'}: {atlas.counted.read:,} texts"
    return f"{texts}, {atlas.counted.tokens:,} tokens. {manifest.attribution}".strip()


def quoted(atlas: Atlas) -> str:
    """Say who wrote the quoted texts, and under which licence they stay."""
    whose = atlas.manifest.attribution or "the texts of whoever built this atlas"
    licence = next((f" {address}." for name, address in _LICENCES.items() if name in whose), "")
    return f"Quoted texts: {whose}. They stay under their licence; long ones are cut.{licence}"


def _share(value: float) -> str:
    """Write a share as a percentage that tells small ones apart: "4.2 %", "0.03 %"."""
    if 0 < value < 0.01:
        digits = min(6, 1 - int(log10(100 * value)))
        return f"{100 * value:.{digits}f} %"
    return percent(value)
