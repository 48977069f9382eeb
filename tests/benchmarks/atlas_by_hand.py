"""CPU seconds of an atlas beside a script by hand: transformers' eager maps, and every measure of them in numpy.

python -m tests.benchmarks.atlas_by_hand FILE [--texts 512] [--rounds 2]

FILE holds a text a line; texts are taken evenly from all of its lines. The script is what a researcher writes for
MiniLM: the lines sorted by length, padded batches of 32 with output_attentions=True, a hook on the values, and for each
text all 62 measures of all heads at once in numpy, its strongest pairs, and their means and histograms at the end. Both
run on one thread, in turn, and the numbers are compared, so that both did the same. Printed: CPU seconds and their
ratio, by hand / atlas.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import torch
from numpy.typing import NDArray
from transformers import AutoModel

import models
from inspector.atlas import block, measures
from inspector.atlas.planning import plan
from inspector.atlas.running import run
from inspector.atlas.texts import Text
from inspector.probe.inputs import tokenize_inputs
from models import fetch
from models.tokenizers import Encoding
from tests.benchmarks.atlas_memory import evenly
from tests.inspector.atlas.plain_measures import is_punctuation, token_class

Array = NDArray[np.float32]
BATCH, FARTHEST = 32, 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--texts", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=2)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    texts = evenly(chosen.file, chosen.texts)
    loaded = models.load("minilm")
    network = AutoModel.from_pretrained(fetch.folder("minilm"), attn_implementation="eager").eval()
    for _ in range(chosen.rounds):
        by_hand, plain = timed(partial(measured_by_hand, loaded, network, texts))
        with TemporaryDirectory() as folder:
            manifest = plan(loaded, map(Text, texts), folder=Path(folder), corpus="benchmark")
            own, _ = timed(partial(run, block.MeasureBlock(Path(folder), loaded), range(len(manifest.blocks))))
            atlas = numbers_of(Path(folder), len(manifest.blocks))
        apart = np.nanmax(np.abs(plain - atlas))
        assert (np.isnan(plain) == np.isnan(atlas)).all()
        assert apart < 1e-3, apart
        print(
            f"{len(texts):,} texts: by hand {by_hand:.1f} CPU s, atlas {own:.1f} CPU s, {by_hand / own:.2f} x; "
            f"numbers are at most {apart:.0e} apart",
            flush=True,
        )


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returns."""
    begun = time.process_time()
    done = work()
    return time.process_time() - begun, done


def numbers_of(folder: Path, blocks: int) -> Array:
    """The atlas's numbers of all texts, [texts, heads, measures]."""
    tables = [pq.read_table(block.path(folder, number) / block.NUMBERS) for number in range(blocks)]
    columns = [np.concatenate([np.stack(table[name].to_numpy()) for table in tables]) for name in measures.NAMES]
    return np.stack(columns, axis=-1)


def measured_by_hand(loaded: models.LoadedModel, network: Any, texts: list[str]) -> Array:
    """Run all texts and measure every head: [texts, heads, measures], with summaries that are thrown away."""
    encodings = [tokenize_inputs(loaded, text).encoding for text in texts]
    layers = network.encoder.layer
    values: dict[int, torch.Tensor] = {}
    hooks = [
        layer.attention.self.value.register_forward_hook(
            lambda module, given, made, number=number: values.__setitem__(number, made)
        )
        for number, layer in enumerate(layers)
    ]
    outs = [layer.attention.output.dense.weight.detach().numpy().T for layer in layers]
    heads = network.config.num_attention_heads
    width = network.config.hidden_size // heads
    rows: dict[int, Array] = {}
    strongest: dict[int, tuple[Array, Array]] = {}
    order = sorted(range(len(texts)), key=lambda place: len(encodings[place]))
    for start in range(0, len(order), BATCH):
        places = order[start : start + BATCH]
        longest = max(len(encodings[place]) for place in places)
        ids = torch.zeros(len(places), longest, dtype=torch.long)
        keep = torch.zeros_like(ids)
        for row, place in enumerate(places):
            ids[row, : len(encodings[place])] = torch.tensor(encodings[place].ids)
            keep[row, : len(encodings[place])] = 1
        with torch.inference_mode():
            maps = network(input_ids=ids, attention_mask=keep, output_attentions=True).attentions
        for row, place in enumerate(places):
            length = len(encodings[place])
            weights = np.concatenate([layer[row, :, :length, :length].numpy() for layer in maps])
            norms = []
            for number, out in enumerate(outs):
                value = values[number][row, :length].numpy().reshape(length, heads, width)
                moved = [value[:, head] @ out[head * width : (head + 1) * width] for head in range(heads)]
                norms += [np.sqrt((each**2).sum(axis=-1)) for each in moved]
            rows[place] = measured(weights, np.stack(norms), encodings[place])
            strongest[place] = strongest_pairs(weights, encodings[place])
    for hook in hooks:
        hook.remove()
    numbers = np.stack([rows[place] for place in range(len(texts))])
    summaries(numbers)
    return numbers


def measured(weights: Array, norms: Array, read: Encoding) -> Array:
    """Every measure of a text's maps, weights [N, n, n] and ||f(x)|| [N, n]: [N, measures]."""
    heads, length, _ = weights.shape
    mean_row = weights.mean(axis=1)
    entropy = entropies(weights).mean(axis=1)
    last = read.tokens[-1] == "[SEP]"
    kinds = np.array([token_class(read, key) for key in range(length)])
    marks = np.array([is_punctuation(token) for token in read.tokens])
    tokens = np.array(read.tokens)
    found: dict[str, Array] = {
        "entropy": entropy,
        "relative_entropy": entropy / np.log(length),
        "information": np.maximum(entropies(mean_row) - entropy, 0),
        "confidence": (weights[..., :-1] if last else weights).max(axis=-1).mean(axis=-1),
        "first": mean_row[:, 0],
        "sink": mean_row.max(axis=-1),
    }
    offsets = np.arange(length) - np.arange(length)[:, None]
    found["distance"] = (weights * np.abs(offsets)).sum(axis=(1, 2)) / length
    for by in range(-FARTHEST, FARTHEST + 1):
        there = length - abs(by)
        share = np.diagonal(weights, by, 1, 2).sum(axis=-1) / there if there > 0 else np.full(heads, np.nan)
        found[measures.offset_name(by)] = share
    quarter = np.arange(length) * 4 // length
    for part in range(4):
        found[f"part_{part + 1}"] = on_keys(mean_row, quarter == part)
    for name in ("special", "number", "start", "rest", "unknown"):
        found[f"to_{name}"] = on_keys(mean_row, kinds == name)
    keys = {"cls": tokens == "[CLS]", "sep": tokens == "[SEP]", "punctuation": marks}
    for name, chosen in keys.items():
        found[name] = on_keys(mean_row, chosen)
    ids, others = np.array(read.ids), ~np.eye(length, dtype=bool)
    words = np.array([-1 if word is None else word for word in read.words])
    known = (words >= 0) & (ids != (-1 if read.unknown_id is None else read.unknown_id))
    same = (ids[:, None] == ids) & known[:, None]
    behind = np.zeros_like(same)
    behind[:, 1:] = (same & others)[:, :-1]
    for name, targets in {
        "duplicate": same & others,
        "induction": behind,
        "word": (words[:, None] == words) & (words >= 0) & others,
    }.items():
        count = targets.any(axis=1).sum()
        found[name] = (weights * targets).sum(axis=(1, 2)) / count if count else np.full(heads, np.nan)
    moved = weights * norms[:, None]
    moved /= moved.sum(axis=-1, keepdims=True)
    moved_row = moved.mean(axis=1)
    for name, by in (("norm_previous", -1), ("norm_self", 0), ("norm_next", 1)):
        there = length - abs(by)
        found[name] = np.diagonal(moved, by, 1, 2).sum(axis=-1) / there if there > 0 else np.full(heads, np.nan)
    found["norm_first"] = moved_row[:, 0]
    for name, chosen in keys.items():
        found[f"norm_{name}"] = on_keys(moved_row, chosen)
    return np.stack([found[name] for name in measures.NAMES], axis=-1)


def entropies(rows: Array) -> Array:
    """-sum_j A ln A of each row; 0 ln 0 is 0."""
    entropy: Array = -(rows * np.log(np.where(rows > 0, rows, 1))).sum(axis=-1)
    return entropy


def on_keys(mean_row: Array, chosen: NDArray[np.bool_]) -> Array:
    """Weight on the chosen keys; NaN where there are none."""
    share: Array = mean_row[:, chosen].sum(axis=-1) if chosen.any() else np.full(len(mean_row), np.nan)
    return share


def strongest_pairs(weights: Array, read: Encoding) -> tuple[Array, Array]:
    """The place and the weight of each head's strongest pair of two words."""
    special = np.array(read.special)
    hidden = special | special[:, None] | np.eye(len(special), dtype=bool)
    flat = np.where(hidden, -1, weights).reshape(len(weights), -1)
    place = flat.argmax(axis=-1)
    return place, flat[np.arange(len(flat)), place]


def summaries(numbers: Array) -> list[Any]:
    """Mean, spread, range, histogram and strongest texts of every head and measure."""
    warnings.simplefilter("ignore", RuntimeWarning)  # MiniLM's texts have no unknown token: some measures are all NaN
    made: list[Any] = [np.nanmean(numbers, axis=0), np.nanstd(numbers, axis=0)]
    made += [np.nanmin(numbers, axis=0), np.nanmax(numbers, axis=0), np.argsort(-numbers, axis=0)[:6]]
    for head in range(numbers.shape[1]):
        for measure in range(numbers.shape[2]):
            known = numbers[:, head, measure]
            made.append(np.histogram(known[~np.isnan(known)], bins=64))
    return made


if __name__ == "__main__":
    main()
