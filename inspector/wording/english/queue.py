"""The sentence for a visitor who waits for others."""

from __future__ import annotations


def waits(what: str, place: int, before: tuple[str, ...], seconds: float | None) -> str:
    """Say a work's place in the queue, what goes first, and about how long that takes."""
    time = "" if seconds is None else f", for about {max(1, round(seconds))} s"
    return (
        f"{what} waits for other visitors: you are number {place} in the queue{time}. First: {', '.join(before)}. "
        "A change or another page gives up your place."
    )
