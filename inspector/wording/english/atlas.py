"""Sentences of the page Atlas, and of an atlas on other pages."""

from __future__ import annotations

from math import floor

from inspector.atlas import Atlas
from inspector.atlas.estimate import Estimate
from inspector.atlas.standing import Standing
from inspector.readings.atlas import Grid
from inspector.wording.english.atlas_card import GIVES
from inspector.wording.english.costs import seconds
from inspector.wording.english.phrases import listed, share
from models.formatting import format_bytes, layer_name

_GIVES = {**GIVES, "confidence": "to each query's strongest key"}


def standing(found: Standing, *, start: str, end: str) -> str:
    """Say where a head's text lies: "It gives 83 % to [SEP] here: more than in 97 % of 4,078 texts.".

    start, end: how the model calls its start and end tokens.
    """
    goes = _GIVES[found.measure.name].replace("[CLS]", start).replace("[SEP]", end)
    part = f"{floor(found.share * 100)} % of {found.texts:,} texts"
    gives = f"This head gives {share(found.value)} {goes} here"
    said = f"{gives}: {'more' if found.more else 'less'} than in {part}"
    return f"{said}." if found.unusual else f"{said}, which is nothing unusual."


_REST = {
    "cls": "on [CLS]",
    "sep": "on [SEP]",
    "first": "on the first token",
    "previous": "on the token before",
    "next": "on the token behind",
    "self": "on the token itself",
    "punctuation": "on punctuation",
}


def grid(found: Grid) -> str:
    """Say what the heads do over all texts, with their numbers."""
    over = f"Over {found.texts:,} texts"
    counted = [f"{count} {'rests' if count == 1 else 'rest'} {_REST[name]}" for name, count in found.counts.items()]
    first = f"{over}, none of the {found.heads} heads gives half of its weight to one kind of token"
    if counted:
        first = f"{over}, of {found.heads} heads {listed(counted)} (more than half of the weight, on average)"
    return f"{first}."


def name(atlas: Atlas, place: int) -> str:
    """Name a head of an atlas: "Layer 3, head 7", with its stream where there are several."""
    own = atlas.heads.iloc[place]
    several = atlas.heads["stream"].nunique() > 1
    layer = layer_name(int(own["layer"]), int(own["call"])).capitalize()
    stream = f", {own['stream']}" if several else ""
    return f"{layer}, head {own['head']}{stream}"


def texts(atlas: Atlas) -> str:
    """Name an atlas by its texts."""
    return f"{atlas.manifest.corpus} ({atlas.counted.read:,} texts)"


def same_weights(title: str, other: str) -> str:
    """Say that the atlas is of another model with the same weights."""
    return f"{title} has the weights of {other}, whose atlas this is: maps are equal to 1e-5."


def corpus(atlas: Atlas) -> str:
    """Say over which texts an atlas is, and whose they are."""
    counted = atlas.counted
    said = f"Over {counted.read:,} texts with {counted.tokens:,} tokens: {atlas.manifest.corpus}."
    cut = f" {counted.cut:,} were cut to the longest text that the model reads." if counted.cut else ""
    unread = f" {counted.unread:,} had nothing to read." if counted.unread else ""
    norms = atlas.manifest.norm_weighted
    weighted = f" Nothing is weighted by what a key adds: {norms}." if norms else ""
    whose = f" {atlas.manifest.attribution}." if atlas.manifest.attribution else ""
    mixed = " Some were measured on other processors: their numbers are equal to 1e-5 only." if atlas.mixed else ""
    return f"{said}{cut}{unread}{weighted}{whose}{mixed}"


BUILD = (
    "Measure every head on texts of your own: one text a line, pairs as text, tab, target, or a treebank in CoNLL-U, "
    "which adds relations. At most {texts:,} texts and {size} here. The atlas is kept in {folder}, for everyone who "
    "uses this Headlight."
)
NOTHING_TO_BUILD = "Paste texts or choose a file: the page then says how long it takes and how large the atlas gets."
NO_NUMBER = "No text of this atlas gave its heads a number: build it over texts that the model can read."
NO_BUILDING = "This Headlight keeps no atlases of its readers: HEADLIGHT_ATLASES is off."


def estimated(texts: int, found: Estimate) -> str:
    """Say what a build will take, as measured on some of its texts."""
    return (
        f"{texts:,} texts: about {seconds(found.seconds)} and {format_bytes(found.nbytes)} on disk, as {found.tried} "
        "of them took here."
    )


def building(done: int, total: int) -> str:
    """Say how far a build is."""
    return f"{done:,} of {total:,} texts"


def stopped(done: int, total: int) -> str:
    """Say what a stopped build leaves."""
    return f"Stopped: {done:,} of {total:,} texts are measured and kept. Build goes on from there."


def built(name: str) -> str:
    """Say that an atlas is there."""
    return f"{name} is built."


def kept(name: str, atlas: Atlas | None) -> str:
    """Name an atlas that is kept."""
    if atlas is None:
        return f"{name}, not built to its end"
    return f"{name}: {atlas.manifest.model} over {atlas.counted.read:,} texts"
