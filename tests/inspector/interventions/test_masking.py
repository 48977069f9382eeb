"""Masking equals transformers' BertForMaskedLM and a softmax by hand, and changes no token but the masked ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM

import models
from inspector import record
from inspector.interventions import mask, maskable, most_telling, predict, predictions, whole_words
from models import LoadedModel
from models.convert import from_transformers
from models.registry import own_model
from models.transformer.masked_lm import MaskedLanguageModel
from tests.closeness import assert_close

TEXT = "The cat sat unbelievably on the mat."
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


@pytest.fixture(scope="module")
def bert() -> BertForMaskedLM:
    """A tiny random BERT with its own head, by transformers; large weights, so that no guess is like another."""
    torch.manual_seed(0)
    config = BertConfig(max_position_embeddings=40, initializer_range=0.5, attn_implementation="eager", **SIZES)
    network = BertForMaskedLM(config).eval()
    torch.nn.init.normal_(network.cls.predictions.bias)
    return network


@pytest.fixture(scope="module")
def loaded(bert: BertForMaskedLM, minilm: LoadedModel) -> LoadedModel:
    """The same weights in the own encoder and the own head."""
    encoder = from_transformers(bert.bert)
    own = MaskedLanguageModel(encoder.config)
    own.encoder = encoder
    head = bert.cls.predictions
    with torch.no_grad():
        own.transform.weight.copy_(head.transform.dense.weight)
        own.transform.bias.copy_(head.transform.dense.bias)
        own.norm.gamma.copy_(head.transform.LayerNorm.weight)
        own.norm.beta.copy_(head.transform.LayerNorm.bias)
        own.bias.copy_(head.bias)
    own.eval().requires_grad_(False)
    card = models.Card("tiny", "Tiny", "A test", "MIT")
    return own_model(card, own, minilm.tokenizer, max_tokens=40)


def shares(bert: BertForMaskedLM, ids: list[int]) -> np.ndarray:
    """transformers' own logits of a text with edited ids, and the softmax by hand in float64."""
    with torch.no_grad():
        logits = bert(torch.tensor([ids])).logits[0].double().numpy()
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def test_guesses_equal_transformers(bert: BertForMaskedLM, loaded: LoadedModel) -> None:
    ids = loaded.tokenizer(TEXT)["input_ids"]
    masked = mask(loaded, TEXT, positions=[6, 2], top=5)
    assert masked.positions == (2, 6)
    hidden = [loaded.tokenizer.mask_token_id if at in (2, 6) else id for at, id in enumerate(ids)]
    for found, expected in ((masked.guesses, shares(bert, hidden)), (masked.unmasked, shares(bert, ids))):
        for guess in found:
            row, true = expected[guess.position], ids[guess.position]
            assert guess.token == loaded.tokenizer.convert_ids_to_tokens(true)
            assert guess.probability == pytest.approx(row[true], rel=1e-4)
            assert guess.rank == sorted(row, reverse=True).index(row[true]) + 1
            best = sorted(range(len(row)), key=lambda id, row=row: -row[id])[:5]
            assert [token for token, _ in guess.top] == loaded.tokenizer.convert_ids_to_tokens(best)
            assert [share for _, share in guess.top] == pytest.approx(row[best], rel=1e-4)
            assert guess.vocabulary == len(row) == 30522


def test_attention_before_and_after_equals_transformers(bert: BertForMaskedLM, loaded: LoadedModel) -> None:
    masked = mask(loaded, TEXT, positions=[3])
    ids = loaded.tokenizer(TEXT)["input_ids"]
    hidden = [*ids[:3], loaded.tokenizer.mask_token_id, *ids[4:]]
    for trace, given in ((masked.before, ids), (masked.after, hidden)):
        with torch.no_grad():
            expected = bert(torch.tensor([given]), output_attentions=True).attentions
        for layer, weights in enumerate(expected):
            assert_close(trace.attention(layer=layer), weights[0].numpy(), relative=2e-5)


def test_no_other_token_changes(loaded: LoadedModel) -> None:
    masked = mask(loaded, TEXT, positions=[2])
    before, after = masked.before.encoding, masked.after.encoding
    assert before.ids == tuple(loaded.tokenizer(TEXT)["input_ids"])
    assert after.tokens == (*before.tokens[:2], "[MASK]", *before.tokens[3:])
    assert [at for at in range(len(before)) if before.ids[at] != after.ids[at]] == [2]
    assert (after.words, after.segments, after.special) == (before.words, before.segments, before.special)
    assert masked.after.text == TEXT


def test_it_is_the_text_that_has_the_mask_token_itself(loaded: LoadedModel) -> None:
    masked = mask(loaded, "The cat sat.", positions=[2])
    written = record(loaded, "The [MASK] sat.")
    assert masked.after.tokens == written.tokens
    for layer in range(2):
        np.testing.assert_array_equal(masked.after.attention(layer=layer), written.attention(layer=layer))
    np.testing.assert_array_equal(masked.after.output, written.output)


def test_a_pair_keeps_its_segments(loaded: LoadedModel) -> None:
    masked = mask(loaded, "A cat.", text_pair="A dog.", positions=[6])
    assert masked.guesses[0].token == "dog"
    assert masked.after.encoding.segments == record(loaded, "A cat.", text_pair="A dog.").encoding.segments
    assert masked.gapped == "a cat. a ____ ."


def test_an_unknown_token_that_is_masked_counts_no_more(loaded: LoadedModel) -> None:
    masked = mask(loaded, "我爱水课 cat", positions=[1])
    assert masked.before.unknown == masked.after.unknown + (masked.before.tokens[1] == "[UNK]")


def test_predictions_have_every_number_once(loaded: LoadedModel) -> None:
    masked = mask(loaded, TEXT, positions=[2, 3], top=3)
    table = predictions(masked)
    assert table.groupby(["hidden", "position"])["true"].sum().tolist() == [1] * 4
    for guess in masked.guesses:
        rows = table[table["hidden"] & (table["position"] == guess.position)]
        assert rows["rank"].is_monotonic_increasing
        assert dict(guess.top).items() <= dict(zip(rows["token"], rows["probability"], strict=True)).items()
        own = rows[rows["true"]].iloc[0]
        assert (own["token"], own["rank"], own["probability"]) == (guess.token, guess.rank, guess.probability)


def test_a_whole_word_has_all_its_pieces(loaded: LoadedModel) -> None:
    encoding = loaded.encode("Antidisestablishmentarianism is long.")
    pieces = tuple(at for at, word in enumerate(encoding.words) if word == 0)
    assert len(pieces) > 3
    assert whole_words(encoding, [pieces[1]]) == pieces
    assert whole_words(encoding, [pieces[-1] + 1]) == (pieces[-1] + 1,)
    assert maskable(encoding) == tuple(range(1, len(encoding) - 1))


@pytest.mark.parametrize(("text", "token"), [("A [MASK] because.", "[MASK]"), ("?!", "?")])
def test_without_a_word_to_hide_the_first_view_hides_what_there_is(text: str, token: str, loaded: LoadedModel) -> None:
    encoding = loaded.encode(text)
    assert encoding.tokens[most_telling(loaded, encoding)] == token


@pytest.mark.parametrize("text", ["The cat sat on the mat because it was tired.", "She opened the door."])
def test_the_first_view_hides_the_longest_word_that_is_guessed(text: str) -> None:
    loaded = models.load("mini-bert")
    encoding = loaded.encode(text)
    chosen = most_telling(loaded, encoding)
    guesses = [mask(loaded, text, positions=[place]).guesses[0] for place in maskable(encoding)]
    good = [guess for guess in guesses if guess.rank <= 5 and len(guess.token) > 3]  # three letters and the space mark
    assert chosen == max(good, key=lambda guess: (len(guess.token), -guess.probability)).position


@pytest.mark.parametrize(
    ("positions", "sentence"),
    [
        ([], "no token is masked; name one position or more"),
        ([99], "position 99 is out of range: the text has positions 0 to 8"),
        ([-1], "position -1 is out of range"),
        ([0], r"position 0 is \[CLS\], which the tokenizer added: choose a token of the text"),
    ],
)
def test_a_wrong_position_is_a_sentence(positions: list[int], sentence: str, loaded: LoadedModel) -> None:
    with pytest.raises(ValueError, match=sentence):
        mask(loaded, "The cat sat on the mat.", positions=positions)


def test_a_model_that_cannot_guess_is_compared_all_the_same(minilm: LoadedModel) -> None:
    masked = mask(minilm, TEXT, positions=[2])
    assert masked.after.tokens == (*masked.before.tokens[:2], "[MASK]", *masked.before.tokens[3:])
    assert (masked.guesses, masked.unmasked, masked.truths) == ((), (), {})
    with pytest.raises(ValueError, match="minilm has no head that predicts tokens"):
        predict(minilm, masked)


def test_a_tokenizer_without_a_mask_token_is_a_sentence(loaded: LoadedModel, minilm: LoadedModel) -> None:
    class Without:
        """A tokenizer without a mask token."""

        mask_token_id = None

        def __getattr__(self, name: str) -> object:
            return getattr(minilm.tokenizer, name)

        def __call__(self, *given: object, **options: object) -> object:
            return minilm.tokenizer(*given, **options)

    with pytest.raises(ValueError, match=r"the tokenizer of tiny has no mask token.*swap a word"):
        mask(replace(loaded, tokenizer=Without()), TEXT, positions=[2])


def test_a_recording_is_not_made_again_and_must_be_of_the_model(loaded: LoadedModel, minilm: LoadedModel) -> None:
    trace = record(loaded, TEXT)
    assert mask(loaded, trace, positions=[2]).before is trace
    with pytest.raises(ValueError, match="the trace is of tiny and the model is minilm"):
        mask(minilm, trace, positions=[2])


def test_what_a_mask_changes_is_a_prediction(loaded: LoadedModel) -> None:
    masked = mask(loaded, TEXT, positions=[2])
    found = predict(loaded, masked)
    assert (found.before, found.after) == (masked.unmasked[0], masked.guesses[0])
    assert found.true
