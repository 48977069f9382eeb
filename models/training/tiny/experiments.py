"""The experiments of the lab: a task for a network so small that it learns in seconds, and its switches.

Plain data without torch, so that a page can show the choices before torch is imported; `models.training.lab` trains.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import inf
from typing import Literal

from models.loaded import Shape
from models.recurrent.config import Cell, RecurrentConfig
from models.training.tiny.words import KINDS, SOURCE_WIDTH, WORDS
from models.transformer.config import (
    Activation,
    Initialisation,
    Merge,
    Norm,
    NormPlacement,
    Positions,
    Scale,
    Score,
    TiedEmbeddings,
    TransformerConfig,
    Weighting,
)

Task = Literal["copy", "reverse", "sort", "repeats", "kinds"]
Side = Literal["A", "B"]
Network = Literal["transformer", "rnn", "rnn with attention"]
Optimizer = Literal["adam", "adamw", "sgd"]
Embeddings = Literal["random", "taken", "frozen"]

SYMBOLS: dict[Task, int] = {"copy": 10, "reverse": 10, "sort": 10, "repeats": 64, "kinds": len(KINDS)}  # of an answer
READ: dict[Task, int] = {**SYMBOLS, "kinds": len(WORDS)}  # symbols or words that a text is made of; then two marks
ALPHABET = string.digits + string.ascii_letters + "+/"  # a character for each symbol
TIMES = (1, 2, 4)  # the lengths of the test's texts, in trained lengths
BATCH = 32  # texts in a step

LENGTHS, STEPS, SEEDS = (2, 16), (10, 2000), (1, 5)  # smallest and largest
MEMORY = 65  # tokens of a segment or a memory, at most: of the longest text that a decoder reads
LAYERS, HEADS, WIDTHS, FFN_WIDTHS = 24, 8, (8, 512), (8, 2048)  # the largest, or smallest and largest
SECONDS = 900  # that all trainings of an experiment may take by the estimate
LEARNING_RATES = (0.0001, 0.0003, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3)

FIXED = {
    "vocabulary": "the task fixes it",
    "target_vocabulary": "the task fixes it",
    "max_positions": "the longest text of the test fixes it",
    "segments": "there is one text",
    "output_head": "an answer needs it",
}
"""Fields of TransformerConfig that are no switch of the lab, and why."""
RECURRENT = ("network", "cell", "width", "learning_rate", "warmup", "optimizer", "weight_decay", "clip")
"""Switches that act in an RNN; of the others, those of the Transformer, none does."""


@dataclass(frozen=True, kw_only=True)
class Switches:
    """The choices in which A and B can differ: Transformer or RNN, fields of TransformerConfig, and the training.

    The defaults follow Vaswani et al. (2017), at a size that learns each task in a few hundred steps of 5 ms.
    """

    network: Network = "transformer"
    cell: Cell = "gru"  # of an RNN

    shape: Shape | None = None  # None for an encoder, which answers all at once; of repeats for a decoder
    layers: int = 2
    decoder_layers: int | None = None
    width: int = 48
    ffn_width: int = 96
    shared_layers: bool = False
    tied_embeddings: TiedEmbeddings = "none"
    residual: bool = True

    embedding_width: int | None = None
    embedding_scale: bool = False
    embedding_norm: bool = False
    positions: Positions = "sinusoidal"
    relative_buckets: int = 32
    relative_distance: int | None = None  # None: Shaw clips at the longest of training, so that none is untrained
    rope_base: float = 10000.0

    heads: int = 4
    kv_heads: int | None = None
    head_size: int | Literal["split", "full"] = "split"
    merge: Merge = "concat"
    projections: bool = True
    shared_query_key: bool = False
    shared_key_value: bool = False
    score: Score = "dot"
    scale: Scale = "1/sqrt(d_k)"
    weighting: Weighting = "softmax"
    causal: bool | None = None
    window: int | None = None
    mask_fill: float | Literal["zero"] = -inf
    mask_before_scale: bool = False
    segment: int | None = None  # a decoder's: tokens read at a time, None for the whole text
    memory: int = 0  # tokens that each layer keeps of earlier segments (Dai et al. 2019)
    memory_gradient: bool = False  # True: gradients go through the memory into earlier segments

    norm: Norm = "layer"
    norm_placement: NormPlacement = "post"
    final_norm: bool | None = None  # None: with pre-norm alone
    norm_epsilon: float = 1e-5
    activation: Activation = "relu"
    bias: bool = True

    dropout: float = 0.0
    attention_dropout: float = 0.0
    initialisation: Initialisation = "torch"
    embeddings: Embeddings = "random"  # of kinds: taken from mini-bert, and trained on or frozen

    learning_rate: float | None = None  # the highest; None for the experiment's
    warmup: int | None = None  # steps up to it; None for a tenth of all, 0 for none
    optimizer: Optimizer = "adam"
    weight_decay: float = 0.0  # of adam and sgd on the gradient (L2), of adamw on the weight (Loshchilov & Hutter 2019)
    clip: float | None = None  # the longest gradient (Pascanu et al. 2013); None for any

    def __post_init__(self) -> None:
        for name, (first, last) in {
            "layers": (1, LAYERS),
            "decoder_layers": (1, LAYERS),
            "width": WIDTHS,
            "ffn_width": FFN_WIDTHS,
            "heads": (1, HEADS),
            "segment": (1, MEMORY),
            "memory": (0, MEMORY),
            "warmup": (0, STEPS[1]),
            "weight_decay": (0, 10),
        }.items():
            value = getattr(self, name)
            if value is not None and not first <= value <= last:
                raise ValueError(f"{name} is {value}; choose a number from {first} to {last}")
        for name in ("learning_rate", "clip"):
            value = getattr(self, name)
            if value is not None and not 0 < value <= (1 if name == "learning_rate" else inf):
                raise ValueError(f"{name} is {value}; choose a number above 0" + ", at most 1" * (name != "clip"))
        if self.memory and self.segment is None:
            raise ValueError(
                f"memory is {self.memory} without segments: a text that is read whole needs none; choose a segment too"
            )
        if isinstance(self.head_size, int) and self.head_size > WIDTHS[1]:
            raise ValueError(f"head_size is {self.head_size}; choose at most {WIDTHS[1]} features")
        idle = [field.name for field in fields(self) if field.name in self.idle]
        changed = [name for name in idle if getattr(self, name) != getattr(Switches, name)]
        if changed:
            raise ValueError(
                f"{', '.join(changed)} does not act with network {self.network!r}; leave it out, or choose network "
                + ("'transformer'" if self.is_recurrent else "'rnn' or 'rnn with attention'")
            )

    @property
    def is_recurrent(self) -> bool:
        """True for an RNN, with attention or without."""
        return self.network != "transformer"

    @property
    def idle(self) -> frozenset[str]:
        """The switches that do not act in this network."""
        return idle(self.network)

    def check(self, *, task: Task, length: int) -> None:
        """Raise ValueError where the switches do not fit each other or the task."""
        if self.is_recurrent:
            self.recurrent(task=task)
        else:
            self.config(task=task, length=length)

    def recurrent(self, *, task: Task) -> RecurrentConfig:
        """Configure an RNN that reads a text and writes an answer.

        Raises ValueError where the task asks for no answer of its own, or the width is odd.
        """
        if task in ("repeats", "kinds"):
            raise ValueError(
                f"the task {task} is for a Transformer, and network {self.network!r} reads a text and writes another; "
                "choose copy, reverse or sort"
            )
        attention = self.network == "rnn with attention"
        return RecurrentConfig(vocabulary=READ[task] + 2, width=self.width, cell=self.cell, attention=attention)

    def config(self, *, task: Task, length: int) -> TransformerConfig:
        """Configure a Transformer for up to four times `length` symbols and the tokens around them.

        Raises ValueError where the switches do not fit each other or the task.
        """
        shape = self.shape or ("decoder" if task == "repeats" else "encoder")
        if task == "repeats" and shape != "decoder":
            raise ValueError(
                f"the task repeats asks for the next symbol of one text, which a decoder gives, not shape {shape!r}; "
                "choose decoder, or leave the shape to the task"
            )
        if task == "kinds" and shape != "encoder":
            raise ValueError(f"the task kinds names each word's kind, which an encoder does, not shape {shape!r}")
        if self.segment is not None and shape != "decoder":
            raise ValueError(
                f"segment is {self.segment} with shape {shape!r}: a text is read in segments from left to right, which "
                "a decoder does; choose shape decoder"
            )
        if task != "kinds" and self.embeddings != "random":
            raise ValueError(
                f"embeddings {self.embeddings!r} with the task {task}: its symbols have no trained embeddings; choose "
                "random, or the task kinds"
            )
        if task == "kinds" and self.embedding_width not in (None, SOURCE_WIDTH):
            raise ValueError(
                f"embedding_width is {self.embedding_width}, and embeddings of the task kinds have {SOURCE_WIDTH} "
                "features, as many as the trained ones; leave embedding_width out"
            )
        chosen = {
            field.name: getattr(self, field.name)
            for field in fields(TransformerConfig)
            if field.name not in FIXED and field.name != "shape"
        }
        if self.relative_distance is None:
            chosen["relative_distance"] = length + 1 if self.positions == "shaw" else 128
        if task == "kinds":
            chosen["embedding_width"] = SOURCE_WIDTH
        if self.final_norm is None:
            chosen["final_norm"] = self.norm_placement == "pre" and self.norm != "none"
        return TransformerConfig(
            shape=shape,
            vocabulary=READ[task] + 2,
            max_positions=tokens(task, shape, length=max(TIMES) * length),
            **chosen,
        )


def idle(network: Network) -> frozenset[str]:
    """List the switches that do not act: for an RNN the switches of a Transformer alone, for a Transformer the cell."""
    if network == "transformer":
        return frozenset({"cell"})
    return frozenset(field.name for field in fields(Switches)) - frozenset(RECURRENT)


def buildable(scores: Sequence[Score], positions: Sequence[Positions]) -> int:
    """Count the pairs of a score and positions with which a Transformer can be built for the first experiment."""
    count = 0
    for score in scores:
        for kind in positions:
            try:
                Switches(score=score, positions=kind).config(task="reverse", length=8)
            except ValueError:
                continue
            count += 1
    return count


def tokens(task: Task, shape: Shape, *, length: int) -> int:
    """Count the tokens that the network reads of a text of `length`: in the longer of its two stacks if it has two."""
    if task == "repeats":
        return 2 * length
    return 2 * length + 1 if shape == "decoder" else length + 2


@dataclass(frozen=True, kw_only=True)
class LabRun:
    """The training of one network from one seed; every random choice follows from the seed."""

    task: Task
    length: int  # digits or words of a text; of repeats, symbols of the longest block
    steps: int
    learning_rate: float
    switches: Switches
    seed: int

    @property
    def config(self) -> TransformerConfig:
        """The configuration of the network, of a Transformer."""
        return self.switches.config(task=self.task, length=self.length)

    @property
    def shape(self) -> Shape:
        """The shape of the network; an RNN here reads with an encoder and writes with a decoder."""
        return "encoder-decoder" if self.switches.is_recurrent else self.config.shape

    @property
    def highest_rate(self) -> float:
        """The highest learning rate: the side's, or the experiment's."""
        return self.learning_rate if self.switches.learning_rate is None else self.switches.learning_rate

    @property
    def warmup(self) -> int:
        """The steps of the warm-up, a tenth of all where the side has no number."""
        return self.steps // 10 if self.switches.warmup is None else min(self.switches.warmup, self.steps)

    @property
    def expected_seconds(self) -> float:
        """An estimate of the training's seconds on one slow core.

        A layer takes a while whatever its size, by score and positions as measured; on top of that come the products of
        a step, 6 FLOPs for each parameter and token, at 50 GFLOP/s, and two fifths of all for what is measured beside.
        An RNN takes a while for each symbol, more with attention.
        """
        if self.switches.is_recurrent:
            attends, width = self.switches.network == "rnn with attention", self.switches.width
            symbol = 0.9 if attends else 0.3  # ms, forward and backward, as measured
            products = 6 * BATCH * self.length * 16 * width**2 / 50e6  # ms
            return self.steps * (2.8 + symbol * self.length + products) / 1000
        config = self.config
        length = tokens(self.task, config.shape, length=self.length)
        stacks = config.layers + (1.7 * config.decoder_depth if config.shape == "encoder-decoder" else 0)
        layer = 1.2 if config.score == "dot" else 2.4  # ms, forward, backward and update
        layer += {"rope": 0.6, "shaw": 2.0, "xl": 1.0}.get(config.positions, 0.0)
        mixed = 2 * config.heads * config.head_width * length  # multiplications of a token with all others
        parameters = config.width * (
            4 * config.heads * config.head_width + (3 if config.gated else 2) * config.ffn_width
        )
        products = 6 * BATCH * length * stacks * (parameters + mixed) / 50e6  # ms
        pieces = 1 if self.switches.segment is None else -(-length // self.switches.segment)
        return 1.4 * self.steps * (1.2 + layer * stacks * (0.6 * pieces + 0.005 * length) + products) / 1000


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Two sets of switches, A and B, on one task, with the same seeds 0, 1, .. and the same data.

    Raises ValueError where a number is out of range, a side's switches do not fit each other, or all would take longer
    than a quarter of an hour.
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
                switches.check(task=self.task, length=self.length)
            except ValueError as error:
                raise ValueError(f"{side} cannot be built: {error}") from error
        if self.expected_seconds > SECONDS:
            raise ValueError(
                f"this would take about {self.expected_seconds / 60:.0f} minutes on one core, and the lab trains for "
                f"{SECONDS // 60} at most; choose a smaller width, fewer layers, steps or seeds"
            )

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
