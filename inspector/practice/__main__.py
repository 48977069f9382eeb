"""Practice from the command line: write a function, and hold it to the real layer.

python -m inspector.practice                    all tasks
python -m inspector.practice 3                  what task 3 asks for
python -m inspector.practice --stub 3 > mine.py a file to begin with
python -m inspector.practice 3 mine.py          runs the file, and names the mistake; --language zh: in Chinese
python -m inspector.practice --hint 3           the first hint; --hint 3 --hint 3 two, and so on
python -m inspector.practice --solution 3       the project's own few lines
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from inspector.plain import command
from inspector.text import visible


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code.

    0, 1 where a solution is wrong, or 2 with one sentence on stderr where the command cannot be done.
    """
    return command.run(lambda given: _spoken(_parser().parse_args(given)), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = command.Parser(
        prog="python -m inspector.practice",
        description="Write a part of a Transformer, and hold it to the real layer: a mistake is named.",
        epilog="The file runs in a process of its own, which guards against accidents and not against malice.",
    )
    add = parser.add_argument
    add("task", nargs="?", type=int, metavar="TASK", help="the number of a task; all are listed without it")
    add("file", nargs="?", metavar="FILE", help="a file of Python that defines the task's function")
    add("--stub", type=int, metavar="TASK", help="print a file to begin with")
    add("--hint", type=int, metavar="TASK", action="append", help="print a hint; given again, the next one too")
    add("--solution", type=int, metavar="TASK", help="print the project's own lines")
    add("--seconds", type=float, default=None, metavar="SECONDS", help="the time that the file may take (default: 20)")
    add("--language", choices=("en", "zh"), default="en", help="of all that is said: English or Chinese (default: en)")
    command.add_json(parser)
    return parser


def _spoken(options: argparse.Namespace) -> int:
    from inspector.wording import reader

    with reader.spoken(options.language):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    from inspector.practice import index, texts

    asked = [name for name in ("stub", "hint", "solution") if getattr(options, name) is not None]
    if len(asked) + (options.task is not None) > 1:
        raise ValueError("Ask for one thing: a task, --stub, --hint or --solution.")
    if options.seconds is not None and not 1 <= options.seconds <= 3600:
        raise ValueError(f"--seconds takes 1 to 3600, not {options.seconds:g}.")
    if options.file is not None:
        return _check(options)
    if options.stub is not None:
        print(texts.stub(index.find(options.stub)), end="")
    elif options.solution is not None:
        print(texts.solution(index.find(options.solution)), end="")
    elif options.hint is not None:
        task = index.find(options.hint[0])
        for hint in task.hints[: len(options.hint)]:
            print(hint.of(options.language))
    elif options.task is not None:
        task = index.find(options.task)
        if options.json:
            command.show(texts.document([task], options.language))
        else:
            print(f"{task.number}  {task.title.of(options.language)}: {task.signature}\n")
            print(task.asked.of(options.language))
    elif options.json:
        command.show(texts.document(index.TASKS, options.language))
    else:
        for task in index.TASKS:
            print(f"{task.number:>3}  {task.title.of(options.language):32} {task.signature}")
    return 0


def _check(options: argparse.Namespace) -> int:
    from inspector.plain import document
    from inspector.practice import index, judging
    from inspector.practice.running import Limits
    from inspector.wording.reader import practice_verdict as words

    task = index.find(options.task)
    print(words.OWN_PROCESS, file=sys.stderr)
    limits = Limits() if options.seconds is None else Limits(seconds=options.seconds)
    verdict = judging.check(task, Path(options.file), limits)
    if verdict.printed:
        print(words.printed("\n".join(visible(line) for line in verdict.printed.splitlines()[:40])), file=sys.stderr)
    if options.json:
        command.show(
            document(
                "practice",
                task=task.number,
                id=task.id,
                right=verdict.right,
                said=list(verdict.said),
                mistakes=list(verdict.mistakes),
            )
        )
    else:
        print(*verdict.said, sep="\n")
    return 0 if verdict.right else 1


if __name__ == "__main__":
    sys.exit(main())
