"""The projections of one attention call: which products make a head's query, key and value, as linear maps.

Found by watching a second run, not by names: nothing is assumed about modules, fused matrices, latent keys or rotary
embeddings. With the scales of norms held, a head's query is q = x A + b at every position; A and b come from gradients
of what ran behind each product, and are held to rebuild the recorded query, key or value on this text. A part of the
probe.

Shapes: H heads, K kv heads, Q positions, D width, E head width.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from inspector.probe.held_scales import CutProduct, HeldScales, is_followed
from inspector.probe.inputs import ModelInputs
from inspector.probe.norm_hooks import install, watch_norms
from inspector.probe.products import key
from inspector.probe.recording import forward
from inspector.trace import AttentionRecord, Trace
from models import LoadedModel
from models.attention import AttentionCall, watch

Floats = NDArray[np.float64]
Role = Literal["query", "key", "value"]

_TOLERANCE = (
    1e-4  # of the largest entry of the rebuilt vector; a wrong matrix or a scale that was not held is above 1e-2
)
_HALF_DIGITS = 8  # of a half precision's last digit


@dataclass(frozen=True)
class ProductSlice:
    """The outputs of a learned matrix that make a head's vector: the matrix's parameter and the columns, in order."""

    name: str
    columns: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class HeadProjection:
    """One head's query, key or value at one position as a linear map: output = input @ weight + sum of biases.

    input: what goes into the first product, float64 [D]; weight: [D, E], norms' scales, rotary embedding and constants
    inside; biases: (parameter, what it adds [E]); output: as recorded, [E]. slices: the last products' outputs that the
    vector is made of.
    """

    input: Floats
    weight: Floats
    biases: tuple[tuple[str, Floats], ...]
    output: Floats
    slices: tuple[ProductSlice, ...]


class _ReachedError(Exception):
    """Ends a run behind the attention call that was waited for."""


@dataclass(frozen=True, eq=False)
class CallProjections:
    """The graph from the products of one attention call to its queries, keys and values; linear in the text."""

    model: str
    record: AttentionRecord
    query: Tensor
    key: Tensor
    value: Tensor
    products: tuple[CutProduct, ...]
    biases: dict[str, Tensor]
    network: nn.Module

    @property
    def place(self) -> str:
        """The attention call in words."""
        return f"{self.record.site.stream} {self.record.site.name}"

    def of(self, role: Role, *, head: int, position: int) -> HeadProjection:
        """Give a head's map at one position; for keys and values `head` is a query head, whose kv head is meant.

        Raises ValueError where what makes the vector is not followed, or does not rebuild the recorded vector.
        """
        site = self.record.site
        number = head if role == "query" else site.kv_group(head)
        made: Tensor = getattr(self, role)[0, number]  # [Q, E]
        want = getattr(self.record, role)[number, position].double().cpu().numpy()
        if not is_followed(made):
            raise ValueError(
                f"no matrix product of {self.model} was seen to make the {role} of {self.place}, head {head}, so who "
                "wrote it cannot be told"
            )
        weight, source, biases, slices = self._pull(made, position)
        built = source @ weight + sum((vector for _, vector in biases), np.zeros(len(want)))
        largest = max(float(np.abs(want).max()), 1e-30)
        off = float(np.abs(built - want).max()) / largest
        if off > self._allowed:
            raise ValueError(
                f"the {role} of {self.model}'s {self.place}, head {head}, is not rebuilt by the products that were "
                f"seen: at token {position} it differs by {off:.2g} of its largest number, so more than a projection "
                "makes it"
            )
        return HeadProjection(source, weight, tuple(biases), want, tuple(slices))

    @property
    def _allowed(self) -> float:
        digits = torch.finfo(self.record.query.dtype).eps
        return max(_TOLERANCE, _HALF_DIGITS * digits if digits > 1e-5 else 0.0)

    @cached_property
    def _made(self) -> list[Tensor]:
        return [product.made for product in self.products]

    def _pull(self, made: Tensor, position: int) -> tuple[Floats, Floats, list[tuple[str, Floats]], list[ProductSlice]]:
        """Follow made[position] [E] back: the map, the input of the first product, biases, and the last slices."""
        wide = made.shape[-1]
        row = made[position]
        seeds = [torch.nn.functional.one_hot(torch.tensor(at), wide).to(row) for at in range(wide)]
        grads, added = self._gradients(row, seeds, position)
        slices = []
        for number, grad in grads.items():
            columns = np.flatnonzero(np.abs(grad).max(axis=0))
            slices.append(ProductSlice(self.products[number].matrix.name, tuple(columns.tolist())))
        whole: Floats | None = None
        source: Floats | None = None
        while grads:
            number = max(grads)  # a product comes after what it is made of
            product, grad = self.products[number], grads.pop(number)
            matrix = product.matrix
            weight = matrix.weight(self.network).double().cpu().numpy()
            offset = matrix.offset(self.network)
            if offset is not None:
                added.append((matrix.bias or "", grad @ offset.double().cpu().numpy()))
            back = grad @ weight.T  # [E, in]
            if is_followed(product.x):
                x = self._row(product.x, position)
                further, more = self._gradients(x, [torch.tensor(each).to(x) for each in back], position)
                added += more
                for at, each in further.items():
                    grads[at] = grads.get(at, 0.0) + each
                continue
            given = self._row(product.x, position).double().cpu().numpy()
            if source is not None and (given.shape != source.shape or not np.array_equal(given, source)):
                raise ValueError(
                    f"two products with different inputs make the vectors of {self.model}'s {self.place}, which are "
                    "not taken apart"
                )
            source, whole = given, back if whole is None else whole + back
        assert source is not None
        assert whole is not None
        return whole.T, source, _summed(added), slices

    def _row(self, tensor: Tensor, position: int) -> Tensor:
        """The vector of one token in the input or the output of a product: [1, Q, D], [Q, 1, D] or [Q, D]."""
        tokens = tensor.reshape(self._tokens(tensor), -1)
        return tokens[position]

    def _tokens(self, tensor: Tensor) -> int:
        """Count the tokens of a product's input or output; ValueError where there is no vector for each."""
        counts = {len(self.record.query[0]), len(self.record.key[0])} & set(tensor.shape[:-1])
        if not counts:
            raise ValueError(
                f"a product in {self.model}'s {self.place} has the shape {tuple(tensor.shape)}: not a vector a token"
            )
        return max(counts)

    def _gradients(
        self, row: Tensor, seeds: list[Tensor], position: int
    ) -> tuple[dict[int, Floats], list[tuple[str, Floats]]]:
        """Follow row [W] back along seeds [W]: gradients by product [seeds, out], and what each bias adds [seeds]."""
        leaves = [*self._made, *self.biases.values()]
        found: dict[int, list[Floats]] = {}
        for seed in seeds:
            given = torch.autograd.grad(row, leaves, seed, retain_graph=True, allow_unused=True)
            for at, grad in enumerate(given):
                if grad is not None:
                    found.setdefault(at, []).append(self._of_token(grad, position, at < len(self.products)))
        count = len(self.products)
        names, values = list(self.biases), list(self.biases.values())
        added = [
            (names[at - count], np.stack(each) @ values[at - count].detach().double().cpu().numpy().ravel())
            for at, each in found.items()
            if at >= count
        ]
        return {at: np.stack(each) for at, each in found.items() if at < count}, added

    def _of_token(self, grad: Tensor, position: int, by_token: bool) -> Floats:
        wide = grad.double().cpu()
        if not by_token:
            return np.asarray(wide.numpy().ravel())
        rows = wide.reshape(self._tokens(wide), -1)
        alone: Floats = rows[position].numpy()
        if float(rows.abs().sum()) > float(rows[position].abs().sum()) * (1 + 1e-9):
            raise ValueError(
                f"in {self.model}'s {self.place} the vector of a token is made of other tokens' too (a convolution or "
                "a shift), which is not followed"
            )
        return alone


def _summed(added: list[tuple[str, Floats]]) -> list[tuple[str, Floats]]:
    together: dict[str, Floats] = {}
    for name, vector in added:
        together[name] = together[name] + vector if name in together else vector
    return list(together.items())


def record_projections(
    loaded: LoadedModel, trace: Trace, *, layer: int, stream: str | None = None, call: int = 0
) -> CallProjections:
    """Run the model once more on a trace's text, up to one attention call, and keep what makes its queries and keys.

    Raises ValueError for a layer, stream or call that there is not, where queries and keys were not seen, and where the
    run gives other queries than the trace has.
    """
    record = trace.record_of(layer, stream, call=call)
    if not record.query.shape[-1]:
        raise ValueError(
            f"{loaded.card.id} does its attention by itself, and only its weights are recorded: who wrote a score "
            "cannot be told"
        )
    install(loaded.network)
    number = trace.attentions.index(record)
    names = {key(parameter): name for name, parameter in loaded.network.named_parameters()}
    calls: list[AttentionCall] = []
    with torch.no_grad(), watch_norms(loaded.network, [], sums=False, norms=False) as seen:
        since: dict[int, int] = {}  # attention calls before each sublayer

        def wanted() -> bool:
            """Return True in the sublayer that makes the call, which began after the call before."""
            return seen.attends and since.setdefault(seen.begun, len(calls)) == len(calls) == number

        held = HeldScales(names, wanted=wanted)

        def see(made: AttentionCall) -> None:
            calls.append(made)
            if len(calls) > number:
                raise _ReachedError

        with suppress(_ReachedError), held, watch(see):
            forward(loaded, [ModelInputs(trace.encoding, trace.target)], padding="right")
    if len(calls) <= number:
        raise ValueError(
            f"{loaded.card.id} made {len(calls)} attention calls, and this trace has more; record it again"
        )
    made = calls[number]
    for role, tensor in (("query", made.query), ("key", made.key)):
        want = getattr(record, role)
        if tensor.shape[1:] != want.shape or not torch.allclose(
            tensor[0].detach().cpu().float(), want.float(), rtol=1e-3, atol=1e-3 * float(want.abs().max())
        ):
            raise ValueError(f"{loaded.card.id} gives another {role} than this trace has; record the text again")
    return CallProjections(
        loaded.card.id,
        record,
        made.query,
        made.key,
        made.value,
        tuple(held.products),
        held.biases,
        loaded.network,
    )
