"""Memory of a recording, and of maps asked for afterwards, in a model of ModernBERT's shape.

    python tests/benchmarks/memory.py [--longest 8192]

Each size runs in three processes of its own, of which the medians are printed. Their allocator gives freed memory back
at once: how much glibc keeps for itself otherwise differs from run to run by as much as a recording needs. "as glibc
keeps it" is the same peak with its defaults. Peak is the kernel's own: the process' high-water mark of resident memory
(VmHWM, reset after the model was loaded and a short text recorded) less what it held then. Kept is what a Trace says it
holds. 12 layers (4 global, 8 local with a window of 128), 12 heads of 8 features: so narrow that heads x n x n are
far more than all else. Targets: the peak of a recording grows at most 2.2x as the text doubles.

"all maps" is what 12 layers of maps take in float32, computed; eager with output_attentions is measured where they take
at most 2 GB. n = 8192 has no target on its peak: there a head, a window of it and the grid of all heads are timed.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

LAYERS, HEADS, HEAD_WIDTH = 12, 12, 8
SIZES = (1024, 2048, 4096, 8192)
MOST_MAPS = 2 * 2**30  # bytes; above it eager attention is not run
MB = 1e6
RUNS = 3
GIVE_BACK = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_TOP_PAD_": "0"}


def status(name: str) -> int:
    """A number of /proc/self/status, in bytes."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(lines[name].split()[0])


def peak(call: Callable[[], object]) -> tuple[object, int, float]:
    """Call, and return the result, the most bytes that the process held above those it held before, and CPU seconds."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # freed memory goes back, or the call would use it unseen
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts again from here
    before, start = status("VmRSS"), time.process_time()
    result = call()
    return result, status("VmHWM") - before, time.process_time() - start


def measure(folder: str, tokens: int, side: str) -> dict[str, float]:
    """Peaks in bytes and CPU seconds by name, in this process."""
    import modern_bert
    import torch
    from transformers import AutoModel

    import models
    from inspector import heads, maps, record
    from inspector.components import grid

    torch.set_num_threads(1)
    text = modern_bert.text(tokens)
    if side == "eager":
        model = AutoModel.from_pretrained(folder, attn_implementation="eager", use_safetensors=True).eval()
        ids = torch.full((1, tokens), 1037)

        def run(ids: torch.Tensor) -> object:
            with torch.inference_mode():
                return model(ids, output_attentions=True)

        run(ids[:, :64])
        _, most, seconds = peak(lambda: run(ids))
        return {"eager": most, "eager seconds": seconds}

    loaded = models.load(folder)
    record(loaded, modern_bert.text(64)).pooled(layer=0, side=24)
    trace, most, seconds = peak(lambda: record(loaded, text))
    found = {"record": most, "record seconds": seconds, "kept": trace.nbytes}
    if side == "record alone":
        return found
    middle = slice(tokens // 2, tokens // 2 + 512)
    shown = maps.arrange(trace)
    side_cells = grid.side(LAYERS, HEADS)
    later: dict[str, Callable[[], object]] = {
        "window": lambda: trace.window(layer=3, head=5, queries=middle, keys=middle),
        "local window": lambda: trace.window(layer=1, head=5, queries=middle, keys=middle),
        "head": lambda: trace.attention(layer=3, head=5),
        "local head": lambda: trace.attention(layer=1, head=5),
        "grid": lambda: [
            maps.pooled(trace, shown, layer=layer, stream="encoder", side=side_cells) for layer in range(LAYERS)
        ],
        "measures": lambda: heads.measure(trace),
    }
    for name, call in later.items():
        _, found[name], found[f"{name} seconds"] = peak(call)
    return found


def in_a_process(folder: str, tokens: int, side: str, *, settings: Mapping[str, str] = GIVE_BACK) -> dict[str, float]:
    command = [sys.executable, __file__, "--folder", folder, "--tokens", str(tokens), "--side", side]
    environment = {**os.environ, **settings}
    out = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    found: dict[str, float] = json.loads(out.splitlines()[-1])
    return found


def table(folder: str, longest: int) -> None:
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; peaks above the loaded model, MB")
    before: dict[str, float] = {}
    for tokens in (size for size in SIZES if size <= longest):
        runs = [in_a_process(folder, tokens, "record") for _ in range(RUNS)]
        found = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
        every = LAYERS * HEADS * tokens * tokens * 4
        if every <= MOST_MAPS:
            found |= in_a_process(folder, tokens, "eager")
        print(f"n={tokens}: all maps {every / MB:.0f} MB", end="")
        print(f", eager's peak {found['eager'] / MB:.0f} MB" if "eager" in found else ", eager not run")
        kept_by_glibc = [in_a_process(folder, tokens, "record alone", settings={})["record"] / MB for _ in range(RUNS)]
        print(f"  kept {found['kept'] / MB:.1f} MB; record's peak as glibc keeps it", end="")
        print(f" {', '.join(f'{peak:.0f}' for peak in sorted(kept_by_glibc))} MB")
        for name in (name for name in found if f"{name} seconds" in found):
            growth = f", {found[name] / before[name]:.2f}x" if before.get(name) else ""
            print(f"  {name}: peak {found[name] / MB:.1f} MB{growth}, {found[f'{name} seconds']:.2f} s CPU")
        if before:
            ratio = found["record"] / before["record"]
            print(f"  record's peak per doubling {ratio:.2f}x, target 2.2: {'met' if ratio <= 2.2 else 'MISSED'}")
        before = found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--longest", type=int, default=SIZES[-1], help="tokens of the longest text")
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--tokens", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--side", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.folder:
        print(json.dumps(measure(arguments.folder, arguments.tokens, arguments.side)))
        return
    with TemporaryDirectory() as folder:
        import modern_bert

        modern_bert.save(Path(folder), layers=LAYERS, heads=HEADS, head_width=HEAD_WIDTH)
        table(folder, arguments.longest)


if __name__ == "__main__":
    main()
