"""The experiments of the lab: a task for a Transformer so small that it learns in seconds, and its switches.

Plain data without torch, so that a page can show the choices before torch is imported; `models.training.lab` trains.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from models.transformer.config import NormPlacement, Positions, Scale, Score, TransformerConfig

Task = Literal["copy", "reverse", "sort"]
Side = Literal["A", "B"]

DIGITS = 10  # the digits that are copied, reversed and sorted
START, END = DIGITS, DIGITS + 1  # tokens around the digits: by them a model that counts distances finds the borders
TIMES = (1, 2, 4)  # the lengths of the test's texts, in trained lengths
WIDTH, FFN_WIDTH = 48, 96  # wide enough to learn each task in a few hundred steps, narrow enough for 5 ms a step

LENGTHS, STEPS, SEEDS = (2, 16), (10, 2000), (1, 5)  # smallest and largest
LAYERS, HEADS = 8, 8  # the largest
LEARNING_RATES = (0.001, 0.002, 0.005, 0.01)


@dataclass(frozen=True, kw_only=True)
class Switches:
    """The choices in which A and B can differ: fields of TransformerConfig, defaults of Vaswani et al. (2017)."""

    positions: Positions = "sinusoidal"
    score: Score = "dot"
    scale: Scale = "1/sqrt(d_k)"
    norm_placement: NormPlacement = "post"
    layers: int = 2
    heads: int = 4
    shared_query_key: bool = False
    residual: bool = True

    def config(self, *, length: int) -> TransformerConfig:
        """Configure an encoder for up to four times `length` digits and the two tokens around them.

        Raises ValueError where the switches do not fit each other.
        """
        return TransformerConfig(
            vocabulary=DIGITS + 2,
            layers=self.layers,
            width=WIDTH,
            heads=self.heads,
            ffn_width=FFN_WIDTH,
            max_positions=max(TIMES) * length + 2,
            positions=self.positions,
            # Shaw clips distances: clipped at the longest of training, a longer text meets no untrained distance.
            relative_distance=length + 1 if self.positions == "shaw" else 128,
            score=self.score,
            scale=self.scale,
            shared_query_key=self.shared_query_key,
            residual=self.residual,
            norm_placement=self.norm_placement,
            final_norm=self.norm_placement == "pre",
        )


@dataclass(frozen=True, kw_only=True)
class LabRun:
    """The training of one network from one seed; every random choice follows from the seed."""

    task: Task
    length: int  # digits of a text
    steps: int
    learning_rate: float
    switches: Switches
    seed: int

    @property
    def config(self) -> TransformerConfig:
        """The configuration of the network."""
        return self.switches.config(length=self.length)

    @property
    def expected_seconds(self) -> float:
        """An estimate of the training's seconds on one slow core, from a measurement by layers, score and positions."""
        layer = 1.2 if self.switches.score == "dot" else 2.4  # ms, forward, backward and update
        layer += {"rope": 0.6, "shaw": 2.0}.get(self.switches.positions, 0.0)
        return self.steps * (1.2 + layer * self.switches.layers) * (0.6 + 0.05 * self.length) / 1000


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Two sets of switches, A and B, on one task, with the same seeds 0, 1, .. and the same data.

    Raises ValueError where a number is out of range or a side's switches do not fit each other.
    """

    task: Task = "reverse"
    length: int = 8
    steps: int = 300
    learning_rate: float = 0.002  # the highest, after a warm-up of a tenth of the steps; then it falls to 0
    seeds: int = 1
    a: Switches = Switches()
    b: Switches = Switches(positions="none")

    def __post_init__(self) -> None:
        for name, (first, last) in (("length", LENGTHS), ("steps", STEPS), ("seeds", SEEDS)):
            if not first <= getattr(self, name) <= last:
                raise ValueError(f"{name} is {getattr(self, name)}; choose a number from {first} to {last}")
        if not 0 < self.learning_rate <= 1:
            raise ValueError(f"learning_rate is {self.learning_rate}; choose a number above 0, at most 1")
        for side, switches in (("A", self.a), ("B", self.b)):
            try:
                switches.config(length=self.length)
            except ValueError as error:
                raise ValueError(f"{side} cannot be built: {error}") from error

    def run(self, side: Side, *, seed: int) -> LabRun:
        """Return the training of one side from one seed."""
        return LabRun(
            task=self.task,
            length=self.length,
            steps=self.steps,
            learning_rate=self.learning_rate,
            switches=self.a if side == "A" else self.b,
            seed=seed,
        )

    @property
    def expected_seconds(self) -> float:
        """An estimate of the seconds for all trainings, one after the other."""
        return self.seeds * (self.run("A", seed=0).expected_seconds + self.run("B", seed=0).expected_seconds)

    @property
    def differences(self) -> dict[str, tuple[object, object]]:
        """The switches in which A and B differ: name -> (A's value, B's value)."""
        pairs = {field.name: (getattr(self.a, field.name), getattr(self.b, field.name)) for field in fields(Switches)}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
