"""Patch grids of SmolLM2 at 40 tokens: runs that begin at their layer, side by side, against whole forwards.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.patch_grids

Printed: seconds of every head of four layers with reuse and without, and the estimate for all; of a layer's FFN at each
token; and of one cut edge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import models
from inspector import patching
from inspector.patching import EdgeCut, Pair, Reader
from inspector.writers import Writer

BEGIN = "In the old town by the sea two friends were working in a small shop that sold books and maps. "
CLEAN, CORRUPTED = (f"{BEGIN}When Mary and John went to the store, {name} gave a drink to" for name in ("John", "Mary"))
LAYERS = (0, 10, 20, 29)


def seconds(work: Callable[[], object]) -> float:
    """Time a work once."""
    begun = perf_counter()
    work()
    return perf_counter() - begun


def main() -> None:
    """Print the table."""
    loaded = models.load("smollm2")
    both = patching.pair(loaded, CLEAN, CORRUPTED, answer="Mary", against="John")
    prepared = seconds(lambda: both.runs("corrupted"))
    plain = Pair(loaded, both.clean, both.corrupted, both.answer)
    for name in ("kept_clean", "kept_corrupted"):
        plain.__dict__[name] = replace(getattr(both, name), resumes=False, window=None)
    print(
        f"{len(both.clean.tokens)} tokens, the first that differs is {both.differing[0]}; prepared in {prepared:.1f} s"
    )
    print(
        f"a whole forward: {both.kept_clean.seconds:.3f} s; all heads by estimate: {patching.estimate(both, 'heads')}"
    )
    print("layer   heads with reuse   whole forwards   ratio   largest difference of a value")
    for layer in LAYERS:
        tables = {}
        times = [
            seconds(lambda name=name, of=of: tables.update({name: patching.patch_heads(of, layers=[layer])}))  # type: ignore[misc]  # noqa: B023
            for name, of in (("reuse", both), ("whole", plain))
        ]
        apart = float((tables["reuse"]["value"] - tables["whole"]["value"]).abs().max())
        print(f"{layer:5}   {times[0]:16.2f}   {times[1]:14.2f}   {times[1] / times[0]:5.1f}   {apart:.1e}")
    ffn = seconds(lambda: patching.patch_parts(both, parts=["ffn"], layers=[15]))
    print(f"the FFN of layer 15 at each token: {ffn:.2f} s")
    uncut = patching.read(loaded, both.clean, answer="Mary", against="John")
    writer = Writer("head", "decoder", 10, 0)
    patching.cut(uncut, [EdgeCut(writer, Reader("logit", "decoder"))])
    for reader in (Reader("query", "decoder", 20, 0), Reader("ffn", "decoder", 20), Reader("logit", "decoder")):
        took = seconds(lambda reader=reader: patching.cut(uncut, [EdgeCut(writer, reader)]))  # type: ignore[misc]
        print(f"a cut into {patching.read_by(reader)}: {took:.3f} s")


if __name__ == "__main__":
    main()
