"""Sentences of the section Old keys and queries."""

from __future__ import annotations

from inspector.stepwise import ForcedReading, KeyMoves, LayerReads
from inspector.stepwise.old_keys import ROUNDING
from inspector.text import number, quantity

PAST, NEW = "Old keys and queries", "New tokens"
COMPARING, WATCHING = "Comparing the keys", "Watching the steps"
ONE_TOKEN = "The text has one token, so none is old when another comes. Write a longer one."
MOVED, MOVED_ALT = "Change of the old tokens' keys and values", "Change of the old tokens' keys and values by layer"
CHANGE, LARGEST = "change (% of the length)", "largest difference of a number"
READERS, READS_ALT = "Who reads an old query? Nobody", "Queries read, and keys and values read, by step and token"
QUERIES, KEYS, READ, STEP, TOKEN = "Queries read", "Keys and values read", "read", "step", "token"
SAVED = "What the KV cache saves: see Generate"

TERMS = ("KV cache", "key", "causal mask")


def of_stream(model: str, stream: str) -> str:
    """Name a stack of a model that has two."""
    return f"{model}'s {stream}"


def masked(model: str, *, causal: bool) -> str:
    """Name a model under the other mask."""
    return f"{model} with {'a' if causal else 'no'} causal mask"


def change(share: float) -> str:
    """Write a key's change beside its point."""
    return f"{100 * share:.2g} %"


def line(tensor: str, model: str) -> str:
    """Name a line of the picture: "keys, mini-GPT"."""
    return f"{tensor}s, {model}"


def moving(moved: KeyMoves, beside: KeyMoves | None, *, new: int) -> str:
    """Say how far old keys move, and whether they could be cached."""
    comes = "one more token comes" if new == 1 else f"{new} more tokens come"
    if moved.alone:
        return (
            f"One layer tells no mask: when {comes}, no old key of {moved.name} moves (by {_tiny(moved.largest)}), for "
            "its keys are made before any token is attended to."
        )
    if moved.stays:
        kept = (
            f"A causal mask lets keys be cached: when {comes}, no old key of {moved.name} moves (by "
            f"{_tiny(moved.largest)})."
        )
        if beside is None or beside.stays:
            return kept
        return (
            f"{kept} In {beside.name}, which reads both ways, those of layer {beside.layer} move by {_share(beside)}."
        )
    changed = (
        f"A cache would hold wrong keys, for every token sees every token: when {comes}, {moved.name}'s old keys of "
        f"layer {moved.layer} change by {_share(moved)} on average."
    )
    if beside is None or not beside.stays:
        return changed
    return f"{changed} In {beside.name} none changes (by {_tiny(beside.largest)})."


def about(moved: KeyMoves) -> str:
    """Write what is drawn, with its formula."""
    return (
        r"Mean over the old tokens of $\lVert k' - k \rVert / \lVert k \rVert$, over all heads of a layer; $k$ read "
        f"without the new tokens, $k'$ with them. Layer 0's keys are made of the embeddings, before any token was "
        f"attended to: {_first(moved)}. A special token at the end is "
        "left out, for a text that goes on has none yet."
    )


def an_encoder(name: str) -> str:
    """Say what stands beside a decoder."""
    return f"{name} stands beside: an encoder that reads the same text both ways."


def same_weights(name: str, *, causal: bool) -> str:
    """Say what stands beside an encoder."""
    trained = ", which they were not trained for" if causal else ""
    return f"{name} stands beside: the same weights under the other mask{trained}."


def stands_in(model: str, problem: str, writer: str, *, on_text: bool) -> str:
    """Say that another model writes, and why; problem: of `stepwise.why_not`."""
    whose = "on your text" if on_text else "on its own example"
    return f"**{model}** {problem}, so the steps are **{writer}**'s, {whose}."


def reading(reads: LayerReads, *, model: str, layers: int, alike: bool) -> str:
    """Say what the steps of a cached run read."""
    queries, keys = reads.counts
    count = len(reads.tokens)
    every = f"all {layers} layers alike" if alike and layers > 1 else f"layer {reads.layer}"
    same = "to the last bit" if reads.moved == 0 else f"within {number(reads.moved)}"
    return (
        f"**Why no cache of queries?** In {count} steps of {model} ({every}) queries are read {queries:,} times, each "
        f"once, at its own step, and keys with their values {keys:,} times, as they were computed, {same}. A "
        "past query is never asked for again."
    )


COMPUTED = (
    "$o_t = \\mathrm{softmax}(q_t K^\\top / \\sqrt{d_k}) V$: token t's key and value are read at the n − t steps from "
    "t on (t from 0; in a layer with a window, as long as the window holds the token), its query at step t alone. "
    "“Only Q is computed” holds for the past: each step computes $q_t$, and $k_t$ and $v_t$ too, which join the cache."
)


def training(forced: ForcedReading, *, model: str) -> str:
    """Say whether a cache would help in training."""
    totals, tokens = forced.totals, len(forced.table)
    cost = {way: quantity(flops, "FLOPs") for way, flops in totals.items()}
    counted = "(matrix products, counted as they ran)"
    if not forced.cache_bytes:
        return (
            f"**A cache in training?** {model} keeps no cache: {tokens} given tokens take {cost['pass']} in one pass "
            f"and {cost['uncached']} step by step {counted}."
        )
    return (
        f"**A cache in training?** Of {tokens} given tokens one parallel pass of {model} takes {cost['pass']}, "
        f"{tokens} steps with a cache {cost['cached']}, without {cost['uncached']} {counted}. The pass costs "
        f"{number(totals['pass'] / totals['cached'])} times the cached run and waits for nothing; and the weights "
        "change after each update, with them every cached key: a cache saves nothing there."
    )


def _first(moved: KeyMoves) -> str:
    if moved.first == 0:
        return "0"
    return f"{number(100 * moved.first)}\u00a0%{', rounding' if moved.first <= ROUNDING else ''}"


def _share(moved: KeyMoves) -> str:
    return change(moved.most).replace(" ", "\u00a0")  # no line ends before the sign


def _tiny(largest: float) -> str:
    return "exactly 0" if largest == 0 else f"{number(largest)} at most, rounding"
