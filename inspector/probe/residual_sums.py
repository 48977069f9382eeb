"""The uses of a norm's input and output: which of the two is added to something, and which a sublayer reads.

A norm stands before a sublayer where its input is what the sublayer's output is added to; it stands on the residual
stream where its own output is. Names do not tell: "post_attention_layernorm" is the one in Llama and the other in
Gemma 2. So the sums themselves are watched while the model runs; a part of the probe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

ADDS = frozenset(("add", "__add__", "__radd__", "__iadd__", "add_"))
_READS = frozenset(("linear", "matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "addmm", "einsum", "conv1d"))
_SAME = frozenset(
    (
        "mul",
        "__mul__",
        "__rmul__",
        "__imul__",
        "mul_",
        "dropout",
        "to",
        "float",
        "type_as",
        "clone",
        "__getitem__",
        "pad",
    )
)
"""Operations that give the same states again: copied, scaled (Granite), picked (X-MOD), a token later (RWKV)."""


@dataclass(eq=False)
class NormUses:
    """The uses of one norm call's input and output.

    input_summed: its input came out of a sum. input_added, output_added: what was added to something. reads: the kinds
    of sublayers that multiplied its output by weights, as `WatchedSums.sublayer` named them.
    """

    input_summed: bool = False
    input_added: bool = False
    output_added: bool = False
    reads: set[str] = field(default_factory=set)

    @property
    def read_in(self) -> str | None:
        """The sublayer that it stands before: attention, where that is one of several; None where none reads it."""
        return next((kind for kind in ("attention", "mixer", "ffn") if kind in self.reads), None)


class WatchedSums(TorchFunctionMode):
    """Watches sums of hidden states; until `forget` it holds them, so that no other tensor gets their address.

    sublayer: names the sublayer that runs at the moment.
    """

    def __init__(self, sublayer: Callable[[], str]) -> None:
        super().__init__()
        self._sublayer = sublayer
        self._inputs: dict[int, list[NormUses]] = {}
        self._outputs: dict[int, list[NormUses]] = {}
        self._summed: set[int] = set()
        self._held: list[Tensor] = []
        self._shape: tuple[int, ...] = ()
        self._off = False

    @contextmanager
    def off(self) -> Iterator[None]:
        """Watch nothing inside the block."""
        before, self._off = self._off, True
        try:
            yield
        finally:
            self._off = before

    def norm(self, x: Tensor, out: Tensor) -> NormUses:
        """Watch what becomes of a norm's input and output."""
        uses = NormUses(input_summed=place(x) in self._summed)
        self._inputs.setdefault(place(x), []).append(uses)
        self._outputs.setdefault(place(out), []).append(uses)
        self._held += [x, out]
        self._shape = tuple(x.shape)
        return uses

    def forget(self, shape: tuple[int, ...]) -> None:
        """Begin anew with a layer that takes states of that shape."""
        self._inputs, self._outputs, self._summed, self._held = {}, {}, set(), []
        self._shape = shape

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call the function, and note what it did with a watched tensor."""
        out = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        if self._off or not (name in ADDS or name in _READS or name in _SAME):
            return out
        # Positions and masks are whole numbers, and no norm gave them; those of a vmap have no memory to know them by.
        given = [value for value in args[:3] if isinstance(value, Tensor) and value.is_floating_point()]
        if not given:
            return out
        if name in ADDS:
            self._added(given, out)
        elif name in _READS:
            for tensor in given:
                for uses in self._outputs.get(place(tensor), ()):
                    uses.reads.add(self._sublayer())
        elif isinstance(out, Tensor):
            for tensor in given:
                if tensor.numel() == out.numel():  # the other is a factor, of all or of each feature (Doge)
                    self._passed_on(tensor, out)
        return out

    def _added(self, given: list[Tensor], out: Any) -> None:
        if not isinstance(out, Tensor) or len(given) < 2:
            return
        if given[0].numel() != given[1].numel():
            if given[1].ndim == 1:  # a bias of the stream itself (Zaya)
                self._passed_on(given[0], out)
            return
        first, second = (self._outputs.get(place(tensor), []) for tensor in given[:2])
        mixed = [uses for uses in first if any(uses is other for other in second)]  # with itself, a token before (RWKV)
        for tensor in given[:2]:
            for uses in self._inputs.get(place(tensor), ()):
                uses.input_added = True
            for uses in self._outputs.get(place(tensor), ()):
                uses.output_added = uses.output_added or not any(uses is other for other in mixed)
        if mixed:
            self._held.append(out)
            self._outputs.setdefault(place(out), []).extend(mixed)
            return
        if place(out) == place(given[0]):  # added in place: what lies there is the norm's no more
            self._inputs.pop(place(out), None)
            self._outputs.pop(place(out), None)
        if out.numel() == prod(self._shape):  # no bias, no attention's scores
            self._summed.add(place(out))
            self._held.append(out)

    def _passed_on(self, tensor: Tensor, out: Tensor) -> None:
        before, after = place(tensor), place(out)
        if before == after or not (before in self._inputs or before in self._outputs or before in self._summed):
            return
        self._held.append(out)
        for places in (self._inputs, self._outputs):
            if before in places:
                places.setdefault(after, []).extend(places[before])
        if before in self._summed:
            self._summed.add(after)


def place(tensor: Tensor) -> int:
    """Return the address of its memory: the same of a view."""
    return tensor.untyped_storage().data_ptr()
