"""Costs: what attention costs, and what the FFN costs. Questions 92 to 95."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from inspector import costs
from inspector.costs import clock
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import (
    Measure,
    Measurement,
    Run,
    Watch,
)
from inspector.questions.record.subject import Subject

if TYPE_CHECKING:
    from inspector.costs.counted.counting import CountedCosts

LENGTHS = tuple(2**power for power in range(4, 15))
SHORT, LONG = 2**9, 2**14  # tokens
TIMED = (32, 128, 512, 1024)


# --- what the questions share --------------------------------------------------------------------------------------


def counted(subject: Subject) -> CountedCosts:
    """The products of the reader's model, as polynomials of its tokens."""
    return subject.once("counted", lambda: costs.count(subject.loaded.config))


def _by_group(subject: Subject, tokens: int) -> dict[str, float]:
    """FLOPs of all layers for a text of `tokens` tokens: scores and mix, projections, and FFN."""
    swept = costs.sweep(counted(subject), [tokens])
    inside = swept["group"].isin(["scores", "mix"])
    attends = swept["part"] == "attention"
    return {
        "core": float(swept["flops"][inside].sum()),
        "projections": float(swept["flops"][attends & ~inside].sum()),
        "ffn": float(swept["flops"][~attends].sum()),
    }


def _lengths(subject: Subject) -> dict[int, dict[str, float]]:
    return subject.once("FLOPs by length", lambda: {tokens: _by_group(subject, tokens) for tokens in LENGTHS})


def _growth(subject: Subject, *names: str, at: int) -> float:
    """The exponent with which FLOPs grow from half of `at` tokens to `at`: 1 in proportion, 2 with the square."""
    now, before = (sum(_lengths(subject)[tokens][name] for name in names) for tokens in (at, at // 2))
    if not before:
        raise UnanswerableError(
            f"Nothing was counted as attention or FFN in the layers of {subject.loaded.card.id}.",
            f"{subject.loaded.card.id} 的各层中没有统计到注意力或 FFN。",
        )
    return math.log2(now / before)


def _flops_by_length(subject: Subject) -> Lines:
    names = {
        "core": (Both("scores and weighted sum", "分数与加权求和"), "attention"),
        "projections": (Both("projections of attention", "注意力的投影"), "attention"),
        "ffn": (Both("FFN", "FFN"), "ffn"),
    }
    by_length = _lengths(subject)
    return Lines(
        tuple(
            Series(
                name,
                list(LENGTHS),
                [by_length[tokens][group] for tokens in LENGTHS],
                part,
                dashed=group == "projections",
            )
            for group, (name, part) in names.items()
        ),
        x_title=Both("tokens", "token 数"),
        y_title=Both("FLOPs, all layers", "FLOPs，所有层"),
        log_x=True,
        log_y=True,
        mark_x=float(max(1, len(subject.trace.tokens))),
    )


# --- 92: n² d ------------------------------------------------------------------------------------------------------


def _quadratic(subject: Subject) -> Measurement:
    return Measurement(
        {
            "core": _growth(subject, "core", at=LONG),
            "short": _growth(subject, "core", "projections", at=SHORT),
            "long": _growth(subject, "core", "projections", at=LONG),
        },
        _flops_by_length(subject),
    )


# --- 93: attention against the FFN ---------------------------------------------------------------------------------


def _against_ffn(subject: Subject) -> Measurement:
    by_length = _lengths(subject)
    here = _by_group(subject, max(1, len(subject.trace.tokens)))
    if not here["ffn"]:
        raise UnanswerableError(
            f"Nothing was counted as an FFN in the layers of {subject.loaded.card.id}.",
            f"{subject.loaded.card.id} 的各层中没有统计到 FFN。",
        )
    crossing = costs.crossings(counted(subject))
    meets = None if crossing is None else crossing.sublayer

    def ratio(flops: dict[str, float], *names: str) -> float:
        return sum(flops[name] for name in names) / flops["ffn"]

    whole = ("core", "projections")
    picture = Lines(
        (
            Series(
                Both("attention / FFN", "注意力 / FFN"), list(LENGTHS), [ratio(by_length[n], *whole) for n in LENGTHS]
            ),
            Series(
                Both("scores and weighted sum / FFN", "分数与加权求和 / FFN"),
                list(LENGTHS),
                [ratio(by_length[n], "core") for n in LENGTHS],
                dashed=True,
            ),
        ),
        x_title=Both("tokens", "token 数"),
        y_title=Both("FLOPs of attention / FLOPs of the FFN", "注意力的 FLOPs / FFN 的 FLOPs"),
        log_x=True,
        log_y=True,
        mark_y=1.0,
    )
    return Measurement(
        {
            "here": ratio(here, *whole),
            "at_512": ratio(by_length[SHORT], *whole),
            "core_512": ratio(by_length[SHORT], "core"),
            "crossing": math.nan if meets is None else meets,
        },
        picture,
    )


def _timed(subject: Subject, watch: Watch) -> Measurement:
    """Put a layer's parts on the clock at several lengths."""
    loaded = subject.loaded
    ratios = costs.measure(loaded, tokens=TIMED, repeats=3, on_progress=watch).ratios("eager")
    picture = Lines(
        (Series(Both("attention / FFN", "注意力 / FFN"), list(ratios), list(ratios.values())),),
        x_title=Both("tokens", "token 数"),
        y_title=Both("time of attention / time of the FFN", "注意力的时间 / FFN 的时间"),
        log_x=True,
        log_y=True,
        mark_y=1.0,
    )
    return Measurement({f"at_{tokens}": ratio for tokens, ratio in ratios.items()}, picture)


# --- 94: what limits parallel work ---------------------------------------------------------------------------------


def _limited(subject: Subject) -> Measurement:
    trace = subject.trace
    record = trace.record_of(0, trace.streams[0])
    query, key, value = (tensor.float().cpu() for tensor in (record.query, record.key, record.value))
    if not value.shape[-1]:
        raise UnanswerableError(
            f"The values of {subject.loaded.card.id} were not seen.",
            f"没有看到 {subject.loaded.card.id} 的 V。",
        )
    key, value = (tensor.repeat_interleave(len(query) // len(tensor), dim=0) for tensor in (key, value))

    def attend(some: torch.Tensor) -> torch.Tensor:
        return torch.softmax(some @ key.transpose(1, 2) * query.shape[-1] ** -0.5, dim=-1) @ value

    together = attend(query)
    alone = torch.cat([attend(query[:, at : at + 1]) for at in range(query.shape[1])], dim=1)
    work = clock.work(clock.layer_shape(subject.loaded.config), LONG // 4).set_index("part")
    inside = ["scores", "softmax", "mix"]
    eager = float(work.loc[inside, "bytes"].sum())
    picture = Bars(
        [
            Both("scores, softmax and weighted sum apart", "分数、softmax、加权求和分开计算"),
            Both("scores, softmax and weighted sum in one fused kernel", "分数、softmax、加权求和合并在一个融合内核中"),
            Both("projections", "投影"),
            Both("FFN", "FFN"),
        ],
        [
            float(work.loc[inside, "flops"].sum()) / eager,
            float(work.loc["fused", "flops"] / work.loc["fused", "bytes"]),
            float(work.loc["projections", "flops"] / work.loc["projections", "bytes"]),
            float(work.loc["ffn", "flops"] / work.loc["ffn", "bytes"]),
        ],
        Both("FLOPs per byte read or written", "每读写一个字节所做的 FLOPs"),
        parts=("attention", "attention", "attention", "ffn"),
        log=True,
    )
    return Measurement(
        {
            "alone": float((alone - together).abs().max() / together.abs().max().clamp(min=1e-30)),
            "fused": float(work.loc["fused", "bytes"]) / eager,
            "apart": float(work.loc[inside, "flops"].sum()) / eager,
            "ffn": float(work.loc["ffn", "flops"] / work.loc["ffn", "bytes"]),
        },
        picture,
    )


# --- 95: parameters ------------------------------------------------------------------------------------------------


def _parameters(subject: Subject) -> Measurement:
    table = counted(subject).table(tokens=1)
    layers = table[table["layer"].notna()]
    last = layers[layers["layer"] == layers["layer"].max()]
    last = last[last["stream"] == last["stream"].iloc[-1]] if subject.loaded.shape != "encoder-decoder" else last
    if subject.loaded.shape == "encoder-decoder":
        last = last[last["stream"] != "encoder"]
    products = last[last["kind"] == "matmul"]
    # a product counts 2 FLOPs for each number of its matrix, at one token; scores and mix have none
    attention = products[(products["part"] == "attention") & ~products["component"].isin(["scores", "mix"])]
    ffn = products[products["part"] == "ffn"]
    if not len(attention) or not len(ffn):
        raise UnanswerableError(
            f"Attention and FFN of {subject.loaded.card.id} were not told apart.",
            f"无法区分 {subject.loaded.card.id} 的注意力和 FFN。",
        )
    from models.config_facts import first_number, text_config

    config = subject.loaded.config
    width = getattr(config, "width", None) or first_number(text_config(config), "hidden_size", "d_model", "n_embd")
    numbers = {
        "attention": float(attention["flops"].sum()) / 2,
        "ffn": float(ffn["flops"].sum()) / 2,
        "squares": float(attention["flops"].sum()) / 2 / width**2,
        "attention_biased": float(attention["parameters"].sum()),
        "ffn_biased": float(ffn["parameters"].sum()),
    }
    numbers["ratio"] = numbers["ffn"] / numbers["attention"]
    picture = Bars(
        [*attention["component"], *ffn["component"]],
        [float(flops) / 2 for flops in (*attention["flops"], *ffn["flops"])],
        Both("numbers in the matrix", "矩阵中的参数个数"),
        parts=["attention"] * len(attention) + ["ffn"] * len(ffn),
    )
    return Measurement(numbers, picture)


MEASURES: dict[int, Measure] = {
    92: _quadratic,
    93: _against_ffn,
    94: _limited,
    95: _parameters,
}
RUNS: dict[int, Run] = {
    93: _timed,
}
