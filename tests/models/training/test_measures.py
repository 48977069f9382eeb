"""Measures of a model's worth: shares counted by hand, bits a byte of a model that knows nothing, texts that go on."""

from __future__ import annotations

from math import isnan, log2

import pytest
import torch
from torch import Tensor, nn

from models.training.batches import TrainingExample
from models.training.measures import (
    bits_per_byte,
    chinese_tokens,
    first_guess,
    game_sentences,
    guess_hidden,
    hidden_ranks,
    write_on,
)
from models.training.objectives import Vocabulary
from models.training.recipes import MINI_GPT
from models.transformer import Decoder, build
from models.transformer.characters import character_tokenizer
from models.transformer.subwords import leave_open, train_subwords

VOCABULARY = Vocabulary(size=20, padding=0, start=2, end=3, mask=4, specials=5)
TEXTS = [TrainingExample((2, *(5 + (number * place) % 15 for place in range(40)), 3)) for number in range(1, 30)]
CHINESE = torch.arange(20) >= 12


class Knows(nn.Module):
    """Predicts one token everywhere, or (None) finds all alike."""

    def __init__(self, token: int | None) -> None:
        super().__init__()
        self.row = torch.zeros(20)
        if token is not None:
            self.row[token] = 1.0

    def forward(self, ids: Tensor, *, keep: Tensor | None = None) -> Tensor:
        return torch.zeros(*ids.shape, 1)

    def logits(self, hidden: Tensor) -> Tensor:
        return self.row.expand(*hidden.shape[:-1], 20)


class Says(Decoder):
    """A decoder that is certain of one token, whatever it has read."""

    def __init__(self, token: int) -> None:
        super().__init__(MINI_GPT.config(vocabulary=300))
        self.token = token

    def logits(self, hidden: Tensor) -> Tensor:
        row = torch.zeros(300)
        row[self.token] = 100.0
        return row.expand(*hidden.shape[:-1], 300)


def test_hidden_tokens_are_counted_all_and_chinese_alone() -> None:
    settings = {"vocabulary": VOCABULARY, "chinese": CHINESE}
    perfect = guess_hidden(lambda ids, chosen: ids[chosen], TEXTS, true_neighbours=True, **settings)
    assert perfect.share == perfect.share_of_characters == 1.0
    assert perfect.tokens == pytest.approx(0.15 * 40 * len(TEXTS), rel=0.2)
    found = guess_hidden(first_guess(Knows(13), padding=0), TEXTS, **settings)
    assert (found.tokens, found.characters) == (perfect.tokens, perfect.characters)
    assert found.right == found.right_characters
    assert 0 < found.share < found.share_of_characters < 1
    other = guess_hidden(first_guess(Knows(7), padding=0), TEXTS, **settings)
    assert other.right_characters == 0 < other.right
    seen = guess_hidden(lambda ids, chosen: ids[chosen], TEXTS, **settings)
    assert seen.share == pytest.approx(0.1, abs=0.06)  # one hidden token of ten stays in its place


def test_each_token_is_hidden_alone_and_ranked() -> None:
    tokenizer = character_tokenizer("猫追老鼠")
    size = tokenizer.get_vocab_size()
    read = []

    class LowestFirst(Knows):
        """Finds a token the likelier the lower its id."""

        def forward(self, ids: Tensor, *, keep: Tensor | None = None) -> Tensor:
            read.append(ids)
            return super().forward(ids, keep=keep)

        def logits(self, hidden: Tensor) -> Tensor:
            return -torch.arange(size, dtype=torch.float).expand(*hidden.shape[:-1], size)

    vocabulary = Vocabulary(size=size, padding=0, start=2, end=3, mask=4, specials=5)
    ids = tokenizer.encode("猫追老鼠").ids
    assert hidden_ranks(LowestFirst(None), "猫追老鼠", tokenizer=tokenizer, vocabulary=vocabulary) == ids[1:-1]
    assert (read[0] == 4).int().tolist() == torch.eye(6, dtype=torch.int)[1:5].tolist()
    assert game_sentences(["短", *["我昨天买了一本书。"] * 2]) == ["我昨天买了一本书。"]


def test_a_share_of_nothing_is_no_number() -> None:
    found = guess_hidden(
        lambda ids, chosen: ids[chosen], TEXTS, vocabulary=VOCABULARY, chinese=torch.zeros(20, dtype=torch.bool)
    )
    assert isnan(found.share_of_characters)


def test_a_model_that_knows_nothing_needs_the_logarithm_of_the_vocabulary() -> None:
    texts = ["é" * 50, "a" * 70]  # 100 bytes and 70, and two ends
    rows = [TrainingExample((2, *range(5, 15), 3)), TrainingExample((2, 6, 3))]
    bits = bits_per_byte(Knows(None), rows, vocabulary=VOCABULARY, texts=texts)
    assert bits == pytest.approx((11 + 2) * log2(20) / 172, rel=1e-6)


def test_chinese_tokens_are_single_chinese_characters() -> None:
    tokenizer = character_tokenizer("猫。é")
    chinese = chinese_tokens(tokenizer)
    assert [tokenizer.id_to_token(index) for index in chinese.nonzero().flatten().tolist()] == ["猫"]
    assert len(chinese) == tokenizer.get_vocab_size()


def test_what_is_written_is_what_follows_the_prompt() -> None:
    tokenizer = train_subwords(["the cat and the dog sat on the mat"] * 3, vocabulary=300)
    leave_open(tokenizer)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = build(MINI_GPT.config(vocabulary=tokenizer.get_vocab_size())).eval()
    vocabulary = Vocabulary(tokenizer.get_vocab_size(), padding=0, start=2, end=3, mask=4, specials=5)
    written = [
        write_on(network, "the cat", tokenizer=tokenizer, vocabulary=vocabulary, seed=seed) for seed in (0, 0, 1)
    ]
    assert written[0] == written[1] != written[2]
    assert not written[0].startswith("the cat")
    assert (
        write_on(Says(tokenizer.token_to_id("▁dog")), "the cat", tokenizer=tokenizer, vocabulary=vocabulary, seed=0)
        == " dog" * 40
    )
    assert write_on(Says(3), "the cat", tokenizer=tokenizer, vocabulary=vocabulary, seed=0) == ""
