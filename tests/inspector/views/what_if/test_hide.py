"""The page What if where a token is hidden, with a tiny stand-in for mini-bert."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

import inspector
import models
from inspector import interventions, record
from models.checkpoints.store import write_checkpoint
from models.placement import Placement
from models.registry import load_checkpoint
from models.transformer.config import TransformerConfig
from models.transformer.masked_lm import MaskedLanguageModel
from models.transformer.subwords import train_subwords
from tests.closeness import assert_close
from tests.inspector.views.page import EXAMPLE, forget, messages, numbers, said, typed, uploaded, with_menus
from tests.inspector.views.page import opened as start


@pytest.fixture(scope="module")
def standin(tmp_path_factory: pytest.TempPathFactory) -> models.LoadedModel:
    """A tiny untrained masked language model under mini-bert's id."""
    folder = tmp_path_factory.mktemp("checkpoints")
    tokenizer = train_subwords([EXAMPLE] * 9, vocabulary=330)
    config = TransformerConfig(
        vocabulary=tokenizer.get_vocab_size(), layers=2, width=16, heads=2, ffn_width=32, max_positions=128
    )
    torch.manual_seed(0)
    write_checkpoint(folder / "mini-bert", MaskedLanguageModel(config), tokenizer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("models.checkpoints.FOLDER", folder)
        return load_checkpoint(Placement(), card=models.Card("mini-bert", "Stand-in", "A test", "MIT"))


@pytest.fixture(autouse=True)
def catalogue(standin: models.LoadedModel, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    cards = [card for card in models.catalogue() if card.id != "mini-bert"]
    load = models.load
    monkeypatch.setattr(models, "catalogue", lambda: (*cards, standin.card))
    monkeypatch.setattr(models, "load", lambda id, **placed: standin if id == "mini-bert" else load(id, **placed))
    forget()
    yield
    forget()


def opened(model: str = "mini-bert", **link: str) -> AppTest:
    return start("What if", model=model, **link)


def chips(app: AppTest) -> list[int]:
    return app.pills(key="chips").value


def click(app: AppTest, *positions: int) -> AppTest:
    """Send what the browser sends when chips are clicked: all that are pressed then."""
    return app.pills(key="chips").set_value(list(positions)).run()


def first_choice(standin: models.LoadedModel, text: str = EXAMPLE) -> int:
    return interventions.most_telling(standin, standin.encode(text))


def test_the_first_view_masks_a_telling_token_without_a_click(standin: models.LoadedModel) -> None:
    app = opened()
    assert not app.exception
    tokens = record(standin, EXAMPLE).tokens
    telling = first_choice(standin)
    assert chips(app) == [telling]
    hidden = tokens[telling].lstrip("▁")
    assert EXAMPLE.replace(hidden, "____") in said(app)
    assert "token" not in app.query_params
    masked = interventions.mask(standin, EXAMPLE, positions=[telling])
    (before, a), (after, b), (apart, difference) = messages(app, "head")
    layer, head = before["layer"], before["head"]
    for weights, trace in ((a, masked.before), (b, masked.after)):
        np.testing.assert_array_equal(weights, trace.attention(layer=layer, head=head).ravel())
    np.testing.assert_array_equal(difference, b - a)
    assert before["vmax"] == after["vmax"] == max(a.max(), b.max())
    assert (before["diverging"], apart["diverging"]) == (False, True)
    named = [token.replace("▁", "␣") for token in tokens]  # a space before a word is drawn
    assert after["queries"] == [*named[:telling], "[MASK]", *named[telling + 1 :]]
    assert numbers(app)["true token's rank"] == f"{masked.guesses[0].rank} of {masked.guesses[0].vocabulary}"


def test_the_head_that_changed_most_is_opened_first(standin: models.LoadedModel) -> None:
    app = opened(token="2")
    masked = interventions.mask(standin, EXAMPLE, positions=[2])
    moved = {
        (layer, head): np.abs(
            masked.after.attention(layer=layer, head=head)[2] - masked.before.attention(layer=layer, head=head)[2]
        ).sum()
        for layer in range(2)
        for head in range(2)
    }
    header = messages(app, "head")[0][0]
    table = next(frame.value for frame in app.dataframe if "jensen_shannon" in frame.value)
    assert (header["layer"], header["head"]) == (table["layer"][0], table["head"][0])
    assert_close(
        table["total_variation"].tolist(),
        [moved[place] / 2 for place in zip(table["layer"], table["head"], strict=True)],
        relative=1e-6,
    )
    assert table["jensen_shannon"].is_monotonic_decreasing


def test_a_click_moves_the_mask_and_is_a_link() -> None:
    app = opened(token="2")
    assert chips(app) == [2]
    click(app, 2, 3)
    assert chips(app) == [3]
    assert app.query_params["token"] == "3"
    assert "The cat ____ on the mat" in said(app)
    click(app)  # one stays masked
    assert chips(app) == [3]
    assert not app.exception


def test_several_at_once_are_guessed_independently() -> None:
    app = opened(token="2 3", several="true")
    assert chips(app) == [2, 3]
    assert "The ____ ____ on the mat" in said(app)
    assert "guessed independently" in said(app)
    click(app, 2, 3, 6)
    assert app.query_params["token"] == "2 3 6"
    click(app, 2, 6)
    assert chips(app) == [2, 6]
    assert not app.exception


def test_a_whole_word_is_masked_with_all_its_pieces() -> None:
    text = "The catnap sat."
    app = opened(text=text, token="3")
    word = chips(app)
    assert len(word) > 1
    assert 3 in word
    app.toggle(key="whole").set_value(False).run()
    assert chips(app) == [3]
    assert not app.exception


def test_a_link_restores_the_view(standin: models.LoadedModel) -> None:
    link = {"token": "6", "mask_layer": "1", "mask_head": "0", "hide": "true", "words": "true", "sqrt": "true"}
    app = opened(**link)
    header, weights = messages(app, "head")[0]
    assert (header["layer"], header["head"], header["scale"]) == (1, 0, "sqrt")
    trace = record(standin, EXAMPLE)
    np.testing.assert_array_equal(
        weights.reshape(len(header["queries"]), -1), trace.attention(layer=1, head=0)[1:-1, 1:-1]
    )
    assert {name: app.query_params[name] for name in link} == link


@pytest.mark.parametrize("token", ["99", "0", "x", "-1", "2 99", "**b**", ""])
def test_a_link_to_no_token_is_a_sentence(token: str, standin: models.LoadedModel) -> None:
    app = opened(token=token)
    assert not app.exception
    telling = first_choice(standin)
    assert f"they go from 1 to 11, without special tokens. You see {telling} instead." in said(app)
    assert chips(app) == [telling]


def test_a_link_to_no_head_is_a_sentence() -> None:
    app = opened(mask_layer="9", mask_head="9")
    for name in ("mask_layer", "mask_head"):
        assert f'The link asks for {name} "9"; they go from 0 to 1.' in said(app)
    assert len(messages(app, "head")) == 3


def test_another_text_starts_with_its_own_telling_token(standin: models.LoadedModel) -> None:
    app, text = opened(token="2"), "It was the mat because it sat."
    app.text_area(key="text").set_value(text).run()
    assert not app.exception
    assert chips(app) == [first_choice(standin, text)]
    assert "token" not in app.query_params


@pytest.mark.parametrize("text", ["", " \n "])
def test_an_unreadable_text_is_a_sentence(text: str) -> None:
    app = typed(opened(), text)
    assert not app.exception
    assert "The text is empty. Type or paste a sentence, or take this one:" in said(app)
    assert app.text_area(key="text").value == text


@pytest.mark.parametrize(
    "text", ["<img src=x onerror=alert(1)> **b** $x$ :smile: `c`", "😀 猫 a\u200bb", "word " * 300]
)
def test_an_unusual_text_is_shown_literally(text: str) -> None:
    app = typed(opened(), text)
    assert not app.exception
    for element in [*app.markdown, *app.caption, *app.warning]:
        assert "onerror" not in element.value
    for label in app.pills(key="chips").options:
        assert not set(
            label.split(":gray[:small[")[0].replace(":gray[␣]", "").replace("&#", "").replace(";", "")
        ) & set("<>$*`:[]")
    assert len(set(app.pills(key="chips").options)) == len(app.pills(key="chips").options)


def test_a_text_with_a_mask_token_starts_there() -> None:
    app = opened(text="The cat [MASK] on the mat because.")
    assert not app.exception
    assert "The cat ____ on the mat because." in said(app)
    assert "The text has the mask token there itself" in said(app)
    assert messages(app, "head")[2][1].max() == 0


def test_a_saved_trace_is_masked_too_if_its_model_is_at_hand(standin: models.LoadedModel, tmp_path: Path) -> None:
    inspector.save(record(standin, "The mat sat."), tmp_path / "t.npz")
    app = opened()
    content = (tmp_path / "t.npz").read_bytes()
    uploaded(app, content)
    assert not app.exception
    assert chips(app) == [first_choice(standin, "The mat sat.")]


def test_a_saved_trace_of_an_unknown_model_is_a_sentence(standin: models.LoadedModel, tmp_path: Path) -> None:
    from dataclasses import replace

    inspector.save(replace(record(standin, "The mat sat."), model="org/other"), tmp_path / "t.npz")
    app = opened()
    content = (tmp_path / "t.npz").read_bytes()
    uploaded(app, content)
    assert not app.exception
    assert "The model of this saved trace is not at hand, so you see **Stand&#45;in**" in said(app)


def test_a_saved_trace_of_a_model_that_cannot_guess(minilm: models.LoadedModel, tmp_path: Path) -> None:
    inspector.save(record(minilm, "The mat sat."), tmp_path / "t.npz")
    app = opened()
    content = (tmp_path / "t.npz").read_bytes()
    uploaded(app, content)
    assert not app.exception
    assert app.button(key="choose stand-in").disabled


def test_the_downloads_hold_what_is_seen(monkeypatch: pytest.MonkeyPatch, standin: models.LoadedModel) -> None:
    made: dict[str, bytes] = {}

    def keep(file: str, make: object, *_: object, **__: object) -> None:
        made[file] = make()

    monkeypatch.setattr("inspector.views.shell.downloads.button", keep)
    app = with_menus(opened(token="2", mask_layer="0", mask_head="1"))
    assert not app.exception
    masked = interventions.mask(standin, EXAMPLE, positions=[2])
    arrays = np.load(io.BytesIO(made["mini-bert-masked-attention.npz"]))
    assert set(arrays) == {"before", "after", "difference", "tokens"}
    np.testing.assert_array_equal(arrays["after"], masked.after.attention(layer=0, head=1))
    np.testing.assert_array_equal(arrays["difference"], arrays["after"] - arrays["before"])
    assert tuple(arrays["tokens"]) == masked.before.tokens
    lines = made["mini-bert-masked-guesses.csv"].decode().splitlines()
    assert lines[0] == '"position","hidden","rank","token","probability","true"'
    assert f"{masked.guesses[0].probability}" in next(line for line in lines if '"▁cat"' in line)


def test_the_row_of_a_single_masked_token_is_pinned_where_it_is_shown() -> None:
    app = opened(token="2", hide="true")
    assert [header["chosen"] for header, _ in messages(app, "head")] == [[1], [1], [1]]
    app = opened(token="2 3", several="true")
    assert [header["chosen"] for header, _ in messages(app, "head")] == [[]] * 3
