"""Questions from the command line.

python -m inspector.questions --list                                      all questions, by number
python -m inspector.questions --model minilm --only 16,35                 a table of verdicts on a text
python -m inspector.questions --model ./mine --json > verdicts.json       all that was measured
python -m inspector.questions --model ./mine --expect verdicts.json       exit code 1 where a verdict changed
python -m inspector.questions --only 44 --whole                           the long experiment of a question
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from inspector.plain import command

if TYPE_CHECKING:
    from inspector.questions.asking import Answer
    from inspector.questions.record.both import Language
    from inspector.questions.record.question import Question, Watch
    from inspector.questions.record.subject import Subject


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code.

    0, 1 where a verdict is not the expected one, or 2 with one sentence on stderr where something is wrong.
    """
    return command.run(lambda given: _run(_parser().parse_args(given)), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = command.Parser(
        prog="python -m inspector.questions",
        description="Ask of a model and a text what people say about the Transformer: verdicts from measured numbers.",
    )
    add_subject(parser)
    add = parser.add_argument
    command.add_json(parser)
    add("--expect", metavar="FILE", help="compare with what --json printed before; asks the questions of FILE")
    add("--whole", action="store_true", help="run the long experiments of the questions that have one")
    add("--list", action="store_true", help="print the questions and ask none")
    return parser


def add_subject(parser: argparse.ArgumentParser) -> None:
    """Add the options for the questions, the model, the text and the language."""
    add = parser.add_argument
    add("--model", metavar="MODEL", help="a model's id or a folder (default: minilm, mini-bert until it is fetched)")
    add("--text", metavar="TEXT", help="the text to read; - reads it from standard input (default: an example)")
    add("--only", metavar="NUMBERS", help="some questions, such as 16,35 or 41-50 (default: all)")
    add("--language", choices=("en", "zh"), default="en", help="English or Chinese (default: en)")


def _run(options: argparse.Namespace) -> int:
    _check(options)
    expected = _expected(options.expect) if options.expect is not None else None
    chosen = chosen_from(options.only, expected)
    if expected is not None and not any(question.number in expected for question in chosen):
        raise ValueError(f"{options.expect} holds none of the questions of --only, so nothing can be compared.")
    if options.list and options.json:
        from inspector.questions import written

        command.show(written.listed(chosen, options.language))
        return 0
    if options.list:
        for question in chosen:
            print(f"{question.number:>3}  {question.asked.of(options.language)}")
        return 0
    subject = subject_of(options)
    if options.whole:
        _whole(chosen, subject, options)
        return 0
    answers = ask(chosen, subject)
    if expected is None or options.json:
        _print(answers, options)
    if expected is None:
        return 0
    from inspector.questions import written

    changed = written.changes(answers, expected)
    compared = sum(answer.question.number in expected for answer in answers)
    print("\n".join(changed) or f"Every verdict of {compared} is as expected.", file=sys.stderr)
    return 1 if changed else 0


def _check(options: argparse.Namespace) -> None:
    """Check that the command's options go together, before a model loads."""
    doing = [name for name in ("list", "whole") if getattr(options, name)]
    if doing and options.expect is not None:
        raise ValueError(f"--expect compares the answers of questions: leave out --{doing[0]}.")
    if len(doing) == 2:
        raise ValueError("--list asks no question: leave out --whole.")


def _expected(file: str) -> dict[int, Mapping[str, Any]]:
    """Read what --json printed; ValueError for another file."""
    from inspector.questions.record.question import Verdict

    try:
        printed = json.loads(Path(file).read_text(encoding="utf-8"))
        records = printed if isinstance(printed, list) else printed["answers"]  # a list: of Headlight 0.1
        expected = {int(record["number"]): record for record in records}
        for record in records:
            if record["verdict"] not in (*get_args(Verdict), None):
                raise ValueError(f"no verdict: {record['verdict']!r}")
            _ = [part["holds"] for part in record["parts"]]
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise ValueError(f"{file} is not what --json printed.") from error
    if not expected:
        raise ValueError(f"{file} holds no verdict.")
    return expected


def chosen_from(only: str | None, expected: Mapping[int, object] | None) -> list[Question]:
    """Find the questions that are asked for: numbers and spans with commas between, or all."""
    from inspector.questions.asking import find
    from inspector.questions.index import BY_NUMBER, QUESTIONS

    if only is None:
        return list(QUESTIONS) if expected is None else [find(number) for number in sorted(expected)]
    numbers: list[int] = []
    for span in filter(None, (piece.strip() for piece in only.split(","))):
        first, dash, last = span.partition("-")
        ends = (first.strip(), last.strip() if dash else first.strip())
        if not all(end.isdecimal() and len(end) <= 6 for end in ends):
            raise ValueError(f"--only takes numbers such as 16,35 or 41-50, not {span[:40]!a}.")
        if dash:
            numbers += [number for number in BY_NUMBER if int(ends[0]) <= number <= int(ends[1])]
        else:
            numbers.append(int(ends[0]))
    if not numbers:
        raise ValueError(f"--only names no question: {only[:40]!a}.")
    for number in numbers:
        if find(number).number != number:
            print(f"Question {number} went into {find(number).number}.", file=sys.stderr)
    return [find(number) for number in dict.fromkeys(find(number).number for number in numbers)]


def subject_of(options: argparse.Namespace) -> Subject:
    """Load the model that the options name, with the text."""
    # Only now: torch and transformers take seconds, and --help should not.
    import models
    from inspector import examples
    from inspector.questions.record.subject import Subject
    from models.registry import default_id, default_note

    if options.model is None and (note := default_note()):
        print(note, file=sys.stderr)
    model, text = options.model or default_id(), options.text
    if text is None:
        known = any(card.id == model.partition("?")[0] for card in models.catalogue())
        text = examples.of(model.partition("?")[0]) if known else examples.FIRST
    return Subject(models.load(model), sys.stdin.read() if text == "-" else text)


def ask(chosen: Sequence[Question], subject: Subject) -> list[Answer]:
    """Ask questions, with progress on stderr."""
    from inspector.questions.asking import ask_all

    numbers = [question.number for question in chosen]
    answers = list(ask_all(subject, only=numbers, watch=progress("question")))
    print(file=sys.stderr)
    return answers


def _print(answers: Sequence[Answer], options: argparse.Namespace) -> None:
    from inspector.questions import written

    language: Language = options.language
    if options.json:
        command.show(written.answered(answers, language))
        return
    for answer in answers:
        stand_in = f"  [{answer.measured_on}]" if answer.stands_in else ""
        print(
            f"{answer.question.number:>3}  {answer.verdict or '–':<10}  {answer.question.asked.of(language)}{stand_in}"
        )
        if answer.problem is not None:
            result = answer.problem.of(language)
        else:
            result = written.sentence(answer.numbers, answer.question.numbers, language)
        if result:
            print(f"              {result}")


def _whole(chosen: Sequence[Question], subject: Subject, options: argparse.Namespace) -> None:
    """Run the long experiments, one after the other, and print the numbers of each."""
    from inspector.plain import document
    from inspector.questions import written
    from inspector.questions.record.question import verdict

    having = [(question, question.whole) for question in chosen if question.whole is not None]
    if not having:
        raise ValueError("None of these questions has a long experiment: their small measure is all there is.")
    language: Language = options.language
    records = []
    for question, whole in having:
        if not options.json:
            print(f"{question.number:>3}  {question.asked.of(language)}")
            print(f"     {whole.about.of(language)}", flush=True)
        asked_subject = subject if question.of is None else subject.within(question.of)
        measurement = whole.run(asked_subject, progress(f"question {question.number}, step"))
        print(file=sys.stderr)
        judged = verdict(whole.parts, measurement.numbers)
        parts = written.parts(whole.parts, measurement.numbers, language)
        if options.json:
            experiment = {"number": question.number, "verdict": judged, "parts": parts}
            records.append(experiment | {"numbers": dict(measurement.numbers)})
            continue
        print(f"     {judged}: {written.sentence(measurement.numbers, whole.numbers, language)}")
        for part in parts:
            print(f"     {'+' if part['holds'] else '-'} {part['said']}")
    if options.json:
        command.show(document("experiments", experiments=records))


def progress(what: str) -> Watch:
    """Make a watch that prints on stderr, on one line, how many steps are done."""

    def tell(done: int, total: int) -> None:
        print(f"\r{what} {min(done + 1, total)} of {total}   ", end="", file=sys.stderr, flush=True)

    return tell


if __name__ == "__main__":
    sys.exit(main())
