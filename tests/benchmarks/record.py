"""`inspector.record` against the ways to see, or not to see, a model's attention.

    python tests/benchmarks/record.py [--transformer-lens FOLDER] [--beside FOLDER] [--share 0.2]

eager: `model(..., output_attentions=True)` with eager attention, which keeps all maps.
SDPA: a plain forward of the same model in torch's fused attention, which shows none.
TransformerLens: `run_with_cache` of the same BERT, of all that it caches and of its attention patterns alone; it runs
without the language head that it asks for. No requirement of this project, it comes from a folder beside it:
    pip install --target FOLDER transformer-lens
--beside: `record` of another checkout (`git worktree add FOLDER COMMIT`), in a process of its own, in turn with this
one's, which runs in such a process too, both with the page's setting of freed memory (it is kept for the next block:
without that, what a recording keeps decides whether glibc gives pages back). Nothing else is compared then.

One torch thread, CPU time; tokenising on all sides; the sides in turn within one run, so that a noisy machine slows all
of them. Prints the median of each round's ratios: record / eager and record / SDPA, and beside them SDPA / eager, what
the fused kernel saves by itself, and `record(..., fused=True)` / eager. Targets: record / eager <= 1.40 at 16 tokens,
<= 1.15 at 128, <= 0.88 at 512 (MiniLM), <= 0.8 at 2048 (12 layers of ModernBERT's shape); TransformerLens < 1.
docs/exactness.md has the medians of three runs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ["HF_HUB_OFFLINE"] = "1"

import modern_bert
import torch
from torch import Tensor
from transformers import AutoModel, BertForMaskedLM

import models
from inspector import record
from models import fetch

ROOT = Path(__file__).parents[2]
Side = Callable[[Mapping[str, Tensor]], object]


@dataclass(frozen=True)
class Case:
    """A text of so many tokens in one model. targets: side -> the most that record / side may be."""

    model: str
    tokens: int
    rounds: int
    targets: Mapping[str, float] = field(default_factory=dict)


LENS = {"TransformerLens": 1.0, "TransformerLens, patterns": 1.0}
CASES = [
    Case("MiniLM", 16, 40, {"eager": 1.40}),
    Case("MiniLM", 128, 40, {"eager": 1.15, **LENS}),
    Case("MiniLM", 512, 20, {"eager": 0.88, **LENS}),
    Case("ModernBERT's shape", 2048, 6, {"eager": 0.8}),
]


def transformer(folder: str, implementation: str) -> Side:
    """A forward of transformers' own model; with eager attention it hands out all maps."""
    model: Any = AutoModel.from_pretrained(folder, attn_implementation=implementation, use_safetensors=True).eval()
    return lambda inputs: model(**inputs, output_attentions=implementation == "eager")


def transformer_lens(packages: str | None, folder: str, tokenizer: Any) -> dict[str, Side]:
    """TransformerLens on the weights of a BERT; nothing, and a sentence, where it is not there."""
    if packages is None:
        print("TransformerLens is left out: install it beside this project and name its folder, see --help")
        return {}
    sys.path.append(packages)  # behind this project's own packages: both sides run on the same torch
    try:
        from transformer_lens import TransformerBridge
    except ImportError as error:
        print(f"TransformerLens is left out: it cannot be imported from {packages} ({error})")
        return {}
    model: Any = BertForMaskedLM.from_pretrained(folder, attn_implementation="eager").eval()
    lens = TransformerBridge.boot_transformers(folder, hf_model=model, tokenizer=tokenizer)
    model.cls.forward = lambda hidden: hidden  # MiniLM has no such head, and the other sides run none

    def run(inputs: Mapping[str, Tensor], **chosen: Any) -> object:
        rest = {name: value for name, value in inputs.items() if name != "input_ids"}
        return lens.run_with_cache(inputs["input_ids"], **rest, **chosen)

    patterns = [f"blocks.{layer}.attn.hook_pattern" for layer in range(model.config.num_hidden_layers)]
    return {"TransformerLens": run, "TransformerLens, patterns": lambda inputs: run(inputs, names_filter=patterns)}


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def measure(case: Case, loaded: models.LoadedModel, sides: Mapping[str, Side], rounds: int) -> None:
    text = modern_bert.text(case.tokens)

    def through(side: Side) -> Callable[[], object]:
        def run() -> object:
            inputs = loaded.tokenizer(text, return_tensors="pt", truncation=True, max_length=case.tokens)
            with torch.inference_mode():
                return side(inputs)

        return run

    calls: dict[str, Callable[[], object]] = {
        "record": lambda: record(loaded, text),
        "record, fused": lambda: record(loaded, text, fused=True),
        **{name: through(side) for name, side in sides.items()},
    }
    for call in calls.values():
        call()
    times = [{name: seconds(call) for name, call in calls.items()} for _ in range(rounds)]
    middle = {name: 1000 * statistics.median(one[name] for one in times) for name in calls}
    print(f"{case.model}, n={case.tokens}, {rounds} rounds: record {middle['record']:.1f} ms")
    for name in sides:
        ratio = statistics.median(one["record"] / one[name] for one in times)
        most = case.targets.get(name)
        goal = "" if most is None else f", target {most}: {'met' if ratio <= most else 'MISSED'}"
        print(f"  against {name} {middle[name]:.1f} ms: {ratio:.3f}x{goal}")
    for name in ("record, fused", "SDPA"):
        print(f"  {name} against eager: {statistics.median(one[name] / one['eager'] for one in times):.3f}x")


KEPT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 * 2**20), "MALLOC_TRIM_THRESHOLD_": str(256 * 2**20)}
"""The numbers of inspector/views/server/process_settings.py, which another checkout may have elsewhere."""
WORKER = """
import sys, time
sys.path.insert(0, sys.argv[1])
import torch
torch.set_num_threads(1)
import models
from inspector import record
loaded, text = models.load(sys.argv[2]), sys.argv[3]
record(loaded, text)
print(flush=True)
for _ in sys.stdin:
    start = time.process_time()
    record(loaded, text)
    print(time.process_time() - start, flush=True)
"""


def compare(case: Case, place: str, beside: Path, rounds: int) -> None:
    """Record a text in this checkout and in another one, in turn, each in its own process."""
    with ExitStack() as stack:
        workers = []
        for root in (ROOT, beside.resolve()):
            command = [sys.executable, "-c", WORKER, str(root), place, modern_bert.text(case.tokens)]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": root}
            workers.append(stack.enter_context(subprocess.Popen(command, env=os.environ | KEPT_MEMORY, **pipes)))
        for worker in workers:
            worker.stdout.readline()

        def turn(worker: Any) -> float:
            worker.stdin.write("\n")
            worker.stdin.flush()
            return float(worker.stdout.readline())

        times = [[turn(worker) for worker in workers] for _ in range(rounds)]
        for worker in workers:
            worker.stdin.close()
    here, there = (1000 * statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(one / other for one, other in times)
    print(f"{case.model}, n={case.tokens}, {rounds} rounds: record {here:.1f} ms, beside {there:.1f} ms: {ratio:.3f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transformer-lens", metavar="FOLDER", help="where TransformerLens was installed to")
    parser.add_argument("--beside", metavar="FOLDER", type=Path, help="another checkout, to compare with alone")
    parser.add_argument("--share", type=float, default=1.0, help="of the rounds, for a first look")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}; load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with TemporaryDirectory() as folder:
        modern_bert.save(Path(folder))
        for name, place in {"MiniLM": fetch.folder("minilm"), "ModernBERT's shape": folder}.items():
            if arguments.beside is not None:
                for case in CASES:
                    if case.model == name:
                        compare(case, place, arguments.beside, max(1, round(case.rounds * arguments.share)))
                continue
            loaded = models.load(place)
            sides = {"eager": transformer(place, "eager"), "SDPA": transformer(place, "sdpa")}
            if name == "MiniLM":
                sides |= transformer_lens(arguments.transformer_lens, place, loaded.tokenizer)
            for case in CASES:
                if case.model == name:
                    measure(case, loaded, sides, max(1, round(case.rounds * arguments.share)))


if __name__ == "__main__":
    main()
