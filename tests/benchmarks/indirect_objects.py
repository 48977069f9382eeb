"""Shares of heads in a logit, held to what cutting the heads does: indirect objects (Wang et al. 2023).

    python -m tests.benchmarks.indirect_objects

SmolLM2 reads 20 sentences of four templates, such as "When Mary and John went to the shop, John gave a book to", and
prefers the name that stands once. Each head has a share of that preference (direct), and a cut that says what the model
loses without it (total). Printed: where the head with the largest share stands among the cuts; how much the first three
and the first eight lose together, beside 20 draws of as many heads from the same layers; and how far both rankings
agree over all heads, which is not far: direct is not total. Then mini-gpt's induction: who wrote the key that an
induction head finds, and what is left of the score without it.
"""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

import models
from inspector import patching, writers
from inspector.patching import EdgeCut, HeadCut, Uncut
from inspector.writers import Writer
from models.attention.dropping import ModelHead

TEMPLATES = (
    "When {a} and {b} went to the shop, {b} gave a book to",
    "After {a} and {b} had eaten dinner, {b} handed the keys to",
    "{a} and {b} were working in the garden, and {b} threw the ball to",
    "While {a} and {b} sat on the train, {b} passed a map to",
)
NAMES = (("Mary", "John"), ("Paul", "Anna"), ("Sarah", "Tom"), ("Peter", "Lisa"), ("Alice", "David"))
DRAWS = 20


def sentences(loaded: models.LoadedModel) -> list[Uncut]:
    """Each template with each pair of names, every second pair the other way round where the names stand together."""
    texts = []
    for number, template in enumerate(TEMPLATES):
        for place, (object_, subject) in enumerate(NAMES):
            text = template.format(a=object_, b=subject)
            if (number + place) % 2:
                text = text.replace(f"{object_} and {subject}", f"{subject} and {object_}")
            texts.append(patching.read(loaded, text, answer=object_, against=subject))
    return texts


def lost(texts: list[Uncut], heads: list[ModelHead]) -> float:
    """Measure how much of the preference is gone without all of the heads, mean over the sentences."""
    return -float(np.mean([patching.cut(text, [HeadCut(head) for head in heads]).effect for text in texts]))


def indirect_objects() -> None:
    """Print the first part."""
    texts = sentences(models.load("smollm2"))
    right = [text.measured > 0 for text in texts]
    print(
        f"{sum(right)} of {len(texts)} sentences: the right name is likelier; mean difference of the two logits "
        f"{np.mean([text.measured for text in texts]):.2f}"
    )
    tables = pd.concat([patching.cut_heads(text).assign(text=place) for place, text in enumerate(texts)])
    means = -tables.groupby(["layer", "head"])[["promise", "effect"]].mean()
    by_share, by_cut = (means[name].sort_values(ascending=False) for name in ("promise", "effect"))
    first = by_share.index[0]
    print(
        f"the split names {first[0]}.{first[1]} first (share {by_share.iloc[0]:.2f}); its cut is number "
        f"{by_cut.index.get_loc(first) + 1} of {len(by_cut)}"
    )
    for title, ranked in (("shares", by_share), ("cuts", by_cut)):
        print(f"largest {title}: " + ", ".join(f"{at[0]}.{at[1]} {value:.2f}" for at, value in ranked.head(8).items()))
    random_ = random.Random(0)
    for many in (3, 8):
        heads = [ModelHead("decoder", *at) for at in by_share.index[:many]]
        draws = []
        for _ in range(DRAWS):
            layers = {head.layer for head in heads}
            others = [ModelHead("decoder", layer, head) for layer in sorted(layers) for head in range(9)]
            drawn = random_.sample([head for head in others if head not in heads], many)
            draws.append(lost(texts, drawn))
        print(
            f"the first {many} together: {lost(texts, heads):.2f} lost; {DRAWS} draws of as many from the same "
            f"layers: {np.mean(draws):.2f}, at most {max(draws):.2f}"
        )
    agreement = spearmanr(means["promise"], means["effect"]).statistic
    print(f"rank agreement of shares and cuts over all {len(means)} heads: {agreement:.2f}")


def induction() -> None:
    """Print the second part: of each induction head of layer 1, who wrote the key that it finds, and the cut."""
    loaded = models.load("mini-gpt")
    words = "The old captain saw Mr Waldo near the harbour. In the evening the old captain saw Mr Waldo"
    text = patching.read(loaded, words)
    ids, maps = text.trace.encoding.ids, text.trace.attention(layer=1)
    cells = [(query, ids.index(ids[query]) + 1) for query in range(len(ids)) if ids.index(ids[query]) < query - 1]
    before = text.trace.attention(layer=0)
    previous = [float(np.diagonal(head, offset=-1).mean()) for head in before]
    print(
        "mini-gpt, layer 0, weight on the token before: " + ", ".join(f"0.{h} {w:.2f}" for h, w in enumerate(previous))
    )
    for head, weights in enumerate(maps):
        mean = float(np.mean([weights[cell] for cell in cells]))
        query, key = max(cells, key=lambda cell: float(weights[cell]))
        split = writers.of_score(text.trace, loaded, layer=1, head=head, query=query, key=key, inside=text.inside)
        side = split.side("key")
        first = side[side["kind"] == "head"].sort_values("contribution", ascending=False).iloc[0]
        writer = Writer("head", "decoder", int(first["layer"]), int(first["head"]))
        edge = EdgeCut(writer, text.reader("key", ModelHead("decoder", 1, head)))
        change = patching.score_change(text, edge, head=head, query=query, key=key)
        print(
            f"1.{head}: {mean:.2f} on the token behind the same one; at {text.trace.tokens[query]} -> "
            f"{text.trace.tokens[key]} its key's first head is {writer.layer}.{writer.head}; the score "
            f"{change.before:.2f} loses {-change.promise:.2f} by the split and {-change.effect:.2f} by the cut"
        )


if __name__ == "__main__":
    indirect_objects()
    induction()
