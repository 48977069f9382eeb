"""Old keys and queries: what a longer text does to them, and who ever reads them again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from inspector import examples, stepwise
from inspector.components.matrix import Panel
from inspector.plots.chart import Chart
from inspector.sections import names
from inspector.sections.picks import Count
from inspector.sections.section import (
    Block,
    Figure,
    Link,
    Map,
    Mark,
    Note,
    Paragraph,
    Section,
    Sentence,
    Table,
)
from inspector.sections.subject import given
from inspector.sections.time import steps
from inspector.stepwise.old_keys import ROUNDING
from inspector.text import plain
from inspector.wording import generate
from inspector.wording import time as wording
from models.transformer.config import TransformerConfig
from models.transformer.switches import id_of

if TYPE_CHECKING:
    from inspector.sections.subject import Subject

words = wording.past

SMALL = ("mini-gpt", "smollm2")  # instead of a model that does not write: what a step reads is no matter of size
BOTH_WAYS = ("mini-bert", "mini-bert-zh")  # beside a decoder, the best first
COPIED = 150e6  # weights of a model that is put under the other mask, at most
READ, DRAWN = 128, 24  # tokens of the old keys, and of the picture of reads
MOST_NEW = 16


def answer(subject: Subject) -> Iterator[Block]:
    """Yield how far old keys move, and who reads old queries."""
    yield OLD_KEYS if _old(subject) else Note(words.ONE_TOKEN)
    yield READS
    yield Link("generate", words.SAVED, {"section": generate.CACHE})


# --- old keys ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Beside:
    """A reading under the other mask. table: of `stepwise.old_keys`; about: a sentence; code: gives `loaded`, `trace`.

    name: of the model.
    """

    name: str
    table: pd.DataFrame
    about: str
    code: str


def _old(subject: Subject) -> int:
    """Count the tokens that can be old when another comes."""
    return min(*stepwise.grown(subject.trace).values(), READ) - 1


def _old_keys(subject: Subject, *, later_tokens: int) -> Iterator[Block]:
    """Yield the change of old keys and values by layer, in the reader's model and under the other mask."""
    new, name = later_tokens, names.name(subject.model)
    table = _compared(subject, new=new)
    several = table["stream"].nunique() > 1  # an encoder-decoder has both masks itself
    beside = None if several else _beside(subject, new=new)
    read = [(name, table, subject.code)] + ([] if beside is None else [(beside.name, beside.table, beside.code)])
    whole = pd.concat([rows.assign(model=name) for name, rows, _ in read], ignore_index=True)
    found = [
        (words.of_stream(model, stream) if several else model, rows)
        for (model, stream), rows in whole.groupby(["model", "stream"], sort=False)
    ]
    moves = [stepwise.moving(rows, name=plain(name)) for name, rows in found]
    most = whole.loc[whole[whole["tensor"] == "key"]["relative"].idxmax()]
    about = Mark("past-moved", {column: most[column] for column in ("model", "stream", "layer", "tensor")})
    yield Sentence(words.moving(moves[0], moves[1] if len(moves) > 1 else None, new=new), words.TERMS, (about,))
    said = words.about(moves[0]) + ("" if beside is None else f" {beside.about}")
    yield Figure("past-moved", words.MOVED, _moved(dict(found)), words.MOVED_ALT, _code(read, new=new), whole)
    yield replace(MORE, answer=partial(_more, said=said))
    yield Table("old-keys", whole, height=320)


def _more(subject: Subject, *, said: str) -> Iterator[Block]:
    """Yield what is drawn, with its formula."""
    yield Note(said)


def _moved(tables: dict[str, pd.DataFrame]) -> Chart:
    """Lay out the change of keys and values by layer, a dash for each name; the largest of a key has its number."""
    rows, parts, styles = [], {}, {}
    every = pd.concat(tables.values())
    most = every.loc[every["tensor"] == "key", "relative"].max()
    for style, (name, table) in enumerate(tables.items()):
        for tensor, part in (("key", "q"), ("value", "out")):
            line = words.line(tensor, name)
            parts[line], styles[line] = part, style
            rows.append(table[table["tensor"] == tensor].assign(line=line, change=lambda one: 100 * one["relative"]))
    drawn = pd.concat(rows)
    told = (drawn["tensor"] == "key") & (drawn["relative"] == most)
    return Chart(
        drawn.assign(told=drawn["relative"].map(words.change).where(told & (most > ROUNDING), "")),
        "layer",
        "change",
        by="line",
        parts=parts,
        styles=styles,
        points_at="told",
        hover={"largest": words.LARGEST},
        x_title="layer",
        y_title=words.CHANGE,
        title=words.MOVED,
        height=360,
    )


def _code(read: list[tuple[str, pd.DataFrame, str]], *, new: int) -> str:
    """Write the Python lines that give the rows of all models that read the text."""
    lines = ["import pandas as pd\n", "from inspector import stepwise\n\n", "tables = []\n"]
    for name, _, recorded in read:
        lines.append(f"{recorded}tables.append(stepwise.old_keys(loaded, trace, new={new}).assign(model={name!r}))\n")
    return f"{''.join(lines)}table = pd.concat(tables, ignore_index=True)"


def _compared(subject: Subject, *, new: int) -> pd.DataFrame:
    def make() -> pd.DataFrame:
        with steps.told(subject.model, words.COMPARING):
            return stepwise.old_keys(subject.model, subject.trace, new=new, most=READ)

    return subject.of_text(("old keys", subject.model.card.id, new), make)


def _beside(subject: Subject, *, new: int) -> Beside | None:
    """Read the text under the other mask; None where no model can."""
    loaded, trace = subject.model, subject.trace
    if loaded.shape == "decoder":
        id = next((one for one in BOTH_WAYS if examples.reads(one, trace.text)), BOTH_WAYS[0])
        other = subject.in_model(id, trace.text)
        name = names.name(other.model)
        return Beside(name, _compared(other, new=new), words.an_encoder(name), other.code)
    base, changed, seed = names.under(loaded)
    causal = isinstance(loaded.config, TransformerConfig) and loaded.config.is_causal
    kept = {name: value for name, value in changed.items() if name != "causal"}
    if sum(parameter.numel() for parameter in loaded.network.parameters()) > COPIED:
        return None
    id = id_of(base, kept if causal else {**kept, "causal": True}, seed=seed)
    try:
        under = subject.with_model(id)
    except ValueError:
        return None
    name = words.masked(names.base_name(loaded), causal=not causal)
    about = words.same_weights(plain(name), causal=not causal)
    code = f"loaded = models.load({id!r})\ntrace = inspector.record(loaded, {given(trace)})\n"
    return Beside(name, _compared(under, new=new), about, code)


# --- reads ------------------------------------------------------------------------------------------------------------


def _reads(subject: Subject) -> Iterator[Block]:
    """Yield what each step of a cached run reads, and what a cache would save in training."""
    loaded = subject.model
    if problem := stepwise.why_not(loaded):
        text = subject.trace.text
        id = next((id for id in SMALL if subject.at_hand(id) and examples.reads(id, text)), SMALL[0])
        whole = examples.reads(id, text)
        subject = subject.in_model(id, text if whole else examples.of(id))
        writer = names.name(subject.model)
        yield Paragraph(words.stands_in(plain(names.name(loaded)), problem, writer, on_text=whole))
    tokens = min(steps.room(subject), DRAWN)
    for part in (_map, _training):
        try:
            yield part(subject, tokens=tokens)
        except ValueError as error:
            yield Note(plain(str(error)))


def _map(subject: Subject, *, tokens: int) -> Map:
    layers = steps.reads(subject, tokens=tokens)
    first = layers[0]
    alike = all(np.array_equal(first.key, other.key) for other in layers)
    panels = tuple(
        Panel(values.astype(np.float32), rows=first.tokens, columns=first.tokens, title=title)
        for title, values in ((words.QUERIES, first.query), (words.KEYS, first.key))
    )
    code = f"{steps.code(subject)}layer = stepwise.reads(loaded, trace, tokens={tokens})[0]\nlayer.query, layer.key"
    return Map(
        "past-reads",
        "",
        panels,
        row_title=words.STEP,
        column_title=words.TOKEN,
        alt=words.READS_ALT,
        quantity=words.READ,
        top=1.0,
        code=code,
        sentence=words.reading(first, model=plain(names.name(subject.model)), layers=len(layers), alike=alike),
        note=words.COMPUTED,
        name="reads",
    )


def _training(subject: Subject, *, tokens: int) -> Paragraph:
    found = steps.forced(subject, tokens=tokens)
    return Paragraph(words.training(found, model=plain(names.name(subject.model))))


OLD_KEYS = Section(
    "old_keys",
    "",
    _old_keys,
    (
        Count(
            "later_tokens",
            words.NEW,
            lambda subject: max(1, min(_old(subject), MOST_NEW)),
            lambda subject: 1,
            first_value=1,
        ),
    ),
    needs_model=True,
)
MORE = Section("past_more", wording.MORE, _more, folded=True)
READS = Section("reads", words.READERS, _reads, needs_model=True, folded=True)
SECTION = Section("past", words.PAST, answer, needs_model=True, waits=words.COMPARING, parts=(OLD_KEYS, MORE, READS))
