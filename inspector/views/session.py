"""What the pages share: caches, the text and the model that the reader chose, and what is said about them.

Loaded models live once for all visitors (chosen_models.py); traces and what is computed from them live in a cache with
a byte budget; a visitor's session holds keys and widget values only.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar, cast

import streamlit as st

import models
from inspector.cache import ByteBudgetCache
from inspector.views import chosen_models, text_limits

# torch comes with the first model: the sidebar and the page's frame are drawn before.
if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from inspector.exactness import Exactness
    from inspector.maps import Arrangement
    from inspector.plots.theme import Mode
    from inspector.trace import Trace

V = TypeVar("V")

CACHE_BYTES = int(os.environ.get("HEADLIGHT_CACHE_MB", "512")) * 2**20
THREADS = int(os.environ.get("HEADLIGHT_THREADS", "1"))  # on few cores two threads are slower than one


@dataclass(frozen=True)
class Inspected:
    """A recorded text and the id of the model it went through; None where a file's model is not at hand."""

    trace: Trace
    model: str | None

    @property
    def loaded(self) -> models.LoadedModel | None:
        """The model, loaded again where it had to leave; ValueError where that fails. See `at_hand`."""
        return None if self.model is None else load(self.model)


# --- caches ------------------------------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False)
def _results() -> ByteBudgetCache[Any]:
    return ByteBudgetCache(CACHE_BYTES)


def cached(key: Hashable, make: Callable[[], V], *, size: Callable[[V], int]) -> V:
    """`make()`, or what it gave before for the same key; sizes in bytes count towards one budget for all visitors."""
    return cast("V", _results().get(key, make, size=size))


def cached_table(key: Hashable, make: Callable[[], Any]) -> Any:
    """The same for a DataFrame."""
    return cached(key, make, size=lambda table: int(table.memory_usage(deep=True).sum()))


def load(model: str) -> models.LoadedModel:
    """The loaded model, one copy for all visitors; ValueError where it cannot be loaded."""
    import torch

    torch.set_num_threads(THREADS)
    return chosen_models.load(model)


def record(model: str, text: str, *, text_pair: str | None = None, target: str | None = None) -> Inspected:
    """The text's trace in one of the models that can be chosen, recorded once, within the page's limits."""

    def make() -> Trace:
        most = chosen_models.tokens_allowed(model)
        return text_limits.record(
            load(model), text, text_pair=text_pair, target=target, tokens=most, limits=chosen_models.limits()
        )

    key = ("trace", model, chosen_models.version(model), text, text_pair, target)
    return Inspected(cached(key, make, size=lambda trace: trace.nbytes), model)


def exactness(inspected: Inspected) -> Exactness:
    """The checks of this text, made once."""
    from inspector.exactness import check
    from inspector.probe import fused_difference

    trace = inspected.trace

    def make() -> Exactness:
        loaded = inspected.loaded
        if loaded is None:
            return check(trace, expected_layers=len(trace.sites), hidden_difference=None)
        try:
            difference, unchecked = fused_difference(loaded, trace), ""
        except ValueError as error:
            difference, unchecked = None, str(error)
        return check(trace, expected_layers=loaded.layers, hidden_difference=difference, unchecked=unchecked)

    return cached(("exactness", trace.key), make, size=lambda _: 256)


def panel_trace(chosen: Inspected, *, model: str, text: str) -> Trace:
    """The trace of a panel that has its own model and text; an empty text is the sidebar's."""
    if text.strip():
        return record(model, text).trace
    trace = chosen.trace
    if model == trace.model:
        return trace
    shape = chosen_models.shape(model)
    pair = trace.text_pair if shape == "encoder" else None
    return record(model, trace.text, text_pair=pair, target=_target() if shape == "encoder-decoder" else None).trace


def measures(trace: Trace) -> pd.DataFrame:
    """What every head does on this text, a row per head, with its label; measured once."""
    from inspector import heads

    def make() -> pd.DataFrame:
        table = heads.measure(trace)
        return table.assign(label=heads.label(table))

    table: pd.DataFrame = cached_table((trace.key, "measures"), make)
    return table


def thumbnails(trace: Trace, shown: Arrangement, *, stream: str) -> NDArray[np.uint8]:
    """Small pictures of every head of a stream as the reader arranged it, drawn once."""
    from inspector import maps
    from inspector.plots import packing

    def make() -> NDArray[np.uint8]:
        sites = [site for site in trace.sites if site.stream == stream]
        count, heads = len(sites), sites[0].heads
        side = packing.side(count, heads)
        layers = [maps.pooled(trace, shown, layer=site.layer, stream=stream, side=side) for site in sites]
        _, queries, keys = layers[0].shape
        return packing.thumbnails(layers, count=count, heads=heads, queries=queries, keys=keys)

    return cached(("thumbnails", trace.key, stream, shown), make, size=lambda pictures: pictures.nbytes)


def mode() -> Mode:
    """Whether the reader sees the page in light or in dark."""
    return "dark" if st.context.theme.type == "dark" else "light"


# --- what the reader chose --------------------------------------------------------------------------------------------


def _target() -> str | None:
    target: str = st.session_state["target"]
    return target if target.strip() else None


def inspected() -> Inspected:
    """What the reader chose, recorded; where that is not possible the page says why and stops.

    Shows what was cut, what the tokenizer does not know, and the exactness badge, in the sidebar.
    """
    try:
        with st.spinner("Reading the text with the model (the first time it loads torch, which takes a few seconds)"):
            chosen = _chosen()
            checked = exactness(chosen)
    except ValueError as error:
        logging.getLogger(__name__).info("refused: %s", error)
        show_problem(str(error))
        st.stop()
    with st.sidebar:
        _about(chosen, checked)
    return chosen


def _chosen() -> Inspected:
    upload = st.session_state.get("file")
    if upload is not None:
        return _opened(upload)
    state = st.session_state
    shape, pair = chosen_models.shape(state["model"]), state["pair"]
    return record(
        state["model"],
        state["text"],
        text_pair=pair if shape == "encoder" and pair.strip() else None,
        target=_target() if shape == "encoder-decoder" else None,
    )


def _opened(upload: UploadedFile) -> Inspected:
    import inspector

    def make() -> Trace:
        with TemporaryDirectory() as folder:
            path = Path(folder) / Path(upload.name).name  # its own name, for the sentence about a damaged file
            path.write_bytes(upload.getvalue())
            return inspector.open(path)

    trace = cached(("file", upload.file_id), make, size=lambda trace: trace.nbytes)
    return Inspected(trace, trace.model if trace.model in chosen_models.ids() else None)


def at_hand(chosen: Inspected, *, so: str) -> models.LoadedModel:
    """The model of a recorded text; where it is not at hand the page says it, and `so` what that means, and stops."""
    try:
        with st.spinner("Loading the model"):
            loaded = chosen.loaded
    except ValueError as error:
        show_problem(str(error))
        st.stop()
    if loaded is None:
        show_problem(f"The model {chosen.trace.model!r} of this saved trace is not at hand, so {so}.")
        st.stop()
    return loaded


def show_problem(sentence: str, *, what: str = "Cannot be shown") -> None:
    """A problem in a sentence; st.error would read markdown in it, and the sentence may quote the reader's text."""
    with st.container(border=True):
        st.badge(what, icon=":material/error:", color="red")
        st.text(sentence)


def _about(chosen: Inspected, checked: Exactness) -> None:
    trace, tokens = chosen.trace, len(chosen.trace.tokens)
    limit = "" if chosen.model is None else f" of at most {chosen_models.tokens_allowed(chosen.model)}"
    st.caption(f"{tokens} tokens{limit}, special ones included")
    if chosen.model is not None:
        st.caption(chosen_models.BACKENDS[chosen_models.facts(chosen.model).backend])
    if trace.cut is not None:
        st.warning(str(trace.cut), icon=":material/content_cut:")
    if trace.unknown:
        verb = "is" if trace.unknown == 1 else "are"
        unknown = f"{trace.unknown} of {tokens} tokens {verb} unknown to this model."
        st.warning(unknown, icon=":material/question_mark:")
    if checked.holds:
        st.badge("Exact on this text", icon=":material/verified:", color="green", help=str(checked))
    else:
        st.badge("Not exact on this text", icon=":material/warning:", color="red", help=str(checked))
