"""Tolerances of the tests: computed numbers are held by tests.closeness alone, relative to the largest of them.

An absolute tolerance holds values of another size to nothing or to one processor's rounding. It may stay where a number
is written down and the tolerance is that of its digits, or of a draw.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
LIBRARIES = {
    "allclose",
    "isclose",
    "assert_allclose",
    "assert_close",
    "assert_almost_equal",
    "assert_array_almost_equal",
}
LARGEST = {"max", "amax", "abs", "absolute", "norm"}
ROUNDING = 2e-5  # what is coarser is no rounding of float32
DIGITS = 5e-4  # half a thousandth, as of a share told in percent


def bare(source: str) -> Iterator[str]:
    """Yield what a test file compares by an absolute tolerance, with its line."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(attr=name)) if name in LIBRARIES:
                wrong = True
            case ast.Call(func=ast.Attribute(attr="assert_frame_equal" | "assert_series_equal"), keywords=keywords):
                wrong = "check_exact" not in {keyword.arg for keyword in keywords}
            case ast.Call(func=ast.Attribute(attr="approx"), args=[expected, *_], keywords=keywords):
                named = {keyword.arg: keyword.value for keyword in keywords}
                wrong = number(expected) == 0 if not named else "abs" in named and not of_digits(expected, named["abs"])
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE()], comparators=[bound]):
                wrong = is_largest(left) and 0 < (number(bound) or 0) < DIGITS
            case _:
                wrong = False
        if wrong:
            yield f"{node.lineno}: {ast.unparse(node)}"


def is_largest(node: ast.expr) -> bool:
    """Tell a size of numbers that is no share of another size."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("float", "int"):
        return is_largest(node.args[0])
    name = node.func if isinstance(node, ast.Call) else None
    last = name.attr if isinstance(name, ast.Attribute) else name.id if isinstance(name, ast.Name) else ""
    return last in LARGEST and not any(isinstance(part, ast.Div) for part in ast.walk(node))


def of_digits(expected: ast.expr, tolerance: ast.expr) -> bool:
    """Tell a number that is written down, with a tolerance far above rounding."""
    sizes = [number(one) for one in getattr(expected, "elts", [expected])]
    allowed = number(tolerance)
    return None not in (*sizes, allowed) and allowed >= ROUNDING * max(1, *map(abs, sizes))


def number(node: ast.expr) -> float | None:
    """Evaluate a number written down, such as 1 / 3; None for any other expression."""
    written = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
    if not all(isinstance(part, written) for part in ast.walk(node)):
        return None
    value = eval(compile(ast.Expression(node), "number", "eval"))
    return value if isinstance(value, int | float) else None


FILES = sorted(path for path in TESTS.rglob("*.py") if path.name not in ("closeness.py", "test_tolerances.py"))


def test_no_comparison_has_a_bare_absolute_tolerance() -> None:
    assert len(FILES) > 300
    found = {str(path.relative_to(TESTS)): list(bare(path.read_text(encoding="utf-8"))) for path in FILES}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "planted",
    [
        "np.testing.assert_allclose(a, b, rtol=0, atol=1e-5)",
        "np.testing.assert_allclose(a, b)",
        "torch.testing.assert_close(a, b, rtol=0, atol=1e-6)",
        "assert torch.allclose(a, b, atol=1e-5)",
        "assert np.isclose(a, b).all()",
        "assert math.isclose(a, b, abs_tol=1e-9)",
        "pd.testing.assert_frame_equal(a, b)",
        "assert a == pytest.approx(b, abs=1e-6)",
        "assert a == pytest.approx(b.mean(), rel=1e-5, abs=1e-6)",
        "assert a == pytest.approx(1, abs=1e-6)",
        "assert a == pytest.approx([0.1, 1 / 3], abs=1e-6)",
        "assert a == pytest.approx(0)",
        "assert (a - b).abs().max() < 1e-5",
        "assert float((a - b).abs().max()) <= 2e-5",
        "assert np.abs(a - b).max() < 1e-7",
        "assert np.max(np.abs(a - b)) < 1e-7",
        "assert abs(a - b) < 1e-6",
        "assert max(abs(one) for one in a) < 1e-12",
    ],
)
def test_a_planted_one_is_found(planted: str) -> None:
    assert len(list(bare(f"def test():\n    {planted}\n"))) >= 1


@pytest.mark.parametrize(
    "kept",
    [
        "assert_close(a, b, relative=1e-6)",
        "pd.testing.assert_frame_equal(a, b, check_exact=True)",
        "assert a == pytest.approx(b, rel=1e-6)",
        "assert a == pytest.approx(0.648, abs=0.02)",
        "assert a == pytest.approx([1 / 3, 2 / 3], abs=0.001)",
        "assert a == pytest.approx(22.42e9, abs=5e6)",
        "assert (a - b).abs().max() / b.abs().max() < 1e-5",
        "assert abs(told - share) <= 0.005",
        "assert np.abs(a).max() < 3",
    ],
)
def test_relative_tolerances_and_those_of_digits_may_stay(kept: str) -> None:
    assert list(bare(kept)) == []
