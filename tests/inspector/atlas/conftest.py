"""A small atlas of MiniLM, built once in a worker, and a main module that can be imported anew."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

import models
from inspector import atlas

SENTENCES = (
    "The cat sat on the mat because it was tired.",
    "Who told you that the cat was tired?",
    "In 1905 he wrote four papers; each of them changed physics.",
    "Stop!",
    "The old man and the sea, the old man and the boat.",
    "She reads unbelievably long Wikipedia articles at night.",
    "I cannot see the sea, you cannot see the sky.",
    "Rain fell.",
    "It was not the dog that barked, it was the fox.",
    "They came, they saw, they left.",
    "A red car and a blue car stood in front of the house.",
    "Nobody knew what to say.",
)


@pytest.fixture(autouse=True)
def main_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put an empty main module in place: a spawned process imports it anew, and tests of pages leave a page there."""
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))


@pytest.fixture(scope="session")
def small(minilm: models.LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> atlas.Atlas:
    """An atlas of twelve sentences in blocks of five."""
    made = atlas.build(minilm, SENTENCES, out=tmp_path_factory.mktemp("atlas") / "small", block_texts=5)
    assert made is not None
    return made
