"""All tasks, in the order in which they are asked."""

from __future__ import annotations

from inspector.practice.record.task import Task
from inspector.practice.tasks import (
    additive,
    attention,
    beam,
    bpe,
    causal_mask,
    delta_rule,
    flops,
    heads,
    kv_cache,
    layer_norm,
    rope,
    sinusoidal,
    softmax,
)

TASKS: tuple[Task, ...] = (
    softmax.TASK,
    attention.TASK,
    causal_mask.TASK,
    heads.TASK,
    layer_norm.TASK,
    sinusoidal.TASK,
    rope.TASK,
    kv_cache.TASK,
    additive.TASK,
    bpe.TASK,
    beam.TASK,
    flops.TASK,
    delta_rule.TASK,
)
BY_NUMBER = {task.number: task for task in TASKS}


def find(number: int) -> Task:
    """Return a task by its number; ValueError for a number that none has."""
    if number not in BY_NUMBER:
        raise ValueError(f"There is no task {number}; they go from 1 to {len(TASKS)}.")
    return BY_NUMBER[number]
