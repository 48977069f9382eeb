"""Documents of an atlas: what it was made of and the mean of every measure, or one head over all texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from inspector.atlas import measures
from inspector.plain import document, table

if TYPE_CHECKING:
    from inspector.atlas.opened import Atlas

_TEXT = 1000  # characters of a text that a document quotes


def of_atlas(atlas: Atlas, *, by: str | None = None, most: int | None = None) -> dict[str, Any]:
    """Return what an atlas was made of, and a row a head with the mean of every measure over all texts.

    by: the measure by which heads are sorted, the largest first; most: rows that are kept. Raises ValueError for a
    measure that there is not.
    """
    every = atlas.table()
    if by is not None:
        every = every.sort_values(measures.find(by).name, ascending=False, kind="stable", ignore_index=True)
    return document("atlas", atlas=about(atlas), heads=table(every, most=most))


def of_head(atlas: Atlas, place: int, *, measure: str, most: int = 5) -> dict[str, Any]:
    """Return a head's mean of every measure, and the texts in which one measure is largest.

    place: the head's row in `Atlas.heads`. rank: 1 for the head with the largest mean of all. most: texts that are
    kept, none of a measure whose examples are not. Raises ValueError for a measure that there is not.
    """
    chosen = measures.find(measure)
    means = atlas.table()[list(measures.NAMES)]
    ranks = means.rank(ascending=False, method="min").iloc[place]
    rows = [
        (each.name, each.unit, each.says, means[each.name].iloc[place], ranks[each.name]) for each in measures.MEASURES
    ]
    numbers = pd.DataFrame(rows, columns=["measure", "unit", "says", "mean", "rank"]).astype({"rank": "Int64"})
    return document(
        "atlas_head",
        atlas=about(atlas),
        **atlas.heads.iloc[place][["stream", "layer", "call", "head"]].to_dict(),
        measures=table(numbers),
        examples={"measure": chosen.name, "texts": _examples(atlas, chosen.name, place, most=most)},
    )


def about(atlas: Atlas) -> dict[str, Any]:
    """Say of which model and corpus an atlas is, and how many texts and tokens it counted."""
    manifest, counted = atlas.manifest, atlas.counted
    return {
        "model": manifest.model,
        "corpus": manifest.corpus,
        "attribution": manifest.attribution,
        "heads": len(atlas.heads),
        "texts": {"read": counted.read, "unread": counted.unread, "cut": counted.cut},
        "aside": [{"id": id, "reason": reason} for id, reason in atlas.aside.items()],
        "tokens": counted.tokens,
        "measured_on": manifest.capability,
        "mixed": list(atlas.mixed),
    }


def _examples(atlas: Atlas, measure: str, place: int, *, most: int) -> list[dict[str, Any]]:
    rows = atlas.examples(measure, place).head(most)
    texts = [atlas.texts[int(id)] for id in rows["text"]]
    return [
        {
            "value": value,
            "text": text.text[:_TEXT],
            "target_text": text.target and text.target[:_TEXT],
            "credit": atlas.credits.get(text, ""),
        }
        for value, text in zip(rows["value"], texts, strict=True)
    ]
