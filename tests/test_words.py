"""The register of docstrings: a verb or a noun comes first, never a preposition, a pronoun or a question word.

"Of all files." and "What a norm computes." say nothing to a newcomer; "Total size of all files." and "Infer the norm's
formula." do.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PREPOSITIONS = ("After", "As", "At", "By", "For", "From", "In", "Into", "Of", "On", "With")
PRONOUNS = ("Itself", "None", "Such", "That", "These", "This", "Those")
QUESTIONS = ("How", "What", "Where", "Whether", "Which", "Who", "Whose", "Why")
NEVER_FIRST = frozenset(PREPOSITIONS + PRONOUNS + QUESTIONS)
QUOTED = re.compile(rf"""["'](?:\s|\\\n)*(?:{"|".join(sorted(NEVER_FIRST))})\b""")
"""Sign of a file whose docstrings may be unfit: to parse the others takes four seconds."""
MODULES = sorted(path for room in ("models", "inspector", "tests", "docs") for path in (ROOT / room).rglob("*.py"))


def docstrings(source: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the docstring of a module and of each class, function and constant in it."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if text := ast.get_docstring(node):
            yield getattr(node, "name", "the module"), text
        for named, said in pairwise(node.body):
            match named, said:
                case ast.Assign() | ast.AnnAssign(), ast.Expr(ast.Constant(str(text))):
                    yield ast.unparse(named).partition(" =")[0], text


def unfit(source: str) -> list[str]:
    """List the docstrings of a source file that begin with a word that never comes first."""
    if not QUOTED.search(source):
        return []
    return [
        f"{name}: {text.splitlines()[0]}"
        for name, text in docstrings(source)
        if (first := re.match(r"[A-Za-z]+", text)) and first[0] in NEVER_FIRST
    ]


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    assert MODULES
    found = {str(path.relative_to(ROOT)): unfit(path.read_text(encoding="utf-8")) for path in MODULES}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize("first", sorted(NEVER_FIRST))
@pytest.mark.parametrize(
    "source",
    [
        '"""{} all files."""',
        '"""\\\n{} all files."""',
        'class A:\n    def f(self):\n        """{} all\n        files."""',
        'A = 1\n"""{} all files."""',
    ],
)
def test_a_planted_docstring_is_found(source: str, first: str) -> None:
    assert len(unfit(source.format(first))) == 1


def test_verbs_and_nouns_may_come_first() -> None:
    assert unfit('"""Total size of all files."""\ndef f():\n    """Return what was asked for."""') == []
