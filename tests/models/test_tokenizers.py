"""Every text that a reader may paste is either read, with an account of what was lost, or refused in a sentence."""

from __future__ import annotations

import pytest

from models import LoadedModel
from models.subwords import as_transformers, train_subwords
from models.tokenizers import MAX_CHARACTERS, encode, substituted, with_gaps


@pytest.mark.parametrize("text", ["", " ", "\n\t  \n", "\u3000"])
def test_an_empty_text_is_refused(minilm: LoadedModel, text: str) -> None:
    with pytest.raises(ValueError, match="The text is empty"):
        minilm.encode(text)


@pytest.mark.parametrize("text", ["\u200b", "\u200b\u200d\ufeff", "\x00\x01"])
def test_a_text_without_visible_characters_is_refused(minilm: LoadedModel, text: str) -> None:
    with pytest.raises(ValueError, match="no visible character"):
        minilm.encode(text)


def test_half_a_surrogate_pair_is_refused(minilm: LoadedModel) -> None:
    with pytest.raises(ValueError, match="Character 2 of the text is half of a surrogate pair"):
        minilm.encode("a \ud800 b")


def test_what_does_not_fit_is_said(minilm: LoadedModel) -> None:
    encoding = minilm.encode("word " * 600)
    assert len(encoding) == 512
    assert (encoding.cut.kept, encoding.cut.total, encoding.cut.unit) == (512, 602, "tokens")
    assert str(encoding.cut) == (
        "Only the first 512 of 602 tokens are read: this model takes at most 512. The last 90 are left out."
    )
    assert encoding.tokens[-1] == "[SEP]"
    assert minilm.encode("word " * 510).cut is None


def test_a_hundred_thousand_characters(minilm: LoadedModel) -> None:
    encoding = minilm.encode("word " * 20_000)
    assert len(encoding) == 512
    assert encoding.cut.total == 20_002


def test_more_characters_than_any_tokenizer_should_see(minilm: LoadedModel) -> None:
    encoding = minilm.encode("a " * MAX_CHARACTERS)
    assert encoding.cut.unit == "characters"
    assert str(encoding.cut).startswith(f"Only the first 200,000 of {2 * MAX_CHARACTERS:,} characters are read")


def test_unknown_tokens_are_counted(minilm: LoadedModel) -> None:
    assert minilm.encode("我爱水课").unknown == minilm.encode("我爱水课").tokens.count("[UNK]") > 0
    assert minilm.encode("a cat").unknown == 0
    assert minilm.encode("😀 cat 😀").unknown == 2


@pytest.mark.parametrize(
    "text",
    ["😀 👩‍👩‍👧", "猫", "قطة", "a\u200bb", "<img src=x onerror=alert(1)>", "**bold** $x$", "x" * 5000, "e\u0301"],
)
def test_unusual_texts_are_read(minilm: LoadedModel, text: str) -> None:
    encoding = minilm.encode(text)
    columns = (encoding.ids, encoding.tokens, encoding.words, encoding.segments, encoding.special)
    assert {len(column) for column in columns} == {len(encoding)}
    assert len(encoding) >= 3


def test_a_pair_is_cut_and_numbered(minilm: LoadedModel) -> None:
    encoding = minilm.encode("a b", text_pair="c d")
    assert encoding.tokens == ("[CLS]", "a", "b", "[SEP]", "c", "d", "[SEP]")
    assert encoding.words == (None, 0, 1, None, 2, 3, None)
    assert encoding.segments == (0, 0, 0, 0, 1, 1, 1)
    assert len(minilm.encode("a " * 400, text_pair="b " * 400)) == 512
    with pytest.raises(ValueError, match="empty"):
        minilm.encode("a", text_pair=" ")


@pytest.mark.parametrize(
    ("text", "positions", "gapped"),
    [
        ("The cat sat.", [2], "The ____ sat."),
        ("The cat sat.", [1, 2], "____ ____ sat."),
        ("The cat sat.", [4], "The cat sat____"),
        ("🚀 cat", [6], "🚀 ____"),
    ],
)
def test_a_gap_stands_where_its_token_stood(text: str, positions: list[int], gapped: str) -> None:
    tokenizer = as_transformers(train_subwords(["The cat sat ."] * 9, vocabulary=300), max_tokens=40)
    encoding = encode(tokenizer, text, max_tokens=40)
    assert with_gaps(tokenizer, encoding, positions) == gapped


def test_substituted_tokens_leave_the_others_alone(minilm: LoadedModel) -> None:
    encoding = minilm.encode("The cat ☃ sat.")
    snow = encoding.tokens.index("[UNK]")
    changed = substituted(minilm.tokenizer, encoding, {2: minilm.tokenizer.convert_tokens_to_ids("dog"), snow: 103})
    assert changed.tokens == ("[CLS]", "the", "dog", "[MASK]", "sat", ".", "[SEP]")
    assert (encoding.unknown, changed.unknown) == (1, 0)
    assert (changed.words, changed.special) == (encoding.words, encoding.special)
