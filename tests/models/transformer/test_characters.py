"""The tokenizer of characters: a token a character, none unknown, text that comes back as it was."""

from __future__ import annotations

import pytest

from models.transformer.characters import character_tokenizer, common_characters
from models.transformer.subwords import SPECIAL, as_transformers

TOKENIZER = character_tokenizer([*common_characters(), "，", "。", "？"])


@pytest.mark.parametrize("text", ["我爱水课", "猫追老鼠", "人工智能改变世界"])
def test_the_notes_sentences_are_a_token_a_character(text: str) -> None:
    encoded = TOKENIZER.encode(text)
    assert encoded.tokens == ["[CLS]", *text, "[SEP]"]
    assert encoded.word_ids == [None, *range(len(text)), None]  # each character is a word by itself


@pytest.mark.parametrize("text", ["他说 RNN 很好。", "a  b", " 龘 🙂 é", "第12天，Tom来了吗？", "<0x41>"])
def test_any_text_comes_back_and_nothing_is_unknown(text: str) -> None:
    encoded = TOKENIZER.encode(text)
    assert "[UNK]" not in encoded.tokens
    assert TOKENIZER.decode(encoded.ids) == text


def test_letters_side_by_side_are_a_word_and_curly_quotes_are_straight() -> None:
    encoded = TOKENIZER.encode("他说“RNN12好”")
    assert encoded.tokens[1:-1] == ["他", "说", '"', "R", "N", "N", "1", "2", "好", '"']
    assert encoded.word_ids[1:-1] == [0, 1, 2, 3, 3, 3, 3, 3, 4, 5]


def test_a_character_that_the_vocabulary_lacks_is_its_bytes() -> None:
    assert TOKENIZER.encode("龘").tokens[1:-1] == [f"<0x{byte:02X}>" for byte in "龘".encode()]


def test_the_order_of_the_characters_does_not_count() -> None:
    assert character_tokenizer("猫狗").to_str() == character_tokenizer(["狗", "猫", "狗", " "]).to_str()
    ids = {token: number for number, token in enumerate(SPECIAL)}
    assert {token: TOKENIZER.token_to_id(token) for token in SPECIAL} == ids
    assert as_transformers(TOKENIZER, max_tokens=8)("猫")["input_ids"][0] == ids["[CLS]"]


def test_the_common_characters_are_those_of_the_standard() -> None:
    characters = common_characters()
    assert len(characters) == len(set(characters)) == 3755
    assert (characters[0], characters[-1]) == ("啊", "座")
