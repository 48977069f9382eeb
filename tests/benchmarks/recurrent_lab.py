"""The Lab's experiments on recurrence, over three seeds: what is right by length and by place, and seconds.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.recurrent_lab

Takes about three minutes on one idle core. Seconds are the processor's; the page's own presets are trained.
"""

from __future__ import annotations

from time import process_time

import torch

from inspector.views.lab.presets import RECURRENCE
from models.training import lab
from models.training.tiny.experiments import Side
from models.training.tiny.solvers import solver

SEEDS = 3


def main() -> None:
    """Print a line for each preset, side and seed."""
    torch.set_num_threads(1)
    sides: tuple[Side, ...] = ("A", "B")
    for preset in RECURRENCE:
        print(preset.name)
        for side in sides:
            for seed in range(SEEDS):
                run, began = preset.experiment.run(side, seed=seed), process_time()
                network = solver(run)
                course = lab.Course(side, run, network, tuple(lab.train(network, run)))
                seconds = process_time() - began
                trials = lab.result(course).trials
                half = next((at.step for at in course.curve if at.exact_accuracy >= 0.5), None)
                shares = ", ".join(f"{one.times}x {one.token_accuracy:.3f} {one.exact_accuracy:.3f}" for one in trials)
                places = " ".join(f"{share:.2f}" for share in trials[0].places)
                print(
                    f"  {side} {seed}  digits and texts right: {shares}; half of the texts at step {half}; "
                    f"{seconds:.1f} s; by place {places}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
