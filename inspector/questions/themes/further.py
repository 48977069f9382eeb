"""Questions 156 to 161, also asked: windows, what LayerNorm loses, a row by hand, depth, chunks, P(y)."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count

import numpy as np
import torch
from torch import Tensor, nn

from inspector.information import jensen_shannon
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.picture import Bars, Heatmap, Lines, Series
from inspector.questions.record.question import Measure, Measurement
from inspector.questions.record.subject import Subject
from models.attention import DotProductAttention
from models.placement import dtype_of
from models.transformer.runner import OwnRunner

LENGTH, KERNEL = 128, 3  # tokens, and how many of them a convolution or a window of attention reads
WIDTH = 64
HAND = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 2.0]])  # 我, 爱, 水, 课
CHUNK = 4
DEEP, UNITS, STEPS, SEEDS, RATES = 8, 32, 200, 3, (0.01, 0.1, 1.0)
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": torch.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid}


# --- 156: a convolution's window -------------------------------------------------------------------------------------


def _layers_until_seen(step: Callable[[Tensor, int], Tensor]) -> int:
    """Count the layers after which the last of LENGTH tokens has read the first.

    step: one layer and its number, from 1 on: x [n] -> [n].
    """
    seen = torch.zeros(LENGTH, dtype=torch.float64)
    seen[0] = 1
    for layer in count(1):
        seen = step(seen, layer)
        seen = seen / seen.abs().max()  # a fading share is a share
        if seen[-1] != 0:
            return layer
        if layer > 2 * LENGTH:
            return 0
    raise AssertionError


def _convolved(x: Tensor, *, dilation: int) -> Tensor:
    kernel = torch.full((1, 1, KERNEL), 1 / KERNEL, dtype=x.dtype)
    return nn.functional.conv1d(x[None, None], kernel, padding="same", dilation=dilation)[0, 0]


def _mixed(x: Tensor, *, window: int | None) -> Tensor:
    """Mix values x [n] by a head of random queries and keys, within a window or over all tokens."""
    generator = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, LENGTH, WIDTH, generator=generator, dtype=x.dtype)
    places = torch.arange(LENGTH)
    hidden = None if window is None else (places[:, None] - places).abs() > window // 2
    scores = query @ key.T / math.sqrt(WIDTH)
    mixed: Tensor = (scores if hidden is None else scores.masked_fill(hidden, -torch.inf)).softmax(-1) @ x
    return mixed


def _windows(subject: Subject) -> Measurement:
    layers = {
        "attention": _layers_until_seen(lambda x, layer: _mixed(x, window=None)),
        "dilated": _layers_until_seen(lambda x, layer: _convolved(x, dilation=2 ** (layer - 1))),
        "convolution": _layers_until_seen(lambda x, layer: _convolved(x, dilation=1)),
        "window": _layers_until_seen(lambda x, layer: _mixed(x, window=KERNEL)),
    }
    names = [
        Both("attention", "注意力"),
        Both("dilated convolution", "空洞卷积"),
        Both("convolution", "卷积"),
        Both("attention in a window", "带窗口的注意力"),
    ]
    numbers = {name: float(needed) for name, needed in layers.items()}
    numbers["straight"] = float(math.ceil((LENGTH - 1) / (KERNEL // 2)))
    numbers["doubling"] = float(math.ceil(math.log2(LENGTH)))
    return Measurement(
        numbers,
        Bars(
            names,
            list(map(float, layers.values())),
            Both("layers", "层数"),
            parts=["attention", "ffn", "ffn", "attention"],
        ),
    )


# --- 157: what LayerNorm loses ---------------------------------------------------------------------------------------


def _normed(x: Tensor) -> Tensor:
    return nn.functional.layer_norm(x, x.shape[-1:], eps=0.0)


def _lost(subject: Subject) -> Measurement:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(16, WIDTH, generator=generator, dtype=torch.float64)
    same = _normed(3 * x + 5)
    kept = _normed(x)
    jacobian = torch.func.jacrev(_normed)(x[0])
    rank = int(torch.linalg.matrix_rank(jacobian, rtol=1e-9))
    mean, deviation = x.mean(-1, keepdim=True), x.std(-1, keepdim=True, correction=0)
    again = kept * deviation + mean
    spreads = [
        float(deviations.max() / max(deviations.min(), 1e-30))
        for norm in subject.trace.norms
        if len(deviations := norm.input.std(-1)) > 1
    ]
    if not spreads:
        raise UnanswerableError(
            "The text has one token, and lengths cannot be compared; write a longer one.",
            "文本只有一个 token，没有可以比较的长度，请写长一些。",
        )
    return Measurement(
        {
            "same": float((same - kept).abs().max()),
            "lost": float(WIDTH - rank),
            "again": float((again - x).abs().max() / x.abs().max()),
            "spread": float(np.median(spreads)),
        },
        Lines(
            (
                Series(
                    Both("norms of the model", "模型的各个归一化层"), list(range(len(spreads))), spreads, points=True
                ),
            ),
            x_title=Both("norm", "归一化层"),
            y_title=Both("largest / smallest deviation of a token", "各 token 标准差的最大值 / 最小值"),
            log_y=True,
            mark_y=1.0,
        ),
    )


# --- 158: a row by hand ----------------------------------------------------------------------------------------------


def _by_hand(subject: Subject) -> Measurement:
    states = torch.tensor(HAND)[None, None]
    attention = DotProductAttention(scale=1 / math.sqrt(HAND.shape[1]))
    output, weights = attention(states, states, states, None, rows=slice(0, len(HAND)))
    row, mixed = weights[0, 0, 1], output[0, 0, 1]
    scores = HAND @ HAND[1]
    shares = scores / scores.sum()
    names = ["我", "爱", "水", "课"]
    return Measurement(
        {
            "to_love": float(row[1]),
            "to_water": float(row[2]),
            "first": float(mixed[0]),
            "second": float(mixed[1]),
            "apart": float(np.abs(shares - row.numpy()).max()),
        },
        Heatmap(
            weights[0, 0].float().numpy(),
            rows=names,
            columns=names,
            row_title=Both("query", "查询"),
            column_title=Both("key", "键"),
            quantity=Both("weight", "权重"),
        ),
    )


# --- 159: depth ------------------------------------------------------------------------------------------------------


def _trained(activation: Callable[[Tensor], Tensor]) -> float:
    """Train DEEP layers to tell the sign of a sum -> the loss after STEPS of plain SGD, the mean of SEEDS seeds.

    A network for each rate and seed learns beside the others; of each seed the best rate counts. Weights have variance
    1/d, and 2/d for ReLU, which halves it.
    """
    gain = 2.0 if activation is torch.relu else 1.0
    rates = torch.tensor(RATES).repeat(SEEDS)[:, None, None]  # [N, 1, 1], N rates x seeds
    drawn = []
    for seed in range(SEEDS):
        generator = torch.Generator().manual_seed(seed)
        x = torch.randn(256, UNITS, generator=generator)
        weights = torch.randn(DEEP, UNITS, UNITS, generator=generator) * math.sqrt(gain / UNITS)
        last = torch.randn(UNITS, 2, generator=generator) / math.sqrt(UNITS)
        drawn += [(x, weights, last)] * len(RATES)
    x, weights, last = (torch.stack(tensors) for tensors in zip(*drawn, strict=True))
    wanted = (x.sum(-1) > 0).long()
    parameters = [weights.requires_grad_(), last.requires_grad_()]
    for step in range(STEPS + 1):
        hidden = x
        for layer in range(DEEP):
            hidden = activation(hidden @ weights[:, layer])
        scores = (hidden @ last).flatten(0, 1)
        losses = nn.functional.cross_entropy(scores, wanted.flatten(), reduction="none").view(len(x), -1).mean(-1)
        if step == STEPS:
            break
        towards_weights, towards_last = torch.autograd.grad(losses.sum(), parameters)
        weights.data -= rates[..., None] * towards_weights
        last.data -= rates * towards_last
    best = losses.detach().nan_to_num(nan=math.inf).view(SEEDS, len(RATES)).min(-1).values
    return float(best.mean())


def _growth(variance: float) -> float:
    """The size of ReLU's output after 4 DEEP layers over that after one; variance: of the weights, times the width."""
    generator = torch.Generator().manual_seed(0)
    hidden, sizes = torch.randn(256, 256, generator=generator, dtype=torch.float64), []
    for _ in range(4 * DEEP):
        weight = torch.randn(256, 256, generator=generator, dtype=torch.float64) * math.sqrt(variance / 256)
        hidden = torch.relu(hidden @ weight)
        sizes.append(float(hidden.std()))
    return sizes[-1] / sizes[0]


def _depth(subject: Subject) -> Measurement:
    losses = {name: _trained(activation) for name, activation in ACTIVATIONS.items()}
    growth = {"he": _growth(2.0), "glorot": _growth(1.0), "large": _growth(4.0)}
    return Measurement(
        {**losses, **growth, "guessing": math.log(2)},
        Bars(
            [Both("ReLU", "ReLU"), Both("tanh", "tanh"), Both("sigmoid", "sigmoid")],
            list(losses.values()),
            Both("loss after 200 steps of SGD", "SGD 训练 200 步后的损失"),
            parts=["ffn"] * 3,
        ),
    )


# --- 160: several new tokens at once ---------------------------------------------------------------------------------


@torch.inference_mode()
def _chunks(subject: Subject) -> Measurement:
    runner = subject.loaded.runner
    assert isinstance(runner, OwnRunner)
    ids = torch.tensor([subject.trace.encoding.ids[: 4 * CHUNK]])
    if ids.shape[1] < CHUNK:
        raise UnanswerableError(
            f"The text has {ids.shape[1]} tokens, and a chunk takes {CHUNK}; write a longer one.",
            f"文本只有 {ids.shape[1]} 个 token，而一块要 {CHUNK} 个，请写长一些。",
        )
    last: dict[str, Tensor] = {}
    calls: dict[str, int] = {}
    for way, size in (("whole", ids.shape[1]), ("chunks", CHUNK), ("steps", 1)):
        ask, begun = runner.begin(ids)
        calls[way] = 0
        for end in [*range(size, ids.shape[1], size), ids.shape[1]]:
            last[way] = ask(begun[:, :end])
            calls[way] += 1
    largest = float(last["whole"].abs().max())
    return Measurement(
        {
            "chunks": float((last["chunks"] - last["whole"]).abs().max()) / largest,
            "steps": float((last["steps"] - last["whole"]).abs().max()) / largest,
            "passes_chunks": float(calls["chunks"]),
            "passes_steps": float(calls["steps"]),
            "tokens": float(ids.shape[1]),
        }
    )


# --- 161: the next token ---------------------------------------------------------------------------------------------


@torch.inference_mode()
def _next_token(subject: Subject) -> Measurement:
    loaded, trace = subject.loaded, subject.trace
    predict = loaded.predict
    assert predict is not None
    states = torch.tensor(trace.output)[None].to(dtype_of(loaded.network))
    if states.shape[1] < 2:
        raise UnanswerableError(
            "The text has one token, and no other can be left out; write a longer one.",
            "文本只有一个 token，没有别的可去掉，请写长一些。",
        )
    logits = predict(states)[0]
    halved = predict((states[:, :1] + states[:, -1:]) / 2)[0, 0]
    straight = (logits[0] + logits[-1]) / 2
    others = torch.zeros_like(states)
    others[:, -1] = states[:, -1]
    size = float(logits.abs().max())
    alone = torch.tensor([trace.encoding.ids[-1:]])
    read_alone = predict(loaded.run(alone, torch.ones_like(alone, dtype=torch.bool), torch.zeros_like(alone)))[0, -1]
    given = logits[-1].double().softmax(-1).numpy()
    return Measurement(
        {
            "linear": float((halved - straight).abs().max()) / size,
            "others": float((predict(others)[0, -1] - logits[-1]).abs().max()) / size,
            "total": float(given.sum()),
            "alone": float(jensen_shannon(given, read_alone.double().softmax(-1).numpy())),
        }
    )


MEASURES: dict[int, Measure] = {
    156: _windows,
    157: _lost,
    158: _by_hand,
    159: _depth,
    160: _chunks,
    161: _next_token,
}
