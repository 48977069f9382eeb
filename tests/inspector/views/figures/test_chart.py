"""A chart on a page: no toolbar, no title twice, its files in the menu at its title."""

from __future__ import annotations

import json

import pandas as pd
from streamlit.testing.v1 import AppTest

from inspector.plots import lab
from tests.inspector.views.page import with_menus


def page() -> None:
    import pandas as pd

    from inspector.plots import lab
    from inspector.views.figures import chart

    rows = [("A", 0, step, 1 / step, 0.5, 0.25) for step in (1, 2)]
    table = pd.DataFrame(rows, columns=["side", "seed", "step", "loss", "token_accuracy", "exact_accuracy"])
    chart.show(
        lab.curves(table, steps=2), alt="loss of both sides", key="curves", heading="Loss", python="import inspector"
    )


def lab_table() -> pd.DataFrame:
    columns = ["side", "seed", "step", "loss", "token_accuracy", "exact_accuracy"]
    return pd.DataFrame([("A", 0, 1, 1.0, 0.5, 0.25)], columns=columns)


def test_a_chart_has_no_toolbar_and_leaves_its_title_to_the_heading() -> None:
    at = AppTest.from_function(page, default_timeout=60).run()
    assert not at.exception
    (drawn,) = at.get("plotly_chart")
    figure, config = json.loads(drawn.proto.spec), json.loads(drawn.proto.config)
    assert config["displayModeBar"] is False
    assert figure["layout"]["title"]["text"] == ""
    whole = lab.curves(lab_table(), steps=2)(mode="light").layout  # what the title took is given back to the page
    assert figure["layout"]["height"] - figure["layout"]["margin"]["t"] == whole.height - whole.margin.t
    assert drawn.proto.alt == "loss of both sides"


def test_nothing_is_made_before_its_menu_is_opened() -> None:
    at = AppTest.from_function(page, default_timeout=60).run()
    assert [popover.proto.popover.label for popover in at.get("popover")] == ["Slide and files of Loss"]
    assert [heading.value for heading in at.subheader] == ["Loss"]
    for kind in ("button", "download_button", "code", "bidi_component"):
        assert not at.get(kind), kind


def test_its_menu_holds_files_lines_and_a_slide_and_closes_before_the_slide_opens() -> None:
    at = with_menus(AppTest.from_function(page, default_timeout=60).run())
    assert [button.proto.label for button in at.get("download_button")] == ["CSV"]
    assert [code.value for code in at.code] == ["import inspector"]
    assert len(at.get("plotly_chart")) == 1
    (slide,) = (button for button in at.button if button.label == "Slide")
    slide.click().run()
    assert not at.exception
    assert not at.get("download_button")  # the menu, which would lie over the slide, is closed
    small, large = (json.loads(chart.proto.spec) for chart in at.get("plotly_chart"))
    assert large["layout"]["title"]["text"] == "Loss"  # as the heading over the chart says
    assert large["data"][0]["y"] == small["data"][0]["y"]
