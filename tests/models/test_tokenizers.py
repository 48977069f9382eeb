"""Every text that a reader may paste is either read, with an account of what was lost, or refused in a sentence."""

from __future__ import annotations

import pytest
import torch
from transformers import T5ForConditionalGeneration

import inspector
import models
from models import LoadedModel
from models.tokenizers import MAX_CHARACTERS, encode, substituted, token_id, token_names, with_gaps, word_id
from models.transformer.subwords import as_transformers, train_subwords
from tests.inspector.probe.families import BUCKETS, Family, save


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


@pytest.mark.parametrize(("pair", "most", "added"), [(None, 1, 2), (None, 2, 2), ("It ran.", 2, 3), ("It ran.", 3, 3)])
def test_where_no_token_of_a_text_is_left_this_is_said(
    minilm: LoadedModel, pair: str | None, most: int, added: int
) -> None:
    """The tokenizer leaves a text whole that it cannot cut."""
    total = 5 if pair is None else 9
    with pytest.raises(ValueError, match=rf"^None of the {total} tokens .* at most {most}, .* adds {added} of its own"):
        encode(minilm.tokenizer, "The cat sat", text_pair=pair, max_tokens=most)
    assert encode(minilm.tokenizer, "The cat sat", text_pair=pair, max_tokens=added + 1).special.count(False) == 1


def test_a_hundred_thousand_characters(minilm: LoadedModel) -> None:
    encoding = minilm.encode("word " * 20_000)
    assert len(encoding) == 512
    assert encoding.cut.total == 20_002


def test_more_characters_than_any_tokenizer_should_see(minilm: LoadedModel) -> None:
    encoding = minilm.encode("a " * MAX_CHARACTERS)
    assert encoding.cut.unit == "characters"
    assert str(encoding.cut).startswith(f"Only the first 200,000 of {2 * MAX_CHARACTERS:,} characters are read")


def test_thousands_of_blanks_in_a_row_are_refused(minilm: LoadedModel) -> None:
    assert minilm.encode("a" + " " * 5000 + "b").tokens == ("[CLS]", "a", "b", "[SEP]")
    with pytest.raises(ValueError, match=r"has 5,001 blanks in a row, and some tokenizers take minutes for over 5,000"):
        minilm.encode("a" + "\n" * 5001 + "b")


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


def test_an_id_beyond_the_tokenizer_has_a_name_and_comes_back(minilm: LoadedModel) -> None:
    names = token_names(minilm.tokenizer, [101, 30_522, 40_000])
    assert names == ("[CLS]", "<30522>", "<40000>")
    assert [token_id(minilm.tokenizer, name) for name in names] == [101, 30_522, 40_000]
    assert [token_id(minilm.tokenizer, name) for name in ("<101>", "no such token")] == [None, None]


@pytest.fixture(scope="module")
def larger_than_its_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A T5 whose likeliest token is always one of two that its tokenizer does not have, as in T5's own sizes."""
    folder = tmp_path_factory.mktemp("t5")
    sizes = {"vocab_size": 400, "tie_word_embeddings": False, "decoder_start_token_id": 0}
    save(Family("t5", BUCKETS, sizes), folder)
    network = T5ForConditionalGeneration.from_pretrained(folder)
    with torch.no_grad():
        network.lm_head.weight[334:336] = 10_000 * network.lm_head.weight[334] * torch.tensor([[1.0], [-1.0]])
    network.save_pretrained(folder)
    return models.load(folder)


def test_a_model_may_write_ids_that_its_tokenizer_does_not_have(larger_than_its_tokenizer: LoadedModel) -> None:
    loaded = larger_than_its_tokenizer
    trace = inspector.record(loaded, "the cat sat on the mat")
    assert set(trace.target.tokens[1:]) <= {"<334>", "<335>"}
    assert len(trace.target.tokens) > 2
    assert trace.sites[-1].predicts[:-1] == trace.target.tokens[1:]
    dropped = inspector.interventions.drop(loaded, trace, heads=[("encoder", 0, 1)])
    assert list(inspector.interventions.surprises(loaded, dropped)["truth"]) == list(trace.sites[-1].predicts)
    lens = inspector.lens.logit_lens(trace, loaded.predict, loaded.tokenizer, truth=trace.sites[-1].predicts, top=1)
    assert list(lens["prediction"])[-len(trace.target) :] == list(trace.sites[-1].predicts)


@pytest.mark.parametrize(
    ("id", "word", "name"),
    [
        ("minilm", "cat", "cat"),
        ("minilm", ".", "."),
        ("minilm", "##ing", "##ing"),
        ("mini-gpt", "cat", "▁cat"),
        ("mini-gpt", "▁cat", "▁cat"),
        ("mini-gpt", ",", ","),
        ("mini-bert-zh", "猫", "猫"),
    ],
)
def test_a_word_is_the_token_that_it_is_within_a_text(id: str, word: str, name: str) -> None:
    tokenizer = models.load_tokenizer(id)
    assert token_names(tokenizer, [word_id(tokenizer, word)]) == (name,)


def test_a_word_of_several_tokens_or_none_is_a_sentence() -> None:
    tokenizer = models.load_tokenizer("minilm")
    assert word_id(tokenizer, 7) == 7
    with pytest.raises(ValueError, match=r"'unbelievably' is \d tokens here"):
        word_id(tokenizer, "unbelievably")
