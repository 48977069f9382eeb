"""Sentences of the printable sheet in Chinese; inspector/wording/english/questions/sheet.py has the same names."""

from __future__ import annotations

from collections.abc import Mapping

TITLE = "关于 Transformer 的问题"
MODEL = "模型"
TEXT = "文本"
DATE = "日期"
CONTENTS = "目录"
SEE = "在哪里查看"
PARTS = "这一说法的各个部分"
BOTH = "中英对照"
LANGUAGE = "语言"
WHY_NOT = "为什么无法测量"


def about(questions: int) -> str:
    """Say what the sheet is."""
    return f"共 {questions} 个问题。每个问题列出常见说法、在下面的模型和文本上测得的数值，以及由数值得出的结论。"


def tally(counts: Mapping[str, int]) -> str:
    """Count verdicts; counts: of each verdict, and "failed"."""
    clause = (
        f"{counts.get('true', 0)} 个成立，{counts.get('false', 0)} 个不成立，{counts.get('partly', 0)} 个部分成立，"
        f"{counts.get('conditions', 0)} 个有条件地成立"
    )
    return f"{clause}，{counts['failed']} 个未能测量。" if counts.get("failed") else f"{clause}。"


def measured_on(model: str, text: str) -> str:
    """Say that another model was asked, and which text it read."""
    return f"本页的模型无法用来验证，因此在 {model} 上测量。它读的文本：{text}"


def published(value: str, of: str, *, same: bool = True, from_memory: bool = False) -> str:
    """Tell a paper's figure; same: of the measured quantity; from_memory: not looked up."""
    marks = [] if same else ["不是同一个量"]
    marks += ["凭记忆，未核对"] if from_memory else []
    told = "；".join(filter(None, [of, *marks]))
    return f"{value}（{told}）" if told else value


LENGTH = "篇幅"
SHORT, LONG = "只看结论", "完整答案"

PREPARE = "带走这些答案"
PREPARE_HINT = "在你的文本上测量当前列表中的问题，并把答案做成三个文件：可打印的答案（中英对照）、Anki 卡片和表格。"
CARDS = "Anki 卡片，语言与本页相同。以后再导入时会更新已有的卡片。"
TABLE = "表格：问题、判断、数值和原因。"
SAVE = "保存答案文件"


def ready(questions: int) -> str:
    """Say that the files are made, and what is left to do."""
    return f"三个文件已生成，共 {questions} 题：请点其中一个。"
