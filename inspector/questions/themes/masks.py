"""Masks: padding, the future, and texts of several lengths. Questions 67 to 73."""

from __future__ import annotations

import numpy as np
import pandas as pd
import torch

import models
from inspector import batches
from inspector.batches.leaks import RAISES
from inspector.questions.record.both import Both
from inspector.questions.record.checks import above, below, equal
from inspector.questions.record.kinds import ANY, DECODER, ENCODER, Kind
from inspector.questions.record.measured import OTHERS
from inspector.questions.record.papers import DEVLIN_2019, VASWANI_2017
from inspector.questions.record.picture import Bars, Heatmap, Lines, Series
from inspector.questions.record.question import ClaimPart, Label, Measurement, PageLink, Question, Theme
from inspector.questions.record.subject import Subject
from inspector.questions.themes.together import MOVED, changed, read_of, sentences
from inspector.trace import Array
from models.transformer.runner import OwnRunner

MOST_HEADS = 12  # of the first layer, over which a leak is averaged
BILLION = -1e9
NAMES = {"-inf": "−∞", "-1e9": "−1e9", "-1e4": "−1e4", "-20": "−20", "-10": "−10", "x 0": "× 0"}


def _packs(loaded: models.LoadedModel) -> bool:
    return isinstance(loaded.runner, OwnRunner) and loaded.shape != "encoder-decoder"


PACKS = Kind(
    _packs,
    Both(
        "is not run by Headlight's own encoder or decoder, which reads several texts in one row",
        "不由 Headlight 自己的编码器或解码器运行，不能把多个文本放进同一行",
    ),
    ("minilm-own", "mini-bert"),
)


def _three(subject: Subject) -> tuple[str, ...]:
    """The reader's text, a long sentence and a very short one, so that some text is padded."""
    beside = sentences(subject)
    return read_of(subject), beside[-1], beside[0]


def _side(subject: Subject) -> batches.Layout:
    """The side of the padding: left for a decoder, whose causal mask hides padding on the right anyway."""
    return "left" if subject.loaded.shape == "decoder" else "right"


def _padded(subject: Subject) -> batches.Batch:
    return subject.once("padded batch", lambda: batches.read(subject.loaded, _three(subject), layout=_side(subject)))


def _leaks(subject: Subject, *, before_scale: bool = False, added: bool = False) -> pd.DataFrame:
    """The leaks of the first layer's heads, mean over heads, by fill and dtype; raises: whether torch refuses."""

    def make() -> pd.DataFrame:
        batch = _padded(subject)
        site = batch.rows[0].trace.sites[0]
        tables = [
            batches.leaks(
                batch,
                layer=site.layer,
                head=head,
                stream=site.stream,
                call=site.call,
                before_scale=before_scale,
                added=added,
            )
            for head in range(min(site.heads, MOST_HEADS))
        ]
        table = pd.concat(tables).assign(raises=lambda each: each["problem"] == RAISES)
        return table.groupby(["fill", "dtype"])[["leak", "change", "raises"]].mean()

    return subject.once(f"leaks {before_scale} {added}", make)


def _padding_mask(subject: Subject) -> Measurement:
    table = _leaks(subject)["leak"].xs("float32", level="dtype")
    whole = subject.once(
        "padding through the model",
        lambda: batches.drift(subject.loaded, _three(subject), layout=_side(subject), refilled=False),
    )
    shares = whole.set_index("fill")["relative"]
    fills = ["-inf", "x 0", "no mask"]
    return Measurement(
        {
            "infinite": float(table["-inf"]),
            "zero": float(table["x 0"]),
            "none": float(table["no mask"]),
            "moved": float(shares[batches.OWN_MASK]),
            "moved_without": float(shares[batches.UNTOLD]),
        },
        Bars(
            [Both("−∞", "−∞"), Both("× 0", "× 0"), Both("no mask", "不加掩码")],
            [100 * float(table[fill]) for fill in fills],
            Both("weight on padding, %", "落在填充上的权重，%"),
            parts=["attention"] * 3,
        ),
    )


PADDING = Question(
    67,
    asked=Both(
        "Why are scores of padding set to −∞ before the softmax?", "为什么要在 softmax 之前把填充位置的分数设为 −∞？"
    ),
    claim=Both(
        "Padding has to be masked before the softmax with −∞, so that its weight is 0. Zeros are not enough, for "
        "e⁰ = 1.",
        "填充位置要在 softmax 之前设为 −∞，这样权重才是 0；填 0 不行，因为 e⁰ = 1。",
    ),
    parts=(
        ClaimPart(Both("With −∞ padding gets no weight.", "设为 −∞ 后，填充的权重为 0。"), (equal("infinite", 0),)),
        ClaimPart(
            Both("With a score of 0 it gets a good share.", "分数设为 0 时，填充会分到不少权重。"),
            (above("zero", 0.01),),
        ),
        ClaimPart(
            Both(
                "Masked, a text comes out as if it were alone; without a mask it does not.",
                "加了掩码，文本的结果与单独读取时相同；不加掩码就不同。",
            ),
            (below("moved", MOVED), above("moved_without", MOVED)),
        ),
    ),
    measure=_padding_mask,
    numbers={
        "infinite": Label(Both("weight on padding with −∞", "设为 −∞ 时落在填充上的权重"), "%"),
        "zero": Label(Both("weight on padding with 0", "设为 0 时落在填充上的权重"), "%"),
        "none": Label(Both("weight on padding without a mask", "不加掩码时落在填充上的权重"), "%"),
        "moved": Label(Both("change of a text's states, with the mask", "有掩码时文本隐藏状态的变化"), "%"),
        "moved_without": Label(Both("change of a text's states, without the mask", "无掩码时文本隐藏状态的变化"), "%"),
    },
    setting=Both(
        "The text, a long sentence and a very short one, padded on the right, or on the left for a decoder, whose "
        "causal mask would hide padding on the right anyway. Weight: mean over the first layer's heads (12 at most) "
        "and the queries of padded texts. Change: of the last hidden states from those of the text alone, relative, "
        "mean over tokens.",
        "该文本、一个长句和一个很短的句子组成批次，右侧填充；解码器则左侧填充，因为右侧的填充本来就被因果掩码遮住。"
        "权重：第一层各头（至多 12 个）、有填充的文本的各个查询的平均值。变化："
        "最后一层的隐藏状态与单独读取时相比的相对差，对 token 取平均。",
    ),
    because=Both(
        "Zero looks like nothing. But the softmax makes 1 of it, and other scores may well be negative. The tokens "
        "on padding still compute states of their own: only the other tokens do not see them, and the loss must "
        "leave them out.",
        "0 看上去像是“没有”，但 softmax 会把它变成 e⁰ = 1，而其他分数可能是负的。填充位置照样会算出隐藏状态，"
        "只是别的 token 看不到它们，计算损失时也要把它们排除。",
    ),
    refuted=Both(
        "A padded text whose states differ from those of the text alone although padding has no weight.",
        "如果填充的权重为 0，而文本的隐藏状态仍与单独读取时不同，判断就会改变。",
    ),
    formula=r"\frac{e^{0}}{\sum_j e^{s_j}}: <zero>, \qquad \frac{e^{-\infty}}{\sum_j e^{s_j}} = <infinite>",
    papers=(VASWANI_2017,),
    see=PageLink("batch", {"section": "Where a mask leaks"}),
    of=ANY,
)


def _no_number(scores: Array) -> float:
    """Add BILLION, cast to float16, to all scores of a query: the share of its weights that are NaN."""
    masked = torch.tensor(scores[scores > -1e30]).half() + torch.tensor(BILLION).half()
    return float(masked.softmax(dim=-1).isnan().float().mean())


def _large(subject: Subject) -> Measurement:
    table = _leaks(subject)
    batch = _padded(subject)
    longest = batch.row_of(max(range(len(batch.texts)), key=batch.lengths.__getitem__)).trace
    site = longest.sites[0]
    scores = longest.scores(layer=site.layer, head=0, stream=site.stream, call=site.call)[-1]
    nothing = batches.nothing_to_see(scores[scores > -1e30]).set_index("mask")["sum"]
    fills = ["-1e9", "-1e4", "-20", "-10", "x 0"]
    return Measurement(
        {
            "float32": float(table["leak"]["-1e9", "float32"]),
            "bfloat16": float(table["leak"]["-1e9", "bfloat16"]),
            "raises": float(table["raises"]["-1e9", "float16"]),
            "added": float(_leaks(subject, added=True)["leak"]["-1e9", "float16"]),
            "no_number": _no_number(scores),
            "ten": float(table["leak"]["-10", "float32"]),
            "nothing": float(nothing["filled with -1e9"]),
        },
        Bars(
            [NAMES[fill] for fill in fills],
            [100 * float(table["leak"][fill, "float32"]) for fill in fills],
            Both("weight on padding in float32, %", "float32 下落在填充上的权重，%"),
            parts=["attention"] * len(fills),
        ),
    )


LARGE = Question(
    68,
    mixed="conditions",
    asked=Both("Does −1e9 mask as well as −∞?", "用 −1e9 代替 −∞ 做掩码可以吗？"),
    claim=Both(
        "A very small number such as −1e9 will do: after the softmax it is 0.",
        "取一个很小的数（如 −1e9）即可，softmax 之后就是 0。",
    ),
    parts=(
        ClaimPart(Both("In float32 padding gets no weight.", "float32 下填充的权重为 0。"), (equal("float32", 0),)),
        ClaimPart(Both("In bfloat16 it gets none either.", "bfloat16 下也为 0。"), (equal("bfloat16", 0),)),
        ClaimPart(
            Both("In float16 scores can be filled with it too.", "float16 下也能用它填充。"),
            (equal("raises", 0),),
        ),
        ClaimPart(
            Both(
                "Added to float16 scores, as a mask that is cast, it becomes −∞ without a word: padding gets nothing, "
                "but "
                "a query that may see nothing gets NaN.",
                "作为转成 float16 的掩码加到分数上时，它悄悄变成 −∞：填充的权重为 0，但什么都不能看的查询会得到 NaN。",
            ),
            (equal("added", 0), equal("no_number", 1)),
            role="limit",
        ),
        ClaimPart(
            Both("It has to be that small: −10 leaks.", "数必须足够小：−10 就会泄漏。"),
            (above("ten", 1e-9),),
            role="limit",
        ),
    ),
    measure=_large,
    numbers={
        "float32": Label(Both("weight on padding, −1e9 in float32", "落在填充上的权重，float32 下 −1e9"), "%"),
        "bfloat16": Label(Both("weight on padding, −1e9 in bfloat16", "落在填充上的权重，bfloat16 下 −1e9"), "%"),
        "raises": Label(Both("share of heads that raise, −1e9 in float16", "float16 下 −1e9 报错的头的占比"), "%"),
        "added": Label(
            Both("weight on padding, −1e9 added and cast to float16", "落在填充上的权重，−1e9 转成 float16 后相加"), "%"
        ),
        "no_number": Label(
            Both(
                "NaN among the weights of a query that may see nothing, so added",
                "这样相加时，整行被掩码遮住的查询的权重中 NaN 的占比",
            ),
            "%",
        ),
        "ten": Label(Both("weight on padding, −10 in float32", "落在填充上的权重，float32 下 −10"), "%"),
        "nothing": Label(
            Both("sum of the weights of a query that may see nothing, −1e9", "整行被掩码遮住的查询，−1e9 下权重之和")
        ),
    },
    setting=Both(
        "The batch of question 67: the weights are made again from its queries and keys, masked scores filled with "
        "the number, or with the number added to them, mean over the first layer's heads (12 at most).",
        "批次同第 67 题：用其中的查询和键重新计算权重，被遮住的分数填入相应的数（或加上它），对第一层各头（至多 12 个）"
        "取平均。",
    ),
    because=Both(
        "e to the −1e9 is smaller than any number of the dtype, so it becomes exactly 0. Two things differ from −∞: "
        "float16 ends at 65,504, so that torch refuses to fill with it, while a sum overflows to −∞ silently; and a "
        "query "
        "that may see nothing gets NaN from −∞, from −1e9 equal weights on all that it must not see.",
        "e 的 −1e9 次方小于数据类型能表示的最小正数，结果正好是 0。与 −∞ 的区别有两点：float16 最大只到 65504，torch "
        "拒绝用它填充，而相加会悄悄溢出成 −∞；"
        "如果一个查询整行被掩码遮住，−∞ 得到 NaN，而 −1e9 会把权重平均分给本不该看的位置。",
    ),
    refuted=Both(
        "Weight on padding in float32 or bfloat16, or a float16 that takes −1e9.",
        "如果 float32 或 bfloat16 下填充仍有权重，或者 float16 能存下 −1e9，判断就会改变。",
    ),
    formula=r"e^{-10^9} \to <float32>, \qquad e^{-10}: <ten>",
    papers=(VASWANI_2017,),
    see=PageLink("batch", {"section": "Where a mask leaks"}),
    of=ANY,
)


def _order(subject: Subject) -> Measurement:
    before, after = (
        _leaks(subject, before_scale=first, added=True).xs("float32", level="dtype") for first in (True, False)
    )
    fills = ["-inf", "-1e9", "-20", "-10"]
    apart = (before["leak"] - after["leak"]).abs()
    return Measurement(
        {
            "infinite": float(apart["-inf"]),
            "billion": float(apart["-1e9"]),
            "twenty": float(apart["-20"]),
            "before": float(before["leak"]["-20"]),
            "after": float(after["leak"]["-20"]),
        },
        Bars(
            [NAMES[fill] for fill in fills],
            [100 * float(before["leak"][fill]) for fill in fills],
            Both("weight on padding, mask before the scale, %", "先加掩码再缩放时落在填充上的权重，%"),
            parts=["attention"] * len(fills),
        ),
    )


ORDER = Question(
    69,
    mixed="conditions",
    asked=Both("Is the mask added before the scale or after?", "掩码应该在缩放之前加，还是之后加？"),
    claim=Both("softmax((QKᵀ + M) / √d_k) V: the mask first.", "softmax((QKᵀ + M) / √d_k) V：先加掩码，再除以 √d_k。"),
    parts=(
        ClaimPart(Both("With −∞ the order does not matter.", "用 −∞ 时，先后无所谓。"), (equal("infinite", 0),)),
        ClaimPart(Both("With −1e9 it does not matter.", "用 −1e9 时，先后无所谓。"), (equal("billion", 0),)),
        ClaimPart(
            Both("With any M it does not matter, −20 for one.", "不管 M 取多少都无所谓，比如 −20。"),
            (below("twenty", 1e-6),),
        ),
    ),
    measure=_order,
    numbers={
        "infinite": Label(Both("difference in the weight on padding, −∞", "落在填充上的权重之差，−∞"), "%"),
        "billion": Label(Both("difference in the weight on padding, −1e9", "落在填充上的权重之差，−1e9"), "%"),
        "twenty": Label(Both("difference in the weight on padding, −20", "落在填充上的权重之差，−20"), "%"),
        "before": Label(Both("weight on padding, −20 before the scale", "落在填充上的权重，−20 在缩放之前"), "%"),
        "after": Label(Both("weight on padding, −20 after the scale", "落在填充上的权重，−20 在缩放之后"), "%"),
    },
    setting=Both(
        "The batch and heads of question 67 in float32; M is added to the scores once before the model's scale and "
        "once after it. A model without a scale shows no difference.",
        "批次和头同第 67 题，float32；分别在模型的缩放之前和之后把 M 加到分数上。没有缩放的模型看不出差别。",
    ),
    because=Both(
        "What is infinite stays infinite however it is divided. A finite number is divided along with the scores, and "
        "biases that mean something, such as those of ALiBi and T5, would lose their size: they come after the scale.",
        "无穷大除以多少还是无穷大；有限的数则会和分数一起被缩小。ALiBi、T5 那样有实际含义的偏置如果先加，"
        "大小就变了，所以它们加在缩放之后。",
    ),
    refuted=Both(
        "A model with a scale whose weights are the same for −20 before it and after.",
        "如果在有缩放的模型里，−20 加在缩放之前和之后权重相同，判断就会改变。",
    ),
    formula=r"\mathrm{softmax}\!\left(\frac{QK^\top + M}{\sqrt{d_k}}\right): <before>, \qquad "
    r"\mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}} + M\right): <after> \qquad (M = -20)",
    papers=(VASWANI_2017,),
    see=PageLink(
        "batch", {"section": "Where a mask leaks", "mask_order": "Mask before the scale", "mask_way": "Added"}
    ),
    of=ANY,
)


def _name(subject: Subject) -> Measurement:
    batch = _padded(subject)
    site = batch.rows[0].trace.sites[0]
    seen = [
        batch.seen(text, layer=site.layer, head=0, stream=site.stream, call=site.call)
        for text in range(len(batch.texts))
    ]
    longest, shortest = (pick(range(len(seen)), key=batch.lengths.__getitem__) for pick in (max, min))
    of_longest = seen[longest].query_owner == longest
    full, short = seen[longest].mask[of_longest][:, of_longest], seen[shortest]
    real = short.query_owner == shortest
    return Measurement(
        {
            "later": float((~full).sum()),
            "tokens": float(of_longest.sum()),
            "padding": float((~short.mask[real][:, short.key_owner < 0]).sum()),
            "weight": max(text.to_masked for text in seen),
        },
        Heatmap(
            short.mask.astype(np.float32),
            rows=short.queries,
            columns=short.keys,
            row_title=Both("query", "查询"),
            column_title=Both("key", "键"),
            quantity=Both("1: may be seen, 0: masked", "1：可见，0：被遮住"),
            title=Both("the mask of a padded text", "有填充的文本的掩码"),
        ),
    )


NAME = Question(
    70,
    asked=Both("Does “masked multi-head attention” mean the padding mask?", "“Masked 多头注意力”说的是填充掩码吗？"),
    claim=Both(
        "Masked multi-head attention sets the scores of padding to −∞.",
        "Masked 多头注意力就是把填充位置的注意力分数设为 −∞。",
    ),
    parts=(
        ClaimPart(
            Both(
                "It hides padding alone: in a text without padding nothing is hidden.",
                "它只遮填充：没有填充的文本中什么也不遮。",
            ),
            (equal("later", 0),),
        ),
        ClaimPart(
            Both(
                "It hides padding too: one mask can hide both, and neither gets weight.",
                "它也遮填充：一个掩码可以同时遮住填充和后文，两者权重都为 0。",
            ),
            (above("padding", 0), below("weight", 1e-9)),
        ),
    ),
    measure=_name,
    numbers={
        "later": Label(Both("cells hidden in a text without padding", "没有填充的文本中被遮住的位置对数")),
        "tokens": Label(Both("tokens of the text without padding", "没有填充的文本的 token 数")),
        "padding": Label(Both("cells of padding hidden in the shortest text", "最短文本中被遮住的填充位置对数")),
        "weight": Label(Both("weight on all that is masked", "落在被遮住位置上的权重"), "%"),
    },
    setting=Both(
        "A decoder's first layer, on the batch of question 67, padded on the left. The text without padding is the "
        "longest of the three.",
        "解码器的第一层，批次同第 67 题，左侧填充。没有填充的文本是三个文本中最长的那个。",
    ),
    because=Both(
        "Both are masks of −∞ before the softmax, and in code they are joined into one. But the name in the paper's "
        "figure is that of the decoder's causal mask; the padding mask is in every attention and has no box of its "
        "own.",
        "两种掩码都是在 softmax 之前填 −∞，代码里也合并成一个。但原论文图中的 Masked 指解码器的因果掩码；"
        "填充掩码在每种注意力里都有，图中并未单独画出。",
    ),
    refuted=Both(
        "A decoder that hides nothing of a text without padding.",
        "如果解码器对没有填充的文本什么也不遮，判断就会改变。",
    ),
    formula=r"\frac{n (n - 1)}{2}, \; n = <tokens>: \quad <later>",
    papers=(VASWANI_2017,),
    see=PageLink("batch", {"section": "What each token sees"}),
    of=DECODER,
)


def _moves(table: pd.DataFrame) -> Lines:
    return Lines(
        (
            Series(
                Both("change of the token's state", "token 隐藏状态的变化"),
                table["position"].tolist(),
                table["largest"].tolist(),
            ),
        ),
        x_title=Both("token, by its place; the line is the changed one", "token 的位置；竖线处为被改动的 token"),
        y_title=Both("largest change of a number", "数值的最大变化"),
        mark_x=float((len(table) - 1) // 2),
    )


def _future(subject: Subject) -> Measurement:
    before, after, table = changed(subject)
    encoder, *_ = changed(subject.of(ENCODER.stand_in(subject.at_hand)))
    return Measurement({"before": before, "after": after, "encoder": encoder}, _moves(table))


FUTURE = Question(
    71,
    asked=Both("Does the causal mask stop all leakage from the future?", "因果掩码能完全防止未来信息泄露吗？"),
    claim=Both(
        "The mask in the decoder hides later tokens, so that no token knows what comes after it.",
        "解码器的掩码遮住当前 token 之后的位置，防止未来信息泄露。",
    ),
    parts=(
        ClaimPart(
            Both("A changed token moves no token before it.", "改动一个 token，它之前的 token 都不变。"),
            (below("before", MOVED),),
        ),
        ClaimPart(
            Both("It moves those after it.", "它之后的 token 会变。"),
            (above("after", MOVED),),
        ),
        ClaimPart(
            Both(
                "Without the mask, in an encoder, it moves those before it too.",
                "没有这种掩码的编码器中，之前的也会变。",
            ),
            (above("encoder", MOVED),),
        ),
    ),
    measure=_future,
    numbers={
        "before": Label(Both("largest change before the changed token", "被改动的 token 之前的最大变化")),
        "after": Label(Both("largest change after the changed token", "被改动的 token 之后的最大变化")),
        "encoder": Label(
            Both(
                "largest change before the changed token, in an encoder",
                "被改动的 token 之前的最大变化，在编码器中",
            ),
            of=OTHERS,
        ),
    },
    setting=Both(
        "The middle token of the text is replaced by its nearest other token, and both texts are read in one batch; "
        "largest change of a number of the last hidden states. The encoder is minilm, or mini-bert "
        "where minilm was not fetched, for it has no causal mask.",
        "把文本中间的 token 换成离它最近的另一个不同的 token，两个文本放在同一批次里读；"
        "比较最后一层的隐藏状态中数值的最大变化。编码器用 minilm（未下载时用 mini-bert），因为它没有因果掩码。",
    ),
    because=Both(
        "Each layer hides what is later, so no path through any number of layers leads back. The mask leaks where "
        "something else mixes tokens: a BatchNorm, or statistics over the sequence.",
        "每一层都遮住后文，所以无论经过多少层都没有回头的路径。如果有别的部件混合 token（例如 BatchNorm "
        "或按序列求的统计量），信息仍会泄露。",
    ),
    refuted=Both(
        "A decoder in which a later token moves an earlier one by more than rounding.",
        "如果解码器中后面的 token 使前面的 token 变化超过舍入误差，判断就会改变。",
    ),
    formula=r"\max_{i < t} \left|\Delta h_i\right| = <before>, \qquad \max_{i > t} \left|\Delta h_i\right| = <after>",
    papers=(VASWANI_2017,),
    see=PageLink("tokens", {"section": "One token changed"}),
    of=DECODER,
)


def _bert(subject: Subject) -> Measurement:
    before, _, table = changed(subject)
    crossed = subject.of("translator").trace
    records = [crossed.record_of(site.layer, site.stream) for site in crossed.sites if site.stream == "cross"]
    sizes = [(len(record.site.queries), len(record.site.keys)) for record in records]
    hidden = sum(
        int((~record.mask.rows(0, queries).expand(1, 1, queries, keys)).sum())
        for record, (queries, keys) in zip(records, sizes, strict=True)
        if record.mask is not None
    )
    cells = sum(queries * keys for queries, keys in sizes)
    cross_calls = sum(site.stream == "cross" for site in subject.trace.sites)
    return Measurement(
        {"cross": float(cross_calls), "before": before, "hidden": float(hidden), "cells": float(cells)},
        _moves(table),
    )


BERT = Question(
    72,
    asked=Both(
        "How do the masks of BERT's encoder and decoder differ?",
        "BERT 的编码器与解码器的掩码有什么区别？",
    ),
    claim=Both(
        "BERT's decoder has a mask against the future, and the mask of its cross-attention keeps later positions "
        "hidden.",
        "BERT 的解码器用掩码遮住后文，并用交叉注意力的掩码遮住靠后的位置。",
    ),
    parts=(
        ClaimPart(
            Both("BERT has a decoder, with cross-attention.", "BERT 有带交叉注意力的解码器。"),
            (above("cross", 0),),
        ),
        ClaimPart(
            Both(
                "Later tokens are hidden from earlier ones in BERT.",
                "在 BERT 中，前面的 token 看不到后面的 token。",
            ),
            (below("before", MOVED),),
        ),
        ClaimPart(
            Both("The mask of cross-attention hides later source tokens.", "交叉注意力的掩码遮住靠后的源端 token。"),
            (above("hidden", 0),),
        ),
    ),
    measure=_bert,
    numbers={
        "cross": Label(Both("layers of cross-attention in this encoder", "该编码器中的交叉注意力层数")),
        "before": Label(Both("largest change before the changed token", "被改动的 token 之前的最大变化")),
        "hidden": Label(
            Both("cells hidden in the translator's cross-attention", "translator 交叉注意力中被遮住的位置对数"),
            of=OTHERS,
        ),
        "cells": Label(
            Both("all cells of the translator's cross-attention", "translator 交叉注意力的位置对总数"), of=OTHERS
        ),
    },
    setting=Both(
        "The encoder on the text, its middle token changed as in question 71. Cross-attention is that of the "
        "translator, which has both stacks, on the same text, one source without padding.",
        "编码器读取该文本，改动中间的 token，方法同第 71 题。交叉注意力取自 translator（它有编码器和解码器），"
        "同一文本，源端没有填充。",
    ),
    because=Both(
        "The three masks of the original Transformer are often told of BERT. BERT is an encoder alone: its mask hides "
        "padding. In a Transformer's cross-attention the mask hides the source's padding; the future is hidden by the "
        "decoder's own self-attention.",
        "人们常把原始 Transformer 的三种掩码套到 BERT 上。BERT 只有编码器，掩码只遮填充。在 Transformer "
        "的交叉注意力里，掩码遮的是源端填充；遮住后文的是解码器自身的自注意力掩码。",
    ),
    refuted=Both(
        "A BERT in which a later token cannot move an earlier one.",
        "如果某个 BERT 中后面的 token 不能影响前面的 token，判断就会改变。",
    ),
    papers=(DEVLIN_2019, VASWANI_2017),
    see=PageLink("tokens", {"section": "One token changed"}),
    of=ENCODER,
)


def _lengths(subject: Subject) -> Measurement:
    beside = sentences(subject)
    texts = (read_of(subject), beside[1], beside[0])
    alone, padded, packed = (batches.read(subject.loaded, texts, layout=way) for way in ("alone", "right", "packed"))
    differences = batches.compare(packed, alone)
    widths = {row.trace.output.shape[1] for row in alone.rows}
    return Measurement(
        {
            "padding": float(padded.padding),
            "packed": float(packed.padding),
            "difference": float(differences["relative"].max()),
            "widths": float(len(widths)),
        },
        Bars(
            [Both("padded", "填充"), Both("packed in one row", "拼成一行"), Both("one by one", "逐个读取")],
            [float(batch.cells) for batch in (padded, packed, alone)],
            Both("cells computed", "要计算的位置对数"),
            parts=["attention"] * 3,
        ),
    )


LENGTHS = Question(
    73,
    asked=Both("Must all texts of a batch have the same length?", "同一批次内的文本长度必须一样吗？"),
    claim=Both(
        "Batches may differ in length; within a batch all texts must be equally long; the vector's width is fixed.",
        "不同批次的长度可以不同；同一批次内所有文本的 token 数必须一致；向量维度固定不变。",
    ),
    parts=(
        ClaimPart(
            Both(
                "In one tensor with a row for each text the shorter ones are padded.",
                "每个文本占张量一行时，短文本要填充。",
            ),
            (above("padding", 0),),
        ),
        ClaimPart(
            Both(
                "There is no other way to read texts of several lengths in one pass with the same result.",
                "除此之外，没有别的办法在一次前向中读取长度不同的文本并得到同样的结果。",
            ),
            (above("difference", MOVED),),
        ),
        ClaimPart(
            Both("The width of a token's vector is the same in all.", "所有文本的 token 向量维度相同。"),
            (equal("widths", 1),),
        ),
    ),
    measure=_lengths,
    numbers={
        "padding": Label(Both("cells of padding, a row for each text", "每个文本一行时的填充位置对数")),
        "packed": Label(Both("cells of padding, packed in one row", "拼成一行时的填充位置对数")),
        "difference": Label(
            Both("difference of packed states from each text alone", "拼成一行与单独读取的隐藏状态之差"), "%"
        ),
        "widths": Label(Both("different widths of a vector", "向量维度的种数")),
    },
    setting=Both(
        "The text and two short sentences, padded on the right, packed in one row with a block-diagonal mask, and "
        "one by one. Difference: relative, mean over a text's tokens, largest of the texts.",
        "该文本和两个短句：右侧填充；用块对角掩码拼成一行；逐个读取。差：相对差，对文本的 token 取平均，"
        "取各文本中的最大值。",
    ),
    because=Both(
        "A tensor is a box, so texts of a batch are padded to one length. Packing lays them end to end in one row "
        "instead, each blind to the others; training of large models does this to waste nothing.",
        "张量是规整的矩形，所以同一批文本要补齐到同一长度。另一种做法是把它们首尾相接拼成一行，用掩码使彼此看不见；"
        "训练大模型时常这样做以免浪费。",
    ),
    refuted=Both(
        "Packed texts whose states differ from those of each text alone by more than rounding.",
        "如果拼成一行后各文本的隐藏状态与单独读取相比超出舍入误差，判断就会改变。",
    ),
    see=PageLink("batch", {"section": "Packed texts"}),
    of=PACKS,
)


THEME = Theme("masks", Both("Masks", "掩码"), (PADDING, LARGE, ORDER, NAME, FUTURE, BERT, LENGTHS))
