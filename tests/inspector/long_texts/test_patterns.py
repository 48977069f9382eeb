"""Sparse masks against plain loops, their closed formulas against counts, and their layers against path lengths."""

from __future__ import annotations

import math
from collections.abc import Callable

import networkx
import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from inspector.costs.clock import LayerShape
from inspector.long_texts import (
    BigBird,
    Causal,
    Chunks,
    Dilated,
    Full,
    Longformer,
    Pattern,
    Window,
    growth,
    layer_flops,
    layers_between,
    layers_to_reach,
    pays_off,
    saving,
    seen,
)
from inspector.long_texts.patterns import draw_blocks

See = Callable[[int, int, int], bool]
"""Does query i see key j among n tokens?"""


def blocks_seen(size: int, random: int, seed: int) -> See:
    def sees(i: int, j: int, n: int) -> bool:
        last = (n - 1) // size
        query, key = i // size, j // size
        if query in (0, last) or key in (0, last) or abs(query - key) <= 1:
            return True
        return key in draw_blocks(last + 1, count=random, seed=seed)[query]

    return sees


LOOPS: list[tuple[Pattern, See]] = [
    (Full(), lambda i, j, n: True),
    (Causal(), lambda i, j, n: j <= i),
    (Window(3), lambda i, j, n: abs(i - j) <= 3),
    (Window(0), lambda i, j, n: i == j),
    (Dilated(2, 3), lambda i, j, n: abs(i - j) in (0, 3, 6)),
    (Longformer(2, 3), lambda i, j, n: abs(i - j) <= 2 or i < 3 or j < 3),
    (BigBird(4, 2, seed=5), blocks_seen(4, 2, 5)),
    (BigBird(3, 0), blocks_seen(3, 0, 0)),
    (Chunks(5), lambda i, j, n: i // 5 == j // 5 or (i % 5 == 0 and j % 5 == 0)),
]
SHAPE = LayerShape(width=24, heads=3, kv_heads=3, head_width=8, ffn_width=96, gated=False)


@pytest.mark.parametrize("tokens", [1, 2, 5, 12, 17, 40])
@pytest.mark.parametrize(("pattern", "sees"), LOOPS, ids=lambda one: type(one).__name__)
def test_masks_and_counts_are_those_of_a_plain_loop(pattern: Pattern, sees: See, tokens: int) -> None:
    loop = np.array([[sees(i, j, tokens) for j in range(tokens)] for i in range(tokens)])
    np.testing.assert_array_equal(seen(pattern, tokens), loop)
    rows = pattern.mask(tokens).rows(tokens // 2, tokens)[0, 0]
    np.testing.assert_array_equal(rows.expand(-1, tokens).numpy(), loop[tokens // 2 :])
    assert pattern.cells(tokens) == loop.sum()


def test_random_blocks_are_new_ones_of_the_seed() -> None:
    drawn = draw_blocks(12, count=3, seed=1)
    assert drawn[0] == drawn[-1] == ()
    for row, columns in enumerate(drawn[1:-1], start=1):
        assert len(set(columns)) == 3
        assert all(0 < column < 11 and abs(column - row) > 1 for column in columns)
    assert drawn == draw_blocks(12, count=3, seed=1)
    assert drawn != draw_blocks(12, count=3, seed=2)


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in LOOPS], ids=lambda one: type(one).__name__)
def test_the_formula_of_costs_is_what_torch_counts_of_the_cells_seen(pattern: Pattern) -> None:
    tokens, width = 40, SHAPE.heads * SHAPE.head_width
    x, up, down = torch.randn(tokens, 24), torch.randn(24, 96), torch.randn(96, 24)
    weights = [torch.randn(24, width) for _ in range(3)] + [torch.randn(width, 24)]
    mask = torch.from_numpy(seen(pattern, tokens))
    with FlopCounterMode(display=False) as counter:
        q, k, v = (torch.mm(x, matrix).view(tokens, SHAPE.heads, -1) for matrix in weights[:3])
        mixed = torch.empty(tokens, SHAPE.heads, SHAPE.head_width)
        for row in range(tokens):
            keys = mask[row].nonzero().flatten()
            for head in range(SHAPE.heads):
                scores = torch.mm(q[row : row + 1, head], k[keys, head].T)
                mixed[row, head] = torch.mm(scores.softmax(dim=-1), v[keys, head])[0]
        torch.mm(torch.mm(torch.mm(mixed.flatten(1), weights[3]), up).relu(), down)
    assert counter.get_total_flops() == layer_flops(SHAPE, pattern, tokens)


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in LOOPS], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("tokens", [1, 7, 33])
def test_layers_are_the_longest_shortest_path(pattern: Pattern, tokens: int) -> None:
    graph = networkx.from_numpy_array(seen(pattern, tokens), create_using=networkx.DiGraph)
    if not networkx.is_strongly_connected(graph):
        assert layers_to_reach(seen(pattern, tokens)) is None
    else:
        assert layers_to_reach(seen(pattern, tokens)) == max(1, networkx.diameter(graph))


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in LOOPS], ids=lambda one: type(one).__name__)
def test_layers_between_two_tokens_are_the_shortest_path(pattern: Pattern) -> None:
    shown = seen(pattern, 33)
    paths = dict(
        networkx.all_pairs_shortest_path_length(networkx.from_numpy_array(shown, create_using=networkx.DiGraph))
    )
    expected = [[max(1, paths[i][j]) if j in paths[i] else np.nan for j in range(33)] for i in range(33)]
    np.testing.assert_array_equal(layers_between(shown), expected)


def test_layers_of_a_window_and_of_what_never_reaches() -> None:
    for tokens, side in ((100, 7), (129, 16), (64, 63)):
        assert layers_to_reach(seen(Window(side), tokens)) == math.ceil((tokens - 1) / side)
    assert layers_to_reach(seen(Longformer(2, 1), 200)) == layers_to_reach(seen(BigBird(8), 200)) == 2
    assert layers_to_reach(seen(Chunks(10), 200)) == 3
    assert layers_to_reach(seen(Causal(), 9)) is None
    with pytest.raises(ValueError, match="token 1 does not see itself"):
        layers_to_reach(np.array([[True, True], [True, False]]))


@pytest.mark.parametrize(
    ("pattern", "share"), [(Window(16), 0.5), (Longformer(16, 2), 0.1), (BigBird(16), 0.3), (Chunks(32), 0.5)]
)
def test_the_length_that_pays_off_is_the_last_that_does_not_and_one(pattern: Pattern, share: float) -> None:
    found = pays_off(SHAPE, pattern, share=share)
    slow = max(length for length in range(1, 6000) if saving(SHAPE, pattern, length) < share) + 1
    assert found == slow
    assert pays_off(SHAPE, Causal(), share=0.6) is None
    assert pays_off(SHAPE, Full(), share=0.1) is None


def test_growth_is_linear_where_it_is_said_to_be() -> None:
    table = growth(SHAPE, {"window": Window(8), "chunks": Chunks(8), "full": Full()}, [4096, 8192])
    cells = table.pivot_table(index="pattern", columns="tokens", values="cells")
    assert cells[8192]["window"] / cells[4096]["window"] == pytest.approx(2, rel=1e-3)
    assert cells[8192]["full"] == 4 * cells[4096]["full"]
    assert cells[8192]["chunks"] / cells[4096]["chunks"] > 3  # its second level grows with the square of the chunks


@pytest.mark.parametrize("make", [Window, Longformer, BigBird, Chunks, lambda value: Dilated(2, value)])
@pytest.mark.parametrize("value", [-1, 1.5, math.nan, math.inf, True, None, "3"])
def test_a_setting_that_is_no_whole_number_is_refused(make: Callable[..., Pattern], value: object) -> None:
    with pytest.raises(ValueError, match="choose a whole number from"):
        make(value)
