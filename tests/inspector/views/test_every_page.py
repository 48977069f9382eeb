"""Every page: each model, texts that cannot be read, texts full of markup, any value of any parameter of the link."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import pytest
from streamlit.testing.v1 import AppTest

import models
from inspector.sections import registry
from inspector.wording import generate
from models.registry import is_installed
from models.training.tiny.experiments import Switches
from tests.inspector.views.hostile import VALUES
from tests.inspector.views.page import HOSTILE, READING, opened, said, turned, typed

BOARDS = {
    "Attention": "layer mixer call head query key lines between tokens sort only stream kind heads layers colours hide "
    "renormalise words sqrt linear why wrote trail wrote_opened why_sorted row column apart model pair target",
    "Compare": "panels a_model a_text a_stream a_layer a_mixer a_head a_mean b_model b_stream b_layer b_mixer b_head "
    "b_mean c_model d_model further hide words sqrt own_scale difference heads_of heads_pair with_lines",
    "What if": "part token word ask drop mask_layer mask_call mask_head whole several by hide words sqrt stream "
    "with_lines left_at left_head layer call head corrupted answer against patched into writer reader norms cuts "
    "instead",
    "Generate": "section step dialogue decoding temperature top_k top_p seed new_tokens flops_of cache_counted beams "
    "gen_layer gen_head gen_mean",
    "Questions": "q lang theme level search path path_words interview interview_at",
    "Lab": " ".join(
        ["lab_task lab_length lab_steps lab_rate lab_seeds lab_topic"]
        + [f"lab_{side}_{switch.name}" for side in "ab" for switch in fields(Switches)]
    ),
}
SECTIONS = {"Generate": (generate.CACHE, generate.BEAMS)}
"""The sections of boards behind the first."""
BESIDE = {
    "Costs": ("of", "shape", "length", "text_length", "card", "batch", "bits"),
    "Batch": ("batch_layer", "batch_head"),
    "Time": ("piece_layer", "piece_head", "shown"),
    "Training": ("replay_stream", "replay_measure", "sentence"),
    "Atlas": ("atlas", "examples", "figure"),
}
"""The parameters of a page of sections that are not those of its sections, or of parts that an answer makes."""


STARTS = 2  # of each page, every parameter with another value each time


def parameters() -> Iterator[tuple[str, str, int, tuple[str, ...]]]:
    """Yield page, section, start and all parameters that it binds; "" for a section that is a stranger's too."""
    for start in range(STARTS):
        yield from ((page, "", start, tuple(names.split())) for page, names in BOARDS.items())
    for title, others in SECTIONS.items():
        names = tuple(name for name in BOARDS[title].split() if name != "section")
        yield from ((title, section, len(section), names) for section in others)
    for address, page in registry.PAGES.items():
        if page.board:
            continue
        listed, beside = registry.sections(address), BESIDE.get(page.title, ())
        yield from ((page.title, "", start, (*listed.parameters, *beside)) for start in range(STARTS))
        for section in listed.sections:
            parts = (section, *section.parts)
            names = (listed.stream_name, *(name for part in parts for name in (part.id, *(p.id for p in part.picks))))
            if section not in listed.elsewhere:
                yield page.title, section.title, len(section.title), (*names, *beside)


PARAMETERS = list(parameters())
OF_PAGE: dict[str, set[str]] = {}
for _page, _, _, _names in PARAMETERS:
    OF_PAGE.setdefault(_page, set()).update(_names)


def bound(app: AppTest) -> set[str]:
    """The parameters that the page binds to widgets or holds by itself."""
    names = set(app.session_state["link.parameters"])
    if "link.bound" in app.session_state:
        names.update(*app.session_state["link.bound"].values())
    return names


@pytest.mark.parametrize("model", [card.id for card in models.catalogue()])
def test_every_page_shows_every_model(model: str) -> None:
    """One visitor turns to every page; `test_every_page_draws_whatever_its_link_says` starts each page by itself."""
    if not is_installed(model):
        pytest.skip(f"{model} is not installed")
    app = opened(model=model)
    for page in READING:
        turned(app, page)
        assert not app.exception, page
        assert app.title[0].value == page
        assert not app.error, page
        assert "Cannot be shown" not in said(app), page
        assert ("Untrained" in said(app)) == model.startswith("own-"), page


@pytest.fixture(scope="module")
def visit() -> AppTest:
    """One visitor of all pages, whom no text drives away."""
    return opened()


@pytest.mark.parametrize("page", READING)
def test_an_unreadable_text_is_a_sentence(page: str, visit: AppTest) -> None:
    turned(visit, page)
    for text, reason in (
        ("", "The text is empty."),
        ("  \n ", "The text is empty."),
        ("\u200b", "no visible character"),
    ):
        typed(visit, text)
        assert not visit.exception, text
        if page == "Questions":  # nothing is read until a question is asked: tests/inspector/views/questions
            continue
        if text != "\u200b" or page not in ("What if", "Generate"):  # what stands in there reads it as bytes
            assert reason in said(visit)
        assert visit.text_area(key="text").value == text


@pytest.mark.parametrize("text", [HOSTILE, "😀 猫 قطة a\u200bb \u202eabc", "$x$ `code` :smile: <script>"])
def test_an_unusual_text_is_shown_literally(text: str, visit: AppTest) -> None:
    typed(visit, text)
    for page in READING:
        turned(visit, page)
        assert not visit.exception, page
        assert visit.text_area(key="text").value == text
        assert "Cannot be shown" not in said(visit) or page == "Generate", page
        # Markdown elements read markup: no token of the reader may come near them.
        for element in [*visit.markdown, *visit.caption, *visit.warning, *visit.error, *visit.info]:
            assert "onerror" not in element.value, page
            assert "<script" not in element.value, page


@pytest.mark.parametrize(("page", "section", "start", "names"), PARAMETERS)
def test_every_page_draws_whatever_its_link_says(page: str, section: str, start: int, names: tuple[str, ...]) -> None:
    """Each parameter takes another of the values, so that all of them meet over the pages and their sections."""
    model = "translator" if page == "Generate" or start % 2 else "minilm"
    asked = {name: VALUES[(7 * at + 23 * start + len(page)) % len(VALUES)] for at, name in enumerate(names)}
    app = opened(page, **{"model": model, "text": "A cat.", **asked, **({"section": section} if section else {})})
    assert not app.exception
    assert "does not know" not in said(app)
    assert app.title[0].value == page
    assert bound(app) <= OF_PAGE[page]  # of each parameter a hostile value is tried


@pytest.mark.parametrize(
    ("page", "name", "model"),
    [
        ("Attention", "kind", "minilm"),
        ("Attention", "stream", "translator"),
        ("Compare", "heads_of", "minilm"),
        ("What if", "part", "minilm"),
        ("Generate", "flops_of", "translator"),
        ("Norms", "statistic", "minilm"),
        ("Costs", "counted", "minilm"),
    ],
)
def test_an_empty_choice_is_a_sentence(page: str, name: str, model: str) -> None:
    section = {"section": generate.CACHE} if name == "flops_of" else {}
    app = opened(page, model=model, text="A cat.", **{name: ""}, **section)
    assert not app.exception
    assert f'The link asks for {name} "";' in said(app)
    assert "Cannot be shown" not in said(app)
