"""Finds the texts that a block fails on, and sets them aside, so that a text ends neither a build nor its block.

A block that failed twice is split, and so are the parts of it that fail twice, until each failing text is alone. A part
is a trial: nothing of it is kept, for numbers depend on the shapes of the batches. Then the block is measured without
these texts, as if there were nothing in them to read, and names them with the reason.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_MOST = 8  # at most an eighth of a block's texts: where more fail, it is no fault of theirs
_ROUNDS = 2  # searches in a block of which no text fails alone


@dataclass(frozen=True)
class Part:
    """Texts of a block, by their ids, that are measured on trial."""

    block: int
    texts: tuple[int, ...]


@dataclass(frozen=True)
class Without:
    """A block without the texts that are set aside: pairs of an id and the reason, by id."""

    block: int
    aside: tuple[tuple[int, str], ...]


Unit = int | Part | Without
"""A unit of work: a block by its number, a part of a block, or a block without some texts."""


class Search:
    """Says what is run in the place of units that failed, and after those that did not."""

    def __init__(self, ids: Callable[[int], Sequence[int]]) -> None:
        """Begin with nothing set aside. ids: the ids of a block's texts, by its number."""
        self._ids = ids
        self._parts: Counter[int] = Counter()  # of each block, on trial
        self._rounds: Counter[int] = Counter()
        self._aside: defaultdict[int, dict[int, str]] = defaultdict(dict)

    def failed(self, unit: Unit, reason: str) -> Iterable[Unit]:
        """Split what failed for this reason, or set its one text aside.

        Raises ValueError where more texts of a block fail than a corpus's poisonous texts would, and where the block
        fails though each of its texts can be measured.
        """
        if isinstance(unit, int | Without):
            return self._searched(unit if isinstance(unit, int) else unit.block, reason)
        if len(unit.texts) == 1:
            self._set_aside(unit, reason)
            return self.done(unit)
        self._parts[unit.block] += 1  # two in the place of one
        return _halves(unit)

    def done(self, unit: Unit) -> Iterable[Unit]:
        """Follow up on a unit: after the last part of a block, the block without what was found."""
        if not isinstance(unit, Part):
            return ()
        self._parts[unit.block] -= 1
        if self._parts[unit.block]:
            return ()
        return (Without(unit.block, tuple(sorted(self._aside[unit.block].items()))),)

    def _searched(self, block: int, reason: str) -> Iterable[Unit]:
        left = tuple(id for id in self._ids(block) if id not in self._aside[block])
        self._rounds[block] += 1
        if self._rounds[block] > _ROUNDS or not left:
            raise ValueError(f"block {block:,} cannot be measured, and no text of it is the reason alone: {reason}")
        self._parts[block] = 1
        return self.failed(Part(block, left), reason)

    def _set_aside(self, part: Part, reason: str) -> None:
        of_block, count = self._aside[part.block], len(self._ids(part.block))
        of_block[part.texts[0]] = reason
        if len(of_block) > max(1, count // _MOST):
            raise ValueError(
                f"{len(of_block):,} of the {count:,} texts of block {part.block:,} cannot be measured: hardly the "
                f"texts' fault; text {part.texts[0]:,}: {reason}"
            )


def _halves(part: Part) -> tuple[Part, Part]:
    middle = len(part.texts) // 2
    return Part(part.block, part.texts[:middle]), Part(part.block, part.texts[middle:])
