"""Queries, keys and values: what each projection is for, and what happens without them. Questions 26 to 33."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.picture import Bars, Heatmap
from inspector.questions.record.question import Measure, Measurement, Run
from inspector.questions.record.subject import Subject
from inspector.questions.themes.inside import blocks_of, stream_of
from inspector.questions.themes.queries import layers_of, of_each_head
from inspector.questions.themes.trained import Pair, from_seeds, loss_of, losses
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
            Both("this model, queries for keys", "这个模型，用查询代替键"),
        ),
        (drawn["equal"], drawn["linear"], drawn["apart"], float(np.mean([weight for weight, _ in here]))),
        Both("mean weight of a token on itself", "token 给自己的平均权重"),
        mark=1 / 32,
    )
    return Measurement(numbers, picture)


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


# --- 30, 31, 33: networks that share or lack projections -----------------------------------------------------------


_THREE = Both("three matrices", "三个矩阵")


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
            "这段文本只有一个 token，没有可以比较的对象，请写长一些。",
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
            by_head.append(weight.reshape(len(weight), heads, size).movedim(1, 0))  # [heads, D, E]
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


MEASURES: dict[int, Measure] = {
    26: _score_symmetry,
    27: _weight_symmetry,
    28: _diagonal,
    29: _off_diagonal,
    30: _sharing,
    31: _without,
    32: _roles,
    33: _key_is_value,
}
RUNS: dict[int, Run] = {
    30: from_seeds(
        Pair(
            "shared",
            Switches(),
            Switches(shared_query_key=True),
            Both("loss with W_Q = W_K less that with two matrices", "W_Q = W_K 的损失减两个矩阵的损失"),
        )
    ),
    31: from_seeds(
        Pair(
            "none",
            Switches(),
            Switches(projections=False),
            Both("loss without the matrices less that with them", "没有矩阵的损失减有矩阵的损失"),
        )
    ),
    33: from_seeds(
        Pair(
            "shared",
            Switches(),
            Switches(shared_key_value=True),
            Both("loss with K = V less that with K and V of their own", "K = V 的损失减 K、V 不同的损失"),
        )
    ),
}
