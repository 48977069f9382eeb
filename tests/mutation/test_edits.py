"""Edits: what they change, what they leave alone, and that code which stays keeps its edits."""

from __future__ import annotations

import tomllib

import pytest

from tests.mutation.edits import draw, edits_of
from tests.mutation.selection import held_by, numeric
from tests.rooms import ROOT

SOURCE = '''
def share(x: Annotated[float, 7], rows=-1) -> int:
    """Give 3 % of x."""
    if not 0 < rows <= len(x):
        raise ValueError(f"{rows + 1} rows")
    best = x.max(axis=-1) - min(
        x[rows:],
        0.5,
    )
    return best * x["a" + "b"] or best  # 2 * best
'''


def test_each_operator_comparison_constant_and_choice_is_an_edit() -> None:
    assert [edit.becomes for edit in edits_of("share.py", SOURCE)] == [
        "def share(x: Annotated[float, 7], rows=0) -> int:",
        "if not 1 < rows <= len(x):",
        "if not 0 <= rows <= len(x):",
        "if not 0 < rows < len(x):",
        "best = x.min(axis=-1) - min(",
        "best = x.max(axis=0) - min(",
        "best = x.max(axis=-1) + min(",
        "best = x.max(axis=-1) - max(",
        "1.0,",
        'return best / x["a" + "b"] or best  # 2 * best',
        'return best * x["a" + "b"] and best  # 2 * best',
    ]


def test_code_that_stays_keeps_its_edits() -> None:
    before = draw({"share.py": SOURCE}, seed=3, count=5)
    after = draw({"share.py": f"import numpy\n{SOURCE}\nx = 1 + 2\n"}, seed=3, count=8)
    assert {edit.key for edit in before} <= {edit.key for edit in after}
    assert len({edit.key for edit in edits_of("twice.py", "x = 1 + 1\nx = 1 + 1\n")}) == 6
    for edit in after:
        assert edit.made_in(f"import numpy\n{SOURCE}\nx = 1 + 2\n").count(edit.becomes) >= 1


@pytest.mark.heavy
def test_a_module_is_held_by_its_own_tests_and_by_those_that_import_it() -> None:
    assert ROOT / "inspector/heads.py" in numeric(ROOT)
    assert ROOT / "inspector/wording/english/norms.py" not in numeric(ROOT)
    own, others = held_by(ROOT / "inspector/positional/distances.py", ROOT)
    assert own == [ROOT / "tests/inspector/positional/test_distances.py"]
    assert ROOT / "tests/inspector/positional/test_tables.py" in others


def test_an_equivalent_is_an_edit_of_todays_code() -> None:
    """Its line may have changed since: then it is drawn anew, and its reason holds no longer."""
    listed = tomllib.loads((ROOT / "tests/mutation/equivalents.toml").read_text(encoding="utf-8"))["equivalent"]
    paths = {entry["edit"].split()[0] for entry in listed}
    known = {edit.key for path in paths for edit in edits_of(path, (ROOT / path).read_text(encoding="utf-8"))}
    assert not [entry["edit"] for entry in listed if entry["edit"] not in known]
    assert all(entry["reason"] for entry in listed)
