"""Numbers, bytes, names of layers, and errors that quote a stranger's file, each as one line that is safe to show."""

from __future__ import annotations

import math
from collections.abc import Sequence


def number(value: float) -> str:
    """`value` in three significant digits: 0.123, 4.50, 12,300, 1.23e-07; "–" for none (NaN), "−∞" for masked."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    rounded = float(f"{value:.2e}")
    if not 1e-4 <= abs(rounded) < 1e6:
        return f"{rounded:.2e}"
    decimals = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}"


def format_bytes(count: int) -> str:
    """Format a count of bytes: 12,300,000 -> "12.3 MB"."""
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:,.3g} {unit}" if count < 1000 * size else f"{count / size:,.0f} {unit}"
    return f"{count} bytes"


def one_line(error: BaseException) -> str:
    """Put an error's message into one printable line of at most 300 characters; it may quote a stranger's file."""
    if isinstance(error, ZeroDivisionError):  # Python's own words do not say whose
        return "one of its numbers is 0, and another is divided by it"
    return _printable(str(error))[:300]


def shortened(name: str, most: int = 60) -> str:
    """Cut a name that a stranger chose to one printable line of at most `most` characters; the end stays."""
    line = _printable(name)
    return line if len(line) <= most else f"{line[: most - 13]}…{line[-12:]}"


def layer_name(layer: int, call: int = 0, *, short: bool = False) -> str:
    """Name a layer, and the attention of a layer that attends more than once: "layer 3 (2nd attention)".

    short: "layer 3 (2nd)", for the rows of a grid.
    """
    which = {1: "2nd", 2: "3rd"}.get(call, f"{call + 1}th") + ("" if short else " attention")
    return f"layer {layer} ({which})" if call else f"layer {layer}"


def layers_in_words(attend: Sequence[int], *, do: str = "attend", does: str = "attends") -> str:
    """Say which layers attend, for a model in which not all do: "layers 1, 3 and 5 attend"; do, does: what else."""
    *first, last = map(str, attend)
    return f"layers {', '.join(first)} and {last} {do}" if first else f"layer {last} {does}"


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in " ".join(text.split()))
