"""Sentences of the mock interview in Chinese; english/questions/interview.py has the same names."""

from __future__ import annotations

INTERVIEW = "模拟面试"
ABOUT = "十道题，每题两分钟：先用自己的话回答，再与本页的答案对照，勾选你说到的要点。同一链接抽到的十道题相同。"
LEVEL = "难度"
MIXED = "混合"
START = "开始"
LEAVE = "退出面试"
YOURS = "你的回答"
NOTHING_SAID = "你没有写。"
SHOW = "看答案"
SKIP = "跳过"
PAUSE = "暂停"
GO_ON = "继续"
TIME_LEFT = "剩余时间"
PAUSED = "已暂停"
MINUTE_LEFT = "还剩一分钟。"
SECONDS_LEFT = "还剩十五秒。"
TIME_UP = "时间到。请写完这句话，内容不会丢失。"
NAMED = "好的回答会说到以下要点，请勾选你说到的："
NOT_SO = "不成立："
BUT = "但是："
WHY = "原因："
NEXT = "下一题"
RESULT = "看结果"
REPEAT = "需要复习"
KNOWN = "已掌握"
REPEAT_NONE = "没有需要复习的题：每题都说到了三分之二以上的要点。"
AGAIN = "再来一次"
SKIPPED = "已跳过"


def step(at: int, of: int) -> str:
    """Say which question of the interview is asked."""
    return f"第 {at} 题，共 {of} 题"


def answer_to(asked: str) -> str:
    """Label the field for the reader's own words."""
    return f"你对这道题的回答：{asked}"


def because(heading: str, said: str) -> str:
    """Put a point under its heading in one line."""
    return f"{heading}：{said}"


def result(named: int, points: int, passed: int, of: int) -> str:
    """Say how the interview went."""
    return f"{of} 题中有 {passed} 题说到了三分之二以上的要点；全部 {points} 个要点中说到了 {named} 个。"


def named(named: int, points: int) -> str:
    """Say how many points an answer named."""
    return f"{points} 个要点中的 {named} 个"


def back(questions: int) -> str:
    """Say when the questions to repeat come back."""
    return f"这 {questions} 题明天会出现在“今日复习”中。"
