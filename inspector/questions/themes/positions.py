"""Positions: how order comes into attention. Questions 74 to 82."""

from __future__ import annotations

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import nn

import models
from inspector import distance, interventions, positional
from inspector.positional import kinds
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import above, at_least, at_most, below, equal, near
from inspector.questions.record.kinds import ENCODER, Kind
from inspector.questions.record.measured import OTHERS as OTHER_MODELS
from inspector.questions.record.measured import RANDOM
from inspector.questions.record.papers import (
    DAI_2019,
    HAVIV_2022,
    KE_2021,
    PRESS_2022,
    RAFFEL_2020,
    SHAW_2018,
    SU_2021,
    VASWANI_2017,
    YAN_2019,
)
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import ClaimPart, Label, Measurement, PageLink, Question, Theme
from inspector.questions.record.subject import Subject

ROWS, WIDTH, APART = 512, 128, 7  # of the sinusoidal table that is looked at alone
ROUNDING = 1e-9
HALF_TURNED = 0.5**0.5  # the cosine of 45 degrees


def _named_positions(loaded: models.LoadedModel) -> bool:
    return any(
        isinstance(module, nn.Embedding) and "Sinus" not in type(module).__name__ and "relative" not in path
        for path, module in loaded.network.named_modules()
        if path.endswith(("position_embeddings", "wpe", "embed_positions"))
    )


def _learned(loaded: models.LoadedModel) -> bool:
    positions = getattr(loaded.config, "positions", None)
    return positions == "learned" if isinstance(positions, str) else _named_positions(loaded)


SINUSOIDAL = Kind(
    lambda loaded: loaded.backend == "own" and loaded.config.positions == "sinusoidal",
    Both("adds no sinusoidal table of Headlight's own", "没有使用 Headlight 自己的正弦位置编码"),
    ("own-encoder",),
)
LEARNED = Kind(
    _learned,
    Both("has no learned table of positions", "没有可学习的位置编码表"),
    ("minilm",),
)
GOES_ON = Kind(
    lambda loaded: (
        loaded.card.id.split("?")[0] == "mini-gpt" and loaded.config.positions in ("rope", "alibi", "t5", "none")
    ),
    Both(
        "is no small trained decoder whose positions go on beyond its longest text",
        "不是训练好的、位置编码能超出最大长度的小型解码器",
    ),
    ("mini-gpt",),
)


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
            f"无法去掉 {subject.loaded.card.id} 的位置信息（{reordered.kept}）。",
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


ORDER = Question(
    74,
    mixed="conditions",
    asked=Both("Is attention blind to order without positions?", "没有位置编码，注意力就不知道顺序吗？"),
    claim=Both(
        "Self-attention alone does not know the order of the tokens; the position encoding brings it in.",
        "自注意力本身不区分 token 的先后，顺序信息来自位置编码。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Without positions an encoder gives each token the same state in any order.",
                "去掉位置编码，编码器在任何顺序下给每个 token 的状态都相同。",
            ),
            (below("without", 1e-4),),
        ),
        ClaimPart(
            Both("With positions the states depend on the order.", "有位置编码时，状态随顺序而变。"),
            (above("with", 0.01),),
        ),
        ClaimPart(
            Both(
                "Without positions a decoder, with its causal mask, does not know the order either.",
                "去掉位置编码，带因果掩码的解码器也不知道顺序。",
            ),
            (below("causal", 1e-4),),
        ),
    ),
    measure=_order,
    numbers={
        "without": Label(
            Both(
                "change of the states without positions, largest of all tokens",
                "无位置编码时状态的变化，各 token 中最大",
            )
        ),
        "with": Label(
            Both("change of the states with positions, mean of all tokens", "有位置编码时状态的变化，各 token 平均")
        ),
        "causal": Label(
            Both(
                "change of the states in a decoder without positions, mean of all tokens",
                "解码器无位置编码时状态的变化，各 token 平均",
            ),
            of=OTHER_MODELS,
        ),
    },
    setting=Both(
        "The text is read in reverse; each token's last state is compared with its own, |after − before| / |before|. "
        "The decoder is mini-gpt, with its RoPE taken away in the run.",
        "把文本倒序读一遍，每个 token 最后一层的隐藏状态与它原来的相比：|后 − 前| / |前|。解码器用 mini-gpt，"
        "运行时去掉它的 RoPE。",
    ),
    because=Both(
        "A sum over tokens does not care in which order they stand: f(Px) = P f(x). People forget that a causal mask "
        "is itself tied to the order: the third token sees three tokens, the fourth four.",
        "对 token 求和与先后无关，即 f(Px) = P f(x)。常被忽略的是因果掩码本身就与顺序有关：第三个 token 只看到三个，"
        "第四个看到四个。",
    ),
    refuted=Both(
        "An encoder without positions whose states change with the order, or a decoder whose states do not.",
        "如果没有位置编码的编码器，状态仍随顺序改变，或者解码器的状态不随顺序改变，判断就会改变。",
    ),
    formula=r"\frac{\|f(Px) - P f(x)\|}{\|f(x)\|} = <without>",
    papers=(VASWANI_2017, HAVIV_2022),
    see=PageLink("positions", {"section": "Does it matter"}),
    of=ENCODER,
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


FORMULA = Question(
    75,
    reads_text=False,
    asked=Both("Is this the formula of the sinusoidal encoding?", "这就是正弦位置编码的公式吗？"),
    claim=Both(
        "PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d)).",
        "PE(pos, 2i) = sin(pos / 10000^(2i/d))，PE(pos, 2i+1) = cos(pos / 10000^(2i/d))。",
    ),
    parts=(
        ClaimPart(
            Both("The table that a model adds is this formula's.", "模型加上的表就是按这个公式算出来的。"),
            (below("off", 1e-4),),
        ),
        ClaimPart(
            Both(
                "The tables of others are too, up to the order of the dimensions: those of DistilBERT and Marian in "
                "transformers.",
                "别人写的表也是，只是维度次序可能不同：transformers 中 DistilBERT 和 Marian 的表。",
            ),
            (below("distilbert", 1e-4), below("marian", 1e-4)),
        ),
        ClaimPart(
            Both(
                "Not every library keeps it: M2M100's exponent runs over d/2 − 1 in place of d/2.",
                "并非所有库都照此实现：M2M100 的指数除以 d/2 − 1，而不是 d/2。",
            ),
            (above("m2m100", 0.01),),
            role="limit",
        ),
        ClaimPart(
            Both(
                "i counts pairs of dimensions, 0 to d/2 − 1; as a dimension's own index it gives another table.",
                "i 是维度对的编号，从 0 到 d/2 − 1；若当成维度编号，得到的就是另一张表。",
            ),
            (above("dimension", 0.1),),
        ),
    ),
    measure=_formula,
    numbers={
        "off": Label(Both("largest difference of the table from the formula", "表与公式的最大差")),
        "distilbert": Label(
            Both("largest difference of DistilBERT's table", "DistilBERT 的表与公式的最大差"), of=OTHER_MODELS
        ),
        "marian": Label(
            Both("largest difference of Marian's table, reordered", "Marian 的表（调整次序后）与公式的最大差"),
            of=OTHER_MODELS,
        ),
        "m2m100": Label(
            Both("largest difference of M2M100's table, reordered", "M2M100 的表（调整次序后）与公式的最大差"),
            of=OTHER_MODELS,
        ),
        "dimension": Label(
            Both(
                "largest difference of the table from the formula with i as a dimension's index",
                "把 i 当作维度编号时，表与公式的最大差",
            )
        ),
        "last": Label(Both("angle of one step in the slowest pair", "最慢一对维度每走一步转过的角度"), "rad"),
    },
    setting=Both(
        "All rows of the table that the model adds to its tokens, read off the model; tables that transformers' own "
        "code "
        "makes, 512 positions and 128 dimensions; the formula in float64.",
        "从模型中读出它加到 token 向量上的整张表；另有 transformers 自己的代码生成的表，512 个位置、128 维；公式用 "
        "float64 计算。",
    ),
    because=Both(
        "The letter i is used for the pair in the paper and for the dimension in many notes, where the exponent then "
        "runs to 2 instead of 1. Some libraries put all sines first and all cosines after: that is the same up to the "
        "order of dimensions.",
        "论文里的 i 指维度对，不少笔记却把它当成维度编号，于是指数跑到 2 而不是 1。有的库把正弦全放前面、"
        "余弦全放后面，那只是维度次序不同。",
    ),
    refuted=Both(
        "A sinusoidal table that differs from the formula by more than rounding.",
        "如果表与公式的差超过舍入误差，判断就会改变。",
    ),
    formula=r"PE_{p,2i} = \sin\frac{p}{10000^{2i/d}}, \quad PE_{p,2i+1} = \cos\frac{p}{10000^{2i/d}}, "
    r"\quad 0 \le i < \tfrac{d}{2}: \ <off>",
    papers=(VASWANI_2017,),
    see=PageLink("positions", {"section": "The table"}),
    of=SINUSOIDAL,
)


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


SHIFT = Question(
    76,
    reads_text=False,
    asked=Both("Is PE(p + k) a linear function of PE(p)?", "PE(p + k) 能由 PE(p) 线性表示吗？"),
    claim=Both(
        "For any fixed k, PE(p + k) is a linear function of PE(p).",
        "对任意固定的 k，PE(p + k) 都能由 PE(p) 线性表示。",
    ),
    parts=(
        ClaimPart(
            Both("One rotation takes PE(p) to PE(p + k), for every p.", "同一个旋转矩阵把每个 PE(p) 变成 PE(p + k)。"),
            (below("turned", ROUNDING),),
        ),
        ClaimPart(
            Both(
                "The matrix is known from the formula; one that is fitted to some positions fails at others.",
                "这个矩阵要由公式推出；只用一部分位置拟合出的矩阵，到其他位置就不成立。",
            ),
            (below("seen", 1e-6), above("unseen", 0.01)),
            role="limit",
        ),
    ),
    measure=_shift,
    numbers={
        "turned": Label(Both("error of the rotation, all positions", "旋转矩阵的误差，所有位置")),
        "seen": Label(Both("error of a fitted matrix where it was fitted", "拟合矩阵在拟合位置上的误差")),
        "unseen": Label(Both("error of a fitted matrix elsewhere", "拟合矩阵在其他位置上的误差")),
    },
    setting=Both(
        "The sinusoidal table of 512 positions and 128 dimensions in float64, k = 7. Fitted: least squares on the "
        "first 256 positions, tried on the last 256; relative to the rows' size.",
        "512 个位置、128 维的正弦位置编码，float64，k = 7。拟合：用前 256 个位置做最小二乘，在后 256 个位置上检验；"
        "误差相对于各行的大小。",
    ),
    because=Both(
        "Each pair (sin wp, cos wp) turns by the angle wk, the same for all p. That the matrix exists does not mean "
        "that a network finds it from a few positions: the slow pairs hardly move there, so the fit is free in them.",
        "每一对 (sin wp, cos wp) 都转过角度 wk，与 p 无关。但矩阵存在不等于网络能从少数位置学到它："
        "慢的维度对在这些位置上几乎不动，拟合在这些方向上不受约束。",
    ),
    refuted=Both(
        "A position at which the rotated row misses the row k further on.",
        "如果有某个位置，旋转后的行与 k 步之后的行不同，判断就会改变。",
    ),
    formula=r"\begin{pmatrix}\sin\omega(p+k)\\ \cos\omega(p+k)\end{pmatrix} = \begin{pmatrix}\cos\omega k & "
    r"\sin\omega k\\ -\sin\omega k & \cos\omega k\end{pmatrix}\begin{pmatrix}\sin\omega p\\ \cos\omega p\end{pmatrix}"
    r": \ <turned>",
    papers=(VASWANI_2017,),
    see=PageLink("positions", {"section": "By distance"}),
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


PRODUCTS = Question(
    77,
    reads_text=False,
    asked=Both(
        "Does the product of two position vectors depend on their distance alone?", "两个位置编码的点积只与距离有关吗？"
    ),
    claim=Both(
        "PE(p) · PE(p + k) depends on k alone, not on p; it is the distance, but not the direction.",
        "PE(p)·PE(p + k) 只与 k 有关，与 p 无关；它反映距离，但不反映方向。",
    ),
    parts=(
        ClaimPart(Both("The product is the same for every p.", "对任何 p，点积都相同。"), (below("spread", ROUNDING),)),
        ClaimPart(
            Both("The product is the same for k and −k.", "对 k 和 −k，点积相同。"), (below("turned", ROUNDING),)
        ),
        ClaimPart(
            Both("The product does not fall steadily with the distance.", "点积并不随距离单调下降。"),
            (at_least("rises", 1),),
            role="limit",
        ),
        ClaimPart(
            Both(
                "Behind W_Q and W_K the product depends on the place too.", "经过 W_Q、W_K 之后，点积也与所在位置有关。"
            ),
            (above("projected", 0.01),),
            role="limit",
        ),
    ),
    measure=_products,
    numbers={
        "spread": Label(
            Both("standard deviation of the product at one distance, largest", "同一距离上点积的标准差，最大值")
        ),
        "turned": Label(Both("difference of the products at k and −k, largest", "k 与 −k 处点积之差，最大值")),
        "rises": Label(Both("distances at which the product rises", "点积反而上升的距离个数")),
        "projected": Label(
            Both("range of scores at distance 8, behind W_Q and W_K", "经过 W_Q、W_K 之后，距离 8 上分数的极差")
        ),
    },
    setting=Both(
        "The sinusoidal table of 512 positions and 128 dimensions in float64. Behind W_Q and W_K: one query and one "
        "key at 64 places, random matrices of width 32, seed 0.",
        "512 个位置、128 维的正弦位置编码，float64。W_Q、W_K 之后：同一对查询和键放在 64 个位置上，"
        "宽度 32 的随机矩阵，种子 0。",
    ),
    because=Both(
        "sin a sin b + cos a cos b = cos(a − b). The property is often quoted as if attention saw it; attention sees "
        "x W_Q W_Kᵀ yᵀ, and a matrix between the two rows mixes the pairs. That is one reason for RoPE.",
        "sin a sin b + cos a cos b = cos(a − b)。人们引用这条性质时，常以为注意力用的就是这个点积；"
        "其实注意力计算的是 x W_Q W_Kᵀ yᵀ，中间的矩阵把各对维度混在一起。这是提出 RoPE 的原因之一。",
    ),
    refuted=Both(
        "Two pairs of positions at one distance with different products.",
        "如果距离相同的两对位置点积不同，判断就会改变。",
    ),
    formula=r"PE_p \cdot PE_{p+k} = \sum_i \cos(\omega_i k), \quad \sigma_p = <spread>",
    papers=(VASWANI_2017, YAN_2019, SU_2021),
    see=PageLink("positions", {"section": "By distance"}),
)


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


LONGER = Question(
    78,
    reads_text=False,
    asked=Both("Can a formula for positions read texts of any length?", "用公式算的位置编码能处理任意长度吗？"),
    claim=Both(
        "A position encoding that is a formula handles sequences of any length, longer than those in training too.",
        "用公式给出的位置编码可以处理任意长度的序列，包括比训练时更长的。",
    ),
    parts=(
        ClaimPart(
            Both("The formula has a row for every position.", "公式对每个位置都算得出编码。"),
            (near("row", 1, within=0.001),),
        ),
        ClaimPart(
            Both(
                "A model reads on beyond its longest text as well as in windows that fit.",
                "超出最大长度时，模型一次读完与分窗口读一样好。",
            ),
            (at_most("beyond", "windows", times=1.02),),
        ),
    ),
    measure=_longer,
    numbers={
        "row": Label(
            Both("squared length of the row of position 19,999, over d/2", "位置 19999 的编码的平方和 / (d/2)")
        ),
        "inside": Label(
            Both("surprise at positions within the longest text", "最大长度以内的惊异度"), Both("bits", "比特")
        ),
        "beyond": Label(
            Both("surprise beyond the longest text, read at once", "超出最大长度部分的惊异度，一次读完"),
            Both("bits", "比特"),
        ),
        "windows": Label(
            Both("surprise beyond the longest text, read in windows", "超出最大长度部分的惊异度，分窗口读"),
            Both("bits", "比特"),
        ),
    },
    setting=Both(
        "A passage of about twice the longest text (Alice in Wonderland), for the question needs one so long; mean "
        "−log₂ p of the true next tokens. The model is mini-gpt, whose RoPE is a formula as the sinusoidal table is.",
        "这个问题需要长文本，所以读一段约为最大长度两倍的文字（《爱丽丝漫游奇境》），"
        "取真实下一个 token 的 −log₂ p 的平均值。模型是 mini-gpt，它的 RoPE 与正弦位置编码一样由公式给出。",
    ),
    because=Both(
        "That the formula is defined everywhere is mistaken for a model that was trained everywhere. Beyond the "
        "longest text come distances and angles that no weight has ever met.",
        "公式处处有定义，常被误认为模型在每个位置上都训练过。超过最大长度之后，会出现任何权重都没有见过的距离和角度。",
    ),
    refuted=Both(
        "A model that reads twice its longest text at once with no more surprise than in windows.",
        "如果模型一次读完两倍长的文本，惊异度不高于分窗口读，判断就会改变。",
    ),
    formula=r"-\log_2 p: \quad <beyond> \ (p \ge L), \qquad <windows> \ (p < L)",
    papers=(VASWANI_2017, PRESS_2022),
    see=PageLink("positions", {"section": "Longer than trained"}),
    of=GOES_ON,
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


ENDS = Question(
    79,
    reads_text=False,
    asked=Both("Does a learned position table end?", "可学习的位置编码有长度上限吗？"),
    claim=Both(
        "With learned positions a model cannot read texts longer than the table that was trained.",
        "如果位置编码是学出来的，模型就不能处理比这张训练好的表更长的文本。",
    ),
    parts=(
        ClaimPart(
            Both("The table has a row for each position up to the longest text.", "最大长度以内，每个位置占表中一行。"),
            (at_least("rows", "longest"),),
        ),
        ClaimPart(
            Both("A text one token longer is an error.", "再长一个 token 就会报错。"),
            (equal("raised", 1),),
        ),
        ClaimPart(
            Both(
                "Where a formula turns queries and keys (RoPE), it is no error.",
                "用公式旋转 Q、K 的模型（RoPE）不会报错。",
            ),
            (equal("read", 1),),
            role="limit",
        ),
    ),
    measure=_ends,
    numbers={
        "rows": Label(Both("rows of the table of positions", "位置编码表的行数")),
        "longest": Label(Both("longest text that the model reads", "模型能读的最大长度"), Both("tokens", "个 token")),
        "raised": Label(
            Both(
                "one token more than the table has rows raises an error (1: yes)",
                "比表的行数多一个 token 时是否报错（1：是）",
            )
        ),
        "read": Label(
            Both(
                "a model with RoPE reads one token more than its longest text (1: yes)",
                "使用 RoPE 的模型能比最大长度多读一个 token（1：是）",
            ),
            of=OTHER_MODELS,
        ),
    },
    setting=Both(
        "One token, as often as the table has rows and once more, is given to the network itself, past the tokenizer, "
        "which would cut it. The model with a formula is mini-gpt, whose RoPE was made for 256 tokens: it gets 257.",
        "把同一个 token 重复（行数 + 1）次，绕过分词器直接交给网络，因为分词器会先截断。用公式的模型是 mini-gpt，"
        "它的 RoPE 按 256 个 token 设置，给它 257 个。",
    ),
    because=Both(
        "The tokenizer cuts long texts, so the error is seldom seen, and the end of the text is silently not read. "
        "One can add rows, but they have to be trained, or made from the old ones.",
        "分词器会先截断长文本，所以平时看不到报错，只是后面的内容被悄悄丢掉。可以给表加行，但新行需要训练，"
        "或者由旧行插值得到。",
    ),
    refuted=Both(
        "A model with a learned table that reads one token more than it has rows.",
        "如果使用可学习位置编码表的模型能多读一个 token，判断就会改变。",
    ),
    formula=r"P \in \mathbb{R}^{<rows> \times d}",
    papers=(VASWANI_2017,),
    see=PageLink("positions", {"section": "The table"}),
    of=LEARNED,
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


DISTURBED = Question(
    80,
    mixed="conditions",
    asked=Both("Does adding a position disturb the token's vector?", "位置编码直接相加，会破坏词向量吗？"),
    claim=Both(
        "No: it is only an addition, and the token's meaning stays as it was.",
        "不会：只是相加而已，词向量的语义不受影响。",
    ),
    parts=(
        ClaimPart(
            Both(
                "A small random embedding, N(0, 1/d), keeps its direction.",
                "方差为 1/d 的随机嵌入加上位置编码后，方向基本不变。",
            ),
            (above("bare", HALF_TURNED),),
        ),
        ClaimPart(
            Both("Multiplied by √d first, it keeps its direction.", "先乘以 √d 再相加，方向基本不变。"),
            (above("scaled", HALF_TURNED),),
        ),
        ClaimPart(
            Both("In this model a token keeps its direction.", "在该模型中，token 向量的方向基本不变。"),
            (above("model", HALF_TURNED),),
        ),
        ClaimPart(
            Both("The first layer's scores come from the tokens alone.", "第一层的分数只来自 token 内容。"),
            (below("position", 0.01),),
        ),
    ),
    measure=_disturbed,
    numbers={
        "bare": Label(
            Both("cosine of x and x + PE, x from N(0, 1/d)", "x 与 x + PE 的余弦，x 取自 N(0, 1/d)"), of=RANDOM
        ),
        "scaled": Label(
            Both("cosine of √d x and √d x + PE, x from N(0, 1/d)", "√d x 与 √d x + PE 的余弦，x 取自 N(0, 1/d)"),
            of=RANDOM,
        ),
        "model": Label(
            Both(
                "cosine of x and x + PE in this model, mean over tokens", "该模型中 x 与 x + PE 的余弦，对 token 取平均"
            )
        ),
        "position": Label(Both("part of scores that involves a position", "分数中与位置有关的部分"), "%"),
    },
    setting=Both(
        "Random: 256 vectors of width 512, seed 0, with the sinusoidal table. Model: the vectors and the scores of "
        "its first layer on this text, split in four. Kept: less than 45° from before.",
        "随机：256 个 512 维的向量，种子 0，加正弦位置编码。模型：第一层在该文本上的向量和分数，分数拆成四项。"
        "“基本不变”指夹角小于 45°。",
    ),
    because=Both(
        "Sine and cosine have length √(d/2), whatever the embedding's is: a small embedding drowns in them. Hence the "
        "√d in the paper. In a trained model both are learned side by side and can keep to different directions.",
        "正弦位置编码每行的长度是 √(d/2)，与嵌入的大小无关；嵌入太小就会被淹没，所以论文里要乘 √d。"
        "训练好的模型里两者一起学习，可以占据不同的方向。",
    ),
    refuted=Both(
        "Small embeddings that keep their direction, or scores without any part of the positions.",
        "如果很小的嵌入也能保持方向，或者分数中没有与位置有关的部分，判断就会改变。",
    ),
    formula=r"\cos(x, x + PE) = <bare>, \qquad \cos(\sqrt{d}\,x, \sqrt{d}\,x + PE) = <scaled>",
    papers=(VASWANI_2017, KE_2021),
    see=PageLink("positions", {"section": "Does it matter"}),
    of=LEARNED,
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


OTHERS = Question(
    81,
    reads_text=False,
    asked=Both("Are the other position encodings all relative?", "其他位置编码都是相对位置编码吗？"),
    claim=Both(
        "Shaw's, Transformer-XL's, T5's, RoPE and ALiBi make a score depend on the distance of two tokens, not on "
        "where they stand.",
        "Shaw、Transformer-XL、T5、RoPE、ALiBi 让分数取决于两个 token 的距离，而不是它们的绝对位置。",
    ),
    parts=(
        ClaimPart(
            Both("At one distance their scores are the same everywhere.", "距离相同，分数处处相同。"),
            (below("same", ROUNDING),),
        ),
        ClaimPart(
            Both(
                "So are those of RoPE, although it turns by the absolute position.",
                "RoPE 虽按绝对位置旋转，分数也是如此。",
            ),
            (below("rope", ROUNDING),),
        ),
        ClaimPart(
            Both("At another distance the scores are others.", "距离不同，分数就不同。"),
            (above("others", 0.01),),
        ),
        ClaimPart(
            Both("With added tables a score depends on the place.", "相加式的位置编码，分数与所在位置有关。"),
            (above("absolute", 0.01),),
            role="mechanism",
        ),
    ),
    measure=_others,
    numbers={
        "same": Label(
            Both("range of scores at distance 8, largest of the five kinds", "距离 8 上分数的极差，五种方法中最大")
        ),
        "rope": Label(Both("range of scores at distance 8, RoPE", "距离 8 上分数的极差，RoPE")),
        "others": Label(
            Both(
                "range of scores over distances 0 to 32, smallest of the five kinds",
                "距离 0 到 32 上分数的极差，五种方法中最小",
            )
        ),
        "absolute": Label(
            Both(
                "range of scores at distance 8, added tables, smaller of the two",
                "距离 8 上分数的极差，两种相加式中较小",
            )
        ),
    },
    setting=Both(
        "One query and one key at every two of 64 places, width 32, float64; matrices and what a kind learns are "
        "random, seed 0.",
        "同一对查询和键放在 64 个位置中的任意两处，宽度 32，float64；矩阵和各方法要学的参数随机，种子 0。",
    ),
    because=Both(
        "RoPE is called absolute because each vector is turned by its own position, and relative because only the "
        "difference of two turns is left in the product. Both are right.",
        "说 RoPE 是绝对的，因为每个向量按自己的位置旋转；说它是相对的，因为点积中只剩两次旋转之差。两种说法都对。",
    ),
    refuted=Both(
        "A score of one of the five that changes when both tokens move on together.",
        "如果两个 token 一起平移后，五种方法中某一种的分数变了，判断就会改变。",
    ),
    formula=r"(R_m q) \cdot (R_n k) = q \cdot R_{n-m} k: \ <rope>",
    papers=(SHAW_2018, DAI_2019, RAFFEL_2020, SU_2021, PRESS_2022),
    see=PageLink("positions", {"section": "The kinds"}),
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


PARALLEL = Question(
    82,
    reads_text=False,
    asked=Both(
        "Do positions stand in for recurrence and let all tokens be read at once?",
        "位置编码代替了循环，从而可以并行吗？",
    ),
    claim=Both(
        "An RNN knows the order by reading one token after the other. With positions attention knows it too, and "
        "reads all tokens at once.",
        "RNN 靠逐个读入知道顺序；有了位置编码，注意力不必循环也知道顺序，于是可以并行。",
    ),
    parts=(
        ClaimPart(
            Both("An RNN knows the order, and its steps wait for one another.", "RNN 知道顺序，但各步必须依次等待。"),
            (above("recurrent", 0.01), above("waits", 1)),
        ),
        ClaimPart(
            Both("Attention alone does not know the order.", "单独的注意力不知道顺序。"), (below("bare", ROUNDING),)
        ),
        ClaimPart(
            Both(
                "With positions attention knows it, and no token waits for another.",
                "加上位置编码后，注意力知道顺序，且各 token 互不等待。",
            ),
            (above("placed", 0.01), equal("steps", 1)),
        ),
    ),
    measure=_parallel,
    numbers={
        "recurrent": Label(
            Both(
                "change when the inputs are shuffled, smallest of RNN, GRU, LSTM",
                "打乱输入后输出的变化，RNN、GRU、LSTM 中最小",
            )
        ),
        "bare": Label(Both("change when the inputs are shuffled, attention", "打乱输入后输出的变化，注意力")),
        "placed": Label(
            Both(
                "change when the inputs are shuffled, attention with positions",
                "打乱输入后输出的变化，注意力加位置编码",
            )
        ),
        "waits": Label(
            Both(
                "steps that wait for one another, fewest of RNN, GRU, LSTM", "必须依次进行的步数，RNN、GRU、LSTM 中最少"
            )
        ),
        "steps": Label(
            Both("steps that wait for one another, attention with positions", "必须依次进行的步数，注意力加位置编码")
        ),
    },
    setting=Both(
        "Untrained networks on random inputs, the seeds of the page Time; all inputs but the last are shuffled.",
        "未训练的网络，随机输入，种子与“Time”页相同；除最后一个外，输入全部打乱。",
    ),
    because=Both(
        "Order and waiting came together in the RNN, so they were taken for one thing. When writing, a decoder waits "
        "too: the next token is not known before it is chosen.",
        "在 RNN 中，顺序和等待总是一起出现，容易被当成一回事。生成时解码器同样要等：下一个 token 选出之前是未知的。",
    ),
    refuted=Both(
        "Attention with positions that gives the same for shuffled inputs.",
        "如果加了位置编码的注意力对打乱的输入给出同样的结果，判断就会改变。",
    ),
    formula=r"h_t = f(h_{t-1}, x_t): <waits>, \qquad \mathrm{softmax}(QK^\top)V: <steps>",
    papers=(VASWANI_2017,),
    see=PageLink("time", {}),
)


THEME = Theme(
    "positions",
    Both("Positions", "位置编码"),
    (ORDER, FORMULA, SHIFT, PRODUCTS, LONGER, ENDS, DISTURBED, OTHERS, PARALLEL),
)
