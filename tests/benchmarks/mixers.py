"""The cost of recording a hybrid, beside its plain forward, and of its pictures: a tiny Qwen3-Next, at 512 tokens.

`python -m tests.benchmarks.mixers` prints medians of turns taken one after the other, and their ratios.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import torch

from inspector.probe.recording import record_inputs
from tests.inspector.probe.hybrids import larger_hybrid, of_length

TOKENS, TURNS, PICTURES = 512, 15, 5


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
    heads = {
        "mixers": sum(site.heads for site in trace.mixer_sites),
        "attentions": sum(site.heads for site in trace.sites),
    }
    taken: dict[str, list[float]] = {kind: [] for kind in heads}
    for _ in range(PICTURES):  # one after the other, so that a busy machine slows both
        for site in trace.mixer_sites:
            started = perf_counter()
            record = replace(trace.mixer(layer=site.layer))  # which remembers no check
            record.pooled(side=64)
            assert record.exact
            taken["mixers"].append(perf_counter() - started)
        for site in trace.sites:
            started = perf_counter()
            trace.pooled(layer=site.layer, side=64)
            taken["attentions"].append(perf_counter() - started)
    each = {kind: sum(times) / PICTURES / heads[kind] * 1e3 for kind, times in taken.items()}
    print("pictures, those of mixers with their check, ms a head:", ", ".join(f"{k} {v:.1f}" for k, v in each.items()))
    print(f"ratio {each['mixers'] / each['attentions']:.2f}")


if __name__ == "__main__":
    main()
