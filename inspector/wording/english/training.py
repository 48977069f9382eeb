"""Sentences of the page Training."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.plots.theme import number
from inspector.readings.training import Fall, Grown, Moment
from inspector.wording.english.phrases import listed

_DO = {
    "[SEP]": "rest on [SEP]",
    "[CLS]": "rest on [CLS]",
    "first": "rest on the first token",
    "previous": "look one token back",
    "next": "look one token ahead",
    "self": "look at the token itself",
    "broad": "spread their attention broadly",
}
_MOST = 3  # groups of heads in a sentence


def fall(found: Fall) -> str:
    """Say how the valid loss changed, and what that means: as unsure as among so many tokens."""
    (start, before), (end, after) = found.first, found.last
    among, then = (number(perplexity) for perplexity in found.perplexities)
    changed = "fell" if after < before else "rose" if after > before else "stayed"
    return (
        f"From step {start:,} to step {end:,} the valid loss {changed} from {number(before)} to {number(after)} nats a "
        f"token: first the model was as unsure as among {among} equally likely tokens, at the end as among {then}."
    )


def moment(found: Moment) -> str:
    """Say what the heads do at a step and at the end."""
    now, then = map(number, found.entropies)
    end = _done(found.end, found.heads)
    if found.step == found.last:
        return f"At the end, step {found.last:,}, {end}. Their mean entropy is {then} nats."
    return (
        f"At step {found.step:,}, {_done(found.now, found.heads)}; at the end, {end}. "
        f"Their mean entropy is {now} nats now and {then} at the end."
    )


def grown(found: Grown) -> str:
    """Say which matrix grew most, and which least or shrank."""
    (most, times), (least, factor) = found.most, found.least
    shrank = f"shrank to {number(factor)}" if factor < 1 else f"grew least, to {number(factor)}"
    return f"By the end {most} has {number(times)} times its first size, more than any other; {least} {shrank} times."


def _done(counts: Mapping[str, int], heads: int) -> str:
    done = [(count, _DO[name]) for name, count in counts.items() if name in _DO]
    if not done:
        return f"none of the {heads} heads does one plain thing on this sentence"
    (count, what), *others = done[:_MOST]
    said = [f"{count} of {heads} heads {_one(count, what)}", *(f"{more} {_one(more, does)}" for more, does in others)]
    return listed(said)


def _one(count: int, what: str) -> str:
    """Put what heads do into the singular where it is one head: "looks one token back"."""
    if count > 1:
        return what
    verb, _, rest = what.partition(" ")
    return f"{verb}s {rest.replace('their', 'its')}"
