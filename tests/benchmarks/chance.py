"""Measures which share a query gives to one key where no training chose it, and which cells are told.

    python tests/benchmarks/chance.py table
    python tests/benchmarks/chance.py cells minilm,mini-gpt TEXTS CELLS
    python tests/benchmarks/chance.py cells random TEXTS CELLS
    python tests/benchmarks/chance.py compare OLD_CELLS NEW_CELLS

table: prints the table of inspector/chance.py. For each head width models of transformers with random weights, as
their library draws them, read random tokens; of each seed the largest share of any row, head and layer counts, among
the rows that see as many keys (up to the next column); a number is the 95th percentile over 20 seeds, of the shape
where it is largest. This script reads the maps that transformers hand out, not those of a trace.

cells: the cell that the sentence over the page Attention names, if it names one, for each line of the file TEXTS.
"random" stands for a BertModel, a GPT-2, a Llama and the own Transformer in two shapes, all with random weights that
are drawn anew for every text, with seeds that the table has not seen. Runs at older commits too. compare: how many of
the old cells are still told.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
import torch
import transformers

KEYS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64, 128, 256)
SHAPES = {8: (64, 4, 256), 16: (128, 4, 256), 32: (384, 4, 256), 64: (768, 3, 64), 128: (1024, 2, 64)}
"""head width -> model width as models of this head width have it (MiniLM, BERT-base, Qwen3-0.6B), layers, and how many
rows that see as many keys are read, at least."""
OWN = ("encoder", "decoder")
SEEDS = 20
LEVEL = 0.95


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = parser.add_subparsers(dest="task", required=True)
    table = tasks.add_parser("table")
    table.add_argument("--widths", type=lambda text: [int(width) for width in text.split(",")], default=list(SHAPES))
    cells = tasks.add_parser("cells")
    cells.add_argument("models")
    cells.add_argument("texts", type=Path)
    cells.add_argument("out", type=Path)
    cells.add_argument("--heads-of", type=Path, help="read the heads whose cells this file has, not the first ones")
    compared = tasks.add_parser("compare")
    compared.add_argument("old", type=Path)
    compared.add_argument("new", type=Path)
    chosen = parser.parse_args()
    torch.set_grad_enabled(False)
    if chosen.task == "table":
        print(f"KEYS = {KEYS}\nSHARES = {{")
        for width in chosen.widths:
            shares = np.max([percentile(build, width) for build in (bert, gpt2, llama)], axis=0)
            rounded_up = np.ceil(shares * 1000) / 1000
            print(f"    {width}: ({', '.join(f'{share:.3f}' for share in rounded_up)}),", flush=True)
        print("}")
    elif chosen.task == "cells":
        texts = [line for line in chosen.texts.read_text(encoding="utf-8").splitlines() if line.strip()]
        others = json.loads(chosen.heads_of.read_text(encoding="utf-8")) if chosen.heads_of else []
        of = {(row["model"], row["text"]): row["cell"] for row in others}
        every = named_by_random(texts) if chosen.models == "random" else named_by(chosen.models.split(","), texts, of)
        chosen.out.write_text(json.dumps(list(every), ensure_ascii=False, indent=0), encoding="utf-8")
    else:
        compare(*(json.loads(path.read_text(encoding="utf-8")) for path in (chosen.old, chosen.new)))


# --- the table -------------------------------------------------------------------------------------------------------


def bert(width: int, *, model_width: int, layers: int, vocabulary: int = 1000) -> transformers.PreTrainedModel:
    """A BertModel with random weights: bidirectional, post-norm, learned positions."""
    return transformers.BertModel(
        transformers.BertConfig(
            vocab_size=vocabulary,
            hidden_size=model_width,
            num_hidden_layers=layers,
            num_attention_heads=model_width // width,
            intermediate_size=2 * model_width,
            attn_implementation="eager",
        )
    )


def gpt2(width: int, *, model_width: int, layers: int, vocabulary: int = 1000) -> transformers.PreTrainedModel:
    """A GPT-2 with random weights: causal, pre-norm, learned positions."""
    return transformers.GPT2Model(
        transformers.GPT2Config(
            vocab_size=vocabulary,
            n_embd=model_width,
            n_layer=layers,
            n_head=model_width // width,
            n_inner=2 * model_width,
            attn_implementation="eager",
        )
    )


def llama(width: int, *, model_width: int, layers: int, vocabulary: int = 1000) -> transformers.PreTrainedModel:
    """A Llama with random weights: causal, pre-norm, RoPE, two heads to a kv head."""
    heads = model_width // width
    return transformers.LlamaModel(
        transformers.LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=model_width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            num_key_value_heads=heads // 2,
            intermediate_size=2 * model_width,
            attn_implementation="eager",
        )
    )


def percentile(build: Callable[..., transformers.PreTrainedModel], width: int) -> np.ndarray:
    """The 95th percentile over the seeds of the largest share by the keys that a row sees, [len(KEYS)]."""
    model_width, layers, rows = SHAPES[width]
    largest = np.zeros((SEEDS, len(KEYS)))
    for seed in range(SEEDS):
        torch.manual_seed(seed)
        model = build(width, model_width=model_width, layers=layers).eval()
        for weights in maps(model, causal=build is not bert, rows=rows):
            see(weights, largest[seed])
    return np.quantile(largest, LEVEL, axis=0)


def see(weights: np.ndarray, largest: np.ndarray) -> None:
    """Keep the largest shares of maps [texts, H, rows, keys] by the keys that a row sees, [len(KEYS)]."""
    bins = np.searchsorted(KEYS, np.count_nonzero(weights[0, 0], axis=-1), side="right") - 1
    most = weights.max(axis=(0, 1, 3))
    np.maximum.at(largest, bins[bins >= 0], most[bins >= 0])


def maps(model: transformers.PreTrainedModel, *, causal: bool, rows: int) -> Iterator[np.ndarray]:
    """Every layer's maps of random tokens; a causal row sees a key more than the row before, another row all."""
    for length in KEYS[-1:] if causal else KEYS:
        texts = rows // 32 if causal else max(1, rows // length)
        ids = torch.randint(model.config.vocab_size, (texts, length))
        for layer in model(input_ids=ids, output_attentions=True).attentions:
            yield layer.numpy()


# --- which cells are told --------------------------------------------------------------------------------------------


def named_by(
    names: list[str], texts: list[str], of: dict[tuple[str, str], list[Any] | None]
) -> Iterator[dict[str, Any]]:
    """The cell of each text's sentence in models of the catalogue; of: (model, text) -> a cell, whose head is read."""
    import inspector
    import models

    for name in names:
        loaded = models.load(name)
        for text in texts:
            yield {"model": name, "text": text, **named(inspector.record(loaded, text), of.get((name, text)))}


def named_by_random(texts: list[str]) -> Iterator[dict[str, Any]]:
    """The cell of each text's opening sentence in models that were drawn for this text alone."""
    import inspector
    import models
    from models.transformer import untrained

    tokenizer = models.load("minilm").tokenizer
    for build in (bert, gpt2, llama):
        for seed, text in enumerate(texts, start=1000):
            torch.manual_seed(seed)
            width, model_width = ((8, 64), (16, 64), (32, 128))[seed % 3]
            model = build(width, model_width=model_width, layers=2, vocabulary=len(tokenizer))
            with tempfile.TemporaryDirectory() as folder:
                model.save_pretrained(folder)
                tokenizer.save_pretrained(folder)
                trace = inspector.record(models.load(folder), text)
            yield {"model": build.__name__, "text": text, **named(trace)}
    for shape in OWN:
        for seed, text in enumerate(texts, start=1000):
            loaded = models.load(untrained.config(shape, vocabulary=len(tokenizer)), seed=seed)
            yield {"model": f"own {shape}", "text": text, **named(inspector.record(loaded, text))}


def named(trace: Any, of: list[Any] | None = None) -> dict[str, Any]:
    """The cell that the sentence of the first head names, its share and the keys that its query sees; or no cell.

    of: a cell whose head is read instead.
    """
    from inspector import head_roles, heads

    measures = heads.measure(trace)
    layer, head = heads.most_telling(measures) if of is None else of[1:3]
    site = next(site for site in trace.sites if site.layer == layer and site.stream == trace.sites[0].stream)
    read = head_roles.head(heads.with_choice(measures, trace), trace, site, head)
    if not read.opens_with_link or read.link is None:
        return {"cell": None}
    row = trace.attention(layer=layer, head=head, stream=site.stream)[read.link.at[0]]
    keys = int((row > 0).sum())
    return {"cell": [site.stream, layer, head, *read.link.at], "share": read.link.weight, "keys": keys}


def compare(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> None:
    """Print how many sentences name a cell, and how many old cells of half a row and three keys are still named."""
    print("| model | texts | named a cell | names a cell | of 0.5 and 3 keys | still told |")
    print("| --- | --: | --: | --: | --: | --: |")
    for model in dict.fromkeys(row["model"] for row in old):
        pairs = [(a, b) for a, b in zip(old, new, strict=True) if a["model"] == model]
        assert all(a["text"] == b["text"] for a, b in pairs)
        strong = [(a, b) for a, b in pairs if a["cell"] and a["share"] >= 0.5 and a["keys"] >= 3]
        told = sum(a["cell"] == b["cell"] for a, b in strong)
        counts = [sum(row["cell"] is not None for row in rows) for rows in zip(*pairs, strict=True)]
        share = f"{told} ({told / len(strong):.0%})" if strong else "-"
        print(f"| {model} | {len(pairs)} | {counts[0]} | {counts[1]} | {len(strong)} | {share} |")


if __name__ == "__main__":
    main()
