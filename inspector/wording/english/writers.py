"""Sentences on who wrote a score, and who wrote a prediction."""

from __future__ import annotations

from inspector.text import Named, number, signed
from inspector.text import token as code
from inspector.wording.english.phrases import count_of, named

SCORE, PREDICTION = "Who wrote a score", "Who wrote the prediction"
WROTE = "Who wrote it"
PREDICTS_NOTHING = "predicts no tokens"
WAITS = "Adding up who wrote it …"
QUERY, KEY, TOKEN, GUESS, AGAINST = "Query", "Key", "Token", "Logit of", "Less that of"
PAIRS = "The strongest pairs"
PAIRS_ALT = (
    "The largest pairs, a line each from a writer of the query's side to one of the key's, and the sum of the rest"
)
CONTRIBUTION = "of the score"
QUERY_SIDE, KEY_SIDE = "query's side", "key's side"
ADDED = "added by the function:"
SOURCES_ALT = "What one head gives, by the token that it read, as bars"
LOGIT = "of the logit"
PARTS, PARTS_ALT = "By layer and part", "What each layer's attention and FFN write, as bars in the order of the layers"
OPENS_HEAD = "A click on a layer's attention opens the head that writes most of it, below."
HEADS, HEADS_ALT = "By head", "What each head writes, a row for each layer"
LAYER, HEAD = "layer", "head"
GUESS_HELP = "A word of one token, as it stands after a space; left empty, the likeliest."
AGAINST_HELP = "Another token; left empty, the second likeliest. The difference of two logits is what decides."
NAMES = {
    "embedding": "embedding",
    "attention": "attention",
    "cross": "cross-attention",
    "ffn": "FFN",
    "head": "bias behind the last layer",
}
MATRICES = {"W_O": "W_O", "query": "q", "q_proj": "q", "key": "k", "k_proj": "k"}
"""Parts of a bias's name, and how it is named beside a bar."""
HELD = (
    "Each norm keeps the scale that it has on this text: then the residual stream is a sum of all that was written to "
    "it, and the score a sum over pairs: one part that wrote into the query times one that wrote into the key, which "
    "gives the colour. L3 H2 is layer 3, head 2."
)
HELD_LOGIT = (
    "Each norm keeps the scale that it has on this text. Direct alone is counted: what later layers read of a part and "
    "write on counts for those layers."
)
OPEN = "Go one step back:"
OPENED = "Head"
TRAIL = "Back to:"
OTHER_STREAM = "The prediction is made from the decoder's last state: choose the decoder above."


def short(*, kind: str, layer: int | None, head: int | None, name: str, stream: str = "") -> str:
    """Name a writer beside a bar: "L3 H2", "L3 FFN", "embedding", "L3 W_O bias"."""
    place = "" if layer is None else f"L{layer} "
    cross = "cross " if stream == "cross" else ""
    if kind == "head":
        return f"{place}{cross}H{head}"
    if kind == "beta":
        return f"{place or 'embedding '}{cross}beta"
    if kind == "bias":
        matrix = next((letter for word, letter in MATRICES.items() if word in name), "")
        return f"{place}{cross}{matrix} bias" if layer is not None else "token type" if name == "embedding" else "bias"
    if kind == "distance":
        return f"distance {name}"
    return f"{place}{cross}{NAMES.get(kind, kind)}"


def writer(*, kind: str, layer: int | None, head: int | None, name: str) -> str:
    """Name a writer in a sentence: "layer 3, head 2", "the FFN of layer 3", "the embedding"."""
    if kind == "head":
        return f"layer {layer}, head {head}"
    if kind == "beta":
        return "a norm's beta" if layer is None else f"a norm's beta in layer {layer}"
    if kind == "bias" and name == "embedding":
        return "the token type"
    if kind == "bias":
        return "a bias" if layer is None else f"a bias of layer {layer}"
    if kind == "distance":
        return "a vector of the distance"
    if layer is None:
        return f"the {NAMES.get(kind, kind)}" if kind != "positions" else "the position"
    return f"{'the FFN' if kind == 'ffn' else 'the attention'} of layer {layer}"


def kinds(*, score: float, strongest: float, of_query: str, of_key: str, query: Named, key: Named) -> str:
    """Say in plain words what gives most of a score; of_query, of_key: kinds of `writers.score.KINDS`."""
    sides = _SIDES[of_query].format(named(query)), _SIDES[of_key].format(named(key))
    met = f"{sides[0]} alike" if of_query == of_key == "constant" else " meeting ".join(sides)
    return f"Of the score {signed(score)}, {signed(strongest)} comes from {met}."


_SIDES = {
    "word": "the word {}",
    "place": "where {} stands",
    "attention": "what heads below wrote at {}",
    "FFN": "what FFNs below wrote at {}",
    "constant": "what the model adds to every token",
}


def pair(*, strongest: float, of_query: str, of_key: str) -> str:
    """Say which pair of writers is the largest; of_query, of_key: names of writers."""
    return f"The largest single pair gives {signed(strongest)}: {of_query} and {of_key}."


def on_side(writer: str, side: str) -> str:
    """Name a writer and the side that it wrote: "L3 H2, key's side"."""
    return f"{writer}, {side}"


def rest(pairs: int) -> str:
    """Name the sum of the pairs that are not drawn."""
    return f"all other {count_of(pairs, 'pair')}:" if pairs > 1 else "one other pair:"


def sums(*, pairs: int, total: float, score: float, cap: float | None, recorded: float) -> str:
    """Say what all pairs sum up to, beside the score."""
    capped = "" if cap is None else f", {signed(recorded)} behind the soft-cap {number(cap)}"
    return f"{count_of(pairs, 'pair')}: sum {_six(total)}, score {_six(score)}{capped}"


def logit_sums(*, writers: int, total: float, logit: float) -> str:
    """Say what all writers sum up to, beside what the model's head gives."""
    return f"{count_of(writers, 'writer')}: sum {_six(total)}, model {_six(logit)}"


def _six(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")


def source(*, head: int, layer: int, token: Named) -> str:
    """Head a picture of what a head read."""
    return f"What layer {layer}, head {head} wrote at {named(token)}, by the token that it read"


def opens(*, layer: int, head: int, query: str, key: str) -> str:
    """Name the button that opens a head's cell."""
    return f"L{layer} H{head}: {code(query)} → {code(key)}"


def whole(reasons: int) -> str:
    """Say that heads are not split, before the reason."""
    return "The attention of some layers is one writer" if reasons else ""


def predicted(*, token: str, against: str, total: float, part: str, layer: int | None, contribution: float) -> str:
    """Say which part of the model writes most of the difference of two logits."""
    name = NAMES[part] if layer is None else f"{NAMES[part]} of layer {layer}"
    side = "above" if total >= 0 else "below"
    more = "; others write against it" if abs(contribution) > abs(total) else ""
    return (
        f"The logit of {code(token, spaced=True)} lies {number(abs(total))} {side} that of "
        f"{code(against, spaced=True)}; the {name} writes {signed(contribution)} toward that, the most of any "
        f"part{more}."
    )


def to_map(*, layer: int, head: int) -> str:
    """Name the way to a head's map."""
    return f"See what layer {layer}, head {head} looks at"
