"""Train one of Headlight's own models: python -m models.train NAME --data PATH --out DIR.

A training may be stopped at any moment, also by kill -9: the same command with --resume goes on, and ends with the
weights of a training that was never stopped. mini-gpt and mini-bert-zh take hours, at a learning rate that stays until
the last fifth of the steps: to end one earlier or later, resume it with another --steps.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from models import failures
from models.training.finish import finish
from models.training.loop import step_count, train
from models.training.recipes import RECIPES
from models.training.state import check_new
from models.training.tasks import prepare

INTERRUPTED = 130  # what a shell reports after Ctrl-C


def main(arguments: Sequence[str] | None = None) -> int:
    """Train a model; return 0 when finished, 2 after an error (printed in one line), 130 when interrupted."""
    chosen = _parser().parse_args(arguments)
    torch.set_num_threads(chosen.threads)
    out: Path = chosen.out or Path("runs") / f"{chosen.name}-{chosen.implementation}"
    try:
        if not chosen.resume:
            check_new(out)
        recipe = RECIPES[chosen.name]
        if chosen.steps is not None:
            recipe = replace(recipe, steps=chosen.steps)
        task = prepare(recipe, chosen.data, tokenizer_file=out / "tokenizer.json", resume=chosen.resume)
        print(f"{chosen.name}: {len(task.train):,} examples, {step_count(task):,} steps, into {out}", flush=True)
        trained = train(
            task, out, implementation=chosen.implementation, resume=chosen.resume, save_seconds=chosen.save_seconds
        )
        if not trained.finished:
            data = f" --data {chosen.data}" if chosen.data else ""
            print(
                f"Stopped and saved at step {trained.progress.step:,} of {trained.steps:,}. Go on with\n"
                f"  python -m models.train {chosen.name}{data} --out {out}"
                f" --implementation {chosen.implementation} --resume"
                + (f" --steps {chosen.steps}" if chosen.steps else "")
            )
            return INTERRUPTED
        print(
            finish(
                task,
                trained,
                out,
                data=chosen.data,
                implementation=chosen.implementation,
                beside=chosen.beside,
            )
        )
    except Exception as error:  # whatever fails, the reader of a command gets one line
        logging.getLogger(__name__).debug("failed", exc_info=True)
        known = isinstance(error, ValueError | OSError)
        wrong = failures.sentence(
            error, what="The training", instead=f"Look at what is in {out}, or choose another --out."
        )
        print(error if known else wrong, file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m models.train", description=__doc__)
    parser.add_argument("name", choices=sorted(RECIPES), help="toy needs no data and takes seconds")
    parser.add_argument("--data", type=Path, help="the folder that holds the data files")
    parser.add_argument(
        "--out", type=Path, help="the folder for checkpoints, metrics and the card (runs/NAME-IMPLEMENTATION)"
    )
    parser.add_argument("--resume", action="store_true", help="go on where the training in --out stopped")
    parser.add_argument(
        "--implementation",
        choices=("own", "torch", "transformers"),
        default="own",
        help="the yardsticks: nn.Transformer of torch translates, BertForMaskedLM of transformers is a mini-bert",
    )
    parser.add_argument(
        "--beside",
        type=Path,
        nargs="+",
        default=(),
        help="the --out of finished trainings, such as a yardstick's; the card shows their scores beside the model's",
    )
    parser.add_argument("--steps", type=int, help="how many steps; where the rate falls late, also to resume with")
    parser.add_argument("--threads", type=int, default=1, help="more than one helps only large models on idle cores")
    parser.add_argument("--save-seconds", type=float, default=60.0, help="how often the state is saved")
    return parser


if __name__ == "__main__":
    sys.exit(main())
