"""Readings of What if against the model's own logits and plain numpy, and the sentences made of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cosine, jensenshannon

import models
from inspector import compare, interventions
from inspector.interventions import effects as read
from inspector.wording.english import what_if as words
from models import LoadedModel
from models.attention.dropping import ModelHead
from tests.closeness import assert_close

TEXT = "The cat sat on the mat because it was tired."


@pytest.fixture(scope="module")
def guesser() -> LoadedModel:
    return models.load("mini-bert")


def shares(loaded: LoadedModel, hidden: np.ndarray) -> np.ndarray:
    assert loaded.predict is not None
    with torch.inference_mode():
        return loaded.predict(hidden[None])[0].double().softmax(dim=-1).cpu().numpy()


@pytest.mark.parametrize("position", [2, 3, 6, 10])
def test_a_guess_is_what_the_logits_say(guesser: LoadedModel, position: int) -> None:
    masked = interventions.mask(guesser, TEXT, positions=[position])
    found = read.guessed(masked.guesses, mask_token=guesser.tokenizer.mask_token)
    p = shares(guesser, masked.after.hidden[[position]])[0]
    true = masked.before.encoding.ids[position]
    assert found.token == masked.before.tokens[position]
    assert found.probability == pytest.approx(p[true], rel=1e-6)
    assert found.rank == 1 + int((p > p[true]).sum())
    assert found.first[1] == pytest.approx(p.max(), rel=1e-6)
    assert (found.hidden, found.right) == (1, int(found.rank == 1))
    said = words.guess(found, model="M")
    assert (f"{round(100 * p[true])} %" in said) or "under 1 %" in said
    assert ("which is the hidden token" in said) == (found.rank == 1)


def test_several_guesses_and_the_mask_itself(guesser: LoadedModel) -> None:
    masked = interventions.mask(guesser, TEXT, positions=[3, 6])
    found = read.guessed(masked.guesses, mask_token=guesser.tokenizer.mask_token)
    assert found.right == sum(guess.top[0][0] == guess.token for guess in masked.guesses)
    assert "of the 2 hidden tokens." in words.guess(found, model="M")
    text = "The cat [MASK] on the mat."
    place = guesser.encode(text).ids.index(guesser.tokenizer.mask_token_id)
    masked = interventions.mask(guesser, text, positions=[place])
    found = read.guessed(masked.guesses, mask_token=guesser.tokenizer.mask_token)
    assert found.token is None
    assert words.guess(found, model="M").endswith("; no true token is known.")


def test_a_prediction_is_that_of_the_true_next_token() -> None:
    loaded = models.load("own-decoder")
    swapped = interventions.swap(loaded, TEXT, position=2, by="dog")
    prediction = interventions.predict(loaded, swapped, position=5)
    found = read.predicted(prediction)
    true = swapped.before.encoding.ids[6]
    for trace, told, at in ((swapped.before, found.before, 5), (swapped.after, found.after, swapped.later(5))):
        assert told == pytest.approx(shares(loaded, trace.hidden[[at]])[0][true], rel=1e-6)
    said = words.change(words.swapped("cat", "dog"), found, None, None, several=False)
    assert said.startswith(
        f"Replacing `cat` with `dog` {'raises' if found.after > found.before else 'lowers'} the probability"
    )
    assert said.endswith(f" from {told_as(found.before)} to {told_as(found.after)}.")


def told_as(value: float) -> str:
    """Three significant digits."""
    return np.format_float_positional(value, precision=3, fractional=False) if value >= 1e-4 else f"{value:.2e}"


def test_the_head_that_moved_most(minilm: LoadedModel) -> None:
    dropped = interventions.drop(minilm, TEXT, heads=[("encoder", 1, 7)])
    found = read.moved(compare.changed_heads(dropped.before, dropped.after))
    assert found is not None
    apart = {
        (layer, head): np.mean(jensenshannon(p, q, axis=1) ** 2)
        for layer in range(6)
        for head, (p, q) in enumerate(
            zip(*(one.attention(layer=layer).astype(float) for one in (dropped.before, dropped.after)), strict=True)
        )
    }
    most = max(apart, key=lambda place: np.nan_to_num(apart[place]))
    assert (found.layer, found.head) == most
    assert_close(found.divergence, apart[most], relative=1e-7)
    assert words.most_moved(found, several=False) == f"The attention of layer {most[0]}, head {most[1]} changes most."
    assert words.most_moved(found, several=True).startswith("In the encoder the attention of layer")
    same = read.moved(compare.changed_heads(dropped.before, dropped.before))
    assert same is None


def test_the_state_that_turned_most(minilm: LoadedModel) -> None:
    swapped = interventions.swap(minilm, TEXT, position=2, by="dog")
    turned = compare.moved(swapped.before, swapped.after)
    tokens = swapped.before.tokens
    found = read.turned(turned, tokens=tokens, changed=[2])
    expected = [cosine(a, b) for a, b in zip(swapped.before.output, swapped.after.output, strict=True)]
    expected[2] = 0.0
    most = int(np.argmax(expected))
    assert found is not None
    assert_close(found.turned, expected[most], relative=1e-6, scale=1)
    assert found.token.token == tokens[most]
    assert "most among the other tokens (1 − cosine" in words.change("Replacing x", None, found, None, several=False)
    assert read.turned(np.zeros(3), tokens="abc") is None
    assert read.turned(np.ones(1), tokens="a", changed=[0]) is None


def test_nothing_that_changes_is_told_as_nothing(guesser: LoadedModel) -> None:
    same = interventions.swap(guesser, TEXT, position=2, by="cat", hidden=[6])
    prediction = read.predicted(interventions.predict(guesser, same))
    moved = read.moved(compare.changed_heads(same.before, same.after))
    turned = read.turned(compare.moved(same.before, same.after), tokens=same.before.tokens, changed=[2])
    said = words.change(words.swapped("cat", "cat"), prediction, turned, moved, several=False)
    assert said == "Replacing `cat` with `cat` changes nothing."


def test_how_a_change_is_named() -> None:
    assert words.hidden(["▁cat"]) == "Hiding `cat`"
    assert words.hidden(["a", "b"]) == "Hiding 2 tokens"
    assert words.dropped([ModelHead("cross", 1, 2)], several=True) == "Dropping layer 1, head 2 of the cross-attention"
    assert words.dropped([ModelHead("encoder", 1, 2), ModelHead("encoder", 1, 3)], several=False) == "Dropping 2 heads"
