"""Time and peak memory of norm-weighted attention and rollout, against the tensor of all contributions.

    python tests/benchmarks/flow.py

Each measurement runs in a process of its own, so that its peak is its own: what the process held at most, less what it
held before. The whole tensor [H, Q, T, D] is made only where it fits in 2 GB; else its size is what it would be.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
import torch

from inspector import Trace, flow
from inspector.trace import AttentionRecord, AttentionSite
from models.attention import DotProductAttention
from models.output_projection import OutputProjection, ProjectionPlace
from models.tokenizers import Encoding

HEADS, HEAD_WIDTH, WIDTH = 12, 64, 768  # BERT-base
LARGEST = 2 * 2**30


def layer(tokens: int) -> tuple[Trace, dict[ProjectionPlace, OutputProjection]]:
    """A recorded layer of random numbers."""
    torch.manual_seed(0)
    names = ("word",) * tokens
    site = AttentionSite("encoder", 0, HEADS, names, names)
    query, key, value = torch.randn(3, HEADS, tokens, HEAD_WIDTH)
    attention = AttentionRecord(site, DotProductAttention(HEAD_WIDTH**-0.5), query, key, value, None)
    encoding = Encoding((0,) * tokens, names, (0,) * tokens, (0,) * tokens, (False,) * tokens, 0)
    trace = Trace("random", "", None, encoding, (attention,), (), torch.zeros(tokens, WIDTH))
    return trace, {("encoder", 0): OutputProjection(torch.randn(HEADS, HEAD_WIDTH, WIDTH), None)}


def whole_tensor(trace: Trace, projections: dict[ProjectionPlace, OutputProjection]) -> None:
    vectors = trace.attentions[0].value.numpy() @ projections["encoder", 0, 0].weight.numpy()  # [H, T, D]
    np.linalg.norm((trace.attention(layer=0)[..., None] * vectors[:, None]).sum(axis=0), axis=-1)


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(what: str, tokens: int) -> None:
    """Print CPU seconds and how many MB the peak rose."""
    torch.set_num_threads(1)
    trace, projections = layer(tokens)
    calls = {
        "layer": lambda: flow.norm_weighted(trace, projections, layer=0),
        "head": lambda: flow.norm_weighted(trace, projections, layer=0, head=0),
        "rollout": lambda: flow.rollout(trace, token=tokens - 1),
        "whole": lambda: whole_tensor(trace, projections),
    }
    before, start = peak_mb(), time.process_time()
    calls[what]()
    print(f"{time.process_time() - start:.2f} s, {peak_mb() - before:.0f} MB", end="")


def main() -> None:
    for tokens in (128, 512, 2048):
        size = 4 * HEADS * tokens * tokens * WIDTH
        print(f"n={tokens}: a map {4 * tokens * tokens / 2**20:.1f} MB, the whole tensor {size / 2**20:,.0f} MB")
        for what in ("layer", "head", "rollout", "whole"):
            if what == "whole" and size > LARGEST:
                continue
            command = [sys.executable, __file__, what, str(tokens)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            print(f"  {what:8} {done.stdout}")


if __name__ == "__main__":
    measure(sys.argv[1], int(sys.argv[2])) if len(sys.argv) > 1 else main()
