"""One token's way through one layer, played or walked through step by step; only this panel is drawn again."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from inspector import block
from inspector.block import Walk
from inspector.plots import block as draw
from inspector.readings import block as read
from inspector.views.block.recorded import Recorded
from inspector.views.components import width
from inspector.views.figures import chart
from inspector.views.shell import by_name, link, sentence, session, widgets
from inspector.views.shell.player import Player
from inspector.wording.english import block as words

PLAYER = Player("block", interval=1.2)
NAMES = {
    **{"x": "State x", "norm": "Norm", "q": "Query x W_Q", "k": "Key x W_K", "v": "Value x W_V"},
    **{"mix": "Sum of A v", "out": "Output W_O", "sum": "Residual sum", "gate": "Gate", "up": "FFN up"},
    **{"hidden": "Activation", "down": "FFN down"},
}
PYTHON = """import inspector, models

loaded = models.load({model!r})
trace = inspector.record(loaded, {text!r})
blocks = inspector.record_blocks(loaded, trace)
walk = inspector.block.walk(trace, blocks, loaded.network, stream={stream!r}, layer={layer}, position={position})"""


def show(found: Recorded, *, stream: str) -> None:
    """Draw the panel."""
    layers = [layer.layer for layer in found.blocks.of(stream)]
    place = st.empty()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        number_ = by_name.one("Layer", [f"Layer {one}" for one in layers], name="layer", default=0, width=130)
        tokens = found.trace.read_by(stream).tokens
        position = by_name.token("Token", tokens, name="token", default=1)
    walk = session.cached(
        (found.trace.key, "walk", stream, layers[number_], position),
        lambda: block.walk(
            found.trace, found.blocks, found.loaded.network, stream=stream, layer=layers[number_], position=position
        ),
    )
    passed = read.passed(walk)
    with place.container():
        sentence.show(words.passed(passed), ["residual stream", "FFN"])
    if PLAYER.load((found.trace.key, stream, number_, position)):
        link.assign("block_step", None)
    last = len(walk.steps) - 1
    if PLAYER.playing:
        link.assign("block_step", link.remembered("block_step", last))
    python = PYTHON.format(
        model=found.trace.model, text=found.trace.text, stream=stream, layer=layers[number_], position=position
    )
    PLAYER.panel(_panel)(walk, python)
    turned = "; queries and keys are those that attention compares, so turned where the model turns them by position"
    st.caption(
        f"{words.ends(passed)} A box has the length (Euclidean norm) of the token's vector there"
        f"{'' if passed.unseen else turned}. The labels leave out biases, which are in the numbers."
    )
    with st.expander("All numbers"):
        widgets.table(_table(walk), name="block-walk")


def _panel(walk: Walk, python: str) -> None:
    last = len(walk.steps) - 1
    at, go = partial(link.remembered, "block_step", last), partial(_go, last)
    PLAYER.advance(last, at=at, go=go)
    step = link.number("block_step", default=last, last=last)
    step = last if step is None else step
    if not PLAYER.playing:
        link.publish()
    PLAYER.follow()
    chart.show(
        partial(draw.way, walk, step=step, upright=width.is_narrow()),
        alt=f"The layer as boxes, from the token's state to what leaves; step {step + 1} of {last + 1}: "
        f"{NAMES[walk.steps[step].kind]}",
        key="block-way",
        name=f"block-layer{walk.layer}-token{walk.position}",
        python=python,
        table=_table(walk),
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        PLAYER.button(last, at=at, go=go, key="play", pause=link.publish)
        st.button("Back", icon=":material/skip_previous:", on_click=_walk, args=(last, -1), shortcut="B")
        st.button("Next", icon=":material/skip_next:", on_click=_walk, args=(last, 1), shortcut="N")
        one = walk.steps[step]
        st.markdown(f"Step {step + 1} of {last + 1}: **{NAMES[one.kind]}**", width="content")
    st.markdown(words.step(one, activation=walk.activation, cosines=walk.cosines))


def _go(last: int, step: int) -> None:
    link.assign("block_step", min(max(step, 0), last))


def _walk(last: int, by: int) -> None:
    """Go a step on or back; on from the last step begins anew."""
    PLAYER.stop()
    at = link.remembered("block_step", last)
    _go(last, 0 if by > 0 and at == last else at + by)
    link.publish()


def _table(walk: Walk) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "step": range(1, len(walk.steps) + 1),
            "what": [NAMES[one.kind] for one in walk.steps],
            "part": [one.part or "stream" for one in walk.steps],
            "shape": [" x ".join(map(str, one.shape)) for one in walk.steps],
            "length": [one.norm for one in walk.steps],
            "above 0": pd.array([one.positive for one in walk.steps], dtype="Int64"),
            "off": [float("nan") if one.off is None else one.off for one in walk.steps],
            "parameter": [one.name for one in walk.steps],
        }
    )
