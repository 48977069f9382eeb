"""The open attention of a stream: a page counts the rows of its grid, a link names the model's layer.

The two differ in a model some of whose layers do not attend (Jamba), or attend more than once (ALBERT with
inner_group_num=2), for which a link has the call too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from inspector.views.shell import link

if TYPE_CHECKING:
    from inspector.trace import AttentionSite, MixerSite

Site = TypeVar("Site", bound="AttentionSite | MixerSite")


def row(sites: Sequence[AttentionSite], *, default: int, names: tuple[str, str] = ("layer", "call")) -> int:
    """The row of the attention that the reader opened or the link names; else that of layer `default`.

    names: of layer and call in the link.
    """
    layer = link.layer(names[0], default=default, attend=sorted({site.layer for site in sites}))
    calls = [site.call for site in sites if site.layer == layer]
    call = link.number(names[1], default=0, last=max(calls)) or 0
    return next(place for place, site in enumerate(sites) if (site.layer, site.call) == (layer, call))


def choose(site: AttentionSite | None, *, names: tuple[str, str] = ("layer", "call")) -> None:
    """Open an attention in the run that follows; None: what the page opens by itself."""
    link.assign(names[0], None if site is None else site.layer)
    link.assign(names[1], None if site is None or not site.call else site.call)


def at(sites: Sequence[AttentionSite | MixerSite], *, layer: int, call: int = 0) -> int:
    """The row of a layer's attention; where the layer makes none, of the next that attends, or the last."""
    later = [place for place, site in enumerate(sites) if (site.layer, site.call) >= (layer, call)]
    return later[0] if later else len(sites) - 1


def further(sites: Sequence[Site], opened: tuple[int, int, int], *, by: int) -> tuple[Site, int]:
    """Give the site and head `by` places after an opened (layer, head, call): the same head of a later layer.

    In a stream of one layer it is a later head; after the last comes the first.
    """
    layer, head, call = opened
    site = sites[(at(sites, layer=layer, call=call) + by) % len(sites)]
    return site, min(head, site.heads - 1) if len(sites) > 1 else (head + by) % site.heads
