"""Sentences of wording/ as HTML: Markdown without raw HTML, and formulas between dollar signs as MathML."""

from __future__ import annotations

import html as escaping
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline


def html(text: str) -> str:
    """Return a sentence as HTML; what its tokens hold stays text."""
    return str(_READER.render(text))


def formula(latex: str, *, display: bool = False) -> str:
    """Return a formula as MathML, or as it is written where the library cannot read it."""
    from latex2mathml import converter

    try:
        return str(converter.convert(latex, display="block" if display else "inline"))
    except Exception:  # the library raises many kinds
        return f"<code>{escaping.escape(latex)}</code>"


def _dollars(state: StateInline, silent: bool) -> bool:
    """Read $...$ as a formula, without a space inside the signs, and $$...$$ as one that stands alone."""
    start = state.pos
    if state.src[start] != "$":
        return False
    signs = "$$" if state.src.startswith("$$", start) else "$"
    end = state.src.find(signs, start + len(signs))
    latex = state.src[start + len(signs) : end]
    latex = latex.strip() if signs == "$$" else latex
    if end < 0 or not latex or latex != latex.strip() or "\n" in latex:
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.content, token.markup = latex, signs
    state.pos = end + len(signs)
    return True


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink"])
    reader.inline.ruler.before("escape", "formula", _dollars)

    def render(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
        return formula(tokens[at].content, display=tokens[at].markup == "$$")

    reader.add_render_rule("formula", render)
    return reader


_READER = _reader()
