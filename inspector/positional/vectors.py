"""Positions as vectors by distance, with a model's own numbers: Shaw's, Transformer-XL's, DeBERTa's, XLNet's and
Inkling's.

A token at a distance has a vector there, and a query, a key or a value meets it: so what it adds to a score depends on
the token too, unlike a bias.

Shapes: R distances, D numbers of a vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from models.transformer.learned_attention import ShawAttention, XlAttention

if TYPE_CHECKING:
    from models import LoadedModel

VectorKind = Literal["shaw", "xl", "disentangled", "xlnet", "profiles"]


@dataclass(frozen=True, eq=False)
class DistanceVectors:
    """The vector of each distance of key and query, as one layer or all of them use it.

    kind: "shaw" (learned, as wide as a head; Shaw et al. 2018), "xl" (sines and cosines, multiplied by a matrix of the
    layer, the heads side by side; Dai et al. 2019), "disentangled" (learned, through a matrix of each layer; DeBERTa,
    He et al. 2021), "xlnet" (sines and cosines, through a matrix of each layer; Yang et al. 2019), "profiles" (learned;
    each number of a vector is a point of a curve over the distance, and a matrix of the layer mixes the curves for each
    query; Inkling). meets: what the vector is multiplied with or added to. layers: how many layers have such vectors of
    their own (these are the first such layer's); 1 where all layers share them. distances: key less query, [R], below 0
    for keys before the query. values: float32 [R, D].
    """

    kind: VectorKind
    meets: str
    layers: int
    distances: NDArray[np.int64]
    values: NDArray[np.float32]

    @property
    def farthest(self) -> int | None:
        """The distance back from which all vectors are equal; None where no such distance is among these."""
        back = self.values[self.distances <= 0]
        same = np.flatnonzero((back != back[0]).any(axis=1))
        first = len(back) if not len(same) else int(same[0])
        return int(-self.distances[first - 1]) if first > 1 else None


def vectors(loaded: LoadedModel, *, reach: int) -> tuple[DistanceVectors, ...]:
    """Ask the model's own code for its vectors of distances up to `reach` tokens either way (or back alone).

    Where layers have their own, the first layer's. Empty for a model without such vectors, or with an unknown way to
    make them. Raises ValueError for a reach below 1.
    """
    if reach < 1:
        raise ValueError(f"reach is {reach}; it must be at least 1")
    by_kind: dict[tuple[VectorKind, str], list[DistanceVectors]] = {}
    with torch.no_grad():
        for module in loaded.network.modules():
            for made in _asked(module, reach):
                by_kind.setdefault((made.kind, made.meets), []).append(made)
    return tuple(
        DistanceVectors(of[0].kind, of[0].meets, len(of), of[0].distances, of[0].values) for of in by_kind.values()
    )


def _asked(module: Any, reach: int) -> Iterator[DistanceVectors]:
    apart = torch.arange(-reach, reach + 1)
    if isinstance(module, ShawAttention):
        for meets, table in (("queries", module.key_distances), ("values", module.value_distances)):
            farthest = len(table) // 2
            yield _made("shaw", meets, apart, table[apart.clamp(-farthest, farthest).to(table.device) + farthest])
    elif isinstance(module, XlAttention):
        apart = torch.arange(-reach, 1) if module.causal else apart
        yield _made("xl", "queries", apart, module.vectors(-apart).movedim(0, 1).flatten(start_dim=1))
    elif hasattr(module, "get_rel_embedding") and getattr(module, "relative_attention", False):
        yield from _disentangled(module, apart)
    elif hasattr(module, "relative_positional_encoding"):
        made = module.relative_positional_encoding(reach + 1, reach + 1, bsz=1)[1:, 0]  # from distance -reach on
        yield _made("xlnet", "queries", apart[: len(made)], made[: len(apart)])
    elif hasattr(module, "rel_extent") and isinstance(getattr(module, "proj", None), torch.nn.Parameter):
        table = module.proj.T  # by the distance back
        back = torch.arange(-reach, 1)
        inside = (-back < len(table))[:, None].to(table.device)
        yield _made("profiles", "queries", back, table[(-back).clamp(max=len(table) - 1).to(table.device)] * inside)


def _disentangled(encoder: Any, apart: torch.Tensor) -> Iterator[DistanceVectors]:
    """Ask DeBERTa's encoder for its table, and for the bucket of each distance, which its attention clamps."""
    table = encoder.get_rel_embedding()
    attention = next((module for module in encoder.modules() if getattr(module, "pos_att_type", None)), None)
    if table is None or attention is None:
        return
    count = (len(apart) + 1) // 2
    relative = encoder.get_rel_pos(torch.zeros(1, count, 1, device=table.device))[0]  # query less key, or its bucket
    span = getattr(attention, "pos_ebd_size", attention.max_relative_positions)
    number = torch.cat([relative[:, 0].flip(0), relative[0, 1:]])  # from the farthest key back to the farthest ahead
    meets = {"c2p": "queries", "p2c": "keys"}
    met = " and ".join(meets[kind] for kind in meets if kind in attention.pos_att_type)
    yield _made("disentangled", met, apart, table[(number + span).clamp(0, 2 * span - 1).long()])


def _made(kind: VectorKind, meets: str, apart: torch.Tensor, values: torch.Tensor) -> DistanceVectors:
    return DistanceVectors(kind, meets, 1, apart.numpy(), np.array(values.detach().to("cpu", torch.float32).numpy()))
