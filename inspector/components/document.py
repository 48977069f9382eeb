"""A whole HTML document that makes no request: its Content-Security-Policy forbids requests, and foreign scripts."""

from __future__ import annotations

import base64
import hashlib
import html
import re


def document(body: str, *, title: str, css: str, script: str = "", language: str = "en", images: bool = False) -> str:
    """Return the document. css, script: all that a browser follows of either. images: pictures in SVG may hold data."""
    sources = {
        "default-src": "'none'",
        "script-src": _hash(script) if script else "",
        "style-src": _hash(css),
        "img-src": "data:" if images else "",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    policy = "; ".join(f"{name} {source}" for name, source in sources.items() if source)
    return f"""<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{html.escape(title)}</title>
<style>{css}</style>
</head>
<body>
{body}
{f'<script type="module">{script}</script>' if script else ""}
</body>
</html>
"""


def _hash(source: str) -> str:
    if re.search(r"</(script|style)", source, re.IGNORECASE):
        raise ValueError("a source closes the tag that holds it: write '<\\/' in it")
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
