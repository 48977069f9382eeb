"""The sidebar: examples, texts that are cut or unknown, saved traces, models that are not there, bad links."""

from __future__ import annotations

import html
import re
from pathlib import Path

import numpy as np
import pytest

import inspector
from inspector import examples, record
from models import LoadedModel
from tests.inspector.views.page import (
    EXAMPLE,
    explained,
    message,
    opened,
    pressed,
    said,
    turned,
    typed,
    uploaded,
)


def test_an_example_replaces_the_text() -> None:
    app = opened()
    app.selectbox(key="example").select("Two sentences").run()
    assert app.text_area(key="text").value == "The trophy does not fit into the suitcase."
    assert app.text_area(key="pair").value == "It is too big."
    assert not app.exception


def test_the_same_example_can_be_taken_again() -> None:
    app = opened()
    app.selectbox(key="example").select("Word pieces").run()
    typed(app, "edited")
    app.selectbox(key="example").select("Word pieces").run()
    assert app.text_area(key="text").value.startswith("Antidisestablishmentarianism")


def test_a_text_too_long_is_cut_and_said() -> None:
    app = typed(opened(), "word " * 20_000)
    assert not app.exception
    assert (
        "Only the first 20,000 of 100,000 characters are read: HEADLIGHT_CHARACTERS allows 20,000 for each text; of "
        "these the first 512 of 4,002 tokens, for this model takes at most 512." in html.unescape(said(app))
    )
    assert len(app.text_area(key="text").value) == 100_000
    assert "100,000 characters are more than the 1,000 that fit a link" in said(app)
    assert "text" not in app.query_params


def test_unknown_words_are_counted() -> None:
    app = typed(opened(), "我爱水课 cat")
    assert not app.exception
    assert "2 of 7 tokens are unknown to this model, which" in said(app)


@pytest.mark.parametrize(
    ("link", "facts"),
    [
        (
            {"layer": "99", "head": "12", "model": "evil/model"},
            (
                'layer "99"; they go from 0 to 5.',
                'head "12"; they go from 0 to 11.',
                'model "evil/model", which is not',
            ),
        ),
        (
            {"layer": "-1", "head": "**x**", "model": "../../etc"},
            ('layer "-1"; they go from 0 to 5.', 'head "??x??"; they go from 0 to 11.', 'model "../../etc", which is'),
        ),
    ],
)
def test_a_link_out_of_range_is_said_until_it_is_dismissed(link: dict[str, str], facts: tuple[str, ...]) -> None:
    app = opened(text="A cat.", **link)
    assert all(fact in said(app) for fact in facts)
    assert "It was not loaded" in said(app)
    assert app.text_area(key="text").value == "A cat."
    message(app, "head")
    pressed(app, "dismiss")
    assert not any(fact in said(app) for fact in facts)


def test_a_saved_trace_opens_and_a_damaged_one_is_a_sentence(minilm: LoadedModel, tmp_path: Path) -> None:
    trace = record(minilm, "A saved sentence.")
    inspector.save(trace, tmp_path / "t.npz")
    content = (tmp_path / "t.npz").read_bytes()
    app = opened(layer="1", head="1")
    uploaded(app, content)
    assert not app.exception
    header, numbers = message(app, "head")
    assert header["queries"] == list(trace.tokens)
    np.testing.assert_array_equal(numbers, trace.attention(layer=1, head=1).ravel())
    assert "You see a saved trace." in said(app)
    assert "Model: **MiniLM&#44; the bundled BERT&#44; of the saved trace**" in said(app)
    assert app.text_area(key="text").disabled
    assert "text" not in app.query_params
    uploaded(app, content[:2000])
    assert not app.exception
    assert "is damaged or was not saved by this version of Headlight" in said(app)
    assert app.text_area(key="text").value == EXAMPLE


def test_what_a_recording_takes_is_said_and_that_one_over_the_budget_is_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "it is not kept" not in said(opened())
    monkeypatch.setattr("inspector.views.shell.caching.CACHE_BYTES", 1000)
    app = opened()
    (taken,) = re.findall("The recording takes (.*?B)\\.", explained(app))
    assert f"This recording takes {taken}, over the 1 kB of HEADLIGHT_CACHE_MB: it is not kept" in said(app)


def test_a_model_opens_with_an_example_on_which_it_does_well_and_leaves_a_readers_text_alone() -> None:
    app = opened()
    app.selectbox(key="model").select("translator").run()
    assert app.text_area(key="text").value == "When I came home, my mother was cooking."
    assert "cooking" in str(app.query_params["text"])  # so that the link restores it
    typed(app, "My own text.")
    app.selectbox(key="model").select("minilm").run()
    assert app.text_area(key="text").value == "My own text."
    assert opened(model="translator").text_area(key="text").value == EXAMPLE  # what such a link meant before
    chinese = opened(model="mini-bert-zh")
    assert chinese.text_area(key="text").value == examples.of("mini-bert-zh")
    assert "text" not in chinese.query_params


def test_untrained_models_come_last_and_say_so_over_the_picture() -> None:
    app = opened(model="own-encoder")
    assert [name.startswith("Untrained") for name in app.selectbox(key="model").options] == [False] * 8 + [True] * 3
    assert any("Untrained" in text.value for text in app.main.markdown)  # a badge beside the open head's name
    turned(app, "Norms")
    assert any("random, so what it shows means nothing" in warning.value for warning in app.main.warning)
