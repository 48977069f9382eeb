"""Several heads: their purpose and their costs. Questions 41 to 45 and 47 to 50."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.flop_counter import FlopCounterMode

from inspector import block, compare, costs, head_distances, heads, interventions
from inspector.costs import clock
from inspector.interventions import importance
from inspector.interventions.importance import Importance
from inspector.probe import record_blocks
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.picture import Bars, Heatmap, Lines, Series
from inspector.questions.record.question import (
    Measure,
    Measurement,
    Run,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.queries import layers_of, of_each_head
from inspector.questions.themes.together import sentences
from inspector.questions.themes.trained import (
    Pair,
    courses_drawn,
    ends,
    from_seeds,
    joined,
    last_loss,
    loss_of,
    train_both,
)
from inspector.scores import of_product
from inspector.trace import recompute
from models.attention.dropping import ModelHead
from models.training.tiny.experiments import Experiment, Switches
from models.transformer.config import TransformerConfig
from models.transformer.multi_head import MultiHeadAttention

Floats = NDArray[np.float64]

MOST_DROPPED = 96  # heads that are left out one by one, a run of the model for each
MOST_TOKENS_DROPPED = 3000  # read in all these runs together
LABELS = {
    "previous": Both("previous token", "前一个 token"),
    "next": Both("next token", "后一个 token"),
    "self": Both("itself", "自身"),
    "first": Both("first token", "第一个 token"),
    "[CLS]": Both("[CLS]", "[CLS]"),
    "[SEP]": Both("[SEP]", "[SEP]"),
    "induction": Both("induction", "归纳头"),
    "same word": Both("same word", "同一个词"),
    "broad": Both("broad", "分散"),
    "other": Both("none that has a name", "说不出名字"),
}


# --- what the questions share --------------------------------------------------------------------------------------


def importances(subject: Subject) -> list[Importance]:
    """Leave out each head alone and measure the change of the output; of many heads, some that are evenly spaced."""

    def make() -> list[Importance]:
        every = interventions.every_head(subject.trace)
        most = max(24, min(MOST_DROPPED, MOST_TOKENS_DROPPED // len(subject.trace.tokens)))
        chosen = np.unique(np.linspace(0, len(every) - 1, min(len(every), most)).round().astype(int))
        return list(importance.measure(subject.loaded, subject.trace, heads=[every[at] for at in chosen]))

    return subject.once("importance of heads", make)


@dataclass(frozen=True)
class HeadOutputs:
    """The outputs of one layer's heads, as they enter the residual stream.

    mixes: A V of each head, float64 [H, Q, E]. out: the rows of W_O for each head, [H, E, D].
    """

    layer: int
    mixes: Floats
    out: Floats

    @property
    def each(self) -> Floats:
        """head_i W_O^i, [H, Q, D]."""
        return self.mixes @ self.out


def head_outputs(subject: Subject) -> HeadOutputs:
    """The head outputs of one layer, the middle of the layers whose W_O was seen.

    Raises ValueError where no W_O was seen, and for a layer of a single head.
    """

    def make() -> HeadOutputs:
        trace, loaded = subject.trace, subject.loaded
        stream = trace.streams[0]
        blocks = subject.once("blocks", partial(record_blocks, loaded, trace))
        matrices = {layer.layer: layer.matrix("out") for layer in blocks.of(stream)}
        layers = [
            site.layer for site in trace.sites_of(stream) if not site.call and matrices.get(site.layer) is not None
        ]
        if not layers:
            raise UnanswerableError(
                f"No matrix W_O was seen in the layers of {loaded.card.id}.",
                f"没有看到 {loaded.card.id} 各层的 W_O 矩阵。",
            )
        layer = layers[len(layers) // 2]
        matrix, record = matrices[layer], trace.record_of(layer, stream)
        assert matrix is not None
        out = matrix.weight(loaded.network).double().cpu().numpy()
        count, width = len(record.query), record.value.shape[-1]
        if count < 2:
            raise UnanswerableError(
                f"Layer {layer} of {loaded.card.id} has one head; choose a model with several.",
                f"{loaded.card.id} 的第 {layer} 层只有一个头，请选择多头的模型。",
            )
        if len(out) != count * width:
            raise UnanswerableError(
                f"W_O of layer {layer} of {loaded.card.id} does not split into its {count} heads.",
                f"{loaded.card.id} 第 {layer} 层的 W_O 不能分成 {count} 个头。",
            )
        places = range(len(record.site.queries))
        mixes = np.stack([block.mixed(trace, stream=stream, layer=layer, position=at) for at in places], axis=1)
        return HeadOutputs(layer, mixes, out.reshape(count, width, -1))

    return subject.once("heads as written", make)


# --- 41, 42: what heads do -----------------------------------------------------------------------------------------


def _different(subject: Subject) -> Measurement:
    trace = subject.trace
    stream = trace.streams[0]
    if len(trace.sites_of(stream)[0].keys) < 2:
        raise UnanswerableError(
            "The text has one token, so all heads look at it; write a longer one.",
            "这段文本只有一个 token，所有头都只能看它，请写长一些。",
        )
    apart = head_distances.measure(trace, stream=stream, work=40_000_000).values
    if len(apart) < 2:
        raise UnanswerableError(
            f"{subject.loaded.card.id} has one head, and nothing to compare it with.",
            f"{subject.loaded.card.id} 只有一个头，没有可以比较的对象。",
        )
    among = apart[~np.eye(len(apart), dtype=bool)]
    chosen = heads.with_choice(subject.heads, trace)
    labels = chosen.loc[chosen["stream"] == stream, "label"]
    counts = labels.value_counts()
    named = 1 - float(labels.isin(["other", "broad"]).mean())
    names = [name for name in LABELS if name in counts]
    picture = Bars(
        [LABELS[name] for name in names],
        [float(counts[name]) for name in names],
        Both("heads, by what they mostly look at", "各头主要看什么（头数）"),
    )
    return Measurement({"apart": float(among.mean()), "nearest": float(among.min()), "named": named}, picture)


def _needed(subject: Subject) -> Measurement:
    moved = np.array([head.moved for head in importances(subject)])
    ordered = np.sort(moved)[::-1]
    picture = Lines(
        (
            Series(
                Both("output moved without the head", "去掉该头后输出的变化"),
                list(range(1, len(ordered) + 1)),
                np.maximum(ordered, 1e-9).tolist(),
            ),
        ),
        x_title=Both("heads, the most important first", "各头，按重要性从高到低"),
        y_title=Both("1 − cosine", "1 − 余弦"),
        log_y=True,
        mark_y=0.01,
    )
    return Measurement(
        {
            "median": float(np.median(moved)),
            "largest": float(moved.max()),
            "small": float((moved < 0.01).mean()),
        },
        picture,
    )


# --- 43: robustness ------------------------------------------------------------------------------------------------

_SEEDS = 3
_SEVERAL_AND_ONE = Experiment(seeds=_SEEDS, a=Switches(), b=Switches(heads=1))


def _ensemble(subject: Subject) -> Measurement:
    outputs = head_outputs(subject)
    each = outputs.each
    units = each / np.maximum(np.linalg.norm(each, axis=-1, keepdims=True), 1e-30)
    count = len(units)
    cosines = np.einsum("aqd,bqd->ab", units, units) / units.shape[1]
    alike = float((cosines.sum() - np.trace(cosines)) / (count * (count - 1)))
    stream = subject.trace.streams[0]
    every = [ModelHead(stream, outputs.layer, head) for head in range(count)]

    def moved(dropped: list[ModelHead]) -> float:
        change = interventions.drop(subject.loaded, subject.trace, heads=dropped)
        return float(compare.moved(change.before, change.after).mean())

    chosen = every[:: max(1, count // 8)]
    alone, layer = float(np.mean([moved([head]) for head in chosen])), moved(every)
    several, single = loss_of(subject, Switches()), loss_of(subject, Switches(heads=1))
    names = [str(head) for head in range(count)]
    picture = Heatmap(
        cosines.astype(np.float32),
        rows=names,
        columns=names,
        row_title=Both("head", "头"),
        column_title=Both("head", "头"),
        quantity=Both("cosine of what two heads write", "两个头写入内容的余弦"),
        diverging=True,
    )
    numbers = {
        "alike": alike,
        "one": alone,
        "layer": layer,
        "several": several[-1],
        "single": single[-1],
    }
    return Measurement(numbers, picture)


def _several_and_one(subject: Subject, watch: Watch) -> Measurement:
    """Train with four heads and with one, from three seeds each."""
    courses = train_both(_SEVERAL_AND_ONE, watch)
    several, single = ends(courses, last_loss)
    picture = courses_drawn(courses, (Both("4 heads", "4 个头"), Both("1 head", "1 个头")), log_y=True)
    return Measurement(
        {
            "several": float(np.mean(several)),
            "single": float(np.mean(single)),
            "several_spread": max(several) - min(several),
            "single_spread": max(single) - min(single),
        },
        picture,
    )


# --- 44 to 48: widths and costs ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _AttentionCost:
    """The costs of one layer's attention. products: FLOPs of all matrix products; core: of scores and mix alone."""

    products: int
    core: int
    softmax: int
    parameters: int
    matrices: int


def _cost(*, width: int, count: int, each: int, tokens: int) -> _AttentionCost:
    """Count one layer's attention with `count` heads of width `each`, without biases."""
    config = TransformerConfig(
        vocabulary=1, layers=1, width=width, heads=count, head_size=each, ffn_width=1, max_positions=1, bias=False,
        positions="none",
    )  # fmt: skip
    table = costs.breakdown(config, tokens=tokens)
    table = table[table["part"] == "attention"]
    products = table[table["kind"] == "matmul"]
    core = products[products["component"].isin(["scores", "mix"])]
    return _AttentionCost(
        products=int(products["flops"].sum()),
        core=int(core["flops"].sum()),
        softmax=int(table.loc[table["component"] == "softmax", "flops"].sum()),
        parameters=int(table["parameters"].sum()),
        matrices=int((products["parameters"] > 0).sum()),
    )


@dataclass(frozen=True)
class _ModelSizes:
    """The sizes of the reader's model and text."""

    width: int
    count: int
    key: int
    value: int
    tokens: int


def _sizes(subject: Subject) -> _ModelSizes:
    trace = subject.trace
    site = trace.sites_of(trace.streams[0])[0]
    record = trace.record_of(site.layer, site.stream, call=site.call)
    return _ModelSizes(
        trace.hidden.shape[-1], site.heads, record.query.shape[-1], record.value.shape[-1], len(site.keys)
    )  # fmt: skip


def _widths(subject: Subject) -> Measurement:
    paper = TransformerConfig(vocabulary=1, layers=1, width=512, heads=8, ffn_width=2048, max_positions=1)
    here = _sizes(subject)
    return Measurement(
        {
            "paper": float(paper.head_width),
            "key": float(here.key),
            "value": float(here.value),
            "joined": float(here.count * here.key),
            "width": float(here.width),
        }
    )


_D, _N = 512, 128  # of the paper's base model, and of the texts for which its costs are counted


def _run_products(heads: int) -> int:
    """Count the FLOPs of the matrix products that a layer's attention really runs on N tokens of width D."""
    with torch.random.fork_rng(devices=[]):
        attention = MultiHeadAttention(_D, heads, bias=False)
    with torch.inference_mode(), FlopCounterMode(display=False) as counted:
        attention(torch.zeros(1, _N, _D))
    return int(counted.get_total_flops())


def _same_cost(subject: Subject) -> Measurement:
    single, eight = (_cost(width=_D, count=h, each=_D // h, tokens=_N) for h in (1, 8))
    full = _cost(width=_D, count=8, each=_D, tokens=_N)
    longer = _cost(width=_D, count=1, each=_D, tokens=2 * _N)
    wider = _cost(width=2 * _D, count=1, each=2 * _D, tokens=_N)
    run = subject.cached("attention counted", lambda: [_run_products(heads) for heads in (1, 8, 64)])
    picture = Bars(
        (
            Both("1 head of 512", "1 个头，宽 512"),
            Both("8 heads of 64", "8 个头，宽 64"),
            Both("64 heads of 8", "64 个头，宽 8"),
            Both("8 heads of 512", "8 个头，宽 512"),
        ),
        [*(float(flops) for flops in run), float(full.products)],
        Both("FLOPs of attention's matrix products", "注意力矩阵乘法的 FLOPs"),
        parts=("attention",) * 4,
    )
    return Measurement(
        {
            "one": float(run[0]),
            "eight": float(run[1]),
            "many": float(run[2]),
            "full": float(full.products),
            "parameters": float(eight.parameters),
            "formula": float(eight.products),
            "by_width": math.log2(wider.core / single.core),
            "by_length": math.log2(longer.core / single.core),
            "matrices": float(eight.matrices),
        },
        picture,
    )


def _as_costly(subject: Subject) -> Measurement:
    here = _sizes(subject)
    several = _cost(width=here.width, count=here.count, each=here.key, tokens=here.tokens)
    single = _cost(width=here.width, count=1, each=here.count * here.key, tokens=here.tokens)
    picture = Bars(
        (
            Both("products, 1 head", "乘法，1 个头"),
            Both("products, all heads", "乘法，多头"),
            Both("softmax, 1 head", "softmax，1 个头"),
            Both("softmax, all heads", "softmax，多头"),
        ),
        [float(flops) for flops in (single.products, several.products, single.softmax, several.softmax)],
        Both("FLOPs of one layer's attention on this text", "一层注意力在这段文本上的 FLOPs"),
        log=True,
    )
    return Measurement(
        {
            "several": float(several.products),
            "single": float(single.products),
            "softmax_several": float(several.softmax),
            "softmax_single": float(single.softmax),
        },
        picture,
    )


def _by_clock(subject: Subject, watch: Watch) -> Measurement:
    """Time scores, softmax and mix of one layer with 1, 8 and 64 heads."""
    counts = (1, 8, 64)
    measured = clock.measure_heads(_D, counts, tokens=512, repeats=5, on_progress=watch)
    seconds = {
        count: timed.table.set_index("part")["seconds"][["scores", "softmax", "mix"]]
        for count, timed in measured.items()
    }
    milliseconds = {count: 1000 * float(each.sum()) for count, each in seconds.items()}
    picture = Bars(
        [Both(f"{count} heads", f"{count} 个头") if count > 1 else Both("1 head", "1 个头") for count in counts],
        [milliseconds[count] for count in counts],
        Both("milliseconds of scores, softmax and mix", "分数、softmax 与加权求和的毫秒数"),
    )
    return Measurement({"one": milliseconds[1], "eight": milliseconds[8], "many": milliseconds[64]}, picture)


def _reduction(subject: Subject) -> Measurement:
    here = _sizes(subject)
    picture = Bars(
        (Both("a head", "一个头"), Both("all heads side by side", "各头拼接"), Both("behind W_O", "W_O 之后")),
        [float(here.value), float(here.count * here.value), float(here.width)],
        Both("width", "宽度"),
    )
    return Measurement(
        {"head": float(here.value), "joined": float(here.count * here.value), "width": float(here.width)}, picture
    )


# --- 49, 50: how heads are put together ----------------------------------------------------------------------------


def _merge(subject: Subject) -> Measurement:
    outputs = head_outputs(subject)
    mixes, out = outputs.mixes, outputs.out
    count, queries, width = mixes.shape
    joined = mixes.transpose(1, 0, 2).reshape(queries, count * width)
    concat = joined @ out.reshape(count * width, -1)
    added = outputs.each.sum(axis=0)
    size = max(float(np.linalg.norm(concat)), 1e-30)
    plain = mixes.sum(axis=0) @ out[0]
    order = [1, 0, *range(2, count)]
    swapped = mixes[order]
    concat_swapped = np.einsum("hqe,hed->qd", swapped, out)
    plain_swapped = swapped.sum(axis=0) @ out[0]
    numbers = {
        "difference": float(np.linalg.norm(concat - added)) / size,
        "swap_concat": float(np.linalg.norm(concat_swapped - concat)) / size,
        "swap_sum": float(np.linalg.norm(plain_swapped - plain)) / max(float(np.linalg.norm(plain)), 1e-30),
        "rank_concat": float(np.linalg.matrix_rank(out.reshape(count * width, -1))),
        "rank_sum": float(np.linalg.matrix_rank(out[0])),
    }
    picture = Bars(
        [str(head) for head in range(count)],
        np.linalg.norm(outputs.each, axis=-1).mean(axis=-1).tolist(),
        Both("length of head_i W_O^i, mean over tokens", "head_i W_O^i 的长度，对 token 取平均"),
        parts=("attention",) * count,
    )
    return Measurement(numbers, picture)


def _longer(subject: Subject) -> Subject:
    """The reader's text and other sentences after it, so that it has more tokens than a head has dimensions."""
    return replace(subject, text=" ".join([subject.text, *sentences(subject) * 2]))


def _at_once(subject: Subject) -> Measurement:
    records = layers_of(subject)
    record = records[len(records) // 2]
    count, tokens = len(record.query), len(record.site.keys)
    window = partial(recompute.window, kind="weights", queries=slice(0, tokens), keys=slice(0, tokens))
    together = window(record)
    alone = np.stack([window(record.of_head(head))[0] for head in range(count)])
    flat = record.query.transpose(0, 1).reshape(tokens, -1)  # [T, H E], as the projection gives it
    right, wrong = flat.reshape(tokens, count, -1).transpose(0, 1), flat.reshape(count, tokens, -1)
    wide, width = _longer(subject), record.query.shape[-1]
    longer = layers_of(wide)
    of_longer = longer[len(longer) // 2]
    if len(of_longer.site.keys) <= width:
        raise UnanswerableError(
            f"The longest text that is read has {len(of_longer.site.keys)} tokens, and a rank below the tokens shows "
            f"only "
            f"with more than d_k = {width}.",
            f"可读的最长文本有 {len(of_longer.site.keys)} 个 token，超过 d_k = {width} 个才能看出低秩。",
        )
    long_keys = of_each_head(of_longer.key, count)
    ranks, values = [], None
    for head in np.unique(np.linspace(0, count - 1, min(count, 12)).round().astype(int)):
        spectrum = of_product(of_longer.query[head], long_keys[head])
        ranks.append(spectrum.rank)
        values = spectrum.values if values is None else values
    assert values is not None
    picture = Lines(
        (
            Series(
                Both("singular values of QKᵀ, head 0", "QKᵀ 的奇异值，第 0 个头"),
                list(range(1, len(values) + 1)),
                values.tolist(),
            ),
        ),
        x_title=Both("number", "序号"),
        y_title=Both("singular value", "奇异值"),
        mark_x=float(width),
    )
    return Measurement(
        {
            "difference": float(np.abs(together - alone).max()),
            "untransposed": float((right - wrong).norm() / right.norm()) if count > 1 else math.nan,
            "rank": float(max(ranks)),
            "width": float(width),
            "longer": float(len(of_longer.site.keys)),
        },
        picture,
    )


MEASURES: dict[int, Measure] = {
    41: _different,
    42: _needed,
    43: _ensemble,
    44: _widths,
    45: _same_cost,
    47: _as_costly,
    48: _reduction,
    49: _merge,
    50: _at_once,
}
RUNS: dict[int, Run] = {
    43: joined(
        _several_and_one,
        from_seeds(
            Pair(
                "early",
                Switches(),
                Switches(heads=1),
                Both("loss with 1 head less that with 4, 120 steps", "120 步时 1 个头的损失减 4 个头的损失"),
            )
        ),
    ),
    47: _by_clock,
}
