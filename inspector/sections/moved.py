"""Addresses of old links: a table of what moved where, and the address that an old link becomes.

    moved.address("scores", {"section": "Importance", "head": "3"})
    # ("what_if", {"head": "3", "part": "Leave each out"})

Model, text, head and numbers of a link stay as they are. Whoever moves a section adds a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ANY, NONE = "*", ""  # of a parameter: whatever it says; that it is not there


@dataclass(frozen=True)
class Move:
    """A move of a section. page, given: what an old link says; to, now: the page, and what the link says in addition.

    What is given with a value of its own leaves the link; what is given as `ANY` stays.
    """

    page: str
    given: Mapping[str, str]
    to: str
    now: Mapping[str, str]

    def moves(self, page: str, given: Mapping[str, str]) -> bool:
        """Return True for a link that leads to what has moved."""
        return page == self.page and all(
            given.get(name, NONE) != NONE if value == ANY else given.get(name, NONE) == value
            for name, value in self.given.items()
        )


MOVES = (
    Move("scores", {"measure": ANY, "section": NONE}, "scores", {"section": "All heads"}),
    Move("scores", {"section": "Every head"}, "scores", {"section": "All heads"}),
    Move("scores", {"section": "One head"}, "scores", {"section": "This head"}),
    Move("scores", {"section": "Importance"}, "what_if", {"part": "Leave each out"}),
    Move("generate", {"beams": ANY, "step": NONE, "section": NONE}, "generate", {"section": "Beam search"}),
    Move("generate", {"flops_of": ANY, "step": NONE, "section": NONE}, "generate", {"section": "KV cache"}),
    Move("generate", {"cache_counted": ANY, "step": NONE, "section": NONE}, "generate", {"section": "KV cache"}),
    Move("training", {"log_steps": ANY, "section": NONE}, "training", {"section": "Loss"}),
    Move("positions", {"section": "The curves"}, "positions", {"section": "The table"}),
    Move("batch", {"section": "One token changed"}, "tokens", {"section": "One token changed"}),
    Move("tokens", {"section": "Long texts"}, "tokens", {"section": "Ways to read a long text"}),
    Move("atlas", {"examples": "Texts from its weakest tenth to its strongest"}, "atlas", {"examples": "usual"}),
    Move("atlas", {"examples": "Texts in which it is strongest"}, "atlas", {"examples": "strongest"}),
    Move("atlas", {"examples": "Strongest pairs of tokens"}, "atlas", {"examples": "pairs"}),
)


def address(page: str, given: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the page and the parameters to which an old link leads now; a link that is not old stays as it is."""
    now = dict(given)
    for move in MOVES:
        if move.moves(page, now):
            kept = {name: value for name, value in now.items() if move.given.get(name, ANY) == ANY}
            page, now = move.to, {**kept, **move.now}
    return page, now
