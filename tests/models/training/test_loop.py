"""A training that was killed and resumed ends where an unbroken one does, bit for bit; the toy learns."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

from models.files import read_tensors
from models.training import metrics, replay
from models.training.loop import due, step_count, train
from models.training.recipes import TOY, Recipe
from models.training.state import FILE
from models.training.tasks import prepare

ROOT = Path(__file__).parents[3]
# Trains, and kills itself at the moment when a thread sees the first row after a step: no other process must hurry.
SCRIPT = """
import os, signal, sys, threading, time, torch
from pathlib import Path
from models.training import metrics
from models.training.loop import train
from models.training.recipes import Recipe
from models.training.state import FILE
from models.training.tasks import prepare
torch.set_num_threads(1)
out = Path(sys.argv[1])
task = prepare(Recipe(**eval(sys.argv[2])), None, tokenizer_file=out / "tokenizer.json")
def kill():
    seen = False
    while not seen:
        time.sleep(0.002)
        try:
            seen = (out / FILE).is_file() and any(row["step"] for row in metrics.read(out))
        except ValueError:  # no file yet, or half a row
            pass
    os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=kill, daemon=True).start()
train(task, out, save_seconds=0.0)
"""


def finished(recipe: Recipe, out: Path, *, resume: bool = False) -> dict[str, torch.Tensor]:
    task = prepare(recipe, None, tokenizer_file=out / "tokenizer.json", resume=resume)
    assert train(task, out, resume=resume).finished
    return read_tensors(out / FILE)[0]


def columns(out: Path) -> list[dict[str, float | None]]:
    """metrics.csv without what a clock says."""
    clock = {"tokens_per_second", "seconds"}
    return [{key: value for key, value in row.items() if key not in clock} for row in metrics.read(out)]


@pytest.fixture(scope="module")
def unbroken(tiny: Recipe, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, torch.Tensor]]:
    out = tmp_path_factory.mktemp("unbroken")
    return out, finished(tiny, out)


def test_killed_and_resumed_equals_unbroken(
    tiny: Recipe, unbroken: tuple[Path, dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), repr(asdict(tiny))]
    done = subprocess.run(command, cwd=ROOT, stderr=subprocess.DEVNULL, check=False)
    assert done.returncode == -signal.SIGKILL
    stopped = int(read_tensors(tmp_path / FILE)[0]["optimizer.encoder.final_norm.gamma.step"])
    assert 0 < stopped < tiny.steps

    out, weights = unbroken
    resumed = finished(tiny, tmp_path, resume=True)
    assert resumed.keys() == weights.keys()
    assert all(torch.equal(resumed[name], tensor) for name, tensor in weights.items())
    assert columns(tmp_path) == columns(out)
    names = sorted(path.name for path in (out / replay.FOLDER).iterdir())
    assert names == sorted(path.name for path in (tmp_path / replay.FOLDER).iterdir())
    for name in names:
        again, once = (read_tensors(folder / replay.FOLDER / name)[0] for folder in (tmp_path, out))
        assert all(torch.equal(again[key], once[key]) for key in once)


def test_an_interrupt_saves_and_what_goes_on_is_the_same(
    tiny: Recipe, unbroken: tuple[Path, dict[str, torch.Tensor]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = prepare(tiny, None, tokenizer_file=tmp_path / "tokenizer.json")
    record = replay.record
    handler = signal.getsignal(signal.SIGINT)

    def interrupt(*arguments: object, step: int) -> None:
        record(*arguments, step=step)
        if step == replay.moments(30)[6]:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(replay, "record", interrupt)
    stopped = train(task, tmp_path)
    assert (stopped.finished, stopped.progress.step) == (False, replay.moments(30)[6])
    monkeypatch.undo()
    assert signal.getsignal(signal.SIGINT) is handler
    resumed = finished(tiny, tmp_path, resume=True)
    assert all(torch.equal(resumed[name], tensor) for name, tensor in unbroken[1].items())


def test_a_row_half_written_by_a_kill_is_forgotten(unbroken: tuple[Path, object], tmp_path: Path) -> None:
    text = (unbroken[0] / metrics.FILE).read_text(encoding="utf-8")
    (tmp_path / metrics.FILE).write_text(text + "31,0.5,0.", encoding="utf-8")
    metrics.cut(tmp_path, 15)
    assert [row["step"] for row in metrics.read(tmp_path)] == [5, 10, 15]


def test_what_is_there_is_never_overwritten_nor_mixed(unbroken: tuple[Path, object], tiny: Recipe) -> None:
    out = unbroken[0]
    task = prepare(tiny, None, tokenizer_file=out / "tokenizer.json", resume=True)
    with pytest.raises(ValueError, match="holds a training already: go on with --resume"):
        train(task, out)
    with pytest.raises(ValueError, match="of another recipe or implementation"):
        train(task, out, implementation="torch", resume=True)
    other = replace(task, recipe=replace(tiny, learning_rate=1.0))
    with pytest.raises(ValueError, match="of another recipe"):
        train(other, out, resume=True)


def test_a_damaged_state_is_said(unbroken: tuple[Path, object], tiny: Recipe, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes((unbroken[0] / FILE).read_bytes()[:1000])
    task = prepare(tiny, None, tokenizer_file=tmp_path / "tokenizer.json", resume=True)
    with pytest.raises(ValueError, match=r"state\.safetensors is damaged"):
        train(task, tmp_path, resume=True)


def test_the_yardstick_is_of_the_same_size_and_trains(tiny: Recipe, tmp_path: Path) -> None:
    task = prepare(tiny, None, tokenizer_file=tmp_path / "tokenizer.json")
    own, torchs = (
        sum(parameter.numel() for parameter in task.network(implementation).parameters())
        for implementation in ("own", "torch")
    )
    assert own == torchs
    assert train(task, tmp_path, implementation="torch").finished
    rows = metrics.read(tmp_path)
    assert rows[-1]["valid_loss"] < rows[0]["loss"]


def test_the_toy_learns(tmp_path: Path) -> None:
    """Reversing: far above the 10 % of guessing a letter, after a third of its training."""
    recipe = replace(TOY, epochs=4, evaluations=4)
    task = prepare(recipe, None, tokenizer_file=tmp_path / "tokenizer.json")
    assert train(task, tmp_path).finished
    tested = [row["valid_accuracy"] for row in metrics.read(tmp_path) if row["valid_accuracy"] is not None]
    assert len(tested) == 4
    assert tested[-1] > 0.7 > tested[0]


def test_a_loss_that_is_no_number_stops_the_training(tiny: Recipe, tmp_path: Path) -> None:
    task = prepare(replace(tiny, learning_rate=1e30), None, tokenizer_file=tmp_path / "tokenizer.json")
    with pytest.raises(ValueError, match=r"the loss is (nan|inf) at step \d+; lower"):
        train(task, tmp_path)


def test_what_is_due_happens_so_often_and_at_the_end(tiny: Recipe, tmp_path: Path) -> None:
    assert [step for step in range(1, 11) if due(step, 10, 4)] == [3, 5, 8, 10]
    assert sum(due(step, 3120, 24) for step in range(1, 3121)) == 24
    task = prepare(tiny, None, tokenizer_file=tmp_path / "tokenizer.json")
    assert step_count(task) == 30
    assert step_count(replace(task, recipe=TOY)) == 300


def test_a_late_decay_may_end_elsewhere_until_it_begins(
    tiny: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = replace(tiny, decay="late")
    ended, again = tmp_path / "ended", tmp_path / "again"
    weights = finished(replace(late, steps=20), ended)

    record = replay.record

    def interrupt(*arguments: object, step: int) -> None:
        record(*arguments, step=step)
        if step == 12:
            os.kill(os.getpid(), signal.SIGINT)

    task = prepare(replace(late, steps=30), None, tokenizer_file=again / "tokenizer.json")
    monkeypatch.setattr(replay, "record", interrupt)
    assert train(task, again).progress.step == 12
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"14 steps after step 12 of 30: that is too few\. Choose --steps 15 or more"):
        train(replace(task, recipe=replace(late, steps=14)), again, resume=True)
    resumed = finished(replace(late, steps=20), again, resume=True)
    assert all(torch.equal(resumed[name], tensor) for name, tensor in weights.items())
    with pytest.raises(ValueError, match=r"the learning rate falls since step 16\. Choose --steps 20"):
        train(task, again, resume=True)
