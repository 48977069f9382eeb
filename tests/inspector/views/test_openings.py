"""The sentences that open the boards, which are no sections: as short as those of sections, whatever is read.

`tests/inspector/sections/` holds the sections to the same limit, `tests/inspector/sections/openings.py` says how words
and numbers are counted.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.inspector.sections.openings import length_faults
from tests.inspector.views.page import opened, pressed, sentences

TEXTS: dict[str, dict[str, str]] = {
    "minilm": {"text": "The cat sat on the mat because it was tired."},
    "mini-gpt": {"text": "He said that the old man was the first."},
    "translator": {"text": "I love cats.", "target": "我爱猫。"},
    "mini-bert-zh": {"text": "猫坐在垫子上，因为它累了。"},
}
TINY = {"lab_length": "2", "lab_steps": "20", "lab_a_layers": "1", "lab_b_layers": "1"}
VIEWS: dict[str, tuple[str, Mapping[str, str | list[str]]]] = {
    "Attention": ("Attention", {}),
    "Attention, rollout": ("Attention", {"kind": "rollout"}),
    "Attention, several heads": ("Attention", {"heads": ["0", "1"]}),
    "Compare": ("Compare", {}),
    "Compare, another text": ("Compare", {"b_text": "She sat by the river bank."}),
    "What if, hide": ("What if", {}),
    "What if, leave out": ("What if", {"part": "Leave each out"}),
    "What if, swap": ("What if", {"part": "Swap a word"}),
    "What if, drop": ("What if", {"part": "Drop heads"}),
    "Generate": ("Generate", {}),
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_board_opens_with_a_short_sentence(view: str) -> None:
    page, chosen = VIEWS[view]
    faults = []
    for model, texts in TEXTS.items():
        told = sentences(opened(page, **{"model": model, **texts, **chosen}))
        faults += [f"{view} of {model}: {fault}" for fault in length_faults(" ".join(told[:1]))]
    assert not faults, "\n".join(faults)


def test_what_the_lab_trained_is_told_in_short_sentences() -> None:
    app = pressed(opened("Lab", **TINY), "Start")
    faults = list(length_faults(sentences(app)[0]))
    assert not faults, "\n".join(faults)
