"""Whether what was recorded is what the model computes: a badge earned on this text, not a promise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inspector.trace import AttentionSite, Band, Trace

ROW_SUM_TOLERANCE = 1e-5
HIDDEN_TOLERANCE = 5e-5  # float32, a stack of layers, up to 512 tokens


@dataclass(frozen=True)
class Exactness:
    """What was checked on one text.

    layers, expected: attention calls recorded, and layers that the configuration names.
    row_sum_error: largest distance of a row's sum from 1; with sinks, to which a part of each row goes, by how much the
    largest is over 1. finite: no map holds NaN or infinity. future: the largest weight on a token that is still to
    come, in a decoder's own attention; None where there is none.
    hidden_difference: largest difference of the last hidden state from a run in torch's fused attention kernel, which
    shares no code with the recorded path; None where that could not be run, and `unchecked` says why.
    """

    layers: int
    expected: int
    row_sum_error: float
    finite: bool
    hidden_difference: float | None
    future: float | None = None
    sinks: bool = False
    unchecked: str = "the model was not at hand"

    @property
    def holds(self) -> bool:
        """Whether every check passed."""
        return (
            self.layers == self.expected
            and self.finite
            and self.row_sum_error <= ROW_SUM_TOLERANCE
            and not self.future
            and (self.hidden_difference is None or self.hidden_difference <= HIDDEN_TOLERANCE)
        )

    def __str__(self) -> str:
        total = "at most 1 (a part goes to sinks)" if self.sinks else "1"
        sentences = [
            f"{self.layers} of {self.expected} layers recorded",
            f"rows sum to {total} within {self.row_sum_error:.1e}",
            "all weights finite" if self.finite else "some weights are not finite",
        ]
        if self.future is not None:
            sentences.append(f"the largest weight on a token to come is {self.future:.3g}")
        if self.hidden_difference is None:
            sentences.append(f"not run a second time in torch's fused attention: {self.unchecked}")
        else:
            sentences.append(
                f"last hidden state within {self.hidden_difference:.1e} of torch's fused attention, run independently"
            )
        return "; ".join(sentences) + "."


class WeightChecks:
    """What every weight of a trace is held to, block by block as they come."""

    def __init__(self, trace: Trace) -> None:
        self._to_sinks = {(record.site.stream, record.site.layer): record.function.sinks for record in trace.attentions}
        self._error, self._finite = 0.0, True
        self._future = 0.0 if any(site.stream == "decoder" for site in trace.sites) else None

    def see(self, site: AttentionSite, band: Band) -> None:
        """Look at a block of a layer's weights."""
        self._finite = self._finite and bool(np.isfinite(band.values).all())
        over = band.values.sum(axis=-1, dtype=np.float64) - 1
        over = over if self._to_sinks[site.stream, site.layer] else np.abs(over)
        self._error = max(self._error, float(over.max()))
        if self._future is not None and site.stream == "decoder":
            coming = np.triu(band.values, k=1 + band.queries.start - band.keys.start)
            self._future = max(self._future, float(coming.max(initial=0.0)))

    def result(
        self, *, expected_layers: int, hidden_difference: float | None, unchecked: str = "the model was not at hand"
    ) -> Exactness:
        """What was found in all that was seen. The arguments are those of `check`."""
        return Exactness(
            len(self._to_sinks),
            expected_layers,
            self._error,
            self._finite,
            hidden_difference,
            self._future,
            any(self._to_sinks.values()),
            unchecked,
        )


def check(
    trace: Trace, *, expected_layers: int, hidden_difference: float | None, unchecked: str = "the model was not at hand"
) -> Exactness:
    """Look at every weight of every layer, block by block.

    hidden_difference: what `inspector.probe.fused_difference` measured; unchecked: why it could not.
    """
    checks = WeightChecks(trace)
    for site in trace.sites:
        for band in trace.bands(layer=site.layer, stream=site.stream):
            checks.see(site, band)
    return checks.result(expected_layers=expected_layers, hidden_difference=hidden_difference, unchecked=unchecked)
