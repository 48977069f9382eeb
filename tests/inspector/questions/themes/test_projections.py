"""Questions 26 to 33 on MiniLM and the page's example, on random numbers with seed 0, and on networks of the lab."""

from __future__ import annotations

import math

import pytest
import torch

import models
from inspector import examples, record
from inspector.questions.themes.projections import THEME
from tests.closeness import assert_close
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def test_26_one_matrix_makes_symmetric_scores(answer: Ask):
    found = answer(26)
    assert found.verdict == "true"
    assert found.numbers["tied"] == 0  # claims.md: 0; exactly, for q_i . q_j and q_j . q_i are the same products
    assert found.numbers["own"] == pytest.approx(1.3, abs=0.2)  # claims.md: 1.3, of untrained heads


def test_27_but_no_symmetric_weights(answer: Ask):
    found = answer(27)
    assert found.verdict == "false"
    # claims.md: .009 to .088 of untrained heads with one matrix, .43 to 1.03 with two; trained ones are sharper.
    assert 0.009 < found.numbers["smallest"] < found.numbers["tied"] < found.numbers["own"]
    trace = record(models.load("minilm"), examples.FIRST)
    query = trace.record_of(0, "encoder").query[0].double()
    weights = torch.softmax(query @ query.T / math.sqrt(query.shape[1]), dim=-1)
    apart = float((weights - weights.T).norm() / weights.norm())
    assert found.numbers["smallest"] - 1e-9 <= apart <= found.numbers["largest"] + 1e-9


def test_28_the_diagonal_needs_equal_lengths(answer: Ask):
    found = answer(28)
    assert found.verdict == "conditions"
    assert found.held == (True, False, False, False)
    # claims.md, 32 tokens: .976 with variance 1, .33 as nn.Linear starts, .02 to .03 with two matrices; 91 % unequal.
    assert found.numbers["equal"] == pytest.approx(0.976, abs=0.02)
    assert found.numbers["linear"] == pytest.approx(0.33, abs=0.04)
    assert found.numbers["apart"] == pytest.approx(1 / 32, abs=0.01)
    assert found.numbers["unequal"] == pytest.approx(0.91, abs=0.07)  # lengths evenly from 0.2 to 3


def test_29_only_the_diagonal_is_high(answer: Ask):
    found = answer(29)
    assert (found.verdict, found.held) == ("conditions", (False, True, False))
    assert_close(found.numbers["tied_single"] / found.numbers["apart_single"], math.sqrt(1 + 513 / 512), relative=0.02)
    assert found.numbers["tied"] == pytest.approx(1.08, abs=0.05)  # claims.md: 1.08 against 1.00
    assert_close(found.numbers["tied"], math.sqrt(1 + 64 / 512), relative=0.02)  # E of (W W^T)_ij^2 adds d_k / d
    assert found.numbers["apart"] == pytest.approx(1, abs=0.02)
    assert found.numbers["own"] == pytest.approx(math.sqrt(64), rel=0.05)


def test_30_one_matrix_is_less_and_learns_all_the_same(answer: Ask):
    found = answer(30)
    assert found.verdict == "partly"
    assert found.held == (True, True, False)  # claims.md: less expressive; Reformer shares without loss
    assert found.numbers["shared"] < 0.6 * math.log(10)


def test_31_no_projections_work_weakly(answer: Ask):
    found = answer(31)
    assert found.verdict == "true"
    assert found.numbers["drawn"] == pytest.approx(1.0, abs=5e-5)  # claims.md: 1.0000 at d = 512
    assert found.numbers["three"] < found.numbers["none"] < math.log(10)


def test_32_three_roles_and_three_squares(answer: Ask):
    found = answer(32)
    assert found.verdict == "true"
    layer = models.load("minilm").network.get_submodule("encoder.layer.0.attention.self")
    counted = sum(getattr(layer, name).weight.numel() for name in ("query", "key", "value"))
    assert found.numbers["held"] == found.numbers["square"] == counted  # claims.md: 3 d^2


def test_33_keys_are_no_values(answer: Ask):
    found = answer(33)
    assert found.verdict == "false"
    assert found.numbers["value"] == pytest.approx(
        1.42, abs=0.5
    )  # claims.md: 1.42 of the matrices of BERT at its start
    assert found.numbers["shared"] < math.log(10)  # K = V is possible
