"""Texts that show what a head does: where it does it most, what it does usually, and its strongest pairs of tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from inspector.atlas.opened import WITH_EXAMPLES, Atlas
from inspector.atlas.texts import Text
from inspector.probe.inputs import tokenize_inputs
from models import LoadedModel

DECILES = 10
Side = Literal["text", "target"]
Span = tuple[int, int]
Spans = tuple[Span, ...] | None
SpansOf = Callable[[Text], Mapping[Side, Spans]]
"""Characters of every token of a text, and of its target, as the model reads them."""


@dataclass(frozen=True)
class TextExample:
    """A text and a head's measure on it."""

    text: Text
    value: float


@dataclass(frozen=True)
class StrongPair:
    """A strong weight in a text: the places of query and key among the tokens, and the weight.

    query_in, key_in: the text that each is a token of. query_span, key_span: its characters [start, stop) there; None
    where they are not known.
    """

    text: Text
    query: int
    key: int
    weight: float
    query_in: Side
    key_in: Side
    query_span: Span | None = None
    key_span: Span | None = None


def strongest(atlas: Atlas, measure: str, place: int) -> tuple[TextExample, ...]:
    """List the texts in which a head's measure is largest; none for a measure whose examples are not kept."""
    rows = atlas.examples(measure, place)
    return _examples(atlas, rows["text"].tolist(), rows["value"].tolist())


def by_decile(atlas: Atlas, measure: str, place: int) -> tuple[TextExample, ...]:
    """Take of a sample of all texts the middle one of each tenth, the weakest tenth first: what a head does usually.

    A sample of fewer than ten texts is given whole; of a measure whose examples are not kept there is none.
    """
    if measure not in WITH_EXAMPLES:
        return ()
    rows = atlas.sample(measure, place)
    count = len(rows)
    chosen = range(count) if count < DECILES else [(2 * tenth + 1) * count // (2 * DECILES) for tenth in range(DECILES)]
    rows = rows.iloc[list(chosen)]
    return _examples(atlas, rows["text"].tolist(), rows["value"].tolist())


def pairs(atlas: Atlas, place: int, spans_of: SpansOf | None = None) -> tuple[StrongPair, ...]:
    """List a head's strongest pairs of tokens, one a text; with their characters where `spans_of` is given."""
    stream = atlas.heads["stream"].iloc[place]
    query_in: Side = "target" if atlas.manifest.shape == "encoder-decoder" and stream != "encoder" else "text"
    key_in: Side = "text" if stream == "cross" else query_in
    pairs = []
    for row in atlas.pairs(place).itertuples():
        text = atlas.texts[row.text]
        spans: Mapping[Side, Spans] = {} if spans_of is None else spans_of(text)
        pairs.append(
            StrongPair(
                text=text,
                query=int(row.query),
                key=int(row.key),
                weight=float(row.weight),
                query_in=query_in,
                key_in=key_in,
                query_span=_span(spans.get(query_in), row.query),
                key_span=_span(spans.get(key_in), row.key),
            )
        )
    return tuple(pairs)


def spans_in(loaded: LoadedModel) -> SpansOf:
    """Make a function that finds the characters of every token that a model reads.

    Spans are unknown for a target that the model wrote.
    """

    def spans_of(text: Text) -> Mapping[Side, Spans]:
        if text.target is None or loaded.shape != "encoder-decoder":
            return {"text": loaded.encode(text.text).spans}
        inputs = tokenize_inputs(loaded, text.text, target=text.target)
        return {"text": inputs.encoding.spans, "target": None if inputs.target is None else inputs.target.spans}

    return spans_of


def _examples(atlas: Atlas, ids: list[int], values: list[float]) -> tuple[TextExample, ...]:
    return tuple(TextExample(atlas.texts[id], value) for id, value in zip(ids, values, strict=True))


def _span(spans: Spans, place: int) -> Span | None:
    """Find the characters of a token; None for one that stands for none, and where the text was read otherwise."""
    if spans is None or not 0 <= place < len(spans) or spans[place][0] == spans[place][1]:
        return None
    return spans[place]
