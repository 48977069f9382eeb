"""Promise beside effect: what the split of a logit or of a score says that a cut takes, and what the cut takes.

The promise is the writer's share, with the scales of this text held: direct, and of this reader alone. The effect is
the model's own answer, run again. With norms held into the logit the two are equal (a masked language model's head has
a GELU beside, which the split holds too); else what lies between them is all that the split leaves out: the norms'
scales, and every later layer that reads what was changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan

import pandas as pd

from inspector import writers
from inspector.patching.grids import OnPatched, answers_without, batches
from inspector.patching.scissors import Cut, EdgeCut, HeadCut, SpanCut, Uncut, cut
from inspector.patching.writes import read_by, written_by
from inspector.trace import recompute
from inspector.writers import Writer
from models.attention.dropping import ModelHead


@dataclass(frozen=True)
class ScoreChange:
    """One cell's score before and after a cut, and by how much the split says that it moves.

    weights: the cell's weight before and after, for the row's other scores move too.
    """

    before: float
    after: float
    promise: float
    weights: tuple[float, float]

    @property
    def effect(self) -> float:
        """The distance that the score moved, signed."""
        return self.after - self.before


def promise(uncut: Uncut, one: Cut, *, instead: Uncut | None = None) -> float:
    """Tell how far a cut moves the answer, by the split of the answer's logit.

    NaN where it says nothing: for an edge into a query, a key, a value or an FFN, for a head's mean, and for the log of
    one token's probability, which is no sum. Raises ValueError where the logit is not split.
    """
    answer = uncut.answer
    if answer.normalised and answer.against is None:
        return nan
    match one:
        case EdgeCut(writer, reader) if reader.part == "logit":
            theirs = 0.0 if instead is None else _share(instead, writer)
            return theirs - _share(uncut, writer)
        case HeadCut(head, "zero"):
            return -_share(uncut, _writer(head))
        case SpanCut(head, tokens):
            opened = _writer(head)
            split = writers.of_logit(
                uncut.trace,
                uncut.loaded,
                position=answer.position,
                token=answer.token,
                against=answer.against,
                opened=opened,
                inside=uncut.inside,
            )
            taken = {replace(opened, source=token) for token in tokens}
            parts = zip(split.writers, split.contributions, strict=True)
            return -float(sum(value for writer, value in parts if writer in taken))
    return nan


def score_change(uncut: Uncut, one: EdgeCut, *, head: int, query: int, key: int) -> ScoreChange:
    """Measure how a cut into a query or a key moves one cell's score, and tell what the split promises.

    The promise sums the pairs in which the writer stands on the cut side. Raises ValueError for another reader, and as
    `writers.of_score` does.
    """
    reader = one.reader
    if reader.part not in ("query", "key") or head not in uncut.kv_heads(reader):
        raise ValueError(f"the {read_by(reader)} is no query or key of head {head}; choose a head that reads the edge")
    split = writers.of_score(
        uncut.trace,
        uncut.loaded,
        layer=reader.layer,
        head=head,
        query=query,
        key=key,
        stream=reader.stream,
        call=reader.call,
        inside=uncut.inside,
    )
    side = split.queries if reader.part == "query" else split.keys
    rows = [number for number, writer in enumerate(side) if _is(uncut, writer, one.writer)]
    taken = float((split.matrix[rows] if reader.part == "query" else split.matrix[:, rows]).sum())
    place = (reader.stream, reader.layer, reader.call)
    call = cut(uncut, [one]).calls[place]
    record = uncut.trace.record_of(reader.layer, reader.stream, call=reader.call)
    changed = replace(record, query=call.query[0], key=call.key[0])
    of_query, of_key = slice(query, query + 1), slice(key, key + 1)
    scores, weights = (
        [float(recompute.window(each, kind, queries=of_query, keys=of_key)[head, 0, 0]) for each in (record, changed)]
        for kind in ("scores", "weights")
    )
    return ScoreChange(scores[0], scores[1], -taken, (weights[0], weights[1]))


def cut_heads(
    uncut: Uncut, *, layers: Sequence[int] | None = None, on_progress: OnPatched | None = None
) -> pd.DataFrame:
    """Cut each head alone to zero, and hold what the split promises beside the effect.

    layers: all by default. on_progress: told how many heads are cut, of how many; an exception in it ends the work.

    Columns: stream, layer, call, head, promise (NaN where the logit is not split), effect.
    """
    split = None if uncut.answer.normalised else uncut.split
    parts = () if split is None else zip(split.writers, split.contributions, strict=True)
    direct = {writer: -float(value) for writer, value in parts}
    places = [place for place in uncut.runs.mixed if layers is None or place[1] in layers]
    total = sum(uncut.runs.mixed[place].shape[1] for place in places)
    rows: list[tuple[str, int, int, int, float, float]] = []
    for place in places:
        stream, layer, call = place
        for batch in batches(list(range(uncut.runs.mixed[place].shape[1])), uncut.runs):
            answers = answers_without(uncut.runs, uncut.answer, place, heads=batch)
            for head, value in zip(batch, answers, strict=True):
                promised = direct.get(Writer("head", stream, layer, head, call), nan)
                rows.append((stream, layer, call, head, promised, value - uncut.measured))
            if on_progress is not None:
                on_progress(len(rows), total)
    return pd.DataFrame(rows, columns=["stream", "layer", "call", "head", "promise", "effect"])


def measure_cuts(uncut: Uncut, cuts: Sequence[Cut], *, instead: Uncut | None = None) -> pd.DataFrame:
    """Make each cut alone and hold the promise beside the effect, a row a cut.

    Columns: cut (in words), writer, reader, norms ("" where none is read), promise (NaN for none), effect, before and
    after (the answer).
    """
    rows: list[dict[str, str | float]] = []
    for one in cuts:
        run = cut(uncut, [one], instead=instead)
        told: dict[str, float] = {"promise": promise(uncut, one, instead=instead), "effect": run.effect}
        rows.append({**named(one), **told, "before": run.before, "after": run.after})
    columns = ["cut", "writer", "reader", "norms", "promise", "effect", "before", "after"]
    return pd.DataFrame(rows, columns=columns)


def named(one: Cut) -> dict[str, str]:
    """A cut by its kind, what writes, what reads, and the norms."""
    match one:
        case EdgeCut(writer, reader, norms):
            return {"cut": "edge", "writer": written_by(writer), "reader": read_by(reader), "norms": norms}
        case HeadCut(head, to):
            return {"cut": f"head, to its {to}" if to == "mean" else "head", **_ends(head, "all")}
        case SpanCut(head, tokens):
            return {"cut": "columns", **_ends(head, f"tokens {', '.join(map(str, tokens))}")}


def _ends(head: ModelHead, reader: str) -> dict[str, str]:
    return {"writer": written_by(_writer(head)), "reader": reader, "norms": ""}


def _writer(head: ModelHead) -> Writer:
    return Writer("head", head.stream, head.layer, head.head, head.call)


def _share(uncut: Uncut, writer: Writer) -> float:
    """Sum up what a writer adds to the answer directly."""
    parts = zip(uncut.split.writers, uncut.split.contributions, strict=True)
    return float(sum(value for part, value in parts if _is(uncut, part, writer)))


def _is(uncut: Uncut, part: Writer, writer: Writer) -> bool:
    """Return True if a part of a split is of a writer: the embedding has positions, an attention heads and a bias."""
    names = {"embedding": "embedding", "attention": "output"}
    behind = {norm.name for norm in uncut.trace.norms if norm.placement == names.get(writer.kind)}
    place = (part.stream, part.layer, part.call) == (writer.stream, writer.layer, writer.call)
    match writer.kind, part.kind:
        case ("embedding", "embedding" | "positions") | ("attention", "head" | "attention"):
            return place
        case ("embedding" | "attention", "bias"):
            return place and part.name == ("embedding" if writer.kind == "embedding" else "W_O")
        case ("embedding" | "attention", "beta"):
            return part.stream == writer.stream and part.name in behind and (place or writer.kind == "embedding")
    return part == replace(writer, whole="")
