"""The models that come with Headlight, a folder each; their training writes these files.

from models.checkpoints import FOLDER, WEIGHTS
(FOLDER / "mini-bert" / WEIGHTS).stat().st_size
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
CONFIG, WEIGHTS, TOKENIZER, CARD = "config.json", "model.safetensors", "tokenizer.json", "CARD.md"


def way_out(folder: Path) -> str:
    """Say in a sentence how to restore a checkpoint whose file is missing or damaged."""
    return f"Get {folder.name} again with `git checkout -- {folder}`, or train it: python -m models.train --help."
