"""The effect of each norm on each token, and its learned parameters.

LayerNorm(x) = gamma * (x - mean) / sqrt(std^2 + epsilon) + beta, with mean and std over a token's own D features
(Ba et al. 2016, eqs. 3 and 4). RMSNorm(x) = gamma * x / sqrt(mean(x^2) + epsilon) (Zhang & Sennrich 2019, eq. 4).
BatchNorm(x) = gamma * (x - m) / sqrt(v + epsilon) + beta, with each feature's mean m and variance v as training left
them (Ioffe & Szegedy 2015). Gemma's norms keep gamma less 1 and multiply by 1 + gamma; `NormRecord.gamma` has the 1.
All statistics are computed in float64.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.trace import NormRecord, Trace

_PLACE = {"norm": "int64", "name": "str", "stream": "str", "layer": "Int64", "part": "str"}
Size = Literal["std", "rms"]
"""The quantity by which norms divide: the standard deviation, or the root mean square."""
STATISTICS = {
    **_PLACE,
    **{"position": "int64", "token": "str"},
    **dict.fromkeys(("mean_before", "std_before", "rms_before"), "float64"),
    **dict.fromkeys(("mean_after", "std_after", "rms_after", "epsilon"), "float64"),
}
PARAMETERS = {**_PLACE, "dimension": "int64", "gamma": "float64", "beta": "float64", "outlier": "bool"}
OUTLIER_SIGMAS = 3.0  # Kovaleva et al. 2021, section 3


def statistics(trace: Trace) -> pd.DataFrame:
    """Measure each token's features around each norm, a row per norm and token.

    Columns: norm (index in call order), name (module path), stream (encoder | decoder: whose tokens), layer (nullable;
    <NA> for the embedding's and the final one), part, position (of the token), token, mean_before, std_before,
    rms_before (of the norm's input), mean_after, std_after, rms_after (of its output, with gamma and beta), epsilon.
    The std is the biased one (divided by D), as LayerNorm's own; the rms is sqrt(mean(x^2)), by which an RMSNorm
    divides.
    """
    columns = []
    for norm in trace.norms:
        before, after = (array.astype(np.float64) for array in (norm.input, norm.output))  # [Q, D]
        columns.append(
            {
                "position": np.arange(len(before)),
                "token": np.array(trace.read_by(norm.stream).tokens, dtype=object),
                "mean_before": before.mean(axis=1),
                "std_before": before.std(axis=1),
                "rms_before": np.sqrt(np.square(before).mean(axis=1)),
                "mean_after": after.mean(axis=1),
                "std_after": after.std(axis=1),
                "rms_after": np.sqrt(np.square(after).mean(axis=1)),
                "epsilon": np.full(len(before), norm.epsilon),
            }
        )
    return _table(trace.norms, columns, STATISTICS)


def parameters(trace: Trace) -> pd.DataFrame:
    """Return the learned parameters of each norm, a row per norm and dimension.

    Columns: norm, name, stream, layer, part (as in `statistics`), dimension, gamma and beta (NaN where the norm has
    none: an RMSNorm has no beta, OLMo's have neither), outlier (whether gamma or
    beta lies more than 3 standard deviations from its mean over the norm's dimensions; Kovaleva et al. 2021).
    """
    columns = []
    for norm in trace.norms:
        width = len(norm.gamma)
        columns.append(
            {
                "dimension": np.arange(width),
                "gamma": norm.gamma.astype(np.float64) if "gamma" in norm.learned else np.full(width, np.nan),
                "beta": norm.beta.astype(np.float64) if "beta" in norm.learned else np.full(width, np.nan),
                "outlier": _outliers(norm.gamma) | _outliers(norm.beta),
            }
        )
    return _table(trace.norms, columns, PARAMETERS)


def formula(norm: NormRecord) -> str:
    """Write the norm's formula in LaTeX, with gamma, beta, groups and gate where the norm has them."""
    act = r"\mathrm{SiLU}" if norm.gating.startswith("silu") else r"\mathrm{sigmoid}"
    gate = rf"{act}(z)"
    gamma = (r"(1 + \gamma)\," if norm.plus_one else r"\gamma\,") if "gamma" in norm.learned else ""
    x = rf"(x \odot {gate})" if norm.gating.endswith("before") else "x"
    if norm.kind == "batch":
        core = rf"{gamma}\frac{{{x} - m}}{{\sqrt{{v + \epsilon}}}}"
    elif norm.kind == "layer":
        core = rf"{gamma}\frac{{{x} - \mu}}{{\sqrt{{\sigma^2 + \epsilon}}}}"
    else:
        core = rf"{gamma}\frac{{{x}}}{{\sqrt{{\overline{{{x}^2}} + \epsilon}}}}"
    core += r" + \beta" if "beta" in norm.learned else ""
    return core + (rf" \odot {gate}" if norm.gating.endswith("after") else "")


def in_words(norm: NormRecord) -> str:
    """The norm's name with its paper, and what is special about it."""
    name = {
        "layer": "LayerNorm (Ba et al. 2016)",
        "rms": "RMSNorm (Zhang & Sennrich 2019)",
        "batch": "BatchNorm with the statistics of its training (Ioffe & Szegedy 2015)",
    }[norm.kind]
    special = [
        f"in {norm.groups} groups of features" if norm.groups > 1 else "",
        "with a gate z" if norm.gating else "",
    ]
    special.append("" if norm.learned else "with nothing learned")
    return ", ".join([name, *filter(None, special)])


def kinds(norms: Iterable[NormRecord]) -> list[tuple[int, NormRecord]]:
    """Count the norms of each formula, width and epsilon: (count, first norm)."""
    by_kind: dict[tuple[str, int, float], list[NormRecord]] = {}
    for norm in norms:
        by_kind.setdefault((in_words(norm) + formula(norm), len(norm.gamma), norm.epsilon), []).append(norm)
    return [(len(alike), alike[0]) for alike in by_kind.values()]


def _table(
    norms: Sequence[NormRecord], columns: Sequence[Mapping[str, NDArray[Any]]], kinds: Mapping[str, str]
) -> pd.DataFrame:
    """Put the columns of each norm below each other, beside the norm's place; kinds: of all columns."""
    rows = [len(next(iter(of_norm.values()))) for of_norm in columns]
    places = {name: [getattr(norm, name) for norm in norms] for name in ("name", "stream", "layer", "part")}
    table = pd.DataFrame({"norm": range(len(norms)), **places})
    table = table.loc[table.index.repeat(rows)].reset_index(drop=True)
    for name in [name for name in kinds if name not in table]:
        table[name] = np.concatenate([of_norm[name] for of_norm in columns]) if norms else []
    return table.astype(dict(kinds))


def _outliers(values: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
    """Mark the values beyond 3 standard deviations from their mean; none where all are equal, as before training."""
    exact = values.astype(np.float64)
    outliers: NDArray[np.bool_] = np.abs(exact - exact.mean()) > OUTLIER_SIGMAS * exact.std()
    return outliers
