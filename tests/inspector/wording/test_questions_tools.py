"""The sheet, the path, levels, kept guesses and the interview say the same things in both languages."""

from __future__ import annotations

import inspect
import re
from types import ModuleType

import pytest

from inspector.wording.chinese.questions import course as course_chinese
from inspector.wording.chinese.questions import interview as interview_chinese
from inspector.wording.chinese.questions import kept as kept_chinese
from inspector.wording.chinese.questions import path as path_chinese
from inspector.wording.chinese.questions import sheet as sheet_chinese
from inspector.wording.english.questions import course as course_english
from inspector.wording.english.questions import interview as interview_english
from inspector.wording.english.questions import kept as kept_english
from inspector.wording.english.questions import path as path_english
from inspector.wording.english.questions import sheet as sheet_english

PAIRS = [
    (course_english, course_chinese),
    (interview_english, interview_chinese),
    (kept_english, kept_chinese),
    (path_english, path_chinese),
    (sheet_english, sheet_chinese),
]
HAN = re.compile(r"[㐀-鿿]")


def words(module: ModuleType) -> dict[str, object]:
    return {
        name: str(inspect.signature(value)) if inspect.isfunction(value) else type(value)
        for name, value in vars(module).items()
        if not name.startswith("_") and name != "annotations"
    }


@pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=["course", "interview", "kept", "path", "sheet"])
def test_both_languages_have_the_same_names(english: ModuleType, chinese: ModuleType) -> None:
    assert words(english) == words(chinese)
    for name, value in vars(chinese).items():
        if name.isupper():
            said, told = value, getattr(english, name)
            if isinstance(value, dict):
                assert list(said) == list(told)
                said, told = said.values(), told.values()
            assert all(map(HAN.search, [said] if isinstance(said, str) else said)), name
            assert not any(map(HAN.search, [told] if isinstance(told, str) else told)), name


def test_sentences_with_numbers() -> None:
    assert sheet_english.tally({"true": 2, "false": 1}) == "2 hold, 1 do not, 0 hold in part, 0 hold under conditions."
    assert (
        sheet_chinese.tally({"true": 2, "partly": 1, "failed": 3})
        == "2 个成立，0 个不成立，1 个部分成立，0 个有条件地成立，3 个未能测量。"
    )
    assert path_english.room(-3) == "The words are 3 letters too long for a link: shorten them."
    assert path_chinese.room(-4) == "文字比链接能容纳的多 2 个汉字，请缩短。"
    assert kept_english.due(3) == "Due today: 3"
    assert kept_chinese.taken(2, 1) == "已从文件导入 2 条猜测。另有 1 条不是猜测或没有对应的问题，已略去。"
    assert course_english.in_list(2, (1, 16)) == "level 2, after 1, 16"
    assert interview_english.back(1) == "It comes back tomorrow under “Due today”."
    assert path_english.whole(1) == "A path of 1 question"
