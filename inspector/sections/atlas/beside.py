"""A second atlas beside the open one: the same model over other texts, or another model, by the same number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from inspector.atlas import library
from inspector.sections.atlas import card, colour
from inspector.sections.atlas.grid import Grid
from inspector.sections.names import named
from inspector.sections.picks import Named
from inspector.text import plain
from inspector.wording import atlas_beside as words

if TYPE_CHECKING:
    from inspector.atlas import Atlas
    from inspector.sections.subject import Subject

NOTHING, NO_NUMBER = "nothing", words.NO_NUMBER


def options(subject: Subject) -> Mapping[str, str]:
    """Name the atlases that can be set beside the open one; none where there is no other."""
    others = library.beside(subject.atlas, keys=subject.keys)
    return (
        {NOTHING: words.NOTHING} | {id: _named(subject.atlas, other) for id, other in others.items()} if others else {}
    )


def opened(subject: Subject, id: str) -> Atlas | None:
    """Return the atlas that was chosen; None where none was, or where it was removed meanwhile."""
    return library.beside(subject.atlas, keys=subject.keys).get(id)


def grid(first: Grid, other: Atlas) -> Grid | None:
    """Return the second grid; None where the other atlas has no number of the kind.

    Of the same model it tells of the same head, of another model of the head that does most of what is asked for.
    """
    streams = list(dict.fromkeys(other.heads["stream"]))
    stream = first.stream if first.stream in streams else streams[0]
    try:
        of_other = colour.of(other, first.colour.key)
    except ValueError:  # a relation that its texts do not have often enough
        return None
    values = np.where(other.heads["stream"] == stream, of_other.values, np.nan)
    if not np.isfinite(values).any():
        return None
    place = first.place if same_model(first.atlas, other) else int(np.nanargmax(values))
    return Grid(other, of_other, stream, place, title(first.atlas, other, stream=stream))


def same_model(atlas: Atlas, other: Atlas) -> bool:
    """Return True if two atlases are of the same weights."""
    return atlas.manifest.model_hash == other.manifest.model_hash


def title(atlas: Atlas, other: Atlas, *, stream: str) -> str:
    """Head the grid of the other atlas: by its texts where the model is the same, else by its model."""
    if same_model(atlas, other):
        return other.manifest.corpus
    several = atlas.heads["stream"].nunique() > 1 or other.heads["stream"].nunique() > 1
    return words.title(named(other.manifest.model), stream=stream if several else "")


def opening(first: Grid, second: Grid) -> str:
    """Say whether the open head does more of what is asked for than the head beside it, with the numbers of both."""
    value, beside = (float(each.colour.values[each.place]) for each in (first, second))
    return words.opening(
        card.name(first.atlas, first.place),
        first.colour.key,
        value,
        beside,
        than=_than(first, second),
        models=None if same_model(first.atlas, second.atlas) else (_model(first.atlas), _model(second.atlas)),
    )


def _than(first: Grid, second: Grid) -> Literal["more", "less", "alike"]:
    """Compare the heads that both grids tell of: alike where the intervals of 95 % overlap."""
    (low, high), (low_beside, high_beside) = (
        colour.interval(each.atlas, each.colour, each.place) for each in (first, second)
    )
    return "more" if low > high_beside else "less" if high < low_beside else "alike"


def of_texts(atlas: Atlas, other: Atlas) -> str:
    """Say whether two atlases were measured on the same texts."""
    return words.of_texts(
        (plain(atlas.manifest.corpus), plain(other.manifest.corpus)),
        (atlas.counted.read, other.counted.read),
        same=atlas.manifest.corpus_hash == other.manifest.corpus_hash,
        same_model=same_model(atlas, other),
    )


def _named(atlas: Atlas, other: Atlas) -> str:
    """Name an atlas in the list."""
    return words.named("" if same_model(atlas, other) else named(other.manifest.model), other)


def _model(atlas: Atlas) -> str:
    """Name an atlas's model in a sentence: an id that no catalogue has may hold anything."""
    name = named(id := atlas.manifest.model)
    return plain(name) if name == id else name


BESIDE = Named("atlas_beside", words.BESIDE, options, default=lambda subject: NOTHING, width=340)
