"""Random corpora of few letters, so that ties and repeats are many: English letters, and Chinese without blanks."""

from __future__ import annotations

import random

LETTERS = {"two": "ab", "english": "aeilnorst", "chinese": "的一是不了人我在有他"}
SEEDS = [(letters, seed) for letters in LETTERS for seed in range(8)]


def random_corpus(letters: str, seed: int) -> str:
    draw = random.Random(seed)
    longest = 12 if letters == "chinese" else 7
    words = ["".join(draw.choices(LETTERS[letters], k=draw.randint(1, longest))) for _ in range(40)]
    blank = "，" if letters == "chinese" else " "
    return blank.join(draw.choices(words, k=120)) + draw.choice([".", "。", "", " a"])
