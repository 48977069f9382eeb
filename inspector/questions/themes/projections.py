"""Queries, keys and values: what each projection is for, and what happens without them. Questions 26 to 33."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import above, at_least, at_most, below, equal
from inspector.questions.record.measured import RANDOM, SMALL
from inspector.questions.record.papers import AINSLIE_2023, BAHDANAU_2015, KITAEV_2020, VASWANI_2017
from inspector.questions.record.picture import Bars, Heatmap
from inspector.questions.record.question import ClaimPart, Label, Measurement, PageLink, Question, Theme
from inspector.questions.record.subject import Subject
from inspector.questions.themes.inside import blocks_of, stream_of
from inspector.questions.themes.queries import SEES_QUERIES, layers_of, of_each_head
from inspector.questions.themes.trained import GUESSING, Pair, from_seeds, loss_of, losses
from inspector.scores import of_product, symmetry, theory
from inspector.trace import AttentionRecord
from models.training.tiny.experiments import Switches

Floats = NDArray[np.float64]

SEED = 0
DRAWS = 20


# --- what the questions share --------------------------------------------------------------------------------------


def _weights(query: Tensor, key: Tensor) -> Floats:
    """softmax(Q K^T / sqrt(d_k)) of each head, without a mask: [H, T, T]."""
    weights: Floats = (query @ key.mT * query.shape[-1] ** -0.5).softmax(dim=-1).numpy()
    return weights


def _tied_weights(record: AttentionRecord) -> Floats:
    query = record.query.double().cpu()
    return _weights(query, query)


def _on_diagonal(weights: Floats) -> tuple[float, float]:
    """The mean weight of a token on itself, and the share of tokens that give themselves the most."""
    on_itself = np.diagonal(weights, axis1=-2, axis2=-1)
    peaks = weights.argmax(axis=-1) == np.arange(weights.shape[-1])
    return float(on_itself.mean()), float(peaks.mean())


# --- 26, 27: symmetry ----------------------------------------------------------------------------------------------


def _score_symmetry(subject: Subject) -> Measurement:
    records = layers_of(subject)
    untied = [float(value) for record in records for value in symmetry.score_asymmetry(record.query, record.key)]
    tied = [float(value) for record in records for value in symmetry.score_asymmetry(record.query, record.query)]
    middle = len(records[0].query) // 2
    record = records[len(records) // 2].of_head(middle)
    tokens = record.site.keys
    picture = Heatmap(
        symmetry.product(record),
        rows=tokens,
        columns=tokens,
        row_title=Both("i", "i"),
        column_title=Both("j", "j"),
        quantity=Both("score", "分数"),
        title=Both("QKᵀ, two matrices", "QKᵀ，两个矩阵"),
        beside=(record.query[0].float() @ record.query[0].float().mT).cpu().numpy(),
        beside_title=Both("QQᵀ, one matrix for both", "QQᵀ，共用一个矩阵"),
        diverging=True,
    )
    return Measurement({"tied": max(tied), "own": float(np.median(untied))}, picture)


_ASYMMETRY = r"\frac{\lVert S - S^\top \rVert}{\lVert S \rVert}"
SCORE_SYMMETRY = Question(
    26,
    asked=Both("If W_Q = W_K, are the scores QKᵀ symmetric?", "如果 W_Q = W_K，分数矩阵 QKᵀ 对称吗？"),
    claim=Both(
        "With one matrix for queries and keys, QKᵀ is symmetric: i scores j as j scores i.",
        "Q 和 K 用同一个矩阵时，QKᵀ 是对称矩阵：i 对 j 的分数等于 j 对 i 的分数。",
    ),
    parts=(
        ClaimPart(
            Both("With W_Q = W_K the scores are symmetric.", "W_Q = W_K 时，分数矩阵对称。"),
            (at_most("tied", 1e-5),),
        ),
        ClaimPart(
            Both(
                "With the two matrices of this model they are not.",
                "用该模型自己的两个矩阵时，分数矩阵不对称。",
            ),
            (above("own", 0.1),),
        ),
    ),
    measure=_score_symmetry,
    numbers={
        "tied": Label(Both("asymmetry of S with W_Q = W_K, largest of heads", "W_Q = W_K 时 S 的不对称度，各头最大值")),
        "own": Label(Both("asymmetry of S as it is, median of heads", "模型原样时 S 的不对称度，各头中位数")),
    },
    setting=Both(
        "Scores of this text before scale and mask, in at most 12 layers. For W_Q = W_K each head's queries stand in "
        "for its keys. Asymmetry: 0 for a symmetric matrix, 1.41 where both directions have nothing in common.",
        "该文本在缩放和掩码之前的分数，最多取 12 层。W_Q = W_K 的情形：用每个头的查询代替它的键。不对称度："
        "对称矩阵为 0，两个方向毫无关系时为 1.41。",
    ),
    because=Both(
        "q_i · k_j = x_i W Wᵀ x_jᵀ, and W Wᵀ is its own transpose, so both directions give one number. Two matrices "
        "let a token look for something else than it offers: a pronoun may look for a noun that does not look back.",
        "q_i·k_j = x_i W Wᵀ x_jᵀ，而 W Wᵀ 等于自身的转置，所以两个方向得到同一个数。用两个矩阵时，token "
        "要找的东西和它提供的东西可以不同：代词去找名词，名词不必回头找代词。",
    ),
    refuted=Both(
        "A head whose scores differ in the two directions although one matrix makes queries and keys.",
        "如果某个头的 Q、K 由同一个矩阵得到，而两个方向的分数不同，判断就会改变。",
    ),
    formula=_ASYMMETRY + r": \quad <tied> \;\; (W_Q = W_K), \qquad <own> \;\; (W_Q \neq W_K)",
    papers=(VASWANI_2017, KITAEV_2020),
    see=PageLink("scores", {"section": "Queries and keys"}),
    of=SEES_QUERIES,
)


def _weight_symmetry(subject: Subject) -> Measurement:
    records = layers_of(subject)
    tied, untied = [], []
    for record in records:
        query = record.query.double().cpu()
        tied.append(_tied_weights(record))
        untied.append(_weights(query, of_each_head(record.key, len(query))))
    of_tied, of_untied = (np.concatenate([symmetry.asymmetry(weights) for weights in maps]) for maps in (tied, untied))
    layer = int(np.argmax([symmetry.asymmetry(weights).max() for weights in tied]))
    head = int(symmetry.asymmetry(tied[layer]).argmax())  # the head by which the part is judged
    weights, tokens = tied[layer][head].astype(np.float32), records[layer].site.keys
    picture = Heatmap(
        weights,
        rows=tokens,
        columns=tokens,
        row_title=Both("i", "i"),
        column_title=Both("j", "j"),
        quantity=Both("weight", "权重"),
        title=Both("A with W_Q = W_K, least symmetric head", "W_Q = W_K 时的 A，最不对称的头"),
        beside=np.ascontiguousarray(weights.T),
        beside_title=Both("Aᵀ of the same head", "同一个头的 Aᵀ"),
    )
    return Measurement(
        {
            "tied": float(np.median(of_tied)),
            "smallest": float(of_tied.min()),
            "largest": float(of_tied.max()),
            "own": float(np.median(of_untied)),
        },
        picture,
    )


WEIGHT_SYMMETRY = Question(
    27,
    asked=Both(
        "If W_Q = W_K, is the attention matrix symmetric, A_ij = A_ji?",
        "如果 W_Q = W_K，注意力权重矩阵对称吗，即 A_ij = A_ji？",
    ),
    claim=Both(
        "One matrix for queries and keys makes attention symmetric: cat attends to mouse as mouse to cat.",
        "Q、K 共用一个矩阵会使注意力权重对称：“猫”对“鼠”的权重等于“鼠”对“猫”的权重。",
    ),
    parts=(
        ClaimPart(
            Both("With W_Q = W_K, A_ij = A_ji in every head.", "W_Q = W_K 时，每个头中 A_ij = A_ji。"),
            (at_most("largest", 1e-3),),
        ),
    ),
    measure=_weight_symmetry,
    numbers={
        "tied": Label(Both("asymmetry of A with W_Q = W_K, median of heads", "W_Q = W_K 时 A 的不对称度，各头中位数")),
        "smallest": Label(
            Both("asymmetry of A with W_Q = W_K, smallest of heads", "W_Q = W_K 时 A 的不对称度，各头最小值")
        ),
        "largest": Label(
            Both("asymmetry of A with W_Q = W_K, largest of heads", "W_Q = W_K 时 A 的不对称度，各头最大值")
        ),
        "own": Label(
            Both("asymmetry of A with W_Q and W_K, median of heads", "W_Q 与 W_K 不同时 A 的不对称度，各头中位数")
        ),
    },
    setting=Both(
        "softmax(QQᵀ/√d_k) beside softmax(QKᵀ/√d_k) of this text, without a mask (a causal mask alone makes A "
        "one-sided), in at most 12 layers.",
        "该文本的 softmax(QQᵀ/√d_k) 与 softmax(QKᵀ/√d_k)，不加掩码（因果掩码使 A 成为下三角矩阵，本来就不对称），"
        "最多取 12 层。",
    ),
    because=Both(
        "The scores are symmetric, and many stop thinking there. The softmax divides each row by a sum of its own: a "
        "token with many rivals in its row gives less to the same score than a token with few.",
        "分数确实对称，很多人想到这里就停了。但 softmax 按行归一化，每一行除以各自的和：同一个分数，"
        "在竞争者多的行里得到的权重小，在竞争者少的行里得到的权重大。",
    ),
    refuted=Both(
        "Weights that are equal in both directions in every head, on a text of three tokens or more.",
        "如果在三个以上 token 的文本上，每个头两个方向的权重都相等，判断就会改变。",
    ),
    formula=r"A_{ij} = \frac{e^{s_{ij}}}{\sum_k e^{s_{ik}}}, \quad A_{ji} = \frac{e^{s_{ij}}}{\sum_k e^{s_{jk}}}: \quad"
    r" \frac{\lVert A - A^\top \rVert}{\lVert A \rVert} = <tied>",
    papers=(KITAEV_2020,),
    see=PageLink("scores", {"section": "Queries and keys"}),
    of=SEES_QUERIES,
)


# --- 28, 29: what one matrix does before training ------------------------------------------------------------------


def _drawn_diagonals() -> dict[str, float]:
    """The diagonal of softmax(q q^T / sqrt(d_k)) for 32 random tokens, d = 512 and d_k = 64, means of DRAWS draws.

    equal: queries with entries of variance 1; unequal: these queries at 0.2 to 3 times their length; linear: matrices
    as nn.Linear initialises them; apart: separate matrices for queries and keys.
    """
    generator = torch.Generator().manual_seed(SEED)
    numbers: dict[str, list[float]] = {name: [] for name in ("equal", "peaks", "unequal", "linear", "apart")}
    for _ in range(DRAWS):
        x = torch.randn(32, 512, generator=generator, dtype=torch.float64)
        first, second = (torch.randn(512, 64, generator=generator, dtype=torch.float64) * 512**-0.5 for _ in range(2))
        q, k = x @ first, x @ second
        lengths = torch.linspace(0.2, 3, 32, dtype=torch.float64)[:, None]
        uniform = (2 * torch.rand(512, 64, generator=generator, dtype=torch.float64) - 1) * 512**-0.5
        weight, peaks = _on_diagonal(_weights(q, q))
        numbers["equal"].append(weight)
        numbers["peaks"].append(peaks)
        numbers["unequal"].append(_on_diagonal(_weights(q * lengths, q * lengths))[1])
        numbers["linear"].append(_on_diagonal(_weights(x @ uniform, x @ uniform))[0])
        numbers["apart"].append(_on_diagonal(_weights(q, k))[0])
    return {name: float(np.mean(each)) for name, each in numbers.items()}


def _diagonal(subject: Subject) -> Measurement:
    drawn = subject.cached(("tied diagonals", SEED, DRAWS), _drawn_diagonals)
    maps = [_tied_weights(record) for record in layers_of(subject)]
    here = [_on_diagonal(layer) for layer in maps]
    numbers = {**drawn, "model": float(np.mean([peaks for _, peaks in here]))}
    picture = Bars(
        (
            Both("one matrix, variance 1", "一个矩阵，方差为 1"),
            Both("one matrix, as nn.Linear starts it", "一个矩阵，nn.Linear 的初始值"),
            Both("two matrices, variance 1", "两个矩阵，方差为 1"),
            Both("this model, queries for keys", "该模型，用查询代替键"),
        ),
        (drawn["equal"], drawn["linear"], drawn["apart"], float(np.mean([weight for weight, _ in here]))),
        Both("mean weight of a token on itself", "token 给自己的平均权重"),
        mark=1 / 32,
    )
    return Measurement(numbers, picture)


DIAGONAL = Question(
    28,
    mixed="conditions",
    asked=Both(
        "Does W_Q = W_K make each token attend to itself the most?",
        "W_Q = W_K 会让每个 token 最关注自己吗？",
    ),
    claim=Both(
        "If queries are keys, q_i · q_i is the largest score of its row, whatever the tokens: each gives itself the "
        "most, and more than half.",
        "如果 Q = K，不管是什么 token，q_i·q_i 都是该行最大的分数：每个 token 给自己的权重最大，而且超过一半。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Among random queries of about equal length each token gives itself the most.",
                "随机查询的长度相近时，每个 token 给自己的权重最大。",
            ),
            (at_least("peaks", 0.99),),
        ),
        ClaimPart(
            Both("It is so whatever their lengths are.", "不管长度如何，都是这样。"),
            (at_least("unequal", 0.99),),
        ),
        ClaimPart(
            Both(
                "With weights as a layer starts, a token gives itself more than half.",
                "在网络层的初始权重下，token 给自己的权重超过一半。",
            ),
            (above("linear", 0.5),),
        ),
        ClaimPart(
            Both(
                "With this model's queries in place of its keys each token gives itself the most.",
                "用该模型的查询代替它的键时，每个 token 给自己的权重最大。",
            ),
            (at_least("model", 0.99),),
        ),
    ),
    measure=_diagonal,
    numbers={
        "peaks": Label(
            Both("tokens that give themselves the most, equal lengths", "给自己权重最大的 token 占比，长度相近"),
            "%",
            of=RANDOM,
        ),
        "unequal": Label(
            Both(
                "tokens that give themselves the most, lengths from 0.2 to 3",
                "给自己权重最大的 token 占比，长度从 0.2 到 3",
            ),
            "%",
            of=RANDOM,
        ),
        "equal": Label(
            Both("weight on itself, one matrix of variance 1", "给自己的权重，一个方差为 1 的矩阵"), "%", of=RANDOM
        ),
        "linear": Label(
            Both("weight on itself, one matrix of nn.Linear", "给自己的权重，一个 nn.Linear 矩阵"), "%", of=RANDOM
        ),
        "apart": Label(Both("weight on itself, two matrices", "给自己的权重，两个矩阵"), "%", of=RANDOM),
        "model": Label(
            Both("tokens that give themselves the most, this model", "给自己权重最大的 token 占比，该模型"), "%"
        ),
    },
    setting=Both(
        "Random: 32 tokens, d = 512, d_k = 64, seed 0, 20 draws. This model: softmax(QQᵀ/√d_k) of the text without a "
        "mask, mean over the heads of at most 12 layers.",
        "随机：32 个 token，d = 512，d_k = 64，种子 0，抽取 20 次。该模型：该文本的 softmax(QQᵀ/√d_k)，不加掩码，"
        "最多取 12 层，对各头取平均。",
    ),
    because=Both(
        "q_i · q_i = ‖q_i‖² is the largest only where no other query is longer: q_i · q_j = ‖q_i‖ ‖q_j‖ cos, and a "
        "long q_j in the right direction beats it. Reformer shares queries and keys, keeps each token from attending "
        "to itself, and reports no loss.",
        "q_i·q_i = ‖q_i‖²，只有当别的查询不更长时它才最大：q_i·q_j = ‖q_i‖‖q_j‖cos，方向接近而更长的 q_j 会超过它。"
        "Reformer 就共用 Q 和 K，只是不让 token 关注自己，论文报告效果没有下降。",
    ),
    refuted=Both(
        "Queries of unequal length of which each still scores itself highest, or of equal length that do not.",
        "如果长度不等的查询仍然都给自己最高分，或者长度相等的查询却不是这样，判断就会改变。",
    ),
    formula=r"q_i \cdot q_i = \lVert q_i \rVert^2, \qquad "
    r"q_i \cdot q_j = \lVert q_i \rVert \lVert q_j \rVert \cos\theta_{ij}",
    papers=(KITAEV_2020,),
    see=PageLink("scores", {"section": "Queries and keys"}),
    of=SEES_QUERIES,
)


def _drawn_scores() -> dict[str, float]:
    """Scores q . k / sqrt(d_k) of 64 random tokens with one matrix and with two, of a narrow and of a single head."""
    generator = torch.Generator().manual_seed(SEED)
    among = ~torch.eye(64, dtype=torch.bool)
    numbers: dict[str, float] = {}
    for name, width in (("", 64), ("_single", 512)):
        tied, apart, with_itself = [], [], []
        for _ in range(DRAWS):
            x = torch.randn(64, 512, generator=generator, dtype=torch.float64)
            matrices = torch.randn(2, 512, width, generator=generator, dtype=torch.float64) * 512**-0.5
            q, k = x @ matrices
            of_tied, of_apart = q @ q.T * width**-0.5, q @ k.T * width**-0.5
            tied.append(of_tied[among])
            apart.append(of_apart[among])
            with_itself.append(of_tied.diagonal())
        numbers |= {f"tied{name}": float(torch.cat(tied).std()), f"apart{name}": float(torch.cat(apart).std())}
        if not name:
            numbers |= {"mean": float(torch.cat(tied).mean()), "own": float(torch.cat(with_itself).mean())}
    return numbers


def _off_diagonal(subject: Subject) -> Measurement:
    numbers = subject.cached(("tied scores", SEED, DRAWS), _drawn_scores)
    picture = Bars(
        (
            Both("d_k = 64: with another token, one matrix", "d_k = 64：与其他 token，一个矩阵"),
            Both("d_k = 64: two matrices", "d_k = 64：两个矩阵"),
            Both("d_k = d: with another token, one matrix", "d_k = d：与其他 token，一个矩阵"),
            Both("d_k = d: two matrices", "d_k = d：两个矩阵"),
            Both("d_k = 64: with itself, one matrix (mean)", "d_k = 64：与自己，一个矩阵（均值）"),
        ),
        [numbers[name] for name in ("tied", "apart", "tied_single", "apart_single", "own")],
        Both("standard deviation of scores, and mean with itself", "分数的标准差，以及与自己的分数均值"),
    )
    return Measurement(numbers, picture)


OFF_DIAGONAL = Question(
    29,
    reads_text=False,
    mixed="conditions",
    asked=Both(
        "Does W_Q = W_K make scores between unrelated tokens high by accident?",
        "W_Q = W_K 会让不相关 token 之间的分数偶然偏高吗？",
    ),
    claim=Both(
        "When queries and keys start from the same weights, other tokens get high scores by chance.",
        "Q、K 用相同的初始权重时，非对角线上的分数会偶然变得很高。",
    ),
    parts=(
        ClaimPart(
            Both(
                "In one of eight heads (d_k = 64, d = 512) scores with other tokens spread at least a quarter more "
                "than with two matrices.",
                "8 个头之一（d_k = 64，d = 512）：与其他 token 的分数，离散程度比用两个矩阵时至少大四分之一。",
            ),
            (at_least("tied", "apart", times=1.25),),
        ),
        ClaimPart(
            Both(
                "In a single head as wide as the model (d_k = d) they do.",
                "与模型同宽的单个头（d_k = d）：也大四分之一以上。",
            ),
            (at_least("tied_single", "apart_single", times=1.25),),
        ),
        ClaimPart(
            Both("Their mean is above 0.", "这些分数的均值大于 0。"),
            (above("mean", 0.1),),
        ),
    ),
    measure=_off_diagonal,
    numbers={
        "tied": Label(
            Both(
                "deviation of scores with other tokens, d_k = 64, one matrix",
                "与其他 token 分数的标准差，d_k = 64，一个矩阵",
            )
        ),
        "apart": Label(
            Both(
                "deviation of scores with other tokens, d_k = 64, two matrices",
                "与其他 token 分数的标准差，d_k = 64，两个矩阵",
            )
        ),
        "tied_single": Label(
            Both(
                "deviation of scores with other tokens, d_k = d, one matrix",
                "与其他 token 分数的标准差，d_k = d，一个矩阵",
            )
        ),
        "apart_single": Label(
            Both(
                "deviation of scores with other tokens, d_k = d, two matrices",
                "与其他 token 分数的标准差，d_k = d，两个矩阵",
            )
        ),
        "mean": Label(Both("mean score with other tokens, one matrix", "与其他 token 分数的均值，一个矩阵")),
        "own": Label(Both("mean score with itself, one matrix", "与自己分数的均值，一个矩阵")),
    },
    setting=Both(
        "Scores q · k / √d_k of 64 random tokens, entries of variance 1, d = 512, d_k = 64 and 512, seed 0, 20 "
        "draws. It is about weights before training, so no trained model takes part. The sentence is from an interview "
        "note; no paper is known for it.",
        "64 个随机 token 的分数 q·k/√d_k，分量方差为 1，d = 512，d_k = 64 和 512，种子 0，抽取 20 次。"
        "这里问的是训练之前的权重，所以不涉及训练好的模型。这句话出自面试笔记，没有查到对应的论文。",
    ),
    because=Both(
        "What one matrix raises is the diagonal: a token's score with itself is ‖q‖² / √d_k, about √d_k, far above the "
        "others, and not by accident. Between two tokens the variance is 1 + (d_k + 1) / d times as large: a sixteenth "
        "more in deviation at d_k = d / 8, and √2 times where one head is as wide as the model.",
        "共用矩阵抬高的是对角线：token 与自己的分数是 ‖q‖²/√d_k，约为 √d_k，远高于其他分数，而且不是偶然。"
        "对两个不同的 token，分数的方差是原来的 1 + (d_k + 1)/d 倍：d_k = d/8 时标准差只大约十六分之一，"
        "单个头与模型同宽时是 √2 倍。",
    ),
    refuted=Both(
        "Narrow heads whose scores with other tokens spread clearly more with one matrix, or a head as wide as the "
        "model in which they do not.",
        "如果窄的头共用矩阵时与其他 token 的分数明显更分散，或者与模型同宽的头并非如此，判断就会改变。",
    ),
    formula=r"\sigma(s_{ij}): \; <tied> \;(W_Q = W_K), \; <apart> \;(W_Q \neq W_K); "
    r"\qquad s_{ii} \approx \sqrt{64}: \; <own>",
    see=PageLink("scores", {"section": "Queries and keys"}),
)


# --- 30, 31, 33: networks that share or lack projections -----------------------------------------------------------


_THREE = Both("three matrices", "三个矩阵")
_LAB = Both(
    "Training: the Lab's Transformer (2 layers, d = 48, 4 heads) learns to turn 4 digits around, 120 steps, seed 0; "
    "run "
    "it whole for six seeds. Guessing costs 2.30 nats.",
    "训练：用 Lab 的 Transformer（2 层，d = 48，4 个头）学习把 4 个数字逆序输出，120 步，种子 0；完整运行用六个种子。"
    "随机猜测的损失是 2.30 nat。",
)


_IN_THE_LAB = {"lab_length": "4", "lab_steps": "120", "lab_rate": "0.005", "lab_b_positions": "sinusoidal"}


def _sharing(subject: Subject) -> Measurement:
    untied, tied = [], []
    for record in layers_of(subject):
        heads = len(record.query)
        key = of_each_head(record.key, heads)
        for head in np.unique(np.linspace(0, heads - 1, min(heads, 12)).round().astype(int)):
            query = record.query[head].double().cpu()
            untied_spectrum, tied_spectrum = of_product(query, key[head]), of_product(query, query)
            untied.append(untied_spectrum.positive / max(untied_spectrum.rank, 1))
            tied.append(tied_spectrum.positive / max(tied_spectrum.rank, 1))
    three, shared = loss_of(subject, Switches()), loss_of(subject, Switches(shared_query_key=True))
    return Measurement(
        {"tied": min(tied), "own": float(np.median(untied)), "three": three[-1], "shared": shared[-1]},
        losses(((_THREE, three), (Both("W_Q = W_K", "W_Q = W_K"), shared))),
    )


SHARING = Question(
    30,
    asked=Both("Why may queries and keys not share one matrix?", "为什么 Q 和 K 不能共用一个矩阵？"),
    claim=Both(
        "Queries and keys must have matrices of their own: with one matrix attention has no flexibility.",
        "Q 和 K 必须用不同的权重矩阵：共用一个矩阵，注意力就没有灵活性。",
    ),
    parts=(
        ClaimPart(
            Both(
                "One matrix can only make products with eigenvalues that are not negative; those of this model have "
                "others too, so it would be less expressive.",
                "共用矩阵时乘积的特征值都不为负（半正定）；该模型的乘积也有负的，所以共用后表达能力更弱。",
            ),
            (at_least("tied", 1 - 1e-9), below("own", 0.95)),
        ),
        ClaimPart(
            Both(
                "It learns more slowly than two matrices.",
                "它比用两个矩阵学得慢。",
            ),
            (above("shared", "three"),),
        ),
        ClaimPart(
            Both("A network that shares them learns nothing.", "共用矩阵的网络学不会任何东西。"),
            (above("shared", 0.95 * GUESSING),),
        ),
    ),
    measure=_sharing,
    numbers={
        "tied": Label(Both("positive eigenvalues of QQᵀ, least of heads", "QQᵀ 的正特征值占比，各头最小值"), "%"),
        "own": Label(Both("positive eigenvalues of QKᵀ, median of heads", "QKᵀ 的正特征值占比，各头中位数"), "%"),
        "three": Label(Both("loss with W_Q and W_K", "W_Q、W_K 不同时的损失"), Both("nats", "nat"), of=SMALL),
        "shared": Label(Both("loss with W_Q = W_K", "W_Q = W_K 时的损失"), Both("nats", "nat"), of=SMALL),
    },
    setting=Both(
        "Eigenvalues: of the products on this text, in this model. " + _LAB.en,
        "特征值：该模型在该文本上的乘积。" + _LAB.zh,
    ),
    because=Both(
        "x_i W Wᵀ x_jᵀ with one matrix is symmetric and positive semidefinite: what is like a token scores high, and "
        "nothing can be looked for that is unlike it. Positions, values, W_O and the FFN can make up for much of that, "
        "which is why Reformer could share them.",
        "共用矩阵时 x_i W Wᵀ x_jᵀ 对称且半正定：与自己相似的分数高，无法去找与自己不同的东西。但位置编码、V、W_O 和 "
        "FFN 可以弥补很多，所以 Reformer 能够共用。",
    ),
    refuted=Both(
        "A network with W_Q = W_K that stays at guessing, or a product W Wᵀ with a negative eigenvalue.",
        "如果 W_Q = W_K 的网络一直停在随机猜测的水平，或者 W Wᵀ 有负特征值，判断就会改变。",
    ),
    formula=r"q_i \cdot k_j = x_i W_Q W_K^\top x_j^\top, \qquad W W^\top \succeq 0",
    papers=(KITAEV_2020,),
    see=PageLink("lab", {**_IN_THE_LAB, "lab_b_shared_query_key": "true"}),
    of=SEES_QUERIES,
    whole=from_seeds(
        30,
        [
            Pair(
                "shared",
                Switches(),
                Switches(shared_query_key=True),
                Both("From every seed it learns more slowly than two matrices.", "每个种子下，共用矩阵都学得更慢。"),
                Both("loss with W_Q = W_K less that with two matrices", "W_Q = W_K 的损失减两个矩阵的损失"),
            )
        ],
        {"shared_least": 0.550, "shared_most": 1.04},
    ),
)


def _without(subject: Subject) -> Measurement:
    layers = blocks_of(subject).of(stream_of(subject))
    if not layers:
        raise UnanswerableError(
            f"The states that enter the first layer of {subject.loaded.card.id} were not seen.",
            f"没有看到进入 {subject.loaded.card.id} 第一层的状态。",
        )
    x = torch.tensor(layers[0].enters).double()
    if len(x) < 2:
        raise UnanswerableError(
            "The text has one token, and nothing can be compared with it; write a longer one.",
            "该文本只有一个 token，没有可以比较的对象，请写长一些。",
        )
    itself, _ = _on_diagonal(_weights(x[None], x[None]))
    scores = (x @ x.T * x.shape[-1] ** -0.5).numpy()
    among = scores[~np.eye(len(x), dtype=bool)]
    three, none = loss_of(subject, Switches()), loss_of(subject, Switches(projections=False))
    drawn = subject.cached(("itself", SEED), partial(theory.itself, keys=64, width=512, seed=SEED))
    return Measurement(
        {
            "drawn": drawn,
            "itself": itself,
            "even": 1 / len(x),
            "ahead": float(np.diagonal(scores).mean() - among.mean()),
            "three": three[-1],
            "none": none[-1],
        },
        losses(((_THREE, three), (Both("no matrix", "没有矩阵"), none))),
    )


WITHOUT = Question(
    31,
    asked=Both(
        "Does attention work without W_Q, W_K and W_V, as softmax(x xᵀ/√d) x?",
        "不用 W_Q、W_K、W_V，直接算 softmax(x xᵀ/√d) x，可以吗？",
    ),
    claim=Both(
        "It can be computed and works, but weakly: a token mostly gets itself back.",
        "可以算，也能用，但效果弱：token 得到的主要是它自己。",
    ),
    parts=(
        ClaimPart(
            Both(
                "A network without the three matrices still learns something.", "没有这三个矩阵的网络仍能学到一些东西。"
            ),
            (below("none", 0.95 * GUESSING),),
        ),
        ClaimPart(
            Both("It learns less than with them.", "它学得不如有这三个矩阵的网络。"),
            (above("none", "three"),),
        ),
        ClaimPart(
            Both("Of random tokens each gives itself nearly everything.", "随机 token 几乎把全部权重给自己。"),
            (above("drawn", 0.99),),
        ),
        ClaimPart(
            Both(
                "In this text a token gives itself at least twice an even share.",
                "在该文本中，token 给自己的权重至少是平均分配的两倍。",
            ),
            (at_least("itself", "even", times=2),),
        ),
    ),
    measure=_without,
    numbers={
        "drawn": Label(Both("weight on itself, random tokens", "给自己的权重，随机 token"), "%", of=RANDOM),
        "itself": Label(Both("weight on itself, this text", "给自己的权重，该文本"), "%"),
        "even": Label(Both("an even share of this text", "该文本平均分配的权重"), "%"),
        "ahead": Label(
            Both(
                "score of a token with itself less that with others, mean", "token 与自己的分数减与其他 token 的，均值"
            )
        ),
        "three": Label(Both("loss with the three matrices", "有三个矩阵时的损失"), Both("nats", "nat"), of=SMALL),
        "none": Label(Both("loss without the three matrices", "没有三个矩阵时的损失"), Both("nats", "nat"), of=SMALL),
    },
    setting=Both(
        "Random: 64 tokens, d = 512, seed 0. This text: the states that enter the first layer, without a mask. "
        + _LAB.en,
        "随机：64 个 token，d = 512，种子 0。该文本：进入第一层的状态，不加掩码。" + _LAB.zh,
    ),
    because=Both(
        "x_i · x_i is a squared length, about d for entries of variance 1, while products with others are about √d. "
        "Divided by √d that is √d against 1, so the softmax picks the token itself. A model whose embeddings are small "
        "gives even rows instead: a token's score with itself is then hardly ahead of the others. Nothing can be "
        "learned about what to look for; only the layers around attention learn.",
        "x_i·x_i 是长度的平方，分量方差为 1 时约为 d，与其他 token 的乘积只有约 √d；除以 √d 后是 √d 对 1，softmax "
        "就选中自己。如果模型的嵌入向量很小，与自己的分数就几乎不占优，各行趋于均匀。该找什么无从学习，"
        "只有注意力之外的层能学。",
    ),
    refuted=Both(
        "A network without projections that stays at guessing, or that learns as well as one with them.",
        "如果没有投影的网络停在随机猜测的水平，或者学得和有投影的一样好，判断就会改变。",
    ),
    formula=r"\mathrm{softmax}\left(\frac{x x^\top}{\sqrt{d}}\right)_{ii}: \quad <drawn> \; (d = 512), \qquad <itself>",
    papers=(VASWANI_2017,),
    see=PageLink("lab", {**_IN_THE_LAB, "lab_b_projections": "false"}),
    of=SEES_QUERIES,
    whole=from_seeds(
        31,
        [
            Pair(
                "none",
                Switches(),
                Switches(projections=False),
                Both("From every seed it learns less without the matrices.", "每个种子下，没有矩阵都学得更差。"),
                Both("loss without the matrices less that with them", "没有矩阵的损失减有矩阵的损失"),
            )
        ],
        {"none_least": 1.77, "none_most": 2.06},
    ),
)


# --- 32: what each matrix reads ------------------------------------------------------------------------------------


def _overlap(first: Tensor, second: Tensor) -> float:
    """The share of one subspace that lies in another, of two matrices [D, E]: 1 for the same, E / D by chance.

    ||U^T V||_F^2 / E with orthonormal bases U, V of the columns: the mean squared cosine of the principal angles
    (Björck & Golub 1973). No change of basis within a head moves it, such as one that leaves all scores as they are.
    """
    bases = [torch.linalg.qr(matrix)[0] for matrix in (first, second)]
    narrower = min(matrix.shape[1] for matrix in bases)
    return float((bases[0].mT @ bases[1]).square().sum() / narrower)


def _roles(subject: Subject) -> Measurement:
    shared: dict[str, list[float]] = {"qk": [], "kv": [], "qv": []}
    records, network = layers_of(subject), subject.loaded.network
    stream = stream_of(subject)
    layers = {layer.layer: layer for layer in blocks_of(subject).of(stream)}
    for record in records:
        seen = [layers[record.site.layer].matrix(role) if record.site.layer in layers else None for role in "qkv"]
        sizes = [(len(tensor), tensor.shape[-1]) for tensor in (record.query, record.key, record.value)]
        by_head = []
        for matrix, (heads, size) in zip(seen, sizes, strict=True):
            weight = None if matrix is None else matrix.weight(network).double().cpu()  # [D, heads E]
            if weight is None or weight.shape[1] != heads * size:
                break
            by_head.append(weight.unflatten(1, (heads, size)).movedim(1, 0))  # [heads, D, E]
        if len(by_head) < 3:
            continue
        for head in range(sizes[0][0]):
            q, k, v = (each[head * len(each) // sizes[0][0]] for each in by_head)
            for name, pair in (("qk", (q, k)), ("kv", (k, v)), ("qv", (q, v))):
                shared[name].append(_overlap(*pair))
    if not shared["qk"]:
        raise UnanswerableError(
            f"The matrices W_Q, W_K and W_V of {subject.loaded.card.id} were not seen one by one.",
            f"没有分别看到 {subject.loaded.card.id} 的 W_Q、W_K、W_V。",
        )
    medians = {name: float(np.median(each)) for name, each in shared.items()}
    record, width = records[0], subject.trace.hidden.shape[-1]
    query, key, value = (len(tensor) * tensor.shape[-1] for tensor in (record.query, record.key, record.value))
    held, chance = width * (query + key + value), record.query.shape[-1] / width
    picture = Bars(
        (Both("W_Q and W_K", "W_Q 与 W_K"), Both("W_K and W_V", "W_K 与 W_V"), Both("W_Q and W_V", "W_Q 与 W_V")),
        list(medians.values()),
        Both("share of a subspace that both read, median of heads", "两者读取的子空间的重合度，各头中位数"),
        parts=("attention", "attention", "attention"),
        mark=chance,
    )
    return Measurement({**medians, "chance": chance, "held": float(held), "square": float(3 * width**2)}, picture)


ROLES = Question(
    32,
    asked=Both("What are three projections for?", "为什么要用三个投影矩阵？"),
    claim=Both(
        "They decouple three roles, asking, matching and delivering, and add capacity: 3 d² parameters.",
        "三个投影使三种角色解耦：提问、匹配、传递内容，并增加 3d² 个参数的容量。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Asking and matching are apart: of what a head's queries read of a token, its keys read less than "
                "half.",
                "提问与匹配分开了：一个头的查询读取 token 的那些方向，键读到的不到一半。",
            ),
            (below("qk", 0.5),),
        ),
        ClaimPart(
            Both(
                "Matching and delivering are apart: of what its keys read, its values read less than half.",
                "匹配与传递内容也分开了：键读取的方向，值读到的不到一半。",
            ),
            (below("kv", 0.5),),
        ),
        ClaimPart(
            Both("The three matrices of a layer hold 3 d² parameters.", "一层的三个矩阵共有 3d² 个参数。"),
            (equal("held", "square"),),
        ),
        ClaimPart(
            Both(
                "The directions are not unrelated: queries and keys share more than chance gives.",
                "但各方向并非无关：查询与键的重合度高于随机水平。",
            ),
            (above("qk", "chance"),),
            role="limit",
        ),
    ),
    measure=_roles,
    numbers={
        "qk": Label(
            Both("subspace that W_Q and W_K share, median of heads", "W_Q 与 W_K 的子空间重合度，各头中位数"), "%"
        ),
        "kv": Label(
            Both("subspace that W_K and W_V share, median of heads", "W_K 与 W_V 的子空间重合度，各头中位数"), "%"
        ),
        "qv": Label(
            Both("subspace that W_Q and W_V share, median of heads", "W_Q 与 W_V 的子空间重合度，各头中位数"), "%"
        ),
        "chance": Label(Both("subspace that random matrices share, d_k / d", "随机矩阵的子空间重合度 d_k/d"), "%"),
        "held": Label(
            Both("parameters of W_Q, W_K and W_V in a layer, without biases", "一层中 W_Q、W_K、W_V 的参数量，不含偏置")
        ),
        "square": Label(Both("3 d²", "3d²")),
    },
    setting=Both(
        "Of each head of at most 12 layers, the d_k directions of a token that each matrix reads. Shared: the mean "
        "squared cosine of the principal angles, 1 for one matrix in both roles. A cosine of q and k would not do: a "
        "change of basis that leaves every score as it is changes it. Parameters: the width of the model times what "
        "the "
        "heads' queries, keys and values take together.",
        "最多取 12 层，看每个头的三个矩阵各读取 token 的哪 d_k 个方向。重合度：主角余弦平方的均值，同一个矩阵为 1。"
        "不能用 q 与 k 的余弦：换一组基，所有分数不变，余弦却会变。参数量：模型宽度乘以各头的查询、键、值的总宽度。",
    ),
    because=Both(
        "What a word looks for, by what it is found, and what it then hands over are three things: a verb looks for "
        "its subject and is found as a verb. Heads that share keys and values (GQA) hold less than 3 d².",
        "一个词要找什么、凭什么被找到、被找到后给出什么，是三件不同的事：动词找主语，而它自己是作为动词被找到的。"
        "多个头共用键和值（GQA）时，参数少于 3d²。",
    ),
    refuted=Both(
        "A trained model whose heads read the same directions of a token in two of the roles.",
        "如果训练好的模型中，各头在其中两个角色里读取同样的方向，判断就会改变。",
    ),
    formula=r"\frac{\lVert U_Q^\top U_K \rVert_F^2}{d_k} = <qk>, \quad \frac{d_k}{d} = <chance>, \qquad "
    r"3 d^2 = <square>, \; d\,(H d_q + K d_k + K d_v) = <held>",
    papers=(VASWANI_2017, AINSLIE_2023),
    see=PageLink("scores", {"section": "Queries and keys"}),
    of=SEES_QUERIES,
    reads_text=False,
)


def _key_is_value(subject: Subject) -> Measurement:
    of_value, of_query = [], []
    for record in layers_of(subject):
        heads = len(record.query)
        key, value = of_each_head(record.key, heads), of_each_head(record.value, heads)
        size = key.flatten(1).norm(dim=1).clamp(min=1e-30)
        of_query += ((key - record.query.double().cpu()).flatten(1).norm(dim=1) / size).tolist()
        if value.shape == key.shape:
            of_value += ((key - value).flatten(1).norm(dim=1) / size).tolist()
    if not of_value:
        raise UnanswerableError(
            f"Keys and values of {subject.loaded.card.id} differ in width, so they cannot be equal.",
            f"{subject.loaded.card.id} 的键和值宽度不同，不可能相等。",
        )
    three, shared = loss_of(subject, Switches()), loss_of(subject, Switches(shared_key_value=True))
    return Measurement(
        {
            "value": float(np.median(of_value)),
            "query": float(np.median(of_query)),
            "three": three[-1],
            "shared": shared[-1],
        },
        losses(((_THREE, three), (Both("K = V", "K = V"), shared))),
    )


KEY_IS_VALUE = Question(
    33,
    asked=Both(
        "Is K = V, or even Q = K = V, in the standard Transformer?",
        "标准 Transformer 中 K = V，甚至 Q = K = V 吗？",
    ),
    claim=Both(
        "In attention the key is often the value, and in self-attention Q = K = V.",
        "注意力中键常常等于值，自注意力中 Q = K = V。",
    ),
    parts=(
        ClaimPart(Both("Keys and values are the same vectors.", "键和值是相同的向量。"), (at_most("value", 1e-3),)),
        ClaimPart(Both("Queries and keys are the same vectors.", "查询和键是相同的向量。"), (at_most("query", 1e-3),)),
    ),
    measure=_key_is_value,
    numbers={
        "value": Label(Both("‖K − V‖ / ‖K‖, median of heads", "‖K − V‖/‖K‖，各头中位数")),
        "query": Label(Both("‖K − Q‖ / ‖K‖, median of heads", "‖K − Q‖/‖K‖，各头中位数")),
        "three": Label(
            Both("loss of a small network with K and V of their own", "小网络的损失，K、V 不同"),
            Both("nats", "nat"),
            of=SMALL,
        ),
        "shared": Label(
            Both("loss of a small network with K = V", "小网络的损失，K = V"), Both("nats", "nat"), of=SMALL
        ),
    },
    setting=Both(
        "Keys, values and queries of this text, in at most 12 layers. " + _LAB.en,
        "该文本的键、值和查询，最多取 12 层。" + _LAB.zh,
    ),
    because=Both(
        "All three come from the same states x, and figures draw one arrow that splits in three. What is equal is x; "
        "W_Q, W_K and W_V differ. Before the Transformer keys often were the values (Bahdanau's encoder states), and a "
        "network with K = V can be trained, as the curve shows.",
        "三者都来自同一个 x，示意图上画成一条箭头分成三支。相同的是 x，不同的是 W_Q、W_K、W_V。在 Transformer 之前，"
        "键往往就是值（如 Bahdanau 的编码器状态）；K = V 的网络也能训练，见曲线。",
    ),
    refuted=Both(
        "A Transformer whose keys are its values, vector by vector.",
        "如果某个 Transformer 的键与值逐个向量相等，判断就会改变。",
    ),
    formula=r"\frac{\lVert K - V \rVert}{\lVert K \rVert} = <value>, "
    r"\qquad \frac{\lVert K - Q \rVert}{\lVert K \rVert} = <query>",
    papers=(BAHDANAU_2015, VASWANI_2017),
    see=PageLink("scores", {"section": "Queries and keys"}),
    of=SEES_QUERIES,
    whole=from_seeds(
        33,
        [
            Pair(
                "shared",
                Switches(),
                Switches(shared_key_value=True),
                Both("From every seed a network with K = V learns worse.", "每个种子下，K = V 的网络都学得更差。"),
                Both("loss with K = V less that with K and V of their own", "K = V 的损失减 K、V 不同的损失"),
            )
        ],
        {"shared_least": 0.155, "shared_most": 0.829},
    ),
)


THEME = Theme(
    "projections",
    Both("Q, K and V", "Q、K、V"),
    (SCORE_SYMMETRY, WEIGHT_SYMMETRY, DIAGONAL, OFF_DIAGONAL, SHARING, WITHOUT, ROLES, KEY_IS_VALUE),
)
