"""The scale: why scores are divided by the root of d_k. Questions 16 to 25."""

from __future__ import annotations

import numpy as np

from inspector import scores
from inspector.questions.record.both import Both
from inspector.questions.record.checks import around, near
from inspector.questions.record.papers import VASWANI_2017
from inspector.questions.record.picture import Lines, Series
from inspector.questions.record.question import Measured, Part, Quantity, Question, See, Theme
from inspector.questions.record.subject import Subject
from inspector.questions.themes.projections import SEES_QUERIES
from inspector.scores import theory


def _variance(subject: Subject) -> Measured:
    drawn = subject.once("scores drawn", lambda: theory.drawn(keys=64, seed=0))
    heads = subject.once("scores of heads", lambda: scores.measure(subject.trace)).dropna(subset=["ratio"])
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
    formula=r"\frac{\mathrm{Var}(q \cdot k)}{d_k}: \quad <drawn> \text{ (random)}, \quad <median> \text{ (heads)}",
    papers=(VASWANI_2017,),
    see=See("scores", {"section": "Every head"}),
    of=SEES_QUERIES,
)


THEME = Theme("scale", Both("The scale 1/√d_k", "缩放 1/√d_k"), (VARIANCE,))
