"""Sentences of the page Batch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from inspector.batches import Layout
from inspector.text import Named, number, signed, visible
from inspector.wording.english.phrases import count_of, named, percent

ASKS = "What to see of the batch"
SEEN, LEAKS, PACKED, COST = "What each token sees", "Where a mask leaks", "Packed texts", "Time and memory"
LAYERNORM = "What padding does to a BatchNorm: see Norms"
CHANGED = "What a changed token moves: see Tokens"
READING = "Reading the texts together"
INSTEAD = "Your texts are kept: change them, or choose another model."
TEXTS, LAYOUT, TEXT, STREAM, LAYER, CALL, HEAD = (
    "More texts, one a line",
    "Layout",
    "Text",
    "Stream",
    "Layer",
    "Which attention of the layer",
    "Head",
)
EXAMPLES = {
    "English": "Yes.\nA dog barked at the door.\nShe sat by the river bank and watched the boats go by.",
    "Chinese": "好。\n狗叫了。\n她坐在河边，想着银行会不会借钱给她。",
    "One length": "The cat sat down.\nThe dog ran off.\nThe sun came out.",
}
LAYOUTS: Mapping[str, str] = {
    "right": "Padded right",
    "left": "Padded left",
    "packed": "Packed",
    "alone": "One by one",
}
FILLS = {
    "-inf": "−∞",
    "-1e9": "−1e9",
    "-1e4": "−1e4",
    "-20": "−20",
    "-10": "−10",
    "x 0": "× 0",
    "no mask": "no mask",
}
TERMS = {"seen": ("padding", "mask", "query", "key"), "fills": ("mask", "padding", "scores")}
TERMS |= {"packed": ("packed row", "mask"), "cost": ("padding", "packed row", "FLOPs")}
"""The terms that each section's sentence uses, by the section."""
MORE = "More texts"
LONGEST_NAME = 24  # letters of a text in the list of texts
ROUNDING = 1e-5  # of a row's weight: what float32 moves
_STATES = 1e-4  # of a number of a hidden state: what rounding explains through a whole model


def texts_help(lines: int, characters: int) -> str:
    """Say which texts are read."""
    return f"Text 0 is the sidebar's. {lines} lines and {characters} characters at most."


def too_many(lines: int, *, read: int) -> str:
    """Say how many of the lines are read."""
    return f"{lines} lines: the first {read} are read."


def head_name(site: str, head: int) -> str:
    """Name a head: "layer 1, head 7"; site: the attention's name."""
    return f"{site}, head {head}"


def seeing(
    *,
    layout: Layout,
    texts: int,
    rows: int,
    cells: int,
    padding: int,
    sources: bool,
    keys: tuple[int, int],
    hidden: int,
    leaking: tuple[Named, float] | None,
    to_padding: float,
    to_others: float,
    head: str,
) -> str:
    """Say what the mask shows the chosen text's tokens, and how much of the batch is padding.

    rows, cells, padding: of the batch; sources: the cells hold the sources of an encoder-decoder. keys: the fewest and
    the most keys that a query of the text sees; hidden: the keys of padding in its row. leaking: the query that gives
    padding most, and its weight, None where that is no more than rounding; to_padding, to_others: the mean weight of
    the text's queries on padding and on other texts. All in `head`, "layer 1, head 7".
    """
    counts = f"{keys[1]}" if keys[0] == keys[1] else f"{keys[0]} to {keys[1]}"
    sees = f"each token of this text sees {counts} key{'' if counts == '1' else 's'}"
    if leaking is not None:
        query, share = leaking
        sentence = f"The mask leaks: in {head} {named(query)} gives {percent(share)} of its weight to padding."
    elif to_others > ROUNDING:
        sentence = f"The mask leaks: {head} gives {percent(to_others)} of this text's weight to other texts."
    elif layout == "packed":
        sentence = (
            f"The mask keeps packed texts apart: {sees}, and {head} gives {_nothing(to_others)} to the other texts."
        )
    elif hidden:
        sentence = f"The mask hides padding: {sees}, and {head} gives {_nothing(to_padding)} to it."
    else:
        sentence = f"This text has no padding to hide: {sees.replace(' of this text', '')}."
    if layout == "alone":
        return f"{sentence} One by one, {count_of(texts, 'text')} take {count_of(rows, 'forward')}."
    if layout == "packed":
        return (
            f"{sentence} {'One text makes' if texts == 1 else 'The texts make'} one row of {count_of(cells, 'cell')}."
        )
    if not padding:
        return f"{sentence} {'The one text has' if texts == 1 else 'All texts have'} one length."
    whose = f"the sources' {cells} cells" if sources else f"the batch's {cells} cells"
    return f"{sentence} Of {whose} {percent(padding / cells)} hold no text."


def _nothing(weight: float) -> str:
    return "next to nothing" if weight else "nothing"


MASK, SEES, MASK_KINDS = "The mask", "mask", ("masked", "seen")
MASK_ALT = "A row for each query, a column for each key, one for all padding: whether the query sees the key"
WEIGHTS_ALT = "A row for each query, a column for each key, one for all padding: the weight that the query gives to it"


def padding_of(tokens: int) -> str:
    """Name the column that stands for all padding of a row."""
    return f"padding × {tokens}"


def numbered(text: int, words: str) -> str:
    """Name a text of the batch."""
    return f"{text}: {visible(words[:LONGEST_NAME])}{'…' if len(words) > LONGEST_NAME else ''}"


def weights(head: str) -> str:
    """Name the map of a head's weights."""
    return f"Weights of {head}"


def of_text(token: str, text: int) -> str:
    """Name a token of another text in a packed row."""
    return f"{token} ({text})"


def numbers(
    *,
    cells: int,
    padding: int,
    keys: tuple[int, int],
    to_itself: float,
    to_padding: float,
    to_others: float,
    to_masked: float,
) -> list[tuple[str, str, str]]:
    """Name, write and explain the numbers of a text in a batch; the last four are weights, mean over the queries."""
    of_queries = "Weight, mean over the text's queries."
    return [
        ("Cells", f"{cells:,}", "Tokens that the batch computes, padding included."),
        ("Padding", percent(padding / cells), "Share of the cells that hold no text."),
        ("Keys seen", f"{keys[0]}" if keys[0] == keys[1] else f"{keys[0]} to {keys[1]}", "By a query of the text."),
        ("To its own text", number(to_itself), of_queries),
        ("To padding", number(to_padding), of_queries),
        ("To other texts", number(to_others), of_queries),
        ("To masked keys", number(to_masked), "Weight on all that the mask hides, mean over its queries."),
    ]


def unknown(count: int, *, of: int) -> str:
    """Say how many of the texts' tokens a model does not know."""
    verb, them = ("is", "it") if count == 1 else ("are", "them")
    return f"{count} of {of} tokens {verb} unknown to this model, which reads one and the same mark for {them}."


ALONE = "Each text is a batch of its own: no padding has to be masked."
PADDING_COMPUTES = (
    "All padding is one column, its weights added up, and seen where any of it is seen. Rows of padding are left out: "
    "they compute weights too, which nobody reads."
)
OWN_TRANSFORMER = "It is read by the same weights in this project's own Transformer."


def packed_columns(lengths: Sequence[int]) -> str:
    """Say how long a packed row is, and what its mask hides; lengths: the texts' lengths."""
    return (
        f"The number after a token is its text's: {' + '.join(map(str, lengths))} = {sum(lengths)} columns, and the "
        "mask is a block for each text."
    )


LEFT = (
    "Positions are counted from each text's first token. transformers' default forward counts the padding before it "
    "too: a model with a table of positions, such as BERT, would then give other weights."
)
"""Advice to a reader who pads on the left in transformers."""


def masking(fill: float | None, *, causal: bool, softmax: bool) -> str:
    """Say what becomes of a masked score; fill: the value of `batches.own_fill`."""
    where = f"before the {'softmax' if softmax else 'sigmoid'}"
    if fill is None:
        how = f"has the smallest number of its dtype added {where}"
    else:
        how = f"is multiplied by 0 {where}" if fill == 0 else f"is set to {signed(fill)} {where}"
    both = " A key is seen where the causal mask and the mask of padding both show it." if causal else ""
    return f"A masked score {how}.{both}"


ORDERS = {"after": "Mask after the scale", "before": "Mask before the scale"}
WAYS = {"filled": "Filled in", "added": "Added"}
ORDER, WAY = "Order", "Way"
NOTHING_LEAKS = "Here is no padding, so no mask can leak onto it: write texts of different lengths, and pad them."


def where(*, packed: bool) -> str:
    """Name what a mask hides from a text's tokens."""
    return "other texts" if packed else "padding"


def filling(
    *,
    left: Mapping[str, float],
    problems: Sequence[tuple[str, str, str]],
    where: str,
    before_scale: bool,
) -> str:
    """Say what fills leave on padding, or on other texts.

    left: the mean weight after the fills that are told; problems: (fill, dtype, problem) of the fills that give none.
    """
    order = "before the scale" if before_scale else "after the scale"
    told = " and ".join(f"{FILLS[fill]} leaves {_left(leak)}" for fill, leak in left.items())
    sentence = f"Masked {order}, a score must end up far below all others: {told} of the weight on {where}."
    if not problems:
        return sentence
    if len(problems) > 1:
        return f"{sentence} Fills that raise an error or give NaN in half precision say so at their bars."
    ((fill, dtype, problem),) = problems
    return f"{sentence} In {dtype} {FILLS[fill]} {'raises an error' if 'raises' in problem else 'gives NaN'}."


def _left(leak: float) -> str:
    return "nothing" if leak == 0 else percent(leak)


def weight_on(where: str, head: str) -> str:
    """Name the figure of a mask's leaks."""
    return f"Weight on {where}, {head}"


def leaks_title(where: str) -> str:
    """Name the figure of a mask's leaks on a slide."""
    return f"Weight on {where} by fill"


def leaks_axis(where: str) -> str:
    """Name the quantity of a mask's leaks."""
    return f"weight on {where}, mean over the queries of texts that have any in their row"


def leaks_alt(where: str) -> str:
    """Tell what the figure of a mask's leaks shows."""
    return f"weight on {where} for each fill in float32, bfloat16 and float16"


LEAK_HEADS = {
    "leak": "mean weight",
    "largest": "largest",
    "hidden": "on all masked keys",
    "change": "change from −∞",
    "problem": "no weights",
}


def formula(*, dot: bool, factor: float, added: bool, before_scale: bool, real: int, padding: int, causal: bool) -> str:
    """Write how masked weights come about, with the number of keys of the shortest text, and of padding.

    dot: scores are dot products; factor: multiplies them. added: the mask is added to a score; else it replaces the
    score. before_scale: the mask comes before the factor.
    """
    score = "QK^T" if dot else "S"
    masked = "{} + M" if added else r"\mathrm{{fill}}_M({})"
    inside = f"f\\,({masked.format(score)})" if before_scale else masked.format(f"f\\,{score}")
    later = " What comes later is masked with the same M." if causal else ""
    tiny = math.exp(-10)
    how = "M is added to a masked score" if added else "M takes a masked score's place"
    counted = (
        f" With scores of 0 the shortest text's {real} keys and {padding} of padding would leave "
        rf"$\frac{{{padding} e^M}}{{{padding} e^M + {real}}}$: {number(padding * tiny / (padding * tiny + real))} for "
        f"M = −10, {number(padding / (padding + real))} for × 0."
        if padding and not before_scale
        else ""
    )
    return rf"$A = \mathrm{{softmax}}({inside})$ with the factor f = {number(factor)}; {how}.{counted}{later}"


WHOLE, NOTHING = "Through the whole model", "A query that may look at nothing"
DRIFT_HEADS = {
    "drift": "largest move of a real token",
    "relative": "mean relative move",
    "to_padding": "weight on padding",
    "padding_states": "mean size in padding",
}
NOTHING_HEADS = {"weight": "weight of the first key", "sum": "sum of the row"}
NOTHING_NAMES = {f"filled with {fill}": f"filled with {name}" for fill, name in FILLS.items()} | FILLS
EVERY_KEY = (
    "Every key of one of text 0's queries masked, as in a text of nothing but padding. −∞ gives 0/0, which is NaN; "
    "a finite fill makes all scores alike, so that the row is spread evenly over what must not be seen; torch's "
    "fused kernel gives 0."
)


def not_refilled(parameters: int, *, of_project: bool, most: int) -> str:
    """Say why a model is not read under other fills."""
    why = f"it has {parameters:,} parameters" if of_project else "a model of transformers has its own mask"
    return f"Other fills are read through models of this project of up to {most:,} parameters; {why}."


def _share(leak: float) -> str:
    return percent(leak) if leak >= 0.01 else number(leak)


def drifting(
    *,
    masked: float,
    unmasked: float,
    worst: tuple[str, float] | None,
    to_padding: float,
    padding_states: float,
    left: bool,
) -> str:
    """Say how far real tokens move under the model's mask, without a mask and under the worst fill.

    masked, unmasked: the largest move of a number of a real token's state with the model's mask, and with padding that
    is not masked; worst: the fill that moves states most, and how far. to_padding: the weight on padding with the
    model's mask; padding_states: the mean size of a number in padding's last hidden states. left: padding stands first.
    """
    sentence = (
        f"With the model's own mask no number of a real token's last hidden state is farther than {number(masked)} "
        f"from the text alone; where padding is not masked {number(unmasked)} is."
    )
    if masked > _STATES and to_padding > ROUNDING:
        sentence += f" The model's own mask leaks: padding gets {_share(to_padding)} of the weight."
    elif masked > _STATES and left:
        sentence += (
            " Its mask leaks nothing: padding stands before the text, and this model counts positions by column, so "
            "that a text's tokens stand at other positions than alone."
        )
    if worst is not None and worst[1] > 0:
        sentence += f" Of the fills {FILLS[worst[0]]} moves them most, by up to {number(worst[1])}."
    if padding_states == padding_states:  # NaN without padding
        sentence += (
            f" Padding has states too: their numbers have a mean size of {number(padding_states)}, so a loss or "
            "a mean over tokens must leave them out."
        )
    return sentence


WITH_MASK, RUNNING_ON, WITHOUT_MASK = "with the mask", "with the mask, positions running on", "without the mask"
APART = "How far the last hidden states are from each text alone"
APART_ALT = "relative difference of packed texts' last hidden states from each text alone"
APART_TITLE, APART_AXIS = "Packed against alone", "relative difference (%)"
APART_HEADS = {
    "row": "packed",
    "states": "largest of a state",
    "relative": "relative",
    "weights": "largest of a weight",
    "to_others": "weight on other texts",
}
PACKED_IN_OWN = (
    "Packed rows are read by the same weights in this project's own Transformer, and so are the texts alone."
)


def packing(*, masked: float, running: float, unmasked: float, others: float) -> str:
    """Say whether packed texts equal separate ones, with the mask and without.

    masked, running, unmasked: the largest move of a number of a last hidden state with the mask and positions anew in
    each text, with positions running on, and without the mask; others: the mean weight on other texts without a mask.
    """
    equal = (
        f"every packed text reads as it does alone, but for rounding ({number(masked)})"
        if masked <= _STATES
        else f"packed texts still differ from the texts alone, by up to {number(masked)}"
    )
    sentence = (
        f"With their mask {equal}. Without it {percent(others)} of the weight goes to other texts, and numbers of a "
        f"state move by up to {number(unmasked)}."
    )
    if running > 2 * masked + _STATES:
        sentence += f" Positions running on would move them by {number(running)}."
    return sentence


def about_packing(*, tokens: int, inside: int) -> str:
    """Say what the difference is, and how many pairs a packed row's mask shows; inside: the pairs within one text."""
    return (
        "|packed − alone| / |alone| of a token's last hidden state, mean over tokens and texts. The mask is "
        f"block-diagonal: of {tokens} · {tokens} = {tokens**2:,} pairs those of one text are seen, {inside:,} at "
        "most. To a dot product with rotary or relative positions it does not matter where a text begins, for they "
        "know distances alone."
    )


FLOPS, FLOPS_ALT = "FLOPs of the layers' matrix products", "FLOPs of each layout"
FLOPS_TITLE, FLOPS_AXIS = "What each layout computes", "million FLOPs"
CLOCK, CLOCK_ALT = "On this machine's clock", "milliseconds of each layout"
CLOCK_TITLE, CLOCK_AXIS = "Time of each layout", "milliseconds"
TO_TIME = "Each layout's whole forward is run on this machine; they take turns. It takes some seconds."
COST_HEADS = {
    "padding": "padding (%)",
    "pairs": "scores a head",
    "needed": "needed",
    "flops": "FLOPs",
    "score_bytes": "scores of a layer (bytes)",
}


def costing(*, cells: int, padding: float, padded: float, packed: float | None) -> str:
    """Say how much of a padded batch is wasted, and what a packed row costs.

    cells, padding: of the padded batch; padded, packed: FLOPs divided by those of the texts one by one, None where
    texts cannot be packed.
    """
    sentence = f"Padding costs what text costs: padded, the texts take {number(padded)} times the FLOPs of one by one"
    sentence += "." if packed is None else f", packed {number(packed)} times."
    return f"{sentence} Of the {cells} padded cells {percent(padding)} hold no text."


def flops_formula(
    *,
    projections: int,
    ffn: int,
    width: int,
    layers: int,
    encoder: bool,
    rows: int,
    tokens: int,
    flops: int,
    pairs: tuple[int, int] | None,
) -> str:
    """Write the FLOPs of a padded batch with its numbers.

    projections, ffn: numbers in the matrices of attention and of the FFN; width: of all heads. encoder: the layers
    belong to an encoder beside a decoder. pairs: scores of a head in the packed row, and those between tokens of one
    text; None where texts are not packed.
    """
    vain = (
        ""
        if pairs is None or pairs[0] == pairs[1]
        else f" For a packed row a plain kernel computes {pairs[0]:,} scores a head where {pairs[1]:,} are between "
        "tokens of one text."
    )
    part = " of the encoder" if encoder else ""
    return (
        rf"$L\,B\,(2nP + 4n^2HE + 2nF)$ for B rows of n tokens: P = {projections:,} numbers in the "
        f"matrices of attention, F = {ffn:,} in the FFN's, H E = {width}. Padded, the {layers} layers"
        f"{part} take {layers} · {rows} · (2 · {tokens} · P + 4 · {tokens}² · {width} + 2 · {tokens} · F) = "
        f"{flops:,}. "
        f"Padding costs as much as text.{vain} A kernel that knows the blocks of a packed row (FlashAttention's for "
        "lengths that differ) computes the needed scores alone."
    )


def timed(repeats: int, *, clock: str, of_project: bool, problems: Mapping[Layout, str]) -> str:
    """Say how the layouts were timed, and why one was not; of_project: the project's Transformer runs the model."""
    return (
        f"Medians of {repeats} runs that take turns, {clock}. A busy machine moves these numbers."
        + ("" if of_project or problems else " All run the same weights in this project's own Transformer.")
        + "".join(f" {LAYOUTS[name]} is not timed: {why}." for name, why in problems.items())
    )
