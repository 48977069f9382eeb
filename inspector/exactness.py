"""Whether what was recorded is what the model computes: a badge earned on this text, not a promise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inspector.trace import Trace

ROW_SUM_TOLERANCE = 1e-5
HIDDEN_TOLERANCE = 5e-5  # float32, a stack of layers, up to 512 tokens


@dataclass(frozen=True)
class Exactness:
    """What was checked on one text.

    layers, expected: attention calls recorded, and layers that the configuration names.
    row_sum_error: largest distance of a row's sum from 1. finite: no map holds NaN or infinity.
    hidden_difference: largest difference of the last hidden state from a run in torch's fused attention kernel, which
    shares no code with the recorded path; None where the model was not at hand.
    """

    layers: int
    expected: int
    row_sum_error: float
    finite: bool
    hidden_difference: float | None

    @property
    def holds(self) -> bool:
        """Whether every check passed."""
        return (
            self.layers == self.expected
            and self.finite
            and self.row_sum_error <= ROW_SUM_TOLERANCE
            and (self.hidden_difference is None or self.hidden_difference <= HIDDEN_TOLERANCE)
        )

    def __str__(self) -> str:
        sentences = [
            f"{self.layers} of {self.expected} layers recorded",
            f"rows sum to 1 within {self.row_sum_error:.1e}",
            "all weights finite" if self.finite else "some weights are not finite",
        ]
        if self.hidden_difference is not None:
            sentences.append(
                f"last hidden state within {self.hidden_difference:.1e} of torch's fused attention, run independently"
            )
        return "; ".join(sentences) + "."


def check(trace: Trace, *, expected_layers: int, hidden_difference: float | None) -> Exactness:
    """Look at every weight of every layer, block by block.

    hidden_difference: what `inspector.probe.fused_difference` measured.
    """
    error, finite = 0.0, True
    for site in trace.sites:
        for band in trace.bands(layer=site.layer, stream=site.stream):
            finite = finite and bool(np.isfinite(band.values).all())
            error = max(error, float(np.abs(band.values.sum(axis=-1, dtype=np.float64) - 1).max()))
    return Exactness(len(trace.sites), expected_layers, error, finite, hidden_difference)
