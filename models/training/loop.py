"""The training loop: batch, loss, gradient, step; now and then a row of metrics, a moment of the replay, a checkpoint.

Everything random follows from the recipe's seed, the step and the state of torch's generator, which is saved: a
training that is interrupted and resumed ends with the same weights, bit for bit, as an uninterrupted training (on one
device, with one number of threads).
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import cast

import torch
from torch import nn
from torch.optim import AdamW
from tqdm import tqdm

from models.training import metrics, replay
from models.training.batches import TokenBatch, batches_of, buckets, collate
from models.training.objectives import Predictor, loss, predictions
from models.training.recipes import Recipe
from models.training.schedules import last_constant, learning_rate
from models.training.state import TrainingProgress, check_new, load_state, save_state
from models.training.tasks import Implementation, Task


@dataclass(frozen=True)
class TrainingOutcome:
    """The end of a training: its network and progress. finished: False where the training was interrupted."""

    network: nn.Module
    progress: TrainingProgress
    steps: int
    finished: bool


def train(
    task: Task,
    out: Path,
    *,
    implementation: Implementation = "own",
    resume: bool = False,
    device: torch.device | None = None,
    save_seconds: float = 60.0,
) -> TrainingOutcome:
    """Train the task's network and leave in `out` state.safetensors, metrics.csv and replay/.

    resume: continue from the last state in `out`; if False, `out` must hold no state. device: None for the GPU if the
    machine has one. save_seconds: how often the state is saved. An interrupt (Ctrl-C) ends the step, saves and returns.

    Raises ValueError where `out` holds a training and resume is False, or holds a training of another recipe.
    """
    recipe = task.recipe
    device = device or torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network = task.network(implementation).to(device).train()
    optimizer = make_optimizer(network, recipe)
    if not resume:
        check_new(out)
    identity = json.dumps({**_identity(recipe), "implementation": implementation})
    torch.manual_seed(recipe.seed)
    progress = load_state(out, network=network, optimizer=optimizer, recipe=identity)
    steps = step_count(task)
    if recipe.decay == "late" and progress.planned != steps:
        _check_replanned(progress, steps)
        progress.planned = steps
    run = _Run(task, network, optimizer, progress, out, steps, device)
    if progress.step == 0:
        run.begin()
    metrics.cut(out, progress.step)
    replay.cut(out, progress.step)
    batches = batches_of(task.phases, padding=task.vocabulary.padding, seed=recipe.seed, done=progress.step)
    before, saved = progress.seconds - time.perf_counter(), time.perf_counter()
    with _interrupts() as interrupted, _bar(recipe.name, progress.step, steps) as bar:
        while progress.step < steps and not interrupted:
            run.step(next(batches))
            progress.seconds = before + time.perf_counter()
            run.observe(bar)
            if time.perf_counter() - saved >= save_seconds:
                save_state(out, network=network, optimizer=optimizer, progress=progress, recipe=identity)
                saved = time.perf_counter()
    save_state(out, network=network, optimizer=optimizer, progress=progress, recipe=identity)
    return TrainingOutcome(network.eval(), progress, steps, finished=progress.step == steps)


def _identity(recipe: Recipe) -> dict[str, object]:
    """Return what a resumed training must have in common with the one before it."""
    choices = asdict(recipe)
    if recipe.decay == "late":  # until the rate falls, nothing depends on the number of steps
        del choices["steps"]
    return choices


def _check_replanned(progress: TrainingProgress, steps: int) -> None:
    fallen = progress.step > last_constant(progress.planned)
    if progress.step and (fallen or progress.step > last_constant(steps)):
        why = f"the learning rate falls since step {last_constant(progress.planned):,}" if fallen else "that is too few"
        raise ValueError(
            f"{steps:,} steps after step {progress.step:,} of {progress.planned:,}: {why}. Choose --steps "
            + (f"{progress.planned}" if fallen else f"{-(-progress.step * 5 // 4)} or more")
        )


def step_count(task: Task) -> int:
    """Count the steps of the recipe's phases and epochs, at most recipe.steps."""
    recipe = task.recipe
    return min(sum(phase.count(seed=recipe.seed) for phase in task.phases), recipe.steps or sys.maxsize)


def make_optimizer(network: nn.Module, recipe: Recipe) -> AdamW:
    """Build AdamW (Loshchilov & Hutter 2019); matrices decay, but not biases, norms and embeddings."""
    embeddings = {id(module.weight) for module in network.modules() if isinstance(module, nn.Embedding)}
    decayed, others = list[nn.Parameter](), list[nn.Parameter]()
    for parameter in network.parameters():
        (decayed if parameter.ndim > 1 and id(parameter) not in embeddings else others).append(parameter)
    groups = [{"params": decayed, "weight_decay": recipe.weight_decay}, {"params": others, "weight_decay": 0.0}]
    return AdamW(groups, lr=recipe.learning_rate, betas=recipe.betas, eps=1e-9)


@torch.inference_mode()
def evaluate(network: nn.Module, task: Task, *, device: torch.device) -> tuple[float, float]:
    """Return the loss (nats a token, without smoothing) and the share of right predictions on the valid split."""
    recipe, vocabulary = task.recipe, task.vocabulary
    training, total, right, count = network.training, 0.0, 0, 0
    network.eval()
    for number, indices in enumerate(buckets(task.valid, batch_tokens=recipe.batch_tokens, seed=0)):
        batch = collate([task.valid[index] for index in indices], padding=vocabulary.padding).to(device)
        logits, labels = predictions(
            cast(Predictor, network), batch, objective=recipe.objective, vocabulary=vocabulary, seed=number
        )
        total += float(loss(logits, labels, label_smoothing=0.0)) * len(labels)
        right += int((logits.argmax(dim=-1) == labels).sum())
        count += len(labels)
    network.train(training)
    return total / count, right / count


@dataclass
class _Run:
    task: Task
    network: nn.Module
    optimizer: AdamW
    progress: TrainingProgress
    out: Path
    steps: int
    device: torch.device
    gradient_norm: float = 0.0
    rate: float = 0.0
    seen: tuple[float, int] = field(
        default_factory=lambda: (time.perf_counter(), 0)
    )  # the time of the last row, and the tokens since then

    def begin(self) -> None:
        """Write the header of the metrics and the replay's first moment, before the first step."""
        metrics.begin(self.out)
        replay.record(self.out, self.network, self.task, step=0)

    def step(self, batch: TokenBatch) -> None:
        """Update the weights once."""
        recipe, progress = self.task.recipe, self.progress
        progress.step += 1
        self.rate = learning_rate(
            progress.step,
            highest=recipe.learning_rate,
            warmup=recipe.warmup,
            steps=self.steps,
            decay=recipe.decay,
        )
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate
        with torch.autocast(self.device.type, torch.bfloat16, enabled=recipe.bf16):
            logits, labels = predictions(
                cast(Predictor, self.network),
                batch.to(self.device),
                objective=recipe.objective,
                vocabulary=self.task.vocabulary,
                seed=recipe.seed + progress.step,
                hidden_share=recipe.hidden_share,
            )
            mean = loss(logits, labels, label_smoothing=recipe.label_smoothing)
        value = float(mean.detach())
        if not isfinite(value):
            raise ValueError(f"the loss is {value} at step {progress.step}; lower the recipe's learning_rate")
        self.optimizer.zero_grad()
        mean.backward()  # type: ignore[no-untyped-call]
        self.gradient_norm = float(nn.utils.clip_grad_norm_(self.network.parameters(), recipe.clip))
        self.optimizer.step()
        progress.loss += value * len(labels)
        progress.tokens += len(labels)
        self.seen = (self.seen[0], self.seen[1] + int(batch.keep.sum()) + int(batch.target_keep.sum()))

    def observe(self, bar: tqdm[None]) -> None:
        """Update the bar after a step; if due, write a row of metrics and a moment of the replay."""
        recipe, progress = self.task.recipe, self.progress
        speed = self.seen[1] / (time.perf_counter() - self.seen[0])
        bar.update(1)
        bar.set_postfix(loss=f"{progress.loss / progress.tokens:.3f}", tokens_s=f"{speed:,.0f}", refresh=False)
        tested = due(progress.step, self.steps, recipe.evaluations)
        if tested or due(progress.step, self.steps, recipe.rows):
            valid = evaluate(self.network, self.task, device=self.device) if tested else None
            metrics.add(
                self.out,
                progress,
                valid=valid,
                rate=self.rate,
                gradient_norm=self.gradient_norm,
                speed=speed,
            )
            progress.loss, progress.tokens, self.seen = 0.0, 0, (time.perf_counter(), 0)
        if progress.step in replay.moments(self.steps):
            replay.record(self.out, self.network, self.task, step=progress.step)


def due(step: int, steps: int, times: int) -> bool:
    """Return True at `times` of the `steps`, evenly spaced, the last step among them."""
    return step * times // steps > (step - 1) * times // steps


def _bar(name: str, done: int, steps: int) -> tqdm[None]:
    seen = sys.stderr.isatty()
    return tqdm(desc=name, initial=done, total=steps, unit="step", mininterval=0.2 if seen else 20.0, ascii=not seen)


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Yield a list that an interrupt (Ctrl-C) makes non-empty; a second interrupt stops at once."""
    asked: list[int] = []

    def ask(number: int, frame: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
