"""Sentences of a teacher's path in Chinese; inspector/wording/english/questions/path.py has the same names."""

from __future__ import annotations

MAKE = "制作学习路径"
ABOUT = "按希望学生看到的顺序选择问题，并在每个问题前写一段话。所有内容都保存在链接里。"
CHOOSE = "问题（按顺序）"
OPEN = "试走这条路径"
LINK = "复制这个链接："
START = "开始"
LEAVE = "退出路径"
PREVIOUS = "上一步"
NEXT = "下一步"


def step(at: int, of: int) -> str:
    """Say where on the path the reader is."""
    return f"第 {at} 步，共 {of} 步"


def whole(steps: int) -> str:
    """Name a path at whose first step the reader is not yet."""
    return f"一条包含 {steps} 个问题的学习路径"


def words_before(number: int) -> str:
    """Label the field for the words before a question."""
    return f"第 {number} 题之前的话"


def room(left: int) -> str:
    """Say how much more fits the link."""
    if left < 0:
        return f"文字比链接能容纳的多 {-(left // 3)} 个汉字，请缩短。"
    return f"还可以写 {left // 3} 个汉字（或 {left} 个英文字母）。"
