"""Sentences of the page Compare."""

from __future__ import annotations

from inspector.plots.theme import number
from inspector.readings.compare import Heads, Pair
from inspector.wording.english.phrases import named, percent
from models.formatting import layer_name

_ALIKE = ((0.05, "almost the same keys"), (1 / 3, "mostly the same keys"), (2 / 3, "partly the same keys"))


def pair(found: Pair, *, a: str, b: str) -> str:
    """Say how far two maps differ and where most; a, b: what they are of, "A (layer 1, head 7)"."""
    if found.equal:
        return f"{a} and {b} are equal on this text: every weight is the same."
    alike = next((words for most, words in _ALIKE if found.moved < most), "mostly different keys")
    first, second = (side.split(" ")[0] for side in (a, b))
    return (
        f"{a} and {b} look at {alike}: on average {percent(found.moved)} of a query's weight lies elsewhere. "
        f"They differ most at {named(found.query)}, which gives {named(found.key)} {percent(found.a)} in {first} and "
        f"{percent(found.b)} in {second}."
    )


def heads(found: Heads, *, a: str, b: str) -> str:
    """Say which two heads are most alike, how alike that is, and how many have a partner; a, b: their models."""
    first, second = (f"{layer_name(layer, call)}, head {head}" for layer, head, call in (found.best.a, found.best.b))
    whose = (f" of {a}", "") if found.among else (f" of {a}", f" of {b}")
    heads = f"{found.count} heads" if found.among else f"{found.count} heads of {a}"
    return (
        f"Most alike are {first}{whose[0]} and {second}{whose[1]}: {number(found.best.distance)} nats apart, where the "
        f"median of all {found.pairs:,} pairs is {number(found.median)}. {found.mutual} of the {heads} have a partner: "
        "each is the nearest of the other."
    )
