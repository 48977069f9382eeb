"""The Python lines of the boards: they record what the page shows, with the second text and the target, and they run.

Those of sections are held by their contract, tests/inspector/sections/test_every_section.py.
"""

from __future__ import annotations

import pytest

from inspector.wording import generate
from tests.inspector.views.page import opened, with_menus

PAIR = {"model": "minilm", "text": "The cat sat on the mat.", "pair": "It was tired."}
TARGET = {"model": "translator", "text": "I love cats.", "target": "我喜欢猫。"}
BOARDS = (
    *(("Attention", {}), ("Compare", {}), ("What if", {}), ("Generate", {})),
    *(("Generate", {"section": section}) for section in (generate.CACHE, generate.BEAMS)),
)


@pytest.mark.parametrize(("page", "view"), BOARDS)
@pytest.mark.parametrize("given", [PAIR, TARGET], ids=["pair", "target"])
def test_lines_record_what_the_page_shows_and_run(page: str, view: dict[str, str], given: dict[str, str]) -> None:
    model, text, second = given.values()
    written = [code.value for code in with_menus(opened(page, **given, **view)).code if "import " in code.value]
    assert written
    for lines in written:
        if f"models.load({model!r})" in lines and f"record(loaded, {text!r}" in lines:
            assert repr(second) in lines
        exec(compile(lines, page, "exec"), {})
