from __future__ import annotations

import re

from inspector.components.source import script, style


def test_a_script_is_one_module_with_every_file_once():
    for component in ("grid", "head", "matrix", "snapshot", "steps", "widget", "written"):
        source = script(component)
        assert not re.search(r"^import ", source, re.MULTILINE)
        assert re.findall(r"^export (?:\w+ )+(\w+)", source, re.MULTILINE) == ["draw"]
        assert source.count("function element(") == 1


def test_the_style_of_several_components_holds_the_shared_style_once() -> None:
    both = style("grid", "head")
    assert both.startswith(style())
    assert both.count(style()) == 1
    assert both.index(".hl-grid") < both.rindex(".hl-head")
