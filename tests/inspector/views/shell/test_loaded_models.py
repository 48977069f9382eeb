"""The page's models: their dtype and device, and what a BatchNorm of the sidebar's text is made from."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import pytest

import models
from inspector.memory.cache import SharedModels
from inspector.views.shell import loaded_models, variants
from models import registry
from tests.inspector.views.page import explained, opened, said


def test_the_page_says_dtype_and_device(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "whose attention hands over its queries, keys and values. Its weights: float32 on cpu." in explained(
        opened(model="own-decoder", text="One.")
    )
    monkeypatch.setenv("HEADLIGHT_DTYPE", "bfloat16")
    app = opened(model="own-decoder", text="Two cats.")
    assert not app.exception
    assert "Its weights: bfloat16 on cpu." in explained(app)
    assert "Exact on this text" in said(app)


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("HEADLIGHT_DEVICE", "cuda:77", "There is no device 'cuda:77' on this machine"),
        ("HEADLIGHT_DTYPE", "int4", "HEADLIGHT_DTYPE is 'int4'; it can be float32"),
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


def test_a_large_model_is_held_to_the_memory_before_a_byte_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_MEMORY_BYTES", "500MB")
    monkeypatch.setattr(models, "load", lambda *arguments, **named: pytest.fail("it was loaded"))
    app = opened(model="smollm2", text="Four cats.")
    assert not app.exception
    assert "SmolLM2 needs memory for its weights in float32: 538 MB, and the limit here is 500 MB" in said(app)
    assert "start Headlight with a larger HEADLIGHT_MEMORY_BYTES" in said(app)


def test_room_is_made_for_a_large_model_which_all_visitors_share(
    monkeypatch: pytest.MonkeyPatch, smollm2: models.LoadedModel
) -> None:
    """The copy that the tests share stands for what is read."""
    monkeypatch.setattr(models, "load", lambda *arguments, **named: smollm2)
    room: list[int] = []
    usual = SharedModels.get

    def asked(shared: SharedModels, key: Any, load: Any, *, expected: int = 0) -> models.LoadedModel:
        room.append(expected)
        return usual(shared, key, load, expected=expected)

    monkeypatch.setattr(SharedModels, "get", asked)
    first, second = (loaded_models.load("smollm2") for _ in range(2))
    assert first is second
    assert room == [4 * smollm2.card.parameters] * 2


def test_a_batch_norm_takes_its_statistics_from_as_many_tokens_as_the_page_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []
    usual = registry._read_batch

    def counted(loaded: models.LoadedModel, batch: Sequence[str], *, written_by: models.LoadedModel) -> None:
        read.append(max(len(loaded.encode(text)) for text in batch))
        usual(loaded, batch, written_by=written_by)

    monkeypatch.setattr(registry, "_read_batch", counted)
    monkeypatch.setattr(variants, "MOST_PAIRED", 5)
    link = "mini-bert?layers=1&positions=learned&score=additive_naive&norm=batch"
    app = opened(model=link, text="One two three four five six seven eight nine.")
    assert "Only the first 5 of 12 tokens" in html.unescape(said(app))
    assert read == [5]


def test_no_two_texts_share_the_statistics_of_a_batch_norm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variants, "takes_statistics", lambda id: True)
    found = []
    for texts in (("a\0b",), ("a", "b"), ("\ud800",), ("?",)):
        monkeypatch.setattr(variants, "batch", lambda texts=texts: texts)
        found.append(loaded_models.version("mini-bert"))
    assert len(set(found)) == 4
