"""Score functions: dot product and additive attention. Questions 34, 35 and 37 to 40."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn

from inspector.costs import score_functions as costs
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.picture import Bars
from inspector.questions.record.question import (
    Measure,
    Measurement,
    Run,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.trained import LOSS, Pair, from_seeds, loss_of, losses
from inspector.scores import functions
from models.training import lab
from models.training.tiny.experiments import LabRun, Switches
from models.training.tiny.solvers import solver
from models.transformer.config import Score


def _on_head(subject: Subject) -> functions.FunctionsOnHead:
    """The score functions on the first head whose queries and keys are of one width."""

    def make() -> functions.FunctionsOnHead:
        for site in subject.trace.sites:
            with suppress(ValueError):  # raised for a head whose queries and keys were not seen, or differ in width
                return functions.on_head(subject.trace.record_of_head(site.layer, 0, site.stream, call=site.call))
        raise UnanswerableError(
            f"No head of {subject.loaded.card.id} shows queries and keys of one width on this text.",
            f"{subject.loaded.card.id} 在这段文本上没有哪个头能看到宽度相同的 Q 和 K。",
        )

    return subject.once("score functions on a head", make)


class NotesAttention(nn.Module):
    """The class that interview notes give for additive attention, its loop over the queries included.

    It makes v^T tanh(W [q; k] + b), a bias of v, and no mask.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.joined = nn.Linear(2 * width, width)  # W
        self.v = nn.Linear(width, 1)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """query [Q, E], key [T, E] -> weights [Q, T]."""
        rows = [torch.cat([row.expand(len(key), -1), key], dim=-1) for row in query]
        scores = torch.stack([self.v(torch.tanh(self.joined(row))).squeeze(-1) for row in rows])
        return scores.softmax(dim=-1)


def _formula(subject: Subject) -> Measurement:
    on_head = _on_head(subject)
    generator = Generator().manual_seed(0)
    q, k, weight = (torch.randn(size, generator=generator) for size in ((64, 32), (64, 32), (32, 32)))
    shared = (q @ weight)[:, None] + (k @ weight)[None]
    swapped = (k @ weight)[:, None] + (q @ weight)[None]
    return Measurement(
        {
            "naive": on_head.naive,
            "code": _code_off(q, k),
            "shifted": on_head.shifted,
            "swapped": float((shared - swapped.transpose(0, 1)).abs().max() / shared.abs().max()),
        }
    )


@torch.no_grad()
def _code_off(query: Tensor, key: Tensor) -> float:
    """The largest difference of a weight of the notes' class from softmax(v^T tanh(W_q q + W_k k + b)), float64."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        attention = NotesAttention(query.shape[-1]).double()
    query, key = query.double(), key.double()
    of_query, of_key = attention.joined.weight.chunk(2, dim=1)  # W = [W_q W_k]
    inner = (query @ of_query.T)[:, None] + (key @ of_key.T)[None] + attention.joined.bias
    weights = (torch.tanh(inner) @ attention.v.weight[0]).softmax(dim=-1)
    return float((attention(query, key) - weights).abs().max())


def _cost(subject: Subject) -> Measurement:
    large, double = costs.Sizes(tokens=1000, width=1024), costs.Sizes(tokens=2000, width=2048)
    dot, additive, naive = (costs.cost(name, large).scores for name in ("dot", "additive", "additive_naive"))
    numbers = {
        "factorised": additive / dot,
        "naive": naive / dot,
        "doubled": costs.cost("additive", double).scores / additive,
        "bytes": float(costs.BYTES * costs.cost("additive", large).largest),
    }
    names = (
        Both("dot product", "点积"),
        Both("additive, factorised", "加性，W 拆成两半"),
        Both("additive, every pair", "加性，逐对乘 W"),
    )
    return Measurement(
        numbers, Bars(names, (dot, additive, naive), Both("FLOPs of the scores", "打分的 FLOPs"), log=True)
    )


def _cost_whole(subject: Subject, watch: Watch) -> Measurement:
    timed = costs.measure(costs.Sizes(tokens=128, width=64, batch=2), repeats=5, on_progress=watch)
    seconds = timed.seconds
    numbers = {name: seconds[name] / seconds["dot"] for name in ("additive", "additive_naive")}
    return Measurement(numbers)


def _linear(subject: Subject) -> Measurement:
    on_head = _on_head(subject)
    return Measurement(
        {"weights": on_head.weights, "additive": on_head.doubled["additive"], "dot": on_head.doubled["dot"], **_both()}
    )


def _both() -> dict[str, float]:
    q, k = torch.randn(2, 64, generator=Generator().manual_seed(0), dtype=torch.float64)
    return {"pair": float((2 * q) @ (2 * k) / (q @ k))}


def _parameters(subject: Subject) -> Measurement:
    sizes = costs.Sizes(tokens=64, width=64)
    dot, additive = costs.cost("dot", sizes), costs.cost("additive", sizes)
    return Measurement(
        {
            "dot": float(dot.parameters),
            "additive": float(additive.parameters + 1),
            "matmul": additive.scores / dot.scores,
            "tensor": additive.largest / dot.largest,
        }
    )


# --- 39: wide heads ------------------------------------------------------------------------------------------------


def _spread(subject: Subject) -> Measurement:
    largest = functions.variances((4, 64, 1024), seeds=2).set_index(["width", "function"])["largest"]
    trained = {
        "plain": loss_of(subject, Switches(heads=1, scale="none")),
        "scaled": loss_of(subject, Switches(heads=1)),
        "additive": loss_of(subject, Switches(heads=1, score="additive")),
    }
    names = {
        "plain": Both("dot product, no scale", "点积，不缩放"),
        "scaled": Both("dot product, scaled", "点积，缩放"),
        "additive": Both("additive", "加性"),
    }
    return Measurement(
        {
            **{name: loss[-1] for name, loss in trained.items()},
            "even_plain": float(largest[1024, "dot"]),
            "even_scaled": float(largest[1024, "scaled"]),
            "even_additive": float(largest[1024, "additive"]),
        },
        losses([(names[name], loss) for name, loss in trained.items()], parts=("ffn", "attention", "norm")),
    )


# --- 40: small networks --------------------------------------------------------------------------------------------

RATES = (0.005, 0.01, 0.02)  # that the long run tries for each score
BEST_RATE = 0.01  # of both scores, by the long run
_SEEDS = 6
_NAMES = Both("scaled dot product", "缩放点积"), Both("additive", "加性")
_ENCODER = LabRun(task="reverse", length=4, steps=120, learning_rate=BEST_RATE, switches=Switches(), seed=0)
_ALIGNER = replace(_ENCODER, switches=Switches(shape="encoder-decoder", layers=1, heads=1))


def _trained(run: LabRun, score: Score, **changed: Any) -> tuple[float, float]:
    """Train a network with a score -> its last loss, and of an encoder-decoder the share of digits that are aligned.

    A digit is aligned where the largest weight of cross-attention lies on the digit that is written; NaN without.
    """
    run = replace(run, switches=replace(run.switches, score=score), **changed)
    network = solver(run)
    loss = list(lab.train(network, run))[-1].loss
    if run.shape != "encoder-decoder":
        return loss, math.nan
    network.eval()
    maps = lab.attention(network, lab.fresh(run, count=256))["cross"]
    places = torch.arange(run.length, 0, -1)  # of the digits, the last first; before the first is a mark
    return loss, float((maps[-1].mean(dim=1).argmax(dim=-1) == places).float().mean())


def _small(subject: Subject) -> Measurement:
    small = costs.Sizes(tokens=64, width=16)
    dot, additive = costs.cost("dot", small), costs.cost("additive", small)
    scores: tuple[Score, ...] = ("dot", "additive")
    ends = {
        (name, score): subject.cached(("small", name, score), partial(_trained, run, score))
        for name, run in (("encoder", _ENCODER), ("aligner", _ALIGNER))
        for score in scores
    }
    numbers = {f"{name}_{score}": loss for (name, score), (loss, _) in ends.items()}
    picture = Bars(
        [
            Both(f"{en}, {by.en}", f"{zh}，{by.zh}")
            for en, zh in (("4 heads of an encoder", "编码器的 4 个头"), ("aligning", "对齐"))
            for by in _NAMES
        ],
        list(numbers.values()),
        LOSS,
        log=True,
    )
    return Measurement(
        {
            "flops": additive.flops / dot.flops,
            **numbers,
            "aligned": ends["aligner", "additive"][1],
            "aligned_dot": ends["aligner", "dot"][1],
            "parameters": float(additive.parameters),
        },
        picture,
    )


def _small_whole(subject: Subject | None, watch: Watch) -> Measurement:
    """Train an encoder and an aligner with both scores at every rate from six seeds; each score gets its best rate."""
    total, done = 2 * 2 * len(RATES) * _SEEDS, 0
    watch(0, total)
    best: dict[tuple[str, Score], list[tuple[float, float]]] = {}
    numbers: dict[str, float] = {}
    for name, run in (("encoder", _ENCODER), ("aligner", _ALIGNER)):
        scores: tuple[Score, ...] = ("dot", "additive")
        for score in scores:
            by_rate = {}
            for rate in RATES:
                by_rate[rate] = [_trained(run, score, learning_rate=rate, seed=seed) for seed in range(_SEEDS)]
                done += _SEEDS
                watch(done, total)
            means = {rate: sum(loss for loss, _ in each) / _SEEDS for rate, each in by_rate.items()}
            rate = min(means, key=means.__getitem__)
            best[name, score] = by_rate[rate]
            numbers |= {f"{name}_{score}": means[rate], f"{name}_{score}_rate": rate}
        apart = [dot[0] - additive[0] for dot, additive in zip(best[name, "dot"], best[name, "additive"], strict=True)]
        numbers |= {f"{name}_least": min(apart), f"{name}_most": max(apart)}
    numbers["aligned"] = min(share for _, share in best["aligner", "additive"])
    return Measurement(numbers)


MEASURES: dict[int, Measure] = {
    34: _formula,
    35: _cost,
    37: _linear,
    38: _parameters,
    39: _spread,
    40: _small,
}
RUNS: dict[int, Run] = {
    35: _cost_whole,
    39: from_seeds(
        Pair(
            "plain",
            Switches(heads=1, score="additive"),
            Switches(heads=1, scale="none"),
            Both("loss of unscaled dot products less additive, d_k = 48", "不缩放的点积的损失减加性的损失，d_k = 48"),
        ),
        Pair(
            "scaled",
            Switches(heads=1),
            Switches(heads=1, score="additive"),
            Both(
                "loss of additive scores less scaled dot products, d_k = 48", "加性的损失减缩放的点积的损失，d_k = 48"
            ),
        ),
    ),
    40: _small_whole,
}
