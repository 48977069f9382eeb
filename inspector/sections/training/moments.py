"""The replay of a training: every head at one of its moments, and the open head then and at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from inspector import heads, training
from inspector.components.grid import roles, side
from inspector.components.matrix import Panel
from inspector.components.pack import quantise
from inspector.plots import matrices
from inspector.plots import training as draw
from inspector.sections.picks import Clicked, Option, Step
from inspector.sections.section import (
    Block,
    Figure,
    File,
    Files,
    HeadMap,
    HeadMaps,
    Map,
    Paragraph,
    Quote,
    Row,
    Section,
    Sentence,
    Thumbnails,
)
from inspector.sections.training import files
from inspector.trace.pooling import pool
from inspector.wording import training as words
from models.training.replay_file import MapKey

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from inspector.plots.scene import Scene
    from inspector.plots.theme import Mode
    from inspector.sections.subject import Subject
    from inspector.sections.training.files import Trained
    from models.training.replay_file import Replay

INTERVAL = 1.5  # seconds for which a moment is seen


@dataclass(frozen=True, eq=False)
class Moment:
    """A sentence and a stream at one step of a training. measures: of `training.measures`, at all steps."""

    replay: Replay
    trained: Trained
    sentence: int
    stream: str
    measures: pd.DataFrame
    step: int

    @property
    def layers(self) -> int:
        """The number of the stream's layers."""
        return self.replay.layers(self.stream)

    @property
    def heads(self) -> int:
        """The number of a layer's heads."""
        return int(self.measures["head"].max()) + 1

    @property
    def now(self) -> pd.DataFrame:
        """The measures at this step."""
        return self.measures[self.measures["step"] == self.step]

    @property
    def code(self) -> str:
        """The Python lines after which `replay` and `measures` are there."""
        call = f'training.measures(replay, sentence={self.sentence}, stream="{self.stream}")'
        return f"{self.trained.replay_code}measures = {call}\n"

    def maps(self, layer: int) -> NDArray[np.float16]:
        """Return the maps of a layer's heads at all steps, [M, H, Q, T]."""
        return self.replay.maps[MapKey(self.sentence, self.stream, layer)]


def answer(subject: Subject, *, run: str) -> Iterator[Block]:
    """Yield the part that asks for a sentence and a stream, and plays what their heads became."""
    trained = files.read(run)
    replay = files.replay(subject, trained)
    texts = {sentence.source: sentence.source for sentence in replay.sentences}
    picks = (
        Option("sentence", words.SENTENCE, lambda subject: texts, look="list", width=420),
        Option("replay_stream", words.STREAM, lambda subject: {stream: stream for stream in replay.streams}),
    )
    yield replace(READ, answer=partial(_read, replay=replay, trained=trained), picks=picks)


def _read(subject: Subject, *, sentence: str, replay_stream: str, replay: Replay, trained: Trained) -> Iterator[Block]:
    number = [one.source for one in replay.sentences].index(sentence)
    if target := replay.sentences[number].target:
        yield Quote(words.TARGET, target)
    measures = subject.of_all(
        ("replay measures", str(trained.folder), number, replay_stream),
        lambda: training.measures(replay, sentence=number, stream=replay_stream),
    )
    seen = Moment(replay, trained, number, replay_stream, measures, replay.steps[-1])
    names = [str(step) for step in replay.steps]
    player = Step(
        "moment",
        words.step_of(replay.steps[-1]),
        lambda subject: names,
        INTERVAL,
        lambda subject: 0,
        slider=True,
        named=True,
    )
    yield replace(REPLAY, answer=partial(_moment, seen=seen), picks=(player,))


def _moment(subject: Subject, *, moment: int, seen: Moment) -> Iterator[Block]:
    """Yield one moment, with the head that is open: at first one that has a name at the end."""
    seen = replace(seen, step=seen.replay.steps[moment])
    yield Sentence(doing(seen.measures, step=seen.step))
    end = seen.measures[seen.measures["step"] == seen.replay.steps[-1]]
    largest = (seen.layers - 1, seen.heads - 1)
    picks = tuple(
        replace(pick, last=partial(_always, number=last), default=partial(_always, number=first))
        for pick, last, first in zip(SITE, largest, telling(end), strict=True)
    )
    yield replace(OPEN, answer=partial(_opened, seen=seen), picks=picks)
    name = seen.trained.name
    yield Files(
        (
            File(f"{name}-{seen.stream}-heads.csv", lambda mode: seen.measures, words.HEADS_FILE, words.HEADS_LABEL),
            File(
                f"{name}-sentence{seen.sentence}-replay.npz",
                lambda mode: training.npz(seen.replay, sentence=seen.sentence),
                words.MAPS_FILE,
                words.MAPS_LABEL,
            ),
        )
    )


def _opened(subject: Subject, *, replay_layer: int, replay_head: int, seen: Moment) -> Iterator[Block]:
    """Yield all heads and the open one, its layer's measures by step, and how the matrices grew."""
    layer, head = replay_layer, replay_head
    of_head = seen.measures[(seen.measures["layer"] == layer) & (seen.measures["head"] == head)].set_index("step")
    now, end = of_head.loc[seen.step], of_head.iloc[-1]
    said = words.of_head(
        layer, head, labels=(now["label"], end["label"]), entropies=(float(now["entropy"]), float(end["entropy"]))
    )
    left = (_thumbnails(seen, layer, head), Paragraph(said, help=words.LABELS))
    yield Row((left, _maps(seen, layer, head)), widths=(3, 8))
    known = {measure: measure for measure in draw.MEASURES if seen.measures[measure].notna().any()}
    yield replace(
        MEASURE,
        title=words.as_learned(layer),
        answer=partial(_measure, seen=seen, layer=layer, head=head),
        picks=(replace(MEASURES, options=lambda subject: known),),
    )
    if seen.replay.induction is not None:
        yield _induction(seen)


def _thumbnails(seen: Moment, layer: int, head: int) -> Thumbnails:
    at = seen.replay.steps.index(seen.step)
    maps = [seen.maps(number)[at].astype("float32") for number in range(seen.layers)]
    most = side(seen.layers, seen.heads)
    pictures = quantise(np.stack([pool(of_layer, side=most) for of_layer in maps]))

    def scene(mode: Mode) -> Scene:
        return matrices.grid(
            (pictures / np.float32(255)) ** 2,  # as pack.quantise made them: the root of the weight
            rows=[words.layer(number) for number in range(seen.layers)],
            title=words.every_head(seen.trained.name, seen.stream, step=seen.step),
            scale="linear",
            selected=(layer, head),
            mode=mode,
        )

    return Thumbnails(
        "replay-grid",
        pictures,
        len(seen.replay.sentences[seen.sentence].tokens(seen.stream)[1]),
        (layer, head),
        roles.notes(seen.now),
        words.GRID_ALT,
        _chosen,
        scene,
        seen.now,
        f'{seen.code}now = measures[measures["step"] == {seen.step}]',
        words.GRID,
        f"{seen.trained.name}-{seen.stream}-step{seen.step}",
        roles=roles.roles(seen.now),
    )


def _maps(seen: Moment, layer: int, head: int) -> HeadMaps:
    """Lay out the open head at this step beside the same head at the end, on one colour scale."""
    name, steps = seen.trained.name, seen.replay.steps
    of_head = seen.maps(layer)[:, head].astype("float32")
    now, end = of_head[steps.index(seen.step)], of_head[-1]
    queries, keys = seen.replay.sentences[seen.sentence].tokens(seen.stream)
    top = max(float(now.max()), float(end.max())) or 1.0
    shown = (("now", words.NOW, words.at_step(seen.step), now), ("end", words.END, words.at_end(steps[-1]), end))
    recipe = seen.trained.recipe
    return HeadMaps(
        "replay-head",
        tuple(
            HeadMap(
                id,
                said,
                words.head_at(layer, head, when),
                words.head_of(name, layer, head, when),
                weights,
            )
            for id, said, when, weights in shown
        ),
        queries,
        keys,
        layer,
        head,
        (seen.layers, seen.heads),
        top,
        words.MAPS_ALT,
        _chosen,
        f"{seen.trained.replay_code}from models.training.replay_file import MapKey\n\n"
        f'maps = replay.maps[MapKey({seen.sentence}, "{seen.stream}", {layer})][:, {head}]\n'
        f"now, end = maps[replay.steps.index({seen.step})], maps[-1]",
        words.softmax(
            None if recipe is None else recipe.width // recipe.heads, top=top, decoder=seen.stream != "encoder"
        ),
        f"{name}-{seen.stream}-layer{layer}-head{head}",
    )


def _measure(subject: Subject, *, replay_measure: str, seen: Moment, layer: int, head: int) -> Iterator[Block]:
    """Yield one measure of the layer's heads over the training."""
    columns = ["step", "head", replay_measure, "label"]
    yield Figure(
        "head-measures",
        "",
        draw.head_measures(seen.measures, measure=replay_measure, layer=layer, head=head, step=seen.step),
        words.measure_alt(replay_measure, layer),
        f'{seen.code}table = measures.loc[measures["layer"] == {layer}, {columns}]',
        seen.measures.loc[seen.measures["layer"] == layer, columns],
        note=words.MEANS,
        name=f"{seen.trained.name}-layer{layer}-{replay_measure}",
    )


def _induction(seen: Moment) -> Map:
    """Lay out each head's score on random repeats by step."""
    scores = training.induction(seen.replay)
    values = scores.to_numpy(dtype=float)
    return Map(
        "induction-over-time",
        words.INDUCTION,
        (Panel(values, rows=list(scores.index), columns=[f"{step:,}" for step in scores.columns]),),
        row_title="head",
        column_title="step",
        alt=words.INDUCTION_ALT,
        quantity="induction score",
        numbered="neither",
        top=1.0,
        code=f"{seen.trained.replay_code}scores = training.induction(replay)",
        note=words.ABOUT_INDUCTION,
        name=f"{seen.trained.name}-induction",
    )


def doing(measures: pd.DataFrame, *, step: int) -> str:
    """Say what the heads do at a step and at the end; measures: of `training.measures`."""
    last = int(measures["step"].max())
    now, end = (measures[measures["step"] == at] for at in (step, last))
    layer, head = telling(end)
    (opened,) = end[(end["layer"] == layer) & (end["head"] == head)]["label"]
    return words.moment(step=step, last=last, now=_counts(now), end=_counts(end), opened=opened)


def telling(end: pd.DataFrame) -> tuple[int, int]:
    """Choose the head to open first: of those that have a name at the end the one that looks most narrowly.

    end: of `training.measures`, at the last step. Where none has a name, the most telling.
    """
    named = end[end["label"].isin(words.PLAIN)]
    if named.empty:
        return heads.most_telling(end)
    narrow = named.loc[named["entropy"].idxmin()]
    return int(narrow["layer"]), int(narrow["head"])


def _counts(measures: pd.DataFrame) -> dict[str, int]:
    return {str(name): int(count) for name, count in measures["label"].value_counts().items()}


def _chosen(layer: int, head: int) -> dict[str, int]:
    return {"replay_layer": layer, "replay_head": head}


def _always(subject: Subject, *, number: int) -> int:
    return number


SITE = tuple(
    Clicked(f"replay_{name}", said, last=partial(_always, number=0), default=partial(_always, number=0))
    for name, said in (("layer", words.LAYER), ("head", words.HEAD))
)
MEASURES = Option("replay_measure", words.MEASURE, lambda subject: {}, look="list", width=200)
READ = Section("replay_of", "", _read, about="course")
REPLAY = Section("replay", "", _moment, (Step("moment", words.STEP, lambda subject: (), named=True),), about="course")
OPEN = Section("replay_open", "", _opened, SITE, about="course")
MEASURE = Section("replay_measures", words.MEASURE, _measure, about="course")
SECTION = Section("heads", words.HEADS, answer, (files.RUN,), about="course", parts=(READ, REPLAY, OPEN, MEASURE))
