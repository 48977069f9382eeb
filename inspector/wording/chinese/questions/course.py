"""Sentences of levels, hints and guessed numbers in Chinese; english/questions/course.py has the same names."""

from __future__ import annotations

from collections.abc import Sequence

LEVEL = "难度"
ALL_LEVELS = "全部难度"
LEVELS = {1: "1：基本组成", 2: "2：原因与代价", 3: "3：论文发现与误区"}
KNOW_FIRST = "建议先看："
HINT = "提示"
HINTS = {"formula": "公式", "setting": "测量方法", "because": "背后的原因"}
GUESS_NUMBER = "猜一个数值"
GUESS_VERDICT = "猜对错"
TAKE = "就猜这个数"


def level(level: int) -> str:
    """Name a question's level."""
    return f"难度 {level}"


def in_list(level: int, first: Sequence[int]) -> str:
    """Say in a row of the list a question's level and what to know first."""
    return f"难度 {level}，先看 {'、'.join(map(str, first))}" if first else f"难度 {level}"


def question(asked: str) -> str:
    """Ask for a number on the slider; asked: its name."""
    return f"先猜一猜，在你的文本上：{asked}"


def points(guess: str, measured: str, points: int) -> str:
    """Say how near a guessed number came."""
    return f"你猜的是 {guess}，实测为 {measured}：得 {points} 分（满分 100）。"
