"""LayerNorm: the axes of its statistics, its output, and why it helps. Questions 51, 54 and 60 to 65."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import torch

from inspector import normalization
from inspector.normalization.other_norms import Floats
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import (
    Measure,
    Measurement,
    Run,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.together import (
    TextBatch,
    changed,
    compared,
    plain,
    together,
)
from inspector.questions.themes.trained import Pair, from_seeds, joined
from inspector.trace import NormRecord
from models.training.lab import fresh, train, trial
from models.training.tiny import depth
from models.training.tiny.experiments import BATCH, LabRun, Switches
from models.training.tiny.puzzles import draw
from models.training.tiny.solvers import solver
from models.transformer import norms as own_norms
from models.transformer.config import Norm


def layer_norms(subject: Subject) -> list[NormRecord]:
    """The LayerNorms of the recording; ValueError where it has none."""
    norms = [norm for norm in subject.trace.norms if norm.kind == "layer" and norm.truth is not None and plain(norm)]
    if not norms:
        raise UnanswerableError(
            f"No LayerNorm of {subject.loaded.card.id} was recorded.",
            f"没有记录到 {subject.loaded.card.id} 的 LayerNorm。",
        )
    return norms


def _per_token(subject: Subject) -> Measurement:
    norms = layer_norms(subject)
    norm = norms[len(norms) // 2]
    with torch.no_grad():
        drawn = torch.randn(16, 100, 512, generator=torch.Generator().manual_seed(0))
        pairs = torch.native_layer_norm(drawn, [512], None, None, 1e-5)[1].numel()
    return Measurement(
        {
            "pairs": float(pairs),
            "cells": 16.0 * 100.0,
            "gamma": float(norm.gamma.size),
            "width": float(norm.input.shape[1]),
            "difference": max(_off(norm, _standardised(norm, 1)) for norm in norms),
            "sentence": min(_off(norm, _standardised(norm, None)) for norm in norms),
        },
        Lines(
            tuple(
                Series(name, list(range(len(norm.input))), values.tolist(), part="norm", dashed=dashed)
                for name, values, dashed in (
                    (Both("mean", "均值"), norm.input.astype(np.float64).mean(axis=1), True),
                    (Both("deviation", "标准差"), norm.input.astype(np.float64).std(axis=1), False),
                )
            ),
            x_title=Both("token, by its place in the text", "token 在文本中的位置"),
            y_title=Both("mean and deviation before a norm", "归一化层之前的均值和标准差"),
        ),
    )


def _standardised(norm: NormRecord, axis: int | None) -> Floats:
    x = norm.input.astype(np.float64)
    standardised: Floats = (x - x.mean(axis=axis, keepdims=True)) / np.sqrt(
        x.var(axis=axis, keepdims=True) + norm.epsilon
    )
    return standardised


def _off(norm: NormRecord, plain: Floats) -> float:
    """The largest difference of a token's mean and deviation after the norm from those in the model's run."""
    assert norm.truth is not None
    made = norm.gamma.astype(np.float64) * plain + norm.beta
    statistics = np.stack([made.mean(axis=1), made.std(axis=1)], axis=1)
    return float(np.abs(statistics - norm.truth).max())


def _normal(subject: Subject) -> Measurement:
    batch = together(subject)
    layer = compared(subject).loc["layer"]
    drawn = np.random.default_rng(0).exponential(size=(1, 64, 4096))
    everywhere = np.ones((1, 64), dtype=bool)
    exponential = normalization.compared(drawn[..., :512], everywhere).set_index("norm").loc["layer"]
    norms = subject.trace.norms
    after = np.concatenate([norm.output.astype(np.float64).std(axis=1) for norm in norms])
    real = normalization.through(batch.x, batch.keep, norm="layer", epsilon=batch.epsilon)[batch.keep]
    counts, edges = np.histogram(real, bins=61, range=(-6, 6), density=True)
    middle = (edges[1:] + edges[:-1]) / 2
    normal = np.exp(-np.square(middle) / 2) / np.sqrt(2 * np.pi)
    return Measurement(
        {
            "kurtosis": float(layer["kurtosis"]) - 3,
            "skew": float(exponential["skew"]),
            "deviation": float(np.median(after)),
        },
        Lines(
            (
                Series(Both("after LayerNorm", "LayerNorm 之后"), middle.tolist(), counts.tolist(), part="norm"),
                Series(Both("standard normal", "标准正态分布"), middle.tolist(), normal.tolist(), dashed=True),
            ),
            x_title=Both("number, before gamma and beta", "数值，γ、β 之前"),
            y_title=Both("density", "密度"),
        ),
    )


def _relations(subject: Subject) -> Measurement:
    table = compared(subject)
    layer, batch = table.loc["layer"], table.loc["masked batch"]
    numbers = {
        "layer_within": float(layer["within"]),
        "batch_within": float(batch["within"]),
        "layer_across": float(layer["across"]),
        "batch_across": float(batch["across"]),
    }
    names = [
        Both("LayerNorm, within a token", "LayerNorm，一个 token 之内"),
        Both("BatchNorm, within a token", "BatchNorm，一个 token 之内"),
        Both("LayerNorm, across tokens", "LayerNorm，token 之间"),
        Both("BatchNorm, across tokens", "BatchNorm，token 之间"),
    ]
    title = Both("order kept (Kendall's tau)", "次序的保持程度（Kendall τ）")
    return Measurement(numbers, Bars(names, list(numbers.values()), title, parts=["norm"] * 4))


def _alone(subject: Subject) -> Measurement:
    before, after, _ = changed(subject)
    slopes = subject.once("jacobians", normalization.jacobians).set_index("kind")["others"]
    kinds = {"attention": "attention", "ffn": "FFN", "layer": "LayerNorm", "batch": "BatchNorm"}
    numbers = {name: float(slopes[kind]) for name, kind in kinds.items()}
    return Measurement(
        {"moved": max(before, after), **numbers},
        Bars(
            [
                Both(
                    "attention",
                    "注意力",
                ),
                Both(
                    "FFN",
                    "FFN",
                ),
                Both(
                    "LayerNorm",
                    "LayerNorm",
                ),
                Both(
                    "BatchNorm",
                    "BatchNorm",
                ),
            ],
            list(numbers.values()),
            Both("influence of other tokens (length of the Jacobian)", "其他 token 的影响（雅可比矩阵的范数）"),
            parts=["attention", "ffn", "norm", "norm"],
        ),
    )


def _stability(subject: Subject) -> Measurement:
    glorot = subject.once("untrained depth xavier", normalization.through_depth)
    small = subject.once("untrained depth normal", lambda: normalization.through_depth(initialisation="normal"))
    last = int(glorot["layer"].max())

    def at(table: pd.DataFrame, stack: str, layer: int, column: str) -> float:
        rows = table[(table["stack"] == stack) & (table["layer"] == layer)]
        return float(rows[column].iloc[0])

    def through(stack: str) -> float:
        return at(glorot, stack, -1, "gradient") / at(glorot, stack, last, "gradient")

    def start(stack: str) -> float:
        return at(glorot, stack, last, "activation") / at(small, stack, last, "activation")

    names = {
        "pre-norm": Both("norm", "有归一化"),
        "no norm": Both("no norm", "无归一化"),
        "post-norm, no residual": Both("norm, no residual", "有归一化，无残差"),
        "no norm, no residual": Both("no norm, no residual", "无归一化，无残差"),
    }
    return Measurement(
        {
            "scaled": float(compared(subject)["scaled"]["layer"]),
            "growing": through("pre-norm"),
            "growing_without": through("no norm"),
            "fading": through("post-norm, no residual"),
            "fading_without": through("no norm, no residual"),
            "start": start("pre-norm"),
            "start_without": start("no norm"),
        },
        Lines(
            tuple(
                Series(
                    name,
                    glorot["layer"][glorot["stack"] == stack].tolist(),
                    glorot["gradient"][glorot["stack"] == stack].tolist(),
                    part="norm" if "no norm" not in stack else "residual",
                    dashed="no residual" in stack,
                )
                for stack, name in names.items()
            ),
            x_title=Both("layer", "层"),
            y_title=Both("length of the gradient", "梯度的范数"),
            log_y=True,
        ),
    )


SHIFT_SEEDS = 3


def _shifts() -> pd.DataFrame:
    """The drift of every norm from SHIFT_SEEDS seeds, by norm and seed."""
    tables = {seed: normalization.drift(seed=seed).set_index("norm") for seed in range(SHIFT_SEEDS)}
    return pd.concat(tables, names=["seed"]).swaplevel()


def _shift(subject: Subject) -> Measurement:
    table = subject.cached(("drift", SHIFT_SEEDS), _shifts)
    names: dict[str, Both | str] = {
        "LayerNorm": "LayerNorm",
        "BatchNorm": "BatchNorm",
        "no norm": Both("no norm", "无归一化"),
    }
    layer, none = table.loc["LayerNorm"], table.loc["no norm"]
    return Measurement(
        {
            "layer": float(layer["mean"].mean()),
            "none": float(none["mean"].mean()),
            "moves": float((layer["mean"] / none["mean"]).max()),
            "layer_loss": float(layer["last"].mean()),
            "none_loss": float(none["last"].mean()),
            "ahead": float((none["last"] - layer["last"]).min()),
            "rough": float((layer["rough"] / none["rough"]).max()),
        },
        Bars(
            list(names.values()),
            [float(table.loc[name]["mean"].mean()) for name in names],
            Both("move of a layer's inputs in a step, in deviations", "一步之内某层输入均值的移动（以标准差为单位）"),
            parts=["norm", "norm", "residual"],
        ),
    )


KINDS: dict[str, tuple[Switches, Both]] = {
    "none": (Switches(norm="none"), Both("no norm", "无归一化")),
    "layer": (Switches(norm="layer"), Both("LayerNorm", "LayerNorm")),
    "batch": (Switches(norm="batch"), Both("BatchNorm", "BatchNorm")),
    "dropout": (Switches(norm="layer", dropout=0.2), Both("LayerNorm and dropout", "LayerNorm 加 dropout")),
}
FEW_STEPS, FEW_SEEDS = 60, 2  # of trainings on few texts


def _gap(switches: Switches, *, seed: int) -> float:
    """Train on the same 32 texts at every step: the loss on fresh texts less that on these, in nats a digit."""
    run = LabRun(task="sort", length=6, steps=FEW_STEPS, learning_rate=0.005, switches=switches, seed=seed)
    texts = draw(run.task, length=run.length, count=BATCH, generator=torch.Generator().manual_seed(seed))
    network = solver(run)
    list(train(network, run, on=texts))
    network.eval()
    with torch.inference_mode():
        unseen, learned = (float(depth.cross_entropy(network(each), each)) for each in (fresh(run, count=256), texts))
    return unseen - learned


def _gaps() -> dict[str, list[float]]:
    """The gap of each kind from each seed."""
    return {name: [_gap(switches, seed=seed) for seed in range(FEW_SEEDS)] for name, (switches, _) in KINDS.items()}


def _smaller(gaps: Mapping[str, Sequence[float]], name: str, than: str) -> float:
    """The largest of the seeds' ratios of one gap to another."""
    return max(one / other for one, other in zip(gaps[name], gaps[than], strict=True))


def _regularises(subject: Subject) -> Measurement:
    gaps = subject.cached(("gaps of norms", FEW_SEEDS), _gaps)
    return Measurement(
        {
            **{name: float(np.mean(each)) for name, each in gaps.items()},
            "layer_share": _smaller(gaps, "layer", "none"),
            "batch_share": _smaller(gaps, "batch", "none"),
            "dropout_share": _smaller(gaps, "dropout", "layer"),
            **_noise_of_batch(together(subject)),
        },
        Bars(
            [name for _, name in KINDS.values()],
            [float(np.mean(each)) for each in gaps.values()],
            Both("loss on fresh texts less that on the learned texts, nats", "新文本损失减训练文本损失，nat"),
            parts=["residual", "norm", "norm", "norm"],
        ),
    )


def _noise_of_batch(batch: TextBatch) -> dict[str, float]:
    """The mean change of the reader's text before a norm where the other texts of its batch are others, in training."""
    x, keep = torch.tensor(batch.x), torch.tensor(batch.keep)
    width = x.shape[-1]
    kinds = {
        "batch_noise": own_norms.BatchNorm(width, batch.epsilon, masked=True),
        "layer_noise": own_norms.LayerNorm(width, batch.epsilon),
    }
    moves = {}
    for name, norm in kinds.items():
        with torch.no_grad():
            first, second = (
                norm.double().train()(x[rows], keep=keep[rows])[0][keep[0]] for rows in ([0, 1, 2, 3], [0, 4, 5, 6])
            )
        moves[name] = float((first - second).abs().mean())
    return moves


STEPS, SEEDS = 200, 3  # of each training of the long experiment
LEARNED: tuple[tuple[str, Norm], ...] = (("layer", "layer"), ("batch", "batch"), ("rms", "rms"))
LEARNED_NAMES = ("LayerNorm", "BatchNorm", "RMSNorm")


def _run(norm: Norm, *, steps: int, seed: int) -> LabRun:
    return LabRun(task="sort", length=8, steps=steps, learning_rate=0.005, switches=Switches(norm=norm), seed=seed)


def _best(subject: Subject) -> Measurement:
    curves = {}
    for name, norm in LEARNED:
        run = _run(norm, steps=50, seed=0)
        curves[name] = list(train(solver(run), run))
    return Measurement(
        {name: curve[-1].loss for name, curve in curves.items()},
        Lines(
            tuple(
                Series(
                    name,
                    [report.step for report in curve],
                    [report.loss for report in curve],
                    part="norm",
                    dashed=dashed,
                )
                for name, curve, dashed in zip(LEARNED_NAMES, curves.values(), (False, True, True), strict=True)
            ),
            x_title=Both("step", "训练步数"),
            y_title=Both("loss, nats a digit", "损失，nat/数字"),
        ),
    )


def _learn_whole(subject: Subject, watch: Watch) -> Measurement:
    """Train three seeds of each norm to the end, and test what they have learned."""
    total, done = len(LEARNED) * SEEDS * STEPS, 0
    exact: dict[str, list[float]] = {name: [] for name, _ in LEARNED}
    for name, norm in LEARNED:
        for seed in range(SEEDS):
            run = _run(norm, steps=STEPS, seed=seed)
            network = solver(run)
            for report in train(network, run):
                watch(done + report.step, total)
            done += STEPS
            exact[name].append(trial(network, run, times=1).exact_accuracy)
    means = {name: float(np.mean(shares)) for name, shares in exact.items()}
    return Measurement(
        means,
        Bars(
            LEARNED_NAMES,
            [100 * share for share in means.values()],
            Both("texts sorted without a mistake, %", "完全排对的文本占比，%"),
            parts=["norm"] * 3,
        ),
    )


MEASURES: dict[int, Measure] = {
    51: _per_token,
    54: _normal,
    60: _relations,
    61: _alone,
    62: _stability,
    63: _shift,
    64: _regularises,
    65: _best,
}
RUNS: dict[int, Run] = {
    65: joined(
        _learn_whole,
        from_seeds(
            Pair(
                "batch_ahead",
                Switches(norm="batch"),
                Switches(norm="layer"),
                Both(
                    "loss with LayerNorm less that with BatchNorm, 50 steps", "50 步时 LayerNorm 的损失减 BatchNorm 的"
                ),
            ),
            Pair(
                "rms_behind",
                Switches(norm="layer"),
                Switches(norm="rms"),
                Both("loss with RMSNorm less that with LayerNorm, 50 steps", "50 步时 RMSNorm 的损失减 LayerNorm 的"),
            ),
            run=_run("layer", steps=50, seed=0),
        ),
    ),
}
