"""Random repeats are what they are called; the induction score is the weight on the token after the first place."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from models.attention import AttentionCall, attend, watch
from models.attention.functions import DotProductAttention
from models.training.batches import TrainingExample
from models.training.recipes import MINI_GPT
from models.training.repeats import PIECES, induction_scores, passages_twice, random_twice, short_repeats
from models.transformer import build
from tests.closeness import assert_close

START = 2


def test_short_repeats_go_on_to_the_end_of_the_text() -> None:
    for example in short_repeats(range(300, 320), count=50, length=48, start=START, seed=1):
        first, *text = example.source
        assert (first, len(text)) == (START, 47)
        assert set(text) <= set(range(300, 320))
        assert any(text == (text[:size] * 47)[:47] for size in range(3, 20))
    sizes = {text.source for text in short_repeats(range(300, 2000), count=50, length=48, start=START, seed=1)}
    assert len(sizes) == 50


@pytest.mark.parametrize("longest", [20, 255, 256])
def test_twice_means_twice_and_fits(longest: int) -> None:
    texts = [TrainingExample((START, *range(400, 400 + length))) for length in (1, 9, 100, 255)]
    drawn = random_twice(range(300, 4000), count=40, longest=longest, start=START, seed=2)
    for example in [*drawn, *passages_twice(texts, count=40, longest=longest, seed=3)]:
        first, *text = example.source
        assert first == START
        assert text[: len(text) // 2] * 2 == text
        assert 3 <= len(example) <= longest
    assert max(map(len, drawn)) > longest - 20


def test_the_same_seed_draws_the_same() -> None:
    settings = {"count": 5, "longest": 64, "start": START}
    assert random_twice(range(9), seed=1, **settings) == random_twice(range(9), seed=1, **settings)
    assert random_twice(range(9), seed=1, **settings) != random_twice(range(9), seed=2, **settings)


class Made(nn.Module):
    """Two heads: one looks at the token after the first place of its own, the other at its own place."""

    def __init__(self, block: int) -> None:
        super().__init__()
        self.block, self.one = block, nn.Parameter(torch.ones(1))

    def forward(self, ids: Tensor) -> Tensor:
        places = torch.eye(ids.shape[1])
        key = places.expand(len(ids), 2, -1, -1)
        query = 1000 * torch.stack([places.roll(1 - self.block, dims=1), places])
        return attend(DotProductAttention(1.0), query.expand(len(ids), -1, -1, -1), key, key, stream="decoder")


def test_a_perfect_head_scores_one_and_another_none() -> None:
    scores = induction_scores(Made(16), vocabulary=400, start=START, block=16, texts=3)
    assert_close(scores, torch.tensor([[1.0, 0.0]]), relative=1e-6)


def test_the_score_is_taken_from_the_maps_of_the_network() -> None:
    """The maps are computed again in numpy, from the queries and keys, head by head and query by query."""
    size, block, calls = 300, 12, list[AttentionCall]()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = build(MINI_GPT.config(vocabulary=size))
    scores = induction_scores(network, vocabulary=size, start=START, block=block, texts=1)
    drawn = torch.randint(PIECES, size, (block,), generator=torch.Generator().manual_seed(0))
    with watch(calls.append), torch.no_grad():
        network(torch.cat([torch.tensor([START]), drawn, drawn])[None])
    assert scores.shape == (4, 6)
    for layer, call in enumerate(calls):
        for head in range(6):
            query, key = call.query[0, head].numpy(), call.key[0, head // 3].numpy()  # 3 heads share a key
            weights = []
            for place in range(1 + block, 1 + 2 * block):
                score = np.exp(key[: place + 1] @ query[place] / np.sqrt(32))
                weights.append(score[place - block + 1] / score.sum())
            assert_close(scores[layer, head], np.mean(weights), relative=1e-6)
    assert network.training
