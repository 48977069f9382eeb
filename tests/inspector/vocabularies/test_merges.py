"""Merges: those of the tokenizers library's trainers in order, ties included, and WordPiece's gain by brute force."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from tokenizers import Tokenizer, models, trainers

from inspector import vocabularies
from inspector.vocabularies.corpus import SPLIT
from inspector.vocabularies.merges import join
from tests.closeness import assert_close
from tests.inspector.vocabularies.corpora import SEEDS, random_corpus


@pytest.mark.parametrize(("letters", "seed"), SEEDS)
def test_merges_are_those_of_the_library_in_order(letters: str, seed: int) -> None:
    corpus = vocabularies.Corpus.of(random_corpus(letters, seed))
    least = 1 + seed % 3
    trained = vocabularies.train("bpe", corpus, pieces=120, least=least)
    learned = vocabularies.learn(corpus.marked, merges=120, least=least)
    theirs = [tuple(pair) for pair in json.loads(trained.to_str())["model"]["merges"]]
    assert [merge.pair for merge in learned.merges] == theirs
    assert len(theirs) > 10
    vocabulary = trained.get_vocab()
    assert ["[UNK]", *learned.pieces] == sorted(vocabulary, key=vocabulary.__getitem__)
    for word, pieces in learned.spelled(len(learned.merges)).items():
        assert list(pieces) == [token.value for token in trained.model.tokenize(word)]


@pytest.mark.parametrize(("letters", "seed"), SEEDS[::3])
def test_the_librarys_wordpiece_trainer_merges_by_count(letters: str, seed: int) -> None:
    corpus = vocabularies.Corpus.of(random_corpus(letters, seed))
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = SPLIT
    trainer = trainers.WordPieceTrainer(vocab_size=100, special_tokens=["[UNK]"], show_progress=False)
    tokenizer.train_from_iterator([corpus.text], trainer)
    vocabulary = tokenizer.get_vocab()
    theirs = sorted(vocabulary, key=vocabulary.__getitem__)
    symbols = len({letter for word in corpus.split for letter in word})
    symbols += len({letter for word in corpus.split for letter in word[1:]})
    # Its first symbols with ## come from a hash table, in another order each time; ties follow that order.
    learned = vocabularies.learn(corpus.split, merges=99 - symbols, prefix="##", alphabet=theirs[1 : 1 + symbols])
    assert ["[UNK]", *learned.pieces] == theirs
    fixed = vocabularies.train("wordpiece", corpus, pieces=99 - symbols).get_vocab()
    mine = vocabularies.learn(corpus.split, merges=99 - symbols, prefix="##").pieces
    assert ["[UNK]", *mine] == sorted(fixed, key=fixed.__getitem__)


def test_sennrichs_example() -> None:
    # Sennrich et al. 2016, figure 1: es, est, est</w>, lo, low. Ties are settled otherwise here: t</w> before es t.
    words = {"low·": 5, "lower·": 2, "newest·": 6, "widest·": 3}
    learned = vocabularies.learn(words, merges=10)
    counts = [(merge.piece, merge.count) for merge in learned.merges]
    assert counts[:5] == [("es", 9), ("t·", 9), ("est·", 9), ("lo", 7), ("low", 7)]
    assert [count for _, count in counts] == sorted((count for _, count in counts), reverse=True)
    assert learned.lengths()[:4] == [95, 86, 77, 68]  # 95 characters, nine fewer with each of the first three


@pytest.mark.parametrize(("letters", "seed"), SEEDS[::5])
def test_the_gain_is_that_of_the_likelihood(letters: str, seed: int) -> None:
    corpus = vocabularies.Corpus.of(random_corpus(letters, seed))
    step = 5
    learned = vocabularies.learn(corpus.split, merges=step + 1, prefix="##", rule="gain")
    spelled, words = learned.spelled(step), corpus.split

    def likelihood(spelled: dict[str, tuple[str, ...]]) -> float:
        counts: Counter[str] = Counter()
        for word, pieces in spelled.items():
            for piece in pieces:
                counts[piece] += words[word]
        found = np.array(list(counts.values()), dtype=np.float64)
        return float((found * np.log(found / found.sum())).sum())

    table = learned.pairs(step)
    for row in table.head(6).itertuples():
        joined = {word: join(pieces, (row.first, row.second), into="new") for word, pieces in spelled.items()}
        assert_close(row.gain, likelihood(joined) - likelihood(spelled), relative=1e-8)
    assert table["gain"].is_monotonic_decreasing
    assert learned.merges[step].pair == (table["first"][0], table["second"][0])


def test_the_three_rules_choose_three_pairs() -> None:
    words = {"she": 2, "he": 10, "hen": 6, "zq": 2, "the": 3, "ab": 7, "cab": 1}
    chosen = {rule: vocabularies.learn(words, merges=1, rule=rule, least=2).merges[0] for rule in vocabularies.RULES}
    assert chosen["count"].piece == "he"  # 21 times
    assert chosen["ratio"].piece == "zq"  # 2 / (2 * 2)
    table = vocabularies.learn(words, merges=1, least=2).pairs(0).set_index("piece")
    assert table["count"]["he"] == 21
    assert table["ratio"]["zq"] == 0.5
    assert chosen["gain"].piece == table["gain"].idxmax()


def test_an_alphabet_that_lacks_a_character_is_refused() -> None:
    with pytest.raises(ValueError, match="lacks b"):
        vocabularies.learn({"ab": 1}, merges=1, alphabet=["a"])
