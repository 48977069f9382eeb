"""The recurrent encoder-decoder against numpy in float64, torch.nn's cells, and itself, token by token."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from models.attention.scores import AdditiveScore
from models.recurrent import RecurrentConfig, RecurrentEncoderDecoder
from tests.closeness import assert_close, relative_error

SOURCE = torch.tensor([[10, 4, 0, 7, 3, 11], [10, 9, 9, 1, 2, 11]])
TARGET = torch.tensor([[10, 3, 7, 0], [10, 2, 1, 9]])


def network(*, cell: str = "gru", attention: bool = True) -> RecurrentEncoderDecoder:
    torch.manual_seed(0)
    return RecurrentEncoderDecoder(RecurrentConfig(vocabulary=12, width=8, cell=cell, attention=attention)).double()


def numbers(module: nn.Module) -> dict[str, np.ndarray]:
    return {name: one.detach().numpy() for name, one in module.named_parameters()}


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def cell(kind: str, w: dict[str, np.ndarray], suffix: str, x: np.ndarray, state: tuple) -> tuple:
    """One step of an RNN as its papers and torch.nn's documentation write it: x [N], state (h,) or (h, c)."""
    h = state[0]
    from_x = w[f"weight_ih_{suffix}"] @ x + w[f"bias_ih_{suffix}"]
    from_h = w[f"weight_hh_{suffix}"] @ h + w[f"bias_hh_{suffix}"]
    if kind == "tanh":
        return (np.tanh(from_x + from_h),)
    if kind == "gru":
        (xr, xz, xn), (hr, hz, hn) = np.split(from_x, 3), np.split(from_h, 3)
        z = sigmoid(xz + hz)
        return ((1 - z) * np.tanh(xn + sigmoid(xr + hr) * hn) + z * h,)
    i, f, g, o = np.split(from_x + from_h, 4)
    c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def by_hand(model: RecurrentEncoderDecoder, source: list[int], target: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The whole network for one text in numpy: logits [Q, V] and weights [Q, T], those of equal shares without."""
    kind, w, wide = model.config.cell, numbers(model), model.config.width
    rnn = numbers(model.encoder)
    x = w["embedding.weight"][source]
    zero = (np.zeros(wide // 2),) * (2 if kind == "lstm" else 1)
    ahead, back = [zero], [zero]
    for row in x:
        ahead.append(cell(kind, rnn, "l0", row, ahead[-1]))
    for row in x[::-1]:
        back.append(cell(kind, rnn, "l0_reverse", row, back[-1]))
    h = np.stack([np.concatenate([a[0], b[0]]) for a, b in zip(ahead[1:], back[:0:-1], strict=True)])
    last = np.concatenate([ahead[-1][0], back[-1][0]])
    s = np.tanh(w["first.weight"] @ last + w["first.bias"])
    state = (s, np.zeros(wide)) if kind == "lstm" else (s,)
    logits, maps = [], []
    for token in target:
        if model.config.attention:
            e = [
                w["attention.v.weight"][0]
                @ np.tanh(w["attention.query.weight"] @ state[0] + w["attention.key.weight"] @ h_j)
                for h_j in h
            ]
            a = np.exp(e) / np.exp(e).sum()
            c = sum(a_j * h_j for a_j, h_j in zip(a, h, strict=True))
            maps.append(a)
        else:
            c = last
        y = w["embedding.weight"][token]
        state = cell(kind, numbers(model.decoder), "l0", np.concatenate([y, c]), state)
        logits.append(w["head.weight"] @ np.concatenate([state[0], y, c]) + w["head.bias"])
    return np.stack(logits), np.array(maps)


@pytest.mark.parametrize("attention", [True, False])
@pytest.mark.parametrize("kind", ["gru", "lstm", "tanh"])
def test_every_number_is_that_of_numpy(kind: str, attention: bool) -> None:
    model = network(cell=kind, attention=attention)
    logits, weights = model(SOURCE, TARGET)
    for row in range(2):
        wanted, maps = by_hand(model, SOURCE[row].tolist(), TARGET[row].tolist())
        assert_close(logits[row].detach().numpy(), wanted, relative=1e-12)
        if attention:
            assert_close(weights[row].detach().numpy(), maps, relative=1e-12)
            assert_close(weights[row].detach().numpy().sum(-1), 1, relative=1e-12)
    assert (weights is None) is (not attention)


@pytest.mark.parametrize("attention", [True, False])
@pytest.mark.parametrize(
    ("kind", "torchs", "one"),
    [("gru", nn.GRU, nn.GRUCell), ("lstm", nn.LSTM, nn.LSTMCell), ("tanh", nn.RNN, nn.RNNCell)],
)
def test_teacher_forcing_equals_one_step_after_the_other(kind: str, torchs: type, one: type, attention: bool) -> None:
    """Each step is a step of torch.nn's own cell with the same weights."""
    model = network(cell=kind, attention=attention)
    assert type(model.encoder) is type(model.decoder) is torchs
    alone = one(16, 8).double()
    alone.load_state_dict({name.removesuffix("_l0"): value for name, value in model.decoder.state_dict().items()})
    logits, maps = model(SOURCE, TARGET)
    read = model.encode(SOURCE)
    state = model.start(read)
    for place in range(TARGET.shape[1]):
        before = state
        row, state, weights = model.step(TARGET[:, place], before, read)
        assert_close(row, logits[:, place], relative=1e-12)
        context = read.last
        if attention:
            assert_close(weights, maps[:, place], relative=1e-12)
            context = (weights[:, :, None] * read.states).sum(dim=1)
        x = torch.cat([model.embedding(TARGET[:, place]), context], dim=-1)
        after = alone(x, before if kind == "lstm" else before[0])
        for mine, torchs_own in zip(state, after if kind == "lstm" else (after,), strict=True):
            assert_close(mine, torchs_own, relative=1e-12)


def test_the_query_is_the_state_before_the_step() -> None:
    """The first row of the map depends on no token of the answer, the second on the first alone (claim 8)."""
    model = network()
    other = TARGET.clone()
    other[:, 1] = 5
    maps, changed = model(SOURCE, TARGET)[1], model(SOURCE, other)[1]
    assert torch.equal(maps[:, :2], changed[:, :2])
    assert relative_error(maps[:, 2:], changed[:, 2:]) > 1e-4


def test_the_score_is_that_of_the_transformers_additive_score() -> None:
    model = network()
    attention, states = model.attention, torch.randn(2, 5, 8, dtype=torch.float64)
    query = torch.randn(2, 8, dtype=torch.float64)
    score = AdditiveScore(
        query_weight=attention.query.weight[None],
        key_weight=attention.key.weight[None],
        bias=torch.zeros(1, 8, dtype=torch.float64),
        v=attention.v.weight,
    )
    wanted = score(query[:, None, None], states[:, None], slice(0, 1)).softmax(dim=-1)[:, 0, 0]
    context, weights = attention(query, attention.keys(states), states)
    assert_close(weights, wanted, relative=1e-12)
    assert_close(context, torch.einsum("bt,btd->bd", wanted, states), relative=1e-12)


def test_without_attention_one_vector_is_all_that_the_decoder_is_given() -> None:
    """The logits' gradient in every other encoder state is 0; with attention it is not (claim 7)."""
    for attention in (False, True):
        model = network(attention=attention)
        read = model.encode(SOURCE)
        cut = read._replace(
            states=read.states.detach().requires_grad_(), keys=read.keys.detach(), last=read.last.detach()
        )
        logits, *_ = model.step(TARGET[:, 0], model.start(cut), cut)
        (gradient,) = torch.autograd.grad(logits.sum(), cut.states, allow_unused=True)
        assert (gradient is not None and bool(gradient.abs().max() > 0)) is attention


@pytest.mark.parametrize("attention", [True, False])
def test_what_is_written_is_the_likeliest_token_after_what_was_written(attention: bool) -> None:
    model = network(attention=attention)
    written = model.write(SOURCE, start=10, steps=4, symbols=10)
    so_far = torch.full((2, 1), 10)
    for _ in range(4):
        so_far = torch.cat([so_far, model(SOURCE, so_far)[0][:, -1:, :10].argmax(dim=-1)], dim=1)
    assert torch.equal(written, so_far[:, 1:])


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"width": 7}, "width is 7, half of it"),
        ({"vocabulary": 0}, "vocabulary is 0"),
        ({"cell": "x"}, "cell is 'x'"),
    ],
)
def test_what_cannot_be_built_is_a_sentence(changed: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        RecurrentConfig(**{"vocabulary": 12, "width": 8, **changed})
