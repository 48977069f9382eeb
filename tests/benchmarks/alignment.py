"""Does the translator's cross-attention point to the word that it translates?

    python tests/benchmarks/alignment.py --data PATH

alignments.tsv holds 20 sentences of the valid split and 20 of the test split, aligned by hand before the model was
looked at: characters start-end of the reference translation, and the source words (counted from 0, between spaces)
that they translate. The sentences themselves are in the data. Each row of cross-attention that predicts a token of
an aligned word points to the source token of most weight ([CLS] and [SEP] left out); it is right where that is a piece
of an aligned source word. Layer and head (or the mean over a layer's heads) are chosen on valid and counted on test.
The baseline points along the diagonal.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np

import inspector
import models
from models.training.corpus import PAIRS, read_pairs

MEAN = "mean"
Span = tuple[int, int]  # characters from, to


@dataclass(frozen=True)
class Sentence:
    """Two texts, and which characters of the target come from which characters of the source."""

    source: str
    target: str
    links: tuple[tuple[Span, tuple[Span, ...]], ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    chosen = parser.parse_args()
    loaded = models.load("translator")
    valid, test = (measure(loaded, list(sentences(chosen.data, split))) for split in ("valid", "test"))
    ranked = sorted((name for name in valid if name != "diagonal"), key=lambda name: -share(valid[name]))
    print("| cross-attention | valid | test |\n| --- | --- | --- |")
    for name in (*ranked[:5], "diagonal"):
        print(f"| {name} | {written(valid[name])} | {written(test[name])} |")
    print(f"\nChosen on valid: {ranked[0]}.")


def sentences(data: Path, split: str) -> Iterator[Sentence]:
    """The annotated sentences of a split."""
    pairs = read_pairs(data / PAIRS[split])
    with Path(__file__).with_name("alignments.tsv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["split"] == split]
    for row in rows:
        source, target = pairs[int(row["line"]) - 1]
        # A word is what stands between spaces, without the punctuation at its ends.
        words = [word.span() for word in re.finditer(r"\w(?:\S*\w)?", source)]
        links = []
        for link in row["links"].split(" "):
            characters, numbers = link.split(":")
            start, end = map(int, characters.split("-"))
            links.append(((start, end), tuple(words[int(number)] for number in numbers.split(","))))
        yield Sentence(source, target, tuple(links))


def measure(loaded: models.LoadedModel, annotated: list[Sentence]) -> dict[str, list[bool]]:
    """Mark the rows that are right, for every layer and head, their mean, and the diagonal."""
    results: dict[str, list[bool]] = {}
    for sentence in annotated:
        trace = inspector.record(loaded, sentence.source, target=sentence.target)
        source, target = (offsets(loaded, text) for text in (sentence.source, sentence.target))
        inner = [place for place, span in enumerate(source) if span is not None]
        written = [place for place, span in enumerate(target) if span is not None]
        rows = {  # target token -> source tokens that it comes from
            token: {
                place
                for characters, words in sentence.links
                if overlap(target[token], characters)
                for place in inner
                if any(overlap(source[place], word) for word in words)
            }
            for token in written
        }
        maps = {}
        for site in (site for site in trace.sites if site.stream == "cross"):
            heads = trace.attention(layer=site.layer, stream="cross")  # [H, Q, T]
            maps |= {f"layer {site.layer}, head {head}": heads[head] for head in range(site.heads)}
            maps[f"layer {site.layer}, {MEAN} of its heads"] = heads.mean(axis=0)
        for token, right in rows.items():
            if not right:
                continue
            for name, weights in maps.items():
                row = weights[token - 1]  # the decoder reads the token before: start + target[:-1]
                results.setdefault(name, []).append(max(inner, key=row.__getitem__) in right)
            along = (token - written[0]) / max(len(written) - 1, 1)
            results.setdefault("diagonal", []).append(inner[round(along * (len(inner) - 1))] in right)
    return results


def offsets(loaded: models.LoadedModel, text: str) -> list[Span | None]:
    """The characters of each token, None for [CLS] and [SEP]."""
    encoded = loaded.tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True)
    return [
        None if special else span
        for span, special in zip(encoded["offset_mapping"], encoded["special_tokens_mask"], strict=True)
    ]


def overlap(one: Span | None, other: Span) -> bool:
    return one is not None and max(one[0], other[0]) < min(one[1], other[1])


def share(right: list[bool]) -> float:
    return float(np.mean(right))


def written(right: list[bool]) -> str:
    return f"{share(right):.1%} ({sum(right)} of {len(right)})"


if __name__ == "__main__":
    main()
