"""A recipe together with its data: tokenizer, training examples, validation examples, network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from tokenizers import Tokenizer
from torch import nn

from models.files import write_text
from models.formatting import one_line
from models.training import corpus, repeats
from models.training.batches import Phase, TrainingExample
from models.training.objectives import Vocabulary
from models.training.recipes import MINI_BERT_ZH, Objective, Recipe
from models.training.reference import BertMaskedLanguageModel, GptLanguageModel, TorchTranslator
from models.transformer import build, subwords
from models.transformer.characters import character_tokenizer, common_characters
from models.transformer.masked_lm import MaskedLanguageModel

Implementation = Literal["own", "torch", "transformers"]
YARDSTICKS: dict[Objective, Implementation] = {"translate": "torch", "mask": "transformers", "write": "transformers"}
REFERENCES: dict[Objective, type[nn.Module]] = {
    "translate": TorchTranslator,
    "mask": BertMaskedLanguageModel,
    "write": GptLanguageModel,
}
ENCODED_AT_ONCE = 1000  # texts


RARE = 12  # a character that the novels have less often is spelled in bytes
SENTENCE_TIMES = 10  # modern Chinese sentences are read so often for each time of the novels
VALID_EVERY = 8  # of the novels' valid paragraphs one in so many is read during training


@dataclass(frozen=True)
class Task:
    """A recipe with everything that the training loop needs."""

    recipe: Recipe
    tokenizer: Tokenizer
    train: Sequence[TrainingExample]
    valid: Sequence[TrainingExample]
    source: str  # the data in words, for the card
    before: tuple[Phase, ...] = ()  # what is trained on before `train`

    @property
    def phases(self) -> tuple[Phase, ...]:
        """All that is trained on, in its order."""
        return (*self.before, Phase(self.train, self.recipe.batch_tokens, self.recipe.epochs))

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
        yardstick = YARDSTICKS[self.recipe.objective]
        if implementation not in ("own", yardstick):
            raise ValueError(f"there is no {implementation} yardstick of {self.recipe.name}: choose own or {yardstick}")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.recipe.seed)
            if implementation != "own":
                return REFERENCES[self.recipe.objective](config)
            return MaskedLanguageModel(config) if self.recipe.objective == "mask" else build(config)


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
    if recipe.name == MINI_BERT_ZH.name:
        return _chinese(recipe, data, tokenizer_file)
    english = [source for source, _ in corpus.read_pairs(data / corpus.PAIRS["train"])]
    paragraphs = corpus.read_paragraphs(data / corpus.BOOKS["train"]) + english
    held_out = corpus.read_paragraphs(data / corpus.BOOKS["valid"])
    if recipe.objective == "write":
        return _written(recipe, paragraphs, held_out, tokenizer_file)
    tokenizer = _tokenizer(recipe, paragraphs, tokenizer_file)
    return Task(
        recipe,
        tokenizer,
        [TrainingExample(ids) for ids in _chunks(tokenizer, paragraphs, longest=recipe.max_positions)],
        [TrainingExample(ids) for ids in _chunks(tokenizer, held_out, longest=recipe.max_positions)],
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

    def examples(pairs: Sequence[tuple[str, str]]) -> list[TrainingExample]:
        sources = _encode(tokenizer, [source for source, _ in pairs])
        targets = _encode(tokenizer, [target for _, target in pairs])
        made = (
            TrainingExample(tuple(source), tuple(target[1:])) for source, target in zip(sources, targets, strict=True)
        )
        return [example for example in made if len(example) <= recipe.max_positions]

    return Task(recipe, tokenizer, examples(train), examples(valid), source)


def _chinese(recipe: Recipe, data: Path, tokenizer_file: Path) -> Task:
    """Prepare a model of Chinese; the few modern sentences come many times beside the old novels."""
    novels = corpus.read_paragraphs(data / corpus.CHINESE_BOOKS["train"])
    sentences, held_out_sentences = corpus.chinese_sentences(data)
    times = Counter(character for text in novels for character in text)
    characters = {character for character, count in times.items() if count >= RARE}
    characters.update(common_characters(), *sentences)
    tokenizer = _read_or_make(tokenizer_file, lambda: character_tokenizer(characters))
    held_out = corpus.read_paragraphs(data / corpus.CHINESE_BOOKS["valid"])[::VALID_EVERY] + held_out_sentences
    return Task(
        recipe,
        tokenizer,
        [
            TrainingExample(ids)
            for ids in _chunks(tokenizer, novels + sentences * SENTENCE_TIMES, longest=recipe.max_positions)
        ],
        [TrainingExample(ids) for ids in _chunks(tokenizer, held_out, longest=recipe.max_positions)],
        source=f"{corpus.CHINESE_BOOKS['train']} and, {SENTENCE_TIMES} times, the Chinese side of "
        f"{corpus.PAIRS['train']} without the sentences that stand in valid or test",
    )


def held_out_chinese(task: Task, data: Path) -> dict[str, list[TrainingExample]]:
    """Read all Chinese text that a model of Chinese is judged on: the novels' valid chapters, the pairs' valid side."""
    texts = {
        corpus.CHINESE_BOOKS["valid"]: corpus.read_paragraphs(data / corpus.CHINESE_BOOKS["valid"]),
        f"Chinese side of {corpus.PAIRS['valid']}": corpus.chinese_sentences(data)[1],
    }
    return {
        name: [TrainingExample(ids) for ids in _chunks(task.tokenizer, lines, longest=task.recipe.max_positions)]
        for name, lines in texts.items()
    }


def _written(recipe: Recipe, texts: Sequence[str], held_out: Sequence[str], tokenizer_file: Path) -> Task:
    """Prepare a model that writes: short random repeats first, then text with a few passages and blocks that repeat."""

    def trained() -> Tokenizer:
        tokenizer = subwords.train_subwords(texts, vocabulary=recipe.vocabulary)
        subwords.leave_open(tokenizer)
        return tokenizer

    tokenizer = _read_or_make(tokenizer_file, trained)
    start, end = (subwords.SPECIAL.index(token) for token in (subwords.START, subwords.END))
    rows = _rows(_encode(tokenizer, texts), longest=recipe.max_positions, start=start, end=end)
    pieces = range(repeats.PIECES, tokenizer.get_vocab_size())
    mixed = [
        *rows,
        *repeats.random_twice(
            pieces, count=len(rows) * 7 // 100, longest=recipe.max_positions, start=start, seed=recipe.seed
        ),
        *repeats.passages_twice(rows, count=len(rows) * 5 // 100, longest=recipe.max_positions, seed=recipe.seed),
    ]
    return Task(
        recipe,
        tokenizer,
        mixed,
        _rows(_encode(tokenizer, held_out), longest=recipe.max_positions, start=start, end=end),
        source=f"{corpus.BOOKS['train']} and the English side of {corpus.PAIRS['train']}; 7 of 112 are random tokens "
        f"twice, 5 are passages twice; before them {recipe.repeat_steps:,} steps on short repeats of random tokens",
        before=_first_repeats(recipe, pieces, start=start),
    )


def _first_repeats(recipe: Recipe, pieces: Sequence[int], *, start: int) -> tuple[Phase, ...]:
    """Make the steps before the text; tokens are uniform over all, so that no few of them become alike."""
    batch, length = 8, min(48, recipe.max_positions)
    drawn = repeats.short_repeats(
        pieces, count=batch * recipe.repeat_steps, length=length, start=start, seed=recipe.seed
    )
    return (Phase(drawn, batch * length, epochs=1),) if drawn else ()


def _rows(texts: Iterable[Sequence[int]], *, longest: int, start: int, end: int) -> list[TrainingExample]:
    """Lay texts, given without their end, side by side in rows: [CLS] text [SEP] text [SEP] .., up to `longest` tokens.

    A row begins with the beginning of a text, or goes on in one that is longer than a row.
    """
    rows: list[tuple[int, ...]] = []
    row: tuple[int, ...] = (start,)
    for _, *text in texts:
        rest = (*text, end)
        if len(row) > 1 and len(row) + len(rest) > longest:
            rows.append(row)
            row = (start,)
        while len(row) + len(rest) > longest:
            rows.append((start, *rest[: longest - 1]))
            rest = rest[longest - 1 :]
        row = (*row, *rest)
    return [TrainingExample(row) for row in [*rows, row] if len(row) > 1]


def _tokenizer(recipe: Recipe, texts: Iterable[str], file: Path) -> Tokenizer:
    return _read_or_make(file, lambda: subwords.train_subwords(texts, vocabulary=recipe.vocabulary))


def _read_or_make(file: Path, make: Callable[[], Tokenizer]) -> Tokenizer:
    """Read the tokenizer of an earlier run, or make it and keep it."""
    if file.is_file():
        try:
            return Tokenizer.from_file(str(file))
        except Exception as error:  # the library raises plain Exception
            raise ValueError(
                f"{file} is damaged ({one_line(error)}). Begin again without --resume in a new folder."
            ) from error
    tokenizer = make()
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
