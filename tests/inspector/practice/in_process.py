"""A reader's file judged in this process, by the same code: hundreds of processes would take long."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from inspector.practice import child
from inspector.practice.judging import Verdict, judged
from inspector.practice.record.task import Case, Task
from inspector.practice.running import Outcome, Raised, Ran, Returned, imports_torch, read, unreadable, written


def outcomes(file: Path, task: Task, cases: Sequence[Case]) -> Ran:
    """Call the function of a file on every case, twice, as child.py does."""
    torch = None
    if imports_torch(file.read_text(encoding="utf-8")):
        import torch
    practice = child.Practice(str(file), torch)
    if not callable(practice.names.get(task.function)):
        return Ran(missing=tuple(practice.functions()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a reader's overflow, which is no error in a process of its own either
        return Ran(tuple(_outcome(practice, task, case) for case in cases))


def _outcome(practice: child.Practice, task: Task, case: Case) -> Outcome:
    arguments = [written(argument) for argument in case.arguments]
    first, arrays = practice.called(task.function, arguments)
    again, arrays_again = practice.called(task.function, arguments)
    if "error" in first:
        return Raised(first["error"], tuple(first["kinds"]), first["said"], first["line"], first["text"])
    if "unplain" in first:
        return unreadable(first["unplain"])
    agrees = (first["result"], arrays) == (again.get("result"), arrays_again)
    return Returned(read(first["result"], partial(next, iter(arrays))), agrees, tuple(first["written"]))


def verdict(file: Path, task: Task, *, recorded: bool = True) -> Verdict:
    """Judge a file on the made inputs, and where it is right there on the recorded ones."""
    made = task.made()
    found = judged(task, made, outcomes(file, task, made))
    if not found.right or not recorded:
        return found
    cases = task.recorded()
    return judged(task, cases, outcomes(file, task, cases))
