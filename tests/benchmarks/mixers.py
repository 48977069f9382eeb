"""The cost of recording a hybrid, beside its plain forward: a tiny Qwen3-Next, at 512 tokens.

`python -m tests.benchmarks.mixers` prints medians of turns taken one after the other, and their ratio.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import torch

from inspector.probe.recording import record_inputs
from tests.inspector.probe.hybrids import larger_hybrid, of_length

TOKENS, TURNS = 512, 15


def main() -> None:
    """Print what a recording takes beside a forward that nothing watches."""
    torch.set_num_threads(1)
    with TemporaryDirectory() as folder:
        loaded = larger_hybrid(Path(folder))
    inputs = of_length(TOKENS)
    ids = torch.tensor([inputs.encoding.ids])
    keep, segments = torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids)
    plain, watched = [], []
    for _ in range(TURNS):
        started = perf_counter()
        with torch.inference_mode():
            loaded.run(ids, keep, segments)
        between = perf_counter()
        trace = record_inputs(loaded, inputs, text="")
        plain.append(between - started)
        watched.append(perf_counter() - between)
    print(f"forward {median(plain) * 1e3:.0f} ms, recording {median(watched) * 1e3:.0f} ms")
    print(f"ratio {median(watched) / median(plain):.2f}, {len(trace.mixers)} mixers, {len(trace.sites)} attentions")
    started = perf_counter()
    for site in trace.mixer_sites:
        trace.mixer(layer=site.layer).pooled(side=64)
    print(f"pictures of all maps of all mixers {(perf_counter() - started) * 1e3:.0f} ms")
    started = perf_counter()
    for site in trace.sites:
        trace.pooled(layer=site.layer, side=64)
    print(f"pictures of all maps of all attentions {(perf_counter() - started) * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
