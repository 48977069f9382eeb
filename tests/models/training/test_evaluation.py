"""sacreBLEU judges: the score is its own, of the sentences in the order in which they were given."""

from __future__ import annotations

from math import exp

import pytest
import torch

from models.training.evaluation import bleu, next_token
from tests.closeness import assert_close


def test_the_score_is_sacrebleus() -> None:
    """Compare with BLEU by hand (Papineni et al. 2002): each character is a word, clipped counts, brevity penalty."""
    pytest.importorskip("sacrebleu", reason="sacreBLEU is not installed")
    translations, references = ["我们很喜欢吃苹果。", "他们在"], ["我们很喜欢吃香蕉。", "他们在这里"]
    # Right of all: 10/12 characters, 7/10 pairs, 5/8 triples, 3/6 fours; 12 characters against 14.
    by_hand = 100 * (10 / 12 * 7 / 10 * 5 / 8 * 3 / 6) ** 0.25 * exp(1 - 14 / 12)
    assert_close(bleu(translations, references), by_hand, relative=1e-6)
    assert bleu(references, references) == pytest.approx(100)


def test_what_does_not_translate_is_refused() -> None:
    with pytest.raises(ValueError, match="Linear does not translate"):
        next_token(torch.nn.Linear(2, 2), torch.zeros(1, 1), torch.ones(1, 1))
