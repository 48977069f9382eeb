"""Seconds of every question on MiniLM and the first text, on one thread: the sum, the slowest, those above two seconds.

OMP_NUM_THREADS=1 python -m tests.benchmarks.questions [--model minilm]

The models that stand in are loaded before; the first asking of each question is timed, in the order of the numbers, so
that what several share is counted once, where it is first needed. Judged by the core's seconds: others may use it too.
"""

from __future__ import annotations

import argparse
from time import perf_counter, process_time

import torch

import models
from inspector import examples
from inspector.questions import asking
from inspector.questions.index import QUESTIONS
from inspector.questions.record.subject import Subject

MOST = 2.0  # seconds of a question
ALL = 60.0  # and of the 113 claims


def main() -> None:
    """Print the seconds of every question."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="minilm")
    model = parser.parse_args().model
    torch.set_num_threads(1)
    loaded = {card.id: models.load(card.id) for card in models.catalogue()}
    subject = Subject(loaded[model], examples.FIRST, load=lambda name: loaded.get(name) or models.load(name))
    seconds: dict[int, float] = {}
    for question in QUESTIONS:
        began, busy = perf_counter(), process_time()
        answer = asking.ask(question, subject)
        seconds[question.number] = process_time() - busy
        waited = perf_counter() - began
        taken = f"{seconds[question.number]:7.3f} s of the core, {waited:7.3f} s"
        print(f"{question.number:>4} {taken}  {answer.verdict or answer.problem}")
    claims = [one for number, one in seconds.items() if number <= 113]
    slowest = sorted(seconds, key=lambda number: -seconds[number])[:5]
    print(f"{len(claims)} claims: {sum(claims):.1f} s of the core, at most {ALL:.0f} s")
    print(f"all {len(seconds)}: {sum(seconds.values()):.1f} s")
    print("slowest: " + ", ".join(f"{number} ({seconds[number]:.2f} s)" for number in slowest))
    print(f"above {MOST:.0f} s: " + (", ".join(str(number) for number, one in seconds.items() if one > MOST) or "none"))


if __name__ == "__main__":
    main()
