"""Schedules against torch's schedulers, heads and norms against counting by hand."""

from __future__ import annotations

import io
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch

from inspector import training as learning
from models.training.recipes import TRANSLATOR
from models.training.replay_file import MapKey, Replay, ReplaySentence
from tests.closeness import assert_close

STEPS = (0, 3, 50)


@pytest.fixture(scope="module")
def replay() -> Replay:
    generator = np.random.default_rng(1)
    sentences = (
        ReplaySentence("a b", "c", ("[CLS]", "a", "b", "[SEP]"), ("[CLS]", "c", "[SEP]")),
        ReplaySentence("a", "c d", ("[CLS]", "a", "[SEP]"), ("[CLS]", "c", "d", "[SEP]")),
    )
    maps = {}
    for number, sentence in enumerate(sentences):
        for stream in ("encoder", "decoder", "cross"):
            queries, keys = sentence.tokens(stream)
            for layer in range(2):
                weights = generator.random((len(STEPS), 2, len(queries), len(keys)))
                maps[MapKey(number, stream, layer)] = (weights / weights.sum(-1, keepdims=True)).astype(np.float16)
    norms = {
        "encoder.embedding.token.weight": np.array([2.0, 3.0, 8.0]),
        "encoder.layers.0.attention.query.weight": np.array([4.0, 4.0, 2.0]),
        "decoder.layers.1.cross_attention.out.weight": np.array([1.0, 1.0, 1.5]),
        "encoder.encoder_is_no_stack.layers.1.ffn.down.weight": np.array([1.0, 2.0, 3.0]),
        "transform.weight": np.array([1.0, 1.0, 1.0]),
    }
    return Replay(STEPS, sentences, maps, norms)


def test_schedules_are_those_of_torch() -> None:
    recipe, steps = replace(TRANSLATOR, learning_rate=0.4, warmup=7), 40
    table = learning.schedules(recipe, steps=steps)
    assert table["step"].tolist() == list(range(1, steps + 1))

    def of_torch(decay: object) -> list[float]:
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.4)
        # torch counts from 0, with the rate of its step n used in training step n
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: n / 7 if n < 7 else decay(n))
        rates = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # no optimizer step between: only the numbers are wanted
            for _ in range(steps):
                scheduler.step()
                rates.append(scheduler.get_last_lr()[0])
        return rates

    assert_close(table["linear"], of_torch(lambda n: (40 - n) / 33), relative=1e-12)
    assert_close(table["cosine"], of_torch(lambda n: math.cos(math.pi * (n - 7) / 66) ** 2), relative=1e-12)
    assert_close(table["noam"], of_torch(lambda n: (7 / n) ** 0.5), relative=1e-12)
    assert_close(table["late"], of_torch(lambda n: min(1.0, (40 - n) / 8)), relative=1e-12)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5, 1.0])
def test_the_least_loss_is_that_of_the_best_logits(smoothing: float) -> None:
    vocabulary = 50
    target = torch.full((vocabulary,), smoothing / vocabulary, dtype=torch.float64)
    target[7] += 1 - smoothing
    logits = torch.log(target.clamp(min=1e-300))[None]
    label = torch.tensor([7])
    best = torch.nn.functional.cross_entropy(logits, label, label_smoothing=smoothing).item()
    assert_close(learning.least_loss(smoothing, vocabulary=vocabulary), best, relative=1e-9)
    worse = torch.nn.functional.cross_entropy(logits * 1.1, label, label_smoothing=smoothing).item()
    assert worse >= best - 1e-12


@pytest.mark.parametrize("stream", ["encoder", "decoder", "cross"])
def test_measures_are_those_of_each_map(stream: str, replay: Replay) -> None:
    table = learning.measures(replay, sentence=0, stream=stream).set_index(["step", "layer", "head"])
    assert len(table) == len(STEPS) * 2 * 2
    for at, step in enumerate(STEPS):
        for layer in range(2):
            for head in range(2):
                weights = replay.maps[MapKey(0, stream, layer)][at, head].astype(float)
                row = table.loc[(step, layer, head)]
                assert_close(row["entropy"], np.mean([-(line * np.log(line)).sum() for line in weights]), relative=1e-6)
                assert_close(row["first"], weights[:, 0].mean(), relative=1e-6)
                if stream == "cross":
                    assert math.isnan(row["self"])
                else:
                    assert_close(row["self"], np.trace(weights) / len(weights), relative=1e-6)
                    assert_close(row["previous"], np.trace(weights, offset=-1) / (len(weights) - 1), relative=1e-6)
                    assert math.isnan(row["next"]) == (stream == "decoder")


def test_norms_know_their_place_and_grow_from_one(replay: Replay) -> None:
    table = learning.norms(replay)
    places = table.drop_duplicates(["stack", "layer", "part", "component"])
    assert [tuple(place) for place in places[["stack", "part", "component"]].to_numpy()] == [
        ("encoder", "embedding", "token"),
        ("encoder", "attention", "q"),
        ("decoder", "cross_attention", "out"),
        ("encoder", "ffn", "down"),
        ("encoder", "head", "transform"),
    ]
    assert places["layer"].isna().tolist() == [True, False, False, False, True]
    assert places["layer"].dropna().tolist() == [0, 1, 1]
    assert table.query("component == 'token'")["growth"].tolist() == [1.0, 1.5, 4.0]
    assert table.query("component == 'q'")["growth"].tolist() == [1.0, 1.0, 0.5]
    assert table.query("component == 'q'")["norm"].tolist() == [4.0, 4.0, 2.0]


def test_scores_on_random_repeats_are_a_row_a_head_and_a_column_a_step(replay: Replay) -> None:
    scores = np.arange(len(STEPS) * 2 * 3, dtype=float).reshape(len(STEPS), 2, 3)
    table = learning.induction(replace(replay, induction=scores))
    assert table.columns.tolist() == list(STEPS)
    assert table.loc["layer 1 head 2"].tolist() == scores[:, 1, 2].tolist()
    assert len(table) == 6
    with pytest.raises(ValueError, match="only that of a decoder"):
        learning.induction(replay)


def test_a_decoder_alone_has_matrices_of_a_decoder(replay: Replay) -> None:
    norms = {name: np.ones(3) for name in ("embedding.token.weight", "layers.1.attention.query.weight")}
    table = learning.growth(replace(replay, norms=norms), stream="decoder")
    assert table.index.tolist() == ["layer 1 attention q", "embedding token"]


def test_the_file_holds_the_maps_of_one_sentence(replay: Replay) -> None:
    with np.load(io.BytesIO(learning.npz(replay, sentence=1)), allow_pickle=False) as file:
        assert file["steps"].tolist() == list(STEPS)
        assert file["source_tokens"].tolist() == ["[CLS]", "a", "[SEP]"]
        assert file["target_tokens"].tolist() == ["[CLS]", "c", "d", "[SEP]"]
        assert len(file.files) == 3 + 6
        np.testing.assert_array_equal(file["cross.1"], replay.maps[MapKey(1, "cross", 1)])


def test_curves_are_columns_with_gaps() -> None:
    table = learning.curves([{"step": 1.0, "valid_loss": None}, {"step": 2.0, "valid_loss": 0.5}])
    assert table["step"].tolist() == [1, 2]
    assert table["valid_loss"].isna().tolist() == [True, False]
