"""Fixtures and order of all tests: the loaded models, torch's threads, signals, the tiers, the longest files first."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import torch
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

import models
from models import fetch, settings
from models.registry import is_installed
from tests.rounds import is_due

pytest_plugins = ("tests.local_hub",)

if "OMP_NUM_THREADS" not in os.environ:
    torch.set_num_threads(1)  # on few cores two threads are slower than one for small texts
# Other numbers of threads round otherwise: the page counts with as many as the tests that hold it to the last bit.
os.environ.setdefault("HEADLIGHT_THREADS", str(torch.get_num_threads()))

# Tests change HOME for programs that they start: what `make setup` fetched is found there too.
os.environ["HEADLIGHT_CACHE"] = str(settings.cache())

# A background job of a shell ignores Ctrl-C, and so would each child that a test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)

TESTS = Path(__file__).parent
MOST_WORKERS = 4  # each holds torch, a model or two, and a Chromium with its server
TIERS = {
    "browser": ("browser",),
    "page": ("inspector/views",),
    "training": ("models/training",),
    "families": (
        *("inspector/probe/test_families.py", "inspector/probe/test_spread.py"),
        *("inspector/costs/counted/test_families.py", "inspector/writers/test_families.py"),
    ),
    "questions": ("inspector/questions/themes",),
    "hostile": ("models/untrusted/test_hostile.py", "inspector/trace/test_hostile_traces.py"),
}
"""The folders and files of each marker; `make check` leaves them all out."""
COSTLY = ("browser", "page", "training", "hostile", "heavy")
"""The markers of tests of which a round of `make test` runs a seventh."""
ROUNDS = 7
"""Rounds in which each costly test runs once: prime to the parts of the lists (2, 4, 5, 6), so that each meets each."""
LONGEST = ("inspector/probe/test_families.py", "browser", "models/untrusted/test_hostile.py", "inspector/views")
"""The folders and files that begin first, so that no worker is left alone with a long file at the end."""


@pytest.fixture(scope="session")
def shipped() -> Callable[[str], models.LoadedModel]:
    """The project's models by name, each loaded once; a test that changes a model loads its own."""
    return cache(models.load)


@pytest.fixture(scope="session")
def minilm(shipped: Callable[[str], models.LoadedModel]) -> models.LoadedModel:
    return shipped("minilm")


@pytest.fixture(scope="session")
def minilm_own(shipped: Callable[[str], models.LoadedModel]) -> models.LoadedModel:
    return shipped("minilm-own")


@pytest.fixture(scope="session")
def smollm2_installed() -> None:
    """Leave out what needs SmolLM2 where it could not be fetched."""
    if not is_installed("smollm2"):
        pytest.skip(fetch.missing("smollm2"))


@pytest.fixture(scope="session")
def smollm2(smollm2_installed: None, shipped: Callable[[str], models.LoadedModel]) -> models.LoadedModel:
    return shipped("smollm2")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-models-table", action="store_true", help="write docs/models.md from what was measured")


def pytest_xdist_auto_num_workers() -> int:
    """Count the workers of `-n auto`: a worker a core that this process may use, and no workers on a single core."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_WORKERS) if cores > 1 else 0


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    return ByServer(config, log) if config.getoption("dist") == "loadfile" else None


class ByServer(LoadFileScheduling):
    """Hand out files, and all files of the browser as one: a second server and Chromium would start half a minute."""

    def _split_scope(self, nodeid: str) -> str:
        path = super()._split_scope(nodeid)
        return "tests/browser" if path.startswith("tests/browser/") else path


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave unread what `-m "not ..."` leaves out as a whole: a file that no test is taken from costs its imports."""
    wanted = config.option.markexpr
    parts = [] if " or " in wanted else wanted.split(" and ")
    left_out = [place for tier, places in TIERS.items() if f"not {tier}" in parts for place in places]
    return True if any(lies_in(collection_path, place) for place in left_out) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for tier in tiers(item.path):
            item.add_marker(tier)
    items.sort(key=lambda item: turn(item.path))
    later = {item for item in items if is_costly(item) and not is_due(item.nodeid, of=ROUNDS)}
    config.hook.pytest_deselected(items=list(later))
    items[:] = [item for item in items if item not in later]


def pytest_collection_finish() -> None:
    """Spare the collector what lives as long as the process: Streamlit has it look through all after each run."""
    gc.collect()
    gc.freeze()


def is_costly(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(marker) for marker in COSTLY)


def lies_in(path: Path, place: str) -> bool:
    return path.is_relative_to(TESTS / place)


@cache
def tiers(path: Path) -> list[str]:
    return [tier for tier, places in TIERS.items() if any(lies_in(path, place) for place in places)]


@cache
def turn(path: Path) -> int:
    """Give the turn of a test file: the longest begin first, all others keep their order."""
    return next((number for number, place in enumerate(LONGEST) if lies_in(path, place)), len(LONGEST))
