"""The lab's tasks: random symbols, the right answers, and the places at which an answer is asked for.

copy, reverse and sort turn n digits into n digits. repeats is what an induction head is born on (Olsson et al. 2022): a
block of random symbols, then the block again; from the second time on each symbol follows from the text, and only from
the text. How long the block is is drawn anew for every text: were it fixed, one layer would solve the task by looking
back a fixed number of tokens.

kinds asks for the kind of each of n words (words.py); a test is made of words that no training saw.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from models.training.tiny.experiments import SYMBOLS, Task
from models.training.tiny.words import HELD_OUT, KIND_OF, LEARNED


class PuzzleTexts(NamedTuple):
    """B texts of one task with their answers.

    read [B, n]: the symbols of each text; wanted [B, m]: the right answers; asked [B, m]: True where the answer counts;
    period [B, 1]: of repeats, how long the block is, else 0.
    """

    read: Tensor
    wanted: Tensor
    asked: Tensor
    period: Tensor


def draw(task: Task, *, length: int, count: int, generator: torch.Generator, test: bool = False) -> PuzzleTexts:
    """Draw random texts of `length` digits or words, or for repeats blocks of length / 2 to `length` symbols in twice
    that; test: of kinds, the words that are held out from training, not the others.
    """
    if task == "kinds":
        known = torch.tensor(HELD_OUT if test else LEARNED)
        words = known[torch.randint(len(known), (count, length), generator=generator)]
        return _all_asked(words, torch.tensor(KIND_OF)[words])
    if task == "repeats":
        return _repeats(length=length, count=count, generator=generator)
    digits = torch.randint(SYMBOLS[task], (count, length), generator=generator)
    return _all_asked(digits, answers(task, digits))


def _all_asked(read: Tensor, wanted: Tensor) -> PuzzleTexts:
    return PuzzleTexts(
        read, wanted, torch.ones_like(wanted, dtype=torch.bool), torch.zeros(len(read), 1, dtype=torch.long)
    )


def answers(task: Literal["copy", "reverse", "sort"], digits: Tensor) -> Tensor:
    """Solve the task: digits [B, n] -> [B, n] in the same order, from last to first, or from smallest to largest."""
    match task:
        case "copy":
            return digits
        case "reverse":
            return digits.flip(1)
        case "sort":
            return digits.sort(dim=1).values


def _repeats(*, length: int, count: int, generator: torch.Generator) -> PuzzleTexts:
    """Draw blocks whose symbols all differ, so that a symbol has one earlier place, and write each again and again.

    Asked for are the second to the last symbol of the second time: what comes after the block's end is new to the text.
    """
    period = torch.randint(max(2, length // 2), length + 1, (count, 1), generator=generator)
    blocks = torch.rand(count, SYMBOLS["repeats"], generator=generator).argsort(dim=1)
    place = torch.arange(2 * length)
    symbols = blocks.gather(1, place % period)
    return PuzzleTexts(symbols, symbols, (place > period) & (place < 2 * period), period)
