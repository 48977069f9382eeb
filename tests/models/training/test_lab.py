"""The lab learns what it is asked, the same way each time, and counts its mistakes right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from models.training import lab
from models.training.experiments import END, START, Experiment, LabRun, Switches

SHORT = Experiment(task="copy", length=3, steps=20, seeds=2, a=Switches(layers=1, heads=2), b=Switches(layers=1))


def trained(run: LabRun) -> lab.Course:
    network = lab.reader(run)
    return lab.Course("A", run, network, tuple(lab.train(network, run)))


def numbers(course: lab.Course) -> list[tuple[float, ...]]:
    return [(at.step, at.loss, at.token_accuracy, at.exact_accuracy) for at in course.curve]


@pytest.mark.parametrize(("task", "plain"), [("copy", list), ("reverse", lambda row: row[::-1]), ("sort", sorted)])
def test_answers_are_those_of_plain_python(task: str, plain: object) -> None:
    digits, wanted = lab.draw(task, length=7, count=50, generator=torch.Generator().manual_seed(3))
    assert digits.shape == wanted.shape == (50, 7)
    assert (digits.min(), digits.max()) == (0, 9)
    assert wanted.tolist() == [plain(row) for row in digits.tolist()]


def test_the_same_experiment_gives_the_same_numbers() -> None:
    first, second = ({(c.side, c.run.seed): c for c in lab.train_both(SHORT)} for _ in range(2))
    assert list(first) == [("A", 0), ("B", 0), ("A", 1), ("B", 1)]
    for key, course in first.items():
        assert course.done
        assert [at.step for at in course.curve] == [10, 20]
        assert numbers(course) == numbers(second[key])
        for one, other in zip(lab.result(course).trials, lab.result(second[key]).trials, strict=True):
            assert (one.answer, one.token_accuracy, one.exact_accuracy) == (
                other.answer,
                other.token_accuracy,
                other.exact_accuracy,
            )
    assert numbers(first["A", 0]) != numbers(first["A", 1])


def test_turns_change_nothing() -> None:
    """A learns beside B what it learns alone."""
    beside = {c.side: c for c in lab.train_both(replace(SHORT, seeds=1))}
    assert numbers(beside["A"]) == numbers(trained(SHORT.run("A", seed=0)))


def test_torchs_own_random_numbers_are_untouched() -> None:
    torch.manual_seed(5)
    wanted = torch.rand(4)
    torch.manual_seed(5)
    for course in lab.train_both(replace(SHORT, seeds=1)):
        lab.result(course)
        break
    assert torch.equal(torch.rand(4), wanted)


@pytest.mark.parametrize(("task", "steps"), [("copy", 60), ("reverse", 150)])
def test_the_default_learns(task: str, steps: int) -> None:
    course = trained(replace(Experiment(), task=task, length=4, steps=steps, learning_rate=0.005).run("A", seed=0))
    assert course.curve[-1].loss < 0.2 < 1 < course.curve[0].loss
    assert lab.result(course).trials[0].token_accuracy > 0.95


def test_accuracy_is_counted_right() -> None:
    """Count again by plain Python on the same fresh texts, at one, two and four times the length."""
    course = trained(replace(Experiment(), length=3, steps=60).run("A", seed=0))
    for trial in lab.result(course).trials:
        length = 3 * trial.times
        generator = torch.Generator().manual_seed(10_000 + trial.times)
        rows = torch.randint(10, (256, length), generator=generator)
        ids = torch.tensor([[START, *row, END] for row in rows.tolist()])
        hidden = course.network.encoder(ids).detach().numpy()[:, 1:-1]
        scores = hidden @ course.network.head.weight.detach().numpy().T + course.network.head.bias.detach().numpy()
        said = scores.argmax(-1).tolist()
        wanted = [row[::-1] for row in rows.tolist()]
        right = [[a == b for a, b in zip(*pair, strict=True)] for pair in zip(said, wanted, strict=True)]
        assert trial.token_accuracy == pytest.approx(sum(map(sum, right)) / (256 * length))
        assert trial.exact_accuracy == pytest.approx(sum(map(all, right)) / 256)
        assert (trial.wanted, trial.answer) == (tuple(wanted[0]), tuple(said[0]))


def test_attention_is_that_of_every_layer_and_head() -> None:
    run = replace(SHORT, a=Switches(layers=3, heads=2)).run("A", seed=0)
    digits = torch.tensor([[4, 0, 7]])
    network = lab.reader(run)
    maps = lab.attention(network, digits)
    assert [weights.shape for weights in maps] == [(2, 5, 5)] * 3
    for weights in maps:
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)
    # The first layer by hand: softmax of the scaled products of its own projections.
    x = network.encoder.embedding(torch.tensor([[START, 4, 0, 7, END]]))
    layer = network.encoder.layers[0].attention
    query, key = (layer.split_heads(part(x)) for part in (layer.query, layer.key))
    wanted = torch.softmax(query @ key.mT / 24**0.5, dim=-1)[0].detach().numpy()
    np.testing.assert_allclose(maps[0], wanted, atol=1e-6)


def test_without_positions_an_encoder_cannot_know_an_order() -> None:
    """Reordered digits give reordered answers, whatever the weights are."""
    network = lab.reader(replace(Experiment(), b=Switches(positions="none")).run("B", seed=1))
    digits = torch.tensor([[1, 2, 3, 4, 5, 6]])
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    torch.testing.assert_close(network(digits[:, order]), network(digits)[:, order], rtol=0, atol=1e-5)


def test_a_diverged_training_ends_and_is_not_tested() -> None:
    run = SHORT.run("A", seed=0)
    network = lab.reader(run)
    with torch.no_grad():
        network.head.bias[0] = torch.nan
    course = lab.Course("A", run, network, tuple(lab.train(network, run)))
    assert [at.step for at in course.curve] == [1]
    assert course.diverged
    assert course.done
    assert lab.result(course).trials == ()


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none", "rope", "alibi", "t5", "shaw"])
def test_every_kind_of_positions_reads_four_times_the_length(positions: str) -> None:
    run = replace(SHORT, a=Switches(positions=positions)).run("A", seed=0)
    assert [len(trial.answer) for trial in lab.result(lab.Course("A", run, lab.reader(run))).trials] == [3, 6, 12]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"a": {"heads": 5}}, "A cannot be built: width 48 does not divide into 5 heads"),
        ({"b": {"positions": "rope", "score": "additive"}}, "B cannot be built: positions 'rope' with score"),
        ({"length": 99}, "length is 99; choose a number from 2 to 16"),
        ({"seeds": 0}, "seeds is 0; choose a number from 1 to 5"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0"),
    ],
)
def test_what_does_not_fit_is_a_sentence(changed: dict[str, object], sentence: str) -> None:
    values = {name: Switches(**value) if isinstance(value, dict) else value for name, value in changed.items()}
    with pytest.raises(ValueError, match=sentence):
        Experiment(**values)


def test_differences_name_the_switches() -> None:
    experiment = Experiment(a=Switches(), b=Switches(scale="none", residual=False))
    assert experiment.differences == {"scale": ("1/sqrt(d_k)", "none"), "residual": (True, False)}
    assert Experiment(b=Switches()).differences == {}
