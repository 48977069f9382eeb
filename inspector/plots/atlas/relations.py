"""The relations that a head finds beside the best fixed offset, as a figure."""

from __future__ import annotations

import pandas as pd

from inspector.plots.chart import Chart

MOST = 12
"""Rows that a figure shows."""


def arrow(relation: str, direction: str) -> str:
    """Write a relation and direction as an arrow from query to key: "obj → governor", "governor → obj"."""
    return f"{relation} → governor" if direction == "governor" else f"governor → {relation}"


def beside_offsets(rows: pd.DataFrame, *, title: str) -> Chart:
    """Draw the head's share and the best offset's for each relation, with intervals of 95 %; the largest gain on top.

    rows: of `head_relations.better_than_offsets`; the first MOST are drawn. Raises ValueError where there is none.
    """
    if rows.empty:
        raise ValueError("the head beats the best fixed offset on no relation")
    found = rows.head(MOST)
    found = found.assign(
        place=range(len(found)), by="head", found=_counted(found["correct"], found["total"]), what="this head"
    )
    offset = found.assign(
        **{name: found[f"baseline_{name}"] for name in ("share", "low", "high")},
        by="offset",
        found=_counted(found["baseline_correct"], found["total"]),
        what=[f"the word at offset {offset:+d}" for offset in found["baseline_offset"]],
    )
    return Chart(
        pd.concat([offset, found]),
        "place",
        "share",
        "points",
        by="by",
        names={"offset": "best fixed offset", "head": "this head"},
        parts={"offset": "residual", "head": "attention"},
        styles={"offset": 1},
        sizes={"offset": 10, "head": 10},
        error=("low", "high"),
        places=[arrow(*row) for row in zip(found["relation"], found["direction"], strict=True)],
        hover={"what": "", "found": ""},
        y_title="governors found",
        title=title,
        subtitle="lines: intervals of 95 %",
        y_format=".0%",
        y_range=(0, 1.02),
        sideways=True,
        height=130 + 30 * len(found),
    )


def _counted(correct: pd.Series, total: pd.Series) -> list[str]:
    return [f"{int(right):,} of {int(of):,}" for right, of in zip(correct, total, strict=True)]
