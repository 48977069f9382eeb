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
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import (
    Measure,
    Measurement,
    Run,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.queries import layers_of, of_each_head
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
            f"没有看到 {subject.loaded.card.id} 在这段文本上的 q·k，或者数量太少。",
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
            Series(Both("heads of this model", "这个模型的各头"), heads["d_k"].tolist(), within.tolist(), points=True),
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
                Both("heads of this model", "这个模型的各个头"),
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


MEASURES: dict[int, Measure] = {
    16: _variance,
    18: _saturation,
    19: _explosion,
    21: _example,
    23: _normal,
    24: _jacobian,
    25: _learned,
}
RUNS: dict[int, Run] = {
    25: joined(
        _sorted,
        from_seeds(
            Pair(
                "wide",
                Switches(heads=1),
                Switches(heads=1, scale="none"),
                Both("loss without the scale less that with it, d_k = 48", "无缩放的损失减有缩放的损失，d_k = 48"),
            ),
            Pair(
                "narrow",
                Switches(heads=8),
                Switches(heads=8, scale="none"),
                Both("loss without the scale less that with it, d_k = 6", "无缩放的损失减有缩放的损失，d_k = 6"),
            ),
        ),
    ),
}
