"""The overview of a recorded text: every head measured and drawn small, once for all pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector.views.shell import progress
from inspector.views.shell.caching import cached

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from inspector.maps import Arrangement
    from inspector.overview import Overview
    from inspector.trace import Array, Trace
    from models.mixers import MixerKind


def of(trace: Trace) -> Overview:
    """The overview of the text's weights, made once: measures, self-checks and small pictures."""
    from inspector.components.grid import sides
    from inspector.overview import Overview, measure

    def make() -> Overview:
        mixer_pictures(trace)  # which hold each mixer to its layer on the way, so that its check is done
        if not trace.sites:
            return Overview.without_attention(trace)
        with progress.layers("Measuring the heads") as on_progress:
            return measure(trace, sides=sides(trace.mixing_sites), on_progress=on_progress)

    return cached((trace.key, "overview"), make)


def measures(trace: Trace, *, stream: str | None = None) -> pd.DataFrame:
    """Measure every head on this text, or every head of a stream, a row per head, with its label; measured once."""
    table = of(trace).measures
    return table if stream is None else table[table["stream"] == stream]  # a tenth of the time of DataFrame.query


def by_chance(trace: Trace, *, stream: str) -> bool:
    """Return True where no head of a stream gives a key more than random weights would."""
    look = of(trace)
    return not look.beyond_chance[look.measures["stream"] == stream].any()


def first_head(trace: Trace, *, stream: str) -> tuple[int, int]:
    """Return layer and head of `overview.first_head`, found once."""
    from inspector import overview

    return cached((trace.key, "first head", stream), lambda: overview.first_head(of(trace), trace, stream=stream))


def thumbnails(trace: Trace, shown: Arrangement, *, stream: str) -> tuple[NDArray[np.uint8], float]:
    """Small pictures of every head of a stream as the reader arranged it, and the weight of their last colour.

    That is 1, and less for a long text, whose weights are spread so thin that nothing would be seen.
    """
    from inspector.components.grid import readable_top
    from inspector.components.pack import quantise

    with st.container():
        cells = _cells(trace, shown, stream=stream)
    top = readable_top(cells) if shown.is_long else 1.0
    return quantise(cells, top=top), top


def mixer_pictures(trace: Trace) -> dict[tuple[int, MixerKind], Array | None]:
    """Small pictures of every mixer, by layer and kind, made once; see `mixers.small_picture`."""
    from inspector import mixers
    from inspector.components.grid import sides

    def make() -> dict[tuple[int, MixerKind], Array | None]:
        drawn = {}
        with progress.layers("Drawing the heads") as on_progress:
            for done, record in enumerate(trace.mixers):
                on_progress(done, len(trace.mixers))
                site = record.site
                side = sides(trace.mixing_sites)[site.stream]
                drawn[site.layer, site.kind] = mixers.small_picture(record, side=side)
        return drawn

    return cached((trace.key, "pictures of mixers"), make) if trace.mixers else {}


def _cells(trace: Trace, shown: Arrangement, *, stream: str) -> Array:
    """The largest weights of the tiles of every head of a stream, float32 [L, H, rows, cols], computed once."""
    from inspector import maps
    from inspector.components.grid import sides
    from inspector.trace.pooling import stacked

    if shown.is_plain(trace.sites_of(stream)[0]):
        return of(trace).pictures[stream]

    def make() -> Array:
        sites = trace.sites_of(stream)
        side = sides(trace.mixing_sites)[stream]
        layers = []
        with progress.layers("Drawing the heads") as on_progress:
            for done, site in enumerate(sites):
                on_progress(done, len(sites))
                layers.append(maps.pooled(trace, shown, layer=site.layer, stream=stream, side=side, call=site.call))
        return stacked(layers)

    return cached(("cells", trace.key, stream, shown), make)
