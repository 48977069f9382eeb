"""The first questions: what attention is, what Q, K and V are, and what came before. Questions 1 to 15."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from inspector import distance, interventions
from inspector.interventions import leave_one_out
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import above, at_least, at_most, below, equal
from inspector.questions.record.kinds import ANY, ENCODER, ENCODER_DECODER
from inspector.questions.record.measured import RANDOM, SMALL
from inspector.questions.record.papers import (
    ABNAR_2020,
    BAHDANAU_2015,
    DAI_2019,
    JAIN_2019,
    PASCANU_2013,
    SHAW_2018,
    VASWANI_2017,
    WIEGREFFE_2019,
    XIAO_2023,
)
from inspector.questions.record.picture import Bars, Heatmap, Lines, Series
from inspector.questions.record.question import (
    ClaimPart,
    Label,
    LongExperiment,
    Measurement,
    PageLink,
    Question,
    StatedVerdict,
    StoredRun,
    Theme,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.inside import left_out
from inspector.questions.themes.trained import RIGHT, courses_drawn, ends, last_right, train_both
from inspector.scores import ranks
from inspector.trace import AttentionRecord, AttentionSite, recompute
from models.attention.functions import for_each_head
from models.recurrent import RecurrentConfig, RecurrentEncoderDecoder
from models.training.tiny.experiments import Experiment, Switches

Floats = NDArray[np.float64]
_FEWEST = 3  # tokens
_MOVED = 1e-4  # change of a weight, beyond rounding and beyond that of an untrained model's even weights


def _site(subject: Subject, stream: str | None = None) -> AttentionSite:
    """The first attention call of the text. Raises UnanswerableError for a text of fewer than three tokens."""
    site = next(site for site in subject.trace.sites if stream in (None, site.stream))
    if len(site.queries) < _FEWEST:
        raise UnanswerableError(
            f"The text has {len(site.queries)} tokens, and the question needs {_FEWEST}; write more words.",
            f"该文本有 {len(site.queries)} 个 token，而这个问题至少需要 {_FEWEST} 个；请多写几个词。",
        )
    return site


def _first(subject: Subject, stream: str | None = None) -> AttentionRecord:
    """The record of the first attention call. Raises UnanswerableError also where queries and keys were not seen."""
    site = _site(subject, stream)
    record = subject.trace.record_of(site.layer, site.stream, call=site.call)
    if not record.query.shape[-1]:
        raise UnanswerableError(
            f"The queries and keys of {subject.loaded.card.id} were not seen.",
            f"没有看到 {subject.loaded.card.id} 的查询和键。",
        )
    return record


def _weights(record: AttentionRecord) -> Floats:
    """The weights of a call, [H, Q, T]."""
    weights = np.zeros((record.site.heads, len(record.site.queries), len(record.site.keys)))
    for block in recompute.bands(record):
        weights[:, block.queries, block.keys] = block.weights
    return weights


def _softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return weights


def _by_formula(subject: Subject, record: AttentionRecord, *, scale: float | None = None) -> Floats:
    """softmax(Q K^T / sqrt(d_k)) of the queries and keys of a call, over the keys that no mask hides, [H, Q, T].

    scale: another factor than 1 / sqrt(d_k).
    """
    site = record.site
    query = record.query.double().cpu()
    key = for_each_head(record.key[None].double(), site.heads)[0].cpu()
    products = (query @ key.mT).numpy() * (query.shape[-1] ** -0.5 if scale is None else scale)
    seen = np.isfinite(subject.trace.scores(layer=site.layer, stream=site.stream, call=site.call))
    return _softmax(np.where(seen, products, -1e30))


def _formula(subject: Subject) -> Measurement:
    record = _first(subject)
    weights, scaled = _weights(record), _by_formula(subject, record)
    differences = []
    for site in subject.trace.sites:
        call = subject.trace.record_of(site.layer, site.stream, call=site.call)
        given = _weights(call)
        differences.append(
            [
                np.abs(given - _by_formula(subject, call)).max(),
                np.abs(given.sum(axis=-1) - 1).max(),
                np.abs(given - _by_formula(subject, call, scale=1)).max(),
            ]
        )
    formula, rows, unscaled = np.max(differences, axis=0).tolist()
    tokens = record.site.keys
    picture = Heatmap(
        weights[0].astype(np.float32),
        record.site.queries,
        tokens,
        Both("query", "查询"),
        Both("key", "键"),
        Both("weight", "权重"),
        title=Both("the model's weights, first layer, head 0", "模型的权重，第一层第 0 个头"),
        beside=scaled[0].astype(np.float32),
        beside_title=Both("by the formula", "按公式计算"),
    )
    return Measurement({"formula": formula, "rows": rows, "unscaled": unscaled}, picture)


FORMULA = Question(
    1,
    asked=Both("Is attention softmax(QKᵀ/√d_k)V?", "注意力就是 softmax(QKᵀ/√d_k)V 吗？"),
    claim=Both(
        "Scaled dot-product attention: softmax(QKᵀ/√d_k)V. Each row of weights sums to 1.",
        "缩放点积注意力：softmax(QKᵀ/√d_k)V，每一行权重之和为 1。",
    ),
    parts=(
        ClaimPart(
            Both("The formula gives the model's weights.", "按公式能算出模型的权重。"), (below("formula", 1e-4),)
        ),
        ClaimPart(Both("Each row sums to 1.", "每一行之和为 1。"), (below("rows", 1e-5),)),
        ClaimPart(Both("The scale cannot be left out.", "缩放这一步不能省略。"), (above("unscaled", 1e-3),)),
    ),
    measure=_formula,
    numbers={
        "formula": Label(Both("largest difference from the formula", "与公式的最大差")),
        "rows": Label(Both("largest |row sum − 1|", "|行和 − 1| 的最大值")),
        "unscaled": Label(Both("largest difference without the scale", "不缩放时的最大差")),
    },
    setting=Both(
        "All heads of all layers. Q and K are recorded; the formula is computed anew in float64.",
        "所有层的所有头。记录下 Q、K，再用 float64 按公式重新计算。",
    ),
    because=Both(
        "Many summaries list the steps as product, softmax, sum, and forget the scale. Some models add a bias for "
        "the distance, or use another scale; then the plain formula is not theirs.",
        "许多总结只写点积、softmax、加权求和三步，漏掉了缩放。有的模型会加上与距离有关的偏置，或用别的缩放，"
        "这时原始公式就不适用。",
    ),
    refuted=Both("Weights that the formula does not give.", "如果按公式算不出模型的权重，判断就会改变。"),
    formula=r"\max \left| A - \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right) \right| = <formula>",
    papers=(VASWANI_2017,),
    see=PageLink("scores", {"section": "This head"}),
    of=ANY,
)


def _roles(subject: Subject) -> Measurement:
    record = _first(subject)
    before = _weights(record)
    numbers = {}
    for name, changed in (
        ("query", replace(record, query=record.query.roll(1, dims=1))),
        ("key", replace(record, key=record.key.roll(1, dims=1))),
        ("value", replace(record, value=record.value.roll(1, dims=1))),
    ):
        numbers[name] = float(np.abs(_weights(changed) - before).max())
    key = for_each_head(record.key[None].double(), record.site.heads)[0]
    numbers["same"] = float(torch.cosine_similarity(record.query.double(), key, dim=-1).mean())
    picture = Bars(
        (Both("other queries", "换查询"), Both("other keys", "换键"), Both("other values", "换值")),
        [numbers["query"], numbers["key"], numbers["value"]],
        Both("largest change of a weight", "权重的最大变化"),
    )
    return Measurement(numbers, picture)


ROLES = Question(
    2,
    asked=Both("What are Q, K and V?", "Q、K、V 分别是什么？"),
    claim=Both(
        "The query asks, the key is matched, the value is handed over. The query is the input at the current step.",
        "查询用来提问，键用来匹配，值用来传递内容。查询就是当前时刻的输入。",
    ),
    parts=(
        ClaimPart(
            Both("Query and key decide the weights.", "权重由查询和键决定。"),
            (above("query", _MOVED), above("key", _MOVED)),
        ),
        ClaimPart(Both("The value has no say in the weights.", "值不影响权重。"), (at_most("value", 1e-6),)),
        ClaimPart(
            Both(
                "The query is the input itself, and so is the key: of one token both are the same.",
                "查询就是输入本身，键也是：同一个 token 的两者相同。",
            ),
            (above("same", 0.99),),
        ),
    ),
    measure=_roles,
    numbers={
        "query": Label(Both("largest change of a weight by other queries", "换查询后权重的最大变化")),
        "key": Label(Both("largest change of a weight by other keys", "换键后权重的最大变化")),
        "value": Label(Both("largest change of a weight by other values", "换值后权重的最大变化")),
        "same": Label(Both("cosine of a token's query and its key, mean", "同一 token 的查询与键的余弦，均值")),
    },
    setting=Both(
        "First layer, all heads. Other: each token is given that of the token before, and the weights are computed "
        "again.",
        "第一层的所有头。“换”指每个 token 改用前一个 token 的向量，再重新计算权重。",
    ),
    because=Both(
        "Query, key and value are three projections of the token's state by three matrices. In a picture of a search "
        "the query is what one types, so it is taken for the input.",
        "查询、键、值是同一状态经三个矩阵得到的三个投影。用检索打比方时，查询像是输入的内容，于是被当成输入本身。",
    ),
    refuted=Both(
        "Weights that change with the values, or a query that is its token's key.",
        "如果权重随值而变，或者查询与同一 token 的键相同，判断就会改变。",
    ),
    formula=r"q = xW_Q, \; k = xW_K, \; v = xW_V: \quad \overline{\cos(q_i, k_i)} = <same>",
    papers=(VASWANI_2017,),
    see=PageLink("scores", {"section": "Queries and keys"}),
    of=ANY,
)


def _itself(subject: Subject) -> Measurement:
    site = _site(subject)
    on_itself = subject.heads[subject.heads["stream"] != "cross"]["self"].dropna()
    scores, weights = (
        of(layer=site.layer, stream=site.stream, call=site.call)[:, -1]
        for of in (subject.trace.scores, subject.trace.attention)
    )
    entries = float(np.isfinite(scores).any(axis=0).sum())
    numbers = {
        "entries": entries,
        "extra": entries - (len(site.keys) - 1),
        "self": float(on_itself.mean()),
        "largest": float(on_itself.max()),
    }
    picture = Bars(site.keys, weights.mean(axis=0).tolist(), Both("weight of the last token", "最后一个 token 的权重"))
    return Measurement(numbers, picture)


ITSELF = Question(
    3,
    asked=Both("Does a token attend to all others, and not to itself?", "token 只关注其他 token，不关注自己吗？"),
    claim=Both(
        "Self-attention compares a token with all other tokens.",
        "自注意力计算一个 token 与其他所有 token 的相似度。",
    ),
    parts=(
        ClaimPart(
            Both("A row has entries for the other tokens alone.", "每行只有其他 token 的项。"),
            (at_most("extra", 0),),
        ),
        ClaimPart(Both("A token gives itself nothing.", "token 给自己的权重为零。"), (at_most("self", 1e-3),)),
    ),
    measure=_itself,
    numbers={
        "entries": Label(Both("keys that no mask hides, last row", "最后一行中没有被掩码遮住的键")),
        "extra": Label(
            Both(
                "keys that no mask hides, last row, less the other tokens",
                "最后一行中除其他 token 外没有被掩码遮住的键",
            )
        ),
        "self": Label(Both("weight on the token itself, mean of heads", "给自己的权重，各头均值"), "%"),
        "largest": Label(Both("weight on the token itself, largest of heads", "给自己的权重，各头最大值"), "%"),
    },
    setting=Both(
        "Entries: the last token's row in the first layer. Weight: all heads of self-attention.",
        "项数：第一层中最后一个 token 的一行。权重：自注意力的所有头。",
    ),
    because=Both(
        "People care about what other words say about a word, and put it this way. The matrix QKᵀ has a diagonal, "
        "and no mask hides it.",
        "人们关心的是其他词对某个词的影响，于是这样表述。但矩阵 QKᵀ 有对角线，也没有掩码遮住它。",
    ),
    refuted=Both("A model whose diagonal is masked.", "如果模型遮住了对角线，判断就会改变。"),
    formula=r"\overline{A_{ii}} = <self>",
    papers=(VASWANI_2017,),
    see=PageLink("", {"sort": "weight on itself"}),
    of=ANY,
)


def _related(subject: Subject) -> Measurement:
    trace = subject.trace
    _first(subject)
    stream = trace.sites[0].stream
    table = subject.once(f"ranks {stream}", lambda: ranks.measure(trace, stream=stream)).dropna(subset=["cosine"])
    if table.empty:
        raise UnanswerableError(
            "No query of this text sees three keys, so none can be ranked.",
            "该文本中没有能看到三个键的查询，无法排序。",
        )
    generator = np.random.default_rng(0)
    q, k = generator.standard_normal((64, 1, 32)), generator.standard_normal((64, 32, 32))
    k /= np.linalg.norm(k, axis=-1, keepdims=True)
    equal_keys = ranks.spearman((q * k).sum(axis=-1), -np.linalg.norm(q - k, axis=-1))
    numbers = {
        "unit": float(equal_keys.min()),
        "cosine": float(table["cosine"].median()),
        "distance": float(table["distance"].median()),
    }
    picture = Lines(
        (
            Series(
                Both("heads of this model", "该模型的各个头"),
                table["key_spread"].tolist(),
                table["distance"].tolist(),
                points=True,
            ),
        ),
        x_title=Both("spread of |k|", "|k| 的离散程度"),
        y_title=Both("rank correlation of q · k and −|q − k|", "q·k 与 −|q − k| 的秩相关"),
    )
    return Measurement(numbers, picture)


RELATED = Question(
    4,
    mixed="conditions",
    asked=Both("Is a larger dot product a smaller distance?", "点积越大，距离就越近吗？"),
    claim=Both(
        "The larger q · k, the more the two are related: the dot product is a distance to the query.",
        "q·k 越大，两者越相关：点积就是到查询的距离。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Where all keys have one length, dot product and distance rank alike.",
                "所有键长度相同时，点积与距离的排序一致。",
            ),
            (above("unit", 0.999),),
        ),
        ClaimPart(
            Both("In this model they rank alike too.", "在该模型中，两者的排序也一致。"), (above("distance", 0.99),)
        ),
        ClaimPart(
            Both("In this model it ranks as the cosine does.", "在该模型中，点积与余弦的排序一致。"),
            (above("cosine", 0.99),),
        ),
    ),
    measure=_related,
    numbers={
        "unit": Label(
            Both("rank correlation of q · k and −|q − k|, keys of one length", "q·k 与 −|q − k| 的秩相关，键等长"),
            of=RANDOM,
        ),
        "distance": Label(
            Both("rank correlation of q · k and −|q − k|, median of heads", "q·k 与 −|q − k| 的秩相关，各头中位数")
        ),
        "cosine": Label(
            Both("rank correlation of q · k and the cosine, median of heads", "q·k 与余弦的秩相关，各头中位数")
        ),
    },
    setting=Both(
        "All heads of self-attention, of the encoder where there is one; Spearman within each row. Keys of one "
        "length: 64 random rows of 32 keys, seed 0. Alike is 0.99: of 13 keys one pair of neighbours may change places "
        "(0.995), two pairs not (0.989).",
        "自注意力的所有头，有编码器时取编码器的；逐行计算 Spearman 秩相关。等长的键：64 行，每行 32 个随机键，种子 0。"
        "排序一致指 0.99 以上：13 个键中允许一对相邻的键交换位置（0.995），两对则不行（0.989）。",
    ),
    because=Both(
        "|q − k|² = |q|² + |k|² − 2 q · k: in a row only |k| comes between. A long key gets a large product without "
        "being near.",
        "|q − k|² = |q|² + |k|² − 2 q·k：同一行中差别只来自 |k|。长的键即使不近，点积也可以很大。",
    ),
    refuted=Both("Heads with keys of unequal length that rank alike.", "如果键长度不等，排序却仍一致，判断就会改变。"),
    formula=r"|q - k|^2 = |q|^2 + |k|^2 - 2\, q \cdot k: \quad \rho = <distance>",
    papers=(VASWANI_2017,),
    see=PageLink("scores", {"section": "Dot or cosine"}),
    of=ANY,
)


_RANKED = 0.5  # Spearman's rho, from which on two orders count as alike


def _telling(subject: Subject) -> Measurement:
    left = left_out(subject)
    rho = leave_one_out.correlations(left)["rho"].dropna()
    if rho.empty:
        raise UnanswerableError(
            "No head ranks the tokens of this text, for all get the same weight.",
            "各头给该文本每个 token 的权重都相同，无法排序。",
        )
    _, chance = leave_one_out.chance(len(left.positions), heads=len(rho))
    numbers = {
        "lowest": float(rho.min()),
        "median": float(rho.median()),
        "highest": float(rho.max()),
        "chance": chance,
    }
    picture = Bars(
        (
            Both("lowest head", "最低的头"),
            Both("median of heads", "各头中位数"),
            Both("highest head", "最高的头"),
            Both("best of as many unrelated heads", "同样多的无关头中最高的"),
        ),
        list(numbers.values()),
        Both("Spearman with leaving the token out", "与去掉该 token 的影响的 Spearman 秩相关"),
    )
    return Measurement(numbers, picture)


TELLING = Question(
    5,
    asked=Both("Is the weight a token's importance?", "注意力权重就是重要性吗？"),
    claim=Both(
        "The attention weight tells how important a token is for the task.",
        "注意力权重表示某个 token 对任务的重要程度。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Some head ranks tokens as leaving them out does, more than chance allows.",
                "有的头对 token 的排序与逐个去掉的结果一致，而且超过偶然所能达到的程度。",
            ),
            (above("highest", "chance"),),
        ),
        ClaimPart(Both("The median head does.", "处于中位数的头也如此。"), (above("median", _RANKED),)),
        ClaimPart(Both("Every head does.", "每个头都是如此。"), (above("lowest", _RANKED),)),
    ),
    measure=_telling,
    numbers={
        "lowest": Label(
            Both("rank correlation with leaving tokens out, lowest head", "与去掉 token 的影响的秩相关，最低的头")
        ),
        "median": Label(
            Both("rank correlation with leaving tokens out, median of heads", "与去掉 token 的影响的秩相关，各头中位数")
        ),
        "highest": Label(
            Both("rank correlation with leaving tokens out, highest head", "与去掉 token 的影响的秩相关，最高的头")
        ),
        "chance": Label(
            Both(
                "rank correlation that the best of as many unrelated heads reaches in half of all texts",
                "同样多的无关头中最高的秩相关（一半的文本能达到）",
            )
        ),
    },
    setting=Both(
        "Each of the first 64 tokens is left out in turn, and the change of the output is ranked beside the attention "
        "that each head gives the token. 0.5 counts as alike. Chance: 20,000 random orders, seed 0, heads independent. "
        "In a decoder both fall with the position, which alone makes ranks alike.",
        "逐个去掉前 64 个 token，把输出的变化与各头给该 token 的注意力按秩比较；0.5 以上算一致。偶然水平：20000 "
        "个随机次序，种子 0，假设各头独立。在解码器中两者都随位置下降，单凭这一点秩就会相近。",
    ),
    because=Both(
        "A weight says how much of a value is mixed in, not what the value holds or what later layers do with it. "
        "Much weight goes to tokens that only serve as a sink for it.",
        "权重只表示混入多少值，并不说明值里有什么，也不说明后面的层怎样使用它。"
        "许多权重落在只充当“注意力汇”（attention sink）的 token 上。",
    ),
    refuted=Both(
        "A model all of whose heads rank tokens as leaving them out does.",
        "如果所有头的排序都与逐个去掉的结果一致，判断就会改变。",
    ),
    formula=r"\rho(A, \Delta_{-j}): \quad <lowest> \ldots <median> \ldots <highest>, \quad \rho_0 = <chance>",
    papers=(ABNAR_2020, JAIN_2019, WIEGREFFE_2019, XIAO_2023),
    see=PageLink("what_if", {"part": "Leave each out"}),
    of=ANY,
)


def _two_sequences(subject: Subject) -> Measurement:
    trace = subject.trace
    cross, encoder = _first(subject, "cross"), _first(subject, "encoder")
    numbers = {
        "rows": float(len(cross.site.queries)),
        "target": float(len((trace.target or trace.encoding).tokens)),
        "columns": float(len(cross.site.keys)),
        "source": float(len(trace.encoding.tokens)),
        "self_rows": float(len(encoder.site.queries)),
        "self_columns": float(len(encoder.site.keys)),
        "function": float(np.abs(_weights(cross) - _by_formula(subject, cross, scale=encoder.function.scale)).max()),
    }
    picture = Heatmap(
        _weights(cross).mean(axis=0).astype(np.float32),
        cross.site.queries,
        cross.site.keys,
        Both("query (target)", "查询（目标）"),
        Both("key (source)", "键（源）"),
        Both("weight, mean of heads", "权重，各头均值"),
    )
    return Measurement(numbers, picture)


TWO_SEQUENCES = Question(
    6,
    asked=Both(
        "How does self-attention differ from classical, encoder-decoder attention?",
        "自注意力与传统（编码器-解码器）注意力有何不同？",
    ),
    claim=Both(
        "In classical attention the query comes from the target, keys and values from the source; in self-attention "
        "all come from one sequence.",
        "传统注意力的查询来自目标序列，键和值来自源序列；自注意力的三者来自同一序列。",
    ),
    parts=(
        ClaimPart(
            Both("Cross-attention: rows are the target's, columns the source's.", "交叉注意力：行是目标，列是源。"),
            (equal("rows", "target"), equal("columns", "source")),
        ),
        ClaimPart(
            Both("Self-attention: rows and columns are the same tokens.", "自注意力：行与列是同一批 token。"),
            (equal("self_rows", "self_columns"), equal("self_rows", "source")),
        ),
        ClaimPart(Both("The function is the same.", "所用的函数相同。"), (below("function", 1e-4),)),
    ),
    measure=_two_sequences,
    numbers={
        "rows": Label(Both("rows of the cross map", "交叉注意力图的行数")),
        "target": Label(Both("target tokens read", "解码器读入的目标 token")),
        "columns": Label(Both("columns of the cross map", "交叉注意力图的列数")),
        "source": Label(Both("source tokens", "源 token")),
        "self_rows": Label(Both("rows of the encoder's map", "编码器自注意力图的行数")),
        "self_columns": Label(Both("columns of the encoder's map", "编码器自注意力图的列数")),
        "function": Label(
            Both(
                "cross map's difference from softmax(s QKᵀ), s that of self-attention",
                "交叉注意力与 softmax(s·QKᵀ) 的最大差，s 取自自注意力的缩放",
            )
        ),
    },
    setting=Both(
        "First cross-attention and first self-attention of an encoder-decoder, which has both.",
        "编码器-解码器的第一个交叉注意力与第一个自注意力；只有这类模型两者都有。",
    ),
    because=Both(
        "They are told as two inventions, since one came with the RNN and the other with the Transformer.",
        "前者随 RNN 出现，后者随 Transformer 普及，因此常被说成两种不同的发明。",
    ),
    refuted=Both("A cross map of another shape.", "如果交叉注意力图的形状不同，判断就会改变。"),
    formula=r"A_{\times} \in \mathbb{R}^{<rows> \times <columns>}, \quad "
    r"A \in \mathbb{R}^{<self_rows> \times <self_columns>}",
    papers=(BAHDANAU_2015, VASWANI_2017),
    see=PageLink(""),
    of=ENCODER_DECODER,
)


def _recurrent(*, attention: bool) -> RecurrentEncoderDecoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return RecurrentEncoderDecoder(RecurrentConfig(vocabulary=12, width=32, cell="gru", attention=attention))


def _reads_states(*, attention: bool) -> list[float]:
    """The length of the gradient of the first written token's scores by each state of the encoder, [T].

    The path through the last state, from which the decoder starts, does not count.
    """
    network = _recurrent(attention=attention)
    read = network.encode(torch.arange(10)[None])
    states = read.states.detach().requires_grad_()
    keys = read.keys if network.attention is None else network.attention.keys(states)
    given = read._replace(states=states, keys=keys, last=read.last.detach().requires_grad_())
    scores, _, _ = network.step(torch.tensor([10]), network.start(given), given)
    (gradient,) = torch.autograd.grad(scores.square().sum(), states, allow_unused=True)
    return [0.0] * 10 if gradient is None else [float(length) for length in gradient[0].norm(dim=-1)]


RNN_OR_ATTENTION = Experiment(
    task="reverse",
    learning_rate=0.005,
    seeds=3,
    a=Switches(network="rnn with attention"),
    b=Switches(network="rnn"),
)
_IN_THE_LAB = {
    "lab_rate": "0.005",
    "lab_a_network": "RNN with attention",
    "lab_b_network": "RNN",
}


def _bottleneck(subject: Subject) -> Measurement:
    without, given = (_reads_states(attention=attends) for attends in (False, True))
    heads = [head for head in interventions.every_head(subject.trace) if head.stream == "cross"]
    change = interventions.drop(subject.loaded, subject.trace, heads=heads)
    before, after = (torch.tensor(run.output.astype(np.float64)) for run in (change.before, change.after))
    moved = float((1 - torch.cosine_similarity(before, after, dim=-1)).mean())
    picture = Lines(
        (
            Series(Both("without attention", "没有注意力"), list(range(1, 11)), without, dashed=True),
            Series(Both("with attention", "有注意力"), list(range(1, 11)), given),
        ),
        x_title=Both("state of the encoder", "编码器的状态"),
        y_title=Both("gradient of the decoder's scores", "解码器输出分数对它的梯度"),
    )
    return Measurement({"without": max(without), "least": min(given), "moved": moved}, picture)


def _reversed_by_rnn(subject: Subject, watch: Watch) -> Measurement:
    courses = train_both(RNN_OR_ATTENTION, watch)
    a, b = (float(np.mean(side)) for side in ends(courses, last_right))
    names = Both("with attention", "有注意力"), Both("without attention", "无注意力")
    picture = courses_drawn(courses, names, of=lambda report: report.exact_accuracy, y_title=RIGHT)
    return Measurement({"a": a, "b": b}, picture)


BOTTLENECK = Question(
    7,
    asked=Both("Does attention remove the bottleneck of Seq2Seq?", "注意力解决了 Seq2Seq 的瓶颈吗？"),
    claim=Both(
        "Without attention the decoder sees only the encoder's last state; with attention it sees all.",
        "没有注意力时，解码器只能看到编码器的最后一个状态；有了注意力，就能看到所有状态。",
    ),
    parts=(
        ClaimPart(
            Both("Without attention it reads only the last state.", "没有注意力时只读最后一个状态。"),
            (at_most("without", 0),),
        ),
        ClaimPart(Both("With attention it reads every state.", "有注意力时每个状态都读。"), (above("least", 1e-6),)),
        ClaimPart(
            Both("A trained translator needs its cross-attention.", "训练好的翻译模型离不开交叉注意力。"),
            (above("moved", 0.05),),
        ),
    ),
    measure=_bottleneck,
    numbers={
        "without": Label(
            Both(
                "largest gradient by a state other than the last, no attention",
                "除最后一个外各状态梯度的最大值，没有注意力",
            ),
            of=SMALL,
        ),
        "least": Label(Both("smallest gradient by a state, with attention", "各状态梯度的最小值，有注意力"), of=SMALL),
        "moved": Label(
            Both("output moved without cross-attention, 1 − cosine", "去掉交叉注意力后输出的变化，1 − 余弦")
        ),
    },
    setting=Both(
        "A GRU encoder-decoder of width 32, 10 tokens, untrained, seed 0: gradient of the first scores. Translator: "
        "all heads of cross-attention are left out of the reader's text.",
        "宽度 32 的 GRU 编码器-解码器，10 个 token，未训练，种子 0：首个输出分数的梯度。翻译模型："
        "在同一文本上去掉交叉注意力的所有头。",
    ),
    because=Both(
        "The last state has one size, however long the text is. Later RNNs give it to every step of the decoder, "
        "which eases the way but not the bottleneck.",
        "不论文本多长，最后一个状态的大小都不变。后来的 RNN 把它送到解码器的每一步，路径变短了，但瓶颈还在。",
    ),
    refuted=Both(
        "A decoder without attention that reads another state.", "如果没有注意力的解码器还读了其他状态，判断就会改变。"
    ),
    whole=LongExperiment(
        run=_reversed_by_rnn,
        about=Both(
            "The Lab's GRU learns to turn 8 digits around in 300 steps, with attention (A) and without (B), three "
            "seeds. About 15 s on one core.",
            "用 Lab 的 GRU 学习把 8 个数字倒过来，训练 300 步，有注意力（A）与没有注意力（B），各三个种子。单核约 15 "
            "秒。",
        ),
        parts=(
            ClaimPart(Both("With attention it learns the task.", "有注意力时能学会。"), (above("a", 0.9),)),
            ClaimPart(
                Both("Without attention it does not by then.", "没有注意力时还没学会。"), (below("b", "a", times=0.5),)
            ),
        ),
        numbers={
            "a": Label(Both("texts without a mistake at the end, with attention", "训练结束时的全对率，有注意力"), "%"),
            "b": Label(
                Both("texts without a mistake at the end, without attention", "训练结束时的全对率，没有注意力"), "%"
            ),
        },
        stored=StoredRun(
            {"a": 0.9948, "b": 0.2979},
            command="python -m inspector.questions --only 7 --whole",
            seeds="0, 1, 2",
            date="2026-11-23",
        ),
    ),
    formula=r"\left\| \frac{\partial o_1}{\partial h_j} \right\|: \quad <without> \;\to\; \ge <least>",
    papers=(BAHDANAU_2015,),
    see=PageLink("lab", _IN_THE_LAB),
    of=ENCODER_DECODER,
)


@torch.inference_mode()
def _rnn_query(subject: Subject) -> Measurement:
    network = _recurrent(attention=True)
    read = network.encode(torch.arange(10)[None])
    start = network.start(read)
    _, state, first = network.step(torch.tensor([10]), start, read)
    _, _, other = network.step(torch.tensor([3]), start, read)
    _, _, second = network.step(torch.tensor([3]), state, read)
    assert first is not None
    assert other is not None
    assert second is not None
    return Measurement(
        {"token": float((first - other).abs().max()), "state": float((first - second).abs().max())},
        Lines(
            (
                Series(Both("step 1", "第 1 步"), list(range(1, 11)), first[0].tolist()),
                Series(Both("step 2", "第 2 步"), list(range(1, 11)), second[0].tolist(), dashed=True),
            ),
            x_title=Both("state of the encoder", "编码器的状态"),
            y_title=Both("weight", "权重"),
        ),
    )


RNN_QUERY = Question(
    8,
    reads_text=False,
    asked=Both("Which is the query in the attention of an RNN?", "RNN 的注意力中谁是 Q？"),
    claim=Both("In the attention of an RNN the last output is Q.", "RNN 的注意力中，最后一个输出是 Q。"),
    parts=(
        ClaimPart(
            Both(
                "The query is the decoder's state before the step, not the token read in it.",
                "查询是解码器上一步的状态，而不是这一步读入的 token。",
            ),
            (at_most("token", 0),),
        ),
        ClaimPart(Both("One query serves for all steps.", "所有步共用一个查询。"), (at_most("state", 1e-6),)),
    ),
    measure=_rnn_query,
    numbers={
        "token": Label(Both("change of a weight by another token read", "换读入的 token 后权重的最大变化")),
        "state": Label(Both("change of a weight from step 1 to step 2", "第 1 步到第 2 步权重的最大变化")),
    },
    setting=Both(
        "Bahdanau's attention in a GRU encoder-decoder of width 32, 10 tokens, untrained, seed 0.",
        "宽度 32 的 GRU 编码器-解码器，Bahdanau 注意力，10 个 token，未训练，种子 0。",
    ),
    because=Both(
        "Classifiers with attention over an RNN do take the last state as the one query. In translation there is a "
        "new query for each word that is written.",
        "在 RNN 上加注意力做分类时，确实用最后一个状态作唯一的查询；翻译则每写一个词就有一个新的查询。",
    ),
    refuted=Both("Weights that stay from step to step.", "如果各步的权重不变，判断就会改变。"),
    formula=r"e_{ij} = v^\top \tanh(W s_{i-1} + U h_j): \quad \max |\alpha_{2} - \alpha_{1}| = <state>",
    papers=(BAHDANAU_2015,),
    see=PageLink("lab", _IN_THE_LAB),
)


def _connected(subject: Subject) -> Measurement:
    _site(subject)
    stream = subject.trace.sites[0].stream
    fixed = subject.once(
        "fixed mixing", lambda: interventions.against_fixed(subject.loaded, subject.trace, stream=stream)
    )
    n = fixed.tokens
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layer = torch.nn.Linear(n, n, bias=False)
    jacobian = torch.autograd.functional.jacobian
    jacobians = [jacobian(layer, x) for x in (torch.zeros(n), torch.ones(n))]  # type: ignore[no-untyped-call]
    connected = float((jacobians[0] - jacobians[1]).abs().max())
    by_head = fixed.table["largest"]
    return Measurement(
        {
            "attention": float(by_head.max()),
            "connected": connected,
            "parameters": float(fixed.parameters),
            "longer": float((n + 1) ** 2 - n**2),
        },
        Bars(
            (
                Both("attention, median of heads", "注意力，各头中位数"),
                Both("attention, largest", "注意力，最大值"),
                Both("fully connected", "全连接"),
            ),
            [float(by_head.median()), float(by_head.max()), connected],
            Both("change of a mixing weight by another text", "换文本后混合权重的变化"),
        ),
    )


CONNECTED = Question(
    9,
    asked=Both("How does attention differ from a fully connected layer?", "注意力与全连接层有什么区别？"),
    claim=Both(
        "A fully connected layer mixes with fixed weights, attention with weights that follow from the input; else "
        "they are the same.",
        "全连接层的权重固定，注意力的权重由输入决定；除此之外两者相同。",
    ),
    parts=(
        ClaimPart(
            Both("Attention's weights follow the text.", "注意力的权重随文本变化。"), (above("attention", _MOVED),)
        ),
        ClaimPart(Both("Those of a fully connected layer do not.", "全连接层的权重不变。"), (at_most("connected", 0),)),
        ClaimPart(
            Both(
                "A fully connected layer over tokens fits a text of any length.",
                "作用于 token 的全连接层也适用于任意长度。",
            ),
            (at_most("longer", 0),),
        ),
    ),
    measure=_connected,
    numbers={
        "attention": Label(Both("largest change of a weight, attention", "权重的最大变化，注意力")),
        "connected": Label(Both("largest change of a weight, fully connected", "权重的最大变化，全连接"), of=RANDOM),
        "parameters": Label(Both("parameters of a layer over these n tokens, n²", "作用于这 n 个 token 的参数，n²")),
        "longer": Label(Both("parameters more for a token more", "多一个 token 时增加的参数")),
    },
    setting=Both(
        "The text's own tokens are read backwards, and every head's map is compared cell by cell. The fully "
        "connected layer has random weights, seed 0; its Jacobian is taken at two inputs.",
        "把同一文本的 token 倒过来读，逐格比较各头的注意力图。全连接层权重随机，种子 0，在两个输入处求雅可比矩阵。",
    ),
    because=Both(
        "For one fixed input attention is a linear map of the values, and looks like a layer of its own for that "
        "input.",
        "输入固定时，注意力对值来说只是一个线性变换，看起来就像专为这个输入准备的全连接层。",
    ),
    refuted=Both("Maps that stay when the text changes.", "如果换了文本注意力图不变，判断就会改变。"),
    formula=r"\max |A(x') - A(x)| = <attention>, \quad \max |W - W| = <connected>, \quad n^2 = <parameters>",
    papers=(VASWANI_2017,),
    see=PageLink("scores", {"section": "Dot or cosine"}),
    of=ANY,
)


def _curves(subject: Subject) -> dict[str, Floats]:
    """||ds_T / dx_t|| by network, t from 1 to 100."""

    def make() -> dict[str, Floats]:
        table = distance.curves(distance.Setting(steps=100, width=32))
        return {str(name): rows.sort_values("step")["norm"].to_numpy() for name, rows in table.groupby("network")}

    return subject.once("gradients over distance", make)


_NETWORKS = {
    "tanh-RNN": Both("tanh-RNN", "tanh-RNN"),
    "GRU": Both("GRU", "GRU"),
    "LSTM": Both("LSTM", "LSTM"),
    "open LSTM": Both("LSTM, forget bias 2", "LSTM，遗忘门偏置 2"),
    "attention": Both("attention", "注意力"),
}


def _lines(curves: dict[str, Floats]) -> Lines:
    return Lines(
        tuple(
            Series(name, list(range(99, -1, -1)), curves[key].tolist(), dashed=key != "attention")
            for key, name in _NETWORKS.items()
        ),
        x_title=Both("distance T − t", "距离 T − t"),
        y_title=Both("‖∂s_T/∂x_t‖", "‖∂s_T/∂x_t‖"),
        log_y=True,
    )


def _long_range(subject: Subject) -> Measurement:
    curves = _curves(subject)
    remaining = {name: float(norms[0] / norms[-11]) for name, norms in curves.items()}
    return Measurement(
        {"attention": remaining["attention"], "rnn": remaining["tanh-RNN"], "lstm": remaining["LSTM"]}, _lines(curves)
    )


LONG_RANGE = Question(
    10,
    reads_text=False,
    asked=Both("Does attention reach far in one layer?", "注意力一层就能建立长距离依赖吗？"),
    claim=Both(
        "Attention joins any two positions in one step, O(1); an RNN needs as many steps as lie between.",
        "注意力一步就能连接任意两个位置，路径为 O(1)；RNN 相隔多少步就要传递多少步。",
    ),
    parts=(
        ClaimPart(
            Both(
                "In attention the first token counts about as much as a near one.",
                "注意力中，第一个 token 与近处 token 的影响相当。",
            ),
            (at_least("attention", 0.5),),
        ),
        ClaimPart(
            Both("In an RNN next to nothing of it is left.", "RNN 中，它几乎没有影响了。"),
            (below("rnn", 1e-3), below("lstm", 1e-3)),
        ),
    ),
    measure=_long_range,
    numbers={
        "attention": Label(
            Both("gradient at distance 99 over that at 10, attention", "距离 99 与 10 的梯度之比，注意力")
        ),
        "rnn": Label(Both("gradient at distance 99 over that at 10, tanh-RNN", "距离 99 与 10 的梯度之比，tanh-RNN")),
        "lstm": Label(Both("gradient at distance 99 over that at 10, LSTM", "距离 99 与 10 的梯度之比，LSTM")),
    },
    setting=Both(
        "Untrained networks of width 32 on 100 random inputs, median of the seeds; no loaded model takes part.",
        "宽度 32 的未训练网络，100 个随机输入，各种子的中位数；不涉及加载的模型。",
    ),
    because=Both(
        "Every pair has its own cell in the map, so that distance costs nothing. Whether a trained head uses it is "
        "another question.",
        "每一对位置在注意力图中都有自己的格子，所以距离没有代价。训练好的头是否用到它，是另一个问题。",
    ),
    refuted=Both("A gradient of attention that fades with distance.", "如果注意力的梯度随距离消失，判断就会改变。"),
    formula=r"\frac{\|\partial s_{100} / \partial x_1\|}{\|\partial s_{100} / "
    r"\partial x_{90}\|} = <attention>, \quad <rnn> \;(\mathrm{RNN})",
    papers=(VASWANI_2017,),
    see=PageLink("time", {"section": "Gradient by distance"}),
)


def _vanishing(subject: Subject) -> Measurement:
    curves = _curves(subject)
    grown = distance.curves(distance.Setting(steps=10, width=32, scale=3.0))
    grown = grown[grown["network"] == "tanh-RNN"].sort_values("step")["norm"].to_numpy()
    parts = distance.parts(distance.Setting(steps=60, width=32))
    parts = parts[parts["network"] == "tanh-RNN"]
    remaining = {name: float(norms[0] / norms[-1]) for name, norms in curves.items()}
    return Measurement(
        {
            "rnn": remaining["tanh-RNN"],
            "gru": remaining["GRU"],
            "lstm": remaining["LSTM"],
            "open": remaining["open LSTM"],
            "scaled": float(grown[0] / curves["tanh-RNN"][-10]),
            "whole": float(parts["total"].iloc[0]),
        },
        _lines(curves),
    )


VANISHING = Question(
    11,
    reads_text=False,
    asked=Both("Do gradients vanish in RNNs, and do gates help?", "RNN 的梯度会消失吗？门控能解决吗？"),
    claim=Both(
        "Gradients of RNNs vanish, so that the weights of early steps are not updated. LSTM and GRU solve it.",
        "RNN 的梯度会消失，早期时刻的权重得不到更新；LSTM 和 GRU 解决了这个问题。",
    ),
    parts=(
        ClaimPart(
            Both("Over 99 steps a tanh-RNN's gradient vanishes.", "经过 99 步，tanh-RNN 的梯度消失。"),
            (below("rnn", 1e-6),),
        ),
        ClaimPart(
            Both("It vanishes whatever the recurrent weights are.", "不论循环权重多大都会消失。"),
            (below("scaled", 10),),
        ),
        ClaimPart(
            Both("A GRU and an LSTM as they begin keep it.", "初始状态的 GRU 和 LSTM 能保留梯度。"),
            (above("gru", 1e-3), above("lstm", 1e-3)),
        ),
        ClaimPart(
            Both("An open forget gate keeps much more of it.", "遗忘门打开时能多保留很多。"),
            (above("open", "lstm", times=1000),),
            role="mechanism",
        ),
        ClaimPart(Both("The weights are not updated.", "权重得不到更新。"), (below("whole", 1e-6),)),
    ),
    measure=_vanishing,
    numbers={
        "rnn": Label(
            Both("gradient at the first step over that at the last, tanh-RNN", "首步与末步的梯度之比，tanh-RNN")
        ),
        "gru": Label(Both("gradient at the first step over that at the last, GRU", "首步与末步的梯度之比，GRU")),
        "lstm": Label(Both("gradient at the first step over that at the last, LSTM", "首步与末步的梯度之比，LSTM")),
        "open": Label(
            Both(
                "gradient at the first step over that at the last, LSTM with forget bias 2",
                "首步与末步的梯度之比，遗忘门偏置为 2 的 LSTM",
            )
        ),
        "scaled": Label(
            Both(
                "tanh-RNN over 9 steps: gradient with W_hh times 3 over that without",
                "tanh-RNN 经 9 步：W_hh 乘 3 与不乘的梯度之比",
            )
        ),
        "whole": Label(Both("gradient of the shared weights, all 60 steps", "共享权重的梯度，60 步合计")),
    },
    setting=Both(
        "Untrained networks of width 32 on 100 random inputs, median of the seeds; the shared weights over 60 steps.",
        "宽度 32 的未训练网络，100 个随机输入，各种子的中位数；共享权重用 60 步。",
    ),
    because=Both(
        "All steps use the same weights, so there are no weights of an early step; what vanishes is the early steps' "
        "part in their gradient. Gates help as far as they are open, which training has to learn.",
        "各时刻共用同一组权重，并没有“早期时刻的权重”；消失的是早期时刻在总梯度中的贡献。门控只有打开时才有用，"
        "而这要靠训练学到。",
    ),
    refuted=Both("A contracting RNN whose gradient stays.", "如果收缩的 RNN 仍保留梯度，判断就会改变。"),
    formula=r"\frac{\|\partial s_T/\partial x_1\|}{\|\partial s_T/\partial x_T\|}: \; "
    r"<rnn> \;(\tanh), \; <gru> \;(\mathrm{GRU}), \; <lstm> \;(\mathrm{LSTM})",
    papers=(PASCANU_2013,),
    see=PageLink("time", {"section": "RNN, LSTM, GRU"}),
)


def _order(subject: Subject) -> Measurement:
    reordered = interventions.reorder(subject.loaded, subject.trace, "reverse")
    if reordered.without is None:
        raise UnanswerableError(
            f"The positions of {subject.loaded.card.id} cannot be taken away: {reordered.kept}.",
            f"无法去掉 {subject.loaded.card.id} 的位置编码。",
        )
    numbers = {"whole": float(np.nanmedian(reordered.changed)), "without": float(np.nanmedian(reordered.without))}
    picture = Bars(
        (Both("with positions", "有位置编码"), Both("without positions", "无位置编码")),
        list(numbers.values()),
        Both("change of a token's state by another order", "换顺序后 token 状态的变化"),
    )
    return Measurement(numbers, picture)


ORDER = Question(
    12,
    mixed="conditions",
    asked=Both("Does the Transformer ignore positions?", "Transformer 不考虑位置吗？"),
    claim=Both(
        "The main attention methods are scaled dot product, multi-head, relative positions and Transformer-XL: the "
        "first two do not consider positions.",
        "主要的注意力方法有缩放点积、多头、相对位置编码和 Transformer-XL；前两者不考虑位置。",
    ),
    parts=(
        ClaimPart(Both("Attention alone is blind to order.", "单独的注意力不考虑顺序。"), (below("without", 1e-3),)),
        ClaimPart(Both("So is the whole encoder.", "整个编码器也不考虑顺序。"), (below("whole", 1e-3),)),
    ),
    measure=_order,
    numbers={
        "without": Label(Both("change of a state by the order, without positions", "换顺序后状态的变化，无位置编码")),
        "whole": Label(Both("change of a state by the order, with positions", "换顺序后状态的变化，有位置编码")),
    },
    setting=Both(
        "An encoder reads the text's words backwards; each token's last state is held to its own before, median of "
        "the tokens. A decoder's causal mask is an order in itself.",
        "编码器倒着读文本，把每个 token 在最后一层的状态与原来的比较，对 token 取中位数。"
        "解码器的因果掩码本身就含有顺序。",
    ),
    because=Both(
        "Relative positions and Transformer-XL are ways to tell positions and to carry a memory, not other ways to "
        "score. The first Transformer adds positions to the embeddings.",
        "相对位置编码和 Transformer-XL 是表示位置、传递记忆的方法，并不是另一种打分方式。最初的 Transformer "
        "就把位置编码加在嵌入上。",
    ),
    refuted=Both("A whole encoder whose states follow no order.", "如果整个编码器的状态与顺序无关，判断就会改变。"),
    formula=r"\frac{|f(Px) - Pf(x)|}{|f(x)|}: \quad <whole>, \quad <without> \;(p = 0)",
    papers=(VASWANI_2017, SHAW_2018, DAI_2019),
    see=PageLink("positions", {"section": "Does it matter"}),
    of=ENCODER,
)


def _other_functions(subject: Subject) -> Measurement:
    record = _first(subject)
    size = record.query.shape[-1]
    query = record.query[:1].double().cpu().numpy()
    key = for_each_head(record.key[None].double(), record.site.heads)[0, :1].cpu().numpy()
    generator = np.random.default_rng(0)
    query_matrix, key_matrix, v = (
        generator.standard_normal(shape) / np.sqrt(size) for shape in ((size, size), (size, size), (size,))
    )
    dot = _softmax(query @ key.swapaxes(-1, -2) / np.sqrt(size))
    lengths = np.linalg.norm(query, axis=-1)[..., None] * np.linalg.norm(key, axis=-1)[:, None]
    cosine = _softmax(query @ key.swapaxes(-1, -2) / np.maximum(lengths, 1e-12))
    additive = _softmax(np.tanh((query @ query_matrix)[:, :, None] + (key @ key_matrix)[:, None]) @ v)
    numbers = {
        "rows": float(max(np.abs(weights.sum(axis=-1) - 1).max() for weights in (cosine, additive))),
        "cosine": float(np.abs(cosine - dot).max()),
        "additive": float(np.abs(additive - dot).max()),
    }
    picture = Bars(
        (Both("cosine", "余弦"), Both("additive", "加性")),
        [numbers["cosine"], numbers["additive"]],
        Both("largest difference of a weight from the dot product's", "与点积权重的最大差"),
    )
    return Measurement(numbers, picture)


OTHER_FUNCTIONS = Question(
    13,
    asked=Both("Are there other formulas for attention?", "注意力的公式是唯一的吗？"),
    claim=Both(
        "The formula is not unique: other scores give attention too.", "公式并不唯一，用别的打分函数也能构成注意力。"
    ),
    parts=(
        ClaimPart(
            Both("Other scores give rows that sum to 1.", "别的打分函数也能得到和为 1 的行。"), (below("rows", 1e-9),)
        ),
        ClaimPart(
            Both("They give other weights.", "得到的权重不同。"),
            (above("cosine", _MOVED), above("additive", _MOVED)),
        ),
    ),
    measure=_other_functions,
    numbers={
        "rows": Label(Both("largest |row sum − 1|", "|行和 − 1| 的最大值")),
        "cosine": Label(Both("largest difference of a weight, cosine", "权重的最大差，余弦")),
        "additive": Label(Both("largest difference of a weight, additive", "权重的最大差，加性")),
    },
    setting=Both(
        "Queries and keys of head 0 of the first layer, no mask. The additive score has random matrices, seed 0.",
        "第一层第 0 个头的查询和键，不加掩码。加性打分的矩阵随机抽取，种子 0。",
    ),
    because=Both(
        "All textbooks have one formula, for it is fast as matrix products.",
        "教材里都是这一个公式，因为它用矩阵乘法计算很快。",
    ),
    refuted=Both("Other scores that give the same weights.", "如果别的打分函数给出相同的权重，判断就会改变。"),
    formula=r"\max |A_{\cos} - A_{\cdot}| = <cosine>, \quad \max |A_{+} - A_{\cdot}| = <additive>",
    papers=(BAHDANAU_2015, VASWANI_2017),
    see=PageLink("scores", {"section": "Score functions"}),
    of=ANY,
)


def _both_tasks(subject: Subject) -> Measurement:
    _first(subject, "decoder")
    later = {}
    for stream in ("encoder", "decoder"):
        layers = [subject.trace.attention(layer=site.layer, stream=stream) for site in subject.trace.sites_of(stream)]
        later[stream] = float(np.mean([np.triu(weights, 1).sum(axis=-1).mean() for weights in layers]))
    picture = Bars(
        (Both("encoder", "编码器"), Both("decoder", "解码器")),
        list(later.values()),
        Both("weight on later tokens", "给后面 token 的权重"),
    )
    return Measurement(later, picture)


BOTH_TASKS = Question(
    14,
    asked=Both("Does the Transformer serve understanding and writing?", "Transformer 既能理解又能生成吗？"),
    claim=Both(
        "The Transformer does both: NLU by its encoder, NLG by its decoder.",
        "Transformer 两者都能做：编码器用于 NLU，解码器用于 NLG。",
    ),
    parts=(
        ClaimPart(Both("The encoder reads in both directions.", "编码器双向阅读。"), (above("encoder", 0.01),)),
        ClaimPart(
            Both("The decoder reads only what is written so far.", "解码器只读已经写出的部分。"),
            (at_most("decoder", 0),),
        ),
    ),
    measure=_both_tasks,
    numbers={
        "encoder": Label(Both("weight on later tokens, encoder", "给后面 token 的权重，编码器"), "%"),
        "decoder": Label(Both("weight on later tokens, decoder", "给后面 token 的权重，解码器"), "%"),
    },
    setting=Both(
        "Self-attention of an encoder-decoder, which has both parts; mean over layers, heads and tokens.",
        "编码器-解码器兼有两部分：取其自注意力，对层、头和 token 取平均。",
    ),
    because=Both(
        "BERT is an encoder alone: it reads later tokens, and so cannot write one after the other as a decoder does.",
        "BERT 只有编码器，能看到后面的 token，因此不能像解码器那样逐个生成。",
    ),
    refuted=Both("A decoder that reads what is not written yet.", "如果解码器能看到还没写出的内容，判断就会改变。"),
    formula=r"\overline{\sum_{j > i} A_{ij}}: \quad <encoder>, \quad <decoder>",
    papers=(VASWANI_2017,),
    see=PageLink("batch", {"section": "What each token sees"}),
    of=ENCODER_DECODER,
)


NAME = Question(
    15,
    asked=Both("Is there a model named Attention Transformer?", "有叫“Attention Transformer”的模型吗？"),
    claim=Both("Attention Transformer is a model.", "Attention Transformer 是一种模型。"),
    because=Both(
        "The Transformer's paper is called Attention Is All You Need, and the two words are run together.",
        "Transformer 的论文题为 Attention Is All You Need，两个词就被连在了一起。",
    ),
    refuted=Both(
        "A paper that defines a standard model of this name.", "如果有论文把它定义为标准模型名，判断就会改变。"
    ),
    stated=StatedVerdict(
        "false",
        Both(
            "A name cannot be measured. The paper calls its model Transformer, and its mechanism attention.",
            "名称无法测量。论文把模型叫作 Transformer，把其中的机制叫作注意力。",
        ),
    ),
    papers=(VASWANI_2017,),
)


THEME = Theme(
    "basics",
    Both("What attention is", "注意力是什么"),
    (
        FORMULA,
        ROLES,
        ITSELF,
        RELATED,
        TELLING,
        TWO_SEQUENCES,
        BOTTLENECK,
        RNN_QUERY,
        CONNECTED,
        LONG_RANGE,
        VANISHING,
        ORDER,
        OTHER_FUNCTIONS,
        BOTH_TASKS,
        NAME,
    ),
)
