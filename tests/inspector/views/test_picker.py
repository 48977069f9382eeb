"""Another model through the page: looked at, loaded, used on every page; every refusal is a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from transformers import BertForMaskedLM

ROOT = Path(__file__).parents[3]
VIEWS = "inspector/views"
EXAMPLE = "The cat sat on the mat because it was tired."


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No model in memory, no limits but the defaults."""
    for name in ("ROOT", "HUB", "MEMORY_BYTES", "PARAMETERS", "LAYERS", "DOWNLOAD_BYTES", "CAPTURE_BYTES", "TOKENS"):
        monkeypatch.delenv(f"HEADLIGHT_{name}", raising=False)
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture
def root(bert: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder under which the tiny BERT lies."""
    monkeypatch.setenv("HEADLIGHT_ROOT", str(bert.parent))
    return bert.parent


def opened(**link: str) -> AppTest:
    """The app with the field for another model open."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in {"model": "own-encoder", **link}.items():
        app.query_params[name] = value
    app.session_state["other_open"] = True
    return app.run()


def press(app: AppTest, key: str) -> AppTest:
    return next(button for button in app.button if button.key and key in button.key).click().run()


def look(app: AppTest, name: object) -> AppTest:
    app.text_input(key="other").set_value(str(name))
    return press(app, "look")


def said(app: AppTest) -> str:
    elements = [*app.text, *app.warning, *app.error, *app.info, *app.caption, *app.markdown]
    return "\n".join(str(element.value) for element in elements)


def test_a_folder_is_looked_at_loaded_and_used_on_other_pages(root: Path, bert: Path) -> None:
    app = look(opened(), bert)
    assert not app.exception
    parameters = sum(parameter.numel() for parameter in BertForMaskedLM.from_pretrained(bert).parameters())
    for part in (
        "bert, BertForMaskedLM",
        f"Parameters: {parameters:,} (limit 2,000,000,000)",
        "Layers of attention: 2 (limit 128)",
        "Download: 0 bytes (limit 3 GB)",
        "tokenizer.json",
    ):
        assert part in said(app)
    assert app.selectbox(key="model").value == "own-encoder"
    press(app, "load")
    assert not app.exception
    assert app.selectbox(key="model").value == str(bert)
    assert "bert (folder)" in app.selectbox(key="model").options
    assert "13 tokens of at most 32" in said(app)
    assert "Exact on this text" in said(app)
    assert "Attention is seen through transformers' registry." in said(app)
    assert str(bert) in app.query_params["model"]
    for page in ("compare", "layernorm", "positions", "costs", "mask"):
        app.switch_page(f"{VIEWS}/{page}.py").run()
        assert not app.exception, page
        assert "Cannot be shown" not in said(app), page
    app.selectbox(key="model").select("minilm").run()
    assert not app.exception
    assert app.selectbox(key="model").value == "minilm"
    assert str(bert) in app.session_state["added"]
