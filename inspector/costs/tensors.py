"""The parameters of a model as its tensors have them: for models that have no cost formulas."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from torch import nn

_NUMBER = re.compile(r"\.(\d+)\.")


def parameters(network: nn.Module) -> pd.DataFrame:
    """Count the parameters of a network, a row per stack, layer and part; a tensor that is shared counts once.

    Columns: stack (the path of the layers, "" outside of them), layer (nullable; <NA> outside), part (embedding, norm
    or matrices), parameters. The sum is `sum(p.numel())`. part: by the module that owns the tensor; what is no lookup
    table and no norm is among the matrices, with its bias.
    """
    rows = []
    for name, tensor in network.named_parameters():
        owner = network.get_submodule(name.rpartition(".")[0])
        layer = _NUMBER.search(name)
        rows.append(
            {
                "stack": name[: layer.start()] if layer else "",
                "layer": int(layer[1]) if layer else None,
                "part": _part(owner),
                "parameters": tensor.numel(),
            }
        )
    table = pd.DataFrame(rows, columns=["stack", "layer", "part", "parameters"]).astype({"layer": "Int64"})
    return table.groupby(["stack", "layer", "part"], sort=False, dropna=False)["parameters"].sum().reset_index()


def _part(owner: nn.Module) -> str:
    kind = type(owner).__name__.lower()
    if "embedding" in kind:
        return "embedding"
    return "norm" if "norm" in kind else "matrices"
