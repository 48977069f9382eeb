"""The section Experts: on tiny models with experts it keeps the contract of sections, and its sentences are true."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inspector
import models
from inspector.sections import registry
from inspector.sections.block import experts
from inspector.sections.section import Check, Figure, Map, Note, Paragraph, Section, Sentence
from inspector.sections.subject import Subject
from inspector.wording import experts as words
from tests.inspector.probe.test_routing import FAMILIES, TARGET
from tests.inspector.probe.families import save
from tests.inspector.sections.contract import (
    blocks,
    code_faults,
    markup_faults,
    opening_faults,
    pick_faults,
    picture_faults,
    record_faults,
)
from tests.inspector.views.page import HOSTILE

TEXT = "the cat sat on the mat because the dog sat on it"
SECTION = registry.section("block/experts")
pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("experts")


def subject_of(name: str, folder: Path, *, text: str = TEXT) -> Subject:
    place = folder / name
    if not place.exists():
        save(FAMILIES[name], place)
    loaded = models.load(place)
    target = TARGET if loaded.shape == "encoder-decoder" else None
    subject = Subject(inspector.record(loaded, text, target=target), loaded)
    return replace(subject, stream=registry.sections("block").streams(subject)[-1])


@pytest.mark.parametrize("text", [TEXT, "it", HOSTILE])
@pytest.mark.parametrize(
    "name", ["mixtral", "qwen3_next", "llama4_text", "longcat_flash", "zaya", "axk1", "switch_transformers"]
)
def test_it_keeps_the_contract(name: str, text: str, folder: Path) -> None:
    subject = subject_of(name, folder, text=text)
    listed = blocks(SECTION, subject)
    faults = [
        *pick_faults(SECTION, subject),
        *opening_faults(listed),
        *picture_faults(SECTION, listed),
        *code_faults(listed, models.load),
        *record_faults(listed, subject.trace),
        *markup_faults(listed),
    ]
    assert not faults, "\n".join(faults)
