"""Findings in made worlds: a trained model whose weights are changed so that a sentence holds or fails.

In most worlds W_Q is 0: all scores are 0, and every head looks at all keys alike.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from torch import nn

import models
from inspector.probe import record, record_blocks
from inspector.questions.themes import found_in_words, several_texts
from inspector.trace import Trace
from tests.inspector.questions.worlds import ask, made, scaled

pytestmark = pytest.mark.heavy

EVEN = scaled("query", by=0)


@pytest.fixture(scope="module")
def even() -> models.LoadedModel:
    return made("mini-bert", EVEN)


def test_114_no_head_has_a_neighbour_where_all_keys_get_alike(even: models.LoadedModel):
    assert ask(114, "mini-bert").held == (True, True)
    found = ask(114, even)
    assert found.held == (False, False)
    assert found.numbers["previous"] == pytest.approx(1 / 14)  # the first row has no token before, and does not count


def test_115_induction_takes_scores():
    assert ask(115, "mini-gpt").verdict == "true"
    assert not ask(115, made("mini-gpt", EVEN)).held[0]


def test_116_there_is_no_sink_where_all_keys_get_alike(even: models.LoadedModel):
    assert ask(116, "minilm").verdict == "true"
    found = ask(116, even)
    assert found.verdict == "false"
    assert found.numbers["first"] == found.numbers["end"] == pytest.approx(found.numbers["even"])


def test_117_nothing_rests_on_delimiters_where_all_keys_get_alike(even: models.LoadedModel):
    assert ask(117, "minilm").verdict == "true"
    found = ask(117, even)
    assert found.verdict == "false"
    assert found.numbers["middle"] == pytest.approx(1 / 14)  # one [SEP] of 14 tokens


def test_118_weights_that_are_all_alike_have_no_rank(even: models.LoadedModel):
    assert ask(118, "minilm").verdict == "true"
    assert not ask(118, even).held[1]


def test_119_the_last_layer_says_nothing_where_it_looks_at_all_alike(even: models.LoadedModel):
    assert ask(119, "mini-gpt").held[0]
    found = ask(119, even)
    assert found.verdict == "false"
    assert math.isnan(found.numbers["raw"])


def test_120_shuffled_weights_change_nothing_where_they_are_all_alike(even: models.LoadedModel):
    assert ask(120, "minilm").held[1:] == (False, False)
    found = ask(120, even)
    assert found.held[1:] == (True, True)
    assert found.numbers["every"] < 1e-9


def test_121_heads_that_are_all_alike_have_no_layer(even: models.LoadedModel):
    assert ask(121, "mini-bert").verdict == "true"
    assert ask(121, even).verdict == "false"


def test_123_no_head_is_positional_where_all_keys_get_alike(even: models.LoadedModel):
    assert ask(123, "mini-bert").held[:2] == (True, True)
    found = ask(123, even)
    assert found.held[:2] == (False, False)
    assert found.numbers["count"] == 0


def test_125_layers_that_are_all_broad_are_none_the_broader(even: models.LoadedModel):
    assert ask(125, "minilm").verdict == "true"
    assert ask(125, even).verdict == "false"


def test_126_even_maps_lose_the_rank_at_once_and_values_that_stay_apart_keep_it(even: models.LoadedModel):
    found = ask(126, even)
    assert found.verdict == "true"
    assert found.numbers["alone"] < 1e-9
    assert not ask(126, "mini-bert-zh").held[0]


def test_126_is_the_rank_of_states_that_go_through_plain_loops():
    loaded = models.load("mini-bert")
    found = ask(126, loaded)
    network, trace = loaded.network, record(loaded, found.text)
    x = None
    for site in trace.sites:
        layer = network.get_submodule(f"layers.{site.layer}.attention")
        of = {name: getattr(layer, name).weight.detach().double().numpy() for name in ("value", "out")}
        if x is None:
            x = record_blocks(loaded, trace).of("encoder")[0].enters.astype(np.float64)
        heads = []
        for head in range(site.heads):
            columns = slice(head * len(of["value"]) // site.heads, (head + 1) * len(of["value"]) // site.heads)
            heads.append(trace.attention(layer=site.layer, head=head).astype(np.float64) @ (x @ of["value"][columns].T))
        x = np.concatenate(heads, axis=1) @ of["out"].T
    distance = np.linalg.norm(x - x.mean(axis=0)) / np.linalg.norm(x)
    assert found.numbers["alone"] == pytest.approx(distance, rel=1e-4)


def test_129_a_constant_that_all_states_share_makes_the_cone_narrow():
    def shared(network: nn.Module) -> None:
        for name, parameter in network.named_parameters():
            if name.endswith("norm.beta"):
                parameter.add_(5)

    assert not ask(129, "mini-bert").held[2]
    found = ask(129, made("mini-bert", shared))
    assert found.verdict == "true"
    assert abs(found.numbers["centred"]) < 0.2  # and taking the mean away undoes it


def test_133_and_134_no_head_finds_a_word_where_all_get_alike(even: models.LoadedModel):
    assert ask(133, "minilm").held[:2] == (True, True)
    assert ask(133, even).verdict == "false"
    assert ask(134, "minilm").verdict == "true"
    assert ask(134, even).verdict == "false"


def test_135_a_layer_is_ahead_where_the_others_look_at_all_alike():
    def others(network: nn.Module) -> None:
        for layer in (0, 2):
            for name, parameter in network.named_parameters():
                if name.startswith(f"decoder.layers.{layer}.cross_attention.query"):
                    parameter.zero_()

    assert ask(135, "translator").held == (True, False, False)
    assert ask(135, made("translator", others)).held == (True, True, False)
    assert ask(135, made("translator", EVEN)).held == (False, False, False)


def test_136_a_head_that_looks_at_the_rarest_is_found(monkeypatch: pytest.MonkeyPatch):
    """Maps in which head 3 looks at the largest number of the vocabulary among the words, all others at themselves."""

    def maps(trace: Trace, stream: str) -> np.ndarray:
        ids = np.where(trace.special, -1, trace.encoding.ids)
        weights = np.tile(np.eye(len(ids)), (5, 1, 1))
        weights[3] = np.eye(len(ids))[ids.argmax()]
        return weights

    assert not ask(136, "minilm").held[0]
    monkeypatch.setattr(found_in_words, "_weights", maps)
    found = ask(136, "minilm")
    assert found.held[0]
    assert found.numbers["best"] == 1


def test_142_marks_get_their_even_share_where_all_keys_get_alike(even: models.LoadedModel):
    assert ask(142, "mini-bert-zh").verdict == "true"
    found = ask(142, even)
    assert found.verdict == "false"
    assert found.numbers["punctuation"] == pytest.approx(found.numbers["even"])


def test_an_interval_holds_the_mean_of_normal_numbers_in_95_of_100_draws():
    generator = np.random.default_rng(1)
    found = [several_texts.interval(generator.standard_normal(20)) for _ in range(300)]
    assert 0.88 < np.mean([one.least <= 0 <= one.most for one in found]) < 0.98
    widths = np.array([one.most - one.least for one in found])
    assert widths.mean() == pytest.approx(2 * 1.96 / 20**0.5, rel=0.1)


def test_an_interval_draws_the_values_of_a_text_together():
    same = several_texts.interval(np.repeat([0.0, 1.0, 2.0, 3.0], 50), np.repeat(range(4), 50))
    alone = several_texts.interval([0.0, 1.0, 2.0, 3.0])
    assert (same.least, same.most) == (alone.least, alone.most)
    assert math.isnan(several_texts.interval([float("nan")]).mean)


@pytest.mark.parametrize("english", [True, False])
def test_passages_are_many_and_none_comes_twice(english: bool):
    found = several_texts.passages(english=english, count=several_texts.TEXTS - 1)
    assert len(found) == len(set(found)) == several_texts.TEXTS - 1
    assert max(map(len, found)) <= 160
