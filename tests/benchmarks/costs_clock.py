"""Time a BERT layer's attention against its FFN at several lengths, eager and SDPA, beside what FLOPs predict.

Prints the ratios attention / FFN, the lengths at which they pass 1, and GFLOP/s of each part. CPU time of one thread.

    python -m tests.benchmarks.costs_clock [tokens ...]
"""

from __future__ import annotations

import sys

import torch

import models
from inspector.costs.clock import LayerShape, LayerTimes, layer_shape, measure_shape

BASE = LayerShape(width=768, heads=12, kv_heads=12, head_width=64, ffn_width=3072, gated=False)


def main(lengths: list[int]) -> None:
    torch.set_num_threads(1)
    for name, shape in (("bundled BERT", layer_shape(models.load("minilm").config)), ("BERT base", BASE)):
        report(name, measure_shape(shape, lengths, repeats=3, most_bytes=4 * 10**9))


def report(name: str, found: LayerTimes) -> None:
    shape = found.shape
    print(
        f"{name}: width {shape.width}, {shape.heads} heads, FFN {shape.ffn_width}; {found.clock}, {found.repeats} runs"
    )
    flops = found.table.pivot_table(index="tokens", columns="part", values="flops")
    counted = (flops[["projections", "scores", "mix"]].sum(axis=1) / flops["ffn"]).to_dict()
    eager, sdpa = found.ratios("eager"), found.ratios("sdpa")
    print("  tokens   counted     eager      SDPA   (attention / FFN)")
    for tokens in eager:
        print(f"  {tokens:6,} {counted[tokens]:9.2f} {eager[tokens]:9.2f} {sdpa[tokens]:9.2f}")
    print(f"  crossover: counted {told(found.counted)}, eager {told(found.crossover('eager'))}, ", end="")
    print(f"SDPA {told(found.crossover('sdpa'))} tokens")
    rates = found.table.assign(rate=found.table["flops"] / found.table["seconds"] / 1e9)
    print("  GFLOP/s:")
    print(rates.pivot_table(index="tokens", columns="part", values="rate").round(1).to_string())


def told(length: float | None) -> str:
    return "beyond the longest" if length is None else f"{length:,.0f}"


if __name__ == "__main__":
    main([int(one) for one in sys.argv[1:]] or [128, 256, 512, 768, 1024, 1536])
