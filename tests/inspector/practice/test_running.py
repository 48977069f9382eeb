"""Accidents of a reader's file: each ends in a sentence, and nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from inspector.practice import child, index
from inspector.practice.judging import Verdict, judged
from inspector.practice.record.task import Case
from inspector.practice.running import LARGEST_FILE, Limits, Raised, Returned, Unreadable, read, run
from inspector.wording import reader

pytestmark = pytest.mark.heavy
TASK = index.find(1)
CASES = (Case("a matrix", (np.array([[0.0, 1.0], [1.0, 0.0]], np.float32),)),)
QUICK = Limits(seconds=4, memory=2**30)
RIGHT = """
import numpy as np
def softmax(scores):
    exp = np.exp(scores - scores.max(-1, keepdims=True))
    return exp / exp.sum(-1, keepdims=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of the reader's, which a run must leave as it was."""
    made = tmp_path / "reader"
    made.mkdir()
    return made


def written(folder: Path, code: str) -> Path:
    file = folder / "mine.py"
    file.write_text(textwrap.dedent(code), encoding="utf-8")
    return file


def ran(folder: Path, code: str, limits: Limits = QUICK) -> Verdict:
    """Run a file, and judge it; nothing may be left of it."""
    file, before = written(folder, code), set(os.listdir("/tmp")) if os.path.isdir("/tmp") else set()
    found = run(file, TASK.function, CASES, limits)
    assert [path.name for path in folder.iterdir()] == ["mine.py"]
    after = set(os.listdir("/tmp")) if os.path.isdir("/tmp") else set()
    assert not [name for name in after - before if name.startswith("practice-") and _mine(name)]
    assert _running(str(file)) == []
    return judged(TASK, CASES, found)


def _mine(name: str) -> bool:
    """Return True for a folder that no other running test made."""
    return not any(name in " ".join(_line(process)) for process in psutil.process_iter())


def _line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _running(file: str) -> list[int]:
    """Find the processes that run a file, once those that are ending have ended."""
    for _ in range(50):
        found = [process.pid for process in psutil.process_iter() if file in _line(process)]
        if not found:
            return []
        time.sleep(0.1)
    return found


def in_function(*lines: str) -> str:
    return "import os, sys, time\nimport numpy as np\ndef softmax(scores):\n    " + "\n    ".join(lines) + "\n"


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (in_function("while True: pass"), "It ran for 4 seconds and was ended on the first input"),
        ("while True: pass", "It ran for 4 seconds and was ended on the first input"),
        (in_function("time.sleep(1000)"), "It ran for 4 seconds"),
        (in_function("x = np.ones(10 * 2**30 // 8)", "return x"), "It asked for more memory than it may have in line"),
        (in_function("os._exit(3)"), "It ended its own process (exit code 3) before it had a result."),
        (in_function("sys.exit(0)"), "It ends the program in line 4"),
        (in_function("import ctypes", "ctypes.string_at(0)"), "It crashed (SIGSEGV) before it had a result."),
        (in_function("os.abort()"), "It crashed (SIGABRT) before it had a result."),
        (in_function("print('x' * 100_000_000)"), "It printed more than 1 MB and was ended."),
        (in_function("while True: print('x')"), "It printed more than 1 MB and was ended."),
        (in_function("return input()"), "It reads standard input in line 4 (`return input()`), where nothing is"),
        (in_function("return sys.stdin.read()"), "It reads standard input in line 4"),
        (in_function("return softmax(scores)"), "It raised RecursionError in line 4"),
        (in_function("return 1 / 0"), "It raised ZeroDivisionError in line 4 (`return 1 / 0`) on a matrix: div"),
        (in_function("raise NotImplementedError"), "It is not written yet in line 4"),
        (in_function("scores"), "On a matrix weights is None (is a return missing?); an array [2, 2] is due."),
        (in_function("return scores[:, :1]"), "On a matrix weights has the shape [2, 1]; [2, 2] is due."),
        (in_function("return 'x'"), "On a matrix weights is a str; an array [2, 2] is due."),
        (in_function("return open"), "On a matrix the result is of the type builtin_function_or_method."),
        (in_function("return (row for row in scores)"), "the result is of the type generator: make it a list"),
        (in_function("return np.zeros(10_000_000)"), "On a matrix the result has the shape [10000000]: more than"),
        (in_function("return scores.astype(complex)"), "On a matrix the result holds complex128 in an array"),
        (in_function("x = []", "x.append(x)", "return x"), "On a matrix the result is nested more than 6 deep."),
        ("def softmax(scores: return", "It raised SyntaxError in line 1"),
        ("def soft_max(scores): return scores", "The file defines no function softmax. It defines soft_max."),
        ("import no_such_module", "It raised ModuleNotFoundError in line 1 (`import no_such_module`): No module named"),
        ("def softmax(): pass", "It is called as softmax(scores), by position."),
        (in_function("return np.random.rand(2, 2) * 0 + 0.5 + np.random.rand() * scores"), "Wrong"),
        (RIGHT.replace("return exp", "global calls; calls += 1; return calls % 2 * 1e-7 + exp") + "calls = 0\n",
         "A second call on the same arguments gave something else"),
    ],
)  # fmt: skip
def test_every_accident_is_a_sentence(folder: Path, code: str, sentence: str) -> None:
    verdict = ran(folder, code)
    assert not verdict.right
    assert sentence in " ".join(verdict.said)
    assert "Traceback" not in " ".join(verdict.said)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (in_function("while True: pass"), "运行了 4 秒，第一个输入还没算完就被终止了：请看看是不是有停不下来的循环。"),
        (in_function("x = np.ones(10 * 2**30 // 8)", "return x"), "（`x = np.ones(10 * 2**30 // 8)`）要的内存超过"),
        (in_function("os.abort()"), "还没有结果就崩溃了（SIGABRT）。"),
        (in_function("print('x' * 100_000_000)"), "打印的内容超过 1 MB，已被终止。"),
        (in_function("return 1 / 0"), "代码第 4 行（`return 1 / 0`）引发了 ZeroDivisionError：division by zero"),
        (in_function("return 'x'"), "输入“a matrix”：weights 是 str 类型的值，应为形状为 [2, 2] 的数组。"),
        (in_function("return open"), "输入“a matrix”：结果的类型是 builtin_function_or_method。"),
        (in_function("raise NotImplementedError"), "代码第 4 行（`raise NotImplementedError`）还没有写。"),
        ("import no_such_module", "代码第 1 行（`import no_such_module`）引发了 ModuleNotFoundError"),
    ],
)  # fmt: skip
def test_an_accident_is_told_in_chinese(folder: Path, code: str, sentence: str) -> None:
    with reader.spoken("zh"):
        verdict = ran(folder, code)
    assert not verdict.right
    assert sentence in " ".join(verdict.said)


def test_memory_that_grows_is_ended(folder: Path) -> None:
    code = in_function("kept = []", "while True: kept.append(np.ones(2**20))")
    verdict = ran(folder, code, Limits(seconds=300, memory=2**29))
    assert verdict.said == ("It took more than 537 MB of memory and was ended.",)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize(
    "lines",
    [
        ("if os.fork() == 0: time.sleep(1000)",),
        ("import subprocess", "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)', __file__])"),
    ],
)
def test_a_process_that_stays_is_ended_and_said(folder: Path, lines: tuple[str, ...]) -> None:
    body = RIGHT.strip().splitlines()[2:]
    verdict = ran(folder, in_function(*lines, *(line.strip() for line in body)))
    assert verdict.right
    assert verdict.said == ("It left a process of its own running, which was ended.",)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_that_comes_back_gives_no_second_result(folder: Path) -> None:
    body = RIGHT.strip().splitlines()[2:]
    verdict = ran(folder, in_function("os.fork()", *(line.strip() for line in body)))
    assert verdict.right


def test_a_right_file_is_right_and_may_write_into_its_arguments(folder: Path) -> None:
    assert ran(folder, RIGHT) == Verdict(True, ())
    in_place = in_function(
        "scores -= scores.max(-1, keepdims=True)", "np.exp(scores, out=scores)",
        "scores /= scores.sum(-1, keepdims=True)", "return scores",
    )  # fmt: skip
    assert ran(folder, in_place).right


def test_what_it_prints_is_kept_from_its_beginning(folder: Path) -> None:
    verdict = ran(folder, RIGHT + "print('begun')\nprint('y' * 50_000)\n")
    assert verdict.right
    assert verdict.printed.startswith("begun\nyyy")
    assert len(verdict.printed) <= 4_000


def test_tensors_are_given_where_the_file_imports_torch(folder: Path) -> None:
    code = """
    def softmax(scores):
        import torch
        assert isinstance(scores, torch.Tensor)
        return torch.softmax(scores, dim=-1)
    """
    assert ran(folder, code, Limits(seconds=60)).right
    assert ran(folder, "import numpy\ndef softmax(s):\n    assert isinstance(s, numpy.ndarray)\n").said


def test_a_module_beside_the_file_is_found_and_none_of_the_project(folder: Path) -> None:
    (folder / "mine.py").write_text("import judging\n")
    found = run(folder / "mine.py", TASK.function, CASES, QUICK)
    assert isinstance(found.loading, Raised)
    assert found.loading.said == "No module named 'judging'"
    (folder / "beside.py").write_text(RIGHT)
    (folder / "mine.py").write_text("from beside import softmax\n")
    (outcome,) = run(folder / "mine.py", TASK.function, CASES, QUICK).outcomes
    assert isinstance(outcome, Returned)
    assert sorted(path.name for path in folder.iterdir()) == ["beside.py", "mine.py"]


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"x = 1\n" * LARGEST_FILE], ids=["no text", "large"])
def test_what_is_no_solution_is_refused_before_it_runs(folder: Path, content: bytes) -> None:
    (folder / "mine.py").write_bytes(content)
    with pytest.raises(ValueError, match=r"is no text in UTF-8|a solution has at most"):
        run(folder / "mine.py", TASK.function, CASES, QUICK)
    with pytest.raises(ValueError, match="There is no file"):
        run(folder / "other.py", TASK.function, CASES, QUICK)
    with pytest.raises(ValueError, match="There is no file"):
        run(folder, TASK.function, CASES, QUICK)


@pytest.mark.parametrize(
    "message",
    [
        {"array": "<f4", "shape": [2**40], "bytes": 4},
        {"array": "<f4", "shape": [-1], "bytes": 4},
        {"array": "|O", "shape": [1], "bytes": 8},
        {"pickle": "x"},
        {"plain": {"a": 1}},
        {"tuple": [{"array": "<f8", "shape": [3], "bytes": 0}]},
    ],
)
def test_the_channel_takes_plain_data_alone(message: dict[str, object]) -> None:
    size = message.pop("bytes", 0)
    with pytest.raises(ValueError):  # noqa: PT011, every refusal of a message is one
        read(message, lambda: bytes(int(str(size))))


@pytest.mark.parametrize("value", [1, 2**100, -1.5, float("inf"), True, None, "x", (1, [2, "a"]), {("a", "b"): 3}])
def test_a_value_comes_back_as_it_was(value: object) -> None:
    assert read(child.plain(value, []), bytes) == value


@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8", "<i8", "|b1", ">f4"])
def test_an_array_comes_back_as_it_was(dtype: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    arrays: list[bytes] = []
    back = read(child.plain(array, arrays), lambda: arrays[0])
    np.testing.assert_array_equal(back, array)


def test_a_class_whose_text_fails_is_a_sentence(folder: Path) -> None:
    code = """
    class Odd(Exception):
        def __str__(self): raise ValueError("no")
    def softmax(scores):
        raise Odd
    """
    assert ran(folder, code).said[0].startswith("It raised Odd in line 5")
    hidden = """
    class Odd:
        def __iter__(self): return iter(())
        @property
        def shape(self): raise KeyError
    def softmax(scores):
        return Odd()
    """
    assert "is of the type Odd and cannot be read (KeyError)" in ran(folder, hidden).said[0]


def test_a_file_that_writes_into_the_channel_is_ended(folder: Path) -> None:
    code = in_function("[os.write(fd, b'\\xff' * 100) for fd in range(3, 12) if _open(fd)]", "time.sleep(60)")
    code += textwrap.dedent("""
    def _open(fd):
        try:
            os.fstat(fd)
        except OSError:
            return False
        return True
    """)
    assert ran(folder, code).said[0] == "The file wrote something else into the place of its results, and was ended."


def test_an_unreadable_result_is_one(folder: Path) -> None:
    (outcome,) = run(written(folder, in_function("return object()")), TASK.function, CASES, QUICK).outcomes
    assert outcome == Unreadable("type", ("object",))


def test_the_command_says_what_it_is_and_ends_with_a_code(folder: Path) -> None:
    def command(*given: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "inspector.practice", *given], capture_output=True, text=True, check=False
        )

    done = command("12", str(written(folder, "def flops(n, width, ffn, heads):\n    return n * width\n")))
    assert (done.returncode, done.stderr.count("not against malice")) == (1, 1)
    assert done.stdout.startswith("Wrong")
    right = command("12", "inspector/practice/solutions/flops.py")
    assert (right.returncode, right.stdout.splitlines()[0][:6]) == (0, "Right:")
