"""Tests of an edited copy of the project, in a fork of this process: the libraries are imported once for all edits."""

from __future__ import annotations

import compileall
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from py_compile import PycInvalidationMode

import pytest

from tests.mutation.edits import Edit
from tests.mutation.selection import SLOW
from tests.rooms import ROOT

TIMEOUT = "timeout"
PROJECT = {"models", "inspector", "tests", "docs"}
MARKERS = " and ".join(f"not {tier}" for tier in (*SLOW, "heavy"))
ONE_TEST = 60  # seconds of the processor that a test may take beyond the budget of its run
BUSY = 6  # times as long on the wall, beside other work


@dataclass
class Run:
    """A run of test files until the first failure. The process has no end of its own where `failed` stays TIMEOUT.

    failed: the test that failed, "" where none did. seconds: of the processor, by test file.
    """

    failed: str = TIMEOUT
    seconds: dict[str, float] = field(default_factory=dict)


class Copy:
    """A copy of the project in a folder, in which one file at a time is edited.

    Its bytecode is held to the source by a hash: an edit may leave the size and the second of a file as they were.
    """

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        left_out = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "runs", "node_modules")
        shutil.copytree(ROOT, self.root, ignore=left_out)
        for room in ("models", "inspector", "tests"):
            compileall.compile_dir(self.root / room, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)

    @contextmanager
    def edited(self, edit: Edit) -> Iterator[None]:
        """Make an edit, and take it back."""
        path = self.root / edit.path
        source = path.read_text(encoding="utf-8")
        path.write_text(edit.made_in(source), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(source, encoding="utf-8")

    def run(self, tests: Sequence[str], *, budget: float, without: Sequence[str] = ()) -> Run:
        """Run tests of the copy until the first failure, or until they took so many seconds of the processor."""
        fork = multiprocessing.get_context("fork")
        receiver, sender = fork.Pipe(duplex=False)
        process = fork.Process(target=self._child, args=(sender, tests, budget, without))
        process.start()
        sender.close()
        try:
            return Run(**receiver.recv()) if receiver.poll(BUSY * (budget + ONE_TEST)) else Run()
        except EOFError:  # the process was ended by its limit, or crashed
            process.join()
            if process.exitcode == 1:
                raise RuntimeError(f"the run itself failed: see {self.root.parent / 'log'}") from None
            return Run()
        finally:
            assert process.pid is not None
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.join()

    def _child(self, sender: Connection, tests: Sequence[str], budget: float, without: Sequence[str]) -> None:
        os.setsid()
        log = os.open(self.root.parent / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1), os.dup2(log, 2)
        limit = int(time.process_time() + budget + ONE_TEST)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        os.chdir(self.root)
        sys.path[:] = [str(self.root), *(entry for entry in sys.path if Path(entry).resolve() != ROOT)]
        for name in [name for name in sys.modules if name.split(".")[0] in PROJECT]:
            del sys.modules[name]
        sys.dont_write_bytecode = True
        watch = Watch(budget)
        options = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain", f"--basetemp={self.root.parent / 'tests'}"]
        left_out = [f"--deselect={test}" for test in without]
        code = pytest.main([*options, *left_out, "-m", MARKERS, *tests], plugins=[watch])
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED, pytest.ExitCode.INTERRUPTED):
            watch.run.failed = watch.run.failed or tests[0]  # nothing could be collected at all
        sender.send(asdict(watch.run))


class Watch:
    """A plugin of pytest that keeps what failed and what each file took, and stops where the budget is spent."""

    def __init__(self, budget: float) -> None:
        self.run, self.budget, self.began = Run(""), budget, time.process_time()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.run.failed = self.run.failed or report.nodeid

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        began, file = time.process_time(), item.nodeid.split("::")[0]
        result = yield
        now = time.process_time()
        self.run.seconds[file] = self.run.seconds.get(file, 0.0) + now - began
        if now - self.began > self.budget:
            item.session.shouldstop = "the budget is spent"
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.run.failed = self.run.failed or report.nodeid
