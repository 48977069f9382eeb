"""Findings about what flows between layers. Questions 126 to 132 and 138 to 141."""

from __future__ import annotations

import copy

import numpy as np
from torch import nn

import models
from inspector import normalization
from inspector.probe import record
from inspector.questions.record.both import Both
from inspector.questions.record.checks import above, at_least
from inspector.questions.record.kinds import Kind
from inspector.questions.record.papers import KOVALEVA_2021, PUCCETTI_2022
from inspector.questions.record.picture import Bars
from inspector.questions.record.question import Measured, Part, Published, Quantity, Question, See, Theme
from inspector.questions.record.subject import Subject
from inspector.questions.themes.together import normed, read_of
from models.registry import own_model
from models.transformer.runner import OwnRunner

OTHERS = 8  # dimensions that are switched off for comparison


def _own_norms(loaded: models.LoadedModel) -> bool:
    return isinstance(loaded.runner, OwnRunner) and loaded.shape != "encoder-decoder" and normed(loaded)


OWN_NORMS = Kind(
    _own_norms,
    Both(
        "is not run by Headlight's own encoder or decoder with norms, of which a copy is changed here",
        "不由 Headlight 自己的带归一化层的编码器或解码器运行，而这个问题要改动它的一个副本",
    ),
    "minilm-own",
)


def _outlier_dimension(subject: Subject) -> Measured:
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
        kept = [parameter.data[off].clone() for parameter in learning]
        for parameter in learning:
            parameter.data[off] = 0
        found = record(changed, text).output
        for parameter, value in zip(learning, kept, strict=True):
            parameter.data[off] = value
        rest = np.arange(width) != off
        before, after = (states[:, rest].astype(np.float64) for states in (trace.output, found))
        return float((np.linalg.norm(after - before, axis=1) / np.linalg.norm(before, axis=1)).mean())

    beside = [int(one) for one in np.random.default_rng(0).permutation(width) if one != dimension][:OTHERS]
    own, others = moved(dimension), [moved(one) for one in beside]
    at = learned[learned["dimension"] == dimension]
    same = table[table["dimension"] == dimension]
    return Measured(
        {
            "dimension": float(dimension),
            "times": float(largest["times"]),
            "place": float(same["largest"].mean()),
            "learned": float(at["outlier"].mean()),
            "moved": own,
            "others": float(np.median(others)),
            "share": len(learning) / sum(parameter.numel() for parameter in network.parameters()),
        },
        Bars(
            [str(one) for one in (dimension, *beside)],
            [100 * one for one in (own, *others)],
            Both(
                "change of the last states without this dimension's γ and β, %",
                "去掉该维的 γ、β 后最后状态的变化，%",
            ),
            parts=["norm"] * (1 + len(others)),
        ),
    )


OUTLIER_DIMENSION = Question(
    141,
    asked=Both("Does a model hang on a single dimension of its norms?", "模型是否离不开归一化层中的某一个维度？"),
    said=Both(
        "Transformers have outlier dimensions, at the same place through all layers, with large gamma and beta. "
        "Switch off these few numbers, and the model breaks.",
        "Transformer 中有离群维度：在各层都处于同一位置，γ、β 异常大。只要关掉这几个数，模型就会崩溃。",
    ),
    parts=(
        Part(
            Both(
                "One dimension is the largest of all before most norms.",
                "有一个维度在多数归一化层之前都是最大的。",
            ),
            (at_least("place", 0.5),),
        ),
        Part(
            Both(
                "In most norms gamma or beta stands out there too.",
                "在多数归一化层中，该维的 γ 或 β 也是离群值。",
            ),
            (at_least("learned", 0.5),),
        ),
        Part(
            Both(
                "Without its gamma and beta the other dimensions change five times as much as without another's.",
                "去掉它的 γ、β，其余维度的变化是去掉别的维度时的五倍以上。",
            ),
            (above("moved", "others", times=5),),
        ),
    ),
    measure=_outlier_dimension,
    numbers={
        "dimension": Quantity(Both("the dimension, by its index", "该维度的序号")),
        "times": Quantity(Both("its largest number, in medians of all", "其最大值与中位数之比")),
        "place": Quantity(Both("norms before which it is the largest", "以它为最大维度的归一化层占比"), "%"),
        "learned": Quantity(
            Both(
                "norms in which its gamma or beta stands out",
                "其 γ 或 β 为离群值的归一化层占比",
            ),
            "%",
        ),
        "moved": Quantity(Both("change of the states without it", "去掉它之后状态的变化"), "%"),
        "others": Quantity(Both("change without another dimension, median", "去掉别的维度之后的变化，中位数"), "%"),
        "share": Quantity(Both("its share of all weights", "它占全部参数的比例"), "%"),
    },
    setting=Both(
        "The dimension whose largest |x| before a norm is the most times the median there. Stands out: more than 3 "
        "standard deviations from the norm's mean. In a copy of the model gamma and beta of one dimension are set "
        "to 0 "
        "in all norms; the change is that of the last hidden states in the other dimensions, relative, mean over "
        "tokens. "
        "The others: 8 dimensions drawn with seed 0.",
        "取归一化层之前 |x| 最大值与中位数之比最大的维度。离群：偏离该层均值超过 3 "
        "个标准差。在模型的副本中，把某一维在所有归一化层的 γ、β 置 0；变化指最后隐藏状态在其余维度上的相对变化，"
        "对 token "
        "取平均。作为对照，另取 8 个维度（种子 0）。",
    ),
    because=Both(
        "All features look alike in the architecture, so one expects none to matter more than the rest. In "
        "training a few "
        "become very large, for some tokens larger than all others together, and what later layers read from them is "
        "lost with them. Puccetti et al. (2022) link them to how often a token was met in training, and to the "
        "attention "
        "on special tokens.",
        "从结构上看各个特征没有区别，人们便以为没有哪个特别重要。但训练中少数维度变得很大，"
        "在某些 token 上比其余维度的总和还大；去掉它们，后面各层从中读取的信息也就没有了。"
        "Puccetti 等（2022）发现这些维度与 token 在训练语料中的频率有关，也与对特殊 token 的注意力有关。",
    ),
    refuted=Both(
        "A trained model in which each dimension's gamma and beta can be switched off with as little effect as "
        "another's.",
        "如果在训练好的模型中，去掉任何一维的 γ、β 影响都差不多，结论就被推翻。",
    ),
    formula=r"\gamma_{<dimension>} = \beta_{<dimension>} = 0: \quad \frac{\|\Delta h\|}{\|h\|} = <moved> "
    r"\qquad (\gamma_j = \beta_j = 0: <others>)",
    papers=(KOVALEVA_2021, PUCCETTI_2022),
    see=See("layernorm", {"section": "Outlier dimensions"}),
    of=OWN_NORMS,
    published={
        "moved": Published(
            "nearly 30 %",
            Both(
                "of BERT's result on MNLI is lost without 48 of its 110 million parameters (Puccetti et al. 2022)",
                "BERT 去掉 1.1 亿参数中的 48 个后，在 MNLI 上的下降（Puccetti 等 2022）",
            ),
        ),
        "share": Published(
            "< 0.0001 %",
            Both(
                "of BERT's weights, whose removal breaks it (Kovaleva et al. 2021)",
                "BERT 的参数，去掉后模型崩溃（Kovaleva 等 2021）",
            ),
        ),
    },
)

THEME = Theme("found_in_streams", Both("Found between layers", "层间的发现"), (OUTLIER_DIMENSION,))
