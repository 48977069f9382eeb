"""BatchNorm: which statistics it takes, and what padding and the batch size change. Questions 53, 55 to 59 and 66."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from inspector import normalization
from inspector.questions.record.both import Both
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import Measure, Measurement
from inspector.questions.record.subject import Subject
from inspector.questions.themes.together import BESIDE, TextBatch, before_a_norm, sentences, together
from models.training.recipes import MINI_BERT
from models.transformer import norms

PADDED = 20  # columns of padding that are added
COLUMNS = (0, 5, 10, 20, 40, 80)
SIZES = (1, 4, 16, 64)  # texts in a batch
STEPS = 100  # updates of the running averages


def _dimensions(subject: Subject) -> Measurement:
    x = torch.from_numpy(together(subject).x)  # [N, T, D]
    features = x.shape[-1]

    def given(values: torch.Tensor, made: nn.Module) -> torch.Tensor:
        with torch.no_grad():
            normalised: torch.Tensor = made.double().train()(values)
        return normalised

    def taken(values: torch.Tensor, *axes: int) -> torch.Tensor:
        mean, variance = values.mean(axes, keepdim=True), values.var(axes, correction=0, keepdim=True)
        return (values - mean) / (variance + 1e-5).sqrt()

    texts = x.transpose(1, 2)  # [N, D, T]
    images = torch.randn(8, 3, 6, 6, generator=torch.Generator().manual_seed(0)).double()
    rows, sequences = given(x[:, 0], nn.BatchNorm1d(features)), given(texts, nn.BatchNorm1d(features))
    differences = {
        "rows": float((rows - taken(x[:, 0], 0)).abs().max()),
        "texts": float((sequences - taken(texts, 0)).abs().max()),
        "pooled": float((sequences - taken(texts, 0, 2)).abs().max()),
        "images": float((given(images, nn.BatchNorm2d(3)) - taken(images, 0, 2, 3)).abs().max()),
    }
    return Measurement(
        differences,
        Bars(
            [
                Both("[N, D], over N", "[N, D]，沿 N"),
                Both("[N, D, T], over N", "[N, D, T]，沿 N"),
                Both("[N, D, T], over N and T", "[N, D, T]，沿 N 和 T"),
                Both("[N, C, H, W], over N, H and W", "[N, C, H, W]，沿 N、H、W"),
            ],
            list(differences.values()),
            Both("largest difference from torch's BatchNorm", "与 torch 的 BatchNorm 的最大差"),
            parts=["norm"] * 4,
        ),
    )


def _padding(subject: Subject) -> Measurement:
    batch = together(subject)
    before = batch.empty

    def moved(norm: normalization.OtherNorm, columns: int) -> float:
        wide = np.pad(before, ((0, 0), (0, columns), (0, 0)))
        keep = np.pad(batch.keep, ((0, 0), (0, columns)))
        first = normalization.through(before, batch.keep, norm=norm, epsilon=batch.epsilon)[batch.keep]
        return float(np.abs(normalization.through(wide, keep, norm=norm, epsilon=batch.epsilon)[keep] - first).max())

    kinds: dict[normalization.OtherNorm, Both] = {
        "batch": Both("BatchNorm, padding counted", "BatchNorm，计入填充"),
        "masked batch": Both("BatchNorm, padding masked", "BatchNorm，排除填充"),
        "layer": Both("LayerNorm", "LayerNorm"),
    }
    curves = {kind: [moved(kind, columns) for columns in COLUMNS] for kind in kinds}
    at = COLUMNS.index(PADDED)
    return Measurement(
        {
            "batch": curves["batch"][at],
            "layer": curves["layer"][at],
            "masked": curves["masked batch"][at],
            "padding": float(1 - batch.keep.mean()),
        },
        Lines(
            tuple(
                Series(name, COLUMNS, curves[kind], part="norm", dashed=kind != "batch") for kind, name in kinds.items()
            ),
            x_title=Both("columns of padding added", "增加的填充列数"),
            y_title=Both("largest change of a real token", "真实 token 的最大变化"),
        ),
    )


LENGTHS = (*[5] * 9, 20)  # tokens of the note's ten texts
NINE = Both(
    "The cat sat down quietly.\nTwo boys ran home early.\nRain fell on the roof.\nMy sister reads old books.\nWe ate "
    "bread and cheese.\nThe red door stayed shut.\nHe wrote a long letter.\nBirds sing before the dawn.\nShe sold her "
    "small house.",
    "小猫安静地坐下。\n两个男孩跑回家。\n雨落在屋顶上。\n姐姐喜欢读旧书。\n我们吃面包和奶酪。\n红色的门一直关着。"
    "\n他写了一封长信。\n"
    "天亮之前鸟儿歌唱。\n她卖掉了小房子。",
)
"""Nine texts, a line each, that are cut to five tokens."""


def notes_batch(subject: Subject) -> TextBatch:
    """The note's batch before the middle norm: nine texts of 5 tokens and one of 20, each the first of its text."""
    long = sentences(subject)[-1]
    nine = NINE.en if long in BESIDE.en else NINE.zh
    batch = before_a_norm(subject.loaded, [*nine.splitlines(), long])
    columns = max(LENGTHS)
    keep = batch.keep[:, :columns] & (np.arange(columns) < np.array(LENGTHS)[:, None])
    return TextBatch(batch.x[:, :columns], keep, batch.epsilon)


def _late(subject: Subject) -> Measurement:
    batch = notes_batch(subject)
    table = normalization.by_position(batch.x, batch.keep)
    late = table[table["position"] >= LENGTHS[0]]
    return Measurement(
        {
            "texts": float(len(batch.keep)),
            "fifth": float(table["count"].iloc[LENGTHS[0] - 1]),
            "alone": float((table["count"] == 1).sum()),
            "deviation": float(late["deviation"].max()) if len(late) else float("nan"),
            "pooled": float(batch.keep.sum()),
            "pooled_deviation": float(batch.x[batch.keep].std(axis=0).mean()),
        },
        Lines(
            (Series(Both("texts", "文本数"), table["position"].tolist(), table["count"].tolist(), part="norm"),),
            x_title=Both("position", "位置"),
            y_title=Both("texts with a real token there", "该位置有真实 token 的文本数"),
            mark_y=1.0,
        ),
    )


def noise(subject: Subject) -> dict[int, float]:
    """The move of BatchNorm's mean by texts in the batch, in deviations, on the reader's text and seven sentences."""

    def make() -> dict[int, float]:
        batch = together(subject)
        sizes = (*SIZES, *(_texts_of(tokens, batch) for tokens in STEPS_OF.values()))
        table = normalization.noise(batch.x, batch.keep, sizes=sizes)
        return {int(texts): float(move) for texts, move in table.itertuples(index=False)}

    return subject.once("noise of a batch", make)


STEPS_OF = {"mini": MINI_BERT.batch_tokens, "vaswani": 25_000, "bert": 256 * 512}
"""Tokens in a step of training: of mini-bert, of Vaswani et al. (section 5.1), of Devlin et al. (appendix A.2)."""


def _texts_of(tokens: int, batch: TextBatch) -> int:
    """The number of texts, of the batch's mean length, in a training step of so many tokens."""
    return max(1, round(tokens / float(batch.keep.sum(axis=1).mean())))


def _small(subject: Subject) -> Measurement:
    moves = noise(subject)
    raised = 0.0
    try:
        nn.BatchNorm1d(4).train()(torch.zeros(1, 4))
    except ValueError:
        raised = 1.0
    return Measurement(
        {"one": moves[1], "four": moves[4], "sixteen": moves[16], "sixty_four": moves[64], "raised": raised},
        _noise_lines(moves),
    )


def _noise_lines(moves: dict[int, float]) -> Lines:
    sizes = sorted(moves)
    root = [moves[1] / np.sqrt(size) for size in sizes]
    return Lines(
        (
            Series(Both("measured", "测得"), sizes, [moves[size] for size in sizes], part="norm"),
            Series(Both("1/√N", "1/√N"), sizes, root, part="norm", dashed=True),
        ),
        x_title=Both("texts in the batch, N", "批次中的文本数 N"),
        y_title=Both("move of the mean, in deviations", "均值的波动（以标准差为单位）"),
        log_x=True,
        log_y=True,
    )


def _large(subject: Subject) -> Measurement:
    moves, batch = noise(subject), together(subject)
    return Measurement(
        {
            **{name: moves[_texts_of(tokens, batch)] for name, tokens in STEPS_OF.items()},
            "four": moves[4],
            "one": moves[1],
        },
        _noise_lines(moves),
    )


def _running(subject: Subject) -> Measurement:
    batch = together(subject)
    x, keep = torch.from_numpy(batch.x), torch.tensor(batch.keep)
    width = x.shape[-1]
    seen, new = slice(1, -1), [0, -1]
    batch_norm = norms.BatchNorm(width, batch.epsilon, masked=True).double()
    layer_norm = norms.LayerNorm(width, batch.epsilon).double()
    with torch.no_grad():
        for _ in range(STEPS):
            batch_norm.train()(x[seen], keep=keep[seen])
        gaps = [
            (norm.eval()(x[new], keep=keep[new]) - norm.train()(x[new], keep=keep[new]))[keep[new]].abs()
            for norm in (batch_norm, layer_norm)
        ]
    return Measurement(
        {"batch": float(gaps[0].max()), "mean": float(gaps[0].mean()), "layer": float(gaps[1].max())},
        Bars(
            [Both("BatchNorm", "BatchNorm"), Both("LayerNorm", "LayerNorm")],
            [float(gap.mean()) for gap in gaps],
            Both("mean difference between training and inference", "训练与推理之间的平均差"),
            parts=["norm"] * 2,
        ),
    )


def _both_sides(subject: Subject) -> Measurement:
    batch = together(subject)
    x, keep = batch.x, batch.keep
    running = normalization.running_statistics(x[1:], keep[1:])
    text, real = x[:1], keep[:1]

    def alone(norm: normalization.OtherNorm) -> float:
        beside = normalization.through(x, keep, norm=norm, epsilon=batch.epsilon, running=running)[:1][real]
        without = normalization.through(text, real, norm=norm, epsilon=batch.epsilon, running=running)[real]
        return float(np.abs(beside - without).max())

    width = x.shape[-1]
    weight = np.random.default_rng(0).normal(size=(width, width)) / np.sqrt(width)
    linear = (text @ weight.T)[real]
    mean, variance = running
    factor = 1 / np.sqrt(variance + batch.epsilon)
    apart = (linear - mean) * factor
    folded = text[real] @ (weight * factor[:, None]).T - mean * factor
    return Measurement(
        {
            "folded": float(np.abs(apart - folded).max() / np.abs(apart).max()),
            "others": alone("batch"),
            "running": alone("running batch"),
        },
        Bars(
            [Both("training", "训练"), Both("inference", "推理")],
            [alone("batch"), alone("running batch")],
            Both("largest change of your text without the other texts", "去掉其他文本后，你的文本的最大变化"),
            parts=["norm"] * 2,
        ),
    )


MEASURES: dict[int, Measure] = {
    53: _dimensions,
    55: _padding,
    56: _late,
    57: _small,
    58: _large,
    59: _running,
    66: _both_sides,
}
