"""The manifest of an atlas: everything that its numbers depend on, fixed before the first block is measured.

Two builds with equal manifests give equal bytes, whatever the workers, their order and their number.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import pandas as pd
import torch
from torch import nn

from inspector.atlas.measures import NAMES
from inspector.atlas.measuring import HeadSite
from models import LoadedModel
from models.files import write_text

FORMAT = 1
NAME = "manifest.json"
MOST_BYTES = 64 * 2**20  # of a manifest that is read: a hash for each block of 500 million texts
_LIBRARIES = ("torch", "transformers", "numpy", "pyarrow")


@dataclass(frozen=True)
class Site:
    """One attention call of the model and how many heads it has."""

    stream: str
    layer: int
    call: int
    heads: int


@dataclass(frozen=True)
class Manifest:
    """Everything that an atlas is made of.

    model, model_hash: the model's id, and SHA-256 of its weights, configuration and tokenizer. corpus: name for
    people; corpus_hash: of all texts in their order. texts: how many; blocks: SHA-256 of each block's file of texts.
    trees: whether any text has a dependency tree. norm_weighted: why these measures are NaN, "" where they are not.
    attribution: whose texts they are, and their licence. versions: of the libraries. capability: of the processor, as
    torch names it; another one differs in the last bits.
    """

    model: str
    model_hash: str
    shape: str
    sites: tuple[Site, ...]
    norm_weighted: str
    corpus: str
    corpus_hash: str
    attribution: str
    texts: int
    trees: bool
    block_texts: int
    batch_tokens: int
    batch_texts: int
    measures: tuple[str, ...]
    blocks: tuple[str, ...]
    versions: dict[str, str]
    capability: str
    format: int = FORMAT

    @property
    def key(self) -> str:
        """SHA-256 of all but the capability and the versions: what blocks of several machines have in common."""
        planned = {name: value for name, value in asdict(self).items() if name not in ("capability", "versions")}
        return hashlib.sha256(_json(planned).encode()).hexdigest()

    @property
    def head_sites(self) -> tuple[HeadSite, ...]:
        """The attention calls with the places of their heads among all N."""
        first, sites = 0, []
        for site in self.sites:
            sites.append(HeadSite(site.stream, site.layer, site.call, slice(first, first + site.heads)))
            first += site.heads
        return tuple(sites)

    @property
    def heads(self) -> pd.DataFrame:
        """A row per head, in the order of every list of heads: stream, layer, call, head."""
        rows = [(site.stream, site.layer, site.call, head) for site in self.sites for head in range(site.heads)]
        return pd.DataFrame(rows, columns=["stream", "layer", "call", "head"])

    def save(self, folder: Path) -> None:
        """Write the manifest, in one step."""
        write_text(folder / NAME, _json(asdict(self), indent=1) + "\n")


def read(folder: Path) -> Manifest:
    """Read a folder's manifest.

    Raises ValueError where there is none, and where it is not one of this version.
    """
    path = folder / NAME
    if not path.is_file():
        raise ValueError(f"{folder} holds no atlas: it has no {NAME}")
    if (size := path.stat().st_size) > MOST_BYTES:
        raise ValueError(f"{path} has {size:,} bytes, and a manifest at most {MOST_BYTES:,}")
    try:
        return parse(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"{path} is no manifest of an atlas ({error})") from error


def parse(raw: Any) -> Manifest:
    """Make a manifest of what a JSON file holds; known fields only, each of its type."""
    if not isinstance(raw, dict):
        raise ValueError("it holds no object")
    if raw.get("format") != FORMAT:
        raise ValueError(f"its format is {str(raw.get('format'))[:20]}, and this Headlight reads {FORMAT}")
    names = {field.name for field in fields(Manifest)}
    if raw.keys() != names:
        raise ValueError(f"fields are missing or unknown: {sorted(names ^ raw.keys())[:5]}")
    texts = ("model", "model_hash", "shape", "norm_weighted", "corpus", "corpus_hash", "attribution", "capability")
    for name in texts:
        _check(name, raw[name], str)
    for name in ("texts", "block_texts", "batch_tokens", "batch_texts"):
        _check(name, raw[name], int)
        if raw[name] < 1:
            raise ValueError(f"{name} is {raw[name]}; it is at least 1")
    _check("trees", raw["trees"], bool)
    for name in ("measures", "blocks"):
        _check(name, raw[name], list)
        for value in raw[name]:
            _check(name, value, str)
    versions = raw["versions"]
    _check("versions", versions, dict)
    for value in (*versions, *versions.values()):
        _check("versions", value, str)
    _check("sites", raw["sites"], list)
    sites = tuple(_site(site) for site in raw["sites"])
    return Manifest(**{**raw, "sites": sites, "measures": tuple(raw["measures"]), "blocks": tuple(raw["blocks"])})


def _site(raw: Any) -> Site:
    if not isinstance(raw, dict) or raw.keys() != {"stream", "layer", "call", "heads"}:
        raise ValueError("a site has a stream, a layer, a call and heads")
    if raw["stream"] not in ("encoder", "decoder", "cross"):
        raise ValueError(f"{str(raw['stream'])[:20]!a} is no stream")
    for name in ("layer", "call", "heads"):
        _check(name, raw[name], int)
        if not (name == "heads") <= raw[name] <= 100_000:
            raise ValueError(f"{name} is {raw[name]}")
    return Site(**raw)


def _check(name: str, value: object, kind: type) -> None:
    if type(value) is not kind:
        raise ValueError(f"{name} is no {kind.__name__}")


def capability(loaded: LoadedModel) -> str:
    """Name what the last bits depend on: the processor's instructions, or the device that the model is on."""
    device = next(loaded.network.parameters()).device
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return torch.backends.cpu.get_cpu_capability() if device.type == "cpu" else device.type


def versions() -> dict[str, str]:
    """The versions of the libraries that the bytes depend on."""
    return {name: version(name) for name in _LIBRARIES}


_hashes: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()


def known_hash(loaded: LoadedModel) -> str:
    """The model's hash, computed once for each network: hashing a large model takes seconds."""
    return _hashes.get(loaded.network) or model_hash(loaded)


def model_hash(loaded: LoadedModel) -> str:
    """SHA-256 of the model's tensors by their names, of its configuration and of its tokenizer."""
    digest = hashlib.sha256()
    tensors = {**dict(loaded.network.named_parameters()), **dict(loaded.network.named_buffers())}
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    digest.update(_described(loaded.config).encode())
    digest.update(loaded.tokenizer.backend_tokenizer.to_str().encode())
    _hashes[loaded.network] = digest.hexdigest()
    return _hashes[loaded.network]


def _described(config: Any) -> str:
    """The configuration as text, without the place that it was loaded from."""
    if hasattr(config, "to_diff_dict"):
        described = {name: value for name, value in config.to_diff_dict().items() if name != "_name_or_path"}
        return _json(described)
    return repr(config)


def same_measures(manifest: Manifest) -> bool:
    """Return True if the manifest's measures are this Headlight's."""
    return manifest.measures == NAMES


def _json(value: Any, *, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=indent, default=str)
