"""The course: each question's level, what to know first, and the number that a reader can guess.

```python
of(93)  # Step(level=1, first=(92,), number="crossing", low=100, high=1_000_000)
```

Each question of the registry has a line in STEPS, and a test says which line is missing. Level 1: the parts and their
names. Level 2: why they are so, and what they cost. Level 3: findings of papers, and what is easily got wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from inspector.questions.index import MERGED

Level = Literal[1, 2, 3]
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True)
class Step:
    """A question's place in the course.

    first: the numbers of the questions to know first, of the same level or below. number: the name of the measured
    number that a reader can guess, "" where no single number is telling. low, high: the ends of its slider, chosen for
    what any model may give, so that they tell nothing of the answer; at the start shares go from 0 to 1.
    """

    level: Level
    first: tuple[int, ...] = ()
    number: str = ""
    low: float = 0.0
    high: float = 1.0


STEPS: Mapping[int, Step] = {
    # What attention is
    1: Step(1),
    2: Step(1, (1,)),
    3: Step(1, (1,), "self"),
    4: Step(2, (1,), "distance", -1, 1),
    5: Step(1, (3,), "median", -1, 1),
    6: Step(1, (2,)),
    7: Step(2, (6,)),
    8: Step(2, (6,)),
    9: Step(2, (1,)),
    10: Step(2, (3,), "rnn", 1e-60, 1),
    11: Step(2, (10,), "lstm", 1e-60, 1),
    12: Step(2, (74,)),
    13: Step(2, (1,)),
    14: Step(1, (6,), "classified"),
    # The scale
    16: Step(2, (1,), "near"),
    18: Step(2, (16,), "own", 1e-6, 1),
    19: Step(3, (18,)),
    21: Step(2, (18,), "more_keys"),
    23: Step(3, (16,)),
    24: Step(3, (18,)),
    25: Step(2, (18,)),
    # Q, K and V
    26: Step(2, (2,)),
    27: Step(2, (26,)),
    28: Step(2, (26,), "model"),
    29: Step(3, (28,)),
    30: Step(2, (26,), "own"),
    31: Step(2, (2,), "itself"),
    32: Step(1, (2,), "qk"),
    33: Step(1, (2,)),
    # Dot product or additive
    34: Step(2, (13,)),
    35: Step(2, (34,), "factorised", 1, 10_000),
    37: Step(2, (1,), "pair", 0, 10),
    38: Step(2, (35,), "tensor", 1, 10_000),
    39: Step(2, (16, 34), "additive"),
    40: Step(3, (38,)),
    # Several heads
    41: Step(1, (2,), "named"),
    42: Step(2, (41,), "small"),
    43: Step(2, (41,), "alike", -1, 1),
    44: Step(1, (41,)),
    45: Step(2, (44,)),
    47: Step(2, (45,)),
    48: Step(1, (44,)),
    49: Step(2, (48,)),
    50: Step(2, (48,)),
    # Norms
    51: Step(1),
    53: Step(2, (51,)),
    54: Step(2, (51,), "kurtosis", 0.01, 1_000),
    55: Step(2, (53, 67), "padding"),
    56: Step(2, (53,)),
    57: Step(2, (53,)),
    58: Step(3, (57,), "four", 0, 2),
    59: Step(2, (53,)),
    60: Step(2, (51, 53), "batch_within"),
    61: Step(2, (51, 86)),
    62: Step(2, (51,)),
    63: Step(3, (62,)),
    64: Step(3, (62,)),
    65: Step(2, (53,)),
    66: Step(3, (59,)),
    # Masks
    67: Step(1, (1,), "zero"),
    68: Step(2, (67,)),
    69: Step(2, (67,)),
    70: Step(1, (67,)),
    71: Step(1, (1,)),
    72: Step(2, (71,)),
    73: Step(2, (67,)),
    # Positions
    74: Step(1, (3,)),
    75: Step(1, (74,)),
    76: Step(2, (75,)),
    77: Step(2, (75,), "rises", 1, 1_000),
    78: Step(3, (75,)),
    79: Step(1, (74,)),
    80: Step(2, (74,), "model", -1, 1),
    81: Step(3, (77,)),
    82: Step(2, (74,)),
    # Architecture
    83: Step(1, (41, 51)),
    84: Step(1, (6, 71)),
    85: Step(2, (83,), "neither", 1e-60, 1),
    86: Step(1, (83,)),
    87: Step(1, (83,)),
    88: Step(2, (84,)),
    89: Step(2, (88,)),
    90: Step(3, (89,), "own"),
    91: Step(2, (86,), "usual"),
    # Costs, in parallel, and the KV cache
    92: Step(1, (1,), "short", 0, 3),
    93: Step(1, (92,), "crossing", 100, 1_000_000),
    94: Step(3, (92,), "fused"),
    95: Step(1, (83,)),
    96: Step(1, (71,)),
    97: Step(2, (71,)),
    98: Step(2, (101,), "saved", 1, 1_000),
    99: Step(2, (92, 98), "saved", 1, 1_000),
    100: Step(3, (98,)),
    101: Step(2, (97,)),
    102: Step(2, (101,)),
    # BERT and tokens
    103: Step(1, (14,)),
    104: Step(1, (), "cells", 1, 1_000),
    105: Step(2, (103,), "top_15"),
    106: Step(2, (103,), "miss"),
    107: Step(2, (86,)),
    109: Step(2, (92, 103), "first"),
    110: Step(2, (104,), "gain"),
    # Training
    108: Step(3, (85,)),
    111: Step(2),
    113: Step(2, (104,), "unseen_random"),
    # Also asked
    156: Step(2, (10,), "dilated", 1, 1_000),
    157: Step(2, (51,), "spread", 1, 100),
    158: Step(1, (1,), "to_love"),
    159: Step(2, (91,), "sigmoid", 0, 3),
    160: Step(2, (98,)),
    161: Step(1, (6,), "alone"),
    # Found in heads
    114: Step(1, (3,), "previous"),
    115: Step(3, (114,), "induction"),
    116: Step(2, (114,), "first"),
    117: Step(3, (116,), "share"),
    118: Step(3, (5,), "rho", -1, 1),
    119: Step(3, (5,), "rollout", -1, 1),
    120: Step(3, (5,), "agreement", -1, 1),
    121: Step(3, (41,)),
    122: Step(3, (42,), "share"),
    123: Step(3, (42, 114), "share"),
    124: Step(3, (48,), "copying"),
    125: Step(3, (114,), "depth"),
    142: Step(2, (116,), "punctuation"),
    # Found between layers
    126: Step(3, (85,)),
    127: Step(3, (116,), "times", 1, 100_000),
    128: Step(3, (127,), "same"),
    129: Step(3, (), "last", -1, 1),
    130: Step(3, (85,), "mixing"),
    131: Step(3, (130,), "last"),
    132: Step(3, (51,)),
    138: Step(3, (91,), "positive"),
    139: Step(3, (83,), "middle"),
    140: Step(3, (81,), "product"),
    141: Step(3, (128,), "moved", 1e-3, 100),
    # Found in words
    133: Step(3, (114,), "noun"),
    134: Step(3, (133,), "head"),
    135: Step(3, (6,), "head"),
    136: Step(3, (123,), "own"),
    143: Step(3, (74,), "vector", -1, 1),
    # Asked in 2026
    144: Step(2, (102,)),
    145: Step(3, (144,), "needed"),
    146: Step(2, (92,), "share"),
    147: Step(2, (95,), "moved_4"),
    148: Step(3, (160,), "copying", 1, 10),
    149: Step(3, (116,), "rise"),
    150: Step(3, (81,)),
    151: Step(2, (62,)),
    152: Step(3, (86,), "busiest"),
    153: Step(2, (161,)),
    154: Step(2, (153,), "inside"),
    155: Step(2, (95,), "trained"),
}


def of(number: int) -> Step:
    """Return a question's step, or that of the question which it went into; what comes first leads on likewise."""
    step = STEPS[MERGED.get(number, number)]
    return replace(step, first=tuple(dict.fromkeys(MERGED.get(before, before) for before in step.first)))
