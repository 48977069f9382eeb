"""The sentences of the page Scores, parsed and held against plain numpy in float64 on the recorded queries and keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

import inspector
import models
from inspector import interventions, scores
from inspector.sections.scores import angles, every, keys, one
from inspector.sections.scores.open_head import OpenHead
from inspector.sections.subject import Subject
from inspector.trace import Trace
from inspector.wording.english import scores as words
from models import LoadedModel
from tests.closeness import assert_close
from tests.inspector.wording.said import COUNT, NUMBER, PERCENT, claim, count, is_number, is_percent, planted
from tests.models.own_models import own

TEXT = "The cat sat on the mat because it was tired."
HEAD = r"([Ll]ayer \d+, head \d+)"
EVERY = (
    rf"The scale 1/√d_k takes the variance of q · k from {NUMBER} to {NUMBER} in the middle head\. "
    r"(?:In no head does a query give one key over 0\.9 of its weight"
    rf"|{HEAD} is the most saturated: in {PERCENT} of its rows one key has over 0\.9 of the weight"
    rf"|{HEAD}( and others) are the most saturated: in {PERCENT} of their rows one key has over "
    r"0\.9 of the weight)\."
)
RATIOS = rf"Over the {COUNT} heads Var\(q · k\) is {NUMBER} to {NUMBER} times d_k = {COUNT}\."
ONE = (
    rf"{HEAD}: the scale 1/√d_k takes the variance of q · k from {NUMBER} to {NUMBER}\. "
    r"(?:The values lie (as) a normal distribution's do|Its tails are (heavier|lighter) than a normal distribution's): "
    rf"their excess kurtosis is {NUMBER}\."
)
FAR = (
    rf"{NUMBER} % of the pairs lie more than 2 standard deviations from the mean, of a normal distribution 4\.55 %\. "
    rf"Scores go from {NUMBER} to {NUMBER}\."
)
SIDES = (
    r"{HEAD} (?:scores a pair differently in its two directions|has symmetric scores): the asymmetry of S is {NUMBER}"
    r"(?:, (?:but )?that of A (?:is )?{NUMBER}(?:, for each row has a normaliser of its own"
    r"|, for the causal mask alone makes it one-sided)?)?\. A token gives itself {PERCENT} of its weight; even "
    r"attention gives {PERCENT}\. For {PERCENT} of the queries their own key is the largest\."
    r"(?: The causal mask alone makes A one-sided\.)?"
)
SIDES = SIDES.replace("{HEAD}", HEAD).replace("{NUMBER}", NUMBER).replace("{PERCENT}", PERCENT)
PRODUCT = (
    rf"W_Q W_Kᵀ is {COUNT} x {COUNT} and has rank {COUNT}: at most d_k = {COUNT}\. {COUNT} of its {COUNT} singular "
    rf"values have 99 % of its energy; its effective rank is {NUMBER}\. {PERCENT} of its energy is in its symmetric "
    rf"part \(half for two unrelated matrices, all for W_Q = W_K\), and {COUNT} of {COUNT} eigenvalues have a real "
    rf"part above 0\. On this text Q Kᵀ is {COUNT} x {COUNT} and has rank {COUNT}\.( The model turns queries and keys "
    rf"by position \(RoPE\): this is the product before the turn\.)? ‖W_K − W_V‖ / ‖W_K‖ is {NUMBER}\."
)
ANGLES = (
    rf"In the middle head q · k ranks the keys as cosine does at a rank correlation of {NUMBER}, and as distance does "
    rf"at {NUMBER}\. Of {COUNT} heads {HEAD} differs most from distance: {NUMBER}\."
)
OWN_ANGLES = (
    rf"{HEAD}: {NUMBER} with cosine, {NUMBER} with distance\. {HEAD}: its keys' lengths spread by {PERCENT} of their "
    rf"mean, and the longest is {NUMBER} times the shortest\. With equal lengths all three orders would be one\."
)
FIXED = (
    rf"Read backwards, this text makes other weights: a weight of {HEAD} changes by up to {NUMBER}"
    rf"(?:, and one of {HEAD} by {NUMBER})?, the most of all heads\. A fully connected layer over its {COUNT} tokens "
    rf"would have {COUNT} x {COUNT} = {COUNT} weights of its own, for this length alone, and no text would change one "
    r"of them\."
)


class Head:
    """A head's q . k [T, T] in float64, the cells that it sees, and its map; all by numpy."""

    def __init__(self, trace: Trace, layer: int, head: int) -> None:
        record = trace.record_of(layer, None)
        self.q = record.query[head].double().numpy()
        self.k = record.key[head // (len(record.query) // len(record.key))].double().numpy()
        self.width = self.q.shape[1]
        self.dots = self.q @ self.k.T
        causal = record.site.predicts is not None
        self.seen = np.tril(np.ones_like(self.dots, bool)) if causal else np.ones_like(self.dots, bool)
        self.scores = np.where(self.seen, self.dots / np.sqrt(self.width), -np.inf)
        weights = np.exp(self.scores - self.scores.max(axis=1, keepdims=True))
        self.weights = weights / weights.sum(axis=1, keepdims=True)
        self.choosing = self.seen.sum(axis=1) > 1

    @property
    def ratio(self) -> float:
        return float(self.dots[self.seen].var() / self.width)

    @property
    def saturated(self) -> float:
        return float((self.weights.max(axis=1) > 0.9)[self.choosing].mean())

    @property
    def kurtosis(self) -> float:
        values = self.dots[self.seen]
        return float(((values - values.mean()) ** 4).mean() / values.var() ** 2 - 3)


@pytest.fixture(scope="module", params=[pytest.param("minilm", marks=pytest.mark.heavy), "mini-gpt"])
def recorded(request: pytest.FixtureRequest) -> tuple[LoadedModel, Trace]:
    loaded = models.load(request.param)
    return loaded, inspector.record(loaded, TEXT)


def named(said: str) -> tuple[int, int]:
    layer, head = map(int, re.findall(r"\d+", said))
    return layer, head


def of_every(trace: Trace) -> dict[tuple[int, int], Head]:
    return {(site.layer, head): Head(trace, site.layer, head) for site in trace.sites for head in range(site.heads)}


def check_every(said: str, heads: dict[tuple[int, int], Head]) -> None:
    before, after, *full_ones = claim(EVERY, said)
    fullest, share, first, several, shares = full_ones
    full = [one.saturated for one in heads.values()]
    for told, factor in ((before, 1.0), (after, 1 / np.sqrt(next(iter(heads.values())).width))):
        middle = float(np.median([(factor * one.dots[one.seen]).var() for one in heads.values()]))
        assert is_number(told, middle, rough=1e-5 * middle)
    fullest_of_all = [place for place, head in heads.items() if head.saturated == max(full)]
    assert named(fullest or first) == fullest_of_all[0]
    assert (len(fullest_of_all) > 1) == bool(several)
    assert is_percent(share or shares, max(full))


def check_ratios(said: str, heads: dict[tuple[int, int], Head]) -> None:
    number, low, high, width = claim(RATIOS, said)
    ratios = [one.ratio for one in heads.values()]
    assert count(number) == len(heads)
    assert count(width) == next(iter(heads.values())).width
    for told, value in ((low, min(ratios)), (high, max(ratios))):
        assert is_number(told, value, rough=1e-5 * value)


def check_one(said: str, far: str, heads: dict[tuple[int, int], Head]) -> None:
    place, before, after, near, tails, kurtosis = claim(ONE, said)
    head = heads[named(place)]
    for told, dots in ((before, head.dots), (after, head.dots / np.sqrt(head.width))):
        assert is_number(told, float(dots[head.seen].var()), rough=1e-5 * head.ratio)
    assert is_number(kurtosis, head.kurtosis, rough=1e-4)
    assert bool(near) == (abs(head.kurtosis) <= 0.25)
    assert bool(near) or tails == ("heavier" if head.kurtosis > 0 else "lighter")
    share, low, high = claim(FAR, far)
    values = head.dots[head.seen]
    assert is_number(share, 100 * float((abs(values - values.mean()) > 2 * values.std()).mean()))
    finite = head.scores[head.seen]
    assert is_number(low, finite.min(), rough=1e-5)
    assert is_number(high, finite.max(), rough=1e-5)


def check_sides(said: str, heads: dict[tuple[int, int], Head]) -> None:
    place, s, a, own, even, peak = claim(SIDES, said)
    head = heads[named(place)]
    rows, at = head.choosing, np.arange(len(head.dots))
    assert ("causal mask" in said) == (not head.seen.all())
    for told, matrix in ((s, head.dots), (a, head.weights)):
        assert is_number(told, np.linalg.norm(matrix - matrix.T) / np.linalg.norm(matrix), rough=1e-5)
    assert is_percent(own, head.weights[at, at][rows].mean())
    assert is_percent(even, (1 / head.seen.sum(axis=1))[rows].mean())
    assert is_percent(peak, (head.weights.argmax(axis=1) == at)[rows].mean())


def order(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's correlation of two rows without ties."""
    return float(np.corrcoef(a.argsort().argsort(), b.argsort().argsort())[0, 1])


def correlations(head: Head) -> tuple[float, float]:
    by_cosine, by_distance = [], []
    for q, dots, seen in zip(head.q, head.dots, head.seen, strict=True):
        if seen.sum() < 3:
            continue
        k = head.k[seen]
        cosines = dots[seen] / (np.linalg.norm(q) * np.linalg.norm(k, axis=1))
        by_cosine.append(order(dots[seen], cosines))
        by_distance.append(order(dots[seen], -np.linalg.norm(q - k, axis=1)))
    return float(np.mean(by_cosine)), float(np.mean(by_distance))


def check_angles(said: str, own: str, heads: dict[tuple[int, int], Head]) -> None:
    cosine, distance, number, lowest, least = claim(ANGLES, said)
    found = {place: correlations(head) for place, head in heads.items()}
    assert count(number) == len(found)
    assert is_number(cosine, np.median([one[0] for one in found.values()]), rough=2e-3)  # float32 may swap two keys
    assert is_number(distance, np.median([one[1] for one in found.values()]), rough=2e-3)
    assert_close(found[named(lowest)][1], min(one[1] for one in found.values()), relative=2e-3, scale=1)
    assert is_number(least, found[named(lowest)][1], rough=2e-3)
    place, cosine, distance, again, spread, longest = claim(OWN_ANGLES, own)
    assert again == place
    lengths = np.linalg.norm(heads[named(place)].k, axis=1)
    assert is_number(cosine, found[named(place)][0], rough=2e-3)
    assert is_number(distance, found[named(place)][1], rough=2e-3)
    assert is_percent(spread, lengths.std() / lengths.mean())
    assert is_number(longest, lengths.max() / lengths.min(), rough=1e-5)


def weight(loaded: LoadedModel, name: str, layer: int, head: int, heads: int) -> np.ndarray:
    """W of a head [D, E] by the names of these two models' parameters."""
    attention = (
        loaded.network.layers[layer].attention
        if loaded.card.id == "mini-gpt"
        else getattr(loaded.network, "encoder", loaded.network).layer[layer].attention.self
    )
    whole = getattr(attention, name).weight.detach().double().numpy().T
    width = 32
    group = head // (heads * width // whole.shape[1])
    return whole[:, group * width : (group + 1) * width]


def check_product(said: str, loaded: LoadedModel, trace: Trace, layer: int, head: int) -> None:
    wide, tall, rank, width, energy, of, effective, part, positive, out_of, n, m, on_text, turned, values = claim(
        PRODUCT, said
    )
    heads = trace.sites[0].heads
    q, k, v = (weight(loaded, name, layer, head, heads) for name in ("query", "key", "value"))
    matrix = q @ k.T
    singular = np.linalg.svd(matrix, compute_uv=False)[: q.shape[1]]
    shares = singular / singular.sum()
    assert (count(wide), count(tall)) == matrix.shape
    assert count(width) == count(of) == count(out_of) == q.shape[1]
    assert count(rank) == np.linalg.matrix_rank(matrix)
    assert count(energy) == (np.cumsum(singular**2) < 0.99 * (singular**2).sum()).sum() + 1
    assert is_number(effective, float(np.exp(-(shares * np.log(shares)).sum())), rough=1e-4)
    symmetric = (matrix + matrix.T) / 2
    assert is_percent(part, float((symmetric**2).sum() / (matrix**2).sum()))
    eigenvalues = np.linalg.eigvals(matrix)
    assert count(positive) == (eigenvalues.real > 1e-6 * abs(eigenvalues).max()).sum()
    one = Head(trace, layer, head)
    assert count(n) == count(m) == len(one.dots)
    assert count(on_text) == np.linalg.matrix_rank(one.dots.astype(np.float32), tol=1e-4) == len(one.dots)
    assert bool(turned) == (loaded.card.id == "mini-gpt")
    assert is_number(values, float(np.linalg.norm(k - v) / np.linalg.norm(k)), rough=1e-5)


def check_fixed(said: str, loaded: LoadedModel, trace: Trace) -> None:
    place, largest, most, over_all, tokens, n, m, parameters = claim(FIXED, said)
    ids = np.array(trace.encoding.ids)
    own = ~np.array(trace.special)
    ids[own] = ids[own][::-1]
    text = loaded.tokenizer.decode(ids[own].tolist())
    again = inspector.record(loaded, text)
    assert again.encoding.ids == tuple(ids.tolist())
    change = {
        site.layer: np.abs(trace.attention(layer=site.layer) - again.attention(layer=site.layer))
        for site in trace.sites
    }
    layer, head = named(place)
    assert is_number(largest, change[layer][head].max(), rough=1e-4)
    layer, head = named(most or place)
    assert is_number(over_all or largest, max(one.max() for one in change.values()), rough=1e-4)
    assert_close(change[layer][head].max(), max(one.max() for one in change.values()), relative=1e-5)
    assert count(tokens) == count(n) == count(m) == len(trace.tokens)
    assert count(parameters) == len(trace.tokens) ** 2


def said_of(loaded: LoadedModel, trace: Trace) -> Iterator[tuple[str, str]]:
    """Every kind of sentence of the page, each with its name; layer 1, head 3 is open."""
    stream = trace.streams[0]
    causal = stream == "decoder"
    table = scores.measure(trace)
    row = table.query("layer == 1 and head == 3").iloc[0]
    yield "every", f"{every.varies(table)} {every.saturated(table)}"
    yield "ratios", every.ratios(table)
    found = scores.distribution(trace.record_of_head(1, 3, stream))
    yield "one", one.varies(row, found)
    yield "far", words.far(far=found.far, low=float(row["low"]), high=float(row["high"]))
    symmetry = scores.symmetry.measure(trace, stream=stream).query("layer == 1 and head == 3").iloc[0]
    yield "sides", f"{keys.sides(symmetry, causal=causal)} {words.peak(float(symmetry['peak']), causal=causal)}"
    ranked = scores.ranks.measure(trace, stream=stream)
    agrees = angles.agrees(ranked)
    assert agrees is not None
    yield "angles", f"{agrees} {angles.lowest(ranked)}"
    own_row = ranked.query("layer == 1 and head == 3").iloc[0]
    yield "own angles", f"{angles.own_angles(own_row)} {angles.key_lengths(own_row)}"
    blocks = inspector.record_blocks(loaded, trace)
    projected = scores.projections(trace, blocks, loaded.network, layer=1, stream=stream)
    opened = OpenHead.of(Subject(trace, loaded, stream), (1, 3, 0))
    yield "product", keys.product(opened, projected, scores.of_product(projected.query[3], projected.key[3]))
    if loaded.card.id == "minilm":  # whose tokenizer reads its own words backwards as they were
        fixed = interventions.against_fixed(loaded, trace, stream=stream)
        yield "fixed", angles.fixed(fixed, fixed.table.query("layer == 1 and head == 3").iloc[0])


def test_what_the_page_says_is_what_numpy_finds(recorded: tuple[LoadedModel, Trace]) -> None:
    """Each sentence holds, and does not with any one of its numbers made false."""
    loaded, trace = recorded
    heads = of_every(trace)
    said = dict(said_of(loaded, trace))
    checks = {
        "every": lambda one: check_every(one, heads),
        "ratios": lambda one: check_ratios(one, heads),
        "one": lambda one: check_one(one, said["far"], heads),
        "far": lambda one: check_one(said["one"], one, heads),
        "sides": lambda one: check_sides(one, heads),
        "angles": lambda one: check_angles(one, said["own angles"], heads),
        "own angles": lambda one: check_angles(said["angles"], one, heads),
        "product": lambda one: check_product(one, loaded, trace, 1, 3),
        "fixed": lambda one: check_fixed(one, loaded, trace),
    }
    for name, sentence in said.items():
        checks[name](sentence)
        false = planted(sentence, rounding=False)
        assert len(false) >= 2
        for other in false:
            with pytest.raises((AssertionError, LookupError)):
                checks[name](other)


def test_what_is_not_known_is_not_told(recorded: tuple[LoadedModel, Trace]) -> None:
    """A text in which each query sees one key, and queries and keys that were not seen."""
    _, trace = recorded
    table = scores.measure(trace)
    blind = table.assign(ratio=np.nan, scaled=np.nan, scale=np.nan)
    assert "No query has a choice" in every.saturated(table.assign(saturated=np.nan))
    assert "were not seen" in every.varies(blind)
    ranked = scores.ranks.measure(trace, stream=trace.streams[0])
    assert angles.agrees(ranked.assign(distance=np.nan)) is None
    own = scores.symmetry.measure(trace, stream=trace.streams[0]).iloc[0]
    own["diagonal"] = np.nan
    assert "No query has a choice" in keys.sides(own, causal=True)
    assert words.peak(np.nan, causal=False) == ""


def test_a_stream_is_unscaled_where_the_scale_of_every_head_is_1() -> None:
    table = scores.measure(inspector.record(own("encoder"), "a dog ran"))
    for scales, unscaled in (([1.0] * len(table), True), ([1.0] + [0.25] * (len(table) - 1), False)):
        assert (", and nothing scales it." in every.varies(table.assign(scale=scales))) == unscaled
