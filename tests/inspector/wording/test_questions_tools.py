"""The sheet and the path say the same things in both languages."""

from __future__ import annotations

import inspect
import re
from types import ModuleType

import pytest

from inspector.wording.chinese.questions import path as path_chinese
from inspector.wording.chinese.questions import sheet as sheet_chinese
from inspector.wording.english.questions import path as path_english
from inspector.wording.english.questions import sheet as sheet_english

PAIRS = [(path_english, path_chinese), (sheet_english, sheet_chinese)]
HAN = re.compile(r"[㐀-鿿]")


def words(module: ModuleType) -> dict[str, object]:
    return {
        name: str(inspect.signature(value)) if inspect.isfunction(value) else type(value)
        for name, value in vars(module).items()
        if not name.startswith("_") and name != "annotations"
    }


@pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=["path", "sheet"])
def test_both_languages_have_the_same_names(english: ModuleType, chinese: ModuleType) -> None:
    assert words(english) == words(chinese)
    for name, value in vars(chinese).items():
        if name.isupper():
            assert HAN.search(value), name
            assert not HAN.search(getattr(english, name)), name


def test_sentences_with_numbers() -> None:
    assert sheet_english.tally({"true": 2, "false": 1}) == "2 hold, 1 do not, 0 hold in part, 0 hold under conditions."
    assert (
        sheet_chinese.tally({"true": 2, "partly": 1, "failed": 3})
        == "2 个成立，0 个不成立，1 个部分成立，0 个有条件地成立，3 个未能测量。"
    )
    assert path_english.room(-3) == "The words are 3 letters too long for a link: shorten them."
    assert path_chinese.room(-4) == "文字比链接能容纳的多 2 个汉字，请缩短。"
    assert path_english.whole(1) == "A path of 1 question"
