"""Sentences of a head's card on the page Atlas."""

from __future__ import annotations

from math import isnan, log10
from typing import TYPE_CHECKING

from inspector.atlas.distribution import Distribution
from inspector.atlas.measures import Measure
from inspector.plots.atlas.units import written
from inspector.readings.atlas_head import HeadReading, Relation
from inspector.wording.english.phrases import percent

if TYPE_CHECKING:
    from inspector.atlas import Atlas

GIVES = {
    "self": "to the token itself",
    "previous": "to the token before",
    "next": "to the token behind",
    "first": "to the first token",
    "cls": "to [CLS]",
    "sep": "to [SEP]",
    "punctuation": "to punctuation",
}
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
    "parataxis": "parataxis",
    "vocative": "vocatives",
    "xcomp": "open complements",
}
"""Dependents in plain words, by the names of Universal Dependencies."""
LEAST = 0.05  # of the weight, from which on a second share is told
TOLD = 0.3  # correlation, from which on it is told
STRONGEST = "Texts in which it is strongest"
USUAL = "Texts from its weakest tenth to its strongest"
PAIRS = "Strongest pairs of tokens: the query framed, the key filled"
EVERY = "Every measure"
RELATIONS_BESIDE = "Relations beside the best fixed offset"
RELATION_COLUMNS = ("relation", "this head", "95 %", "offset's", "95 %", "offset", "cases")
CHOSEN = (
    "Listed is what beats the best fixed offset on half of the sentences; the numbers are of the other half "
    "(Clark et al. 2019, section 4.2)."
)
LIKE = (
    "Like means: near in what the heads do on average. Every measure's mean over the texts is standardised over all "
    "heads listed here, and the distance is the root of the mean squared difference, in which the groups of measures "
    "(head, offset, part, class, norm-weighted) count alike. 0 is the same means, and two heads drawn at random are "
    "1.41 apart (root mean square). It says nothing of single maps."
)
OTHER_CORPORA = "Models were measured on corpora of their own: {}. A part of their distance may be the texts'."


def name(read: HeadReading) -> str:
    """Name the head: "layer 2, head 0"; with its stream where there are several."""
    call = f", attention {read.call}" if read.several_calls else ""
    stream = f"{read.stream} " if read.several_streams else ""
    return f"{stream}layer {read.layer}{call}, head {read.head}"


def head(read: HeadReading) -> str:
    """Say what a head does over all texts, in one or two sentences."""
    title = name(read)
    begins = f"Over {read.texts:,} texts, {title}"
    if read.most is None:
        return f"{begins} has no number that a text gives."
    gives = f"{_share(read.most.mean)} of its weight {GIVES[read.most.measure.name]}"
    low, high = map(_share, read.most.middle_half)
    beside = (
        f", and {_share(read.beside.mean)} {GIVES[read.beside.measure.name]}"
        if read.beside is not None and read.beside.mean >= LEAST
        else ""
    )
    if read.focused:
        first = f"{begins} gives {gives} (half of the texts: {low} to {high}){beside}."
    else:
        first = (
            f"{begins} spreads its weight, to {percent(read.spread)} of the most that a text's length allows; the "
            f"largest part under a plain rule is {gives}{beside}."
        )
    return first if read.relation is None else f"{first} {_relation(read.relation, others=read.relations - 1)}"


def _relation(found: Relation, *, others: int) -> str:
    plain = RELATIONS.get(found.relation)
    named = plain if plain == found.relation else f"{plain} ({found.relation})"
    dependents = named if plain else f"words in the relation {found.relation}"
    begins = (
        f"From {dependents}, its strongest key is"
        if found.direction == "governor"
        else f"The word that looks most at {dependents} is"
    )
    more = f"; it beats offsets clearly on {others} more" if others else ""
    return (
        f"{begins} the governor in {percent(found.share)} of {found.total:,} cases, the best fixed offset in "
        f"{percent(found.baseline)}{more}."
    )


def chart(measure: Measure) -> str:
    """Head a histogram: "How much it looks at the token before"."""
    if measure.says.startswith(("looks at", "looks behind")):
        return f"How much it {measure.says}"
    return {
        "entropy": "How far it spreads its weight (entropy of a row)",
        "relative_entropy": "How far it spreads its weight, of the most possible",
        "distance": "How far it looks, on average",
        "confidence": "How much it gives to its strongest key",
        "information": "How much it chooses its keys by the query",
        "sink": "How much it gives to the one token that receives most",
    }.get(measure.name, f"How much it {measure.says}")


def summary(found: Distribution) -> str:
    """Say a measure in numbers: "mean 21 %; half of the texts 17 % to 23 %; smaller in longer texts (r = ...)"."""
    low, high = (value(end, found.measure) for end in found.middle_half)
    return f"mean {value(found.mean, found.measure)}; half of the texts {low} to {high}; {length(found)}"


def length(found: Distribution) -> str:
    """Say what the text's length does to a measure."""
    r = found.correlation
    if isnan(r):
        return "the same whatever the text's length"
    number = f"r = {r:.2f} with the number of tokens".replace("-0.00", "0.00").replace("-", "−")
    if abs(r) < TOLD:
        return f"the text's length hardly changes it ({number})"
    return f"{'larger' if r > 0 else 'smaller'} in longer texts ({number})"


def value(number: float, measure: Measure) -> str:
    """Write a value of a measure with its unit."""
    return written(number, measure.unit)


def source(atlas: Atlas) -> str:
    """Name model, corpus, texts and whose they are."""
    own = atlas.manifest
    texts = f"{own.model} over {own.corpus or 'a corpus without a name'}: {atlas.counted.read:,} texts"
    return f"{texts}, {atlas.counted.tokens:,} tokens. {own.attribution}".strip()


def _share(value: float) -> str:
    """Write a share as a percentage that tells small ones apart: "4.2 %", "0.03 %"."""
    if 0 < value < 0.01:
        digits = min(6, 1 - int(log10(100 * value)))
        return f"{100 * value:.{digits}f} %"
    return percent(value)
