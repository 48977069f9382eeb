"""A merge read and said: what is joined, what other rules would join, and how a word is matched."""

from __future__ import annotations

import pytest

from inspector import vocabularies
from inspector.sections.tokens import cutting, pieces
from inspector.sections.tokens import merges as section
from inspector.wording.english.tokens import merges as words

WORDS = {"she": 2, "he": 10, "hen": 6, "zq": 2, "the": 3, "ab": 7, "cab": 1}


def test_a_merge_and_what_other_rules_would_join() -> None:
    learned = vocabularies.learn(WORDS, merges=20, least=2)
    table = section.pairs(learned, 1)
    assert table["count"].min() >= 2
    said = section.merging(learned, 1, table=table)
    assert "merge 1 makes `he`, for no pair stands more often than `h` and `e`, 21 times." in said
    assert "That leaves 53 symbols of 74." in said
    assert "`zq`: count(ab) / (count(a) count(b)) = 2 / (2 · 2) = 0.500, gain " in words.weighed(table)
    assert "`he`: count(ab) / (count(a) count(b)) = 21 / (21 · 21) = 0.0476, gain " in words.weighed(table)
    step = section.telling(learned)
    assert step >= 1
    assert f"merge {step} makes" in section.merging(learned, step, table=section.pairs(learned, step))


def test_tied_pairs_are_said() -> None:
    learned = vocabularies.learn({"ab": 2, "cd": 2}, merges=2, least=2)
    table = section.pairs(learned, 1)
    assert "would make the same piece" in section.merging(learned, 1, table=table)
    assert words.weighed(table).endswith(" 1 other pair stands as often.")
    assert "as often" not in words.weighed(table.iloc[:1])


def test_the_rules_side_by_side() -> None:
    learned = {rule: vocabularies.learn(WORDS, merges=4, rule=rule, least=2) for rule in vocabularies.RULES}
    table = section.first_merges(learned, most=3)
    assert table["merge"].tolist() == [1, 2, 3]
    assert table["count"].tolist() == [merge.piece for merge in learned["count"].merges[:3]]


def test_a_longest_match_step_by_step() -> None:
    table = cutting.matching("abcd", ("ab", "##c", "##d"), prefix="##")
    assert table["rest"].tolist() == ["abcd", "cd", "d"]
    assert table["tried"].tolist() == ["abcd, abc", "##cd", "–"]
    long = cutting.matching("abcdefgh", ("a", "##bcdefgh"), prefix="##")
    assert long["tried"][0] == "abcdefgh, abcdefg, abcdef, abcde … 3 more"


def test_unigrams_sum_is_filled_in() -> None:
    scores = {"a": -1.0, "b": -2.5, "ab": -2.0}
    found = vocabularies.segmentations("aba", scores, most=2)
    assert words.likeliest("aba", found, scores) == (
        "Unigram cuts `aba` into `ab` `a`: log P = −2.00 − 1.00 = −3.00 nats. "
        "The next best, `a` `b` `a`, is 1.50 behind."
    )
    assert "= " not in words.likeliest("é", vocabularies.segmentations("é", scores), scores).replace("log P = ", "")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ab ab", "model cuts this one into 4 tokens, characters make 5. The longer way has 1.56 times"),
        ("ab zz", "fewer than its 5 characters. Of its pieces "),
    ],
)
def test_a_text_in_pieces_and_in_characters(text: str, told: str) -> None:
    corpus = vocabularies.Corpus.of("a a b b ab ab ab")
    ways = {kind: vocabularies.by_library(vocabularies.train(kind, corpus), text) for kind in vocabularies.KINDS}
    said = pieces.cutting(ways, "wordpiece", model="model")
    assert told in said
    assert ("As whole words 50 % would be unknown." in said) == ("zz" in text)


def test_bars_have_their_numbers_and_lines_the_corpus_after_each_merge() -> None:
    learned = vocabularies.learn(WORDS, merges=4, least=2)
    figure = section._pairs(section.pairs(learned, 1), 1, "").draw(mode="light")
    assert list(figure.data[0].x) == section.pairs(learned, 1)["count"].head(section.TOP).tolist()
    assert figure.layout.yaxis.ticktext[0] == "h + e"
    lines = section._lengths({"count": learned}, 1, "learned = f(x)\n").draw(mode="light")
    assert list(lines.data[0].y) == learned.lengths()
