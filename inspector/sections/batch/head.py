"""The choice of a head in the page's sections: a stream, a layer of it, and a head of the layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from inspector.sections.batch import together
from inspector.sections.picks import Count, Option
from inspector.sections.section import Block, Section
from inspector.wording import batch as words

if TYPE_CHECKING:
    from inspector.sections.picks import Pick
    from inspector.sections.subject import Subject
    from inspector.trace import AttentionSite

WIDTH = 104  # pixels: two of them stand side by side
STREAM = Option("batch_stream", words.STREAM, lambda subject: {stream: stream for stream in subject.trace.streams})


@dataclass(frozen=True)
class Head:
    """A head: of a stream, a layer, and which of the layer's attentions."""

    site: AttentionSite
    head: int

    @property
    def name(self) -> str:
        """The head in words: "layer 1, head 7"."""
        return words.head_name(self.site.name, self.head)

    @property
    def code(self) -> str:
        """The head as arguments of Python lines."""
        call = f", call={self.site.call}" if self.site.call else ""
        return f"layer={self.site.layer}, head={self.head}, stream={self.site.stream!r}{call}"


Then = Callable[[Head], Iterator[Block]]


def ask(subject: Subject, stream: str, then: Then) -> Section:
    """Return the part that asks for a layer of the stream and for a head of it, and goes on with `then`."""
    sites = subject.trace.sites_of(stream)
    layers = list(dict.fromkeys(site.layer for site in sites))
    pick = (
        Count("batch_layer", words.LAYER, lambda subject: layers[-1], lambda subject: layers[0], width=WIDTH)
        if layers == list(range(len(layers)))
        else Option(
            "batch_layer", words.LAYER, lambda subject: {f"{n}": f"{n}" for n in layers}, look="list", width=WIDTH
        )
    )
    return together.part("batch-layer", partial(_layer, sites=sites, then=then), (pick,))


def _layer(subject: Subject, *, batch_layer: int | str, sites: Sequence[AttentionSite], then: Then) -> Iterator[Block]:
    calls = [site for site in sites if site.layer == int(batch_layer)]
    last = calls[0].heads - 1
    picks: tuple[Pick, ...] = (Count("batch_head", words.HEAD, lambda subject: last, lambda subject: 0, width=WIDTH),)
    if len(calls) > 1:
        which = Count("batch_call", words.CALL, lambda subject: len(calls) - 1, lambda subject: 0, width=WIDTH)
        picks = (which, *picks)
    yield together.part("batch-head", partial(_head, sites=calls, then=then), picks)


def _head(
    subject: Subject, *, batch_head: int, sites: Sequence[AttentionSite], then: Then, batch_call: int = 0
) -> Iterator[Block]:
    yield from then(Head(sites[batch_call], batch_head))
