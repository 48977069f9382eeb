"""Questions 26 to 33 on MiniLM and the page's example, on random numbers with seed 0, and on networks of the lab."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg
import torch

import models
from inspector import examples, record
from inspector.questions.asking import find
from inspector.questions.record.subject import Subject
from inspector.questions.themes import projections, trained
from tests.closeness import assert_close
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict, of_theme
from tests.inspector.questions.worlds import measured, nothing_learns, other_weights

THEME = of_theme("projections")


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
    assert (found.verdict, found.held) == ("true", (True, True, True, True))
    layer = models.load("minilm").network.get_submodule("encoder.layer.0.attention.self")
    counted = sum(getattr(layer, name).weight.numel() for name in ("query", "key", "value"))
    assert found.numbers["held"] == found.numbers["square"] == counted  # claims.md: 3 d^2
    assert found.numbers["chance"] == 32 / 384


def test_32_subspaces_are_those_of_numpy_and_no_change_of_basis_moves_them():
    first, second, change = np.random.default_rng(0).standard_normal((3, 96, 96))
    a, b = first[:, :24], second[:, :24]
    angles = scipy.linalg.subspace_angles(a, b)
    assert_close(
        projections._overlap(torch.tensor(a), torch.tensor(b)), np.square(np.cos(angles)).mean(), relative=1e-9
    )
    turned = torch.tensor(a @ change[:24, :24])
    assert_close(projections._overlap(turned, torch.tensor(b)), np.square(np.cos(angles)).mean(), relative=1e-9)


@pytest.mark.parametrize(("made", "given", "fails"), [("key", "query", 0), ("value", "key", 1)])
def test_32_one_matrix_in_two_roles_is_told(made: str, given: str, fails: int):
    loaded = models.load("mini-bert")
    assert measured(32, loaded)[1][:2] == [True, True]
    parameters = dict(loaded.network.named_parameters())

    def tied(name: str, value: torch.Tensor) -> torch.Tensor | None:
        return (
            parameters[name.replace(f".{made}.", f".{given}.")].detach()
            if f".attention.{made}.weight" in name
            else None
        )

    with other_weights(loaded.network, tied):
        numbers, held = measured(32, loaded)
    assert numbers[("qk", "kv")[fails]] == pytest.approx(1)
    assert [held[0], held[1]] == [fails != 0, fails != 1]


@pytest.mark.parametrize(("number", "learns"), [(30, 2), (31, 0)])
def test_30_and_31_networks_that_learn_nothing_are_told(number: int, learns: int, monkeypatch: pytest.MonkeyPatch):
    # Where no training moves a weight, the network with fewer matrices stays at guessing.
    nothing_learns(monkeypatch)
    _, held = measured(number, models.load("mini-bert"))
    assert held[learns] == (number == 30)  # 30: "learns nothing" holds; 31: "learns something" does not


def test_30_one_matrix_in_the_model_takes_its_negative_eigenvalues():
    loaded = models.load("mini-bert")
    assert measured(30, loaded)[1][0]
    parameters = dict(loaded.network.named_parameters())

    def tied(name: str, value: torch.Tensor) -> torch.Tensor | None:
        return parameters[name.replace(".key.", ".query.")].detach() if ".attention.key." in name else None

    with other_weights(loaded.network, tied):
        numbers, held = measured(30, loaded)
    assert numbers["own"] > 0.95
    assert not held[0]


@pytest.mark.parametrize("text", ["The cat sat on the mat because it was tired."])
def test_31_small_embeddings_give_even_rows(text: str):
    """The last part turns with the size of what enters the first layer: a tenth of it, and rows are even."""
    loaded = models.load("minilm")
    before = measured(31, loaded, text)[0]
    norms = {"embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias"}
    with other_weights(loaded.network, lambda name, value: value / 10 if name in norms else None):
        numbers, held = measured(31, loaded, text)
    assert numbers["ahead"] == pytest.approx(before["ahead"] / 100, rel=1e-3)
    assert held[3] is False


@pytest.mark.parametrize("number", [30, 31, 33])
def test_what_six_seeds_gave_is_stored_and_can_be_stopped(number: int):
    whole = find(number).whole
    assert whole is not None
    assert whole.stored is not None
    assert set(whole.stored.numbers) == set(whole.numbers)
    assert [part.holds(whole.stored.numbers) for part in whole.parts] == [True]  # the sign of every seed

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        whole.run(Subject(models.load("mini-bert"), examples.FIRST), stop)


def test_the_seeds_of_the_whole_run_begin_with_the_answers(answer: Ask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trained, "SEEDS", 1)
    whole = find(30).whole
    assert whole is not None
    numbers = whole.run(Subject(models.load("mini-bert"), examples.FIRST), lambda done, total: None).numbers
    assert numbers["shared_least"] == numbers["shared_most"]
    assert numbers["shared_least"] == answer(30).numbers["shared"] - answer(30).numbers["three"]


def test_33_keys_are_no_values(answer: Ask):
    found = answer(33)
    assert found.verdict == "false"
    assert found.numbers["value"] == pytest.approx(
        1.42, abs=0.5
    )  # claims.md: 1.42 of the matrices of BERT at its start
    assert found.numbers["shared"] < math.log(10)  # K = V is possible
