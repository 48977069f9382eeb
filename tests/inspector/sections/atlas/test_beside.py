"""Two atlases beside each other: one scale, the sentence of both numbers, the texts, lines that give both grids."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest

import models
from inspector import atlas
from inspector.atlas import library
from inspector.atlas.measures import NAMES
from inspector.sections.atlas import beside, colour, heads
from inspector.sections.atlas.colour import Colour
from inspector.sections.atlas.grid import Grid
from inspector.sections.section import Block, Map, Note, Sentence
from inspector.sections.subject import Subject
from tests.closeness import assert_close
from tests.inspector.sections.atlas.test_heads import told
from tests.inspector.sections.contract import HOSTILE_VALUES, code_faults, opening_faults, plain_faults
from tests.inspector.sections.openings import tells

OTHERS = ("mini-bert", "mini-bert-zh", "mini-gpt", "smollm2", "translator")
MEASURED = ("previous", "entropy", "offset_-3")
FOUND = ("det governor", "obj dependent", "best_offset")
TEXTS = ("The cat sat on the mat because it was tired.", "Who told you that?", "Rain fell on the old town.")


@pytest.fixture(scope="module")
def subject(minilm: models.LoadedModel) -> Subject:
    return Subject(None, minilm, "encoder", opened=library.of(minilm, keys=()).atlases[0])


@pytest.fixture(scope="module")
def own(minilm: models.LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> atlas.Atlas:
    """An atlas of the same model over three texts."""
    made = atlas.build(minilm, TEXTS, out=tmp_path_factory.mktemp("kept") / "three", name="three")
    assert made is not None
    return made


def shipped(model: str) -> atlas.Atlas:
    return atlas.open(library.SHIPPED / model)


def drawn(listed: list[Block]) -> Map:
    (grid,) = [block for block in listed if isinstance(block, Map)]
    return grid


def framed(grid: Map) -> list[float]:
    return [float(panel.values[panel.named]) for panel in grid.panels]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("by", [*MEASURED, *FOUND])
def test_the_sentence_tells_both_numbers_and_the_lines_give_both_grids(subject: Subject, by: str, other: str) -> None:
    listed = told(heads.SECTION, subject, by=by, atlas_beside=other, figure="texts")
    grid, first = drawn(listed), listed[0]
    assert isinstance(first, Sentence)
    scores = shipped(other).scores  # a decoder looks back alone, and finds no governor that stands behind
    pairs = {""} if scores is None else {"", "best_offset", *(scores["relation"] + " " + scores["direction"])}
    known = (by if by in FOUND else "") in pairs
    assert len(grid.panels) == 1 + known
    assert ("no such number" in " ".join(block.text for block in listed if isinstance(block, Note))) is not known
    short = replace(first, text=first.text.replace("3 tokens back", "so far"))  # a name's number
    assert list(opening_faults([short, *listed[1:]])) == []
    assert list(plain_faults(listed)) == []
    assert list(code_faults(listed, models.load)) == []
    if known:
        assert all(tells(first.text, value) for value in framed(grid)), (first.text, framed(grid))
        space: dict[str, Any] = {}
        exec(compile(grid.code, "grid", "exec"), space)
        for name, panel, model in (("table", grid.panels[0], "minilm"), ("beside", grid.panels[1], other)):
            column = {"best_offset": "gain"}.get(by, "share" if " " in by else by)
            rows = space[name]
            rows = rows[rows["stream"] == shipped(model).heads["stream"].iloc[0]]
            given = panel.values[rows["layer"], rows["head"]] / (100 if by == "best_offset" else 1)
            assert_close(given, rows[column].to_numpy(float), relative=1e-6)


@pytest.mark.parametrize("by", ["previous", "entropy", "best_offset", "det governor"])
def test_both_grids_have_one_scale_of_colours(subject: Subject, by: str) -> None:
    grid = drawn(told(heads.SECTION, subject, by=by, atlas_beside="mini-gpt"))
    values = np.concatenate([np.ravel(panel.values) for panel in grid.panels])
    bounded = by in ("previous", "det governor")  # shares of all there is
    assert grid.message().end == (1.0 if bounded else pytest.approx(np.nanmax(np.abs(values))))
    assert grid.diverging is (by == "best_offset")


def test_which_has_more_is_said_where_the_intervals_part() -> None:
    """The ends of each mean are computed here: 1.96 standard errors to both sides."""

    def ends(model: str, measure: str, place: int) -> tuple[float, float]:
        statistics, at = shipped(model).statistics, (NAMES.index(measure), place)
        error = 1.96 * float(statistics.deviation[at]) / sqrt(int(statistics.count[at]))
        return float(statistics.mean[at]) - error, float(statistics.mean[at]) + error

    said = set()
    for measure in MEASURED:
        own, other = shipped("mini-bert"), shipped("minilm")
        top = int(np.nanargmax(other.statistics.mean[NAMES.index(measure)]))
        of_measure = colour.of(own, measure)
        for place in range(len(own.heads)):
            first = Grid(own, of_measure, "encoder", place)
            second = beside.grid(first, other)
            assert second is not None
            assert second.place == top
            (low, high), (low_other, high_other) = ends("mini-bert", measure, place), ends("minilm", measure, top)
            sentence = beside.opening(first, second)
            overlap = low <= high_other and high >= low_other
            than = "more than" if low > low_other else "less than"
            assert than in sentence or "as much as" in sentence, sentence
            assert ("not surely" in sentence) is (overlap and "as much as" not in sentence), sentence
            said |= {than} if not overlap else {"overlap"}
    assert {"more than", "less than"} <= said


def test_the_interval_of_a_gain_is_the_published_one() -> None:
    """Newcombe (1998), Statistics in Medicine 17, 873, table II: 56 of 70 against 48 of 80, 0.0524 to 0.3339."""
    from inspector.atlas.relation_scores import wilson

    (low, offset_low), (high, offset_high) = wilson(np.array([56, 48]), np.array([70, 80]))
    row = {"share": 0.8, "low": low, "high": high}
    row |= {"baseline_share": 0.6, "baseline_low": offset_low, "baseline_high": offset_high}
    of_one = Colour("best_offset", "", np.array([20.0]), "", None, "", scores=pd.DataFrame([row]))
    assert colour.interval(shipped("minilm"), of_one, 0) == pytest.approx((5.24, 33.39), rel=1e-3)


def test_texts_that_differ_are_said_to_differ(subject: Subject) -> None:
    def notes(other: str) -> str:
        listed = told(heads.SECTION, subject, atlas_beside=other)
        return " ".join(block.text for block in listed if isinstance(block, Note))

    assert "Both atlases are of the same 4,078 texts. Each model has its own tokens." in notes("mini-gpt")
    assert "The texts differ" in notes("smollm2")
    assert "(510 texts): a part of the difference may be theirs." in notes("smollm2")
    assert "Over 510 texts" in notes("smollm2")
    assert "The texts differ" not in notes("nothing")


def test_the_same_model_over_other_texts_tells_of_the_same_head(
    subject: Subject, own: atlas.Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(library.VARIABLE, str(own.folder.parents[1]))
    assert list(beside.options(subject))[:2] == ["nothing", "kept/three"]
    listed = told(heads.SECTION, subject, by="previous", atlas_beside="kept/three", layer=3, head=4)
    grid, first = drawn(listed), listed[0]
    assert isinstance(first, Sentence)
    assert [panel.named for panel in grid.panels] == [(3, 4), (3, 4)]
    assert [panel.title for panel in grid.panels] == ["UD English EWT, dev and test", "three"]
    assert framed(grid)[1] == own.statistics.mean[NAMES.index("previous"), own.place(layer=3, head=4, stream="encoder")]
    assert "over the other texts: " in first.text
    assert grid.choosing == 2  # the same heads
    assert list(opening_faults(listed)) == []
    assert list(code_faults(listed, models.load)) == []
    assert drawn(told(heads.SECTION, subject, atlas_beside="mini-bert")).choosing == 1
    opened = replace(subject, opened=own)
    assert "minilm" in beside.options(opened), "the shipped atlas stands beside the reader's"


def test_an_atlas_of_other_weights_or_under_a_key_is_not_offered(
    subject: Subject, own: atlas.Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = own.folder.parents[1]
    monkeypatch.setenv(library.VARIABLE, str(folder))
    changed = replace(subject.atlas, manifest=replace(subject.atlas.manifest, model_hash="0" * 64))
    assert not {"kept/three", "minilm"} & library.beside(changed, keys=None).keys()
    key = f"key-{'a' * 22}"
    (folder / "three").rename(folder / key)
    try:
        for keys, there in (((), False), (None, True), ({key}, True)):
            assert (f"kept/{key}" in beside.options(replace(subject, keys=keys))) is there
    finally:
        (folder / key).rename(folder / "three")


@pytest.mark.parametrize("value", [value for value in HOSTILE_VALUES if value != "nothing"] + ["kept/../up", "minilm"])
def test_what_is_no_atlas_is_refused(subject: Subject, value: object) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        list(heads.SECTION.blocks(subject, atlas_beside=value))


def test_the_second_of_a_model_with_layers_of_its_own_stands_in_its_own_rows(subject: Subject) -> None:
    grid = drawn(told(heads.SECTION, subject, by="previous", atlas_beside="smollm2"))
    assert [panel.values.shape for panel in grid.panels] == [(6, 12), (30, 9)]
    means = shipped("smollm2").statistics.mean[NAMES.index("previous")]
    assert grid.panels[1].named == divmod(int(np.nanargmax(means)), 9)
    np.testing.assert_array_equal(grid.panels[1].values.ravel(), means)
