"""Measures of a language model on text that it has not read: hidden tokens guessed, bits a byte, texts written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from typing import cast

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from models.training.batches import TrainingExample, buckets, collate
from models.training.objectives import IGNORED, Predictor, Vocabulary, hide, loss, predictions
from models.transformer import Decoder
from models.transformer.generation import NextToken, sample
from models.transformer.subwords import SPACE

BATCH_TOKENS = 2048
PROMPTS = (
    "The old man looked at",
    "She opened the door and",
    "It was a dark night, and the wind",
    '"I do not believe you," said',
    "When the ship came into the harbour,",
    "There was once a king who",
    "He took the letter from his pocket and",
    "The children were playing in the garden when",
    "My dear friend, I am very",
    "In the middle of the room stood",
)
NEW_TOKENS, TEMPERATURE = 40, 0.7
GAME_SENTENCES, LEAST_CHARACTERS = 10, 8

Guess = Callable[[Tensor, Tensor], Tensor]  # ids to read and the chosen places [B, T] -> a token for each place [N]


@dataclass(frozen=True)
class GuessCounts:
    """Counts of hidden and of guessed tokens, among all tokens and among Chinese characters."""

    tokens: int
    right: int
    characters: int
    right_characters: int

    @property
    def share(self) -> float:
        """The share that was guessed of all tokens."""
        return self.right / self.tokens

    @property
    def share_of_characters(self) -> float:
        """The share that was guessed of the Chinese characters; NaN where none was hidden."""
        return self.right_characters / self.characters if self.characters else float("nan")


@torch.inference_mode()
def guess_hidden(
    guess: Guess,
    texts: Sequence[TrainingExample],
    *,
    vocabulary: Vocabulary,
    chinese: Tensor,
    true_neighbours: bool = False,
) -> GuessCounts:
    """Hide 15 % of the texts' tokens, the same ones each time, and count what `guess` names right at the first try.

    chinese [V]: True for Chinese characters. true_neighbours: `guess` reads the text as it is, with nothing hidden;
    fair only for what does not look at the token itself.
    """
    tokens = right = characters = right_characters = 0
    for number, indices in enumerate(buckets(texts, batch_tokens=BATCH_TOKENS, seed=0)):
        batch = collate([texts[index] for index in indices], padding=vocabulary.padding)
        ids, labels = hide(batch.source, batch.keep, vocabulary=vocabulary, seed=number)
        chosen = labels != IGNORED
        wanted = labels[chosen]
        hit = guess(batch.source if true_neighbours else ids, chosen) == wanted
        tokens, right = tokens + len(wanted), right + int(hit.sum())
        characters += int(chinese[wanted].sum())
        right_characters += int(hit[chinese[wanted]].sum())
    return GuessCounts(tokens, right, characters, right_characters)


def first_guess(network: nn.Module, *, padding: int) -> Guess:
    """Make a `Guess` of a masked language model: the token that it finds likeliest."""

    def guess(ids: Tensor, chosen: Tensor) -> Tensor:
        hidden = cast(Predictor, network)(ids, keep=ids != padding)
        return cast(Predictor, network).logits(hidden[chosen]).argmax(dim=-1)

    return guess


@torch.inference_mode()
def hidden_ranks(network: nn.Module, text: str, *, tokenizer: Tokenizer, vocabulary: Vocabulary) -> list[int]:
    """Hide each token of a text by itself; count for each the tokens that the model finds likelier in its place."""
    encoded = tokenizer.encode(text).ids
    places = torch.arange(1, len(encoded) - 1)
    ids = torch.tensor(encoded).repeat(len(places), 1)
    ids[places - 1, places] = vocabulary.mask
    predictor = cast(Predictor, network)
    logits = predictor.logits(predictor(ids, keep=torch.ones_like(ids, dtype=torch.bool))[places - 1, places])
    of_true = logits[places - 1, torch.tensor(encoded[1:-1])]
    return (logits > of_true[:, None]).sum(dim=-1).tolist()


def game_sentences(texts: Sequence[str]) -> list[str]:
    """Pick the first ten different texts of 8 characters or more."""
    return list(dict.fromkeys(text for text in texts if len(text) >= LEAST_CHARACTERS))[:GAME_SENTENCES]


def chinese_tokens(tokenizer: Tokenizer) -> Tensor:
    """Mark the tokens of the vocabulary that are Chinese characters -> boolean [V]."""
    names = (tokenizer.id_to_token(token) or "" for token in range(tokenizer.get_vocab_size()))
    return torch.tensor([len(name) == 1 and "\u3400" <= name <= "\u9fff" for name in names])


@torch.inference_mode()
def bits_per_byte(
    network: nn.Module, rows: Sequence[TrainingExample], *, vocabulary: Vocabulary, texts: Sequence[str]
) -> float:
    """Compute -sum log2 p(token) / bytes over rows that hold the texts, each with its end, which counts as one byte."""
    nats = 0.0
    for indices in buckets(rows, batch_tokens=BATCH_TOKENS, seed=0):
        batch = collate([rows[index] for index in indices], padding=vocabulary.padding)
        logits, labels = predictions(cast(Predictor, network), batch, objective="write", vocabulary=vocabulary, seed=0)
        nats += float(loss(logits, labels, label_smoothing=0.0)) * len(labels)
    return nats / log(2) / sum(len(text.encode()) + 1 for text in texts)


@torch.inference_mode()
def write_on(network: Decoder, prompt: str, *, tokenizer: Tokenizer, vocabulary: Vocabulary, seed: int) -> str:
    """Write at most 40 tokens after a prompt, drawn at temperature 0.7; returns what was written alone."""
    ids = torch.tensor([tokenizer.encode(prompt).ids])
    written = sample(
        NextToken(network), ids, new_tokens=NEW_TOKENS, ends=[vocabulary.end], temperature=TEMPERATURE, seed=seed
    )[0, ids.shape[1] :].tolist()
    if not written:
        return ""
    begun = " " if (tokenizer.id_to_token(written[0]) or "").startswith(SPACE) else ""
    return begun + tokenizer.decode(written, skip_special_tokens=True)
