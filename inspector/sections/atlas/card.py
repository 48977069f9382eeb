"""One head's card: what it does over all texts, in a sentence and in figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from inspector.atlas import measures
from inspector.atlas.reading.distribution import MeasureDistribution, by_offset, distribution
from inspector.atlas.reading.head_relations import BEST, better_than_offsets, with_asked
from inspector.plots.atlas import distribution as draw_distribution
from inspector.plots.atlas import offsets as draw_offsets
from inspector.plots.atlas import relations as draw_relations
from inspector.sections.atlas.colour import opened
from inspector.sections.picks import Option
from inspector.sections.section import Block, Figure, Note, Section
from inspector.wording import atlas_card as words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.atlas import Atlas
    from inspector.sections.atlas.colour import Colour
    from inspector.sections.subject import Subject

SITE = ("layer", "call", "head")
DOES = ("previous", "next", "self", "cls", "first", "sep", "punctuation")
"""Shares of all queries' weight that a sentence can say; `first` only where there is no [CLS]."""
SPECIAL = ("cls", "first", "sep")


def of(subject: Subject, place: int, colour: Colour) -> Section:
    """Return the figures of a head, one at a time; first the figure that shows what is asked for."""
    atlas, asked = subject.atlas, colour.relation(place)
    relations = subject.of_all(
        ("atlas relations", atlas.manifest.key, place, asked),
        lambda: better_than_offsets(atlas, place) if asked is None else with_asked(atlas, place, *asked),
    )
    missing = {"relations": relations.empty, "offsets": bool(np.isnan(atlas.offsets(place)).all())}
    figures = {id: name for id, name in words.FIGURES.items() if not missing.get(id)}
    figure = Option(
        "figure", words.WHICH_FIGURE, lambda subject: figures, lambda subject: "relations" if asked else "texts"
    )
    return replace(CARD, answer=partial(_figure, place=place, colour=colour, relations=relations), picks=(figure,))


def _figure(subject: Subject, *, figure: str, place: int, colour: Colour, relations: pd.DataFrame) -> Iterator[Block]:
    atlas = subject.atlas
    head, file = name(atlas, place), file_name(atlas, place)
    if figure == "offsets":
        yield Figure(
            "atlas_offsets",
            "",
            draw_offsets.bars(atlas.offsets(place), title=""),
            words.offsets_alt(head),
            f"{opened(atlas, 'distribution')}table = distribution.by_offset(atlas, {place})",
            by_offset(atlas, place),
            name=f"{file}-offsets",
        )
    elif figure == "relations":
        call, first = f"better_than_offsets(atlas, {place})", ""
        if (asked := colour.relation(place)) is not None:
            call = f"with_asked(atlas, {place}, {', '.join(map(repr, asked))})"
            first = words.BEST_FIRST if colour.key == BEST else words.ASKED
        yield Note(f"{first} {words.CHOSEN}".strip())
        yield Figure(
            "atlas_relations",
            "",
            draw_relations.beside_offsets(relations, title=""),
            words.relations_alt(head),
            f"{opened(atlas, 'head_relations')}table = head_relations.{call}",
            relations,
            name=f"{file}-relations",
        )
    elif (spread := distribution(atlas, colour.measure, place)).texts:
        told = words.chart(measures.find(colour.measure))
        yield Figure(
            "atlas_distribution",
            "",
            partial(draw_distribution.histogram, spread, title=""),
            words.texts_alt(told, texts=spread.texts),
            f"{opened(atlas, 'distribution')}"
            f"table = distribution.distribution(atlas, {colour.measure!r}, {place}).table",
            spread.table,
            sentence=f"**{told}**: {words.length(spread)}.",
            name=f"{file}-{colour.measure}",
        )
    else:
        yield Note(words.NO_TEXT)


def opening(atlas: Atlas, place: int, colour: Colour, *, among: NDArray[np.bool_]) -> str:
    """Say how much the open head does of what the grid is coloured by, and which head does most of it.

    among: which heads of the atlas are those of the grid, [N].
    """
    values = np.where(among, colour.values, np.nan)
    top = int(np.nanargmax(values))
    largest = float(values[top])
    open_value = float(values[place])
    most = None if open_value == largest else (name(atlas, top), largest)
    relation = colour.relation(place)
    if relation is None:
        first = int((values == largest).sum()) == 1 < int(among.sum())
        measure = measures.find(colour.measure)
        return words.opening(name(atlas, place), measure, open_value, most=most, first=first)
    assert colour.scores is not None  # the relation is of a row of it
    row = colour.scores.loc[place]
    if colour.key == BEST:
        return words.opening_best(name(atlas, place), *relation, gain=open_value, clear=bool(row["clear"]), most=most)
    return words.opening_relation(
        name(atlas, place), *relation, share=open_value, baseline=float(row["baseline_share"]), most=most
    )


def besides(atlas: Atlas, place: int, colour: Colour) -> str:
    """Say what the open head does beside what the grid is coloured by; "" where there is nothing."""
    told = []
    most = _most(atlas, place)
    if most is None or most.measure.name != colour.key:
        told.append(mostly(atlas, place))
    if colour.relation(place) is None:
        told.append(finds(atlas, place))
    return " ".join(filter(None, told))


def does(atlas: Atlas, place: int) -> str:
    """Say what a head does over all texts: the share that is largest, and the relation that it finds best."""
    return " ".join(filter(None, (mostly(atlas, place), finds(atlas, place))))


def mostly(atlas: Atlas, place: int) -> str:
    """Say which share of a head's weight is largest.

    Where it lies on a special token or the first, the largest of other keys is told beside it.
    """
    most = _most(atlas, place)
    others = [spread for spread in _shares(atlas, place) if spread.measure.name not in SPECIAL]
    special = most is not None and most.measure.name in SPECIAL
    return words.head(
        name=name(atlas, place),
        texts=atlas.counted.read,
        most=most,
        beside=max(others, key=lambda spread: spread.mean, default=None) if special else None,
        spread=float(distribution(atlas, "relative_entropy", place).mean),
    )


def finds(atlas: Atlas, place: int) -> str:
    """Say on which relation a head beats the best fixed offset most; "" where it clearly does on none."""
    rows = better_than_offsets(atlas, place)
    clear = rows[rows["clear"]] if len(rows) else rows
    if clear.empty:
        return ""
    row = clear.iloc[0]
    return words.relation(
        str(row["relation"]),
        str(row["direction"]),
        share=float(row["share"]),
        baseline=float(row["baseline_share"]),
        others=len(clear) - 1,
    )


def _most(atlas: Atlas, place: int) -> MeasureDistribution | None:
    return max(_shares(atlas, place), key=lambda spread: spread.mean, default=None)


def _shares(atlas: Atlas, place: int) -> list[MeasureDistribution]:
    """List the shares of a head's weight that a sentence can say."""
    known = {name: spread for name in DOES if (spread := distribution(atlas, name, place)).texts}
    if "cls" in known:
        known.pop("first", None)
    return list(known.values())


def name(atlas: Atlas, place: int) -> str:
    """Name a head: "layer 2, head 0"; with its stream and its call where there are several."""
    heads = atlas.heads
    stream, layer, call, head = heads.iloc[place]
    own = heads[(heads["stream"] == stream) & (heads["layer"] == layer)]
    return words.name(
        layer=layer,
        head=head,
        stream=stream if heads["stream"].nunique() > 1 else "",
        call=call if own["call"].nunique() > 1 else None,
    )


def file_name(atlas: Atlas, place: int) -> str:
    """Begin the names of a head's files: "minilm-layer-2-head-0"."""
    return f"{atlas.manifest.model}-{name(atlas, place)}".replace(" ", "-").replace(",", "")


def site(atlas: Atlas, place: int) -> dict[str, int]:
    """Return the layer, the call and the head of a row of `atlas.heads`, by the ids of their choices."""
    return {name: int(atlas.heads[name].iloc[place]) for name in SITE}


CARD = Section(
    "card",
    "",
    _figure,
    (Option("figure", words.WHICH_FIGURE, lambda subject: words.FIGURES),),
    about="atlas",
    needs_model=True,
)
