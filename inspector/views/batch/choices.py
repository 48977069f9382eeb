"""The choices that sections of the page Batch share: a layout, a text, a layer and a head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.views.shell import widgets
from inspector.wording.english import batch as words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.batches import Layout
    from inspector.trace import AttentionSite
    from inspector.views.batch.subject import Subject


_WIDTH = 104  # pixels: two of them stand side by side


@dataclass(frozen=True)
class Head:
    """One head: of a stream, a layer, and which of the layer's attentions."""

    site: AttentionSite
    head: int

    @property
    def name(self) -> str:
        """The head in words: "layer 1, head 7"."""
        return f"{self.site.name}, head {self.head}"

    @property
    def python(self) -> str:
        """The head as arguments of Python lines."""
        stream = f", stream={self.site.stream!r}" if self.site.stream != "encoder" else ""
        call = f", call={self.site.call}" if self.site.call else ""
        return f"layer={self.site.layer}, head={self.head}{stream}{call}"


def layout(options: Sequence[Layout], *, name: str) -> Layout:
    """Let the reader choose a layout, kept in the link as `name`."""
    return widgets.bar("Layout", list(options), name, words=words.LAYOUTS.__getitem__)


def head(subject: Subject) -> Head:
    """Let the reader choose a stream, a layer and a head."""
    stream = widgets.stream((site.stream for site in subject.sites), key="batch_stream")
    sites = [site for site in subject.sites if site.stream == stream]
    site = widgets.layer(sites, "batch_layer", call="batch_call", default=sites[0], width=_WIDTH)
    return Head(site, widgets.number("Head", "batch_head", default=0, last=site.heads - 1, width=_WIDTH))
