"""Attention as one HTML file that needs no server and no network: the page's own components with the data inside.

`script` and `style` give a component's source to any host: this file, the Streamlit page, a notebook cell.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from inspector.plots import theme

COMPONENTS = Path(__file__).parent

_IMPORT = re.compile(r'^import \{.*\} from "(.+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:const|function|class) (\w+)", re.MULTILINE)
_EXPORT_WORD = re.compile(r"^export ", re.MULTILINE)


@cache
def script(component: str) -> str:
    """A component's JavaScript ("grid", "head", "written") as one ES module that exports `draw(root, data, emit)`.

    The files that its index.js imports are set before it, each once.
    """
    order: list[Path] = []

    def collect(path: Path) -> None:
        for name in _IMPORT.findall(path.read_text(encoding="utf-8")):
            collect((path.parent / name).resolve())
        if path not in order:
            order.append(path)

    collect(COMPONENTS / component / "index.js")
    sources = [_IMPORT.sub("", path.read_text(encoding="utf-8")) for path in order]
    return "\n".join([*(f"const {_exports(source)} = {_enclosed(source)};" for source in sources[:-1]), sources[-1]])


def _exports(source: str) -> str:
    return f"{{ {', '.join(_EXPORT.findall(source))} }}"


def _enclosed(source: str) -> str:
    """A module's source -> an expression whose value is what the module exports; its other names stay inside."""
    return f"(() => {{\n{_EXPORT_WORD.sub('', source)}\nreturn {_exports(source)};\n}})()"


@cache
def style(*components: str) -> str:
    """The CSS of some components, after what all share. All its rules lie under the components' own classes."""
    files = [COMPONENTS / "shared.css", *(COMPONENTS / component / "style.css" for component in components)]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def page(
    title: str,
    head_bytes: bytes,
    *,
    grid_bytes: bytes | None = None,
    others: Sequence[bytes] = (),
    facts: Mapping[str, str] | None = None,
) -> str:
    """A whole HTML document that shows one head, and the grid of all heads where it is given.

    head_bytes, grid_bytes: messages of the components. others: further heads of the grid, which then open on a
    click. facts: what the reader should know about the picture (model, text, ...), by name. The file makes no request:
    its Content-Security-Policy forbids any, and lets no script run but its own.
    """
    names = {"head": [head_bytes], "grid": [grid_bytes] if grid_bytes else [], "other": others}
    data = "\n".join(
        f'<script type="application/octet-stream" class="{name}">{base64.b64encode(message).decode()}</script>'
        for name, messages in names.items()
        for message in messages
    )
    rows = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(fact)}</dd>" for name, fact in (facts or {}).items())
    css = "\n".join([_page_style(), style("grid", "head")])
    modules = [f"const {name} = {_enclosed(script(name))};" for name in ("grid", "head")]
    code = "\n".join([*modules, _HOST])
    policy = (
        f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(css)}; base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{html.escape(title)}</title>
<style>{css}</style>
</head>
<body>
<main>
<h1>{html.escape(title)}</h1>
{f"<dl>{rows}</dl>" if rows else ""}
<div class="parts"><div id="grid"></div><div id="head"></div></div>
<p id="status" role="status"></p>
</main>
{data}
<script type="module">{code}</script>
</body>
</html>
"""


def _hash(source: str) -> str:
    if re.search(r"</(script|style)", source, re.IGNORECASE):
        raise ValueError("a component's source closes the tag that holds it: write '<\\/' in it")
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _page_style() -> str:
    def variables(mode: theme.Mode) -> str:
        return (
            f"--st-background-color: {theme.BACKGROUND[mode]}; --st-text-color: {theme.TEXT[mode]}; "
            f"--st-primary-color: {theme.PRIMARY[mode]}; --st-border-color: {theme.GRID[mode]};"
        )

    return f"""
:root {{ {variables("light")} }}
@media (prefers-color-scheme: dark) {{ :root {{ {variables("dark")} }} }}
body {{ margin: 0; background: var(--st-background-color); color: var(--st-text-color);
  font: 15px/1.45 {theme.TEXT_FONT}; }}
main {{ max-width: 1240px; margin: 0 auto; padding: 24px 16px; }}
h1 {{ font-size: 21px; margin: 0 0 8px; overflow-wrap: anywhere; }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: 2px 14px; margin: 0 0 24px; }}
dt {{ opacity: 0.7; }}
dd {{ margin: 0; overflow-wrap: anywhere; unicode-bidi: plaintext; }}
.parts {{ display: flex; flex-direction: column; gap: 28px; }}
#status {{ min-height: 1.5em; opacity: 0.7; }}
@media (min-width: 1100px) {{
  .parts:has(.hl-grid) {{ flex-direction: row; }}
  .parts:has(.hl-grid) #grid {{ flex: 0 0 37%; }}
  .parts:has(.hl-grid) #head {{ flex: 1; min-width: 0; }}
}}
"""


_HOST = r"""
const decode = (holder) => Uint8Array.from(atob(holder.textContent), (character) => character.charCodeAt(0));
const read = (name) => [...document.querySelectorAll(`script.${name}`)].map(decode);
const lengthOf = (bytes) => new DataView(bytes.buffer).getUint32(0, true);
const header = (bytes) => JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + lengthOf(bytes))));
const named = ({ layer, head }) => `${layer}.${head}`;

const heads = [...read("head"), ...read("other")].map((bytes) => ({ bytes, ...header(bytes) }));
const byName = new Map(heads.map((one) => [named(one), one]));
const [overview] = read("grid");
const { heads: per, names } = overview ? header(overview) : { heads: 0, names: [] };
let shown = heads[0];
let view;

function show(next) {
  document.querySelector("#status").textContent = "";
  shown = next;
  head.draw(document.querySelector("#head"), shown.bytes, onHead);
  view?.select([shown.layer, shown.head]);
}

function open(place) {
  if (byName.has(named(place))) return show(byName.get(named(place)));
  view?.select([shown.layer, shown.head]);
  document.querySelector("#status").textContent = `${names[place.layer]}, head ${place.head} is not in this file`;
}

function onHead(name, value) {
  if (name !== "step" || !per) return;
  const next = shown.layer * per + shown.head + value;
  if (next >= 0) open({ layer: Math.floor(next / per), head: next % per });
}

if (overview) view = grid.draw(document.querySelector("#grid"), overview, (name, place) => open(place));
show(shown);
"""
