"""Masks: the keys that a query may see, as rules that give any rows, so that no n x n tensor is ever needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import Protocol

import torch
from torch import Tensor

_ROWS = 128  # of a mask, looked at together
_NARROW = 1024  # keys; a local layer's block of rows sees its window and as many keys as it has rows


class Mask(Protocol):
    """A rule that says, for any block of query rows, which keys they attend to."""

    def rows(self, start: int, stop: int) -> Tensor:
        """Boolean, broadcastable to [B, H, stop - start, T]; True where the query attends to the key."""
        ...


@dataclass(frozen=True)
class KeyBand:
    """A block of a mask's rows, without the keys on either side that none of the rows sees.

    allowed: boolean, broadcastable to [B, H, rows, keys]; True where the query attends to the key.
    """

    keys: slice
    allowed: Tensor


def band(mask: Mask, start: int, stop: int, *, keys: int) -> KeyBand:
    """Find the keys that rows `start` to `stop` of a mask may see, as one band; all T keys where no row sees any."""
    if isinstance(mask, SharedMask):
        return mask.band(start, stop, keys=keys)
    rows = mask.rows(start, stop)
    seen = rows.flatten(end_dim=-2).any(dim=0).nonzero()
    if rows.shape[-1] != keys or not len(seen):  # one column may stand for all keys
        return KeyBand(slice(0, keys), rows)
    first, last = int(seen[0]), int(seen[-1])
    return KeyBand(slice(first, last + 1), rows[..., first : last + 1])


@dataclass(frozen=True)
class SharedMask:
    """A mask that layers share: the first local layer makes the bands, and the others take them from the cache.

    Only narrow bands are cached; caching the bands of a causal mask would take memory quadratic in the text.
    """

    mask: Mask
    bands: dict[tuple[int, int], KeyBand] = field(default_factory=dict, repr=False, compare=False)

    def rows(self, start: int, stop: int) -> Tensor:
        """Rows `start` to `stop` of the shared mask."""
        return self.mask.rows(start, stop)

    def band(self, start: int, stop: int, *, keys: int) -> KeyBand:
        """The band of rows `start` to `stop`, from the cache where it is narrow."""
        if (start, stop) in self.bands:
            return self.bands[start, stop]
        visible = band(self.mask, start, stop, keys=keys)
        if visible.keys.stop - visible.keys.start > _NARROW:
            return visible
        self.bands[start, stop] = KeyBand(visible.keys, visible.allowed.clone())  # a view would keep all keys
        return self.bands[start, stop]


@dataclass(frozen=True)
class PaddingMask:
    """Every query sees every real token and no padding; in cross-attention no padding of the source.

    keep: boolean [B, T], True on real tokens.
    """

    keep: Tensor

    def __post_init__(self) -> None:
        if self.keep.ndim != 2 or self.keep.dtype != torch.bool:
            raise ValueError(
                f"keep must be a boolean [B, T] tensor, got {self.keep.dtype} of shape {tuple(self.keep.shape)}; "
                "pass lengths as `torch.arange(T) < lengths[:, None]`"
            )
        empty = (~self.keep.any(dim=1)).nonzero().flatten().tolist()
        if empty:
            raise ValueError(f"sequences {empty} of the batch have no real token; leave them out")

    def rows(self, start: int, stop: int) -> Tensor:
        """[B, 1, 1, T]: the same keys for every query."""
        return self.keep[:, None, None, :]


@dataclass(frozen=True)
class CausalMask:
    """A query sees itself and all earlier tokens (Vaswani et al. 2017, section 3.2.3).

    keys: T. offset: position of the first query; with a cache the queries begin where the cached keys end.
    """

    keys: int
    offset: int = 0

    def rows(self, start: int, stop: int) -> Tensor:
        """[1, 1, stop - start, T]."""
        queries = torch.arange(self.offset + start, self.offset + stop)
        return (torch.arange(self.keys) <= queries[:, None])[None, None]


@dataclass(frozen=True)
class WindowMask:
    """A query sees keys less than `width` tokens away (Beltagy et al. 2020, "sliding window").

    width 1 is the token itself; with a causal mask beside it, width w is the last w tokens (Jiang et al. 2023).
    """

    keys: int
    width: int
    offset: int = 0

    def rows(self, start: int, stop: int) -> Tensor:
        """[1, 1, stop - start, T]."""
        queries = torch.arange(self.offset + start, self.offset + stop)
        return ((torch.arange(self.keys) - queries[:, None]).abs() < self.width)[None, None]


@dataclass(frozen=True)
class PackedTextsMask:
    """Several texts in one row, each blind to the others: a block-diagonal mask instead of padding.

    texts: integers [B, T], the number of the text that each token belongs to.
    """

    texts: Tensor

    def rows(self, start: int, stop: int) -> Tensor:
        """[B, 1, stop - start, T]."""
        return (self.texts[:, start:stop, None] == self.texts[:, None, :])[:, None]


@dataclass(frozen=True)
class DenseMask:
    """A mask that the model made itself, as an additive [B, 1 or H, Q or 1, T] tensor."""

    bias: Tensor

    def rows(self, start: int, stop: int) -> Tensor:
        """Boolean [B, 1 or H, stop - start, T]; True where the query attends to the key."""
        block = self.bias if self.bias.shape[2] == 1 else self.bias[:, :, start:stop]
        return block if block.dtype == torch.bool else block > torch.finfo(block.dtype).min / 2

    def of_sequence(self, row: int, real: slice) -> DenseMask:
        """Copy the mask of one sequence of a padded batch, between its real tokens."""
        rows = slice(None) if self.bias.shape[2] == 1 else real
        return DenseMask(self.bias[row if len(self.bias) > 1 else 0, :, rows, real][None].clone())


@dataclass(frozen=True)
class AllOf:
    """A key is seen where every one of the masks shows it.

    A query that would then see nothing (padding before a causal text) sees all keys: softmax of nothing is NaN, and
    0 * NaN would reach the real tokens. The numbers of such a row mean nothing either way.
    """

    masks: tuple[Mask, ...]

    def rows(self, start: int, stop: int) -> Tensor:
        """Boolean, broadcastable to [B, H, stop - start, T]."""
        seen = reduce(torch.logical_and, (mask.rows(start, stop) for mask in self.masks))
        return seen | ~seen.any(dim=-1, keepdim=True)


@dataclass(frozen=True)
class AnyOf:
    """A key is seen where one of the masks shows it, as in patterns that are put together (Zaheer et al. 2020)."""

    masks: tuple[Mask, ...]

    def rows(self, start: int, stop: int) -> Tensor:
        """Boolean, broadcastable to [B, H, stop - start, T]."""
        return reduce(torch.logical_or, (mask.rows(start, stop) for mask in self.masks))


@dataclass(frozen=True)
class GlobalMask:
    """The first `count` tokens see every key and are seen by every query (Beltagy et al. 2020, "global attention").

    keys: T. Nothing else is seen, so another mask stands beside this one in AnyOf.
    """

    keys: int
    count: int

    def rows(self, start: int, stop: int) -> Tensor:
        """[1, 1, stop - start, T]."""
        return ((torch.arange(start, stop)[:, None] < self.count) | (torch.arange(self.keys) < self.count))[None, None]


def all_of(*masks: Mask | None) -> Mask | None:
    """Join the masks that are not None; None where all are None."""
    present = tuple(mask for mask in masks if mask is not None)
    return AllOf(present) if len(present) > 1 else next(iter(present), None)


def window_of(mask: Mask, *, tokens: int) -> int | None:
    """Find the width, as WindowMask counts it, of the band that a mask leaves of a text that attends to itself.

    None where the mask leaves no band: a text that fits into the window is not hidden at all.
    """
    seen = mask.rows(tokens - 1, tokens).flatten(end_dim=-2).any(dim=0).nonzero()
    width = tokens - int(seen[0]) if len(seen) else tokens
    if width == tokens:
        return None
    causal = not bool(mask.rows(0, 1)[..., 1:].any())
    band = AllOf((WindowMask(tokens, width), CausalMask(tokens))) if causal else WindowMask(tokens, width)
    for start in range(0, tokens, _ROWS):
        stop = min(start + _ROWS, tokens)
        if not bool((mask.rows(start, stop).cpu() == band.rows(start, stop)).all()):
            return None
    return width
