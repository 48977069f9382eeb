"""Blocks that meet what a cluster meets: a text that kills its worker, one that cannot be measured, memory that ends.

A task of these wraps the true one: what it does not disturb is measured as always.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from inspector.atlas import manifest, planning
from inspector.atlas.aside import Part, Unit, Without
from inspector.atlas.block import MeasureBlock
from inspector.atlas.running import UnitError

DEADLY, FAILING = "hemlock", "belladonna"
"""Words that a poisoned text has: its worker is killed with -9, or measuring it raises."""
WITHOUT_MEMORY = 7
"""The block whose worker is out of memory when it is first at work."""


@dataclass(frozen=True)
class Poisoned(MeasureBlock):
    """Measures a block, unless one of the texts that it would measure is poisoned."""

    def __call__(self, unit: Unit) -> int:
        number = unit if isinstance(unit, int) else unit.block
        texts = planning.read_texts(self.folder, manifest.read(self.folder), number)
        aside = dict(unit.aside) if isinstance(unit, Without) else {}
        measured = unit.texts if isinstance(unit, Part) else [id for id in texts if id not in aside]
        words = " ".join(texts[id].text for id in measured)
        if DEADLY in words:
            os.kill(os.getpid(), signal.SIGKILL)
        if FAILING in words:
            raise UnitError("RuntimeError: a text that cannot be measured")
        return super().__call__(unit)


@dataclass(frozen=True)
class OnACluster(Poisoned):
    """A poisoned task of which one block meets Ray's OutOfMemoryError, once."""

    def __call__(self, unit: Unit) -> int:
        met = Path(f"{self.folder}.without-memory")
        if unit == WITHOUT_MEMORY and not met.exists():
            met.touch()
            from ray.exceptions import OutOfMemoryError

            raise OutOfMemoryError("a worker was killed, because the node is low on memory")
        return super().__call__(unit)
