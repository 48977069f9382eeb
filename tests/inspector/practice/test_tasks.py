"""The tasks held to independent sources, and every known mistake: it differs from what is right, and it is named."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from inspector.practice import texts
from inspector.practice.index import BY_NUMBER, TASKS, find
from inspector.practice.judging import EXACT, TOLERANCE, alike, in_float64, judged
from inspector.practice.record.task import Case, Mistake, Stages, Task
from inspector.practice.running import Ran, Returned
from inspector.practice.tasks import recordings
from tests.inspector.practice import in_process

APART = 20  # times the tolerance, at least: the nearest mistake on recorded tensors
FAILED = object()
OF_TENSORS = [task for task in TASKS if task.id not in ("bpe", "sinusoidal", "flops")]
every_task = pytest.mark.parametrize("task", TASKS, ids=[task.id for task in TASKS])


# --- what is right, from other sources ---


def _tensors(arguments: tuple[Any, ...]) -> list[Any]:
    return [torch.tensor(part) if isinstance(part, np.ndarray) else part for part in arguments]


def _multi_head(query: Any, key: Any, value: Any, heads: int) -> Any:
    cut = [torch.stack(part.chunk(heads, dim=-1)) for part in (query, key, value)]
    return torch.cat(list(F.scaled_dot_product_attention(*cut)), dim=-1)


def _sinusoidal(positions: int, width: int) -> Any:
    table = np.zeros((positions, width))
    for position in range(positions):
        for column in range(width):
            angle = position / math.pow(10000, (column - column % 2) / width)
            table[position, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


def _rotated(x: Any, base: float) -> Any:
    width = x.shape[-1]
    angles = torch.arange(x.shape[-2], dtype=x.dtype)[:, None] / base ** (torch.arange(0, width, 2).to(x.dtype) / width)
    both = torch.cat([angles, angles], dim=-1)[None]
    return apply_rotary_pos_emb(x[:, None], x[:, None], both.cos(), both.sin())[0][:, 0]


def _step(query: Any, key: Any, value: Any, keys: Any, values: Any) -> Any:
    keys, values = torch.cat([keys, key], 1), torch.cat([values, value], 1)
    queries = torch.cat([torch.zeros_like(keys[:, :-1]), query], 1)
    return F.scaled_dot_product_attention(queries, keys, values, is_causal=True)[:, -1:], keys, values


def _additive(query: Any, key: Any, w_query: Any, w_key: Any, v: Any) -> Any:
    return torch.stack([torch.stack([v @ torch.tanh(w_query @ q + w_key @ k) for k in key]) for q in query])


def _merged(words: dict[tuple[str, ...], int]) -> Any:
    """Merge by regular replacement in a list of marked symbols, one word after the other."""
    counts = Counter(pair for word, times in words.items() for pair in itertools.pairwise(word) for _ in range(times))
    most = max(counts.values())
    pair = sorted(pair for pair, count in counts.items() if count == most)[0]
    merged: Counter[tuple[str, ...]] = Counter()
    for word, times in words.items():
        left, rest = [], list(word)
        while rest:
            left.append(rest.pop(0))
            if rest and (left[-1], rest[0]) == pair:
                left[-1] += rest.pop(0)
        merged[tuple(left)] += times
    return pair, dict(merged)


def _beams(scores: Any, log_probs: Any, width: int) -> Any:
    every = itertools.product(range(len(scores)), range(log_probs.shape[1]))
    best = sorted(((float(scores[b] + log_probs[b, t]), b, t) for b, t in every), key=lambda one: -one[0])[:width]
    return tuple(np.array(part) for part in zip(*best, strict=True))


def _flops(n: int, width: int, ffn: int, heads: int) -> int:
    layer = nn.TransformerEncoderLayer(width, heads, ffn, batch_first=True)
    with FlopCounterMode(display=False) as counter:
        layer(torch.zeros(1, n, width))
    return counter.get_total_flops()


def _delta(query: Any, key: Any, value: Any, beta: Any) -> Any:
    """Return o_t = sum over s of (what was written at s) k_s . q_t, where each write sees all before it."""
    written: list[Any] = []
    outputs = []
    for at in range(len(key)):
        old = sum((float(key[s] @ key[at]) * written[s] for s in range(at)), torch.zeros_like(value[0]))
        written.append(float(beta[at]) * (value[at] - old))
        outputs.append(sum((float(key[s] @ query[at]) * written[s] for s in range(at + 1)), torch.zeros_like(value[0])))
    return torch.stack(outputs)


SOURCES: dict[str, Callable[..., Any]] = {
    "softmax": lambda scores: torch.softmax(scores, -1),
    "attention": F.scaled_dot_product_attention,
    "causal-mask": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    "heads": _multi_head,
    "layer-norm": lambda x, weight, bias, eps: F.layer_norm(x, x.shape[-1:], weight, bias, eps),
    "sinusoidal": _sinusoidal,
    "rope": _rotated,
    "kv-cache": _step,
    "additive": _additive,
    "bpe": _merged,
    "beam": _beams,
    "flops": _flops,
    "delta-rule": _delta,
}


@every_task
def test_what_is_right_is_what_another_source_gives(task: Task) -> None:
    for case in (*task.made(), *task.recorded()):
        made = SOURCES[task.id](*_tensors(in_float64(case.arguments)))
        made = tuple(made) if isinstance(made, tuple) else made
        parts = [np.asarray(part) if isinstance(part, torch.Tensor) else part for part in _listed(made)]
        given = tuple(parts) if isinstance(made, tuple) else parts[0]
        assert alike(given, task.compute(*in_float64(case.arguments)), 1e-10), case.name


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


def test_the_recorded_heads_are_what_the_layer_itself_computed() -> None:
    """The layer's own weights, from the recording, times its values: what a right solution gives."""
    trace = recordings.trace("mini-gpt")
    query, key, value = recordings.heads("mini-gpt")
    weights = trace.attention(layer=recordings.LAYER)[[0, -1]]
    assert alike(weights.astype(np.float64) @ value, find(3).compute(*in_float64((query, key, value))), 1e-5)
    norms = [
        norm for norm in recordings.trace("mini-bert").norms if norm.layer == recordings.LAYER and norm.part == "ffn"
    ]
    x, gamma, beta = recordings.norm_inputs("mini-bert")
    own = find(5).compute(*in_float64((x, gamma, beta)), norms[0].epsilon)
    assert alike(norms[0].output, own[0], 1e-5)


# --- solutions ---


@every_task
def test_the_projects_own_lines_are_right(task: Task) -> None:
    file = texts.SOLUTIONS / f"{task.id.replace('-', '_')}.py"
    verdict = in_process.verdict(file, task)
    assert verdict.right
    assert verdict.said == ()


@every_task
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_rounding_of_a_result_is_right(task: Task, dtype: str, tmp_path: Path) -> None:
    """A solution whose result is given in another precision."""
    if task.id in ("bpe", "flops"):
        pytest.skip("counts are not rounded")
    rounded = f"""
def _rounded(x):
    if isinstance(x, tuple):
        return tuple(_rounded(part) for part in x)
    return x.to(torch.{dtype}) if x.is_floating_point() else x


_whole = {task.function}


def {task.function}(*arguments):
    return _rounded(_whole(*arguments))
"""
    file = tmp_path / "mine.py"
    file.write_text(texts.solution(task) + rounded, encoding="utf-8")
    assert in_process.verdict(file, task).right


@every_task
def test_the_stub_is_a_file_that_says_it_is_not_written_yet(task: Task, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(texts.stub(task), encoding="utf-8")
    verdict = in_process.verdict(file, task)
    assert not verdict.right
    assert verdict.said[0].startswith("It is not written yet in line ")
    compile(texts.stub(task), "mine.py", "exec")


def test_the_tasks_are_those_of_the_contract() -> None:
    assert list(BY_NUMBER) == list(range(1, 14))
    with pytest.raises(ValueError, match="There is no task 14; they go from 1 to 13"):
        find(14)
    for task in TASKS:
        assert len({mistake.said for mistake in task.mistakes}) == len(task.mistakes) >= 20


# --- mistakes ---


def _made(task: Task, case: Case, way: Stages) -> Any:
    try:
        with np.errstate(all="ignore"):
            return task.compute(*in_float64(case.arguments), **way)
    except Exception:  # wrong products of shapes raise whatever numpy raises
        return FAILED


def _differs(task: Task, cases: tuple[Case, ...], way: Stages, times: float) -> bool:
    tolerance = times * (EXACT if task.exact else TOLERANCE)
    made = [(_made(task, case, way), task.compute(*in_float64(case.arguments))) for case in cases]
    return any(wrong is FAILED or not alike(wrong, right, tolerance) for wrong, right in made)


@every_task
def test_every_mistake_parts_from_what_is_right_on_made_inputs(task: Task) -> None:
    cases = task.made()
    for mistake in task.mistakes:
        for way in mistake.ways:
            if not mistake.remark:
                assert _differs(task, cases, way, APART), mistake.said


@pytest.mark.parametrize("task", OF_TENSORS, ids=[task.id for task in OF_TENSORS])
def test_every_mistake_parts_from_what_is_right_on_recorded_tensors(task: Task) -> None:
    """The nearest is 20 times the tolerance away; what takes scores hundreds apart is left to the made inputs."""
    cases = task.recorded()
    near = [
        one.said
        for one in task.mistakes
        if not one.remark and not one.made_only and not _differs(task, cases, one.ways[0], APART)
    ]
    assert near == []


def _single(array: Any) -> Any:
    if isinstance(array, tuple):
        return tuple(_single(part) for part in array)
    return array.astype(np.float32) if isinstance(array, np.ndarray) and array.dtype.kind == "f" else array


def _ran(task: Task, cases: tuple[Case, ...], mistake: Mistake) -> tuple[tuple[Case, ...], Ran] | None:
    """Make what a reader's function gives who makes a mistake, in float32; cases that it cannot take are left out."""
    results = [(case, _made(task, case, mistake.ways[0])) for case in cases]
    kept = [(case, result) for case, result in results if result is not FAILED]
    if not kept:
        return None
    outcomes = tuple(Returned(_single(result), True, ()) for _, result in kept)
    return tuple(case for case, _ in kept), Ran(outcomes)


@pytest.mark.heavy
@every_task
def test_every_mistake_is_named_by_what_it_gives(task: Task) -> None:
    with np.errstate(all="ignore"):
        for mistake in task.mistakes:
            if mistake.remark:
                continue
            given = _ran(task, task.made(), mistake)
            assert given is not None, mistake.said
            verdict = judged(task, *given)
            assert not verdict.right, mistake.said
            assert mistake.said in verdict.mistakes, (mistake.said, verdict.said)


def test_two_mistakes_at_once_are_both_named() -> None:
    task = find(2)
    ways = {"no scale": "the scores are not scaled", "over the queries": "the softmax runs over the queries"}
    chosen = [next(one for one in task.mistakes if one.said.startswith(said)) for said in ways.values()]
    way = {**chosen[0].ways[0], **chosen[1].ways[0]}
    verdict = judged(task, *_ran(task, task.made(), Mistake("both", (way,))))  # type: ignore[misc]
    assert any(all(said in one for said in ways.values()) for one in verdict.mistakes)


def test_what_fits_no_mistake_is_told_by_its_first_place() -> None:
    task = find(2)
    cases = task.made()
    right = [task.compute(*in_float64(case.arguments)) for case in cases]
    random = np.random.default_rng(0)
    noisy = Ran(tuple(Returned(one + random.normal(size=one.shape), True, ()) for one in right))
    verdict = judged(task, cases, noisy)
    assert verdict.said[0] == "Wrong, and no known mistake gives this."
    assert verdict.said[1].startswith("On small whole numbers it differs first at output[0, 0, 0]: ")
    last = right[1].copy()
    last[1, 2, 4] += 1
    verdict = judged(
        task, cases, Ran(tuple(Returned(last if at == 1 else one, True, ()) for at, one in enumerate(right)))
    )
    assert f"output[1, 2, 4]: {right[1][1, 2, 4]:.6g} is due, {last[1, 2, 4]:.6g} came." in verdict.said[1]


def test_an_overflow_in_attention_is_said_and_not_blamed() -> None:
    task = find(2)
    remark = next(one for one in task.mistakes if one.remark)
    verdict = judged(task, *_ran(task, task.made(), remark))  # type: ignore[misc]
    assert verdict.right
    assert verdict.said == (f"One thing more: {remark.said}.",)
