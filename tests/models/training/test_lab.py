"""The lab learns what it is asked, the same way each time, and counts its mistakes right."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial

import numpy as np
import pytest
import torch

from models.checkpoints import FOLDER
from models.checkpoints.store import read_checkpoint
from models.training import lab
from models.training.tiny import words
from models.training.tiny.experiments import FIXED, Experiment, LabRun, Switches, buildable
from models.training.tiny.puzzles import PuzzleTexts, draw
from models.training.tiny.solvers import marked, solver
from models.transformer.config import TransformerConfig
from tests.closeness import assert_close

SHORT = Experiment(task="copy", length=3, steps=20, seeds=2, a=Switches(layers=1, heads=2), b=Switches(layers=1))


INDUCTION = Experiment(
    task="repeats",
    length=16,
    steps=500,
    learning_rate=0.003,
    a=Switches(positions="rope", norm_placement="pre"),
    b=Switches(positions="rope", norm_placement="pre", layers=1),
)


START, END = 10, 11  # the marks around digits


def trained(run: LabRun) -> lab.Course:
    network = solver(run)
    return lab.Course("A", run, network, tuple(lab.train(network, run)))


def texts_of(digits: torch.Tensor) -> PuzzleTexts:
    return PuzzleTexts(digits, digits, torch.ones_like(digits, dtype=torch.bool), torch.zeros(len(digits), 1))


def numbers(course: lab.Course) -> list[tuple[float, ...]]:
    return [(at.step, at.loss, at.token_accuracy, at.exact_accuracy) for at in course.curve]


@pytest.mark.parametrize(("task", "plain"), [("copy", list), ("reverse", lambda row: row[::-1]), ("sort", sorted)])
def test_answers_are_those_of_plain_python(task: str, plain: object) -> None:
    digits, wanted, asked, _ = draw(task, length=7, count=50, generator=torch.Generator().manual_seed(3))
    assert digits.shape == wanted.shape == (50, 7)
    assert asked.all()
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
    network = solver(run)
    maps = [map_[0].numpy() for map_ in lab.attention(network, texts_of(digits))["encoder"]]
    assert [weights.shape for weights in maps] == [(2, 5, 5)] * 3
    for weights in maps:
        assert_close(weights.sum(-1), 1, relative=1e-6)
    # The first layer by hand: softmax of the scaled products of its own projections.
    x = network.encoder.embedding(torch.tensor([[START, 4, 0, 7, END]]))
    layer = network.encoder.layers[0].attention
    query, key = (layer.split_heads(part(x)) for part in (layer.query, layer.key))
    wanted = torch.softmax(query @ key.mT / 24**0.5, dim=-1)[0].detach().numpy()
    assert_close(maps[0], wanted, relative=1e-6)


def test_without_positions_an_encoder_cannot_know_an_order() -> None:
    """Reordered digits give reordered answers, whatever the weights are."""
    network = solver(replace(Experiment(), b=Switches(positions="none")).run("B", seed=1))
    digits = torch.tensor([[1, 2, 3, 4, 5, 6]])
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    assert_close(network(texts_of(digits[:, order])), network(texts_of(digits))[:, order], relative=1e-5)


def test_a_diverged_training_ends_and_is_not_tested() -> None:
    run = SHORT.run("A", seed=0)
    network = solver(run)
    with torch.no_grad():
        network.head.bias[0] = torch.nan
    course = lab.Course("A", run, network, tuple(lab.train(network, run)))
    assert [at.step for at in course.curve] == [1]
    assert course.diverged
    assert course.done
    assert lab.result(course).trials == ()


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none", "rope", "alibi", "t5", "shaw", "xl"])
def test_every_kind_of_positions_reads_four_times_the_length(positions: str) -> None:
    run = replace(SHORT, a=Switches(positions=positions)).run("A", seed=0)
    assert [len(trial.answer) for trial in lab.result(lab.Course("A", run, solver(run))).trials] == [3, 6, 12]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"a": {"heads": 5}}, "A cannot be built: width 48 does not divide into 5 heads"),
        ({"b": {"positions": "rope", "score": "additive"}}, "B cannot be built: positions 'rope' with score"),
        ({"a": {"width": 1024}}, "width is 1024; choose a number from 8 to 512"),
        ({"steps": 2000, "seeds": 5, "a": {"width": 512}}, r"this would take about \d+ minutes"),
        ({"length": 99}, "length is 99; choose a number from 2 to 16"),
        ({"seeds": 0}, "seeds is 0; choose a number from 1 to 5"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0"),
        ({"b": {"network": "rnn", "heads": 2, "norm": "rms"}}, "heads, norm does not act with network 'rnn'; leave"),
        (
            {"a": {"cell": "lstm"}},
            "cell does not act with network 'transformer'; leave it out, or choose network 'rnn'",
        ),
        ({"task": "repeats", "a": {"network": "rnn"}}, "A cannot be built: the task repeats is for a Transformer"),
        ({"a": {"network": "rnn", "width": 9}}, "A cannot be built: width is 9, half of it for each reading direction"),
    ],
)
def test_what_does_not_fit_is_a_sentence(changed: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Experiment(**{name: Switches(**value) if isinstance(value, dict) else value for name, value in changed.items()})


def test_pairs_of_score_and_positions_are_counted() -> None:
    """A dot product goes with all three; the additive score not with RoPE, which turns queries and keys."""
    assert buildable(["dot", "additive"], ["none", "sinusoidal", "rope"]) == 5


def test_differences_name_the_switches() -> None:
    experiment = Experiment(a=Switches(), b=Switches(scale="none", residual=False))
    assert experiment.differences == {"scale": ("1/sqrt(d_k)", "none"), "residual": (True, False)}
    assert Experiment(b=Switches()).differences == {}


def test_every_switch_of_a_transformer_is_one_of_the_lab_or_says_why_not() -> None:
    network = {field.name for field in fields(TransformerConfig)}
    switches = {field.name for field in fields(Switches)}
    assert network - FIXED.keys() - switches == set()
    assert FIXED.keys() < network
    training = {"learning_rate", "warmup", "optimizer", "weight_decay", "clip", "embeddings"}
    assert switches - network == training | {"segment", "memory", "memory_gradient", "network", "cell"}
    changed = Switches(norm="rms", width=32, kv_heads=2, dropout=0.1, window=3, causal=True).config(
        task="copy", length=4
    )
    assert (changed.norm, changed.width, changed.kv_heads, changed.dropout) == ("rms", 32, 2, 0.1)
    assert (changed.window, changed.is_causal) == (3, True)


def test_repeats_are_a_block_twice_and_its_length_is_drawn_anew() -> None:
    """Count in plain Python: only the second time is asked for, and every symbol asked for follows from the text."""
    texts = draw("repeats", length=16, count=200, generator=torch.Generator().manual_seed(1))
    periods = texts.period[:, 0].tolist()
    assert set(periods) == set(range(8, 17))
    for row, asked, period in zip(texts.read.tolist(), texts.asked.tolist(), periods, strict=True):
        assert len(set(row[:period])) == period
        assert row[period : 2 * period] == row[:period]
        assert [place for place, yes in enumerate(asked) if yes] == list(range(period + 1, 2 * period))
        for place in range(period + 1, 2 * period):
            assert row[row.index(row[place - 1]) + 1] == row[place]


def test_the_induction_score_is_the_weight_after_the_earlier_place() -> None:
    """Look each place up by its symbols, as the score does not, in the maps of an untrained network."""
    run = replace(INDUCTION, length=6).run("A", seed=0)
    network = solver(run)
    texts = lab.fresh(run, count=lab.SCORED)
    maps = lab.attention(network.eval(), texts)["decoder"]
    found = np.zeros((2, 4))
    places = 0
    for row, (symbols, asked) in enumerate(zip(texts.read.tolist(), texts.asked.tolist(), strict=True)):
        tokens = [64, *symbols[:-1]]  # what is read: the start, then each symbol
        for query in (place for place, yes in enumerate(asked) if yes):
            after = tokens.index(tokens[query]) + 1
            found += [[float(map_[row, head, query, after]) for head in range(4)] for map_ in maps]
            places += 1
    assert_close(lab.induction(network, run), found / places, relative=1e-5)


def test_an_induction_head_is_born_in_two_layers_and_not_in_one() -> None:
    """One seed of the page's preset, with fewer steps at a higher rate; tests/benchmarks/induction_lab.py has three."""
    runs = [replace(INDUCTION, steps=220, learning_rate=0.01).run(side, seed=0) for side in ("A", "B")]
    two, one = (lab.trial(course.network, course.run, times=1) for course in map(trained, runs))
    assert two.token_accuracy >= 0.9
    assert two.induction.max() >= 0.3
    assert two.induction.argmax() // 4 == 1  # in the second layer
    assert one.token_accuracy <= 0.3


@pytest.mark.parametrize("shape", ["decoder", "encoder-decoder"])
def test_a_decoder_is_tested_on_what_it_writes(shape: str) -> None:
    """Write the answer here, token by token without a cache, from the whole text so far each time."""
    run = replace(SHORT, steps=60, learning_rate=0.01, a=Switches(shape=shape)).run("A", seed=0)
    course = trained(run)
    trial = lab.trial(course.network, run, times=1)
    stack, source = course.network.stack, [START, *trial.digits, END]
    written: list[int] = []
    for _ in trial.wanted:
        if shape == "decoder":
            hidden = stack(torch.tensor([source + written]))
        else:
            hidden = stack(torch.tensor([source]), torch.tensor([[START, *written]]))
        written.append(int(stack.logits(hidden)[0, -1, :10].argmax()))
    assert trial.answer == tuple(written)
    sides = {stream: maps[0].shape[1:] for stream, maps in trial.attention.items()}
    assert sides == {
        stream: (len(trial.tokens[stream]), len(trial.tokens["encoder" if stream == "cross" else stream]))
        for stream in sides
    }
    assert course.curve[-1].loss < course.curve[0].loss


def test_an_rnn_with_attention_turns_a_text_around_along_the_anti_diagonal() -> None:
    """Answer place i looks at place n - 1 - i of the text; without attention there is no map."""
    both = Experiment(
        length=4,
        steps=150,
        learning_rate=0.01,
        a=Switches(network="rnn with attention", width=32),
        b=Switches(network="rnn", width=32),
    )
    runs = both.run("A", seed=0), both.run("B", seed=0)
    attends, not_ = lab.result(trained(runs[0])), lab.result(lab.Course("B", runs[1], solver(runs[1])))
    trial = attends.trials[0]
    assert trial.token_accuracy > 0.9
    (maps,) = trial.attention["cross"]
    assert maps.shape == (1, 4, 6)
    assert_close(maps.sum(-1), 1, relative=1e-6)
    assert trial.tokens["cross"] == trial.tokens["decoder"]
    assert trial.tokens["encoder"] == ("⊢", *map(str, trial.digits), "⊣")
    # ⊢ stands before the text, so that its last digit has place 4. A state also knows its neighbours: near is enough.
    assert np.abs(maps[0].argmax(-1) - [4, 3, 2, 1]).max() <= 1
    assert not_.trials[0].attention == {}
    assert attends.start == not_.start == ()
    for one in (attends, not_):
        assert [len(trial.places) for trial in one.trials] == [4, 8, 16]
        assert np.mean(one.trials[0].places) == pytest.approx(one.trials[0].token_accuracy)


@pytest.mark.parametrize("cell", ["lstm", "tanh"])
@pytest.mark.parametrize("network", ["rnn", "rnn with attention"])
def test_an_rnn_of_each_cell_is_tested_on_what_it_writes(network: str, cell: str) -> None:
    run = replace(SHORT, a=Switches(network=network, cell=cell, width=16)).run("A", seed=0)
    trial = lab.trial(solver(run), run, times=2)
    stack, source = solver(run).stack, torch.tensor([[START, *trial.digits, END]])
    written = [START]
    for _ in trial.wanted:
        written.append(int(stack(source, torch.tensor([written]))[0][0, -1, :10].argmax()))
    assert trial.answer == tuple(written[1:])


def test_dropout_is_drawn_from_the_seed() -> None:
    run = replace(SHORT, a=Switches(layers=1, dropout=0.3, attention_dropout=0.1)).run("A", seed=0)
    assert numbers(trained(run)) == numbers(trained(run))


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
def test_training_is_that_of_plain_torch(optimizer: str) -> None:
    """Ten steps without a warm-up, written out here, end in the same weights."""
    chosen = Switches(layers=1, optimizer=optimizer, weight_decay=0.1, clip=0.5, warmup=0, learning_rate=0.02)
    run = replace(SHORT, steps=10, a=chosen).run("A", seed=0)
    course, plain = trained(run), solver(run).train()
    kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": partial(torch.optim.SGD, momentum=0.9)}
    steps = kinds[optimizer](plain.parameters(), lr=0.02, weight_decay=0.1)
    generator = torch.Generator().manual_seed(0)
    for step in range(1, 11):
        steps.param_groups[0]["lr"] = 0.02 * (1 - step / 10)
        texts = draw("copy", length=3, count=32, generator=generator)
        steps.zero_grad()
        torch.nn.functional.cross_entropy(plain(texts).flatten(0, 1), texts.wanted.flatten()).backward()
        torch.nn.utils.clip_grad_norm_(plain.parameters(), 0.5)
        steps.step()
    for one, other in zip(course.network.parameters(), plain.parameters(), strict=True):
        assert_close(one, other, relative=1e-6)


def test_layers_are_measured_as_autograd_and_numpy_do() -> None:
    run = replace(SHORT, a=Switches(layers=3)).run("A", seed=0)
    network, texts = solver(run), lab.fresh(run, count=32)
    states = lab.at_start(run)
    torch.nn.functional.cross_entropy(network(texts).flatten(0, 1), texts.wanted.flatten()).backward()
    x = network.encoder.embedding(marked(texts.read, start=START))
    for state, layer in zip(states, network.encoder.layers, strict=True):
        gradient = torch.cat([one.grad.flatten() for one in layer.parameters()]).norm()
        x = layer.attention_norm(x + layer.attention(x))
        inner = layer.ffn.up(x).detach().numpy()
        x = layer.ffn_norm(x + layer.ffn(x)).detach()
        assert state.gradient == pytest.approx(float(gradient), rel=1e-4)
        assert state.size == pytest.approx(float((x**2).mean() ** 0.5), rel=1e-4)
        assert (state.mean, state.deviation) == pytest.approx((inner.mean(), inner.std()), rel=1e-3)
        assert state.off == pytest.approx((inner.reshape(-1, 96).max(0) <= 0).mean())


def test_words_are_pieces_of_the_model_that_embeddings_are_taken_from() -> None:
    loaded = read_checkpoint(FOLDER / words.SOURCE)
    pieces = [loaded.tokenizer.encode(word, add_special_tokens=False) for word in words.WORDS]
    assert {len(piece) for piece in pieces} == {1}
    assert len(set(words.WORDS)) == len(words.WORDS) == len(words.LEARNED) + len(words.HELD_OUT)
    table = loaded.network.encoder.embedding.token.weight[[piece[0] for piece in pieces]].numpy()
    run = replace(Experiment(), task="kinds", b=Switches(embeddings="frozen")).run("B", seed=0)
    network = solver(run)
    given = network.encoder.embedding.token.weight.detach().numpy()[: len(words.WORDS)].copy()
    assert_close(given, table / np.sqrt((table.astype(float) ** 2).mean()), relative=1e-5)
    list(lab.train(network, replace(run, steps=10)))
    np.testing.assert_array_equal(network.encoder.embedding.token.weight.detach().numpy()[: len(words.WORDS)], given)


def test_trained_embeddings_name_words_that_no_training_saw() -> None:
    """Random ones cannot: one word in ten right by chance (claim 113, Qi et al. 2018)."""
    experiment = Experiment(task="kinds", steps=80, learning_rate=0.005, b=Switches(embeddings="frozen"))
    random, frozen = (trained(experiment.run(side, seed=0)) for side in ("A", "B"))
    assert lab.trial(random.network, random.run, times=1).token_accuracy < 0.35
    assert lab.trial(frozen.network, frozen.run, times=1).token_accuracy > 0.5
    seen = draw("kinds", length=4, count=50, generator=torch.Generator().manual_seed(0)).read.unique().tolist()
    assert not set(seen) & set(lab.fresh(random.run, count=50).read.unique().tolist())
