"""Readings of a training against numbers made here, and the sentences made of them."""

from __future__ import annotations

import math
import re
from collections import Counter
from random import Random

import numpy as np
import pandas as pd
import pytest

from inspector import training
from inspector.sections.training.moments import doing, grown
from inspector.sections.training.run import evaluated
from inspector.wording.english import training as words
from models import checkpoints
from models.training import history
from models.training.replay_file import MapKey
from tests.closeness import assert_close
from tests.inspector.wording.said import COUNT, NUMBER, claim, count, is_number, number

FOLDER = checkpoints.FOLDER / "mini-bert"


def test_a_moment_counts_the_heads_of_the_file() -> None:
    """The heads that look one token back at the end, and the mean entropy, counted from the maps themselves."""
    replay = history.read_replay(FOLDER)
    measures = training.measures(replay, sentence=0, stream="encoder")
    said = [doing(measures, step=step) for step in (replay.steps[3], replay.steps[-1])]
    layers = replay.layers("encoder")
    maps = [replay.maps[MapKey(0, "encoder", layer)].astype(np.float64) for layer in range(layers)]
    heads = sum(one.shape[1] for one in maps)
    end = np.concatenate([one[-1] for one in maps])
    ahead = np.diagonal(end, 1, 1, 2).sum(axis=1) / end.shape[1]  # the last token has no next one: its row adds 0
    told = re.search(rf"(\d+)(?: of {heads} heads)? looks? one token ahead", said[1])
    assert told
    assert int(told[1]) >= int((ahead > 0.5).sum()) > 0
    entropies = [
        -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1).mean()
        for weights in (np.concatenate([one[moment] for one in maps]) for moment in (3, -1))
    ]
    shown = re.search(rf"mean entropy is {NUMBER} nats now and {NUMBER} at the end\.", said[0])
    assert shown
    assert [float(one) for one in shown.groups()] == pytest.approx(entropies, rel=2e-2)  # half precision
    assert said[0].startswith(f"At step {replay.steps[3]:,}, ")
    assert said[1].startswith(f"At the end, step {replay.steps[-1]:,}, ")


def test_one_head_is_in_the_singular_and_none_is_said() -> None:
    counts = {"previous": 3, "broad": 1, "other": 2}
    assert words.moment(step=10, last=100, heads=6, now={"other": 6}, end=counts, entropies=(1.0, 0.5)) == (
        "At step 10, none of the 6 heads does one plain thing on this sentence; at the end, 3 of 6 heads look one "
        "token back and 1 spreads its attention broadly. The heads' mean entropy is 1.00 nats now and 0.500 at the end."
    )


@pytest.mark.parametrize(("losses", "verb"), [((5.0, 3.0), "fell"), ((1.0, 2.0), "rose")])
def test_the_valid_loss_is_read_off_the_metrics(losses: tuple[float, float], verb: str) -> None:
    rows = pd.DataFrame({"step": [1, 10, 20, 30], "valid_loss": [np.nan, losses[0], 9.0, losses[1]]})
    first, last = evaluated(rows)[0], evaluated(rows)[-1]
    assert (first, last) == ((10, losses[0]), (30, losses[1]))
    assert words.perplexity(losses[0]) == pytest.approx(math.e ** losses[0])
    assert f"From step 10 to step 30 the valid loss {verb} from {losses[0]:.2f} to" in words.fall(
        first=first, last=last
    )
    assert not evaluated(rows.iloc[:1])


def test_growth_is_size_over_size_at_the_start() -> None:
    replay = history.read_replay(FOLDER)
    table = training.growth(replay, stream="encoder")
    name = next(name for name in replay.norms if "layers.0.attention.query" in name)
    values = np.asarray(replay.norms[name])
    assert_close(table.loc["layer 0 attention q"], values / values[0], relative=1e-6)
    assert list(table.columns) == list(replay.steps)
    assert [one.removeprefix("layer 0 ") for one in table.index[:6]] == [
        *(f"attention {part}" for part in ("q", "k", "v", "out")),
        *("FFN up", "FFN down"),
    ]
    check = dict(table.iloc[:, -1])
    most, least = max(check, key=check.__getitem__), min(check, key=check.__getitem__)
    assert grown(check) == words.grown(most=(most, check[most]), least=(least, check[least]))
    assert words.grown(most=("a", 2.5), least=("b", 0.5)) == (
        "By the end the matrices have between 0.500 (b) and 2.50 times (a) the size that they began with."
    )


FALL = (
    rf"(?:From step {COUNT} to step {COUNT} the valid loss (fell|rose) from {NUMBER} to {NUMBER} nats a token: "
    rf"first the model was as unsure as among {NUMBER} equally likely tokens, at the end as among {NUMBER}|"
    rf"(?:At step {COUNT} the valid loss is|From step {COUNT} to step {COUNT} the valid loss stayed at) {NUMBER} nats "
    rf"a token: the model is as unsure as among {NUMBER} equally likely tokens)\."
)
GROWN = (
    rf"By the end (?:every matrix has {NUMBER} times the size that it began with|the matrices have between {NUMBER} "
    rf"\((\w)\) and {NUMBER} times \((\w)\) the size that they began with)\."
)
DOES = {
    "previous": "looks? one token back",
    "broad": "(?:spreads its|spread their) attention broadly",
    "[CLS]": r"rests? on \[CLS\]",
    "induction": "looks? at what followed the same token",
}


def is_perplexity(said: str, loss: float) -> bool:
    return loss > 709 if said == "∞" else is_number(said, math.exp(loss))


def check_fall(sentence: str, valid: list[tuple[int, float]]) -> None:
    """Hold a sentence against the measured losses: (step, loss), NaN where none was measured."""
    valid = [(step, loss) for step, loss in valid if not math.isnan(loss)]
    (first, before), (last, after) = valid[0], valid[-1]
    start, end, verb, high, low, among, then, only, since, until, level, same = claim(FALL, sentence)
    if verb:
        assert (count(start), count(end), verb == "fell") == (first, last, after < before)
        assert number(high) != number(low)
        assert is_number(high, before)
        assert is_number(low, after)
        assert is_perplexity(among, before)
        assert is_perplexity(then, after)
        return
    assert [count(one) for one in (only, since, until) if one] == sorted({first, last})
    assert is_number(level, before)
    assert is_number(level, after)
    assert is_perplexity(same, after)


def check_grown(sentence: str, growth: dict[str, float]) -> None:
    every, low, least, high, most = claim(GROWN, sentence)
    growth = {name: times for name, times in growth.items() if math.isfinite(times)}
    if every:
        assert all(is_number(every, times) for times in growth.values())
        return
    assert is_number(low, min(growth.values()))
    assert is_number(high, max(growth.values()))
    assert (growth[least], growth[most]) == (min(growth.values()), max(growth.values()))


def check_moment(sentence: str, now: list[str], end: list[str], entropies: tuple[float, float], *, last: bool) -> None:
    """Hold a sentence against the labels of all heads at a step and at the end."""
    said, _, numbers = sentence.partition(". The heads' mean entropy is ")
    parts = [said] if last else said.split("; at the end, ")
    for part, labels in zip(parts, [end] if last else [now, end], strict=True):
        done = Counter(label for label in labels if label in DOES).most_common()
        assert ("one plain thing" in part) == (not done)
        assert f"of {len(labels)} heads" in part or f"the {len(labels)} heads" in part or len(labels) == 1
        counts = [times for _, times in done[:3]]
        every = {
            label: re.search(rf"(?:(\d+)(?: of \d+ heads)?|the only head) {does}", part) for label, does in DOES.items()
        }
        told = {label: one[1] for label, one in every.items() if one}
        assert sorted(int(times or 1) for times in told.values()) == sorted(counts)
        assert all(int(times or 1) == labels.count(label) for label, times in told.items())
    shown = claim(rf"{NUMBER} nats(?: now and {NUMBER} at the end)?\.", numbers)
    assert is_number(shown[0], entropies[1 if last else 0])
    assert last or is_number(shown[1], entropies[1])


def test_no_sentence_says_what_the_curves_do_not() -> None:
    """200 drawn trainings: losses, labels of heads and growths, many of them equal, zero, diverged or single."""
    random = Random(5)
    for _ in range(200):
        steps = sorted(random.sample(range(1, 20_000), random.choice((1, 2, 5))))
        losses = [random.choice((math.nan, 0.0, 3.0, 3.001, 800.0, random.uniform(0, 12))) for _ in steps]
        found = evaluated(pd.DataFrame({"step": steps, "valid_loss": losses}))
        assert (not found) == all(map(math.isnan, losses))
        if found:
            check_fall(words.fall(first=found[0], last=found[-1]), list(zip(steps, losses, strict=True)))
        sizes = (0.5, 1.0, 1.0, 1.0004, math.inf, math.nan, random.uniform(0, 20))
        growth = {name: random.choice(sizes) for name in "abcd"[: random.choice((1, 2, 4))]}
        told = grown(growth)
        assert (not told) == (not any(map(math.isfinite, growth.values())))
        if told:
            check_grown(told, growth)
        heads = random.choice((1, 2, 12))
        now, end = ([random.choice((*DOES, "other")) for _ in range(heads)] for _ in "ab")
        entropies = random.choice((0.0, 1.5, random.uniform(0, 6))), random.uniform(0, 6)
        at = random.choice((10, 2000))
        labels = [dict(Counter(one).most_common()) for one in (now, end)]
        said = words.moment(step=at, last=2000, heads=heads, now=labels[0], end=labels[1], entropies=entropies)
        assert said.startswith("At the end, step 2,000, " if at == 2000 else "At step 10, ")
        check_moment(said.replace("step 2,000, ", "").replace("step 10, ", ""), now, end, entropies, last=at == 2000)


@pytest.mark.parametrize(
    ("true", "false"),
    [("fell", "rose"), ("5.00", "5.10"), ("148", "149"), ("step 10", "step 11"), ("as among 20.1", "as among 20.2")],
)
def test_a_false_sentence_of_a_loss_is_found(true: str, false: str) -> None:
    valid = [(10, 5.0), (30, 3.0)]
    said = words.fall(first=valid[0], last=valid[1])
    check_fall(said, valid)
    assert true in said
    with pytest.raises(AssertionError):
        check_fall(said.replace(true, false), valid)


@pytest.mark.parametrize(("true", "false"), [("0.500", "0.600"), ("2.50", "2.60"), ("(b)", "(a)")])
def test_a_false_sentence_of_growth_is_found(true: str, false: str) -> None:
    said = words.grown(most=("a", 2.5), least=("b", 0.5))
    check_grown(said, {"a": 2.5, "b": 0.5})
    with pytest.raises(AssertionError):
        check_grown(said.replace(true, false), {"a": 2.5, "b": 0.5})
