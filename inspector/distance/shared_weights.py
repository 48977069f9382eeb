"""The part of every step in the gradient of a recurrent network's shared weights.

One W_ih and one W_hh serve all steps, so that no step has weights of its own which could stay as they are. The gradient
is a sum over the steps (Werbos 1990, backpropagation through time):

    ds / dW = sum over t of ds / dW_t,   W_t = W, the weights as step t uses them.

Shapes: T steps, D width, G gates.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.func import functional_call

from inspector.distance.recurrent import RECURRENT, Kind, Setting, inputs, network

_WEIGHTS = ("weight_ih_l0", "weight_hh_l0")  # [G D, D] each


def parts(setting: Setting, *, on_progress: Callable[[int, int], object] | None = None) -> pd.DataFrame:
    """Measure each step's part in ds / d(W_ih, W_hh), s = sum(out_T), a row for each recurrent network and step.

    Columns: network, step (from 1), norm (of the step's part, both matrices together), total (the norm of the sum of
    all parts), off (the largest difference of that sum from autograd's own gradient, of its largest entry). norm and
    total are medians of the seeds, off is the largest of them. on_progress: told the runs that are done, and all.
    """
    tables: list[pd.DataFrame] = []
    runs = len(RECURRENT) * len(setting.seeds)
    for kind in RECURRENT:
        measured: list[tuple[np.ndarray, float, float]] = []
        for seed in setting.seeds:
            if on_progress is not None:
                on_progress(len(tables) * len(setting.seeds) + len(measured), runs)
            measured.append(_parts(kind, setting, seed))
        norms = np.median([norms for norms, _, _ in measured], axis=0)
        columns = {
            "network": kind,
            "step": range(1, setting.steps + 1),
            "norm": norms,
            "total": float(np.median([total for _, total, _ in measured])),
            "off": max(off for _, _, off in measured),
        }
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def _parts(kind: Kind, setting: Setting, seed: int) -> tuple[np.ndarray, float, float]:
    """The norms of the steps' parts [T], the norm of their sum, and how far the sum is from autograd's gradient."""
    made = network(kind, setting, seed)
    x = inputs(setting, seed)
    with torch.inference_mode(False), torch.enable_grad():
        whole = _whole(made, x)
        state, steps = None, []
        for step in range(setting.steps):
            used = {name: getattr(made, name).clone().requires_grad_() for name in _WEIGHTS}  # the weights of this step
            steps.append(used)
            given = (x[:, step : step + 1],) if state is None else (x[:, step : step + 1], state)
            out, state = functional_call(made, used, given)
        leaves = [used[name] for used in steps for name in _WEIGHTS]
        gradients = torch.autograd.grad(out[0, -1].sum(), leaves, allow_unused=True, materialize_grads=True)
    by_step = torch.stack(gradients).view(setting.steps, len(_WEIGHTS), *gradients[0].shape)  # [T, 2, G D, D]
    total = by_step.sum(dim=0)
    off = float((total - whole).abs().max() / whole.abs().max().clamp_min(torch.finfo(whole.dtype).tiny))
    return by_step.flatten(1).norm(dim=1).numpy(), float(total.norm()), off


def _whole(made: nn.Module, x: Tensor) -> Tensor:
    """Autograd's gradient of the shared weights, [2, G D, D]."""
    shared = {name: getattr(made, name).clone().requires_grad_() for name in _WEIGHTS}
    out = functional_call(made, shared, (x,))[0]
    return torch.stack(torch.autograd.grad(out[0, -1].sum(), list(shared.values())))
