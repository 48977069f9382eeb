"""The words of what a section waits for: said by one spinner for it and its parts, put away where a block says them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from inspector.sections.section import Ask, Note, Row, Section
from inspector.views import sections
from inspector.wording import shell
from tests.inspector.views.page import opened


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The log of what spinners did, in order."""
    done: list[str] = []

    @contextmanager
    def spinner(words: str) -> Iterator[None]:
        done.append(f"begin {words}")
        yield
        done.append(f"end {words}")

    monkeypatch.setattr(sections.st, "spinner", spinner)
    return done


def drawn(log: list[str], section: Section, waiting: sections.Waiting) -> None:
    """Draw the blocks of a section by their names, as `_show` does, parts within it too."""
    of_section = waiting if waiting.words == section.waits else sections.Waiting(section.waits)
    for block in sections._awaited(iter(section.answer(None)), of_section):
        if isinstance(block, Section):
            drawn(log, block, of_section)
        else:
            log.append(type(block).__name__)


def section(words: str, *blocks: object) -> Section:
    return Section("a", "", lambda _: iter(blocks), waits=words)


def test_a_part_that_waits_for_the_same_shares_the_spinner(log: list[str]) -> None:
    part = section("reading", Note("b"), section("reading", Note("c")))
    drawn(log, section("reading", Note("a"), part, Note("d")), sections.Waiting())
    assert log == ["begin reading", *["Note"] * 4, "end reading"]


def test_what_says_itself_what_it_waits_for_stands_alone(log: list[str]) -> None:
    other = section("counting", Note("b"))
    silent = section("", Note("c"))
    drawn(log, section("reading", section("reading", Row((other,))), other, silent, Note("d")), sections.Waiting())
    assert log == [
        *("begin reading", "end reading", "Row", "begin reading", "end reading"),
        *("begin counting", "Note", "end counting", "begin reading", "end reading"),
        *("Note", "begin reading", "Note", "end reading"),
    ]


def test_what_stands_beside_each_other_shares_the_spinner(log: list[str]) -> None:
    drawn(log, section("reading", Row((Note("a"), (Note("b"), section("reading")))), Note("c")), sections.Waiting())
    assert log == ["begin reading", "Row", "Note", "end reading"]


def test_a_button_waits_for_the_reader(log: list[str]) -> None:
    drawn(log, section("reading", Row((Note("a"), Ask("b", "c", "d", "e")))), sections.Waiting())
    assert log == ["begin reading", "end reading", "Row", "begin reading", "end reading"]


def test_a_text_that_was_read_is_not_waited_for(log: list[str]) -> None:
    reading = f"begin {shell.READING_FIRST}"
    app = opened("Norms", text="Nobody waited for this sentence.")
    assert reading in log
    log.clear()
    app.run()
    assert reading not in log
    app.text_area(key="text").set_value("This one is new.").run()
    assert reading in log
    assert not app.exception


def test_a_spinner_ends_with_an_error(log: list[str]) -> None:
    def broken(_: object) -> Iterator[Note]:
        yield Note("a")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        drawn(log, Section("a", "", broken, waits="reading"), sections.Waiting())
    assert log == ["begin reading", "Note", "end reading"]
