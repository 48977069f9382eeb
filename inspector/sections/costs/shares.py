"""Shares of attention and of the FFN in the work on a text: the section that opens the page Costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from inspector import costs
from inspector.costs import clocked
from inspector.plots import costs as draw
from inspector.plots.costs import Value
from inspector.sections.costs import counts, derived
from inspector.sections.costs.counts import Costs
from inspector.sections.section import Block, Figure, Mark, Note, Row, Section, Sentence
from inspector.wording import costs as words
from models.formatting import format_bytes
from models.transformer.config import TransformerConfig

if TYPE_CHECKING:
    from inspector.costs import Crossovers
    from inspector.costs.clock import Kernel, LayerTimes
    from inspector.sections.subject import Subject

PAIRS = ("scores", "mix")


def answer(subject: Subject, *, stream: str, counted: Value) -> Iterator[Block]:
    """Yield the costs of a configuration by component and by length, and what they come to."""
    sizes = subject.configuration
    try:
        found = counts.of(subject)
    except ValueError as error:
        if subject.loaded is None:
            raise
        yield from _uncounted(subject, str(error))
        return
    table, crossovers, rest = found.table, found.crossovers, list[Note]()
    if crossovers is not None and compares(table):
        reads = subject.loaded.max_tokens if subject.loaded is not None and subject.given is None else None
        said = shares(table, crossovers, tokens=sizes.tokens, reads=reads)
        rest.append(Note(pairs(table, crossovers)))
        about = () if counted == "milliseconds" else (Mark(derived.BARS, larger(table)),)
        yield Sentence(said, ("FLOPs", "FFN"), about)
    else:
        yield Sentence(whole(table, tokens=sizes.tokens), ("FLOPs", "parameters"))
    by_component: tuple[Block, ...]
    if counted == "milliseconds":
        by_component = (MILLISECONDS,)
    else:
        by_component = (
            Figure(
                derived.BARS,
                words.BY_COMPONENT.format(words.VALUES[counted]),
                draw.by_component(table, value=counted, stream=stream),
                words.BY_COMPONENT_ALT.format(words.VALUES[counted]),
                counts.table_code(subject),
                table,
                chooses="component",
            ),
            derived.of(subject, amount=counted, stream=stream),
        )
    yield Row((by_component, () if crossovers is None else _by_length(subject, found, crossovers)))
    yield from rest
    yield Note(forward(subject, table, closed=found.closed))
    if left_out := _head_left_out(subject, table):
        yield Note(words.head_left_out(left_out))
    if crossovers is not None:
        yield Note(words.crossovers(core=crossovers.core, sublayer=crossovers.sublayer, textbook=crossovers.plain))
    source, target = sizes.lengths
    if found.closed and (without := without_pairs(sizes.config, tokens=source, target_tokens=target)):
        paired = table[table["component"].isin(PAIRS)]["flops"].sum()
        yield Note(words.linear(pairs=int(paired), without=without))


def _uncounted(subject: Subject, reason: str) -> Iterator[Block]:
    """Yield what needs no count: the parameters in the model's own tensors, by layer."""
    network = subject.model.network
    table = costs.parameters(network)
    yield Sentence(parameters(table), ("parameters", "embedding"))
    size = sum(tensor.numel() * tensor.element_size() for tensor in network.parameters())
    yield Figure(
        "counted-parameters",
        words.PARAMETERS,
        draw.counted(table),
        words.PARAMETERS_ALT,
        "import inspector, models\n\n"
        f"table = inspector.costs.parameters(models.load({subject.model.card.id!r}).network)",
        table,
    )
    yield Note(words.NOT_COUNTED.format(reason.rstrip(".")))
    yield Note(words.LOADED.format(int(table["parameters"].sum()), format_bytes(size)))


def _by_length(subject: Subject, found: Costs, crossovers: Crossovers) -> Figure:
    """Draw FLOPs against the length of the text, with both crossovers."""
    sizes = subject.configuration
    lengths = draw.lengths(crossovers, tokens=sizes.tokens)
    stream = str(found.table["stream"].iloc[0])
    if found.closed:
        key = ("costs by length", sizes.key, tuple(lengths))
        table = subject.of_all(key, lambda: costs.by_length(sizes.config, lengths))
        call = f"by_length(config, {lengths})"
    else:
        table = costs.sweep(counts.counted(subject), lengths, stream=stream)
        call = f"sweep(inspector.costs.count(config), {lengths}, stream={stream!r})"
    text = words.THIS_TEXT if subject.given is None else words.CHOSEN
    return Figure(
        "by-length",
        words.BY_LENGTH,
        partial(draw.by_length, table, crossovers=crossovers, tokens=sizes.tokens, text=text),
        words.BY_LENGTH_ALT,
        f"{counts.code(subject)}table = inspector.costs.{call}",
        table,
    )


def _milliseconds(subject: Subject) -> Iterator[Block]:
    """Yield the clock, and the bars of what it measured."""
    tokens = subject.configuration.tokens

    def bars(measured: LayerTimes) -> Iterator[Block]:
        yield replace(BARS, answer=partial(_timed, measured=measured))

    yield counts.measurement(subject, (tokens,), id="measure-layers", answer=bars)


def _timed(subject: Subject, *, kernel: Kernel, measured: LayerTimes) -> Iterator[Block]:
    tokens = subject.configuration.tokens
    found = clocked.by_layer(counts.of(subject).table, measured, kernel=kernel, tokens=tokens)
    yield Note(words.timed(found, measured, kernel=kernel, tokens=tokens))
    yield Figure(
        derived.BARS,
        "",
        draw.by_component(found.table, value="milliseconds", stream=found.stream),
        words.BY_COMPONENT_ALT.format(words.VALUES["milliseconds"]),
        timed_code(subject, kernel),
        found.table,
    )


def timed_code(subject: Subject, kernel: Kernel) -> str:
    """Write the Python lines that measure a layer, and give each layer like it the times."""
    tokens = subject.configuration.tokens
    return (
        f"{counts.measure_code(subject, [tokens])}{counts.table_code(subject).splitlines()[-1]}\n"
        f"table = clocked.by_layer(table, measured, kernel={kernel!r}, tokens={tokens}).table"
    )


def _head_left_out(subject: Subject, table: pd.DataFrame) -> int:
    """Count the parameters of a head that guesses hidden tokens, which the table leaves out."""
    from models.transformer.masked_lm import MaskedLanguageModel  # torch, which takes seconds

    head = None if subject.loaded is None else getattr(subject.loaded.runner, "head", None)
    if not isinstance(head, MaskedLanguageModel):
        return 0
    return sum(own.numel() for own in head.parameters()) - int(table["parameters"].sum())


def merged(table: pd.DataFrame) -> pd.DataFrame:
    """Give experts and the choice among them the part of the FFN that they stand in for."""
    return table.assign(part=table["part"].replace({"experts": "ffn", "router": "ffn"}))


def _products(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the matrix products in the layers of the first stream."""
    rows = merged(table)
    return rows[rows["layer"].notna() & (rows["kind"] == "matmul") & (rows["stream"] == rows["stream"].iloc[0])]


def compares(table: pd.DataFrame) -> bool:
    """Tell whether the first stream's layers hold both attention and an FFN."""
    rows = _products(table)
    return {"attention", "ffn"} <= set(rows["part"]) and "scores" in set(rows["component"])


def shares(table: pd.DataFrame, crossovers: Crossovers, *, tokens: int, reads: int | None = None) -> str:
    """Compare attention with the FFN in the first stream; table: of `costs.breakdown` for `tokens` tokens.

    reads: how many tokens the model reads at most, None where that is not known.

    A decoder's attention over a source is not counted: the crossovers are of a text's attention over itself.
    """
    flops = _products(table).groupby("part")["flops"].sum()
    both = int(flops["attention"] + flops["ffn"])
    return words.shares(
        stream=str(table["stream"].iloc[0]) if table["stream"].nunique() > 1 else "",
        tokens=tokens,
        attention=int(flops["attention"]) / both,
        ffn=int(flops["ffn"]) / both,
        sublayer=crossovers.sublayer,
        reads=reads,
    )


def pairs(table: pd.DataFrame, crossovers: Crossovers) -> str:
    """Say what scores and mix take in the first stream, of attention and FFN."""
    rows = _products(table)
    both = rows[rows["part"].isin(["attention", "ffn"])]["flops"].sum()
    return words.pairs(int(rows[rows["component"].isin(PAIRS)]["flops"].sum()) / int(both), core=crossovers.core)


def larger(table: pd.DataFrame) -> dict[str, str]:
    """Find the part with more FLOPs in the first stream's layers, by its stream and its name in the table."""
    rows = _products(table)
    rows = rows[rows["part"] == rows.groupby("part")["flops"].sum()[["attention", "ffn"]].idxmax()]
    return {column: str(table.loc[rows.index[0], column]) for column in ("stream", "part")}


def whole(table: pd.DataFrame, *, tokens: int) -> str:
    """Sum up a model whose layers hold no pair of attention and FFN."""
    return words.whole(
        tokens=tokens,
        parameters=int(table["parameters"].sum()),
        flops=int(table["flops"].sum()),
        layers=len(table[table["layer"].notna()].drop_duplicates(["stream", "layer"])),
    )


def parameters(table: pd.DataFrame) -> str:
    """Sum the parameters of a model; table: of `costs.parameters`."""
    inside = table["layer"].notna()
    return words.parameters(
        parameters=int(table["parameters"].sum()),
        embeddings=int(table[table["part"] == "embedding"]["parameters"].sum()),
        layers=len(table[inside].drop_duplicates(["stack", "layer"])),
    )


def forward(subject: Subject, table: pd.DataFrame, *, closed: bool) -> str:
    """Sum up one forward, and set attention against the FFN."""
    sizes = subject.configuration
    sums = merged(table).groupby("part")[["flops", "parameters"]].sum()
    against = ""
    if {"attention", "ffn"} <= set(sums.index) and sums["flops"]["ffn"]:
        ratio = sums.loc["attention"] / sums.loc["ffn"]
        against = words.against(
            flops=ratio["flops"],
            parameters=ratio["parameters"],
            elementwise=bool((table["kind"] == "elementwise").any()),
            experts="experts" in set(table["part"]),
        )
    return words.forward(
        tokens=sizes.tokens,
        target_tokens=sizes.target_tokens,
        of_text=subject.given is None,
        parameters=int(sums["parameters"].sum()),
        flops=int(sums["flops"].sum()),
        against=against,
        closed=closed,
    )


def without_pairs(config: Any, *, tokens: int, target_tokens: int) -> int:
    """Count the FLOPs of linear attention without pairs, phi(Q) (phi(K)^T V); 0 for a model with another weighting.

    In each head 2 d_k^2 for each key, and 2 d_k^2 + 2 d_k for each query.
    """
    if not isinstance(config, TransformerConfig) or config.weighting != "linear":
        return 0
    sites = [(config.layers, tokens, tokens)]
    if config.shape == "encoder-decoder":
        sites += [(config.decoder_depth, target_tokens, target_tokens), (config.decoder_depth, target_tokens, tokens)]
    width = config.head_width
    return sum(
        layers * config.heads * (2 * keys * width**2 + queries * (2 * width**2 + 2 * width))
        for layers, queries, keys in sites
    )


BARS = Section("timed", "", _timed, (counts.KERNEL,), about="configuration")
MILLISECONDS = Section(
    "milliseconds",
    words.BY_COMPONENT.format(words.VALUES["milliseconds"]),
    _milliseconds,
    about="configuration",
    parts=(BARS,),
)
SECTION = Section(
    "opening",
    words.OPENING,
    answer,
    (counts.STREAM, counts.COUNTED),
    about="configuration",
    waits=words.COUNTING,
    parts=(derived.PART, MILLISECONDS),
)
