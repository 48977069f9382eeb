"""The page Tokens, what BERT makes of a text: its masking, its sentence vectors, and what only a decoder can do."""

from __future__ import annotations

from html import unescape

from streamlit.testing.v1 import AppTest

from inspector import batches, masked_lm, record, sentence_vectors
from inspector.text import number
from tests.closeness import assert_close
from tests.inspector.views.page import message, numbers, opened, pressed, section_opened, sentence, turned
from tests.inspector.views.page import said as escaped


def said(app: AppTest) -> str:
    """All words of the page as the reader sees them: the names of models have their hyphens."""
    return unescape(escaped(app))


def test_masking_says_what_was_drawn_and_draws_again(shipped) -> None:
    link = {"model": "mini-bert", "section": "Masking", "text": "He shook his head.", "mask_rate": "40"}
    app = opened("Tokens", state={"mask_rule": True}, **link)
    loaded = shipped("mini-bert")
    trace = record(loaded, "He shook his head.")
    drawn = masked_lm.draw(loaded, trace, rate=0.4, seed=0)
    assert f"here mini-BERT guesses {drawn.right or 'none'} of {len(drawn.chosen)}." in unescape(sentence(app))
    assert "At 40 % chance chose them of 5 tokens" in sentence(app)
    counted = masked_lm.shares(loaded, trace.encoding, rate=0.4, seed=0)
    assert f"**{100 * counted['share'][0]:.1f} %** became [MASK]" in said(app)
    assert "mini-BERT was trained at 15 %, and this curve tests it at others" in said(app)
    assert "(Wettig et al. 2023)" in said(app)
    before = sentence(app)
    pressed(app, "Draw again")
    assert not app.exception
    assert app.number_input(key="mask_seed").value == 1
    assert sentence(app) != before
    assert app.query_params["mask_seed"] == "1"


def test_masking_of_a_model_that_guesses_nothing_and_of_a_long_text() -> None:
    app = opened("Tokens", model="mini-gpt", section="Masking", text="我昨天买了一本新书。" * 12)
    assert "guesses no hidden words, so you see **mini-BERT for Chinese**" in said(app)
    assert "The text is read some hundred times with other tokens hidden" in said(app)
    assert any(button.key == "mask-rates" for button in app.button)
    assert "60 of 122 tokens are drawn" in said(app)


def test_sentences_as_vectors_and_cls_taken_apart(shipped) -> None:
    texts = "The dog barked.\nA hound bayed.\nIt rained."
    app = opened("Tokens", model="mini-bert", section="A sentence as a vector", sentences=texts)
    found = sentence_vectors.read(shipped("mini-bert"), texts.splitlines())
    header, values = message(app, "matrix")
    assert [panel["title"] for panel in header["panels"]] == ["[CLS]", "Mean of all tokens"]
    assert_close(values.reshape(2, 3, 3), [found.cosines("cls"), found.cosines("mean")], relative=1e-6)
    assert "Among 2 sentences in" in sentence(app)
    assert numbers(app)["by chance"] == "1.50"
    assert "[CLS] is more than a weighted average of the others" in said(app)
    assert "29.2 against 54.8" in said(app)
    app.toggle(key="encoders").set_value(True).run()
    beside = next(table.value for table in app.dataframe if "model" in table.value)
    assert beside["model"].tolist() == ["mini-BERT", "MiniLM", "mini-BERT for Chinese", "Untrained encoder"]
    assert beside["cls_rank"][0] == sentence_vectors.partner_ranks(found.cosines("cls")).mean()
    app.text_area(key="sentences").set_value("One. " * 80).run()
    assert "and 64 are read at most: shorten it" in said(app)
    app.text_area(key="sentences").set_value("").run()
    assert "There is no sentence; write one a line." in said(app)


def test_a_text_is_understood_and_continued() -> None:
    app = opened("Tokens", model="mini-gpt", section="Understand and continue", text="He shook his head.")
    assert "One architecture, two tasks: MiniLM finds the sentence most like the text" in sentence(app)
    assert "mini-GPT continues it." in said(app)
    assert "BERT made to write: 12 times a [MASK] is put after the text" in said(app)
    assert "The text's last mark is left off" in said(app)
    app = opened("Tokens", model="mini-bert-zh", section="Understand and continue", text="我昨天买了一本新书。")
    assert "mini-GPT has learned English alone" in said(app)
    assert "mini-BERT for Chinese finds the sentence most like the text" in said(app)
    assert not app.exception


def test_one_token_changed_moves_what_came_before_in_an_encoder_alone(shipped) -> None:
    app = opened("Tokens", model="mini-gpt", section="One token changed", text="He shook his head.", changed="3")
    tokens = shipped("mini-gpt").encode("He shook his head.").tokens
    table, _ = batches.spread(shipped("mini-gpt"), "He shook his head.", token=3)
    assert table["largest"][:3].max() == 0
    told = said(app)
    assert f"Change `{tokens[3].strip('▁')}`, and in mini-GPT no token before it moves, for the mask is causal;" in told
    minilm, _ = batches.spread(shipped("minilm"), "He shook his head.", token=3)  # [CLS] stands before, no start there
    assert f"in MiniLM the tokens before it move too, by {number(minilm['change'][:3].mean())} in the mean." in told
    assert "Why can BERT not write token by token?" in told
    app = opened("Tokens", model="mini-bert-zh", section="One token changed", text="我昨天买了一本新书。")
    assert "; in" not in sentence(app)  # no decoder of Headlight reads Chinese
    app = opened("Tokens", model="translator", section="One token changed", text="I love cats.")
    assert "in MiniLM the tokens before it move too" in said(app)
    assert not app.exception


def test_the_sentence_of_training_is_not_the_one_whose_cls_is_shown() -> None:
    app = turned(turned(opened("Tokens", model="mini-bert", section="A sentence as a vector"), "Training"), "Tokens")
    section_opened(app, "A sentence as a vector")
    assert "Is [CLS] a weighted average of the others?" in said(app)
    assert "failed" not in said(app)
    app = opened("Tokens", state={"cls_sentence": "x"}, model="mini-bert", section="A sentence as a vector")
    assert app.number_input(key="cls_sentence").value == 0
    assert "failed" not in said(app)
