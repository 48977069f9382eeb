"""Sentences of the section Sparse masks."""

from __future__ import annotations

from inspector.long_texts import BigBird, Causal, Chunks, Dilated, Longformer, Pattern, Window
from inspector.text import quantity
from inspector.wording.english.phrases import count_of, percent

SPARSE = "Sparse masks"
RULE, OWN, TOKENS = "Rule", "My text's tokens", "Tokens (n)"
SIDE, STEP, GLOBALS, CHUNK = "To each side (s)", "Every d-th", "Global tokens (g)", "Chunk (c)"
BLOCK, RANDOM, SEED = "Block (b)", "Random blocks (r)", "Seed"
REASON, MASK_ALT = "reason", "cells that the rule shows, by the reason why"
KINDS = ("not seen", "random", "global", "near")
REASONS = "Near: in the window, block or chunk. Global: by a global token, or as one. The rest is never multiplied."
REACH, LAYERS, REACH_ALT = "Layers to reach", "layers", "layers until each query can have heard of each key"
REACHED = "Layers until a query can have heard of a key: grey cells never do. Framed: the first that take most."
AXES = {
    "cells": "cells of a map",
    "pairs": "FLOPs of scores and mix, one layer",
    "flops": "FLOPs of one layer",
}
LENGTH, SHARE = "tokens (n)", "share of n²"
BY_LENGTH, COUNT = "Cost by length", "What to count"
GROWTH_ALT = "Cost of each rule by the length of the text, on log axes"
QUANTITIES = {"pairs": "Scores and mix", "flops": "A layer", "cells": "Cells"}
NO_TEXT = "Without a text only cells are counted."
NO_MODEL = "The model of this saved trace is not at hand, so only cells are counted."
RULES = {
    "full": "Full",
    "causal": "Causal",
    "window": "Sliding window",
    "dilated": "Dilated window",
    "longformer": "Longformer",
    "bigbird": "BigBird",
    "chunks": "Hierarchy",
}
TERMS = ("mask", "query", "key", "FLOPs")


def reads(most: int) -> str:
    """Name the longest text that the model reads."""
    return f"the model reads {most:,}"


def own_help(most: int) -> str:
    """Say what the switch does; most: tokens."""
    return f"The mask over the sidebar's text, {most} tokens of it at most."


def not_counted(reason: str) -> str:
    """Say why FLOPs are not counted."""
    return f"Only cells are counted here: {reason}."


def shown(*, rule: str, tokens: int, cells: int, needed: int | None, layers: int | None, model: str) -> str:
    """Say how many cells a rule leaves, and after how many layers every token reaches every token.

    rule: a name of RULES. needed: layers until every token reaches every token, None for never. layers: the model's,
    None without a model.
    """
    share = percent(cells / tokens**2)
    return f"{RULES[rule]}: {share} of the cells are seen, {_reach(needed, layers=layers, model=model)}."


def _reach(needed: int | None, *, layers: int | None, model: str) -> str:
    if needed is None:
        return "and some tokens never hear of others, whatever the number of layers"
    enough = "" if layers is None or needed <= layers else f", more than {model} has"
    return f"and every token can reach every other in {count_of(needed, 'layer')}{enough}"


def worth(*, saved: float, tenth: int | None, half: int | None, model: str) -> str:
    """Say from which lengths on a rule saves a tenth and half of a layer's FLOPs, None for never; saved: here."""
    if tenth is None:
        return f"It saves {model}'s layers nothing." if saved == 0 else "It never saves a tenth of a layer."
    if half is None:
        return f"It saves a tenth of a layer's FLOPs from {tenth:,} tokens on, and never half."
    return f"It saves half of a layer's FLOPs from {half:,} tokens on."


def numbers(
    *, tokens: int, cells: int, causal: int, fewest: int, most: int, needed: int | None
) -> list[tuple[str, str, str]]:
    """List a rule's numbers: name, number, meaning.

    causal: cells that a causal mask shows too. fewest, most: keys that a query sees.
    """
    return [
        ("Cells", f"{cells:,}", "Pairs of query and key that the rule shows, counted and by formula."),
        ("nnz / n²", f"{100 * cells / tokens**2:.3g} %", "Share of all pairs that is seen."),
        ("Keys", f"{fewest}" if fewest == most else f"{fewest} to {most}", "Keys that a query sees."),
        ("Layers to reach all", "never" if needed is None else f"{needed}", "Smallest k with no 0 in A^k."),
        ("With a causal mask", f"{causal:,}", "Cells that are left in a model that writes."),
    ]


def savings(*, sparse: int, full: int, saved: float, tenth: int | None) -> list[tuple[str, str, str]]:
    """List what a rule saves of a layer: name, number, meaning; sparse, full: FLOPs; tenth: where it saves a tenth."""
    from_tenth = "" if tenth is None else f" A tenth is saved from {tenth:,} tokens on."
    return [
        ("A layer", quantity(sparse, "FLOP"), "2nP + 2nF + 4HE · cells: a layer that computes the seen cells alone."),
        ("In full", quantity(full, "FLOP"), "The same layer with all n² cells."),
        ("Saved", f"{100 * saved:.3g} %", f"Share of the full layer's FLOPs at this length.{from_tenth}"),
    ]


def formula(pattern: Pattern, tokens: int) -> str:
    """Write the closed count of a rule's cells with its numbers filled in, as LaTeX."""
    n, cells = tokens, f"{pattern.cells(tokens):,}".replace(",", r"{,}")
    match pattern:
        case Causal():
            return rf"$\frac{{n(n+1)}}{{2}} = \frac{{{n} \cdot {n + 1}}}{{2}} = {cells}$ cells"
        case Window():
            s = min(pattern.side, n - 1)
            return rf"$n(2s+1) - s(s+1) = {n} \cdot {2 * s + 1} - {s} \cdot {s + 1} = {cells}$ cells"
        case Dilated():
            k = min(pattern.side, (n - 1) // pattern.step)
            d = pattern.step
            return (
                rf"$n(2k+1) - d\,k(k+1) = {n} \cdot {2 * k + 1} - {d} \cdot {k} \cdot {k + 1} = {cells}$ cells, "
                rf"$k = \min(s, \lfloor (n-1)/d \rfloor) = {k}$"
            )
        case Longformer():
            g = min(pattern.globals, n)
            s = min(pattern.side, max(n - g - 1, 0))
            return (
                rf"$2gn - g^2 + (n-g)(2s+1) - s(s+1) = 2 \cdot {g} \cdot {n} - {g}^2 + {n - g} \cdot {2 * s + 1} - "
                rf"{s} \cdot {s + 1} = {cells}$ cells"
            )
        case BigBird():
            b, blocks = pattern.size, -(-n // pattern.size)
            if blocks <= 2:
                return rf"two blocks are the first and the last, which see everything: $n^2 = {n}^2 = {cells}$ cells"
            g = b + n - (blocks - 1) * b
            return (
                rf"$2gn - g^2 + b^2(3m - 2 + R) = 2 \cdot {g} \cdot {n} - {g}^2 + {b}^2 \cdot ({pattern.near(n)} + "
                rf"{pattern.drawn(n)}) = {cells}$ cells: $g = {g}$ tokens in the first and the last block, "
                rf"$m = {blocks - 2}$ blocks between them, $R = {pattern.drawn(n)}$ random blocks in all"
            )
        case Chunks():
            c, (whole, rest) = pattern.size, divmod(n, pattern.size)
            count = whole + bool(rest)
            return (
                rf"$wc^2 + m^2 + C^2 - C = {whole} \cdot {c}^2 + {rest}^2 + {count}^2 - {count} = {cells}$ "
                rf"cells, $C = \lceil n/c \rceil = {count}$ chunks, $w = {whole}$ whole, a rest of $m = {rest}$ tokens"
            )
    return rf"$n^2 = {n}^2 = {cells}$ cells"


def about(rule: str) -> str:
    """Say what a rule is and which paper it comes from."""
    return {
        "full": "Every query sees every key (Vaswani et al. 2017).",
        "causal": "A query sees itself and what stands before it, as in every model that writes. It is half of full "
        "attention, and still quadratic.",
        "window": "A query sees s tokens to either side: the sliding window of Longformer and Mistral (Beltagy et al. "
        "2020 call 2s the window). News travels s tokens a layer.",
        "dilated": "A query sees every d-th token: s tokens of attention reach s · d tokens far (Beltagy et al. 2020). "
        "With one d for all heads, tokens whose distance is no multiple of d never meet; Longformer gives heads "
        "different ones.",
        "longformer": "A window, and a few tokens that see everything and are seen by all (Beltagy et al. 2020): "
        "[CLS], or the words of a question. Two layers are enough through them.",
        "bigbird": "Blocks: a query sees its block and its neighbours, the first and the last block, and a few random "
        "blocks (Zaheer et al. 2020). transformers' BigBird draws in training alone; outside it draws none.",
        "chunks": "Two levels in one mask: chunks are blind to each other, and their first tokens, which stand for "
        "them, see one another (Yang et al. 2016, Pappagari et al. 2019). Down, across and up again: three layers. "
        "The second level still grows as (n/c)².",
    }[rule]


COUNTED = (
    "FLOPs are those of a computation that multiplies the seen cells and no others, 4HE for each. A plain kernel fills "
    "the masked scores of a full map and saves nothing; a kernel in blocks saves about what is drawn here."
)
