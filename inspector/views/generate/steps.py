"""The steps of a written text: one of them, played, walked through or chosen.

Nothing is computed as it plays: all steps are there, and only this panel is drawn again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from inspector.generating import WrittenText
from inspector.generating import steps as written_steps
from inspector.plots import attention, theme
from inspector.plots import generating as plots
from inspector.text import number, token_name
from inspector.trace import AttentionSite
from inspector.views.components import width, written
from inspector.views.figures import chart, matrix
from inspector.views.shell import appearance, available_models, caching, controls, link, map_words, readings, sentence
from inspector.views.shell.player import Player
from inspector.wording import generate as wording
from models import dialogue, formatting

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from models import LoadedModel

STREAMS = {"decoder": wording.TO_THE_TEXT, "cross": wording.TO_THE_SOURCE}
OFF = 0.01  # difference of a probability that is more than rounding, in half precision too
MOST_SHOWN = 300  # characters of a source
TERMS = ("token", "probability", "attention", "KV cache")


def draw(made: WrittenText, *, model: LoadedModel, said: str, python: str) -> None:
    """Draw the panel of one step, and the numbers of all.

    said: how the next token is chosen. python: the lines that write the text. It opens at the step at which the model
    was least sure.
    """
    table = made.table()
    player = Player(
        "generate",
        step="step",
        interval=1.0,
        first=1,
        last=len(made.steps),
        opens=written_steps.least_sure(made),
        from_first=True,
        round=False,
    )
    player.load(made.trace.key)
    limits = wording.LIMITS.get(model.card.id, "") if model.card.trained else ""
    turns = dialogue.turns(model.tokenizer, made.whole.ids[: made.begun])
    about = " ".join(filter(None, (said, wording.in_turns(turns), limits)))
    player.panel(_panel)(player, made, table, about, python, model, turns)
    with st.expander(wording.ALL_STEPS):
        readings.table(table, name="steps", height=320)


def _panel(
    player: Player,
    made: WrittenText,
    table: pd.DataFrame,
    about: str,
    python: str,
    model: LoadedModel,
    turns: Sequence[dialogue.Turn],
) -> None:
    step = player.seen()
    opening = st.container()
    streams = ["decoder", *(["cross"] if model.shape == "encoder-decoder" else [])]
    places = _places(len(streams))
    with places.controls:
        site, head = _controls(player, made, step)
    with places.text:
        _text(player, made, step)
    with places.candidates:
        _candidates(made, step, python=python)
        _tokens(player, made, step, turns)
    look = None
    for place, stream in zip(places.maps, streams, strict=True):
        with place:
            look = _map(made, step, stream=stream, site=site, head=head, python=python)
    _explain(made, step, site, streams)
    held, flops = made.steps[step - 1].cache_bytes, table.iloc[step - 1]["flops_cached"]
    st.caption(f"{about} {wording.costs_of(held=held, flops=flops, dtype=model.placed.partition(' ')[0])}")
    with opening:
        sentence.show(wording.step(written_steps.step(made, step, look=look)), TERMS)


@dataclass(frozen=True)
class _Places:
    """Places for the controls, for the text, for what could come next, and for a map of each stream."""

    controls: DeltaGenerator
    text: DeltaGenerator
    candidates: DeltaGenerator
    maps: Sequence[DeltaGenerator]


def _places(maps: int) -> _Places:
    """Make the places: the maps beside the text, or in a narrow window the text, the controls and the maps."""
    if width.is_stacked():
        text, controls, *below = (st.container() for _ in range(maps + 3))
        return _Places(controls, text, below[-1], below[:-1])
    controls = st.container()
    left, *right = st.columns([2, 3] if maps == 1 else 1 + maps, gap="medium")
    return _Places(controls, left.container(), left.container(), right)


def _controls(player: Player, made: WrittenText, step: int) -> tuple[AttentionSite, int | None]:
    """Draw buttons, slider and options; return whose maps are drawn, and the head, None for the mean of all."""
    if len(made.steps) == 1:
        st.caption(wording.ONE_TOKEN)
        return _options(made)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        player.buttons()
        player.slider(step, label="Step", key="generate")
        st.markdown(wording.step_of(of=len(made.steps), step=step), width="content")
        return _options(made)


def _options(made: WrittenText) -> tuple[AttentionSite, int | None]:
    """Draw the popover of what the reader changes of the maps."""
    sites = made.trace.sites_of("decoder")
    with st.popover("Options", icon=":material/tune:"):
        site = controls.layer(sites, "gen_layer", call="gen_call", default=sites[-1])
        mean = st.toggle(wording.MEAN_OVER_HEADS, True, key="gen_mean", bind=link.bind_switch("gen_mean", default=True))
        return site, None if mean else controls.number("Head", "gen_head", default=0, last=site.heads - 1)


# --- what is seen of a step --------------------------------------------------------------------------------------


def _text(player: Player, made: WrittenText, step: int) -> None:
    if made.source is not None:
        st.text(wording.source(text=formatting.shortened(made.trace.text, MOST_SHOWN)))
    text, whole = made.texts[step - 1], made.texts[-1]
    written.text(
        text,
        given=made.given if len(made.given) <= MOST_SHOWN else f"…{made.given[-MOST_SHOWN:]}",
        rest=whole[len(text) :] if whole.startswith(text) else "",
        key="written",
    )


def _tokens(player: Player, made: WrittenText, step: int, turns: Sequence[dialogue.Turn]) -> None:
    """Draw the tokens below what could come next: the text above reads the same, and they choose a step."""
    probabilities = [number(done.chosen.probability) for done in made.steps]
    written.tokens(
        [done.chosen.token for done in made.steps],
        before=made.whole.tokens[: made.begun],
        roles={turn.start: turn.role for turn in turns},
        notes=[f"step {number}, probability {p}" for number, p in enumerate(probabilities, start=1)],
        step=step,
        playing=player.playing,
        colour=theme.PART[appearance.mode()]["prediction"],
        key="written-tokens",
        on_step=player.stop_at,
    )


def _candidates(made: WrittenText, step: int, *, python: str) -> None:
    chosen = made.steps[step - 1]
    chart.show(
        partial(plots.candidates, chosen, top=made.likeliest),
        alt=f"the likeliest tokens of step {step}, with their probabilities",
        key="candidates",
        sentence=wording.COULD_COME,
        name=f"step-{step}",
        python=f"{python}\nmade.steps[{step - 1}].candidates",
    )
    if made.trace.model and not available_models.trained(made.trace.model):
        st.markdown(wording.UNTRAINED)


def _explain(made: WrittenText, step: int, site: AttentionSite, streams: Sequence[str]) -> None:
    """Say what bars and maps are, to a reader who asks."""
    trace = made.trace
    records = [trace.record_of(site.layer, stream, call=site.call) for stream in streams]
    formulas = dict.fromkeys(map(map_words.softmax, records))
    drawn = "" if made.steps[step - 1].chosen.drawn is None else wording.DRAWN_BY
    with st.expander(wording.MORE):
        st.markdown(wording.candidates_read(drawn=drawn))
        st.markdown(wording.maps_read(formulas=" and ".join(formulas)))
    if made.off > OFF:
        st.warning(
            wording.differs(off=made.off),
            icon=":material/warning:",
        )


def _map(
    made: WrittenText, step: int, *, stream: str, site: AttentionSite, head: int | None, python: str
) -> written_steps.StrongestKey | None:
    """Draw one stream's map up to the step; return what its newest row looked at most."""
    trace = made.trace
    weights: NDArray[np.float32] = caching.cached(
        (trace.key, "steps", stream, site.layer, site.call, head),
        lambda: attention.chosen(trace, layer=site.layer, head=head, stream=stream, call=site.call)[0][
            made.begun - 1 :
        ],
    )
    keys = trace.record_of(site.layer, stream, call=site.call).site.keys
    known = made.begun + step - 1 if stream == "decoder" else len(keys)
    so_far = weights[:step].copy()  # as high as what was written
    so_far[:, known:] = np.nan
    look = written_steps.most(
        weights[step - 1, :known], keys[:known], layer=site.layer, head=head, source=stream == "cross"
    )
    place = f'layer={site.layer}, stream="{stream}"' + (f", call={site.call}" if site.call else "")
    one = f"head={head}, " if head is not None else ""
    matrix.show(
        matrix.Panel(
            so_far,
            rows=[f"→ {token_name(done.chosen.token)}" for done in made.steps[:step]],
            columns=keys,
            marked=[step - 1],
            named=None if look is None else (step - 1, int(np.argmax(weights[step - 1, :known]))),
        ),
        row_title=wording.NEW_TOKEN,
        column_title="key",
        numbered="both",
        top=float(weights.max()) or None,
        sentence=STREAMS[stream],
        name=f"generate-{stream}",
        key=f"attention-{stream}",
        python=f"{python}\nweights = made.trace.attention({one}{place}){'' if one else '.mean(axis=0)'}"
        f"[{made.begun - 1} : {made.begun - 1 + step}]",
    )
    return look
