"""The sections of Tokens about pieces: one text in many vocabularies, the merges, one word, and what is refused."""

from __future__ import annotations

import pytest

from tests.inspector.views.page import opened, pressed, said, sentence

CORPUS = "low lower lowest new newer newest wide wider widest slow slower"


def test_one_text_in_many_vocabularies() -> None:
    app = opened("Tokens", model="mini-bert", text="The cat sat on the mat because it was tired.")
    assert "This text is 44 tokens as characters, 10 as words and 11 in mini-bert's vocabulary" in sentence(app)
    assert "19.4 times the attention cells" in sentence(app)
    assert "Unknown are 30 % of the words, none of the characters and none of mini-bert's pieces." in sentence(app)
    table = app.dataframe[0].value.set_index("way")
    ways = ["characters", "words", "minilm", "mini-bert", "mini-bert-zh"]
    assert table["tokens"][ways].tolist() == [44, 10, 11, 11, 44]
    assert table["parameters"]["minilm"] == 30_522 * 192  # what mini-bert's width would make of it
    assert table["flops"]["characters"] == 4 * 4 * 44**2 * 192
    app.text_area(key="corpus").set_value(CORPUS).run()
    assert "Unknown are all of the words" in sentence(app)
    pressed(app, "corpus-Chinese")
    assert "我" in app.text_area(key="corpus").value
    for corpus, told in {" ": "The corpus is empty", "x" * 300: "The corpus has a word of 301 characters"}.items():
        app.text_area(key="corpus").set_value(corpus).run()
        assert told in said(app)
        assert not app.exception


def test_a_chinese_text() -> None:
    app = opened("Tokens", model="mini-bert-zh")
    assert "10 tokens as characters, 1 as words, for it has no blanks, and 10 in mini-bert-zh's" in sentence(app)
    assert "a whole sentence counts as one word" in said(app)
    table = app.dataframe[0].value.set_index("way")
    assert table["unknown_share"]["minilm"] == pytest.approx(40)  # percent
    app.segmented_control(key="section").set_value("merges").run()
    assert "Merge " in sentence(app)
    assert "symbols then" in sentence(app)


def test_an_encoder_decoders_costs_are_its_encoders() -> None:
    app = opened("Tokens", model="translator", text="I love cats.")
    table = app.dataframe[0].value.set_index("way")
    assert table["flops"]["characters"] == 3 * 4 * 12**2 * 192
    assert "in the encoder." in said(app)


def test_merges_step_by_step() -> None:
    app = opened("Tokens", model="mini-bert", section="How pieces are learned", corpus=CORPUS, merge="1")
    assert "Merge 1 of " in sentence(app)
    first = sentence(app)
    pressed(app, "Next")
    assert "Merge 2 of " in sentence(app)
    assert "2" in app.query_params["merge"]
    pressed(app, "Back")
    assert sentence(app) == first
    assert "WordPieceTrainer uses neither" in said(app)
    app.text_input(key="word").set_value("slowest").run()
    assert "`slowest` becomes" in said(app)
    assert "Unigram cuts" in said(app)
    app.text_input(key="word").set_value("鱼").run()
    assert "calls the whole word unknown" in said(app)
    app.number_input(key="pieces").set_value(0).run()
    assert "there is no merge to see" in said(app)
    app.text_area(key="corpus").set_value("ab").run()
    app.number_input(key="pieces").set_value(5).run()
    assert "No pair of characters stands 2 times" in said(app)
    assert not app.exception
