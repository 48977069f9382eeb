"""Attention as one HTML file that needs no server and no network: the page's own components with the data inside."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence

from inspector.components.document import document
from inspector.components.source import COMPONENTS, enclosed, script, style
from inspector.plots import theme


def page(
    title: str,
    head_bytes: bytes,
    *,
    grid_bytes: bytes | None = None,
    every: bytes | None = None,
    facts: Mapping[str, str] | None = None,
) -> str:
    """Return a whole HTML document that shows one head, and the grid of all heads where its message is given.

    head_bytes, grid_bytes: messages of the components. every: of `head.every`, all heads of the grid, which then open
    on a click. facts: name -> fact about the picture (model, text, ...). The file makes no request: its
    Content-Security-Policy forbids requests, and lets no script run but the file's.
    """
    data = "\n".join(
        f'<script type="application/octet-stream" class="{name}">{base64.b64encode(message).decode()}</script>'
        for name, message in {"head": head_bytes, "grid": grid_bytes, "every": every}.items()
        if message
    )
    rows = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(fact)}</dd>" for name, fact in (facts or {}).items())
    body = f"""<main>
<h1>{html.escape(title)}</h1>
{f"<dl>{rows}</dl>" if rows else ""}
<div class="parts"><div id="grid"></div><div id="head"></div></div>
<p id="status" role="status"></p>
</main>
{data}"""
    return _document(title, body, code=script("host.js"), components=("grid", "head"))


def matrix(title: str, message: bytes) -> str:
    """Return a whole HTML document that shows a matrix, or two: the bytes of a MatrixMessage."""
    code = f"""const matrix = {enclosed(script("matrix"))};
const [data, root] = ["script.matrix", "#matrix"].map((name) => document.querySelector(name));
matrix.draw(root, Uint8Array.from(atob(data.textContent), (mark) => mark.charCodeAt(0)), () => {{}});"""
    body = f"""<main><div id="matrix"></div></main>
<script type="application/octet-stream" class="matrix">{base64.b64encode(message).decode()}</script>"""
    return _document(title, body, code=code, components=("matrix",))


def _document(title: str, body: str, *, code: str, components: Sequence[str]) -> str:
    return document(body, title=title, css="\n".join([variables(), _read("page.css"), style(*components)]), script=code)


def _read(name: str) -> str:
    return (COMPONENTS / name).read_text(encoding="utf-8")


def variables() -> str:
    """Return the rules for the theme's font and colours; the colours have the names that Streamlit gives them."""

    def of(mode: theme.Mode) -> str:
        return (
            f"--st-background-color: {theme.BACKGROUND[mode]}; --st-text-color: {theme.TEXT[mode]}; "
            f"--st-primary-color: {theme.PRIMARY[mode]}; --st-border-color: {theme.GRID[mode]};"
        )

    return (
        f":root {{ {of('light')} --page-font: {theme.TEXT_FONT}; }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {of('dark')} }} }}"
    )
