"""Runs a reader's file in a process of its own, on the reader's machine.

This guards against accidents, not against malice: the file runs with all that its reader may do. Time, memory and
output are watched from here, and the whole process group is ended; where the system has limits of its own, they stand
beside. What comes back is plain data of a bounded size, never a pickle.

```python
ran = run(Path("mine.py"), task.function, cases)
ran.outcomes[0]  # Returned, Raised or Unreadable
```
"""

from __future__ import annotations

import ast
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import IO, Any

import numpy as np
import psutil

from inspector.practice import child
from inspector.practice.record.task import Case
from inspector.wording.reader import practice_verdict as words

LARGEST_FILE = 1_000_000  # bytes of a reader's file
_TICK = 0.02  # seconds between two looks at the process
_LARGEST_HEAD = 4_000_000  # bytes of a message's JSON
_LARGEST_MESSAGE = 32_000_000  # bytes of a message's arrays
_KEPT = 4_000  # bytes of what the file prints
_START = 180  # seconds for Python, numpy and torch to start, on a busy machine


@dataclass(frozen=True)
class Limits:
    """Bounds of a run. seconds: from its first line to its last result; memory, printed: bytes."""

    seconds: float = 20
    memory: int = 3 * 2**30
    printed: int = 1_000_000


@dataclass(frozen=True)
class Returned:
    """A result. agrees: False where a second call on the same arguments gave something else.

    written: the places of arguments that the function changed.
    """

    value: Any
    agrees: bool
    written: tuple[int, ...]


@dataclass(frozen=True)
class Raised:
    """An exception of the reader's code. line, text: the last line of the file that it went through."""

    name: str
    kinds: tuple[str, ...]
    said: str
    line: int | None
    text: str


@dataclass(frozen=True)
class Unreadable:
    """A result that is no plain data. why: a reason of the words; of: the words and numbers that it tells."""

    why: str
    of: tuple[str, ...]


Outcome = Returned | Raised | Unreadable


@dataclass(frozen=True)
class Ran:
    """A run that is over. outcomes: of the first cases, as far as it came.

    stopped: a sentence where the file was ended or ended itself; loading: an exception while the file was read;
    missing: the functions of a file that lacks the one that is due, else None. printed: the beginning of what it
    printed; stayed: whether a process of its own was still running and was ended.
    """

    outcomes: tuple[Outcome, ...] = ()
    stopped: str | None = None
    loading: Raised | None = None
    missing: tuple[str, ...] | None = None
    printed: str = ""
    stayed: bool = False


def run(file: Path, function: str, cases: Sequence[Case], limits: Limits | None = None) -> Ran:
    """Call the function of a file on copies of every case's arguments, twice each.

    Raises ValueError for a file that cannot be read.
    """
    limits = limits or Limits()
    source = _source(file)
    with tempfile.TemporaryDirectory(prefix="practice-", ignore_cleanup_errors=True) as folder:
        settings = Path(folder) / "settings.json"
        settings.write_text(
            json.dumps(
                {
                    "torch": imports_torch(source),
                    "limits": _of_system(limits),
                    "cases": [[written(argument) for argument in case.arguments] for case in cases],
                }
            ),
            encoding="utf-8",
        )
        home = Path(folder) / "home"
        home.mkdir()
        command = [sys.executable, "-u", child.__file__, str(settings), str(file.resolve()), function]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=home,
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"},
            start_new_session=True,  # a group of its own, which is ended as a whole
        )
        return _watched(process, limits, len(cases))


def _source(file: Path) -> str:
    try:
        size = file.stat().st_size
        if not file.is_file():
            raise ValueError(words.no_file(str(file)))
        if size > LARGEST_FILE:
            raise ValueError(words.large_file(str(file), size, LARGEST_FILE))
        return file.read_text(encoding="utf-8")
    except OSError:
        raise ValueError(words.no_file(str(file))) from None
    except UnicodeDecodeError:
        raise ValueError(words.no_text(str(file))) from None


def imports_torch(source: str) -> bool:
    """Return True where the file imports torch; False too for what is no Python, which the run will say."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        if any(name.partition(".")[0] == "torch" for name in names):
            return True
    return False


def _of_system(limits: Limits) -> dict[str, int]:
    """Return limits by their names in the module resource, wide enough that the watch says first what is wrong."""
    return {
        "RLIMIT_CPU": int(limits.seconds * 4 + 30),
        "RLIMIT_AS": limits.memory + 4 * 2**30,
        "RLIMIT_FSIZE": 100 * 2**20,
        "RLIMIT_CORE": 0,
    }


def written(argument: Any) -> dict[str, Any]:
    """Return an argument as the JSON that child.py makes it from."""
    if isinstance(argument, np.ndarray):
        return {"array": argument.ravel().tolist(), "dtype": argument.dtype.str, "shape": list(argument.shape)}
    if isinstance(argument, Mapping):
        return {"words": [[list(word), times] for word, times in argument.items()]}
    return {"plain": argument}


# --- the watch --------------------------------------------------------------------------------------------------------


@dataclass
class _Heard:
    """Everything that came through the channel so far."""

    outcomes: list[Outcome] = field(default_factory=list)
    ready_at: float | None = None
    done: bool = False
    loading: Raised | None = None
    missing: tuple[str, ...] | None = None
    wrong: str | None = None
    printed: bytes = b""
    printed_bytes: int = 0


def _watched(process: subprocess.Popen[bytes], limits: Limits, cases: int) -> Ran:
    """Watch a process until it ends or must be ended, and then end its whole group."""
    heard = _Heard()
    assert process.stdout is not None
    assert process.stderr is not None
    listeners = (
        Thread(target=_listen, args=(process.stdout, heard, cases), daemon=True),
        Thread(target=_hear_prints, args=(process.stderr, heard), daemon=True),
    )
    for listener in listeners:
        listener.start()
    stopped = None
    try:
        stopped = _until_end(process, heard, limits)
    finally:
        stayed = _end(process)
        for listener in listeners:
            listener.join(timeout=5)
        for pipe in (process.stdout, process.stderr):
            with suppress(OSError, ValueError):
                pipe.close()
    if stopped is None and not heard.done and heard.loading is None and heard.missing is None:
        stopped = heard.wrong or words.ended(process.returncode, _signal_name(process.returncode))
    printed = heard.printed.decode("utf-8", errors="replace")
    return Ran(tuple(heard.outcomes), stopped, heard.loading, heard.missing, printed, stayed)


def _until_end(process: subprocess.Popen[bytes], heard: _Heard, limits: Limits) -> str | None:
    """Wait for the end of a process; return a sentence as soon as the process takes too much."""
    began, look = time.monotonic(), 0
    while process.poll() is None:
        now = time.monotonic()
        if heard.ready_at is None and now - began > _START:
            return words.slow_start(_START)
        if heard.ready_at is not None and now - heard.ready_at > limits.seconds:
            return words.too_long(limits.seconds, len(heard.outcomes))
        if heard.printed_bytes > limits.printed:
            return words.too_much_printed(limits.printed)
        if heard.wrong is not None:
            return heard.wrong
        if look % 5 == 0 and _memory(process.pid) > limits.memory:
            return words.too_much_memory(limits.memory)
        look += 1
        time.sleep(_TICK)
    return words.too_much_printed(limits.printed) if heard.printed_bytes > limits.printed else None


def _memory(pid: int) -> int:
    """Return the bytes that a process and all that it started hold."""
    total = 0
    with suppress(psutil.Error):
        first = psutil.Process(pid)
        for process in (first, *first.children(recursive=True)):
            with suppress(psutil.Error):
                total += process.memory_info().rss
    return total


def _end(process: subprocess.Popen[bytes]) -> bool:
    """End a process and its whole group; return True where it had ended by itself and left another one running."""
    ended = process.poll() is not None
    others = _group(process.pid)
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    for other in others:
        with suppress(psutil.Error):
            other.kill()
    process.kill()
    process.wait()
    return ended and bool(others)


def _group(leader: int) -> list[psutil.Process]:
    """List the processes of a group that still run, but for its leader."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, ProcessLookupError, PermissionError):
            in_group = os.getpgid(process.pid) == leader if hasattr(os, "getpgid") else process.ppid() == leader
            if process.pid != leader and in_group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _signal_name(code: int) -> str:
    if code >= 0:
        return ""
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"signal {-code}"


# --- the channel ------------------------------------------------------------------------------------------------------


def _hear_prints(pipe: IO[bytes], heard: _Heard) -> None:
    """Count what is printed, and keep the beginning; what comes after the limit is read no more."""
    with suppress(OSError, ValueError):
        while piece := os.read(pipe.fileno(), 65_536):
            heard.printed += piece[: max(0, _KEPT - len(heard.printed))]
            heard.printed_bytes += len(piece)


def _listen(pipe: IO[bytes], heard: _Heard, cases: int) -> None:
    """Read messages until the channel closes; whatever is no message of child.py ends the run."""
    try:
        while (length := pipe.read(child.PIECE)) and len(length) == child.PIECE:
            size = int.from_bytes(length, "little")
            if size > _LARGEST_HEAD:
                raise ValueError("a long message")
            message = json.loads(pipe.read(size))
            sizes = message["bytes"]
            if not all(isinstance(one, int) and one >= 0 for one in sizes) or sum(sizes) > _LARGEST_MESSAGE:
                raise ValueError("large arrays")
            _take(message, [pipe.read(one) for one in sizes], heard, cases)
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        heard.wrong = words.NO_RESULT
    except OSError:
        return  # the pipe was closed: the run is over


def _take(message: Mapping[str, Any], arrays: list[bytes], heard: _Heard, cases: int) -> None:
    if "ready" in message:
        heard.ready_at = time.monotonic()
    elif "loading" in message:
        heard.loading = _raised(message["loading"])
    elif "missing" in message:
        heard.missing = tuple(str(name)[:100] for name in message["missing"][:20])
    elif "done" in message:
        heard.done = len(heard.outcomes) == cases
    elif "case" in message:
        if message["case"] != len(heard.outcomes) or len(heard.outcomes) >= cases:
            raise ValueError("a case out of turn")
        heard.outcomes.append(_outcome(message, arrays))


def _outcome(message: Mapping[str, Any], arrays: list[bytes]) -> Outcome:
    if "error" in message:
        return _raised(message)
    if "unplain" in message:
        return unreadable(message["unplain"])
    pending = iter(arrays)
    value = read(message["result"], lambda: next(pending))
    return Returned(value, bool(message["agree"]), tuple(int(at) for at in message["written"][:20]))


def unreadable(told: Sequence[str]) -> Unreadable:
    """Return why a result is no plain data, as child.py tells it; ValueError for a reason that is not known."""
    why, *of = (str(one)[:300] for one in told[:5])
    if why not in words.UNREADABLE or len(of) != words.UNREADABLE[why].count("{}"):
        raise ValueError(f"no reason: {why}")
    return Unreadable(why, tuple(of))


def _raised(told: Mapping[str, Any]) -> Raised:
    line = told["line"]
    return Raised(
        str(told["error"])[:100],
        tuple(str(kind)[:100] for kind in told["kinds"][:20]),
        str(told["said"])[: child.MOST_LETTERS],
        line if isinstance(line, int) else None,
        str(told["text"])[: child.MOST_LETTERS],
    )


def read(written: Mapping[str, Any], array: Callable[[], bytes]) -> Any:
    """Return the value that child.py wrote: sizes are held to the bytes before an array is made of them.

    Raises ValueError for anything else.
    """
    ((kind, content), *more) = [item for item in written.items() if item[0] != "shape"]
    if more:
        raise ValueError("two values at once")
    if kind == "plain" and (content is None or isinstance(content, bool | str)):
        return content
    if kind == "whole":
        return int(str(content)[:80])
    if kind == "number":
        return float.fromhex(content)
    if kind == "array":
        return _array(np.dtype(str(content)[:8]), written["shape"], array())
    if kind in ("tuple", "list"):
        parts = [read(part, array) for part in content]
        return tuple(parts) if kind == "tuple" else parts
    if kind == "dict":
        return {_key(read(key, array)): read(value, array) for key, value in content}
    raise ValueError(f"no value: {kind}")


def _array(dtype: np.dtype[Any], shape: Sequence[int], content: bytes) -> Any:
    if dtype.kind not in "fiub" or not all(isinstance(one, int) and one >= 0 for one in shape) or len(shape) > 32:
        raise ValueError("no array")
    if math.prod(shape) * dtype.itemsize != len(content):
        raise ValueError("an array of another size")
    return np.frombuffer(content, dtype).reshape(shape)


def _key(key: Any) -> Any:
    """Return a key that a dict takes: tuples stay tuples, arrays become their text."""
    try:
        hash(key)
    except TypeError:
        return repr(key)[:200]
    return key
