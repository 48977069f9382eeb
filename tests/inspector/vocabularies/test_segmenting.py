"""Ways through a word: WordPiece's and unigram's, held to the tokenizers library's encoders and to brute force."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import pytest

from inspector import vocabularies
from models import LoadedModel
from tests.inspector.vocabularies.corpora import LETTERS, SEEDS, random_corpus

STRANGE = ["zebra", "鱼", "a鱼鱼b", "▁鱼", "aaaaaaa", "的的的人鱼我"]


def words_of(letters: str, seed: int) -> list[str]:
    draw = random.Random(seed + 100)
    return [*("".join(draw.choices(LETTERS[letters] + "▁", k=draw.randint(1, 14))) for _ in range(60)), *STRANGE]


@pytest.mark.parametrize(("letters", "seed"), SEEDS)
def test_viterbi_is_the_librarys(letters: str, seed: int) -> None:
    corpus = vocabularies.Corpus.of(random_corpus(letters, seed))
    trained = vocabularies.train("unigram", corpus, pieces=40)
    scores = vocabularies.scores(trained)
    assert max(map(len, scores)) > 1
    for word in [*corpus.marked, *words_of(letters, seed)]:
        theirs = tuple(token.value for token in trained.model.tokenize(word))
        assert vocabularies.segmentations(word, scores)[0].pieces == theirs


def test_the_best_segmentations_are_the_best_of_all() -> None:
    scores = {"a": -1.0, "b": -2.5, "ab": -2.0, "ba": -3.25, "aba": -2.75, "bab": -6.0}
    word = "abababa"
    everything = []
    for cuts in range(len(word)):
        for places in combinations(range(1, len(word)), cuts):
            pieces = [word[first:last] for first, last in pairwise((0, *places, len(word)))]
            if all(piece in scores for piece in pieces):
                everything.append((sum(scores[piece] for piece in pieces), tuple(pieces)))
    found = vocabularies.segmentations(word, scores, most=6)
    assert [way.log_probability for way in found] == pytest.approx(sorted((p for p, _ in everything), reverse=True)[:6])
    sums = {pieces: total for total, pieces in everything}
    assert all(sums[way.pieces] == pytest.approx(way.log_probability) for way in found)
    assert len({way.pieces for way in found}) == 6


@pytest.mark.parametrize(("letters", "seed"), SEEDS)
def test_longest_match_is_the_librarys(letters: str, seed: int) -> None:
    corpus = vocabularies.Corpus.of(random_corpus(letters, seed))
    trained = vocabularies.train("wordpiece", corpus, pieces=30)
    vocabulary = set(trained.get_vocab())
    for word in [*corpus.split, *words_of(letters, seed), "a" * 100, "a" * 101]:
        theirs = tuple(token.value for token in trained.model.tokenize(word))
        assert vocabularies.longest_match(word, vocabulary) == theirs


def test_longest_match_is_berts(minilm: LoadedModel) -> None:
    vocabulary = set(minilm.tokenizer.get_vocab())
    for word in ["antidisestablishmentarianism", "unbelievably", "tired", "tokenizers", "我", "昨天", "naive", "🙂"]:
        assert list(vocabularies.longest_match(word, vocabulary)) == [
            token.value for token in minilm.tokenizer.backend_tokenizer.model.tokenize(word)
        ]


def test_losses_are_what_the_corpus_loses() -> None:
    words = {"ab": 3, "aba": 1, "b": 2}
    scores = {"[UNK]": 0.0, "a": -1.0, "b": -2.0, "ab": -1.5, "ba": -9.0}
    table = vocabularies.losses(words, scores).set_index("piece")
    # Without ab: three times a b for ab (-3.0 for -1.5), once a b a for ab a (-4.0 for -2.5).
    assert table.loc["ab", ["used", "loss", "instead"]].tolist() == [4, 3 * 1.5 + 1.5, "a b"]
    assert table.loc["ba", ["used", "loss"]].tolist() == [0, 0.0]
    assert list(table.index) == ["ba", "ab"]


@pytest.mark.parametrize(("letters", "seed"), [(letters, seed) for letters, seed in SEEDS if letters != "two"])
def test_the_librarys_unigram_has_no_piece_that_only_ends_words(letters: str, seed: int) -> None:
    # The page says so; each piece's next letters in the words, where "" is a word's end.
    corpus = vocabularies.Corpus.of(random_corpus(letters, seed))
    for piece in vocabularies.scores(vocabularies.train("unigram", corpus, pieces=40)):
        places = [(word, at) for word in corpus.marked for at in range(len(word)) if word.startswith(piece, at)]
        following = {word[at + len(piece) : at + len(piece) + 1] for word, at in places}
        assert len(piece) == 1 or piece == "[UNK]" or following != {""}
