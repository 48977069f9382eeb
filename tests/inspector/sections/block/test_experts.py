"""The section Experts: on tiny models with experts it keeps the contract of sections, and its sentences are true."""

from __future__ import annotations

from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inspector
import models
from inspector.sections import registry
from inspector.sections.block import experts
from inspector.sections.section import Block, Check, Map, Note, Paragraph, Section, Sentence, flat
from inspector.sections.subject import Subject
from inspector.wording import experts as words
from inspector.wording.english.phrases import percent
from tests.inspector.probe.families import save
from tests.inspector.probe.test_routing import FAMILIES, TARGET, shuffled
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
    "name",
    ["mixtral", "qwen3_next", "llama4_text", "longcat_flash", "zaya", "axk1", "switch_transformers", "jetmoe"],
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


def told(subject: Subject, **chosen: Any) -> list[Block]:
    return list(flat(SECTION.blocks(subject, **chosen)))


def test_its_sentences_tell_the_numbers_of_the_layer(folder: Path) -> None:
    subject = subject_of("qwen2_moe", folder)
    for layer in (0, 1):
        listed = told(subject, layer=layer)
        router = inspector.record_routing(subject.model, subject.trace).layer("decoder", layer)
        counts = [int((router.chosen == expert).any(axis=1).sum()) for expert in range(4)]
        expert, share = int(np.argmax(counts)), max(counts) / len(router.chosen)
        sentence = next(block.text for block in listed if isinstance(block, Sentence))
        assert sentence == (
            f"In layer {layer}, expert {expert} takes most tokens: {percent(share)}. An even load would give each of 4 "
            "experts 50 %."
        )
        drawn = next(block for block in listed if isinstance(block, Map))
        (panel,) = drawn.panels  # 4 experts and more tokens: these run to the right
        assert np.array_equal(panel.values.T, router.matrix())
        assert panel.named is not None
        assert panel.values[panel.named] == router.weights.max()
        assert drawn.chooses is not None
        assert drawn.chooses(1, 5) == {experts.TOKEN: 5}
        shares = router.shared / (router.shared + router.routed)  # type: ignore[operator]
        note = next(block.text for block in listed if isinstance(block, Note))
        assert f"{percent(float(shares.mean()))} of the length of both" in note
        check = next(block for block in listed if isinstance(block, Check))
        assert check.holds
        assert check.text.endswith("exactly") == (router.off == 0)


def test_a_word_is_compared_within_its_text_and_with_another(folder: Path) -> None:
    subject = subject_of("mixtral", folder)
    (part,) = (block for block in told(subject) if isinstance(block, Section))
    first = list(flat(part.blocks(subject)))
    tokens = subject.tokens
    assert experts.TOKEN.first(subject) == next(at for at, token in enumerate(tokens) if tokens.count(token) > 1)
    (panel,) = next(block for block in first if isinstance(block, Map)).panels
    assert len(panel.rows) == tokens.count(tokens[experts.TOKEN.first(subject)])
    other = list(flat(part.blocks(subject, routed_text="it was on the mat")))
    here, there = next(block for block in other if isinstance(block, Map)).panels
    assert np.array_equal(here.values, panel.values)
    routing = inspector.record_routing(subject.model, inspector.record(subject.model, "it was on the mat"))
    read = inspector.record(subject.model, "it was on the mat").tokens
    places = [at for at, token in enumerate(read) if token == tokens[experts.TOKEN.first(subject)]]
    assert np.array_equal(there.values, routing.layer("decoder", 0).matrix()[places])
    assert "of the other text have" in next(block.text for block in other if isinstance(block, Paragraph))
    alone = list(flat(part.blocks(subject, token=tokens.index("▁cat"), routed_text="it was on the mat")))
    assert [block.text for block in alone if isinstance(block, Note)] == [
        "`cat` is no token of the other text.",
        "`cat` stands once in this text: write another text with it, or choose another token.",
    ]


def test_the_python_lines_of_two_texts_give_the_same_table(folder: Path) -> None:
    subject = subject_of("mixtral", folder)
    (part,) = (block for block in told(subject) if isinstance(block, Section))
    listed = list(flat(part.blocks(subject, routed_text="it was on the mat")))
    assert not list(code_faults(listed, models.load))


def test_a_model_without_experts_says_so_and_a_refused_layer_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (note,) = told(subject_of("llama", folder))
    assert isinstance(note, Note)
    assert note.text == words.NONE
    shuffled(monkeypatch)
    for layer, note in enumerate(told(subject_of("mixtral", folder))):
        assert isinstance(note, Note)
        assert unescape(note.text).startswith(f"Not shown of layer {layer}: its experts, one at a time, sum up to")
