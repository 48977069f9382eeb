"""Words of the page Atlas, and of an atlas on other pages; the words of a head's card are in atlas_card.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor

from inspector.atlas import Atlas, manifest, measures
from inspector.atlas.corpus import Budget
from inspector.atlas.estimate import Estimate
from inspector.atlas.reading.head_relations import BEST
from inspector.atlas.reading.standing import Standing
from inspector.wording.english.atlas_card import GIVES
from inspector.wording.english.costs import seconds
from inspector.wording.english.phrases import count_of, listed, share
from models.formatting import format_bytes, layer_name, shortened

ASKS = "Over a corpus"
CANNOT = "has no atlas here"
HEADS = "What every head does"
OVER = "Over which texts"
FIND, EXAMPLE = "Find heads that …", "find subjects, layer 3 head 7"
BY = "A head …"
LAYER, HEAD = "layer", "head"
SITE = {"layer": "Layer", "call": "Which attention of the layer", "head": "Head"}
QUANTITIES = {"share": "mean share", "nats": "mean, nats", "tokens": "mean, tokens"}
SHARE_FOUND, POINTS = "share found", "points above the best offset"
BEATS = "beats the best fixed offset on some relation"
BEST_OFFSET, ABOVE = "best offset", "points above it"
LOW, HIGH, PARTED = "95 % from", "to", "intervals part"
ON, SIDE = "relation", "from the side of"
ALL_HEADS, LAYERS, MOSTLY = "All heads in numbers", "Layers", "What a head mostly does"
NO_HEAD_LEFT = "No head is left: take a filter away."
FOR_PANDAS, ALL_SCORES = "the same for pandas and DuckDB", "every relation's scores"
_NAMED, _REASON = 5, 120  # texts set aside that are named, and characters of a reason
HEADS_CSV, HEADS_PARQUET, RELATIONS_CSV = "Heads, CSV", "Heads, Parquet", "Relations, CSV"
BUILD = "Build one of your own texts"
_GIVES = {**GIVES, "confidence": "to each query's strongest key"}


def standing(place: Standing, *, start: str, end: str) -> str:
    """Say by what a head is unusual: "It gives 83 % to [SEP] here, more than in any of 52 texts of like length.".

    start, end: how the model calls its start and end tokens.
    """
    goes = _GIVES[place.measure.name].replace("[CLS]", start).replace("[SEP]", end)
    part = "any" if place.share == 1 else f"{floor(place.share * 100)} %"
    more = "more" if place.more else "less"
    texts = f"{part} of {count_of(place.texts, 'text')} of like length"
    return f"Unusual for this head: it gives {share(place.value)} {goes} here, {more} than in {texts}."


_REST = {
    "cls": "on [CLS]",
    "sep": "on [SEP]",
    "first": "on the first token",
    "previous": "on the token before",
    "next": "on the next token",
    "self": "on the token itself",
    "punctuation": "on punctuation",
}


def grid(*, heads: int, counts: Mapping[str, int]) -> str:
    """Say what the heads of a stream do over all texts.

    counts: measure -> number of heads that give it more than half of their weight.
    """
    some = {_REST[name]: count for name, count in counts.items() if count}
    if some:
        rest = "rests" if next(iter(some.values())) == 1 else "rest"
        first, *others = (f"{count} {where}" for where, count in some.items())
        first = first.replace(" ", f" {rest} ", 1)
        return f"Of {heads} heads {listed([first, *others])}, with over half of the weight."
    none = "The only head does not give" if heads == 1 else f"None of the {heads} heads gives"
    return f"{none} half of its weight to one kind of token, on average."


def without_rows(layers: Sequence[int], *, of: int) -> str:
    """Say which layers of a model that mixes tokens in several ways have no row."""
    runs: list[list[int]] = []
    for layer in layers:
        if runs and layer == runs[-1][-1] + 1:
            runs[-1].append(layer)
        else:
            runs.append([layer])
    names = [f"{run[0]} to {run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs]
    which = f"layer {names[0]} has" if len(layers) == 1 else f"layers {listed(names)} have"
    return (
        f"Rows are layers with softmax attention. Of {of} layers, {which} no row, for what mixes tokens in another way "
        "has weights that are no shares. Their maps are on the page Attention."
    )


def this_head(texts: int) -> str:
    """Name the way to the open head's card."""
    return f"Over {count_of(texts, 'text')}"


def few(texts: int) -> str:
    """Say that few texts tell little."""
    return f"Few texts ({texts:,}): on others the same heads may do otherwise."


def grid_alt(title: str) -> str:
    """Tell what the grid of all heads shows."""
    return f"A cell for each head, rows are layers; its colour says how much a head {title}"


def grids_alt(title: str) -> str:
    """Tell what the grids of two atlases show."""
    return f"Two grids on one scale of colours, a cell for each head, rows are layers: how much a head {title}"


def row(layer: int, call: int) -> str:
    """Name a row of the grid."""
    return f"{layer} ({call + 1})" if call else f"{layer}"


FROM_GOVERNOR = ", from the governor's side"


def by(key: str) -> str:
    """Say what a number of an atlas stands for, to follow "a head"; key: of a measure, `BEST` or "nsubj governor"."""
    if key == BEST:
        return BEATS
    relation, _, direction = key.rpartition(" ")
    if not relation:
        return measures.find(key).says
    return f"finds the governor of {relation}{'' if direction == 'governor' else FROM_GOVERNOR}"


def taken_for(key: str) -> str:
    """Say what a reader's words were taken for."""
    return f"Taken for: a head {by(key)}."


def not_known(*, relations: bool) -> str:
    """Say what can be asked, where a reader's words mean nothing. relations: whether the atlas has some."""
    of_relations = ' "governors of nsubj" or another relation, "beats the best offset",' if relations else ""
    return (
        f"No number of this atlas is known by these words. Ask for{of_relations} "
        '"previous token", "3 tokens back", "[SEP]", "punctuation", "induction", a measure by its name or a head such '
        'as "layer 3 head 7".'
    )


def listed_heads(count: int, *, of: int) -> str:
    """Say how many heads the table lists, and what its numbers are."""
    return f"{count} of {of} heads; each number is the mean over all texts that have it."


def all_numbers(measures: int) -> str:
    """Say what the file of all heads holds."""
    return f"all {measures} numbers of every head"


def name(atlas: Atlas, place: int) -> str:
    """Name a head of an atlas: "Layer 3, head 7", with its stream where there are several."""
    row = atlas.heads.iloc[place]
    several = atlas.heads["stream"].nunique() > 1
    layer = layer_name(int(row["layer"]), int(row["call"])).capitalize()
    stream = f", {row['stream']}" if several else ""
    return f"{layer}, head {row['head']}{stream}"


def texts(atlas: Atlas) -> str:
    """Name an atlas by its texts."""
    return f"{atlas.manifest.corpus} ({atlas.counted.read:,} texts)"


def same_weights(title: str, other: str) -> str:
    """Say that the atlas is of another model with the same weights."""
    return f"{title} has the weights of {other}, whose atlas this is: maps are equal to 1e-5."


def corpus(atlas: Atlas) -> str:
    """Say which texts an atlas was measured on, and who wrote them."""
    counted = atlas.counted
    sentence = (
        f"Over {count_of(counted.read, 'text')} with {count_of(counted.tokens, 'token')}: {atlas.manifest.corpus}."
    )
    cut = f" {counted.cut:,} were cut to the longest text that the model reads." if counted.cut else ""
    unread = f" {counted.unread:,} had nothing to read." if counted.unread else ""
    norms = atlas.manifest.norm_weighted
    weighted = f" Nothing is weighted by what a key adds: {norms}." if norms else ""
    whose = f" {atlas.manifest.attribution}." if atlas.manifest.attribution else ""
    return f"{sentence}{cut}{unread}{_aside(atlas)}{weighted}{whose}{_mixed(atlas)}"


def _aside(atlas: Atlas) -> str:
    """Name the texts that could not be measured, the first ones, with the reason of the first; "" without any."""
    if not atlas.aside:
        return ""
    ids = sorted(atlas.aside)
    named = ", ".join(f"{id:,}" for id in ids[:_NAMED])
    more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
    which = f"text {named}" if len(ids) == 1 else f"texts {named}{more}"
    return f" Set aside, because measuring failed twice: {which} ({shortened(atlas.aside[ids[0]], _REASON)})."


def _mixed(atlas: Atlas) -> str:
    if not atlas.mixed:
        return ""
    if any(manifest.is_device(each) for each in (atlas.manifest.capability, *atlas.mixed)):
        return " Some were measured on another device: how far their numbers are from the others' is not known."
    return " Some were measured on other processors: their numbers are equal to 1e-5 only."


def build(budget: Budget, *, size: int, by_key: bool) -> str:
    """Say what can be built, and who will see it.

    size: bytes of a file at most. by_key: each atlas has a separate link.
    """
    seen = (
        "The atlas gets a link of its own, which is its key: it stands in no list, and who has the link sees it and "
        "can remove it."
        if by_key
        else "The atlas is kept on this machine, and everyone who uses this Headlight sees it."
    )
    return (
        "Measure every head on texts of your own: one text a line, pairs as text, tab, target, or a treebank in "
        f"CoNLL-U, which adds relations. At most {budget.texts:,} texts with {budget.characters:,} characters, in a "
        f"file of {format_bytes(size)}. {seen}"
    )


START, AGAIN, FAILED, WORK = "Build", "Build again", "Cannot be built", "Building an atlas"
INSTEAD = "Choose another model or other texts."
TYPED, FILE, NAME, MY_TEXTS = "Texts, one a line", "Or a file", "Name", "my texts"
READING, ESTIMATING = "Reading the file", "Estimating the work"
REMOVE, REMOVE_FOR_GOOD = "Remove", "Remove for good"
NO_SUCH_NAME = "the name of an atlas has 1 to 40 letters, digits, blanks, dots and dashes"
NOTHING_TO_BUILD = "Paste texts or choose a file: the page then says how long it takes and how large the atlas gets."
NO_NUMBER = "No text of this atlas gave its heads a number: build it over texts that the model can read."
NOT_HERE = (
    "The atlas of this link is not here: it was removed, or it is of another model. You see the first atlas of this "
    "model."
)
NONE_LEFT = "This atlas was removed just now. Choose another model, or open the page again."
REMOVED_MEANWHILE = "the atlas was removed while it was being built; Build begins anew"
NO_BUILDING = "This Headlight keeps no atlases of its readers: HEADLIGHT_ATLASES is off."


def estimated(texts: int, estimate: Estimate) -> str:
    """Say how much time and space a build will take, as measured on some of its texts."""
    return (
        f"{texts:,} texts: about {seconds(estimate.seconds)} and {format_bytes(estimate.nbytes)} on disk, as "
        f"{estimate.tried} of them took here."
    )


def building(done: int, total: int) -> str:
    """Say how far a build is."""
    return f"{done:,} of {count_of(total, 'text')}"


def stopped(done: int, total: int) -> str:
    """Say what a stopped build leaves."""
    return f"Stopped: {done:,} of {count_of(total, 'text')} are measured and kept. Build goes on from there."


def too_long(estimate: Estimate, *, minutes: int) -> str:
    """Refuse a build that would take longer than a page works."""
    return (
        f"these texts take about {seconds(estimate.seconds)}, and a page builds for {minutes} minutes at most; give "
        "fewer, or use the command line: python -m inspector.atlas build"
    )


def file_too_large(name: str, *, size: int, most: int) -> str:
    """Refuse a file of too many bytes."""
    return f"{name} has {format_bytes(size)}, and a file at most {format_bytes(most)}"


def too_large(estimate: Estimate, *, taken: int, most: int) -> str:
    """Refuse a build that does not fit beside the stored atlases."""
    return (
        f"the atlases that are kept take {format_bytes(taken)}, and this one {format_bytes(estimate.nbytes)} more; at "
        f"most {format_bytes(most)} are kept. Remove one"
    )


def built(name: str, *, by_key: bool) -> str:
    """Say that an atlas is there, and where."""
    return f"{name} is built, and open at the top of this page.{f' {_KEY}' if by_key else ''}"


_KEY = "The page's address is its key: nobody finds it without, so keep this link."


def built_here(atlas: Atlas, *, by_key: bool) -> str:
    """Say that a reader built the open atlas."""
    return f"You see {atlas.manifest.corpus}, an atlas that was built here.{f' {_KEY}' if by_key else ''}"


def removing(name: str) -> str:
    """Ask before an atlas is removed."""
    return f"{name} goes with all that was measured, for everyone who sees it."


def stored(name: str, atlas: Atlas | None) -> str:
    """Name an atlas that is kept."""
    if atlas is None:
        return f"{name}, not built to its end"
    return f"{name}: {atlas.manifest.model} over {count_of(atlas.counted.read, 'text')}"
