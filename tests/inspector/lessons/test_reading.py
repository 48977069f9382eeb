"""A lesson's file is read field by field, and whatever is no lesson is one sentence with the place and the way out."""

from __future__ import annotations

import random
import re

import pytest

from inspector.lessons import read
from inspector.lessons.lesson import FOUND, NOTHING, Code, Guess, Number, Place
from inspector.lessons.reading import MOST_BYTES, MOST_STEPS, MOST_WORDS
from inspector.questions.record.both import Both
from models.cards import MINILM

MARKUP = "<img src=x onerror=alert(1)> **bold** $x$ [a](javascript:alert(1))"
LESSON = """
title = { en = "Heads", zh = "头" }
about = "An hour."
model = "mini-bert"
text = "A cat."
feedback = false

[[steps]]
words = "Look."
page = "attention"
link = { layer = 1, why = true, section = "All numbers" }

[[steps]]
question = 17
model = "minilm"
verdict = "false"

[[steps]]
practice = 3
words = { en = "Write.", zh = "写。" }

[[steps]]
words = "How much?"
page = "scores"
expected = 0.41
tolerance = 0.01
unit = "of the weight"
why = "So."

[[steps]]
words = "How many?"
expected = 1_000
tolerance = "2.5 %"
"""


def step(**fields: str) -> str:
    """Write a lesson of one step with these fields, each as TOML."""
    return 'title = "T"\n[[steps]]\n' + "\n".join(f"{name} = {value}" for name, value in fields.items())


def test_a_lesson_is_read_field_by_field() -> None:
    lesson = read(LESSON)
    assert (lesson.title, lesson.about, lesson.feedback) == (Both("Heads", "头"), Both("An hour.", "An hour."), False)
    look, guess, code, number, share = lesson.steps
    assert look.place == Place("", {"layer": "1", "why": "true", "section": "All numbers"}, "mini-bert", "A cat.")
    assert look.asks is None
    assert guess.asks == Guess(16, "minilm", "A cat.", "false")  # 17 went into 16
    assert (code.asks, code.words) == (Code(3), Both("Write.", "写。"))
    assert isinstance(number.asks, Number)
    assert number.asks.check.needs == "0.41 ± 0.01"
    assert (number.asks.unit.en, number.why.en, number.place) == (
        "of the weight",
        "So.",
        Place("scores", {}, "mini-bert", "A cat."),
    )
    assert isinstance(share.asks, Number)
    assert share.asks.check.needs == "1,000 ± 2.5 %"
    assert share.asks.check.holds({FOUND: 1_024})
    assert list(lesson.asking) == [2, 3, 4, 5]
    assert lesson.source == LESSON


def test_what_a_lesson_leaves_out_is_what_a_link_means() -> None:
    lesson = read(step(question="3"))
    assert (lesson.feedback, lesson.about) == (True, NOTHING)
    (only,) = lesson.steps
    assert only.asks == Guess(3, MINILM.id, "The cat sat on the mat because it was tired.")


def test_markup_stays_as_it_was_written_and_what_is_not_seen_is_left_out() -> None:
    lesson = read(step(words=f"'{MARKUP}'"))
    assert lesson.steps[0].words.en == MARKUP
    assert read(step(words='"a\\u202eb\\u0000c\\u001b[0m"')).steps[0].words.en == "abc[0m"


def test_the_hash_is_of_what_is_asked_and_not_of_its_words() -> None:
    digest = read(LESSON).digest
    assert re.fullmatch("[0-9a-f]{16}", digest)
    for old, new in (("Look.", "Look there."), ("So.", ""), ("An hour.", "Two."), ("false\n\n", "true\n\n")):
        assert old in LESSON
        assert read(LESSON.replace(old, new, 1)).digest == digest
    for old, new in (
        ("0.41", "0.42"),
        ("0.01", "0.02"),
        ("2.5 %", "2 %"),
        ('"Heads"', '"Head"'),
        ("practice = 3", "practice = 4"),
    ):
        assert read(LESSON.replace(old, new, 1)).digest != digest


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "title is missing"),
        ('title = "T"', "has 0 steps; it must have 1 to 60"),
        ('title = "T"\nsteps = []', "has 0 steps"),
        ('title = "T"\nsteps = 3', "steps is “3”; it must be a list of tables"),
        ('title = "T"\nsteps = [1]', "Step 1: steps is “1”; it must be a step begins"),
        ('title = "T"' + "\n[[steps]]" * (MOST_STEPS + 1), "has 61 steps"),
        ("title = 3\n[[steps]]", "title is “3”; it must be a text, or one for each language"),
        ('title = { en = "T" }\n[[steps]]', "title is"),
        ('title = { en = "T", zh = "", fr = "" }\n[[steps]]', "title is"),
        (f'title = "{"t" * 121}"\n[[steps]]', "title has 121 characters; it may have 120"),
        ('title = "T"\ncolour = "red"\n[[steps]]', "no field “colour”; the fields are title, about, model"),
        ('title = "T"\nfeedback = "no"\n[[steps]]', "feedback is “no”; it must be true or false"),
        (step(), "Step 1: The field words is missing"),
        (step(words='"w"', questions="3"), "Step 1: There is no field “questions”; the fields are words, why"),
        (step(words=f'"{"w" * (MOST_WORDS + 1)}"'), "Step 1: words has 4,001 characters"),
        (step(question="0"), "question is “0”; it must be the number of a question, from 1 to"),
        (step(question="9999"), "question is “9999”"),
        (step(question='"3"'), "question is “3”"),
        (step(question="true"), "question is “True”"),
        (step(question="3.0"), "question is “3.0”"),
        (step(question="3", verdict='"yes"'), "verdict is “yes”; it must be one of true, false, partly, conditions"),
        (step(practice="14"), "practice is “14”; it must be one of 1, 2, 3"),
        (step(question="3", practice="3"), "It has question and practice; a step asks for one thing"),
        (step(words='"w"', page='"Scores"'), "page is “Scores”; it must be one of attention, compare, scores"),
        (step(words='"w"', link="{ layer = 1 }"), "The field page is missing"),
        (step(words='"w"', page='"scores"', link="3"), "link is “3”; it must be a table"),
        (step(words='"w"', page='"scores"', link='{ model = "org/x" }'), "link is “model”; it must be names"),
        (step(words='"w"', page='"scores"', link="{ layer = [1] }"), "layer is “[1]”; it must be a text"),
        (step(words='"w"', page='"scores"', link="{ layer = 1.5 }"), "layer is “1.5”"),
        (step(words='"w"', page='"scores"', link="{ layer = 0x" + "f" * 9000 + " }"), "a number of more than 30"),
        (step(words='"w"', expected="1"), "tolerance is missing"),
        (step(words='"w"', expected="nan", tolerance="1"), "expected is “nan”; it must be a number such as 0.41"),
        (step(words='"w"', expected="inf", tolerance="1"), "expected is “inf”"),
        (step(words='"w"', expected='"0.4"', tolerance="1"), "expected is “0.4”"),
        (step(words='"w"', expected="true", tolerance="1"), "expected is “True”"),
        (step(words='"w"', expected="1", tolerance="-1"), "tolerance is “-1”; it must be a number from 0 on"),
        (step(words='"w"', expected="1", tolerance='"2"'), "tolerance is “2”"),
        (step(words='"w"', expected="1", tolerance='"-2 %"'), "tolerance is “-2 %”"),
        (step(words='"w"', expected="0", tolerance='"2 %"'), "a share of 0 is 0"),
        ("title = ", "no TOML: Invalid value"),
        ('title = "T"\ntitle = "U"', "no TOML"),
        ("x = " + "[" * 5000, "no TOML"),
        ("x = " + "9" * 5000, "no TOML"),
        ("#" * (MOST_BYTES + 1), "larger than 32"),
        ("字" * (MOST_BYTES // 3 + 1), "larger than 32"),
        ("\ud800", "no TOML"),
    ],
)
def test_what_is_no_lesson_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as refused:
        read(text)
    assert str(refused.value).endswith((".", "lists them."))
    assert len(str(refused.value)) < 500
    assert "\n" not in str(refused.value)


VALUES = [
    '"x"',
    "1",
    "-1",
    "1.5",
    "true",
    "nan",
    "inf",
    "-inf",
    "1979-05-27",
    "07:32:00",
    "[]",
    "[1, 2]",
    "{}",
    "{ a = 1 }",
]
VALUES += [
    '""',
    '{ en = "a", zh = "b" }',
    "[[1]]",
    "0x" + "f" * 900,
    '"' + "y" * 5000 + '"',
    "'''\n\n'''",
    '"\\u202e"',
    "1e308",
]


def test_a_value_of_any_type_in_any_place_gives_a_lesson_or_a_sentence() -> None:
    lines = LESSON.splitlines()
    fields = [at for at, line in enumerate(lines) if " = " in line]
    lessons = 0
    for at in fields:
        name = lines[at].partition(" = ")[0]
        for value in VALUES:
            changed = "\n".join([*lines[:at], f"{name} = {value}", *lines[at + 1 :]])
            lessons += reads(changed)
    assert 20 < lessons < len(fields) * len(VALUES) / 2


def test_random_damage_gives_a_lesson_or_a_sentence() -> None:
    draw = random.Random(0)
    letters = [*'"=[]{}\n,.#\\ 0x_-', "[[steps]]\n", "\0", "\ud800", "字", "expected = 1\n"]
    lessons = 0
    for _ in range(600):
        text = list(LESSON)
        for _ in range(draw.randint(1, 4)):
            text[draw.randrange(len(text))] = draw.choice(letters)
        lessons += reads("".join(text))
    assert lessons > 20


def reads(text: str) -> bool:
    """Return True where a text is a lesson; nothing but ValueError is raised where it is none."""
    said = ""
    try:
        assert read(text).digest
    except ValueError as error:
        said = str(error)
    assert not said or said.endswith(".")
    return not said
