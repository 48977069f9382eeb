"""The graph of kept cuts: an edge for each cut, as wide as its effect, and no cut is refused."""

from __future__ import annotations

import pytest

from inspector.plots.patching import CutEdge, cuts
from tests.closeness import assert_close

EDGES = (
    CutEdge((3, "head 3.1"), (4, "logit"), "head 3.1 -> logit", -0.5),
    CutEdge((0, "head 0.2"), (0.75, "key 1.0"), "head 0.2 -> key 1.0", 0.25),
    CutEdge((-1, "embedding"), (4, "logit"), "embedding -> logit", 0.0),
)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_each_cut_is_an_edge_from_writer_to_reader(mode: str) -> None:
    figure = cuts(EDGES, layers=4, mode=mode)  # type: ignore[arg-type]
    *edges, nodes = figure.data
    assert [(edge.y[0], edge.y[-1]) for edge in edges] == [(one.writer[0], one.reader[0]) for one in EDGES]
    widths = [edge.line.width for edge in edges]
    assert widths[0] > widths[1] > widths[2]
    assert [edge.line.dash for edge in edges] == ["dash", "solid", "solid"]
    assert [name.strip() for name in nodes.text] == ["head 3.1", "logit", "head 0.2", "key 1.0", "embedding"]
    assert "−0.500" in edges[0].text[1]
    places = dict(zip(nodes.text, nodes.x, strict=True))
    assert_close(places["  logit"], (1 / 6 + 5 / 6) / 2, relative=1e-12)  # in the middle of its two cuts


def test_no_cut_is_no_graph() -> None:
    with pytest.raises(ValueError, match="there is no cut to draw"):
        cuts([], layers=4)
