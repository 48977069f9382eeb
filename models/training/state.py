"""The state of a training at one step, in one file: weights, optimizer, random numbers and progress."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.optim import AdamW

from models.checkpoints.store import unique_weights
from models.files import read_tensors, write_tensors
from models.formatting import one_line

FILE = "state.safetensors"


@dataclass
class TrainingProgress:
    """The progress of a training, with the sums for the next row of metrics."""

    step: int = 0
    loss: float = 0.0  # summed over the next row's tokens
    tokens: int = 0  # in the next row
    seconds: float = 0.0  # spent training, over all runs
    planned: int = 0  # steps of the whole training


def check_new(out: Path) -> None:
    """Raise ValueError where `out` holds a training already."""
    if (out / FILE).exists():
        raise ValueError(f"{out} holds a training already: go on with --resume, or choose another --out")


def save_state(out: Path, *, network: nn.Module, optimizer: AdamW, progress: TrainingProgress, recipe: str) -> None:
    """Write the state atomically: after a kill at any moment the file holds this state or the state before it."""
    tensors = {f"network.{name}": tensor for name, tensor in unique_weights(network).items()}
    for name, parameter in network.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer.{name}.{key}"] = value
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    write_tensors(out / FILE, tensors, about=json.dumps({"progress": asdict(progress), "recipe": recipe}))


def load_state(out: Path, *, network: nn.Module, optimizer: AdamW, recipe: str) -> TrainingProgress:
    """Restore a saved state and return its progress; TrainingProgress() where nothing was saved yet.

    Raises ValueError for a damaged file, or for the state of another recipe.
    """
    path = out / FILE
    if not path.exists():
        return TrainingProgress()
    tensors, about = read_tensors(path)
    try:
        saved = json.loads(about)
        saved_recipe, progress = saved["recipe"], TrainingProgress(**saved["progress"])
    except (ValueError, TypeError, KeyError) as error:  # not JSON, no such fields
        raise ValueError(f"{path} does not tell of a training ({one_line(error)}). {_WAY_OUT}") from error
    if saved_recipe != recipe:
        raise ValueError(f"{path} is of another recipe or implementation; go on with that one, or choose another --out")
    try:
        _restore(tensors, network=network, optimizer=optimizer)
    except (KeyError, RuntimeError, TypeError) as error:  # a tensor is missing, or has another shape or type
        raise ValueError(f"{path} does not fit this training ({one_line(error)}). {_WAY_OUT}") from error
    return progress


_WAY_OUT = "Choose another --out, or begin again without --resume in a new folder."


def _restore(tensors: Mapping[str, Tensor], *, network: nn.Module, optimizer: AdamW) -> None:
    network.load_state_dict({name: tensors[f"network.{name}"] for name in unique_weights(network)}, strict=False)
    for name, parameter in network.named_parameters():
        prefix = f"optimizer.{name}."
        values = {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
        # AdamW counts its steps on the CPU; the moments lie beside their parameter.
        optimizer.state[parameter] = {
            key: value if key == "step" else value.to(parameter.device) for key, value in values.items()
        }
    torch.set_rng_state(tensors["random.cpu"])
    if torch.cuda.is_available() and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"])
