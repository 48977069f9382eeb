"""Read a stranger's config.json: numbers are capped before anything is built, and nothing is run or fetched.

A configuration can name code (auto_map), a kernel to download (attn_implementation), another weights file or another
model (transformers_weights, backbone), and any number. Only the description of the architecture gets through.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from torch import nn
from transformers import CONFIG_MAPPING, MODEL_MAPPING, AutoConfig, PreTrainedModel

from models.config_facts import check_counts
from models.formatting import one_line
from models.limits import UNLIMITED, Limits, variable
from models.untrusted.files import exists, read_fields

_NAME = "config.json"
MOST_BYTES = 2**20  # in one config.json; the longest published files (thousands of labels) have some 200 kB
_MOST_LABELS = 100_000
_MOST_EXPERTS = 4096
_MOST = 2**24  # for any other size: positions, vocabulary, widths
# A field with one of these words in its name is no size.
_NO_SIZE = ("theta", "base", "seed", "token_id", "frequency", "scal", "factor", "max_length")

# Fields that are left out at any depth: they choose code, kernels, files or devices, which Headlight chooses itself.
_IGNORED = {
    "auto_map": "custom code",
    "custom_pipelines": "custom code",
    "custom_generate": "custom code",
    "attn_implementation": "an attention kernel",
    "experts_implementation": "an experts kernel",
    "use_kernels": "kernels",
    "kernel_config": "kernels",
    "transformers_weights": "another weights file",
    "extra_files": "further files",
    "extra_config_files": "further files",
    "base_model_tp_plan": "a device plan",
    "base_model_fsdp_plan": "a device plan",
    "base_model_pp_plan": "a device plan",
    "base_model_ep_plan": "a device plan",
    "device_map": "a device plan",
}
_IGNORED_SILENTLY = {"dtype", "torch_dtype", "name_or_path", "output_attentions", "output_hidden_states", "torchscript"}
_READING_FAILS = (OSError, ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError, ImportError)
_SIZES = ("hidden_size", "num_attention_heads", "num_hidden_layers", "vocab_size")
_QUANTISED = ("quantization_config", "compression_config", "quantization")
_NOT_FINITE = "__float__"  # transformers' notation for an infinity in JSON
_ENDLESS = ("time_step_limit", "mamba_dt_limit")  # upper bounds in state space models; infinity means no bound
_BACKBONES = ("backbone", "backbone_config", "use_timm_backbone", "use_pretrained_backbone")


@dataclass(frozen=True)
class SafeConfig:
    """A configuration of transformers that is safe to build and to hand to from_pretrained.

    config: the transformers configuration, with eager attention. architecture: transformers' own class for it.
    dtype: the dtype of the saved weights, None where the file does not say. ignored: the settings that were left out
    of the file, in words.
    """

    config: Any
    architecture: type[nn.Module]
    dtype: torch.dtype | None
    ignored: tuple[str, ...]


def safe_config(folder: Path, *, limits: Limits = UNLIMITED) -> SafeConfig:
    """Read the configuration in a model's folder, without running or fetching anything that it names.

    Raises ValueError for a file that is missing or damaged, an architecture that is not transformers' own, quantised
    weights, and numbers over the limits.
    """
    return _checked(_read(folder), limits=limits)


def pasted(text: str, *, limits: Limits = UNLIMITED) -> SafeConfig:
    """Read the text of a config.json whose weights nobody will load; nothing is run or fetched.

    Quantised weights are no obstacle here: the setting is left out, and `ignored` says so.
    Raises ValueError, in one sentence, for a text that is too long, damaged or nested too deep, and otherwise as
    `safe_config` does.
    """
    content = text.encode("utf-8", errors="replace")
    if not text.strip():
        raise ValueError("There is no text; paste the whole of a config.json, from its first brace to its last")
    if len(content) > MOST_BYTES:
        raise ValueError(
            f"The text has {len(content):,} bytes, over {MOST_BYTES:,}; no published config.json needs that"
        )
    with TemporaryDirectory() as folder:
        Path(folder, _NAME).write_bytes(content)
        raw = _read(Path(folder))
    if "model_type" not in raw:
        raise ValueError(
            "The text names no model_type, such as 'llama'; paste the whole config.json of a transformers model"
        )
    unquantised = {name: value for name, value in raw.items() if name not in _QUANTISED}
    safe = _checked(unquantised, limits=limits)
    if any(raw.get(name) for name in _QUANTISED):
        safe = replace(safe, ignored=(*safe.ignored, "quantised weights"))
    return safe


def _checked(raw: Mapping[str, Any], *, limits: Limits) -> SafeConfig:
    _refuse(raw)
    _check_numbers(raw, limits=limits)
    kind = raw.get("model_type")
    if not isinstance(kind, str) or kind not in CONFIG_MAPPING:
        raise ValueError(_not_ours(raw))
    ignored = sorted({words for key in _keys(raw) if (words := _IGNORED.get(key.lstrip("_")))})
    try:
        config = _as_transformers_reads(_described(raw))
    except (*_READING_FAILS, StrictDataclassError) as error:
        raise ValueError(f"config.json is no configuration of {kind}: {one_line(error)}") from error
    _check_finite(config)
    _check_sizes(config)
    architecture = _architecture(config, raw)
    if (reads := architecture.main_input_name) != "input_ids":
        raise ValueError(f"{architecture.__name__} reads {reads}, not text; choose a text model")
    return SafeConfig(config, architecture, _dtype(raw), tuple(ignored))


def described(folder: Path) -> dict[str, Any]:
    """Read the description of the architecture in a model's config.json, without private fields, code or devices.

    Raises ValueError for a file that is missing or damaged.
    """
    fields: dict[str, Any] = _described(_read(folder))
    return fields


def _read(folder: Path) -> dict[str, Any]:
    if not exists(folder, _NAME):
        raise ValueError(f"{folder} holds no config.json; choose the folder of a transformers model")
    return read_fields(folder, _NAME, most=MOST_BYTES, linked=True)  # models/untrusted/folders.py checks the links


def _as_transformers_reads(described: Mapping[str, Any]) -> Any:
    """Build the configuration with AutoConfig, which knows older spellings, from a folder with this file alone."""
    with TemporaryDirectory() as folder:
        Path(folder, "config.json").write_text(json.dumps(described), encoding="utf-8")
        config = AutoConfig.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True, attn_implementation="eager"
        )
    config.name_or_path = ""
    return config


def _refuse(raw: Mapping[str, Any]) -> None:
    for key, value in _items(raw):
        if key in _QUANTISED and value:
            method = value.get("quant_method") if isinstance(value, dict) else None
            raise ValueError(
                f"The weights are quantised ({str(method or key)[:60]!a}), and every quantised format is refused: each "
                "brings kernels of its own. Choose the model it was made from, in float32, float16 or bfloat16."
            )
        if key.endswith("_config") and not isinstance(value, dict | list | None):
            raise ValueError(f"config.json has {key[:60]!a} = {ascii(value)[:60]}, which is no configuration of a part")
        if key in _BACKBONES and value:
            raise ValueError(
                f"config.json builds on another model ({key}), which would be fetched; choose a text model"
            )


def _check_numbers(raw: Mapping[str, Any], *, limits: Limits) -> None:
    for key, value in _items(raw):
        if isinstance(value, bool) or not isinstance(value, int) or any(word in key for word in _NO_SIZE):
            continue
        most, way_out = _MOST, ""
        if ("layer" in key or key.endswith(("depth", "_blocks"))) and not key.endswith(("size", "dim")):
            most, way_out = limits.layers, f"; {variable('layers')} sets that limit"
        elif "label" in key:
            most = _MOST_LABELS
        elif "expert" in key and not key.endswith(("size", "dim")):
            most = _MOST_EXPERTS
        if value > most:
            raise ValueError(f"config.json has {key[:60]!a} = {_short(value)}, over {most:,}{way_out}")


def _check_finite(config: Any) -> None:
    """Raise ValueError for an infinity or NaN, which would make every result NaN or infinite."""
    for key, value in _items(config.to_dict()):
        if isinstance(value, float) and not math.isfinite(value) and key not in _ENDLESS:
            raise ValueError(f"config.json has {key[:60]!a} = {value}, and a model computes with finite numbers")


def _check_sizes(config: Any) -> None:
    """Raise ValueError where a size that every transformer has is negative, and for counts that do not fit."""
    for part in (config, *(getattr(config, name, None) for name in config.sub_configs)):
        for name in _SIZES:
            size = getattr(part, name, None)
            if isinstance(size, int) and size < 0:
                raise ValueError(f"config.json has a {name} of {size:,}; a model has 1 or more")
        if part is not None:
            check_counts(part)


def _short(number: int) -> str:
    return f"{number:,}" if number < 10**15 else f"a number of {len(str(number))} digits"


def _described(value: Any) -> Any:
    """Keep the fields that describe the architecture, at any depth; drop private fields and fields that choose code."""
    if isinstance(value, list):
        return [_described(item) for item in value]
    if not isinstance(value, dict):
        return value
    dropped = _IGNORED.keys() | _IGNORED_SILENTLY
    names = (key for key in value if key not in dropped and (key == _NOT_FINITE or not key.startswith("_")))
    return {key: _described(value[key]) for key in names}


def _architecture(config: Any, raw: Mapping[str, Any]) -> type[PreTrainedModel]:
    """Return the class that the file names if it is transformers' own for this configuration, else the bare model."""
    if names := raw.get("architectures"):
        name = names[0] if isinstance(names, list) else names
        named: Any = getattr(transformers, name, None) if isinstance(name, str) and name.isidentifier() else None
        if not (isinstance(named, type) and issubclass(named, PreTrainedModel)):
            raise ValueError(_not_ours(raw))
        if getattr(named, "config_class", None) is type(config):
            declared: type[PreTrainedModel] = named
            return declared
    if type(config) not in MODEL_MAPPING:
        raise ValueError(_not_ours(raw))
    listed = MODEL_MAPPING[type(config)]
    bare: type[PreTrainedModel] = listed[0] if isinstance(listed, tuple | list) else listed
    return bare


def _not_ours(raw: Mapping[str, Any]) -> str:
    names = raw.get("architectures") or [raw.get("model_type")]
    name = str(names[0] if isinstance(names, list) else names)[:100]
    code = " It brings its own code (auto_map), and custom code is never run." if "auto_map" in raw else ""
    return (
        f"The architecture {name!a} (model_type {str(raw.get('model_type'))[:60]!a}) is not one of transformers "
        f"{transformers.__version__}.{code} Choose a model that transformers itself can build."
    )


def _dtype(raw: Mapping[str, Any]) -> torch.dtype | None:
    """Look up the dtype by its name; None for a name under which torch has something else."""
    name = raw.get("dtype") or raw.get("torch_dtype")
    dtype = getattr(torch, name.removeprefix("torch."), None) if isinstance(name, str) else None
    return dtype if isinstance(dtype, torch.dtype) else None


def _items(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every field at any depth, the items of a list under the list's name. Names of labels are no fields."""
    if isinstance(value, dict):
        for name, field in value.items():
            yield name, field
            if name not in ("label2id", "id2label"):
                yield from _items(field, name)
    elif isinstance(value, list | tuple):
        for item in value:
            if not isinstance(item, dict | list | tuple):
                yield key, item
            yield from _items(item, key)


def _keys(raw: Mapping[str, Any]) -> Iterator[str]:
    return (key for key, _ in _items(raw))
