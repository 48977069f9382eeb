"""The scale: why scores are divided by the root of d_k. Questions 16, 18, 19, 21 and 23 to 25."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import torch
from torch import nn

from inspector import scores
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import above, around, at_least, at_most, below, near
from inspector.questions.record.measured import RANDOM, SMALL
from inspector.questions.record.papers import BRITZ_2017, VASWANI_2017
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import (
    ClaimPart,
    Label,
    LongExperiment,
    Measurement,
    PageLink,
    Question,
    StoredRun,
    Theme,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.queries import SEES_QUERIES, layers_of, of_each_head
from inspector.questions.themes.trained import (
    RIGHT,
    Pair,
    courses_drawn,
    ends,
    from_seeds,
    joined,
    last_right,
    loss_of,
    losses,
    train_both,
)
from inspector.scores import theory
from models.training.tiny.experiments import Experiment, Switches

WIDE, NARROW, PAPERS_WIDTH = 1024, 4, 64  # d_k
SEEDS = 20
_SCALED, _UNSCALED = Both("with the scale", "有缩放"), Both("without", "无缩放")


def _drawn(subject: Subject) -> pd.DataFrame:
    """Random queries and 64 keys of every width, a row each."""
    drawn: pd.DataFrame = subject.cached(("scores drawn", 64, 0), lambda: theory.drawn(keys=64, seed=0))
    return drawn


def _heads(subject: Subject) -> pd.DataFrame:
    """The scores of every head on the text; ValueError where q · k was not seen."""
    table = subject.once("scores of heads", lambda: scores.measure(subject.trace)).dropna(subset=["ratio"])
    if table.empty:
        raise UnanswerableError(
            f"The products q · k of {subject.loaded.card.id} on this text were not seen, or are too few.",
            f"没有看到 {subject.loaded.card.id} 在该文本上的 q·k，或者数量太少。",
        )
    return table


def _at(table: pd.DataFrame, width: int) -> pd.Series:
    return table.loc[table["width"] == width].iloc[0]


# --- 16: the variance ----------------------------------------------------------------------------------------------

STARTS: dict[str, Callable[[torch.Tensor], object]] = {
    "linear": lambda weight: nn.init.kaiming_uniform_(weight, a=math.sqrt(5)),  # what nn.Linear does by itself
    "xavier": nn.init.xavier_uniform_,
    "bert": lambda weight: nn.init.normal_(weight, std=0.02),
}


def _at_start() -> dict[str, float]:
    """Var(q . k) / d_k of 512 inputs of variance 1 behind matrices [64, 512] as they start, mean of 8 draws."""
    found: dict[str, list[float]] = {name: [] for name in STARTS}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for _ in range(8):
            x = torch.randn(512, 512)
            for name, start in STARTS.items():
                weights = torch.empty(2, 64, 512)
                for weight in weights:
                    start(weight)
                q, k = x @ weights.mT
                found[name].append(float((q @ k.T).var()) / 64)
    return {name: float(np.mean(ratios)) for name, ratios in found.items()}


def _variance(subject: Subject) -> Measurement:
    drawn, heads = _drawn(subject), _heads(subject)
    within = heads["within"].to_numpy()
    picture = Lines(
        (
            Series(
                Both("drawn at random", "随机抽取"),
                drawn["width"].tolist(),
                drawn["scaled_variance"].tolist(),
                dashed=True,
            ),
            Series(Both("heads of this model", "该模型的各个头"), heads["d_k"].tolist(), within.tolist(), points=True),
        ),
        x_title=Both("d_k", "d_k"),
        y_title=Both("variance of the scaled scores", "缩放后分数的方差"),
        log_x=True,
        log_y=True,
        mark_y=1.0,
    )
    return Measurement(
        {
            "drawn_least": float(drawn["scaled_variance"].min()),
            "drawn_most": float(drawn["scaled_variance"].max()),
            **subject.cached(("variance at start", 0), _at_start),
            "near": float(np.mean((within > 2 / 3) & (within < 3 / 2))),
            "smallest": float(within.min()),
            "median": float(np.median(within)),
            "largest": float(within.max()),
            "mean": float(np.abs(heads["mean"] / np.sqrt(heads["variance"])).median()),
        },
        picture,
    )


VARIANCE = Question(
    16,
    mixed="conditions",
    asked=Both(
        "Is the variance of q · k equal to d_k, and 1 after dividing by √d_k?",
        "q·k 的方差等于 d_k，除以 √d_k 之后等于 1 吗？",
    ),
    claim=Both(
        "Queries and keys have mean 0 and variance 1, so q · k has mean 0 and variance d_k; dividing by √d_k brings "
        "it back to 1, whatever the width.",
        "Q、K 的各分量均值为 0、方差为 1，所以 q·k 的均值为 0、方差为 d_k；除以 √d_k 之后方差变为 1，与 d_k 无关。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Of independent entries with mean 0 and variance 1 it is 1 after the scale, at every width.",
                "各分量独立、均值为 0、方差为 1 时，不管 d_k 多大，缩放后的方差都是 1。",
            ),
            (near("drawn_least", 1, within=0.05), near("drawn_most", 1, within=0.05)),
        ),
        ClaimPart(
            Both(
                "It is so when training starts, from an input of variance 1: with nn.Linear's own weights, Xavier's "
                "and BERT's N(0, 0.02²).",
                "训练开始时（输入方差为 1）也是这样：nn.Linear 的默认初始化、Xavier 初始化、BERT 的 N(0, 0.02²)。",
            ),
            tuple(near(name, 1, within=0.25) for name in STARTS),
        ),
        ClaimPart(
            Both(
                "In most heads of this model it is so after training: between 2/3 and 3/2 within a row.",
                "训练之后，该模型的多数头也是这样：同一行内的方差在 2/3 与 3/2 之间。",
            ),
            (above("near", 0.5),),
        ),
        ClaimPart(
            Both("In the typical head of this model the mean is 0.", "在该模型的典型的头中，均值为 0。"),
            (around("mean", 0, within=0.1),),
        ),
    ),
    measure=_variance,
    numbers={
        "drawn_least": Label(
            Both("scaled variance, random entries, smallest over d_k", "缩放后的方差，随机分量，各 d_k 最小值"),
            of=RANDOM,
        ),
        "drawn_most": Label(
            Both("scaled variance, random entries, largest over d_k", "缩放后的方差，随机分量，各 d_k 最大值"),
            of=RANDOM,
        ),
        "linear": Label(Both("scaled variance at the start, nn.Linear", "初始时缩放后的方差，nn.Linear"), of=RANDOM),
        "xavier": Label(Both("scaled variance at the start, Xavier", "初始时缩放后的方差，Xavier"), of=RANDOM),
        "bert": Label(Both("scaled variance at the start, N(0, 0.02²)", "初始时缩放后的方差，N(0, 0.02²)"), of=RANDOM),
        "near": Label(
            Both(
                "heads whose scaled variance within a row is between 2/3 and 3/2",
                "同一行内缩放后方差在 2/3 与 3/2 之间的头",
            ),
            "%",
        ),
        "smallest": Label(
            Both("scaled variance within a row, smallest of all heads", "同一行内缩放后的方差，各头最小值")
        ),
        "median": Label(Both("scaled variance within a row, median of heads", "同一行内缩放后的方差，各头中位数")),
        "largest": Label(
            Both("scaled variance within a row, largest of all heads", "同一行内缩放后的方差，各头最大值")
        ),
        "mean": Label(Both("|mean| / deviation of q · k, median of heads", "q·k 的 |均值| / 标准差，各头中位数")),
    },
    setting=Both(
        "Drawn: standard normal entries, d_k from 4 to 4,096, seed 0. At the start: 512 inputs of width 512, d_k = 64, "
        "seed 0, 8 draws. Heads: the scores on this text, over all cells that no mask hides; within a row, for what "
        "all scores of a row share the softmax does not see.",
        "随机：标准正态分量，d_k 从 4 到 4096，种子 0。初始时：512 个宽度为 512 的输入，d_k = 64，种子 0，抽取 8 次。"
        "各头：该文本上未被掩码遮住的分数；取同一行内的方差，因为 softmax 看不到一行分数共有的部分。",
    ),
    because=Both(
        "The paper says so in a footnote, of independent components with mean 0 and variance 1. Weights start smaller "
        "or larger than that, and training moves both: some heads become sharp and others stay flat, and the same "
        "√d_k divides them all. A fixed factor can undo only a spread that is known beforehand.",
        "原论文在脚注中这样写，前提是各分量独立、均值为 0、方差为 1。实际的初始权重或小或大，训练又会改变它们："
        "有的头变得尖锐，有的头仍然平坦，而除以的都是同一个 √d_k。固定的因子只能抵消事先知道的离散程度。",
    ),
    refuted=Both(
        "Weights that start with variance d_k and a trained model most of whose heads keep it, or random entries whose "
        "variance is another.",
        "如果初始权重就使方差为 d_k，训练后多数头仍然如此，或者随机分量的方差不等于 d_k，判断就会改变。",
    ),
    formula=r"\mathrm{Var}\left(\frac{q \cdot k}{\sqrt{d_k}}\right): \quad <drawn_least> \ldots <drawn_most> \;"
    r" (x \sim \mathcal{N}(0, 1)), \qquad <smallest> \ldots <largest>",
    papers=(VASWANI_2017,),
    see=PageLink("scores", {"section": "All heads"}),
    of=SEES_QUERIES,
)


# --- 18, 19: saturation ------------------------------------------------------------------------------------------


def _saturation(subject: Subject) -> Measurement:
    drawn = _drawn(subject)
    width = subject.trace.attentions[0].query.shape[-1]
    here = _at(theory.drawn(keys=64, seed=0, widths=(width,)), width)
    wide, narrow = _at(drawn, WIDE), _at(drawn, NARROW)
    x = drawn["width"].tolist()
    picture = Lines(
        (
            Series(_UNSCALED, x, drawn["jacobian_median"].tolist(), dashed=True),
            Series(_SCALED, x, drawn["scaled_jacobian_median"].tolist()),
        ),
        x_title=Both("d_k", "d_k"),
        y_title=Both("‖J‖ of the softmax, median row", "softmax 的 ‖J‖，各行中位数"),
        log_x=True,
        log_y=True,
        mark_x=float(width),
    )
    return Measurement(
        {
            "largest": float(wide["largest_median"]),
            "wide": float(wide["jacobian_median"]),
            "wide_scaled": float(wide["scaled_jacobian_median"]),
            "mean": float(wide["jacobian_mean"]),
            "mean_scaled": float(wide["scaled_jacobian_mean"]),
            "narrow": float(narrow["jacobian_median"]),
            "narrow_scaled": float(narrow["scaled_jacobian_median"]),
            "own": float(here["jacobian_median"]),
            "own_scaled": float(here["scaled_jacobian_median"]),
            "width": float(width),
        },
        picture,
    )


SATURATION = Question(
    18,
    reads_text=False,
    mixed="conditions",
    asked=Both(
        "Do large scores push the softmax to one-hot, where gradients vanish?",
        "点积太大会使 softmax 接近 one-hot、梯度消失吗？",
    ),
    claim=Both(
        "Without the scale the scores are large, the softmax is nearly one-hot, and its gradient vanishes.",
        "不缩放时点积过大，softmax 接近 one-hot，梯度消失。",
    ),
    parts=(
        ClaimPart(
            Both(
                "At d_k = 1,024 the typical unscaled row is nearly one-hot.",
                "d_k = 1024 且不缩放时，典型的一行接近 one-hot。",
            ),
            (above("largest", 0.99),),
        ),
        ClaimPart(
            Both(
                "There its gradient is less than a hundredth of that with the scale.",
                "此时 softmax 的梯度不到有缩放时的百分之一。",
            ),
            (below("wide", "wide_scaled", times=0.01),),
        ),
        ClaimPart(
            Both(
                "On average over the rows the gradient there is less than a hundredth too.",
                "此时各行平均的梯度也不到百分之一。",
            ),
            (below("mean", "mean_scaled", times=0.01),),
        ),
        ClaimPart(
            Both("At d_k = 4 too the scale raises the gradient.", "d_k = 4 时，缩放同样使梯度变大。"),
            (below("narrow", "narrow_scaled"),),
        ),
        ClaimPart(
            Both(
                "At the width of this model's heads it does too.",
                "d_k 取该模型各头的宽度时也是这样。",
            ),
            (below("own", "own_scaled"),),
        ),
    ),
    measure=_saturation,
    numbers={
        "largest": Label(
            Both("largest weight at d_k = 1,024, without scale", "d_k = 1024 时的最大权重，无缩放"), of=RANDOM
        ),
        "wide": Label(Both("‖J‖ at d_k = 1,024, without scale", "d_k = 1024 时的 ‖J‖，无缩放"), of=RANDOM),
        "wide_scaled": Label(Both("‖J‖ at d_k = 1,024, with scale", "d_k = 1024 时的 ‖J‖，有缩放"), of=RANDOM),
        "mean": Label(Both("‖J‖ at d_k = 1,024, mean, without scale", "d_k = 1024 时的 ‖J‖，均值，无缩放"), of=RANDOM),
        "mean_scaled": Label(
            Both("‖J‖ at d_k = 1,024, mean, with scale", "d_k = 1024 时的 ‖J‖，均值，有缩放"), of=RANDOM
        ),
        "narrow": Label(Both("‖J‖ at d_k = 4, without scale", "d_k = 4 时的 ‖J‖，无缩放"), of=RANDOM),
        "narrow_scaled": Label(Both("‖J‖ at d_k = 4, with scale", "d_k = 4 时的 ‖J‖，有缩放"), of=RANDOM),
        "width": Label(Both("d_k of this model", "该模型的 d_k")),
        "own": Label(Both("‖J‖ at this model's d_k, without scale", "该模型的 d_k 下的 ‖J‖，无缩放"), of=RANDOM),
        "own_scaled": Label(Both("‖J‖ at this model's d_k, with scale", "该模型的 d_k 下的 ‖J‖，有缩放"), of=RANDOM),
    },
    setting=Both(
        "Random standard normal queries and 64 keys, seed 0; medians over the rows where nothing else is said. Of the "
        "model only the width of its heads is taken, so that the widths can be compared with it.",
        "随机标准正态的查询和 64 个键，种子 0；未注明的取各行中位数。模型只提供头的宽度，用来对照。",
    ),
    because=Both(
        "The paper writes “we suspect”, of large d_k. The softmax passes most gradient where two or three keys "
        "compete. Scores that are too small make the row even, where little passes either; at small d_k unscaled "
        "scores are just large enough.",
        "原论文写的是“我们猜测”（we suspect），而且说的是 d_k 较大时。softmax 在两三个键互相竞争时梯度最大；"
        "分数太小则整行趋于均匀，梯度同样小。d_k 小时，不缩放的分数大小正合适。",
    ),
    refuted=Both(
        "Random scores of variance 1,024 whose median row still passes as much gradient as scaled ones.",
        "如果方差为 1024 的随机分数，其中位数的一行传递的梯度与缩放后一样大，判断就会改变。",
    ),
    formula=r"J_{ij} = p_i(\delta_{ij} - p_j), \quad d_k = 1024:\; \lVert J \rVert = <wide> \to <wide_scaled>, \quad"
    r" d_k = 4:\; <narrow> \to <narrow_scaled>",
    papers=(VASWANI_2017,),
    see=PageLink("scores", {"section": "Theory"}),
    of=SEES_QUERIES,
)


def _explosion(subject: Subject) -> Measurement:
    drawn = subject.cached(("gradients drawn", SEEDS), _gradients_drawn)
    ratios = {kind: drawn[f"gradient_{kind}"] / drawn[f"scaled_gradient_{kind}"] for kind in ("median", "mean")}
    numbers = {"largest": float(drawn["largest_median"].xs(WIDE, level="width").min())}
    for kind, width in (("median", PAPERS_WIDTH), ("mean", PAPERS_WIDTH), ("median", WIDE)):
        of_width = ratios[kind].xs(width, level="width")
        numbers |= {f"{kind}_{width}_least": float(of_width.min()), f"{kind}_{width}_most": float(of_width.max())}
    numbers["mean_least"] = float(ratios["mean"][drawn.index.get_level_values("width") >= 32].min())
    unscaled = drawn["gradient_mean"]
    growth = unscaled.xs(WIDE, level="width") / unscaled.xs(128, level="width")
    numbers |= {"growth_least": float(growth.min()), "growth_most": float(growth.max())}
    lines = []
    for kind, name, part in (
        ("median", Both("typical row", "典型的一行"), "attention"),
        ("mean", Both("mean of the rows", "各行均值"), "ffn"),
    ):
        by_width = ratios[kind].groupby(level="width")
        x = [int(width) for width in by_width.groups]
        lines += [
            Series(
                Both(f"{name.en}, least of the seeds", f"{name.zh}，各种子最小"), x, by_width.min().tolist(), part=part
            ),
            Series(Both(f"{name.en}, most", f"{name.zh}，最大"), x, by_width.max().tolist(), part=part, dashed=True),
        ]
    picture = Lines(
        tuple(lines),
        x_title=Both("d_k", "d_k"),
        y_title=Both("‖∂p/∂q‖ without the scale / with it", "‖∂p/∂q‖：无缩放 / 有缩放"),
        log_x=True,
        log_y=True,
        mark_y=1.0,
    )
    return Measurement(numbers, picture)


def _gradients_drawn() -> pd.DataFrame:
    """Random queries and 64 keys, by seed and width."""
    widths = tuple(2**power for power in range(4, 11))
    tables = {seed: theory.drawn(keys=64, seed=seed, widths=widths).set_index("width") for seed in range(SEEDS)}
    return pd.concat(tables, names=["seed"])


EXPLOSION = Question(
    19,
    reads_text=False,
    asked=Both("Does the scale prevent exploding gradients?", "缩放是为了防止梯度爆炸吗？"),
    claim=Both(
        "Without the scale the products push the softmax's outputs close to 1, and gradients explode: the scale "
        "prevents that.",
        "不缩放时点积过大，softmax 的输出过于集中（接近 1），梯度会爆炸；缩放就是为了防止梯度爆炸。",
    ),
    parts=(
        ClaimPart(
            Both(
                "At d_k = 1,024 and without the scale a typical row gives one key nearly all.",
                "d_k = 1024 且不缩放时，典型的一行几乎把全部权重给一个键。",
            ),
            (above("largest", 0.95),),
        ),
        ClaimPart(
            Both(
                "At the paper's width, d_k = 64, a query's gradient is larger without the scale: five times or more, "
                "in the typical row and on average.",
                "在原论文的宽度 d_k = 64 下，不缩放时对查询的梯度更大：典型的一行和各行平均都在五倍以上。",
            ),
            (above("median_64_least", 5), above("mean_64_least", 5)),
        ),
        ClaimPart(
            Both(
                "On average over the rows it is five times as large at every width from 32 to 1,024.",
                "d_k 从 32 到 1024，各行平均的梯度都在五倍以上。",
            ),
            (above("mean_least", 5),),
        ),
        ClaimPart(
            Both(
                "It explodes: from d_k = 128 to 1,024 it grows twofold or more, as the factor √d_k would have it.",
                "梯度会爆炸：d_k 从 128 到 1024，梯度至少变为两倍，因子 √d_k 就会如此。",
            ),
            (above("growth_least", 2),),
        ),
        ClaimPart(
            Both(
                "In the typical row it vanishes at d_k = 1,024: it is less than half of that with the scale.",
                "d_k = 1024 时，典型的一行梯度反而消失：不到有缩放时的一半。",
            ),
            (below("median_1024_most", 0.5),),
            role="limit",
        ),
    ),
    measure=_explosion,
    numbers={
        "largest": Label(
            Both(
                "largest weight of the median row at d_k = 1,024, least of the seeds",
                "d_k = 1024 时中位行的最大权重，各种子最小值",
            )
        ),
        "median_64_least": Label(
            Both("d_k = 64, typical row, least of the seeds", "d_k = 64，典型的一行，各种子最小值"), "×"
        ),
        "median_64_most": Label(Both("d_k = 64, typical row, most", "d_k = 64，典型的一行，最大值"), "×"),
        "mean_64_least": Label(Both("d_k = 64, mean of the rows, least", "d_k = 64，各行均值，最小值"), "×"),
        "mean_64_most": Label(Both("d_k = 64, mean of the rows, most", "d_k = 64，各行均值，最大值"), "×"),
        "mean_least": Label(
            Both(
                "mean of the rows, least of all widths from 32 on and seeds",
                "各行均值，d_k ≥ 32 的各宽度、各种子最小值",
            ),
            "×",
        ),
        "median_1024_least": Label(Both("d_k = 1,024, typical row, least", "d_k = 1024，典型的一行，最小值"), "×"),
        "median_1024_most": Label(Both("d_k = 1,024, typical row, most", "d_k = 1024，典型的一行，最大值"), "×"),
        "growth_least": Label(
            Both(
                "mean gradient without the scale, d_k = 1,024 over 128, least",
                "无缩放的平均梯度，d_k = 1024 与 128 之比，最小值",
            ),
            "×",
        ),
        "growth_most": Label(Both("the same, most", "同上，最大值"), "×"),
    },
    setting=Both(
        "‖∂p/∂q‖ without the scale over that with it. Random standard normal queries and 64 keys at each width, 20 "
        "seeds; the verdict takes what every seed says. The claim is about widths, so no loaded model takes part.",
        "不缩放与缩放时 ‖∂p/∂q‖ 之比。每个宽度取随机标准正态的查询和 64 个键，20 个种子；只有各种子一致时才算数。"
        "这个说法与宽度有关，所以不涉及加载的模型。",
    ),
    because=Both(
        "Without the scale a query's gradient carries a factor √d_k, but the softmax saturates, which takes it away "
        "again: in most rows more and more as d_k grows, until nothing is left, while the few rows in which two keys "
        "still compete keep their spikes. A step sums over rows, so the mean is nearer to what an optimiser sees. The "
        "paper names the other side, extremely small gradients.",
        "不缩放时，对查询的梯度多一个因子 √d_k，但 softmax 饱和又把它抵消：d_k 越大，多数行被抵消得越多，直到几乎为零；"
        "少数仍有两个键竞争的行则保持很大的梯度。一步更新对各行求和，所以均值更接近优化器看到的。原论文说的是另一面："
        "梯度极小。",
    ),
    refuted=Both(
        "A mean gradient without the scale that goes on growing with √d_k, or seeds in which it is not larger at "
        "d_k = 64.",
        "如果不缩放的平均梯度随 √d_k 一直增长，或者有种子在 d_k = 64 时梯度并不更大，判断就会改变。",
    ),
    formula=r"\frac{\partial p}{\partial q} = s\,J K, \quad s = 1 \;\text{over}\; s = \tfrac{1}{\sqrt{d_k}}: \quad "
    r"<median_64_least> \ldots <median_64_most> \; (d_k = 64), \quad "
    r"<median_1024_least> \ldots <median_1024_most> \; (d_k = 1024)",
    papers=(VASWANI_2017,),
    see=PageLink("scores", {"section": "Theory"}),
)


# --- 21, 23, 24: examples and formulas -------------------------------------------------------------------------------


def _example(subject: Subject) -> Measurement:
    few, many = theory.example(keys=64, width=64), theory.example(keys=512, width=64)
    counts = [2, 4, 8, 16, 32, 64, 128, 256, 512]
    picture = Lines(
        (
            Series(
                Both("all other scores 0", "其他分数都是 0"),
                counts,
                [theory.weight(keys=keys, score=8) for keys in counts],
            ),
            Series(
                Both("largest of n scores drawn from N(0, 64)", "从 N(0, 64) 抽取 n 个分数，取最大权重"),
                counts[2:],
                [theory.example(keys=keys, width=64).drawn_largest for keys in counts[2:]],
                dashed=True,
            ),
        ),
        x_title=Both("keys n", "键的个数 n"),
        y_title=Both("weight of the largest", "最大的权重"),
        log_x=True,
    )
    return Measurement(
        {
            "weight": few.weight,
            "more_keys": many.weight,
            "drawn": few.drawn_largest,
            "jacobian": few.jacobian,
            "even": few.uniform_jacobian,
            **_deviations(),
        },
        picture,
    )


def _deviations() -> dict[str, float]:
    """The deviation of 65,536 products of d_k = 100, and how far 10 and the farthest lie out, in deviations."""
    generator = np.random.default_rng(0)
    dots = np.einsum("ne,ne->n", *generator.standard_normal((2, 2**16, 100)))
    deviation = float(dots.std())
    return {
        "deviation": deviation,
        "of_ten": 10 / deviation,
        "farthest": float(np.abs(dots).max() / deviation),
        "chance": theory.outside(10),
    }


EXAMPLE = Question(
    21,
    reads_text=False,
    asked=Both(
        "Do the notes' two sums come out: 0.98 of the weight at d_k = 64, and ± 10 deviations at d_k = 100?",
        "笔记里的两个算式对吗：d_k = 64 时一个键占 0.98 的权重，d_k = 100 时点积达到 ±10 个标准差？",
    ),
    claim=Both(
        "With d_k = 64 a score of 8 gives e⁸ / (e⁸ + 63) = 0.98: the softmax is one-hot, and its gradient is about 0. "
        "With d_k = 100 the standard deviation is 10, so q · k may reach ± 10 standard deviations.",
        "d_k = 64 时，分数为 8 的那一项是 e⁸/(e⁸ + 63) = 0.98：softmax 接近 one-hot，梯度接近 0。"
        "d_k = 100 时标准差为 10，所以点积可能达到 ±10 个标准差。",
    ),
    parts=(
        ClaimPart(Both("e⁸ / (e⁸ + 63) is 0.98.", "e⁸/(e⁸ + 63) 等于 0.98。"), (around("weight", 0.98, within=0.005),)),
        ClaimPart(
            Both("It follows from d_k = 64, however many keys there are.", "这由 d_k = 64 决定，与键的个数无关。"),
            (around("more_keys", 0.98, within=0.005),),
        ),
        ClaimPart(
            Both(
                "It is so for real rows, whose other scores vary as much.",
                "真实的一行也是这样，其他分数有同样的方差。",
            ),
            (around("drawn", 0.98, within=0.02),),
        ),
        ClaimPart(
            Both(
                "The gradient ‖J‖ there is smaller than in an even row.",
                "此处的梯度 ‖J‖ 小于均匀的一行。",
            ),
            (below("jacobian", "even"),),
        ),
        ClaimPart(
            Both(
                "At d_k = 100 a product of 10 is ten standard deviations from 0.",
                "d_k = 100 时，点积等于 10 就是偏离 0 十个标准差。",
            ),
            (near("of_ten", 10, within=0.1),),
        ),
        ClaimPart(
            Both("Among 65,536 products one is ten deviations away.", "65536 个点积中，有偏离十个标准差的。"),
            (at_least("farthest", 10),),
        ),
    ),
    measure=_example,
    numbers={
        "weight": Label(Both("e⁸ / (e⁸ + 63): 64 keys", "e⁸/(e⁸ + 63)：64 个键")),
        "more_keys": Label(Both("e⁸ / (e⁸ + 511): 512 keys", "e⁸/(e⁸ + 511)：512 个键")),
        "drawn": Label(Both("largest weight, 64 scores drawn from N(0, 64)", "最大权重，64 个分数取自 N(0, 64)")),
        "jacobian": Label(Both("‖J‖ of the row with 0.98", "最大权重为 0.98 的一行的 ‖J‖")),
        "even": Label(Both("‖J‖ of an even row, p = 1/64", "均匀一行的 ‖J‖，p = 1/64")),
        "deviation": Label(Both("standard deviation of q · k, d_k = 100", "q·k 的标准差，d_k = 100")),
        "of_ten": Label(Both("a product of 10, in deviations", "点积 10，以标准差计")),
        "farthest": Label(Both("farthest of 65,536 products, in deviations", "65536 个点积中最远的，以标准差计")),
        "chance": Label(Both("probability of ten deviations, normal", "正态分布下偏离十个标准差的概率")),
    },
    setting=Both(
        "The formula itself, and 4,096 rows of random scores; 65,536 products of standard normal vectors with 100 "
        "entries; seed 0. No loaded model takes part. Both sums are from interview notes; no paper has them.",
        "直接计算公式，并随机抽取 4096 行分数；65536 对有 100 个分量的标准正态向量的点积；种子 0。不涉及加载的模型。"
        "两个算式都出自面试笔记，论文中没有。",
    ),
    because=Both(
        "The example counts d_k − 1 competitors, but the softmax runs over the n keys, not over the d_k numbers of a "
        "vector; with n = 64 both happen to be 63. And it sets the other scores to 0, though by the same argument they "
        "spread by 8. The second sum mixes up value and unit: the deviation is √100 = 10, so ± 10 is one deviation, "
        "which a third of all products exceed.",
        "例子里的竞争者有 d_k − 1 个，但 softmax 是对 n 个键做的，不是对向量的 d_k 个分量做的；只有 n = 64 "
        "时两者碰巧都是 63。而且它让其他分数都是 0，可按同样的推理，它们的标准差是 8。第二个算式混淆了数值与单位："
        "标准差是 √100 = 10，±10 只是一个标准差，大约三分之一的点积都会超过。",
    ),
    refuted=Both(
        "A weight that depends on d_k alone and not on the number of keys, or a product of 10 that lies ten deviations "
        "out at d_k = 100.",
        "如果这个权重只与 d_k 有关，而与键的个数无关，或者 d_k = 100 时点积 10 偏离十个标准差，判断就会改变。",
    ),
    formula=r"\frac{e^8}{e^8 + n - 1}: \quad <weight> \; (n = 64), \quad <more_keys> \; (n = 512), \qquad"
    r" \lVert J \rVert = <jacobian> \; (p = 1/64:\; <even>), \qquad \sigma = \sqrt{100}: \; <deviation>, \;"
    r" \frac{10}{\sigma} = <of_ten>, \; P(|z| \geq 10) = <chance>",
    papers=(),
    see=PageLink("scores", {"section": "Theory"}),
)


def _normal(subject: Subject) -> Measurement:
    drawn, heads = _drawn(subject), _heads(subject)
    tails = heads["kurtosis"].to_numpy()
    x = drawn["width"].tolist()
    picture = Lines(
        (
            Series(Both("drawn at random", "随机抽取"), x, drawn["excess"].tolist()),
            Series(
                Both("theory, 6 / d_k", "理论值 6/d_k"), x, [theory.excess(width, "normal") for width in x], dashed=True
            ),
            Series(
                Both("heads of this model", "该模型的各个头"),
                heads["d_k"].tolist(),
                tails.tolist(),
                part="ffn",
                points=True,
            ),
        ),
        x_title=Both("d_k", "d_k"),
        y_title=Both("excess kurtosis of q · k", "q·k 的超额峰度"),
        log_x=True,
        mark_y=0.0,
    )
    return Measurement(
        {
            "wide": float(_at(drawn, WIDE)["excess"]),
            "narrow": float(_at(drawn, NARROW)["excess"]),
            "model": float(np.nanmedian(np.abs(tails))),
            "chance": _tails_by_chance(subject, heads),
        },
        picture,
    )


def _tails_by_chance(subject: Subject, heads: pd.DataFrame) -> float:
    """Draw as many heads of normal q and k, on as many tokens, 20 times: the largest median |excess kurtosis|."""
    tokens, width = len(subject.trace.tokens), int(heads["d_k"].iloc[0])
    seen = np.tri(tokens, dtype=bool) if subject.loaded.shape == "decoder" else np.ones((tokens, tokens), dtype=bool)
    generator = np.random.default_rng(0)
    medians = []
    for _ in range(20):
        q, k = generator.standard_normal((2, len(heads), tokens, width), dtype=np.float32)
        dots = (q @ k.mT)[:, seen].astype(np.float64)
        apart = dots - dots.mean(axis=-1, keepdims=True)
        excess = (apart**4).mean(axis=-1) / np.square((apart**2).mean(axis=-1)) - 3
        medians.append(float(np.median(np.abs(excess))))
    return max(medians)


NORMAL = Question(
    23,
    mixed="conditions",
    asked=Both("Is q · k normally distributed, by the central limit theorem?", "由中心极限定理，q·k 服从正态分布吗？"),
    claim=Both(
        "q · k is a sum of d_k products, so it is about N(0, d_k).",
        "q·k 是 d_k 个乘积之和，根据中心极限定理近似服从 N(0, d_k)。",
    ),
    parts=(
        ClaimPart(
            Both("At d_k = 1,024 its tails are those of a normal distribution.", "d_k = 1024 时，尾部与正态分布相同。"),
            (around("wide", 0, within=0.15),),
        ),
        ClaimPart(
            Both("At d_k = 4 they are too.", "d_k = 4 时也相同。"),
            (around("narrow", 0, within=0.15),),
        ),
        ClaimPart(
            Both(
                "In the heads of this model they are as near to it as those of random queries and keys of the same "
                "d_k, on as many tokens.",
                "该模型各头的尾部，与 d_k 相同、token 数相同的随机查询和键一样接近正态。",
            ),
            (at_most("model", "chance"),),
        ),
    ),
    measure=_normal,
    numbers={
        "wide": Label(Both("excess kurtosis at d_k = 1,024", "d_k = 1024 时的超额峰度"), of=RANDOM),
        "narrow": Label(Both("excess kurtosis at d_k = 4", "d_k = 4 时的超额峰度"), of=RANDOM),
        "model": Label(Both("|excess kurtosis| in this model, median of heads", "该模型的 |超额峰度|，各头中位数")),
        "chance": Label(
            Both(
                "|excess kurtosis|, median of as many random heads, largest of 20 draws",
                "|超额峰度|，同样多的随机头的中位数，20 次抽取中最大",
            ),
            of=RANDOM,
        ),
    },
    setting=Both(
        "Random: products of 65,536 pairs of standard normal vectors, seed 0. Model: q · k of each head on this "
        "text. 0 is normal, above 0 the tails are heavier.",
        "随机：65536 对标准正态向量的点积，种子 0。模型：该文本上每个头的 q·k。0 表示正态，大于 0 表示尾部更重。",
    ),
    because=Both(
        "The theorem speaks of many independent terms. A product of two normal numbers has heavy tails, which fade as "
        "6 / d_k; and the terms of a trained head are neither independent nor alike.",
        "定理要求项数多而且相互独立。两个正态数的乘积尾部很重，超额峰度按 6/d_k 减小；而训练后的头，各项既不独立，"
        "也不同分布。",
    ),
    refuted=Both(
        "Products at d_k = 4 without heavy tails, or at 1,024 with them.",
        "如果 d_k = 4 时尾部不重，或者 d_k = 1024 时尾部很重，判断就会改变。",
    ),
    formula=r"\kappa - 3 = \frac{6}{d_k}: \quad <narrow> \; (d_k = 4), \qquad <wide> \; (d_k = 1024)",
    papers=(VASWANI_2017,),
    see=PageLink("scores", {"section": "Theory"}),
    of=SEES_QUERIES,
)

_SHARP = 64.0  # times the model's own scores


def _jacobian(subject: Subject) -> Measurement:
    record = layers_of(subject)[0]
    heads = len(record.query)
    q, k = record.query.double().cpu(), of_each_head(record.key, heads)
    v = of_each_head(record.value, heads)
    scores_of = (q @ k.mT * q.shape[-1] ** -0.5).flatten(0, 1)  # [H Q, T]
    rows = scores_of[:: max(1, len(scores_of) // 64)]
    p = rows.softmax(dim=-1)
    written = torch.diag_embed(p) - p[:, :, None] * p[:, None, :]
    by_autograd = torch.vmap(torch.func.jacrev(partial(torch.softmax, dim=-1)))(rows)
    numbers = {"difference": float((written - by_autograd).abs().max())}
    generator = torch.Generator().manual_seed(0)
    towards = torch.randn(v.shape[-1], generator=generator, dtype=torch.float64)
    for name, factor in (("", 1.0), ("_sharp", _SHARP)):
        sides = [tensor.clone().requires_grad_() for tensor in (q, v)]
        mixed = (sides[0] @ k.mT * (factor * q.shape[-1] ** -0.5)).softmax(dim=-1) @ sides[1]
        (mixed @ towards).sum().backward()
        # A factor on the scores is one on the queries' gradient too: without it a saturated row would look steeper.
        of_queries, of_values = (side.grad for side in sides)
        assert of_queries is not None
        assert of_values is not None
        numbers |= {
            f"query{name}": float(of_queries.norm(dim=-1).median()) / factor,
            f"value{name}": float(of_values.norm()),
        }
    numbers["query_left"] = numbers["query_sharp"] / max(numbers["query"], 1e-300)
    numbers["value_left"] = numbers["value_sharp"] / max(numbers["value"], 1e-300)
    picture = Bars(
        (
            Both("queries, scores as they are", "Q，原来的分数"),
            Both("queries, scores × 64", "Q，分数 × 64"),
            Both("values, scores as they are", "V，原来的分数"),
            Both("values, scores × 64", "V，分数 × 64"),
        ),
        [numbers[name] for name in ("query", "query_sharp", "value", "value_sharp")],
        Both("norm of the gradient", "梯度的范数"),
        parts=("q", "q", "v", "v"),
        log=True,
    )
    judged = ("difference", "query_left", "value_left")
    return Measurement({name: numbers[name] for name in judged}, picture)


JACOBIAN = Question(
    24,
    asked=Both(
        "Is the softmax's derivative p_i(δ_ij − p_j), and do updates stop where it is 0?",
        "softmax 的导数是 p_i(δ_ij − p_j) 吗？导数为 0 时参数就停止更新吗？",
    ),
    claim=Both(
        "∂p_i/∂s_j = p_i(δ_ij − p_j); where the softmax saturates it is about 0, and parameter updates stop.",
        "∂p_i/∂s_j = p_i(δ_ij − p_j)；softmax 饱和时导数接近 0，参数更新停滞。",
    ),
    parts=(
        ClaimPart(Both("The formula is right.", "公式正确。"), (at_most("difference", 1e-7),)),
        ClaimPart(
            Both(
                "Where scores are 64 times as large, the slope to a typical query is less than a tenth.",
                "分数放大 64 倍后，对典型查询的斜率不到原来的十分之一。",
            ),
            (below("query_left", 0.1),),
        ),
        ClaimPart(
            Both("The gradient of the values is too.", "对 V 的梯度也不到十分之一。"),
            (below("value_left", 0.1),),
        ),
    ),
    measure=_jacobian,
    numbers={
        "difference": Label(Both("formula against autograd, largest difference", "公式与自动求导的最大差")),
        "query_left": Label(
            Both("what is left of the slope to a query, median", "对查询的斜率的剩余比例，中位数"), "%"
        ),
        "value_left": Label(Both("what is left of the gradient of the values", "对 V 的梯度的剩余比例"), "%"),
    },
    setting=Both(
        "Scores, queries and values of the first layer on this text, float64, without a mask. Saturated: the same "
        "scores times 64. Slope to a query: its gradient less the factor 64 that the product itself adds, median of "
        "the queries.",
        "该文本第一层的分数、Q 和 V，float64，不加掩码。饱和：同样的分数乘以 64。对 Q 的斜率："
        "梯度除去乘法本身带来的因子 64，对查询取中位数。",
    ),
    because=Both(
        "The softmax's derivative stands only on the way to queries and keys. Values are mixed by the weights "
        "themselves, whose sum is 1, so W_V, W_O and all that lies below through the residual go on learning.",
        "softmax 的导数只在通往 Q、K 的路上。V 由权重直接加权，权重之和为 1，所以 W_V、W_O "
        "以及残差连接通向的较低各层照样学习。",
    ),
    refuted=Both(
        "A saturated row whose values receive no gradient either.",
        "如果饱和的一行连 V 也得不到梯度，判断就会改变。",
    ),
    formula=r"\frac{\partial p_i}{\partial s_j} = p_i(\delta_{ij} - p_j): \quad \max |\Delta| = <difference>",
    papers=(VASWANI_2017,),
    see=PageLink("scores", {"section": "Gradients"}),
    of=SEES_QUERIES,
)


# --- 25: trained ---------------------------------------------------------------------------------------------------

SCALE_OR_NOT = Experiment(task="sort", a=Switches(heads=1), b=Switches(heads=1, scale="none"), seeds=2)


def _learned(subject: Subject) -> Measurement:
    heads = _heads(subject)
    scaled = heads["scaled"].to_numpy()
    curves = {
        (width, scale): loss_of(subject, Switches(heads=count, scale=scale))
        for width, count in ((48, 1), (6, 8))
        for scale in ("1/sqrt(d_k)", "none")
    }
    names = {"1/sqrt(d_k)": _SCALED, "none": _UNSCALED}
    picture = losses(
        [
            (Both(f"d_k = {width}, {names[scale].en}", f"d_k = {width}，{names[scale].zh}"), loss)
            for (width, scale), loss in curves.items()
        ],
        parts=["attention" if width == 48 else "ffn" for width, _ in curves],
    )
    last = {key: loss[-1] for key, loss in curves.items()}
    return Measurement(
        {
            "wide": last[48, "1/sqrt(d_k)"],
            "wide_unscaled": last[48, "none"],
            "narrow": last[6, "1/sqrt(d_k)"],
            "narrow_unscaled": last[6, "none"],
            "spread": float(scaled.max() / max(scaled.min(), 1e-12)),
        },
        picture,
    )


def _sorted(subject: Subject, watch: Watch) -> Measurement:
    courses = train_both(SCALE_OR_NOT, watch)
    a, b = (float(np.mean(side)) for side in ends(courses, last_right))
    names = (_SCALED, _UNSCALED)
    picture = courses_drawn(courses, names, of=lambda report: report.exact_accuracy, y_title=RIGHT)
    return Measurement({"a": a, "b": b}, picture)


LEARNED = Question(
    25,
    asked=Both("Does a model train faster and more stably with the scale?", "有缩放的模型训练得更快、更稳定吗？"),
    claim=Both(
        "Experiments show that with the scale training is more stable and converges faster; it works like a "
        "normalisation.",
        "实验表明，缩放后模型训练更稳定，收敛速度更快；缩放的作用类似归一化。",
    ),
    parts=(
        ClaimPart(
            Both("With d_k = 48 a small network learns faster with the scale.", "d_k = 48 时，小网络有缩放学得更快。"),
            (below("wide", "wide_unscaled"),),
        ),
        ClaimPart(
            Both("With d_k = 6 it does too.", "d_k = 6 时也是这样。"),
            (below("narrow", "narrow_unscaled"),),
        ),
        ClaimPart(
            Both(
                "Like a normalisation, the scale gives the scores of all heads of this model one spread.",
                "像归一化一样，缩放使该模型各头的分数离散程度相同。",
            ),
            (at_most("spread", 1.5),),
        ),
    ),
    measure=_learned,
    numbers={
        "wide": Label(Both("loss, d_k = 48, with the scale", "损失，d_k = 48，有缩放"), Both("nats", "nat"), of=SMALL),
        "wide_unscaled": Label(
            Both("loss, d_k = 48, without the scale", "损失，d_k = 48，无缩放"), Both("nats", "nat"), of=SMALL
        ),
        "narrow": Label(Both("loss, d_k = 6, with the scale", "损失，d_k = 6，有缩放"), Both("nats", "nat"), of=SMALL),
        "narrow_unscaled": Label(
            Both("loss, d_k = 6, without the scale", "损失，d_k = 6，无缩放"), Both("nats", "nat"), of=SMALL
        ),
        "spread": Label(
            Both("variance of the scaled scores, largest head by smallest", "缩放后分数的方差，最大的头与最小的头之比")
        ),
    },
    setting=Both(
        "Training: the Lab's Transformer (2 layers, d = 48, 1 head or 8) learns to turn 4 digits around, 120 steps, "
        "seed 0. One seed can mislead: run it whole for six. Spread: q · k times the scale on this text.",
        "训练：用 Lab 的 Transformer（2 层，d = 48，1 个头或 8 个头）学习把 4 个数字逆序输出，120 步，种子 0。"
        "一个种子可能是偶然：完整运行用六个种子。离散程度：该文本上 q·k 乘以缩放因子。",
    ),
    because=Both(
        "The paper reports no experiment without the scale: it cites Britz et al., who compare score functions. The "
        "scale is one constant for all heads; a normalisation measures what it divides by.",
        "原论文没有不缩放的对比实验：它引用的是 Britz 等人对打分函数的比较。缩放对所有头都是同一个常数；"
        "归一化则是除以从数据中测得的量。",
    ),
    refuted=Both(
        "Networks of large d_k that learn as fast without the scale, over several seeds.",
        "如果 d_k 很大的网络不缩放也学得一样快，而且多个种子都如此，判断就会改变。",
    ),
    formula=r"d_k = 48: \; <wide> < <wide_unscaled>\,?, \qquad d_k = 6: \; <narrow> < <narrow_unscaled>\,?",
    papers=(VASWANI_2017, BRITZ_2017),
    see=PageLink(
        "lab",
        {
            "lab_task": "sort",
            "lab_a_heads": "1",
            "lab_b_heads": "1",
            "lab_b_scale": "none",
            "lab_b_positions": "sinusoidal",
        },
    ),
    of=SEES_QUERIES,
    whole=joined(
        LongExperiment(
            run=_sorted,
            about=Both(
                "The Lab's Transformer with one head learns to sort digits, with the scale (A) and without (B), two "
                "seeds.",
                "Lab 的单头 Transformer 学习给数字排序，有缩放（A）与无缩放（B），各两个种子。",
            ),
            parts=(
                ClaimPart(Both("With the scale it learns better.", "缩放时学得更好。"), (above("a", "b", times=1.05),)),
            ),
            numbers={
                "a": Label(
                    Both("texts without a mistake at the end, with the scale", "训练结束时的全对率，有缩放"), "%"
                ),
                "b": Label(
                    Both("texts without a mistake at the end, without the scale", "训练结束时的全对率，无缩放"), "%"
                ),
            },
            stored=StoredRun(
                {"a": 0.961, "b": 0.439},
                command="python -m inspector.questions --only 25 --whole",
                seeds="0, 1",
                date="2026-11-23",
            ),
        ),
        from_seeds(
            25,
            [
                Pair(
                    "wide",
                    Switches(heads=1),
                    Switches(heads=1, scale="none"),
                    Both(
                        "With d_k = 48 it learns faster with the scale, from every seed.",
                        "d_k = 48 时，每个种子下有缩放都学得更快。",
                    ),
                    Both("loss without the scale less that with it, d_k = 48", "无缩放的损失减有缩放的损失，d_k = 48"),
                ),
                Pair(
                    "narrow",
                    Switches(heads=8),
                    Switches(heads=8, scale="none"),
                    Both("With d_k = 6 it does too.", "d_k = 6 时也是这样。"),
                    Both("loss without the scale less that with it, d_k = 6", "无缩放的损失减有缩放的损失，d_k = 6"),
                ),
            ],
            {"wide_least": 0.719, "wide_most": 1.54, "narrow_least": -0.178, "narrow_most": -0.045},
        ),
    ),
)


THEME = Theme(
    "scale",
    Both("The scale 1/√d_k", "缩放 1/√d_k"),
    (
        VARIANCE,
        SATURATION,
        EXPLOSION,
        EXAMPLE,
        NORMAL,
        JACOBIAN,
        LEARNED,
    ),
)
