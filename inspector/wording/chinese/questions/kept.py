"""Sentences of the guesses that the browser keeps, in Chinese; english/questions/kept.py has the same names."""

from __future__ import annotations

KEPT = "已保存的猜测"
ABOUT = "只保存在这个浏览器里：没有账号，链接里也没有。每题在 1、3、7、16、35 天后再次出现；猜错的题第二天再来。"
EXPORT = "导出"
EXPORT_HINT = "全部猜测及日期，保存为 JSON 文件"
IMPORT = "导入文件"
FORGET = "全部清除"
BLOCKED = "浏览器不允许本页保存数据：你的猜测只在本次访问中有效。可用“导出”存成文件。"
FULL = "浏览器的存储空间已满：最近的猜测只在本次访问中有效。可用“导出”存成文件。"
UNREADABLE = {
    "large": "浏览器中保存的数据超过 64 KB，未读取。",
    "no list": "浏览器中保存的数据不是猜测记录，未读取。",
    "another version": "浏览器中的猜测由另一版本的 Headlight 保存，未读取。",
}
NOT_WRITTEN = "原数据保持不变；在“已保存的猜测”中按“全部清除”之前，新的猜测只在本次访问中有效。"
REFUSED = {
    "large": "文件超过 64 KB：请选择由“导出”生成的文件。没有任何改动。",
    "no list": "文件不是猜测记录：请选择由“导出”生成的文件。没有任何改动。",
    "another version": "文件由另一版本的 Headlight 生成。没有任何改动。",
}


def due(questions: int) -> str:
    """Name the button that opens the next question that is due."""
    return f"今日复习：{questions}"


def count(questions: int) -> str:
    """Say how many guesses are kept."""
    return f"已保存 {questions} 个问题的猜测。"


def next_due(day: str, questions: int) -> str:
    """Say when the next questions are due."""
    return f"下次复习：{day}，共 {questions} 题。"


def back(day: str) -> str:
    """Say when a question comes back."""
    return f"下次复习：{day}。"


def taken(questions: int, left_out: int) -> str:
    """Say what an imported file held."""
    said = f"已从文件导入 {questions} 条猜测。"
    return f"{said}另有 {left_out} 条不是猜测或没有对应的问题，已略去。" if left_out else said


def left_out(entries: int) -> str:
    """Say how many entries of the browser's storage were not taken."""
    return f"浏览器中有 {entries} 条记录不是猜测，或没有对应的问题，已略去。"
