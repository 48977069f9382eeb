"""The scale: why scores are divided by the root of d_k. Questions 16 to 25."""

from __future__ import annotations

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from inspector import scores
from inspector.questions.record.both import Both
from inspector.questions.record.checks import above, around, below, near
from inspector.questions.record.papers import VASWANI_2017
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import (
    Measured,
    Part,
    Quantity,
    Question,
    See,
    Stored,
    Theme,
    Watch,
    Whole,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.projections import SEES_QUERIES
from inspector.scores import theory
from models.training.tiny.experiments import Experiment, Switches


def _drawn(subject: Subject) -> pd.DataFrame:
    """Random queries and keys by width, a row each."""
    return subject.once("scores drawn", lambda: theory.drawn(keys=64, seed=0))


def _at(subject: Subject, width: int) -> pd.Series:
    return _drawn(subject).set_index("width").loc[width]


def _heads(subject: Subject) -> pd.DataFrame:
    """The heads whose q . k is known; ValueError where none is."""
    heads = subject.once("scores of heads", lambda: scores.measure(subject.trace)).dropna(subset=["ratio"])
    if heads.empty:
        raise ValueError("the queries and keys of no head were seen, so q · k is not known")
    return heads


def _variance(subject: Subject) -> Measured:
    drawn, heads = _drawn(subject), _heads(subject)
    ratio = heads["ratio"].to_numpy()
    by_width = (drawn["variance"] / drawn["width"]).to_numpy()
    picture = Lines(
        (
            Series(Both("drawn at random", "随机抽取"), drawn["width"].tolist(), by_width.tolist(), dashed=True),
            Series(Both("heads of this model", "该模型的各个头"), heads["d_k"].tolist(), ratio.tolist(), points=True),
        ),
        x_title=Both("d_k", "d_k"),
        y_title=Both("Var(q · k) / d_k", "Var(q·k) / d_k"),
        log_x=True,
        log_y=True,
        mark_y=1.0,
    )
    return Measured(
        {
            "drawn": float(by_width.mean()),
            "smallest": float(ratio.min()),
            "median": float(np.median(ratio)),
            "largest": float(ratio.max()),
            "mean": float(np.abs(heads["mean"] / np.sqrt(heads["variance"])).median()),
        },
        picture,
    )


VARIANCE = Question(
    16,
    asked=Both("Is the variance of q · k equal to d_k?", "q·k 的方差等于 d_k 吗？"),
    said=Both(
        "Queries and keys have mean 0 and variance 1, so q · k has mean 0 and variance d_k.",
        "Q、K 的各分量均值为 0、方差为 1，所以 q·k 的均值为 0、方差为 d_k。",
    ),
    parts=(
        Part(
            Both(
                "Of independent entries with mean 0 and variance 1 the variance is d_k.",
                "各分量独立、均值为 0、方差为 1 时，方差等于 d_k。",
            ),
            (near("drawn", 1, within=0.05),),
        ),
        Part(
            Both("In the heads of this model it is d_k too.", "在该模型的各个头中，方差也等于 d_k。"),
            (near("smallest", 1, within=0.05), near("largest", 1, within=0.05)),
        ),
        Part(
            Both("In the heads of this model the mean is 0.", "在该模型的各个头中，均值为 0。"),
            (around("mean", 0, within=0.1),),
        ),
    ),
    measure=_variance,
    numbers={
        "drawn": Quantity(Both("Var(q · k) / d_k, drawn at random", "Var(q·k) / d_k，随机抽取")),
        "smallest": Quantity(Both("Var(q · k) / d_k, smallest of all heads", "Var(q·k) / d_k，各头最小值")),
        "median": Quantity(Both("Var(q · k) / d_k, median of heads", "Var(q·k) / d_k，各头中位数")),
        "largest": Quantity(Both("Var(q · k) / d_k, largest of all heads", "Var(q·k) / d_k，各头最大值")),
        "mean": Quantity(Both("|mean| / deviation of q · k, median of heads", "q·k 的 |均值| / 标准差，各头中位数")),
    },
    setting=Both(
        "Drawn: standard normal entries, d_k from 4 to 4,096, seed 0. Heads: q · k before the scale, over all cells of "
        "the text that no mask hides.",
        "随机：标准正态分量，d_k 从 4 到 4096，种子 0。各头：缩放之前的 q·k，取文本中未被掩码遮住的所有格子。",
    ),
    because=Both(
        "The paper says so in a footnote, of independent components with mean 0 and variance 1. Trained queries and "
        "keys are neither independent nor of variance 1: projections are initialised smaller, and training moves both.",
        "原论文在脚注中这样写，前提是各分量独立、均值为 0、方差为 1。训练后的 Q、K 既不独立，方差也不是 1："
        "投影矩阵的初始值更小，训练又会改变它们。",
    ),
    refuted=Both(
        "Heads whose variance is d_k within 5 % on ordinary text, or random entries whose variance is not.",
        "如果普通文本上各头的方差与 d_k 相差不到 5 %，或者随机分量的方差不等于 d_k，结论就被推翻。",
    ),
    formula=r"\frac{\mathrm{Var}(q \cdot k)}{d_k}: \quad <drawn> \ (q, k \sim \mathcal{N}(0, 1)), \quad"
    r" <median> \ (q = W_Q x, \ k = W_K x)",
    papers=(VASWANI_2017,),
    see=See("scores", {"section": "Every head"}),
    of=SEES_QUERIES,
)


_DRAWN = Both(
    "Standard normal queries and keys, 64 keys, d_k from 4 to 4,096, seed 0.",
    "Q、K 取标准正态随机数，64 个键，d_k 从 4 到 4096，种子 0。",
)


def _by_width(subject: Subject, column: str, title: Both) -> Lines:
    """The picture of a column without the scale and with it."""
    drawn = _drawn(subject)
    widths = drawn["width"].tolist()
    return Lines(
        (
            Series(Both("without the scale", "不缩放"), widths, drawn[column].tolist(), dashed=True),
            Series(Both("with the scale", "缩放"), widths, drawn[f"scaled_{column}"].tolist()),
        ),
        x_title=Both("d_k", "d_k"),
        y_title=title,
        log_x=True,
        log_y=True,
    )


def _scaled_variance(subject: Subject) -> Measured:
    drawn = _drawn(subject)["scaled_variance"]
    numbers = {
        "smallest": float(drawn.min()),
        "largest": float(drawn.max()),
        "heads": float(_heads(subject)["scaled"].median()),
    }
    return Measured(numbers, _by_width(subject, "variance", Both("Var(q · k)", "Var(q·k)")))


SCALED_VARIANCE = Question(
    17,
    asked=Both("Is the variance 1 after dividing by √d_k?", "除以 √d_k 之后方差是 1 吗？"),
    said=Both("Dividing the scores by √d_k brings their variance back to 1.", "把分数除以 √d_k，方差就回到 1。"),
    parts=(
        Part(
            Both(
                "Of independent entries with variance 1 it is 1 at every width.",
                "各分量独立、方差为 1 时，任何 d_k 下方差都是 1。",
            ),
            (near("smallest", 1, within=0.05), near("largest", 1, within=0.05)),
        ),
    ),
    measure=_scaled_variance,
    numbers={
        "smallest": Quantity(Both("variance after the scale, smallest of all widths", "缩放后的方差，各 d_k 最小值")),
        "largest": Quantity(Both("variance after the scale, largest of all widths", "缩放后的方差，各 d_k 最大值")),
        "heads": Quantity(
            Both("variance after the scale, median of this model's heads", "缩放后的方差，该模型各头中位数")
        ),
    },
    setting=Both(_DRAWN.en + " Heads: all cells that no mask hides.", _DRAWN.zh + "各头：所有未被遮住的格子。"),
    because=Both(
        "A factor c on a number is c² on its variance, so 1/√d_k takes out d_k. That needs the entries to be "
        "independent with variance 1, which nothing keeps so in training; the heads' own number stands beside.",
        "数乘以 c，方差乘以 c²，所以 1/√d_k 正好抵消 d_k。前提是各分量独立、方差为 1，训练并不保证这一点；"
        "旁边列出了该模型各头的数值。",
    ),
    refuted=Both(
        "A width at which the variance of scaled random scores differs from 1 by more than 5 %.",
        "如果某个 d_k 下随机分数缩放后的方差与 1 相差超过 5 %，结论就被推翻。",
    ),
    formula=r"\mathrm{Var}\!\left(\frac{q \cdot k}{\sqrt{d_k}}\right) = \frac{d_k}{d_k} = 1: \quad"
    r" <smallest> \ldots <largest>",
    papers=(VASWANI_2017,),
    see=See("scores", {"section": "Theory"}),
    of=SEES_QUERIES,
)


def _saturation(subject: Subject) -> Measured:
    drawn = _drawn(subject).set_index("width")
    ratio = drawn["jacobian_median"] / drawn["scaled_jacobian_median"]
    numbers = {
        "narrow": float(ratio[4]),
        "wide": float(ratio[512]),
        "crossover": theory.crossover(_drawn(subject)) or float("nan"),
        "scaled_narrow": float(drawn["scaled_jacobian_median"][4]),
        "scaled_wide": float(drawn["scaled_jacobian_median"][4096]),
    }
    return Measured(numbers, _by_width(subject, "jacobian_median", Both("‖J‖, median", "‖J‖，中位数")))


SATURATION = Question(
    18,
    asked=Both(
        "Do large scores saturate the softmax until its gradient vanishes?", "分数过大会让 softmax 饱和、梯度消失吗？"
    ),
    said=Both(
        "Without the scale the softmax is nearly one-hot and its gradient vanishes.",
        "不缩放时 softmax 接近 one-hot，梯度消失。",
    ),
    parts=(
        Part(
            Both("At d_k = 512 a typical row passes far less gradient.", "d_k = 512 时，典型的一行梯度小得多。"),
            (below("wide", 0.1),),
        ),
        Part(
            Both("At d_k = 4 a typical row passes less gradient too.", "d_k = 4 时，典型的一行梯度也更小。"),
            (below("narrow", 1),),
        ),
        Part(
            Both("With the scale the gradient hardly depends on d_k.", "缩放后梯度几乎与 d_k 无关。"),
            (near("scaled_narrow", "scaled_wide", within=0.1),),
        ),
    ),
    measure=_saturation,
    numbers={
        "narrow": Quantity(Both("‖J‖ without the scale / with it, d_k = 4", "‖J‖ 不缩放 / 缩放，d_k = 4")),
        "wide": Quantity(Both("‖J‖ without the scale / with it, d_k = 512", "‖J‖ 不缩放 / 缩放，d_k = 512")),
        "crossover": Quantity(Both("d_k from which the scale passes more gradient", "从该 d_k 起缩放的梯度更大")),
        "scaled_narrow": Quantity(Both("‖J‖ with the scale, d_k = 4", "缩放后的 ‖J‖，d_k = 4")),
        "scaled_wide": Quantity(Both("‖J‖ with the scale, d_k = 4,096", "缩放后的 ‖J‖，d_k = 4096")),
    },
    setting=Both(
        _DRAWN.en + " ‖J‖: Frobenius norm of the softmax's Jacobian, median over rows.",
        _DRAWN.zh + "‖J‖：softmax 雅可比矩阵的 Frobenius 范数，取各行的中位数。",
    ),
    because=Both(
        "The Jacobian goes to 0 at a one-hot row, but it is small at an even row as well. Narrow heads without the "
        "scale lie between the two. The paper itself says: we suspect.",
        "one-hot 的行雅可比趋于 0，均匀的行雅可比也很小；d_k 小而不缩放时恰好介于两者之间。原论文也只说“我们怀疑”。",
    ),
    refuted=Both(
        "Wide random heads whose typical row keeps its gradient without the scale.",
        "如果 d_k 很大、不缩放时典型的一行仍保有梯度，结论就被推翻。",
    ),
    formula=r"\frac{\|J\|}{\|J_{1/\sqrt{d_k}}\|}: \quad <narrow> \ (d_k = 4), \quad <wide> \ (d_k = 512)",
    papers=(VASWANI_2017,),
    see=See("scores", {"section": "Theory"}),
)


def _explosion(subject: Subject) -> Measured:
    wide, narrow = _at(subject, 1024), _at(subject, 4)
    numbers = {
        "without": float(wide["gradient_median"]),
        "with": float(wide["scaled_gradient_median"]),
        "narrow": float(narrow["gradient_median"]),
        "mean_without": float(wide["gradient_mean"]),
        "mean_with": float(wide["scaled_gradient_mean"]),
    }
    return Measured(numbers, _by_width(subject, "gradient_median", Both("‖dp/dq‖, median", "‖dp/dq‖，中位数")))


EXPLOSION = Question(
    19,
    asked=Both("Does the scale prevent exploding gradients?", "缩放是为了防止梯度爆炸吗？"),
    said=Both("Scores are scaled to keep gradients from exploding.", "缩放分数是为了避免梯度爆炸。"),
    parts=(
        Part(
            Both("Without the scale a query's typical gradient is larger.", "不缩放时，查询的典型梯度更大。"),
            (above("without", "with"),),
        ),
        Part(
            Both("Without the scale it grows with d_k.", "不缩放时，它随 d_k 增大。"),
            (above("without", "narrow"),),
        ),
    ),
    measure=_explosion,
    numbers={
        "without": Quantity(
            Both("‖dp/dq‖ without the scale, median, d_k = 1,024", "不缩放的 ‖dp/dq‖，中位数，d_k = 1024")
        ),
        "with": Quantity(Both("‖dp/dq‖ with the scale, median, d_k = 1,024", "缩放的 ‖dp/dq‖，中位数，d_k = 1024")),
        "narrow": Quantity(Both("‖dp/dq‖ without the scale, median, d_k = 4", "不缩放的 ‖dp/dq‖，中位数，d_k = 4")),
        "mean_without": Quantity(
            Both("‖dp/dq‖ without the scale, mean, d_k = 1,024", "不缩放的 ‖dp/dq‖，均值，d_k = 1024")
        ),
        "mean_with": Quantity(Both("‖dp/dq‖ with the scale, mean, d_k = 1,024", "缩放的 ‖dp/dq‖，均值，d_k = 1024")),
    },
    setting=_DRAWN,
    because=Both(
        "The paper speaks of extremely small gradients. The idea of an explosion has a grain of truth: the derivative "
        "without the scale is √d_k times as steep, so the few rows with two near-equal scores spike, which lifts the "
        "mean but not the typical row.",
        "原论文说的是梯度极小。“爆炸”也有一点道理：不缩放时导数陡 √d_k 倍，少数两个分数相近的行会出现尖峰，"
        "均值因此升高，典型的行却不然。",
    ),
    refuted=Both(
        "Wide random heads whose median gradient is larger without the scale.",
        "如果 d_k 很大时，不缩放的梯度中位数反而更大，结论就被推翻。",
    ),
    formula=r"\left\|\frac{\partial p}{\partial q}\right\|: \quad <without> \;(1), \quad <with> \;(1/\sqrt{d_k})",
    papers=(VASWANI_2017,),
    see=See("scores", {"section": "Theory"}),
)


def _outputs(subject: Subject) -> Measured:
    generator = np.random.default_rng(0)
    dots = generator.standard_normal((64, 512)) @ generator.standard_normal((512, 64))
    without, scaled = theory.softmax(dots), theory.softmax(dots / np.sqrt(512))
    numbers = {
        "largest": float(without.max()),
        "sum_without": float(without.sum(axis=-1).mean()),
        "sum_with": float(scaled.sum(axis=-1).mean()),
        "input_without": float(dots.max()),
        "input_with": float(dots.max() / np.sqrt(512)),
        "model": float(_heads(subject)["high"].max()),
    }
    names = (Both("largest input", "最大输入"), Both("largest output", "最大输出"), Both("sum of outputs", "输出之和"))
    values = (numbers["input_without"], numbers["largest"], numbers["sum_without"])
    return Measured(numbers, Bars(names, values, Both("without the scale, d_k = 512", "不缩放，d_k = 512")))


OUTPUTS = Question(
    20,
    asked=Both("Is the scale there because softmax outputs get too large?", "缩放是因为 softmax 的输出太大吗？"),
    said=Both("Without the scale the outputs of the softmax are too large.", "不缩放的话，softmax 的输出会过大。"),
    parts=(
        Part(
            Both("Without the scale outputs go above 1.", "不缩放时输出会超过 1。"),
            (above("largest", 1 + 1e-6),),
        ),
        Part(
            Both("The scale makes the outputs smaller in all.", "缩放使输出总体变小。"),
            (below("sum_with", "sum_without", times=0.999),),
        ),
    ),
    measure=_outputs,
    numbers={
        "largest": Quantity(Both("largest output without the scale", "不缩放时的最大输出")),
        "sum_without": Quantity(Both("sum of a row's outputs without the scale", "不缩放时一行输出之和")),
        "sum_with": Quantity(Both("sum of a row's outputs with the scale", "缩放后一行输出之和")),
        "input_without": Quantity(Both("largest input without the scale", "不缩放时的最大输入")),
        "input_with": Quantity(Both("largest input with the scale", "缩放后的最大输入")),
        "model": Quantity(Both("largest input of this model on the text", "该模型在此文本上的最大输入")),
    },
    setting=Both(
        "64 standard normal queries and keys, d_k = 512, seed 0; the last number is of the reader's model and text.",
        "64 个标准正态的 Q 和 K，d_k = 512，种子 0；最后一个数来自读者的模型和文本。",
    ),
    because=Both(
        "The inputs are large, not the outputs. A softmax divides by the sum, so each row sums to 1 whatever goes in; "
        "what changes is how that 1 is shared out.",
        "大的是输入，不是输出。softmax 会除以总和，无论输入多大，每行之和都是 1；改变的只是这个 1 怎么分配。",
    ),
    refuted=Both(
        "A row of softmax outputs that does not sum to 1.", "如果某一行 softmax 输出之和不为 1，结论就被推翻。"
    ),
    formula=r"\sum_j \frac{e^{s_j}}{\sum_l e^{s_l}} = <sum_without>, \qquad \max_j s_j = <input_without>",
    papers=(VASWANI_2017,),
    see=See("scores", {"section": "Theory"}),
    of=SEES_QUERIES,
)


def _example(subject: Subject) -> Measured:
    example, many = theory.example(keys=64, width=64), theory.example(keys=512, width=64)
    numbers = {
        "weight": example.weight,
        "many": many.weight,
        "drawn": example.drawn_weight,
        "largest": example.drawn_largest,
    }
    keys = (2, 10, 64, 128, 256, 512)
    weights = [theory.weight(keys=n, score=8.0) for n in keys]
    line = Series(Both("weight of a score of 8", "分数 8 的权重"), keys, weights)
    return Measured(
        numbers, Lines((line,), x_title=Both("keys", "键的个数"), y_title=Both("weight", "权重"), log_x=True)
    )


EXAMPLE = Question(
    21,
    asked=Both("With d_k = 64, does one score of 8 take 98 %?", "d_k = 64 时，分数 8 会占到 98 % 吗？"),
    said=Both(
        "With d_k = 64 one score reaches 8: e^8 / (e^8 + 63) = 0.98, so the softmax is one-hot.",
        "d_k = 64 时某个分数达到 8：e^8 / (e^8 + 63) = 0.98，softmax 接近 one-hot。",
    ),
    parts=(
        Part(
            Both("e^8 / (e^8 + 63) is 0.98.", "e^8 / (e^8 + 63) 等于 0.98。"),
            (around("weight", 0.98, within=0.005),),
        ),
        Part(
            Both("It is 0.98 however many keys there are.", "无论有多少个键，都是 0.98。"),
            (around("many", 0.98, within=0.05),),
        ),
        Part(
            Both("It is 0.98 where the other scores are random too.", "其他分数同样随机时，也是 0.98。"),
            (around("drawn", 0.98, within=0.05),),
        ),
    ),
    measure=_example,
    numbers={
        "weight": Quantity(Both("weight among 64 keys, the others at 0", "64 个键中的权重，其余分数为 0")),
        "many": Quantity(Both("weight among 512 keys, the others at 0", "512 个键中的权重，其余分数为 0")),
        "drawn": Quantity(
            Both(
                "mean weight among 64 keys, the others drawn from N(0, 64)",
                "64 个键中的平均权重，其余分数取自 N(0, 64)",
            )
        ),
        "largest": Quantity(Both("mean largest weight of 64 random scores", "64 个随机分数中最大权重的平均值")),
    },
    setting=Both(
        "One key has the score 8, one standard deviation at d_k = 64. Seed 0.",
        "一个键的分数为 8，即 d_k = 64 时的一个标准差。种子 0。",
    ),
    because=Both(
        "The 63 counts the other keys, not the features: it is n − 1, and d_k − 1 only by chance. And the others do "
        "not stay at 0: their scores spread as widely.",
        "63 是其余键的个数 n − 1，不是特征数 d_k − 1，这里只是碰巧相等。而且其余分数不会都是 0，它们同样分散。",
    ),
    refuted=Both("A weight that does not depend on the number of keys.", "如果权重与键的个数无关，结论就被推翻。"),
    formula=r"\frac{e^8}{e^8 + 63} = <weight>, \qquad \frac{e^8}{e^8 + 511} = <many>",
    see=See("scores", {"section": "Theory"}),
)


def _sigmas(subject: Subject) -> Measured:
    row = subject.once("scores drawn at 100", lambda: theory.drawn(keys=64, seed=0, widths=(100,))).iloc[0]
    sigmas = 10 / float(np.sqrt(row["variance"]))
    return Measured({"sigmas": sigmas, "ten": theory.outside(10), "one": theory.outside(sigmas)})


SIGMAS = Question(
    22,
    asked=Both("With d_k = 100, is ±10 ten standard deviations?", "d_k = 100 时，±10 是 10 个标准差吗？"),
    said=Both(
        "With d_k = 100 the dot product may well reach ±10 standard deviations.",
        "d_k = 100 时，点积可能达到 ±10 个标准差。",
    ),
    parts=(
        Part(
            Both("A score of 10 is 10 standard deviations.", "分数 10 就是 10 个标准差。"),
            (around("sigmas", 10, within=0.5),),
        ),
        Part(
            Both("10 standard deviations occur at least once in a million.", "10 个标准差至少百万分之一的机会出现。"),
            (above("ten", 1e-6),),
        ),
    ),
    measure=_sigmas,
    numbers={
        "sigmas": Quantity(Both("standard deviations of a score of 10", "分数 10 相当于几个标准差")),
        "one": Quantity(Both("probability of a score beyond ±10", "分数超出 ±10 的概率")),
        "ten": Quantity(Both("probability beyond ±10 standard deviations", "超出 ±10 个标准差的概率")),
    },
    setting=Both(
        "Standard normal queries and keys, d_k = 100, seed 0; probabilities of a normal distribution.",
        "标准正态的 Q、K，d_k = 100，种子 0；概率按正态分布计算。",
    ),
    because=Both(
        "The variance is 100, so the standard deviation is its root. The two are easily mixed up.",
        "方差是 100，标准差是它的平方根。两者容易混淆。",
    ),
    refuted=Both(
        "Random scores at d_k = 100 with a standard deviation of 1.",
        "如果 d_k = 100 时随机分数的标准差是 1，结论就被推翻。",
    ),
    formula=r"\frac{10}{\sigma} = <sigmas>, \qquad P(|z| > 10) = <ten>",
    see=See("scores", {"section": "Theory"}),
)


def _normal(subject: Subject) -> Measured:
    drawn = _drawn(subject).set_index("width")["excess"]
    heads = _heads(subject)
    numbers = {
        "narrow": float(drawn[4]),
        "wide": float(drawn[4096]),
        "heads": float(heads["kurtosis"].abs().median()),
    }
    widths = [int(width) for width in drawn.index]
    picture = Lines(
        (
            Series(Both("drawn at random", "随机抽取"), widths, drawn.tolist()),
            Series(
                Both("heads of this model", "该模型的各个头"),
                heads["d_k"].tolist(),
                heads["kurtosis"].tolist(),
                points=True,
            ),
        ),
        x_title=Both("d_k", "d_k"),
        y_title=Both("excess kurtosis", "超额峰度"),
        log_x=True,
        mark_y=0.0,
    )
    return Measured(numbers, picture)


NORMAL = Question(
    23,
    asked=Both("Is q · k normally distributed?", "q·k 服从正态分布吗？"),
    said=Both("By the central limit theorem q · k is N(0, d_k).", "由中心极限定理，q·k 服从 N(0, d_k)。"),
    parts=(
        Part(
            Both("Of independent entries at d_k = 4,096 it is.", "分量独立、d_k = 4096 时是。"),
            (around("wide", 0, within=0.15),),
        ),
        Part(
            Both("Of independent entries at d_k = 4 it is.", "分量独立、d_k = 4 时是。"),
            (around("narrow", 0, within=0.15),),
        ),
        Part(
            Both("In a typical head of this model it is.", "在该模型典型的头中是。"), (around("heads", 0, within=0.15),)
        ),
    ),
    measure=_normal,
    numbers={
        "narrow": Quantity(Both("excess kurtosis, d_k = 4", "超额峰度，d_k = 4")),
        "wide": Quantity(Both("excess kurtosis, d_k = 4,096", "超额峰度，d_k = 4096")),
        "heads": Quantity(Both("|excess kurtosis|, median of this model's heads", "|超额峰度|，该模型各头中位数")),
    },
    setting=Both(
        _DRAWN.en + " Heads: all cells of the text that no mask hides.", _DRAWN.zh + "各头：文本中所有未被遮住的格子。"
    ),
    because=Both(
        "The theorem speaks of the limit of many independent terms. Of normal entries the excess kurtosis is 6/d_k: "
        "gone in wide heads, plain in narrow ones. Trained entries are not independent.",
        "中心极限定理说的是大量独立项之和的极限。正态分量的超额峰度为 6/d_k：d_k 大时可忽略，d_k 小时明显。"
        "训练后的分量并不独立。",
    ),
    refuted=Both("Random q · k at d_k = 4 without heavy tails.", "如果 d_k = 4 时随机的 q·k 没有厚尾，结论就被推翻。"),
    formula=r"\kappa = \frac{6}{d_k}: \quad <narrow> \ (d_k = 4), \quad <wide> \ (d_k = 4096)",
    see=See("scores", {"section": "One head"}),
    of=SEES_QUERIES,
)


def _attended(factor: float) -> tuple[float, float]:
    """The median norm of the loss's gradient by a query, and the norm of that by all values, at a factor on q . k."""
    generator = torch.Generator().manual_seed(0)
    q, k, v, r = (torch.randn(64, 64, generator=generator, dtype=torch.float64) for _ in range(4))
    q.requires_grad_()
    v.requires_grad_()
    loss: Tensor = (((q @ k.T * factor).softmax(dim=-1) @ v) * r).sum()
    of_q, of_v = torch.autograd.grad(loss, (q, v))
    return float(of_q.norm(dim=-1).median()), float(of_v.norm())


def _jacobian(subject: Subject) -> Measured:
    row = torch.randn(16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    by_autograd = torch.autograd.functional.jacobian(lambda s: s.softmax(dim=-1), row)  # type: ignore[no-untyped-call]
    p = row.softmax(dim=-1)
    (q, v), (far_q, far_v) = _attended(1 / 8), _attended(8)
    numbers = {
        "apart": float((by_autograd - (p.diag() - p[:, None] * p)).abs().max()),
        "query": far_q / q,
        "value": far_v / v,
    }
    names = (Both("queries", "查询"), Both("values", "值"))
    bars = Bars(
        names, (numbers["query"], numbers["value"]), Both("gradient, saturated / scaled", "梯度，饱和 / 缩放"), log=True
    )
    return Measured(numbers, bars)


JACOBIAN = Question(
    24,
    asked=Both("Do parameter updates stop where the softmax is saturated?", "softmax 饱和时，参数就停止更新吗？"),
    said=Both(
        "dp_i/ds_j = p_i (δ_ij − p_j), so at a one-hot row the gradient is 0 and parameters are no longer updated.",
        "dp_i/ds_j = p_i (δ_ij − p_j)，one-hot 时梯度为 0，参数不再更新。",
    ),
    parts=(
        Part(
            Both("The Jacobian is p_i (δ_ij − p_j).", "雅可比矩阵是 p_i (δ_ij − p_j)。"),
            (below("apart", 1e-7),),
        ),
        Part(Both("Gradients of queries nearly vanish.", "查询的梯度几乎消失。"), (below("query", 0.05),)),
        Part(Both("Gradients of values nearly vanish.", "值的梯度几乎消失。"), (below("value", 0.05),)),
    ),
    measure=_jacobian,
    numbers={
        "apart": Quantity(
            Both("largest difference of the formula from automatic differentiation", "公式与自动微分的最大差")
        ),
        "query": Quantity(Both("a query's gradient, saturated / scaled, median", "查询的梯度，饱和 / 缩放，中位数")),
        "value": Quantity(Both("the values' gradient, saturated / scaled", "值的梯度，饱和 / 缩放")),
    },
    setting=Both(
        "64 random queries, keys, values of width 64, float64, seed 0; saturated: q · k times 8 in place of 1/8.",
        "64 个随机的 Q、K、V，宽度 64，float64，种子 0；饱和：q·k 乘以 8，而不是 1/8。",
    ),
    because=Both(
        "The Jacobian stands on the path to queries and keys alone. Values get their gradient through the weights "
        "themselves, which a one-hot row passes on whole.",
        "雅可比只在通往 Q、K 的路径上。V 的梯度经过权重本身，one-hot 的行会把它完整传过去。",
    ),
    refuted=Both(
        "A saturated attention whose values get no gradient.", "如果注意力饱和时 V 也得不到梯度，结论就被推翻。"
    ),
    formula=r"\frac{\partial p_i}{\partial s_j} = p_i (\delta_{ij} - p_j), \quad \frac{\|g_q\|}{\|g_q^0\|} = <query>,"
    r" \quad \frac{\|g_v\|}{\|g_v^0\|} = <value>",
    papers=(VASWANI_2017,),
    see=See("scores", {"section": "Gradients"}),
)

SCALE_OR_NOT = Experiment(task="sort", a=Switches(heads=1), b=Switches(heads=1, scale="none"), seeds=2)


def _constant(subject: Subject) -> Measured:
    generator = np.random.default_rng(0)
    q, k = generator.standard_normal((512, 64)), generator.standard_normal((64, 512))
    scaled = q @ k / 8
    numbers = {"usual": float(scaled.var()), "larger": float((3 * scaled).var())}
    bars = Bars(
        (Both("queries of variance 1", "查询方差为 1"), Both("queries three times as large", "查询放大 3 倍")),
        tuple(numbers.values()),
        Both("variance of the scaled scores", "缩放后分数的方差"),
        mark=1.0,
    )
    return Measured(numbers, bars)


def trained(experiment: Experiment, watch: Watch) -> Measured:
    """Train both sides: the shares of texts without a mistake at the end, a and b, means over seeds."""
    from models.training.lab import Course, train_both

    courses: dict[tuple[str, int], Course] = {}
    total = 2 * experiment.seeds * experiment.steps
    watch(0, total)
    for course in train_both(experiment):
        courses[course.side, course.run.seed] = course
        watch(sum(one.curve[-1].step for one in courses.values()), total)
    ends = {
        side: float(np.mean([one.curve[-1].exact_accuracy for (own, _), one in courses.items() if own == side]))
        for side in ("A", "B")
    }
    lines = [
        Series(side, [at.step for at in one.curve], [at.exact_accuracy for at in one.curve], dashed=side == "B")
        for (side, seed), one in courses.items()
        if seed == 0
    ]
    picture = Lines(lines, x_title=Both("step", "步"), y_title=Both("texts without a mistake", "全对率"))
    return Measured({"a": ends["A"], "b": ends["B"]}, picture)


def _scale_whole(subject: Subject, watch: Watch) -> Measured:
    return trained(SCALE_OR_NOT, watch)


TRAINS_BETTER = Question(
    25,
    asked=Both("Is the scale a normalisation that makes training stable?", "缩放相当于归一化，能让训练更稳定吗？"),
    said=Both(
        "The scale works like a normalisation; experiments show that training is faster and more stable.",
        "缩放类似归一化；实验表明训练更快、更稳定。",
    ),
    parts=(
        Part(
            Both("Of entries with variance 1 it brings the variance to 1.", "分量方差为 1 时，缩放使方差为 1。"),
            (near("usual", 1, within=0.05),),
        ),
        Part(
            Both(
                "Like a normalisation it does so whatever the variance was.", "像归一化一样，无论原来方差多大都变为 1。"
            ),
            (near("larger", 1, within=0.05),),
        ),
    ),
    measure=_constant,
    numbers={
        "usual": Quantity(Both("variance of scaled scores, entries of variance 1", "缩放后分数的方差，分量方差为 1")),
        "larger": Quantity(Both("the same, queries three times as large", "同上，查询放大 3 倍")),
    },
    setting=Both(
        "512 queries and keys, d_k = 64, standard normal, seed 0. What training shows is in the whole run.",
        "512 个 Q 和 K，d_k = 64，标准正态，种子 0。训练的结果见完整实验。",
    ),
    because=Both(
        "The scale is a constant: it reads no statistics, so it cannot correct scores that grow. The paper gives a "
        "reason for it and no ablation; the often-told experiment is not in it.",
        "缩放只是一个常数，不计算任何统计量，分数变大时无法纠正。原论文只给出理由，没有做消融；"
        "常被提到的“实验”并不在论文里。",
    ),
    refuted=Both(
        "Scaled scores whose variance stays 1 when queries grow.", "如果查询变大而缩放后的方差仍为 1，结论就被推翻。"
    ),
    formula=r"\mathrm{Var}(s) = <usual>, \qquad \mathrm{Var}(3s) = <larger>",
    papers=(VASWANI_2017,),
    see=See("lab", {"lab_task": "sort", "lab_a_heads": "1", "lab_b_heads": "1", "lab_b_scale": "none"}),
    whole=Whole(
        run=_scale_whole,
        about=Both(
            "The Lab's Transformer with one head learns to sort digits, with the scale (A) and without (B), two seeds.",
            "Lab 的单头 Transformer 学习给数字排序，缩放（A）与不缩放（B），各两个种子。",
        ),
        parts=(Part(Both("With the scale it learns better.", "缩放时学得更好。"), (above("a", "b", times=1.05),)),),
        numbers={
            "a": Quantity(Both("texts without a mistake at the end, with the scale", "最后的全对率，缩放"), "%"),
            "b": Quantity(Both("texts without a mistake at the end, without", "最后的全对率，不缩放"), "%"),
        },
        stored=Stored(
            {"a": 0.961, "b": 0.439},
            command="python -m inspector.questions --only 25 --whole",
            seeds="0, 1",
            date="2026-11-23",
        ),
    ),
)


THEME = Theme(
    "scale",
    Both("The scale 1/√d_k", "缩放 1/√d_k"),
    (
        VARIANCE,
        SCALED_VARIANCE,
        SATURATION,
        EXPLOSION,
        OUTPUTS,
        EXAMPLE,
        SIGMAS,
        NORMAL,
        JACOBIAN,
        TRAINS_BETTER,
    ),
)
