"""Counts of a configuration, made once: what all sections of the page Costs start from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector import costs
from inspector.costs import clock
from inspector.plots.chart import Chart
from inspector.sections.picks import Option
from inspector.sections.section import Block, Measurement
from inspector.wording import costs as words
from models import failures

if TYPE_CHECKING:
    import pandas as pd

    from inspector.costs import Crossovers
    from inspector.costs.clock import LayerShape, LayerTimes
    from inspector.costs.counted.counting import CountedCosts
    from inspector.costs.kv_cache import CacheSizes
    from inspector.sections.subject import Configuration, Subject


@dataclass(frozen=True, eq=False)
class Costs:
    """The table of costs at the text's length, and where attention costs as much as the FFN.

    crossovers: None where no polynomial was found. closed: whether the table comes from closed formulas.
    """

    table: pd.DataFrame
    crossovers: Crossovers | None
    closed: bool


def of(subject: Subject) -> Costs:
    """Give the costs by closed formulas, else as they are counted; ValueError where neither can be."""
    sizes = subject.configuration
    return subject.of_all(("costs table", sizes.key, sizes.lengths), lambda: _costs(subject))


def _costs(subject: Subject) -> Costs:
    sizes = subject.configuration
    try:
        table = costs.breakdown(sizes.config, tokens=sizes.tokens, target_tokens=sizes.target_tokens)
        return Costs(table, costs.crossovers(sizes.config), closed=True)
    except ValueError:  # a model without closed formulas
        model = counted(subject)
    table = model.table(tokens=sizes.tokens, target_tokens=sizes.target_tokens)
    return Costs(table, None if model.formula is None else costs.crossings(model), closed=False)


def counted(subject: Subject, sizes: Configuration | None = None) -> CountedCosts:
    """Count what the model's own code multiplies; sizes: of another model. ValueError where it cannot be counted."""
    sizes = subject.configuration if sizes is None else sizes

    def make() -> CountedCosts:
        told = failures.told(words.COUNTING_MODEL, instead=words.ANOTHER_MODEL)
        with told, subject.progress(words.COUNTING_MODEL, unit=words.COUNTED_LENGTH) as on_progress:
            return costs.count(sizes.config, on_progress=on_progress)

    return subject.of_all(("costs", sizes.key), make)


def cache(sizes: Configuration) -> CacheSizes | None:
    """Derive the KV cache; None for an encoder, which keeps none."""
    try:
        return costs.kv_cache(sizes.config)
    except ValueError:
        return None


def code(subject: Subject) -> str:
    """Write the Python lines after which `config` is there."""
    return f"import inspector, models\n\n{subject.configuration.code}\n"


def table_code(subject: Subject) -> str:
    """Write the Python lines that give the table of costs."""
    sizes, target = subject.configuration, ""
    if sizes.target_tokens is not None:
        target = f", target_tokens={sizes.target_tokens}"
    call = "breakdown(config, " if of(subject).closed else "count(config).table("
    return f"{code(subject)}table = inspector.costs.{call}tokens={sizes.tokens}{target})"


# --- what is looked at ------------------------------------------------------------------------------------------------


def values(subject: Subject) -> dict[str, str]:
    """List what can be counted of the model, id -> words."""
    try:
        found = of(subject)
    except ValueError:  # the section says why
        return {"flops": words.VALUES["flops"]}
    table = found.table
    return {
        value: name
        for value, name in words.VALUES.items()
        if value in ("flops", "milliseconds") or (value in table and (found.closed or table[value].any()))
    }


def streams(subject: Subject) -> dict[str, str]:
    """List the streams that cost something."""
    try:
        return {stream: stream for stream in dict.fromkeys(of(subject).table["stream"])}
    except ValueError:  # the section says why
        return {"": ""}


STREAM = Option("stream", words.STREAM, streams)
COUNTED = Option("counted", words.COUNTED, values, default=lambda subject: "flops", look="list", width=220)
KERNEL = Option("kernel", words.KERNEL, lambda subject: words.KERNELS)


# --- the clock --------------------------------------------------------------------------------------------------------


def layer_shape(subject: Subject) -> LayerShape:
    """Read the shape of the first layer; ValueError for one with other parts than the clock times."""
    sizes = subject.configuration
    with failures.told(words.LAYER_SHAPE, instead=words.OTHER_MODEL):
        return subject.of_all(("layer shape", sizes.key), lambda: clock.layer_shape(sizes.config))


def measurement(
    subject: Subject, lengths: Sequence[int], *, id: str, answer: Callable[[LayerTimes], Iterator[Block]]
) -> Measurement:
    """Offer the clock on one layer at these lengths; ValueError for a layer that it does not time."""
    shape = layer_shape(subject)
    tensor = None if subject.loaded is None else next(subject.loaded.network.parameters())

    def work(on_progress: Callable[[int, int], object], so_far: Callable[[LayerTimes], object]) -> LayerTimes:
        return clock.measure_shape(
            shape,
            lengths,
            dtype=None if tensor is None else tensor.dtype,
            device="cpu" if tensor is None else tensor.device,
            on_progress=on_progress,
            on_turn=so_far,
        )

    return Measurement(id, clock_key(subject, lengths), work, words.measures(lengths), answer)


def clock_key(subject: Subject, lengths: Sequence[int]) -> Hashable:
    """Tell what the clock measures apart."""
    return subject.configuration.key, tuple(lengths)


def measured(subject: Subject) -> LayerTimes | None:
    """Give what the clock found at the text's length; None where it did not run."""
    found: LayerTimes | None = subject.measured(clock_key(subject, (subject.configuration.tokens,)))
    return found


def measure_code(subject: Subject, lengths: Sequence[int]) -> str:
    """Write the Python lines that measure the same."""
    if subject.loaded is None:
        call = f"clock.measure_shape(clock.layer_shape(config), {list(lengths)})"
    else:
        call = f"inspector.costs.measure(models.load({subject.loaded.card.id!r}), {list(lengths)})"
    return f"{code(subject)}from inspector.costs import clock, clocked\n\nmeasured = {call}\n"


def milliseconds(times: pd.DataFrame, x: str, *, x_title: str, title: str) -> Chart:
    """Draw seconds of `clocked` as lines along the column x, a line for each other column."""
    rows = times.melt(x, var_name="run", value_name="seconds")
    return Chart(
        rows.assign(milliseconds=1000 * rows["seconds"]),
        x,
        "milliseconds",
        by="run",
        names=words.RUNS,
        parts={"eager": "attention", "sdpa": "attention", "ffn": "ffn"},
        styles={"eager": 1},
        x_title=x_title,
        y_title=words.IN_MILLISECONDS,
        title=title,
        ticks={length: f"{length:,}" for length in times[x]},
        x_log=True,
        y_log=True,
        height=400,
    )
