"""The heads of mini-bert, beside those of transformers' BERT of the same size, data and budget.

    python tests/benchmarks/mini_bert.py --data PATH --reference FOLDER

FOLDER is the --out of `python -m models.train mini-bert --implementation transformers`. Measures are means over the
first texts of books-valid, which neither model has read. Heads of two trainings do not correspond: look at what kinds
there are, and in which layers, not at numbers.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

import pandas as pd
import torch
from tokenizers import Tokenizer

import inspector
import models
from models.files import read_tensors
from models.training.corpus import BOOKS, read_paragraphs
from models.training.recipes import MINI_BERT
from models.training.reference import BertMaskedLanguageModel
from models.transformer.subwords import as_transformers

TEXTS = 40
COLUMNS = ["entropy", "distance", "self", "previous", "next", "first", "sep"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--reference", type=Path, required=True)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    texts = read_paragraphs(chosen.data / BOOKS["valid"])[:TEXTS]
    own, reference = (measure(loaded, texts) for loaded in (models.load("mini-bert"), load_reference(chosen.reference)))
    print("| layer | head | " + " | ".join(f"{name} | BERT's" for name in ["mostly", *COLUMNS]) + " |")
    print("| --- | --- | " + "--- | " * (2 * len(COLUMNS) + 2))
    for (place, mine), (_, its) in zip(own.iterrows(), reference.iterrows(), strict=True):
        cells = [f"{mine['label']} | {its['label']}", *(f"{mine[name]:.3g} | {its[name]:.3g}" for name in COLUMNS)]
        print(f"| {place[0]} | {place[1]} | " + " | ".join(cells) + " |")
    for name, table in (("mini-bert", own), ("BERT", reference)):
        print(f"\n{name}: {', '.join(f'{count} {label}' for label, count in table['label'].value_counts().items())}")


def load_reference(out: Path) -> models.LoadedModel:
    """The yardstick as the inspector loads any BERT: saved as a folder of transformers."""
    tokenizer = Tokenizer.from_file(str(out / "tokenizer.json"))
    network = BertMaskedLanguageModel(MINI_BERT.config(vocabulary=tokenizer.get_vocab_size()))
    state, _ = read_tensors(out / "state.safetensors")
    weights = {name.removeprefix("network."): tensor for name, tensor in state.items() if name.startswith("network.")}
    network.load_state_dict(weights, strict=False)
    with TemporaryDirectory() as folder:
        network.bert.save_pretrained(folder)
        as_transformers(tokenizer, max_tokens=MINI_BERT.max_positions).save_pretrained(folder)
        return models.load(folder)


def measure(loaded: models.LoadedModel, texts: list[str]) -> pd.DataFrame:
    """A row for each layer and head: its measures, means over the texts, and what it mostly does."""
    tables = [inspector.heads.measure(inspector.record(loaded, text)) for text in texts]
    means = pd.concat(tables).groupby(["stream", "layer", "head"], as_index=False).mean()
    means["label"] = inspector.heads.label(means)
    return means.set_index(["layer", "head"])


if __name__ == "__main__":
    main()
