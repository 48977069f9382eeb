"""HEADLIGHT_DTYPE and HEADLIGHT_DEVICE choose for the page, and the page says what its model is."""

from __future__ import annotations

import pytest

from tests.inspector.views.page import opened, said


def test_the_page_says_dtype_and_device(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "whose attention hands over its queries, keys and values. Its weights: float32 on cpu." in said(
        opened(model="own-decoder", text="One.")
    )
    monkeypatch.setenv("HEADLIGHT_DTYPE", "bfloat16")
    app = opened(model="own-decoder", text="Two cats.")
    assert not app.exception
    assert "Its weights: bfloat16 on cpu." in said(app)
    assert "Exact on this text" in said(app)


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("HEADLIGHT_DEVICE", "cuda:77", "There is no device 'cuda:77' on this machine"),
        ("HEADLIGHT_DTYPE", "int4", "HEADLIGHT_DTYPE or HEADLIGHT_DEVICE: dtype is 'int4'"),
    ],
)
def test_what_is_not_there_is_a_sentence(
    variable: str, value: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    app = opened(model="own-decoder", text=f"Three cats and {value}.")
    assert not app.exception
    assert sentence in said(app)
    assert app.text_area(key="text").value == f"Three cats and {value}."
