"""A training small enough for a test, with everything random in it: dropout, masking, batches."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.training.recipes import TOY, Recipe


@pytest.fixture(scope="session")
def tiny() -> Recipe:
    return replace(TOY, width=16, ffn_width=32, heads=2, layers=1, steps=30, dropout=0.2, rows=6, evaluations=2)
