"""Tokenizers that the tokenizers library's own trainers learn from a corpus.

BpeTrainer gives the same pieces each time. WordPieceTrainer gives the pieces of BpeTrainer, written with ##; left alone
it settles ties by the order of a hash table, so its first symbols are given to it in order. UnigramTrainer reads its
words in such an order too, and another run may choose other pieces of nearly the same worth.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Literal

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from inspector.vocabularies.corpus import CONTINUES, MARKED, SPLIT, WHOLE, Corpus
from inspector.vocabularies.merges import spell
from models.failures import told

Kind = Literal["characters", "words", "wordpiece", "bpe", "unigram"]
KINDS: tuple[Kind, ...] = ("characters", "words", "wordpiece", "bpe", "unigram")
UNKNOWN = "[UNK]"
MOST_PIECES = 1_000  # beyond the characters


def train(kind: Kind, corpus: Corpus, *, pieces: int = 0, least: int = 1) -> Tokenizer:
    """Train a tokenizer on a corpus: its characters, its words, or `pieces` pieces beyond its characters.

    least: a pair that stands less often is not joined, in BPE and WordPiece. Unigram may find fewer pieces.

    Raises ValueError for a number of pieces out of range.
    """
    if not 0 <= pieces <= MOST_PIECES:
        raise ValueError(f"{pieces} pieces beyond the characters; choose 0 to {MOST_PIECES:,}")
    making: dict[Kind, Callable[[], Tokenizer]] = {
        "characters": lambda: _of_words(corpus, pre_tokenizers.Split(Regex("."), "isolated")),
        "words": lambda: _of_words(corpus, WHOLE),
        "wordpiece": lambda: _wordpiece(corpus, pieces, least),
        "bpe": lambda: _bpe(corpus, pieces, least),
        "unigram": lambda: _unigram(corpus, pieces),
    }
    with told(f"Learning {kind} from this corpus", instead="Choose another corpus."):
        return making[kind]()


def scores(tokenizer: Tokenizer) -> dict[str, float]:
    """Read the pieces of a unigram tokenizer with their log probabilities in nats; special tokens have 0."""
    return dict(json.loads(tokenizer.to_str())["model"]["vocab"])


def _of_words(corpus: Corpus, splitting: pre_tokenizers.PreTokenizer) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = splitting
    most = len(corpus.text) + 1  # as many as there are
    trainer = trainers.WordLevelTrainer(vocab_size=most, special_tokens=[UNKNOWN], show_progress=False)
    tokenizer.train_from_iterator([corpus.text], trainer)
    return tokenizer


def _bpe(corpus: Corpus, pieces: int, least: int) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = MARKED
    trainer = trainers.BpeTrainer(
        vocab_size=1 + len(corpus.alphabet) + pieces,
        min_frequency=least,
        special_tokens=[UNKNOWN],
        show_progress=False,
    )
    tokenizer.train_from_iterator([corpus.text], trainer)
    return tokenizer


def _wordpiece(corpus: Corpus, pieces: int, least: int) -> Tokenizer:
    words = corpus.split
    letters = sorted({letter for word in words for letter in word})
    spelled = {symbol for word in words for symbol in spell(word, prefix=CONTINUES)}
    first = [UNKNOWN, *letters, *sorted(spelled - set(letters))]
    learning = Tokenizer(models.WordPiece(unk_token=UNKNOWN))
    learning.pre_tokenizer = SPLIT
    trainer = trainers.WordPieceTrainer(
        vocab_size=len(first) + pieces, min_frequency=least, special_tokens=first, show_progress=False
    )
    learning.train_from_iterator([corpus.text], trainer)
    # A new tokenizer: in the one that learned, the first symbols are special tokens, and would be cut out of any word.
    tokenizer = Tokenizer(models.WordPiece(vocab=learning.get_vocab(), unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = SPLIT
    return tokenizer


def _unigram(corpus: Corpus, pieces: int) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = MARKED
    trainer = trainers.UnigramTrainer(
        vocab_size=1 + len(corpus.alphabet) + pieces,
        special_tokens=[UNKNOWN],
        unk_token=UNKNOWN,
        show_progress=False,
    )
    tokenizer.train_from_iterator([corpus.text], trainer)
    return tokenizer
