"""The numeric files of the project that are edited, and the test files that hold each."""

from __future__ import annotations

from functools import cache
from pathlib import Path, PurePosixPath

from tests import rooms
from tests.conftest import TIERS, lies_in

NUMERIC = (
    *("models/attention/*", "models/transformer/*", "models/recurrent/*", "models/training/*"),
    *("models/decoding.py", "models/output_projection.py", "models/matrix_products.py"),
    *("inspector/*.py", "inspector/trace/*", "inspector/scores/*", "inspector/costs/*", "inspector/positional/*"),
    *("inspector/normalization/*", "inspector/batches/*", "inspector/distance/*", "inspector/long_texts/*"),
    *("inspector/masked_lm/*", "inspector/sentence_vectors/*", "inspector/stepwise/*", "inspector/interventions/*"),
    *("inspector/generating/*", "inspector/vocabularies/*", "inspector/atlas/*", "inspector/atlas/reading/*"),
    *("inspector/costs/counted/*", "models/training/tiny/*"),
)
"""The rooms of arithmetic. Not in them: hooks, strangers' files, questions, drawing, wording, export and the page."""
OTHERS = (
    *("*/__main__.py", "inspector/examples.py", "models/training/card.py", "models/training/replay_file.py"),
    *("inspector/trace/*file*.py", "inspector/trace/archive.py"),  # formats
    *("inspector/costs/clock.py", "inspector/costs/timed_layer.py", "inspector/stepwise/timed.py"),  # clocks
    *("inspector/atlas/building.py", "inspector/atlas/running.py", "inspector/atlas/ray_cluster.py"),  # processes
    *("inspector/atlas/library.py", "inspector/atlas/manifest.py", "inspector/atlas/planning.py"),
)
"""Files in those rooms that keep, start or time something, and compute nothing that a reader sees."""
LIBRARIES = {"numpy", "torch", "pandas", "math"}
SLOW = ("browser", "page", "families", "hostile")
"""Tiers of tests/conftest.py that no edit is tried against: they hold the whole, and take minutes."""


def numeric(root: Path) -> list[Path]:
    """List the files that edits are drawn from: those of the numeric rooms that import a library of numbers."""
    found = []
    for path in rooms.files(root, "py"):
        name = PurePosixPath(path.relative_to(root))
        inside = any(map(name.match, NUMERIC)) and not any(map(name.match, OTHERS))
        if inside and {module.split(".")[0] for module in rooms.imports(path, root)} & LIBRARIES:
            found.append(path)
    return found


def held_by(path: Path, root: Path) -> tuple[list[Path], list[Path]]:
    """Find the test files of a module: its own by name, then those that import it and those of its room."""
    module = ".".join(path.relative_to(root).with_suffix("").parts)
    folder = root / "tests" / path.relative_to(root).parent
    own = [test for test in _quick(root) if test.parent == folder and test.stem.startswith(f"test_{path.stem}")]
    by_name = [test for test in _quick(root) if module in _imports(test, root)]
    room, of_room = module.rpartition(".")[0], []
    if room not in ("inspector", "models"):  # each file there is a room of its own
        of_room = [test for test in _quick(root) if test.parent == folder]
        of_room += [test for test in _quick(root) if room in _imports(test, root)]
    others = [test for test in dict.fromkeys([*by_name, *of_room]) if test not in own]
    return own, others


@cache
def _quick(root: Path) -> list[Path]:
    slow = [place for tier in SLOW for place in TIERS[tier]]
    tests = sorted((root / "tests").rglob("test_*.py"))
    return [test for test in tests if not any(lies_in(rooms.ROOT / test.relative_to(root), place) for place in slow)]


@cache
def _imports(test: Path, root: Path) -> set[str]:
    return rooms.imports(test, root) - {"inspector", "models"}
