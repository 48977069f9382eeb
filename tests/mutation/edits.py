"""Edits of a source file: one operator, comparison, constant or choice changed at a time, drawn by a seed.

An edit has no place in a list: its turn in the draw is a hash of its own text, so that code that stays as it is keeps
its edits, whatever is written around it.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice, pairwise

OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
"""Each operator as it is written, and what stands in its place in an edit."""
NAMES = dict(
    pair
    for a, b in [("min", "max"), ("amin", "amax"), ("minimum", "maximum"), ("argmin", "argmax"), ("idxmin", "idxmax"),
                 ("nanmin", "nanmax"), ("any", "all")]
    for pair in [(a, b), (b, a)]
)  # fmt: skip
"""Each function of a choice, and its opposite."""
TEXTS = (ast.JoinedStr, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)
"""Calls and statements that compute nothing: messages, and what no number comes from."""
TYPES = ("annotation", "returns", "decorator_list")
LISTS = (ast.List, ast.Tuple, ast.ListComp, ast.JoinedStr)


@dataclass(frozen=True)
class Edit:
    """One change of one line. scope: the function or class around it; nth: among the equal edits there, from 0."""

    path: str
    scope: str
    line: str
    becomes: str
    number: int
    nth: int = 0

    @property
    def key(self) -> str:
        """The edit's own text, without the number of its line."""
        return f"{self.path} {self.scope}: {self.line} => {self.becomes}" + (f" ({self.nth})" if self.nth else "")

    def made_in(self, source: str) -> str:
        """Return the source with the edit made."""
        lines = source.split("\n")
        old = lines[self.number - 1]
        lines[self.number - 1] = old[: len(old) - len(old.lstrip())] + self.becomes
        return "\n".join(lines)


@dataclass(frozen=True)
class _Change:
    """The bytes of a line that are replaced, and what takes their place."""

    scope: str
    line: int
    start: int
    end: int
    text: str


def draw(sources: Mapping[str, str], *, seed: int, count: int) -> list[Edit]:
    """Draw so many edits of the files path -> source: the first by their hash with the seed."""
    edits = [edit for path, source in sources.items() for edit in edits_of(path, source)]
    edits.sort(key=lambda edit: sha256(f"{seed} {edit.key}".encode()).digest())
    return list(islice((edit for edit in edits if is_another_program(edit, sources[edit.path])), count))


def edits_of(path: str, source: str) -> list[Edit]:
    """List the edits of one file."""
    lines = [line.encode() for line in source.split("\n")]
    changes = _changes(ast.parse(source), lines, "module")
    found, seen = [], Counter[str]()
    for change in sorted(changes, key=lambda change: (change.line, change.start)):
        line = lines[change.line - 1]
        becomes = (line[: change.start] + change.text.encode() + line[change.end :]).decode().strip()
        edit = Edit(path, change.scope, line.decode().strip(), becomes, change.line)
        found.append(replace(edit, nth=seen[edit.key]))
        seen[edit.key] += 1
    return found


def is_another_program(edit: Edit, source: str) -> bool:
    """Tell whether the edited file is Python, and not the same program written differently."""
    try:
        return ast.dump(ast.parse(edit.made_in(source))) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


def _changes(node: ast.AST, lines: list[bytes], scope: str) -> Iterator[_Change]:
    """Walk down from a node; a number below a minus is one number."""
    if isinstance(node, TEXTS):
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        scope = node.name if scope == "module" else f"{scope}.{node.name}"
    yield from _here(node, lines, scope)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in TYPES:
                yield from _changes(child, lines, scope)


def _here(node: ast.AST, lines: list[bytes], scope: str) -> Iterator[_Change]:
    """Yield the changes of a node itself."""
    match node:
        case ast.BinOp(left, operator, right):
            if not any(isinstance(side, LISTS) or _is_text(side) for side in (left, right)):
                yield from _operator(left, operator, right, lines, scope)
        case ast.AugAssign(target, operator, value):
            yield from _operator(target, operator, value, lines, scope)
        case ast.Compare(left, operators, comparators):
            for (before, after), operator in zip(pairwise([left, *comparators]), operators, strict=True):
                yield from _operator(before, operator, after, lines, scope)
        case ast.BoolOp(operator, values):
            for before, after in pairwise(values):
                yield from _operator(before, operator, after, lines, scope)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in NAMES:
            end = node.func.end_col_offset
            yield _Change(scope, node.func.end_lineno, end - len(name.encode()), end, NAMES[name])
        case ast.Constant(value) | ast.UnaryOp(ast.USub(), ast.Constant(value)):
            if type(value) in (int, float) and node.lineno == node.end_lineno:
                value = -value if isinstance(node, ast.UnaryOp) else value
                other = value + 1 if isinstance(value, int) else 2 * value or 1.0
                yield _Change(scope, node.lineno, node.col_offset, node.end_col_offset, repr(other))


def _operator(left: ast.expr, operator: ast.AST, right: ast.expr, lines: list[bytes], scope: str) -> Iterator[_Change]:
    """Find an operator between its two sides; it may stand at a line's end, at a line's start, behind a bracket."""
    if type(operator) not in OPERATORS:
        return
    written, other = OPERATORS[type(operator)]
    for number in range(left.end_lineno, right.lineno + 1):
        start = left.end_col_offset if number == left.end_lineno else 0
        end = right.col_offset if number == right.lineno else len(lines[number - 1])
        between = re.sub(rb"#.*", b"", lines[number - 1][start:end])
        place = between.find(written.encode())
        if place >= 0:
            yield _Change(scope, number, start + place, start + place + len(written.encode()), other)
            return


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
