"""200 texts, each recorded once: what the pages say of them is parsed, and held against plain numpy on the records.

A sentence that no pattern knows fails too, so that a new kind of sentence asks for its own check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from random import Random

import numpy as np
import pytest
import torch

import inspector
import models
from inspector import chance, compare, generating, head_distances, interventions, normalization, positional
from inspector import pairs as read_compare
from inspector.generating import steps as read_generate
from inspector.interventions import effects as read_what_if
from inspector.sections.layernorm import every as norm_section
from inspector.sections.layernorm import learned as learned_section
from inspector.sections.positions import opening as positions_opening
from inspector.text import named as place_of
from inspector.text import token
from inspector.trace import NormRecord, Trace
from inspector.wording.english import compare as say_compare
from inspector.wording.english import generate as say_generate
from inspector.wording.english import positions as say_positions
from inspector.wording.english import what_if as say_what_if
from models import LoadedModel
from tests.closeness import assert_close
from tests.inspector.wording.said import COUNT, NUMBER, PERCENT, TOKEN, claim, count, is_number, is_percent, planted
from tests.inspector.wording.written import next_probabilities

pytestmark = pytest.mark.heavy

NAMED = r"((?:the [\d,]+\w\w )?`+ ?.+? ?`+)"
MODELS = {"mini-bert": 60, "own-encoder": 50, "own-decoder": 50, "own-encoder-decoder": 40}
ODD = ("a", "?!", "the the the the", "`` ` ``", "猫追老鼠", "**b** $x$ <i>", "1 1 1 1 1", "x", "¶ \u200b é", "Hi.")
WHO = ("The cat", "A dog", "She", "My old friend", "Nobody")
DID = ("saw", "sat on", "would not eat", "was")
WHAT = ("the mat", "it", "the fish and the bread", "a dog", "what she saw")
ROUGH = 2e-5  # of a probability, what single precision may take from it or add to it


def texts() -> list[str]:
    every = [f"{who} {did} {what}{end}" for who in WHO for did in DID for what in WHAT for end in ("", ".")]
    Random(4).shuffle(every)
    return [*ODD, *every][:200]


@pytest.fixture(scope="module")
def recorded() -> list[tuple[LoadedModel, Trace]]:
    """The 200 recordings, by four models in turn."""
    loaded = {name: models.load(name) for name in MODELS}
    order = [name for name, times in MODELS.items() for _ in range(times)]
    Random(9).shuffle(order)
    return [
        (
            loaded[name],
            inspector.record(loaded[name], text, target="ab ba" if name.endswith("encoder-decoder") else None),
        )
        for name, text in zip(order, texts(), strict=True)
    ]


def named(tokens: tuple[str, ...], position: int) -> str:
    """Name a token as sentences do: by which of its like it is, where it has any."""
    one = tokens[position]
    if tokens.count(one) == 1:
        return token(one)
    which = tokens[: position + 1].count(one)
    ending = "th" if 10 < which % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(which % 10, "th")
    return f"the {which}{ending} {token(one)}"


# --- LayerNorm -----------------------------------------------------------------------------------------------------

PLACE = r"((?:of|at|before|after|on|inside|the|output|embedding|end|layer \d+'s|[\w-]+|\s)+?)"
SIZE = "(standard deviation|root mean square)"
FIRST = NAMED.replace("the ", "The ")  # at the beginning of a sentence
WIDEST = (
    rf"(?:(Before no norm does a token stand far out)\. The largest is {NAMED}|{FIRST} stands out): "
    rf"the norm {PLACE} takes its {SIZE} from {NUMBER} to {NUMBER}\."
)
ALONE = rf"The norm {PLACE} takes the {SIZE} of {TOKEN} from {NUMBER} to {NUMBER}\."
WAY = (
    rf"Before the norms the {SIZE} of {NAMED} is between {NUMBER} \(at the norm {PLACE}\) and {NUMBER} "
    rf"\(at the norm {PLACE}\), after them (?:between {NUMBER} and )?{NUMBER}\."
)
LEARNED = rf"(Gamma|Beta) is {NUMBER} on average; farthest from that is dimension (\d+) with {NUMBER}\."
BEYOND = (
    rf"Dimension (\d+) of (gamma|beta) lies {NUMBER} standard deviations from the mean; (none|\d+) of (\d+) lies? more "
    r"than 3 away\."
)
EQUAL = rf"All (\d+) numbers of (gamma|beta) are {NUMBER}(, as before training)?\."


def place(norm: NormRecord) -> str:
    """Name the place of a norm of these models, after "the norm"."""
    if norm.layer is None:
        return {"embedding": "of the embedding", "final": "at the end"}[norm.part]
    part = {"attention": "attention", "ffn": "FFN", "cross": "cross-attention"}[norm.part]
    return f"{'before' if norm.placement == 'pre' else 'after'} layer {norm.layer}'s {part}"


def sizes(vectors: np.ndarray, said: str) -> np.ndarray:
    vectors = vectors.astype(np.float64)
    return vectors.std(axis=-1) if said == "standard deviation" else np.sqrt((vectors**2).mean(axis=-1))


def check_widest(said: str, norms: list[NormRecord], tokens: tuple[str, ...]) -> None:
    if len(tokens) == 1:
        where, size, one, before, after = claim(ALONE, said)
        none = ""
    else:
        none, largest, far_out, where, size, before, after = claim(WIDEST, said)
        one = largest or far_out
    inputs = np.stack([sizes(norm.input, size) for norm in norms])
    told, far = inputs.max(), inputs
    if len(tokens) > 1:
        far = np.stack([[one / np.median(np.delete(row, at)) for at, one in enumerate(row)] for row in inputs])
        beside = max(far[row, column] for row, column in np.argwhere(inputs == inputs.max()))
        assert bool(none) == (far.max() < 2)
        if beside < 2 <= far.max():  # the largest of all does not stand out, and another does
            told = inputs.flat[far.argmax()]
    assert is_number(before, told, rough=1e-6)
    assert any(
        abs(inputs[row, column] - told) <= told * 1e-6
        and named(tokens, column) == one[0].lower() + one[1:]
        and place(norms[row]) == where
        and is_number(after, sizes(norms[row].output, size)[column], rough=1e-5)
        and told_beside(np.delete(inputs[row], column), inputs[row, column], none=none)
        for row in range(len(norms))
        for column in range(len(tokens))
    )


def told_beside(others: np.ndarray, largest: float, *, none: str) -> bool:
    return not none if not len(others) else bool(none) == (largest < 2 * np.median(others))


def check_way(said: str, norms: list[NormRecord], tokens: tuple[str, ...], position: int) -> None:
    size, one, small, first, large, last, low, high = claim(WAY, said)
    inputs = {place(norm): sizes(norm.input, size)[position] for norm in norms}
    outputs = [sizes(norm.output, size)[position] for norm in norms]
    assert one == named(tokens, position)
    for told, where, value in ((small, first, min(inputs.values())), (large, last, max(inputs.values()))):
        assert is_number(told, value, rough=1e-6)
        assert inputs.get(where, np.nan) == pytest.approx(value)
    assert is_number(high, max(outputs), rough=1e-5)
    assert is_number(low or high, min(outputs), rough=1e-5)


def check_learned(said: str, norm: NormRecord) -> None:
    sentences = re.findall(r"(?:All \d|Gamma is|Beta is).*?\.(?= All \d| Beta is|$)", said, re.DOTALL)
    told = [(name, getattr(norm, name).astype(np.float64)) for name in norm.learned]
    assert len(sentences) == len(told), said
    for sentence, (name, values) in zip(sentences, told, strict=True):
        if sentence.startswith("All"):
            width, which, value, begun = claim(EQUAL, sentence)
            assert (int(width), which) == (len(values), name)
            assert values.min() == values.max()
            assert is_number(value, values[0])
            assert bool(begun) == (values[0] == (name == "gamma"))
            continue
        which, mean, farthest, value = claim(LEARNED, sentence)
        apart = abs(values - values.mean()) / values.std()
        assert which.lower() == name
        assert is_number(mean, values.mean(), rough=1e-9)
        assert apart[int(farthest)] == pytest.approx(apart.max())
        assert is_number(value, values[int(farthest)], rough=1e-9)


def check_beyond(said: str, norm: NormRecord) -> None:
    told = {name: getattr(norm, name).astype(np.float64) for name in norm.learned}
    spread = {name: values for name, values in told.items() if values.min() < values.max()}
    sentences = re.findall(r"Dimension .+? away\.", said)
    for sentence, (name, values) in zip(sentences, spread.items(), strict=True):
        farthest, which, away, beyond, width = claim(BEYOND, sentence)
        apart = abs(values - values.mean()) / values.std()
        assert (which, int(width)) == (name, len(values))
        assert apart[int(farthest)] == pytest.approx(apart.max())
        assert is_number(away, apart.max(), rough=1e-9)
        assert (0 if beyond == "none" else int(beyond)) == (apart > 3).sum()


def norm_sentences(trace: Trace, stream: str, random: Random) -> Iterator[tuple[str, str]]:
    """Say what the page LayerNorm says of a stream, and hold it against the recorded vectors."""
    norms = {index: norm for index, norm in enumerate(trace.norms) if norm.stream == stream}
    table = normalization.statistics(trace)
    table = table[table["stream"] == stream]
    tokens, every = trace.read_by(stream).tokens, list(norms.values())
    size = random.choice(("std", "rms"))
    said = norm_section.widest(norm_section.outstanding(table, size=size), norms, size=size)
    check_widest(said, every, tokens)
    yield "widest", said
    position = random.randrange(len(tokens))
    rows = table[table["position"] == position]
    said = norm_section.way(rows, norms, size=size, token=place_of(tokens, position))
    check_way(said, every, tokens, position)
    yield "way", said


def test_of_norms(recorded: list[tuple[LoadedModel, Trace]]) -> None:
    random, seen = Random(1), set()
    for _, trace in recorded:
        stream = random.choice([norm.stream for norm in trace.norms])
        seen |= {" ".join(said.split()[:3]) for _, said in norm_sentences(trace, stream, random)}
    assert len(seen) > 1


def test_of_learned_norms(recorded: list[tuple[LoadedModel, Trace]]) -> None:
    for model in MODELS:  # a model's norms are the same in each text
        trace = next(trace for loaded, trace in recorded if loaded.card.id == model)
        table = normalization.parameters(trace)
        for at, norm in enumerate(trace.norms):
            values = learned_section.of_norm(table[table["norm"] == at])
            spreads, width = {name: learned_section.spread(each) for name, each in values.items()}, len(norm.gamma)
            said = learned_section.learned(spreads, width=width)
            check_learned(said, norm)
            beyond = learned_section.beyond(spreads, width=width)
            check_beyond(beyond, norm)
    for sentence, check in ((said, check_learned), (beyond, check_beyond)):
        for false in planted(sentence):
            with pytest.raises(AssertionError):
                check(false, norm)


def test_a_false_sentence_of_norms_is_found(recorded: list[tuple[LoadedModel, Trace]]) -> None:
    trace = next(trace for loaded, trace in recorded if loaded.card.id == "mini-bert" and len(trace.tokens) > 6)
    said = dict(norm_sentences(trace, "encoder", Random(1)))
    norms, tokens = list(trace.norms), trace.tokens
    for false in planted(said["widest"]):
        with pytest.raises(AssertionError):
            check_widest(false, norms, tokens)
    position = next(at for at in range(len(tokens)) if f"of {named(tokens, at)} is" in said["way"])
    for false in planted(said["way"]):
        with pytest.raises(AssertionError):
            check_way(false, norms, tokens, position)


# --- Positions -----------------------------------------------------------------------------------------------------

COSINES = (
    rf"(.*) On this text (its vectors|the vectors of the paper's table, for comparison,) have a mean cosine of "
    rf"{NUMBER} between neighbours(?: and {NUMBER} between places {COUNT} apart)?\."
)


def check_positions(said: str, loaded: LoadedModel, tokens: int) -> None:
    if tokens < 2:
        assert "cosine" not in said
        return
    ways, whose, near, far, apart = claim(COSINES, said)
    tables = tables_of(loaded)
    assert (whose == "its vectors") == bool(tables)
    assert ("turns every query and key" in ways) == (loaded.card.id == "mini-bert")
    assert ("sines and cosines" in ways) == (loaded.card.id != "mini-bert")
    width = tables[0].values.shape[1] if tables else 192
    place, pair = np.arange(tokens)[:, None], np.arange(width) // 2
    angle = place / 10000 ** (2 * pair / width)
    rows = np.where(np.arange(width) % 2, np.cos(angle), np.sin(angle))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)

    def mean(by: int) -> float:
        return float(np.mean([rows[at] @ rows[at + by] for at in range(tokens - by)]))

    assert is_number(near, mean(1), rough=1e-6)
    assert bool(far) == (tokens > 2)
    if far:
        assert count(apart) == max(2, tokens // 2)
        assert is_number(far, mean(count(apart)), rough=1e-6)


@cache
def tables_of(loaded: LoadedModel) -> tuple[positional.PositionTable, ...]:
    return positional.tables(loaded)


def position_sentence(loaded: LoadedModel, trace: Trace) -> str:
    found = tables_of(loaded)
    table = found[0].values if found else positional.sinusoidal(64, 192)
    alike = positions_opening.alike(table, tokens=len(trace.tokens), own=bool(found))
    return f"{say_positions.ways(positional.ways(loaded.config, found))} {alike}".strip()


def test_of_positions(recorded: list[tuple[LoadedModel, Trace]]) -> None:
    for loaded, trace in recorded:
        check_positions(position_sentence(loaded, trace), loaded, len(trace.tokens))
    loaded, trace = recorded[-1]
    for false in planted(position_sentence(loaded, trace)):
        with pytest.raises(AssertionError):
            check_positions(false, loaded, len(trace.tokens))


# --- Compare -------------------------------------------------------------------------------------------------------

PAIR = (
    rf"A \(x\) and B \(y\) look at (almost the same|mostly the same|partly the same|mostly different) keys: on average "
    rf"{PERCENT} of a query's weight lies elsewhere\. They differ most at {NAMED}, (?:which gives {NAMED} {PERCENT} in "
    rf"A and {PERCENT} in B|whose weight on {NAMED} is {NUMBER} more in ([AB]))\."
)
HEADS = (
    r"(?:Most alike are|([\d,]+) pairs of heads are most alike,) layer (\d+), head (\d+)(?: of X)? and layer (\d+), "
    rf"head (\d+)(?: of [XY])?(?: among them)?: (?:{NUMBER} nats apart|(equal on this text)), where the median of all "
    rf"([\d,]+) pairs is {NUMBER}\. (\d+|None) of the (\d+) heads(?: of X)? (has|have) a partner(?: in Y)?: each of "
    r"the two is nearest to the other\."
)
NO_TWO = (
    rf"No two heads are more alike than others: all ([\d,]+) pairs are (?:{NUMBER} nats apart|equal on this text)\."
)
NEAR = 2e-9


def by_chance(map_: np.ndarray) -> np.ndarray:
    """The largest share of each query by chance, of heads of an unknown width: [Q, 1]."""
    limits = dict(zip(chance.KEYS, chance.SHARES[64], strict=True))
    return np.array([[min((limits[keys] for keys in limits if keys <= (row > 0).sum()), default=1)] for row in map_])


def check_pair(said: str, a: np.ndarray, b: np.ndarray, tokens: tuple[str, ...]) -> None:
    if said.endswith("are equal on this text: every weight is the same."):
        assert np.array_equal(a, b)
        return
    limit = by_chance(a), by_chance(b)
    beyond = (a > limit[0]) | (b > limit[1])
    if said == "A (x) and B (y) both spread their attention as random weights would, so no difference is told.":
        assert not beyond.any()
        return
    alike, moved, query, key, first, second, other, more, where = claim(PAIR, said)
    assert not np.array_equal(a, b)
    p, q = (one.astype(np.float64) / one.astype(np.float64).sum(axis=1, keepdims=True) for one in (a, b))
    elsewhere = np.abs(p - q).sum(axis=1).mean() / 2
    assert is_percent(moved, elsewhere)
    limits = {"almost the same": (0, 0.05), "mostly the same": (0.05, 1 / 3), "partly the same": (1 / 3, 2 / 3)}
    low, high = limits.get(alike, (2 / 3, 1.1))
    assert low <= elsewhere < high
    apart = np.abs(a - b) * (beyond if (a != b)[beyond].any() else 1)
    cells = [
        (i, j)
        for i, j in np.argwhere(apart == apart.max())
        if named(tokens, i) == query and named(tokens, j) == (key or other)
    ]
    assert cells
    i, j = cells[0]
    if other:
        assert (where == "A") == (a[i, j] > b[i, j])
        assert is_number(more, apart[i, j], rough=1e-7)
    else:
        assert is_percent(first, float(a[i, j]))
        assert is_percent(second, float(b[i, j]))
        assert first != second


def divergences(a: list[np.ndarray], b: list[np.ndarray]) -> np.ndarray:
    """The Jensen-Shannon divergence of each map of a and each of b in nats, mean over the queries."""

    def entropy(rows: np.ndarray) -> np.ndarray:
        return -np.where(rows > 0, rows * np.log(np.where(rows > 0, rows, 1)), 0).sum(axis=-1)

    p, q = (np.stack(maps).astype(np.float64) for maps in (a, b))
    p, q = (one / one.sum(axis=-1, keepdims=True) for one in (p, q))
    middle = entropy((p[:, None] + q[None]) / 2)
    return np.maximum(middle - (entropy(p)[:, None] + entropy(q)[None]) / 2, 0).mean(axis=-1)


def check_heads(said: str, apart: np.ndarray, heads: int, *, among: bool) -> None:
    """apart: of every head of X, counted through its layers of `heads`, and every head of X or Y."""
    upper = apart[np.triu_indices(len(apart), 1)] if among else apart.ravel()
    if said.startswith("No two"):
        pairs, told = claim(NO_TWO, said)
        assert count(pairs) == upper.size
        assert np.ptp(upper) < NEAR
        assert is_number(told or "0", upper.max(), rough=NEAR)
        return
    tied, *at, told, same, pairs, median, partners, of, verb = claim(HEADS, said)
    first, second = (int(layer) * heads + int(head) for layer, head in zip(at[::2], at[1::2], strict=True))
    assert apart[first, second] <= upper.min() + NEAR
    assert (first != second) or not among
    assert (count(tied) if tied else 1) == (upper <= upper.min() + NEAR).sum()
    assert is_number(told or "0", apart[first, second], rough=NEAR)
    assert bool(same) == (upper.min() < NEAR)
    assert count(pairs) == upper.size
    assert is_number(median, float(np.median(upper)), rough=NEAR)
    assert int(of) == len(apart)
    other = apart + np.diag(np.full(len(apart), np.inf)) if among else apart
    number_of = 0 if partners == "None" else int(partners)
    assert (verb == "has") == (number_of == 1)
    # Where two are equally near but for rounding, either may count as the nearest.
    nearest = other <= other.min(axis=1, keepdims=True) + NEAR
    back = other <= other.min(axis=0, keepdims=True) + NEAR
    sure = (nearest & back & (nearest.sum(axis=1, keepdims=True) == 1) & (back.sum(axis=0, keepdims=True) == 1)).sum()
    assert sure <= number_of <= (nearest & back).any(axis=1).sum()


def maps_of(trace: Trace, stream: str) -> list[np.ndarray]:
    return [head for site in trace.sites_of(stream) for head in trace.attention(layer=site.layer, stream=stream)]


def test_of_compare(recorded: list[tuple[LoadedModel, Trace]]) -> None:
    random, seen = Random(2), set()
    for turn, (_, trace) in enumerate(recorded):
        stream = random.choice([stream for stream in trace.streams if stream != "cross"])
        tokens, every = trace.read_by(stream).tokens, maps_of(trace, stream)
        a, b = random.choice(every), random.choice(every)
        said = say_compare.pair(read_compare.pair(a, b, queries=tokens, keys=tokens), a="A (x)", b="B (y)")
        check_pair(said, a, b, tokens)
        seen.add(" ".join(said.split()[7:10]))
        if turn % 4 == 0:
            near = read_compare.heads(head_distances.measure(trace, stream=stream))
            said = say_compare.heads(near, a="X", b="X")
            check_heads(said, divergences(every, every), trace.sites_of(stream)[0].heads, among=True)
            seen.add(said.split()[0])
    assert len(seen) > 4


def test_a_false_sentence_of_compare_is_found(recorded: list[tuple[LoadedModel, Trace]]) -> None:
    trace = next(trace for loaded, trace in recorded if loaded.card.id == "mini-bert" and len(trace.tokens) > 6)
    every = maps_of(trace, "encoder")
    a, b = every[0], every[-1]
    said = say_compare.pair(read_compare.pair(a, b, queries=trace.tokens, keys=trace.tokens), a="A (x)", b="B (y)")
    for false in [*planted(said), said.replace("in A", "in C").replace("mostly", "almost")]:
        with pytest.raises(AssertionError):
            check_pair(false, a, b, trace.tokens)
    apart = divergences(every, every)
    said = say_compare.heads(read_compare.heads(head_distances.measure(trace, stream="encoder")), a="X", b="X")
    check_heads(said, apart, 6, among=True)
    for false in planted(said):
        with pytest.raises(AssertionError):
            check_heads(false, apart, 6, among=True)


# --- What if -------------------------------------------------------------------------------------------------------

GUESS = (
    rf"(?:M first guesses {TOKEN} \({PERCENT}\), which is the hidden token|For the hidden {TOKEN}, M first guesses "
    rf"{TOKEN} \({PERCENT}\); the hidden token itself comes ([\d,]+)\w\w, with {PERCENT})\."
)
SEVERAL = r"M's first guess is right for (none|\d+) of the (\d+) hidden tokens\."
HEAD = r"(?:in the (encoder|decoder|cross-attention) )?the attention of layer (\d+), head (\d+) changes most"
CHANGE = (
    r"(?:Replacing|Dropping|Hiding) .*? (?:(?:(raises|lowers) the probability of "
    rf"{TOKEN}(, the likeliest before,)? from {NUMBER} to {NUMBER}|hardly changes the probability of {TOKEN}"
    rf"(, the likeliest before)? \({NUMBER}\)|turns the last hidden state of {NAMED} most( among the other tokens)? "
    rf"\(1 − cosine {NUMBER}\)|(does not change the prediction|changes no other token's last hidden state))"
    rf"(?:; {HEAD})?|(changes nothing))\."
)


def probabilities(loaded: LoadedModel, hidden: np.ndarray) -> np.ndarray:
    """Compute the softmax of what the model predicts from one last hidden state [D], in double precision."""
    assert loaded.predict is not None
    with torch.inference_mode():
        logits = loaded.predict(hidden[None, None])[0, 0].double().numpy()
    odds = np.exp(logits - logits.max())
    return odds / odds.sum()


def check_guess(said: str, loaded: LoadedModel, masked: interventions.Masked) -> None:
    shares = [probabilities(loaded, masked.after.hidden[position]) for position in masked.positions]
    true = [masked.before.encoding.ids[position] for position in masked.positions]
    ranks = [1 + int((p > p[id]).sum()) for p, id in zip(shares, true, strict=True)]
    if len(ranks) > 1:
        right, of = claim(SEVERAL, said)
        assert (0 if right == "none" else int(right), int(of)) == (ranks.count(1), len(ranks))
        return
    right, sure, hidden, _, most, rank, share = claim(GUESS, said)
    (p,), (id,) = shares, true
    assert (right or hidden) == token(masked.before.tokens[masked.positions[0]])
    assert bool(right) == (ranks[0] == 1)
    assert is_percent(sure or most, float(p.max()))
    if hidden:
        assert count(rank) == ranks[0]
        assert is_percent(share, float(p[id]))


def check_change(said: str, loaded: LoadedModel, change: interventions.Change, stream: str) -> None:
    """Hold a sentence about a swap or a drop against hidden states and maps before and after."""
    found = claim(CHANGE, said)
    (
        verb,
        _,
        likeliest,
        before,
        after,
        same,
        last,
        still,
        state,
        others,
        turned,
        _,
        where,
        layer,
        head,
        nothing,
    ) = found
    old, new = change.before, change.after
    if verb or same:
        position = max(change.truths)
        p, q = (
            probabilities(loaded, trace.hidden[at]) for trace, at in ((old, position), (new, change.later(position)))
        )
        id = change.truths[position]
        assert (id is None) == bool(likeliest or last)
        id = int(p.argmax()) if id is None else id
        for told, value in ((before or still, p[id]), (after or still, q[id])):
            assert is_number(told, value, rough=ROUGH * value)
        if verb:
            assert (verb == "raises") == (q[id] > p[id])
            assert before != after
    if state:
        outside = [at for at in range(len(states_of(old))) if old.target is not None or at not in change.replaced[0]]
        a, b = (one.output.astype(np.float64) for one in (old, new))
        cosines = {at: 1 - a[at] @ b[at] / np.sqrt((a[at] @ a[at]) * (b[at] @ b[at])) for at in outside}
        assert bool(others) == (old.target is None and len(change.replaced[0]) > 0)
        assert any(
            named(states_of(old), at) == state
            and is_number(turned, value, rough=1e-9)
            and value > max(cosines.values()) - 1e-9
            for at, value in cosines.items()
        )
    moved = {
        (site.layer, head): divergences([p], [q]).item()
        for site in old.sites_of(stream)
        for head, (p, q) in enumerate(
            zip(*(one.attention(layer=site.layer, stream=stream) for one in (old, new)), strict=True)
        )
    }
    assert where in ("", {"cross": "cross-attention"}.get(stream, stream))
    assert bool(layer) == (max(moved.values()) > 1e-11) or all(turned < 1e-9 for turned in moved.values())
    if layer:
        assert moved[int(layer), int(head)] >= max(moved.values()) - 1e-9
    if nothing:
        assert_close(old.output, new.output, relative=1e-6)


def states_of(trace: Trace) -> tuple[str, ...]:
    """Return the tokens that the last hidden states are of: the target's, where there is one."""
    return (trace.encoding if trace.target is None else trace.target).tokens


def what_if_sentence(loaded: LoadedModel, trace: Trace, random: Random) -> tuple[str, interventions.Change, str]:
    """Swap a word for one of as many pieces, or drop a head, and say what the page What if says."""
    stream, several = random.choice(trace.streams), len(trace.streams) > 1
    place = random.choice(interventions.every_head(trace))
    change: interventions.Change = interventions.drop(loaded, trace, heads=[place])
    begin = say_what_if.dropped([place], several=several)
    words = [at for at in interventions.maskable(trace.encoding) if trace.encoding.words[at] is not None]
    if words and random.random() < 0.5:
        swapped = interventions.swap(loaded, trace, position=random.choice(words), by=random.choice("ab"))
        if len(swapped.after.tokens) == len(trace.tokens):
            change, begin = swapped, say_what_if.swapped(swapped.word, swapped.by)
    asked = read_what_if.predicted(interventions.predict(loaded, change)) if change.truths else None
    turned = read_what_if.turned(
        compare.moved(change.before, change.after),
        tokens=states_of(trace),
        changed=tuple(change.replaced[0]) if trace.target is None else (),
    )
    moved = read_what_if.moved(compare.changed_heads(change.before, change.after, stream=stream))
    return say_what_if.change(begin, asked, turned, moved, several=several), change, stream


def test_of_what_if(recorded: list[tuple[LoadedModel, Trace]]) -> None:
    random, seen = Random(3), set()
    for loaded, trace in recorded:
        places = interventions.maskable(trace.encoding)
        if loaded.fills_masks and places:
            hidden = sorted(random.sample(places, min(len(places), random.choice((1, 1, 2)))))
            masked = interventions.mask(loaded, trace, positions=hidden)
            guessed = read_what_if.guessed(masked.guesses, mask_token=loaded.tokenizer.mask_token)
            said = say_what_if.guess(guessed, model="M")
            check_guess(said, loaded, masked)
        else:
            said, change, stream = what_if_sentence(loaded, trace, random)
            check_change(said, loaded, change, stream)
        seen |= {
            word
            for word in ("raises", "lowers", "hardly", "turns", "nothing", "which is", "itself", "none")
            if word in said
        }
    assert len(seen) > 5, seen


def test_a_false_sentence_of_what_if_is_found(recorded: list[tuple[LoadedModel, Trace]]) -> None:
    loaded, trace = next((loaded, trace) for loaded, trace in recorded if loaded.fills_masks and len(trace.tokens) > 6)
    for hidden in ([3], [2, 4]):
        masked = interventions.mask(loaded, trace, positions=hidden)
        guessed = read_what_if.guessed(masked.guesses, mask_token=loaded.tokenizer.mask_token)
        said = say_what_if.guess(guessed, model="M")
        check_guess(said, loaded, masked)
        for false in [*planted(said), *([said.replace(" `", " `not ", 1)] if "`" in said else [])]:
            with pytest.raises(AssertionError):
                check_guess(false, loaded, masked)

    random, found = Random(5), set()
    for loaded, trace in recorded:
        said, change, stream = what_if_sentence(loaded, trace, random)
        did = re.search(" (raises|lowers|turns) ", said)
        if did is None or did[1] in found:
            continue
        found.add(did[1])
        check_change(said, loaded, change, stream)
        begin, end = said[: did.start()], said[did.start() :]  # what is dropped or replaced is the reader's own
        turned = {"raises": end.replace("raises", "lowers"), "lowers": end.replace("lowers", "raises")}.get(did[1])
        for false in [*planted(end), *([turned] if turned else []), " changes nothing."]:
            with pytest.raises((AssertionError, KeyError)):  # of a layer or head that is not there
                check_change(begin + false, loaded, change, stream)
        if len(found) == 3:
            break
    assert found == {"raises", "lowers", "turns"}


# --- Generate ------------------------------------------------------------------------------------------------------

CANDIDATE = rf"{TOKEN} \({NUMBER}\)"
END = "(, which ends the text|; the first ends the text)?"
STEP = (
    rf"At step {COUNT} the model (?:(was sure of|leaned to) {CANDIDATE}{END}; the runner-up was {CANDIDATE}|"
    rf"(hesitated|was torn|was unsure)(?:: | between ){CANDIDATE}"
    rf"(?:, closely followed by | came before | and ){CANDIDATE}"
    rf"(?:, and wrote the first)?{END}|(drew) {CANDIDATE}, the ([\d,]+)\w\w likeliest of all tokens{END}; "
    rf"the likeliest was {CANDIDATE})\. It looked most at {TOKEN}(?: in the source)? \({NUMBER}; layer (\d), "
    r"(?:mean over its heads|head (\d))\)( and about as much at another token)?\."
)


def check_step(said: str, made: generating.WrittenText, p: np.ndarray, stream: str) -> None:
    """Hold a sentence about a step against the probabilities of all tokens, and against the row of the map."""
    found = claim(STEP, said)
    step, *choice, key, weight, layer, head, tied = found
    sure, a, pa, ends, _, pb, close, c, pc, _, pd, ended, drew, e, pe, rank, drawn_end, _, pf = choice
    number_of = count(step)
    id = made.ids[number_of - 1]
    others = np.delete(p, id)
    assert is_number(pa or pc or pe, p[id], rough=ROUGH * p[id])
    assert is_number(pb or pd or pf, others.max(), rough=ROUGH * others.max())
    assert (a or c or e) == token(made.steps[number_of - 1].chosen.token)
    assert bool(ends or ended or drawn_end) == (made.ended and number_of == len(made.steps))
    least, most = (int((others > p[id] * (1 + by)).sum()) for by in (ROUGH, -ROUGH))
    assert least <= (count(rank) - 1 if drew else 0) <= most
    if not drew:
        near = others.max() >= 0.95 * p[id]
        if close == "was torn":
            assert near
            assert p[id] >= 0.25
        elif close:
            assert p[id] < 0.5
            assert near == ("closely" in said) == (close == "hesitated")
        else:
            assert not near
            assert (sure == "was sure of") == (p[id] >= 0.9)
            assert p[id] >= 0.5
    row = made.trace.attention(layer=int(layer), stream=stream)[:, made.begun + number_of - 2].astype(float)
    row = row[int(head)] if head else row.mean(axis=0)
    keys = made.trace.record_of(int(layer), stream).site.keys
    assert is_number(weight, row.max(), rough=1e-7)
    assert any(row[at] >= row.max() - 1e-7 and token(keys[at]) == key for at in range(len(keys)))
    assert bool(tied) == (np.sort(row)[-2] >= 0.95 * row.max())
    assert ("in the source" in said) == (stream == "cross")


def step_sentence(made: generating.WrittenText, number: int, stream: str, random: Random) -> str:
    layer, head = 0, random.choice((None, 1))
    weights = made.trace.attention(layer=layer, stream=stream)
    row = (weights.mean(axis=0) if head is None else weights[head])[made.begun + number - 2].astype(float)
    keys = made.trace.record_of(layer, stream).site.keys
    look = read_generate.most(row, keys, layer=layer, head=head, source=stream == "cross")
    return say_generate.step(read_generate.step(made, number, look=look))


def test_of_generate() -> None:
    random, seen = Random(6), set()
    writers = [models.load(name) for name in ("own-decoder", "own-encoder-decoder", "translator")]
    for turn, text in enumerate(texts()):
        loaded = writers[{0: 2, 5: 1}.get(turn % 10, 0) if turn >= len(ODD) else 0]
        how = generating.Decoding(True, temperature=1.5, seed=turn) if turn % 3 == 0 else generating.Decoding()
        made = generating.write(loaded, text, how=how, new_tokens=1 + turn % 2)
        stream = "decoder" if loaded.shape == "decoder" else "cross"
        number = random.randint(1, len(made.steps))
        said, p = step_sentence(made, number, stream, random), next_probabilities(loaded, made, number)
        check_step(said, made, p, stream)
        seen.add(said.split()[5])
        if turn % 40 == 20:
            for false in planted(said, decimals=True):
                with pytest.raises(AssertionError):
                    check_step(false, made, p, stream)
    assert len(seen) > 3, seen
