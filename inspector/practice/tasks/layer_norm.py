"""Task 5: layer normalisation (Ba et al. 2016)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from inspector.practice.record.task import Case, Mistake, Stages, Task
from inspector.practice.tasks import recordings
from inspector.practice.tasks.stages import Array, ends, last_two, same, way
from inspector.questions.record.both import Both


def _mean(x: Array) -> Any:
    return x.mean(-1, keepdims=True)


def _variance(x: Array, centred: Array) -> Any:
    return (centred**2).mean(-1, keepdims=True)


def computed(
    x: Array,
    weight: Array,
    bias: Array,
    eps: float,
    *,
    before: Callable[[Array, Array, Array], Array] = lambda x, w, b: x,
    mean: Callable[[Array], Any] = _mean,
    variance: Callable[[Array, Array], Any] = _variance,
    root: Callable[[Any, float], Any] = lambda variance, eps: np.sqrt(variance + eps),
    ratio: Callable[[Array, Array, Any, float], Array] = lambda x, centred, bottom, eps: centred / bottom,
    affine: Callable[[Array, Array, Array], Array] = lambda x, w, b: w * x + b,
    end: Callable[[Array], Array] = same,
) -> Array:
    """Return weight (x - mean) / sqrt(variance + eps) + bias."""
    x = before(x, weight, bias)
    centred = x - mean(x)
    return end(affine(ratio(x, centred, root(variance(x, centred), eps), eps), weight, bias))


def _axis(axis: Any, ddof: int = 0) -> Stages:
    return way(
        mean=lambda x: x.mean(axis, keepdims=True),
        variance=lambda x, c: x.var(axis, keepdims=True, ddof=ddof),
    )


def _unbiased(x: Array, centred: Array) -> Any:
    return (centred**2).sum(-1, keepdims=True) / (x.shape[-1] - 1)


MISTAKES = (
    Mistake("the variance is unbiased (over D − 1): over D is due", (way(variance=_unbiased),)),
    Mistake(
        "eps stands outside the root: the standard deviation + eps",
        (way(root=lambda v, e: np.sqrt(v) + e),),
    ),
    Mistake(
        "eps stands outside the root, and the deviation is unbiased (over D − 1), as torch's std gives it",
        (way(root=lambda v, e: np.sqrt(v) + e, variance=_unbiased),),
    ),
    Mistake(
        "eps is not used",
        tuple(way(root=lambda v, e, fixed=fixed: np.sqrt(v + fixed)) for fixed in (0, 1e-5, 1e-6, 1e-8, 1e-12, 1e-3))
        + tuple(way(root=lambda v, e, fixed=fixed: np.sqrt(v) + fixed) for fixed in (1e-5, 1e-6, 1e-3)),
    ),
    Mistake("eps is squared", (way(root=lambda v, e: np.sqrt(v + e**2)),)),
    Mistake("the root is taken of eps too before it is added", (way(root=lambda v, e: np.sqrt(v) + np.sqrt(e)),)),
    Mistake("eps is subtracted", (way(root=lambda v, e: np.sqrt(v - e)), way(root=lambda v, e: np.sqrt(v) - e))),
    Mistake(
        "eps is a lower limit, not added",
        (way(root=lambda v, e: np.sqrt(np.maximum(v, e))), way(root=lambda v, e: np.maximum(np.sqrt(v), e))),
    ),
    Mistake("eps is multiplied, not added", (way(root=lambda v, e: np.sqrt(v * e)),)),
    Mistake(
        "eps is added to the result or to x",
        (
            way(root=lambda v, e: np.sqrt(v), ratio=lambda x, c, bottom, e: c / bottom + e),
            way(ratio=lambda x, c, bottom, e: c / bottom + e),
            way(root=lambda v, e: np.sqrt(v), ratio=lambda x, c, bottom, e: (c + e) / bottom),
            way(root=lambda v, e: np.sqrt(v + e) + e),
        ),
    ),
    Mistake(
        "x − mean is divided by the variance, not by its root",
        (way(root=lambda v, e: v + e), way(root=lambda v, e: v)),
    ),
    Mistake(
        "x − mean is multiplied by the deviation, not divided by it",
        (way(root=lambda v, e: 1 / np.sqrt(v + e)),),
    ),
    Mistake(
        "the mean is subtracted and nothing divided",
        (way(root=lambda v, e: 1.0),),
    ),
    Mistake(
        "the mean is not subtracted",
        (
            way(ratio=lambda x, c, bottom, e: x / bottom),
            way(mean=lambda x: 0.0),
        ),
    ),
    Mistake(
        "the mean of the squares stands in place of the variance (RMSNorm's denominator)",
        (way(variance=lambda x, c: (x**2).mean(-1, keepdims=True)),),
    ),
    Mistake(
        "the mean absolute deviation stands in place of the standard deviation",
        (
            way(variance=lambda x, c: np.abs(c).mean(-1, keepdims=True) ** 2),
            way(variance=lambda x, c: np.abs(c).mean(-1, keepdims=True)),
        ),
    ),
    Mistake(
        "the squares are summed and not divided by D",
        (way(variance=lambda x, c: (c**2).sum(-1, keepdims=True)),),
    ),
    Mistake(
        "the variance is E[x²] − E[x]: the mean is not squared",
        (way(variance=lambda x, c: (x**2).mean(-1, keepdims=True) - x.mean(-1, keepdims=True)),),
    ),
    Mistake(
        "the variance has the wrong sign or sum: E[x²] + E[x]²",
        (way(variance=lambda x, c: (x**2).mean(-1, keepdims=True) + x.mean(-1, keepdims=True) ** 2),),
    ),
    Mistake(
        "the variance is divided by D + 1 or by the number of tokens",
        (
            way(variance=lambda x, c: (c**2).sum(-1, keepdims=True) / (x.shape[-1] + 1)),
            way(variance=lambda x, c: (c**2).sum(-1, keepdims=True) / x.shape[-2]),
        ),
    ),
    Mistake(
        "mean and variance run over the tokens (axis 1), not over the width",
        (_axis(1), _axis(1, ddof=1)),
    ),
    Mistake(
        "mean and variance run over the batch (axis 0), not over the width",
        (_axis(0), _axis(0, ddof=1)),
    ),
    Mistake(
        "mean and variance run over batch and tokens, as in batch normalisation",
        (_axis((0, 1)), _axis((0, 1), ddof=1)),
    ),
    Mistake(
        "mean and variance run over all tokens of a text, not over each token's own numbers",
        (_axis((1, 2)), _axis((1, 2), ddof=1)),
    ),
    Mistake(
        "mean and variance run over all numbers at once",
        (_axis(None), _axis(None, ddof=1), _axis((0, 2))),
    ),
    Mistake(
        "the mean runs over another axis than the variance",
        (
            *(way(mean=lambda x, a=a: x.mean(a, keepdims=True)) for a in (0, 1, None)),
            *(way(variance=lambda x, c, a=a: x.var(a, keepdims=True)) for a in (0, 1, None)),
            *(
                way(mean=lambda x, a=a: x.mean(a, keepdims=True), variance=lambda x, c: x.var(-1, keepdims=True))
                for a in (0, 1, None)
            ),
        ),
    ),
    Mistake(
        "keepdims is missing: means and deviations are laid along the columns",
        (
            way(mean=lambda x: x.mean(-1), variance=lambda x, c: x.var(-1)),
            way(mean=lambda x: x.mean(-1)),
            way(variance=lambda x, c: x.var(-1)),
        ),
    ),
    Mistake("the median is subtracted, not the mean", (way(mean=lambda x: np.median(x, axis=-1, keepdims=True)),)),
    Mistake(
        "brackets are missing: x − mean / deviation in place of (x − mean) / deviation",
        (
            way(ratio=lambda x, c, bottom, e: x - (x - c) / bottom),
            way(root=lambda v, e: np.sqrt(v), ratio=lambda x, c, bottom, e: x - (x - c) / bottom + e),
        ),
    ),
    Mistake("the weight is left out", (way(affine=lambda x, w, b: x + b),)),
    Mistake("the bias is left out", (way(affine=lambda x, w, b: w * x),)),
    Mistake("weight and bias are left out", (way(affine=lambda x, w, b: x),)),
    Mistake("the bias is added before the weight multiplies", (way(affine=lambda x, w, b: w * (x + b)),)),
    Mistake("weight and bias are exchanged", (way(affine=lambda x, w, b: b * x + w),)),
    Mistake("the bias is subtracted", (way(affine=lambda x, w, b: w * x - b),)),
    Mistake("1 is added to the weight", (way(affine=lambda x, w, b: (1 + w) * x + b),)),
    Mistake("the weight divides", (way(affine=lambda x, w, b: x / w + b),)),
    Mistake("the weight is added, not multiplied", (way(affine=lambda x, w, b: x + w + b),)),
    Mistake("the bias is multiplied", (way(affine=lambda x, w, b: w * x * b),)),
    Mistake(
        "only the first entry of the weight is used",
        (way(affine=lambda x, w, b: w[0] * x + b), way(affine=lambda x, w, b: w.mean() * x + b)),
    ),
    Mistake(
        "weight and bias are applied before the normalisation",
        (
            way(before=lambda x, w, b: w * x + b, affine=lambda x, w, b: x),
            way(before=lambda x, w, b: w * x, affine=lambda x, w, b: x + b),
            way(before=lambda x, w, b: x + b, affine=lambda x, w, b: w * x),
        ),
    ),
    Mistake(
        "the numbers are scaled to 0..1 by smallest and largest",
        (
            way(
                mean=lambda x: x.min(-1, keepdims=True),
                root=lambda v, e: v,
                variance=lambda x, c: x.max(-1, keepdims=True) - x.min(-1, keepdims=True),
            ),
        ),
    ),
    Mistake(
        "x is divided by its length (L2 norm)",
        (
            way(mean=lambda x: 0.0, root=lambda v, e: np.sqrt(v), variance=lambda x, c: (x**2).sum(-1, keepdims=True)),
            way(mean=lambda x: 0.0, variance=lambda x, c: (x**2).sum(-1, keepdims=True)),
        ),
    ),
    Mistake(
        "the root is taken twice",
        (way(root=lambda v, e: np.sqrt(np.sqrt(v + e))),),
    ),
    Mistake(
        "the deviation is computed of the first token for all tokens",
        (way(mean=lambda x: x[:, :1].mean(-1, keepdims=True), variance=lambda x, c: x[:, :1].var(-1, keepdims=True)),),
    ),
    Mistake("the result is transposed", (way(end=last_two),)),
    *ends("end"),
)


def made() -> tuple[Case, ...]:
    """Make states with a mean that is not 0, a weight, a bias and an eps that matter."""
    random = np.random.default_rng(5)

    def some(*shape: int) -> Array:
        return random.normal(size=shape).astype(np.float32)

    whole = random.integers(-3, 6, size=(2, 2, 4)).astype(np.float32)
    whole[0, 0] = [1, 2, 3, 6]
    return (
        Case(
            "small whole numbers", (whole, np.array([1, 2, 1, -1], np.float32), np.array([0, 1, 0, 3], np.float32), 0.5)
        ),
        Case("5 tokens of width 6", (some(2, 5, 6) * 2 + 3, some(6) + 2, some(6), 0.3)),
        Case("small numbers", (some(2, 3, 4) * 0.1 - 0.2, some(4), some(4), 0.05)),
        Case("equal lengths", (some(4, 4, 4) + 1, some(4), some(4), 0.1), square=True),
    )


def recorded() -> tuple[Case, ...]:
    """Give what two norms of mini-bert take, gamma and beta of the first, and an eps that matters."""
    x, gamma, beta = recordings.norm_inputs("mini-bert")
    small = x[..., :24]  # of the whole width, D − 1 in place of D would be within the rounding
    return (
        Case(
            "the states before two norms of mini-bert",
            (small, gamma[:24], beta[:24] + np.float32(0.5), float(small.var(-1).mean()) / 4),
        ),
    )


TASK = Task(
    5,
    "layer-norm",
    "inside a layer",
    "layer_norm",
    ("x", "weight", "bias", "eps"),
    title=Both("LayerNorm", "LayerNorm"),
    asked=Both(
        "x is [B, n, D]; weight and bias are [D], eps is a number. Return [B, n, D]: each token's numbers with "
        "mean 0 and "
        "variance 1, times weight, plus bias. The variance is the biased one (over D), eps stands inside the root.",
        "x 为 [B, n, D]，weight 与 bias 为 [D]，eps 是一个数。返回 [B, n, D]：每个 token 的数值先化为均值 0、方差 1"
        "，再乘 weight 加 bias。方差用有偏估计（除以 D），eps 在根号内。",
    ),
    hints=(
        Both(
            "y = weight · (x − mean) / √(variance + eps) + bias (Ba et al. 2016).",
            "y = weight · (x − 均值) / √(方差 + eps) + bias（Ba 等人，2016）。",
        ),
        Both(
            "The token 1, 2, 3, 6: mean 3, variance (4 + 1 + 0 + 9) / 4 = 3.5. With eps 0.5 the root is 2, so the "
            "token "
            "becomes −1, −0.5, 0, 1.5 before weight and bias.",
            "token 1、2、3、6：均值 3，方差 (4 + 1 + 0 + 9) / 4 = 3.5。eps 为 0.5 时根为 2，加权前得到 −1、−0.5、0"
            "、1.5。",
        ),
        Both(
            "torch's std and var are unbiased unless told otherwise (correction=0), numpy's are biased. The mean "
            "runs over the "
            "width alone, so that no token sees another; keep the axis.",
            "torch 的 std 和 var 默认是无偏的（需 correction=0），numpy 默认有偏。均值只沿宽度计算，token 之间互不"
            "影响；要保留该轴。",
        ),
    ),
    compute=computed,
    mistakes=MISTAKES,
    made=made,
    recorded=recorded,
)
