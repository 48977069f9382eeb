"""W_O of each attention call: found by running the model, so that one rule serves every architecture.

After an attention call its heads, merged, go into a matrix product: that product's matrix is W_O, whatever its module
is called (nn.Linear, transformers' Conv1D). A `TorchFunctionMode` sees the products of its own thread alone, so nothing
is hooked on the network, which other threads may be running, and nothing has to be taken off again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from models.attention import AttentionCall, watch
from models.attention.running_layer import CallPlaces
from models.transformer.config import TransformerConfig
from models.transformer.multi_head import add_up, concatenate

if TYPE_CHECKING:
    from models.loaded import LoadedModel

ProjectionPlace = tuple[str, int, int]  # stream, layer and call, as in a recording

_TOKENS = 4  # of the text that is run: enough for heads to differ
_TOLERANCE = 1e-5  # of the largest entry; float32 keeps seven digits
_HALF_TOLERANCE = 2  # of a half precision's last digit, at the largest entry

_projections: WeakKeyDictionary[nn.Module, Mapping[ProjectionPlace, OutputProjection]] = WeakKeyDictionary()
_finding = Lock()


@dataclass(frozen=True)
class OutputProjection:
    """output_i = sum_h head_h,i W_O^h + b_O: weight [H, E, D], bias [D] or None, on the CPU.

    For a model on the CPU, weight and bias are views of its parameters.
    """

    weight: Tensor
    bias: Tensor | None


def find(loaded: LoadedModel) -> Mapping[ProjectionPlace, OutputProjection]:
    """Find the output projection of every attention call, by (stream, layer, call); once for each network.

    Raises ValueError where the model computes more between its heads and the next matrix product (a norm, a gate), or
    shows no attention call at all.
    """
    with _finding:
        if loaded.network not in _projections:
            _projections[loaded.network] = MappingProxyType(_find(loaded))
        return _projections[loaded.network]


def _find(loaded: LoadedModel) -> dict[ProjectionPlace, OutputProjection]:
    calls: list[AttentionCall] = []
    with torch.inference_mode(), _MatrixProducts() as products:

        def see(call: AttentionCall) -> None:
            calls.append(call)
            products.expect(call)

        with watch(see):
            _run_a_few_tokens(loaded)
    if not calls:
        raise ValueError(f"{loaded.card.id} shows none of its attention, so it has no output projection to find")
    places = CallPlaces()
    projections: dict[ProjectionPlace, OutputProjection] = {}
    for call, projection in zip(calls, products.projections, strict=True):
        layer, number = places.next(call.stream, call.layer)
        if projection is None and _projects_nothing(loaded.config):
            projection = _identity(call)
        if projection is None:
            raise ValueError(
                f"{loaded.card.id} has no output projection that takes the heads of {call.stream} layer "
                f"{layer} as they are seen, so what one head adds to the residual stream cannot be told; "
                "choose a model whose attention goes through transformers' registry and ends in softmax(...) V W_O"
            )
        projections[call.stream, layer, number] = projection
    return projections


def _run_a_few_tokens(loaded: LoadedModel) -> None:
    ids = torch.arange(min(_TOKENS, loaded.max_tokens))[None]
    keep = torch.ones_like(ids, dtype=torch.bool)
    if loaded.run_pair is None:
        loaded.run(ids, keep, torch.zeros_like(ids))
    else:
        loaded.run_pair(ids, keep, ids)


def _projects_nothing(config: Any) -> bool:
    """Return True for this project's Transformer with projections=False, where the heads are the output."""
    return isinstance(config, TransformerConfig) and not config.projections


def _identity(call: AttentionCall) -> OutputProjection:
    heads, head_width = call.query.shape[1], call.value.shape[-1]
    return OutputProjection(torch.eye(heads * head_width).view(heads, head_width, -1), None)


class _MatrixProducts(TorchFunctionMode):
    """Finds the matrix product that takes the merged heads of each expected attention call.

    projections: one entry for each call, None until the call's product came.
    """

    def __init__(self) -> None:
        super().__init__()
        self.projections: list[OutputProjection | None] = []
        self._waiting: dict[int, Tensor] = {}  # call -> its heads' output [B, H, Q, E]

    def expect(self, call: AttentionCall) -> None:
        """Compute the call's output, to recognise it later."""
        queries = call.query.shape[2]
        mask = None if call.mask is None else call.mask.rows(0, queries).to(call.query.device)
        heads, _ = call.function(call.query, call.key, call.value, mask, rows=slice(0, queries))
        self._waiting[len(self.projections)] = heads
        self.projections.append(None)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        product = _PRODUCTS.get(func)
        if product is not None:
            self._compare(*product(*args, **(kwargs or {})))
        return func(*args, **(kwargs or {}))

    def _compare(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> None:
        """Compare x [..., I], which is multiplied by weight [I, D], with the outputs of the waiting calls."""
        for call, heads in self._waiting.items():
            projection = _projection(heads, x, weight.detach(), None if bias is None else bias.detach())
            if projection is not None:
                bias = None if projection.bias is None else projection.bias.cpu()
                self.projections[call] = OutputProjection(projection.weight.cpu(), bias)
                del self._waiting[call]
                return


def _projection(heads: Tensor, x: Tensor, weight: Tensor, bias: Tensor | None) -> OutputProjection | None:
    """Return W_O if x is the heads [B, H, Q, E] side by side, or added up (then all heads share W_O); else None."""
    count, head_width = heads.shape[1], heads.shape[3]
    if _same(x, concatenate(heads)):
        return OutputProjection(weight.view(count, head_width, -1), bias)
    if _same(x, add_up(heads)):
        return OutputProjection(weight.expand(count, head_width, -1), bias)
    return None


def _same(x: Tensor, merged: Tensor) -> bool:
    """Return True if x [..., I] equals merged [B, Q, I] but for rounding."""
    if x.shape[-1] != merged.shape[-1] or x.numel() != merged.numel() or x.device != merged.device:
        return False
    tolerance = max(_TOLERANCE, _HALF_TOLERANCE * torch.finfo(merged.dtype).eps if merged.dtype.itemsize < 4 else 0)
    return bool((x.reshape(merged.shape) - merged).abs().max() <= tolerance * merged.abs().max())


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor | None]:
    return input, weight.T, bias


def _addmm(input: Tensor, mat1: Tensor, mat2: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
    return mat1, mat2, input


_PRODUCTS: dict[Any, Callable[..., tuple[Tensor, Tensor, Tensor | None]]] = {
    torch.nn.functional.linear: _linear,
    torch.addmm: _addmm,
}
"""Matrix products with learned matrices, as nn.Linear and Conv1D make them -> input, weight [I, D], bias."""
