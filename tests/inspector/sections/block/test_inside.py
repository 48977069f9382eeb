"""The page Block asks at each run whether a model's blocks can be followed; a model is tried once."""

from __future__ import annotations

import models
from inspector.sections.block import inside


def test_a_model_is_tried_once() -> None:
    loaded = models.load("mini-bert")
    runs: list[object] = []
    loaded.network.register_forward_pre_hook(lambda module, arguments: runs.append(module))
    assert inside.why_not(loaded) == ""
    tried = len(runs)
    assert tried > 0
    assert inside.why_not(loaded) == ""
    assert len(runs) == tried
