"""The first questions: what attention is, what Q, K and V are, and what came before. Questions 1 to 14."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

import models
from inspector import distance, interventions
from inspector.costs import score_functions as costs
from inspector.interventions import leave_one_out
from inspector.interventions.change import inputs_of
from inspector.probe import record_batch, record_inputs
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import above, at_least, at_most, below
from inspector.questions.record.kinds import ANY, DECODER, ENCODER, ENCODER_DECODER
from inspector.questions.record.measured import OTHERS, RANDOM, SMALL
from inspector.questions.record.papers import (
    ABNAR_2020,
    BAHDANAU_2015,
    BENGIO_1994,
    CHO_2014,
    DAI_2019,
    DEVLIN_2019,
    HOCHREITER_1997,
    JAIN_2019,
    PASCANU_2013,
    SHAW_2018,
    SUTSKEVER_2014,
    VASWANI_2017,
    WIEGREFFE_2019,
    XIAO_2023,
    ZHOU_2018,
)
from inspector.questions.record.picture import Bars, Heatmap, Lines, Series
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
from inspector.questions.themes.inside import blocks_of, left_out, stream_of
from inspector.questions.themes.together import BESIDE, read_of
from inspector.questions.themes.trained import (
    GUESSING,
    NATS,
    RIGHT,
    courses_drawn,
    ends,
    last_right,
    loss_of,
    losses,
    train_both,
)
from inspector.scores import functions, ranks
from inspector.trace import AttentionRecord, AttentionSite, Trace, recompute
from models.attention.functions import for_each_head
from models.attention.scores import DotScore, ScoreFunction
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
        "the distance, or use another scale; then the plain formula is not theirs. Of names: the model is the "
        "Transformer, "
        "its mechanism attention; there is no model “Attention Transformer”.",
        "许多总结只写点积、softmax、加权求和三步，漏掉了缩放。有的模型会加上与距离有关的偏置，或用别的缩放，"
        "这时原始公式就不适用。名称上，模型叫 Transformer，其中的机制叫注意力；没有叫“Attention Transformer”的模型。",
    ),
    refuted=Both("Weights that the formula does not give.", "如果按公式算不出模型的权重，判断就会改变。"),
    formula=r"\max \left| A - \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right) \right| = <formula>",
    papers=(VASWANI_2017,),
    see=PageLink("scores", {"section": "This head"}),
    of=ANY,
)


def _alike(first: torch.Tensor, second: torch.Tensor) -> float:
    """Linear CKA of vectors of the same tokens, [T, D] each: 1 where one is the other but for a rotation and a factor.

    ||A^T B||_F^2 / (||A^T A||_F ||B^T B||_F) of the centred A, B (Kornblith et al. 2019).
    """
    a, b = (vectors - vectors.mean(dim=0) for vectors in (first, second))
    both, of_a, of_b = ((left @ left.T * (right @ right.T)).sum() for left, right in ((a, b), (a, a), (b, b)))
    return float(both / (of_a * of_b).sqrt().clamp(min=1e-300))


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
    entering = blocks_of(subject).of(stream_of(subject))
    if not entering:
        raise UnanswerableError(
            f"The states that enter the first layer of {subject.loaded.card.id} were not seen.",
            f"没有看到进入 {subject.loaded.card.id} 第一层的状态。",
        )
    x = torch.tensor(entering[0].enters).double()
    for name, tensor in (("input", record.query), ("input_key", record.key)):
        numbers[name] = _alike(tensor.double().cpu().transpose(0, 1).flatten(1), x)
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
                "The query is the input itself, in whatever basis: queries lie to each other as the inputs do.",
                "查询就是输入本身（换一组基也算）：各查询之间的关系与各输入之间的相同。",
            ),
            (above("input", 0.999),),
        ),
    ),
    measure=_roles,
    numbers={
        "query": Label(Both("largest change of a weight by other queries", "换查询后权重的最大变化")),
        "key": Label(Both("largest change of a weight by other keys", "换键后权重的最大变化")),
        "value": Label(Both("largest change of a weight by other values", "换值后权重的最大变化")),
        "input": Label(Both("likeness of queries and inputs, linear CKA", "查询与输入的相似度（线性 CKA）")),
        "input_key": Label(Both("likeness of keys and inputs, linear CKA", "键与输入的相似度（线性 CKA）")),
    },
    setting=Both(
        "First layer, all heads. Other: each token is given that of the token before, and the weights are computed "
        "again. Likeness: of the queries of all heads side by side and the states that enter the layer, 1 where a "
        "rotation and a factor make one of the other; a random matrix of the model's width leaves it just below 1.",
        "第一层的所有头。“换”指每个 token 改用前一个 token 的向量，再重新计算权重。相似度："
        "比较所有头拼接的查询与进入该层的状态，"
        "只差旋转和倍数时为 1；与模型同宽的随机矩阵使它略低于 1。",
    ),
    because=Both(
        "Query, key and value are three projections of the token's state by three matrices. In a picture of a search "
        "the query is what one types, so it is taken for the input.",
        "查询、键、值是同一状态经三个矩阵得到的三个投影。用检索打比方时，查询像是输入的内容，于是被当成输入本身。",
    ),
    refuted=Both(
        "Weights that change with the values, or queries that are their inputs but for a rotation.",
        "如果权重随值而变，或者查询与输入只差一个旋转，判断就会改变。",
    ),
    formula=r"q = xW_Q, \; k = xW_K, \; v = xW_V: \quad \mathrm{CKA}(Q, X) = <input>",
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
                "最后一行可见键数减去其他 token 数（1 即包括自己）",
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
                "随机基线：同样数量的随机头，最高秩相关的中位数",
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
        "许多权重落在只充当注意力汇聚点（attention sink）的 token 上。",
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


def _other_source(subject: Subject) -> Trace:
    """Read the source's tokens backwards, with the same target; special tokens stay."""
    trace = subject.trace
    read = trace.encoding
    places = [at for at, special in enumerate(read.special) if not special]
    ids = list(read.ids)
    for at, other in zip(places, reversed(places), strict=True):
        ids[at] = read.ids[other]
    if tuple(ids) == tuple(read.ids):
        raise UnanswerableError(
            "The text is the same backwards, so there is no other source to read; write other words.",
            "该文本倒过来完全一样，没有别的源文本可读；请换一些词。",
        )
    inputs = replace(inputs_of(trace), encoding=replace(read, ids=tuple(ids)))
    return record_inputs(subject.loaded, inputs, text=trace.text, text_pair=trace.text_pair, target=trace.target_text)


def _changed(before: torch.Tensor, after: torch.Tensor) -> float:
    """The size of a change over that of what was before."""
    return float((after.double() - before.double()).norm() / before.double().norm().clamp(min=1e-300))


def _two_sequences(subject: Subject) -> Measurement:
    cross, encoder = _first(subject, "cross"), _first(subject, "encoder")
    other = subject.once("another source", lambda: _other_source(subject))
    moved = {
        stream: other.record_of(before.site.layer, stream, call=before.site.call)
        for stream, before in (("cross", cross), ("encoder", encoder))
    }
    numbers = {
        "query": _changed(cross.query, moved["cross"].query),
        "key": _changed(cross.key, moved["cross"].key),
        "value": _changed(cross.value, moved["cross"].value),
        "self_query": _changed(encoder.query, moved["encoder"].query),
        "self_key": _changed(encoder.key, moved["encoder"].key),
        "rows": float(len(cross.site.queries)),
        "columns": float(len(cross.site.keys)),
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
            Both(
                "With another source the keys and values of the first cross-attention change, and its queries do not.",
                "换一个源文本，第一个交叉注意力的键和值随之改变，查询不变。",
            ),
            (above("key", 0.01), above("value", 0.01), at_most("query", 1e-6)),
        ),
        ClaimPart(
            Both(
                "In self-attention queries and keys change with the same text.",
                "自注意力中，查询和键都随同一个文本改变。",
            ),
            (above("self_query", 0.01), above("self_key", 0.01)),
        ),
        ClaimPart(Both("The function is the same.", "所用的函数相同。"), (below("function", 1e-4),)),
    ),
    measure=_two_sequences,
    numbers={
        "query": Label(Both("change of the cross queries by another source", "换源文本后交叉注意力查询的变化"), "%"),
        "key": Label(Both("change of the cross keys", "交叉注意力键的变化"), "%"),
        "value": Label(Both("change of the cross values", "交叉注意力值的变化"), "%"),
        "self_query": Label(Both("change of the encoder's queries", "编码器查询的变化"), "%"),
        "self_key": Label(Both("change of the encoder's keys", "编码器键的变化"), "%"),
        "rows": Label(Both("rows of the cross map", "交叉注意力图的行数")),
        "columns": Label(Both("columns of the cross map", "交叉注意力图的列数")),
        "function": Label(
            Both(
                "cross map's difference from softmax(s QKᵀ), s that of self-attention",
                "交叉注意力与 softmax(s·QKᵀ) 的最大差，s 取自自注意力的缩放",
            )
        ),
    },
    setting=Both(
        "First cross-attention and first self-attention of an encoder-decoder, which has both. Another source: the "
        "same "
        "tokens backwards, with the same target given. Changes are relative.",
        "编码器-解码器的第一个交叉注意力与第一个自注意力；只有这类模型两者都有。换源文本：同样的 token 倒序，"
        "给定的目标不变。"
        "变化是相对值。",
    ),
    because=Both(
        "They are told as two inventions, since one came with the RNN and the other with the Transformer. Recommenders "
        "know a third name, target-attention: the query is the item that may be shown, keys and values are the items "
        "that a user has looked at (DIN), which leaves out the softmax so that the sum tells how strong the interest "
        "is.",
        "前者随 RNN 出现，后者随 Transformer 普及，因此常被说成两种不同的发明。推荐系统里还有第三个名字 "
        "target-attention："
        "查询是候选物品，键和值是用户看过的物品（DIN）；它不做 softmax 归一化，使总和能表示兴趣的强弱。",
    ),
    refuted=Both(
        "Cross queries that change with the source, or keys that do not.",
        "如果交叉注意力的查询随源文本改变，或者键不随之改变，判断就会改变。",
    ),
    formula=r"\frac{\|\Delta Q_{\times}\|}{\|Q_{\times}\|} = <query>, \quad "
    r"\frac{\|\Delta K_{\times}\|}{\|K_{\times}\|} = <key>, \qquad A_{\times} \in \mathbb{R}^{<rows> \times <columns>}",
    papers=(BAHDANAU_2015, VASWANI_2017, ZHOU_2018),
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
            "用 Lab 的 GRU 学习把 8 个数字逆序输出，训练 300 步，有注意力（A）与没有注意力（B），各三个种子。单核约 15 "
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
    papers=(SUTSKEVER_2014, CHO_2014, BAHDANAU_2015),
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
        "A fully connected layer mixes with fixed weights, attention with weights that follow from the input.",
        "全连接层的权重固定，注意力的权重由输入决定。",
    ),
    parts=(
        ClaimPart(
            Both("Attention's weights follow the text.", "注意力的权重随文本变化。"), (above("attention", _MOVED),)
        ),
        ClaimPart(Both("Those of a fully connected layer do not.", "全连接层的权重不变。"), (at_most("connected", 0),)),
        ClaimPart(
            Both(
                "It is not all: a fully connected layer over tokens fits one length alone, and needs more weights for "
                "a "
                "token more.",
                "区别不止于此：在 token 维上做的全连接层只适用于一种长度，多一个 token 就要增加权重。",
            ),
            (above("longer", 0),),
            role="limit",
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
        {
            "attention": remaining["attention"],
            "rnn": remaining["tanh-RNN"],
            "gru": remaining["GRU"],
            "lstm": remaining["LSTM"],
            "open": remaining["open LSTM"],
        },
        _lines(curves),
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
            Both(
                "In an RNN as it begins next to nothing of it is left, in a GRU and an LSTM too.",
                "在刚初始化的 RNN 中，它几乎没有影响了，GRU 和 LSTM 也是如此。",
            ),
            (below("rnn", 1e-3), below("gru", 1e-3), below("lstm", 1e-3)),
        ),
        ClaimPart(
            Both(
                "An LSTM whose forget gate starts open (bias 2) keeps more than a thousandth of it.",
                "遗忘门一开始就打开（偏置 2）的 LSTM 能保留千分之一以上。",
            ),
            (above("open", 1e-3),),
            role="limit",
        ),
    ),
    measure=_long_range,
    numbers={
        "attention": Label(
            Both("gradient at distance 99 over that at 10, attention", "距离 99 与 10 的梯度之比，注意力")
        ),
        "rnn": Label(Both("gradient at distance 99 over that at 10, tanh-RNN", "距离 99 与 10 的梯度之比，tanh-RNN")),
        "gru": Label(Both("gradient at distance 99 over that at 10, GRU", "距离 99 与 10 的梯度之比，GRU")),
        "lstm": Label(Both("gradient at distance 99 over that at 10, LSTM", "距离 99 与 10 的梯度之比，LSTM")),
        "open": Label(
            Both(
                "gradient at distance 99 over that at 10, LSTM with forget bias 2",
                "距离 99 与 10 的梯度之比，遗忘门偏置为 2 的 LSTM",
            )
        ),
    },
    setting=Both(
        "Untrained networks of width 32 on 100 random inputs, median of the seeds; no loaded model takes part.",
        "宽度 32 的未训练网络，100 个随机输入，各种子的中位数；不涉及加载的模型。",
    ),
    because=Both(
        "Every pair has its own cell in the map, so that distance costs nothing. Whether a trained head uses it is "
        "another question.",
        "每一对位置在注意力图中都有自己的权重，所以距离没有代价。训练好的头是否用到它，是另一个问题。",
    ),
    refuted=Both(
        "A gradient of attention that fades with distance, or an untrained RNN whose gradient does not.",
        "如果注意力的梯度随距离消失，或者未训练的 RNN 的梯度不消失，判断就会改变。",
    ),
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
            Both("A GRU and an LSTM as they begin keep it.", "刚初始化（未训练）的 GRU 和 LSTM 能保留梯度。"),
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
    papers=(BENGIO_1994, HOCHREITER_1997, CHO_2014, PASCANU_2013),
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
        "把文本的 token 倒序输入编码器，把每个 token 在最后一层的状态与原来的比较，对 token 取中位数。"
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
    query = record.query[:1].double().cpu()
    key = for_each_head(record.key[None].double(), record.site.heads)[0, :1].cpu()
    learned = functions.learned(query.shape[-1])
    rows = max(
        float((score(query[None], key[None], slice(0, query.shape[1])).softmax(dim=-1).sum(dim=-1) - 1).abs().max())
        for score in (learned["additive"], learned["general"])
    )
    trained = {
        "dot": loss_of(subject, Switches(heads=1)),
        "additive": loss_of(subject, Switches(heads=1, score="additive")),
        "cosine": loss_of(subject, Switches(heads=1, score="cosine")),
    }
    size = costs.Sizes(tokens=128, width=64)
    numbers = {
        "rows": rows,
        **{name: loss[-1] for name, loss in trained.items()},
        "rank_dot": _rank(DotScore()),
        "rank_additive": _rank(functions.learned(NARROW)["additive"]),
        "flops": costs.cost("additive", size).flops / costs.cost("dot", size).flops,
    }
    names = {"dot": Both("dot product", "点积"), "additive": Both("additive", "加性"), "cosine": Both("cosine", "余弦")}
    return Measurement(numbers, losses([(names[name], loss) for name, loss in trained.items()]))


NARROW = 8  # d_k of 64 random queries and keys whose matrix of scores is looked at


def _rank(score: ScoreFunction) -> float:
    """The rank of the scores of 64 random queries and keys of width NARROW, in float64."""
    query, key = torch.randn(2, 1, 1, 64, NARROW, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return float(torch.linalg.matrix_rank(score(query, key, slice(0, 64))[0, 0]))


OTHER_FUNCTIONS = Question(
    13,
    asked=Both("Are there other formulas for attention?", "注意力的公式是唯一的吗？"),
    claim=Both(
        "The formula is not unique: other scores give attention that learns too, and some can express more.",
        "公式并不唯一：别的打分函数也能构成能学习的注意力，有的表达能力更强。",
    ),
    parts=(
        ClaimPart(
            Both("Other scores give rows that sum to 1.", "别的打分函数也能得到和为 1 的行。"), (below("rows", 1e-9),)
        ),
        ClaimPart(
            Both(
                "A small network learns with additive scores, and with the cosine.",
                "小网络用加性打分、用余弦都能学会一些东西。",
            ),
            (below("additive", 0.95 * GUESSING), below("cosine", 0.95 * GUESSING)),
        ),
        ClaimPart(
            Both(
                "Additive scores express more: those of narrow vectors have a higher rank than dot products, which is "
                "d_k "
                "at most.",
                "加性打分的表达能力更强：窄向量的加性分数矩阵的秩更高，点积的秩至多为 d_k。",
            ),
            (above("rank_additive", "rank_dot"),),
        ),
        ClaimPart(
            Both("They cost more than dot products.", "它们比点积更费计算。"),
            (above("flops", 1),),
            role="limit",
        ),
    ),
    measure=_other_functions,
    numbers={
        "rows": Label(Both("largest |row sum − 1|", "|行和 − 1| 的最大值")),
        "dot": Label(Both("loss, scaled dot product", "损失，缩放点积"), NATS, of=SMALL),
        "additive": Label(Both("loss, additive", "损失，加性"), NATS, of=SMALL),
        "cosine": Label(Both("loss, cosine", "损失，余弦"), NATS, of=SMALL),
        "rank_dot": Label(Both("rank of the scores, dot product, d_k = 8", "分数矩阵的秩，点积，d_k = 8"), of=RANDOM),
        "rank_additive": Label(Both("rank of the scores, additive, d_k = 8", "分数矩阵的秩，加性，d_k = 8"), of=RANDOM),
        "flops": Label(
            Both("FLOPs, additive / dot, 128 tokens of width 64", "FLOPs，加性 / 点积，128 个宽度 64 的 token")
        ),
    },
    setting=Both(
        "Rows: queries and keys of head 0 of the first layer, no mask, additive and general score with random "
        "matrices, "
        "seed 0. Training: the Lab's Transformer (2 layers, one head of 48) turns 4 digits around, 120 steps, seed 0; "
        "guessing costs 2.30 nats. Rank: 64 random queries and keys.",
        "各行：第一层第 0 个头的查询和键，不加掩码，加性打分与 general 打分的矩阵随机抽取，种子 0。训练：Lab 的 "
        "Transformer"
        "（2 层，一个宽 48 的头）把 4 个数字逆序输出，120 步，种子 0；随机猜测的损失是 2.30 nat。秩：64 "
        "个随机的查询和键。",
    ),
    because=Both(
        "All textbooks have one formula, for it is fast as matrix products. A dot product of d_k numbers makes a "
        "matrix of "
        "scores of rank d_k; a tanh between query and key lifts that, at its price.",
        "教材里都是这一个公式，因为它用矩阵乘法计算很快。d_k 维的点积得到的分数矩阵秩至多为 d_k；查询与键之间加一个 "
        "tanh "
        "就不受此限，但要付出代价。",
    ),
    refuted=Both(
        "Networks that learn nothing with another score, or other scores of no higher rank.",
        "如果换了打分函数网络就学不会，或者别的打分函数的秩并不更高，判断就会改变。",
    ),
    formula=r"\mathrm{rank}(QK^\top) = <rank_dot>, \quad \mathrm{rank}(v^\top \tanh) = <rank_additive>, \qquad "
    r"\frac{C_{\tanh}}{C_{\cdot}} = <flops>",
    papers=(BAHDANAU_2015, VASWANI_2017),
    see=PageLink("scores", {"section": "Score functions"}),
    of=ANY,
)


# --- 14: understanding and writing ---------------------------------------------------------------------------------

GLAD = (
    "I love this sunny garden.",
    "What a wonderful surprise!",
    "She laughed with joy.",
    "The children were happy all day.",
    "It was the best day of my life.",
    "He smiled at his good friend.",
    "They danced and sang together.",
    "We are so glad to see you.",
)
SAD = (
    "I hate this dark and dirty room.",
    "What a terrible loss!",
    "She wept with grief.",
    "The children were afraid all night.",
    "It was the worst day of my life.",
    "He cried over his dead friend.",
    "They mourned and suffered alone.",
    "We are so sorry to lose you.",
)
"""Sentences in pairs that share words, so that a count of common words does not tell the kinds apart."""


def classified(loaded: models.LoadedModel) -> float:
    """The share of GLAD and SAD told apart: each by the nearer mean vector of the other sentences of a kind."""
    vectors = np.stack([trace.output.mean(axis=0) for trace in record_batch(loaded, [*GLAD, *SAD])]).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    kinds = np.array([0] * len(GLAD) + [1] * len(SAD))
    right = []
    for at, vector in enumerate(vectors):
        others = np.arange(len(kinds)) != at
        glad, sad = (vectors[others & (kinds == kind)].mean(axis=0) for kind in (0, 1))
        right.append((vector @ sad > vector @ glad) == (kinds[at] == 1))
    return float(np.mean(right))


@torch.inference_mode()
def _continued(loaded: models.LoadedModel, text: str) -> float:
    """-ln p that a decoder gives to the tokens of a text, each from those before it; the first is not asked for."""
    assert loaded.predict is not None
    ids = torch.tensor([loaded.encode(text).ids])
    hidden = loaded.run(ids, torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids))
    logs = loaded.predict(hidden)[0].double().log_softmax(dim=-1)
    return -float(logs[:-1].gather(1, ids[0, 1:, None]).sum())


@torch.inference_mode()
def _filled(loaded: models.LoadedModel, text: str, *, both_sides: bool) -> float:
    """-ln p that BERT gives to the tokens of a text, each hidden, from those before it or from all others.

    The first token is not asked for. From the left alone the mask stands last, before [SEP], as one would let it write.
    """
    assert loaded.predict is not None
    ids, mask = list(loaded.encode(text).ids), loaded.tokenizer.mask_token_id
    total = 0.0
    for at in range(2, len(ids) - 1):
        read = torch.tensor([[*ids[:at], mask, *(ids[at + 1 :] if both_sides else ids[-1:])]])
        hidden = loaded.run(read, torch.ones_like(read, dtype=torch.bool), torch.zeros_like(read))
        total -= float(loaded.predict(hidden[:, at : at + 1])[0, 0].double().log_softmax(dim=-1)[ids[at]])
    return total


def _both_tasks(subject: Subject) -> Measurement:
    decoder, bert = subject.loaded, subject.of("mini-bert").loaded
    if decoder.predict is None:
        raise UnanswerableError(
            f"{decoder.card.id} has no head that predicts tokens, so it cannot write.",
            f"{decoder.card.id} 没有预测 token 的输出层，不能生成文本。",
        )
    encoder = subject.of(ENCODER.stand_in(subject.at_hand)).loaded
    texts = [read_of(subject), *BESIDE.en.splitlines()]
    letters = sum(len(text) for text in texts)
    read = {
        "decoder": sum(_continued(decoder, text) for text in texts) / letters,
        "left": sum(_filled(bert, text, both_sides=False) for text in texts) / letters,
        "both": sum(_filled(bert, text, both_sides=True) for text in texts) / letters,
    }
    picture = Bars(
        (
            Both("decoder, from the left", "解码器，只看左边"),
            Both("BERT, from the left", "BERT，只看左边"),
            Both("BERT, from both sides", "BERT，看两边"),
        ),
        list(read.values()),
        Both("surprise at a token, nats a letter", "对 token 的惊异度，nat/字母"),
    )
    return Measurement(
        {"classified": subject.cached(("classified", encoder.card.id), lambda: classified(encoder)), **read}, picture
    )


BOTH_TASKS = Question(
    14,
    asked=Both("Does the Transformer serve understanding and writing?", "Transformer 既能理解又能生成吗？"),
    claim=Both(
        "The Transformer does both: an encoder understands (NLU), a decoder writes (NLG), and BERT, an encoder alone, "
        "cannot write.",
        "Transformer 两者都能做：编码器用于理解（NLU），解码器用于生成（NLG）；只有编码器的 BERT 不能生成。",
    ),
    parts=(
        ClaimPart(
            Both(
                "By an encoder's states 13 of 16 sentences, glad or sad, are told apart, or more.",
                "用编码器的状态，16 个表达高兴或悲伤的句子中至少有 13 个能分对。",
            ),
            (at_least("classified", 13 / 16),),
        ),
        ClaimPart(
            Both(
                "Left to write from the left alone, BERT guesses the next token clearly worse than the decoder.",
                "只看左边来写时，BERT 猜下一个 token 明显不如解码器。",
            ),
            (above("left", "decoder", times=1.1),),
        ),
        ClaimPart(
            Both(
                "With both sides in sight BERT guesses better than the decoder.", "能看到两边时，BERT 比解码器猜得好。"
            ),
            (below("both", "decoder"),),
            role="mechanism",
        ),
    ),
    measure=_both_tasks,
    numbers={
        "classified": Label(Both("sentences told apart by an encoder", "编码器分对的句子"), "%", of=OTHERS),
        "decoder": Label(
            Both("surprise of the decoder, from the left, a letter", "解码器只看左边的惊异度，每个字母"), NATS
        ),
        "left": Label(
            Both("surprise of BERT, from the left, a letter", "BERT 只看左边的惊异度，每个字母"), NATS, of=OTHERS
        ),
        "both": Label(
            Both("surprise of BERT, from both sides, a letter", "BERT 看两边的惊异度，每个字母"), NATS, of=OTHERS
        ),
    },
    setting=Both(
        "Told apart: 8 glad and 8 sad sentences, each by the nearer mean vector of the others, by minilm (mini-bert "
        "where "
        "minilm was not fetched); a coin gets 13 right once in 94 times. Surprise: −ln p of each token but the first "
        "of "
        "the text and seven other sentences, by letters, for tokens differ. BERT is mini-bert, with [MASK] in the "
        "place "
        "of the token.",
        "分类：8 个高兴的句子和 8 个悲伤的句子，每个按离哪一类其余句子的平均向量更近来判断，用 minilm（未下载时用 "
        "mini-bert）；"
        "抛硬币 94 次才有一次分对 13 个以上。惊异度：该文本和另外七个句子中除首个外各 token 的 −ln p，按字母数平均，"
        "因为各模型的 "
        "token 不同。BERT 用 mini-bert，以 [MASK] 代替该 token。",
    ),
    because=Both(
        "BERT is trained with both sides in sight, and a mask at the end of what is written is a thing that it never "
        "met. "
        "A decoder is trained for just that. The halves are no law: decoders classify when they are trained to, and T5 "
        "does all tasks by writing.",
        "BERT 训练时两边都能看到，句末只有左边的情况它从未见过；而解码器正是为此训练的。但分工不是定律："
        "经过训练的解码器也能分类，T5 则把所有任务都当作生成来做。",
    ),
    refuted=Both(
        "A BERT that guesses the next token as well as a decoder of its size, or an encoder that tells nothing apart.",
        "如果 BERT 猜下一个 token 与同等大小的解码器一样好，或者编码器什么也分不出，判断就会改变。",
    ),
    formula=r"-\ln p(x_i \mid x_{<i}): \; <decoder>, \; <left> \;(\mathrm{BERT}), \qquad "
    r"-\ln p(x_i \mid x_{\setminus i}): \; <both> \;(\mathrm{BERT})",
    papers=(VASWANI_2017, DEVLIN_2019),
    see=PageLink("generate"),
    of=DECODER,
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
    ),
)
