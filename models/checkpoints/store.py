"""Checkpoints that come with Headlight, checkpoints/NAME/: config.json, model.safetensors, tokenizer.json, CARD.md."""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import nn

from models.checkpoints import CONFIG, TOKENIZER, WEIGHTS, way_out
from models.files import read_tensors, write_tensors, write_text
from models.transformer import Decoder, Encoder, EncoderDecoder, build
from models.transformer.config import TransformerConfig
from models.transformer.masked_lm import MaskedLanguageModel
from models.transformer.subwords import as_transformers

STORED = torch.float16  # what weights are written in


@dataclass(frozen=True)
class Checkpoint:
    """A network in eval mode, in float32, and its tokenizer."""

    network: Encoder | Decoder | EncoderDecoder | MaskedLanguageModel
    config: TransformerConfig
    tokenizer: Any


def read_checkpoint(folder: Path) -> Checkpoint:
    """Load a checkpoint.

    Raises ValueError that names the file that is missing or damaged, and what to do.
    """
    try:
        config, masked = _read_config(folder / CONFIG)
        with torch.random.fork_rng(devices=[]):
            network = MaskedLanguageModel(config) if masked else build(config)
        _put_weights(network, folder / WEIGHTS)
        tokenizer = _tokenizer_of(folder, config)
    except ValueError as error:
        raise ValueError(f"{error} {way_out(folder)}") from error
    return Checkpoint(network.eval().requires_grad_(False), config, tokenizer)


def read_tokenizer(folder: Path) -> Any:
    """Load the tokenizer of a checkpoint, without its weights. Raises ValueError as `read_checkpoint` does."""
    try:
        return _tokenizer_of(folder, _read_config(folder / CONFIG)[0])
    except ValueError as error:
        raise ValueError(f"{error} {way_out(folder)}") from error


def write_checkpoint(folder: Path, network: nn.Module, tokenizer: Tokenizer) -> None:
    """Write config, weights in half precision and tokenizer, each atomically."""
    config = network.config
    if not isinstance(config, TransformerConfig):
        raise ValueError(f"{type(network).__name__} is no own Transformer; only those are shipped")
    chosen = {
        field.name: getattr(config, field.name)
        for field in fields(config)
        if field.default is MISSING or getattr(config, field.name) != field.default
    }
    about = {"masked": isinstance(network, MaskedLanguageModel), "transformer": chosen}
    write_text(folder / CONFIG, json.dumps(about, indent=2) + "\n")
    write_tensors(folder / WEIGHTS, {name: tensor.to(STORED) for name, tensor in unique_weights(network).items()})
    write_text(folder / TOKENIZER, tokenizer.to_str())


def unique_weights(network: nn.Module) -> dict[str, torch.Tensor]:
    """Collect every tensor of the network's state once: a shared tensor (tied embeddings) under its first name."""
    seen: set[int] = set()
    weights = {}
    for name, tensor in network.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            weights[name] = tensor.detach()
    return weights


def _read_config(path: Path) -> tuple[TransformerConfig, bool]:
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        return TransformerConfig(**about["transformer"]), bool(about["masked"])
    except FileNotFoundError as error:
        raise ValueError(f"There is no file {path}.") from error
    except (OSError, ValueError, KeyError, TypeError) as error:  # not JSON, not UTF-8, not a configuration
        raise ValueError(f"{path} is damaged ({error}).") from error


def _put_weights(network: nn.Module, path: Path) -> None:
    saved, _ = read_tensors(path)
    wanted = unique_weights(network)
    shapes = {name: tuple(tensor.shape) for name, tensor in saved.items()}
    wrong = sorted(
        name for name in wanted.keys() | shapes if name not in wanted or shapes.get(name) != wanted[name].shape
    )
    if wrong:
        raise ValueError(f"{path} does not fit its config.json: {', '.join(wrong[:3])} ({len(wrong)} tensors in all).")
    network.load_state_dict({name: tensor.float() for name, tensor in saved.items()}, strict=False)


def _tokenizer_of(folder: Path, config: TransformerConfig) -> Any:
    tokenizer = _parsed_tokenizer(folder / TOKENIZER)
    if tokenizer.get_vocab_size() != config.vocabulary:
        raise ValueError(
            f"{folder / TOKENIZER} has {tokenizer.get_vocab_size()} tokens, {folder / CONFIG} {config.vocabulary}: "
            "they are of two models."
        )
    return as_transformers(tokenizer, max_tokens=config.max_positions)


def _parsed_tokenizer(path: Path) -> Tokenizer:
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    try:
        return Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except Exception as error:
        raise ValueError(f"{path} is damaged ({error}).") from error
