"""The progress of a training before its first step."""

from __future__ import annotations

from dataclasses import asdict

from models.training.state import TrainingProgress


def test_a_training_begins_with_nothing_in_its_sums() -> None:
    """One token too many, or a first loss, would stand in the first row of metrics alone."""
    assert not any(asdict(TrainingProgress()).values())
