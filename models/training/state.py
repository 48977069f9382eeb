"""A training at one step, in one file: weights, optimizer, random numbers and how far it has come."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import nn
from torch.optim import AdamW

from models.files import read_tensors, write_tensors
from models.shipped import unique_weights

FILE = "state.safetensors"


@dataclass
class Progress:
    """How far a training has come; the sums are those of the metrics' row that is not yet written."""

    step: int = 0
    loss: float = 0.0  # of the row, summed over tokens
    tokens: int = 0  # of the row
    seconds: float = 0.0  # spent training, over all runs


def check_new(out: Path) -> None:
    """Raise ValueError where `out` holds a training already."""
    if (out / FILE).exists():
        raise ValueError(f"{out} holds a training already: go on with --resume, or choose another --out")


def save_state(out: Path, *, network: nn.Module, optimizer: AdamW, progress: Progress, recipe: str) -> None:
    """Write it atomically: after a kill at any moment there is a whole state, this one or the one before."""
    tensors = {f"network.{name}": tensor for name, tensor in unique_weights(network).items()}
    for name, parameter in network.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer.{name}.{key}"] = value
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    write_tensors(out / FILE, tensors, about=json.dumps({"progress": asdict(progress), "recipe": recipe}))


def load_state(out: Path, *, network: nn.Module, optimizer: AdamW, recipe: str) -> Progress:
    """Put everything back in place and return how far it had come; Progress() where nothing was saved yet.

    Raises ValueError for a damaged file, or one of another recipe.
    """
    path = out / FILE
    if not path.exists():
        return Progress()
    tensors, about = read_tensors(path)
    saved = json.loads(about)
    if saved["recipe"] != recipe:
        raise ValueError(f"{path} is of another recipe or implementation; go on with that one, or choose another --out")
    network.load_state_dict({name: tensors[f"network.{name}"] for name in unique_weights(network)}, strict=False)
    for name, parameter in network.named_parameters():
        prefix = f"optimizer.{name}."
        kept = {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
        # AdamW counts its steps on the CPU; the moments lie beside their parameter.
        optimizer.state[parameter] = {
            key: value if key == "step" else value.to(parameter.device) for key, value in kept.items()
        }
    torch.set_rng_state(tensors["random.cpu"])
    if torch.cuda.is_available() and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"])
    return Progress(**saved["progress"])
