"""RoPE with a model's own numbers: by how much its queries and keys are turned at each position (Su et al. 2021).

Shapes: T positions, P pairs of dimensions that are turned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from inspector.positional.tables import rotates
from models.transformer.positions import Rotary

if TYPE_CHECKING:
    from models import LoadedModel

_ARGUMENTS = ({"x", "position_ids"}, {"x", "position_ids", "layer_type"})  # of rotary modules that are understood


@dataclass(frozen=True, eq=False)
class Rotation:
    """The turns of queries and keys: pair i at position p is turned by the angle p w_i, and stretched by `factor`.

    cos, sin: float32 [T, P], the numbers that the model multiplies with. variant: the model's name for how the angles
    are scaled, such as "default", "linear", "dynamic", "yarn", "longrope" or "llama3". layers: which kind of layers
    they are of ("sliding_attention"), "" for all.
    """

    cos: NDArray[np.float32]
    sin: NDArray[np.float32]
    variant: str = "default"
    layers: str = ""

    @cached_property
    def frequencies(self) -> NDArray[np.float64]:
        """w_i, the angle from one position to the next in radians, [P]; read off the turn of position 1."""
        cos, sin = self.cos.astype(np.float64), self.sin.astype(np.float64)
        angles: NDArray[np.float64] = np.arctan2(sin[1], cos[1])
        return angles

    @property
    def wavelengths(self) -> NDArray[np.float64]:
        """The tokens of a whole turn, 2 pi / w_i, [P]; infinite for a pair that is not turned."""
        with np.errstate(divide="ignore"):
            wavelengths: NDArray[np.float64] = 2 * np.pi / np.abs(self.frequencies)
        return wavelengths

    @property
    def factor(self) -> float:
        """The length of (cos, sin): 1 for a pure rotation; YaRN and LongRoPE stretch queries and keys by it."""
        return float(np.hypot(self.cos.astype(np.float64), self.sin).mean())

    @property
    def pure(self) -> bool:
        """True where the turns stretch nothing."""
        return abs(self.factor - 1) < 1e-5

    def decay(self) -> NDArray[np.float64]:
        """Products of a query and a key of ones k tokens apart, over the product unturned: float64 [T].

        mean_i cos(k w_i) times factor squared: what is left of a match as its distance grows (Su et al. 2021, 3.4.3).
        """
        apart = np.arange(len(self.cos))[:, None]
        decay: NDArray[np.float64] = np.cos(apart * self.frequencies).mean(axis=1) * self.factor**2
        return decay

    def spread(self, *, distance: int) -> float:
        """Say how far products at one distance differ, by where the two stand: largest less smallest, of length 1.

        Computed with the model's own float32 cosines and sines, over all pairs of positions at that distance. Raises
        ValueError where no two positions are that far apart.
        """
        if not 0 < distance < len(self.cos):
            raise ValueError(f"distance is {distance}; with {len(self.cos)} positions it is 1 to {len(self.cos) - 1}")
        cos, sin = self.cos.astype(np.float64), self.sin.astype(np.float64)
        products = (cos[:-distance] * cos[distance:] + sin[:-distance] * sin[distance:]).mean(axis=1)
        return float(np.ptp(products))


def rotations(loaded: LoadedModel, *, positions: int) -> tuple[Rotation, ...]:
    """Ask the model's own rotary module for its cosines and sines at positions 0 to `positions` - 1.

    Equal rotations count once; a table that ends sooner (GPT-J's, RoFormer's) gives all its rows. Angles that depend on
    the text's length (dynamic, LongRoPE) are a text's of this length. Empty for a model that turns nothing, or whose
    rotary module cannot be asked alone. Raises ValueError below 2 positions.
    """
    if positions < 2:
        raise ValueError(f"positions is {positions}; a turn from one position to the next takes at least 2")
    distinct: list[Rotation] = []
    if not rotates(loaded.config):  # Falcon has the module for RoPE where it runs with ALiBi too
        return ()
    for module in loaded.network.modules():
        for made in _asked(module, positions):
            if not any(
                np.array_equal(made.cos, known.cos)
                and np.array_equal(made.sin, known.sin)
                and made.layers == known.layers
                for known in distinct
            ):
                distinct.append(made)
    return tuple(distinct)


def _asked(module: Any, positions: int) -> Iterator[Rotation]:
    """Yield what one module turns by, for each kind of layer."""
    if isinstance(turn := getattr(module, "turn", None), Rotary):
        even = torch.tensor([1.0, 0.0]).repeat(turn.head_width // 2).expand(1, 1, positions, -1)
        turned = turn(even, 0)[0, 0]
        yield Rotation(_numbers(turned[:, 0::2]), _numbers(turned[:, 1::2]))
        return
    rows = getattr(module, "embed_positions", None)
    rows = getattr(rows, "weight", rows)
    if isinstance(rows, Tensor):  # GPT-J's, CodeGen's and RoFormer's table: sines before cosines, of the same pairs
        sin, cos = rows[:positions].chunk(2, dim=-1)
        yield Rotation(_numbers(cos), _numbers(sin))
        return
    kind = getattr(module, "rope_type", None) or ("default" if hasattr(module, "rope_type") else None)  # ESM's is {}
    if kind is None or set(signature(type(module).forward).parameters) - {"self"} not in _ARGUMENTS:
        return
    kinds = kind if isinstance(kind, Mapping) else {"": kind}
    for layers, variant in kinds.items():
        given = {"layer_type": layers} if layers else {}
        device = next((buffer.device for buffer in module.buffers()), torch.device("cpu"))
        with torch.no_grad():
            place = torch.arange(positions, device=device)[None]
            out = module(torch.zeros(1, positions, 1, device=device), place, **given)
        cos, sin = (out.real, out.imag) if isinstance(out, Tensor) else out[:2]
        if cos.ndim == 3:  # [1, T, P or 2P]; a module for pictures and text has an axis more
            yield Rotation(*_pairs(_numbers(cos[0]), _numbers(sin[0])), str(variant), layers)


def _pairs(cos: NDArray[np.float32], sin: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Keep each pair's cosine and sine once, where a module gives them for both of its dimensions."""
    half = cos.shape[1] // 2
    for first, second in ((np.s_[:, :half], np.s_[:, half:]), (np.s_[:, 0::2], np.s_[:, 1::2])):
        if half and np.array_equal(cos[first], cos[second]) and np.array_equal(sin[first], sin[second]):
            return cos[first], sin[first]
    return cos, sin


def _numbers(tensor: Tensor) -> NDArray[np.float32]:
    return np.array(tensor.detach().to("cpu", torch.float32).numpy())
