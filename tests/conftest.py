"""Shared by all tests: one loaded model each, one torch thread."""

from __future__ import annotations

import pytest
import torch

import models

pytest_plugins = ("tests.local_hub",)

torch.set_num_threads(1)  # on few cores two threads are slower than one for small texts


@pytest.fixture(scope="session")
def minilm() -> models.LoadedModel:
    return models.load("minilm")


@pytest.fixture(scope="session")
def minilm_own() -> models.LoadedModel:
    return models.load("minilm-own")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-models-table", action="store_true", help="write docs/models.md from what was measured")
