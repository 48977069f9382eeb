"""Sentences of the page Training."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.plots.theme import number
from inspector.readings.training import Fall, Grown, Moment
from inspector.wording.english.phrases import DO, listed

_MOST = 3  # groups of heads in a sentence


def fall(found: Fall) -> str:
    """Say how the valid loss changed, and what that means: as unsure as among so many tokens."""
    (start, before), (end, after) = found.first, found.last
    among, then = (number(perplexity) for perplexity in found.perplexities)
    first, last = number(before), number(after)
    if first == last:
        at = f"At step {start:,}" if start == end else f"From step {start:,} to step {end:,}"
        verb = "is" if start == end else "stayed at"
        return (
            f"{at} the valid loss {verb} {first} nats a token: the model is as unsure as among {then} equally likely "
            "tokens."
        )
    return (
        f"From step {start:,} to step {end:,} the valid loss {'fell' if after < before else 'rose'} from {first} to "
        f"{last} nats a token: first the model was as unsure as among {among} equally likely tokens, at the end as "
        f"among {then}."
    )


def moment(found: Moment) -> str:
    """Say what the heads do at a step and at the end."""
    now, then = map(number, found.entropies)
    end = _done(found.end, found.heads)
    if found.step == found.last:
        return f"At the end, step {found.last:,}, {end}. The heads' mean entropy is {then} nats."
    return (
        f"At step {found.step:,}, {_done(found.now, found.heads)}; at the end, {end}. "
        f"The heads' mean entropy is {now} nats now and {then} at the end."
    )


def grown(found: Grown) -> str:
    """Say how much the matrices grew: from the least to the most."""
    (most, times), (least, factor) = found.most, found.least
    if number(factor) == number(times):
        return f"By the end every matrix has {number(times)} times the size that it began with."
    return (
        f"By the end the matrices have between {number(factor)} ({least}) and {number(times)} times ({most}) the size "
        "that they began with."
    )


def _done(counts: Mapping[str, int], heads: int) -> str:
    done = [(count, name) for name, count in counts.items() if name in DO]
    if not done:
        none = "the only head does no" if heads == 1 else f"none of the {heads} heads does"
        return f"{none} one plain thing on this sentence"
    said = [f"{count} {DO[name][count > 1].format(name)}" for count, name in done[:_MOST]]
    (count, _), *_ = done
    first = "the only head" if heads == 1 else f"{count} of {heads} heads"
    return listed([first + said[0].removeprefix(str(count)), *said[1:]])
