"""A swapped word is the new text's own recording, and all other tokens are matched one to one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.special import log_softmax
from scipy.stats import entropy
from tokenizers.processors import TemplateProcessing

import models
from inspector import record
from inspector.interventions import predict, prediction_table, surprises, swap
from tests.closeness import assert_close
from tests.inspector.probe.families import DECODERS, reference, save

Shipped = Callable[[str], models.LoadedModel]
TEXT = "The cat sat on the mat because it was tired."


@pytest.fixture(scope="module")
def mini_bert(shipped: Shipped) -> models.LoadedModel:
    return shipped("mini-bert")


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gpt2")
    save(next(family for family in DECODERS if family.name == "gpt2"), folder)
    return folder


@pytest.mark.parametrize(
    ("position", "by", "text", "blocks"),
    [
        (2, "dog", "The dog sat on the mat because it was tired.", (range(2, 3), range(2, 3))),
        (2, " dog ", "The dog sat on the mat because it was tired.", (range(2, 3), range(2, 3))),
        (10, "exhausted", "The cat sat on the mat because it was exhausted.", None),
        (2, "old black cat", "The old black cat sat on the mat because it was tired.", None),
        (1, "A", "A cat sat on the mat because it was tired.", (range(1, 2), range(1, 2))),
        (2, "cat", TEXT, (range(2, 3), range(2, 3))),
    ],
)
@pytest.mark.parametrize("model", ["minilm", "mini-bert", "own-decoder"])
def test_it_is_the_recording_of_the_new_text(
    shipped: Shipped, model: str, position: int, by: str, text: str, blocks: tuple[range, range] | None
) -> None:
    loaded = shipped(model)
    swapped, written = swap(loaded, TEXT, position=position, by=by), record(loaded, text)
    assert swapped.after.text == text
    assert swapped.after.encoding == written.encoding
    np.testing.assert_array_equal(swapped.after.output, written.output)
    was, now = swapped.replaced
    before, after = swapped.before.tokens, swapped.after.tokens
    assert (before[: was.start], before[was.stop :]) == (after[: now.start], after[now.stop :])
    assert position in was
    assert len(after) - len(before) == len(now) - len(was)
    if blocks:
        assert swapped.replaced == blocks
    for place in (*range(was.start), *range(was.stop, len(before))):
        assert after[swapped.later(place)] == before[place]


def test_all_pieces_of_a_word_are_swapped_and_said(minilm: models.LoadedModel) -> None:
    swapped = swap(minilm, "An unbelievably long word.", position=3, by="very", text_pair="It is.")
    assert swapped.before.tokens[2:4] == ("un", "##bel")
    assert (swapped.word, swapped.by) == ("unbelievably", "very")
    assert swapped.after.text == "An very long word."
    assert swapped.after.text_pair == "It is."
    was, now = swapped.replaced
    assert (was.start, now) == (2, range(2, 3))
    assert swapped.before.tokens[was.stop] == "long"
    assert swapped.after.encoding.segments == record(minilm, "An very long word.", text_pair="It is.").encoding.segments


def test_a_word_of_the_second_text(minilm: models.LoadedModel) -> None:
    swapped = swap(minilm, "A cat.", text_pair="The cat is big.", position=6, by="dog")
    assert (swapped.after.text, swapped.after.text_pair) == ("A cat.", "The dog is big.")
    assert swapped.word == "cat"


def test_an_encoder_decoder_reads_the_same_target_twice() -> None:
    loaded = models.load("translator")
    swapped = swap(loaded, "The cat is sleeping.", position=2, by="old dog")
    assert swapped.before.target == swapped.after.target
    assert swapped.before.target is not None
    assert swapped.later(3) == 3  # a query of the target
    table = surprises(loaded, swapped)
    row = table.loc[table["divergence"].idxmax()]
    assert row["truth"] == "猫"  # cat
    assert row["after"] > row["before"] + 1


def test_what_a_decoder_predicts_equals_transformers(gpt2: Path) -> None:
    """Surprise and divergence by scipy, from the logits of transformers' own class."""
    loaded, network = models.load(gpt2), reference(gpt2)
    swapped = swap(loaded, "the cat sat on the mat", position=2, by="dog was")
    logs = []
    for trace in (swapped.before, swapped.after):
        with torch.no_grad():
            logits = network(torch.tensor([trace.encoding.ids])).logits[0].double().numpy()
        logs.append(log_softmax(logits, axis=-1) / np.log(2))
    table = surprises(loaded, swapped).set_index("position")
    was, now = swapped.replaced
    ids, shift = swapped.before.encoding.ids, len(now) - len(was)
    asked = [place for place in range(len(ids)) if place + 1 not in was]
    assert table.index.tolist() == asked
    for place in asked:
        p, q = logs[0][place], logs[1][place + shift * (place >= was.start)]
        row = table.loc[place]
        assert_close(row["divergence"], entropy(2**p, 2**q, base=2), relative=1e-5)
        if place + 1 < len(ids):
            assert_close((row["before"], row["after"]), (-p[ids[place + 1]], -q[ids[place + 1]]), relative=1e-5)
    found = predict(loaded, swapped, position=4)
    assert_close(found.surprise, table.loc[4, "after"] - table.loc[4, "before"], relative=1e-6)
    assert_close(found.divergence, table.loc[4, "divergence"], relative=1e-6)
    shares = [2 ** logs[0][4], 2 ** logs[1][4 + shift]]
    names = loaded.tokenizer.convert_ids_to_tokens(list(range(len(shares[0]))))
    best = {int(id) for row in shares for id in np.argsort(-row)[:5]} | {ids[5]}
    expected = {names[id]: (shares[0][id], shares[1][id]) for id in best}
    assert {token: pytest.approx((p, q), rel=1e-4) for token, p, q in found.candidates} == expected
    assert prediction_table(found)["before"].is_monotonic_decreasing


def test_after_the_texts_end_the_likeliest_token_is_asked_about(gpt2: Path) -> None:
    loaded = models.load(gpt2)
    loaded.tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A", special_tokens=[("[CLS]", loaded.tokenizer.cls_token_id)]
    )
    swapped = swap(loaded, "the cat sat on the mat", position=2, by="dog")
    assert swapped.before.sites[-1].predicts[-1] is None
    found = predict(loaded, swapped)
    assert (found.before.position, found.before.rank, found.true) == (len(swapped.before.tokens) - 1, 1, False)
    assert found.before.token == found.after.token == found.before.top[0][0]
    table = surprises(loaded, swapped)
    assert table[["before", "after"]].isna().sum().tolist() == [1, 1]
    assert table["divergence"].notna().all()


def test_a_masked_language_model_guesses_a_token_hidden_twice(mini_bert: models.LoadedModel) -> None:
    swapped = swap(mini_bert, TEXT, position=2, by="children", hidden=(10,))
    at = swapped.later(10)
    assert (swapped.before.tokens[10], swapped.after.tokens[at]) == ("[MASK]", "[MASK]")
    assert list(swapped.truths) == [10]
    found = predict(mini_bert, swapped)
    assert (found.before.token, found.after.position, found.true) == ("▁tired", at, True)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"position": 99, "by": "dog"}, "position 99 is out of range: the text has positions 0 to 12"),
        ({"position": 0, "by": "dog"}, r"position 0 is \[CLS\], which the tokenizer added"),
        ({"position": 2, "by": " "}, "there is no word to put there"),
        ({"position": 2, "by": "dog", "hidden": (2,)}, "position 2 is hidden and swapped at once"),
    ],
)
def test_what_cannot_be_swapped_is_a_sentence(
    given: dict[str, object], sentence: str, mini_bert: models.LoadedModel
) -> None:
    with pytest.raises(ValueError, match=sentence):
        swap(mini_bert, TEXT, **given)


def test_a_text_that_no_longer_fits_is_a_sentence(mini_bert: models.LoadedModel) -> None:
    long = "cat " * 400
    same = swap(mini_bert, long, position=2, by="dog")
    assert same.replaced == (range(2, 3), range(2, 3))
    with pytest.raises(ValueError, match="the text is cut after 128 tokens, and its end is another"):
        swap(mini_bert, long + "dog", position=2, by="old dog and black horse")
