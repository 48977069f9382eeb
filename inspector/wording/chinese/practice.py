"""Sentences of the page Practice in Chinese; inspector/wording/english/practice.py has the same names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.practice.record.task import Level  # the page's shell needs no exercises

LEVELS: dict[Level, str] = {
    "first steps": "入门",
    "inside a layer": "层的内部",
    "writing": "分词与生成",
    "beyond": "进阶",
}
ABOUT = (
    "你的文件在你自己的机器上、在单独的进程中运行；本页不运行你的代码。该进程只防意外，不防恶意：请只运行你信任的代码。"
    "写错时会指出错在哪里。"
)
TO_WRITE = "要写的函数"
DOWNLOAD = "下载 mine.py"
DOWNLOAD_HINT = "把上面几行存成文件，接着往下写"
HELD_BY = "然后在 Headlight 的文件夹中运行："
HINT_KINDS = ("公式", "更小的例子", "常见原因")
ALL_HINTS = "提示已全部显示。"
SOLUTION = "显示答案"
HIDE = "隐藏答案"
HIDE_MISTAKES = "隐藏错误"
BY_HAND = "可以手算核对的小例子"
GIVEN = "输入"
DUE = "应得结果"
WORD, COUNT = "词", "次数"
NUMBERS = "表格的一行就是数组的一行；两轴以上的数组逐块显示。"


def heading(number: int, title: str) -> str:
    """Head a task."""
    return f"第 {number} 题 · {title}"


def next_hint(number: int) -> str:
    """Label the button of a hint."""
    return f"显示提示 {number}（共 3 条）"


def hint(kind: str, text: str) -> str:
    """Set a hint under its kind; text: Markdown."""
    return f"**{kind}**：{text}"


def mistakes(count: int) -> str:
    """Label the button of the mistakes that a task knows by name; count: how many."""
    return f"显示能指出名字的 {count} 种错误"


def part(name: str, place: str) -> str:
    """Name an array, or a part of one."""
    return f"{name} {place}".strip()
