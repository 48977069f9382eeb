"""Bundled models that stand in are of the kind, and where the first was not fetched the next is asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from inspector.questions.index import QUESTIONS
from inspector.questions.record.kinds import ANY, ENCODER, Kind
from inspector.questions.record.subject import Subject
from models import LoadedModel
from models.fetch import store

KINDS = {question.of: question.number for question in reversed(QUESTIONS) if question.of is not None}


@pytest.mark.parametrize("kind", KINDS, ids=[f"of question {number}" for number in KINDS.values()])
def test_every_stand_in_is_of_the_kind(kind: Kind, shipped: Callable[[str], LoadedModel]) -> None:
    assert kind.instead
    assert [id for id in kind.instead if not kind.can(shipped(id))] == []


def test_where_minilm_was_not_fetched_mini_bert_stands_in(
    shipped: Callable[[str], LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = Subject(shipped("mini-gpt"), "The cat sat.", load=shipped)
    assert subject.within(ENCODER).loaded.card.id == "minilm"
    monkeypatch.setattr(store, "_found", lambda package: None)
    assert subject.within(ENCODER).loaded.card.id == "mini-bert"
    assert subject.within(ENCODER).text == "The cat sat."
    assert ANY.stand_in(subject.at_hand) == "mini-bert"
    assert Kind(ANY.can, ANY.lacks, ("minilm",)).stand_in(subject.at_hand) == "minilm"  # whose loading says why
