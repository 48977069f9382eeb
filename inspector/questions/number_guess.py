"""A guessed number: the slider on which it is guessed, and points for how near it comes to the measured one.

```python
step = course.of(93)  # the length at which attention costs as much as the FFN, on a slider from 100 to 1,000,000
points(1_000, measured=768, step=step)  # 94
```

The slider is logarithmic where its ends lie two decades apart or more. Distance is measured along the slider, so that
512 for 1,024 is as far as 2,048. Points fall from 100 to 0 over half of the slider.
"""

from __future__ import annotations

import math

from inspector.questions.course import Step

STOPS = 101  # places of a slider
KNOWN = 80  # points from which a number counts as known: within a tenth of the slider
_DECADES = 2


def is_log(step: Step) -> bool:
    """Return True if the slider's ends lie decades apart."""
    return step.low > 0 and math.log10(step.high / step.low) >= _DECADES


def stops(step: Step) -> tuple[float, ...]:
    """Return the numbers at the slider's places, rising from one end to the other."""
    shares = [stop / (STOPS - 1) for stop in range(STOPS)]
    if is_log(step):
        return tuple(step.low * (step.high / step.low) ** share for share in shares)
    return tuple(step.low + (step.high - step.low) * share for share in shares)


def place(value: float, step: Step) -> float:
    """Return where a number lies on the slider, 0 to 1; what lies beyond an end is at that end."""
    if is_log(step):
        value = max(value, step.low)
        share = math.log(value / step.low) / math.log(step.high / step.low)
    else:
        share = (value - step.low) / (step.high - step.low)
    return min(max(share, 0.0), 1.0)


def points(guess: float, *, measured: float, step: Step) -> int:
    """Return 100 points for a guess on the spot, 0 from half a slider away, and 0 where NaN was measured."""
    if math.isnan(measured):
        return 0
    return round(100 * max(0.0, 1 - 2 * abs(place(guess, step) - place(measured, step))))
