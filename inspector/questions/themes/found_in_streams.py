"""Findings about what flows between layers. Questions 126 to 132 and 138 to 141."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import nn

import models
from inspector import block, feedforward, lens, normalization, positional
from inspector.probe import record
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import above, around, at_least, below, equal, near
from inspector.questions.record.kinds import ANY, ENCODERS, Kind
from inspector.questions.record.measured import RANDOM
from inspector.questions.record.papers import (
    BELROSE_2023,
    BRODY_2023,
    BRUNNER_2020,
    DETTMERS_2022,
    DONG_2021,
    ETHAYARAJH_2019,
    KOBAYASHI_2020,
    KOBAYASHI_2021,
    KOVALEVA_2021,
    LI_2023,
    NOSTALGEBRAIST_2020,
    PUCCETTI_2022,
    SU_2021,
    SUN_2024,
)
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import (
    ClaimPart,
    Label,
    Measurement,
    PageLink,
    PublishedNumber,
    Question,
    Theme,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.inside import blocks_of, several_tokens, stages_of, stream_of
from inspector.questions.themes.together import LAYER_NORMED, normed, read_of, sentences
from models.registry import own_model
from models.transformer.runner import OwnRunner

NORMED = Kind(normed, Both("has no norms", "没有归一化层"), ENCODERS)
READS_LAYERS = Kind(
    lambda loaded: loaded.predict is not None, Both("predicts no tokens", "不能预测 token"), ("mini-gpt",)
)
ROTATES = Kind(
    lambda loaded: positional.rotates(loaded.config),
    Both("does not turn its queries and keys (RoPE)", "没有使用 RoPE"),
    ("mini-gpt",),
)
OTHERS = 8  # dimensions that are switched off for comparison


def _own_norms(loaded: models.LoadedModel) -> bool:
    return isinstance(loaded.runner, OwnRunner) and loaded.shape != "encoder-decoder" and normed(loaded)


OWN_NORMS = Kind(
    _own_norms,
    Both(
        "is not run by Headlight's own encoder or decoder with norms, of which a copy is changed here",
        "不由 Headlight 自己的带归一化层的编码器或解码器运行，而这个问题要改动它的一个副本",
    ),
    ("minilm-own", "mini-bert"),
)


def _outlier_dimension(subject: Subject) -> Measurement:
    trace, loaded, text = subject.trace, subject.loaded, read_of(subject)
    table, learned = normalization.outliers(trace), normalization.parameters(trace)
    largest = table.loc[table["times"].idxmax()]
    dimension, width = int(largest["dimension"]), trace.output.shape[1]
    assert isinstance(loaded.runner, OwnRunner)
    network = copy.deepcopy(loaded.runner.whole)
    changed = own_model(loaded.card, network, loaded.tokenizer, max_tokens=loaded.max_tokens)
    learning = [
        getattr(norm, name)
        for norm in network.modules()
        for name in ("gamma", "beta")
        if isinstance(getattr(norm, name, None), nn.Parameter)
    ]

    def moved(off: int) -> float:
        """The relative change of the last hidden states in all other dimensions, mean over tokens."""
        values = [parameter.data[off].clone() for parameter in learning]
        for parameter in learning:
            parameter.data[off] = 0
        output = record(changed, text).output
        for parameter, value in zip(learning, values, strict=True):
            parameter.data[off] = value
        rest = np.arange(width) != off
        before, after = (states[:, rest].astype(np.float64) for states in (trace.output, output))
        return float((np.linalg.norm(after - before, axis=1) / np.linalg.norm(before, axis=1)).mean())

    beside = [int(other) for other in np.random.default_rng(0).permutation(width) if other != dimension][:OTHERS]
    of_dimension, others = moved(dimension), [moved(other) for other in beside]
    at = learned[learned["dimension"] == dimension]
    same = table[table["dimension"] == dimension]
    return Measurement(
        {
            "dimension": float(dimension),
            "times": float(largest["times"]),
            "place": float(same["largest"].mean()),
            "learned": float(at["outlier"].mean()),
            "moved": of_dimension,
            "others": float(np.median(others)),
            "share": len(learning) / sum(parameter.numel() for parameter in network.parameters()),
        },
        Bars(
            [str(column) for column in (dimension, *beside)],
            [100 * change for change in (of_dimension, *others)],
            Both(
                "change of the last states without this dimension's γ and β, %",
                "去掉该维的 γ、β 后最后一层状态的变化，%",
            ),
            parts=["norm"] * (1 + len(others)),
        ),
    )


OUTLIER_DIMENSION = Question(
    141,
    asked=Both("Does a model hang on a single dimension of its norms?", "模型是否离不开归一化层中的某一个维度？"),
    claim=Both(
        "Transformers have outlier dimensions, at the same place through all layers, with large gamma and beta. "
        "Switch off these few numbers, and the model breaks.",
        "Transformer 中有离群维度：在各层都处于同一位置，γ、β 异常大。只要关掉这几个数，模型就会崩溃。",
    ),
    parts=(
        ClaimPart(
            Both(
                "One dimension is the largest of all before most norms.",
                "有一个维度在多数归一化层之前都是最大的。",
            ),
            (at_least("place", 0.5),),
        ),
        ClaimPart(
            Both(
                "In most norms gamma or beta stands out there too.",
                "在多数归一化层中，该维的 γ 或 β 也是离群值。",
            ),
            (at_least("learned", 0.5),),
        ),
        ClaimPart(
            Both(
                "Without its gamma and beta the other dimensions change five times as much as without another's.",
                "去掉它的 γ、β，其余维度的变化是去掉别的维度时的五倍以上。",
            ),
            (above("moved", "others", times=5),),
        ),
    ),
    measure=_outlier_dimension,
    numbers={
        "dimension": Label(Both("index of the outlier dimension", "离群维度的序号")),
        "times": Label(
            Both("largest number of the outlier dimension, in medians of all", "离群维度的最大值与中位数之比")
        ),
        "place": Label(
            Both("norms before which the outlier dimension is the largest", "离群维度为最大维度的归一化层占比"), "%"
        ),
        "learned": Label(
            Both(
                "norms in which the outlier dimension's gamma or beta stands out",
                "离群维度的 γ 或 β 为离群值的归一化层占比",
            ),
            "%",
        ),
        "moved": Label(
            Both(
                "change of the states without the outlier dimension's gamma and beta",
                "去掉离群维度的 γ、β 之后状态的变化",
            ),
            "%",
        ),
        "others": Label(
            Both(
                "change of the states without another dimension's gamma and beta, median",
                "去掉别的维度的 γ、β 之后状态的变化，中位数",
            ),
            "%",
        ),
        "share": Label(
            Both("share of the outlier dimension's gamma and beta in all weights", "离群维度的 γ、β 占全部参数的比例"),
            "%",
        ),
    },
    setting=Both(
        "The dimension whose largest |x| before a norm is the most times the median there. Stands out: more than 3 "
        "standard deviations from the norm's mean. In a copy of the model gamma and beta of one dimension are set to "
        "0 in all norms; the change is that of the last hidden states in the other dimensions, relative, mean over "
        "tokens. The others: 8 dimensions drawn with seed 0.",
        "取归一化层之前 |x| 最大值与中位数之比最大的维度。离群：偏离该层均值超过 3 个标准差。在模型的副本中，"
        "把某一维在所有归一化层的 γ、β 置 0；变化指最后一层的隐藏状态在其余维度上的相对变化，对 token 取平均。"
        "作为对照，另取 8 个维度（种子 0）。",
    ),
    because=Both(
        "All features look alike in the architecture, so one expects none to matter more than the rest. In training a "
        "few become very large, for some tokens larger than all others together, and what later layers read from them "
        "is lost with them. Puccetti et al. (2022) link them to how often a token was met in training, and to the "
        "attention on special tokens.",
        "从结构上看各个特征没有区别，人们便以为没有哪个特别重要。但训练中少数维度变得很大，"
        "在某些 token 上比其余维度的总和还大；去掉它们，后面各层从中读取的信息也就没有了。"
        "Puccetti 等人（2022）发现这些维度与 token 在训练语料中的频率有关，也与对特殊 token 的注意力有关。",
    ),
    refuted=Both(
        "A trained model in which each dimension's gamma and beta can be switched off with as little effect as "
        "another's.",
        "如果在训练好的模型中，去掉任何一维的 γ、β 影响都差不多，判断就会改变。",
    ),
    formula=r"\gamma_{<dimension>} = \beta_{<dimension>} = 0: \quad \frac{\|\Delta h\|}{\|h\|} = <moved> "
    r"\qquad (\gamma_j = \beta_j = 0: <others>)",
    papers=(KOVALEVA_2021, PUCCETTI_2022),
    see=PageLink("layernorm", {"section": "Outlier dimensions"}),
    of=OWN_NORMS,
    published={
        "moved": PublishedNumber(
            "nearly 30 %",
            Both(
                "of BERT's result on MNLI is lost without 48 of its 110 million parameters (Puccetti et al. 2022)",
                "BERT 去掉 1.1 亿参数中的 48 个后，在 MNLI 上的下降（Puccetti 等人，2022）",
            ),
        ),
        "share": PublishedNumber(
            "< 0.0001 %",
            Both(
                "of BERT's weights, whose removal breaks it (Kovaleva et al. 2021)",
                "BERT 的参数，去掉后模型崩溃（Kovaleva 等人，2021）",
            ),
        ),
    },
)


def _mixed_alone(subject: Subject, *, residual: float) -> list[float]:
    """The distance from rank 1 after each layer of attention alone, with the recorded maps and the real W_V and W_O.

    x -> residual x + sum_h A_h x W_V^h W_O^h, from the state that enters layer 0; no bias, norm or FFN.
    """
    trace, stream, network = subject.trace, stream_of(subject), subject.loaded.network
    layers = blocks_of(subject).of(stream)
    x = layers[0].enters.astype(np.float64)
    distances = []
    for layer in layers:
        value, out = layer.matrix("v"), layer.matrix("out")
        if value is None or out is None:
            raise UnanswerableError(
                f"W_V or W_O of layer {layer.layer} of {subject.loaded.card.id} was not seen as a matrix of its own.",
                f"没有看到 {subject.loaded.card.id} 第 {layer.layer} 层单独的 W_V 或 W_O 矩阵。",
            )
        weights = trace.attention(layer=layer.layer, stream=stream).astype(np.float64)  # [H, T, T]
        width = trace.record_of(layer.layer, stream).value.shape[-1]
        values = (x @ value.weight(network).double().cpu().numpy()).reshape(len(x), -1, width).swapaxes(0, 1)
        values = values.repeat(len(weights) // len(values), axis=0)  # [H, T, E]
        mixed = (weights @ values).swapaxes(0, 1).reshape(len(x), -1)
        x = residual * x + mixed @ out.weight(network).double().cpu().numpy()
        distances.append(_from_rank_one(x))
    return distances


def _from_rank_one(x: NDArray[np.float64]) -> float:
    size = float(np.linalg.norm(x))
    return float(np.linalg.norm(x - x.mean(axis=0))) / size if size else 0.0


def _collapse(subject: Subject) -> Measurement:
    several_tokens(subject)
    alone, beside = _mixed_alone(subject, residual=0), _mixed_alone(subject, residual=1)
    layers = list(range(1, len(alone) + 1))
    tokens = len(subject.trace.read_by(stream_of(subject)).tokens)
    drawn = np.random.default_rng(0).dirichlet(np.ones(tokens), size=(len(alone), tokens))
    return Measurement(
        {
            "alone": alone[-1],
            "beside": beside[-1],
            "alike": block.alike(stages_of(subject)[-1].after),
            "any": _from_rank_one(np.linalg.multi_dot([*drawn, np.eye(tokens)])),
        },
        Lines(
            (
                Series(Both("attention alone", "只有注意力"), layers, [max(one, 1e-16) for one in alone]),
                Series(
                    Both("with the residual", "加残差"),
                    layers,
                    [max(one, 1e-16) for one in beside],
                    part="residual",
                    dashed=True,
                ),
            ),
            x_title=Both("layers", "层数"),
            y_title=Both("distance from rank 1", "与秩 1 的距离"),
            log_y=True,
        ),
    )


COLLAPSE = Question(
    126,
    asked=Both("Does attention without residual lose its rank?", "没有残差，注意力会秩坍缩吗？"),
    claim=Both(
        "Pure attention makes all tokens alike, the more the deeper; the residual prevents it.",
        "纯注意力层数越深，各 token 越相同（秩坍缩）；残差连接阻止了这一点。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Attention alone brings the model's own tokens close to rank 1.",
                "只留注意力，该模型的各 token 就接近秩 1。",
            ),
            (below("alone", 0.2),),
        ),
        ClaimPart(
            Both(
                "With the residual they stay farther from rank 1: twice or more.",
                "加上残差，离秩 1 至少远一倍。",
            ),
            (above("beside", "alone", times=2),),
        ),
        ClaimPart(
            Both("In the real model the tokens stay apart.", "在真实模型中，各 token 仍有差别。"),
            (below("alike", 0.95),),
        ),
        ClaimPart(
            Both(
                "It takes no training: random maps, whose rows sum to 1 too, bring any tokens close to rank 1.",
                "这与训练无关：随机的注意力矩阵（每行和为 1）连乘，也会让任何 token 接近秩 1。",
            ),
            (below("any", 0.2),),
            role="mechanism",
        ),
    ),
    measure=_collapse,
    numbers={
        "alone": Label(Both("distance from rank 1, attention alone", "与秩 1 的距离，只有注意力")),
        "beside": Label(Both("distance from rank 1, attention with the residual", "与秩 1 的距离，注意力加残差")),
        "alike": Label(Both("mean cosine of two tokens in the last state", "最后一层状态中两个 token 的平均余弦")),
        "any": Label(
            Both("distance from rank 1 of as many random maps, multiplied", "同样多的随机矩阵连乘后与秩 1 的距离"),
            of=RANDOM,
        ),
    },
    setting=Both(
        "The state that enters layer 0 goes through all layers as x → Σ_h A_h x W_V W_O, with this text's maps and the "
        "model's own matrices, without FFN, norm or bias: once alone, once added to x. Distance: ‖X − 1 x̄‖ / ‖X‖, with "
        "x̄ the mean row; 0 where all tokens are one. How fast it falls is not tested: the paper proves doubly "
        "exponentially, where maps are made anew from what is left. Random rows are uniform on the simplex, seed 0.",
        "把进入第 0 层的状态逐层变为 x → Σ_h A_h x W_V W_O，用该文本的注意力矩阵和模型自己的 W_V、W_O，"
        "不含 FFN、归一化和偏置："
        "一次只有这一项，一次再加上 x。距离：‖X − 1 x̄‖ / ‖X‖，x̄ 为各行的平均；所有 token 相同时为 0。"
        "下降的速度没有检验："
        "论文证明的双指数速度，要求用剩下的状态重新计算注意力矩阵。随机矩阵的每行在单纯形上均匀，种子 0。",
    ),
    because=Both(
        "Each map averages rows, and an average of averages has less to tell apart. The proof leaves out the FFN as "
        "well as the residual; with norms gradients can live on while the tokens collapse.",
        "每个注意力矩阵都在对各行取平均，平均再平均，差别就越来越小。证明中既没有残差也没有 FFN；有归一化时，"
        "梯度可以不消失，而 token 照样坍缩。",
    ),
    refuted=Both(
        "A model whose attention, without the residual, keeps its tokens apart.",
        "如果没有残差，只靠注意力，各 token 仍有差别，判断就会改变。",
    ),
    formula=r"X \to \sum_h A_h X W_V^h W_O^h: \ \frac{\|X - \mathbf{1}\bar x\|}{\|X\|} \to <alone>, \quad "
    r"X \to X + \sum_h A_h X W_V^h W_O^h: \ <beside>",
    papers=(DONG_2021,),
    see=PageLink("block", {"section": "What each part adds"}),
    of=ANY,
    published={
        "alone": PublishedNumber(
            "(·)^(3^L)",
            Both("how the bound on the distance falls with L layers", "距离的上界随层数 L 下降的方式"),
            same=False,
            from_memory=True,
        )
    },
)


def _massive(subject: Subject) -> Measurement:
    table = subject.once("outliers", lambda: normalization.outliers(subject.trace, stream=stream_of(subject)))
    if table.empty or table["times"].isna().all():
        raise UnanswerableError(
            f"{subject.loaded.card.id} has no norms in front of which a state could be seen.",
            f"{subject.loaded.card.id} 没有可以看到其输入的归一化层。",
        )
    top = table.loc[table["value"].abs().idxmax()]
    tokens = subject.trace.read_by(stream_of(subject))
    ends = float(bool(tokens.special[int(top["position"])]) or int(top["position"]) == 0)
    largest = table.groupby("norm")["times"].max()
    return Measurement(
        {
            "massive": float(table["massive"].sum()),
            "largest": float(abs(top["value"])),
            "times": float(top["times"]),
            "ends": ends,
        },
        Lines(
            (Series(Both("largest", "最大值"), largest.index.tolist(), largest.tolist(), part="residual"),),
            x_title=Both("norm, in the order of the run", "归一化，按运行次序"),
            y_title=Both("largest entry / median", "最大分量 / 中位数"),
            log_y=True,
            mark_y=normalization.MASSIVE_TIMES,
        ),
    )


MASSIVE = Question(
    127,
    asked=Both("Are there massive activations?", "模型中有巨大激活值吗？"),
    claim=Both(
        "A few activations are thousands of times larger than the rest; they sit on the first token or on delimiters.",
        "少数激活值比其余的大几千倍以上，出现在第一个 token 或分隔符上。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Some activations are above 100 and above 1,000 times the median.",
                "有的激活值大于 100，且超过中位数的 1000 倍。",
            ),
            (at_least("massive", 1),),
        ),
        ClaimPart(
            Both("The largest activation is more than 50 times the median.", "最大的激活值超过中位数的 50 倍。"),
            (above("times", 50),),
        ),
        ClaimPart(
            Both(
                "The largest activation stands on the first token or on a special one.",
                "最大的激活值位于第一个 token 或特殊 token 上。",
            ),
            (equal("ends", 1),),
        ),
    ),
    measure=_massive,
    numbers={
        "massive": Label(Both("massive activations", "巨大激活值的个数")),
        "largest": Label(Both("largest entry before a norm", "归一化之前的最大分量")),
        "times": Label(
            Both("largest entry before a norm, in medians of the place", "归一化之前的最大分量与该处中位数之比")
        ),
        "ends": Label(
            Both(
                "largest entry is on the first token or a special one (1: yes)",
                "最大分量位于第一个或特殊 token 上（1：是）",
            )
        ),
    },
    setting=Both(
        "Before every norm: the largest |x| over tokens and dimensions, beside the median of |x| there. Massive is as "
        "the paper has it: above 100 and above 1,000 times the median.",
        "在每个归一化之前：所有 token 与维度中最大的 |x|，与该处 |x| 的中位数相比。“巨大”按论文的定义：大于 100，"
        "且超过中位数的 1000 倍。",
    ),
    because=Both(
        "Such numbers act as a bias that hardly depends on the text, and attention gathers on their tokens. Small "
        "models have smaller ones, and in a post-norm model every norm cuts them down again.",
        "这些值的作用近似一个与文本无关的偏置，注意力会聚集到它们所在的 token 上。小模型的没有那么大，"
        "Post-LN 模型里每次归一化又会把它们压下去。",
    ),
    refuted=Both(
        "A model without any, or one whose largest stand on ordinary tokens.",
        "如果模型没有巨大激活值，或者最大的出现在普通 token 上，说法对该模型就不成立。",
    ),
    formula=r"\frac{\max |x|}{\mathrm{med} |x|} = <times>",
    papers=(SUN_2024,),
    published={
        "times": PublishedNumber(
            "100,000",
            Both("times other activations, in large language models", "大语言模型中与其他激活值之比（倍）"),
        )
    },
    see=PageLink("layernorm", {"section": "Outlier dimensions"}),
    of=NORMED,
)

LARGE, OF_LAYERS, OF_TOKENS = 6.0, 0.25, 0.06  # Dettmers et al. 2022, section 4: what an outlier feature is


def _places(subject: Subject) -> Measurement:
    stream = stream_of(subject)
    norms = [norm for norm in subject.trace.norms if norm.stream == stream and norm.layer is not None]
    norms = [norm for norm in norms if norm.input.shape == norms[0].input.shape]
    if len(norms) < 2:
        raise UnanswerableError(
            f"{subject.loaded.card.id} has fewer than two norms in its layers.",
            f"{subject.loaded.card.id} 的各层中归一化层不足两个。",
        )
    largest = [int(np.abs(norm.input).max(axis=0).argmax()) for norm in norms]
    high = np.stack([(np.abs(norm.output) >= LARGE).mean(axis=0) >= OF_TOKENS for norm in norms])  # [norm, D]
    width = high.shape[1]
    counts = np.bincount(largest, minlength=width)
    dimensions = np.argsort(-counts)[:6]
    dimensions = dimensions[counts[dimensions] > 0]
    outliers = float((high.mean(axis=0) >= OF_LAYERS).sum())
    return Measurement(
        {"same": float(counts.max() / len(norms)), "outliers": outliers, "part": outliers / width},
        Bars(
            [f"{dimension}" for dimension in dimensions],
            [100 * counts[dimension] / len(norms) for dimension in dimensions],
            Both("norms before which this dimension is the largest, %", "以该维度为最大维度的归一化层，%"),
            parts=["norm"] * len(dimensions),
        ),
    )


PLACES = Question(
    128,
    asked=Both("Are outlier dimensions the same in every layer?", "离群维度在各层是同几个吗？"),
    claim=Both(
        "A handful of dimensions are far larger than all others, and they are the same ones in every layer.",
        "极少数维度的值远大于其他维度，而且各层都是同样几个。",
    ),
    parts=(
        ClaimPart(
            Both("One dimension is the largest before most norms.", "同一个维度在多数归一化之前都是最大的。"),
            (above("same", 0.5),),
        ),
        ClaimPart(
            Both("There are outlier dimensions: 6 or more, again and again.", "存在离群维度：值反复达到 6 以上。"),
            (at_least("outliers", 1),),
        ),
        ClaimPart(
            Both("Outlier dimensions are few: less than 1 %.", "离群维度很少：不到 1%。"),
            (at_least("outliers", 1), below("part", 0.01)),  # none are no few
        ),
    ),
    measure=_places,
    numbers={
        "same": Label(Both("norms that share their largest dimension", "最大维度相同的归一化所占比例"), "%"),
        "outliers": Label(Both("outlier dimensions", "离群维度的个数")),
        "part": Label(Both("outlier dimensions, of all dimensions", "离群维度占所有维度的比例"), "%"),
    },
    setting=Both(
        "The norms of the layers on this text. An outlier dimension, as the paper has it: |x| ≥ 6 for 6 % of the "
        "tokens or more, in a quarter of the places where a norm hands over or more.",
        "该文本上各层的归一化。离群维度按论文的定义：在至少四分之一的位置（归一化的输出）上，"
        "至少 6% 的 token 满足 |x| ≥ 6。",
    ),
    because=Both(
        "The stream passes every layer, so what one writes large the next ones find large, and a norm's gamma can "
        "raise it again. Rounding to 8 bits fails on them, which is how they were noticed.",
        "残差流贯穿各层，前面写大的维度后面仍大，归一化的 γ 还会再放大它。8 位量化恰好在这些维度上出错，"
        "人们由此注意到它们。",
    ),
    refuted=Both(
        "A model whose largest dimension is another one in every layer.",
        "如果各层最大的维度都不相同，说法对该模型就不成立。",
    ),
    formula=r"\arg\max_d |x_d| : \ <same>",
    papers=(KOVALEVA_2021, DETTMERS_2022),
    published={
        "outliers": PublishedNumber(
            "6",
            Both("dimensions, in models of 6.7 billion parameters", "个维度，67 亿参数的模型"),
        )
    },
    see=PageLink("layernorm", {"section": "Outlier dimensions"}),
    of=NORMED,
)

TEXTS = 3  # beside the reader's


def _cone(subject: Subject) -> Measurement:
    loaded, stream = subject.loaded, stream_of(subject)
    traces = [subject.trace, *(record(loaded, text) for text in sentences(subject)[1 : TEXTS + 1])]
    layers: dict[int, list[NDArray[np.float64]]] = {}
    for trace in traces:
        words = ~np.asarray(trace.read_by(stream).special)
        for state in trace.states:
            if state.stream == stream:
                vectors = trace.state(state)[words].astype(np.float64)
                layers.setdefault(state.layer, []).append(vectors)
    if not layers or min(len(vectors) for texts in layers.values() for vectors in texts) < 1:
        raise UnanswerableError(
            f"The states between the layers of {loaded.card.id} were not seen, or the text has no words.",
            f"没有看到 {loaded.card.id} 层与层之间的状态，或者文本中没有词。",
        )

    def across(texts: list[NDArray[np.float64]], centre: float) -> float:
        """The mean cosine of two tokens of different texts."""
        mean = centre * np.concatenate(texts).mean(axis=0)
        units = [
            (vectors - mean) / np.linalg.norm(vectors - mean, axis=1, keepdims=True).clip(1e-30) for vectors in texts
        ]
        sums, counts = (
            np.stack([vectors.sum(axis=0) for vectors in units]),
            np.array([len(vectors) for vectors in units]),
        )
        total, within = np.square(sums.sum(axis=0)).sum(), np.square(sums).sum()
        return float((total - within) / (counts.sum() ** 2 - np.square(counts).sum()))

    order = sorted(layers)
    cosines = [across(layers[layer], 0) for layer in order]
    return Measurement(
        {
            "smallest": min(cosines),
            "first": cosines[0],
            "middle": float(np.mean(_inner(cosines))),
            "last": cosines[-1],
            "centred": across(layers[order[-1]], 1),
        },
        Lines(
            (
                Series(Both("as they are", "原向量"), order, cosines, part="residual"),
                Series(
                    Both("less their mean", "减去均值"),
                    order,
                    [across(layers[layer], 1) for layer in order],
                    part="residual",
                    dashed=True,
                ),
            ),
            x_title=Both("layer", "层"),
            y_title=Both("mean cosine of tokens of different texts", "不同文本的 token 的平均余弦"),
        ),
    )


def _inner(cosines: Sequence[float]) -> Sequence[float]:
    """The layers at the depths of layers 2 to 8 of 12, or the one in the middle of few."""
    depth = np.arange(1, len(cosines) + 1) / len(cosines)
    chosen = [cosine for cosine, at in zip(cosines, depth, strict=True) if 2 / 12 <= at <= 8 / 12]
    return chosen or [cosines[len(cosines) // 2]]


CONE = Question(
    129,
    asked=Both("Do all vectors lie in a narrow cone?", "词向量都挤在一个狭窄的锥里吗？"),
    claim=Both(
        "Contextual vectors are not spread in all directions: even those of unrelated tokens have a cosine far above "
        "0, the more the higher the layer.",
        "上下文词向量的方向并不均匀：毫不相关的 token 余弦也远大于 0，而且层越高越明显。",
    ),
    parts=(
        ClaimPart(
            Both("In every layer the mean cosine is above 0.05.", "每一层的平均余弦都大于 0.05。"),
            (above("smallest", 0.05),),
        ),
        ClaimPart(
            Both("The mean cosine is higher in the last layer than in the first.", "最后一层的平均余弦高于第一层。"),
            (above("last", "first"),),
        ),
        ClaimPart(
            Both("In the last layer the mean cosine is almost 1.", "最后一层的平均余弦几乎为 1。"),
            (above("last", 0.9),),
        ),
        ClaimPart(
            Both("Without their mean the vectors point everywhere.", "减去均值后，各方向的余弦接近 0。"),
            (around("centred", 0, within=0.2),),
        ),
    ),
    measure=_cone,
    numbers={
        "smallest": Label(Both("mean cosine, smallest of all layers", "平均余弦，各层最小")),
        "first": Label(Both("mean cosine in the first layer", "平均余弦，第一层")),
        "middle": Label(Both("mean cosine, depths of layers 2 to 8 of 12", "平均余弦，深度同 12 层中的第 2 到 8 层")),
        "last": Label(Both("mean cosine in the last layer", "平均余弦，最后一层")),
        "centred": Label(
            Both("mean cosine in the last layer, less the mean vector", "平均余弦，最后一层，减去平均向量")
        ),
    },
    setting=Both(
        "Tokens of the text and of three other sentences, without special tokens; pairs from different texts only. "
        "The first states that are seen are those behind layer 0 in a post-norm model, the embedding in a pre-norm "
        "one.",
        "该文本与另外三个句子的 token，不含特殊 token；只取来自不同文本的两个。"
        "最先看到的状态，在 Post-LN 模型中是第 0 层之后的，在 Pre-LN 模型中是词嵌入。",
    ),
    because=Both(
        "A few large dimensions that all tokens share are enough for a high cosine, and taking the mean vector away "
        "can undo the cone. So cosines of raw states say little about meaning.",
        "只要有几个所有 token 共有的大维度，余弦就会很高；减去均值后，锥可能就消失了。"
        "所以原始状态的余弦说明不了多少语义。",
    ),
    refuted=Both(
        "A model in whose layers unrelated tokens have a cosine of about 0.",
        "如果各层中不相关 token 的余弦约为 0，说法对该模型就不成立。",
    ),
    formula=r"\overline{\cos}(x, y): <first> \to <last>, \quad \overline{\cos}(x - \bar x, y - \bar x): <centred>",
    papers=(ETHAYARAJH_2019,),
    published={
        "middle": PublishedNumber("≈ 0.6", Both("in GPT-2's layers 2 to 8", "GPT-2 的第 2 到 8 层")),
        "last": PublishedNumber("≈ 1", Both("in GPT-2's last layer", "GPT-2 的最后一层")),
    },
    see=PageLink("block", {"section": "What each part adds"}),
    of=ANY,
)


def _mixing_share(subject: Subject) -> Measurement:
    several_tokens(subject)
    trace, stream, network = subject.trace, stream_of(subject), subject.loaded.network
    shares, mean_weights = [], []
    for layer in blocks_of(subject).of(stream):
        matrix, call = layer.matrix("out"), trace.record_of(layer.layer, stream)
        out = next((role_matrix for role, role_matrix in layer.matrices if role == "out"), matrix)
        stage = next(
            (stage for stage in stages_of(subject) if (stage.layer, stage.part) == (layer.layer, "attention")), None
        )
        weights = trace.attention(layer=layer.layer, stream=stream).astype(np.float64)
        heads = len(weights)
        value = call.value.double().cpu().numpy()
        value = value.repeat(heads // len(value), axis=0)  # [H, T, E]
        if out is None or stage is None or out.weight(network).shape[0] != heads * value.shape[2]:
            raise UnanswerableError(
                f"W_O of layer {layer.layer} of {subject.loaded.card.id} is not a matrix of its own.",
                f"{subject.loaded.card.id} 第 {layer.layer} 层的 W_O 不是单独的矩阵。",
            )
        written = out.weight(network).double().cpu().numpy().reshape(heads, value.shape[2], -1)
        bias = out.offset(network)
        from_itself = np.einsum("hi,hie,hed->id", np.diagonal(weights, axis1=1, axis2=2), value, written)
        mixed = stage.added - (0.0 if bias is None else bias.double().cpu().numpy()) - from_itself
        size, unmixed = np.linalg.norm(mixed, axis=1), np.linalg.norm(stage.before + from_itself, axis=1)
        shares.append(float((size / (size + unmixed)).mean()))
        mean_weights.append(float(1 - np.diagonal(weights, axis1=1, axis2=2).mean()))
    return Measurement(
        {
            "weights": float(np.mean(mean_weights)),
            "mixing": float(np.mean(shares)),
            "largest": max(shares),
        },
        Bars(
            [Both(f"layer {layer}", f"第 {layer} 层") for layer in range(len(shares))],
            [100 * share for share in shares],
            Both("part of a token's new state that comes from other tokens, %", "新状态中来自其他 token 的部分，%"),
            parts=["attention"] * len(shares),
            mark=50.0,
        ),
    )


KEPT = Question(
    130,
    asked=Both(
        "Is most of a token's new state kept, and not mixed in?",
        "token 的新状态大部分是保留下来的，而不是混合来的吗？",
    ),
    claim=Both(
        "Most attention goes to other tokens; but with the residual and the lengths of vectors counted in, most of a "
        "token's new state is kept, not mixed in.",
        "注意力权重大多给了其他 token；但算上残差和向量长度，新状态的大部分仍来自 token 自己。",
    ),
    parts=(
        ClaimPart(
            Both("By the weights alone, other tokens make most of it.", "只看权重，大部分来自其他 token。"),
            (above("weights", 0.5),),
        ),
        ClaimPart(
            Both(
                "With residual and lengths they make less than half.", "算上残差与向量长度，来自其他 token 的不到一半。"
            ),
            (below("mixing", 0.5),),
        ),
        ClaimPart(
            Both("In every layer other tokens make less than half.", "每一层中，来自其他 token 的都不到一半。"),
            (below("largest", 0.5),),
        ),
    ),
    measure=_mixing_share,
    numbers={
        "weights": Label(Both("attention weight on other tokens, mean", "给其他 token 的注意力权重，平均"), "%"),
        "mixing": Label(
            Both("part of the state from other tokens, mean of layers", "状态中来自其他 token 的部分，各层平均"), "%"
        ),
        "largest": Label(
            Both("part of the state from other tokens, largest of layers", "状态中来自其他 token 的部分，各层最大"), "%"
        ),
    },
    setting=Both(
        "Length of what comes from other tokens, Σ_(j≠i) A_ij x_j W_V W_O, over that and the length of what is kept, "
        "the residual and the token's own part; mean over tokens, before the norm.",
        "来自其他 token 的部分 Σ_(j≠i) A_ij x_j W_V W_O 的长度，"
        "除以它与保留部分（残差加上 token 自己的一项）长度之和；对 token 取平均，归一化之前。",
    ),
    because=Both(
        "A map shows weights, not lengths, and leaves the residual out. A weight of 0.3 on a short vector moves a "
        "long state little.",
        "注意力图只显示权重，不显示长度，也不包括残差。0.3 的权重乘上一个短向量，对一个长向量影响很小。",
    ),
    refuted=Both(
        "A layer in which what comes from other tokens is longer than what is kept.",
        "如果某层来自其他 token 的部分比保留的部分更长，判断就会改变。",
    ),
    formula=r"\frac{\|m_i\|}{\|m_i\| + \|k_i\|} = <mixing>, \quad m_i = \sum_{j \ne i} A_{ij}\, x_j W_V W_O",
    papers=(KOBAYASHI_2020, KOBAYASHI_2021),
    see=PageLink("block", {"section": "What each part adds"}),
    of=ANY,
    published={
        "weights": PublishedNumber("97.1 %", Both("of BERT-base, Wikipedia, table 2", "BERT-base，维基百科，表 2")),
        "mixing": PublishedNumber(
            "22.3 %",
            Both(
                "of BERT-base before the norm; 18.8 % with the norm (Kobayashi et al. 2021, table 2)",
                "BERT-base，归一化之前；算上归一化为 18.8%（Kobayashi 等人 2021，表 2）",
            ),
        ),
    },
)


def _told(subject: Subject) -> Measurement:
    several_tokens(subject)
    stages = [stage for stage in stages_of(subject) if stage.part == "ffn"]
    if not stages:
        raise UnanswerableError(
            f"The states between the layers of {subject.loaded.card.id} were not seen.",
            f"没有看到 {subject.loaded.card.id} 层与层之间的状态。",
        )
    units = [
        state / np.linalg.norm(state, axis=1, keepdims=True).clip(1e-30)
        for state in (
            states - states.mean(axis=0)
            for states in (stages_of(subject)[0].before, *(stage.after for stage in stages))
        )
    ]
    count = len(units[0])
    right = [float(((state @ units[0].T).argmax(axis=1) == np.arange(count)).mean()) for state in units[1:]]
    return Measurement(
        {"first": right[0], "last": right[-1], "worst": min(right), "chance": 1 / count},
        Lines(
            (
                Series(
                    Both("told", "认得出"),
                    [stage.layer for stage in stages],
                    [100 * share for share in right],
                    "residual",
                ),
            ),
            x_title=Both("layer", "层"),
            y_title=Both("tokens that are told from their state, %", "能从状态认出的 token，%"),
            mark_y=100 / count,
        ),
    )


TOLD = Question(
    131,
    asked=Both("Can a token be told from its state in deep layers?", "到了深层，还能从状态认出原来的 token 吗？"),
    claim=Both(
        "Although every layer mixes tokens, a state can still be traced to its own token in most cases, even in deep "
        "layers.",
        "尽管每层都在混合 token，到了深层，大多数状态仍能对应回原来的 token。",
    ),
    parts=(
        ClaimPart(Both("In the first layer most can be told.", "第一层大多数认得出。"), (above("first", 0.5),)),
        ClaimPart(Both("In the last layer most can be told.", "最后一层大多数认得出。"), (above("last", 0.5),)),
        ClaimPart(
            Both("In every layer far more can be told than by chance: twice.", "每一层都远好于随机：至少两倍。"),
            (above("worst", "chance", times=2),),
        ),
    ),
    measure=_told,
    numbers={
        "first": Label(Both("tokens that can be told in the first layer", "认得出的 token 的比例，第一层"), "%"),
        "last": Label(Both("tokens that can be told in the last layer", "认得出的 token 的比例，最后一层"), "%"),
        "worst": Label(Both("tokens that can be told in the worst layer", "认得出的 token 的比例，最差的一层"), "%"),
        "chance": Label(Both("tokens that can be told by chance", "认得出的 token 的比例，随机猜测"), "%"),
    },
    setting=Both(
        "Each token's state behind a layer is held to what all tokens of the text were before the first layer, both "
        "less their means: is its own the nearest by cosine? The paper trains a network to tell; here nothing is "
        "trained.",
        "把每个 token 在某层之后的状态，与文本中所有 token 进入第一层之前的向量相比（各减去均值）："
        "余弦最大的是不是它自己？论文为此训练了一个网络，这里不做训练。",
    ),
    because=Both(
        "The residual carries the token's own vector through every layer. That a nearest neighbour fails does not "
        "mean that the token is gone: a matrix could still find it, as in the paper. A decoder turns its states "
        "towards the next token.",
        "残差把 token 自己的向量带过每一层。最近邻认不出，并不等于信息丢了：学一个矩阵可能仍能找回，论文就是这样做的。"
        "解码器的状态则会转向下一个 token。",
    ),
    refuted=Both(
        "A last layer in which states are no nearer to their own tokens than to others.",
        "如果最后一层的状态与自己的 token 并不比与别的 token 更近，说法对该模型就不成立。",
    ),
    formula=r"\arg\max_j \cos(x_i^{(L)}, x_j^{(0)}) = i: \quad <last>",
    papers=(BRUNNER_2020,),
    see=PageLink("block", {"section": "What each part adds"}),
    of=ANY,
    published={
        "last": PublishedNumber(
            "–",
            Both(
                "curves that fall with depth, of a trained map and the nearest neighbour by cosine (BERT-base); the "
                "numbers were not looked up",
                "论文给出随深度下降的曲线，用学到的映射和余弦最近邻（BERT-base）；数值没有查到",
            ),
            same=False,
        )
    },
)


def _sphere(subject: Subject) -> Measurement:
    norms = [norm for norm in subject.trace.norms if norm.kind == "layer" and norm.gate is None and norm.groups == 1]
    if not norms:
        raise UnanswerableError(
            f"The LayerNorms of {subject.loaded.card.id} were not seen.",
            f"没有看到 {subject.loaded.card.id} 的 LayerNorm。",
        )
    lengths, planes, spreads = [], [], []
    for norm in norms:
        x = norm.input.astype(np.float64)
        x = x - x.mean(axis=1, keepdims=True)
        x = x / np.sqrt(np.square(x).mean(axis=1, keepdims=True) + norm.epsilon)
        lengths.append(np.linalg.norm(x, axis=1) / x.shape[1] ** 0.5)
        planes.append(np.abs(x.mean(axis=1)).max())
        given = np.linalg.norm(norm.output.astype(np.float64), axis=1)
        spreads.append(float(given.max() / given.min()))
    everything = np.concatenate(lengths)
    return Measurement(
        {
            "shortest": float(everything.min()),
            "longest": float(everything.max()),
            "plane": float(max(planes)),
            "ratio": max(spreads),
        },
        Lines(
            (Series(Both("longest / shortest", "最长 / 最短"), list(range(len(spreads))), spreads, "norm"),),
            x_title=Both("LayerNorm, in the order of the run", "LayerNorm，按运行次序"),
            y_title=Both("lengths behind γ and β", "经过 γ、β 之后的长度比"),
            mark_y=1.0,
        ),
    )


SPHERE = Question(
    132,
    asked=Both("Does LayerNorm put all vectors on one sphere?", "LayerNorm 会把所有向量放到同一个球面上吗？"),
    claim=Both(
        "LayerNorm takes each vector to the plane across (1, …, 1) and to length √d: all lie on one sphere.",
        "LayerNorm 把每个向量投影到与 (1, …, 1) 垂直的超平面，再缩放到长度 √d：都落在同一个球面上。",
    ),
    parts=(
        ClaimPart(
            Both("Before γ and β all have length √d.", "在 γ、β 之前，长度都是 √d。"),
            (near("shortest", 1, within=0.02), near("longest", 1, within=0.02)),
        ),
        ClaimPart(
            Both("Before γ and β all are orthogonal to (1, …, 1).", "在 γ、β 之前，都与 (1, …, 1) 正交。"),
            (below("plane", 1e-6),),
        ),
        ClaimPart(
            Both(
                "What LayerNorm gives lies on a sphere too, γ and β included.",
                "算上 γ、β，LayerNorm 的输出也在球面上。",
            ),
            (below("ratio", 1.01),),
        ),
    ),
    measure=_sphere,
    numbers={
        "shortest": Label(Both("length / √d before γ and β, shortest", "γ、β 之前的长度 / √d，最短")),
        "longest": Label(Both("length / √d before γ and β, longest", "γ、β 之前的长度 / √d，最长")),
        "plane": Label(Both("mean of a vector's entries before γ and β, largest", "γ、β 之前向量各分量的均值，最大")),
        "ratio": Label(Both("longest / shortest vector behind γ and β", "γ、β 之后最长与最短向量的长度之比")),
    },
    setting=Both(
        "All LayerNorms of the model on all tokens of this text, computed from their inputs in float64.",
        "该模型所有 LayerNorm，该文本所有 token，由其输入用 float64 计算。",
    ),
    because=Both(
        "Of centring and scaling this is plain arithmetic, but for the ε under the root. γ stretches the sphere to an "
        "ellipsoid and β moves it. RMSNorm does not centre: a sphere, but no plane.",
        "由减均值、除以标准差直接可得，只差根号下的 ε。γ 把球面拉成椭球面，β 再把它平移。RMSNorm 不减均值：在球面上，"
        "但不在那个超平面里。",
    ),
    refuted=Both(
        "A vector behind LayerNorm, before γ and β, whose length is not √d.",
        "如果 γ、β 之前有向量的长度不是 √d，判断就会改变。",
    ),
    formula=r"\left\| \frac{x - \mu}{\sigma} \right\| = \sqrt{d}: \quad <shortest>, \ <longest>",
    papers=(BRODY_2023,),
    see=PageLink("layernorm", {"section": "What each step changes"}),
    of=LAYER_NORMED,
    published={
        "longest": PublishedNumber(
            "1",
            Both("exactly, but for ε: what the paper shows by algebra", "精确值（不计 ε），由代数推出"),
            from_memory=True,
        )
    },
)


# --- 138: sparse activations ---------------------------------------------------------------------------------------


def _sparse(subject: Subject) -> Measurement:
    blocks = blocks_of(subject)
    stream = subject.trace.streams[0]
    if not any(ffn.stream == stream for ffn in blocks.ffns):
        raise UnanswerableError(
            f"No FFN of {subject.loaded.card.id} was seen to be one.",
            f"没有认出 {subject.loaded.card.id} 的 FFN。",
        )
    table = feedforward.by_layer(blocks, subject.loaded.network, stream=stream)
    positive = table["positive"]
    picture = Lines(
        (Series(Both("units above 0", "大于 0 的单元"), table["layer"].tolist(), positive.tolist(), part="ffn"),),
        x_title=Both("layer", "层"),
        y_title=Both("share of the FFN's units, mean of tokens", "占 FFN 单元的比例，对 token 取平均"),
        mark_y=0.5,
    )
    return Measurement(
        {"positive": float(positive.mean()), "least": float(positive.min()), "silent": float(table["silent"].mean())},
        picture,
    )


SPARSE = Question(
    138,
    asked=Both("Are the activations of FFNs sparse?", "FFN 的激活是稀疏的吗？"),
    claim=Both(
        "In a trained Transformer only a few of the FFN's units are active for a token: neurons are lazy.",
        "训练好的 Transformer 中，对每个 token 只有少数 FFN 单元被激活：神经元是“懒”的。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Clearly fewer units are active than half, as in a random network: under 40 %.",
                "被激活的单元明显少于随机网络的一半：不到 40%。",
            ),
            (below("positive", 0.4),),
        ),
        ClaimPart(
            Both("Fewer than one unit in ten is active.", "被激活的单元不到十分之一。"), (below("positive", 0.1),)
        ),
        ClaimPart(
            Both(
                "In the sparsest layer it is fewer than one in twenty.",
                "最稀疏的一层中不到二十分之一。",
            ),
            (below("least", 0.05),),
        ),
    ),
    measure=_sparse,
    numbers={
        "positive": Label(Both("units above 0, mean of layers", "大于 0 的单元，各层平均"), "%"),
        "least": Label(Both("units above 0, sparsest layer", "大于 0 的单元，最稀疏的一层"), "%"),
        "silent": Label(
            Both("units above 0 for no token of this text", "对该文本所有 token 都不大于 0 的单元"),
            "%",
        ),
    },
    setting=Both(
        "The numbers that go into the activation function, on all tokens of this text; of a gated FFN those of the "
        "gate. With ReLU what is above 0 is what is not zero; GELU and SiLU leave small negative numbers of the "
        "others.",
        "激活函数的输入，该文本的所有 token；带门控的 FFN 取门控部分。用 ReLU 时，大于 0 就是非零；"
        "GELU 和 SiLU 会给其余单元留下小的负值。",
    ),
    because=Both(
        "A random network has about half of its units above 0. In training the share falls, without any term of the "
        "loss that asks for it, and it falls more in larger models. Small models, and those with GELU, are less "
        "sparse.",
        "随机网络约有一半单元大于 0。训练中这个比例下降，损失里并没有要求稀疏的项；模型越大，下降越多。"
        "小模型和用 GELU 的模型没有那么稀疏。",
    ),
    refuted=Both(
        "A large trained model with ReLU of whose units half are active.",
        "如果训练好的 ReLU 大模型有一半单元被激活，判断就会改变。",
    ),
    formula=r"\frac{\#\{(x W_{up} + b)_j > 0\}}{d_{ff}} = <positive>",
    papers=(LI_2023,),
    see=PageLink("block", {"section": "FFN"}),
    of=ANY,
    published={
        "positive": PublishedNumber("3.0 %", Both("of T5-Base's units not zero (ReLU)", "T5-Base 的非零单元（ReLU）")),
    },
)


# --- 139: the logit lens -------------------------------------------------------------------------------------------


def _lens(subject: Subject) -> Measurement:
    loaded, trace = subject.loaded, subject.trace
    table = lens.logit_lens(trace, loaded, top=1)
    first = table[table["rank"] == 1]
    wide = first.pivot_table(index="layer", columns="position", values="prediction", aggfunc="first")
    last = wide.iloc[-1]
    same = (wide == last).mean(axis=1)
    sure = first.groupby("layer")["probability"].mean()
    if len(same) < 3:
        raise UnanswerableError(
            f"{loaded.card.id} has too few layers to see a prediction form.",
            f"{loaded.card.id} 的层数太少，看不出预测如何形成。",
        )
    layers = [float(layer) for layer in same.index]
    picture = Lines(
        (
            Series(Both("same token as at the end", "与最终预测相同"), layers, same.tolist()),
            Series(Both("its probability there", "该层首选的概率"), layers, sure.tolist(), dashed=True),
        ),
        x_title=Both("layer after which the head is asked", "在该层之后读出"),
        y_title=Both("share of positions, and mean probability", "位置的比例，平均概率"),
    )
    return Measurement(
        {
            "first": float(same.iloc[0]),
            "middle": float(same.iloc[len(same) // 2]),
            "before": float(same.iloc[-2]),
            "falls": float((same.diff().dropna() < -0.1).sum()),
        },
        picture,
    )


LENS = Question(
    139,
    asked=Both("Does a prediction form layer by layer?", "预测是逐层形成的吗？"),
    claim=Both(
        "With the model's own head every layer can be read: the final guess is there long before the last layer, and "
        "forms step by step (the logit lens).",
        "用模型自己的输出层可以读出每一层：最终的预测在最后一层之前早已出现，并逐步形成（logit lens）。",
    ),
    parts=(
        ClaimPart(
            Both("Later layers are nearer to the final guess than the first.", "靠后的层比最初的层更接近最终预测。"),
            (above("before", "first"),),
        ),
        ClaimPart(
            Both(
                "The guess comes step by step: no layer falls back.",
                "预测逐步形成：没有哪一层明显倒退。",
            ),
            (equal("falls", 0),),
        ),
        ClaimPart(
            Both("Half-way most positions have the final guess.", "到一半深度时，多数位置已是最终预测。"),
            (above("middle", 0.5),),
        ),
    ),
    measure=_lens,
    numbers={
        "first": Label(
            Both("positions with the final guess, first layer read", "已是最终预测的位置，读出的第一层"),
            "%",
        ),
        "middle": Label(Both("positions with the final guess, half-way", "已是最终预测的位置，一半深度"), "%"),
        "before": Label(
            Both("positions with the final guess, one layer before the end", "已是最终预测的位置，倒数第二层"), "%"
        ),
        "falls": Label(
            Both(
                "layers in which positions with the final guess fall by more than 10 %",
                "已是最终预测的位置下降超过 10% 的层数",
            )
        ),
    },
    setting=Both(
        "All positions of this text: the state after each layer through the final norm and the head, likeliest token. "
        "Models without a head for tokens are stood in for by mini-gpt.",
        "该文本的所有位置：每层之后的状态经过最后的归一化和输出层，取最可能的 token。"
        "没有词表输出层的模型由 mini-gpt 代替。",
    ),
    because=Both(
        "Residual sums let each layer correct what is there. But the head is trained for the last state alone, so an "
        "early layer may know what the lens cannot read; the tuned lens learns a translation for each layer.",
        "残差连接让每一层都在已有结果上修正。但输出层只针对最后的状态训练，"
        "前面的层可能已经知道而 logit lens 读不出来；tuned lens 为每一层另学一个变换。",
    ),
    refuted=Both(
        "A model whose last layer but one is no nearer to its guess than the first.",
        "如果某个模型的倒数第二层并不比第一层更接近最终预测，判断就会改变。",
    ),
    formula=r"\arg\max \mathrm{head}(\mathrm{LN}(x_l)) = \arg\max z: \quad <first>, \; <middle>, \; <before>",
    papers=(NOSTALGEBRAIST_2020, BELROSE_2023),
    see=PageLink("block", {"section": "What each part adds"}),
    of=READS_LAYERS,
    published={
        "middle": PublishedNumber(
            "–",
            Both("GPT-2, shown in pictures of single texts, not counted", "GPT-2，用单段文本的图展示，没有统计"),
            from_memory=True,
        )
    },
)


# --- 140: RoPE's decay ---------------------------------------------------------------------------------------------

FAR = 64  # tokens


def _decay(subject: Subject) -> Measurement:
    loaded = subject.loaded
    turns = positional.rotations(loaded, positions=min(256, loaded.max_tokens))
    if not turns:
        raise UnanswerableError(
            f"The rotations of {loaded.card.id} cannot be asked alone.",
            f"无法单独取得 {loaded.card.id} 的旋转位置编码。",
        )
    turn = turns[0]
    decay = turn.decay()
    if len(decay) <= FAR:
        raise UnanswerableError(
            f"{loaded.card.id} reads too few positions to see how products fall with distance.",
            f"{loaded.card.id} 能读的位置太少，看不出点积随距离如何变化。",
        )
    apart = np.arange(len(decay))[:, None]
    # the paper's bound: the mean length of the partial sums of exp(i k w_j) over the pairs j
    partial = np.cumsum(np.exp(1j * apart * turn.frequencies), axis=1)
    bound = np.abs(partial).mean(axis=1)
    bound = bound / bound[0]
    picture = Lines(
        (
            Series(Both("the paper's bound", "论文的上界"), apart[:, 0].tolist(), bound.tolist(), dashed=True),
            Series(Both("q and k of ones", "q、k 全为 1 时"), apart[:, 0].tolist(), decay.tolist()),
        ),
        x_title=Both("distance in tokens", "相隔的 token 数"),
        y_title=Both("of the product at distance 0", "相对距离为 0 时的点积"),
    )
    return Measurement(
        {
            "bound": float(bound[FAR]),
            "product": float(decay[FAR]),
            "rises": float((np.diff(decay) > 0).mean()),
        },
        picture,
    )


DECAY = Question(
    140,
    reads_text=False,
    asked=Both("Does RoPE make far tokens count less?", "RoPE 有远程衰减吗？"),
    claim=Both(
        "With RoPE the product of a query and a key decays with their distance.",
        "RoPE 具有远程衰减性：q 与 k 的点积随相对距离增大而衰减。",
    ),
    parts=(
        ClaimPart(
            Both(
                "The bound on the product falls with the distance.",
                "点积的上界随距离下降。",
            ),
            (below("bound", 0.7),),
        ),
        ClaimPart(
            Both("The product of a like query and key is smaller far away.", "相同的 q 与 k，相隔远时点积更小。"),
            (below("product", 0.7),),
        ),
        ClaimPart(Both("The product falls with every token.", "每远一个 token，点积都变小。"), (below("rises", 0.01),)),
    ),
    measure=_decay,
    numbers={
        "bound": Label(
            Both(
                "bound on the product 64 tokens apart, relative to distance 0",
                "相隔 64 个 token 时点积的上界，与距离 0 时之比",
            ),
            "%",
        ),
        "product": Label(
            Both("product 64 tokens apart, relative to distance 0", "相隔 64 个 token 时的点积，与距离 0 时之比"),
            "%",
        ),
        "rises": Label(Both("distances at which the product rises", "点积反而变大的距离"), "%"),
    },
    setting=Both(
        "The model's own turns, for distances up to 255 tokens: the bound of the paper's section 3.4.3, and a query "
        "and a key of ones. No text is read: trained queries and keys can undo it.",
        "取该模型自己的旋转，相隔至多 255 个 token：论文 3.4.3 节的上界，以及分量全为 1 的 q、k。不读文本："
        "训练后的 q、k 可以抵消这种衰减。",
    ),
    because=Both(
        "The turns of many frequencies get out of step, so their mean falls; it swings as it does, for each is a "
        "cosine. The bound holds for any query and key and says nothing of those that a model learns: it can look far "
        "where the slow pairs carry its match.",
        "不同频率的旋转逐渐错开，平均值随之下降；但每一项都是余弦，所以边摆动边下降。上界对任何 q、k 都成立，"
        "却不说明模型学到什么：慢的那些维度承载匹配时，模型照样看得远。",
    ),
    refuted=Both(
        "Turns of a model whose bound does not fall, or whose product never rises again.",
        "如果某个模型的上界不下降，或者点积从不回升，判断就会改变。",
    ),
    formula=r"B(m) = \sum_{j} \Big| \sum_{k \leq j} e^{\mathrm{i} m \theta_k} \Big|, "
    r"\quad \frac{B(m)}{B(0)} = <bound> \;(m = 64)",
    papers=(SU_2021,),
    see=PageLink("positions", {"section": "The table"}),
    of=ROTATES,
    published={
        "bound": PublishedNumber(
            "–",
            Both(
                "a curve that falls and swings (section 3.4.3); no number is printed",
                "一条边摆动边下降的曲线（3.4.3 节），没有给出数值",
            ),
            from_memory=True,
        )
    },
)


THEME = Theme(
    "found_in_streams",
    Both("Found between layers", "层间的发现"),
    (COLLAPSE, MASSIVE, PLACES, CONE, KEPT, TOLD, SPHERE, OUTLIER_DIMENSION, SPARSE, LENS, DECAY),
)
