"""The components' JavaScript and CSS as files: a message names the file, and the browser keeps it.

Streamlit puts the JavaScript that a component is declared with into each message. So that is one line, which imports
the file of the component at an address that holds a hash of its content; `server.assets` serves it. Of Streamlit's
internals this takes that such a line may wait for an import, and that `parentElement` stands in the component's own
shadow root.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import streamlit as st
from streamlit import config

from inspector.components.source import COMPONENTS, script, style

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

FOLDER = "components/"
_DRAWN = """
const mount = ({ data, parentElement, setTriggerValue }) => {
  const view = draw(parentElement, data, setTriggerValue);
  return () => view.close();
};
"""
_LOADED = 'const file = await import(new URL("./{path}", document.baseURI).href);\nexport default file.default;\n'
_STYLED = """
const sheet = new CSSStyleSheet();
sheet.replaceSync({css});
export default (given) => {{
  const root = given.parentElement.getRootNode();
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
  return mount(given);
}};
"""
_PLAIN = "\nexport default mount;\n"
_files: dict[str, bytes] = {}


def declared(name: str, adapter: str = "") -> ComponentRenderer:
    """Declare the component "headlight_NAME" to Streamlit, and keep its file.

    The file holds the folder of that name in `inspector.components`: its page.js, which exports `mount`, a function of
    what Streamlit hands to a component; or its index.js, whose `draw` is called. adapter: JavaScript that sets `mount`
    for a component that draws nothing and has no folder.
    """
    folder = COMPONENTS / name
    if adapter:
        source = adapter
    elif (folder / "page.js").exists():
        source = script(f"{name}/page.js")
    else:
        source = script(name) + _DRAWN
    source += _STYLED.format(css=json.dumps(style(name))) if (folder / "style.css").exists() else _PLAIN
    content = source.encode()
    path = f"{FOLDER}{hashlib.sha256(content).hexdigest()[:16]}/{name}.js"
    _files[path] = content
    return st.components.v2.component(f"headlight_{name}", js=_LOADED.format(path=path))


def paths(*names: str) -> list[str]:
    """Return the paths of the files of components by name, of those that were declared."""
    return [path for name in names for path in _files if path.endswith(f"/{name}.js")]


def read(path: str) -> bytes | None:
    """Return the file at a request's path, below server.baseUrlPath; None where there is none."""
    base = config.get_option("server.baseUrlPath").strip("/")
    start = f"/{base}/" if base else "/"
    return _files.get(path.removeprefix(start)) if path.startswith(start) else None
