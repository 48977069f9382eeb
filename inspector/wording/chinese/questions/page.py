"""Sentences of the page Questions in Chinese; inspector/wording/english/questions/page.py has the same names."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.questions.record.question import Role, Scope, Verdict
from inspector.wording.chinese.queue import waits as _waits

SEARCH = "搜索"
SEARCH_HINT = "关键词或题号"
THEME = "主题"
ALL_THEMES = "全部主题"
NO_MATCH = "没有同时包含这些词的问题。请减少关键词，或换一个主题。"
SHOW_ALL = "显示全部问题"

ALL_QUESTIONS = "全部问题"
ANOTHER = "换一个"
SAID = "常见说法："
GUESS = "先猜一猜：上面的说法对吗？"
GUESSES = {"true": "对", "false": "错", "between": "只有一部分对"}
JUST_SHOW = "直接看答案"
MEASURING = "正在你的文本上测量"

HERE: dict[Verdict, str] = {
    "true": "在此成立",
    "false": "在此不成立",
    "partly": "部分成立",
    "conditions": "有条件地成立",
}
"""Verdicts that were measured in a model on a text."""
ALWAYS: dict[Verdict, str] = {**HERE, "true": "成立", "false": "不成立"}
"""Verdicts in which no loaded model takes part."""
CANNOT = "无法在该模型上验证"
UNMEASURED = "未能测量"
STATED = "此题无法测量：结论依据文献。"
HELD = "成立"
NOT_HELD = "不成立"
ROLES: dict[Role, str] = {"claim": HELD, "limit": "但是", "mechanism": "原因"}
"""The word before a part that holds."""
SCOPES: dict[Scope, str] = {
    "algebra": "不涉及加载的模型：换文本、换模型，这些数值都不变。",
    "model": "由这个模型决定：换文本，这些数值不变。",
    "text": "由这段文本决定：换文本，这些数值会变。",
}

NUMBERS = "测得的数值"
HEADS = ("指标", "实测", "论文中")
FORMULA = "代入数值的公式"
BECAUSE = "为什么会有这种说法"
REFUTED = "什么结果会改变本页的判断"
SETTING = "测量方法"
PAPERS = "论文"

SETTLE = "全部测量"
STOP = "停止"

WHOLE = "完整实验"
RUN_WHOLE = "运行完整实验"
RUN_AGAIN = "重新运行"
LIVE = "本机运行结果"
STORED = "存档结果"
NO_RUN_YET = "这里还没有运行过。"
FIGURE = {
    "slide": "幻灯片",
    "slide_help": "大字号的图，浅色或深色背景",
    "menu": "幻灯片与文件",
    "menu_of": "幻灯片与文件：{}",
    "png_help": "大字号的图，2560 × 1440 像素",
    "svg_help": "大字号的矢量图，任意缩放都清晰",
    "csv_help": "图中的数值，保留全部位数",
    "background": "背景",
    "full_screen": "全屏",
}
"""The words of a figure's menu."""
MODES = {"light": "浅色", "dark": "深色"}
MATRIX = {
    "linear": "（线性色阶）",
    "sqrt": "（平方根色阶）",
    "how_to": "方向键逐格移动，Enter 固定数值，Escape 取消",
    "exactly": "，精确值 ",
}
SOFTMAX_ALONE = "这里只测量了 softmax 注意力：以其他方式混合 token 的层，权重不是份额。"


def count(questions: int) -> str:
    """Say how many questions there are."""
    return f"{questions} 个问题，用你的文本回答"


def here(questions: int) -> str:
    """Name the list of the questions that a page answers."""
    return f"相关问题（{questions}）"


INVITATION = "初次使用？五个问题"
ON_THIS_VIEW = "当前画面回答"
ON_THIS_PAGE = "本页相关问题"
EVERY = "全部问题"


def quoted(statement: str) -> str:
    """Quote a part of a claim, which people say and not the page."""
    return f"“{statement}”"


def match(count: int, of: int) -> str:
    """Say how many questions a search found."""
    return f"找到 {count} 个问题（共 {of} 个）"


def heading(number: int, asked: str) -> str:
    """Head an opened question."""
    return f"{number}. {asked}"


def tally(counts: Mapping[str, int]) -> str:
    """Count verdicts; counts: of each verdict, "instead" (of another model) and "failed"."""
    counted = (
        f"{counts.get('true', 0)} 个在此成立，{counts.get('false', 0)} 个不成立，{counts.get('partly', 0)} "
        f"个部分成立，{counts.get('conditions', 0)} 个有条件地成立。"
    )
    if counts.get("instead"):
        counted += f"其中 {counts['instead']} 个由其他模型代答。"
    if counts.get("failed"):
        counted += f"另有 {counts['failed']} 个未能测量。"
    return counted


def settling(done: int, total: int) -> str:
    """Say how far the measuring of all questions is."""
    return f"第 {min(done + 1, total)} 题，共 {total} 题"


def running(done: int, total: int) -> str:
    """Say how far a whole experiment is."""
    return f"第 {done:,} 步，共 {total:,} 步"


def stopped(done: int, total: int) -> str:
    """Say that a whole experiment was stopped."""
    return f"已在第 {done:,} 步停止（共 {total:,} 步），没有结果可显示。"


def guessed(guess: str, *, right: bool, rights: int, of: int) -> str:
    """Say whether a guess was right, and count the right ones of this visit."""
    return f"你猜的是“{guess}”：{'猜对了' if right else '没有猜对'}。目前共猜 {of} 题，猜对 {rights} 题。"


def cannot(model: str, lacks: str, instead: str) -> str:
    """Say why another model was asked."""
    why = f"{model} {lacks}。" if lacks else f"没有在 {model} 上测量。"
    return f"{why}可以用 {instead} 来验证，以下是它的数值。"


def not_at_hand(model: str, instead: str) -> str:
    """Say that the model of a saved trace is missing, and which model was asked."""
    return f"存档记录所用的模型 {model} 不在本机。改用 {instead} 测量，以下是它的数值。"


def of_model(model: str, verdict: str) -> str:
    """Name the model that the verdict is about, where another than the reader's was asked."""
    return f"{model}：{verdict}"


def held_of(held: int, claims: int) -> str:
    """Say how many of the claims in it hold."""
    return f"{claims} 条中有 {held} 条成立"


def bound(needs: str, *, holds: bool) -> str:
    """Say of a measured number what it must be, such as "< 5 %", and whether it is."""
    return f"应为 {needs}，符合" if holds else f"若说法成立，应为 {needs}"


def numbers_of(model: str) -> str:
    """Head the numbers of a model that is not the reader's."""
    return f"{model} 的数值"


def published(value: str, of: str, *, same: bool = True, from_memory: bool = False) -> str:
    """Say what a paper reports, and what was measured there.

    same: of the quantity that is measured here; from_memory: not looked up.
    """
    marks = [] if same else ["不是同一个量"]
    marks += ["凭记忆，未核对"] if from_memory else []
    told = "；".join(filter(None, [of, *marks]))
    return f"{value}（{told}）" if told else value


def see(page: str, model: str) -> str:
    """Name the button that opens the page with the whole answer; model: the stand-in, "" for the reader's model."""
    return f"在“{page}”页查看" + (f"（用 {model}，英文页面）" if model else "（英文页面）")


def queued(place: int, before: tuple[str, ...], seconds: float | None) -> str:
    """Say the place in the queue of visitors, and about how long it takes; the works before have English names."""
    return _waits("", place, before, seconds)


def stored(command: str, seeds: str, date: str) -> str:
    """Say where a stored result comes from."""
    return f"存档结果，并非现在测得。命令：{command}；随机种子：{seeds}；日期：{date}。"


def read(tokens: int) -> str:
    """Introduce the text that was read; tokens: the most that a question reads."""
    return f"所读的文本（长文本只读前 {tokens} 个 token）："
