"""The sections of Tokens about pieces: one text in many vocabularies, the merges, one word, and what is refused."""

from __future__ import annotations

from html import unescape

import pytest

from tests.inspector.views.page import opened, pressed, said, section_opened, sentence

CORPUS = "low lower lowest new newer newest wide wider widest slow slower"


def test_one_text_in_many_vocabularies() -> None:
    app = opened("Tokens", model="mini-bert", text="The cat sat on the mat because it was tired.")
    assert "mini-BERT cuts this one into 11 tokens, characters make 44." in unescape(sentence(app))
    assert "The longer way has 16.0 times the attention cells. As whole words 30 % would be unknown." in unescape(
        sentence(app)
    )
    table = app.dataframe[0].value.set_index("way")
    assert table["tokens"][["characters", "words", "MiniLM", "mini-BERT"]].tolist() == [44, 10, 11, 11]
    assert "mini-BERT for Chinese" not in table.index  # it would be the characters once more
    assert table["parameters"]["MiniLM"] == 30_522 * 192  # what mini-bert's width would make of it
    assert table["flops"]["characters"] == 4 * 4 * 44**2 * 192
    app.text_area(key="corpus").set_value(CORPUS).run()
    assert "As whole words all would be unknown." in unescape(sentence(app))
    pressed(app, "corpus-Chinese")
    assert "我" in app.text_area(key="corpus").value
    for corpus, told in {" ": "The corpus is empty", "x" * 300: "The corpus has a word of 301 characters"}.items():
        app.text_area(key="corpus").set_value(corpus).run()
        assert told in said(app)
        assert not app.exception


def test_a_chinese_text() -> None:
    app = opened("Tokens", model="mini-bert-zh")
    assert "In mini-BERT for Chinese this text is 10 tokens, as many as its 10 characters." in unescape(sentence(app))
    assert "a whole sentence counts as one word" in said(app)
    table = app.dataframe[0].value.set_index("way")
    assert table["unknown_share"]["MiniLM"] == pytest.approx(40)  # percent
    section_opened(app, "How pieces are learned")
    assert "merge " in unescape(sentence(app))
    assert " symbols of " in unescape(sentence(app))


def test_an_encoder_decoders_costs_are_its_encoders() -> None:
    app = opened("Tokens", model="translator", text="I love cats.")
    table = app.dataframe[0].value.set_index("way")
    assert table["flops"]["characters"] == 3 * 4 * 12**2 * 192
    assert "in the encoder." in said(app)


def test_merges_step_by_step() -> None:
    app = opened("Tokens", model="mini-bert", section="How pieces are learned", corpus=CORPUS, merge="1")
    assert "merge 1 makes" in unescape(sentence(app))
    first = sentence(app)
    pressed(app, "Next")
    assert "merge 2 makes" in unescape(sentence(app))
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
