"""Positions: how order comes into attention. Questions 74 to 82."""

from __future__ import annotations

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

import models
from inspector import distance, interventions, positional
from inspector.positional import kinds
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.kinds import GOES_ON
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import Measure, Measurement
from inspector.questions.record.subject import Subject

ROWS, WIDTH, APART = 512, 128, 7  # of the sinusoidal table that is looked at alone


def _order(subject: Subject) -> Measurement:
    if sum(not special for special in subject.trace.special) < 2:
        raise UnanswerableError(
            "The text has one token of its own, so there is no other order; write a longer one.",
            "文本只有一个 token，没有别的顺序，请写长一些。",
        )
    reordered = interventions.reorder(subject.loaded, subject.trace, "reverse")
    if reordered.without is None:
        raise UnanswerableError(
            f"The positions of {subject.loaded.card.id} cannot be taken away: {reordered.kept}.",
            f"无法去掉 {subject.loaded.card.id} 的位置编码。",
        )
    decoder = subject.of("mini-gpt")
    causal = subject.once(
        "mini-gpt reversed", lambda: interventions.reorder(decoder.loaded, decoder.trace, "reverse").without
    )
    assert causal is not None
    numbers = {
        "without": float(np.nanmax(reordered.without)),
        "with": float(np.nanmean(reordered.changed)),
        "causal": float(np.nanmean(causal)),
    }
    names = (
        Both("encoder, no positions", "编码器，无位置编码"),
        Both("encoder", "编码器"),
        Both("decoder, no positions", "解码器，无位置编码"),
    )
    return Measurement(
        numbers,
        Bars(
            names,
            [max(value, 1e-9) for value in numbers.values()],
            Both("change of a token's state when the text is reversed", "文本倒序后 token 隐藏状态的变化"),
            log=True,
        ),
    )


def _formula(subject: Subject) -> Measurement:
    table = positional.table(subject.loaded).astype(np.float64)
    rows, width = table.shape
    places, pairs = np.arange(rows)[:, None], np.arange(width) // 2

    def made(index: NDArray[np.int64]) -> NDArray[np.float64]:
        angle = places / 10_000 ** (2 * index / width)
        values: NDArray[np.float64] = np.where(np.arange(width) % 2 == 0, np.sin(angle), np.cos(angle))
        return values

    by_dimension = made(np.arange(width))
    others = {name: abs_off(made_elsewhere) for name, made_elsewhere in _of_libraries().items()}
    names = [f"{dimension}" for dimension in (0, 2, 8)]
    return Measurement(
        {
            "off": float(np.abs(table - made(pairs)).max()),
            **others,
            "dimension": float(np.abs(table - by_dimension).max()),
            "last": float(np.arcsin(table[1, -2])),
        },
        Lines(
            [
                Series(name, list(range(min(rows, 64))), table[:64, int(name)].tolist(), dashed=place > 0)
                for place, name in enumerate(names)
                if int(name) < width
            ],
            x_title=Both("position", "位置"),
            y_title=Both("value in dimensions 0, 2 and 8", "第 0、2、8 维的值"),
        ),
    )


def abs_off(table: NDArray[np.float64]) -> float:
    """The largest difference of a table [ROWS, WIDTH], sines and cosines in turns, from the formula."""
    index = np.arange(WIDTH) // 2
    angle = np.arange(ROWS)[:, None] / 10_000 ** (2 * index / WIDTH)
    return float(np.abs(table - np.where(np.arange(WIDTH) % 2 == 0, np.sin(angle), np.cos(angle))).max())


def _of_libraries() -> dict[str, NDArray[np.float64]]:
    """The sinusoidal tables that transformers makes for some of its models, [ROWS, WIDTH]; sines and cosines in turns.

    Marian and M2M100 put all sines before all cosines: that is another order of the dimensions, which is undone here.
    """
    from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings
    from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

    distilbert = torch.empty(ROWS, WIDTH)
    create_sinusoidal_embeddings(ROWS, WIDTH, distilbert)
    with torch.no_grad():
        marian = MarianSinusoidalPositionalEmbedding(ROWS, WIDTH).create_weight()
        m2m100 = M2M100SinusoidalPositionalEmbedding.get_embedding(ROWS, WIDTH)
    in_turns = np.arange(WIDTH).reshape(2, -1).T.ravel()  # 0, WIDTH / 2, 1, WIDTH / 2 + 1, ...
    return {
        "distilbert": distilbert.double().numpy(),
        "marian": marian.double().numpy()[:, in_turns],
        "m2m100": m2m100.double().numpy()[:, in_turns],
    }


def _shift(subject: Subject) -> Measurement:
    table = positional.sinusoidal(ROWS, WIDTH)
    turned = positional.shift_residual(table, distance=APART)
    assert turned is not None
    seen, unseen = positional.fitted_shift(table, distance=APART)
    return Measurement(
        {"turned": turned, "seen": seen, "unseen": unseen},
        Bars(
            [
                Both("rotation", "旋转矩阵"),
                Both("fitted, first half", "最小二乘，前一半"),
                Both("fitted, second half", "最小二乘，后一半"),
            ],
            [max(value, 1e-16) for value in (turned, seen, unseen)],
            Both("error of PE(p + k)", "PE(p + k) 的误差"),
            log=True,
        ),
    )


def _products(subject: Subject) -> Measurement:
    table = positional.sinusoidal(ROWS, WIDTH)
    products = positional.by_distance(table @ table.T)
    means = products.set_index("distance")["mean"]
    ahead = means[means.index >= 0].to_numpy()
    projected = _kinds(subject)["sinusoidal"][0]
    return Measurement(
        {
            "spread": float(products["std"].max()),
            "turned": float(np.abs(ahead - means[means.index <= 0].to_numpy()[::-1]).max()),
            "rises": float((np.diff(ahead) > 0).sum()),
            "projected": projected,
        },
        Lines(
            (
                Series(
                    Both("PE(p) · PE(p + k)", "PE(p)·PE(p + k)"), list(range(ROWS // 2)), ahead[: ROWS // 2].tolist()
                ),
            ),
            x_title=Both("distance k", "距离 k"),
            y_title=Both("product", "点积"),
        ),
    )


def _kinds(subject: Subject) -> dict[str, tuple[float, float]]:
    table = subject.once("kinds of positions", positional.side_by_side)
    return {row.kind: (float(row.same), float(row.others)) for row in table.itertuples()}


def _longer(subject: Subject) -> Measurement:
    far = positional.sinusoidal(20_000, WIDTH)[-1]
    table = positional.longer(subject.loaded)
    longest = subject.loaded.max_tokens
    beyond = table[table["position"] >= longest]
    within = table[table["position"] < longest]

    def mean(part: pd.DataFrame, column: str) -> float:
        return float(np.average(part[column], weights=part["tokens"]))

    return Measurement(
        {
            "row": float((far**2).sum() / (WIDTH / 2)),
            "inside": mean(within, "at_once"),
            "beyond": mean(beyond, "at_once"),
            "windows": mean(beyond, "in_windows"),
        },
        Lines(
            (
                Series(Both("at once", "一次读完"), table["position"].tolist(), table["at_once"].tolist()),
                Series(
                    Both("in windows", "分窗口读"),
                    table["position"].tolist(),
                    table["in_windows"].tolist(),
                    dashed=True,
                ),
            ),
            x_title=Both("position", "位置"),
            y_title=Both("bits a token", "每个 token 的比特数"),
            mark_x=float(longest),
        ),
    )


def _reads(loaded: models.LoadedModel, count: int) -> bool:
    """True if the network takes `count` tokens; the tokenizer, which would cut them, is not asked."""
    ids = torch.tensor([[loaded.encode("a").ids[0]] * count])
    try:
        with torch.inference_mode():
            hidden = loaded.run(ids, torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids))
    except (RuntimeError, IndexError, ValueError):
        return False
    return bool(torch.isfinite(hidden).all())


def _ends(subject: Subject) -> Measurement:
    loaded = subject.loaded
    tables = positional.tables(loaded)
    if not tables:
        raise UnanswerableError(
            f"No table of positions was seen in {loaded.card.id}.",
            f"没有看到 {loaded.card.id} 的位置编码表。",
        )
    rows = len(tables[0].values)
    formula = subject.of(GOES_ON.stand_in(subject.at_hand)).loaded
    values = tables[0].values
    return Measurement(
        {
            "rows": float(rows),
            "longest": float(loaded.max_tokens),
            "raised": float(not _reads(loaded, rows + 1)),
            "read": float(_reads(formula, formula.max_tokens + 1)),
        },
        Lines(
            [
                Series(f"{place}", list(range(rows)), values[:, place].tolist(), dashed=place > 0)
                for place in range(min(2, values.shape[1]))
            ],
            x_title=Both("position", "位置"),
            y_title=Both("learned value in dimensions 0 and 1", "第 0、1 维上学到的值"),
            mark_x=float(rows - 1),
        ),
    )


def _disturbed(subject: Subject) -> Measurement:
    split = interventions.split_scores(subject.loaded, subject.trace)
    draw, width = np.random.default_rng(0), 512
    table = positional.sinusoidal(256, width)
    token = draw.normal(size=table.shape) / width**0.5

    def cosine(x: NDArray[np.float64]) -> float:
        whole = x + table
        return float(((x * whole).sum(1) / np.linalg.norm(x, axis=1) / np.linalg.norm(whole, axis=1)).mean())

    terms = [split.terms(head) for head in range(split.heads)]
    shares = {name: float(np.mean([np.abs(term[name]).mean() for term in terms])) for name in interventions.PARTS}
    return Measurement(
        {
            "bare": cosine(token),
            "scaled": cosine(token * width**0.5),
            "model": float(np.nanmean(split.cosines)),
            "position": (sum(shares.values()) - shares["content-content"]) / sum(shares.values()),
        },
        Bars(
            [
                Both("token · token", "内容·内容"),
                Both("token · position", "内容·位置"),
                Both("position · token", "位置·内容"),
                Both("position · position", "位置·位置"),
            ],
            [shares[name] for name in interventions.PARTS],
            Both("part of a score in the first layer, mean size", "第一层分数各部分的平均大小"),
            parts=["attention"] * 4,
        ),
    )


def _others(subject: Subject) -> Measurement:
    by_kind = _kinds(subject)
    relative = {kind: by_kind[kind] for kind in ("shaw", "xl", "t5", "rope", "alibi")}
    names: dict[str, Both | str] = {
        "sinusoidal": Both("sinusoidal", "正弦"),
        "learned": Both("learned", "可学习"),
        "shaw": "Shaw",
        "xl": "Transformer-XL",
        "t5": "T5",
        "rope": "RoPE",
        "alibi": "ALiBi",
    }
    return Measurement(
        {
            "same": max(same for same, _ in relative.values()),
            "rope": by_kind["rope"][0],
            "others": min(others for _, others in relative.values()),
            "absolute": min(by_kind["sinusoidal"][0], by_kind["learned"][0]),
        },
        Bars(
            [names[kind] for kind in kinds.KINDS],
            [max(by_kind[kind][0], 1e-16) for kind in kinds.KINDS],
            Both("range of scores at one distance", "同一距离上分数的极差"),
            log=True,
        ),
    )


def _parallel(subject: Subject) -> Measurement:
    table = subject.once("inputs shuffled", lambda: distance.shuffled(distance.Setting())).set_index("network")
    recurrent = table.loc[["tanh-RNN", "GRU", "LSTM"]]
    return Measurement(
        {
            "recurrent": float(recurrent["change"].min()),
            "bare": float(table["change"]["attention"]),
            "placed": float(table["change"][distance.WITH_POSITIONS]),
            "waits": float(recurrent["one_by_one"].min()),
            "steps": float(table["one_by_one"][distance.WITH_POSITIONS]),
        },
        Bars(
            ["RNN", "GRU", "LSTM", Both("attention", "注意力"), Both("attention with positions", "注意力 + 位置编码")],
            [
                max(float(table["change"][name]), 1e-16)
                for name in ("tanh-RNN", "GRU", "LSTM", "attention", distance.WITH_POSITIONS)
            ],
            Both("change of the last output when the inputs are shuffled", "打乱输入后最后输出的变化"),
            log=True,
        ),
    )


MEASURES: dict[int, Measure] = {
    74: _order,
    75: _formula,
    76: _shift,
    77: _products,
    78: _longer,
    79: _ends,
    80: _disturbed,
    81: _others,
    82: _parallel,
}
