"""Tables of mini-bert-zh and mini-gpt for docs/trained.md, beside transformers' models of their size.

    python tests/benchmarks/small_models.py --data PATH --shipped FOLDER [--beside FOLDER] [--yardstick FOLDER]

Each FOLDER is the --out of a finished training: of the model that is shipped, of the same model and of the yardstick,
both at the shorter budget (`python -m models.train NAME --steps N`, for the yardstick with `--implementation
transformers`). The texts are those that no model has read: of books-valid the first 200 paragraphs, of UD
Chinese-GSDSimp's dev split the first 200 sentences, whose words are the treebank's. Heads of two trainings do not
correspond: only their kinds compare.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

import inspector
import models
from models.checkpoints.store import read_checkpoint
from models.files import read_tensors
from models.loaded import Card
from models.registry import own_model
from models.tokenizers import Encoding
from models.training import corpus
from models.training.finish import CHECKPOINT, TRAINED, read_scores
from models.training.recipes import RECIPES, Recipe
from models.training.reference import BertMaskedLanguageModel, GptLanguageModel
from models.transformer.subwords import as_transformers

TEXTS = 200
TREEBANK = "zh_gsdsimp-ud-dev.conllu"
KINDS = {
    "previous": "previous token",
    "next": "next token",
    "induction": "induction (after the same token's other places)",
    "word": "other characters or pieces of the same word",
    "punctuation": "marks of punctuation",
}
ABOVE = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "shipped", "beside", "yardstick"):
        parser.add_argument(f"--{name}", type=Path, required=name in ("data", "shipped"))
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    recipe = RECIPES[(chosen.shipped / CHECKPOINT / "CARD.md").read_text(encoding="utf-8").split(maxsplit=2)[1]]
    print_scores(*(folder for folder in (chosen.shipped, chosen.beside, chosen.yardstick) if folder))
    texts = list(treebank(chosen.data / TREEBANK) if recipe.objective == "mask" else paragraphs(chosen.data))[:TEXTS]
    loaded = [load_own(chosen.shipped)] + ([load_yardstick(chosen.yardstick, recipe)] if chosen.yardstick else [])
    print_heads([measure(one, texts) for one in loaded])


# --- scores ------------------------------------------------------------------------------------------------------


def print_scores(*folders: Path) -> None:
    """Print a row for each score that all three trainings have, a column for each training."""
    scores = [read_scores(folder) for folder in folders]
    print("| | " + " | ".join(found[TRAINED] for found in scores) + " |")
    print("| --- |" + " --- |" * len(scores))
    for what in scores[0]:
        if what != TRAINED:
            print(f"| {what} | " + " | ".join(found.get(what, "") for found in scores) + " |")


# --- held-out texts ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Text:
    """A text and, where a treebank has cut it into words, the word of each of its characters."""

    text: str
    words: tuple[int, ...] | None = None


def paragraphs(data: Path) -> Iterator[Text]:
    """Read the paragraphs of books-valid."""
    yield from (Text(text) for text in corpus.read_paragraphs(data / corpus.BOOKS["valid"]))


def treebank(path: Path) -> Iterator[Text]:
    """Read sentences and words of a treebank in CoNLL-U; a sentence that its words do not make up is left out."""
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = block.splitlines()
        text = next((line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")), "")
        forms = [line.split("\t")[1] for line in lines if line.split("\t")[0].isdigit()]
        words, at = [-1] * len(text), 0
        for number, form in enumerate(forms):
            at = text.find(form, at)
            if at < 0:
                break
            words[at : at + len(form)] = [number] * len(form)
            at += len(form)
        if text and at > 0:
            yield Text(text, tuple(words))


# --- heads -------------------------------------------------------------------------------------------------------


def measure(loaded: models.LoadedModel, texts: list[Text]) -> pd.DataFrame:
    """Measure the kinds of every head: means over the texts, a row for each layer and head."""
    tables = [_of_text(loaded, text) for text in texts]
    return pd.concat(tables).groupby(["layer", "head"]).mean()


def _of_text(loaded: models.LoadedModel, text: Text) -> pd.DataFrame:
    trace = inspector.record(loaded, text.text)
    words = trace.words if text.words is None else _treebank_words(trace.encoding, text.words)
    marks = np.array(
        [not special and _is_mark(token) for token, special in zip(trace.tokens, trace.special, strict=True)]
    )
    tables = []
    for layer in range(loaded.layers):
        maps = trace.attention(layer=layer)
        found = inspector.heads.measure_maps(
            [(slice(0, len(trace.tokens)), maps)],
            keys=trace.tokens,
            words=words,
            causal=loaded.card.shape == "decoder",
        )
        tables.append(
            pd.DataFrame(
                {"layer": layer, "head": range(len(maps))}
                | {kind: found[kind] for kind in KINDS if kind in found}
                | {"punctuation": punctuation(maps, marks)}
            )
        )
    return pd.concat(tables)


def punctuation(maps: NDArray[np.float32], marks: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Average the weight on marks of punctuation, over the queries that are none themselves: maps [H, Q, T] -> [H]."""
    if not marks.any() or marks.all():
        return np.full(len(maps), np.nan)
    return maps[:, ~marks][:, :, marks].sum(axis=-1, dtype=np.float64).mean(axis=-1)


def _is_mark(token: str) -> bool:
    written = token.strip("▁Ġ")
    return bool(written) and not any(character.isalnum() for character in written)


def _treebank_words(encoding: Encoding, words: tuple[int, ...]) -> tuple[int | None, ...]:
    return tuple(
        None if special else words[first] for (first, _), special in zip(encoding.spans, encoding.special, strict=True)
    )


def print_heads(tables: list[pd.DataFrame]) -> None:
    """Print for each kind the best head of the model and of its yardstick, and how many heads are above one half."""
    columns = [f"{whose}best head | heads above {ABOVE}" for whose in ("", "yardstick's ")[: len(tables)]]
    print(f"\n| weight on | {' | '.join(columns)} |")
    print("| --- |" + " --- | --- |" * len(tables))
    for kind, what in KINDS.items():
        cells = []
        for table in tables:
            layer, head = table[kind].idxmax()
            cells += [f"{table[kind].max():.2f} (layer {layer}, head {head})", f"{int((table[kind] > ABOVE).sum())}"]
        print(f"| {what} | {' | '.join(cells)} |")


# --- models ------------------------------------------------------------------------------------------------------


def load_own(out: Path) -> models.LoadedModel:
    """Load the checkpoint of a training as the page loads one."""
    found = read_checkpoint(out / CHECKPOINT)
    card = Card("shipped", "shipped", "", "", shape=found.config.shape)
    return own_model(card, found.network, found.tokenizer, max_tokens=found.config.max_positions)


def load_yardstick(out: Path, recipe: Recipe) -> models.LoadedModel:
    """Load the yardstick as the page loads any model of transformers: from a folder that it was saved to."""
    tokenizer = Tokenizer.from_file(str(out / "tokenizer.json"))
    make = BertMaskedLanguageModel if recipe.objective == "mask" else GptLanguageModel
    network = make(recipe.config(vocabulary=tokenizer.get_vocab_size()))
    state, _ = read_tensors(out / "state.safetensors")
    weights = {name.removeprefix("network."): tensor for name, tensor in state.items() if name.startswith("network.")}
    network.load_state_dict(weights, strict=False)
    inner = network.bert if isinstance(network, BertMaskedLanguageModel) else network.gpt
    with TemporaryDirectory() as folder:
        inner.save_pretrained(folder)
        as_transformers(tokenizer, max_tokens=recipe.max_positions).save_pretrained(folder)
        return models.load(folder)


if __name__ == "__main__":
    main()
