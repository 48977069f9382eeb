"""The accuracy and the loss of a masked language model on one text, by the share of tokens that is hidden.

Shapes: R draws, T tokens, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from inspector.masked_lm.drawing import FATES, choosable, fates_of, hidden
from models import LoadedModel
from models.tokenizers import Encoding
from models.training.objectives import IGNORED

RATES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
ROWS = 30  # draws of the highest rate
MOST = 4  # times as many of the lowest rates, which choose few tokens in each
TOP = 5
_CELLS = 1024  # tokens of a batch
_LOGITS = 2_000_000  # numbers at once, of the logits of some tokens
Watch = Callable[[int, int], object]


def by_rate(
    loaded: LoadedModel,
    encoding: Encoding,
    *,
    rates: Sequence[float] = RATES,
    rows: int = ROWS,
    seed: int = 0,
    on_progress: Watch | None = None,
    on_rate: Callable[[pd.DataFrame], object] | None = None,
) -> pd.DataFrame:
    """Guess the chosen tokens of many draws at each rate; a row per rate and fate, and "all" for all that are chosen.

    rows: draws of the highest rate; a lower rate r has highest / r times as many, at most 4 times. A draw in which
    chance chooses no token adds none, so but for chance the tokens guessed are the share r of all. Columns: rate, draws
    (R), fate, count (tokens guessed, of all draws), share (count / (R * the tokens that can be chosen)), top1 and top5
    (the share whose true token is among the 1 or 5 likeliest), loss (mean -ln p of the true token, in nats), and
    top1_error, top5_error, loss_error: the standard error of each over draws. A mean is a ratio of sums,
    m = sum_d x_d / sum_d n_d over draws d, so its error is sqrt(R / (R - 1) sum_d (x_d - m n_d)^2) / sum_d n_d
    (Cochran 1977, 2.9); NaN where nothing of the fate was drawn.

    on_progress: is called with the draws that are done, and all; on_rate: with the table so far, after each rate.
    Raises ValueError as `masked_lm.draw`, and for fewer than 2 draws.
    """
    if rows < 2:
        raise ValueError(f"{rows} draws of each rate have no spread; give 2 or more")
    tables: list[pd.DataFrame] = []
    counts, done = _draws(rates, rows), 0
    for rate, draws in zip(rates, counts, strict=True):
        ids, labels = hidden(loaded, encoding, rate=rate, seed=seed, rows=draws)
        step = max(1, _CELLS // len(encoding))
        parts = []
        for start in range(0, draws, step):
            part = slice(start, min(start + step, draws))
            parts.append(_guessed(loaded, encoding, ids[part], labels[part], first=start))
            if on_progress is not None:
                on_progress(done + part.stop, sum(counts))
        done += draws
        tables.append(_measured(np.concatenate(parts), rate=rate, rows=draws, of=len(choosable(loaded, encoding))))
        if on_rate is not None:
            on_rate(pd.concat(tables, ignore_index=True))
    return pd.concat(tables, ignore_index=True)


def work(loaded: LoadedModel, encoding: Encoding, *, rates: Sequence[float] = RATES, rows: int = ROWS) -> float:
    """Estimate the FLOPs of `by_rate`: 2 for each parameter and token that is read."""
    parameters = sum(tensor.numel() for tensor in loaded.network.parameters())
    return 2.0 * parameters * sum(_draws(rates, rows)) * len(encoding)


def _draws(rates: Sequence[float], rows: int) -> list[int]:
    """Count the draws of each rate."""
    return [round(rows * min(MOST, max(rates) / rate)) for rate in rates]


@torch.inference_mode()
def _guessed(
    loaded: LoadedModel, encoding: Encoding, ids: Tensor, labels: Tensor, *, first: int
) -> NDArray[np.float64]:
    """Guess the chosen tokens of some draws -> [tokens, 4]: draw, fate, rank, loss."""
    assert loaded.predict is not None
    segments = torch.tensor([encoding.segments]).repeat(len(ids), 1)
    states = loaded.run(ids, torch.ones_like(ids, dtype=torch.bool), segments)
    chosen = labels != IGNORED
    true, rows = labels[chosen], chosen.nonzero()[:, 0]
    fates = fates_of(loaded, true, ids[chosen])
    ranks, losses = torch.zeros(len(true)), torch.zeros(len(true), dtype=torch.float64)
    asked = states[chosen]  # [tokens, D]
    step = max(1, _LOGITS // len(loaded.tokenizer))
    for start in range(0, len(true), step):
        part = slice(start, start + step)
        logits = loaded.predict(asked[None, part])[0]
        of_true = logits.gather(1, true[part, None])
        ranks[part] = 1.0 + (logits > of_true).sum(dim=1)
        losses[part] = logits.double().logsumexp(dim=-1) - of_true[:, 0]
    numbers: NDArray[np.float64] = torch.stack(
        [rows.double() + first, fates.double(), ranks.double(), losses], 1
    ).numpy()
    return numbers


def _measured(guessed: NDArray[np.float64], *, rate: float, rows: int, of: int) -> pd.DataFrame:
    """Measure one rate; guessed: [tokens, 4] as of `_guessed`; of: the tokens that can be chosen in each row."""
    lines = []
    for number, fate in enumerate(["all", *FATES]):
        chosen = guessed if fate == "all" else guessed[guessed[:, 1] == number - 1]
        draws = chosen[:, 0].astype(int)
        counts = np.bincount(draws, minlength=rows)
        line: dict[str, object] = {"rate": rate, "draws": rows, "fate": fate, "count": len(chosen)}
        line["share"] = len(chosen) / (rows * of)
        for name, values in (
            ("top1", chosen[:, 2] <= 1),
            ("top5", chosen[:, 2] <= TOP),
            ("loss", chosen[:, 3]),
        ):
            sums = np.bincount(draws, weights=values, minlength=rows)
            mean = sums.sum() / counts.sum() if len(chosen) else np.nan
            spread = np.sqrt(rows / (rows - 1) * np.square(sums - mean * counts).sum())
            line |= {name: mean, f"{name}_error": spread / counts.sum() if len(chosen) else np.nan}
        lines.append(line)
    return pd.DataFrame(lines)
