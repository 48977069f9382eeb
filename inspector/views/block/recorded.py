"""The inside of the layers of the reader's text, or of a stand-in's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from inspector import block
from inspector.views.shell import available_models, session, stand_in, widgets

if TYPE_CHECKING:
    import models
    from inspector.block import Stage
    from inspector.trace import Trace
    from inspector.trace.blocks import Blocks

_SHORT = "A few words."


@dataclass(frozen=True)
class Recorded:
    """A recorded text, the inside of its layers, and the model. streams: those whose blocks can be followed."""

    trace: Trace
    blocks: Blocks
    loaded: models.LoadedModel
    streams: tuple[str, ...]

    def stages(self, stream: str) -> list[Stage]:
        """Every sublayer of a stream."""
        return session.cached(
            (self.trace.key, "stages", stream), lambda: block.stages(self.trace, self.blocks, stream=stream)
        )


def recorded() -> Recorded:
    """Record the inside of the layers; of a stand-in where the chosen model does not show it."""
    shown = stand_in.inspected(
        "does not show what its parts add to the residual stream",
        can=lambda loaded: not _why_not(loaded),
        instead=["minilm", "mini-bert"],
    )
    model = session.chosen_model()
    if shown.stands_in and model is not None and (reason := _why_not(session.load(model))):
        st.caption(widgets.plain(f"Why not: {reason}."))
    blocks = session.cached((shown.trace.key, "blocks"), lambda: _blocks(shown.loaded, shown.trace))
    streams = tuple(dict.fromkeys(layer.stream for layer in blocks.layers))
    return Recorded(shown.trace, blocks, shown.loaded, streams)


def _blocks(loaded: models.LoadedModel, trace: Trace) -> Blocks:
    from inspector import probe

    return probe.record_blocks(loaded, trace)


def _why_not(loaded: models.LoadedModel) -> str:
    """The reason for which the model's blocks cannot be followed, "" where they can: tried once, on a few words."""

    def tried() -> str:
        from inspector import probe

        target = _SHORT if loaded.shape == "encoder-decoder" else None
        try:
            trace = probe.record(loaded, _SHORT, target=target)
            blocks = probe.record_blocks(loaded, trace)
            for stream in {layer.stream for layer in blocks.layers}:
                block.stages(trace, blocks, stream=stream)
        except ValueError as error:
            return str(error).replace(loaded.card.id, loaded.card.title)
        return "" if blocks.layers else "none of its layers was seen"

    return session.cached(("follows blocks", loaded.card.id, available_models.version(loaded.card.id)), tried)
