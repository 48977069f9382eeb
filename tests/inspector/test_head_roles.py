"""Readings of heads: each sentence on many texts against the maps, and each kind of sentence on a map made for it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random

import numpy as np
import pandas as pd
import pytest
import torch

import inspector
import models
from inspector import head_roles as read
from inspector import heads
from inspector.trace import AttentionRecord, AttentionSite, Trace
from inspector.wording.english import attention as words
from inspector.wording.english import phrases
from models.attention.functions import DotProductAttention
from models.loaded import LoadedModel
from models.tokenizers import Encoding
from tests.inspector.wording.claims import check, check_grid

ODD = (
    *("a", "?", "...", "?! ?! ?!", "the the the the", "a a", "猫追老鼠", "猫 the 猫 cat 狗 the", "x" * 90, "🙂 🙂"),
    *(
        "**bold** $x$ `code` [a](b)",
        "<b>no</b> &amp;",
        "1 + 1 = 2, 2 + 2 = 4, 3 + 3 = 6",
        "e\u0301 \u200b naïve",
        "``` `",
    ),
    *(
        "Antidisestablishmentarianism",
        "un believ able unbelievable",
        "A. B. C. D. E.",
        "hi",
        "I said “no”, he said “no”.",
    ),
)
WHO = ("The cat", "A tired old woman", "Nobody", "My brother's dog", "The president of France")
DID = ("sat on", "ate", "would never have written about", "thinks that she saw", "was")
WHAT = ("the mat", "it", "a long, long letter", "the fish and the bread", "what he had been told")
END = (".", " because it was tired.", ", and the cat did too!", "?")
TEXTS = [*ODD, *(f"{who} {did} {what}{end}" for who, did, what, end in itertools.product(WHO, DID, WHAT, END))]
MODELS = {"minilm": 70, "mini-bert": 60, "own-decoder": 40, "translator": 30}
HEADS = 2  # of each stream of each text


def traces(minilm: LoadedModel) -> Iterator[Trace]:
    """200 recordings: the odd texts with three models, and a draw of the others."""
    random = Random(5)
    for model, count in MODELS.items():
        loaded = minilm if model == "minilm" else models.load(model)
        odd = ODD if model != "translator" else ODD[5:9]
        for text in [*odd, *random.sample(TEXTS[len(ODD) :], count - len(odd))]:
            yield inspector.record(loaded, text, target=random.choice(WORDS) if model == "translator" else None)


WORDS = ("猫坐在垫子上。", "我爱猫。", "他说她累了，因为她累了。", "是")


@pytest.mark.heavy
def test_what_is_said_of_heads_is_what_their_maps_hold(minilm: LoadedModel) -> None:
    random, seen = Random(7), set()
    for trace_number, trace in enumerate(traces(minilm)):
        chosen = heads.with_choice(heads.measure(trace), trace)
        for stream in trace.streams:
            said = words.grid(read.grid(chosen, trace, stream=stream))
            if not trace_number % 3:
                check_grid(said, trace, stream)
            for _ in range(HEADS):
                site = random.choice(trace.sites_of(stream))
                head = random.randrange(site.heads)
                found = read.head(chosen, trace, site, head)
                for sentence in filter(None, (words.head(found), words.also(found))):
                    check(sentence, trace, site, head)
                seen.add((found.role.kind, found.role.leads, found.opens_with_link))
    assert len(seen) > 15  # many kinds, by roles and by links


def made(maps: np.ndarray, tokens: str, *, special: str = "[CLS] [SEP]", stream: str = "encoder") -> Trace:
    """A trace with these maps [H, T, T] in one layer, between tokens of which those in `special` are special."""
    names = tuple(tokens.split())
    places = [name not in special.split() for name in names]
    begins = [inside and not name.startswith("##") for name, inside in zip(names, places, strict=True)]
    numbers = np.cumsum(begins) - 1
    encoding = Encoding(
        ids=tuple(range(len(names))),
        tokens=names,
        words=tuple(int(number) if inside else None for number, inside in zip(numbers, places, strict=True)),
        segments=(0,) * len(names),
        special=tuple(not inside for inside in places),
        unknown=0,
    )
    predicts = None if stream == "encoder" else (*names[1:], "[SEP]")
    site = AttentionSite(stream, 0, len(maps), names, names, predicts)
    scores = torch.tensor(
        np.log(np.maximum(maps, 1e-300)), dtype=torch.float32
    )  # times one-hot keys, softmax: the maps
    keys = torch.eye(len(names)).expand(len(maps), -1, -1)
    function = DotProductAttention(1.0)
    record = AttentionRecord(site, function, scores, keys, torch.zeros_like(keys), None)
    target = encoding if stream == "cross" else None
    return Trace("made", "a", None, encoding, (record,), (), torch.zeros(len(names), 1), target=target)


def read_made(map_: np.ndarray, tokens: str, **how: str) -> tuple[read.HeadReading, str]:
    """The reading of head 0 of two, the other of which sees all keys alike; its sentences are held against the map."""
    size = len(map_)
    even = np.full((size, size), 1.0) if how.get("stream") != "decoder" else np.tril(np.ones((size, size)))
    trace = made(np.stack([map_, even / even.sum(axis=1, keepdims=True)]), tokens, **how)
    chosen = heads.with_choice(heads.measure(trace), trace)
    found = read.head(chosen, trace, trace.sites[0], 0)
    for sentence in filter(None, (words.head(found), words.also(found))):
        check(sentence, trace, trace.sites[0], 0)
    return found, words.head(found)


def rows_to(*columns: int, size: int, share: float = 1.0) -> np.ndarray:
    """A map whose row i gives `share` to column columns[i], or all rows to one, and the rest to all keys alike."""
    each = columns * size if len(columns) == 1 else columns
    return share * np.eye(size)[list(each)] + (1 - share) / size


SEVEN = "[CLS] the cat saw a dog [SEP]"
KINDS = {
    "previous": (rows_to(0, 0, 1, 2, 3, 4, 5, size=7, share=0.8), SEVEN, "is a previous-token head"),
    "next": (rows_to(1, 2, 3, 4, 5, 6, 6, size=7, share=0.8), SEVEN, "is a next-token head"),
    "self": (rows_to(*range(7), size=7, share=0.8), SEVEN, "looks at the token itself"),
    "[CLS]": (rows_to(0, size=7, share=0.8), SEVEN, "rests on `[CLS]`"),
    "[SEP]": (rows_to(6, size=7, share=0.8), SEVEN, "rests on `[SEP]`"),
    "first": (rows_to(0, size=5, share=0.8), "who was it that ran", "rests on the first token, `who`"),
    "broad": (np.tile([0.4, *[0.1] * 6], (7, 1)), SEVEN, "about as evenly as over 6 of the 7 tokens"),
    "chance": (np.full((7, 7), 1 / 7), SEVEN, "spreads its attention as random weights would"),
    "induction": (rows_to(4, 5, 6, 5, 2, 3, 6, size=7, share=0.9), "[CLS] a b c a b [SEP]", "is an induction head"),
    "same word": (
        rows_to(4, 2, 1, 1, 5, 4, 4, size=7, share=0.9),
        "[CLS] un ##like a un ##told [SEP]",
        "within the word",
    ),
    "punctuation": (rows_to(2, 4, 2, 4, 2, 4, 2, size=7, share=0.9), "[CLS] a , b . c [SEP]", "looks at punctuation"),
    "one token": (
        rows_to(2, 2, 2, 5, 5, 5, 5, 2, size=8, share=0.8),
        "[CLS] the ↵ saw a ↵ dog [SEP]",
        "rests on every `↵`: 85 % of its attention goes there",
    ),
    "one key": (rows_to(2, size=7, share=0.7), SEVEN, "rests on `cat`: three quarters of its attention goes there"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_head_is_told(kind: str) -> None:
    map_, tokens, said = KINDS[kind]
    found, sentence = read_made(map_, tokens)
    assert (found.role.kind, found.role.leads, found.opens_with_link) == (kind, True, False)
    assert said in sentence


def test_an_induction_head_that_rests_on_the_first_token_else_is_told_as_an_induction_head() -> None:
    """Tokens that repeat nothing give the first key all, as a sink; the others give 0.8 to what followed their like."""
    tokens = "a b c d e f g h a b c i j k"
    map_ = rows_to(0, size=14)
    for query in (8, 9, 10):
        map_[query] = 0.2 * np.eye(14)[0] + 0.8 * np.eye(14)[query - 7]
    found, sentence = read_made(map_, tokens, stream="decoder")
    assert sentence == (
        "Layer 0, head 0 is an induction head: "
        "where a token stands elsewhere too, 80 % of its attention goes to what followed it there."
    )
    assert found.role.share == pytest.approx(0.8)
    row = heads.measure(made(map_[None], tokens, stream="decoder")).iloc[0]
    assert row["first"] > heads.SPECIAL_SHARE  # which alone would say that it rests there


@pytest.mark.parametrize(
    ("tokens", "behind"), [("[CLS] a b c a d [SEP]", {1: 5, 4: 2}), ("[CLS] a b a c a [SEP]", {1: 4, 3: 2, 5: 2})]
)
def test_one_word_that_comes_again_makes_no_induction_head(tokens: str, behind: dict[int, int]) -> None:
    """Twice is no habit; and what a head does with three copies of one word may be about that word."""
    found, sentence = read_made(rows_to(*(behind.get(query, 6) for query in range(7)), size=7, share=0.9), tokens)
    assert found.role.kind != "induction"
    assert "induction" not in sentence


@pytest.mark.parametrize("tokens", ["[CLS] the un ##like cat sat [SEP]", "[CLS] the un ##like ##ly cat [SEP]"])
def test_one_word_in_pieces_makes_no_head_that_stays_within_the_word(tokens: str) -> None:
    map_ = rows_to(0, 0, 3, 2, 2, 0, 0, size=7, share=0.9)
    assert read_made(map_, tokens)[0].role.kind != "same word"


def test_a_link_is_told_where_no_role_stands_out() -> None:
    map_ = np.full((7, 7), 0.0)
    map_[:, 0], map_[:, 6] = 0.5, 0.5
    map_[5] = [0.2, 0, 0.67, 0, 0, 0.13, 0]
    found, sentence = read_made(map_, SEVEN)
    assert sentence == "Layer 0, head 0: `dog` gives two thirds of its attention to `cat`, more than in any other head."
    assert words.also(found).startswith("Over the whole text, 46 % of this head's attention goes to `[CLS]`")


def test_nothing_stands_out() -> None:
    map_ = np.zeros((7, 7))
    map_[:, 0], map_[:, 6] = 0.55, 0.35
    map_[:, 2] = 0.1
    found, sentence = read_made(map_, SEVEN)
    assert sentence == "Layer 0, head 0 mixes several patterns: 55 % of its attention goes to `[CLS]`."
    assert words.also(found) == ""  # 10 % on a word is less than chance gives to one of three keys


def test_tokens_that_repeat_are_told_apart() -> None:
    map_ = np.zeros((7, 7))
    map_[:, 0], map_[:, 6] = 0.5, 0.5
    map_[1] = [0.1, 0, 0, 0, 0.9, 0, 0]
    _, sentence = read_made(map_, "[CLS] the cat saw the dog [SEP]")
    assert "the 1st `the` gives 90 % of its attention to another `the`" in sentence
    map_[1], map_[5] = map_[2], [0.1, 0, 0, 0, 0, 0, 0.9]
    map_[5] = [0.1, 0.9, 0, 0, 0, 0, 0]
    _, sentence = read_made(map_, "[CLS] the cat saw the dog [SEP]")
    assert "`dog` gives 90 % of its attention to the 1st `the`" in sentence


def test_a_decoders_first_token_is_no_finding() -> None:
    """The first token can look only at itself: of two tokens nothing is told, of more it is left out."""
    map_ = np.array([[1, 0, 0, 0], [0.3, 0.7, 0, 0], [0.3, 0, 0.7, 0], [0.5, 0, 0, 0.5]])
    found, sentence = read_made(map_, "who was it there", stream="decoder")
    assert found.first_left_out
    assert sentence == (
        "Layer 0, head 0 looks at the token itself: 63 % of the attention of all tokens but the first stays there."
    )
    found, sentence = read_made(np.array([[1, 0], [0.2, 0.8]]), "who was", stream="decoder")
    assert found.short
    assert "has too short a text for a pattern" in sentence


def test_a_single_token_has_no_choice() -> None:
    for stream in ("encoder", "decoder"):
        found, sentence = read_made(np.ones((1, 1)), "who", stream=stream)
        assert found.role.kind == "alone"
        assert (
            sentence == "Layer 0, head 0 has no choice: the whole text is `who`, so all of its attention stays there."
        )


def test_unknown_tokens_repeat_nothing(minilm: LoadedModel) -> None:
    """Chinese is unknown to MiniLM: its tokens look alike, and no head is called an induction head for that."""
    trace = inspector.record(minilm, "猫追老鼠，狗追猫。")
    chosen = heads.with_choice(heads.measure(trace), trace)
    assert trace.unknown > 3
    assert "induction" not in read.grid(chosen, trace, stream="encoder").counts
    for site in trace.sites:
        for head in range(site.heads):
            assert read.head(chosen, trace, site, head).role.kind != "induction"


def test_between_two_texts_the_token_to_be_written_is_named() -> None:
    trace = inspector.record(models.load("translator"), "I love cats.", target="我爱猫。")
    chosen = heads.with_choice(heads.measure(trace), trace)
    site = trace.sites_of("cross")[-1]
    said = [words.head(read.head(chosen, trace, site, head)) for head in range(site.heads)]
    assert any("to write `猫` it gives" in sentence for sentence in said)


@pytest.fixture(scope="module")
def cat(minilm: LoadedModel) -> tuple[Trace, pd.DataFrame]:
    """The default example with its measures."""
    trace = inspector.record(minilm, "The cat sat on the mat because it was tired.")
    return trace, heads.with_choice(heads.measure(trace), trace)


@pytest.mark.parametrize(
    ("true", "false"),
    [("nearly all", "92 %"), ("back", "ahead"), ("the attention of all tokens but the first", "its attention")],
)
def test_a_false_sentence_is_found(cat: tuple[Trace, pd.DataFrame], true: str, false: str) -> None:
    trace, chosen = cat
    said = words.head(read.head(chosen, trace, trace.sites[0], 2))
    assert said == (
        "Layer 0, head 2 is a previous-token head: "
        "nearly all of the attention of all tokens but the first goes one token back."
    )
    check(said, trace, trace.sites[0], 2)
    with pytest.raises(AssertionError):
        check(said.replace(true, false), trace, trace.sites[0], 2)


@pytest.mark.parametrize(
    ("true", "false"), [("70 %", "68 %"), ("`mat`", "`cat`"), ("`on`", "`it`"), ("of its attention", "of its weight")]
)
def test_a_false_link_is_found(cat: tuple[Trace, pd.DataFrame], true: str, false: str) -> None:
    trace, chosen = cat
    said = words.head(read.head(chosen, trace, trace.sites[1], 7))
    check(said, trace, trace.sites[1], 7)
    with pytest.raises(AssertionError):
        check(said.replace(true, false), trace, trace.sites[1], 7)
    other = words.head(read.head(chosen, trace, trace.sites[2], 1))  # head 8 of layer 2 gives it more
    assert "more than any other head" not in other
    with pytest.raises(AssertionError):
        check(other.replace(".", ", more than in any other head."), trace, trace.sites[2], 1)


@pytest.mark.parametrize(("true", "false"), [("21 of", "22 of"), ("of 72", "of 71"), ("38 mix", "37 mix")])
def test_a_false_count_is_found(cat: tuple[Trace, pd.DataFrame], true: str, false: str) -> None:
    trace, chosen = cat
    said = words.grid(read.grid(chosen, trace, stream="encoder"))
    check_grid(said, trace, "encoder")
    with pytest.raises(AssertionError):
        check_grid(said.replace(true, false), trace, "encoder")


def test_the_mark_of_a_space_alone_is_no_word() -> None:
    """SentencePiece cuts "▁" off before a character that it does not know; the link told is between words."""
    tokens = "▁ 猫 ▁ cat sat ▁ mat"
    map_ = np.full((7, 7), 0.02)
    map_[2, 6] = map_[5, 0] = map_[0, 4] = 0.88  # from a mark, between marks, from a mark
    map_[3, 6] = 0.6
    map_ /= map_.sum(axis=1, keepdims=True)
    found, said = read_made(map_, tokens)
    assert found.link is not None
    assert (found.link.query.token, found.link.key.token) == ("cat", "mat")
    assert "▁" not in said


def test_the_only_head_is_told_in_the_singular() -> None:
    tokens = {"[SEP]": "[SEP]"}
    assert words.grid(read.Grid(1, {"broad": 1}, {}, False, False)) == "The only head spreads its attention broadly."
    several = read.Grid(9, {"[SEP]": 4, "broad": 1}, tokens)
    assert words.most(several) == "4 of 9 heads rest on `[SEP]`."
    assert words.grid(several).startswith(words.most(several).removesuffix("."))
    assert words.most(read.Grid(9, {}, {})) == words.grid(read.Grid(9, {}, {}))
    assert words.most(read.Grid(9, {"broad": 9}, {}, by_chance=True)).endswith("as random weights would.")
    assert words.grid(read.Grid(1, {"[SEP]": 1}, tokens, False, False)) == "The only head rests on `[SEP]`."
    assert words.grid(read.Grid(1, {}, {}, False, False)) == "The only head shows no plain pattern on this text."
    assert words.grid(read.Grid(3, {"broad": 1}, {}, False, False)) == (
        "1 of 3 heads spreads its attention broadly; 2 mix several patterns."
    )


def test_the_place_that_a_sentence_names(cat: tuple[Trace, pd.DataFrame]) -> None:
    """The place of each head's sentence: the sentence names its tokens, and its number is theirs."""
    trace, chosen = cat
    cells = columns = 0
    for site in trace.sites:
        for number in range(site.heads):
            reading = read.head(chosen, trace, site, number)
            if reading.named is None:
                continue
            said, weights = words.head(reading), trace.attention(layer=site.layer, head=number)
            query, key = reading.named
            cells, columns = cells + (query is not None), columns + (query is None)
            share = weights[:, key].mean(dtype=np.float64) if query is None else weights[query, key]
            assert f"{phrases.share(float(share))} of its attention" in said
            assert f"`{trace.tokens[key]}`" in said
            assert query is None or f"`{trace.tokens[query]}`" in said
    assert min(cells, columns) > 5


def test_a_sentence_on_two_keys_of_one_name_names_no_place() -> None:
    one, _ = read_made(rows_to(6, size=7, share=0.8), SEVEN)
    two, said = read_made(rows_to(3, 6, 3, 6, 3, 6, 3, size=7, share=0.9), "[CLS] the cat [SEP] a dog [SEP]")
    assert "rests on `[SEP]`" in said
    assert (one.named, two.named) == ((None, 6), None)
