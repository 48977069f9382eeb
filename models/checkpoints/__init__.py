"""The models that come with Headlight, a folder each: the names of its files, and what to do where one is damaged."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
CONFIG, WEIGHTS, TOKENIZER, CARD = "config.json", "model.safetensors", "tokenizer.json", "CARD.md"


def way_out(folder: Path) -> str:
    """What a reader can do where a file of a checkpoint is missing or damaged."""
    return f"Get {folder.name} again with `git checkout -- {folder}`, or train it: python -m models.train --help."
