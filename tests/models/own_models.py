"""Random models of the project with other switches than those of the catalogue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

import models
from models import LoadedModel
from models.registry import own_model
from models.transformer import build


def own(shape: str, **switches: Any) -> LoadedModel:
    """Build the catalogue's untrained model of a shape with other switches; the same random weights every time."""
    torch.manual_seed(0)
    loaded = models.load(f"own-{shape}")
    network = build(replace(loaded.config, **switches)).eval().requires_grad_(False)
    return own_model(loaded.card, network, loaded.tokenizer, max_tokens=loaded.max_tokens)
