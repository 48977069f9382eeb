"""The frame in the reader's language on every page: chosen once, kept over pages and in links, with no English word."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.testing.v1 import AppTest

import inspector
from inspector import record
from inspector.sections.registry import PAGES
from inspector.views.shell import languages
from inspector.wording.chinese import pages as chinese
from models import LoadedModel
from tests.inspector.views.page import opened, pressed, said, turned, typed, uploaded
from tests.inspector.wording.chinese import english_words

CHINESE = re.compile(r"[一-鿿]")


def frame(app: AppTest) -> Iterator[str]:
    """Yield all words of the frame: the sidebar whole, and the line over the page, but what the reader wrote."""
    for element in app.sidebar:
        for name in ("label", "value", "help", "placeholder", "options"):
            words = getattr(element, name, None)
            if name == "value" and element.type in ("text_area", "text_input", "selectbox", "number_input"):
                continue
            yield from words if isinstance(words, list) else [words] if isinstance(words, str) else []
        yield getattr(getattr(element, "proto", None), "label", "") or ""
    about = PAGES[app.session_state["link.page"]]
    in_line = 1 + (chinese.GROUPS[about.group] != chinese.TITLES[about.address]) + about.runs
    yield from (app.title[0].value, *(one.value for one in app.main.markdown[:in_line]))
    yield from (one.label for one in app.button if one.key in ("language", "choose stand-in", "dismiss"))


def told(app: AppTest) -> str:
    """Return the language that the address names."""
    asked = app.query_params["lang"]
    return asked if isinstance(asked, str) else asked[0]


def english(app: AppTest) -> dict[str, list[str]]:
    shown = {html.unescape(words) for words in frame(app)} - {"English"}
    return {words: found for words in shown if (found := english_words(words))}


@pytest.mark.parametrize("page", ["Attention", "Questions", "Practice", "Lab", "Costs", "Generate"])
def test_the_frame_of_a_page_has_no_english_word(page: str) -> None:
    app = opened(page, lang="zh")
    assert english(app) == {}
    address = next(address for address, about in PAGES.items() if about.title == page)
    assert app.title[0].value == chinese.TITLES[address]
    shown = said(app)
    assert chinese.PURPOSES[address] in shown
    assert ("正文为英文" in shown) == (page not in ("Questions", "Practice"))


def test_drawers_and_notices_have_no_english_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "chosen", lambda: "zh")  # AppTest names options itself, outside of the visit
    state = {"picker.open": True, "switches.open": True, "saved.open": True}
    app = opened(lang="zh", state=state, model="own-decoder", layer="99")
    assert english(app) == {}
    assert "链接中的 layer 为 " in html.unescape(said(app))
    for group in app.selectbox(key="switches.group").options:
        assert CHINESE.search(group)
    app.selectbox(key="switches.group").set_value("Mask").run()
    assert english(app) == {}
    app.selectbox(key="model").set_value("minilm").run()
    typed(app, "")
    assert english(app) == {}
    assert "文本是空的" in said(app)


def test_a_variant_is_named_in_chinese() -> None:
    app = opened(lang="zh", model="mini-bert?scale=none")
    assert english(app) == {}
    assert "mini-BERT，A：缩放 无" in html.unescape(said(app))


def test_a_saved_trace_is_named_in_chinese(minilm: LoadedModel, tmp_path) -> None:
    inspector.save(record(minilm, "A saved sentence."), tmp_path / "t.npz")
    app = uploaded(opened(lang="zh"), (tmp_path / "t.npz").read_bytes(), name="t.npz")
    assert english(app) == {}
    assert "正在显示存档记录" in said(app)


def test_the_switch_is_on_every_page_and_the_choice_is_kept() -> None:
    app = opened()
    assert app.button(key="language").label == "中文"
    pressed(app, "language")
    assert told(app) == "zh"
    assert app.title[0].value == "注意力"
    del app.query_params["lang"]  # as a click in the menu leaves the address
    turned(app, "Lab")
    assert app.title[0].value == "实验室"
    assert told(app) == "zh"
    pressed(app, "language")
    assert (app.title[0].value, told(app)) == ("Lab", "en")


def test_back_to_an_address_without_a_language_keeps_language_and_address() -> None:
    """A language put into such an address would be one more step of Back: the reader could not leave the page."""
    app = pressed(opened(), "language")
    del app.query_params["lang"]
    app.run()
    assert app.title[0].value == "注意力"
    assert "lang" not in app.query_params


def test_a_language_that_there_is_not_is_said() -> None:
    app = opened("Lab", lang="<b>")
    assert app.title[0].value == "Lab"
    assert 'The link asks for lang "?b?"; it can be en, zh. You see en instead.' in html.unescape(said(app))
    assert "lang" not in app.query_params


def test_the_browsers_language_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages.st, "context", SimpleNamespace(locale="zh-TW", theme=SimpleNamespace(type="light")))
    assert languages._of_browser() == "zh"


def test_outside_of_a_visit_words_are_english() -> None:
    assert get_script_run_ctx(suppress_warning=True) is None
    assert languages.chosen() == "en"
