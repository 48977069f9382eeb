"""Any text goes in and comes back, whatever the tokenizer was trained on."""

from __future__ import annotations

import pytest

from models.tokenizers import encode, from_ids, marked_words
from models.transformer.subwords import SPECIAL, as_transformers, train_subwords

TEXTS = ["the cat sat on the mat", "the dog sat on the log", "猫坐在垫子上。", "狗坐在木头上。"] * 3


OTHERS = ["the cat", "Zebra Øre ß", "猫和鳥", "👩‍🚀 𠀀", "two  spaces, \t tab\nline", "<0x41> [mask]", "\u200f\x00"]


@pytest.mark.parametrize("text", OTHERS)
def test_any_text_goes_in_and_comes_back(text: str) -> None:
    tokenizer = train_subwords(TEXTS, vocabulary=330)
    encoding = tokenizer.encode(text)
    assert tokenizer.token_to_id("[UNK]") not in encoding.ids
    assert tokenizer.decode(encoding.ids, skip_special_tokens=True) == text
    assert (encoding.tokens[0], encoding.tokens[-1]) == ("[CLS]", "[SEP]")


def test_ids_and_size() -> None:
    tokenizer = train_subwords(TEXTS, vocabulary=330)
    assert tokenizer.get_vocab_size() <= 330
    assert [tokenizer.token_to_id(token) for token in SPECIAL] == [0, 1, 2, 3, 4]
    assert tokenizer.encode("the cat").tokens == ["[CLS]", "▁the", "▁cat", "[SEP]"]


def test_a_mark_of_punctuation_is_a_token_by_itself() -> None:
    tokenizer = train_subwords(["cats. cats, “cats” 猫。猫，"] * 9, vocabulary=330)
    assert tokenizer.encode("cats. 猫。").tokens == ["[CLS]", "▁cats", ".", "▁猫", "。", "[SEP]"]


def test_the_same_texts_give_the_same_tokenizer() -> None:
    texts = ["the quick brown fox jumps over the lazy dog"]  # more characters than there is room for, most of them once
    assert len({train_subwords(texts, vocabulary=300).to_str() for _ in range(8)}) == 1


def test_the_transformers_tokenizer_is_the_same_one() -> None:
    tokenizer = train_subwords(TEXTS, vocabulary=330)
    ready = as_transformers(tokenizer, max_tokens=20)
    assert ready("the cat")["input_ids"] == tokenizer.encode("the cat").ids
    assert ready.decode(tokenizer.encode("the Katze").ids, skip_special_tokens=True) == "the Katze"
    assert (ready.cls_token_id, ready.sep_token_id, ready.mask_token_id, ready.pad_token_id) == (2, 3, 4, 0)


def test_words_written_by_a_model_begin_at_the_space_marks() -> None:
    tokenizer = train_subwords(TEXTS, vocabulary=330)
    ready = as_transformers(tokenizer, max_tokens=20)
    encoding = from_ids(ready, tokenizer.encode("the xyz mat").ids)
    assert encoding.tokens[:4] == ("[CLS]", "▁the", "▁", "<0x78>")
    assert encoding.words == (None, 0, 1, 1, 1, 1, 2, None)


def test_chinese_words_are_its_tokens_and_bytes_go_on() -> None:
    tokens = ("[CLS]", "▁我爱", "猫", "<0xE9>", "<0xB3>", "，", "▁cat", "s.", "[SEP]")
    special = [token in SPECIAL for token in tokens]
    assert marked_words(tokens, special) == (None, 0, 1, 1, 1, 2, 3, 3, None)
    ready = as_transformers(train_subwords(TEXTS, vocabulary=330), max_tokens=20)
    assert encode(ready, "the cat", text_pair="the mat", max_tokens=20).words == (None, 0, 1, None, 2, 3, None)


def test_a_vocabulary_without_room_for_the_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match="a vocabulary of 261 has no room"):
        train_subwords(TEXTS, vocabulary=261)
