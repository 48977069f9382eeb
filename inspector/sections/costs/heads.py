"""More heads or fewer: the products cost the same, the softmax and the time do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from inspector.costs import clock, clocked
from inspector.costs.heads import AttentionLayer, attention_layer
from inspector.sections.costs import counts
from inspector.sections.picks import Option
from inspector.sections.section import Block, Figure, Measurement, Note, Number, Numbers, Paragraph, Section, Sentence
from inspector.text import quantity
from inspector.wording import costs as words

if TYPE_CHECKING:
    from inspector.costs.clock import LayerTimes
    from inspector.sections.subject import Subject

Found = dict[int, "LayerTimes"]


def answer(subject: Subject, *, with_heads: str) -> Iterator[Block]:
    """Yield what another number of heads changes in one layer."""
    heads, tokens = int(with_heads), subject.configuration.tokens
    layer = attention_layer(subject.configuration.config)
    cost, of_one = layer.with_heads(heads, tokens=tokens), layer.with_heads(1, tokens=tokens)
    yield Sentence(words.more_heads(heads, softmax=cost.softmax / of_one.softmax), ("head",))
    yield Numbers(
        (
            Number(words.HEAD_WIDTH, f"{cost.head_width:,}", words.HEAD_WIDTH_MEANS.format(layer.width, heads)),
            Number(words.VALUES["parameters"], quantity(cost.parameters), words.PARAMETERS_MEAN),
            Number(words.PAIRS, quantity(cost.products, "FLOP"), words.PAIRS_MEAN),
            Number(words.SOFTMAX, quantity(cost.softmax, "FLOP"), words.SOFTMAX_MEANS),
        ),
        of=words.IN_A_LAYER,
        heading=words.MORE_HEADS,
    )
    yield Note(
        words.heads(
            heads=heads,
            width=layer.width,
            tokens=tokens,
            head_width=cost.head_width,
            parameters=cost.parameters,
            projections=cost.projections,
            products=cost.products,
            softmax=cost.softmax,
            of_one=of_one.softmax,
        )
    )
    yield _timed(layer, heads, tokens=tokens)


def _timed(layer: AttentionLayer, heads: int, *, tokens: int) -> Measurement:
    """Offer the clock on one layer's maps by the number of heads."""
    compared = layer.compared(heads)

    def work(on_progress: Callable[[int, int], object], so_far: Callable[[Found], object]) -> Found:
        def two(found: Found) -> None:
            if len(found) > 1:  # one number of heads is no comparison
                so_far(found)

        return clock.measure_heads(layer.width, compared, tokens=tokens, on_progress=on_progress, on_heads=two)

    def told(measured: Found) -> Iterator[Block]:
        table = clocked.by_heads(measured)
        yield Paragraph(words.heads_timed(table, tokens=tokens))
        code = (
            "from inspector.costs import clock, clocked\n\n"
            f"measured = clock.measure_heads({layer.width}, {compared}, tokens={tokens})\n"
            "table = clocked.by_heads(measured)"
        )
        chart = counts.milliseconds(table, "heads", x_title=words.IN_HEADS, title=words.BY_HEADS)
        yield Figure("by-heads", "", chart, words.BY_HEADS_ALT, code, table)

    key = ("heads", layer.width, tuple(compared), tokens)
    return Measurement("measure-heads", key, work, words.measures_heads(compared, tokens=tokens), told)


def _layer(subject: Subject) -> AttentionLayer | None:
    try:
        return attention_layer(subject.configuration.config)
    except ValueError:  # the section says why
        return None


def _options(subject: Subject) -> dict[str, str]:
    layer = _layer(subject)
    return {"1": "1"} if layer is None else {str(heads): str(heads) for heads in layer.divisors}


def _own(subject: Subject) -> str:
    layer = _layer(subject)
    return "1" if layer is None else str(layer.heads)


SECTION = Section(
    "heads",
    words.HEADS,
    answer,
    (Option("with_heads", words.WITH_HEADS, _options, _own, look="slider", width=420),),
    about="configuration",
    waits=words.COUNTING,
)
