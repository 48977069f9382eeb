"""Lessons from the command line.

python -m inspector.lessons                                  the lessons that come along
python -m inspector.lessons show evening > mine.toml         a file to begin with
python -m inspector.lessons check mine.toml                  is it a lesson, and what does it ask
python -m inspector.lessons link mine.toml                   the whole lesson as a link
python -m inspector.lessons collect *.json                   a table of students' answers, judged anew
python -m inspector.lessons collect *.json --lesson mine.toml --csv table.csv
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.plain import command

if TYPE_CHECKING:
    from inspector.lessons.collecting import Table
    from inspector.lessons.lesson import Lesson

ADDRESS = "http://localhost:8501"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code.

    0, 1 where some files of answers were left out, or 2 with one sentence on stderr where the command cannot be done.
    """
    return command.run(lambda given: _run(_parser().parse_args(given)), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = command.Parser(prog="python -m inspector.lessons", description="A teacher's lessons, and what came back.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    show = commands.add_parser("show", help="print the file of a lesson that comes along")
    show.add_argument("lesson", metavar="NAME")
    check = commands.add_parser("check", help="read a lesson, and say what it asks")
    check.add_argument("lesson", metavar="FILE")
    link = commands.add_parser("link", help="print a lesson as a link")
    link.add_argument("lesson", metavar="FILE")
    link.add_argument("--address", default=ADDRESS, help=f"of the server that students open (default: {ADDRESS})")
    collect = commands.add_parser("collect", help="make a table of students' files of answers")
    add = collect.add_argument
    add("answers", metavar="ANSWERS", nargs="+", help="files that the page Lessons wrote")
    add("--lesson", metavar="FILE", help="the lesson that was answered; else those that come along")
    add("--csv", metavar="FILE", help="write the table as a file for a spreadsheet, too")
    add(
        "--judge",
        action="store_true",
        help="run each practice file here, in a process that guards against accidents and not against malice, and "
        "measure questions whose verdict the lesson does not give",
    )
    return parser


def _run(options: argparse.Namespace) -> int:
    from inspector.lessons import links
    from inspector.lessons.shipped import SHIPPED, shipped
    from inspector.wording import lesson_collect as words

    match options.command:
        case "show":
            print(_shipped_or_file(options.lesson).source, end="")
        case "check":
            _check(_shipped_or_file(options.lesson))
        case "link":
            lesson = _shipped_or_file(options.lesson)
            given = options.lesson if options.lesson in SHIPPED else links.encode(lesson.source)
            if given is None:
                raise ValueError(words.too_long(links.MOST_LETTERS))
            print(f"{options.address.rstrip('/')}/lessons?lesson={given}")
        case "collect":
            return _collect(options)
        case _:
            for name in SHIPPED:
                print(f"{name:12} {shipped(name).title.en}")
    return 0


def _shipped_or_file(name: str) -> Lesson:
    """Read a lesson that comes along by its name, any other from its file."""
    from inspector.lessons.reading import MOST_BYTES, read
    from inspector.lessons.shipped import SHIPPED, shipped
    from inspector.wording import lesson_file as words

    if name in SHIPPED:
        return shipped(name)
    path = Path(name)
    if not path.is_file():
        raise ValueError(words.no_file(name, SHIPPED))
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(words.too_large(MOST_BYTES))
    try:
        return read(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(words.no_toml("it is no text in UTF-8")) from error


def _check(lesson: Lesson) -> None:
    """Say what a lesson asks, and name the models that students must add."""
    from inspector.lessons.lesson import Guess
    from inspector.text import visible
    from inspector.wording import lesson_collect as words
    from models import cards

    print(words.checked(visible(lesson.title.en), len(lesson.steps), len(lesson.asking), lesson.digest))
    named = [step.place.model for step in lesson.steps if step.place is not None and step.place.model]
    named += [step.asks.model for step in lesson.steps if isinstance(step.asks, Guess)]
    for model in dict.fromkeys(named):
        if model.partition("?")[0] not in cards.names():
            print(words.not_shipped(visible(model)), file=sys.stderr)


def _collect(options: argparse.Namespace) -> int:
    from inspector.export import spreadsheet
    from inspector.lessons.collecting import collect
    from inspector.lessons.shipped import SHIPPED, shipped
    from inspector.wording import lesson_collect as words

    lessons = [_shipped_or_file(options.lesson)] if options.lesson else [shipped(name) for name in SHIPPED]
    if options.judge:
        print(words.OWN_PROCESS, file=sys.stderr)
    found = collect([Path(name) for name in options.answers], lessons, runs=options.judge)
    for problem in found.problems:
        print(problem, file=sys.stderr)
    if not found.tables:
        raise ValueError(words.nothing(len(options.answers)))
    if options.csv is not None and len(found.tables) > 1:
        raise ValueError(words.several([table.lesson.title.en for table in found.tables]))
    for table in found.tables:
        _print(table)
    if options.csv is not None:
        (table,) = found.tables
        Path(options.csv).write_text(spreadsheet.rows(table.header, table.lines), encoding="utf-8", newline="")
    if not options.judge and any(row.unjudged for table in found.tables for row in table.rows):
        print(words.SOME_NOT_JUDGED, file=sys.stderr)
    return 1 if found.problems else 0


def _print(table: Table) -> None:
    """Print a table, its columns as wide as their longest cell."""
    from inspector.text import visible
    from inspector.wording import lesson_collect as words

    print(words.heading(visible(table.lesson.title.en), table.lesson.digest, len(table.rows)))
    lines = [table.header, *(tuple(map(str, line)) for line in table.lines)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    print()


if __name__ == "__main__":
    sys.exit(main())
