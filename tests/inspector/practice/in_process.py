"""A reader's file judged in this process, by the same code: hundreds of processes would take long."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from inspector.practice import child
from inspector.practice.judging import Verdict, judged
from inspector.practice.record.task import Case, Task
from inspector.practice.running import Outcome, Raised, Ran, Returned, Unreadable, imports_torch, read, written


def outcomes(file: Path, task: Task, cases: Sequence[Case]) -> Ran:
    """Call the function of a file on every case, twice, as child.py does."""
    torch = None
    if imports_torch(file.read_text(encoding="utf-8")):
        import torch
    practice = child.Practice(str(file), torch)
    if not callable(practice.names.get(task.function)):
        return Ran(missing=tuple(practice.functions()))
    found: list[Outcome] = []
    for case in cases:
        arguments = [written(argument) for argument in case.arguments]
        first, arrays = practice.called(task.function, arguments)
        again, arrays_again = practice.called(task.function, arguments)
        if "error" in first:
            found.append(Raised(first["error"], tuple(first["kinds"]), first["said"], first["line"], first["text"]))
        elif "unplain" in first:
            found.append(Unreadable(first["unplain"]))
        else:
            agrees = (first["result"], arrays) == (again.get("result"), arrays_again)
            value = read(first["result"], partial(next, iter(arrays)))
            found.append(Returned(value, agrees, tuple(first["written"])))
    return Ran(tuple(found))


def verdict(file: Path, task: Task, *, recorded: bool = True) -> Verdict:
    """Judge a file on the made inputs, and where it is right there on the recorded ones."""
    made = task.made()
    found = judged(task, made, outcomes(file, task, made))
    if not found.right or not recorded:
        return found
    cases = task.recorded()
    return judged(task, cases, outcomes(file, task, cases))
