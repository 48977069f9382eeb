"""The manifest of an atlas: everything that its numbers depend on, fixed before the first block is measured.

Two builds with equal manifests give equal bytes, whatever the workers, their order and their number.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from dataclasses import asdict, dataclass, fields
from functools import cached_property, lru_cache
from importlib.metadata import version
from typing import Any
from weakref import WeakKeyDictionary

import pandas as pd
import torch
from torch import nn

from inspector.atlas import storage
from inspector.atlas.measures import NAMES
from inspector.atlas.measuring import HeadSite
from inspector.atlas.storage import Place
from models import LoadedModel
from models.placement import dtype_name, dtype_of, input_device

FORMAT = 2
FIRST_FORMAT = 1
"""The format of version 0.1: read, and never built on. Its blocks have equal numbers of texts, each with a copy."""
KEEP = ("none", "sample", "all")
"""Choices of the numbers of single texts that are kept: none, those of a thousand texts at most, or those of all."""
NAME = "manifest.json"
MOST_BYTES = 64 * 2**20  # of a manifest that is read: a hash for each block of 500 million texts
_DEVICES = ("cuda", "xpu", "meta")
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
    people; corpus_hash: of all texts in their order. texts: how many; blocks: SHA-256 of each block's texts; firsts:
    the number of each block's first text. block_texts, block_bytes: the most that a block has, bytes of its texts in
    UTF-8 (but one text may have more). keep: of `KEEP`. trees: whether any text has a dependency tree. norm_weighted:
    why these measures are NaN, "" where they are not.
    attribution: whose texts they are, and their licence. versions: of the libraries. capability: the processor, as
    torch names it, or the device; another processor differs in the last bits.
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
    block_bytes: int
    batch_tokens: int
    batch_texts: int
    keep: str
    measures: tuple[str, ...]
    blocks: tuple[str, ...]
    firsts: tuple[int, ...]
    versions: dict[str, str]
    capability: str
    format: int = FORMAT

    @cached_property
    def key(self) -> str:
        """SHA-256 of all but the capability and the versions: what blocks of several machines have in common."""
        left_out = {"capability", "versions"} | (_OF_SECOND if self.format == FIRST_FORMAT else set())
        planned = {name: value for name, value in asdict(self).items() if name not in left_out}
        return hashlib.sha256(_json(planned).encode()).hexdigest()

    def count(self, block: int) -> int:
        """Number of a block's texts."""
        after = self.firsts[block + 1] if block + 1 < len(self.firsts) else self.texts
        return after - self.firsts[block]

    def ids(self, block: int) -> range:
        """The numbers of a block's texts."""
        return range(self.firsts[block], self.firsts[block] + self.count(block))

    def block_of(self, text: int) -> int:
        """The number of the block that a text is in."""
        return bisect_right(self.firsts, text) - 1

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

    def save(self, folder: Place) -> None:
        """Write the manifest, in one step."""
        storage.write(folder / NAME, self.content)

    @property
    def content(self) -> bytes:
        """The manifest as it stands in its file."""
        return (_json(asdict(self), indent=1) + "\n").encode()


_OF_SECOND = {"block_bytes", "keep", "firsts"}  # fields that the first format has not


def read(folder: Place) -> Manifest:
    """Read a folder's manifest; what is read again is remembered, as long as the file is the same.

    Raises ValueError where there is none, and where it is not one of this version.
    """
    path = folder / NAME
    try:
        return _read(path, storage.state(path))
    except FileNotFoundError as error:
        raise ValueError(f"{folder} holds no atlas: it has no {NAME}") from error


@lru_cache(maxsize=8)
def _read(path: Place, state: tuple[int, int]) -> Manifest:
    content = storage.read(path, most=MOST_BYTES)
    try:
        return parse(json.loads(content))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"{path} is no manifest of an atlas ({error})") from error


def parse(raw: Any) -> Manifest:
    """Make a manifest of what a JSON file holds; known fields only, each of its type."""
    if not isinstance(raw, dict):
        raise ValueError("it holds no object")
    if raw.get("format") not in (FIRST_FORMAT, FORMAT):
        raise ValueError(f"its format is {str(raw.get('format'))[:20]}, and this Headlight reads {FORMAT}")
    names = {field.name for field in fields(Manifest)}
    if raw["format"] == FIRST_FORMAT:
        names -= _OF_SECOND
    if raw.keys() != names:
        raise ValueError(f"fields are missing or unknown: {sorted(names ^ raw.keys())[:5]}")
    if raw["format"] == FIRST_FORMAT:
        raw = _of_first(raw)
    texts = (
        "model",
        "model_hash",
        "shape",
        "norm_weighted",
        "corpus",
        "corpus_hash",
        "attribution",
        "capability",
        "keep",
    )
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
    _check_firsts(raw)
    versions = raw["versions"]
    _check("versions", versions, dict)
    for value in (*versions, *versions.values()):
        _check("versions", value, str)
    _check("sites", raw["sites"], list)
    sites = tuple(_site(site) for site in raw["sites"])
    lists = {name: tuple(raw[name]) for name in ("measures", "blocks", "firsts")}
    return Manifest(**{**raw, "sites": sites, **lists})


def _of_first(raw: dict[str, Any]) -> dict[str, Any]:
    """Add to a manifest of the first format what it meant: equal blocks, and all numbers kept."""
    for name in ("texts", "block_texts"):
        _check(name, raw[name], int)
    _check("blocks", raw["blocks"], list)
    firsts = [number * raw["block_texts"] for number in range(len(raw["blocks"]))]
    return {**raw, "block_bytes": 1, "keep": "all", "firsts": firsts}


def _check_firsts(raw: dict[str, Any]) -> None:
    """Raise ValueError where blocks do not follow each other, each with a text."""
    _check("block_bytes", raw["block_bytes"], int)
    if raw["keep"] not in KEEP:
        raise ValueError(f"keep is {raw['keep'][:20]!a}; it is one of {', '.join(KEEP)}")
    _check("firsts", raw["firsts"], list)
    firsts = raw["firsts"]
    for value in firsts:
        _check("firsts", value, int)
    if len(firsts) != len(raw["blocks"]) or firsts[:1] not in ([], [0]):
        raise ValueError(f"{len(firsts)} blocks begin, and there are {len(raw['blocks'])}")
    if any(first >= after for first, after in zip(firsts, [*firsts[1:], raw["texts"]], strict=False)):
        raise ValueError("a block has no text")


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
    """Name what the numbers depend on beside the plan: the processor's instructions ("AVX512"), or the device that the
    model is on ("cuda: NVIDIA H200"), and the weights' dtype where it is not float32 ("AVX512 in bfloat16").
    """
    device, dtype = input_device(loaded.network), dtype_of(loaded.network)
    place = torch.backends.cpu.get_cpu_capability() if device.type == "cpu" else device.type
    if device.type == "cuda":
        place = f"{device.type}: {torch.cuda.get_device_name(device)}"
    return place if dtype is torch.float32 else f"{place} in {dtype_name(dtype)}"


def is_device(capability: str) -> bool:
    """Return True if numbers were measured on a device that is no processor; `capability` may be followed by more."""
    return capability.partition(":")[0].partition(" ")[0] in _DEVICES


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
