"""Measure the count of two large shapes, from their configuration alone.

    python -m tests.benchmarks.counted

Prints, for each shape in a process of its own: the CPU seconds of importing torch, transformers and the model's module,
then of the first answer, of a cached step, and of a sweep over 30 lengths; and the most memory that the process took.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from typing import Any

LLAMA_2_70B = {
    **{"hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64},
    **{"num_key_value_heads": 8, "vocab_size": 32000},
}
SHAPES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "Llama-2-70B": ("LlamaConfig", "LlamaForCausalLM", LLAMA_2_70B),
    "DeepSeek-V3": ("DeepseekV3Config", "DeepseekV3ForCausalLM", {}),
}
LENGTHS = [2**power for power in range(3, 18)] + [3 * 2**power for power in range(3, 18)]


def main() -> None:
    if len(sys.argv) > 1:
        return measured(sys.argv[1])
    for name in SHAPES:
        one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
        subprocess.run([sys.executable, "-m", "tests.benchmarks.counted", name], check=True, env=one_thread)


def measured(name: str) -> None:
    kind, architecture, sizes = SHAPES[name]
    start = time.process_time()
    import transformers

    from inspector import costs
    from inspector.costs.counted import counting

    assert counting
    config = getattr(transformers, kind)(**sizes, architectures=[architecture])
    getattr(transformers, architecture)
    imported = time.process_time()
    counted = costs.count(config)
    flops = counted.table(tokens=128).flops.sum()
    answered = time.process_time()
    counted.step(tokens=128)
    stepped = time.process_time()
    begun = time.process_time()
    sweep = counted.by_length(LENGTHS)
    swept = time.process_time()
    assert sweep.tokens.nunique() == len(LENGTHS)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name}: {counted.parameters:,} parameters, {flops:,} FLOP at 128 tokens, {len(counted.table())} rows\n"
        f"  imports {imported - start:.2f} s; first answer {answered - imported:.2f} s; cached step "
        f"{stepped - answered:.2f} s; 30 lengths {swept - begun:.3f} s (CPU seconds); {memory:,.0f} MiB at most"
    )


if __name__ == "__main__":
    main()
