"""What the page's limits do to a recording."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inspector import record
from inspector.views.shell import text_limits
from models import LoadedModel
from models.limits import UNLIMITED

TEXT = "The cat sat on the mat because it was tired."


def test_a_recording_over_the_limit_is_refused_with_both_numbers(minilm: LoadedModel) -> None:
    taken = record(minilm, TEXT).nbytes

    def within(most: int) -> None:
        limits = replace(UNLIMITED, capture_bytes=most)
        ask = {"text_pair": None, "target": None, "tokens": 512, "on_progress": lambda done, total: None}
        text_limits.record(minilm, TEXT, limits=limits, **ask)

    within(2 * taken)
    with pytest.raises(ValueError, match=r"takes .* [kM]B, and the limit here is .* HEADLIGHT_CAPTURE_BYTES"):
        within(taken // 2)
