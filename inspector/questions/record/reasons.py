"""Reasons of bounds: why a check asks for this number and no other, in a sentence that a reader sees beside the bound.

A bound that a sentence or arithmetic gives has its reason by a rule; one that somebody chose names a reason in the file
of its question, or says its own.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from inspector.questions.record.both import Both
from inspector.questions.record.checks import NumberCheck

_FILE = Path(__file__).parents[2] / "wording" / "questions" / "reasons.toml"
REASONS = {name: Both(**words) for name, words in tomllib.loads(_FILE.read_text(encoding="utf-8")).items()}
_ROUNDED = 1e-4  # of the largest value: what float32 leaves over a whole model stays below
_PRECISE = 1e-8  # the same in float64


def reason(check: NumberCheck) -> Both:
    """Say why the bound is what it is. Raises ValueError for a chosen bound whose question gives no reason."""
    if isinstance(check.why, Both):
        return check.why
    name = check.why or _by_rule(check)
    if not name:
        raise ValueError(f"{check.number} {check.needs}: the bound was chosen, and nothing says why.")
    return REASONS[name]


def _by_rule(check: NumberCheck) -> str:
    """Name the reason that follows from the form of a check; "" where its bound was chosen."""
    if check.relation == "=":
        return "exact"
    if isinstance(check.bound, str):
        return "compared" if check.times == 1 and not check.within else ""
    if check.relation in ("±", "± %"):
        return "formula" if check.relation == "± %" and check.within <= 0.001 else ""
    if check.bound in (0, 1):
        return "zero" if check.bound == 0 else "one"
    if abs(check.bound) <= _ROUNDED:
        return "rounding64" if abs(check.bound) <= _PRECISE else "rounding"
    return "half" if check.bound == 0.5 else ""
