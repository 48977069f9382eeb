"""Relations that one head finds more often than the best fixed offset does: chosen on one half, scored on the other."""

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
    every = atlas.scores if minimum == MINIMUM else scores(counts, atlas.heads, minimum=minimum)
    assert every is not None  # there are counts
    site = atlas.heads.iloc[place]
    found = every[(every[list(atlas.heads.columns)] == site).all(axis=1)]
    rows = [counts.relations.index(relation) for relation in found["relation"]]
    directions = [DIRECTIONS.index(direction) for direction in found["direction"]]
    offsets = [OFFSETS.index(offset) for offset in found["baseline_offset"]]
    chosen = counts.offset_hits[rows, directions, 0, offsets] / found["chosen_total"].to_numpy()
    found = found.assign(
        gain=found["share"] - found["baseline_share"],
        clear=found["low"] > found["baseline_high"],
    )[found["chosen_share"].to_numpy() > chosen]
    return found.sort_values(["gain", "relation"], ascending=[False, True], ignore_index=True)
