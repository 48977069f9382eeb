"""An error that nobody foresaw becomes a sentence with the way out, is logged whole, and is not repeated."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NoReturn

import pytest
from streamlit.testing.v1 import AppTest
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split

from tests.inspector.views.lab.test_page import TINY
from tests.inspector.views.page import EXAMPLE, forget, opened, pressed, said, turned
from tests.inspector.views.shell import test_model_picker


def panic(*args: object, **kwargs: object) -> None:
    """Panic as the tokenizer of a stranger's model can: in Rust, with what is no Exception."""
    tokenizer = Tokenizer(WordLevel({"a": 0}, unk_token="a"))
    tokenizer.pre_tokenizer = Split(Regex("(a+)+$"), "isolated")
    tokenizer.encode("a" * 40 + "!")


def raising(error: BaseException) -> Callable[..., NoReturn]:
    def fail(*args: Any, **kwargs: Any) -> NoReturn:
        raise error

    return fail


FAULTS = {
    "attribute": (raising(AttributeError("no 'x'\n in here")), "does not know (AttributeError: no 'x' in here)"),
    "recursion": (raising(RecursionError("too deep")), "does not know (RecursionError: too deep)"),
    "memory": (raising(MemoryError()), "takes more memory than there is (MemoryError)"),
    "torch's memory": (
        raising(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes")),
        "takes more memory than there is (RuntimeError: DefaultCPUAllocator",
    ),
    "panic": (panic, "does not know (PanicException"),
}
faults = pytest.mark.parametrize(("fail", "sentence"), FAULTS.values(), ids=FAULTS)


def whole(caplog: pytest.LogCaptureFixture) -> bool:
    """True if an error was logged with its traceback."""
    return any(record.levelno == logging.ERROR and record.exc_info for record in caplog.records)


@faults
def test_a_text_that_cannot_be_read_is_a_sentence(
    fail: Callable[..., None], sentence: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    text = f"A text that {sentence}"  # not one that is remembered
    with monkeypatch.context() as patched:
        patched.setattr("inspector.probe.record", fail)
        app = opened(text=text)
        assert not app.exception
        assert f"Reading the text {'failed in a way that Headlight ' if 'know' in sentence else ''}{sentence}" in said(
            app
        )
        assert "It is kept: change it, or choose another model." in said(app)
        assert app.text_area(key="text").value == text
        assert whole(caplog)
        turned(app, "Compare")
        assert sentence in said(app)
        assert app.text_area(key="text").value == text
    turned(app, "Norms")
    assert "Cannot be shown" not in said(app)
    assert app.text_area(key="text").value == text


@faults
def test_another_model_that_fails_is_a_sentence_once(
    fail: Callable[..., None], sentence: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    forget()
    with monkeypatch.context() as patched:
        patched.setattr("inspector.views.shell.adding_models.look", fail)
        app = test_model_picker.look(test_model_picker.opened(), "org/name")
    assert not app.exception
    assert sentence in said(app)
    assert "Name another model." in said(app)
    assert whole(caplog)
    assert "picker.asked" not in app.session_state
    assert app.text_area(key="text").value == EXAMPLE
    caplog.clear()
    turned(app, "Costs")  # it is not asked for again
    assert not app.exception
    assert not whole(caplog)


@pytest.mark.parametrize(
    ("page", "broken"),
    [
        ("Attention", "inspector.maps.arrange"),  # in the fragment
        ("Attention", "inspector.heads.most_telling"),
        ("Compare", "inspector.alignment.numbers"),
        ("Compare", "inspector.maps.arrange"),
        ("What if", "inspector.maps.arrange"),
        ("Norms", "inspector.normalization.statistics"),
        ("Positions", "inspector.positional.rotations"),
        ("Costs", "inspector.costs.crossovers"),
        ("Generate", "inspector.generating.write"),
        ("Generate", "inspector.generating.beams.texts"),
    ],
)
def test_every_page_says_what_fails_in_it(
    page: str, broken: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    forget()  # what is remembered would hide the fault
    app = opened(model="translator" if page == "Generate" else "mini-bert", text="A cat sat.")
    with monkeypatch.context() as patched:
        patched.setattr(broken, raising(TypeError("unhashable type: 'x'")))
        if page == "Attention":
            forget()
        turned(app, page)
        if "beams" in broken:
            app.segmented_control(key="section").set_value("Beam search").run()
        assert not app.exception
        assert "failed in a way that Headlight does not know (TypeError: unhashable type: 'x')" in said(app)
        assert whole(caplog)
        assert app.text_area(key="text").value == "A cat sat."
    assert "does not know" not in said(app.run())


def test_the_lab_forgets_a_training_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened("Lab", **TINY)
    with monkeypatch.context() as patched:
        patched.setattr("models.training.lab.train_both", raising(RuntimeError("broken")))
        pressed(app, "Start")
    assert not app.exception
    assert "The training failed in a way that Headlight does not know (RuntimeError: broken). Choose other" in said(app)
    assert "lab" not in app.session_state
    app.run()
    assert "does not know" not in said(app)


def test_the_end_of_a_run_is_no_failure() -> None:
    """st.stop() and st.rerun() pass the boundary."""

    def page() -> None:
        import streamlit as st

        from inspector.views.shell import boundary

        with boundary.drawn("This page"):
            if "again" not in st.session_state:
                st.session_state["again"] = True
                st.rerun()
            st.text("seen")
            st.stop()

    app = AppTest.from_function(page).run()
    assert [text.value for text in app.text] == ["seen"]
