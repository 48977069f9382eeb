"""The kinds of positions side by side, against formulas written out again, and a text longer than a model's longest."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
import torch

import models
from inspector import positional
from inspector.positional.kinds import WIDTH, Kind, scores
from inspector.sections.positions import kinds, length


def test_what_depends_on_distance_alone() -> None:
    table = positional.side_by_side().set_index("kind")
    assert (table.same[["shaw", "xl", "t5", "alibi"]] == 0).all()
    assert 0 < table.same["rope"] < 1e-13
    assert (table.same[["sinusoidal", "learned"]] > 1).all()
    assert (table.others > 0.1).all()
    with pytest.raises(ValueError, match="distance is 33"):
        positional.side_by_side(distance=33)
    said = kinds.sides(table.reset_index())
    assert said.startswith("With Shaw, Transformer-XL, T5, RoPE and ALiBi a query and a key have the same score")
    assert list(kinds.rounding(table.reset_index())) == ["rope"]


def test_scores_against_formulas_written_out() -> None:
    random = torch.Generator().manual_seed(0)
    drawn = [
        torch.randn(*shape, generator=random, dtype=torch.float64).numpy()
        for shape in ((WIDTH,), (WIDTH,), (WIDTH, WIDTH), (WIDTH, WIDTH))
    ]
    after = random.get_state()
    x, y, w_q, w_k = drawn[0], drawn[1], drawn[2] / WIDTH**0.5, drawn[3] / WIDTH**0.5
    q, k = x @ w_q, y @ w_k

    def again(*shape: int) -> np.ndarray:
        return torch.randn(*shape, generator=random, dtype=torch.float64).numpy()

    def wave(p: float) -> np.ndarray:
        angles = p / 10000 ** (np.arange(0, WIDTH, 2) / WIDTH)
        return np.stack([np.sin(angles), np.cos(angles)], axis=1).ravel()

    def turned(vector: np.ndarray, p: int) -> np.ndarray:
        both = vector[::2] + 1j * vector[1::2]
        return both * np.exp(1j * p / 10000 ** (np.arange(0, WIDTH, 2) / WIDTH))

    i, j = 40, 9
    u, v, w_r = again(WIDTH), again(WIDTH), again(WIDTH, WIDTH) / WIDTH**0.5
    random.set_state(after)
    shaw = again(33, WIDTH)
    expected: dict[Kind, float] = {
        "sinusoidal": (x + wave(i)) @ w_q @ ((y + wave(j)) @ w_k) / WIDTH**0.5,
        "rope": (turned(q, i) @ turned(k, j).conj()).real / WIDTH**0.5,
        "alibi": q @ k / WIDTH**0.5 - 0.5 * abs(i - j),
        "shaw": q @ (k + shaw[16 - 16]) / WIDTH**0.5,  # 31 back is clipped to 16 back
        "xl": ((q + u) @ k + (q + v) @ (wave(i - j) @ w_r)) / WIDTH**0.5,
    }
    for kind, value in expected.items():
        assert scores(kind)[i, j] == pytest.approx(value, rel=1e-9), kind
    ahead = ((q + u) @ k + (q + v) @ (wave(j - i) @ w_r)) / WIDTH**0.5
    assert scores("xl")[j, i] == pytest.approx(ahead, rel=1e-9)


def test_a_longer_text_at_once_and_in_windows() -> None:
    loaded = models.load("mini-gpt")
    table = positional.longer(loaded)
    longest = loaded.max_tokens
    ids = torch.tensor([loaded.tokenizer(positional.PASSAGE, verbose=False)["input_ids"][: 2 * longest]])
    with torch.inference_mode():
        network = deepcopy(loaded.network).double()
        loss = [
            torch.nn.functional.cross_entropy(network.logits(network(one))[0, :-1], one[0, 1:], reduction="none")
            for one in (ids, ids[:, longest // 2 : 3 * longest // 2])
        ]
    bits = [one.numpy() / np.log(2) for one in loss]
    row = table.set_index("position").loc[longest]
    size = int(row["tokens"])
    assert row["at_once"] == pytest.approx(bits[0][longest - 1 : longest - 1 + size].mean(), rel=1e-4)
    place = longest // 2 - 1
    assert row["in_windows"] == pytest.approx(bits[1][place : place + size].mean(), rel=1e-4)
    said = length.longer(table, longest=longest)
    assert f"on a passage of {ids.shape[1]:,} tokens, at once: behind position {longest - 1:,}" in said
    assert "defined, but not learned" in said
    with pytest.raises(ValueError, match="does not predict the next token"):
        positional.longer(models.load("mini-bert"))
