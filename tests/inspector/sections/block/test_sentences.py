"""The sentences of the page Block, parsed and held against plain numpy on the recording and the model's parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import erf
from random import Random

import numpy as np
import pandas as pd
import pytest
import torch

import inspector
from inspector import block, feedforward, probe, sharing
from inspector.sections.block import added as added_section
from inspector.sections.block import ffn as ffn_section
from inspector.sections.block import sharing as sharing_section
from inspector.sections.block import way
from inspector.text import named, token
from inspector.trace import NormRecord, Trace
from inspector.trace.blocks import Blocks, LayerRecord, Matrix
from inspector.wording.english import block as words
from models import LoadedModel
from models.tokenizers import token_names
from tests.closeness import relative_error
from tests.inspector.wording.said import (
    COUNT,
    NUMBER,
    PERCENT,
    TOKEN,
    claim,
    count,
    is_number,
    is_percent,
    number,
    planted,
)

TEXTS = {
    "minilm": "The cat sat on the mat because it was tired.",
    "mini-gpt": "He said that the old man was the first.",
    "own-encoder-decoder": "Nobody saw it.",
}
PARTS = {"attention": "attention", "cross-attention": "cross", "the FFN": "ffn", "FFN": "ffn", "": ""}
WHICH = rf"((?:[Tt]he \d+\w\w )?{TOKEN[1:-1]})"
PASSED = (
    rf"{WHICH} enters layer (\d+) with length {NUMBER} and leaves it with {NUMBER}\. (Attention|Cross-attention|The "
    rf"FFN) adds (most: )?a vector of length {NUMBER}\. (Each sublayer reads the stream through a norm \(pre-norm\)|A "
    r"norm follows each sum \(post-norm\)|Norms stand before the sublayers and after the sums|No norm stands in this "
    r"block)\."
)
ENDS = (
    r"The last box (?:(equals) what the model itself put out, bit for bit|differs from what the model itself put out "
    rf"by {NUMBER} of its largest number: rounding)\."
)
STEP = (
    rf"A vector of \*\*([\dx ]+)\*\* numbers, length \*\*{NUMBER}\*\*\. ([^.]+\.)"
    rf"(?: (\d+) x (\d+) = ([\d,]+) numbers in all\.)?(?: {COUNT} of {COUNT} (?:units )?are above 0(?: before it)?\.)?"
    rf"(?: Its cosine with the stream that it is added to is {NUMBER}\.)?"
    rf"(?: Computed again from the step before; off by {NUMBER} of the largest recorded number\.)?"
)
ADDED = (
    rf"(Attention|Cross-attention|The FFN) of layer (\d+) adds most: (?:{PERCENT} of|{NUMBER} times) the stream's "
    rf"length\.(?: Two tokens' states have a cosine of {NUMBER} after the first part and {NUMBER} at the end\.)?"
    r"(?: Against the stream's length the FFN adds more than attention in (\d+) of (\d+) layers?(?: and as much in "
    r"(\d+))?\.)?"
)
MOVED = (
    rf"At {WHICH} the model predicts {TOKEN} \({PERCENT}\), from (?:(the input)|layer (\d+)'s (attention|"
    r"cross-attention|FFN)) on\. (?:(No part raised it)|Layer (\d+)'s (attention|cross-attention|FFN) raised it most, "
    rf"by {NUMBER} bits)\."
)
ANSWERED = (
    rf"Layer (\d+)'s FFN \(([^)]+(?:\([^)]+\))?)\): {PERCENT} of the numbers before its activation function are "
    rf"positive\. Unit (\d+) answers most strongly, to {WHICH}\. (?:(Every unit is above 0 on some token)|{COUNT} of "
    rf"{COUNT} units are above 0 on no token of this text(, and give exactly 0)?)\."
)
STRAIGHT = (
    r"(?:With the best straight line in the activation function's place, the FFN's output is off by "
    rf"(?:{PERCENT}|{NUMBER} times) of its variance on this text\. )?Twice the input gives {NUMBER} times the output "
    rf"\(2 for anything linear\)\. Of the sum of what x and −x give, {NUMBER} times the output's length is left "
    rf"\(0 for "
    r"anything linear\)\. FFN\(0\) is taken off both\."
)
SHARED = (
    rf"The layers multiplied by {COUNT} matrices, and each is a tensor of its own: layers share nothing\.(?: W_K and "
    rf"W_V are apart by (?:between {NUMBER} and )?{NUMBER} of their length \(two that have nothing in common: "
    r"1\.41\)\.)?"
)
NEAREST = (
    r"At (\d+) of (\d+) positions? the likeliest token's row is also the row nearest to the state \(its rows are "
    rf"{NUMBER} to {NUMBER} long\); with all rows scaled to one length, at (\d+) of (\d+)\. A product is surely "
    rf"largest "
    r"for the nearest row only where rows are equally long\."
)
HEADS = (
    rf"(\d+) heads of (\d+) stand side by side: {COUNT} numbers, so W_O does not reduce them by itself\. Side by side "
    rf"times W_O is the sum of each head times its own rows of W_O \(off by {NUMBER}\)\. Let heads 0 and (\d+) change "
    rf"places, and what attention gives moves by (?:{PERCENT}|{NUMBER} times) of its length; added up before W_O it "
    rf"would move by {NUMBER}, for a sum does not tell which head spoke\. W_O has rank (\d+); heads added up "
    rf"could fill "
    r"(\d+) at most\."
)
ROUGH = 3e-5  # what single precision may take from a length or add to it, of the length
ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ReLU": lambda x: np.maximum(x, 0),
    "GELU": lambda x: x * (1 + np.vectorize(erf)(x / 2**0.5)) / 2,
    "SwiGLU": lambda x: x / (1 + np.exp(-x)),
}


@dataclass(frozen=True)
class Subject:
    """A recorded text with the inside of one stream's layers."""

    loaded: LoadedModel
    trace: Trace
    blocks: Blocks
    stream: str

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return self.trace.read_by(self.stream).tokens

    @cached_property
    def walked(self) -> list[tuple[int, str, np.ndarray, np.ndarray, np.ndarray]]:
        """Layer, part, the stream before, what is added, the stream after, sublayer by sublayer, in float64."""
        found = []
        for layer in self.blocks.of(self.stream):
            state = layer.enters.astype(np.float64)
            for one in layer.additions:
                added = one.added.astype(np.float64)
                after = state + added
                norm = self.norm(layer.layer, one.part, "post")
                after = after if norm is None else norm.output.astype(np.float64)
                found.append((layer.layer, one.part, state, added, after))
                state = after
        return found

    def norm(self, layer: int, part: str, placement: str) -> NormRecord | None:
        want = (self.stream, layer, part, placement)
        return next((n for n in self.trace.norms if (n.stream, n.layer, n.part, n.placement) == want), None)

    def units(self, layer: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pre-activations, what the second matrix is given, and FFN(x), of rows x [rows, D] in float64."""
        ffn = self.blocks.ffn(self.stream, layer)
        network, kind = self.loaded.network, {"relu": "ReLU", "gelu": "GELU", "silu": "SwiGLU"}[ffn.activation]
        up = x @ weight(ffn.up, network) + offset(ffn.up, network)
        before = up if ffn.gate is None else x @ weight(ffn.gate, network) + offset(ffn.gate, network)
        hidden = ACTIVATIONS[kind](before) * (1.0 if ffn.gate is None else up)
        return before, hidden, hidden @ weight(ffn.down, network) + offset(ffn.down, network)


def weight(matrix: Matrix, network: torch.nn.Module) -> np.ndarray:
    whole = dict(network.named_parameters())[matrix.name].double().numpy()
    whole = whole.T if matrix.flipped else whole
    return whole if matrix.columns is None else whole[:, matrix.columns[0] : matrix.columns[1]]


def offset(matrix: Matrix, network: torch.nn.Module) -> np.ndarray | float:
    if matrix.bias is None:
        return 0.0
    whole = dict(network.named_parameters())[matrix.bias].double().numpy()
    return whole if matrix.columns is None else whole[matrix.columns[0] : matrix.columns[1]]


def size(vectors: np.ndarray) -> float:
    return float(np.linalg.norm(vectors.astype(np.float64)))


def is_length(said: str, value: float) -> bool:
    return is_number(said, value, rough=ROUGH * value)


def is_part(percents: str, times: str, value: float) -> bool:
    """Return True if a share is told in percent below 1, and as a number of times from 1 on."""
    near = [value * (1 + by) for by in (-ROUGH, 0, ROUGH)]
    return any(is_percent(percents, one) for one in near) if percents else value > 1 - ROUGH and is_length(times, value)


# --- One token's way -------------------------------------------------------------------------------------------------


def which(tokens: Sequence[str], position: int) -> str:
    """Name a token of a text as a sentence does: "the 2nd `the`"."""
    name, place = token(tokens[position]), tokens[: position + 1].count(tokens[position])
    return name if tokens.count(tokens[position]) == 1 else f"the {place}{['th', 'st', 'nd', 'rd'][place]} {name}"


def check_passed(said: str, subject: Subject, layer: LayerRecord, position: int) -> None:
    told, at, enters, leaves, part, most, length, order = claim(PASSED, said)
    assert (told[0].lower() + told[1:], int(at)) == (which(subject.tokens, position), layer.layer)
    assert is_length(enters, size(layer.enters[position]))
    assert is_length(leaves, size(layer.leaves[position]))
    lengths = {one.part: size(one.added[position]) for one in layer.additions}
    assert bool(most) == (len(lengths) > 1)
    assert lengths[PARTS[part[0].lower() + part[1:]]] >= max(lengths.values()) * (1 - ROUGH)
    assert is_length(length, max(lengths.values()))
    norms = [norm for norm in subject.trace.norms if (norm.stream, norm.layer) == (subject.stream, layer.layer)]
    before = any(relative_error(norm.input, layer.enters) < 1e-5 for norm in norms)
    after = any(relative_error(norm.output, layer.leaves) < 1e-5 for norm in norms)
    assert ("pre-norm" in order, "post-norm" in order) == (before and not after, after and not before)


def check_ends(said: str, subject: Subject, layer: LayerRecord, position: int) -> None:
    equal, off = claim(ENDS, said)
    end = [after for at, *_, after in subject.walked if at == layer.layer][-1][position]
    leaves = layer.leaves[position].astype(np.float64)
    want = np.abs(end - leaves).max() / np.abs(leaves).max()
    assert bool(equal) == (want == 0)
    assert is_number(off or "0", want, rough=1e-12)
    assert want < 1e-5


def check_step(said: str, step: block.LayerStep, subject: Subject, layer: LayerRecord, position: int) -> None:
    shape, length, first, rows, columns, product, above, units, cosine, off = claim(STEP, said)
    kind, expected = step.kind, vectors(subject, layer, position, part=step.part)
    if kind == "norm":
        norm = next(norm for norm in subject.trace.norms if norm.name == step.name and norm.stream == subject.stream)
        value = norm.output[position]
    elif kind == "sum":  # one of the states of the stream before a norm
        sums = [b[position] + a[position] for at, _, b, a, _ in subject.walked if at == layer.layer]
        value = min(sums, key=lambda one: abs(size(one) - number(length)))
    else:
        value = expected[kind]
    assert shape == " x ".join(map(str, value.shape))
    assert is_length(length, size(value))
    if heads := re.search(r"(\d+) heads of (\d+) numbers", first):
        assert (int(heads[1]), int(heads[2])) == (value.shape[0], value.shape[-1])
    if product:
        assert (int(rows), int(columns), count(product)) == (*value.shape, value.size)
    if above:
        before = expected["before"]
        assert count(units) == before.size
        assert (before > 1e-5).sum() <= count(above) <= (before > -1e-5).sum()
    if cosine:
        state, added = (next(one for one in subject.walked if one[:2] == (layer.layer, step.part))[i] for i in (2, 3))
        a, b = state[position], added[position]
        assert is_number(cosine, float(a @ b) / size(a) / size(b), rough=1e-6)
    assert not off or number(off) < 1e-4


def vectors(subject: Subject, layer: LayerRecord, position: int, *, part: str) -> dict[str, np.ndarray]:
    """Compute what each kind of step holds, of attention, or of the FFN."""
    if part in ("attention", "cross"):
        stream = "cross" if part == "cross" else subject.stream
        record = subject.trace.record_of(layer.layer, stream)
        query, key, value = (one.double().numpy() for one in (record.query, record.key, record.value))
        weights = subject.trace.attention(layer=layer.layer, stream=stream)[:, position].astype(np.float64)
        every = np.repeat(value, len(weights) // len(value), axis=0)
        k, v = (key, value) if part == "cross" else (key[:, position], value[:, position])
        added = next(one.added for one in layer.additions if one.part == part)[position]
        return {
            "q": query[:, position],
            "k": k,
            "v": v,
            "mix": np.stack([row @ one for row, one in zip(weights, every, strict=True)]),
            "out": added,
        }
    if part == "ffn":
        ffn = subject.blocks.ffn(subject.stream, layer.layer)
        x = ffn.input[position : position + 1].astype(np.float64)
        before, hidden, out = (one[0] for one in subject.units(layer.layer, x))
        up = (x @ weight(ffn.up, subject.loaded.network) + offset(ffn.up, subject.loaded.network))[0]
        return {"before": before, "gate": before, "up": up, "hidden": hidden, "down": out}
    return {"x": layer.enters[position]}


def way_sentences(subject: Subject, random: Random) -> Iterator[tuple[str, Callable[[str], None]]]:
    layer = random.choice(subject.blocks.of(subject.stream))
    position = random.randrange(len(subject.tokens))
    walk = block.walk(
        subject.trace,
        subject.blocks,
        subject.loaded.network,
        stream=subject.stream,
        layer=layer.layer,
        position=position,
    )
    yield way.passed(walk, subject.tokens), lambda said: check_passed(said, subject, layer, position)
    yield words.ends(off=walk.off, unseen=walk.unseen), lambda said: check_ends(said, subject, layer, position)
    step = random.choice(walk.steps)
    said = words.step(step, activation=walk.activation, cosines=walk.cosines)
    yield said, lambda said: check_step(said, step, subject, layer, position)


# --- What each part adds ---------------------------------------------------------------------------------------------


def check_added(said: str, subject: Subject) -> None:
    part, layer, percents, times, first, last, larger, layers, equal = claim(ADDED, said)
    shares = {
        (at, name): float(np.mean(np.linalg.norm(added, axis=1) / np.linalg.norm(before, axis=1)))
        for at, name, before, added, _ in subject.walked
    }
    top = shares[int(layer), PARTS[part[0].lower() + part[1:]]]
    assert top >= max(shares.values()) * (1 - ROUGH)
    assert is_part(percents, times, top)
    numbers = sorted({at for at, _ in shares})
    assert int(layers) == len(numbers)
    more = [shares[at, "ffn"] - shares[at, "attention"] for at in numbers]
    assert (int(larger), int(equal or 0)) == (sum(one > 0 for one in more), sum(one == 0 for one in more))
    assert bool(first) == (len(subject.tokens) > 1)
    for told, states in ((first, subject.walked[0][4]), (last, subject.walked[-1][4])):
        units = states / np.linalg.norm(states, axis=1, keepdims=True)
        pairs = [float(a @ b) for i, a in enumerate(units) for b in units[:i]]
        assert not told or is_number(told, float(np.mean(pairs)), rough=1e-6)


def check_moved(said: str, subject: Subject, position: int) -> None:
    told, guess, sure, whole, since, since_part, none, layer, part, bits = claim(MOVED, said)
    assert told == which(subject.tokens, position)
    final = next(
        (n for n in subject.trace.norms if n.layer is None and n.part == "final" and n.stream == subject.stream), None
    )
    states = [subject.walked[0][2], *(after for *_, after in subject.walked)]
    logs = []
    for state in states:
        x = state[position]
        if final is not None:
            centred = x - x.mean() if final.kind == "layer" else x
            x = final.gamma * centred / np.sqrt((centred**2).mean() + final.epsilon) + final.beta
        with torch.inference_mode():
            logits = subject.loaded.predict(torch.tensor(x, dtype=torch.float32)[None, None])[0, 0].double().numpy()
        logs.append(logits - logits.max() - np.log(np.exp(logits - logits.max()).sum()))
    best = int(logs[-1].argmax())
    likely = np.array([log[best] for log in logs])
    assert token(token_names(subject.loaded.tokenizer, [best])[0]) == guess
    assert any(is_percent(sure, float(np.exp(likely[-1])) * (1 + by)) for by in (-ROUGH, 0, ROUGH))
    places = [(-1, ""), *((at, name) for at, name, *_ in subject.walked)]
    known = 0 if whole else places.index((int(since), PARTS[since_part]))
    keeps = [log[best] >= log.max() - 1e-5 for log in logs]
    assert all(keeps[known:])
    assert known == 0 or logs[known - 1][best] < logs[known - 1].max() + 1e-5
    assert known == 0 or logs[known - 1].argmax() != best
    raised = np.diff(likely) / np.log(2)
    if none:
        assert all(raised <= 1e-4)
    else:
        at = places.index((int(layer), PARTS[part]))
        assert raised[at - 1] >= raised.max() - 1e-4
        assert is_number(bits, float(raised[at - 1]), rough=1e-4)


def added_sentences(subject: Subject, random: Random) -> Iterator[tuple[str, Callable[[str], None]]]:
    stages = block.stages(subject.trace, subject.blocks, stream=subject.stream)
    table = block.additions(stages)
    said = f"{added_section.added(table)} {added_section.larger(table)}"
    yield said, lambda said: check_added(said, subject)
    last = "decoder" if "decoder" in subject.trace.streams else "encoder"
    if subject.loaded.predict is not None and subject.stream == last:
        position = random.randrange(len(subject.tokens))
        table = block.moved(subject.trace, stages, subject.loaded.predict, subject.loaded.tokenizer, position=position)
        said = added_section.moved(table, token=named(subject.tokens, position))
        yield said, lambda said: check_moved(said, subject, position)


# --- FFN -------------------------------------------------------------------------------------------------------------


def check_answered(said: str, subject: Subject, layer: int) -> None:
    at, kind, positive, unit, told, every, silent, units, exact = claim(ANSWERED, said)
    ffn = subject.blocks.ffn(subject.stream, layer)
    before, hidden, _ = subject.units(layer, ffn.input.astype(np.float64))
    assert (int(at), kind) == (layer, {"relu": "ReLU", "gelu": "GELU", "silu": "SwiGLU"}[ffn.activation])
    assert any(is_percent(positive, float((before > near).mean())) for near in (0, -1e-5, 1e-5))
    least, most = ((before.max(axis=0) <= near).sum() for near in (-1e-5, 1e-5))
    assert least <= (0 if every else count(silent)) <= most
    assert every or count(units) == before.shape[1]
    assert bool(exact) == (kind == "ReLU" and not every)
    sizes = np.abs(hidden)
    assert sizes[:, int(unit)].max() >= sizes.max() * (1 - ROUGH)
    rows = np.flatnonzero(sizes[:, int(unit)] >= sizes[:, int(unit)].max() * (1 - ROUGH))
    assert told in {which(subject.tokens, row) for row in rows}


def check_straight(said: str, subject: Subject, layer: int) -> None:
    percents, times, doubled, mirrored = claim(STRAIGHT, said)
    ffn, network = subject.blocks.ffn(subject.stream, layer), subject.loaded.network
    x = ffn.input.astype(np.float64)
    before, _, out = subject.units(layer, x)
    zero = subject.units(layer, np.zeros_like(x[:1]))[2]
    twice, minus = subject.units(layer, 2 * x)[2], subject.units(layer, -x)[2]
    once = np.linalg.norm(out - zero, axis=1)
    grown = (np.linalg.norm(twice - zero, axis=1) / once).mean()
    left = (np.linalg.norm(out + minus - 2 * zero, axis=1) / once).mean()
    assert is_number(doubled, float(grown), rough=1e-4)
    assert is_number(mirrored, float(left), rough=1e-4)
    assert bool(percents or times) == (len(x) > 1)
    if len(x) > 1:
        act = ACTIVATIONS[{"relu": "ReLU", "gelu": "GELU", "silu": "SwiGLU"}[ffn.activation]](before)
        slope, begin = np.polyfit(before.ravel(), act.ravel(), 1)
        line = slope * before + begin
        line = line if ffn.gate is None else line * (x @ weight(ffn.up, network) + offset(ffn.up, network))
        made = line @ weight(ffn.down, network) + offset(ffn.down, network)
        lost = float(((made - out) ** 2).sum() / ((out - out.mean(axis=0)) ** 2).sum())
        assert is_part(percents, times, lost)


def ffn_sentences(subject: Subject, random: Random) -> Iterator[tuple[str, Callable[[str], None]]]:
    layer = random.choice(subject.blocks.of(subject.stream)).layer
    ffn, network = subject.blocks.ffn(subject.stream, layer), subject.loaded.network
    busiest = feedforward.busiest(ffn, network, tokens=subject.tokens)
    units = feedforward.units(ffn, network)
    silent = words.silent(units.silent, of=units.units, activation=units.activation)
    yield (
        f"{ffn_section.answered(units, busiest, layer=layer, tokens=subject.tokens)} {silent}",
        lambda said: check_answered(said, subject, layer),
    )
    yield ffn_section.straight(units), lambda said: check_straight(said, subject, layer)


# --- Sharing ---------------------------------------------------------------------------------------------------------


def check_shared(said: str, subject: Subject) -> None:
    uses, low, high = claim(SHARED, said)
    network, records = subject.loaded.network, subject.blocks.of(subject.stream)
    stack = re.split(r"\.\d+\.", records[0].matrices[0][1].name)[0]
    inside = [one for name, one in network.named_parameters() if name.startswith(f"{stack}.") and one.ndim == 2]
    assert count(uses) == len(inside) == len({one.data_ptr() for one in inside})
    apart = []
    assert bool(high) == all(layer.matrix("k") is not None for layer in records)
    for layer in records if high else ():
        key, value = (weight(layer.matrix(name), network) for name in "kv")
        apart.append(size(key - value) / np.sqrt((size(key) ** 2 + size(value) ** 2) / 2))
    assert not high or is_number(high, max(apart), rough=1e-6)
    assert not high or is_number(low or high, min(apart), rough=1e-6)


def check_nearest(said: str, states: np.ndarray, rows: np.ndarray) -> None:
    own, of, low, high, equal, of_equal = claim(NEAREST, said)
    sizes = np.linalg.norm(rows, axis=1)
    assert int(of) == int(of_equal) == len(states)
    assert is_length(low, sizes.min())
    assert is_length(high, sizes.max())
    for told, table in ((own, rows), (equal, rows / sizes[:, None])):
        same = [int((table @ state).argmax()) == int(((table - state) ** 2).sum(axis=1).argmin()) for state in states]
        assert int(told) == sum(same)


def check_heads(said: str, subject: Subject, layer: LayerRecord, position: int) -> None:
    heads, width, numbers, sides, last, percents, times, summed, rank, most = claim(HEADS, said)
    mixed = vectors(subject, layer, position, part="attention")["mix"]
    matrix = weight(layer.matrix("out"), subject.loaded.network)
    assert (int(heads), int(width), count(numbers)) == (*mixed.shape, mixed.size)
    assert (int(last), int(most)) == (len(mixed) - 1, mixed.shape[1])
    assert number(sides) < 1e-12
    assert int(rank) == np.linalg.matrix_rank(matrix)
    whole = mixed.ravel() @ matrix
    swapped = mixed.copy()
    swapped[[0, -1]] = mixed[[-1, 0]]
    assert is_part(percents, times, size(swapped.ravel() @ matrix - whole) / size(whole))
    assert number(summed) < 1e-12


def sharing_sentences(subject: Subject, random: Random) -> Iterator[tuple[str, Callable[[str], None]]]:
    network, layers = subject.loaded.network, subject.blocks.of(subject.stream)
    keys = [sharing.keys_from_values(layer, network) for layer in layers]
    said = sharing_section.shared(sharing.storages(subject.blocks, stream=subject.stream))
    said = f"{said} {sharing_section.apart(keys)}".rstrip()
    yield said, lambda said: check_shared(said, subject)
    position = random.randrange(len(subject.tokens))
    mixed = block.mixed(subject.trace, stream=subject.stream, layer=layers[0].layer, position=position)
    if layers[0].matrix("out") is not None:
        said = words.heads(sharing.heads(subject.trace, layers[0], network, mixed=mixed))
        yield said, lambda said: check_heads(said, subject, layers[0], position)
    if subject.loaded.predict is not None and subject.stream == subject.blocks.layers[-1].stream:
        head = probe.record_head(subject.loaded, subject.trace)
        rows, states = weight(head.matrix, network).T, head.input.astype(np.float64)
        yield words.nearest(sharing.nearest(head, network)), lambda said: check_nearest(said, states, rows)
        tied = words.tied(subject.blocks.embedding, head.matrix.name)
        tables = {one.data_ptr() for one in network.parameters() if one.shape[0] == len(rows) and one.ndim == 2}
        assert ("one storage" in tied) == (len(tables) == 1)


SECTIONS = (way_sentences, added_sentences, ffn_sentences, sharing_sentences)


@pytest.mark.parametrize("model", TEXTS)
def test_each_sentence_holds_and_a_false_number_is_found(model: str, shipped: Callable[[str], LoadedModel]) -> None:
    loaded, random = shipped(model), Random(7)
    target = "ab ba" if loaded.shape == "encoder-decoder" else None
    trace = inspector.record(loaded, TEXTS[model], target=target)
    blocks = inspector.record_blocks(loaded, trace)
    stream = blocks.layers[-1].stream
    for section in SECTIONS:
        for said, check in section(Subject(loaded, trace, blocks, stream), random):
            check(said)
            for false in planted(said, rounding=False):
                with pytest.raises((AssertionError, KeyError, IndexError, ValueError, StopIteration)):
                    check(false)


def test_a_stream_without_ffns_has_none_that_adds_more() -> None:
    rows = [{"layer": layer, "part": "attention", "share": 0.1 + layer, "alike": 0.5} for layer in range(2)]
    assert added_section.added(pd.DataFrame(rows)) == (
        "Attention of layer 1 adds most: 1.10 times the stream's length. Two tokens' states have a cosine of 0.500 "
        "after the first part and 0.500 at the end."
    )
    assert added_section.larger(pd.DataFrame(rows)) == ""
