"""Parallel and serial work, and the KV cache. Questions 96 to 102."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd
import torch

from inspector import costs, generating, stepwise
from inspector.costs import decoding
from inspector.questions.record.both import Both
from inspector.questions.record.kinds import ENCODER
from inspector.questions.record.picture import Heatmap, Lines, Series
from inspector.questions.record.question import (
    Measure,
    Measurement,
    Run,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.costs import counted
from inspector.stepwise import ForcedReading
from inspector.stepwise.timed import Layers

if TYPE_CHECKING:
    from torch import Tensor

STEPS = 8  # tokens of the text that are read step by step, at most
COUNTED_STEPS = 64
TIMED = (32, 128, 512)
NEW_TOKENS = 120


# --- what the questions share --------------------------------------------------------------------------------------


def _tokens(subject: Subject) -> int:
    trace = subject.trace
    return min(STEPS, len(trace.read_by("decoder").tokens))


def _forced(subject: Subject) -> ForcedReading:
    """The text in one pass, with the cache and without it."""
    return subject.once("forced", lambda: stepwise.compare(subject.loaded, subject.trace, tokens=_tokens(subject)))


def _steps(subject: Subject) -> pd.DataFrame:
    """FLOPs and bytes of writing, step by step, from the configuration."""
    loaded = subject.loaded

    def make() -> pd.DataFrame:
        source = len(subject.trace.tokens) if loaded.shape == "encoder-decoder" else None
        return decoding.counted_by_step(
            counted(subject), costs.kv_cache(loaded.config), steps=COUNTED_STEPS, source=source
        )

    return subject.once("steps of writing", make)


def _by_step(table: pd.DataFrame, cached: str, uncached: str, title: Both) -> Lines:
    return Lines(
        (
            Series(Both("with the cache", "有缓存"), table["tokens"].tolist(), table[cached].tolist()),
            Series(Both("without", "无缓存"), table["tokens"].tolist(), table[uncached].tolist(), dashed=True),
        ),
        x_title=Both("tokens so far", "已有 token 数"),
        y_title=title,
        log_y=True,
    )


# --- 96: an RNN waits, a Transformer does not ----------------------------------------------------------------------


def _chain(output: Tensor) -> int:
    """The longest chain of operations that wait for each other, from the input to an output, in autograd's graph."""
    longest: dict[object, int] = {}
    waiting = [output.grad_fn]
    while waiting:
        node = waiting[-1]
        before = (
            [operation for operation, _ in node.next_functions if operation is not None] if node is not None else []
        )
        unvisited = [operation for operation in before if operation not in longest]
        if unvisited:
            waiting += unvisited
        else:
            longest[node] = 1 + max((longest[operation] for operation in before), default=0)
            waiting.pop()
    return longest[output.grad_fn]


def _serial() -> Measurement:
    lengths = (4, 8, 16, 32)
    layers = Layers.make(32)

    def chains(run: Callable[[Tensor], Tensor]) -> list[float]:
        with torch.enable_grad():
            return [float(_chain(run(layers.text(tokens)).sum())) for tokens in lengths]

    lstm, block = chains(layers.lstm_steps), chains(layers.whole)
    picture = Lines(
        (
            Series(Both("LSTM", "LSTM"), list(lengths), lstm, part="ffn"),
            Series(Both("layer of a Transformer", "Transformer 的一层"), list(lengths), block),
        ),
        x_title=Both("tokens", "token 数"),
        y_title=Both("operations that wait for each other", "必须依次进行的运算个数"),
    )
    return Measurement({"lstm": lstm[-1] / lstm[-2], "block": block[-1] / block[-2], "chain": block[-1]}, picture)


def _clock(subject: Subject, watch: Watch) -> Measurement:
    """Put an LSTM and a layer of attention on the clock."""
    timed = stepwise.measure(TIMED, width=256, repeats=3, on_progress=watch)
    ratios = timed.ratios("lstm", "attention")
    picture = Lines(
        (Series(Both("LSTM / attention", "LSTM / 注意力"), list(ratios), list(ratios.values())),),
        x_title=Both("tokens", "token 数"),
        y_title=Both("time of the LSTM / time of attention", "LSTM 的时间 / 注意力的时间"),
        log_x=True,
        mark_y=1.0,
    )
    return Measurement({f"at_{tokens}": ratio for tokens, ratio in ratios.items()}, picture)


# --- 97, 98: one pass, step by step, with and without the cache ----------------------------------------------------


def _teacher(subject: Subject) -> Measurement:
    forced = _forced(subject)
    table = forced.table
    picture = Lines(
        (
            Series(
                Both("with the cache", "有缓存"), table["position"].tolist(), table["cached"].clip(lower=1e-9).tolist()
            ),
            Series(
                Both("without", "无缓存"),
                table["position"].tolist(),
                table["uncached"].clip(lower=1e-9).tolist(),
                dashed=True,
            ),
        ),
        x_title=Both("position", "位置"),
        y_title=Both("largest difference of a logit from the one pass", "与一次前向的 logit 最大差"),
        log_y=True,
    )
    return Measurement(
        {
            "difference": forced.largest / max(forced.size, 1e-30),
            "same": forced.agreeing / len(table),
            "passes": float(len(table)),
        },
        picture,
    )


def _cache_exact(subject: Subject) -> Measurement:
    forced = _forced(subject)
    table = forced.table
    apart = (table["cached"] - table["uncached"]).abs()
    return Measurement(
        {
            "cached": float(table["cached"].max()) / max(forced.size, 1e-30),
            "agree": float((table["same_cached"] & table["same_uncached"]).mean()),
            "saved": forced.totals["uncached"] / forced.totals["cached"],
            "apart": float(apart.max()),
        },
        _by_step(
            table.assign(tokens=table["position"] + 1),
            "flops_cached",
            "flops_uncached",
            Both("FLOPs of the step", "该步的 FLOPs"),
        ),
    )


def _write_twice(subject: Subject, watch: Watch) -> Measurement:
    """Write with the cache and without, on the clock."""

    def tell(done: int) -> None:
        watch(done, 2 * NEW_TOKENS)

    written = generating.write(subject.loaded, subject.text, new_tokens=NEW_TOKENS, watch=tell)
    table = written.table()
    picture = Lines(
        (
            Series(Both("with the cache", "有缓存"), table["step"].tolist(), table["seconds_cached"].tolist()),
            Series(Both("without", "无缓存"), table["step"].tolist(), table["seconds_uncached"].tolist(), dashed=True),
        ),
        x_title=Both("step", "步"),
        y_title=Both("seconds", "秒"),
    )
    return Measurement(
        {
            "same": float(written.same_without_cache),
            "times": float(table["seconds_uncached"].sum() / table["seconds_cached"].sum()),
            "tokens": float(len(table)),
        },
        picture,
    )


# --- 99: orders ----------------------------------------------------------------------------------------------------


def _orders(subject: Subject) -> Measurement:
    table = _steps(subject)
    cached, uncached = table["flops_cached"].to_numpy(dtype=float), table["flops_uncached"].to_numpy(dtype=float)
    # a step's work is a + b n + c n²: second differences give c, and of the running sum b
    middle = slice(COUNTED_STEPS // 2, None)
    sums = table["total_cached"].to_numpy(dtype=float)
    return Measurement(
        {
            "cached_bend": float(abs(pd.Series(cached[middle]).diff().diff()).max()),
            "uncached_bend": float(pd.Series(uncached[middle]).diff().diff().mean()),
            "text_bend": float(pd.Series(sums[middle]).diff().diff().mean()),
            "saved": float(table["total_uncached"].iloc[-1] / sums[-1]),
        },
        _by_step(table, "flops_cached", "flops_uncached", Both("FLOPs of the step", "该步的 FLOPs")),
    )


# --- 100: not for training, not for an encoder ---------------------------------------------------------------------


def _any_stage(subject: Subject) -> Measurement:
    totals = _forced(subject).totals
    encoder = subject.within(ENCODER)
    moved = encoder.once("old keys", lambda: stepwise.old_keys(encoder.loaded, encoder.trace))
    keys = moved[moved["tensor"] == "key"]
    table = subject.once("old keys", lambda: stepwise.old_keys(subject.loaded, subject.trace))
    stream = table[(table["tensor"] == "key") & (table["stream"] == table["stream"].iloc[-1])]
    picture = Lines(
        (
            Series(Both("encoder", "编码器"), [float(at) for at in keys["layer"]], keys["relative"].tolist()),
            Series(
                Both("decoder", "解码器"),
                [float(at) for at in stream["layer"]],
                stream["relative"].tolist(),
                dashed=True,
            ),
        ),
        x_title=Both("layer", "层"),
        y_title=Both("old keys moved by one more token", "多一个 token 后旧 K 的变化"),
    )
    return Measurement(
        {
            "training": totals["pass"] / totals["cached"],
            "encoder": float(keys["relative"].max()),
            "decoder": float(stream["relative"].max()),
        },
        picture,
    )


# --- 101: no Q cache -----------------------------------------------------------------------------------------------


def _no_queries(subject: Subject) -> Measurement:
    reads = subject.once("reads", lambda: stepwise.reads(subject.loaded, subject.trace, tokens=_tokens(subject)))
    queries = [float(read.query.sum() - read.query.diagonal().sum()) for read in reads]
    keys = [float(read.key.sum() - read.key.diagonal().sum()) for read in reads]
    made = [float(read.made.sum(axis=0).max()) for read in reads]
    first = reads[0]
    names = list(first.tokens)
    picture = Heatmap(
        first.query.astype("float32"),
        rows=names,
        columns=names,
        row_title=Both("step that reads token", "读入该 token 的一步"),
        column_title=Both("token whose query or key is read", "Q 或 K 被读取的 token"),
        quantity=Both("read", "被读取"),
        title=Both("queries", "Q"),
        beside=first.key.astype("float32"),
        beside_title=Both("keys", "K"),
    )
    return Measurement({"queries": max(queries), "keys": min(keys), "made": max(made)}, picture)


# --- 102: memory ---------------------------------------------------------------------------------------------------


def _linear(subject: Subject) -> Measurement:
    loaded, forced = subject.loaded, _forced(subject)
    cache = costs.kv_cache(loaded.config)
    tokens = len(forced.table)
    source = len(subject.trace.tokens) if loaded.shape == "encoder-decoder" else 0
    size = torch.finfo(getattr(torch, forced.dtype.removeprefix("torch."))).bits // 8
    lengths = [16, 32, 64, 128]
    cache_bytes = [float(cache.bytes(n, element_bytes=size)) for n in lengths]
    full = cache.shared_by(cache.heads) if cache.sharing != "MLA" else cache
    picture = Lines(
        (
            Series(Both("this model", "这个模型"), lengths, cache_bytes),
            Series(
                Both("with keys of its own for each head", "每个头各有 K、V 时"),
                lengths,
                [float(full.bytes(n, element_bytes=size)) for n in lengths],
                dashed=True,
            ),
        ),
        x_title=Both("tokens", "token 数"),
        y_title=Both("bytes of the KV cache", "KV 缓存的字节数"),
    )
    return Measurement(
        {
            "growth": cache_bytes[-1] / cache_bytes[-2],
            "kept": float(forced.cache_bytes),
            "counted": float(cache.bytes(tokens, source=source, element_bytes=size)),
            "token": float(cache.token_bytes(size)),
            "shared": cache.token_bytes(size) / full.token_bytes(size),
        },
        picture,
    )


MEASURES: dict[int, Measure] = {
    96: lambda subject: subject.cached("serial chains", _serial),
    97: _teacher,
    98: _cache_exact,
    99: _orders,
    100: _any_stage,
    101: _no_queries,
    102: _linear,
}
RUNS: dict[int, Run] = {
    96: _clock,
    98: _write_twice,
}
