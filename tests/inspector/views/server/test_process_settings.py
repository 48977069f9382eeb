"""Settings of the app's process, tried in one of their own: freed memory is used again, libraries are no garbage."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

FAULTS = """
import resource
import torch
from inspector.views.server import process_settings

process_settings.tune_memory()

def blocks():
    return [torch.ones(30 * 2**20, dtype=torch.uint8) for _ in range(3)]

for _ in range(5):  # what lies between the blocks at first moves them
    blocks()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    blocks()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""

HOLES = """
import threading
import torch
from inspector.views.server import process_settings

process_settings.tune_memory()
kept = []

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

def work():
    blocks = [torch.ones(2**20, dtype=torch.uint8) for _ in range(200)]
    kept.append(torch.ones(2**10, dtype=torch.uint8))  # keeps the end of the arena

for _ in range(3):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
before = resident()
process_settings.release_memory()
print(before - resident())
"""

GARBAGE = """
import gc
import torch, transformers.models.bert.modeling_bert
from inspector.views.server import process_settings

process_settings.use_threads()
process_settings.tune_memory()
print(torch.get_num_threads(), gc.get_freeze_count(), len(gc.get_objects()))
"""

IMPORTED = """
import gc
from inspector.views.server import process_settings

collections = []
gc.callbacks.append(lambda phase, info: collections.append(phase))
with process_settings.uncollected():
    import torch
print(len(collections), int(gc.isenabled()), gc.get_freeze_count())
"""

FROZEN = """
import gc
from inspector.views.server import process_settings

counts = [gc.get_freeze_count()]
with process_settings.imports_frozen():
    kept = [[] for _ in range(50)]  # an import is all that freezes
counts.append(gc.get_freeze_count())
try:
    with process_settings.imports_frozen():
        import wave
        raise KeyError  # as a page that stops early
except KeyError:
    counts.append(gc.get_freeze_count())
print(*counts)
"""


def run(source: str) -> list[int]:
    two = os.environ | {"OMP_NUM_THREADS": "2"}  # so that one thread is a choice
    two.pop("HEADLIGHT_THREADS", None)  # what the tests' own page counts with
    done = subprocess.run([sys.executable, "-c", source], env=two, capture_output=True, text=True, check=True)
    return [int(number) for number in done.stdout.split()]


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")
def test_freed_memory_is_used_again() -> None:
    """Untuned glibc gives the pages of 70% of these blocks away and asks for new ones, in most runs."""
    pages = 10 * 3 * 30 * 2**20 // 4096
    [new_pages] = run(FAULTS)
    assert new_pages < pages / 5


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")
def test_freed_memory_of_the_arenas_of_threads_is_given_back() -> None:
    [released] = run(HOLES)
    assert released > 100 * 2**20


def test_garbage_is_not_looked_for_in_libraries() -> None:
    threads, left_out, looked_through = run(GARBAGE)
    assert threads == 1
    assert left_out > 100_000
    assert looked_through < left_out / 20


def test_nothing_is_collected_while_libraries_are_imported() -> None:
    collections, enabled_again, left_out = run(IMPORTED)
    assert collections == 0
    assert enabled_again
    assert left_out > 50_000


def test_late_imports_are_kept_out_of_collections() -> None:
    before, without, after = run(FROZEN)
    assert before == without < after
