"""Costs of a way to cut a text: what its tokens make attention compute, and its vocabulary the embedding hold."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from inspector.costs import clock
from inspector.vocabularies.ways import CutText

MOST_READ = 5_000  # characters of a text


def costs(ways: Mapping[str, CutText], *, width: int, layer: clock.LayerShape | None, layers: int) -> pd.DataFrame:
    """Count each way's tokens and costs, in a model of this width, this layer and as many layers, a row per way.

    layer: None where the model's layers are not of this kind; then flops are missing.

    Columns: way, tokens, unknown, unknown_share (of the tokens, 0..1), characters_per_token, vocabulary, cells (n², of
    one map), times (n² over that of the shortest), flops (of scores and mix, 4 n² H E a layer), parameters (V D, of
    the embedding).
    """
    shortest = min(map(len, ways.values()))
    rows = [
        (
            name,
            len(way),
            way.unknown,
            way.unknown / len(way),
            len(way.text) / len(way),
            way.vocabulary,
            len(way) ** 2,
            (len(way) / shortest) ** 2,
            None if layer is None else layers * _pairs(layer, len(way)),
            way.vocabulary * width,
        )
        for name, way in ways.items()
    ]
    columns = ["way", "tokens", "unknown", "unknown_share", "characters_per_token", "vocabulary"]
    table = pd.DataFrame(rows, columns=[*columns, "cells", "times", "flops", "parameters"])
    return table.drop(columns="flops") if layer is None else table


def _pairs(layer: clock.LayerShape, tokens: int) -> int:
    """FLOPs of one layer's scores and mix."""
    work = clock.work(layer, tokens).set_index("part")["flops"]
    return int(work["scores"] + work["mix"])
