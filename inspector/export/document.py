"""A whole HTML document without a script or a request: its Content-Security-Policy forbids both."""

from __future__ import annotations

import base64
import hashlib
import html


def document(body: str, *, title: str, css: str, language: str = "en", images: bool = False) -> str:
    """Return the document. css: the only styles that a browser follows. images: pictures in SVG may hold data."""
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    data = "img-src data:; " if images else ""
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; {data}base-uri 'none'; form-action 'none'"
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
</body>
</html>
"""
