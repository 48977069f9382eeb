"""An atlas of a model whose layers mix tokens in several ways: what attends is measured, other layers are named."""

from __future__ import annotations

from pathlib import Path

import pytest

import inspector
from inspector import atlas
from inspector.sections.atlas import heads
from inspector.sections.section import Map, Note, Sentence
from inspector.sections.subject import Subject
from inspector.wording.english import atlas as words
from tests.inspector.probe.hybrids import larger_hybrid, loaded_family
from tests.inspector.sections.atlas.test_heads import told

TEXTS = ("the cat sat", "the dog sat on the log because it was tired", "it was the mat")


def notes(subject: Subject) -> str:
    return " ".join(block.text for block in told(heads.SECTION, subject) if isinstance(block, Note))


def test_layers_without_maps_are_named_and_the_others_have_rows(tmp_path: Path) -> None:
    loaded = larger_hybrid(tmp_path / "model")
    made = atlas.build(loaded, TEXTS, out=tmp_path / "atlas")
    assert made is not None
    trace = inspector.record(loaded, TEXTS[1])
    attend = sorted({site.layer for site in trace.sites})
    assert sorted(made.heads["layer"].unique()) == attend == [3, 7, 11]
    assert sorted({mixer.site.layer for mixer in trace.mixers}) == [layer for layer in range(12) if layer not in attend]
    subject = Subject(None, loaded, "decoder", opened=made)
    listed = told(heads.SECTION, subject)
    assert isinstance(listed[0], Sentence)
    (grid,) = [block for block in listed if isinstance(block, Map)]
    assert list(grid.panels[0].rows) == ["3", "7", "11"]
    assert "Of 12 layers, layers 0 to 2, 4 to 6 and 8 to 10 have no row" in notes(subject)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("family", "said"),
    [
        *((name, "Of 2 layers, layer 0 has no row") for name in ("bamba", "kimi_linear", "lfm2", "recurrent_gemma")),
        ("falcon_h1", "Softmax attention alone is measured here"),  # each layer has both
    ],
)
def test_an_atlas_of_each_kind_of_hybrid(family: str, said: str, tmp_path: Path) -> None:
    loaded = loaded_family(family, tmp_path / "model")
    made = atlas.build(loaded, TEXTS, out=tmp_path / "atlas")
    subject = Subject(None, loaded, "decoder", opened=made)
    assert isinstance(told(heads.SECTION, subject)[0], Sentence)
    assert said in notes(subject)


def test_a_model_without_softmax_attention_has_no_atlas(tmp_path: Path) -> None:
    loaded = loaded_family("mamba2", tmp_path / "model")
    with pytest.raises(ValueError, match="shows none of its attention, so there is nothing to measure"):
        atlas.build(loaded, TEXTS, out=tmp_path / "atlas")


def test_runs_of_layers_are_told_by_their_ends() -> None:
    assert "Of 9 layers, layers 0, 2 to 3 and 8 have no row" in words.without_rows([0, 2, 3, 8], of=9)
    assert "layer 1 has no row" in words.without_rows([1], of=2)
