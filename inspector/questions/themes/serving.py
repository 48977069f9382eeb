"""Serving: what makes a trained model cheaper to run, and what that costs. Questions 144 to 149."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn

import models
from inspector import costs
from inspector.costs.shelf import SHELF
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import above, at_most, below, equal, near
from inspector.questions.record.kinds import ENCODERS, Kind
from inspector.questions.record.measured import OTHERS, RANDOM, SMALL
from inspector.questions.record.papers import (
    AINSLIE_2023,
    DAO_2022,
    DEEPSEEK_2024,
    DETTMERS_2022,
    LEVIATHAN_2023,
    SAXENA_2023,
    SHAZEER_2019,
    XIAO_2023,
)
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import (
    ClaimPart,
    Label,
    LongExperiment,
    Measurement,
    PageLink,
    PublishedNumber,
    Question,
    StoredRun,
    Theme,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.continued import CONTINUES, batch_of, is_large, logits_of, loss, losses
from inspector.questions.themes.trained import RIGHT, courses_drawn, ends, last_right, train_both
from models.attention import AttentionCall, editing
from models.attention.imposing import imposing
from models.attention.seam import Compute
from models.training.tiny.experiments import Experiment, Switches

NATS = Both("nats a token", "nat/token")
LOSS = Both("loss, nats a token", "损失，nat/token")

# --- 144: GQA ------------------------------------------------------------------------------------------------------

Merge = Callable[[Tensor], Tensor]
"""Makes one head of a group: [B, groups, heads of a group, T, E] -> [B, groups, T, E]."""
MERGES: dict[str, Merge] = {"averaged": lambda heads: heads.mean(dim=2), "first": lambda heads: heads[:, :, 0]}
_SHARED = Experiment(steps=600, seeds=5, a=Switches(), b=Switches(kv_heads=1))


def groups_of(heads: int) -> int:
    """Return the number of groups into which K heads of keys and values are merged: half, or their largest divisor."""
    return next((number for number in range(heads // 2, 0, -1) if heads % number == 0), 1)


def merging(groups: int, merge: Merge) -> Callable[[AttentionCall, Compute], Tensor]:
    """Give every head of a group the same keys and values, as `merge` makes them of the group's."""

    def edit(call: AttentionCall, compute: Compute) -> Tensor:
        def merged(tensor: Tensor) -> Tensor:
            each = tensor.shape[1] // groups
            return merge(tensor.unflatten(1, (groups, each))).repeat_interleave(each, dim=1)

        return compute(replace(call, key=merged(call.key), value=merged(call.value)))

    return edit


def _with_several(subject: Subject) -> int:
    """Return how many heads of keys and values the model has; refuse where there is one alone."""
    cache = costs.kv_cache(subject.loaded.config)
    if cache.kv_heads < 2 or cache.sharing == "MLA":
        raise UnanswerableError(
            f"{subject.loaded.card.id} has one head of keys and values, or a latent, and nothing to merge.",
            f"{subject.loaded.card.id} 只有一个 K、V 头，或者使用潜在向量，没有可合并的头。",
        )
    return cache.kv_heads


def _grouped(subject: Subject) -> Measurement:
    loaded, heads = subject.loaded, _with_several(subject)
    groups, ids = groups_of(heads), batch_of(subject)
    cache = costs.kv_cache(loaded.config)
    found = {"loss": subject.once("loss of passages", partial(loss, loaded, ids))}
    for name, merge in MERGES.items():
        with editing(merging(groups, merge)):
            found[name] = loss(loaded, ids)
    picture = Bars(
        [
            Both("as trained", "训练好的模型"),
            Both("averaged in groups", "按组平均"),
            Both("first of each group", "每组取第一个"),
        ],
        list(found.values()),
        LOSS,
        mark=found["loss"],
    )
    return Measurement(
        {
            **found,
            "heads": float(heads),
            "groups": float(groups),
            "cache": cache.shared_by(groups).token_bytes() / cache.token_bytes(),
            "share": groups / heads,
        },
        picture,
    )


def _grouped_from_the_start(subject: Subject, watch: Watch) -> Measurement:
    """Train the Lab's network with keys and values for each of four heads, and with one head of both."""
    courses = train_both(_SHARED, watch)
    each, shared = ends(courses, last_right)
    names = Both("4 heads of K and V", "4 个 K、V 头"), Both("1 head of K and V", "1 个 K、V 头")
    return Measurement(
        {
            "each": sum(each) / len(each),
            "shared": sum(shared) / len(shared),
            "each_least": min(each),
            "shared_least": min(shared),
        },
        courses_drawn(courses, names, of=lambda report: report.exact_accuracy, y_title=RIGHT),
    )


GROUPED = Question(
    144,
    reads_text=False,
    asked=Both(
        "GQA: can the heads of a trained model share keys and values at nearly no cost?",
        "GQA：训练好的模型，各头共享 K、V 几乎没有损失吗？",
    ),
    claim=Both(
        "Grouped-query attention averages the key and value heads of each group: the cache shrinks in proportion, and "
        "quality hardly changes.",
        "GQA 把每组的 K、V 头取平均：KV 缓存成比例缩小，效果几乎不变。",
    ),
    parts=(
        ClaimPart(
            Both("The cache shrinks in proportion to the heads of K and V.", "KV 缓存随 K、V 头数成比例缩小。"),
            (near("cache", "share", within=0.001),),
        ),
        ClaimPart(
            Both(
                "With K and V averaged in groups, the trained model's loss rises by less than 5 %.",
                "把 K、V 按组平均后，训练好的模型的损失上升不到 5%。",
            ),
            (below("averaged", "loss", times=1.05),),
        ),
        ClaimPart(
            Both(
                "Averaging loses less than keeping one head of each group.",
                "取平均比每组只留一个头损失小。",
            ),
            (below("averaged", "first"),),
            role="mechanism",
        ),
    ),
    measure=_grouped,
    numbers={
        "loss": Label(Both("loss as trained", "原模型的损失"), NATS),
        "averaged": Label(Both("loss, K and V averaged in groups", "损失，K、V 按组平均"), NATS),
        "first": Label(Both("loss, the first K and V of each group", "损失，每组只留第一个 K、V 头"), NATS),
        "heads": Label(Both("heads of keys and values", "K、V 头数")),
        "groups": Label(Both("groups that they are merged into", "合并成的组数")),
        "cache": Label(Both("cache a token, merged over as trained", "每 token 的缓存，合并后与原来之比"), "%"),
        "share": Label(Both("groups over heads of K and V", "组数与 K、V 头数之比"), "%"),
    },
    setting=Both(
        "Three English passages written for this question, 128 tokens each (48 for a model of more than 50 million "
        "numbers). The model's heads of keys and values are merged into half as many (2 into 1, 3 into 1), in every "
        "layer, as attention reads them, without training. 5 %: less than the loss differs between these passages.",
        "三段专为此题写的英文短文，各 128 个 token（参数超过 5000 万的模型各 48 个）。在每一层把 K、V 头合并成一半"
        "（2 合 1、3 合 1），直接作用于注意力读到的 K、V，不再训练。5%：小于这几段短文之间的损失差别。",
    ),
    because=Both(
        "The paper does not stop at averaging: it trains on for 5 % of the original compute, and only then is quality "
        "close. Each query head has learned to meet its own keys; the mean of two learned keys is neither. Models "
        "that are trained with groups from the start, as nearly all large ones are now, have nothing to repair.",
        "论文并不止于取平均：之后还要用原训练量的 5% 继续训练，效果才接近。每个 Q 头学会的是配合自己的 K；两个 K "
        "的平均既不是这个也不是那个。如今的大模型多从一开始就按组训练，没有需要修补的地方。",
    ),
    refuted=Both(
        "A trained model whose loss stays within 5 % when its heads of keys and values are averaged in groups.",
        "如果训练好的模型按组平均 K、V 之后，损失变化不到 5%，判断就会改变。",
    ),
    formula=r"\bar K_g = \frac{1}{|g|} \sum_{h \in g} K_h: \quad <loss> \to <averaged>, \qquad"
    r" \frac{\mathrm{cache}'}{\mathrm{cache}} = <cache>",
    papers=(AINSLIE_2023, SHAZEER_2019),
    see=PageLink("costs", {"section": "Memory and steps"}),
    of=CONTINUES,
    published={
        "averaged": PublishedNumber(
            "5 %",
            Both(
                "of the original compute is trained on after averaging (Ainslie et al. 2023, abstract)",
                "的原训练量用于平均之后的继续训练（Ainslie 等人，2023，摘要）",
            ),
        )
    },
    whole=LongExperiment(
        run=_grouped_from_the_start,
        about=Both(
            "The Lab's encoder learns to reverse 8 digits, 600 steps, with keys and values for each of 4 heads and "
            "with one head of both, 5 seeds; about two minutes on one core.",
            "Lab 的编码器学习把 8 个数字倒过来，600 步：4 个头各有 K、V，或者共用一个，5 个种子；单核约两分钟。",
        ),
        parts=(
            ClaimPart(
                Both(
                    "Trained with one head of K and V, as many texts are right, within 5 in a hundred.",
                    "从头训练时共用一个 K、V 头，全对率相差不到 5 个百分点。",
                ),
                (above("shared", "each", times=0.95),),
            ),
        ),
        numbers={
            "each": Label(Both("texts without a mistake, 4 heads of K and V", "全对率，4 个 K、V 头"), "%", of=SMALL),
            "shared": Label(Both("texts without a mistake, 1 head of K and V", "全对率，1 个 K、V 头"), "%", of=SMALL),
            "each_least": Label(Both("the same, worst seed, 4 heads", "同上，最差的种子，4 个头"), "%", of=SMALL),
            "shared_least": Label(Both("the same, worst seed, 1 head", "同上，最差的种子，1 个头"), "%", of=SMALL),
        },
        stored=StoredRun(
            {"each": 1.0, "shared": 1.0, "each_least": 1.0, "shared_least": 1.0},
            command="python -m inspector.questions --only 144 --whole",
            seeds="0, 1, 2, 3, 4",
            date="2026-11-27",
        ),
    ),
)

# --- 145: MQA and MLA ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Directions:
    """The mean [F] of a layer's recorded keys and values, all heads side by side, and their main directions [F, F]."""

    mean: Tensor
    main: Tensor
    squares: Tensor  # the share of the variance in each direction, falling


def directions(keys_and_values: Tensor) -> Directions:
    """Find the main directions of rows [N, F] -> Directions, by a singular value decomposition in float64."""
    rows = keys_and_values.double()
    mean = rows.mean(dim=0)
    _, singular, main = torch.linalg.svd(rows - mean, full_matrices=False)
    squares = singular.square()
    return Directions(mean, main.T, squares / squares.sum())


def _beside(key: Tensor, value: Tensor) -> Tensor:
    """Put keys and values [B, K, T, E] of all heads side by side -> [B, T, 2 K E]."""
    return torch.cat([key, value], dim=1).transpose(1, 2).flatten(start_dim=2)


def compressing(found: Mapping[int, Directions], numbers: int) -> Callable[[AttentionCall, Compute], Tensor]:
    """Keep of each token's keys and values `numbers` numbers, a latent, and make all heads of it again."""

    def edit(call: AttentionCall, compute: Compute) -> Tensor:
        assert call.layer is not None
        layer, heads = found[call.layer], call.key.shape[1]
        rows = _beside(call.key, call.value).double() - layer.mean
        basis = layer.main[:, :numbers]
        again = (rows @ basis @ basis.T + layer.mean).to(call.key)
        key, value = again.unflatten(2, (2 * heads, -1)).transpose(1, 2).split(heads, dim=1)
        return compute(replace(call, key=key, value=value))

    return edit


def _recorded(loaded: models.LoadedModel, ids: Tensor) -> dict[int, Directions]:
    """Read ids [B, T] and find the directions of each layer's keys and values."""
    seen: dict[int, Directions] = {}

    def edit(call: AttentionCall, compute: Compute) -> Tensor:
        assert call.layer is not None
        seen[call.layer] = directions(_beside(call.key, call.value).flatten(end_dim=1))
        return compute(call)

    with editing(edit):
        logits_of(loaded, ids)
    return seen


def _latent(subject: Subject) -> Measurement:
    loaded, heads = subject.loaded, _with_several(subject)
    ids = batch_of(subject)
    learned, held = ids[:2], ids[2:]
    found = _recorded(loaded, learned)
    full = int(next(iter(found.values())).mean.numel())
    kept = full // heads  # what one head of keys and values has: the cache of MQA
    base = loss(loaded, held)
    with editing(merging(1, MERGES["averaged"])):
        shared = loss(loaded, held)
    with editing(compressing(found, kept)):
        latent = loss(loaded, held)
    needed = [int((layer.squares.cumsum(dim=0) < 0.99).sum()) + 1 for layer in found.values()]
    shelf = SHELF["deepseek-v3"].config()
    mla = costs.kv_cache(shelf).layers[0].numbers
    cumulated = torch.stack([layer.squares.cumsum(dim=0) for layer in found.values()]).mean(dim=0)
    picture = Lines(
        (
            Series(
                Both("variance of keys and values", "K、V 的方差"),
                [float(number) for number in range(1, len(cumulated) + 1)],
                [100 * float(share) for share in cumulated],
            ),
        ),
        x_title=Both("numbers kept a token, of a layer", "每个 token 每层保留的数"),
        y_title=Both("share of the variance, mean of layers, %", "方差占比，各层均值，%"),
        mark_x=float(kept),
    )
    return Measurement(
        {
            "loss": base,
            "shared": shared,
            "latent": latent,
            "kept": float(kept),
            "full": float(full),
            "needed": sum(needed) / len(needed) / full,
            "mla": float(mla),
            "mqa": float(2 * shelf.v_head_dim),
            "groups": mla / (2 * shelf.v_head_dim),
        },
        picture,
    )


LATENT = Question(
    145,
    reads_text=False,
    asked=Both(
        "MQA or MLA: what does a cache of one head's size keep?",
        "MQA 与 MLA：缓存同样小，谁保留得更多？",
    ),
    claim=Both(
        "Keys and values of all heads have low rank: MLA keeps a small latent from which every head's are made again, "
        "and loses less than MQA, at the smallest cache of all.",
        "各头的 K、V 是低秩的：MLA 只存一个小的潜在向量，再还原出各头的 K、V，损失比 MQA 小，缓存也最小。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Of the same size, a latent of all heads loses less than one averaged head.",
                "大小相同时，潜在向量的损失小于一个平均的 K、V 头。",
            ),
            (below("latent", "shared"),),
        ),
        ClaimPart(
            Both(
                "With that latent the loss rises by less than 5 %.",
                "用这样的潜在向量，损失上升不到 5%。",
            ),
            (below("latent", "loss", times=1.05),),
        ),
        ClaimPart(
            Both(
                "99 % of what keys and values vary by lies in half of their numbers.",
                "K、V 99% 的方差集中在一半的维度里。",
            ),
            (at_most("needed", 0.5),),
            role="mechanism",
        ),
        ClaimPart(
            Both(
                "The smallest cache is MQA's: DeepSeek-V3's latent is more than one head of its keys and values.",
                "缓存最小的是 MQA：DeepSeek-V3 的潜在向量比它的一个 K、V 头还大。",
            ),
            (above("mla", "mqa"),),
            role="limit",
        ),
    ),
    measure=_latent,
    numbers={
        "loss": Label(Both("loss as trained", "原模型的损失"), NATS),
        "shared": Label(Both("loss, one averaged head of K and V (MQA)", "损失，一个平均的 K、V 头（MQA）"), NATS),
        "latent": Label(Both("loss, a latent as large (MLA)", "损失，同样大的潜在向量（MLA）"), NATS),
        "kept": Label(Both("numbers kept a token and layer", "每 token 每层保留的数")),
        "full": Label(Both("numbers of all heads' keys and values", "所有头的 K、V 的数")),
        "needed": Label(
            Both("numbers that hold 99 % of the variance, mean of layers", "占 99% 方差所需的维度，各层均值"), "%"
        ),
        "mla": Label(
            Both("cache of DeepSeek-V3, numbers a token and layer", "DeepSeek-V3 每 token 每层的缓存"), of=OTHERS
        ),
        "mqa": Label(Both("the same with one head of K and V (MQA)", "换成一个 K、V 头（MQA）时"), of=OTHERS),
        "groups": Label(Both("heads of K and V that its cache would hold", "其缓存相当于几个 K、V 头"), of=OTHERS),
    },
    setting=Both(
        "The main directions of each layer's keys and values, as the cache holds them, are found on two passages; the "
        "losses are those of a third. Latent: as many numbers as one head's key and value; no training. 5 %: "
        "less than the loss differs between passages; half: more would be no low rank. A model of more than 50 million "
        "numbers reads 48 tokens of each.",
        "在两段短文上求每层 K、V（缓存中的样子）的主方向，在第三段上计算损失。潜在向量与一个头的 K、V 一样大，"
        "不再训练。5%：小于几段短文之间的损失差别；一半：更多就谈不上低秩。参数超过 5000 万的模型每段读 48 个 token。",
    ),
    because=Both(
        "Merging heads throws away what tells them apart; a latent may keep a little of each. MLA's own latent is "
        "learned from the start and keeps the positions apart, for RoPE turns keys and so raises their rank. Its "
        "cache is small beside that of 128 heads, not beside MQA's.",
        "合并头，就丢掉了头与头的差别；潜在向量可以每样都留一点。MLA 的潜在向量是从头学出来的，而且把位置部分单独存放，"
        "因为 RoPE 的旋转会提高 K 的秩。与 128 个头相比，它的缓存很小；与 MQA 相比则不然。",
    ),
    refuted=Both(
        "A model whose averaged head loses less than a latent of the same size.",
        "如果某个模型的平均头比同样大小的潜在向量损失更小，判断就会改变。",
    ),
    formula=r"c_t = B^\top [k_t; v_t] \in \mathbb{R}^{<kept>}: \quad <loss> \to <latent>, \qquad"
    r" \mathrm{MQA}: \; <shared>, \qquad \frac{d_c + d_{rope}}{2 d_h} = <groups>",
    papers=(SHAZEER_2019, DEEPSEEK_2024),
    see=PageLink("costs", {"section": "Memory and steps"}),
    of=CONTINUES,
    published={
        "groups": PublishedNumber(
            "2.25",
            Both(
                "groups of GQA have a cache as large as MLA's (DeepSeek-AI 2024, section 2.1.4)",
                "组的 GQA 与 MLA 缓存一样大（DeepSeek-AI 2024，2.1.4 节）",
            ),
        )
    },
)

# --- 146: FlashAttention -------------------------------------------------------------------------------------------

N, HEAD = 1024, 64  # tokens and width of a head, as in the paper's measurement of GPT-2
SRAM = 100 * 1024 // 2  # numbers of two bytes in the 100 KB that the paper names


@dataclass(frozen=True)
class Tiled:
    """The output [N, D] of tiled attention, and the numbers that it moved between slow memory and fast."""

    output: Tensor
    moved: int


def tile_sizes(width: int, sram: int) -> tuple[int, int]:
    """Return the rows of a tile of queries and of keys, as Algorithm 1 of Dao et al. (2022) sets them."""
    keys = max(1, -(-sram // (4 * width)))
    return min(keys, width), keys


def tiled(query: Tensor, key: Tensor, value: Tensor, *, sram: int, running_maximum: bool = True) -> Tiled:
    """Attend tile by tile with a running maximum and sum: q, k, v [N, D] -> Tiled (Dao et al. 2022, Algorithm 1).

    sram: numbers that fast memory holds. running_maximum: False leaves the maximum out, and exp may overflow.
    """
    rows, columns = tile_sizes(query.shape[1], sram)
    count, moved = len(query), 0
    output = torch.zeros_like(value)
    largest = torch.full((count, 1), -math.inf if running_maximum else 0.0, dtype=query.dtype)
    total = torch.zeros(count, 1, dtype=query.dtype)
    for start in range(0, len(key), columns):
        k, v = key[start : start + columns], value[start : start + columns]
        moved += k.numel() + v.numel()
        for at in range(0, count, rows):
            part = slice(at, at + rows)
            q, o, m, s = query[part], output[part], largest[part], total[part]
            moved += q.numel() + o.numel() + m.numel() + s.numel()
            scores = q @ k.T * q.shape[1] ** -0.5
            highest = torch.maximum(m, scores.amax(dim=1, keepdim=True)) if running_maximum else m
            weights, fades = (scores - highest).exp(), (m - highest).exp()
            summed = fades * s + weights.sum(dim=1, keepdim=True)
            output[part] = (fades * s * o + weights @ v) / summed
            largest[part], total[part] = highest, summed
            moved += o.numel() + m.numel() + s.numel()
    return Tiled(output, moved)


def whole_moves(tokens: int, width: int) -> int:
    """Count the numbers that plain attention moves: Q, K, V and O once, scores and weights written and read each."""
    return 4 * tokens * width + 4 * tokens**2


def tiled_moves(tokens: int, width: int, *, sram: int) -> int:
    """Count what `tiled` moves, without running it."""
    rounds = -(-tokens // tile_sizes(width, sram)[1])
    return 2 * tokens * width + rounds * tokens * (3 * width + 4)


def _attended(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attend at once in float64, the independent result: [N, D] -> [N, D]."""
    query, key, value = query.double(), key.double(), value.double()
    return (query @ key.T * query.shape[1] ** -0.5).softmax(dim=1) @ value


def _flash() -> Measurement:
    drawn = torch.randn(3, N, HEAD, generator=torch.Generator().manual_seed(0))
    exact = _attended(*drawn)
    tiles = tiled(*drawn, sram=SRAM)
    at_once = torch.softmax(drawn[0] @ drawn[1].T * HEAD**-0.5, dim=1) @ drawn[2]
    large = drawn[0] * 100, drawn[1], drawn[2]
    bare = tiled(*large, sram=SRAM, running_maximum=False).output
    lengths = [2**power for power in range(7, 15)]
    picture = Lines(
        (
            Series(
                Both("scores and weights written out", "写出整个分数与权重矩阵"),
                lengths,
                [2.0 * whole_moves(n, HEAD) for n in lengths],
            ),
            Series(
                Both("tile by tile", "分块"),
                lengths,
                [2.0 * tiled_moves(n, HEAD, sram=SRAM) for n in lengths],
                dashed=True,
            ),
        ),
        x_title=Both("tokens", "token 数"),
        y_title=Both("bytes moved, one head", "搬运的字节数，一个头"),
        log_x=True,
        log_y=True,
    )
    size = float(exact.abs().max())
    doubled = tiled_moves(2**14, HEAD, sram=SRAM) / tiled_moves(2**13, HEAD, sram=SRAM)
    return Measurement(
        {
            "difference": float((tiles.output.double() - exact).abs().max()) / size,
            "rounding": float((at_once.double() - exact).abs().max()) / size,
            "whole": 2.0 * whole_moves(N, HEAD),
            "moved": 2.0 * tiles.moved,
            "share": tiles.moved / whole_moves(N, HEAD),
            "growth": math.log2(doubled),
            "wide": tiled_moves(N, 256, sram=SRAM // 4) / whole_moves(N, 256),
            "broken": float((~torch.isfinite(bare)).any(dim=1).double().mean()),
        },
        picture,
    )


FLASH = Question(
    146,
    reads_text=False,
    asked=Both(
        "Is FlashAttention exact, and what does it save?",
        "FlashAttention 是精确的吗？它省的是什么？",
    ),
    claim=Both(
        "FlashAttention is no approximation: tile by tile with a running maximum it gives the same result, moves far "
        "fewer bytes, and makes attention linear in the text.",
        "FlashAttention 不是近似：分块计算、维护运行中的最大值，结果完全相同，搬运的字节少得多，复杂度也变成线性。",
    ),
    parts=(
        ClaimPart(
            Both("Tiles give the whole to rounding.", "分块的结果与整体计算只差舍入误差。"),
            (below("difference", 1e-5),),
        ),
        ClaimPart(
            Both(
                "At 1,024 tokens of width 64 they move less than half of the bytes.",
                "1024 个 token、头宽 64 时，搬运的字节不到一半。",
            ),
            (below("share", 0.5),),
        ),
        ClaimPart(
            Both(
                "The bytes moved grow in proportion to the text.",
                "搬运的字节数与文本长度成正比。",
            ),
            (near("growth", 1, within=0.05),),
        ),
        ClaimPart(
            Both(
                "The maximum is needed: without it, large scores overflow.",
                "最大值不可少：没有它，分数大时就会溢出。",
            ),
            (above("broken", 0),),
            role="mechanism",
        ),
        ClaimPart(
            Both(
                "With heads of 256 and a quarter of the fast memory, tiles move more than the whole matrix.",
                "头宽 256、快速存储只有四分之一时，分块搬运的反而更多。",
            ),
            (above("wide", 1),),
            role="limit",
        ),
    ),
    measure=lambda subject: subject.cached("flash", _flash),
    numbers={
        "difference": Label(
            Both("largest difference, tiles in float32 from float64", "最大差别，float32 分块与 float64 相比"),
            of=RANDOM,
        ),
        "rounding": Label(Both("the same of attention at once in float32", "同上，float32 一次算完"), of=RANDOM),
        "whole": Label(Both("bytes moved, whole matrix", "搬运的字节，整个矩阵"), "B", of=RANDOM),
        "moved": Label(Both("bytes moved, tile by tile", "搬运的字节，分块"), "B", of=RANDOM),
        "share": Label(Both("bytes moved, tiles over whole", "搬运的字节，分块与整体之比"), "%", of=RANDOM),
        "growth": Label(
            Both("exponent of the bytes, 8,192 to 16,384 tokens", "字节数的增长指数，8192 到 16384 个 token"), of=RANDOM
        ),
        "wide": Label(Both("tiles over whole, width 256, 25 KB", "分块与整体之比，头宽 256、25 KB"), of=RANDOM),
        "broken": Label(Both("rows that overflow without the maximum", "没有最大值时溢出的行"), "%", of=RANDOM),
    },
    setting=Both(
        "Standard normal q, k, v, seed 0; fast memory of 100 KB, numbers of two bytes when bytes are counted, float32 "
        "when differences are. Counted: each read and write between the two memories as the loop makes it, forward "
        "alone. 1e-5 is rounding of sums over 1,024 keys; the same sum at once in float32 stands beside it. Overflow: "
        "scores a hundred times as large.",
        "标准正态的 q、k、v，种子 0；快速存储 100 KB，计字节时每个数 2 字节，比较结果时用 float32。"
        "按循环实际的读写计数，只算前向。10⁻⁵ 相当于 1024 个键求和的舍入；旁边给出 float32 一次算完的误差。"
        "溢出：分数放大 100 倍。",
    ),
    because=Both(
        "What is linear is the memory that is kept: no n × n matrix is written out. FLOPs stay at 4 n² d (and rise in "
        "training, where scores are computed again), and the bytes moved still grow with n² d² / M: every tile of keys "
        "reads all queries once more. They are fewer as long as d² is small against the fast memory M.",
        "变成线性的是占用的内存：不再写出 n × n 的矩阵。FLOPs 仍是 4n²d（训练时因重算而更多），搬运的字节仍按 n²d²/M "
        "增长：每一块 K 都要把所有 Q 再读一遍。只有 d² 远小于快速存储 M 时，搬运才更少。",
    ),
    refuted=Both(
        "Tiles whose result differs by more than rounding, or that move no fewer bytes.",
        "如果分块结果的差别超出舍入误差，或者搬运的字节并不更少，判断就会改变。",
    ),
    formula=r"m' = \max(m, \max_j s_j), \quad \ell' = e^{m - m'} \ell + \sum_j e^{s_j - m'}: \quad"
    r" \max|\Delta| = <difference>, \qquad <whole> \to <moved> \;\mathrm{B}",
    papers=(DAO_2022,),
    see=PageLink("costs", {}),
)

# --- 147: int8 and int4 --------------------------------------------------------------------------------------------

ONE_STACK = Kind(
    lambda loaded: loaded.shape != "encoder-decoder" and not loaded.live,
    Both("reads a source and a target, or is a model in memory", "是编码器-解码器，或者是内存中的模型"),
    ENCODERS,
)


def rounded(weight: Tensor, *, bits: int, over: tuple[int, ...]) -> Tensor:
    """Round a matrix to whole numbers of `bits` bits times a scale: the largest |w| over the axes `over` (absmax).

    round(w / s) s with s = max|w| / (2^(bits - 1) - 1) (Dettmers et al. 2022, section 2.1).
    """
    most = 2 ** (bits - 1) - 1
    scale = (weight.abs().amax(dim=over, keepdim=True) / most).clamp(min=1e-12)
    return (weight / scale).round() * scale


def quantised(loaded: models.LoadedModel, *, bits: int, by_channel: bool = True) -> models.LoadedModel:
    """Copy a model with the weights of all linear layers rounded, one scale for each output channel or matrix."""
    runner = loaded.runner
    copied = models.of(getattr(runner, "whole", loaded.network), tokenizer=loaded.tokenizer)
    linear = [each for each in getattr(copied.runner, "whole", copied.network).modules() if _is_linear(each)]
    if not linear:
        raise UnanswerableError(
            f"{loaded.card.id} has no linear layers that can be rounded.", f"{loaded.card.id} 没有可以量化的线性层。"
        )
    for module in linear:
        inputs = 1 if isinstance(module, nn.Linear) else 0  # transformers' Conv1D keeps [in, out]
        over = (inputs,) if by_channel else (0, 1)
        module.weight = nn.Parameter(rounded(module.weight.detach(), bits=bits, over=over), requires_grad=False)
    return copied


def _is_linear(module: nn.Module) -> bool:
    return isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D"


def _states(loaded: models.LoadedModel, subject: Subject) -> Tensor:
    """Read the reader's text -> last hidden states, float64 [T, D]."""
    encoding = subject.trace.encoding
    ids, segments = torch.tensor([encoding.ids]), torch.tensor([encoding.segments])
    with torch.inference_mode():
        return loaded.run(ids, torch.ones_like(ids, dtype=torch.bool), segments)[0].double()


def _losses_in_bits(subject: Subject) -> dict[str, float]:
    """The loss of mini-gpt on the passages with its weights as they are, in 8 bits and in 4."""
    small = replace(subject, loaded=subject.load("mini-gpt"))
    ids = batch_of(small)
    found = {"loss": loss(small.loaded, ids)}
    for bits in (8, 4):
        found[f"loss_{bits}"] = loss(quantised(small.loaded, bits=bits), ids)
    return found


def _in_bits(subject: Subject) -> Measurement:
    loaded, before = subject.loaded, _states(subject.loaded, subject)
    lengths = before.norm(dim=1).clamp(min=1e-12)
    moved: dict[str, float] = {}
    for name, bits, by_channel in (("moved_8", 8, True), ("moved_4", 4, True), ("moved_8_matrix", 8, False)):
        after = _states(quantised(loaded, bits=bits, by_channel=by_channel), subject)
        moved[name] = float(((after - before).norm(dim=1) / lengths).mean())
    found = subject.cached("mini-gpt in bits", partial(_losses_in_bits, subject))
    picture = Bars(
        [
            Both("8 bits, a scale for each channel", "8 位，每个通道一个缩放因子"),
            Both("4 bits, a scale for each channel", "4 位，每个通道一个缩放因子"),
            Both("8 bits, one scale for each matrix", "8 位，每个矩阵一个缩放因子"),
        ],
        [100 * moved[name] for name in moved],
        Both("change of a token's last state, % of its length", "最后一层状态的变化，占其长度的百分比"),
    )
    return Measurement({**found, **moved}, picture)


IN_BITS = Question(
    147,
    asked=Both(
        "Do weights in 8 bits, or in 4, cost nothing?",
        "权重量化到 8 位、4 位，没有损失吗？",
    ),
    claim=Both(
        "Rounding the weights to int8 loses nothing, and to int4 hardly anything, if each channel has its own scale.",
        "把权重量化成 int8 没有损失，int4 也几乎没有，只要每个通道有自己的缩放因子。",
    ),
    parts=(
        ClaimPart(
            Both("In 8 bits mini-gpt's loss rises by less than 1 %.", "8 位时，mini-gpt 的损失上升不到 1%。"),
            (below("loss_8", "loss", times=1.01),),
        ),
        ClaimPart(
            Both(
                "In 8 bits a token's last state in this model moves by less than 5 %.",
                "8 位时，该模型中 token 最后一层的状态变化不到 5%。",
            ),
            (below("moved_8", 0.05),),
        ),
        ClaimPart(
            Both("In 4 bits mini-gpt's loss rises by less than 1 %.", "4 位时，mini-gpt 的损失上升不到 1%。"),
            (below("loss_4", "loss", times=1.01),),
        ),
        ClaimPart(
            Both(
                "In 4 bits a token's last state in this model moves by less than 5 %.",
                "4 位时，该模型中 token 最后一层的状态变化不到 5%。",
            ),
            (below("moved_4", 0.05),),
        ),
        ClaimPart(
            Both(
                "One scale for a whole matrix moves the state more than a scale for each channel.",
                "整个矩阵共用一个缩放因子，状态变化比每个通道一个更大。",
            ),
            (above("moved_8_matrix", "moved_8"),),
            role="mechanism",
        ),
    ),
    measure=_in_bits,
    numbers={
        "moved_8": Label(Both("change of a token's last state, 8 bits", "最后一层状态的变化，8 位"), "%"),
        "moved_4": Label(Both("the same, 4 bits", "同上，4 位"), "%"),
        "moved_8_matrix": Label(Both("the same, 8 bits, one scale a matrix", "同上，8 位，每个矩阵一个缩放因子"), "%"),
        "loss": Label(Both("loss of mini-gpt, weights as they are", "mini-gpt 的损失，原权重"), NATS, of=OTHERS),
        "loss_8": Label(Both("loss of mini-gpt, 8 bits", "mini-gpt 的损失，8 位"), NATS, of=OTHERS),
        "loss_4": Label(Both("loss of mini-gpt, 4 bits", "mini-gpt 的损失，4 位"), NATS, of=OTHERS),
    },
    setting=Both(
        "The matrices of all linear layers, rounded to whole numbers times the largest |w| of each output channel "
        "(absmax); embeddings, norms and activations stay. Change: ‖h' − h‖ / ‖h‖ of the last states of this text, "
        "mean. Loss: mini-gpt on three passages of 128 tokens, whatever the model. 1 %: a small part of what the loss "
        "differs by between the passages; 5 %: a cosine above 0.998.",
        "所有线性层的矩阵按每个输出通道的最大 |w| 取整（absmax）；嵌入、归一化、激活值不变。状态变化：该文本最后一层的"
        "‖h' − h‖ / ‖h‖，取平均。损失：不管是什么模型，都用 mini-gpt 在三段各 128 个 token 的短文上计算。"
        "1%：远小于几段短文之间的损失差别；5%：相当于余弦大于 0.998。",
    ),
    because=Both(
        "Eight bits tell 255 steps apart, four tell 15. Large models have weights to spare and methods that correct "
        "what rounding did (GPTQ, AWQ, groups of 32 or 128 with a scale each); plain rounding of a small model has "
        "neither. The paper's own trouble is with activations: a few large features set the scale for all others.",
        "8 位能区分 255 级，4 位只有 15 级。大模型的权重有富余，又有修正舍入的方法（GPTQ、AWQ，每 32 或 128 "
        "个权重一个缩放因子）；小模型直接取整，两样都没有。论文真正要解决的是激活值：少数特别大的特征决定了其余特征的缩放。",
    ),
    refuted=Both(
        "Models whose states and losses stay within these bounds in 4 bits as in 8.",
        "如果 4 位和 8 位一样，状态与损失都在这些范围之内，判断就会改变。",
    ),
    formula=r"\hat w = s \left\lfloor \frac{w}{s} \right\rceil, \; s = \frac{\max|w|}{2^{b-1} - 1}: \quad"
    r" L = <loss>, \quad L_8 = <loss_8>, \quad L_4 = <loss_4>",
    papers=(DETTMERS_2022,),
    see=PageLink("costs", {"section": "Memory and steps"}),
    of=ONE_STACK,
)

# --- 148: speculative decoding -------------------------------------------------------------------------------------

DRAFTED, MATCHED = 4, 2  # tokens that are drafted at a time; tokens at the end that are looked up earlier in the text
PROMPT, AGAIN, WRITTEN, WRITTEN_BY_LARGE = 24, 12, 24, 16  # tokens
Ask = Callable[[list[int], int], list[int]]  # ids [T], a place in them -> the likeliest next token from there on


@dataclass(frozen=True)
class Drafted:
    """The new tokens of a drafted writing, and how many times the model was asked for them."""

    tokens: tuple[int, ...]
    steps: int


def draft(ids: list[int]) -> list[int]:
    """Guess the next tokens: those that followed when the last two first stood in the text (Saxena 2023)."""
    end = ids[-MATCHED:]
    for start in range(len(ids) - MATCHED):
        if ids[start : start + MATCHED] == end:
            return ids[start + MATCHED : start + MATCHED + DRAFTED]
    return []


def write_drafted(likeliest: Ask, ids: list[int], *, new_tokens: int, held: bool = True) -> Drafted:
    """Write the likeliest tokens, several a step where the draft is right (Leviathan et al. 2023, section 2).

    held: whether a guess is kept only as far as it is what the model would have written.
    """
    written, steps = list(ids), 0
    while len(written) < len(ids) + new_tokens:
        guess = draft(written)
        wanted = likeliest(written + guess, len(written) - 1)
        right = 0
        while right < len(guess) and (guess[right] == wanted[right] or not held):
            right += 1
        written += [*guess[:right], wanted[right]]
        steps += 1
    return Drafted(tuple(written[len(ids) :][:new_tokens]), steps)


def _speculative_rule(*, residual: bool = True) -> float:
    """The largest |p' − p| where p' is what accepting a drawn guess with min(1, p / q) gives, over 100 random pairs.

    residual: whether a refused guess is replaced by a draw from max(0, p − q), as the rule says, or by one from p.
    """
    generator = torch.Generator().manual_seed(0)
    p, q = torch.randn(2, 100, 50, generator=generator, dtype=torch.float64).mul(2).softmax(dim=-1)
    accepted = torch.minimum(p, q)
    left = (p - q).clamp(min=0) if residual else p
    refused = 1 - accepted.sum(dim=1, keepdim=True)
    made = accepted + refused * left / left.sum(dim=1, keepdim=True)
    return float((made - p).abs().max())


def _is_greedy(likeliest: Ask, prompt: list[int], tokens: tuple[int, ...]) -> bool:
    """Return True if each of `tokens` is the likeliest after the tokens before it: what the model writes alone."""
    return likeliest([*prompt, *tokens], len(prompt) - 1)[:-1] == list(tokens)


def _speculative(subject: Subject) -> Measurement:
    loaded = subject.loaded
    new_tokens = WRITTEN_BY_LARGE if is_large(subject) else WRITTEN
    passages = batch_of(subject)[: 1 if is_large(subject) else 2, :PROMPT].tolist()
    kinds = {"plain": passages, "copying": [[*passage, *passage[1:AGAIN]] for passage in passages]}

    def likeliest(ids: list[int], since: int) -> list[int]:
        found: list[int] = logits_of(loaded, torch.tensor([ids]), since=since)[0].argmax(dim=-1).tolist()
        return found

    same, tokens_a_step, by_step = list[bool](), dict[str, float](), list[float]()
    for kind, prompts in kinds.items():
        steps = []
        for prompt in prompts:
            drafted = write_drafted(likeliest, prompt, new_tokens=new_tokens)
            same.append(_is_greedy(likeliest, prompt, drafted.tokens))
            steps.append(drafted.steps)
        by_step += [new_tokens / each for each in steps]
        tokens_a_step[kind] = new_tokens * len(prompts) / sum(steps)
    names = [
        Both(f"{en} {number + 1}", f"{zh} {number + 1}")
        for en, zh in (("passage", "短文"), ("begun again", "重复开头"))
        for number in range(len(passages))
    ]
    picture = Bars(names, by_step, Both("tokens a step of the model", "模型每步写出的 token"), mark=1.0)
    return Measurement({"same": sum(same) / len(same), **tokens_a_step, "rule": _speculative_rule()}, picture)


SPECULATIVE = Question(
    148,
    reads_text=False,
    asked=Both(
        "Does speculative decoding write the same text in fewer steps?",
        "投机解码能用更少的步数写出同样的文本吗？",
    ),
    claim=Both(
        "Cheap guesses, held to the model several at a time, give exactly the text that it would have written, in half "
        "the steps.",
        "先廉价地猜几个 token，再让模型一次验证：写出的文本完全一样，步数减半。",
    ),
    parts=(
        ClaimPart(
            Both("The text is the same, token by token.", "写出的文本逐个 token 完全相同。"), (equal("same", 1),)
        ),
        ClaimPart(
            Both(
                "Where the text begins again what it said before, a step writes two tokens or more.",
                "文本重复前面说过的话时，每步至少写两个 token。",
            ),
            (above("copying", 2),),
        ),
        ClaimPart(
            Both("On new text too, a step writes two tokens or more.", "写新内容时，每步同样至少写两个 token。"),
            (above("plain", 2),),
        ),
        ClaimPart(
            Both(
                "Where tokens are drawn, the rule of acceptance keeps the model's distribution.",
                "按概率抽样时，接受规则保持模型的分布不变。",
            ),
            (below("rule", 1e-12),),
            role="mechanism",
        ),
    ),
    measure=_speculative,
    numbers={
        "same": Label(Both("texts that are the same as without guesses", "与不猜时相同的文本"), "%"),
        "copying": Label(Both("tokens a step, where the text repeats", "每步的 token，文本重复时")),
        "plain": Label(Both("tokens a step, on new text", "每步的 token，写新内容时")),
        "rule": Label(Both("largest |p' − p| of the rule", "接受规则的最大 |p' − p|"), of=RANDOM),
    },
    setting=Both(
        "The likeliest token each time: 24 after the first 24 of two passages, and after the same followed by their "
        "beginning, 11 tokens, again (a large model: 16, one passage). Guess: the four tokens that followed when the "
        "last two first stood in the text; no second model. The same: in a reading of the whole text each token is "
        "the likeliest after those before it. Two tokens a step are half the steps. Rule: 100 pairs of random "
        "distributions over 50 tokens, seed 0.",
        "每次取最可能的 token：在两段短文的前 24 个 token 之后写 24 个，以及再接上一遍开头的 11 个 token 之后写"
        "（大模型写 16 个，一段短文）。猜法：最后两个 token 第一次出现时后面的四个，不用第二个模型。是否相同："
        "再通读写出的文本，看每个 token 是否都是其前文之后最可能的。每步两个 token 就是步数减半。规则："
        "100 对随机分布，50 个 token，种子 0。",
    ),
    because=Both(
        "A causal model scores a guess of four tokens in one forward as it scores one: row t says what it would have "
        "written after t. So the text cannot change, but for ties within rounding; how many guesses are right is "
        "another matter, of the guesser and the text. Summaries, code and repetitions are easily guessed.",
        "因果模型一次前向就能给四个猜测打分：第 t 行就是它在 t 之后会写什么。所以文本不会变（除非并列到舍入误差之内）；"
        "猜中多少则取决于猜的方法和文本。摘要、代码、重复的内容容易猜中。",
    ),
    refuted=Both(
        "A text that differs from the one that the model writes alone, or guesses that are right as often on new text "
        "as on repeated text.",
        "如果写出的文本与模型单独写的不同，或者新内容与重复内容猜中得一样多，判断就会改变。",
    ),
    formula=r"P(\mathrm{accept}) = \min\left(1, \frac{p}{q}\right): \quad \max|p' - p| = <rule>, \qquad"
    r" <plain> \ldots <copying> \;\mathrm{tokens/step}",
    papers=(LEVIATHAN_2023, SAXENA_2023),
    see=PageLink("generate", {}),
    of=CONTINUES,
)

# --- 149: sinks in streaming ---------------------------------------------------------------------------------------

CACHE, SINKS = 32, 4  # tokens


@dataclass(frozen=True)
class KeptTokens:
    """A cache's rule: a token sees the `window` last tokens, itself included, and `more` tokens from `at` on."""

    keys: int
    window: int
    more: int = 0
    at: int = 0

    def rows(self, start: int, stop: int) -> Tensor:
        """[1, 1, stop - start, T]."""
        query, key = torch.arange(start, stop)[:, None], torch.arange(self.keys)
        near_by = (query - key < self.window) & (key <= query)
        kept = (key >= self.at) & (key < self.at + self.more) & (key <= query)
        return (near_by | kept)[None, None]


@contextmanager
def _cached(window: int, more: int = 0, at: int = 0) -> Iterator[None]:
    with imposing(lambda tokens: KeptTokens(tokens, window, more, at)):
        yield


def _streaming(subject: Subject) -> Measurement:
    loaded, ids = subject.loaded, batch_of(subject)
    cache = CACHE if ids.shape[1] > 2 * CACHE else ids.shape[1] // 2
    by_place: dict[str, Tensor] = {"full": losses(logits_of(loaded, ids), ids)[:, cache:]}
    ways = {"window": (cache,), "sinks": (cache - SINKS, SINKS), "others": (cache - SINKS, SINKS, SINKS)}
    for name, way in ways.items():
        with _cached(*way):
            by_place[name] = losses(logits_of(loaded, ids), ids)[:, cache:]
    found = {name: float(each.mean()) for name, each in by_place.items()}
    names = [
        Both("all tokens", "所有 token"),
        Both("window alone", "只有窗口"),
        Both("window and the first 4", "窗口加最前 4 个"),
        Both("window and the 4 after", "窗口加其后 4 个"),
    ]
    return Measurement(
        {**found, "cache": float(cache), "rise": found["window"] / found["full"] - 1},
        Bars(names, list(found.values()), LOSS, mark=found["full"]),
    )


STREAMING = Question(
    149,
    reads_text=False,
    asked=Both(
        "Does streaming break when the first tokens leave the cache?",
        "流式生成时，把最前面的 token 移出缓存，模型会崩溃吗？",
    ),
    claim=Both(
        "With a sliding window over the cache a model fails once its first tokens are gone; with the first four kept, "
        "the attention sinks, it writes on as well as with all.",
        "滑动窗口一旦丢掉最前面的 token，模型就崩溃；保留最前面四个（注意力汇聚点）就和保留全部一样好。",
    ),
    parts=(
        ClaimPart(
            Both("With the window alone the loss rises by a tenth or more.", "只有窗口时，损失上升至少十分之一。"),
            (above("window", "full", times=1.1),),
        ),
        ClaimPart(
            Both(
                "With a window as large in all and the first four tokens, it stays within a tenth.",
                "缓存总大小不变，留下最前面四个 token，损失上升不到十分之一。",
            ),
            (below("sinks", "full", times=1.1),),
        ),
        ClaimPart(
            Both(
                "It is the first tokens that count: the next four in their place help less.",
                "起作用的正是最前面的 token：换成其后四个，帮助更小。",
            ),
            (above("others", "sinks"),),
            role="mechanism",
        ),
    ),
    measure=_streaming,
    numbers={
        "full": Label(Both("loss, all tokens in the cache", "损失，缓存保留所有 token"), NATS),
        "window": Label(Both("loss, window alone", "损失，只有窗口"), NATS),
        "sinks": Label(Both("loss, window and the first 4 tokens", "损失，窗口加最前 4 个 token"), NATS),
        "others": Label(Both("loss, window and the 4 tokens after", "损失，窗口加其后 4 个 token"), NATS),
        "rise": Label(Both("rise of the loss with the window alone", "只有窗口时损失的上升"), "%"),
        "cache": Label(Both("tokens in the cache", "缓存中的 token")),
    },
    setting=Both(
        "Three passages of 128 tokens, a cache of 32 (a large model: 48 and 24), in every layer; losses of the tokens "
        "after it is full. Positions stay as in the whole text, and no text is longer than the model was trained on: "
        "what is measured is the first tokens' absence alone. A tenth: several times what a window alone costs a "
        "model that rests on none of them.",
        "三段各 128 个 token 的短文，缓存 32 个（大模型 48 和 24），每层相同；损失取缓存装满之后的 token。"
        "位置仍按整段文本计，而且都不超过训练长度：测的只是少了最前面的 token。十分之一：对不依赖它们的模型，"
        "窗口本身的代价要小好几倍。",
    ),
    because=Both(
        "A row's weights sum to 1, and a head with nothing to fetch rests on the first token, whose value is small. "
        "Take it away and that weight falls on the window's tokens, in every layer. A model whose heads rest "
        "elsewhere, or that was trained with a sink of its own, has nothing to lose; a small one may not have learned "
        "it yet.",
        "每行权重之和为 1，没有要取的信息时，头就停在第一个 token 上，它的 V 很小。把它拿走，这份权重就落到窗口内的 "
        "token 上，层层如此。各头停在别处的模型，或者训练时自带汇聚点的模型，不会受损；小模型可能还没有学会这样做。",
    ),
    refuted=Both(
        "A model whose loss hardly rises when its first tokens leave the cache.",
        "如果把最前面的 token 移出缓存，损失几乎不上升，判断就会改变。",
    ),
    formula=r"L = <full>, \qquad L_{window} = <window>, \qquad L_{4 + window} = <sinks>",
    papers=(XIAO_2023,),
    see=PageLink("", {"sort": "weight on the first token"}),
    of=CONTINUES,
)


THEME = Theme(
    "serving",
    Both("Asked in 2026: cheaper to run", "2026 年常问：让推理更省"),
    (GROUPED, LATENT, FLASH, IN_BITS, SPECULATIVE, STREAMING),
)
