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
    return (
        f"{a} and {b} look at {alike}: on average {percent(found.moved)} of a query's weight lies elsewhere. "
        f"They differ most at {named(found.query)}, {_cell(found, *(side.split(' ')[0] for side in (a, b)))}."
    )


def heads(found: Heads, *, a: str, b: str) -> str:
    """Say which two heads are most alike, how alike that is, and how many have a partner; a, b: their models."""
    first, second = (f"{layer_name(layer, call)}, head {head}" for layer, head, call in (found.best.a, found.best.b))
    if not found.among:
        first, second = f"{first} of {a}", f"{second} of {b}"
    else:
        second = f"{second} of {a}"
    if found.pairs == 1:
        return f"The one pair of heads, {first} and {second}, is {_apart(found.best.distance)}."
    median = f"the median of all {found.pairs:,} pairs is {number(found.median)}"
    if found.nearest == found.pairs:
        return f"No two heads are more alike than others: all {found.pairs:,} pairs are {_apart(found.median)}."
    if found.nearest > 1:
        most = f"{found.nearest:,} pairs of heads are most alike, {first} and {second} among them"
    else:
        most = f"Most alike are {first} and {second}"
    return f"{most}: {_apart(found.best.distance)}, where {median}. {_partners(found, a, b)}"


def _partners(found: Heads, a: str, b: str) -> str:
    """Say how many heads have a partner, and what a partner is."""
    heads = f"{found.count} heads{'' if found.among else f' of {a}'}"
    has = "has" if found.mutual == 1 else "have"
    place = "" if found.among else f" in {b}"
    return f"{found.mutual or 'None'} of the {heads} {has} a partner{place}: each of the two is nearest to the other."


def _apart(distance: float) -> str:
    return f"{number(distance)} nats apart" if distance else "equal on this text"


def _cell(found: Pair, a: str, b: str) -> str:
    """Say what the query gives the key in both maps; the difference, where both round to the same."""
    first, second = percent(found.a), percent(found.b)
    if first == second:
        more = f"more in {a if found.a > found.b else b}"
        return f"whose weight on {named(found.key)} is {number(abs(found.a - found.b))} {more}"
    return f"which gives {named(found.key)} {first} in {a} and {second} in {b}"
