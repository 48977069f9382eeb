"""Relations of one head beside the best fixed offset: chosen on one half of the sentences, scored on the other."""

from __future__ import annotations

import pandas as pd

from inspector.atlas.opened import Atlas
from inspector.atlas.relation_scores import MINIMUM, scores
from inspector.atlas.relations import DIRECTIONS, OFFSETS


def better_than_offsets(atlas: Atlas, place: int, *, minimum: int = MINIMUM) -> pd.DataFrame:
    """List the relations and directions in which a head beats the best fixed offset, the largest gain first.

    Whether it does is decided on the half of the sentences that chooses; the numbers are of the other half, so that
    chance alone does not pick them. A row is one of `relation_scores.scores`, with

    gain: share less baseline_share, in the half that scores.
    clear: True where its interval lies wholly above the offset's.

    minimum: occurrences that a relation has in each half, at least. Empty without a treebank.
    """
    counts = atlas.relations
    if counts is None:
        return pd.DataFrame()
    better = _of_head(atlas, place, minimum=minimum)
    rows = [counts.relations.index(relation) for relation in better["relation"]]
    directions = [DIRECTIONS.index(direction) for direction in better["direction"]]
    offsets = [OFFSETS.index(offset) for offset in better["baseline_offset"]]
    chosen = counts.offset_hits[rows, directions, 0, offsets] / better["chosen_total"].to_numpy()
    better = better[better["chosen_share"].to_numpy() > chosen]
    return better.sort_values(["gain", "relation"], ascending=[False, True], ignore_index=True)


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
    of_head = every[(every[list(atlas.heads.columns)] == site).all(axis=1)]
    return of_head.assign(
        gain=of_head["share"] - of_head["baseline_share"],
        clear=of_head["low"] > of_head["baseline_high"],
    )
