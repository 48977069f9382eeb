"""One moment of a replay: every head, the open head now and at the end, and how the matrices grew."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector import heads, training
from inspector.components.grid import grid_bytes, roles, side
from inspector.components.head import HeadMessage
from inspector.components.pack import quantise
from inspector.export import python, spreadsheet
from inspector.plots import matrices, theme
from inspector.plots import training as figures
from inspector.plots.scene import Scene
from inspector.readings import training as read
from inspector.trace.pooling import pool
from inspector.views.components.grid import grid
from inspector.views.components.head import Choice, Step, head
from inspector.views.figures import chart, map_files, matrix, menu
from inspector.views.figures.map_files import MapPicture
from inspector.views.shell import link, widgets
from inspector.wording.english import training as words
from models.training.replay_file import MapKey

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from models.training.replay_file import Replay


def _open(layer: int, number: int) -> None:
    link.assign("replay_layer", layer)
    link.assign("replay_head", number)


def opened(replay: Replay, measures: pd.DataFrame, *, stream: str) -> tuple[int, int]:
    """(layer, head) that is open: what the reader or the link chose, else the head that is most telling at the end."""
    telling = heads.most_telling(measures[measures["step"] == replay.steps[-1]])
    layer = link.number("replay_layer", default=telling[0], last=replay.layers(stream) - 1) or 0
    number = link.number("replay_head", default=telling[1], last=int(measures["head"].max())) or 0
    link.publish()
    return layer, number


def every_head(
    replay: Replay,
    measures: pd.DataFrame,
    *,
    name: str,
    place: MapKey,
    number: int,
    step: int,
    head_width: int | None,
) -> None:
    """The grid of all heads at this moment, and the open head at this moment and at the end, side by side."""
    left, right = st.columns([3, 8], gap="medium")
    with left:
        grid(
            grid_bytes(
                _pictures(replay, sentence=place.sentence, stream=place.stream, step=step),
                tokens=len(replay.sentences[place.sentence].tokens(place.stream)[1]),
                selected=(place.layer, number),
                notes=roles.notes(measures[measures["step"] == step]),
            ),
            key="replay-grid",
            on_open=_open,
        )
        st.caption("Every head at this step: rows are layers, columns heads. Click one to open it.")
        _numbers(measures, layer=place.layer, number=number, step=step)
        _files(replay, measures, name=name, place=place, number=number, step=step)
    with right:
        _open_head(replay, place, name=name, number=number, step=step, head_width=head_width)


def _files(replay: Replay, measures: pd.DataFrame, *, name: str, place: MapKey, number: int, step: int) -> None:
    """Draw Save and Slide of the grid."""

    def picture(mode: theme.Mode) -> Scene:
        pictures = _pictures(replay, sentence=place.sentence, stream=place.stream, step=step)
        return matrices.grid(
            (pictures / np.float32(255)) ** 2,  # as pack.quantise made them: the root of the weight
            rows=[f"layer {layer}" for layer in range(len(pictures))],
            title=f"{name}: every head of the {place.stream} at step {step:,}",
            scale="linear",
            selected=(place.layer, number),
            mode=mode,
        )

    file = f"{name}-{place.stream}-step{step}"
    menu.draw(
        file,
        key="replay-grid",
        pictures=lambda: menu.files(file, picture),
        csv=lambda: spreadsheet.csv(measures[measures["step"] == step]),
        slide=lambda: menu.slide(picture, name=f"{file}-slide", key="replay-grid"),
        python=_python(
            name,
            _measured(place),
            f'now = measures[measures["step"] == {step}]',
        ),
    )


def _python(name: str, *lines: str) -> str:
    return "\n".join([*python.replay(name), *lines])


def _measured(place: MapKey) -> str:
    return f'measures = training.measures(replay, sentence={place.sentence}, stream="{place.stream}")'


def _numbers(measures: pd.DataFrame, *, layer: int, number: int, step: int) -> None:
    """Say what the open head mostly does, and how widely it looks, at this moment and at the end."""
    of_head = measures[(measures["layer"] == layer) & (measures["head"] == number)].set_index("step")
    now, end = of_head.loc[step], of_head.iloc[-1]
    st.markdown(
        f"**Layer {layer}, head {number}**: {_named(now['label'])} now, {_named(end['label'])} at the "
        f"end; entropy {theme.number(now['entropy'])} nats now, {theme.number(end['entropy'])} at the end.",
        help="previous, next, self: over 0.5 of the weight goes there; first, [CLS], [SEP]: over 0.6; broad: high "
        "entropy; no one pattern: none of these. Entropy: -Σ A ln A, mean over queries, 0 where each looks at one "
        "token.",
    )


def _named(label: str) -> str:
    return "no one pattern" if label == "other" else widgets.plain(label)


def measure(measures: pd.DataFrame, *, name: str, place: MapKey, number: int, step: int) -> None:
    """Draw one measure of the layer's heads over the training."""
    layer = place.layer
    st.subheader(f"The heads of layer {layer} as they learned", anchor=False)
    known = [one for one in figures.MEASURES if measures[one].notna().any()]
    bind = link.bind_choice("replay_measure", default=known[0], options=known)
    chosen: str = st.selectbox("Measure", known, key="replay_measure", bind=bind, width=200)
    chart.show(
        partial(figures.head_measures, measures, measure=chosen, layer=layer, head=number, step=step),
        alt=f"{chosen} of every head of layer {layer} at every moment",
        key="head-measures",
        name=f"{name}-layer{layer}-{chosen}",
        table=measures.loc[measures["layer"] == layer, ["step", "head", chosen, "label"]],
        python=_python(
            name,
            _measured(place),
            f'of_layer = measures[measures["layer"] == {layer}].pivot(index="step", columns="head", values="{chosen}")',
        ),
    )
    st.caption("Means over the queries, as on the page Attention; the file has half precision, so they hold to 0.001.")


def _pictures(replay: Replay, *, sentence: int, stream: str, step: int) -> NDArray[np.uint8]:
    """Thumbnails of every head of a stream at one step."""
    at, layers = replay.steps.index(step), replay.layers(stream)
    maps = [replay.maps[MapKey(sentence, stream, layer)][at].astype("float32") for layer in range(layers)]
    most = side(layers, len(maps[0]))
    return quantise(np.stack([pool(layer, side=most) for layer in maps]))


def _open_head(replay: Replay, place: MapKey, *, name: str, number: int, step: int, head_width: int | None) -> None:
    """The open head at this step beside the same head at the end, on one colour scale."""
    of_head = replay.maps[place][:, number].astype("float32")
    now, end = of_head[replay.steps.index(step)], of_head[-1]
    queries, keys = replay.sentences[place.sentence].tokens(place.stream)
    top = max(float(now.max()), float(end.max())) or 1.0
    last_layer, last_head = replay.layers(place.stream) - 1, replay.maps[place].shape[1] - 1

    def follow(event: Choice | Step) -> None:
        if isinstance(event, Step):
            _open(*event.leads_to(place.layer, number, rows=last_layer + 1, heads=last_head + 1))

    shown = {f"step {step:,}": now, f"the end, step {replay.steps[-1]:,}": end}
    for column, (when, weights) in zip(st.columns(2, gap="medium"), shown.items(), strict=True):
        with column:
            head(
                HeadMessage(
                    weights,
                    queries=queries,
                    keys=keys,
                    layer=place.layer,
                    head=number,
                    title=f"Layer {place.layer}, head {number} at {when}",
                    vmax=top,
                ).to_bytes(),
                key=f"replay-head-{'now' if weights is now else 'end'}",
                on_event=follow,
            )
    known = "" if head_width is None else f" with $d_k$ = {head_width}"
    named = "" if place.stream == "encoder" else " A row is named by the token read and the token predicted (→)."
    st.caption(
        rf"$A = \mathrm{{softmax}}(QK^\top / \sqrt{{d_k}})${known}: row = query, column = key, each row sums to 1, no "
        f"unit; both on one colour scale, 0 to {top:.3g}.{named}"
    )
    map_files.draw(
        {
            said: MapPicture(f"{name}: layer {place.layer}, head {number} at {when}", weights, queries, keys, top)
            for said, (when, weights) in zip(("Now", "At the end"), shown.items(), strict=True)
        },
        name=f"{name}-{place.stream}-layer{place.layer}-head{number}",
        python=_python(
            name,
            "from models.training.replay_file import MapKey",
            f'maps = replay.maps[MapKey({place.sentence}, "{place.stream}", {place.layer})][:, {number}]',
            f"now, end = maps[replay.steps.index({step})], maps[-1]",
        ),
    )


def induction(replay: Replay, *, name: str) -> None:
    """Draw each head's score on random repeats by step, where the replay has them."""
    if replay.induction is None:
        return
    st.subheader("Induction score by step", anchor=False)
    scores = training.induction(replay)
    matrix.show(
        matrix.Panel(
            scores.to_numpy(dtype=float), rows=list(scores.index), columns=[f"{step:,}" for step in scores.columns]
        ),
        row_title="head",
        column_title="step",
        quantity="induction score",
        numbered="neither",
        top=1.0,
        name=f"{name}-induction",
        key="induction-over-time",
        python=_python(name, "scores = training.induction(replay)"),
    )
    st.caption(
        "A block of 32 random tokens, read twice: the mean weight that a head gives, from a token of the second time, "
        "to the token after its first place, which is the one that comes next (Olsson et al. 2022). 0 is none of the "
        "weight, 1 all of it; the tokens are drawn alike from all of the vocabulary but special tokens and bytes."
    )


def growth(replay: Replay, *, stream: str, name: str) -> None:
    """Draw how the matrices of the stream's layers grew."""
    st.subheader("Size of the matrices", anchor=False)
    grown = training.growth(replay, stream=stream)
    if (found := read.grown(dict(grown.iloc[:, -1]))) is not None:
        st.markdown(words.grown(found))
    matrix.show(
        matrix.Panel(
            np.log2(grown.to_numpy(dtype=float)),
            rows=list(grown.index),
            columns=[f"{step:,}" for step in grown.columns],
        ),
        row_title="matrix",
        column_title="step",
        quantity="doublings since the start",
        numbered="neither",
        diverging=True,
        name=f"{name}-{stream}-matrices",
        key="norms-over-time",
        python=_python(
            name,
            "import numpy as np",
            f'doublings = np.log2(training.growth(replay, stream="{stream}"))',
        ),
    )
    st.caption(
        r"How large each matrix is beside its random start, $\log_2(\|W_t\| / \|W_0\|)$ with "
        r"$\|W\| = \sqrt{\sum W_{ij}^2}$: 0 is as large, 1 twice as large, −1 half as large."
    )
