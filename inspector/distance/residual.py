"""The residual's part in a gradient: all ways back, those through sublayers alone, and the skip alone.

```python
table = measure(copied_own(loaded, trace), position=9)
```

A sublayer f leaves x + f(x), whose derivative is I + J, J = df / dx. Going back through k sublayers multiplies k such
sums (Veit et al. 2016: the network is many paths of every length):

    "all"        (I + J_1) ... (I + J_k)    the gradient itself
    "sublayers"  J_1 ... J_k                 no skip is taken: what a network without the residual would pass back
    "skip"       I ... I                     no sublayer is taken: it stays at its token, for only attention moves

The norms of post-norm and the final norm are on every way. The states are the model's own in all three: only the way
back changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import pandas as pd
from torch import Tensor

from inspector.distance import reach
from inspector.trace import Trace
from models import LoadedModel
from models.registry import own_implementation
from models.transformer.blocks import EncoderBlock, Map
from models.transformer.config import NormPlacement
from models.transformer.runner import OwnRunner

Way = Literal["all", "sublayers", "skip"]
WAYS: tuple[Way, ...] = get_args(Way)


def copied_own(loaded: LoadedModel, trace: Trace) -> reach.ModelCopy:
    """Copy a model as the own Transformer in float64, whose residual sums can be taken apart.

    Raises ValueError for an architecture that the own Transformer cannot hold, a model without residual, and as
    `reach.copy_of`.
    """
    implementation = loaded if isinstance(loaded.runner, OwnRunner) else own_implementation(loaded)
    if not implementation.config.residual:
        raise ValueError(f"{loaded.card.id} has no residual: every gradient goes back through its sublayers alone")
    return reach.copy_of(implementation, trace)


def measure(copied: reach.ModelCopy, *, position: int) -> pd.DataFrame:
    """Measure ||ds / dx_t|| by each way back: the rows of `reach.measure`, with a first column "way".

    copied: of `copied_own`.
    """
    blocks = [module for module in copied.network.modules() if isinstance(module, EncoderBlock)]
    usual = [block.connect for block in blocks]
    tables = []
    try:
        for way in WAYS:
            for block, connect in zip(blocks, usual, strict=True):
                block.connect = connect if way == "all" else _CUT[_placement(copied), way]
            tables.append(reach.measure(copied, position=position).assign(way=way))
    finally:
        for block, connect in zip(blocks, usual, strict=True):
            block.connect = connect
    table = pd.concat(tables, ignore_index=True)
    return table[["way", *(name for name in table.columns if name != "way")]]


def _placement(copied: reach.ModelCopy) -> NormPlacement:
    assert isinstance(copied.runner, OwnRunner)
    return copied.runner.network.config.norm_placement


def _post_sublayers(x: Tensor, sublayer: Map, norm: Map) -> Tensor:
    return norm(x.detach() + sublayer(x))


def _pre_sublayers(x: Tensor, sublayer: Map, norm: Map) -> Tensor:
    return x.detach() + sublayer(norm(x))


def _post_skip(x: Tensor, sublayer: Map, norm: Map) -> Tensor:
    return norm(x + sublayer(x).detach())


def _pre_skip(x: Tensor, sublayer: Map, norm: Map) -> Tensor:
    return x + sublayer(norm(x)).detach()


_CUT: dict[tuple[NormPlacement, Way], Callable[[Tensor, Map, Map], Tensor]] = {
    ("post", "sublayers"): _post_sublayers,
    ("pre", "sublayers"): _pre_sublayers,
    ("post", "skip"): _post_skip,
    ("pre", "skip"): _pre_skip,
}
