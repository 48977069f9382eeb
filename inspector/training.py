"""The history of a training: learning rate beside other schedules, curves, heads and matrices at recorded moments.

A training wrote the files that are read here (`models.training.history`); no model runs, and no torch is needed.

Shapes: M moments, H heads, Q query positions, T key positions.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from functools import partial
from math import log
from typing import Any, get_args

import numpy as np
import pandas as pd

from inspector import heads
from models.training.recipes import Decay, Recipe
from models.training.replay_file import MapKey, Replay
from models.training.schedules import learning_rate

_ORDER = {name: place for place, name in enumerate(("q", "k", "v", "out", "up", "gate", "down"))}
COMPONENTS = {"query": "q", "key": "k", "value": "v", "out": "out"}  # as costs.py calls them


def curves(rows: Iterable[Mapping[str, float | None]]) -> pd.DataFrame:
    """The rows of metrics.csv, a column each; NaN between evaluations."""
    return pd.DataFrame(rows, dtype=float).astype({"step": int})


def schedules(recipe: Recipe, *, steps: int) -> pd.DataFrame:
    """The learning rate at every step from 1 to `steps`: columns step, noam, cosine, linear and late, all with the
    recipe's warm-up and highest rate."""
    along = range(1, steps + 1)
    rate = partial(learning_rate, highest=recipe.learning_rate, warmup=recipe.warmup, steps=steps)
    return pd.DataFrame(
        {"step": along} | {decay: [rate(step, decay=decay) for step in along] for decay in get_args(Decay)}
    )


def least_loss(label_smoothing: float, *, vocabulary: int) -> float:
    """The least that a smoothed loss can be, in nats: the entropy of its target q (Szegedy et al. 2016, section 7).

    q = 1 - e + e / V on the label and e / V on every other token; 0 without smoothing, ln V where e is 1.
    """
    others = label_smoothing / vocabulary
    label = 1 - label_smoothing + others
    return -label * log(label) - ((vocabulary - 1) * others * log(others) if others else 0.0)


def measures(replay: Replay, *, sentence: int, stream: str) -> pd.DataFrame:
    """Measure every head on a sentence at every moment, a row per step, layer and head, with the head's label.

    The measures are the ones of `heads.measure`; the maps are in half precision, so they hold to about 1e-3.
    """
    keys = replay.sentences[sentence].tokens(stream)[1]
    tables = []
    for layer in range(replay.layers(stream)):
        for step, weights in zip(replay.steps, replay.maps[MapKey(sentence, stream, layer)], strict=True):
            whole = (slice(0, weights.shape[1]), weights.astype(np.float32))
            table = pd.DataFrame(heads.measure_maps([whole], keys=keys, causal=stream == "decoder"))
            if stream == "cross":
                table[["distance", "self", "previous", "next"]] = np.nan
            tables.append(table.assign(step=step, stream=stream, layer=layer, head=range(len(weights))))
    every = pd.concat(tables, ignore_index=True)
    every = every[["step", "stream", "layer", "head", *table.columns]]
    return every.assign(label=heads.label(every))


def norms(replay: Replay) -> pd.DataFrame:
    """The L2 norm of every matrix at every moment: step, stack, layer, part, component, norm, and growth, which is
    norm / norm at the first moment. Outside the layers the layer is <NA>."""
    tables = []
    for name, values in replay.norms.items():
        stack, layer, part, component = _place(name)
        about = {"stack": stack, "layer": layer, "part": part, "component": component}
        tables.append(pd.DataFrame({"step": replay.steps, **about, "norm": values, "growth": values / values[0]}))
    return pd.concat(tables, ignore_index=True).astype({"layer": "Int64"})


def growth(replay: Replay, *, stream: str) -> pd.DataFrame:
    """The growth of every matrix, in a stream's layers and then outside: a row per matrix, a column per moment.

    The index names the matrix, "layer 0 attention q", and the columns are the steps. The attention of a decoder over a
    source belongs to the stream "cross", that over itself to "decoder".
    """
    table = norms(replay)
    stack = "encoder" if stream == "encoder" else "decoder"
    hidden = "attention" if stream == "cross" else "cross_attention"
    outside = table["layer"].isna()
    table = table[outside | ((table["stack"] == stack) & (table["part"] != hidden))].sort_values("layer", kind="stable")
    parts = {"cross_attention": "cross-attention", "ffn": "FFN"}
    names = [
        f"{part} {component}" if layer is pd.NA else f"layer {layer} {parts.get(part, part)} {component}"
        for layer, part, component in zip(table["layer"], table["part"], table["component"], strict=True)
    ]
    wide = table.assign(name=names).pivot_table(index="name", columns="step", values="growth", sort=False)
    places = {name: place for place, name in enumerate(dict.fromkeys(name.rpartition(" ")[0] for name in wide.index))}

    def order(name: str) -> tuple[int, int]:
        part, _, component = name.rpartition(" ")
        return places[part], _ORDER.get(component, len(_ORDER))

    return wide.loc[sorted(wide.index, key=order)].sort_index(axis="columns")


def induction(replay: Replay) -> pd.DataFrame:
    """Each head's score on random repeats (Olsson et al. 2022): a row per head, "layer 1 head 3", a column per step.

    The score is the mean weight, 0..1, on the token after the same token's first place (`models.training.repeats`).

    Raises ValueError for a replay without these scores: only that of a decoder has them.
    """
    if replay.induction is None:
        raise ValueError("this replay has no scores on random repeats; only that of a decoder has them")
    _, layers, number = replay.induction.shape
    names = [f"layer {layer} head {head}" for layer in range(layers) for head in range(number)]
    flat = replay.induction.reshape(len(replay.steps), -1)
    return pd.DataFrame(flat.T, index=names, columns=list(replay.steps))


def npz(replay: Replay, *, sentence: int) -> bytes:
    """All maps of a sentence as a NumPy file: "STREAM.LAYER" float16 [M, H, Q, T], steps [M] and the tokens."""
    chosen = replay.sentences[sentence]
    arrays: dict[str, Any] = {
        f"{at.stream}.{at.layer}": maps for at, maps in replay.maps.items() if at.sentence == sentence
    }
    file = io.BytesIO()
    np.savez_compressed(
        file,
        steps=np.array(replay.steps),
        source_tokens=np.array(chosen.source_tokens, dtype=str),
        target_tokens=np.array(chosen.target_tokens, dtype=str),
        **arrays,
    )
    return file.getvalue()


def _place(name: str) -> tuple[str, int | None, str, str]:
    """A parameter's name -> stack, layer, part, component: "decoder.layers.0.cross_attention.key.weight" is "decoder",
    0, "cross_attention", "q", "k", "v", "out", "up", ... or the matrix's own name."""
    words = name.split(".")
    # A decoder that stands alone names its layers without a stack before them.
    stack = "decoder" if words[0] in ("decoder", "layers", "embedding") else "encoder"
    *before, component = words[:-1] if words[-1] == "weight" else words
    component = COMPONENTS.get(component, component)
    if "layers" in words:
        place = words.index("layers") + 1
        return stack, int(words[place]), words[place + 1], component
    return stack, None, "embedding" if "embedding" in before else "head", component
