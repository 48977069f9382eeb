"""The sentences of Positions' sections, parsed and held against plain numpy, and against the model run anew."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from random import Random

import numpy as np
import pytest
import torch

import inspector
from inspector import interventions, positional
from inspector.sections.positions import distance, length, opening
from inspector.sections.positions import order as order_section
from inspector.trace import Trace
from inspector.wording.english import positions as words
from models import LoadedModel
from models.transformer.positions import Rotary
from tests.closeness import assert_close
from tests.inspector.wording.said import COUNT, NUMBER, PERCENT, claim, count, is_number, is_percent, planted

TEXTS = {
    "minilm": "The cat sat on the mat because it was tired.",
    "mini-gpt": "He said that the old man was the first.",
    "own-encoder": "Nobody saw it.",
}
TURNS = (
    rf"Its pairs of dimensions turn once in {NUMBER} to {NUMBER} tokens: (none|\d+)(?: of (\d+))? turns? whole within "
    r"this text(?:'s one token)?\."
)
SHARE = rf"(under 0\.01 %|{NUMBER} %)"
ORDERED = (
    rf"(?:With every token (\d+) places? later, last hidden states change by {SHARE} of their length on "
    rf"average(, which "
    r"is rounding\. This model knows how far apart tokens are, not where they stand|\. This model knows where a token "
    rf"stands, not only how far apart tokens are)|Read (?:backwards|in a shuffled order), each token's last "
    rf"hidden state "
    rf"changes by {SHARE} of its length on average\. With its positions taken away it changes by {SHARE}(, which is "
    r"rounding: without them it cannot tell the order|: it is not blind to order, for its causal mask shows each token "
    r"only those before it|: it knows the order in another way too))\."
)
LOOKS = (
    r"(?:With one token there is one distance: every head looks at the token itself\.|Of distances up to (\d+) "
    r"tokens?, the mean of all heads is largest (at the token itself|\d+ tokens? back|\d+ tokens? ahead)\. Layer "
    rf"(\d+), head (\d+) gives most to one of them: {PERCENT} of its attention, on average, goes (to the token itself|"
    r"\d+ tokens? back|\d+ tokens? ahead)\.)"
)
MOVED = (
    rf"Adding the position leaves a mean cosine of {NUMBER} between a token's vector before and after \(lowest "
    rf"{NUMBER}\); the position's row is {NUMBER} times as long as the token's vector, on average\."
)
SHARES = (
    rf"What makes the scores of layer 0, head (\d+) differ between keys, by share: content-content {NUMBER} %, "
    rf"content-position {NUMBER} %, position-content {NUMBER} % and position-position {NUMBER} %\."
)
BEYOND = {
    "minilm": rf"Its learned table ends with row {COUNT}: for position {COUNT} there is no vector, and the model "
    rf"cannot "
    r"read a longer text at all\.",
    "own-encoder": r"Its sines and cosines have a value at any position, also beyond those that it was trained on\.",
    "mini-gpt": rf"RoPE has an angle for any position\. But (\d+) of its (\d+) pairs needs? more than {COUNT} tokens "
    rf"for "
    r"one turn: a longer text brings angles that no shorter one has\.",
}
BEYOND["mini-bert"] = BEYOND["mini-gpt"]
ROUGH = 1e-4  # of a change, what single precision may take from it or add to it


@dataclass(frozen=True, eq=False)
class Subject:
    """A recorded text and its model: what a check computes of them is kept."""

    loaded: LoadedModel
    trace: Trace


def wavelengths(loaded: LoadedModel) -> np.ndarray:
    """Return 2 pi base^(2i/E) of RoPE (Su et al. 2021, 3.2.2), from the configuration alone."""
    width = loaded.config.head_width
    return 2 * np.pi * loaded.config.rope_base ** (np.arange(0, width, 2) / width)


def check_turns(said: str, loaded: LoadedModel, tokens: int) -> None:
    shortest, longest, whole, pairs = claim(TURNS, said)
    waves = wavelengths(loaded)
    assert (whole == "none") == (not pairs)
    assert int(pairs or len(waves)) == len(waves)
    assert is_number(shortest, waves.min(), rough=1e-5 * waves.min())
    assert is_number(longest, waves.max(), rough=1e-3 * waves.max())
    assert (0 if whole == "none" else int(whole)) == (waves <= tokens).sum()


@contextmanager
def without_positions(loaded: LoadedModel) -> Iterator[None]:
    """Take a model's positions away: tables are zero, and RoPE turns nothing."""
    tables = [
        one
        for name, one in [
            *loaded.network.named_parameters(),
            *((f"{name}.table", module.table) for name, module in loaded.network.named_modules() if is_table(module)),
        ]
        if "position" in name and one.ndim == 2
    ]
    kept, turn = [one.detach().clone() for one in tables], Rotary.__call__
    try:
        for one in tables:
            one.detach().zero_()
        Rotary.__call__ = lambda self, x, *_, **__: x  # type: ignore[method-assign]
        yield
    finally:
        for one, values in zip(tables, kept, strict=True):
            one.detach().copy_(values)
        Rotary.__call__ = turn  # type: ignore[method-assign]


def is_table(module: torch.nn.Module) -> bool:
    return isinstance(getattr(module, "table", None), torch.Tensor)


def states(loaded: LoadedModel, trace: Trace, order: list[int]) -> np.ndarray:
    """Return the last hidden state of each token of the text, where the tokens are read in an order."""
    ids, segments = (torch.tensor([one])[:, order] for one in (trace.encoding.ids, trace.encoding.segments))
    with torch.inference_mode():
        hidden = loaded.run(ids, torch.ones_like(ids, dtype=torch.bool), segments)[0].double().numpy()
    return hidden[np.argsort(order)]


def change(before: np.ndarray, after: np.ndarray) -> float:
    return float((np.linalg.norm(after - before, axis=1) / np.linalg.norm(before, axis=1)).mean())


def is_share(said: str, told: str, value: float) -> bool:
    if said.startswith("under"):
        return value < 1.0001e-4
    return is_number(told, 100 * value, rough=100 * ROUGH * value + 1e-7)


def check_ordered(said: str, subject: Subject, order: str) -> None:
    loaded, trace = subject.loaded, subject.trace
    by, shifted, number_shifted, where, moved, number_moved, bare, number_bare, why = claim(ORDERED, said)
    assert (order == "shift") == bool(by) == ("later" in said)
    assert order != "reverse" or "backwards" in said
    if by:
        rows = [len(table.values) - len(trace.tokens) for table in positional.tables(loaded)]
        assert int(by) == min([16, *rows])
        assert ("rounding" in where) == (loaded.card.id.startswith("mini-"))
        assert is_share(shifted, number_shifted, later(subject, int(by)))
        return
    changed, alone, blind = moved_about(subject, order)
    assert is_share(moved, number_moved, changed)
    assert is_share(bare, number_bare, alone)
    assert ("rounding" in why) == blind
    assert ("causal mask" in why) == (not blind and loaded.shape == "decoder")


@cache
def moved_about(subject: Subject, order: str) -> tuple[float, float, bool]:
    """Return the change by another order with positions and without, and whether the latter is rounding alone."""
    loaded, trace = subject.loaded, subject.trace
    own = [at for at, special in enumerate(trace.special) if not special]
    if order == "reverse":
        chosen = own[::-1]
    else:
        draw, chosen = np.random.default_rng(0), own
        while chosen == own:
            chosen = draw.permutation(own).tolist()
    places = list(range(len(trace.special)))
    for at, one in zip(own, chosen, strict=True):
        places[at] = one
    straight = list(range(len(places)))
    changed = change(states(loaded, trace, straight), states(loaded, trace, places))
    with without_positions(loaded):
        alone, other = states(loaded, trace, straight), states(loaded, trace, places)
    blind = (np.linalg.norm(other - alone, axis=1) / np.linalg.norm(alone, axis=1)).max() < 1e-4
    return changed, change(alone, other), bool(blind)


@cache
def later(subject: Subject, by: int) -> float:
    """Return the change where every token stands `by` places later."""
    loaded, trace = subject.loaded, subject.trace
    straight = list(range(len(trace.special)))
    before = states(loaded, trace, straight)
    turn = Rotary.__call__
    tables = [
        one
        for name, one in [
            *loaded.network.named_parameters(),
            *((f"{name}.table", module.table) for name, module in loaded.network.named_modules() if is_table(module)),
        ]
        if "position" in name and one.ndim == 2
    ]
    kept = [one.detach().clone() for one in tables]
    try:
        for one in tables:
            one.detach().copy_(torch.cat([one[by:], one[:by]]).clone())
        Rotary.__call__ = lambda self, x, start: turn(self, x, start + by)  # type: ignore[method-assign]
        return change(before, states(loaded, trace, straight))
    finally:
        for one, values in zip(tables, kept, strict=True):
            one.detach().copy_(values)
        Rotary.__call__ = turn  # type: ignore[method-assign]


def means(trace: Trace, stream: str) -> tuple[dict[tuple[int, int], np.ndarray], np.ndarray]:
    """Return each head's mean weight at each distance between words, of distances up to half of the largest."""
    words = np.flatnonzero(~np.array(trace.read_by(stream).special))
    far = {int(k - q) for q in words for k in words if stream == "encoder" or k <= q}
    most = max(max(map(abs, far)) // 2, 1)
    apart = np.array(sorted(one for one in far if abs(one) <= most))
    found = {}
    for site in trace.sites_of(stream):
        for head, map_ in enumerate(trace.attention(layer=site.layer, stream=stream).astype(np.float64)):
            pairs = [[map_[q, q + k] for q in words if q + k in words] for k in apart]
            found[site.layer, head] = np.array([np.mean(one) for one in pairs])
    return found, apart


def check_looks(said: str, trace: Trace, stream: str) -> None:
    within, mean, layer, head, share, where = claim(LOOKS, said)
    found, apart = means(trace, stream)
    assert bool(within) == (len(apart) > 1)
    if not within:
        return
    assert int(within) == np.abs(apart).max()
    told = found[int(layer), int(head)][apart.tolist().index(apart_of(where))]
    assert any(is_percent(share, min(float(told) * (1 + near), 1.0)) for near in (-1e-6, 0, 1e-6))
    assert told >= max(one.max() for one in found.values()) - 1e-6
    whole = np.mean(list(found.values()), axis=0)
    assert whole[apart.tolist().index(apart_of(mean))] >= whole.max() - 1e-7


def apart_of(said: str) -> int:
    if said.endswith("itself"):
        return 0
    return int(re.findall(r"\d+", said)[0]) * (-1 if said.endswith("back") else 1)


@cache
def parts(subject: Subject) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors without positions, and the rows of the positions, [T, D] each, from the model's tables."""
    loaded, trace = subject.loaded, subject.trace
    length = len(trace.tokens)
    if loaded.card.id == "minilm":
        table = dict(loaded.network.named_parameters())
        named = {name.split(".")[-2]: one for name, one in table.items() if "embeddings." in name}
        content = named["word_embeddings"][list(trace.encoding.ids)] + named["token_type_embeddings"][0]
        return content.double().numpy(), named["position_embeddings"][:length].double().numpy()
    width = loaded.config.width
    at, pair = np.arange(length)[:, None], np.arange(width) // 2
    angle = at / 10000 ** (2 * pair / width)
    rows = np.where(np.arange(width) % 2, np.cos(angle), np.sin(angle))
    weights = next(one for one in loaded.network.parameters() if one.shape == (loaded.config.vocabulary, width))
    scale = width**0.5 if loaded.config.embedding_scale else 1.0
    return scale * weights[list(trace.encoding.ids)].double().numpy(), rows


def check_moved(said: str, subject: Subject) -> None:
    mean, lowest, ratio = claim(MOVED, said)
    content, rows = parts(subject)
    whole = content + rows
    a, b = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in (content, whole))
    cosines = (a * b).sum(axis=1)
    assert is_number(mean, cosines.mean(), rough=1e-6)
    assert is_number(lowest, cosines.min(), rough=1e-6)
    assert is_number(ratio, float((np.linalg.norm(rows, axis=1) / np.linalg.norm(content, axis=1)).mean()), rough=1e-6)


def check_shares(said: str, subject: Subject) -> None:
    loaded, trace = subject.loaded, subject.trace
    head, *told = claim(SHARES, said)
    content, rows = parts(subject)
    norm = next((one for one in trace.norms if one.part == "embedding"), None)
    if norm is not None:
        whole = content + rows
        size = np.sqrt(whole.var(axis=1, keepdims=True) + norm.epsilon)
        content, rows = (norm.gamma * (one - one.mean(axis=1, keepdims=True)) / size for one in (content, rows))
        content = content + norm.beta
    named = dict(loaded.network.named_parameters())
    layer = next(name for name in named if re.search(r"layers?\.0\.", name)).split(".0.")[0]

    def matrix(role: str) -> tuple[np.ndarray, np.ndarray]:
        name = next(
            name
            for name in named
            if name.startswith(f"{layer}.0.") and re.search(rf"\b({role}|{role}uery|{role}ey)\b.*weight", name)
        )
        return named[name].double().numpy().T, named[name.removesuffix("weight") + "bias"].double().numpy()

    (q, q_bias), (k, k_bias) = matrix("q"), matrix("k")
    width = q.shape[1] // trace.sites[0].heads
    mine = slice(int(head) * width, (int(head) + 1) * width)
    queries = ((content @ q + q_bias)[:, mine], (rows @ q)[:, mine])
    keys = ((content @ k + k_bias)[:, mine], (rows @ k)[:, mine])
    terms = [one @ other.T / width**0.5 for one in queries for other in keys]
    score = sum(terms)
    assert_close(score, trace.scores(layer=0, head=int(head)), relative=1e-5)
    centred = [one - one.mean(axis=1, keepdims=True) for one in (*terms, score)]
    for one, told_share in zip(centred[:-1], told, strict=True):
        assert is_number(told_share, 100 * float((one * centred[-1]).sum() / (centred[-1] ** 2).sum()), rough=1e-3)


def check_beyond(said: str, loaded: LoadedModel) -> None:
    found = claim(BEYOND[loaded.card.id], said)
    if loaded.card.id == "minilm":
        rows = len(dict(loaded.network.named_parameters())["embeddings.position_embeddings.weight"])
        assert (count(found[0]), count(found[1])) == (rows - 1, rows)
    elif found:
        waves = wavelengths(loaded)
        assert (int(found[0]), int(found[1])) == ((waves > loaded.max_tokens).sum(), len(waves))
        assert count(found[2]) == loaded.max_tokens


def section_sentences(
    loaded: LoadedModel, trace: Trace, random: Random, *, order: interventions.Order
) -> Iterator[tuple[str, Callable[[str], None]]]:
    """Say what the sections say of a text, each sentence with its check."""
    subject = Subject(loaded, trace)
    tables, stream = positional.tables(loaded), "decoder" if loaded.shape == "decoder" else "encoder"
    ways, tokens = positional.ways(loaded.config, tables), len(trace.tokens)
    rotations = positional.rotations(loaded, positions=max(tokens, 64))
    for rotation in rotations:
        yield opening.turns(rotation, tokens=tokens), lambda said: check_turns(said, loaded, tokens)
    reach = min(max(tokens - 1, 1), 24)
    heads, found = positional.attention_by_distance(trace, stream=stream, reach=reach, special=False)
    apart, kept = np.arange(-reach, reach + 1), ~np.isnan(found).all(axis=0)
    kept = kept & (apart <= 0) if stream == "decoder" else kept
    yield distance.looks(found[:, kept], apart[kept], heads), lambda said: check_looks(said, trace, stream)
    if sum(not special for special in trace.special) > 1:
        moved = interventions.reorder(loaded, trace, order)
        told = order_section.ordered(moved, order=order, causal=loaded.shape == "decoder", ways=ways)
        yield told, lambda said: check_ordered(said, subject, order)
    if tables:
        split = interventions.split_scores(loaded, trace)
        yield order_section.moved(split), lambda said: check_moved(said, subject)
        head = random.randrange(split.heads)
        shares = order_section.shares(split, head, causal=split.stream == "decoder")
        if tokens > 1:
            yield words.shares(shares, head=head), lambda said: check_shares(said, subject)
    (said,) = length.beyond(ways, tokens=loaded.max_tokens, tables=tables, rotations=rotations)
    yield said, lambda said: check_beyond(said, loaded)


@pytest.mark.parametrize("model", TEXTS)
def test_each_sentence_holds_and_a_false_number_is_found(model: str, shipped: Callable[[str], LoadedModel]) -> None:
    loaded = shipped(model)
    trace = inspector.record(loaded, TEXTS[model])
    for order in interventions.ORDERS:
        for said, check in section_sentences(loaded, trace, Random(1), order=order):
            check(said)
            for false in planted(said, rounding=False):
                with pytest.raises((AssertionError, IndexError, KeyError, ValueError)):
                    check(false)
