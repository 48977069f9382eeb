"""A list of texts as one table: equal to each text by itself, and nothing of a trace is kept."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import inspector
import models
from inspector import Trace, heads, record, record_many
from inspector.batches import prompts
from inspector.memory.cache import ByteBudgetCache
from models import LoadedModel
from tests.closeness import assert_close

TEXTS = ["The cat sat on the mat.", "A dog ran, and the cat ran.", "It was tired."]


@pytest.fixture(scope="module")
def loaded() -> LoadedModel:
    return models.load("mini-bert")


def test_the_table_is_that_of_each_text_alone(loaded: LoadedModel) -> None:
    table = record_many(loaded, TEXTS).table
    assert list(table.columns[:4]) == ["text", "stream", "layer", "head"]
    for number, text in enumerate(TEXTS):
        of_text = table[table["text"] == number].drop(columns="text").reset_index(drop=True)
        pd.testing.assert_frame_equal(of_text, heads.measure(record(loaded, text)), check_exact=True)


def test_measures_are_those_of_float64(loaded: LoadedModel) -> None:
    many = record_many(loaded, TEXTS)
    for number in range(len(TEXTS)):
        for layer in range(len(many[number].sites)):
            exact = many[number].attention(layer=layer).astype(np.float64)
            place = (many.table["text"] == number) & (many.table["layer"] == layer)
            entropy = -(exact * np.log(np.where(exact > 0, exact, 1))).sum(axis=-1).mean(axis=-1)
            assert_close(many.table[place]["entropy"].to_numpy(), entropy, relative=1e-6)
            previous = exact.diagonal(-1, axis1=1, axis2=2).mean(axis=-1)
            assert_close(many.table[place]["previous"].to_numpy(), previous, relative=1e-6)


def test_any_text_opens_as_its_recording_does(loaded: LoadedModel) -> None:
    many = record_many(loaded, TEXTS)
    for number in (1, -2):
        trace = many[number]
        assert trace.text == TEXTS[1]
        assert np.array_equal(trace.attention(layer=1), record(loaded, TEXTS[1]).attention(layer=1))
    assert many[1] is many[-2]
    assert len(many) == len(list(many)) == 3
    assert "mini-bert" in inspector.export.html(many[2], layer=0, head=0)


def test_pairs_are_read_as_the_model_reads_two_texts(loaded: LoadedModel) -> None:
    pair = ("The cat sat.", "The dog ran.")
    assert record_many(loaded, [pair])[0].text_pair == pair[1]
    translator = models.load("own-encoder-decoder")
    many = record_many(translator, [pair, list(pair)])
    assert many[0].target_text == pair[1]
    assert set(many.table["stream"]) == {"encoder", "decoder", "cross"}
    writer = models.load("mini-gpt")
    with pytest.raises(ValueError, match="reads one text, and a pair is for encoders"):
        record_many(writer, [pair])


def test_a_text_that_fails_is_named_and_ends_nothing(loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(loaded: LoadedModel, text: Any, **more: Any) -> Trace:
        if text == "out of memory":
            raise MemoryError("no more")
        return record(loaded, text, **more)

    monkeypatch.setattr(prompts, "record", broken)
    given: list[Any] = [TEXTS[0], "", None, 3, ("a", "b", "c"), ("a", None, 1), "out of memory", "\ud800", TEXTS[1]]
    told: list[tuple[int, int]] = []
    many = record_many(loaded, given, on_progress=lambda done, of: told.append((done, of)))
    assert sorted(many.failed) == [1, 2, 3, 4, 5, 6, 7]
    assert "text is a NoneType, not a string" in many.failed[2]
    assert many.failed[4] == "it is 3 texts: give one string, or a pair of two"
    assert "Reading text 6 takes more memory than there is" in many.failed[6]
    assert set(many.table["text"]) == {0, 8}
    assert told == [(done, 9) for done in range(1, 10)]
    with pytest.raises(ValueError, match=r"text 1 could not be recorded: The text is empty"):
        many[1]


@pytest.mark.parametrize("texts", [TEXTS[0], b"text", {"a": 1}, pd.DataFrame({"text": TEXTS}), 3, None, [], ()])
def test_what_is_no_list_of_texts_is_a_sentence(loaded: LoadedModel, texts: Any) -> None:
    with pytest.raises(ValueError, match=r"give a (list of strings|string at least)"):
        record_many(loaded, texts)


@pytest.mark.parametrize("texts", [pd.Series(TEXTS), np.array(TEXTS), iter(TEXTS), tuple(TEXTS)])
def test_every_kind_of_list_is_read(loaded: LoadedModel, texts: Any) -> None:
    assert len(record_many(loaded, texts)) == 3


def test_where_every_text_fails_the_first_reason_is_given(loaded: LoadedModel) -> None:
    with pytest.raises(ValueError, match=r"none of 2 texts could be recorded; text 0: The text is empty"):
        record_many(loaded, ["", " "])
    with pytest.raises(ValueError, match="is no loaded model but a str"):
        record_many("mini-bert", TEXTS)  # type: ignore[arg-type]


def test_an_exception_of_progress_ends_the_work(loaded: LoadedModel) -> None:
    def stop(done: int, of: int) -> None:
        raise ValueError("stopped")

    with pytest.raises(ValueError, match="stopped"):
        record_many(loaded, TEXTS, on_progress=stop)


@pytest.mark.parametrize(
    ("number", "error", "said"),
    [
        (3, IndexError, "text 3 is out of range: there are texts 0 to 2"),
        (-4, IndexError, "out of range"),
        ("a", ValueError, "give a whole number"),
        (True, ValueError, "give a whole number"),
        (slice(0, 2), ValueError, "give a whole number"),
    ],
)
def test_a_text_that_there_is_not(loaded: LoadedModel, number: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        record_many(loaded, TEXTS)[number]


def test_no_trace_outlives_its_text(loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[weakref.ref[Trace]] = []

    def kept(*given: Any, **more: Any) -> Trace:
        gc.collect()
        assert not any(trace() for trace in made)
        trace = record(*given, **more)
        made.append(weakref.ref(trace))
        return trace

    monkeypatch.setattr(prompts, "record", kept)
    record_many(loaded, TEXTS * 3)
    gc.collect()
    assert [trace() for trace in made] == [None] * 9


def test_opened_traces_are_kept_within_a_budget(loaded: LoadedModel) -> None:
    many = record_many(loaded, TEXTS)
    small = replace(many, _opened=ByteBudgetCache(int(1.5 * many[0].nbytes)))
    first = small[0]
    assert small[0] is first
    assert small[1].text == TEXTS[1]
    assert small[0] is not first  # it had to leave


def test_a_model_that_was_changed_since_is_told(loaded: LoadedModel) -> None:
    own = models.load("own-encoder")
    many = record_many(own, TEXTS)
    with torch.no_grad():
        next(p for name, p in own.network.named_parameters() if p.ndim == 2 and "embed" not in name).mul_(1.5)
    with pytest.raises(ValueError, match="the model was changed since"):
        many[0]


def test_it_prints_as_a_line(loaded: LoadedModel) -> None:
    assert repr(record_many(loaded, [*TEXTS, ""])) == (
        "<3 of 4 texts in 'mini-bert': 72 rows of heads, 1 failed (.failed says why)>"
    )
