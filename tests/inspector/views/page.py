"""The app without a browser: start it from a link, press its buttons, read what it says and sends.

app = opened("Compare", a_layer="3", b_text="Another text.")
(header, weights), *_ = messages(app, "head")
assert "share no token" not in said(app)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from time import sleep
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from inspector.sections import registry
from inspector.sections.registry import PAGES
from inspector.sections.section import Section
from inspector.views.shell import caching, model_shelf

FRAME = Path(__file__).parents[3] / "inspector/views/shell/frame.py"
FIRST = "Attention"
PATHS = {page.title: f"../{page.address or 'attention'}/page.py" for page in PAGES.values()}
"""The file of each page by its title, seen from the frame, which lies in shell/."""
READING = tuple(page.title for page in PAGES.values() if page.reads)  # the pages that read the sidebar's text
EXAMPLE = "The cat sat on the mat because it was tired."  # the text that the page starts with
HOSTILE = "<img src=x onerror=alert(1)> **bold** $x$ [a](javascript:alert(1))"
LINK = re.compile(r'\[(`\[\w+\]`|[^\]]+)\]\(#\w+ "[^"]*"\)')  # in a sentence: of a term or a number
NOTHING: Mapping[str, object] = MappingProxyType({})


def opened(page: str = FIRST, /, *, state: Mapping[str, object] = NOTHING, **link: str | list[str]) -> AppTest:
    """Start the app on a page, as a reader who follows a link with these query parameters.

    state: what the session holds before the first run.
    """
    app = AppTest.from_file(str(FRAME), default_timeout=120)
    if page != FIRST:  # before the first run AppTest.switch_page would take page.py for the page's address
        app._page_hash = calc_hash(PATHS[page].removeprefix("../").removesuffix(".py").removesuffix("/page"))
    for name, value in link.items():
        app.query_params[name] = value
    for key, held in state.items():
        app.session_state[key] = held
    app.run()
    assert not app.exception
    return app


def forget() -> None:
    """Forget every model and result of this process, as a server that has just started."""
    model_shelf.shelf.forget()
    caching.results.forget()


def turned(app: AppTest, page: str) -> AppTest:
    """Open another page, as a click in the navigation does."""
    return app.switch_page(PATHS[page]).run()


def section_opened(app: AppTest, title: str) -> AppTest:
    """Open a section of the page by the bar, and one of a group by the group's list."""
    address = next(page.address for page in PAGES.values() if page.title == app.title[0].value)
    entry = next(one for one in registry.sections(address).below if title in titles(one))
    if app.segmented_control(key="section").value != entry.id:
        app.segmented_control(key="section").set_value(entry.id).run()
    if isinstance(entry, registry.Group) and app.selectbox(key=entry.id).value != title:
        app.selectbox(key=entry.id).set_value(title).run()
    assert not app.exception
    return app


def titles(one: Section | registry.Group) -> list[str]:
    return [part.title for part in one.sections] if isinstance(one, registry.Group) else [one.title]


def typed(app: AppTest, text: str) -> AppTest:
    """Replace the sidebar's text."""
    return app.text_area(key="text").set_value(text).run()


def pressed(app: AppTest, name: str) -> AppTest:
    """Click the first button whose key or label is `name`, or whose key holds it."""
    for fits in (lambda one: name in (one.key, one.label), lambda one: name in (one.key or "")):
        for button in filter(fits, app.button):
            return button.click().run()
    raise AssertionError(f"no button {name} among {[button.label for button in app.button]}")


def uploaded(app: AppTest, content: bytes, *, name: str = "t.npz") -> AppTest:
    """Open a saved trace."""
    app.session_state["saved.open"] = True  # the field stands in a part that is drawn once it is open
    app.run()
    return app.file_uploader(key="file").set_value((name, content, "application/octet-stream")).run()


def with_menus(app: AppTest) -> AppTest:
    """Open the menu of every figure, in which nothing stands until it is open."""
    for popover in app.get("popover"):
        key = popover.proto.popover.id.split("-", 2)[-1]  # of a widget's id: $$ID, a hash and the key
        if key.endswith("-menu"):
            app.session_state[key] = True
    return app.run()


def until(true: Callable[[], bool]) -> None:
    """Wait for what other threads do."""
    for _ in range(2000):
        if true():
            return
        sleep(0.005)
    pytest.fail("it did not come to that")


def said(app: AppTest) -> str:
    """All words that the page tells the reader."""
    elements = [*app.subheader, *app.text, *app.warning, *app.error, *app.info, *app.caption, *app.markdown, *app.code]
    return "\n".join([*sentences(app), *(str(element.value) for element in elements)])


def explained(app: AppTest) -> str:
    """All words that open with a mark behind words in small type."""
    return "\n".join(str(caption.help) for caption in app.caption)


def sentences(app: AppTest) -> list[str]:
    """The sentences that open the page and its parts, as they are read: without what their words lead to."""
    return [LINK.sub(r"\1", str(header.value)) for header in app.header]


def sentence(app: AppTest) -> str:
    """The sentence that opens the page."""
    return sentences(app)[0]


def metrics(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def numbers(app: AppTest) -> dict[str, str]:
    """The numbers of the page's lines of numbers by their names, which begin with a small letter."""
    lines = [element.value for element in app.markdown if re.match(r"[^*\n]+ \*\*[^*]+\*\*( · |$)", element.value)]
    return {name: value for line in lines for name, value in re.findall(r"([^*·]+?) \*\*([^*]+)\*\*(?: · |$)", line)}


def messages(app: AppTest, component: str) -> list[tuple[dict[str, Any], NDArray[Any]]]:
    """Header and numbers of every message to a component (head, grid or pairs), in the page's order.

    A head's are its maps; the numbers of its rows, which stand behind them, are put among the header's `rows`.
    """
    found = []
    for element in app.get("bidi_component"):
        if element.proto.component_name == f"headlight_{component}":
            data = element.proto.bytes
            start = 4 + int.from_bytes(data[:4], "little")
            kind, rest = np.dtype(np.uint8 if component == "grid" else np.float32), data[start + -start % 4 :]
            numbers = np.frombuffer(rest, kind, count=len(rest) // kind.itemsize)
            header = json.loads(data[4:start])
            if component == "head":
                header.setdefault("keys", header["queries"])  # left out where they are the same
                queries, keys = len(header["queries"]), len(header["keys"])
                size = queries * keys * (1 + len(header["parts"]))
                numbers, behind = numbers[:size], numbers[size:]
                if header["rows"]:
                    header["rows"] |= {"entropy": behind[:queries], "offset": behind[queries : 2 * queries]}
            found.append((header, numbers))
    return found


def message(app: AppTest, component: str) -> tuple[dict[str, Any], NDArray[Any]]:
    """Header and numbers of the first message to a component."""
    return messages(app, component)[0]
