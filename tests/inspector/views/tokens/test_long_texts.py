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
    assert "27 % of the cells are seen, and every token can reach every other in 2 layers." in head
    (header, values), (reach, layers) = messages(app, "matrix")
    assert header["kinds"] == ["not seen", "random", "global", "near"]
    assert (values.reshape(64, 64) == reasons(Longformer(8, 1), 64)).all()
    assert layers.max() == layers.reshape(64, 64)[tuple(reach["panels"][0]["named"])] == 2
    assert numbers(app)["cells"] == f"{seen(Longformer(8, 1), 64).sum():,}"
    assert "= 1{,}126$ cells" in said(app)
    app.selectbox(key="rule").set_value("causal").run()
    assert "some tokens never hear of others" in sentence(app)
    assert "never half" in sentence(app)
    app.selectbox(key="rule").set_value("full").run()
    assert "every token can reach every other in 1 layer." in sentence(app)
    app.selectbox(key="rule").set_value("bigbird").run()
    app.number_input(key="n").set_value(96).run()
    assert "$R = 22$ random blocks in all" in said(app)
    app.selectbox(key="rule").set_value("chunks").run()
    app.toggle(key="own_tokens").set_value(True).run()
    header, _ = message(app, "matrix")
    assert header["panels"][0]["rows"][0] == "[CLS]"
    assert "3 layers" in sentence(app)
    assert not app.exception


def test_ways_beside_full_attention_on_a_book_page() -> None:
    app = opened("Tokens", model="mini-bert-zh", section="Ways to read a long text")
    assert unescape(sentence(app)).endswith(
        "The opening of 故乡 has 253 tokens; mini-BERT for Chinese reads 128 at once."
    )
    assert "故乡: 鲁迅, 1921." in said(app)
    table = app.dataframe[0].value.set_index("way")
    assert table.loc["Sliding windows", "reach"] == table.loc["Hierarchy", "reach"] == 100
    assert table.loc["First tokens", "dropped"] == pytest.approx(100 * (1 - 30 / 126))
    assert table.loc["Full attention", "cosine"] == 1
    cosine = f"a token's state at a cosine of {table.loc['Sliding windows', 'cosine']:.3f} with full attention's"
    assert f"Windows of 32 tokens keep {cosine}, and drop none." in sentence(app)
    header, cut = messages(app, "matrix")[-1]
    assert_close(np.nanmean(cut), table.loc["Sliding windows", "cut"] / 100, relative=1e-3, scale=1)
    assert header["panels"][0]["rows"][0] == "Layer 0"
    assert "padded to 128 take 4.32 times the FLOPs" in said(app)
    assert "not one more token of the text is read" in said(app)
    app.selectbox(key="way").set_value("first").run()
    assert f"drop {100 * (1 - 30 / 126):.0f} % of what the model could read" in sentence(app)
    app.selectbox(key="page").set_value("own").run()
    assert "Take smaller pieces, or a longer text" in sentence(app)
    assert not app.exception


def test_a_translator_is_told_which_models_can() -> None:
    app = opened("Tokens", model="translator", section="Ways to read a long text")
    assert "choose an encoder or a decoder to compare ways" in said(app)
    app = opened("Tokens", model="translator", section="Sparse masks")
    assert "every token can reach every other in 2 layers" in sentence(app)
