"""Memory that traces hold, counted by us and grown by the process; and how it grows with the text.

    python tests/benchmarks/held.py [--only bloom]

counted / grown: in a fresh process for each shape, after one recording to warm up, traces are held until they count
200 MB; grown is resident memory (VmRSS after gc and malloc_trim) less what it was before. Target: 0.9 to 1.2.
growth: traces of some 512 and some 4,096 tokens, counted; target: at most 1.2 times what the number of tokens grew.
--families prints the growth of every family that docs/models.md says is recomputed, each as tiny as it is there.
texts: 50 texts of 1,000 tokens, one after the other, through a cache as the page's; the process may never hold more
than the cache's budget and one recording above what it held after the first. Weights are random.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

MB = 1e6
HELD = 200 * MB
LONG = 4096
_SIZES: dict[str, dict[str, Any]] = {
    "bloom": {"hidden_size": 256, "n_layer": 4, "n_head": 16},
    "xlnet": {"d_model": 256, "n_layer": 4, "n_head": 16, "d_inner": 256},
    "deberta-v2": {
        **{"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 16, "intermediate_size": 256},
        **{"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 64},
        "max_position_embeddings": LONG,
    },
    "t5": {"d_model": 256, "d_kv": 16, "d_ff": 256, "num_layers": 4, "num_heads": 16, "decoder_start_token_id": 0},
    "doge": {
        **{"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 16, "num_key_value_heads": 16},
        **{"intermediate_size": 256, "max_position_embeddings": LONG, "num_experts": 16},
    },
    "mpnet": {
        "hidden_size": 256,
        "num_hidden_layers": 4,
        "num_attention_heads": 16,
        "max_position_embeddings": LONG + 2,
    },
    "gptj": {"n_embd": 256, "n_layer": 4, "n_head": 16, "rotary_dim": 8, "n_positions": LONG},
    "xlm": {
        **{"emb_dim": 256, "n_layers": 4, "n_heads": 16, "max_position_embeddings": LONG, "mask_token_id": 4},
        "pad_index": 0,
    },
    "falcon": {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 16},
}
COUNTED = ("bloom", "xlnet", "deberta-v2", "t5", "doge", "a file")
GROWING = ("bloom", "xlnet", "deberta-v2", "t5", "mpnet", "gptj", "xlm", "falcon")


_FEW_HEADS = {"n_head": 4, "num_attention_heads": 4, "n_heads": 4, "num_heads": 4}
"""The sizes for growth: eager attention itself takes memory with heads times the square of the text."""


def save(name: str, folder: Path, *, few_heads: bool = False) -> None:
    """A model of a family with random weights, and a tokenizer."""
    from transformers import AutoConfig

    from tests.inspector.probe.families import _class, tokenizer

    special = {"vocab_size": 300, "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
    sizes = _SIZES[name]
    if few_heads:
        sizes = sizes | {key: value for key, value in _FEW_HEADS.items() if key in sizes}
    _class(name).from_config(AutoConfig.for_model(name, **special, **sizes)).save_pretrained(folder)
    words = tokenizer()
    words.model_max_length = LONG
    words.save_pretrained(folder)


def status(name: str) -> int:
    """A number of /proc/self/status, in bytes, once all that is free has been given back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(lines[name].split()[0])


def text(number: int, *, tokens: int) -> str:
    """A text of its own, of about so many tokens: nearly two to a word."""
    words = ("the", "cat", "sat", "on", "mat", "dog", "log", "was", "it", "tired")
    return " ".join(words[(number + place * (number % 7 + 1)) % len(words)] for place in range(tokens // 2))


def counted(folder: str, *, file: str | None) -> dict[str, float]:
    """Traces of some 1,000 tokens, or one file opened again and again, until they count 200 MB."""
    import inspector
    import models

    loaded = models.load(folder)

    def make(number: int) -> inspector.Trace:
        if file is not None:
            return inspector.open(file)
        target = text(number, tokens=100) if loaded.shape == "encoder-decoder" else None
        return inspector.record(loaded, text(number, tokens=1000), target=target)

    make(0)
    make(1)
    before, traces = status("VmRSS"), [make(2)]
    while sum(trace.nbytes for trace in traces) < HELD:
        traces.append(make(len(traces) + 2))
    grown, count = status("VmRSS") - before, sum(trace.nbytes for trace in traces)
    return {"traces": len(traces), "counted": count, "grown": grown, "tokens": len(traces[0].tokens)}


def growing(folder: str) -> dict[str, float]:
    """Count the bytes of traces of 512 and 4,096 tokens."""
    import inspector
    import models

    loaded = models.load(folder)
    found = {}
    for tokens in (512, LONG):
        target = text(1, tokens=tokens) if loaded.shape == "encoder-decoder" else None
        trace = inspector.record(loaded, text(1, tokens=tokens + tokens // 4), target=target)
        found |= {f"{tokens}": float(trace.nbytes), f"tokens {tokens}": float(len(trace.tokens))}
    return found


def recomputed(only: str | None) -> None:
    """The growth of every family whose maps are computed again though it bypasses the registry."""
    from tests.inspector.probe.families import CAPTURED, SMALL, save
    from tests.inspector.probe.models_table import read_rows

    rows = read_rows()
    for family in CAPTURED:
        if "recomputed" not in rows[family.name].cells[1] or only not in (None, family.name):
            continue
        long = {name: LONG + 8 for name, size in SMALL.items() if size == 64} | {"max_seq_len": LONG + 8}  # MPT's name
        with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            for name, size in long.items():
                patch.setitem(SMALL, name, size)
            save(family, Path(folder))
            settings = Path(folder, "tokenizer_config.json")
            settings.write_text(json.dumps(json.loads(settings.read_text()) | {"model_max_length": LONG}))
            try:
                say(family.name, in_a_process("growing", folder))
            except subprocess.CalledProcessError as error:
                print(f"{family.name}: {error.stderr.strip().splitlines()[-1]}", flush=True)


def say(name: str, found: dict[str, float]) -> None:
    """Print how the traces of one model grew."""
    ratio, by = found[str(LONG)] / found["512"], found[f"tokens {LONG}"] / found["tokens 512"]
    tokens = f"{found['tokens 512']:.0f} and {found[f'tokens {LONG}']:.0f} tokens"
    sizes = f"{found['512'] / MB:.2f} and {found[str(LONG)] / MB:.2f} MB"
    print(f"{name}: {sizes} at {tokens}: {ratio:.2f}x for {by:.2f}x: {verdict(ratio <= 1.2 * by)}", flush=True)


def texts(folder: str, *, budget: int) -> dict[str, float]:
    """50 texts of 1,000 tokens through a cache; the most that the process held above the first."""
    import inspector
    import models
    from inspector.memory.cache import ByteBudgetCache
    from inspector.memory.held import held_bytes

    loaded = models.load(folder)
    cache: ByteBudgetCache[Any] = ByteBudgetCache(budget)
    inspector.record(loaded, text(0, tokens=1000))
    before, most, one = status("VmRSS"), 0, 0
    for number in range(50):
        words = text(number + 1, tokens=1000)
        trace = cache.get(number, lambda words=words: inspector.record(loaded, words), size=held_bytes)
        one = max(one, trace.nbytes)
        del trace
        most = max(most, status("VmRSS") - before)
    return {"most": most, "one": one, "budget": budget, "kept": cache.used}


def in_a_process(kind: str, folder: str, *more: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--kind", kind, "--folder", folder, *more]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, float] = json.loads(out.splitlines()[-1])
    return found


def verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def table(only: str | None) -> None:
    with TemporaryDirectory() as root:
        for name in dict.fromkeys((*COUNTED, *GROWING)):
            folder = Path(root) / ("doge" if name == "a file" else name)
            if only not in (None, name):
                continue
            if not folder.exists():
                save(folder.name, folder)
            if name in COUNTED:
                file = []
                if name == "a file":
                    import inspector
                    import models

                    file = ["--file", f"{root}/trace.npz"]
                    inspector.record(models.load(folder), text(0, tokens=1000)).save(file[1])
                found = in_a_process("counted", str(folder), *file)
                share = found["counted"] / found["grown"]
                print(
                    f"{name}: {found['traces']:.0f} traces of {found['tokens']:.0f} tokens, counted "
                    f"{found['counted'] / MB:.0f} MB, grown {found['grown'] / MB:.0f} MB, {share:.2f}: "
                    f"{verdict(0.9 <= share <= 1.2)}",
                    flush=True,
                )
            if name in GROWING:
                few = Path(root) / f"{name}-few"
                save(name, few, few_heads=True)
                say(name, in_a_process("growing", str(few)))
        for name in ("doge", "bloom"):
            if only in (None, f"texts of {name}"):
                folder = Path(root) / name
                if not folder.exists():
                    save(name, folder)
                found = in_a_process("texts", str(folder))
                bound = found["budget"] + found["one"]
                print(
                    f"50 texts of {name}: at most {found['most'] / MB:.0f} MB above the first; budget "
                    f"{found['budget'] / MB:.0f} MB and one recording of {found['one'] / MB:.0f} MB: "
                    f"{verdict(found['most'] <= bound)}",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="one shape alone")
    parser.add_argument("--families", action="store_true", help="the growth of every recomputed family")
    for hidden in ("--kind", "--folder", "--file"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.families:
        recomputed(arguments.only)
        return
    if arguments.kind is None:
        table(arguments.only)
        return
    import torch

    torch.set_num_threads(1)
    kinds = {
        "counted": lambda: counted(arguments.folder, file=arguments.file),
        "growing": lambda: growing(arguments.folder),
        "texts": lambda: texts(arguments.folder, budget=512 * 2**20),
    }
    print(json.dumps(kinds[arguments.kind]()))


if __name__ == "__main__":
    main()
