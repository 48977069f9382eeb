"""Edit the numeric code at random, and see whether the tests of the edited module notice.

    python -m tests.mutation --seed 3 --edits 150     # goes on where it was stopped
    python -m tests.mutation --seed 3 --edits 150 --again   # tries the survivors anew, after tests were written

An edit (edits.py) changes one operator, comparison, constant, index or choice of a numeric file (selection.py). It is
tried in a copy of the project against the test files of the module's name, then against those that import it and those
of its room, as far as `OTHERS` seconds of the processor reach. It is killed where a test fails
that passes unedited, or where the tests do not end; else it has survived: either nothing holds that line, or the edit
changes nothing that can be seen. An edit of the second kind stands in equivalents.toml with its reason.

Prints, for each folder, what was drawn, killed and survived, and the share that was killed: of all edits, and of those
that are no equivalents. No part of CI: an edit takes about 10 seconds of a core, a survivor 40.
"""

from __future__ import annotations

import argparse
import json
import os
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas  # noqa: F401  each run forks from this process, and finds the libraries imported
import scipy.stats  # noqa: F401
import torch
import transformers.models.bert.modeling_bert  # noqa: F401

from tests.mutation.edits import Edit, draw
from tests.mutation.running import TIMEOUT, Copy
from tests.mutation.selection import held_by, numeric
from tests.rooms import ROOT

EQUIVALENTS = Path(__file__).with_name("equivalents.toml")
RESULTS = ROOT / "runs" / "mutation.jsonl"
OWN = 60.0  # seconds of the processor that the tests of the module's name have
OTHERS = 30.0  # those that import it and those of its room, all together
AT_ONCE = 4  # of those, in one process: a test that fails soon spares the import of the others


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--edits", type=int, default=150)
    parser.add_argument("--again", action="store_true", help="try the survivors anew")
    parser.add_argument("--part", default="1/1", help="1/2 and 2/2 share the edits between two processes")
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    os.nice(10)
    torch.set_num_threads(1)
    edits = drawn(given.seed, given.edits)
    results = read(given.results)
    part, parts = (int(number) for number in given.part.split("/"))
    todo = [
        edit
        for edit in edits[part - 1 :: parts]
        if edit.key not in results or (given.again and results[edit.key]["outcome"] == "survived")
    ]
    todo.sort(key=lambda edit: (not held_by(ROOT / edit.path, ROOT)[0], edit.path))  # those with a quick answer first
    given.results.parent.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="mutation-") as folder, given.results.open("a", encoding="utf-8") as file:
        trial = Trial(Copy(Path(folder))) if todo else None
        for number, edit in enumerate(todo, start=1):
            assert trial is not None
            outcome, failed = trial.of(edit)
            print(json.dumps({"edit": edit.key, "outcome": outcome, "failed": failed}), file=file, flush=True)
            print(f"{number}/{len(todo)} {outcome:9} {edit.key}", flush=True)
    print(report(edits, read(given.results), equivalents()))


class Trial:
    """Trials of edits in one copy. A failure counts where the test passes unedited, which is tried once for each."""

    def __init__(self, copy: Copy) -> None:
        self.copy = copy
        self.passes: dict[str, bool] = {}
        """Tests that failed in an edited copy, and whether they pass in the unedited copy."""
        self.seconds: dict[str, float] = {}
        """Seconds that each test file took, as far as it ran."""

    def of(self, edit: Edit) -> tuple[str, str]:
        """Try an edit: killed, timed out or survived, and the test that it fails."""
        own, others = held_by(self.copy.root / edit.path, self.copy.root)
        failed, budget = self.failure(edit, own, OWN), OTHERS
        while others and not failed and budget > 0:
            failed = self.failure(edit, others[:AT_ONCE], budget)
            budget -= sum(self.seconds.get(self.name(test), 0.0) for test in others[:AT_ONCE])
            others = others[AT_ONCE:]
        return {"": "survived", TIMEOUT: "timed out"}.get(failed, "killed"), failed

    def failure(self, edit: Edit, tests: Sequence[Path], budget: float) -> str:
        """Run test files, and name the first test that the edit fails; "" where it fails none."""
        names = list(map(self.name, tests))
        while names:
            broken = [test for test, passes in self.passes.items() if not passes]
            with self.copy.edited(edit):
                run = self.copy.run(names, budget=budget, without=broken)
            for file, seconds in run.seconds.items():
                self.seconds[file] = max(seconds, self.seconds.get(file, 0.0))
            if run.failed in ("", TIMEOUT) or self.passes_unedited(run.failed):
                return run.failed
            names = [name for name in names if name != run.failed]
        return ""

    def passes_unedited(self, test: str) -> bool:
        """Run a test, or the first of a file that could not be collected, as it is."""
        if test not in self.passes:
            self.passes[test] = not self.copy.run([test], budget=0).failed
            if not self.passes[test]:
                print(f"fails unedited: {test}", flush=True)
        return self.passes[test]

    def name(self, test: Path) -> str:
        return test.relative_to(self.copy.root).as_posix()


def drawn(seed: int, count: int) -> list[Edit]:
    """Draw edits from all numeric files."""
    sources = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in numeric(ROOT)}
    return draw(sources, seed=seed, count=count)


def read(results: Path) -> dict[str, dict[str, str]]:
    """Read what was found out about each edit, by its key; the last line counts."""
    if not results.exists():
        return {}
    lines = map(json.loads, results.read_text(encoding="utf-8").splitlines())
    return {line["edit"]: line for line in lines}


def equivalents() -> dict[str, str]:
    """Read the reason of each equivalent edit, by its key."""
    listed = tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8")).get("equivalent", [])
    return {entry["edit"]: entry["reason"] for entry in listed}


def report(edits: Sequence[Edit], results: Mapping[str, Mapping[str, str]], reasons: Mapping[str, str]) -> str:
    """Write the table of folders and the list of survivors."""
    folders: dict[str, Counter[str]] = defaultdict(Counter)
    for edit in edits:
        outcome = results[edit.key]["outcome"] if edit.key in results else "not tried"
        if outcome == "survived" and edit.key in reasons:
            outcome = "equivalent"
        folders[edit.path.rpartition("/")[0]][outcome] += 1
        folders["all"][outcome] += 1
    columns = ("killed", "timed out", "survived", "equivalent", "not tried")
    rows = [f"{'':28}{'drawn':>10}" + "".join(f"{column:>12}" for column in columns) + "   share   less equivalents"]
    for folder in [*sorted(folders.keys() - {"all"}), "all"]:
        counts = folders[folder]
        tried = counts.total() - counts["not tried"]
        killed, seen = counts["killed"] + counts["timed out"], tried - counts["equivalent"]
        shares = [f"{killed / whole:.1%}" if whole else "-" for whole in (tried, seen)]
        numbers = "".join(f"{counts[column]:12}" for column in columns)
        rows.append(f"{folder:28}{counts.total():10}{numbers}{shares[0]:>8}   {shares[1]:>16}")
    survivors = [edit for edit in edits if results.get(edit.key, {}).get("outcome") == "survived"]
    return "\n".join([*rows, "", *(edit.key for edit in survivors if edit.key not in reasons)])


if __name__ == "__main__":
    main()
