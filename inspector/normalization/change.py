"""The change that a norm makes to a token, split into its four steps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import torch

from inspector.trace import NormRecord, Trace
from inspector.trace.norm_formula import normalise

STEPS = ("centring", "scaling", "gamma", "beta")


def change(trace: Trace) -> pd.DataFrame:
    """Split what each norm does to each token into four steps, a row per norm and token.

    A token x [D] goes to x - m, to n = (x - m) / s, to gamma n, and to gamma n + beta. The steps are those vectors'
    differences, so that they add up to output - input: centring -m, scaling n - (x - m), gamma (gamma - 1) n, beta. A
    step's share is its length divided by the sum of the four lengths (Euclidean; 0 where no step has a length). So a
    share is 0 or more, and the four add up to 1; it does not say in which direction a step goes, and two may undo each
    other. m is the token's mean in a LayerNorm, 0 in an RMSNorm, and in a BatchNorm each dimension's running mean; s is
    sqrt(variance + epsilon), sqrt(mean(x^2) + epsilon) or sqrt(running variance + epsilon).

    Columns: norm (index in call order), stream, layer, part, position, token, a share for each of STEPS, moved: the
    length of output - input divided by the length of the input. A norm with a gate is left out: it multiplies by more
    than these steps. All in float64.
    """
    tables = []
    for index, norm in enumerate(trace.norms):
        if norm.gate is not None:
            continue
        lengths, moved = _steps(norm)
        whole = lengths.sum(axis=0)
        shares = np.divide(lengths, whole, out=np.zeros_like(lengths), where=whole > 0)
        tables.append(
            pd.DataFrame(
                {
                    "norm": index,
                    "stream": norm.stream,
                    "layer": pd.array([norm.layer] * len(moved), dtype="Int64"),
                    "part": norm.part,
                    "position": np.arange(len(moved)),
                    "token": trace.read_by(norm.stream).tokens,
                    **dict(zip(STEPS, shares, strict=True)),
                    "moved": moved,
                }
            )
        )
    columns = ["norm", "stream", "layer", "part", "position", "token", *STEPS, "moved"]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)


def _steps(norm: NormRecord) -> tuple[np.ndarray, np.ndarray]:
    """Measure the four steps, [4, Q], and the way that they go together in lengths of the input, [Q]."""
    x, gamma, beta = (torch.tensor(array, dtype=torch.float64) for array in (norm.input, norm.gamma, norm.beta))
    running = None if norm.running is None else torch.tensor(norm.running, dtype=torch.float64)
    plain = normalise(
        x,
        torch.ones_like(gamma),
        torch.zeros_like(beta),
        kind=norm.kind,
        epsilon=norm.epsilon,
        groups=norm.groups,
        running=running,
    )
    centred = x
    if norm.kind == "layer":
        centred = x - x.mean(dim=-1, keepdim=True)
    elif running is not None:
        centred = x - running[0]
    steps = torch.stack([centred - x, plain - centred, (gamma - 1) * plain, beta.expand_as(x)])  # [4, Q, D]
    before = x.norm(dim=-1).clamp(min=torch.finfo(torch.float64).tiny)
    moved = (steps.sum(dim=0).norm(dim=-1) / before).numpy()
    return steps.norm(dim=-1).numpy(), moved
