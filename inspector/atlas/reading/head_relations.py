"""Relations of heads beside the best fixed offset: chosen on one half of the sentences, scored on the other."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.atlas.opened import Atlas
from inspector.atlas.relation_scores import MINIMUM, scores
from inspector.atlas.relations import DIRECTIONS, OFFSETS

BEST = "best_offset"
"""Stands, where a number of every head is asked for, for the most by which it beats the best fixed offset."""


def better_than_offsets(atlas: Atlas, place: int, *, minimum: int = MINIMUM) -> pd.DataFrame:
    """List the relations and directions in which a head beats the best fixed offset, the largest gain first.

    Whether it does is decided on the half of the sentences that chooses; the numbers are of the other half, so that
    chance alone does not pick them. A row is one of `relation_scores.scores`, with

    gain: share less baseline_share, in the half that scores.
    clear: True where its interval lies wholly above the offset's.

    minimum: occurrences that a relation has in each half, at least. Empty without a treebank.
    """
    if atlas.relations is None:
        return pd.DataFrame()
    rows = _of_head(atlas, place, minimum=minimum)
    better = rows[_chosen_gain(atlas, rows) > 0]
    return better.sort_values(["gain", "relation"], ascending=[False, True], ignore_index=True)


def best_of_each(atlas: Atlas) -> pd.DataFrame:
    """Find the relation and the direction on which each head beats the best fixed offset most, or misses it least.

    Which these are is decided on the half of the sentences that chooses; the numbers are of the other half. A row as of
    `better_than_offsets` for each head that has a score, by its row in `atlas.heads`. Empty without a treebank.
    """
    if atlas.scores is None:
        return pd.DataFrame()
    every = _beside_offset(atlas.scores)
    gains = pd.Series(_chosen_gain(atlas, every), every.index)
    return _by_head(atlas, every.loc[gains.groupby([every[name] for name in atlas.heads]).idxmax()])


def of_each(atlas: Atlas, relation: str, direction: str) -> pd.DataFrame:
    """List what every head scores on one relation in one direction: rows and index as of `best_of_each`."""
    if atlas.scores is None:
        return pd.DataFrame()
    chosen = (atlas.scores["relation"] == relation) & (atlas.scores["direction"] == direction)
    return _by_head(atlas, _beside_offset(atlas.scores[chosen]))


def with_asked(atlas: Atlas, place: int, relation: str, direction: str) -> pd.DataFrame:
    """List `better_than_offsets` below the relation that a reader asks for, whether it beats the offset or not.

    The relation asked for is the first row; ValueError where the head has no score on it.
    """
    every = _of_head(atlas, place, minimum=MINIMUM)
    asked = every[(every["relation"] == relation) & (every["direction"] == direction)]
    if asked.empty:
        raise ValueError(f"the head in row {place} has no score on {relation}, {direction}")
    others = better_than_offsets(atlas, place)
    others = others[(others["relation"] != relation) | (others["direction"] != direction)]
    return pd.concat([asked, others], ignore_index=True)


def _of_head(atlas: Atlas, place: int, *, minimum: int) -> pd.DataFrame:
    """Score a head on every relation, with the columns gain and clear."""
    counts = atlas.relations
    assert counts is not None
    every = atlas.scores if minimum == MINIMUM else scores(counts, atlas.heads, minimum=minimum)
    assert every is not None  # there are counts
    site = atlas.heads.iloc[place]
    return _beside_offset(every[(every[list(atlas.heads.columns)] == site).all(axis=1)])


def _beside_offset(rows: pd.DataFrame) -> pd.DataFrame:
    """Add to scores the columns gain and clear."""
    return rows.assign(gain=rows["share"] - rows["baseline_share"], clear=rows["low"] > rows["baseline_high"])


def _chosen_gain(atlas: Atlas, rows: pd.DataFrame) -> NDArray[np.float64]:
    """Subtract from each share the best fixed offset's, both in the half of the sentences that chooses."""
    counts = atlas.relations
    assert counts is not None
    places = {relation: place for place, relation in enumerate(counts.relations)}
    relations = [places[relation] for relation in rows["relation"]]
    directions = [DIRECTIONS.index(direction) for direction in rows["direction"]]
    offsets = [OFFSETS.index(offset) for offset in rows["baseline_offset"]]
    chosen = counts.offset_hits[relations, directions, 0, offsets] / rows["chosen_total"].to_numpy()
    gain: NDArray[np.float64] = rows["chosen_share"].to_numpy(np.float64) - chosen
    return gain


def _by_head(atlas: Atlas, rows: pd.DataFrame) -> pd.DataFrame:
    """Give each row of a head the head's place among all as its index, in their order."""
    columns = list(atlas.heads.columns)
    places = pd.MultiIndex.from_frame(atlas.heads).get_indexer(pd.MultiIndex.from_frame(rows[columns]))
    return rows.set_index(pd.Index(places)).sort_index()
