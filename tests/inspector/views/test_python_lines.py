"""The Python lines of all pages: they record what the page shows, with the second text and the target, and they run."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.inspector.views.page import opened

PAIR = {"model": "minilm", "text": "The cat sat on the mat.", "pair": "It was tired."}
TARGET = {"model": "translator", "text": "I love cats.", "target": "我喜欢猫。"}
OF_A_TEXT = ("Compare", "Scores", "Time", "Block", "LayerNorm", "Positions", "Tokens", "Batch")


def sections(app: AppTest) -> list[list[str]]:
    """List the Python lines of a page by section."""
    found = [[code.value for code in app.code]]
    names = next((bar.options for bar in app.segmented_control if bar.key == "section"), ())
    for name in names[1:]:
        next(bar for bar in app.segmented_control if bar.key == "section").set_value(name).run()
        assert not app.exception
        found.append([code.value for code in app.code])
    return [[lines for lines in of_section if "import " in lines] for of_section in found]


@pytest.mark.parametrize("page", OF_A_TEXT)
@pytest.mark.parametrize("given", [PAIR, TARGET], ids=["pair", "target"])
def test_lines_record_what_the_page_shows_and_run(page: str, given: dict[str, str]) -> None:
    model, text, second = given.values()
    for of_section in sections(opened(page, **given)):
        for lines in of_section:
            compile(lines, page, "exec")
            if f"models.load({model!r})" in lines and f"record(loaded, {text!r}" in lines:
                assert repr(second) in lines
        for lines in of_section[:1]:
            exec(lines, {})
