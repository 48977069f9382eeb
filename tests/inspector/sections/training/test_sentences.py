"""Readings of a training against numbers made here, and the sentences made of them."""

from __future__ import annotations

import math
import re
from collections import Counter
from random import Random

import numpy as np
import pandas as pd
import pytest

from inspector import heads, training
from inspector.sections.training.curves import evaluated
from inspector.sections.training.moments import doing, telling
from inspector.sections.training.sizes import finite, grown
from inspector.wording.english import training as words
from models import checkpoints
from models.training import history
from models.training.replay_file import MapKey
from tests.closeness import assert_close
from tests.inspector.wording.said import NUMBER, claim, is_number, number

FOLDER = checkpoints.FOLDER / "mini-bert"


def test_a_moment_counts_the_heads_of_the_file() -> None:
    """The heads that follow one plain pattern, counted from the maps themselves as far as they look one token off."""
    replay = history.read_replay(FOLDER)
    measures = training.measures(replay, sentence=0, stream="encoder")
    said = [doing(measures, step=step) for step in (replay.steps[0], replay.steps[-1])]
    maps = [replay.maps[MapKey(0, "encoder", layer)].astype(np.float64) for layer in range(replay.layers("encoder"))]
    end = np.concatenate([one[-1] for one in maps])
    # The first token has no token before it, the last none after it: their rows add 0, and count for nothing.
    off = [np.diagonal(end, by, 1, 2).sum(axis=1) / (end.shape[1] - 1) for by in (-1, 1)]
    told = re.fullmatch(
        r"At the end, step [\d,]+, (\d+) heads follow one plain pattern, and the commonest is to .*\.", said[1]
    )
    assert told
    assert len(end) > int(told[1]) >= sum(int((share > 0.5).sum()) for share in off) > 0
    assert said[0] == (
        f"At step 0, no head follows one plain pattern; at the end {told[1]} do, {said[1].partition('pattern, ')[2]}"
    )


def test_the_first_head_has_a_name_at_the_end() -> None:
    measures = training.measures(history.read_replay(FOLDER), sentence=0, stream="encoder")
    end = measures[measures["step"] == measures["step"].max()]
    layer, head = telling(end)
    (label,) = end[(end["layer"] == layer) & (end["head"] == head)]["label"]
    assert label in words.PLAIN
    nameless = end.assign(label="broad")
    assert telling(nameless) == heads.most_telling(nameless)


def test_one_head_is_in_the_singular_and_none_is_said() -> None:
    counts = {"previous": 3, "broad": 1, "other": 2}
    assert words.moment(step=10, last=100, now={"other": 6}, end=counts) == (
        "At step 10, no head follows one plain pattern; at the end 3 do, and the commonest is to look one token back."
    )
    tied = {"previous": 2, "next": 2}
    assert "to look one token back." in words.moment(step=10, last=100, now={}, end=tied)
    assert "to look one token ahead." in words.moment(step=10, last=100, now={}, end=tied, opened="next")
    assert words.moment(step=100, last=100, now={}, end={"[CLS]": 1}) == (
        "At the end, step 100, 1 head follows one plain pattern: it rests on [CLS]."
    )
    assert words.moment(step=10, last=100, now=counts, end={"broad": 6}) == (
        "At step 10, 3 heads follow one plain pattern; at the end none do."
    )


@pytest.mark.parametrize(("losses", "verb"), [((5.0, 3.0), "fell"), ((1.0, 2.0), "rose")])
def test_the_valid_loss_is_read_off_the_metrics(losses: tuple[float, float], verb: str) -> None:
    rows = pd.DataFrame({"step": [1, 10, 20, 30], "valid_loss": [np.nan, losses[0], 9.0, losses[1]]})
    first, last = evaluated(rows)[0], evaluated(rows)[-1]
    assert (first, last) == ((10, losses[0]), (30, losses[1]))
    assert words.perplexity(losses[0]) == pytest.approx(math.e ** losses[0])
    assert f"its valid loss {verb} from {losses[0]:.2f} to {losses[1]:.2f} nats" in words.fall(first=first, last=last)
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
    rf"(?:The model (learned|lost what it knew): its valid loss (fell|rose) from {NUMBER} to {NUMBER} nats a token\. "
    rf"At first it wavered between {NUMBER} equally likely tokens, at the end between {NUMBER}|"
    rf"The valid loss (is|stayed at) {NUMBER} nats a token: the model wavers between {NUMBER} equally likely tokens)\."
)
GROWN = (
    rf"By the end (?:every matrix has {NUMBER} times the size that it began with|the matrices have between {NUMBER} "
    rf"\((\w)\) and {NUMBER} times \((\w)\) the size that they began with)\."
)
LABELS = ("previous", "broad", "[CLS]", "induction")
PLAIN = {
    "previous": "look one token back",
    "[CLS]": "rest on [CLS]",
    "induction": "look at what followed the same token",
}
MOST = r"(?:(, and the commonest is to|: it) ([^;]*))?"
MOMENT = (
    rf"(?:At the end, step 2,000,|At step 10,) (no|\d+) heads? follows? one plain pattern{MOST}"
    rf"(?:; at the end (none|\d+) do(?:es)?{MOST})?\."
)


def is_perplexity(said: str, loss: float) -> bool:
    return loss > 709 if said == "∞" else is_number(said, math.exp(loss))


def check_fall(sentence: str, valid: list[tuple[int, float]]) -> None:
    """Hold a sentence against the measured losses: (step, loss), NaN where none was measured."""
    valid = [(step, loss) for step, loss in valid if not math.isnan(loss)]
    (first, before), (last, after) = valid[0], valid[-1]
    did, verb, high, low, among, then, still, level, same = claim(FALL, sentence)
    if verb:
        assert (did == "learned", verb == "fell") == (after < before, after < before)
        assert number(high) != number(low)
        assert is_number(high, before)
        assert is_number(low, after)
        assert is_perplexity(among, before)
        assert is_perplexity(then, after)
        return
    assert (still == "is") == (first == last)
    assert is_number(level, before)
    assert is_number(level, after)
    assert is_perplexity(same, after)


def check_grown(sentence: str, growth: dict[str, float]) -> None:
    every, low, least, high, most = claim(GROWN, sentence)
    if every:
        assert all(is_number(every, times) for times in growth.values())
        return
    assert is_number(low, min(growth.values()))
    assert is_number(high, max(growth.values()))
    assert (growth[least], growth[most]) == (min(growth.values()), max(growth.values()))


def check_moment(sentence: str, now: list[str], end: list[str], *, last: bool) -> None:
    """Hold a sentence against the labels of all heads at a step and at the end."""
    before, how, does, after, then, finally_does = claim(MOMENT, sentence)
    none = {"no": "0", "none": "0"}
    plain = Counter(label for label in end if label in PLAIN)
    if last:
        assert not after
        after, then, finally_does = before, how, does
    else:
        assert not does
        assert int(none.get(before, before)) == sum(label in PLAIN for label in now)
    assert int(none.get(after, after)) == plain.total()
    assert bool(finally_does) == bool(plain)
    if plain:
        assert (then == ": it") == (plain.total() == 1)
        most = [label for label, count in plain.items() if count == max(plain.values())]
        spoken = finally_does.replace("looks", "look").replace("rests", "rest")
        assert spoken in [PLAIN[label] for label in most]


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
        if growing := finite(growth):
            check_grown(grown(growing), growing)
        assert growing.keys() == {name for name, times in growth.items() if math.isfinite(times)}
        many = random.choice((1, 2, 12))
        now, end = ([random.choice((*LABELS, "other")) for _ in range(many)] for _ in "ab")
        at = random.choice((10, 2000))
        labels = [dict(Counter(one).most_common()) for one in (now, end)]
        said = words.moment(step=at, last=2000, now=labels[0], end=labels[1])
        check_moment(said, now, end, last=at == 2000)


@pytest.mark.parametrize(
    ("true", "false"),
    [("fell", "rose"), ("learned", "lost what it knew"), ("5.00", "5.10"), ("148", "149"), ("20.1", "20.2")],
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
