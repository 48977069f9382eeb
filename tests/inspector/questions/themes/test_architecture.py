"""Questions 83 to 91 on MiniLM and the page's example, on stand-ins, and on small untrained networks with seed 0."""

from __future__ import annotations

import re

import numpy as np
import pytest
from torch import nn

import models
from inspector.questions import Subject, asking
from inspector.questions.themes import architecture
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict, of_theme
from tests.inspector.questions.worlds import ask, made

THEME = of_theme("architecture")

WHOLE = [question for question in THEME.questions if question.whole is not None]


class Stopped(Exception):  # noqa: N818  (what a reader's Stop does)
    """The reader pressed Stop."""


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def test_83_an_encoder_is_attention_and_ffn_with_the_norm_after_the_sum(answer: Ask):
    found = answer(83)
    assert found.verdict == "true"
    assert found.numbers["layers"] == 6
    assert found.numbers["off"] < 1e-5  # float32


def test_84_keys_of_cross_attention_are_made_from_the_encoder(answer: Ask):
    found = answer(84)
    assert found.verdict == "true"
    assert found.measured_on == "translator"
    assert found.numbers["keys"] < 1e-5  # float32


def test_85_the_gradient_vanishes_without_residual_and_norm(answer: Ask):
    found = answer(85)
    assert found.verdict == "partly"
    assert found.held == (True, True, False, True)
    assert found.numbers["neither"] < 2e-15  # 24 layers
    assert 0.1 < found.numbers["norm"] < 10  # the norm alone keeps it: 1.04 with another input
    assert found.numbers["alike"] == pytest.approx(1, abs=1e-3)  # but the tokens collapse; pre-norm with residual .53
    assert found.numbers["apart"] < 0.8


def test_86_attention_mixes_features_too(answer: Ask):
    found = answer(86)
    assert found.verdict == "partly"
    assert found.held == (True, True, True, False)


def test_87_layers_do_not_share(answer: Ask):
    found = answer(87)
    assert found.verdict == "false"
    assert found.numbers["layers"] == found.numbers["distinct"] == 6
    assert found.numbers["torch"] == 44_140_544


def test_88_the_translator_shares_three_embeddings(answer: Ask):
    found = answer(88)
    assert found.verdict == "true"
    assert found.numbers["unshared"] - found.numbers["parameters"] == 2 * 6000 * 192
    assert found.held[3]
    pieces = models.load("translator").tokenizer.get_vocab()
    latin = [piece for piece in pieces if re.search("[A-Za-z]", piece) and not re.search("[\u4e00-\u9fff]", piece)]
    assert found.numbers["foreign"] * len(pieces) == pytest.approx(len(latin), rel=0.02)


def test_88_a_decoder_with_a_table_of_its_own_shares_less():
    def apart(network: nn.Module) -> None:
        table = network.get_parameter("decoder.embedding.token.weight")
        network.get_submodule("decoder.embedding.token").weight = nn.Parameter(table.clone())

    found = ask(88, made("translator", apart))
    assert not found.held[0]
    assert found.numbers["tensors"] == 2


def test_89_embedding_and_output_are_one_tensor(answer: Ask):
    found = answer(89)
    assert found.verdict == "true"
    assert found.numbers["tensors"] == 1


def test_90_the_closest_row_wins_where_rows_have_one_length(answer: Ask):
    found = answer(90)
    assert found.verdict == "conditions"
    assert found.numbers["equal"] == 1
    assert found.numbers["unequal"] == pytest.approx(0.43, abs=0.03)  # lengths e^U(0, 3)


def test_91_no_unit_dies_at_a_rate_that_people_use(answer: Ask):
    found = answer(91)
    assert found.verdict == "partly"
    assert found.held == (True, False, True, False)
    assert found.numbers["usual"] == 0  # learning rates .01 and .1
    centred = (1 / np.sqrt(2 * np.pi)) / np.sqrt(0.5 - 1 / (2 * np.pi))  # of a normal input
    assert 0 < found.numbers["mean"] < centred


def test_91_units_die_where_people_take_rates_of_five(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(architecture, "USUAL", (5.0,))
    assert ask(91, "mini-bert").held[3]


def test_91_relu_saturates_nowhere_where_all_units_are_above_0():
    def raised(network: nn.Module) -> None:
        for name, parameter in network.named_parameters():
            if name.endswith("ffn.up.bias"):
                parameter.add_(1000)

    assert ask(91, made("mini-bert", raised)).held[1]


@pytest.mark.parametrize("question", WHOLE, ids=lambda question: str(question.number))
def test_a_whole_run_says_how_far_it_is_and_can_be_stopped(question):
    def stop(done: int, total: int) -> None:
        assert 0 <= done <= total
        if done:
            raise Stopped

    with pytest.raises(Stopped):
        question.whole.run(Subject(models.load("minilm"), "Yes."), stop)
    stored = question.whole.stored
    assert set(stored.numbers) == set(question.whole.numbers)
    assert any(part.holds(stored.numbers) for part in question.whole.parts)


@pytest.mark.parametrize("model", ["mini-gpt", "translator", "own-encoder", "mini-bert"])
@pytest.mark.heavy
def test_another_model_gets_an_answer_or_a_sentence(model: str):
    subject = Subject(models.load(model), "Yes")
    for question in THEME.questions:
        found = asking.ask(question, subject)
        assert found.verdict or found.problem
