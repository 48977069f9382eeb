"""The sentences of LayerNorm's sections, parsed and held against plain numpy on the recorded vectors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import inspector
from inspector import normalization
from inspector.sections.layernorm import change, depth, every, other, outliers
from inspector.sections.layernorm import stream as norm_stream
from inspector.text import named
from inspector.trace import NormRecord, PaddedBatch, Trace
from inspector.wording.english import layernorm as words
from inspector.wording.english import phrases
from models import LoadedModel
from tests.closeness import relative_error
from tests.inspector.wording.said import COUNT, NUMBER, claim, count, is_number, planted

TEXTS = {
    "minilm": "The cat sat on the mat because it was tired.",
    "mini-gpt": "He said that the old man was the first.",
}
KINDS = (
    r"(?:All (\d+) norms are (LayerNorm|RMSNorm)s|The one norm is an? (LayerNorm|RMSNorm)); (?:it|the one in "
    r"the layers|"
    r"each of the (\d+) in the layers) stands (before a sublayer \(pre-norm\)|after a residual sum \(post-norm\))"
    r"((?:;| and) (?:one|\d+) (?:follows?|ends?) the (?:embedding|stack))*\."
)
STEPS = (
    r"(\w+) changes the vectors most: it has ([\d.]+) % of the four steps' lengths, on average\. Of the others "
    r"(\w+) ([\d.]+) %, (\w+) ([\d.]+) % and (\w+) ([\d.]+) %\."
)
NAMED = r"((?:the [\d,]+\w\w )?`+ ?.+? ?`+)"
OUTLIER = (
    rf"Dimension (\d+) of {NAMED} stands out most: before the norm (.+?) it is {NUMBER}, {NUMBER} times the median "
    r"there\. It is the largest dimension before (\d+) of (\d+) norms\. (?:(No activation of this text is massive): "
    r"size over "
    r"100 and more than 1,000 times the median \(Sun et al\. 2024\)|Massive activations \(size over 100 and more than "
    r"1,000 times the median \(Sun et al\. 2024\)\) are in dimensions? ([\d, and]+))\."
)
FAR = (
    r"(?:No token has twice the median (?:standard deviation|root mean square) before any norm|Tokens with at least "
    r"twice the median (?:standard deviation|root mean square): (.+?)(?:; (\d+) more)?)\."
)
ONE_FAR = rf"{NAMED} \(before (\d+) of (\d+) norms, up to {NUMBER} times\)"
PADDED = (
    rf"(?:{COUNT} of the batch's {COUNT} cells are padding\. BatchNorm counts them in mean and deviation; LayerNorm "
    rf"takes each token by itself|{COUNT} cells of the batch are padding, (\d+) columns of them added\. BatchNorm "
    rf"moves a real token's number by up to {NUMBER}; with LayerNorm every real token (?:(stays)|stays but for "
    rf"rounding \({NUMBER}\)|moves by {NUMBER}))\."
)
DEPTH = (
    rf"Untrained, the gradient that reaches layer 0's input is {NUMBER} times that at the last layer's output with "
    rf"post-norm, and {NUMBER} times with pre-norm\. Two tokens of a text end with a mean cosine of {NUMBER} and "
    rf"{NUMBER}\."
)


def check_kinds(said: str, norms: list[NormRecord], states: list[np.ndarray]) -> None:
    """Hold the kinds against what the norms do to numbers; states: of the residual stream, what each layer takes."""
    many, kind, alone, inside, where, _ = claim(KINDS, said)
    assert int(many or 1) == len(norms)
    for norm in norms:
        plain = (norm.output.astype(np.float64) - norm.beta) / norm.gamma
        centred = abs(plain.mean(axis=1)).max() < 1e-3 * abs(plain).max()
        assert centred == ((kind or alone) == "LayerNorm")
    layers = [norm for norm in norms if norm.layer is not None]
    assert int(inside or 1) == len(layers)
    entering = [any(relative_error(norm.input, one) < 1e-5 for one in states) for norm in layers]
    assert any(entering) == ("pre-norm" in where)
    told = Counter(re.findall(r"(embedding|stack)", said.split(")", 1)[1]))
    assert told == Counter({"embedding": "embedding", "final": "stack"}[n.part] for n in norms if n.layer is None)


def check_steps(said: str, norms: list[NormRecord]) -> None:
    *found, _ = (*claim(STEPS, said), "")
    shares = []
    for norm in norms:
        x = norm.input.astype(np.float64)
        m = x.mean(axis=1, keepdims=True) if norm.kind == "layer" else np.zeros((len(x), 1))
        n = (x - m) / np.sqrt(((x - m) ** 2).mean(axis=1, keepdims=True) + norm.epsilon)
        gamma, beta = norm.gamma.astype(np.float64), norm.beta.astype(np.float64)
        steps = (np.broadcast_to(m, x.shape), n - (x - m), (gamma - 1) * n, np.broadcast_to(beta, x.shape))
        lengths = np.stack([np.linalg.norm(one, axis=1) for one in steps])
        shares.append(lengths / lengths.sum(axis=0))
    means = dict(
        zip(("centring", "scaling", "gamma", "beta"), np.concatenate(shares, axis=1).mean(axis=1), strict=True)
    )
    told = {name.lower(): float(value) / 100 for name, value in zip(found[::2], found[1::2], strict=True)}
    assert told.keys() == means.keys()
    assert all(abs(told[name] - means[name]) <= 0.00051 for name in means)
    assert list(told.values()) == sorted(told.values(), reverse=True)


def check_outlier(said: str, norms: dict[int, NormRecord], tokens: tuple[str, ...]) -> None:
    dimension, one, where, value, times, before, of, none, massive = claim(OUTLIER, said)
    sizes = {at: np.abs(norm.input.astype(np.float64)) for at, norm in norms.items()}
    far = {at: size.max() / np.median(size) for at, size in sizes.items()}
    at = max(far, key=far.__getitem__)
    row, column = np.unravel_index(sizes[at].argmax(), sizes[at].shape)
    assert where == words.name(norms[at])
    assert (int(dimension), one) == (column, phrases.named(named(tokens, int(row))))
    assert is_number(value, float(norms[at].input[row, column]), rough=1e-9)
    assert is_number(times, far[at], rough=1e-6 * far[at])
    assert int(of) == len(norms)
    assert int(before) == sum(int(size.max(axis=0).argmax()) == int(dimension) for size in sizes.values())
    found = {
        int(column)
        for size in sizes.values()
        for column in np.flatnonzero((size.max(axis=0) > 100) & (size.max(axis=0) > 1000 * np.median(size)))
    }
    assert bool(none) == (not found)
    assert none or {int(one) for one in re.findall(r"\d+", massive)} == found


def check_far(said: str, norms: list[NormRecord], tokens: tuple[str, ...], *, size: str) -> None:
    listed, more = claim(FAR, said)
    assert ("standard deviation" in said) == (size == "std")
    found = {}
    for at in range(len(tokens)):
        ratios = []
        for norm in norms:
            x = norm.input.astype(np.float64)
            sizes = x.std(axis=1) if size == "std" else np.sqrt((x**2).mean(axis=1))
            ratios.append(sizes[at] / np.median(sizes))
        if max(ratios) >= 2:
            found[at] = (sum(one >= 2 for one in ratios), max(ratios))
    told = re.findall(ONE_FAR, listed)
    assert len(told) == min(len(found), 5)
    assert int(more or 0) == len(found) - len(told)
    left = dict(found)
    for one, before, of, times in told:
        assert int(of) == len(norms)
        at = next(
            at
            for at, (number_of, most) in left.items()
            if phrases.named(named(tokens, at)) == one
            and number_of == int(before)
            and is_number(times, most, rough=1e-6 * most)
        )
        assert left.pop(at)[1] >= max([most for _, most in left.values()], default=0) - 1e-6


def check_padded(said: str, plain: PaddedBatch, wide: PaddedBatch, norm: int) -> None:
    padding, cells, padded, added, batch, still, rounding, moves = claim(PADDED, said)
    assert count(padding or padded) == (~wide.keep).sum()
    x, y = (one.before(norm).astype(np.float64) for one in (plain, wide))
    if not added:
        assert count(cells) == wide.keep.size
        return
    assert int(added) == y.shape[1] - x.shape[1]
    epsilon = plain.norms[norm].epsilon

    def batched(values: np.ndarray) -> np.ndarray:
        cells = values.reshape(-1, values.shape[-1])
        return (values - cells.mean(axis=0)) / np.sqrt(cells.var(axis=0) + epsilon)

    def layered(values: np.ndarray) -> np.ndarray:
        return (values - values.mean(-1, keepdims=True)) / np.sqrt(values.var(-1, keepdims=True) + epsilon)

    by = [float(np.abs(how(y)[wide.keep] - how(x)[plain.keep]).max()) for how in (batched, layered)]
    assert is_number(batch, by[0], rough=1e-6 * by[0])
    assert bool(still) == (by[1] == 0)
    assert still or is_number(rounding or moves, by[1], rough=1e-7)
    assert bool(moves) == (by[1] > 1e-4 * max(1, np.abs(layered(x)[plain.keep]).max()))


def check_depth(said: str, table: dict[str, np.ndarray]) -> None:
    """table: by stack, the gradient at the input, at the end and the last cosine."""
    told = claim(DEPTH, said)
    for gradient, cosine, name in zip(told[:2], told[2:], ("post-norm", "pre-norm"), strict=True):
        first, last, alike = table[name]
        assert is_number(gradient, first / last, rough=1e-9)
        assert is_number(cosine, alike, rough=1e-9)


def section_sentences(trace: Trace, stream: str) -> Iterator[tuple[str, Callable[[str], None]]]:
    """Say what the sections say of a stream's norms, each sentence with its check."""
    norms = {at: norm for at, norm in enumerate(trace.norms) if norm.stream == stream}
    records, tokens = list(norms.values()), trace.read_by(stream).tokens
    formulas, placements, outside = every.kinds(norms)
    said = words.kinds(formulas=formulas, placements=placements, outside=outside)
    yield said, lambda said: check_kinds(said, records, entering(trace, stream))
    table = normalization.change(trace)
    yield (
        change.steps(table[table["stream"] == stream]),
        lambda said: check_steps(said, records),
    )
    table = normalization.outliers(trace, stream=stream)
    told = f"{outliers.outlier(table, norms, tokens=tokens)} {outliers.massive(table)}"
    yield told, lambda said: check_outlier(said, norms, tokens)
    size = norm_stream.size(norms)
    statistics = normalization.statistics(trace)
    far = outliers.far(statistics[statistics["stream"] == stream], size=size)
    yield (
        words.far(far, norms=len(norms), size=size),
        lambda said: check_far(said, records, tokens, size=size),
    )


def entering(trace: Trace, stream: str) -> list[np.ndarray]:
    """Return what each layer's first sublayer reads, as the stream's hidden states have it."""
    from inspector import lens

    return [one.state for one in lens.residual_stream(trace, stream=stream) if one.layer >= -1]


def padded_sentence(
    loaded: LoadedModel, texts: list[str], norm: int, *, added: int
) -> tuple[str, Callable[[str], None]]:
    plain = inspector.record_batch(loaded, texts, keep_padding=True)
    columns = plain.keep.shape[1] + added
    wide = inspector.record_batch(loaded, texts, keep_padding=True, columns=columns) if added else plain
    column = next(at for at, special in enumerate(plain.encodings[0].special) if not special)
    found = other.padded(
        (plain.before(norm), plain.keep),
        (wide.before(norm), wide.keep),
        column=column,
        epsilon=plain.norms[norm].epsilon,
        running=normalization.running_statistics(plain.before(norm), plain.keep),
    )
    return other.padding(found), lambda said: check_padded(said, plain, wide, norm)


@pytest.mark.parametrize("model", TEXTS)
def test_each_sentence_holds_and_a_false_number_is_found(model: str, shipped: Callable[[str], LoadedModel]) -> None:
    loaded = shipped(model)
    trace = inspector.record(loaded, TEXTS[model])
    found = list(section_sentences(trace, trace.norms[0].stream))
    found += [padded_sentence(loaded, [TEXTS[model], "Yes."], 3, added=added) for added in (0, 5)]
    for said, check in found:
        check(said)
        for false in planted(said, rounding=False):
            with pytest.raises((AssertionError, IndexError, StopIteration)):
                check(false)


def test_the_untrained_stacks_are_told_as_they_are() -> None:
    table = normalization.through_depth()
    rows = {
        str(name): np.array([part["gradient"].iloc[0], part["gradient"].iloc[-1], part["cosine"].iloc[-1]])
        for name, part in table.sort_values("layer").groupby("stack")
    }
    by_stack = depth.ends(table)
    said = words.depth(gradient=by_stack["gradient"].to_dict(), cosine=by_stack["cosine"].to_dict())
    check_depth(said, rows)
    for false in planted(said, rounding=False):
        with pytest.raises(AssertionError):
            check_depth(false, rows)
