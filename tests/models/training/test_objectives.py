"""Label smoothing against its formula in numpy and torch's, masking proportions, padding that teaches nothing."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.training.batches import TrainingExample, collate
from models.training.objectives import IGNORED, Vocabulary, hide, loss, predictions
from models.training.recipes import MINI_GPT, TOY
from models.transformer import build
from tests.closeness import assert_close

VOCABULARY = Vocabulary(size=50, padding=0, start=2, end=3, mask=4, specials=5)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
def test_label_smoothing_is_the_formula(smoothing: float) -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(20, 7, generator=generator)
    labels = torch.randint(7, (20,), generator=generator)
    x = logits.double().numpy()
    log_p = x - np.log(np.exp(x).sum(axis=1, keepdims=True))
    q = np.full((20, 7), smoothing / 7)
    q[np.arange(20), labels.numpy()] += 1 - smoothing
    expected = -(q * log_p).sum(axis=1).mean()
    assert_close(loss(logits, labels, label_smoothing=smoothing).item(), expected, relative=1e-6)
    assert loss(logits.bfloat16(), labels, label_smoothing=smoothing).dtype == torch.float32


def test_masking_proportions() -> None:
    ids = torch.randint(5, 50, (400, 100), generator=torch.Generator().manual_seed(1))
    ids[:, 0], ids[:, -1] = VOCABULARY.start, VOCABULARY.end
    keep = torch.ones_like(ids, dtype=torch.bool)
    keep[::2, 60:] = False
    hidden, labels = hide(ids, keep, vocabulary=VOCABULARY, seed=7)
    chosen = labels != IGNORED
    text = keep & (ids >= VOCABULARY.specials)
    count = int(chosen.sum())
    assert not (chosen & ~text).any()
    assert torch.equal(labels[chosen], ids[chosen])
    assert torch.equal(hidden[~chosen], ids[~chosen])
    masked = int((hidden[chosen] == VOCABULARY.mask).sum())
    kept = int((hidden[chosen] == ids[chosen]).sum())
    other = count - masked - kept
    # Four standard deviations of a binomial share; a random token is the true one in 1 of 45 cases.
    for seen, of, share in (
        (count, int(text.sum()), 0.15),
        (masked, count, 0.8),
        (kept, count, 0.1 + 0.1 / 45),
        (other, count, 0.1 - 0.1 / 45),
    ):
        assert abs(seen / of - share) <= 4 * (share * (1 - share) / of) ** 0.5


def test_masking_follows_from_its_seed_and_always_chooses_something() -> None:
    ids = torch.tensor([[2, 9, 3]])
    keep = torch.ones_like(ids, dtype=torch.bool)
    for seed in range(40):
        first, second = (hide(ids, keep, vocabulary=VOCABULARY, seed=seed) for _ in range(2))
        assert torch.equal(first[0], second[0])
        assert first[1].tolist() == [[IGNORED, 9, IGNORED]]


def test_padding_changes_no_prediction() -> None:
    network = build(TOY.config(vocabulary=50)).eval()
    short, long = TrainingExample((2, 9, 3), (8, 3)), TrainingExample((2, 9, 8, 7, 6, 3), (6, 7, 8, 9, 3))
    alone = collate([short], padding=0)
    together = collate([short, long], padding=0)
    with torch.no_grad():
        results = [
            predictions(network, batch, objective="translate", vocabulary=VOCABULARY, seed=0)
            for batch in (alone, together)
        ]
    assert [labels.tolist() for _, labels in results] == [[8, 3], [8, 3, 6, 7, 8, 9, 3]]
    assert_close(results[1][0][:2], results[0][0], relative=1e-5)


def test_writing_predicts_each_token_from_those_before_it() -> None:
    network = build(MINI_GPT.config(vocabulary=50)).eval()
    short, long = TrainingExample((2, 9, 8)), TrainingExample((2, 7, 6, 9, 3))
    settings = {"objective": "write", "vocabulary": VOCABULARY, "seed": 0}
    with torch.no_grad():
        logits, labels = predictions(network, collate([short, long], padding=0), **settings)
        assert labels.tolist() == [9, 8, 7, 6, 9, 3]
        alone, _ = predictions(network, collate([short], padding=0), **settings)
        assert_close(logits[:2], alone, relative=1e-5)
        other, _ = predictions(network, collate([TrainingExample((2, 9, 41))], padding=0), **settings)
        assert_close(other, alone, relative=1e-6)  # the last token is predicted, and never read


def test_the_share_of_hidden_tokens_can_be_chosen() -> None:
    ids = torch.randint(5, 50, (200, 100), generator=torch.Generator().manual_seed(1))
    _, labels = hide(ids, torch.ones_like(ids, dtype=torch.bool), vocabulary=VOCABULARY, seed=7, share=0.25)
    assert abs(float((labels != IGNORED).float().mean()) - 0.25) <= 4 * (0.25 * 0.75 / ids.numel()) ** 0.5
