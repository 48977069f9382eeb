"""A recipe together with its data: tokenizer, training examples, validation examples, network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from tokenizers import Tokenizer
from torch import nn

from models.files import write_text
from models.formatting import one_line
from models.training import corpus
from models.training.batches import Example
from models.training.objectives import Vocabulary
from models.training.recipes import Objective, Recipe
from models.training.reference import BertMaskedLanguageModel, TorchTranslator
from models.transformer import build, subwords
from models.transformer.masked_lm import MaskedLanguageModel

Implementation = Literal["own", "torch", "transformers"]
YARDSTICKS: dict[Objective, Implementation] = {"translate": "torch", "mask": "transformers"}
ENCODED_AT_ONCE = 1000  # texts


@dataclass(frozen=True)
class Task:
    """A recipe with everything that the training loop needs."""

    recipe: Recipe
    tokenizer: Tokenizer
    train: Sequence[Example]
    valid: Sequence[Example]
    source: str  # the data in words, for the card

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokenizer's size and special tokens."""
        ids = {token: number for number, token in enumerate(subwords.SPECIAL)}
        return Vocabulary(
            size=self.tokenizer.get_vocab_size(),
            padding=ids[subwords.PAD],
            start=ids[subwords.START],
            end=ids[subwords.END],
            mask=ids[subwords.MASK],
            specials=len(ids),
        )

    def network(self, implementation: Implementation) -> nn.Module:
        """Build the network with random weights, the same every time.

        Raises ValueError for the yardstick of the other objective.
        """
        config = self.recipe.config(vocabulary=self.vocabulary.size)
        translates = self.recipe.objective == "translate"
        yardstick = YARDSTICKS[self.recipe.objective]
        if implementation not in ("own", yardstick):
            raise ValueError(f"there is no {implementation} yardstick of {self.recipe.name}: choose own or {yardstick}")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.recipe.seed)
            if implementation != "own":
                return TorchTranslator(config) if translates else BertMaskedLanguageModel(config)
            return build(config) if translates else MaskedLanguageModel(config)


def prepare(recipe: Recipe, data: Path | None, *, tokenizer_file: Path, resume: bool = False) -> Task:
    """Read the data and train the tokenizer; to resume, load the tokenizer that was trained before.

    Raises ValueError for a missing, empty or malformed file.
    """
    if not resume:
        tokenizer_file.unlink(missing_ok=True)
    if recipe.name == "toy":
        train, valid = corpus.toy_pairs(4000, seed=1), corpus.toy_pairs(200, seed=2)
        return _of_pairs(recipe, train, valid, tokenizer_file, source="own generated data: letters written backwards")
    if data is None:
        raise ValueError(f"{recipe.name} is trained on files: name their folder with --data")
    if recipe.objective == "translate":
        train, valid = (corpus.read_pairs(data / corpus.PAIRS[split]) for split in ("train", "valid"))
        return _of_pairs(recipe, train, valid, tokenizer_file, source=corpus.PAIRS["train"])
    english = [source for source, _ in corpus.read_pairs(data / corpus.PAIRS["train"])]
    paragraphs = corpus.read_paragraphs(data / corpus.BOOKS["train"]) + english
    held_out = corpus.read_paragraphs(data / corpus.BOOKS["valid"])
    tokenizer = _tokenizer(recipe, paragraphs, tokenizer_file)
    return Task(
        recipe,
        tokenizer,
        [Example(ids) for ids in _chunks(tokenizer, paragraphs, longest=recipe.max_positions)],
        [Example(ids) for ids in _chunks(tokenizer, held_out, longest=recipe.max_positions)],
        source=f"{corpus.BOOKS['train']} and the English side of {corpus.PAIRS['train']}",
    )


def _of_pairs(
    recipe: Recipe,
    train: Sequence[tuple[str, str]],
    valid: Sequence[tuple[str, str]],
    tokenizer_file: Path,
    *,
    source: str,
) -> Task:
    tokenizer = _tokenizer(recipe, (text for pair in train for text in pair), tokenizer_file)

    def examples(pairs: Sequence[tuple[str, str]]) -> list[Example]:
        sources = _encode(tokenizer, [source for source, _ in pairs])
        targets = _encode(tokenizer, [target for _, target in pairs])
        made = (Example(tuple(source), tuple(target[1:])) for source, target in zip(sources, targets, strict=True))
        return [example for example in made if len(example) <= recipe.max_positions]

    return Task(recipe, tokenizer, examples(train), examples(valid), source)


def _tokenizer(recipe: Recipe, texts: Iterable[str], file: Path) -> Tokenizer:
    if file.is_file():
        try:
            return Tokenizer.from_file(str(file))
        except Exception as error:  # the library raises plain Exception
            raise ValueError(
                f"{file} is damaged ({one_line(error)}). Begin again without --resume in a new folder."
            ) from error
    tokenizer = subwords.train_subwords(texts, vocabulary=recipe.vocabulary)
    write_text(file, tokenizer.to_str())
    return tokenizer


def _encode(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    return [
        encoding.ids
        for start in range(0, len(texts), ENCODED_AT_ONCE)
        for encoding in tokenizer.encode_batch_fast(texts[start : start + ENCODED_AT_ONCE])
    ]


def _chunks(tokenizer: Tokenizer, texts: Sequence[str], *, longest: int) -> list[tuple[int, ...]]:
    """Cut texts into pieces of at most `longest` tokens, each between [CLS] and [SEP]."""
    pieces = []
    for ids in _encode(tokenizer, texts):
        start, *text, end = ids
        for first in range(0, len(text), longest - 2):
            pieces.append((start, *text[first : first + longest - 2], end))
    return pieces
