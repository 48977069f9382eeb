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
from inspector.questions.record.kinds import ENCODER
from inspector.questions.record.picture import Bars, Heatmap, Lines, Series
from inspector.questions.record.question import (
    Measure,
    Measurement,
    Run,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.inside import blocks_of, left_out, stream_of
from inspector.questions.themes.together import BESIDE, read_of
from inspector.questions.themes.trained import (
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


def _site(subject: Subject, stream: str | None = None) -> AttentionSite:
    """The first attention call of the text. Raises UnanswerableError for a text of fewer than three tokens."""
    site = next(site for site in subject.trace.sites if stream in (None, site.stream))
    if len(site.queries) < _FEWEST:
        raise UnanswerableError(
            f"The text has {len(site.queries)} tokens, and the question needs {_FEWEST}; write more words.",
            f"这段文本有 {len(site.queries)} 个 token，而这个问题至少需要 {_FEWEST} 个；请多写几个词。",
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


def _related(subject: Subject) -> Measurement:
    trace = subject.trace
    _first(subject)
    stream = trace.sites[0].stream
    table = subject.once(f"ranks {stream}", lambda: ranks.measure(trace, stream=stream)).dropna(subset=["cosine"])
    if table.empty:
        raise UnanswerableError(
            "No query of this text sees three keys, so none can be ranked.",
            "这段文本中没有能看到三个键的查询，无法排序。",
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
                Both("heads of this model", "这个模型的各个头"),
                table["key_spread"].tolist(),
                table["distance"].tolist(),
                points=True,
            ),
        ),
        x_title=Both("spread of |k|", "|k| 的离散程度"),
        y_title=Both("rank correlation of q · k and −|q − k|", "q·k 与 −|q − k| 的秩相关"),
    )
    return Measurement(numbers, picture)


def _telling(subject: Subject) -> Measurement:
    left = left_out(subject)
    rho = leave_one_out.correlations(left)["rho"].dropna()
    if rho.empty:
        raise UnanswerableError(
            "No head ranks the tokens of this text, for all get the same weight.",
            "各头给这段文本每个 token 的权重都相同，无法排序。",
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
            "这段文本倒过来完全一样，没有别的源文本可读；请换一些词。",
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
        Both("surprise at a token, nats a letter", "token 的负对数概率（surprisal），nat/字母"),
    )
    return Measurement(
        {"classified": subject.cached(("classified", encoder.card.id), lambda: classified(encoder)), **read}, picture
    )


MEASURES: dict[int, Measure] = {
    1: _formula,
    2: _roles,
    3: _itself,
    4: _related,
    5: _telling,
    6: _two_sequences,
    7: _bottleneck,
    8: _rnn_query,
    9: _connected,
    10: _long_range,
    11: _vanishing,
    12: _order,
    13: _other_functions,
    14: _both_tasks,
}
RUNS: dict[int, Run] = {
    7: _reversed_by_rnn,
}
