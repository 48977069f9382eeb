"""A section as the output of a notebook cell: the blocks of the page, live figures, and what it refuses."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import inspector
from inspector.sections import registry
from inspector.sections.section import Figure, Sentence, Table
from inspector.trace import Trace
from models import LoadedModel
from tests.inspector.views.page import HOSTILE


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return inspector.record(minilm, HOSTILE)


def test_the_cell_has_the_blocks_of_the_section(trace: Trace, minilm: LoadedModel) -> None:
    cell = inspector.sections.show("block/added", trace, loaded=minilm)
    assert isinstance(cell.blocks[0], Sentence)
    figures = [block for block in cell.blocks if isinstance(block, Figure)]
    plotly = [bundle for bundle in cell.outputs() if "application/vnd.plotly.v1+json" in bundle]
    assert [figure.id for figure in figures] == ["block-shares", "block-cosines", "block-alike"]
    for figure, bundle in zip(figures, plotly, strict=True):
        shown = json.loads(json.dumps(bundle["application/vnd.plotly.v1+json"], default=str))
        assert len(shown["data"]) == len(figure.draw(mode="light").data)
        assert bundle["text/plain"] == figure.alt
    assert any(isinstance(block, Table) for block in cell.blocks)


def test_tables_and_markdown_hold_no_markup_of_the_text(trace: Trace, minilm: LoadedModel) -> None:
    for path in ("block/way", "block/ffn"):
        for bundle in inspector.sections.show(path, trace, loaded=minilm).outputs():
            outside = re.sub(r"`[^`]*`", "", bundle.get("text/markdown", "")) + bundle.get("text/html", "")
            assert not re.search(r"<img|\*\*bold\*\*|onerror=", outside), outside


def test_choices_are_taken_and_what_is_no_choice_is_refused(trace: Trace, minilm: LoadedModel) -> None:
    show = inspector.sections.show
    first, other = (show("block/way", trace, loaded=minilm, **more).blocks[0] for more in ({}, {"layer": 3}))
    assert "enters layer 0" in first.text
    assert "enters layer 3" in other.text
    for more, told in (
        ({"layer": 99}, "Layer: 99 is none of 0 to 5."),
        ({"head": 1}, "has no choice 'head'; it has layer, token."),
        ({"stream": "cross"}, "'cross' is no stream that this section shows; it shows encoder."),
    ):
        with pytest.raises(ValueError, match=re.escape(told)):
            show("block/way", trace, loaded=minilm, **more)
    for path, told in (("block/nothing", "has no section 'nothing'"), ("attention/x", "is no page of sections")):
        with pytest.raises(ValueError, match=told):
            show(path, trace, loaded=minilm)


def test_without_the_model_a_section_that_needs_it_says_so(trace: Trace) -> None:
    needing = [
        f"{address}/{section.id}"
        for address, page in registry.PAGES.items()
        if not page.board
        for section in registry.sections(address).sections
        if section.needs_model
    ]
    assert needing
    for path in needing:
        with pytest.raises(ValueError, match=re.escape("give it as loaded=models.load('minilm').")):
            inspector.sections.show(path, trace)


def test_a_map_is_live_in_a_frame_of_its_own(trace: Trace) -> None:
    from inspector.components.matrix import Panel
    from inspector.sections.notebook import Cell
    from inspector.sections.section import Map

    panel = Panel(trace.attention(layer=0, head=0), rows=trace.tokens, columns=trace.tokens)
    block = Map("map", "One head", (panel,), "query", "key", 'weights of "one" head')
    _, bundle, _ = Cell((block,)).outputs()
    frame = html.unescape(re.search(r'srcdoc="([^"]*)"', bundle["text/html"])[1])
    assert "default-src 'none'" in frame
    assert "matrix.draw(" in frame
    assert 'title="weights of &quot;one&quot; head"' in bundle["text/html"]


def test_a_section_that_the_model_cannot_fill_names_models_that_can(trace: Trace, minilm: LoadedModel) -> None:
    with pytest.raises(ValueError, match=r"^minilm .*; smollm2.* can\.$"):
        inspector.sections.show("block/wrote_prediction", trace, loaded=minilm)


CELLS = (
    """import inspector, models
loaded = models.load("mini-bert")
trace = inspector.record(loaded, "The cat sat on the mat.")""",
    "inspector.show(trace)",
    "inspector.show(trace, live=False)",
    *(
        f'inspector.sections.show("{path}", trace, loaded=loaded)'
        for path in ("layernorm/change", "block/added", "block/way", "costs/opening", "scores/one", "tokens/masking")
    ),
)


@pytest.mark.heavy
def test_a_notebook_of_sections_runs_under_nbconvert(tmp_path: Path) -> None:
    reason = "nbconvert is not installed: pip install -r requirements-notebook-dev.txt"
    nbformat = pytest.importorskip("nbformat", reason=reason)
    for package in ("nbconvert", "ipykernel", "anywidget"):
        pytest.importorskip(package, reason=reason)
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "sections.ipynb")
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    root = Path(__file__).parents[3]
    environment = {**os.environ, **dict.fromkeys(places, str(tmp_path)), "PYTHONPATH": str(root)}
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--execute", "sections.ipynb"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "sections.html").read_text(encoding="utf-8")
    assert page.count("headlight-still-") == 1
    assert page.count("<iframe srcdoc=") >= 1
