"""Sentences of `python -m inspector.practice` in Chinese; the English file has the same names."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from inspector.text import visible
from models.formatting import format_bytes, shortened

_NAMES = tomllib.loads(Path(__file__).with_name("practice_names.toml").read_text(encoding="utf-8"))
_COLLECTIONS = {"tuple": "元组", "list": "列表"}

OWN_PROCESS = "文件在单独的进程中运行，只防意外，不防恶意：请只运行你信任的代码。"
NO_RESULT = "文件往传回结果的地方写了别的内容，已被终止。"
WRONG_JOIN = "数组没有沿长度不同的那个轴拼接：token 是 [B, t, E] 的轴 1"
ONLY_SQUARE = "只有各个长度都相等时才能运行：某个长度取错了轴"
STAYED = "它留下了一个仍在运行的进程，已被终止。"
UNKNOWN = "有错，而且没有哪个已知的错误会得到它。"
CHANGES = "用同样的参数再调用一次，结果就不同了：它在两次调用之间留下了什么，或者用了随机数。"
RESULT = "结果"
NOTHING = "无"
NO_RETURN = "None（是不是漏了 return？）"
UNREADABLE: Mapping[str, str] = {
    "deep": "嵌套超过 {} 层",
    "text": "含有超过 {} 个字符的文本",
    "whole number": "含有超过 {} 位的整数",
    "dtype": "的数组里是 {}，应为数",
    "large": "的形状是 {}：超过 {} 个数",
    "long": "有 {} 项",
    "no list": "的类型是 {}：请改成列表或数组",
    "type": "的类型是 {}",
    "fails": "的类型是 {}，无法读取（{}）",
}
"""Reasons why a result is no plain data, by the names that the process of the file gives them."""


# --- names ------------------------------------------------------------------------------------------------------------


def mistake(name: str) -> str:
    """Name a mistake by the name that its task gives it: a clause."""
    named: str = _NAMES["mistakes"].get(name, name)
    return named


def case(name: str) -> str:
    """Name an input by the name that its task gives it."""
    named: str = _NAMES["inputs"].get(name, name)
    return named


def array(shape: Sequence[int]) -> str:
    """Name an array."""
    return f"形状为 {list(shape)} 的数组"


def collection(kind: str, length: int) -> str:
    """Name a tuple or a list."""
    return f"有 {length} 项的{_COLLECTIONS[kind]}"


def value(kind: str) -> str:
    """Name a value of another type."""
    return f"{kind} 类型的值"


# --- the file and its process -----------------------------------------------------------------------------------------


def no_file(file: str) -> str:
    """Refuse what is no file."""
    return f"没有文件 {shortened(file, 200)}。"


def no_text(file: str) -> str:
    """Refuse a file that is no text."""
    return f"{shortened(file, 200)} 不是 UTF-8 编码的文本。"


def large_file(file: str, size: int, most: int) -> str:
    """Refuse a file that is too large."""
    return f"{shortened(file, 200)} 有 {format_bytes(size)}，而答案最多 {format_bytes(most)}。"


def slow_start(seconds: float) -> str:
    """Say that Python itself did not come up."""
    return f"Python 和它的库没能在 {seconds:g} 秒内启动。"


def too_long(seconds: float, done: int) -> str:
    """Say that a file ran too long; done: cases that it finished."""
    where = "第一个输入还没算完" if done == 0 else f"算完 {done} 个输入之后"
    return f"运行了 {seconds:g} 秒，{where}就被终止了：请看看是不是有停不下来的循环。"


def too_much_memory(most: int) -> str:
    """Say that a file took too much memory."""
    return f"占用的内存超过 {format_bytes(most)}，已被终止。"


def too_much_printed(most: int) -> str:
    """Say that a file printed too much."""
    return f"打印的内容超过 {format_bytes(most)}，已被终止。"


def ended(code: int, signal: str) -> str:
    """Say that a process ended before it had a result."""
    if signal == "SIGXCPU":
        return "用完了允许的处理器时间，被系统终止。"
    if signal == "SIGKILL":
        return "还没有结果就被系统终止了，内存耗尽时会这样。"
    if signal:
        return f"还没有结果就崩溃了（{signal}）。"
    return f"还没有结果就自己结束了进程（退出码 {code}）。"


# --- exceptions -------------------------------------------------------------------------------------------------------


def raised(kinds: Sequence[str], said: str, line: int | None, text: str, *, on: str) -> str:
    """Tell an exception of the reader's code. kinds: names of the class and of those above it; on: the input's name."""
    name = kinds[0]
    code = f"代码第 {line} 行（`{visible(text)}`）" if line else "代码"
    where = f"输入“{on}”：{code}" if on else code
    if "EOFError" in kinds:
        return f"{code}读取了标准输入，而那里什么也没有：请全部从参数中取。"
    if "SystemExit" in kinds:
        return f"{where}结束了程序：应返回结果。"
    if "MemoryError" in kinds or "DefaultCPUAllocator" in said or "allocate memory" in said:
        return f"{where}要的内存超过了上限。"
    if "NotImplementedError" in kinds and not said:
        return f"{code}还没有写。"
    what = f"：{visible(' '.join(said.split()))}" if said else ""
    return f"{where}引发了 {visible(name)}{what}"


def missing(function: str, found: Sequence[str]) -> str:
    """Say that a file does not define the function that is due."""
    others = f"它定义了 {'、'.join(shortened(name, 40) for name in found)}。" if found else ""
    return f"文件没有定义函数 {function}。{others}"


def arguments(signature: str) -> str:
    """Say how the function is called."""
    return f"它按位置调用：{signature}。"


# --- verdicts ---------------------------------------------------------------------------------------------------------


def because(cause: str) -> str:
    """Tell what an exception comes from."""
    return f"原因：{cause}。"


def right(made: int, recorded: Sequence[str]) -> str:
    """Say that a solution is right; made: the number of made inputs; recorded: the names of the recorded ones."""
    return f"正确：通过了 {made} 个构造的输入，以及从真实模型记录的输入（{'、'.join(recorded)}）。"


def but(mistake: str) -> str:
    """Add what is right only for the numbers that the task asks for."""
    return f"还有一点：{mistake}。"


def wrong(mistakes: Sequence[str]) -> str:
    """Name the mistake that makes a result, or those of which one does."""
    if len(mistakes) == 1:
        return f"有错：{mistakes[0]}。"
    listed = "\n".join(f"- {mistake}" for mistake in mistakes)
    return f"有错，是下面几种之一，它们在所有构造的输入上结果相同：\n{listed}"


def both(first: str, second: str) -> str:
    """Join two mistakes that were made at once."""
    return f"{first}；同时，{second}"


def close(mistakes: Sequence[str]) -> str:
    """Name what a result comes close to, though something else differs too."""
    return f"有错，而且没有哪个已知的错误恰好得到它。在一部分输入上，它与这种错误的结果相同：{mistakes[0]}。"


def differs(part: str, place: Sequence[int], *, on: str, expected: str, given: str) -> str:
    """Say where a result differs first."""
    at = f"{part}{list(place)}" if place else part
    return f"输入“{on}”：第一处不同在 {at}，应为 {expected}，得到 {given}。"


def shape(part: str, *, on: str, expected: Sequence[int], given: Sequence[int]) -> str:
    """Say that a result has another shape."""
    return f"输入“{on}”：{part} 的形状是 {list(given)}，应为 {list(expected)}。"


def kind(part: str, *, on: str, expected: str, given: str) -> str:
    """Say that a result is something else than what is due."""
    is_given, is_due = _joined(part, "是", given), _joined("应为", expected)
    return f"输入“{on}”：{is_given}，{is_due}。"


def _joined(*parts: str) -> str:
    """Join words, with a space where Latin letters meet Chinese ones, as everywhere."""
    text = parts[0]
    for part in parts[1:]:
        text += " " * (text[-1:].isascii() != part[:1].isascii()) + part
    return text


def unreadable(why: str, of: Sequence[str], *, on: str) -> str:
    """Say that a result is no plain data. why: a reason of UNREADABLE; of: its words and numbers."""
    return f"输入“{on}”：结果{visible(UNREADABLE[why].format(*of))}。"


def written(names: Sequence[str]) -> str:
    """Say that arguments were changed that must not be."""
    return f"有错：它改动了 {'、'.join(names)}，那是调用者的数据。请另建新的。"


def extra(part: str) -> str:
    """Say that more is returned than is due."""
    return f"返回的是元组，而只应返回 {part}。"


def printed(text: str) -> str:
    """Show what a file printed."""
    return f"它打印了：\n{text}"
