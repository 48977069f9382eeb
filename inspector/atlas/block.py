"""One block of an atlas: its texts measured, written to a folder that is whole or not there.

OUT/blocks/000003/ holds texts.parquet (a row per text that is kept), statistics, examples and pairs, relations with a
treebank, and block.json, which names the plan, the processor and SHA-256 of each file. On a disk the folder is written
beside and renamed; in an object store block.json comes last, so a block is there when its block.json is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from typing import cast
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import nn

from inspector.atlas import manifest as manifests
from inspector.atlas import measuring, planning, statistics, storage
from inspector.atlas.aside import Part, Unit, Without
from inspector.atlas.manifest import Manifest
from inspector.atlas.measures import NAMES
from inspector.atlas.measuring import Grams
from inspector.atlas.relations import RelationCounter, place
from inspector.atlas.running import UnitError
from inspector.atlas.statistics import Statistics
from inspector.atlas.storage import Place
from inspector.atlas.tables import parquet_bytes
from inspector.atlas.texts import Text
from inspector.memory import freed
from inspector.probe.inputs import ModelInputs, tokenize_inputs
from models import LoadedModel, load
from models.formatting import one_line
from models.output_projection import find
from models.placement import DtypeName, input_device

BLOCKS = "blocks"
HEADS = "heads"
ABOUT = "block.json"
ASIDE = "aside"  # in it: the texts that could not be measured, by their ids, with the reason
NUMBERS, STATISTICS, EXAMPLES, PAIRS, RELATIONS = (
    *("texts.parquet", "statistics.parquet", "examples.parquet", "pairs.parquet"),
    "relations.parquet",
)


@dataclass(frozen=True)
class MeasureBlock:
    """A unit of work: measures one block of an atlas's plan. Called with the block's number; what is done stays.

    model: the id to load, or a loaded model, which stays in its process. allow_mixed: measure on a processor, or with
    libraries, that the plan does not name. dtype, device: of a model that is loaded by its id, as in `models.load`.
    """

    folder: Place
    model: str | LoadedModel
    allow_mixed: bool = False
    dtype: str = "float32"
    device: str = "cpu"

    def __call__(self, unit: Unit) -> int:
        """Measure a block, one torch thread, and return how many texts it has; a block that is there is left.

        A part of a block is measured on trial: nothing is kept of it, and it counts as no text. Raises UnitError where
        the texts cannot be measured.
        """
        torch.set_num_threads(1)  # more threads add up in another order, and so give other bits
        number = unit if isinstance(unit, int) else unit.block
        manifest = manifests.read(self.folder)
        loaded, grams = self._model()
        check(manifest, loaded, allow_mixed=self.allow_mixed)
        folder = path(self.folder, number)
        texts = planning.read_texts(self.folder, manifest, number)
        if isinstance(unit, Part):
            _tried(manifest, loaded, grams, {id: texts[id] for id in unit.texts})
            return 0
        aside = dict(unit.aside) if isinstance(unit, Without) else {}
        if not (folder / ABOUT).is_file():
            files, counted = _tried(manifest, loaded, grams, texts, aside=aside)
            _write(folder, files, about=_about(manifest, loaded, number, counted, aside=aside))
            del files
            freed.release()  # batches differ in shape, and glibc keeps what each has freed: 35 MB a block
        return len(texts)

    def _model(self) -> tuple[LoadedModel, Grams | None]:
        """The model, and the Gram matrices of its output projections, which are made once for each network."""
        loaded = _loaded(self.model, self.dtype, self.device) if isinstance(self.model, str) else self.model
        if loaded.network not in _grams:
            try:
                _grams[loaded.network] = measuring.grams(find(loaded), device=input_device(loaded.network))
            except ValueError:  # the manifest says why
                _grams[loaded.network] = None
        return loaded, _grams[loaded.network]


def path(folder: Place, number: int) -> Place:
    """The folder of a block."""
    return folder / BLOCKS / f"{number:06d}"


def check(manifest: Manifest, loaded: LoadedModel, *, allow_mixed: bool = False) -> None:
    """Raise ValueError where blocks of this model, here, would differ from the plan's."""
    if manifests.known_hash(loaded) != manifest.model_hash:
        raise ValueError(
            f"{loaded.card.id} has changed since the atlas was planned: its weights, configuration or tokenizer differ "
            f"({manifests.known_hash(loaded)[:12]}, not {manifest.model_hash[:12]}); plan a new atlas in another folder"
        )
    if manifest.measures != NAMES:
        raise ValueError("the atlas was planned by a Headlight with other measures; plan a new one in another folder")
    here = manifests.capability(loaded), manifests.versions()
    if not allow_mixed and here != (manifest.capability, manifest.versions):
        raise ValueError(
            f"the atlas was planned on {describe(manifest.capability, manifest.versions)}, and this is "
            f"{describe(*here)}: {apart(manifest.capability, here[0])}"
        )


def apart(one: str, other: str) -> str:
    """Say how far blocks of two processors or devices are apart, and what takes them together."""
    if manifests.is_device(one) or manifests.is_device(other):
        return "how far a device's numbers are from others is not known; allow_mixed (--allow-mixed) takes them all"
    return "blocks differ in their last bits; allow_mixed (--allow-mixed) takes them as equal to 1e-5"


def describe(capability: str, versions: Mapping[str, str]) -> str:
    """Name a processor and the versions of the libraries."""
    return ", ".join([capability, *(f"{name} {number}" for name, number in sorted(versions.items()))])


_grams: WeakKeyDictionary[nn.Module, Grams | None] = WeakKeyDictionary()


@lru_cache(maxsize=2)
def _loaded(id: str, dtype: str, device: str) -> LoadedModel:
    """Load a model once for this process; weights are pages of their file, which all processes of a machine share."""
    return load(id, dtype=cast("DtypeName", dtype), device=device)


def _tried(
    manifest: Manifest,
    loaded: LoadedModel,
    grams: Grams | None,
    texts: Mapping[int, Text],
    *,
    aside: Mapping[int, str] = MappingProxyType({}),
) -> tuple[dict[str, bytes], dict[str, int]]:
    """Measure the texts; UnitError, with a line that says why, where they cannot be, whatever it is."""
    try:
        return _measured(manifest, loaded, grams, texts, aside)
    except Exception as error:
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise UnitError(f"{kind}{one_line(error)}") from error


def _measured(
    manifest: Manifest,
    loaded: LoadedModel,
    grams: Grams | None,
    texts: Mapping[int, Text],
    aside: Mapping[int, str],
) -> tuple[dict[str, bytes], dict[str, int]]:
    """Measure the texts, but those set aside; returns the block's files, and how many texts were read, and cut, and
    their tokens.
    """
    sites = manifest.head_sites
    tokenized = ((id, _inputs(loaded, text)) for id, text in texts.items() if id not in aside)
    inputs = {id: of_text for id, of_text in tokenized if of_text is not None}
    read = list(inputs)
    lengths = [(len(inputs[id].encoding), len(inputs[id].target or ())) for id in read]
    rows = {id: row for row, id in enumerate(texts)}
    shape = (len(texts), sites[-1].heads.stop)
    numbers = np.full((*shape, len(NAMES)), np.nan, np.float32)
    pairs = {name: np.zeros(shape, np.int32) for name in ("query", "key")}
    pairs["weight"] = np.full(shape, np.nan, np.float32)
    counter = _Relations(shape[1], texts) if manifest.trees else None
    for batch in measuring.batches(lengths, tokens=manifest.batch_tokens, texts=manifest.batch_texts):
        chosen = [read[place] for place in batch]
        if counter is not None:
            counter.begin(chosen, [inputs[id] for id in chosen], loaded)
        made = measuring.measure(
            loaded,
            [inputs[id] for id in chosen],
            sites=sites,
            grams=grams,
            on_band=None if counter is None else counter.see,
        )
        places = [rows[id] for id in chosen]
        numbers[places] = made.numbers
        pairs["query"][places], pairs["key"][places] = made.pair_queries, made.pair_keys
        pairs["weight"][places] = made.pair_weights
    return _files(manifest, texts, inputs, numbers, pairs, counter), _counted(texts, inputs, aside)


def _inputs(loaded: LoadedModel, text: Text) -> ModelInputs | None:
    """Tokenize a text; None where the tokenizer finds nothing in it to read."""
    target = text.target if loaded.shape == "encoder-decoder" else None
    try:
        return tokenize_inputs(loaded, text.text, target=target)
    except ValueError:
        if loaded.shape == "encoder-decoder" and target is None and loaded.write is None:
            raise
        return None


def _files(
    manifest: Manifest,
    texts: Mapping[int, Text],
    inputs: Mapping[int, ModelInputs],
    numbers: NDArray[np.float32],
    pairs: Mapping[str, NDArray[np.int32]],
    counter: _Relations | None,
) -> dict[str, bytes]:
    ids = np.array(list(texts), np.int64)
    tokens = np.array([_length(inputs, id, "encoding") for id in texts], np.int32)
    heads = numbers.shape[1]
    tables = {
        STATISTICS: Statistics.of(numbers, tokens).table(),
        EXAMPLES: statistics.examples(numbers, ids),
        PAIRS: statistics.pairs(pairs, ids),
    }
    kept = {"none": [], "sample": _candidates(manifest, ids), "all": list(range(len(ids)))}[manifest.keep]
    if kept:
        columns = {
            "text": pa.array(ids),
            "words": pa.array([text.text for text in texts.values()]),
            "target": pa.array([text.target for text in texts.values()], pa.string()),
            "tokens": pa.array(tokens),
            "target_tokens": pa.array([_length(inputs, id, "target") for id in texts], pa.int32()),
            "cut": pa.array([_is_cut(inputs, id) for id in texts]),
        }
        for number, name in enumerate(NAMES):
            flat = pa.array(np.ascontiguousarray(numbers[:, :, number]).ravel())
            columns[name] = pa.FixedSizeListArray.from_arrays(flat, heads)
        named = numbers_schema(heads).with_metadata({HEADS: json.dumps(head_names(manifest), ensure_ascii=False)})
        of_all = pa.Table.from_pydict(columns, schema=named)
        tables[NUMBERS] = of_all if manifest.keep == "all" else of_all.take(kept)
    if counter is not None:
        tables[RELATIONS] = counter.table()
        tables[EXAMPLES] = pa.concat_tables([tables[EXAMPLES], counter.examples()]).combine_chunks()
    return {name: parquet_bytes(table, split=name == NUMBERS) for name, table in tables.items()}


def _counted(texts: Mapping[int, Text], inputs: Mapping[int, ModelInputs], aside: Mapping[int, str]) -> dict[str, int]:
    tokens = [_length(inputs, id, "encoding") for id in texts]
    read = sum(number > 0 for number in tokens)
    cut = sum(_is_cut(inputs, id) for id in texts)
    return {"read": read, "unread": len(tokens) - read - len(aside), "cut": cut, "tokens": sum(tokens)}


def _length(inputs: Mapping[int, ModelInputs], id: int, part: str) -> int:
    return len(getattr(inputs[id], part) or ()) if id in inputs else 0


def _is_cut(inputs: Mapping[int, ModelInputs], id: int) -> bool:
    return id in inputs and inputs[id].encoding.cut is not None


def _candidates(manifest: Manifest, ids: NDArray[np.int64]) -> list[int]:
    """The rows of the texts that the sample of all texts may draw."""
    return np.flatnonzero(np.isin(ids, statistics.candidates(manifest.texts))).tolist()


def head_names(manifest: Manifest) -> list[str]:
    """The heads in the order of every list of heads, such as "encoder 0-2": stream, layer, head."""
    names = []
    for head in manifest.heads.itertuples():
        call = f" call {head.call}" if head.call else ""
        names.append(f"{head.stream} {head.layer}-{head.head}{call}")
    return names


def numbers_schema(heads: int) -> pa.Schema:
    """The columns of texts.parquet: the text's id, words and lengths, and for each measure a list of all heads.

    The names of the heads stand in the file's metadata under `HEADS`, which every reader of Parquet shows.
    """
    words = [("text", pa.int64()), ("words", pa.string()), ("target", pa.string())]
    about = [("tokens", pa.int32()), ("target_tokens", pa.int32()), ("cut", pa.bool_())]
    return pa.schema([*words, *about, *((name, pa.list_(pa.float32(), heads)) for name in NAMES)])


class _Relations:
    """Counts relations of the sentences of a block that have a tree."""

    def __init__(self, heads: int, texts: Mapping[int, Text]) -> None:
        self._counter, self._texts = RelationCounter(heads), texts

    def begin(self, ids: Sequence[int], batch: Sequence[ModelInputs], loaded: LoadedModel) -> None:
        """Place the words of a batch's sentences, before their weights come."""
        self._stream = "decoder" if loaded.shape == "decoder" else "encoder"
        trees = [self._texts[id].tree for id in ids]
        self._rows = [row for row, tree in enumerate(trees) if tree is not None]
        self._ids = [ids[row] for row in self._rows]
        self._placed = [place(batch[row].encoding, tree) for row, tree in enumerate(trees) if tree is not None]
        self._parts: list[torch.Tensor] = []
        if self._placed:
            self._counter.see_sentences(self._placed, ids=self._ids, causal=self._causal)

    @property
    def _causal(self) -> bool:
        return self._stream == "decoder"

    def see(self, band: measuring.Band) -> None:
        """Take a block of rows of one call; once all rows of the call are there, count."""
        if band.site.stream != self._stream or not self._placed:
            return
        self._parts.append(band.weights[self._rows])
        whole = torch.cat(self._parts, dim=2) if len(self._parts) > 1 else self._parts[0]
        if whole.shape[2] == whole.shape[3]:
            self._parts = []
            self._counter.see(whole, heads=band.site.heads, sentences=self._placed, ids=self._ids, causal=self._causal)

    def table(self) -> pa.Table:
        """The counts of the block."""
        return self._counter.counts().table()

    def examples(self) -> pa.Table:
        """The sentences of the block that show relations best."""
        return self._counter.examples()


def _about(
    manifest: Manifest, loaded: LoadedModel, number: int, counted: Mapping[str, int], *, aside: Mapping[int, str]
) -> dict[str, object]:
    about = {
        "plan": manifest.key,
        "block": number,
        "counted": dict(counted),
        "capability": manifests.capability(loaded),
        "versions": manifests.versions(),
    }
    return {**about, ASIDE: {str(id): reason for id, reason in aside.items()}} if aside else about


def _write(folder: Place, files: Mapping[str, bytes], *, about: Mapping[str, object]) -> None:
    """Write the files, and what they are at the end; another worker's equal block stays."""
    hashes = {name: sha256(content).hexdigest() for name, content in files.items()}
    said = json.dumps({**about, "files": hashes}, sort_keys=True, indent=1) + "\n"
    try:
        storage.write_folder(folder, {**files, ABOUT: said.encode()})
    except OSError as error:
        raise ValueError(
            f"{folder} cannot be written ({error.strerror}); what is measured is kept: make room, and build again"
        ) from error
