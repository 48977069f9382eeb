"""The contract of all sections, over the registry and eight subjects: a new section is held to it at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import inspector
import models
from inspector.components.matrix import Panel
from inspector.plots.chart import Chart
from inspector.sections import registry
from inspector.sections.picks import Listed
from inspector.sections.section import (
    Figure,
    HeadMaps,
    Map,
    Mark,
    Note,
    Paragraph,
    Row,
    Section,
    Sentence,
    Thumbnails,
)
from inspector.sections.subject import Configuration, Subject
from tests.inspector.sections.contract import (
    blocks,
    code_faults,
    markup_faults,
    opening_faults,
    pick_faults,
    picture_faults,
    plain_faults,
    record_faults,
)
from tests.inspector.views.page import HOSTILE

SUBJECTS: dict[str, dict[str, str]] = {
    "minilm": {"text": "The cat sat on the mat because it was tired."},
    "mini-gpt": {"text": "He said that the old man was the first."},
    "translator": {"text": "I love cats.", "target": "我爱猫。"},
    "mini-bert-zh": {"text": "猫坐在垫子上，因为它累了。"},
    "two texts": {"text": "The cat sat.", "text_pair": "It was tired."},
    "one token": {"text": "a"},
    "hostile": {"text": HOSTILE},
    "no text": {"shape": "llama-2-70b"},
}
MODELS = {"two texts": "minilm", "one token": "mini-gpt", "hostile": "minilm"}
PATHS = [
    f"{address}/{section.id}"
    for address, page in registry.PAGES.items()
    if not page.board
    for section in registry.sections(address).sections
]
SLOWEST = frozenset(
    (
        *("layernorm/depth", "positions/curves", "scores/gradients", "tokens/both", "tokens/long"),
        *("time/past", "time/reach", "time/recurrent"),
    )
)
"""Eight sections that take more than half of the time of all: `make test` alone asks them."""


@cache
def loaded(id: str, **options: Any) -> models.LoadedModel:
    return LOAD(id, **options)


LOAD = models.load


@cache
def subject_of(name: str) -> Subject:
    if shape := SUBJECTS[name].get("shape"):
        return Subject(None, given=Configuration.of_shape(shape, tokens=300))
    model = loaded(MODELS.get(name, name))
    return Subject(inspector.record(model, **SUBJECTS[name]), model, load=loaded)


def faults(path: str, section: Section, subject: Subject) -> Iterator[str]:
    """Look for every fault; a section that cannot be asked of the subject says why in one sentence, and that is all."""
    page = registry.sections(path.partition("/")[0])
    if subject.given is not None and section.about != "configuration":
        return
    need = page.need_of(section)
    if need is not None and not need.can(subject.model):
        return
    if streams := page.streams(subject):
        subject = replace(subject, stream=streams[0])
    yield from pick_faults(section, subject)
    try:
        listed = blocks(section, subject)
    except ValueError as error:
        if not str(error).endswith(".") or len(str(error)) > 600:
            yield f"it refuses in no sentence: {error}"
        return
    yield from opening_faults(listed)
    yield from picture_faults(section, listed)
    yield from plain_faults(listed)
    yield from code_faults(listed, loaded)
    if subject.given is None:
        yield from record_faults(listed, subject.trace)
    yield from markup_faults(listed)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        pytest.param(name, path, marks=() if name == "minilm" and path not in SLOWEST else pytest.mark.heavy)
        for name in SUBJECTS
        for path in PATHS
    ],
)
def test_a_section_keeps_the_contract(name: str, path: str) -> None:
    found = list(faults(path, registry.section(path), subject_of(name)))
    assert not found, "\n".join(found)


# --- planted faults ---------------------------------------------------------------------------------------------------

TABLE = pd.DataFrame({"layer": [0, 1], "share": [0.25, 0.5]})
CODE = "import pandas as pd\ntable = pd.DataFrame({'layer': [0, 1], 'share': [0.25, 0.5]})"
FORGETFUL = "loaded = models.load('minilm')\ntrace = inspector.record(loaded, 'The cat sat.')"
FIGURE = Figure("planted", "Shares", Chart(TABLE, "layer", "share"), "Share by layer, as a line", CODE, TABLE)
SENTENCE = Sentence("Layer 1 adds 50 %.", about=(Mark("planted", {"layer": 1}),))
CELLS = Map("cells", "Cells", (Panel(np.eye(2), rows="ab", columns="ab"),), "row", "column", "Cells by row and column")
FRAMED = replace(CELLS, panels=(replace(CELLS.panels[0], named=(0, 0)),), code="table = 1")
LAYER = Listed("layer", "Layer", lambda subject: ("Layer 0", "Layer 1"))


class Trusting(Listed):
    def checked(self, subject: Subject, value: Any) -> int:
        return int(value)


class Unmarked(Chart):
    def marking(self, where: Any) -> Unmarked:
        return self


class Shorthand(Chart):
    def layout(self, **of: Any) -> dict[str, Any]:
        return super().layout(**of) | {"yaxis": {"title": "share"}}


def of(*planted: Any, picks: tuple[Any, ...] = (LAYER,)) -> Section:
    return Section("planted", "Planted", lambda subject, **chosen: iter(planted), picks)


PLANTED: dict[str, Section] = {
    "says nothing": of(FIGURE),
    "no number": of(Sentence("Some layer adds most."), FIGURE),
    "is about ": of(replace(SENTENCE, about=(Mark("planted", {"layer": 7}),)), FIGURE),
    "which is not there": of(SENTENCE),
    "does not outline": of(SENTENCE, replace(FIGURE, draw=Unmarked(TABLE, "layer", "share"))),
    "does not frame": of(replace(SENTENCE, about=(Mark("cells", {"row": 1}),)), CELLS),
    "tells no number of": of(replace(SENTENCE, text="Layer 1 adds 25 %."), FIGURE),
    "of the cell that cells frames": of(replace(SENTENCE, about=(Mark("cells", {"row": 0}),)), FRAMED),
    "of the cell that it frames": of(SENTENCE, FIGURE, replace(FRAMED, sentence="The first cell has 0.5.")),
    "first sentence has": of(replace(SENTENCE, text="Layer 1 adds 50 %, layer 0 25 % and both of them 75 %."), FIGURE),
    "opening has": of(
        SENTENCE, Paragraph("It is told, and told again, in many more words than a reader has. " * 5), FIGURE
    ),
    "has no heading": replace(of(SENTENCE, replace(FIGURE, heading="")), title=""),
    "no alternative text": of(SENTENCE, replace(FIGURE, alt="")),
    "once Plotly has validated it": of(SENTENCE, replace(FIGURE, draw=Shorthand(TABLE, "layer", "share"))),
    "two blocks have the id": of(SENTENCE, FIGURE, FIGURE),
    "has no plain form": of(SENTENCE, replace(FIGURE, table=TABLE.assign(share=[object(), 1]))),
    "not a header and 2 rows": of(SENTENCE, replace(FIGURE, table=pd.concat({"a": TABLE}, axis=1))),
    "has no Python lines": of(SENTENCE, replace(FIGURE, code="")),
    "end in NameError": of(SENTENCE, replace(FIGURE, code="table = missing")),
    "make no table": of(SENTENCE, replace(FIGURE, code="rows = 1")),
    "give other numbers": of(SENTENCE, replace(FIGURE, code=CODE.replace("0.25", "0.26"))),
    "forget the second text": of(SENTENCE, Note("It reads.", code=FORGETFUL)),
    "meets": of(SENTENCE, FIGURE, picks=(Trusting("layer", "Layer", lambda subject: ("Layer 0",)),)),
    "holds markup": of(SENTENCE, FIGURE, Paragraph(f"It reads {HOSTILE}.")),
}


def test_what_a_sentence_names_is_marked_in_rows_and_parts_too() -> None:
    grid = Thumbnails("grid", np.zeros((2, 3, 1, 1), np.uint8), 1, (0, 0), [[""] * 3] * 2, "a b c", dict, None, TABLE)
    maps = HeadMaps("maps", (), "ab", "ab", 0, 0, (2, 3), 1.0, "a b c", dict)
    about = (*SENTENCE.about, Mark("grid", {"layer": 1, "head": 2}), Mark("maps", {"query": 0, "key": 1}))
    part = Section("part", "Part", lambda subject: iter((FIGURE, maps)))
    _, row, inner, _ = of(
        replace(SENTENCE, about=about), Row((FIGURE, (grid, Note("Said.")))), part, Note("Said.")
    ).blocks(subject_of("minilm"))
    assert isinstance(row, Row)
    assert isinstance(inner, Section)
    (figure, (marked, _)), (again, head) = row.columns, inner.blocks(subject_of("minilm"))
    assert figure.draw.marked == again.draw.marked == [{"layer": 1}]
    assert marked.named == (1, 2)
    assert head.named == (0, 1)
    (before,) = of(FIGURE).blocks(subject_of("minilm"))
    assert not before.draw.marked


def test_a_section_without_a_fault_has_none() -> None:
    note = Note("The token `<img src=x>` is shown letter by letter.")
    assert list(faults("block/planted", of(SENTENCE, FIGURE, note), subject_of("minilm"))) == []


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(fault: str) -> None:
    subject = subject_of("two texts" if "second text" in fault else "minilm")
    found = list(faults("block/planted", PLANTED[fault], subject))
    assert any(fault in line for line in found), found
