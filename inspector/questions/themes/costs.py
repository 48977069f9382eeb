"""Costs: what attention costs, and what the FFN costs. Questions 92 to 95."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from inspector import costs
from inspector.costs import clock
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import above, at_least, near
from inspector.questions.record.kinds import ANY
from inspector.questions.record.papers import DAO_2022, VASWANI_2017
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import (
    ClaimPart,
    Label,
    LongExperiment,
    Measurement,
    PageLink,
    Question,
    StoredRun,
    Theme,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.queries import SEES_QUERIES

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


QUADRATIC = Question(
    92,
    reads_text=False,
    mixed="conditions",
    asked=Both("Does self-attention cost O(n² d)?", "自注意力的复杂度是 O(n²·d) 吗？"),
    claim=Both(
        "The time complexity of self-attention is O(n² d): it grows with the square of the text's length.",
        "自注意力的时间复杂度是 O(n²·d)，随序列长度的平方增长。",
    ),
    parts=(
        ClaimPart(
            Both("Scores and the weighted sum grow with the square of the length.", "分数与加权求和按长度的平方增长。"),
            (near("core", 2, within=0.01),),
        ),
        ClaimPart(
            Both(
                "The whole of attention, projections included, does so at 512 tokens.",
                "512 个 token 时，包括投影在内的整个注意力也按平方增长。",
            ),
            (near("short", 2, within=0.1),),
        ),
    ),
    measure=_quadratic,
    numbers={
        "core": Label(Both("exponent of scores and weighted sum", "分数与加权求和的增长指数")),
        "short": Label(
            Both("exponent of all attention, 256 to 512 tokens", "整个注意力的增长指数，256 到 512 个 token")
        ),
        "long": Label(
            Both("exponent of all attention, 8,192 to 16,384 tokens", "整个注意力的增长指数，8192 到 16384 个 token")
        ),
    },
    setting=Both(
        "FLOPs of the matrix products of all layers, counted by running the model's code without weights. The "
        "exponent is log₂ of the growth when the text becomes twice as long. The line in the figure stands at this "
        "text.",
        "所有层矩阵乘法的 FLOPs：不带权重地运行模型代码计数得到。增长指数是文本加长一倍时 FLOPs 之比的 log₂。"
        "图中竖线是该文本的长度。",
    ),
    because=Both(
        "Q Kᵀ and A V have n² d multiply-adds each. The four projections have n d² each, and they are the larger part "
        "as long as n is less than 2 d: on ordinary texts attention grows nearly in proportion.",
        "Q Kᵀ 和 A V 各有 n²·d 次乘加；四个投影各有 n·d² 次，n 小于 2d 时投影占大头，所以在普通长度的文本上，"
        "注意力的计算量几乎与长度成正比。",
    ),
    refuted=Both(
        "Scores that grow with another power of the length, or projections without cost.",
        "如果分数的计算量按长度的其他次幂增长，或者投影没有开销，判断就会改变。",
    ),
    formula=r"4 n^2 d + 8 n d^2: \quad n^{<core>} \; (Q K^\top, A V), \qquad n^{<short>} \; (n = 512)",
    papers=(VASWANI_2017,),
    see=PageLink("costs", {"section": "How it is counted"}),
    of=ANY,
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


AGAINST_FFN = Question(
    93,
    asked=Both("Does attention always cost more than the FFN?", "注意力的耗时总是远大于 FFN 吗？"),
    claim=Both(
        "Attention always takes most of the time; the FFN is much smaller.",
        "自注意力占了大部分计算时间，FFN 的计算量小得多。",
    ),
    parts=(
        ClaimPart(
            Both("On this text attention costs more than the FFN.", "在该文本上，注意力的计算量大于 FFN。"),
            (above("here", 1),),
        ),
        ClaimPart(
            Both("At 512 tokens attention costs more than the FFN.", "512 个 token 时，注意力的计算量大于 FFN。"),
            (above("at_512", 1),),
        ),
        ClaimPart(
            Both(
                "At 512 tokens scores and the weighted sum alone cost twice as much as the FFN.",
                "512 个 token 时，仅分数与加权求和就是 FFN 的两倍以上。",
            ),
            (above("core_512", 2),),
        ),
    ),
    measure=_against_ffn,
    numbers={
        "here": Label(Both("FLOPs of attention / FFN, this text", "注意力与 FFN 的 FLOPs 之比，该文本")),
        "at_512": Label(Both("FLOPs of attention / FFN, 512 tokens", "注意力与 FFN 的 FLOPs 之比，512 个 token")),
        "core_512": Label(
            Both(
                "FLOPs of scores and weighted sum / FFN, 512 tokens", "分数与加权求和同 FFN 的 FLOPs 之比，512 个 token"
            )
        ),
        "crossing": Label(
            Both("text length at which attention and FFN cost as much", "注意力与 FFN 计算量相等时的文本长度"),
            Both("tokens", "个 token"),
        ),
    },
    setting=Both(
        "FLOPs of the matrix products of all layers of this model, counted; FFN: with the experts that a token "
        "chooses. Attention: with its four projections.",
        "该模型所有层矩阵乘法的 FLOPs，计数得到。FFN 包括一个 token 选中的专家；注意力包括四个投影。",
    ),
    because=Both(
        "n² looks larger than n. But for each token an FFN four times as wide as the model takes 16 d² operations and "
        "attention 8 d² + 4 n d: attention overtakes only from n = 2 d on. The maps are what people see and what "
        "fills the memory, which is another matter than FLOPs.",
        "n² 看起来比 n 大得多。但 FFN 宽度为 4d 时，每个 token 在 FFN 中要 16d² 次运算，在注意力中要 8d² + 4nd 次："
        "n 超过 2d，注意力才反超。人们看到的是注意力矩阵，占显存的也是它，但这和 FLOPs 是两回事。",
    ),
    refuted=Both(
        "A layer with an FFN as wide as usual in which attention costs more at short lengths.",
        "如果在 FFN 宽度正常的层里，文本很短时注意力的计算量就更大，判断就会改变。",
    ),
    formula=r"\frac{8 n d^2 + 4 n^2 d}{4 n d \, d_{ff}}: \quad <here>, \qquad <at_512> \; (n = 512)",
    papers=(VASWANI_2017,),
    see=PageLink("costs", {"section": "Side by side"}),
    of=ANY,
    whole=LongExperiment(
        run=_timed,
        about=Both(
            "One layer of the model's shape, part by part on this machine's clock at 32, 128, 512 and 1,024 tokens, 3 "
            "times; some seconds on one core.",
            "按该模型的形状取一层，在 32、128、512、1024 个 token 时逐部分计时，各 3 次；单核几秒钟。",
        ),
        parts=(
            ClaimPart(
                Both("At 32 tokens attention takes longer than the FFN.", "32 个 token 时，注意力比 FFN 耗时长。"),
                (above("at_32", 1),),
            ),
            ClaimPart(
                Both("At 1,024 tokens attention takes longer than the FFN.", "1024 个 token 时，注意力比 FFN 耗时长。"),
                (above("at_1024", 1),),
            ),
        ),
        numbers={
            f"at_{tokens}": Label(
                Both(f"time of attention / FFN, {tokens:,} tokens", f"注意力 / FFN 的时间，{tokens} 个 token")
            )
            for tokens in TIMED
        },
        stored=StoredRun(
            {"at_32": 0.735, "at_128": 0.658, "at_512": 1.25, "at_1024": 3.32},
            command="python -m inspector.questions --only 93 --whole",
            seeds="0",
            date="2026-11-23",
        ),
    ),
)


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


LIMITED = Question(
    94,
    asked=Both(
        "Does global interaction limit how far attention runs in parallel?", "全局交互会限制自注意力的并行效率吗？"
    ),
    claim=Both(
        "Each position interacts with all others, so positions wait for each other and parallel work is inefficient.",
        "每个位置都要和其他所有位置交互，彼此等待，所以并行效率受限。",
    ),
    parts=(
        ClaimPart(
            Both("A position's result needs the results of other positions.", "一个位置的结果要等其他位置的结果。"),
            (above("alone", 1e-3),),
        ),
        ClaimPart(
            Both(
                "Whatever the kernel, the interaction moves about as many bytes.",
                "无论用什么内核，交互都要读写同样多的数据。",
            ),
            (at_least("fused", 0.5),),
        ),
    ),
    measure=_limited,
    numbers={
        "alone": Label(Both("difference of one query at a time from all at once", "逐个查询计算与一次算完的差")),
        "fused": Label(
            Both("bytes of one fused kernel, relative to three steps", "融合内核的读写量占分步计算读写量的比例"), "%"
        ),
        "apart": Label(
            Both(
                "intensity of scores, softmax and weighted sum in three steps",
                "分数、softmax、加权求和分步计算的算术强度",
            ),
            Both("FLOPs per byte", "FLOPs/字节"),
        ),
        "ffn": Label(Both("intensity of the FFN", "FFN 的算术强度"), Both("FLOPs per byte", "FLOPs/字节")),
    },
    setting=Both(
        "One at a time: layer 0 on this text, softmax(q Kᵀ/√d_k) V without masks and biases, largest difference over "
        "the largest number. Bytes: one layer of this model's shape at 4,096 tokens in float32, what each step must "
        "at least read and write.",
        "逐个计算：该文本的第 0 层，softmax(q Kᵀ/√d_k) V，不含掩码和偏置，取最大差与最大值之比。读写量："
        "按该模型的形状取一层，4096 个 token，float32，每一步至少要读写的字节数。",
    ),
    because=Both(
        "Interaction is mistaken for order. Every query needs all keys and values, which are there before; it needs "
        "no other query. What slows attention is memory: the n² scores are written and read again between the steps. "
        "A kernel that keeps them on the chip does the same products with far fewer bytes.",
        "这是把“交互”当成了“先后顺序”。每个查询需要所有的键和值，而它们事先都已算好；查询之间互不依赖。"
        "真正拖慢注意力的是访存：n² 个分数在各步之间反复写出、读入。把它们留在片上的内核做同样的乘法，读写量少得多。",
    ),
    refuted=Both(
        "A query whose result changes when it is computed without the others.",
        "如果单独计算一个查询时结果会变，判断就会改变。",
    ),
    formula=r"\max |\mathrm{o}_i - O_i| = <alone>, \qquad \frac{B_1}{B_3} = <fused>",
    papers=(VASWANI_2017, DAO_2022),
    see=PageLink("costs", {"section": "Time"}),
    of=SEES_QUERIES,
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


PARAMETERS = Question(
    95,
    reads_text=False,
    asked=Both("How many parameters do attention and the FFN of a layer have?", "一层里注意力和 FFN 各有多少参数？"),
    claim=Both(
        "Attention has 4 d² parameters and an FFN four times as wide as the model 8 d²: twice as many.",
        "注意力有 4d² 个参数，宽度为 4d 的 FFN 有 8d² 个，是注意力的两倍。",
    ),
    parts=(
        ClaimPart(
            Both("The matrices of attention have 4 d² numbers.", "注意力的矩阵共有 4d² 个参数。"),
            (near("squares", 4, within=0.001),),
        ),
        ClaimPart(
            Both("The matrices of the FFN have twice as many.", "FFN 的矩阵参数是注意力的两倍。"),
            (near("ratio", 2, within=0.001),),
        ),
    ),
    measure=_parameters,
    numbers={
        "attention": Label(Both("numbers in the matrices of attention", "注意力各矩阵的参数个数")),
        "ffn": Label(Both("numbers in the matrices of the FFN", "FFN 各矩阵的参数个数")),
        "squares": Label(Both("numbers in the matrices of attention, in d²", "注意力各矩阵的参数个数，以 d² 计"), "d²"),
        "ratio": Label(Both("numbers in the matrices, FFN / attention", "矩阵参数个数之比，FFN / 注意力")),
        "attention_biased": Label(Both("parameters of attention, with biases", "注意力的参数个数，含偏置")),
        "ffn_biased": Label(Both("parameters of the FFN, with biases", "FFN 的参数个数，含偏置")),
    },
    setting=Both(
        "The last layer of this model (of an encoder-decoder the decoder's, which has two attentions): the matrices "
        "that a token is multiplied with, from the configuration.",
        "该模型的最后一层（编码器-解码器取解码器，它有两个注意力）：一个 token 所乘的各个矩阵，由配置得到。",
    ),
    because=Both(
        "W_Q, W_K, W_V and W_O are d × d, with heads or without, for the heads share the width. The rule is of plain "
        "layers: biases add a little, heads that share keys make attention smaller, a gate adds a third matrix to the "
        "FFN, and a decoder that reads a source has two attentions in a layer.",
        "W_Q、W_K、W_V、W_O 都是 d × d，分不分头都一样，因为各个头平分宽度。这条规律只适用于普通的层：偏置会多出一点；"
        "共享 K、V 的头使注意力变小；带门控的 FFN 多一个矩阵；要读源文的解码器每层有两个注意力。",
    ),
    refuted=Both(
        "A plain layer, of width d and FFN width 4 d, whose matrices have other sizes.",
        "如果宽度为 d、FFN 宽度为 4d 的普通层，其矩阵大小不是这样，判断就会改变。",
    ),
    formula=r"W_Q, W_K, W_V, W_O: <attention> = <squares> \, d^2, \qquad 2 d \, d_{ff} = <ffn>",
    papers=(VASWANI_2017,),
    see=PageLink("costs", {"section": "By layer"}),
    of=ANY,
)


THEME = Theme("costs", Both("Costs", "开销"), (QUADRATIC, AGAINST_FFN, LIMITED, PARAMETERS))
