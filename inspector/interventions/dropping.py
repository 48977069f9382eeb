"""Heads that are left out: what the rest of the model makes of it (Michel, Levy & Neubig 2019, "Are Sixteen Heads
Really Better than One?", section 2.3; Voita et al. 2019).

A dropped head's output, its mix A V before W_O, is set to zero: xi_h = 0 in MHAtt(x) = sum_h xi_h Att_h(x). The head's
attention is still computed, so its map stays in the recording; everything after the head changes. Its mean over the
positions instead of zero is no choice here: in a decoder it would tell a token of those to come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from inspector.interventions.change import Change, again, hidden_in, inputs_of, recorded, truths_of
from inspector.trace import Trace
from models import LoadedModel
from models.attention.dropping import ModelHead, NamedHead, dropping


@dataclass(frozen=True, eq=False, kw_only=True)
class Dropped(Change):
    """A text read with all heads, and without `heads`, in order."""

    heads: tuple[ModelHead, ...]


def drop(
    loaded: LoadedModel,
    text: str | Trace,
    *,
    heads: Iterable[NamedHead],
    text_pair: str | None = None,
    target: str | None = None,
    hidden: Sequence[int] = (),
) -> Dropped:
    """Record a text, or take its recording, and record it again without these heads.

    An encoder-decoder reads the same target twice: the one that is given, or the one that it writes with all its heads.
    hidden: positions of tokens that a masked language model does not see, before and after, and guesses.

    heads: each as (stream, layer, head), or (layer, head) where there is one stream. Raises ValueError where no head is
    named, for one that there is not, and as `mask` does.
    """
    before, truths = _ready(loaded, text, text_pair=text_pair, target=target, hidden=hidden)
    return _without(loaded, before, tuple(sorted({as_named(head, before) for head in heads})), truths=truths)


def drop_each(
    loaded: LoadedModel,
    text: str | Trace,
    *,
    heads: Iterable[NamedHead] | None = None,
    text_pair: str | None = None,
    target: str | None = None,
    hidden: Sequence[int] = (),
) -> Iterator[Dropped]:
    """Drop each of the heads alone, one after the other, as `drop` does; by default all heads."""
    before, truths = _ready(loaded, text, text_pair=text_pair, target=target, hidden=hidden)
    for head in every_head(before) if heads is None else heads:
        yield _without(loaded, before, (as_named(head, before),), truths=truths)


def every_head(trace: Trace) -> list[ModelHead]:
    """All heads of a recording, in call order."""
    return [ModelHead(site.stream, site.layer, head, site.call) for site in trace.sites for head in range(site.heads)]


def as_named(head: NamedHead, trace: Trace) -> ModelHead:
    """Take a head as a reader names it; ValueError where no stream is named and the model has several."""
    if len(head) > 2:
        return ModelHead(*head)
    streams = list(dict.fromkeys(site.stream for site in trace.sites))
    if len(streams) != 1:
        raise ValueError(f"{head!r} names no stream, and this model has {', '.join(streams)}: (stream, layer, head)")
    return ModelHead(streams[0], *head)


def _ready(
    loaded: LoadedModel, text: str | Trace, *, text_pair: str | None, target: str | None, hidden: Sequence[int]
) -> tuple[Trace, dict[int, int | None]]:
    whole = recorded(loaded, text, text_pair=text_pair, target=target)
    return hidden_in(loaded, whole, hidden), truths_of(loaded, whole, hidden=hidden)


def _without(
    loaded: LoadedModel, before: Trace, heads: tuple[ModelHead, ...], *, truths: dict[int, int | None]
) -> Dropped:
    if not heads:
        raise ValueError("no head is dropped; name one or more, each as (stream, layer, head)")
    for stream, layer, head, call in heads:
        site = before.record_of(layer, stream, call=call).site
        if not 0 <= head < site.heads:
            raise ValueError(
                f"head {head} is out of range: layer {layer} of the {stream} has heads 0 to {site.heads - 1}"
            )
    with dropping(heads):
        after = again(loaded, before, inputs_of(before))
    return Dropped(before=before, after=after, truths=truths, heads=heads)
