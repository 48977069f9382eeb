"""The report of a text: each section about it, no script, no request, no markup of the text; and its command."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

import inspector
from inspector import patching
from inspector.__main__ import main
from inspector.export import markdown, report
from inspector.sections import registry
from inspector.text import number
from inspector.trace import Trace
from models import LoadedModel
from tests.inspector.probe.hybrids import loaded_family
from tests.inspector.views.page import HOSTILE

pytestmark = pytest.mark.heavy


class Tags(HTMLParser):
    """The tags of a document with their attributes, and its text."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return inspector.record(minilm, HOSTILE)


@pytest.fixture(scope="module")
def written(trace: Trace, minilm: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Tags:
    path = tmp_path_factory.mktemp("report") / "report.html"
    report(trace, path, loaded=minilm)
    return Tags(path.read_text(encoding="utf-8"))


def test_every_section_about_the_text_is_there_once_and_in_the_contents(written: Tags) -> None:
    ids = [attributes["id"] for tag, attributes in written.tags if tag == "h3"]
    links = [attributes["href"] for tag, attributes in written.tags if tag == "a"]
    want = [
        f"{page.address}-{section.id}"
        for page in registry.PAGES.values()
        if not page.board
        for section in registry.sections(page.address).sections
        if section.about == "text" and not section.starts
    ]
    assert ids == want
    assert links == [f"#{id}" for id in want]


def test_what_the_page_keeps_behind_a_door_is_read_in_the_report(written: Tags) -> None:
    assert "What the residual does" in written.text  # under More, in Time's first section


def test_nothing_is_fetched_or_run_and_no_markup_is_the_texts(written: Tags) -> None:
    assert not {"script", "img", "link", "iframe", "object", "base"} & {tag for tag, _ in written.tags}
    for tag, attributes in written.tags:
        assert not any(name.startswith("on") or name == "style" for name in attributes), (tag, attributes)
        addresses = [value or "" for name, value in attributes.items() if name in ("href", "src", "action")]
        assert all(value.startswith(("#", "data:image/png;base64,")) for value in addresses), addresses
    policy = next(attributes["content"] for tag, attributes in written.tags if "http-equiv" in attributes)
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert HOSTILE in written.text


def test_pictures_have_both_modes_and_words_for_those_who_hear(written: Tags) -> None:
    pictures = [attributes for tag, attributes in written.tags if attributes.get("role") == "img"]
    assert [one["class"] for one in pictures] == ["light", "dark"] * (len(pictures) // 2)
    assert len(pictures) >= 6
    assert all(one["aria-label"] for one in pictures)
    told = r"(\d+) sections at their first choices, (\d+) pictures(?:, (\d+) of them as tables)?"
    counted = re.search(told, written.text)
    assert counted is not None
    assert int(counted[2]) - int(counted[3] or 0) == len(pictures) // 2


def test_without_the_model_the_sections_that_need_it_say_so(trace: Trace, tmp_path: Path) -> None:
    report(trace, tmp_path / "report.html")
    text = Tags((tmp_path / "report.html").read_text(encoding="utf-8")).text
    assert "needs the model minilm: give it as loaded=models.load('minilm')." in text


def test_an_end_on_the_way_leaves_no_file(trace: Trace, minilm: LoadedModel, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        report(trace, tmp_path / "report.html", loaded=minilm, on_progress=stop)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match=r"'report.pdf' is no name for a report: end it in .html"):
        report(trace, tmp_path / "report.pdf", loaded=minilm)


def test_the_command_writes_it_and_refuses_two_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.html"
    assert main(["The cat sat.", "--report", str(path)]) == 0
    assert "What each part adds" in path.read_text(encoding="utf-8")
    assert main(["The cat sat.", "--report", str(path), "--save", "map.html"]) == 2
    assert "give one of the two" in capsys.readouterr().err


def test_markdown_reads_formulas_and_code_and_no_html_or_link() -> None:
    assert markdown.html("$x_1$ and **b**") == (f"<p>{markdown.formula('x_1')} and <strong>b</strong></p>\n")
    assert "<math" in markdown.formula("x_1")
    assert markdown.html("`<img src=x>` costs $ 5 or $6") == "<p><code>&lt;img src=x&gt;</code> costs $ 5 or $6</p>\n"
    assert "<a" not in markdown.html("[a](javascript:alert(1)) ![b](x) <https://x.y> <b>raw</b>")


def test_a_formula_stands_in_its_line_or_alone_and_a_price_is_none() -> None:
    assert '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline">' in markdown.html("of $x^2$ alone")
    assert 'display="block"' in markdown.html(r"$$ s = 1 \sqrt{64} $$")
    assert "<math" not in markdown.html("costs $5 and $6 more, or $$")


def test_a_report_says_where_the_maps_of_other_mixers_are(tmp_path: Path) -> None:
    trace = inspector.record(loaded_family("mamba", tmp_path / "mamba"), "the cat sat")
    report(trace, tmp_path / "report.html")
    text = Tags((tmp_path / "report.html").read_text(encoding="utf-8")).text
    assert "Layers of this model mix tokens by a selective scan" in text


def test_kept_cuts_are_a_table_and_a_graph_and_none_are_nothing(
    shipped: Callable[[str], LoadedModel], tmp_path: Path
) -> None:
    loaded = shipped("mini-gpt")
    trace = inspector.record(loaded, "The old man saw the dog and said")
    cuts = {"cuts": "head 2.1 -> logit, norms held;head 0.1 -> zero"}
    report(trace, tmp_path / "kept.html", loaded=loaded, chosen={"scores/scissors": cuts})
    report(trace, tmp_path / "none.html", loaded=loaded)
    kept, none = (Tags((tmp_path / name).read_text(encoding="utf-8")) for name in ("kept.html", "none.html"))
    graph = "Writers and readers of the kept cuts by layer, an edge for each cut"
    labels = [attributes.get("aria-label") for tag, attributes in kept.tags if tag == "div"]
    assert labels.count(graph) == 2  # in light and in dark
    assert "Cuts that you kept" in kept.text
    uncut = patching.read(loaded, trace)
    parsed = [patching.parse(line, stream="decoder") for line in cuts["cuts"].split(";")]
    for _, row in patching.measure_cuts(uncut, parsed).iterrows():
        for value in (row["promise"], row["effect"]):
            assert number(value).replace("-", "\u2212") in kept.text
    assert "Cuts that you kept" not in none.text
    assert graph not in [attributes.get("aria-label") for _, attributes in none.tags]
    with pytest.raises(ValueError, match="'scores/none' is no section of a report"):
        report(trace, tmp_path / "no.html", loaded=loaded, chosen={"scores/none": {}})
