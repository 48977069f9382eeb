"""Sentences of the page Block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.block import Step
from inspector.plots.theme import number, signed
from inspector.readings.block import Added, Answered, Mixes, Moved, Outputs, Passed, Shared
from inspector.sharing import Heads, Nearest
from inspector.wording import token
from inspector.wording.english.phrases import listed, percent

if TYPE_CHECKING:
    import pandas as pd

PARTS = {"attention": "attention", "cross": "cross-attention", "ffn": "the FFN", "": "the input"}
_ORDERS = {
    "pre": "each sublayer reads the stream through a norm (pre-norm)",
    "post": "a norm follows each sum (post-norm)",
    "both": "norms stand before the sublayers and after the sums",
    "none": "no norm stands in it",
}


def passed(found: Passed) -> str:
    """Say what a layer does to one token: what its parts add, and where its norms stand."""
    parts = [f"{PARTS[part]} adds a vector of length {number(norm)}" for part, norm in found.added.items()]
    beside = ", both of the same state and at once (a parallel block)" if found.beside else ""
    return (
        f"{token(found.token)} enters layer {found.layer} with length {number(found.enters)}; {listed(parts)}{beside}; "
        f"it leaves with {number(found.leaves)}. In this block {_ORDERS[found.order]}."
    )


def ends(found: Passed) -> str:
    """Say how the walk's end agrees with what the model recorded, and what of its attention is not drawn."""
    said = "The end equals the recorded output of the layer, bit for bit."
    if found.off:
        off = number(found.off)
        said = f"The end differs from the recorded output of the layer by {off} of its largest number: rounding."
    if found.unseen:
        said += (
            " This model does its attention by itself: its weights were seen, its queries, keys and values were not, "
            "so attention is one step here."
        )
    return said


def step(found: Step, *, activation: str | None, cosines: dict[str, float]) -> str:
    """Say what a step of the walk is, in plain words."""
    size = " x ".join(map(str, found.shape))
    first, *rest = found.shape
    part = PARTS[found.part]
    heads = f"{first} heads of {rest[-1]} numbers" if rest else f"{first:,} numbers"
    tokens = f", of all {found.shape[1]} tokens of the source" if len(found.shape) == 3 else ""
    words = {
        "x": "The token's state as it enters the layer: one point on the residual stream.",
        "norm": (
            f"The norm brings the state to a common size before {part} reads it."
            if found.part
            else "The norm behind the sum brings the state to a common size."
        ),
        "q": f"The query x W_Q: what the token asks for, {heads}.",
        "k": f"The key x W_K{tokens}: what others compare their query with, {heads}.",
        "v": f"The value x W_V{tokens}: what is handed over to those that look here, {heads}.",
        "mix": f"Each head sums the values of all tokens that it sees, by its weights A: {heads}, side by side.",
        "out": "W_O turns the heads, side by side, into one vector as wide as the stream: what attention adds.",
        "sum": "The residual sum: what was added, and the state that came past it unchanged.",
        "gate": f"The gate's matrix: one number for each of {first:,} units, which the activation function will open.",
        "up": f"The first matrix: one number for each of {first:,} units.",
        "hidden": (
            f"The activation function {activation} sets numbers below 0 to 0."
            if activation in ("relu", "relu2")
            else f"The activation function {activation} lets numbers above 0 pass, and little of those below."
        ),
        "down": (
            "The second matrix turns the units into one vector as wide as the stream: what the FFN adds."
            if found.name
            else "The FFN's own steps are not shown for this model; it adds what the rest of the layer leaves over."
        ),
    }
    said = [words[found.kind]]
    if found.kind == "mix" and len(found.shape) == 2:
        said.append(f"{found.shape[0]} x {found.shape[1]} = {found.shape[0] * found.shape[1]:,} numbers in all.")
    if found.positive is not None:
        said.append(
            f"{found.positive:,} of {first:,} units are above 0 before it."
            if found.kind == "hidden"
            else f"{found.positive:,} of {first:,} are above 0."
        )
    if found.kind in ("out", "down") and found.part in cosines:
        said.append(f"Its cosine with the stream that it is added to is {signed(cosines[found.part])}.")
    if found.off is not None:
        said.append(f"Computed again from the step before; off by {number(found.off)} of the largest recorded number.")
    return f"**{size}**, length **{number(found.norm)}**. {' '.join(said)}"


def added(found: Added) -> str:
    """Say which part adds most, and how alike the tokens get."""
    part = PARTS[found.part]
    size = percent(found.share) if found.share < 1 else f"{number(found.share)} times"
    of = "of the stream's length" if found.share < 1 else "the stream's length"
    said = f"{part[0].upper()}{part[1:]} of layer {found.layer} adds most: {size} {of}."
    if found.layers:
        more = f"in {found.larger} of {found.layers} {'layer' if found.layers == 1 else 'layers'}"
        same = f" and as much in {found.equal}" if found.equal else ""
        said += f" Against the stream's length the FFN adds more than attention {more}{same}."
    if found.alike is not None:
        first, last = found.alike
        said += (
            f" Two tokens' states have a cosine of {signed(first)} after the first part and {signed(last)} at the end."
        )
    return said


def moved(found: Moved) -> str:
    """Say where the model came to its prediction at one token."""
    layer, part = found.known
    since = "from the input on" if layer < 0 else f"from layer {layer}'s {_of(part)} on"
    said = f"At {token(found.token)} the model predicts {token(found.guess)} ({percent(found.probability)}), {since}."
    if found.bits <= 0:
        return f"{said} No part raised it."
    by = "attention" if found.part == "attention" else _of(found.part)
    return f"{said} Layer {found.layer}'s {by} raised it most, by {number(found.bits)} bits."


ACTIVATIONS = {
    "relu": "ReLU",
    "gelu": "GELU",
    "gelu_tanh": "GELU (tanh form)",
    "silu": "SiLU",
    "quick_gelu": "quick GELU",
    "relu2": "squared ReLU",
    "tanh": "tanh",
    "mish": "Mish",
}


def answered(found: Answered) -> str:
    """Say how many units of an FFN answer on this text."""
    kind = f"{ACTIVATIONS[found.activation]}{' on a gate' if found.gated else ''}"
    kind = "SwiGLU" if found.gated and found.activation == "silu" else kind
    silent = (
        "every unit is above 0 on some token"
        if not found.silent
        else f"{found.silent:,} of {found.units:,} units are above 0 on no token of this text"
    )
    zero = ", and give exactly 0" if found.exact and found.silent else ""
    return (
        f"Layer {found.layer}'s FFN ({kind}): {percent(found.positive)} of its pre-activations are above 0, and "
        f"{silent}{zero}. Unit {found.unit} answers most strongly, to {token(found.token)}."
    )


def straight(found: Answered) -> str:
    """Say what is lost without the non-linearity."""
    lost = (
        ""
        if found.straight != found.straight
        else f"With the best straight line in the activation function's place, the FFN's output is off by "
        f"{percent(found.straight) if found.straight < 1 else number(found.straight) + ' times'} of its variance on "
        "this text. "
    )
    return (
        f"{lost}Twice the input gives {number(found.doubled)} times the output (2 for anything linear). Of the sum of "
        f"what x and −x give, {number(found.mirrored)} times the output's length is left (0 for anything linear). "
        "FFN(0) is taken off both."
    )


def mixes(found: Mixes) -> list[str]:
    """Say what FFN and attention mix, a line each."""
    ffn, of = found.ffn, f"of {found.tokens} tokens"
    alone = "that token alone" if ffn.alone else "not that token alone"
    lines = [
        f"**The FFN** then gives other numbers for {ffn.tokens} {of} ({alone}; everywhere else exactly 0 changes), in "
        f"{ffn.dimensions} of {found.width} dimensions: it mixes features."
        if ffn.alone
        else f"**The FFN** then gives other numbers for {ffn.tokens} {of} ({alone}), in {ffn.dimensions} of "
        f"{found.width} dimensions."
    ]
    if found.attention is None:
        lines.append("**Attention** is not counted: its W_V and W_O are not matrices of their own here.")
    else:
        both = found.attention
        kind = (
            "mixes tokens, and by W_V and W_O features too" if both.tokens > 1 and both.dimensions > 1 else "does less"
        )
        lines.append(
            f"**Attention**, its weights kept, gives other numbers for {both.tokens} {of}, in {both.dimensions} of "
            f"{found.width} dimensions: it {kind}."
        )
    return lines


def outputs(found: Outputs) -> list[str]:
    """Say what speaks for ReLU and against it on this text's numbers, a line each."""
    name, largest = ACTIVATIONS[found.own], number(found.largest)
    sizes = (
        f" Over {found.layers} layers the root mean square of the FFN's input is {number(found.inputs[0])} to "
        f"{number(found.inputs[1])}: a norm holds it, where the layer has one."
        if found.layers > 1
        else ""
    )
    return [
        f"**Not centred.** ReLU makes the mean {signed(found.relu_mean)}, never an output below 0"
        + ("." if found.own == "relu" else f"; {name}, this FFN's, makes it {signed(found.own_mean)}."),
        f"**Flat below 0, straight above.** At {percent(found.relu_flat)} of the pre-activations ReLU's slope is 0"
        + ("" if found.own == "relu" else f", {name}'s under 0.001 at {percent(found.own_flat)}")
        + ". Above 0 ReLU's slope is 1 however large the number is, so it does not saturate there.",
        f"**Not bounded.** The largest output of {name} here is {largest}.{sizes}",
    ]


def dying(found: pd.DataFrame) -> str:
    """Say how many units die at each learning rate."""
    said = [f"{percent(float(dead))} at {rate:g}" for rate, dead in zip(found["rate"], found["dead"], strict=True)]
    return f"Dead after training, by learning rate: {listed(said)}. So a share of dead units belongs to its rate."


def shared(found: Shared) -> str:
    """Say how many tensors the layers' matrices are."""
    layers = f"{found.layers} {'layer' if found.layers == 1 else 'layers'}"
    said = f"The {layers} multiplied by {found.uses:,} matrices, which are {found.storages:,} tensors"
    if found.storages == found.uses:
        said = f"The {layers} multiplied by {found.uses:,} matrices, and each is a tensor of its own"
        said += ": layers share nothing." if found.layers > 1 else "."
    else:
        said += ": every layer uses the same." if found.alike else "."
    if found.keys is None:
        return said
    if found.one:
        return f"{said} W_K and W_V are one tensor in every layer."
    low, high = map(number, found.keys)
    between = low if low == high else f"between {low} and {high}"
    return f"{said} W_K and W_V are apart by {between} of their length (two that have nothing in common: 1.41)."


def tied(embedding: str, head: str) -> str:
    """Say whether embedding and head are one tensor."""
    if embedding == head:
        return "Embedding and head are one storage: the row that a token enters by is the row that predicts it."
    return "Embedding and head are two tensors of their own."


def nearest(found: Nearest) -> str:
    """Say how often the head's choice is the row nearest to the state."""
    positions = f"{found.positions} {'position' if found.positions == 1 else 'positions'}"
    return (
        f"At {found.own} of {positions} the likeliest token's row is also the row nearest to the state (its rows are "
        f"{number(found.shortest)} to {number(found.longest)} long); with all rows scaled to one length, at "
        f"{found.equal} of {found.positions}. A product is surely largest for the nearest row "
        "only where rows are equally long."
    )


def heads(found: Heads) -> str:
    """Say what side by side means for heads, and what adding them up would lose."""
    rank = "" if found.rank is None else f" W_O has rank {found.rank}; heads added up could fill {found.width} at most."
    return (
        f"{found.heads} heads of {found.width} stand side by side: {found.heads * found.width:,} numbers, so W_O does "
        f"not reduce them by itself. Side by side times W_O is the sum of each head times its own rows of W_O (off by "
        f"{number(found.sides)}). Let heads 0 and {found.heads - 1} change places, and what attention gives moves by "
        f"{percent(found.swapped) if found.swapped < 1 else number(found.swapped) + ' times'} of its length; added up "
        f"before W_O it would move by {number(found.summed)}, for a sum does not know which head spoke.{rank}"
    )


def _of(part: str) -> str:
    return PARTS[part].removeprefix("the ")
