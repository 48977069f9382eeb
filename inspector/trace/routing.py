"""The routers of one run: which experts each token goes through in each layer that has some, and their weights.

y = sum over the chosen experts e of w_e E_e(x), and what all tokens share (Shazeer et al. 2017, eq. 1; Dai et al. 2024
for experts that are shared). Kept are the choices alone, so memory is linear in the text, and the model is not.

Shapes: Q query positions, C chosen experts a token, N experts, D width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class RouterRecord:
    """One run of a mixture-of-experts layer.

    name: the path of its module. experts: N. chosen: the number of each chosen expert, int64 [Q, C]; weights: what its
    output is multiplied by, float32 [Q, C]. A choice of weight 0 is none: a full expert (Switch) or a skipped layer.
    outputs: the length of each chosen expert's output before its weight, float32 [Q, C]. routed: the length of what
    the experts add together, float32 [Q]; shared: of what the layer adds without them (a shared expert, a bias), all 0
    where that is nothing, None where a norm behind the sum mixes the two. scale: what the layer multiplies the experts'
    sum by; None where more than a number stands there (a projection, a norm). weighs: the side of an expert that its
    weight stands on; Llama 4 multiplies the input, and `outputs` are then those of the multiplied input. idle: the
    first of the experts that hand a token on as it is (LongCat); N where there is none. off: the largest difference of
    the sum of experts, one at a time, from what the layer gave, of its largest entry.
    """

    stream: str
    layer: int
    name: str
    experts: int
    chosen: NDArray[np.int64]
    weights: Floats
    outputs: Floats
    routed: Floats
    shared: Floats | None
    scale: float | None
    weighs: Literal["output", "input"]
    idle: int
    off: float

    def matrix(self) -> Floats:
        """Compute the weight of each expert for each token, float32 [Q, N]; 0 where it is not chosen."""
        whole = np.zeros((len(self.chosen), self.experts), np.float32)
        np.add.at(whole, (np.arange(len(self.chosen))[:, None], self.chosen), self.weights)
        return whole


@dataclass(frozen=True, eq=False)
class Routing:
    """The routers of all mixture-of-experts layers of one run, in call order.

    refused: for each layer whose experts are not shown, (stream, layer, reason).
    """

    layers: tuple[RouterRecord, ...]
    refused: tuple[tuple[str, int, str], ...]

    def of(self, stream: str) -> tuple[RouterRecord, ...]:
        """The mixture-of-experts layers of a stream, in their order."""
        return tuple(layer for layer in self.layers if layer.stream == stream)

    def layer(self, stream: str, layer: int) -> RouterRecord:
        """The router of a layer. Raises ValueError where the layer has none, or where it is not shown."""
        router = next((record for record in self.of(stream) if record.layer == layer), None)
        if router is not None:
            return router
        for refused, number, reason in self.refused:
            if (refused, number) == (stream, layer):
                raise ValueError(f"the experts of layer {layer} of the {stream} are not shown: {reason}")
        shown = ", ".join(str(record.layer) for record in self.of(stream)) or "none"
        raise ValueError(f"layer {layer} of the {stream} chooses no experts; layers that do: {shown}")
