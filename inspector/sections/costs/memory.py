"""Memory and steps: the KV cache, one token more with it and without, and a training step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspector import costs
from inspector.costs.kv_cache import shared
from inspector.plots import costs as draw
from inspector.sections.costs import counts
from inspector.sections.section import Block, Figure, Note, Number, Numbers, Paragraph, Section
from inspector.text import number, plain, quantity
from inspector.wording import costs as words
from models import failures

if TYPE_CHECKING:
    from inspector.costs.clock import Kernel
    from inspector.costs.counted.counting import CountedCosts
    from inspector.costs.kv_cache import CacheSizes
    from inspector.sections.subject import Subject

HALF = 2  # bytes of a number as models are run


def answer(subject: Subject) -> Iterator[Block]:
    """Yield the cache, a step with it and without, and what a training step takes."""
    counted = counts.counted(subject)
    try:
        cache = costs.kv_cache(subject.configuration.config)
    except ValueError as error:
        yield Paragraph(words.NO_CACHE.format(plain(str(error).rstrip("."))), words.CACHE)
    else:
        yield from _cache(subject, cache, both=counted.shape == "encoder-decoder")
    yield from _step(subject, counted)
    yield from _training(subject, counted)


def _cache(subject: Subject, cache: CacheSizes, *, both: bool) -> Iterator[Block]:
    source, target = subject.configuration.lengths
    of_source = source if both else 0
    name, means = words.cached(target, source if both else None)
    yield Numbers(
        (
            Number(words.TOKEN, f"{cache.token_bytes(HALF):,} B", words.TOKEN_MEANS),
            Number(name, quantity(cache.bytes(target, source=source, element_bytes=HALF), "B"), means),
            Number(words.SHARED, words.SHARINGS[cache.sharing], words.SHARED_MEANS.format(cache.heads, cache.kv_heads)),
        ),
        heading=words.CACHE,
    )
    yield Note(
        words.cache_per_token(
            layers=len(cache.layers),
            numbers=sorted({layer.numbers for layer in cache.layers}),
            size=HALF,
            token=cache.token_bytes(HALF),
            latent=cache.sharing == "MLA",
            source=both,
            window=min((layer.window for layer in cache.layers if layer.window is not None), default=None),
        )
    )
    if cache.sharing == "MLA" or cache.heads == 1:
        return
    table = shared(cache, tokens=target, source=of_source)
    yield Figure(
        "sharing",
        "",
        draw.sharing(table, names=words.ways(list(table["kv_heads"]))),
        words.SHARING_ALT,
        f"{counts.code(subject)}from inspector.costs.kv_cache import shared\n\n"
        f"table = shared(inspector.costs.kv_cache(config), tokens={target}, source={of_source})",
        table,
    )


def _step(subject: Subject, counted: CountedCosts) -> Iterator[Block]:
    sizes = subject.configuration
    source, target = sizes.lengths
    step = counted.step(tokens=source, target_tokens=sizes.target_tokens)
    if step is None:
        yield Paragraph(words.NO_STEP, words.STEP)
        return
    both = counted.shape == "encoder-decoder"
    again = counted.table(tokens=source, target_tokens=target + 1) if both else counted.table(tokens=target + 1)
    again = again[again["stream"] != "encoder"]  # the source is encoded once, with a cache and without
    cached, whole = int(step["flops"].sum()), int(again["flops"].sum())
    yield Numbers(
        (
            Number(words.WITH_CACHE, quantity(cached, "FLOP"), words.with_cache(target, both=both)),
            Number(words.WITHOUT_CACHE, quantity(whole, "FLOP"), words.without_cache(target, both=both)),
            Number(words.RATIO, number(whole / cached), words.RATIO_MEANS),
        ),
        heading=words.STEP,
    )
    yield Note(words.steps(both=both))


def _training(subject: Subject, counted: CountedCosts) -> Iterator[Block]:
    sizes = subject.configuration
    source, target = sizes.lengths
    (forward,) = counted.total([sizes.tokens if sizes.target_tokens is None else sizes.lengths])
    step = costs.training_step(forward, counted.parameters)
    over = words.forward_means(source, target if counted.shape == "encoder-decoder" else None)
    kept, unknown = [], {}
    for kernel, (name, means) in words.ACTIVATIONS.items():
        try:
            kept.append(Number(name, quantity(_activations(subject, kernel), "B"), means))
        except ValueError as error:
            unknown[name] = plain(str(error).rstrip("."))
    yield Numbers(
        (
            Number(words.FORWARD, quantity(step.forward, "FLOP"), over),
            Number(words.BACKWARD, quantity(step.backward, "FLOP"), words.BACKWARD_MEANS),
            Number(words.WEIGHTS, quantity(step.weights, "B"), words.WEIGHTS_MEANS.format(counted.parameters)),
            Number(words.GRADIENTS, quantity(step.gradients, "B"), words.GRADIENTS_MEANS),
            Number(words.OPTIMIZER, quantity(step.optimizer, "B"), words.OPTIMIZER_MEANS),
            *kept,
        ),
        heading=words.TRAINING,
    )
    yield Note(words.activations(unknown))


def _activations(subject: Subject, kernel: Kernel) -> int:
    """Count the bytes that a kernel of attention keeps for a backward; ValueError where they are not known."""
    sizes = subject.configuration
    source, target = sizes.lengths

    def make() -> int | str:
        try:
            with failures.told(words.COUNTING_ACTIVATIONS, instead=words.SHORTER):
                return costs.saved_bytes(sizes.config, tokens=source, target_tokens=target, kernel=kernel)
        except ValueError as error:
            return str(error)

    found = subject.of_all(("activations", sizes.key, sizes.lengths, kernel), make)
    if isinstance(found, str):
        raise ValueError(found)
    return found


SECTION = Section("memory", words.MEMORY, answer, about="configuration", waits=words.COUNTING)
