"""Growth with the text of every public function that takes a trace: CPU time, peak memory, hold of the interpreter.

    python tests/benchmarks/growth.py [--longest 2048] [--only NAME ...]

The model has MiniLM's shape, random weights and room for 2,048 tokens. Each size runs in a process of its own; a short
text warms each function up, and no function finds maps that another left in the cache. CPU time is of one thread, the
program's own and, apart, the kernel's, which hands out pages: an array above 32 MB gets new ones each time, a smaller
one those of the array before. Peak memory is the kernel's high-water mark above what the process held before the call;
hold is, at 512 tokens, the longest time between two ticks of a thread that wakes every millisecond. A function that
took more than 15 seconds is not run on the next size. Sections are those about a text that start by themselves, as in
a notebook.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

SIZES = (64, 128, 256, 512, 1024, 2048)
HELD_AT = 512  # tokens
LONGEST = 15.0  # seconds, above which the next size is left out
SQUARE, SURE = 4.4, 0.1  # the ratio of n^2 with a tenth for noise; seconds below which a ratio is noise
PAGES = ("layernorm", "block", "scores", "positions")
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "wanted", "milk", "from", "some", "big", "river", "bank"]
WHY = {
    "section scores/importance": "the model reads the text once for each token",
    "section scores/two_texts": "the model runs once for each head",
    "section scores/scissors": "the model runs once for each head",
}


def save(folder: Path) -> None:
    """Write a BERT of MiniLM's shape with room for the longest text."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertModel

    from models import fetch

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(fetch.folder("minilm"))
    tokenizer.model_max_length = SIZES[-1]
    sizes = {"hidden_size": 384, "intermediate_size": 1536, "num_hidden_layers": 6, "num_attention_heads": 12}
    BertModel(BertConfig(vocab_size=len(tokenizer), max_position_embeddings=SIZES[-1], **sizes)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def text(tokens: int, *, first: str = "a") -> str:
    return " ".join([first, *(WORDS[place * 5 % len(WORDS)] for place in range(tokens - 3))])


def functions(folder: str, tokens: int) -> dict[str, Callable[[], object]]:
    """Every function by name, ready to be called on texts of so many tokens."""
    import inspector
    import models
    from inspector import (
        compare,
        exactness,
        export,
        flow,
        head_distances,
        heads,
        lens,
        normalization,
        one_token,
        overview,
        record,
        record_batch,
        scores,
        sections,
        writers,
    )
    from inspector.components.grid import sides
    from inspector.sections import registry

    loaded = models.load(folder)
    a, b = (record(loaded, text(tokens, first=first)) for first in ("a", "the"))
    same, layers = record(loaded, a.text), range(len(a.sites))
    assert len(a.tokens) == tokens
    path = Path(folder) / f"{tokens}.npz"
    inspector.save(a, path)
    calls: dict[str, Callable[[], object]] = {
        "record": lambda: record(loaded, a.text),
        "record_batch of 2": lambda: record_batch(loaded, [a.text, b.text]),
        "hold": lambda: inspector.hold(loaded, a),
        "Trace.attention, all layers": lambda: [a.attention(layer=layer) for layer in layers],
        "Trace.scores, all layers": lambda: [a.scores(layer=layer) for layer in layers],
        "Trace.pooled, all layers": lambda: [a.pooled(layer=layer, side=24) for layer in layers],
        "overview.measure": lambda: overview.measure(a, sides=sides(a.sites)),
        "heads.measure": lambda: heads.measure(a),
        "normalization.statistics": lambda: normalization.statistics(a),
        "normalization.change": lambda: normalization.change(a),
        "normalization.direction": lambda: normalization.direction(a),
        "normalization.outliers": lambda: normalization.outliers(a),
        "exactness.check_norms": lambda: exactness.check_norms(a),
        "exactness.check_residual_stream": lambda: exactness.check_residual_stream(a),
        "lens.residual_stream": lambda: lens.residual_stream(a),
        "one_token.table": lambda: one_token.table(a, 8),
        "one_token.table, as a key": lambda: one_token.table(a, 8, side="gets"),
        "flow.rollout": lambda: flow.rollout(a, token=1),
        "head_distances.measure": lambda: head_distances.measure(a, stream="encoder"),
        "head_distances.between": lambda: head_distances.between(a, same),
        "compare.changed_heads": lambda: compare.changed_heads(a, b),
        "compare.moved": lambda: compare.moved(a, b),
        "scores.logits.measure": lambda: scores.logits.measure(a),
        "scores.ranks.measure": lambda: scores.ranks.measure(a, stream="encoder"),
        "scores.symmetry.measure": lambda: scores.symmetry.measure(a, stream="encoder"),
        "writers.of_score": lambda: writers.of_score(a, loaded, layer=layers[-1], head=7, query=tokens - 2, key=1),
        "export.html": lambda: export.html(a, layer=3, head=7),
        "show": lambda: inspector.show(a)._repr_html_(),
        "save": lambda: inspector.save(a, path),
        "open": lambda: inspector.open(path),
    }
    for address in PAGES:
        page = registry.sections(address)
        for section in (section for section in page.sections if not section.starts):
            need = page.need_of(section)
            if need is not None and not need.can(loaded):
                continue
            name = f"{address}/{section.id}"
            calls[f"section {name}"] = lambda name=name: list(sections.show(name, a, loaded=loaded).outputs())
    return calls


def held(call: Callable[[], object]) -> float:
    """The longest time in seconds for which a thread that wants to tick every millisecond did not."""
    gaps, done = [0.0], threading.Event()

    def tick() -> None:
        last = time.perf_counter()
        while not done.wait(0.001):
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    thread = threading.Thread(target=tick)
    thread.start()
    call()
    done.set()
    thread.join()
    return max(gaps)


Figures = tuple[float, float, float, float]
"""CPU seconds of the program and of the kernel, peak in MB, hold in seconds."""


def measure(folder: str, tokens: int, without: list[str], only: list[str]) -> dict[str, Figures]:
    """Figures of each function by its name, in this process."""
    import torch
    from memory import peak

    from inspector.memory.cache import ByteBudgetCache
    from inspector.trace import trace

    def fresh(call: Callable[[], object]) -> Callable[[], object]:
        trace._maps = ByteBudgetCache(trace._MAPS_BYTES)
        return call

    def times(call: Callable[[], object]) -> tuple[float, float]:
        start = resource.getrusage(resource.RUSAGE_SELF)
        call()
        end = resource.getrusage(resource.RUSAGE_SELF)
        return end.ru_utime - start.ru_utime, end.ru_stime - start.ru_stime

    torch.set_num_threads(1)
    chosen = [name for name in functions(folder, 16) if name not in without and (not only or name in only)]
    warm, calls, figures = functions(folder, 16), functions(folder, tokens), {}
    for name in chosen:
        warm[name]()
        call = fresh(calls[name])
        try:
            (program, kernel), most, _ = peak(lambda call=call: times(call))
        except ValueError as error:
            print(f"  {name} refuses: {error}", file=sys.stderr)
            continue
        figures[name] = program, kernel, most / 1e6, held(fresh(calls[name])) if tokens == HELD_AT else 0.0
    return figures


def table(folder: str, longest: int, only: list[str]) -> None:
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; one thread")
    before: dict[str, Figures] = {}
    steep: dict[str, list[str]] = {}
    slow: set[str] = set()
    for tokens in (size for size in SIZES if size <= longest):
        command = [sys.executable, __file__, "--folder", folder, "--tokens", str(tokens), "--without", *slow]
        out = subprocess.run([*command, "--only", *only], check=True, stdout=subprocess.PIPE, text=True).stdout
        figures = json.loads(out.splitlines()[-1])
        held_too = ", hold ms" if tokens == HELD_AT else ""
        print(f"n={tokens}: CPU ms (ratio), the kernel's ms, peak MB (ratio){held_too}", flush=True)
        for name, (program, kernel, most, hold) in figures.items():
            was = before.get(name)
            ratios = ("", "")
            if was is not None:
                ratios = (f" ({program / max(was[0], 0.01):.1f}x)", f" ({most / max(was[2], 0.1):.1f}x)")
                if was[0] > SURE and program > SQUARE * was[0]:
                    steep.setdefault(name, []).append(f"{program / was[0]:.1f}x at {tokens}")
            holds = f", hold {hold * 1000:.0f}" if tokens == HELD_AT else ""
            times = f"{program * 1000:9.1f}{ratios[0]:8} {kernel * 1000:8.1f}"
            print(f"  {name:32} {times} {most:8.1f}{ratios[1]:8}{holds}", flush=True)
        slow |= {name for name, (program, *_) in figures.items() if program > LONGEST}
        before = figures
    print(f"above n^2 (a doubling of more than {SQUARE}x, from {SURE:g} s on): {len(steep) or 'none'}")
    for name, where in steep.items():
        print(f"  {name}: {', '.join(where)}; {WHY.get(name, 'NO REASON KNOWN')}")
    print(f"not run on the next size, for one took more than {LONGEST:g} s: {', '.join(sorted(slow)) or 'none'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--longest", type=int, default=SIZES[-1], help="tokens of the longest text")
    parser.add_argument("--only", nargs="*", default=[], help="names of functions, as the table has them")
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--tokens", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--without", nargs="*", default=[], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.folder:
        print(json.dumps(measure(arguments.folder, arguments.tokens, arguments.without, arguments.only)))
        return
    with TemporaryDirectory() as folder:
        save(Path(folder))
        table(folder, arguments.longest, arguments.only)


if __name__ == "__main__":
    main()
