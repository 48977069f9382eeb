"""Tokens of two maps that stand for the same words, whatever cut them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, pre_tokenizers, trainers
from tokenizers import models as kinds
from tokenizers import processors as after
from transformers import PreTrainedTokenizerFast

import models
from inspector import maps, record
from inspector.alignment import TokenAxis, axes, common, numbers
from models import LoadedModel
from models.tokenizers import Encoding, encode, from_ids
from tests.closeness import assert_close

load = cache(models.load)
LONG_WORD = "Antidisestablishmentarianism isn't an unbelievably long word, he said."


@cache
def byte_level() -> PreTrainedTokenizerFast:
    """A tokenizer like GPT-2's: bytes as letters, a space belongs to the word after it, cased, no special tokens."""
    tokenizer = Tokenizer(kinds.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = after.ByteLevel(trim_offsets=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=330, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([LONG_WORD, "the cat sat on the mat, the long word is a long word"], trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def axis(model: str, text: str, *, spans: bool = True, words: bool = False) -> TokenAxis:
    encoding = encode(byte_level(), text, max_tokens=512) if model == "bytes" else load(model).encode(text)
    if not spans:
        encoding = replace(encoding, spans=None)
    return TokenAxis(model, text, encoding, groups(encoding, words=words))


def groups(encoding: Encoding, *, words: bool = False) -> maps.Groups:
    members = [(place,) for place in range(len(encoding))]
    if words:
        by_word: dict[object, list[int]] = {}
        for place, word in enumerate(encoding.words):
            by_word.setdefault(("special", place) if word is None else word, []).append(place)
        members = [tuple(group) for group in by_word.values()]
    return maps.Groups(tuple("".join(encoding.tokens[place] for place in group) for group in members), tuple(members))


def pieces(one: TokenAxis, positions: tuple[int, ...]) -> list[str]:
    return [one.encoding.tokens[position] for position in positions]


@pytest.mark.parametrize("other", ["bytes", "translator"])
def test_a_long_word_cut_in_two_ways_is_one_row(minilm: LoadedModel, other: str) -> None:
    a, b = axis("minilm", LONG_WORD), axis(other, LONG_WORD)
    both = common(a, b)
    assert both.unit == "words"
    assert both.a.labels == both.b.labels if other == "bytes" else both.a.labels[1:-1] == both.b.labels[1:-1]
    words = [label for label in both.a.labels if not label.startswith("[")]
    assert words[0] == "Antidisestablishmentarianism"
    assert words[-4:] == [",", "he", "said", "."]
    row = both.a.labels.index("Antidisestablishmentarianism")
    assert "".join(piece.removeprefix("##") for piece in pieces(a, both.a.members[row])) == words[0].lower()
    assert "".join(pieces(b, both.b.members[row])).lstrip("Ġ▁") == words[0]
    assert both.alone == ((("[CLS]", "[SEP]"), ()) if other == "bytes" else ((), ()))


def test_what_one_tokenizer_cuts_and_another_does_not_is_one_row(minilm: LoadedModel) -> None:
    a, b = axis("minilm", "It isn't so."), axis("bytes", "It isn't so.")
    assert [token for token in a.encoding.tokens if "'" in token] == ["'"]  # isn ' t
    assert "'t" in b.encoding.tokens  # isn 't
    both = common(a, b)
    assert both.a.labels == ("It", "isn", "'t", "so", ".")
    assert pieces(a, both.a.members[2]) == ["'", "t"]
    assert pieces(b, both.b.members[2]) == ["'t"]


@pytest.mark.parametrize("spans", [True, False])
def test_every_token_of_a_shared_word_is_there_once(minilm: LoadedModel, spans: bool) -> None:
    a, b = axis("minilm", LONG_WORD, spans=spans), axis("translator", LONG_WORD, spans=spans)
    both = common(a, b)
    for one, side in ((both.a, a), (both.b, b)):
        held = [position for group in one.members for position in group]
        assert held == list(range(len(side.encoding)))


def test_unknown_tokens_and_bytes_stand_where_the_text_is(minilm: LoadedModel) -> None:
    text = "café 猫狗 🦊!"
    a, b, c = (axis(model, text) for model in ("minilm", "translator", "bytes"))
    assert a.encoding.tokens.count("[UNK]") == 3
    assert common(a, b).a.labels == ("[CLS]", "café", "猫", "狗", "🦊", "!", "[SEP]")
    both = common(c, a)
    assert both.a.labels == ("café", "猫", "狗", "🦊", "!")
    assert len(both.a.members[1]) > 1  # bytes of one character
    assert both.alone == ((), ("[CLS]", "[SEP]"))


def test_other_texts_meet_in_the_words_that_both_have(minilm: LoadedModel) -> None:
    a, b = axis("minilm", "The cat sat on the mat."), axis("bytes", "A cat SAT on a mat.")
    both = common(a, b)
    assert both.a.labels == ("cat", "sat", "on", "mat", ".")
    assert both.b.labels == ("cat", "SAT", "on", "mat", ".")
    assert both.alone[0] == ("[CLS]", "the", "the", "[SEP]")
    with pytest.raises(ValueError, match="share no token"):
        common(axis("bytes", "one two"), axis("minilm", "drei"))


def test_one_model_is_matched_token_by_token(minilm: LoadedModel) -> None:
    a, b = axis("minilm", "An unbelievably long word"), axis("minilm", "An unbelievably short word")
    both = common(a, b)
    assert both.unit == "tokens"
    assert both.a.labels == both.b.labels == tuple(token for token in a.encoding.tokens if token != "long")
    assert both.alone == (("long",), ("short",))


def test_numbers_follow_the_first_axis(minilm: LoadedModel) -> None:
    text = "Unbelievably good."
    a, b, c = axis("minilm", text), axis("bytes", text, words=True), axis("minilm", "So good.")
    found = numbers([a, b, c])
    assert len(found[0]) == len(a.encoding)
    assert len(set(found[0][1:-2])) == 2  # all pieces of the first word have one number
    assert found[1] == (found[0][1], found[0][-3], found[0][-2])
    assert found[2] == (found[0][0], None, found[0][-3], found[0][-2], found[0][-1])
    assert [number is None for number in numbers([a, axis("bytes", "xyz")])[0]] == [True] * len(a.encoding)


def test_a_word_of_which_a_part_is_hidden_is_left_out(minilm: LoadedModel) -> None:
    a, b = axis("minilm", "It isn't so."), axis("bytes", "It isn't so.")
    hidden = a.encoding.tokens.index("t")
    kept = [group for group in a.groups.members if group != (hidden,)]
    fewer = replace(a, groups=maps.Groups(tuple(a.encoding.tokens[place] for (place,) in kept), tuple(kept)))
    assert common(fewer, b).a.labels == ("It", "isn", "so", ".")
    assert common(fewer, b).alone == (("[CLS]", "'", "[SEP]"), ("'t",))


def test_tokens_that_a_model_wrote_are_spelled() -> None:
    minilm = models.load("minilm")
    written = from_ids(minilm.tokenizer, minilm.encode("unbelievably good .").ids)
    assert written.spans is None
    a = TokenAxis("writer", "", written, groups(written))
    assert common(a, axis("bytes", "unbelievably good.")).a.labels == ("unbelievably", "good", ".")


def test_pairs_and_targets_have_places_in_their_texts(minilm: LoadedModel) -> None:
    trace = record(minilm, "The trophy is big.", text_pair="It is too big.")
    queries, keys = axes(trace, maps.arrange(trace), stream="encoder")
    assert queries == keys
    assert queries.text == "The trophy is big.\nIt is too big."
    for token, (start, end) in zip(trace.tokens, trace.encoding.spans or (), strict=True):
        assert queries.text[start:end].lower() == ("" if token in ("[CLS]", "[SEP]") else token)
    translated = record(models.load("translator"), "I love cats.", target="我爱猫。")
    queries, keys = axes(translated, maps.arrange(translated, stream="cross"), stream="cross")
    assert (queries.text, keys.text) == ("我爱猫。", "I love cats.")
    assert len(queries.encoding.spans or ()) == len(queries.encoding)


def test_weights_between_words_are_sums_over_keys_and_means_over_queries(minilm: LoadedModel) -> None:
    trace = record(minilm, LONG_WORD)
    (a, _), b = axes(trace, maps.arrange(trace), stream="encoder"), axis("bytes", LONG_WORD)
    both = common(a, b)
    found = maps.weights(trace, maps.Arrangement(both.a, both.a), layer=2, head=None, stream="encoder")
    mean = trace.attention(layer=2).astype(np.float64).mean(axis=0)
    for i, rows in enumerate(both.a.members):
        for j, columns in enumerate(both.a.members):
            assert_close(found[i, j], mean[np.ix_(rows, columns)].sum(axis=1).mean(), relative=1e-6)
