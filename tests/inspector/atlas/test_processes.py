"""Workers of an atlas: what they keep of memory that is free, whatever shapes the batches have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from inspector.atlas.processes import ENVIRONMENT, processes

pytestmark = pytest.mark.heavy
ROOT = Path(__file__).parents[3]
SHAPES = """
import torch
from inspector.memory import freed

def own():  # kilobytes
    freed.release()
    lines = open("/proc/self/smaps_rollup").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:"))

torch.set_num_threads(1)
for length in range(1, 401):
    torch.nn.functional.gelu(torch.randn(1, length, 1536))
    if length == 100:
        before = own()
print(own() - before)
"""


def backend() -> str:
    """Name what Arrow takes its memory from."""
    return str(pa.default_memory_pool().backend_name)


def test_arrow_gives_back_what_a_worker_has_written() -> None:
    """Its own pool (mimalloc) keeps what was freed, and `freed.release` reaches glibc alone."""
    with processes(1) as workers:
        assert workers.submit(backend).result() == "system"


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").is_file(), reason="needs Linux's /proc")
def test_a_worker_keeps_few_kernels_of_shapes_that_are_gone() -> None:
    """oneDNN, which computes GELU, keeps a kernel for each shape: 300 shapes more, and 9 MB more."""
    grown = []
    for variables in ({"OMP_NUM_THREADS": "1"}, ENVIRONMENT):
        environment = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT} | variables
        child = [sys.executable, "-W", "ignore", "-c", SHAPES]
        done = subprocess.run(child, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        grown.append(int(done.stdout))
    usual, of_worker = grown
    if usual < 4 * 1024:
        pytest.skip(f"oneDNN kept {usual:,} KB here")
    assert of_worker < usual / 4
