"""The page Tokens: sparse masks, and what each way to read a long text loses."""

from __future__ import annotations

from html import unescape

import numpy as np
import pytest

from inspector.long_texts import Longformer, reasons, seen
from tests.closeness import assert_close
from tests.inspector.views.page import message, messages, numbers, opened, said, sentence


def test_a_rule_beside_full_attention_and_its_numbers() -> None:
    app = opened("Tokens", model="mini-bert", section="Sparse masks")
    head = sentence(app)
    assert "of 64 × 64 cells 1,126 are seen (27 %), and it takes 2 layers" in head
    header, values = message(app, "matrix")
    assert [panel["title"] for panel in header["panels"]] == ["Longformer", "Full attention"]
    assert (values[: 64 * 64].reshape(64, 64) == reasons(Longformer(8, 1), 64)).all()
    assert numbers(app)["cells"] == f"{seen(Longformer(8, 1), 64).sum():,}"
    assert "= 1{,}126$ cells" in said(app)
    app.segmented_control(key="rule").set_value("causal").run()
    assert "some tokens never hear of others" in sentence(app)
    assert "never half" in sentence(app)
    app.segmented_control(key="rule").set_value("full").run()
    assert [panel["title"] for panel in message(app, "matrix")[0]["panels"]] == ["Full", "Causal mask"]
    app.segmented_control(key="rule").set_value("bigbird").run()
    app.number_input(key="n").set_value(96).run()
    assert "$R = 22$ random blocks in all" in said(app)
    app.segmented_control(key="rule").set_value("chunks").run()
    app.toggle(key="own_tokens").set_value(True).run()
    header, _ = message(app, "matrix")
    assert header["panels"][0]["rows"][0] == "[CLS]"
    assert "3 layers" in sentence(app)
    assert not app.exception


def test_ways_beside_full_attention_on_a_book_page() -> None:
    app = opened("Tokens", model="mini-bert-zh", section="Long texts")
    assert "The opening of 故乡 (鲁迅, 1921) has 253 tokens, and mini-BERT for Chinese reads 128 at once, no more." in (
        unescape(sentence(app))
    )
    table = app.dataframe[0].value.set_index("way")
    assert table.loc["Sliding windows", "reach"] == table.loc["Hierarchy", "reach"] == 100
    assert table.loc["First tokens", "dropped"] == pytest.approx(100 * (1 - 30 / 126))
    assert table.loc["Full attention", "cosine"] == 1
    assert f"windows of 32 keep a cosine of {table.loc['Sliding windows', 'cosine']:.3f} a token" in sentence(app)
    header, cut = messages(app, "matrix")[-1]
    assert_close(np.nanmean(cut), table.loc["Sliding windows", "cut"] / 100, relative=1e-3, scale=1)
    assert header["panels"][0]["rows"][0] == "Layer 0"
    assert "padded to 128 take 4.32 times the FLOPs" in said(app)
    assert "not one more token of the text is read" in said(app)
    app.segmented_control(key="page").set_value("own").run()
    assert "Take smaller pieces, or a longer text" in sentence(app)
    assert not app.exception


def test_a_translator_is_told_which_models_can() -> None:
    app = opened("Tokens", model="translator", section="Long texts")
    assert "choose an encoder or a decoder to compare ways" in said(app)
    app = opened("Tokens", model="translator", section="Sparse masks")
    assert "layers until every token can reach every other" in sentence(app)
