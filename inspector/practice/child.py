"""The process in which a reader's file runs: it calls the function on each case and writes plain data.

It is started as a script and imports nothing of the project, so that the reader's names meet none. What stdout was is
the channel of results; prints go where stderr goes, and standard input is empty.

    python child.py SETTINGS FILE FUNCTION < nothing

SETTINGS is a JSON file with the limits and the arguments of every case. Each message is 8 bytes of length, that much
JSON, and the bytes of the arrays that it names.
"""

from __future__ import annotations

import importlib
import json
import linecache
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, NoReturn

PIECE = 8  # bytes of a message's length
MOST_NUMBERS = 1_000_000  # of a result
MOST_LETTERS = 400  # of what an exception says


class Empty:
    """Standard input: whoever reads it is told that nothing is there."""

    def __getattr__(self, name: str) -> NoReturn:
        raise EOFError("standard input is empty here")

    def __iter__(self) -> NoReturn:
        raise EOFError("standard input is empty here")


class UnplainError(Exception):
    """A result that is no array, number, text, tuple, list or dict of these.

    Its arguments are the name of the reason in the project's words, and what that tells, as texts.
    """


def plain(value: Any, arrays: list[bytes], depth: int = 0) -> dict[str, Any]:
    """Return a value as JSON; its arrays go to `arrays` as bytes."""
    import numpy as np

    if depth > 6:
        raise UnplainError("deep", "6")
    if value is None or isinstance(value, (bool, str)):
        if isinstance(value, str) and len(value) > 10_000:
            raise UnplainError("text", "10,000")
        return {"plain": value}
    if isinstance(value, int):
        if abs(value) >= 2**200:
            raise UnplainError("whole number", "60")
        return {"whole": str(value)}
    if isinstance(value, float):
        return {"number": value.hex()}
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        value = value.float().numpy().astype(np.float16) if value.dtype == torch.bfloat16 else value.numpy()
    if isinstance(value, np.generic):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "fiub":
            raise UnplainError("dtype", str(value.dtype))
        if value.size > MOST_NUMBERS:
            raise UnplainError("large", str(list(value.shape)), f"{MOST_NUMBERS:,}")
        if value.dtype.kind == "f" and value.dtype.itemsize > 8:
            value = value.astype(np.float64)
        value = np.ascontiguousarray(value).reshape(value.shape)
        arrays.append(value.astype(value.dtype.newbyteorder("<")).tobytes())
        return {"array": value.dtype.newbyteorder("<").str, "shape": list(value.shape)}
    if isinstance(value, (tuple, list)):
        if len(value) > MOST_NUMBERS:
            raise UnplainError("long", f"{len(value):,}")
        kind = "tuple" if isinstance(value, tuple) else "list"
        if kind == "list" and (whole := as_array(value)) is not None:
            return plain(whole, arrays, depth)
        return {kind: [plain(part, arrays, depth + 1) for part in value]}
    if isinstance(value, dict):
        if len(value) > 10_000:
            raise UnplainError("long", f"{len(value):,}")
        pairs = [[plain(key, arrays, depth + 1), plain(part, arrays, depth + 1)] for key, part in value.items()]
        return {"dict": pairs}
    if callable(getattr(value, "__iter__", None)) and not hasattr(value, "shape"):
        raise UnplainError("no list", type(value).__name__)
    raise UnplainError("type", type(value).__name__)


def as_array(value: Any) -> Any:
    """Return nested lists of numbers or of tensors as an array, None for other lists."""
    import numpy as np

    def numbers(part: Any, depth: int = 0) -> Any:
        if depth > 6:
            return None
        if isinstance(part, (list, tuple)):
            return [numbers(inner, depth + 1) for inner in part]
        return part.detach().cpu().numpy() if hasattr(part, "detach") else part

    if not value or not isinstance(value, list):
        return None
    try:
        whole = np.array(numbers(value))
    except (ValueError, TypeError, RecursionError):
        return None
    return whole if whole.dtype.kind in "fiub" else None


def limit(limits: Mapping[str, int]) -> None:
    """Set what the system itself holds a process to, where it can."""
    try:
        import resource
    except ImportError:
        return
    for name, most in limits.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(kind, (most, most))
        except (ValueError, OSError):
            continue  # macOS refuses some of them; the parent watches


def where(error: BaseException, file: str) -> tuple[int | None, str]:
    """Return the last line of the reader's file that an exception went through, and its text."""
    at = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    if isinstance(error, SyntaxError) and error.filename == file:
        at = [error.lineno]
    return (at[-1], linecache.getline(file, at[-1]).strip()[:MOST_LETTERS]) if at and at[-1] else (None, "")


def told(error: BaseException, file: str) -> dict[str, Any]:
    """Return an exception as plain data."""
    try:
        said = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:  # a class of the reader whose text fails
        said = ""
    line, text = where(error, file)
    names = [kind.__name__ for kind in type(error).__mro__]
    return {"error": names[0], "kinds": names, "said": str(said)[:MOST_LETTERS], "line": line, "text": text}


def unchanged(now: Any, before: Any) -> bool:
    """Return True where a function left an argument as it was."""
    import numpy as np

    if isinstance(before, dict):
        return bool(now == before)
    if not hasattr(before, "shape"):
        return True
    now, before = (x.detach().numpy() if hasattr(x, "detach") else x for x in (now, before))
    return now.shape == before.shape and np.array_equal(now, before, equal_nan=before.dtype.kind == "f")


def arguments_of(case: Sequence[Mapping[str, Any]], torch: ModuleType | None) -> list[Any]:
    """Make the arguments of a case anew."""
    import numpy as np

    arguments: list[Any] = []
    for part in case:
        if "array" in part:
            array = np.array(part["array"], part["dtype"]).reshape(part["shape"])
            arguments.append(array if torch is None else torch.from_numpy(array))
        elif "words" in part:
            arguments.append({tuple(word): times for word, times in part["words"]})
        else:
            arguments.append(part["plain"])
    return arguments


class Channel:
    """The way back to the parent: what stdout was, while prints go to stderr."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.file = os.dup(1)
        os.set_inheritable(self.file, False)
        os.dup2(2, 1)

    def only_here(self) -> None:
        """End a process that the reader's code has forked, and that came back from it."""
        if os.getpid() != self.process:
            os._exit(0)

    def send(self, message: Mapping[str, Any], arrays: Sequence[bytes] = ()) -> None:
        """Write a message and its arrays."""
        self.only_here()
        head = json.dumps({**message, "bytes": [len(array) for array in arrays]}).encode()
        pending = len(head).to_bytes(PIECE, "little") + head + b"".join(arrays)
        while pending:
            pending = pending[os.write(self.file, pending) :]


class Practice:
    """The reader's file, loaded as a module of its own."""

    def __init__(self, file: str, torch: ModuleType | None) -> None:
        self.file, self.torch = file, torch
        module = ModuleType("practice")
        module.__file__ = file
        sys.modules["practice"] = module
        self.names = vars(module)
        with open(file, "rb") as opened:
            code = compile(opened.read(), file, "exec")
        exec(code, self.names)

    def functions(self) -> list[str]:
        """List the functions that the file itself defines."""
        own = [name for name, value in self.names.items() if getattr(value, "__module__", "") == "practice"]
        return [name for name in own if callable(self.names[name])][:20]

    def called(self, function: str, case: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], list[bytes]]:
        """Call a function on copies of a case; return its result as JSON with arrays, or what went wrong."""
        arguments, before = arguments_of(case, self.torch), arguments_of(case, self.torch)
        arrays: list[bytes] = []
        try:
            result = self.names[function](*arguments)
        except BaseException as error:  # of the reader's code, SystemExit too
            return told(error, self.file), []
        try:
            made = plain(result, arrays)
        except UnplainError as error:
            return {"unplain": list(error.args)}, []
        except Exception as error:  # a class of the reader's own
            return {"unplain": ["fails", type(result).__name__, type(error).__name__]}, []
        written = [at for at, (new, old) in enumerate(zip(arguments, before, strict=True)) if not unchanged(new, old)]
        return {"result": made, "written": written}, arrays


def main() -> None:
    """Run the file, call the function on every case twice, and write what comes."""
    settings_file, file, function = sys.argv[1:4]
    with open(settings_file, encoding="utf-8") as opened:
        settings = json.load(opened)
    channel = Channel()
    sys.stdin = Empty()
    sys.path[0] = os.path.dirname(file)
    torch = importlib.import_module("torch") if settings["torch"] else None
    if torch is not None:
        torch.set_num_threads(1)
    importlib.import_module("numpy")  # before the clock runs
    channel.send({"ready": True})
    limit(settings["limits"])
    try:
        practice = Practice(file, torch)
    except BaseException as error:  # of the reader's code, SystemExit too
        channel.send({"loading": told(error, file)})
        return
    if not callable(practice.names.get(function)):
        channel.send({"missing": practice.functions()})
        return
    channel.send({"loaded": True})
    for number, case in enumerate(settings["cases"]):
        first, arrays = practice.called(function, case)
        again, arrays_again = practice.called(function, case)
        channel.only_here()
        agree = "error" in first or (first.get("result"), arrays) == (again.get("result"), arrays_again)
        channel.send({"case": number, "agree": agree, **first}, arrays)
    channel.send({"done": True})


if __name__ == "__main__":
    main()
