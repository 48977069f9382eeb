"""The grid of a model whose layers mix tokens in several ways: a row for each, softmax attention and others in order.

One scale of colours for all has its zero in the middle: weights of softmax attention fill its upper half up to 1, and
each picture of another mixer both halves up to its own weight farthest from 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from inspector.components.grid.message import Options, Roles, grid_bytes
from inspector.plots import theme
from inspector.trace import MixerSite
from inspector.wording import mixers as words
from inspector.wording import phrases

if TYPE_CHECKING:
    from inspector.trace import Array, AttentionSite, MixerRecord

Measures = Mapping[str, Sequence[Sequence[float | None]] | None]


@dataclass(frozen=True, eq=False)
class MixerPictures:
    """Small pictures of a mixer's heads as shares of each head's weight farthest from 0, in -1 .. 1: [H, rows, cols].

    A layer with a map for each channel has one picture, of their mean size; a map that is not what the layer did is
    zeros. notes: a line for each.
    """

    shares: Array
    notes: Sequence[str]

    @classmethod
    def of(cls, record: MixerRecord, cells: Array | None, *, side: int, tokens: int) -> MixerPictures:
        """Scale what `mixers.small_pictures` made; cells: None for a map that is not what the layer did.

        side: cells in either direction, at most, of what stands in place of such a map; tokens: shown of the text.
        """
        site = record.site
        if cells is None:
            length = -(-tokens // -(-tokens // side))
            return cls(np.zeros((site.tiles, length, length), np.float32), [words.refused(site.kind)] * site.tiles)
        if site.by_channel:
            told = [words.averaged(site.kind, channels=site.heads, sampled=len(record.sampled))]
            return cls(cells / (cells.max() or 1), told)
        flat = cells.reshape(site.heads, -1)
        farthest = np.take_along_axis(flat, np.abs(flat).argmax(axis=1)[:, None], axis=1)[:, 0]
        size = np.where(farthest == 0, 1, np.abs(farthest))[:, None, None]
        return cls((cells / size).astype(np.float32), [words.note(site.kind, largest=float(x)) for x in farthest])

    def bytes(self, scale: theme.Scale) -> NDArray[np.uint8]:
        """The shares as a message holds them."""
        return signed_bytes(self.shares, scale)


@dataclass(frozen=True, eq=False)
class AttentionPictures:
    """Pictures of a stream's softmax attentions as `pack.quantise` makes them, uint8 [L, H, rows, cols], and tables."""

    pictures: NDArray[np.uint8]
    notes: Sequence[Sequence[str]]
    roles: Roles
    measures: Measures


def signed_bytes(shares: NDArray[np.floating], scale: theme.Scale) -> NDArray[np.uint8]:
    """Round shares in -1 .. 1 to the bytes of a picture, zero in the middle."""
    drawn = np.sign(shares) * np.sqrt(np.abs(shares)) if scale == "sqrt" else shares
    rounded: NDArray[np.uint8] = np.rint(127.5 + 127.5 * drawn).astype(np.uint8)
    return rounded


def all_kinds_bytes(
    sites: Sequence[AttentionSite | MixerSite],
    attention: AttentionPictures | None,
    mixers: Mapping[int, MixerPictures],
    *,
    tokens: int,
    scale: theme.Scale,
    options: Options | None = None,
    selected: tuple[int, int] | None = None,
    named: tuple[int, int] | None = None,
) -> bytes:
    """Pack the grid of all that mixes a stream's tokens into its message, see `grid_bytes`.

    sites: a row each. attention: of the softmax attentions among them, None where there is none. mixers: of the others,
    by row; those that are left out are blank. named: counts the rows of the softmax attentions alone.
    """
    heads = max(site.tiles for site in sites)
    rows = [at for at, site in enumerate(sites) if not isinstance(site, MixerSite)]
    size = (next(iter(mixers.values())).shares if attention is None else attention.pictures).shape[-2:]
    cells = np.full((len(sites), heads, *size), signed_bytes(np.zeros(1, np.float32), scale)[0], np.uint8)
    notes, names = ([[""] * heads for _ in sites] for _ in range(2))
    measured: Measures = {}
    if attention is not None:
        shares = np.square(np.float32(attention.pictures) / 255)  # a byte is the root of the share of the top
        for at, row in enumerate(rows):
            cells[row, : shares.shape[1]] = signed_bytes(shares[at], scale)
            notes[row][: len(attention.notes[at])] = attention.notes[at]
            names[row][: len(attention.roles.names[at])] = attention.roles.names[at]
        measured = {
            name: None if numbers is None else _widened(numbers, rows, shape=(len(sites), heads))
            for name, numbers in attention.measures.items()
        }
    for row, mixer in mixers.items():
        cells[row, : len(mixer.shares)] = mixer.bytes(scale)
        notes[row][: len(mixer.shares)] = mixer.notes
    return grid_bytes(
        cells,
        tokens=tokens,
        colours=theme.DIVERGING,
        diverging=True,
        scale="sqrt",  # which takes the bytes as they are
        notes=notes,
        names=[_name(site) for site in sites],
        measures=measured or None,
        roles=None if attention is None else replace(attention.roles, names=names),
        options=options,
        selected=selected,
        named=None if named is None else (rows[named[0]], named[1]),
        widths=[site.tiles for site in sites],
        joined={at: words.CHANNELS for at, site in enumerate(sites) if isinstance(site, MixerSite) and site.by_channel},
    )


def _widened(
    numbers: Sequence[Sequence[float | None]], rows: Sequence[int], *, shape: tuple[int, int]
) -> list[list[float | None]]:
    """Put numbers of softmax attentions into their rows; None for every other head."""
    table: list[list[float | None]] = [[None] * shape[1] for _ in range(shape[0])]
    for row, of_heads in zip(rows, numbers, strict=True):
        table[row][: len(of_heads)] = of_heads
    return table


def _name(site: AttentionSite | MixerSite) -> str:
    name = f"layer {site.layer}" if isinstance(site, MixerSite) else phrases.layer_names([site])[0]
    return words.row(name, site.kind)
