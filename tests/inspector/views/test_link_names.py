"""The names of the link: a name means one kind of value on all pages, for the session keeps it from page to page."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

from inspector.sections import picks, registry
from tests.inspector.views.page import opened, said, turned

VIEWS = Path(__file__).parents[3] / "inspector" / "views"
KINDS = {
    "bind_number": "number",
    "bind_layer": "number",
    "bind_choice": "choice",
    "bind_several": "numbers",
    "bind_switch": "switch",
    "bind_words": "text",
    "number": "number",
    "decimal": "decimal",
    "layer": "number",
    "choice": "choice",
    "bar": "choice",
    "text": "text",
    "text_with_examples": "text",
    "several": "numbers",
    "words": "words",
}
KINDS_OF_PICKS = {
    picks.Named: "text",  # an id of many, which no page can list before it knows the text
    picks.Option: "choice",
    picks.Listed: "number",
    picks.Step: "number",
    picks.Count: "number",
    picks.Switch: "switch",
    picks.Several: "numbers",
    picks.Names: "words",
    picks.Decimal: "decimal",
    picks.Texts: "text",
    picks.Line: "text",
    picks.ClickedWords: "text",
}
WITHOUT_NAME = (picks.Words, picks.Filter, picks.Head)
"""Choices that the link does not have, or has under names that are the same on all pages."""
PLACES = {"link": 0, "controls": 1, "controls.bar": 2}
"""Places of the name among the arguments."""


def names(sources: dict[str, str]) -> dict[str, dict[str, list[str]]]:
    """Find the names that sources give the link, by kind of value, with the lines that do; name -> kind -> lines."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for file, source in sources.items():
        tree = ast.parse(source)
        constants = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call) or ast.unparse(call.func).split(".")[0] not in PLACES:
                continue
            module, _, function = ast.unparse(call.func).partition(".")
            place = PLACES.get(f"{module}.{function}", PLACES[module])
            if function not in KINDS or len(call.args) <= place:
                continue
            given = call.args[place]
            given = constants.get(ast.unparse(given), given)
            if isinstance(given, ast.Constant):
                found[str(given.value)][KINDS[function]].append(f"{file}:{call.lineno}")
    return found


def of_several_kinds(sources: dict[str, str]) -> dict[str, dict[str, list[str]]]:
    return {name: dict(kinds) for name, kinds in names(sources).items() if len(kinds) > 1}


def of_sections() -> dict[str, set[str]]:
    """List the names of the choices of sections, with the kinds of their values."""
    found: dict[str, set[str]] = defaultdict(set)
    for address, page in registry.PAGES.items():
        if not page.board:
            for pick in registry.sections(address).picks:
                if isinstance(pick, WITHOUT_NAME):
                    continue
                found[pick.id].add(next(kind for of, kind in KINDS_OF_PICKS.items() if isinstance(pick, of)))
    return found


def buttons(sources: dict[str, str]) -> dict[str, list[str]]:
    """Find the keys of buttons, and the ids of blocks that become one; name -> lines."""
    found: dict[str, list[str]] = defaultdict(list)
    for file, source in sources.items():
        for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
            keywords = {keyword.arg: keyword.value for keyword in call.keywords}
            match ast.unparse(call.func).split(".")[-1]:
                case "button":
                    name = keywords.get("key")
                case "Ask" | "Measurement":
                    name = call.args[0] if call.args else keywords.get("id")
                case "measurement":
                    name = keywords.get("id")
                case _:
                    continue
            if isinstance(name, ast.Constant):
                found[str(name.value)].append(f"{file}:{call.lineno}")
    return found


def test_no_button_has_the_name_of_a_choice() -> None:
    """Streamlit takes a choice under a button's key for a press, and what the button starts would start by itself."""
    sources = {str(path): path.read_text(encoding="utf-8") for path in VIEWS.parent.rglob("*.py")}
    found = buttons(sources)
    assert {"measure-layers", "cut-each-start", "language"} <= found.keys()
    of_views = names({path: source for path, source in sources.items() if path.startswith(str(VIEWS))})
    assert {name: lines for name, lines in found.items() if name in of_views.keys() | of_sections().keys()} == {}


@pytest.mark.parametrize(
    "planted", ['st.button("Go", key="batch")', 'Ask("batch", "Go", "")', 'counts.measurement(id="batch")']
)
def test_a_button_with_the_name_of_a_choice_is_found(planted: str) -> None:
    assert set(buttons({"one.py": planted})) == {"batch"}


def test_the_clock_waits_for_the_reader_who_chose_a_measure_elsewhere() -> None:
    app = opened("Scores", section="All heads")
    app.selectbox(key="measure").select_index(1).run()
    turned(app, "Costs")
    app.segmented_control(key="section").set_value("time").run()
    assert [button.label for button in app.button if button.key == "measure-lengths"] == ["Measure"]
    assert not app.exception


def test_a_name_has_one_kind_of_value_on_all_pages() -> None:
    sources = {str(path.relative_to(VIEWS)): path.read_text(encoding="utf-8") for path in VIEWS.rglob("*.py")}
    of_views, of_picks = names(sources), of_sections()
    assert {"batch", "norm_texts", "words", "lab_topic"} <= of_views.keys() | of_picks.keys()
    assert of_several_kinds(sources) == {}
    kinds = {name: {*kinds, *of_views.get(name, ())} for name, kinds in of_picks.items()}
    assert {name: found for name, found in kinds.items() if len(found) > 1} == {}


@pytest.mark.parametrize(
    "other",
    [
        'link.bind_words("batch", default="", most=9)',
        'link.bind_choice("batch", default="a", options=["a"])',
        'link.bind_switch("batch")',
        'NAME = "batch"\ncontrols.text_with_examples("Texts", NAME)',
        'controls.bar("Batch", ["a"], "batch")',
    ],
)
def test_a_name_of_two_kinds_is_found(other: str) -> None:
    sources = {"one.py": 'controls.number("Texts", "batch", default=1, last=9)', "other.py": other}
    assert set(of_several_kinds(sources)) == {"batch"}


def test_another_norm_opens_after_the_card_of_costs() -> None:
    app = opened("Costs", section="On your card")
    assert app.number_input(key="batch").value == 1
    turned(app, "Norms")
    app.segmented_control(key="section").set_value("other").run()
    assert "Cannot be shown" not in said(app)
    assert not app.exception
