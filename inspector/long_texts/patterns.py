"""Patterns of attention: which keys a query sees, as a rule for a text of any length, and how many cells that makes.

A pattern holds its settings and no length: `mask` gives the rule of one text, `cells` counts by a closed formula what
the mask shows. Nothing n x n is made before `seen` asks for it.

Shapes: n tokens, which are queries and keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.attention.masks import AnyOf, CausalMask, GlobalMask, Mask, PackedTextsMask, WindowMask
from models.huggingface.block_sparse import BlockSparseMask

Bools = NDArray[np.bool_]
NEAR, GLOBAL, RANDOM = 3, 2, 1
"""Reasons why a query sees a key: its window, block or chunk; a token that sees all or stands for others; a draw."""


class Pattern(Protocol):
    """A rule that says for a text of any length which keys each query sees."""

    def mask(self, tokens: int) -> Mask:
        """Give the mask of a text of n tokens."""

    def cells(self, tokens: int) -> int:
        """Count the pairs of query and key that the mask of n tokens shows, by a closed formula."""


def seen(pattern: Pattern, tokens: int) -> Bools:
    """Draw the mask of n tokens as booleans [n, n], True where the query (row) sees the key (column)."""
    rows: Bools = pattern.mask(tokens).rows(0, tokens)[0, 0].expand(tokens, tokens).numpy()
    return rows


def reasons(pattern: Pattern, tokens: int) -> NDArray[np.int8]:
    """Tell for each pair why the query sees the key: NEAR, else GLOBAL, else RANDOM, 0 where it does not, [n, n]."""
    shown, places = seen(pattern, tokens), np.arange(tokens)
    near = other = shown
    match pattern:
        case Longformer():
            near = seen(Window(pattern.side), tokens)
        case BigBird():
            blocks = places // pattern.size
            near, other = np.abs(blocks[:, None] - blocks) <= 1, seen(BigBird(pattern.size, 0), tokens)
        case Chunks():
            near = places[:, None] // pattern.size == places // pattern.size
    return np.where(shown & near, NEAR, np.where(shown & other, GLOBAL, RANDOM * shown)).astype(np.int8)


def _whole(name: str, value: object, *, first: int) -> None:
    """Raise ValueError for a setting that is no whole number from `first` on."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < first:
        raise ValueError(f"{name} is {value!r}; choose a whole number from {first} on")


@dataclass(frozen=True)
class Full:
    """Every query sees every key: n^2 cells (Vaswani et al. 2017)."""

    def mask(self, tokens: int) -> Mask:
        """Give a window as wide as the text."""
        return WindowMask(tokens, tokens)

    def cells(self, tokens: int) -> int:
        """n^2."""
        return tokens**2


@dataclass(frozen=True)
class Causal:
    """A query sees itself and all tokens before it: n (n + 1) / 2 cells."""

    def mask(self, tokens: int) -> Mask:
        """Give the causal mask."""
        return CausalMask(tokens)

    def cells(self, tokens: int) -> int:
        """n (n + 1) / 2."""
        return tokens * (tokens + 1) // 2


@dataclass(frozen=True)
class Window:
    """A query sees `side` tokens to either side, and itself (Beltagy et al. 2020, "sliding window" of w = 2 side)."""

    side: int

    def __post_init__(self) -> None:
        _whole("side", self.side, first=0)

    def mask(self, tokens: int) -> Mask:
        """Give the window."""
        return WindowMask(tokens, self.side + 1)

    def cells(self, tokens: int) -> int:
        """n (2s + 1) - s (s + 1), with s at most n - 1."""
        side = min(self.side, max(tokens - 1, 0))
        return tokens * (2 * side + 1) - side * (side + 1)


@dataclass(frozen=True)
class Dilated:
    """A query sees every `step`-th token, `side` of them to either side (Beltagy et al. 2020, "dilated")."""

    side: int
    step: int

    def __post_init__(self) -> None:
        _whole("side", self.side, first=0)
        _whole("step", self.step, first=1)

    def mask(self, tokens: int) -> Mask:
        """Give the window with gaps."""
        return _DilatedMask(tokens, self.side, self.step)

    def cells(self, tokens: int) -> int:
        """n (2k + 1) - d k (k + 1), with k = min(side, (n - 1) / d)."""
        reached = min(self.side, max(tokens - 1, 0) // self.step)
        return tokens * (2 * reached + 1) - self.step * reached * (reached + 1)


@dataclass(frozen=True)
class Longformer:
    """A window, and `globals` first tokens that see all and are seen by all (Beltagy et al. 2020, section 3.1)."""

    side: int
    globals: int = 1

    def __post_init__(self) -> None:
        _whole("side", self.side, first=0)
        _whole("globals", self.globals, first=0)

    def mask(self, tokens: int) -> Mask:
        """Give the union of the window and the global tokens."""
        return AnyOf((WindowMask(tokens, self.side + 1), GlobalMask(tokens, self.globals)))

    def cells(self, tokens: int) -> int:
        """2 g n - g^2, and the window of the n - g tokens that are not global."""
        count = min(self.globals, tokens)
        return 2 * count * tokens - count**2 + Window(self.side).cells(tokens - count)


@dataclass(frozen=True)
class BigBird:
    """BigBird's blocks of `size` tokens (Zaheer et al. 2020, section 2, "internal transformer construction").

    A query sees its block and the two beside it, the first and the last block, which see everything, and `random`
    blocks that are drawn with `seed` for each of the other blocks.
    """

    size: int
    random: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        _whole("size", self.size, first=1)
        _whole("random", self.random, first=0)
        _whole("seed", self.seed, first=0)

    def mask(self, tokens: int) -> Mask:
        """Give the union of transformers' rule without random blocks (models/huggingface) and the random blocks."""
        drawn = draw_blocks(-(-tokens // self.size), count=self.random, seed=self.seed)
        return AnyOf((BlockSparseMask(tokens, self.size), RandomBlocks(tokens, self.size, drawn)))

    def cells(self, tokens: int) -> int:
        """2 g n - g^2 of the g tokens of the first and the last block, and b^2 for each block that the others see."""
        blocks = -(-tokens // self.size)
        if blocks <= 2:
            return tokens**2
        count = self.size + tokens - (blocks - 1) * self.size
        return 2 * count * tokens - count**2 + self.size**2 * (self.near(tokens) + self.drawn(tokens))

    def near(self, tokens: int) -> int:
        """Count the pairs of blocks, neither first nor last, that are one block or neighbours: 3 m - 2 for m blocks."""
        inner = -(-tokens // self.size) - 2
        return 3 * inner - 2 if inner > 0 else 0

    def drawn(self, tokens: int) -> int:
        """Count the random blocks: r for each block, or as many as there are left to draw."""
        inner = -(-tokens // self.size) - 2
        if inner < 3:
            return 0
        return 2 * min(self.random, inner - 2) + (inner - 2) * min(self.random, inner - 3)


@dataclass(frozen=True)
class Chunks:
    """The two levels of a hierarchy as one mask: chunks of `size` tokens that are blind to each other, but for their
    first tokens, which stand for the chunks and see one another (cf. Yang et al. 2016; Pappagari et al. 2019).
    """

    size: int

    def __post_init__(self) -> None:
        _whole("size", self.size, first=1)

    def mask(self, tokens: int) -> Mask:
        """Give the blocks on the diagonal and the pairs of first tokens."""
        chunks = torch.arange(tokens) // self.size
        return AnyOf((PackedTextsMask(chunks[None]), _FirstsMask(tokens, self.size)))

    def cells(self, tokens: int) -> int:
        """c^2 for each whole chunk, m^2 for a rest of m tokens, and C^2 - C pairs of C first tokens."""
        whole, rest = divmod(tokens, self.size)
        count = whole + bool(rest)
        return whole * self.size**2 + rest**2 + count**2 - count


@dataclass(frozen=True)
class RandomBlocks:
    """A query sees the blocks that are drawn for its block; drawn[k]: of block k, empty for the first and the last."""

    keys: int
    size: int
    drawn: tuple[tuple[int, ...], ...]

    def rows(self, start: int, stop: int) -> Tensor:
        """[1, 1, stop - start, n]."""
        blocks = torch.arange(self.keys) // self.size
        table = torch.zeros(len(self.drawn), len(self.drawn), dtype=torch.bool)
        for row, columns in enumerate(self.drawn):
            table[row, list(columns)] = True
        return table[blocks[start:stop, None], blocks[None]][None, None]


@lru_cache(maxsize=16)
def draw_blocks(blocks: int, *, count: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Draw `count` blocks for each block but the first and the last, among the blocks that it does not see anyhow."""
    generator = np.random.default_rng(seed)
    drawn: list[tuple[int, ...]] = []
    for row in range(blocks):
        left = [column for column in range(1, blocks - 1) if abs(column - row) > 1]
        most = min(count, len(left)) if 0 < row < blocks - 1 else 0
        drawn.append(tuple(sorted(generator.permutation(left)[:most].astype(int).tolist())))
    return tuple(drawn)


@dataclass(frozen=True)
class _DilatedMask:
    keys: int
    side: int
    step: int

    def rows(self, start: int, stop: int) -> Tensor:
        """[1, 1, stop - start, n]."""
        away = (torch.arange(self.keys) - torch.arange(start, stop)[:, None]).abs()
        return ((away % self.step == 0) & (away <= self.side * self.step))[None, None]


@dataclass(frozen=True)
class _FirstsMask:
    keys: int
    size: int

    def rows(self, start: int, stop: int) -> Tensor:
        """[1, 1, stop - start, n]."""
        first = torch.arange(self.keys) % self.size == 0
        return (first[start:stop, None] & first[None])[None, None]
