"""The order of the inputs: what the last output keeps of it in recurrent networks, and in attention.

Recurrence knows the order because it reads step by step. Attention adds up over all inputs at once, and a sum has no
order: only positions that are added to the inputs tell it (Vaswani et al. 2017, section 3.5).
"""

from __future__ import annotations

import pandas as pd
import torch
from torch import Generator

from inspector.distance.recurrent import KINDS, Setting, inputs, network, outputs
from models.transformer.positions import sinusoidal

WITH_POSITIONS = "attention with positions"


def shuffled(setting: Setting) -> pd.DataFrame:
    """Measure how far out_T moves when all inputs but the last are shuffled, a row for each network.

    Columns: network (KINDS, and attention on x_t + PE(t) with the sinusoidal table), change (||out_T' - out_T|| /
    ||out_T||, the median of the seeds), one_by_one (how many steps must wait for one another: T or 1).
    """
    rows = []
    for name in (*KINDS, WITH_POSITIONS):
        kind = "attention" if name == WITH_POSITIONS else name
        table = sinusoidal(setting.steps, setting.width) if name == WITH_POSITIONS else 0.0
        changes = []
        for seed in setting.seeds:
            made, x = network(kind, setting, seed), inputs(setting, seed)  # type: ignore[arg-type]
            order = torch.randperm(setting.steps - 1, generator=Generator().manual_seed(seed))
            other = torch.cat([x[:, order], x[:, -1:]], dim=1)
            before, after = (outputs(made, given + table)[0, -1] for given in (x, other))
            changes.append((after - before).norm() / before.norm())
        rows.append((name, float(torch.stack(changes).median()), 1 if kind == "attention" else setting.steps))
    return pd.DataFrame(rows, columns=["network", "change", "one_by_one"])
