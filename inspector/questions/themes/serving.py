"""Serving: what makes a trained model cheaper to run, and what that costs. Questions 144 to 149."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn

import models
from inspector import costs
from inspector.costs.shelf import SHELF
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import (
    Measure,
    Measurement,
    Run,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.continued import batch_of, is_large, logits_of, loss, losses
from inspector.questions.themes.trained import RIGHT, courses_drawn, ends, last_right, train_both
from models.attention import AttentionCall, editing
from models.attention.imposing import imposing
from models.attention.seam import Compute
from models.training.tiny.experiments import Experiment, Switches
from models.transformer.runner import OwnRunner

LOSS = Both("loss, nats a token", "损失，nat/token")

# --- 144: GQA ------------------------------------------------------------------------------------------------------

Merge = Callable[[Tensor], Tensor]
"""Makes one head of a group: [B, groups, heads of a group, T, E] -> [B, groups, T, E]."""
MERGES: dict[str, Merge] = {"averaged": lambda heads: heads.mean(dim=2), "first": lambda heads: heads[:, :, 0]}
_SHARED = Experiment(steps=600, seeds=5, a=Switches(), b=Switches(kv_heads=1))


def groups_of(heads: int) -> int:
    """Return the number of groups into which K heads of keys and values are merged: half, or their largest divisor."""
    return next((number for number in range(heads // 2, 0, -1) if heads % number == 0), 1)


def merging(groups: int, merge: Merge) -> Callable[[AttentionCall, Compute], Tensor]:
    """Give every head of a group the same keys and values, as `merge` makes them of the group's."""

    def edit(call: AttentionCall, compute: Compute) -> Tensor:
        def merged(tensor: Tensor) -> Tensor:
            each = tensor.shape[1] // groups
            return merge(tensor.reshape(len(tensor), groups, each, *tensor.shape[2:])).repeat_interleave(each, dim=1)

        return compute(replace(call, key=merged(call.key), value=merged(call.value)))

    return edit


def _with_several(subject: Subject) -> int:
    """Return how many heads of keys and values the model has; refuse where there is one alone."""
    cache = costs.kv_cache(subject.loaded.config)
    if cache.kv_heads < 2 or cache.sharing == "MLA":
        raise UnanswerableError(
            f"{subject.loaded.card.id} has one head of keys and values, or a latent, and nothing to merge.",
            f"{subject.loaded.card.id} 只有一个 K、V 头，或者使用潜在向量，没有可合并的头。",
        )
    return cache.kv_heads


def _grouped(subject: Subject) -> Measurement:
    loaded, heads = subject.loaded, _with_several(subject)
    groups, ids = groups_of(heads), batch_of(subject)
    cache = costs.kv_cache(loaded.config)
    found = {"loss": subject.once("loss of passages", partial(loss, loaded, ids))}
    for name, merge in MERGES.items():
        with editing(merging(groups, merge)):
            found[name] = loss(loaded, ids)
    picture = Bars(
        [
            Both("as trained", "训练好的模型"),
            Both("averaged in groups", "按组平均"),
            Both("first of each group", "每组取第一个"),
        ],
        list(found.values()),
        LOSS,
        mark=found["loss"],
    )
    return Measurement(
        {
            **found,
            "heads": float(heads),
            "groups": float(groups),
            "cache": cache.shared_by(groups).token_bytes() / cache.token_bytes(),
            "share": groups / heads,
        },
        picture,
    )


def _grouped_from_the_start(subject: Subject, watch: Watch) -> Measurement:
    """Train the Lab's network with keys and values for each of four heads, and with one head of both."""
    courses = train_both(_SHARED, watch)
    each, shared = ends(courses, last_right)
    names = Both("4 heads of K and V", "4 个 K、V 头"), Both("1 head of K and V", "1 个 K、V 头")
    return Measurement(
        {
            "each": sum(each) / len(each),
            "shared": sum(shared) / len(shared),
            "each_least": min(each),
            "shared_least": min(shared),
        },
        courses_drawn(courses, names, of=lambda report: report.exact_accuracy, y_title=RIGHT),
    )


# --- 145: MQA and MLA ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Directions:
    """The mean [F] of a layer's recorded keys and values, all heads side by side, and their main directions [F, F]."""

    mean: Tensor
    main: Tensor
    squares: Tensor  # the share of the variance in each direction, falling


def directions(keys_and_values: Tensor) -> Directions:
    """Find the main directions of rows [N, F] -> Directions, by a singular value decomposition in float64."""
    rows = keys_and_values.double()
    mean = rows.mean(dim=0)
    _, singular, main = torch.linalg.svd(rows - mean, full_matrices=False)
    squares = singular.square()
    return Directions(mean, main.T, squares / squares.sum())


def _beside(key: Tensor, value: Tensor) -> Tensor:
    """Put keys and values [B, K, T, E] of all heads side by side -> [B, T, 2 K E]."""
    return torch.cat([key, value], dim=1).transpose(1, 2).flatten(start_dim=2)


def compressing(found: Mapping[int, Directions], numbers: int) -> Callable[[AttentionCall, Compute], Tensor]:
    """Keep of each token's keys and values `numbers` numbers, a latent, and make all heads of it again."""

    def edit(call: AttentionCall, compute: Compute) -> Tensor:
        assert call.layer is not None
        layer, heads = found[call.layer], call.key.shape[1]
        rows = _beside(call.key, call.value).double() - layer.mean
        basis = layer.main[:, :numbers]
        again = (rows @ basis @ basis.T + layer.mean).to(call.key)
        each = again.reshape(*again.shape[:2], 2 * heads, -1).transpose(1, 2)
        return compute(replace(call, key=each[:, :heads], value=each[:, heads:]))

    return edit


def _recorded(loaded: models.LoadedModel, ids: Tensor) -> dict[int, Directions]:
    """Read ids [B, T] and find the directions of each layer's keys and values."""
    seen: dict[int, Directions] = {}

    def edit(call: AttentionCall, compute: Compute) -> Tensor:
        assert call.layer is not None
        seen[call.layer] = directions(_beside(call.key, call.value).flatten(end_dim=1))
        return compute(call)

    with editing(edit):
        logits_of(loaded, ids)
    return seen


def _latent(subject: Subject) -> Measurement:
    loaded, heads = subject.loaded, _with_several(subject)
    ids = batch_of(subject)
    learned, held = ids[:2], ids[2:]
    found = _recorded(loaded, learned)
    full = int(next(iter(found.values())).mean.numel())
    kept = full // heads  # what one head of keys and values has: the cache of MQA
    base = loss(loaded, held)
    with editing(merging(1, MERGES["averaged"])):
        shared = loss(loaded, held)
    with editing(compressing(found, kept)):
        latent = loss(loaded, held)
    needed = [int((layer.squares.cumsum(dim=0) < 0.99).sum()) + 1 for layer in found.values()]
    shelf = SHELF["deepseek-v3"].config()
    mla = costs.kv_cache(shelf).layers[0].numbers
    cumulated = torch.stack([layer.squares.cumsum(dim=0) for layer in found.values()]).mean(dim=0)
    picture = Lines(
        (
            Series(
                Both("variance of keys and values", "K、V 的方差"),
                [float(number) for number in range(1, len(cumulated) + 1)],
                [100 * float(share) for share in cumulated],
            ),
        ),
        x_title=Both("numbers kept a token, of a layer", "每个 token 每层保留的数"),
        y_title=Both("share of the variance, mean of layers, %", "方差占比，各层均值，%"),
        mark_x=float(kept),
    )
    return Measurement(
        {
            "loss": base,
            "shared": shared,
            "latent": latent,
            "kept": float(kept),
            "full": float(full),
            "needed": sum(needed) / len(needed) / full,
            "mla": float(mla),
            "mqa": float(2 * shelf.v_head_dim),
            "groups": mla / (2 * shelf.v_head_dim),
        },
        picture,
    )


# --- 146: FlashAttention -------------------------------------------------------------------------------------------

N, HEAD = 1024, 64  # tokens and width of a head, as in the paper's measurement of GPT-2
SRAM = 100 * 1024 // 2  # numbers of two bytes in the 100 KB that the paper names


@dataclass(frozen=True)
class Tiled:
    """The output [N, D] of tiled attention, and the numbers that it moved between slow memory and fast."""

    output: Tensor
    moved: int


def tile_sizes(width: int, sram: int) -> tuple[int, int]:
    """Return the rows of a tile of queries and of keys, as Algorithm 1 of Dao et al. (2022) sets them."""
    keys = max(1, -(-sram // (4 * width)))
    return min(keys, width), keys


def tiled(query: Tensor, key: Tensor, value: Tensor, *, sram: int, running_maximum: bool = True) -> Tiled:
    """Attend tile by tile with a running maximum and sum: q, k, v [N, D] -> Tiled (Dao et al. 2022, Algorithm 1).

    sram: numbers that fast memory holds. running_maximum: False leaves the maximum out, and exp may overflow.
    """
    rows, columns = tile_sizes(query.shape[1], sram)
    count, moved = len(query), 0
    output = torch.zeros_like(value)
    largest = torch.full((count, 1), -math.inf if running_maximum else 0.0, dtype=query.dtype)
    total = torch.zeros(count, 1, dtype=query.dtype)
    for start in range(0, len(key), columns):
        k, v = key[start : start + columns], value[start : start + columns]
        moved += k.numel() + v.numel()
        for at in range(0, count, rows):
            part = slice(at, at + rows)
            q, o, m, s = query[part], output[part], largest[part], total[part]
            moved += q.numel() + o.numel() + m.numel() + s.numel()
            scores = q @ k.T * q.shape[1] ** -0.5
            highest = torch.maximum(m, scores.amax(dim=1, keepdim=True)) if running_maximum else m
            weights, fades = (scores - highest).exp(), (m - highest).exp()
            summed = fades * s + weights.sum(dim=1, keepdim=True)
            output[part] = (fades * s * o + weights @ v) / summed
            largest[part], total[part] = highest, summed
            moved += o.numel() + m.numel() + s.numel()
    return Tiled(output, moved)


def whole_moves(tokens: int, width: int) -> int:
    """Count the numbers that plain attention moves: Q, K, V and O once, scores and weights written and read each."""
    return 4 * tokens * width + 4 * tokens**2


def tiled_moves(tokens: int, width: int, *, sram: int) -> int:
    """Count what `tiled` moves, without running it."""
    rounds = -(-tokens // tile_sizes(width, sram)[1])
    return 2 * tokens * width + rounds * tokens * (3 * width + 4)


def _attended(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attend at once in float64, the independent result: [N, D] -> [N, D]."""
    query, key, value = query.double(), key.double(), value.double()
    mixed: Tensor = (query @ key.T * query.shape[1] ** -0.5).softmax(dim=1) @ value
    return mixed


def _flash() -> Measurement:
    drawn = torch.randn(3, N, HEAD, generator=torch.Generator().manual_seed(0))
    exact = _attended(*drawn)
    tiles = tiled(*drawn, sram=SRAM)
    at_once = torch.softmax(drawn[0] @ drawn[1].T * HEAD**-0.5, dim=1) @ drawn[2]
    large = drawn[0] * 100, drawn[1], drawn[2]
    bare = tiled(*large, sram=SRAM, running_maximum=False).output
    lengths = [2**power for power in range(7, 15)]
    picture = Lines(
        (
            Series(
                Both("scores and weights written out", "写出整个分数与权重矩阵"),
                lengths,
                [2.0 * whole_moves(n, HEAD) for n in lengths],
            ),
            Series(
                Both("tile by tile", "分块"),
                lengths,
                [2.0 * tiled_moves(n, HEAD, sram=SRAM) for n in lengths],
                dashed=True,
            ),
        ),
        x_title=Both("tokens", "token 数"),
        y_title=Both("bytes moved, one head", "搬运的字节数，一个头"),
        log_x=True,
        log_y=True,
    )
    size = float(exact.abs().max())
    doubled = tiled_moves(2**14, HEAD, sram=SRAM) / tiled_moves(2**13, HEAD, sram=SRAM)
    return Measurement(
        {
            "difference": float((tiles.output.double() - exact).abs().max()) / size,
            "rounding": float((at_once.double() - exact).abs().max()) / size,
            "whole": 2.0 * whole_moves(N, HEAD),
            "moved": 2.0 * tiles.moved,
            "share": tiles.moved / whole_moves(N, HEAD),
            "growth": math.log2(doubled),
            "wide": tiled_moves(N, 256, sram=SRAM // 4) / whole_moves(N, 256),
            "broken": float((~torch.isfinite(bare)).any(dim=1).double().mean()),
        },
        picture,
    )


# --- 147: int8 and int4 --------------------------------------------------------------------------------------------


def rounded(weight: Tensor, *, bits: int, over: tuple[int, ...]) -> Tensor:
    """Round a matrix to whole numbers of `bits` bits times a scale: the largest |w| over the axes `over` (absmax).

    round(w / s) s with s = max|w| / (2^(bits - 1) - 1) (Dettmers et al. 2022, section 2.1).
    """
    most = 2 ** (bits - 1) - 1
    scale = (weight.abs().amax(dim=over, keepdim=True) / most).clamp(min=1e-12)
    whole: Tensor = (weight / scale).round() * scale
    return whole


def quantised(loaded: models.LoadedModel, *, bits: int, by_channel: bool = True) -> models.LoadedModel:
    """Copy a model with the weights of all linear layers rounded, one scale for each output channel or matrix."""
    copied = models.of(_whole(loaded), tokenizer=loaded.tokenizer)
    linear = [each for each in _whole(copied).modules() if _is_linear(each)]
    if not linear:
        raise UnanswerableError(
            f"{loaded.card.id} has no linear layers that can be rounded.", f"{loaded.card.id} 没有可以量化的线性层。"
        )
    for module in linear:
        inputs = 1 if isinstance(module, nn.Linear) else 0  # transformers' Conv1D keeps [in, out]
        over = (inputs,) if by_channel else (0, 1)
        weight = rounded(module.get_parameter("weight").detach(), bits=bits, over=over)
        module.weight = nn.Parameter(weight, requires_grad=False)
    return copied


def _whole(loaded: models.LoadedModel) -> nn.Module:
    """Return the network with its language head, where it has one."""
    return loaded.runner.whole if isinstance(loaded.runner, OwnRunner) else loaded.network


def _is_linear(module: nn.Module) -> bool:
    return isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D"


def _states(loaded: models.LoadedModel, subject: Subject) -> Tensor:
    """Read the reader's text -> last hidden states, float64 [T, D]."""
    encoding = subject.trace.encoding
    ids, segments = torch.tensor([encoding.ids]), torch.tensor([encoding.segments])
    with torch.inference_mode():
        return loaded.run(ids, torch.ones_like(ids, dtype=torch.bool), segments)[0].double()


def _losses_in_bits(subject: Subject) -> dict[str, float]:
    """The loss of mini-gpt on the passages with its weights as they are, in 8 bits and in 4."""
    small = replace(subject, loaded=subject.load("mini-gpt"))
    ids = batch_of(small)
    found = {"loss": loss(small.loaded, ids)}
    for bits in (8, 4):
        found[f"loss_{bits}"] = loss(quantised(small.loaded, bits=bits), ids)
    return found


def _in_bits(subject: Subject) -> Measurement:
    loaded, before = subject.loaded, _states(subject.loaded, subject)
    lengths = before.norm(dim=1).clamp(min=1e-12)
    moved: dict[str, float] = {}
    for name, bits, by_channel in (("moved_8", 8, True), ("moved_4", 4, True), ("moved_8_matrix", 8, False)):
        after = _states(quantised(loaded, bits=bits, by_channel=by_channel), subject)
        moved[name] = float(((after - before).norm(dim=1) / lengths).mean())
    found = subject.cached("mini-gpt in bits", partial(_losses_in_bits, subject))
    picture = Bars(
        [
            Both("8 bits, a scale for each channel", "8 位，每个通道一个缩放因子"),
            Both("4 bits, a scale for each channel", "4 位，每个通道一个缩放因子"),
            Both("8 bits, one scale for each matrix", "8 位，每个矩阵一个缩放因子"),
        ],
        [100 * moved[name] for name in moved],
        Both("change of a token's last state, % of its length", "最后一层状态的变化，占其长度的百分比"),
    )
    return Measurement({**found, **moved}, picture)


# --- 148: speculative decoding -------------------------------------------------------------------------------------

DRAFTED, MATCHED = 4, 2  # tokens that are drafted at a time; tokens at the end that are looked up earlier in the text
PROMPT, AGAIN, WRITTEN, WRITTEN_BY_LARGE = 24, 12, 24, 16  # tokens
Ask = Callable[[list[int], int], list[int]]  # ids [T], a place in them -> the likeliest next token from there on


@dataclass(frozen=True)
class Drafted:
    """The new tokens of a drafted writing, and how many times the model was asked for them."""

    tokens: tuple[int, ...]
    steps: int


def draft(ids: list[int]) -> list[int]:
    """Guess the next tokens: those that followed when the last two first stood in the text (Saxena 2023)."""
    end = ids[-MATCHED:]
    for start in range(len(ids) - MATCHED):
        if ids[start : start + MATCHED] == end:
            return ids[start + MATCHED : start + MATCHED + DRAFTED]
    return []


def write_drafted(likeliest: Ask, ids: list[int], *, new_tokens: int, held: bool = True) -> Drafted:
    """Write the likeliest tokens, several a step where the draft is right (Leviathan et al. 2023, section 2).

    held: whether a guess is kept only as far as it is what the model would have written.
    """
    written, steps = list(ids), 0
    while len(written) < len(ids) + new_tokens:
        guess = draft(written)
        wanted = likeliest(written + guess, len(written) - 1)
        right = 0
        while right < len(guess) and (guess[right] == wanted[right] or not held):
            right += 1
        written += [*guess[:right], wanted[right]]
        steps += 1
    return Drafted(tuple(written[len(ids) :][:new_tokens]), steps)


def _speculative_rule(*, residual: bool = True) -> float:
    """The largest |p' − p| where p' is what accepting a drawn guess with min(1, p / q) gives, over 100 random pairs.

    residual: whether a refused guess is replaced by a draw from max(0, p − q), as the rule says, or by one from p.
    """
    generator = torch.Generator().manual_seed(0)
    p, q = torch.randn(2, 100, 50, generator=generator, dtype=torch.float64).mul(2).softmax(dim=-1)
    accepted = torch.minimum(p, q)
    left = (p - q).clamp(min=0) if residual else p
    refused = 1 - accepted.sum(dim=1, keepdim=True)
    made = accepted + refused * left / left.sum(dim=1, keepdim=True)
    return float((made - p).abs().max())


def _is_greedy(likeliest: Ask, prompt: list[int], tokens: tuple[int, ...]) -> bool:
    """Return True if each of `tokens` is the likeliest after the tokens before it: what the model writes alone."""
    return likeliest([*prompt, *tokens], len(prompt) - 1)[:-1] == list(tokens)


def _speculative(subject: Subject) -> Measurement:
    loaded = subject.loaded
    new_tokens = WRITTEN_BY_LARGE if is_large(subject) else WRITTEN
    passages = batch_of(subject)[: 1 if is_large(subject) else 2, :PROMPT].tolist()
    kinds = {"plain": passages, "copying": [[*passage, *passage[1:AGAIN]] for passage in passages]}

    def likeliest(ids: list[int], since: int) -> list[int]:
        found: list[int] = logits_of(loaded, torch.tensor([ids]), since=since)[0].argmax(dim=-1).tolist()
        return found

    same, tokens_a_step, by_step = list[bool](), dict[str, float](), list[float]()
    for kind, prompts in kinds.items():
        steps = []
        for prompt in prompts:
            drafted = write_drafted(likeliest, prompt, new_tokens=new_tokens)
            same.append(_is_greedy(likeliest, prompt, drafted.tokens))
            steps.append(drafted.steps)
        by_step += [new_tokens / each for each in steps]
        tokens_a_step[kind] = new_tokens * len(prompts) / sum(steps)
    names = [
        Both(f"{en} {number + 1}", f"{zh} {number + 1}")
        for en, zh in (("passage", "短文"), ("begun again", "重复开头"))
        for number in range(len(passages))
    ]
    picture = Bars(names, by_step, Both("tokens a step of the model", "模型每步写出的 token"), mark=1.0)
    return Measurement({"same": sum(same) / len(same), **tokens_a_step, "rule": _speculative_rule()}, picture)


# --- 149: sinks in streaming ---------------------------------------------------------------------------------------

CACHE, SINKS = 32, 4  # tokens


@dataclass(frozen=True)
class KeptTokens:
    """A cache's rule: a token sees the `window` last tokens, itself included, and `more` tokens from `at` on."""

    keys: int
    window: int
    more: int = 0
    at: int = 0

    def rows(self, start: int, stop: int) -> Tensor:
        """[1, 1, stop - start, T]."""
        query, key = torch.arange(start, stop)[:, None], torch.arange(self.keys)
        near_by = (query - key < self.window) & (key <= query)
        kept = (key >= self.at) & (key < self.at + self.more) & (key <= query)
        return (near_by | kept)[None, None]


@contextmanager
def _cached(window: int, more: int = 0, at: int = 0) -> Iterator[None]:
    with imposing(lambda tokens: KeptTokens(tokens, window, more, at)):
        yield


def _streaming(subject: Subject) -> Measurement:
    loaded, ids = subject.loaded, batch_of(subject)
    cache = CACHE if ids.shape[1] > 2 * CACHE else ids.shape[1] // 2
    by_place: dict[str, Tensor] = {"full": losses(logits_of(loaded, ids), ids)[:, cache:]}
    ways = {"window": (cache,), "sinks": (cache - SINKS, SINKS), "others": (cache - SINKS, SINKS, SINKS)}
    for name, way in ways.items():
        with _cached(*way):
            by_place[name] = losses(logits_of(loaded, ids), ids)[:, cache:]
    found = {name: float(each.mean()) for name, each in by_place.items()}
    names = [
        Both("all tokens", "所有 token"),
        Both("window alone", "只有窗口"),
        Both("window and the first 4", "窗口加最前 4 个"),
        Both("window and the 4 after", "窗口加其后 4 个"),
    ]
    return Measurement(
        {**found, "cache": float(cache), "rise": found["window"] / found["full"] - 1},
        Bars(names, list(found.values()), LOSS, mark=found["full"]),
    )


MEASURES: dict[int, Measure] = {
    144: _grouped,
    145: _latent,
    146: lambda subject: subject.cached("flash", _flash),
    147: _in_bits,
    148: _speculative,
    149: _streaming,
}
RUNS: dict[int, Run] = {
    144: _grouped_from_the_start,
}
