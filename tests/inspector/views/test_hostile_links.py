"""Any value of any parameter: the page is there, and a sentence names what was asked and what is shown instead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import inspector
from tests.inspector.views.hostile import LINK_VALUES, mixtures
from tests.inspector.views.test_pages import PAGES, opened, said

VALUES = [*LINK_VALUES, *mixtures(33, seed=11)]
BOUND = {"whole": 2, "decimal": 0.5, "one": "b", "labelled": "b", "listed": "b", "slid": "b", "some": [1], "on": False}
PARAMETERS = {
    "Attention": "layer head query key lines between tokens sort only stream kind heads layers colours hide "
    "renormalise words sqrt linear why why_sorted row column apart model pair target",
    "Compare": "panels a_model a_text a_stream a_layer a_head a_mean b_model b_layer b_head hide words sqrt own_scale "
    "difference heads_of",
    "What if": "part token word ask drop mask_layer mask_head whole several by hide words sqrt stream",
    "Generate": "step decoding temperature top_k top_p seed new_tokens flops_of beams gen_layer gen_head gen_mean",
    "LayerNorm": "statistic norm_sqrt token norm norm_stream",
    "Positions": "dimensions",
    "Costs": "counted stream",
    "Lab": "lab_task lab_length lab_steps lab_rate lab_seeds lab_a_positions lab_a_score lab_b_layers lab_b_residual",
    "Training": "run moment sentence replay_stream replay_measure log_steps replay_layer replay_head",
}
STARTS = 2  # of each page, every parameter with another value each time


def every_widget() -> None:
    """A page with a widget of each kind that stands in the link."""
    import streamlit as st

    from inspector.views.shell import link
    from inspector.views.shell import widgets as parts

    link.read("", known_models=["minilm"], default_text="")
    names, titles = ["a", "b"], {"a": "First (a)", "b": "Second"}
    shown = {
        "whole": parts.number("whole", "whole", default=2, first=1, last=9),
        "decimal": parts.decimal("decimal", "decimal", default=0.5, first=0.05, last=5.0),
        "one": st.segmented_control(
            "one", names, default="b", key="one", required=True, bind=link.choice("one", default="b", options=names)
        ),
        "labelled": st.segmented_control(
            "labelled",
            names,
            default="b",
            format_func=titles.__getitem__,
            key="labelled",
            required=True,
            bind=link.choice("labelled", default="b", options=names, label=titles.__getitem__),
        ),
        "listed": st.selectbox(
            "listed", names, 1, key="listed", bind=link.choice("listed", default="b", options=names)
        ),
        "slid": st.select_slider("slid", names, "b", key="slid", bind=link.choice("slid", default="b", options=names)),
        "some": st.multiselect(
            "some", range(3), [1], key="some", bind=link.several("some", options=range(3), default=[1])
        ),
        "on": st.toggle("on", key="on", bind=link.switch("on")),
        "line": st.text_input("line", "x", key="line", max_chars=60, bind=link.words("line", default="x", most=60)),
    }
    st.session_state["shown"] = shown
    link.show_problems()


def widgets(**link: object) -> AppTest:
    app = AppTest.from_function(every_widget, default_timeout=20)
    for name, value in link.items():
        app.query_params[name] = value
    return app.run()


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_any_value_of_any_widget_falls_back_with_a_word(value: str) -> None:
    app = widgets(**dict.fromkeys([*BOUND, "line"], value))
    assert not app.exception
    shown = app.session_state["shown"]
    told = {match[1] for warning in app.warning if (match := re.match(r"The link asks for (\w+) ", warning.value))}
    for name, default in BOUND.items():
        kept = str(shown[name][0] if isinstance(shown[name], list) and shown[name] else shown[name])
        if name in told:
            assert shown[name] == default
        else:  # what the link asks for is what is shown
            assert float(value) == shown[name] if name in ("whole", "decimal") else kept.lower() == value.lower()
    assert ("line" in told) == (len(value) > 60)


def test_a_widget_is_in_the_link_again_after_a_value_that_does_not_fit() -> None:
    app = widgets(whole="1e309", one="", on="maybe", some="7")
    assert len(app.warning) == 4
    assert not set(app.query_params) & set(BOUND)
    app.number_input(key="whole").set_value(5).run()
    app.toggle(key="on").set_value(True).run()
    app.segmented_control(key="one").set_value("a").run()
    shown = app.session_state["shown"]
    assert (shown["whole"], shown["on"], shown["one"]) == (5, True, "a")


def test_a_link_as_long_as_streamlit_reads() -> None:
    app = widgets(one="x" * 300_000, whole="9" * 200_000)
    assert len(app.warning) == 2
    assert all(len(warning.value) < 200 for warning in app.warning)


def test_a_choice_taken_back_is_the_default() -> None:
    app = widgets(one="a")
    assert app.session_state["shown"]["one"] == "a"
    app.session_state["one"] = None  # what a browser sends of a segmented control without a choice
    app.run()
    assert app.session_state["shown"]["one"] == "b"


@pytest.mark.parametrize("name", ["one", "listed", "slid", "whole", "on"])
def test_a_parameter_said_twice_falls_back(name: str) -> None:
    app = widgets(**{name: ["a", "b"] if name in ("one", "listed", "slid") else ["3", "4"]})
    assert len(app.warning) == 1
    assert " and " in app.warning[0].value
    assert app.session_state["shown"][name] == BOUND[name]


def test_every_widget_in_the_link_is_checked_first() -> None:
    """No page writes bind="query-params" itself; link.py alone says whether a widget is bound."""
    views = Path(inspector.__file__).parent / "views"
    bound = {path.name for path in views.rglob("*.py") if "query-params" in path.read_text(encoding="utf-8")}
    assert bound == {"link.py"}


@pytest.mark.parametrize("start", range(STARTS))
@pytest.mark.parametrize("page", PARAMETERS)
def test_every_page_draws_whatever_its_link_says(page: str, start: int) -> None:
    """Each parameter takes another of the values, so that all of them meet over the starts and pages."""
    names = PARAMETERS[page].split()
    model = "translator" if page == "Generate" or start % 2 else "minilm"
    asked = {name: VALUES[(7 * at + 23 * start + len(page)) % len(VALUES)] for at, name in enumerate(names)}
    app = page_of(page, **{"model": model, "text": "A cat.", **asked})
    assert not app.exception
    assert "does not know" not in said(app)
    assert app.title[0].value == page


@pytest.mark.parametrize(
    ("page", "name", "model"),
    [
        ("Attention", "kind", "minilm"),
        ("Attention", "stream", "translator"),
        ("Compare", "heads_of", "minilm"),
        ("What if", "part", "minilm"),
        ("Generate", "flops_of", "translator"),
        ("LayerNorm", "statistic", "minilm"),
        ("Costs", "counted", "minilm"),
    ],
)
def test_an_empty_choice_is_a_sentence(page: str, name: str, model: str) -> None:
    app = page_of(page, model=model, text="A cat.", **{name: ""})
    assert not app.exception
    assert f'The link asks for {name} "";' in said(app)
    assert "Cannot be shown" not in said(app)


def page_of(page: str, **link: str) -> AppTest:
    """A page as it is opened from a link to it."""
    path = {**PAGES, "Lab": "../lab/page.py", "Training": "../training/page.py"}[page]
    if page == "Attention":
        return opened(**link)
    frame = Path(inspector.__file__).parent / "views/shell/frame.py"
    app = AppTest.from_file(str(frame), default_timeout=60)
    app.switch_page(path)
    for name, value in link.items():
        app.query_params[name] = value
    return app.run()


def late_click() -> None:
    """A page without numbers of its own in the link, and a click of the page that was left."""
    import streamlit as st

    from inspector.views.shell import link

    link.read("layernorm", known_models=["minilm"], default_text="")

    def moved() -> None:
        link.choose("step", 3)
        link.keep()

    st.button("Later", on_click=moved)


def test_a_click_that_comes_after_its_page_was_left_changes_no_address() -> None:
    app = AppTest.from_function(late_click).run()
    app.button[0].click().run()
    assert not app.exception
    assert "step" not in app.query_params


def test_a_click_on_a_component_that_left_the_page_says_nothing() -> None:
    def page() -> None:
        import streamlit as st

        from inspector.views.components.clicks import sent

        st.session_state["here"] = {"open": [1, 2]}
        st.text([sent("here", "open"), sent("here", "step"), sent("gone", "open")])

    app = AppTest.from_function(page).run()
    assert not app.exception
    assert app.text[0].value == "[[1, 2], None, None]"
