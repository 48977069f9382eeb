"""The content of a notebook cell: the exported page, whole, in a frame."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

import inspector
from inspector import export, heads
from inspector.export import notebook
from inspector.trace import Trace
from models import LoadedModel
from tests.inspector.probe.hybrids import loaded_family


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return inspector.record(minilm, 'He said "<script>alert(1)</script>" & left.')


class _Frames(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_cell_holds_one_frame_with_the_exported_page(trace: Trace) -> None:
    parser = _Frames()
    parser.feed(inspector.show(trace, layer=2, head=1, live=False, height=500)._repr_html_())
    [(tag, attributes)] = parser.found
    assert tag == "iframe"
    assert attributes["srcdoc"] == export.html(trace, layer=2, head=1, stream="encoder")
    assert "height: 500px" in (attributes["style"] or "")


def test_without_a_head_the_most_telling_is_open(trace: Trace) -> None:
    layer, head = heads.most_telling(heads.measure(trace))
    assert inspector.show(trace, live=False).page == export.html(trace, layer=layer, head=head, stream="encoder")


def test_a_layer_without_softmax_is_shown_by_its_own_map(tmp_path: Path) -> None:
    hybrid = inspector.record(loaded_family("qwen3_next", tmp_path / "hybrid"), "the cat sat")
    delta = {"layer": 0, "head": 2, "kind": "gated delta rule", "stream": "decoder"}
    assert inspector.show(hybrid, layer=0, head=2, live=False).page == export.html(hybrid, **delta)
    assert inspector.show(hybrid, kind="gated delta rule", head=2, live=False).page == export.html(hybrid, **delta)
    layer, head = heads.most_telling(heads.measure(hybrid))
    assert inspector.show(hybrid, live=False).page == export.html(hybrid, layer=layer, head=head, stream="decoder")
    scan = inspector.record(loaded_family("mamba", tmp_path / "mamba"), "the cat sat")
    assert inspector.show(scan, live=False).page == export.html(
        scan, layer=0, head=0, kind="selective scan", stream="decoder"
    )


def test_what_is_not_there_is_refused(trace: Trace) -> None:
    with pytest.raises(ValueError, match="head 99 is out of range"):
        inspector.show(trace, layer=0, head=99)


def test_without_anywidget_there_is_a_frame_and_no_live_view(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "find_spec", lambda name: None)
    assert isinstance(inspector.show(trace, layer=0, head=0), notebook.NotebookView)
    with pytest.raises(ValueError, match="pip install anywidget"):
        inspector.show(trace, live=True)


@pytest.mark.parametrize(("tokens", "every"), [(42, True), (43, False), (64, False), (256, False)])
def test_a_cell_is_small_and_stores_its_page_once(minilm: LoadedModel, tokens: int, every: bool) -> None:
    view = inspector.show(inspector.record(minilm, "cat " * (tokens - 2)), layer=2, head=1, live=False)
    assert len(view._repr_html_()) < 1.3e6
    assert ('class="every"' in view.page) == every
    assert repr(view) == "NotebookView(height=900)"
