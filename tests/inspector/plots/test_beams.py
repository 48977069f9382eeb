from __future__ import annotations

import math

from inspector.generating.beams import BeamNode, BeamTree
from inspector.plots import beams, theme


def node(step: int, parent: int | None, p: float, **marks: bool) -> BeamNode:
    return BeamNode(
        step, parent, 7, f"<t{step}>", math.log(p), math.log(p) * step, math.log(p), marks.pop("over", False), **marks
    )


#   0 best ─ 3 best, over
#   1 dropped
#   2 kept ─ 4 kept, at the limit; 5 dropped
TREE = BeamTree(
    3,
    0.6,
    (
        node(1, None, 0.5, alive=True, best=True),
        node(1, None, 0.3),
        node(1, None, 0.2, alive=True),
        node(2, 2, 0.9, alive=True, hypothesis=True),
        node(2, 0, 0.8, alive=True, best=True, hypothesis=True, over=True),
        node(2, 2, 0.1),
    ),
)


def test_every_node_is_drawn_once_and_named_for_what_became_of_it() -> None:
    dropped, kept, won = beams.tree(TREE).data
    assert (dropped.name, kept.name, won.name) == ("dropped", "kept", "won")
    assert [len(trace.x) for trace in (dropped, kept, won)] == [2, 2, 2]
    assert list(won.x) == [0, 0]  # straight down at the left
    places = [(x, y) for trace in (dropped, kept, won) for x, y in zip(trace.x, trace.y, strict=True)]
    assert len(set(places)) == 6
    assert won.marker.color == theme.PART["light"]["prediction"]
    assert list(won.marker.symbol) == ["circle", "diamond"]
    assert set(dropped.marker.symbol) == {"circle-open"}


def test_a_text_that_outlives_the_winner_stays_in_its_place() -> None:
    """The winner has ended at step 1, in lane 0; what goes on below stays under its parent in lane 1."""
    ended = node(1, None, 0.6, alive=True, best=True, hypothesis=True, over=True)
    going = node(1, None, 0.4, alive=True)
    figure = beams.tree(BeamTree(2, 0.6, (ended, going, node(2, 1, 0.9, alive=True, hypothesis=True))))
    assert list(figure.data[1].x) == [1, 1]


def test_lines_join_parents_to_children_the_thicker_the_likelier() -> None:
    figure = beams.tree(TREE, mode="dark")
    ends = {shape.path.split()[-1]: shape for shape in figure.layout.shapes}
    assert len(ends) == 6
    drawn = {(x, y): place for trace in figure.data for place, (x, y) in enumerate(zip(trace.x, trace.y, strict=True))}
    assert {tuple(map(int, end.split(","))) for end in ends} == set(drawn)
    widths = {end: shape.line.width for end, shape in ends.items()}
    assert widths["0,2"] == 1 + 7 * math.exp(math.log(0.8))
    assert {shape.line.dash for shape in ends.values()} == {"dot", "solid"}
    # no lines cross: in the second row the children stand in the order of their parents
    starts = [float(ends[f"{lane},2"].path[2:].split(",")[0]) for lane in range(3)]
    assert starts == sorted(starts)


def test_hovering_gives_exact_numbers_and_tokens_are_text() -> None:
    figure = beams.tree(TREE)
    notes = list(figure.data[2].customdata)
    assert f"log {math.log(0.8):.9g}" in notes[1]
    assert f"score {math.log(0.8):.9g}" in notes[1]
    assert "a finished text, ended, won" in notes[1]
    assert "cut at the limit" in " ".join(figure.data[1].customdata)
    assert "&lt;t1&gt;" in notes[0]
    assert figure.data[2].text[1] == "&lt;t2&gt;<br>−0.223"
