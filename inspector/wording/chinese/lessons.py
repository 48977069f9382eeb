"""Sentences of the page Lessons in Chinese; inspector/wording/english/lessons.py has the same names."""

from __future__ import annotations

from collections.abc import Sequence

# --- opening a lesson -------------------------------------------------------------------------------------------------

ABOUT = (
    "一堂课就是老师的一个文件：按顺序排列的文本、问题、练习和要找的数值。在这里打开文件，或点开链接。"
    "你的答案汇成一个文件交回。服务器不保存任何内容。"
)
CHOOSE = "选一堂课，或打开自己的课程"
OPEN = "打开"
OF_YOURS = "老师的课程，或你自己的课程"
OPEN_FILE = "打开课程文件"
EXAMPLE = "下载一个范例"
EXAMPLE_HELP = "课程的 TOML 文件，可用文本编辑器打开；各字段的含义见 docs/lessons.md"
NOT_OPENED = "课程未能打开"
OPEN_AGAIN = "这堂课太长，放不进链接，所以链接无法恢复它。请重新打开课程文件：你的答案还在。"
HAND_ON = "分享课程"
LINK = "链接里就是整堂课："
SAVE = "保存课程文件"
LEAVE = "退出课程"

# --- a step -----------------------------------------------------------------------------------------------------------

STEP = "步骤"
PREVIOUS = "上一步"
NEXT = "下一步"
READ = "阅读"
NUMBER = "找一个数值"
STANDS = {None: "已回答", True: "正确", False: "不正确"}
MEASURING = "正在测量"
SEE_MEASURED = "查看测量结果"
KEPT_UNSEEN = "你的猜测已保存。是否正确由老师查看；你还可以更改。"
NUMBER_HINT = "例如 0.41 或 4.1e-3"
NO_NUMBER = "这不是数值：请只写数字和小数点，例如 0.41，不带单位，也不用逗号。"
TAKE = "保存"
TO_TASK = "在“练习”中打开这道题"
YOUR_FILE = "你的 Python 函数"
NOT_RUN = "服务器不运行你的文件，只把它作为文本交上去。请先自己运行："
CHOOSE_FILE = "选择文件"

# --- answers ----------------------------------------------------------------------------------------------------------

ANSWERS = "你的答案"
NAME = "你的名字（老师认得的）"
NAME_HELP = "只写在你的答案文件里，不会出现在别处"
HAND_IN = "保存要上交的文件"
HAND_IN_HELP = "你对这堂课的答案，保存为一个 JSON 文件；在另一个浏览器中用“导入”接着做"
IMPORT = "导入答案"
FORGET = "全部清除"
KEPT = "答案只保存在这个浏览器里，直到你清除。文件交给老师。"
STORAGE = {
    "blocked": "浏览器不允许本页保存数据：你的答案只在本次访问中有效。请保存文件。",
    "full": "浏览器的存储空间已满：最近的答案只在本次访问中有效。请保存文件。",
}
UNREADABLE = {
    "large": "浏览器中保存的这堂课的数据超过 256 KB，未读取。",
    "no answers": "浏览器中保存的这堂课的数据不是答案，未读取。",
    "another version": "浏览器中的答案由另一版本的 Headlight 保存，未读取。",
}
REFUSED = {
    "large": "文件超过 256 KB：请选择由本页保存的文件。没有任何改动。",
    "no answers": "文件里没有答案：请选择由本页保存的文件。没有任何改动。",
    "another version": "文件由另一版本的 Headlight 生成。没有任何改动。",
}
NO_ROOM = "加上这些答案，文件会超过 256 KB。没有任何改动。"


def size(steps: int, asking: int) -> str:
    """Say how long a lesson is."""
    return f"共 {steps} 步，其中 {asking} 步要回答"


def no_lesson(known: Sequence[str]) -> str:
    """Say that a link names a lesson that there is not."""
    return f"链接所指的课程不存在；随附的课程是 {'、'.join(known)}。"


def too_long(most: int) -> str:
    """Say that a lesson fits no link."""
    return f"这堂课太长，放不进 {most:,} 个字符的链接。请分发课程文件，用本页打开。"


def question(number: int) -> str:
    """Name a step that asks a question."""
    return f"问题 {number}"


def practice(number: int) -> str:
    """Name a step that asks for a practice task."""
    return f"练习 {number}"


def step(at: int, of: int, kind: str, stands: str) -> str:
    """Name a step in the list of all."""
    return f"第 {at} 步，共 {of} 步 · {kind}{f' · {stands}' if stands else ''}"


def to_page(title: str) -> str:
    """Label the way to the page of a step."""
    return f"打开“{title}”"


def not_offered(model: str) -> str:
    """Say that a step reads in a model that is not offered here."""
    return (
        f"这一步要用模型 {model}，这里没有提供，而课程不会加载模型。"
        "请在“注意力”等页面侧栏的“其他模型”中添加，再回到这里。"
    )


def found(unit: str) -> str:
    """Label the field for a number."""
    return f"你找到的数值，{unit}" if unit else "你找到的数值"


def guessed(guess: str, verdict: str) -> str:
    """Say what was guessed, and what the verdict is."""
    return f"你猜的是“{guess}”。判断：{verdict}。"


def right(value: object, by: str) -> str:
    """Say that a number is right. by: what it was held to."""
    return f"{_number(value)} 正确：应为 {by}。"


def wrong(value: float, *, low: bool, within: str) -> str:
    """Say that a number is wrong. within: how near it must come."""
    return f"{_number(value)} 偏{'小' if low else '大'}：与应得的数值相差不得超过 {within}。"


def kept_number(value: object) -> str:
    """Say which number is kept, where the lesson does not tell at once what is right."""
    return f"{_number(value)} 已保存。是否正确由老师查看；你还可以更改。"


def kept_code(lines: int) -> str:
    """Say that a file is kept."""
    return f"你的答案中有 {lines} 行代码。老师会把它与真实的层对照。"


def large_code(most: int) -> str:
    """Refuse a file that is too large."""
    return f"文件超过 {most:,} 个字符，或全部答案合计超过 256 KB，未保存。"


def so_far(answered: int, of: int, right: int | None) -> str:
    """Count the answers. right: None where the lesson does not tell what is right."""
    return f"共 {of} 步，已回答 {answered} 步" + (f"，{right} 步正确" if right is not None else "")


def taken(answers: int, left_out: int) -> str:
    """Say what an imported file held."""
    said = f"已从文件导入 {answers} 条答案。"
    return f"{said}另有 {left_out} 条不是答案，已略去。" if left_out else said


def of_another(title: str) -> str:
    """Refuse the answers to another lesson."""
    return f"文件是另一堂课“{title}”的答案。没有任何改动。"


def left_out(entries: int) -> str:
    """Say how many entries of the browser's storage were not taken."""
    return f"浏览器中有 {entries} 条记录不是答案，已略去。"


def _number(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)[:40]
