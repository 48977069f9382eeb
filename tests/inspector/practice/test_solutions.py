"""Solutions of the practice tasks, held to references of their own: each right file is right, each wrong one wrong.

The files under right/ and wrong/ are data, as readers write them. No checker is asked here: what the checker says of
a file is another test's question.
"""

from __future__ import annotations

import math
import runpy
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from tests.closeness import float64, relative_error

HERE = Path(__file__).parent
STYLES = {"loops", "einsum", "torch_style", "numpy_style", "in_place"}
ROUNDING = {"float64": 1e-6, "float32": 1e-5, "float16": 1e-2}  # float64: what a reader computes in float32 may stay
WRONG = 1e-3  # far above all rounding of float64
Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Task:
    """Name of the function, reference in float64, and generic arguments."""

    function: str
    reference: Callable[..., Any]
    cases: tuple[Arguments, ...]


# --- references ----------------------------------------------------------------------------------------------------


def softmax(scores: np.ndarray) -> np.ndarray:
    return torch.softmax(torch.from_numpy(scores), dim=1).numpy()


def attention(query: np.ndarray, key: np.ndarray, value: np.ndarray, *, causal: bool = False) -> np.ndarray:
    tensors = (torch.from_numpy(np.ascontiguousarray(array)) for array in (query, key, value))
    return F.scaled_dot_product_attention(*tensors, is_causal=causal).numpy()


def causal_attention(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> np.ndarray:
    return attention(query, key, value, causal=True)


def multi_head(query: np.ndarray, key: np.ndarray, value: np.ndarray, heads: int) -> np.ndarray:
    parts = (np.split(array, heads, axis=2) for array in (query, key, value))
    return np.concatenate([attention(*head) for head in zip(*parts, strict=True)], axis=2)


def layer_norm(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float) -> np.ndarray:
    states, gamma, beta = (torch.from_numpy(array) for array in (x, weight, bias))
    return F.layer_norm(states, weight.shape, gamma, beta, eps).numpy()


def sinusoidal(positions: int, width: int) -> np.ndarray:
    angle = [
        [position / 10000 ** (2 * (column // 2) / width) for column in range(width)] for position in range(positions)
    ]
    return np.array([[math.cos(a) if column % 2 else math.sin(a) for column, a in enumerate(row)] for row in angle])


def rotate(x: np.ndarray, base: float) -> np.ndarray:
    """Turn the pairs as complex numbers."""
    half = x.shape[2] // 2
    angle = np.outer(np.arange(x.shape[1]), base ** (-np.arange(half) / half))
    turned = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angle)
    return np.concatenate([turned.real, turned.imag], axis=2)


def step(query: np.ndarray, key: np.ndarray, value: np.ndarray, keys: np.ndarray, values: np.ndarray) -> Arguments:
    keys, values = np.concatenate([keys, key], axis=1), np.concatenate([values, value], axis=1)
    return attention(query, keys, values), keys, values


def additive_scores(query: np.ndarray, key: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.array([[sum(v * np.tanh(w_q @ q + w_k @ k)) for k in key] for q in query])


def merge(words: dict[tuple[str, ...], int]) -> tuple[tuple[str, str], dict[tuple[str, ...], int]]:
    pairs: Counter[tuple[str, str]] = Counter()
    for word, count in words.items():
        for at in range(len(word) - 1):
            pairs[word[at], word[at + 1]] += count
    pair = sorted(pairs, key=lambda one: (-pairs[one], one))[0]
    merged: Counter[tuple[str, ...]] = Counter()
    for word, count in words.items():
        symbols: list[str] = []
        fresh = False  # the symbol before was merged just now, and is no part of the next pair
        for symbol in word:
            joins = bool(symbols) and not fresh and (symbols[-1], symbol) == pair
            symbols = [*symbols[:-1], symbols[-1] + symbol] if joins else [*symbols, symbol]
            fresh = joins
        merged[tuple(symbols)] += count
    return pair, dict(merged)


def beam_step(scores: np.ndarray, log_probs: np.ndarray, width: int) -> tuple[np.ndarray, list[int], list[int]]:
    sums = {(beam, token): scores[beam] + log_probs[beam, token] for beam, token in np.ndindex(*log_probs.shape)}
    best = sorted(sums, key=lambda place: -sums[place])[:width]
    return np.array([sums[place] for place in best]), [beam for beam, _ in best], [token for _, token in best]


def flops(n: int, width: int, ffn: int, heads: int) -> int:
    return 8 * n * width**2 + 4 * n**2 * width + 4 * n * width * ffn


def delta_rule(query: np.ndarray, key: np.ndarray, value: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Solve for what all steps write at once (Yang et al. 2024, the WY form)."""
    written = np.linalg.solve(np.eye(len(key)) + np.tril(beta[:, None] * (key @ key.T), -1), beta[:, None] * value)
    return np.tril(query @ key.T) @ written


# --- arguments -----------------------------------------------------------------------------------------------------


def normal(*shape: int, seed: int, scale: float = 1.0) -> np.ndarray:
    """Draw numbers that float16 holds exactly, so that all dtypes are given the same ones."""
    return (np.random.default_rng(seed).normal(size=shape) * scale).astype(np.float16).astype(np.float64)


LARGE = np.array([[1000.0, 998.0, -np.inf, 3.0], [-1000.0, -999.0, -1001.0, -np.inf], [0.0, 5.0, -3.0, 1000.0]])
WORDS: tuple[dict[tuple[str, ...], int], ...] = (
    {tuple("low"): 5, tuple("lower"): 2, tuple("newest"): 6, tuple("widest"): 3},
    {tuple("baaac"): 4, tuple("aaaaa"): 3, ("c", "aa"): 2, tuple("caa"): 1, ("x",): 1},  # overlaps
    {tuple("xy"): 4, tuple("ab"): 4, tuple("bac"): 2, ("ab",): 7},  # a tie; words that become equal
    {tuple("zabcab"): 2, ("c", "ab", "d"): 3, ("z", "ca", "b"): 5, tuple("qab"): 4, ("q", "ab"): 1, ("a", "bd"): 3},
    {tuple("lalala"): 3, tuple("xy"): 7, tuple("yx"): 2},  # a pair that is often in one word
    {tuple("heheh"): 3, tuple("eh"): 2, tuple("heeh"): 1, tuple("eeee"): 1},
)


def beams(*, beams: int, tokens: int, width: int, seed: int) -> Arguments:
    """Draw a step whose best sums float16 tells apart."""
    while True:
        scores = normal(beams, seed=seed) - 3
        logits = torch.from_numpy(normal(beams, tokens, seed=seed + 1, scale=1.5))
        log_probs = torch.log_softmax(logits, dim=1).numpy().astype(np.float16).astype(np.float64)
        sums = np.sort((scores[:, None] + log_probs).ravel())[::-1]
        if np.diff(sums[: width + 1]).max() < -0.03:
            return scores, log_probs, width
        seed += 1000


TASKS = {
    "softmax": Task(
        "softmax",
        softmax,
        ((normal(3, 5, seed=1, scale=2),), (LARGE,), (np.array([[2.0, -np.inf, 0.5], [-np.inf, -np.inf, -4.0]]),)),
    ),
    "attention": Task(
        "attention", attention, ((normal(2, 3, 4, seed=1), normal(2, 5, 4, seed=2), normal(2, 5, 6, seed=3)),)
    ),
    "causal_mask": Task(
        "causal_attention",
        causal_attention,
        ((normal(2, 5, 4, seed=1), normal(2, 5, 4, seed=2), normal(2, 5, 4, seed=3)),),
    ),
    "heads": Task(
        "multi_head",
        multi_head,
        tuple(
            (*(normal(2, 5, width, seed=seed) for seed in (1, 2, 3)), heads)
            for width, heads in ((6, 3), (12, 3), (8, 2))
        ),
    ),
    "layer_norm": Task(
        "layer_norm",
        layer_norm,
        tuple(
            (normal(2, 5, 6, seed=1, scale=scale) + mean, normal(6, seed=2) + 1, normal(6, seed=3), eps)
            for scale, mean, eps in ((1.0, 0.5, 1e-5), (0.25, 0.5, 0.0625))
        ),
    ),
    "sinusoidal": Task("sinusoidal", sinusoidal, ((7, 6), (3, 10))),
    "rope": Task("rotate", rotate, ((normal(2, 5, 8, seed=1), 10000.0), (normal(2, 7, 6, seed=2), 100.0))),
    "kv_cache": Task(
        "step",
        step,
        tuple(
            (*(normal(2, 1, 4, seed=seed) for seed in (1, 2, 3)), normal(2, t, 4, seed=4), normal(2, t, 4, seed=5))
            for t in (5, 3)
        ),
    ),
    "additive": Task(
        "additive_scores",
        additive_scores,
        ((normal(3, 4, seed=1), normal(5, 4, seed=2), normal(6, 4, seed=3), normal(6, 4, seed=4), normal(6, seed=5)),),
    ),
    "bpe": Task("merge", merge, tuple((words,) for words in WORDS)),
    "beam": Task(
        "beam_step",
        beam_step,
        (
            beams(beams=3, tokens=7, width=3, seed=1),
            beams(beams=2, tokens=9, width=4, seed=2),
            beams(beams=4, tokens=5, width=2, seed=3),
        ),
    ),
    "flops": Task("flops", flops, ((7, 12, 20, 3), (128, 64, 256, 4))),
    "delta_rule": Task(
        "delta_rule",
        delta_rule,
        (
            (
                normal(7, 4, seed=1),
                normal(7, 4, seed=2, scale=0.5),
                normal(7, 3, seed=3),
                np.linspace(0.25, 0.9375, 7)[[3, 0, 5, 1, 6, 2, 4]].astype(np.float16).astype(np.float64),
            ),
        ),
    ),
}


# --- running a file ------------------------------------------------------------------------------------------------


def run(path: Path, arguments: Arguments, dtype: str) -> tuple[Any, Arguments]:
    """Call a file's function; returns what it gives, and the arguments as it leaves them."""
    function = runpy.run_path(str(path))[TASKS[path.parent.name].function]
    imports = path.read_text(encoding="utf-8").splitlines()
    in_torch = any(line.startswith(("import torch", "from torch")) for line in imports)

    def given(argument: Any) -> Any:
        if isinstance(argument, dict):
            return dict(argument)
        if not isinstance(argument, np.ndarray):
            return argument
        array = argument.astype(dtype)  # a copy
        return torch.from_numpy(array) if in_torch else array

    handed = tuple(given(argument) for argument in arguments)
    return function(*handed), handed


def error(found: Any, expected: Any) -> float:
    """Measure how far a result is off: relative to the largest expected number, infinite where it is another thing."""
    match expected:
        case dict():
            return 0.0 if found == expected else math.inf
        case tuple() if all(isinstance(part, str) for part in expected):
            return 0.0 if found == expected else math.inf
        case tuple():
            if not isinstance(found, tuple | list) or len(found) != len(expected):
                return math.inf
            return max(error(part, wanted) for part, wanted in zip(found, expected, strict=True))
    numbers, wanted = float64(found), float64(expected)
    if isinstance(expected, int | list):
        return 0.0 if np.array_equal(numbers, wanted) else math.inf
    if numbers.shape != wanted.shape or not np.isfinite(numbers).all():
        return math.inf
    return relative_error(numbers, wanted)


def worst(path: Path, dtype: str) -> float:
    """Measure the largest error over the task's cases, a changed cache among them."""
    task, errors = TASKS[path.parent.name], []
    for arguments in task.cases:
        found, handed = run(path, arguments, dtype)
        errors.append(error(found, task.reference(*arguments)))
        if path.parent.name == "kv_cache":
            errors.append(error(handed, arguments))
    return max(errors)


def files(kind: str) -> list[Any]:
    paths = sorted((HERE / kind).glob("*/*.py"))
    return [pytest.param(path, id=f"{path.parent.name}-{path.stem}") for path in paths]


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("path", files("right"))
def test_a_right_solution_is_right(path: Path, dtype: str) -> None:
    rounded = path.stem == "float16_result"  # whatever it is given
    assert worst(path, dtype) <= ROUNDING["float16" if rounded else dtype]


@pytest.mark.parametrize("path", files("wrong"))
def test_a_wrong_solution_is_wrong(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            off = worst(path, "float64")
        except Exception:  # a stranger's code may fail in any way
            return
    assert off > WRONG


@pytest.mark.parametrize("task", TASKS)
def test_each_task_has_enough_of_them(task: str) -> None:
    right = {path.stem for path in (HERE / "right" / task).glob("*.py")}
    wrong = [path.read_text(encoding="utf-8") for path in (HERE / "wrong" / task).glob("*.py")]
    assert right >= STYLES
    said = [text.splitlines()[0] for text in wrong]
    assert all(line.startswith("# mistake: ") for line in said)
    assert len(set(said)) == len(wrong) >= 8
