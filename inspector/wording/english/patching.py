"""Sentences of the parts Two texts and Scissors of the page What if."""

from __future__ import annotations

import re
from math import isnan

from inspector.text import Named, number, signed, token
from inspector.wording.english.phrases import named

TWO_TEXTS, SCISSORS = "Two texts", "Scissors"
CORRUPTED, ANSWER, AGAINST = "The corrupted text", "Answer", "against"
CORRUPTED_HELP = (
    "A text of equal length, token by token, that leads to another answer. The text in the sidebar is clean."
)
WRITE_ANOTHER = "Write a corrupted text: one of as many tokens as yours, in which a word is another."
ANSWER_HELP = "A word of one token, as it stands after a space. Left empty, what the model finds likeliest."
GRIDS = {
    "heads": "Heads",
    "stream": "Stream x token",
    "attention": "Attention x token",
    "ffn": "FFN x token",
    "head tokens": "Heads of a layer x token",
}
WHAT = "What is put in its place"
INTO = "Which text is run"
RUN = {"corrupted": "Run the corrupted text", "clean": "Run the clean text"}
PATCHING, RUNS, START = "Patching", "layer", "Patch"
ANOTHER = "Choose another text or model."
LAYER, HEAD, TOKEN = "layer", "head", "token"
SHARE = "share of the difference"
GRID_ALT = "How much of the difference between the two texts comes with each part"
OPENED, CLEAN_MAP, CORRUPTED_MAP = "The open head, in both texts", "clean", "corrupted"
MAPS_ALT = "Attention of the open head in the clean and in the corrupted text"
ALL_CELLS = "All numbers of the grid"
NOTHING_BROUGHT = "The two texts have the same answer here, so there is no difference to bring back."
NOTE = (
    "Each cell is a run of the model on one text, with this one part of the other text in its place: nothing is held, "
    "nothing is approximated. Share 1 brings all of the difference back, 0 nothing, below 0 the other way. Shares do "
    "not add up to 1: parts work through each other (Vig et al. 2020; Wang et al. 2023)."
)
REUSED = "Layers below the part, and tokens before the first that differs, are the same and were not run again."
WHOLE = "This model's layers cannot be run one by one, so each cell is a whole run."
WRITER, READER, NORMS = "Writer", "What of it is cut", "Norms"
LIVE = {"live": "Norms live", "held": "Norms held"}
INTO_LOGIT, TO_ZERO, TO_MEAN = "into the logit", "all: a head to zero", "all: a head to its mean"
INSTEAD = "Another text's write in its place"
INSTEAD_HELP = (
    "A text of as many tokens: what it writes on a cut edge stands there instead of nothing (path patching). Left "
    "empty, nothing does."
)
CUTTING = "Cutting"
BEFORE, AFTER, PROMISE, EFFECT, GAP = "before", "after", "promise", "effect", "effect − promise"
ANSWER_BEFORE, ANSWER_AFTER = "The answer of the whole model", "The answer of the model with the cut"
PROMISE_MEANS = "What the split of the logit into its writers says that this cut takes, directly"
EFFECT_MEANS = "What it takes, when the model runs again"
GAP_MEANS = "What the split leaves out: live norms, and later layers that read what was cut"
SCORE = "score of the cell"
KEEP, EMPTY = "Keep this cut", "Forget all"
KEPT = "Cuts that you kept"
KEPT_ALT = "Writers and readers of the kept cuts by layer, an edge for each cut"
LAYER_AXIS = "layer"
TABLE_WORDS = {
    "cut": "cut",
    "writer": "writer",
    "reader": "reader",
    "norms": "norms",
    "promise": "promise",
    "effect": "effect",
    "before": "before",
    "after": "after",
}
KEPT_JSON = "The kept cuts with promise and effect"
EACH, EACH_ALT = "Each head cut alone", "Promise and effect of each head, a point each"
PROMISED_AXIS, EFFECT_AXIS = "promise (direct)", "effect of the cut"
CUT_EACH = "Cut each head alone"
CUTTING_HEADS = "Cutting heads"
ALL_HEADS = "Each head alone, in numbers"
SCISSORS_NOTE = (
    "An edge is one path: what the writer adds to the residual stream is left out of what this reader reads, and every "
    "other reader still has it. Norms live divide by the deviation of what is left; held, by that of the whole. A "
    "promise is there for what reads into the logit and for whole heads; a masked language model's head is not linear, "
    "and there the two differ even with norms held. A head's mean over the text's tokens tells a decoder's token of "
    "those that come after it; zero tells nothing. Where a column is cut, the weights of the other keys stay: they are "
    "not made to sum to 1 again."
)


def refused(reason: str) -> str:
    """Write the reason of a refusal as a sentence."""
    return f"{reason[:1].upper()}{reason[1:].rstrip('.')}."


def asked(answer: str, against: str | None) -> str:
    """Name what is measured."""
    if against is None:
        return f"the logit of {token(answer)}"
    return f"the logit of {token(answer)} less that of {token(against)}"


def not_as_long(tokens: int, other: int) -> str:
    """Say that another text does not fit."""
    return f"Your text has {tokens} tokens and the other {other}; a write is put in its place token by token."


def texts(answer: str, against: str | None, *, clean: float, corrupted: float, at: str, hidden: bool) -> str:
    """Say what both texts answer; hidden: in the place of the token, not behind it."""
    where = "In place of" if hidden else "Behind"
    return (
        f"{where} {token(at)}, {asked(answer, against)} is {signed(clean)} in the clean text and "
        f"{signed(corrupted)} in the corrupted one."
    )


def long(runs: int, *, seconds: float) -> str:
    """Say what a grid takes."""
    return f"{runs:,} runs of the model, from the patched layer on: about {max(1, round(seconds))} s here."


def best(what: str, share: float) -> str:
    """Say which part brings back most."""
    return f"Most comes with {what}: {number(share)} of the difference."


def head_named(layer: int, head: int) -> str:
    """Name a head in a sentence."""
    return f"layer {layer}, head {head}"


def part_named(part: str, layer: int, at: str) -> str:
    """Name a part of a layer at a token, in a sentence."""
    names = {"stream": "the stream entering layer", "attention": "the attention of layer", "ffn": "the FFN of layer"}
    return f"{names.get(part, part)} {layer} at {token(at)}"


def head_at(layer: int, head: int, at: str) -> str:
    """Name a head at a token, in a sentence."""
    return f"{head_named(layer, head)} at {token(at)}"


def row_of(layer: int) -> str:
    """Name a row of a grid."""
    return f"Layer {layer}"


def cut(writer: str, reader: str, kind: str) -> str:
    """Name a cut in a sentence, by `promises.named`, whose short names of heads are "head LAYER.HEAD"."""
    writer, reader = (re.sub(r"\bhead (\d+)\.(\d+)", r"layer \1, head \2", name) for name in (writer, reader))
    if kind == "edge":
        return f"the edge from {writer} into {'the ' if reader == 'logit' else ''}{reader}"
    if kind == "columns":
        return f"the column of {reader.replace('tokens', 'token')} in {writer}"
    return f"{writer}{kind.removeprefix('head').replace(',', '')}"


def cut_took(cut: str, measured: str, *, effect: float, promise: float, patched: bool) -> str:
    """Say what a cut took, beside what was promised; patched: with another text's write in its place."""
    begin = f"Patching {cut}" if patched else f"Cutting {cut}"
    if effect == 0:
        begin = f"{begin} does not change {measured}"
    else:
        begin = f"{begin} {'raises' if effect > 0 else 'lowers'} {measured} by {number(abs(effect))}"
    if isnan(promise):
        return f"{begin}; the split promises nothing for such a cut."
    kind = "a rise" if promise > 0 else "a fall"
    return f"{begin}; the split promised {kind} of {number(abs(promise))}."


def score_took(
    *,
    head: str,
    query: Named,
    key: Named,
    before: float,
    after: float,
    promise: float,
    weights: tuple[float, float],
) -> str:
    """Say what the cut does to a cell's score, and to its weight among the row's other scores, which move too."""
    return (
        f"The score of {head} from {named(query)} to {named(key)} goes from {signed(before)} to {signed(after)}: it "
        f"moves by {signed(after - before)}, and the split promised {signed(promise)}. Its weight goes from "
        f"{number(weights[0])} to {number(weights[1])}."
    )


def into(reader: str) -> str:
    """Name an edge by what reads."""
    return f"into {reader}"


def column(token_name: str, place: int) -> str:
    """Name a column of a head's map."""
    return f"column of {token_name} {place}"


def kv_readers(reader: str, heads: tuple[int, ...]) -> str:
    """Name a key or a value with the heads that read it."""
    return f"{reader} (heads {', '.join(map(str, heads))})" if len(heads) > 1 else reader


def heads_agree(rho: float, *, heads: int) -> str:
    """Say how far promise and effect rank heads alike."""
    return (
        f"Over {heads} heads, promise and effect rank alike with ρ = {signed(rho)}: direct is not total, for later "
        "layers read what a head wrote."
    )


def long_heads(heads: int, *, seconds: float) -> str:
    """Say what cutting each head takes."""
    return f"Each of {heads} heads is cut alone: about {max(1, round(seconds))} s here."
