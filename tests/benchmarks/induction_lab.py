"""An induction head is born in the lab, over three seeds: accuracy, score and seconds.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.induction_lab

Takes about two minutes on one idle core. Seconds are the processor's; the page's own preset is trained.
"""

from __future__ import annotations

from time import process_time

import torch

from inspector.views.lab.presets import INDUCTION
from models.training import lab
from models.training.tiny.experiments import Side
from models.training.tiny.solvers import solver

SEEDS = 3


def main() -> None:
    """Print a line for each side and seed."""
    torch.set_num_threads(1)
    experiment = INDUCTION.experiment
    sides: tuple[Side, ...] = ("A", "B")
    print("layers  seed  accuracy  texts right  induction score  seconds")
    for side in sides:
        for seed in range(SEEDS):
            run, began = experiment.run(side, seed=seed), process_time()
            network = solver(run)
            course = lab.Course(side, run, network, tuple(lab.train(network, run)))
            seconds = process_time() - began
            trial = lab.result(course).trials[0]
            assert trial.induction is not None
            score, _ = lab.best_head(trial.induction)
            print(
                f"{run.switches.layers:6}  {seed:4}  {trial.token_accuracy:8.3f}  {trial.exact_accuracy:11.3f}"
                f"  {score:15.3f}  {seconds:7.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
