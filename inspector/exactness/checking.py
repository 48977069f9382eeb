"""All checks of one recording in one call."""

from __future__ import annotations

from torch import nn

import models
from inspector.probe import OnProgress, hold
from inspector.self_checks import Exactness, WeightChecks
from inspector.trace import Trace
from models import LoadedModel, failures
from models.in_memory import is_of


def check(
    trace: Trace,
    loaded: LoadedModel | nn.Module | None = None,
    *,
    expected_layers: int | None = None,
    on_progress: OnProgress | None = None,
) -> Exactness:
    """Look at every weight of every layer, block by block, and hold what is shown to a second run of the model.

    loaded: the model that was recorded; without it nothing runs again, and the result says so, as it says why a model
    that does its attention by itself has no second run. expected_layers: how many attentions the model makes; the
    model's own count, or as many as were recorded, where left out. on_progress: called as the second run goes.

    Raises ValueError for a model that is not the trace's.
    """
    loaded = None if loaded is None else models.of(loaded)
    if loaded is not None and not is_of(loaded, trace.model):
        raise ValueError(
            f"the trace is of {trace.model!a}, not of {loaded.card.id!a}: give the model that was recorded"
        )
    checks = WeightChecks(trace)
    for site in trace.sites:
        for block in trace.bands(layer=site.layer, stream=site.stream, call=site.call):
            checks.see(site, block)
    if loaded is None:
        return checks.result(expected_layers=expected_layers)
    layers = loaded.layers if expected_layers is None else expected_layers
    try:
        with failures.told("Holding the trace to the model", instead="Give the model that was recorded."):
            second = hold(loaded, trace, mixes=checks.mixes, on_progress=on_progress)
    except ValueError as error:
        return checks.result(expected_layers=layers, not_held=str(error))
    return checks.result(expected_layers=layers, second=second)
