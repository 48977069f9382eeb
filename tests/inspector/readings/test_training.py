"""Readings of a training against numbers made here, and the sentences made of them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from inspector import training
from inspector.readings import training as read
from inspector.wording.english import training as words
from models import checkpoints
from models.training import history
from models.training.replay_file import MapKey

FOLDER = checkpoints.FOLDER / "mini-bert"


def test_a_moment_counts_the_heads_of_the_file() -> None:
    """The heads that look one token back at the end, and the mean entropy, counted from the maps themselves."""
    replay = history.read_replay(FOLDER)
    measures = training.measures(replay, sentence=0, stream="encoder")
    found = read.moment(measures, step=replay.steps[3])
    layers = replay.layers("encoder")
    maps = [replay.maps[MapKey(0, "encoder", layer)].astype(np.float64) for layer in range(layers)]
    assert found.heads == sum(one.shape[1] for one in maps) == sum(found.now.values()) == sum(found.end.values())
    end = np.concatenate([one[-1] for one in maps])
    ahead = np.diagonal(end, 1, 1, 2).sum(axis=1) / end.shape[1]  # the last token has no next one: its row adds 0
    assert found.end.get("next", 0) >= int((ahead > 0.5).sum()) > 0
    for moment, told in ((3, found.entropies[0]), (-1, found.entropies[1])):
        weights = np.concatenate([one[moment] for one in maps])
        entropy = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1).mean()
        assert told == pytest.approx(entropy, rel=2e-2)  # rows of half precision do not sum to 1
    said = words.moment(found)
    assert said.startswith(f"At step {replay.steps[3]:,}, ")
    assert words.moment(read.moment(measures, step=replay.steps[-1])).startswith(
        f"At the end, step {replay.steps[-1]:,}, "
    )


def test_one_head_is_in_the_singular_and_none_is_said() -> None:
    counts = {"previous": 3, "broad": 1, "other": 2}
    one = read.Moment(10, 100, 6, {"other": 6}, counts, (1.0, 0.5))
    assert words.moment(one) == (
        "At step 10, none of the 6 heads does one plain thing on this sentence; at the end, 3 of 6 heads look one "
        "token back and 1 spreads its attention broadly. Their mean entropy is 1.00 nats now and 0.500 at the end."
    )


@pytest.mark.parametrize(("losses", "verb"), [((5.0, 3.0), "fell"), ((1.0, 2.0), "rose")])
def test_the_valid_loss_is_read_off_the_metrics(losses: tuple[float, float], verb: str) -> None:
    rows = pd.DataFrame({"step": [1, 10, 20, 30], "valid_loss": [np.nan, losses[0], 9.0, losses[1]]})
    found = read.fall(rows)
    assert found is not None
    assert (found.first, found.last) == ((10, losses[0]), (30, losses[1]))
    assert found.perplexities == pytest.approx((math.e ** losses[0], math.e ** losses[1]))
    assert f"From step 10 to step 30 the valid loss {verb} from {losses[0]:.2f} to" in words.fall(found)
    assert read.fall(rows.iloc[:1]) is None


def test_growth_is_size_over_size_at_the_start() -> None:
    replay = history.read_replay(FOLDER)
    table = training.growth(replay, stream="encoder")
    name = next(name for name in replay.norms if "layers.0.attention.query" in name)
    values = np.asarray(replay.norms[name])
    np.testing.assert_allclose(table.loc["layer 0 attention q"], values / values[0])
    assert list(table.columns) == list(replay.steps)
    assert [one.removeprefix("layer 0 ") for one in table.index[:6]] == [
        *(f"attention {part}" for part in ("q", "k", "v", "out")),
        *("FFN up", "FFN down"),
    ]
    found = read.grown(dict(table.iloc[:, -1]))
    assert found.most[1] == table.iloc[:, -1].max()
    assert found.least[1] == table.iloc[:, -1].min()
    assert words.grown(read.Grown(("a", 2.5), ("b", 0.5))) == (
        "By the end a has 2.50 times its first size, more than any other; b shrank to 0.500 times."
    )
