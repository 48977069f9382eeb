"""Sentences of the page Block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from inspector.block import LayerStep
from inspector.sharing import HeadsSideBySide, NearestRows
from inspector.text import Named, number, signed
from inspector.text import token as code
from inspector.wording.english.phrases import count_of, listed, named, percent

if TYPE_CHECKING:
    import pandas as pd

    from inspector.mixing import ChangedCells

ASKS = "Inside the block"
CANNOT = "does not show what its parts add to the residual stream"
NO_LAYER = "none of its layers was seen"
CHOOSE = "Another token or layer"
TOKEN, LAYER, INPUT, STEP = "Token", "Layer", "input", "Step"
WAY, ADDED, FFN, SHARING = "One token's way", "What each part adds", "FFN", "Sharing"
FURTHER = "More of this layer"

PARTS = {"attention": "attention", "cross": "cross-attention", "ffn": "the FFN", "": "the input"}
_ORDERS = {
    "pre": "Each sublayer reads the stream through a norm (pre-norm)",
    "post": "A norm follows each sum (post-norm)",
    "both": "Norms stand before the sublayers and after the sums",
    "none": "No norm stands in this block",
}


STEPS = {
    **{"x": "State x", "norm": "Norm", "q": "Query x W_Q", "k": "Key x W_K", "v": "Value x W_V"},
    **{"mix": "Sum of A v", "out": "Output W_O", "sum": "Residual sum", "gate": "Gate", "up": "FFN up"},
    **{"hidden": "Activation", "down": "FFN down"},
}
"""The name of each kind of step."""


def layer(number: int) -> str:
    """Name a layer in a list."""
    return f"Layer {number}"


def passed(
    *, token: Named, layer: int, enters: float, leaves: float, added: Mapping[str, float], order: str, beside: bool
) -> str:
    """Say what a layer does to one token: which part adds most, and where its norms stand.

    enters, leaves: the length of the token's vector; added: part -> the length of the vector that the part adds. order:
    "pre" where the first sublayer reads a norm, "post" where a norm follows a sum, "both", or "none". beside: attention
    and FFN read the same stream and are added at once.
    """
    name = named(token)
    begins = f"{name[0].upper()}{name[1:]} enters layer {layer}"
    told = [f"{begins} with length {number(enters)} and leaves it with {number(leaves)}."]
    if added:
        part = max(added, key=added.__getitem__)
        name, most = PARTS[part], "most: " if len(added) > 1 else ""
        told.append(f"{name[0].upper()}{name[1:]} adds {most}a vector of length {number(added[part])}.")
    at_once = "; its parts read one state and are added at once (a parallel block)" if beside else ""
    return f"{' '.join(told)} {_ORDERS[order]}{at_once}."


def way_alt(name: str, *, step: int, steps: int) -> str:
    """Tell what the picture of a walk shows."""
    return f"The layer as boxes, from the token's state to what leaves; step {step} of {steps}: {name}"


def about_lengths(*, off: float, unseen: bool) -> str:
    """Say how a walk ends, and what the lengths of its boxes are."""
    turned = "; queries and keys are shown after rotation, where the model rotates them (RoPE)"
    return (
        f"{ends(off=off, unseen=unseen)} A box has the length (Euclidean norm) of the token's vector there"
        f"{'' if unseen else turned}. Labels leave out biases."
    )


def ends(*, off: float, unseen: bool) -> str:
    """Say how the walk's end agrees with the recorded output, and which steps of attention are not drawn.

    off: the largest difference over the output's largest entry. unseen: queries, keys and values were not seen.
    """
    sentence = "The last box equals what the model itself put out, bit for bit."
    if off:
        sentence = (
            f"The last box differs from what the model itself put out by {number(off)} of its largest number: rounding."
        )
    if unseen:
        sentence += (
            " This model does its attention by itself: its weights were seen, its queries, keys and values were not, "
            "so attention is one step here."
        )
    return sentence


def step(record: LayerStep, *, activation: str | None, cosines: dict[str, float]) -> str:
    """Say what a step of the walk is, in plain words."""
    size = " x ".join(map(str, record.shape))
    first, *rest = record.shape
    part = PARTS[record.part]
    heads = f"{first} heads of {rest[-1]} numbers" if rest else f"{first:,} numbers"
    tokens = f", of all {record.shape[1]} tokens of the source" if len(record.shape) == 3 else ""
    words = {
        "x": "The token's state as it enters the layer: one point on the residual stream.",
        "norm": (
            f"The norm brings the state to a common size before {part} reads it."
            if record.part
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
            if record.name
            else "The FFN's own steps are not shown for this model; it adds what the rest of the layer leaves over."
        ),
    }
    sentences = [words[record.kind]]
    if record.kind == "mix" and len(record.shape) == 2:
        sentences.append(
            f"{record.shape[0]} x {record.shape[1]} = {record.shape[0] * record.shape[1]:,} numbers in all."
        )
    if record.positive is not None:
        sentences.append(
            f"{record.positive:,} of {first:,} units are above 0 before it."
            if record.kind == "hidden"
            else f"{record.positive:,} of {first:,} are above 0."
        )
    if record.kind in ("out", "down") and record.part in cosines:
        sentences.append(f"Its cosine with the stream that it is added to is {signed(cosines[record.part])}.")
    if record.off is not None:
        sentences.append(
            f"Computed again from the step before; off by {number(record.off)} of the largest recorded number."
        )
    return f"A vector of **{size}** numbers, length **{number(record.norm)}**. {' '.join(sentences)}"


LENGTHS, LENGTHS_ALT = (
    "How long it is, against the stream",
    "Length of what attention and FFN add, against the length of the stream, by layer",
)
DIRECTIONS, DIRECTIONS_ALT = (
    "Which way it points",
    "Cosine of what attention and FFN add with the stream, by layer",
)
ALIKE, ALIKE_ALT = "How alike two tokens are, by depth", "Mean cosine of two tokens' states after every sublayer"
MOVES, MOVES_ALT = (
    "How each part moves the prediction",
    "Probability of the final prediction after every sublayer, with the likeliest token",
)
SHARE, COSINE, MEAN_COSINE = "length against the stream's", "cosine with the stream", "mean cosine of two tokens"
FINAL, BITS, LIKELIEST = "probability of the final prediction", "moved by, in bits:", "likeliest:"
PART_NAMES = {"attention": "attention", "cross": "cross-attention", "ffn": "FFN", "": "input"}
MEANS = (
    "Means over all tokens of the text. A cosine near 0 means that a part writes into other directions than those "
    "that the stream uses already; a negative one takes away from what is there."
)
ONE_TOKEN = "A text of one token has no two to compare."
OTHER_STREAM = "The head reads the decoder's stream."
LENS = (
    "The head is asked after each part, through the model's own end: the logit lens (nostalgebraist 2020). Over "
    "a bar stands what it finds likeliest there."
)


def no_head(*, writer: str) -> str:
    """Say that a model predicts nothing; writer: the id of a model that does."""
    return f"This model has no head that predicts tokens, so there is no prediction to move: try {writer}."


def prediction(guess: str) -> str:
    """Title the chart of one prediction."""
    return f"The prediction {guess} after each part"


def added(*, part: str, layer: int, share: float, alike: tuple[float, float] | None) -> str:
    """Say which part adds most, and how alike the tokens get.

    part, layer, share: of the largest share of the stream's length. alike: the mean cosine of two tokens after the
    first sublayer and after the last; None for a single token.
    """
    size = percent(share) if share < 1 else f"{number(share)} times"
    of = "of the stream's length" if share < 1 else "the stream's length"
    name = PARTS[part]
    sentence = f"{name[0].upper()}{name[1:]} of layer {layer} adds most: {size} {of}."
    if alike is not None:
        first, last = map(signed, alike)
        sentence += f" Two tokens' states have a cosine of {first} after the first part and {last} at the end."
    return sentence


def larger(*, larger: int, equal: int, layers: int) -> str:
    """Say in how many of the layers in which both add the FFN adds more than attention, or the same; "" for none."""
    if not layers:
        return ""
    more = f"{larger} of {count_of(layers, 'layer')}" + (f" and as much in {equal}" if equal else "")
    return f"Against the stream's length the FFN adds more than attention in {more}."


def moved(
    *, token: Named, guess: str, probability: float, layer: int, part: str, bits: float, known: tuple[int, str]
) -> str:
    """Say where the model came to its prediction at one token.

    guess, probability: the final prediction. layer, part, bits: the sublayer that raised its log2 most; 0 bits or less
    where no sublayer raised it. known: the sublayer (layer, part) after which the guess stays the likeliest.
    """
    since = "from the input on" if known[0] < 0 else f"from layer {known[0]}'s {_of(known[1])} on"
    sentence = f"At {named(token)} the model predicts {code(guess)} ({percent(probability)}), {since}."
    if bits <= 0:
        return f"{sentence} No part raised it."
    by = "attention" if part == "attention" else _of(part)
    return f"{sentence} Layer {layer}'s {by} raised it most, by {number(bits)} bits."


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


EXACT = ("relu", "relu2")
"""Activation functions that give exactly 0 below 0."""
BUSIEST = "The units that answer most strongly"
BUSIEST_HEADS = {
    "unit": "Unit",
    "largest": "Largest output",
    "above": "Tokens above 0",
    "tokens": "Tokens that move it most",
}
ACTIVATION, ACTIVATION_ALT = (
    "The activation function, and this text's numbers on it",
    "Histogram of the pre-activations with the activation function over it",
)
STRAIGHT = "What is lost without the activation function"
THE_FFN, WITHOUT_SOFTMAX, WITH_SOFTMAX = "the FFN", "Q Kᵀ V, without softmax", "softmax(Q Kᵀ / √d) V"
DOUBLED_HEADS = {"input": "Doubled input", "grows": "Output grows by"}
DOUBLED = (
    "Queries, keys and values are doubled for attention, the state for the FFN; what is linear grows by 2. So "
    "attention without its softmax is not linear either: a product of three is cubic, 2 · 2 · 2 = 8. Masks and "
    "biases are left out."
)
MIXES, RECTIFIED = "Which mixes tokens, and which features?", "For ReLU and against it"
OUTPUT_HEADS = {
    "function": "Function",
    "mean": "Mean",
    "deviation": "Deviation",
    "zero": "Share of 0",
    "flat": "Share of flat slopes",
    "largest": "Largest",
}
TRAIN_FOUR, ALL_LAYERS = "Train four small networks", "All layers"
DYING_HEADS = {"rate": "Learning rate", "dead": "Dead", "loss": "Last loss"}


def no_ffns(model: str, *, reason: str, experts: bool) -> str:
    """Say why no FFN is shown; experts: which each token goes through is shown elsewhere."""
    return f"The FFNs of {model} are not shown: {reason}{', as the section Experts shows' if experts else ''}."


def ffns_refused(count: int, *, layer: int, reason: str) -> str:
    """Say how many layers' FFNs are not shown, and why the first is not."""
    return f"{count} layers' FFNs are not shown (layer {layer}: {reason})."


def pre_activations(count: int, *, low: float, high: float, outside: int) -> str:
    """Say how many numbers a histogram counts, and how many lie outside."""
    beyond = f"; {outside:,} lie beyond the picture" if outside else ""
    return f"{count:,} pre-activations, a number for each token and unit, from {signed(low)} to {signed(high)}{beyond}."


def training_four(steps: int) -> str:
    """Say what is waited for."""
    return f"Training four small networks for {steps} steps"


def about_dying(*, units: int) -> str:
    """Say what was trained and counted."""
    return (
        f"Two hidden layers of {units} units with ReLU, plain SGD, one seed; counted are units of the second layer "
        "that are above 0 on none of 4,096 other inputs. Loss in nats."
    )


def answered(*, layer: int, activation: str, gated: bool, positive: float, unit: int, token: Named) -> str:
    """Say how much of an FFN answers on this text.

    positive: share of all pre-activations above 0. unit: the unit of the largest output; token: the token that moves
    this unit most.
    """
    kind = f"{ACTIVATIONS[activation]}{' on a gate' if gated else ''}"
    kind = "SwiGLU" if gated and activation == "silu" else kind
    return (
        f"Layer {layer}'s FFN ({kind}): {percent(positive)} of the numbers before its activation function are "
        f"positive. Unit {unit} answers most strongly, to {named(token)}."
    )


def silent(count: int, *, of: int, activation: str) -> str:
    """Say how many units of an FFN are above 0 for no token of this text."""
    if not count:
        return "Every unit is above 0 on some token."
    zero = ", and give exactly 0" if activation in EXACT else ""
    return f"{count:,} of {of:,} units are above 0 on no token of this text{zero}."


def straight(*, straight: float, doubled: float, mirrored: float) -> str:
    """Say what is lost without the non-linearity; the parameters are fields of `feedforward.Units`."""
    lost = (
        ""
        if straight != straight
        else f"With the best straight line in the activation function's place, the FFN's output is off by "
        f"{percent(straight) if straight < 1 else number(straight) + ' times'} of its variance on "
        "this text. "
    )
    return (
        f"{lost}Twice the input gives {number(doubled)} times the output (2 for anything linear). Of the sum of "
        f"what x and −x give, {number(mirrored)} times the output's length is left (0 for anything linear). "
        "FFN(0) is taken off both."
    )


def mixes(*, tokens: int, width: int, ffn: ChangedCells, attention: ChangedCells | None) -> list[str]:
    """Say what FFN and attention mix when one number of one token changes, a line each.

    tokens: the number of tokens that are looked at. attention: None where its mixing cannot be counted.
    """
    of = f"of {count_of(tokens, 'token')}"
    alone = "that token alone" if ffn.alone else "not that token alone"
    lines = [
        f"**The FFN** then gives other numbers for {ffn.tokens} {of} ({alone}; everywhere else exactly 0 changes), in "
        f"{ffn.dimensions} of {width} dimensions: it mixes features."
        if ffn.alone
        else f"**The FFN** then gives other numbers for {ffn.tokens} {of} ({alone}), in {ffn.dimensions} of "
        f"{width} dimensions."
    ]
    if attention is None:
        lines.append("**Attention** is not counted: its W_V and W_O are not matrices of their own here.")
    else:
        several = attention.tokens > 1 and attention.dimensions > 1
        kind = "mixes tokens, and by W_V and W_O features too" if several else "does less"
        lines.append(
            f"**Attention**, its weights kept, gives other numbers for {attention.tokens} {of}, in "
            f"{attention.dimensions} of {width} dimensions: it {kind}."
        )
    return lines


def mixed(token: str, *, layer: int, lines: Sequence[str]) -> str:
    """Say what was changed, and how much changed with it."""
    return f"One number of {code(token)} is changed as it enters layer {layer}'s FFN, or its attention.\n\n" + bullets(
        lines
    )


def bullets(lines: Sequence[str]) -> str:
    """Write lines as a list."""
    return "\n".join(f"- {line}" for line in lines)


def outputs(
    *,
    activation: str,
    mean: float,
    flat: float,
    relu_mean: float,
    relu_flat: float,
    largest: float,
    layers: int,
    inputs: tuple[float, float] | None,
) -> list[str]:
    """Say what speaks for ReLU and against it on this text's numbers, a line each.

    mean, flat, largest: of the FFN's outputs; relu_mean, relu_flat: of ReLU on the same numbers. inputs: the smallest
    and largest mean root mean square of the inputs of `layers` FFNs, None for a single FFN.
    """
    name = ACTIVATIONS[activation]
    sizes = (
        ""
        if inputs is None
        else f" Over {layers} layers the root mean square of the FFN's input is {number(inputs[0])} to "
        f"{number(inputs[1])}: a norm holds it, where the layer has one."
    )
    return [
        f"**Not centred.** ReLU makes the mean {signed(relu_mean)}, never an output below 0"
        + ("." if activation == "relu" else f"; {name}, this FFN's, makes it {signed(mean)}."),
        f"**Flat below 0, straight above.** At {percent(relu_flat)} of the pre-activations ReLU's slope is 0"
        + ("" if activation == "relu" else f", {name}'s under 0.001 at {percent(flat)}")
        + ". Above 0 ReLU's slope is 1 however large the number is, so it does not saturate there.",
        f"**Not bounded.** The largest output of {name} here is {number(largest)}.{sizes}",
    ]


def dying(table: pd.DataFrame) -> str:
    """Say how many units die at each learning rate."""
    shares = [f"{percent(float(dead))} at {rate:g}" for rate, dead in zip(table["rate"], table["dead"], strict=True)]
    return f"Dead after training, by learning rate: {listed(shares)}. So a share of dead units belongs to its rate."


STORAGES, STORAGES_ALT = (
    "Which tensors are one",
    "A row for each layer, embedding and head, a column for each matrix; cells of one storage have one number",
)
TIED, SIDE_BY_SIDE = "Embedding and head", "Heads side by side, or added up"
NOTHING_TO_SHARE = "This model has no head that predicts tokens, so there is nothing that its embedding could share."


def shared(*, uses: int, storages: int, layers: int, alike: bool) -> str:
    """Say how many tensors the layers' matrices are.

    uses, storages: the number of matrices in use, and of the tensors that hold them. alike: every layer uses the same.
    """
    layers_have = f"{'The only layer' if layers == 1 else 'The layers'} multiplied by {uses:,} matrices"
    if storages == uses:
        end = ", and each is a tensor of its own" + (": layers share nothing." if layers > 1 else ".")
    else:
        end = f", which are {storages:,} tensors" + (": every layer uses the same." if alike else ".")
    return layers_have + end


def apart(keys: tuple[float, float] | None, *, same: bool) -> str:
    """Say how far W_K and W_V are apart, "" where one matrix holds both in every layer.

    keys: the smallest and largest distance; same: they are one tensor in every layer.
    """
    if keys is None:
        return ""
    if same:
        return "W_K and W_V are one tensor in every layer."
    low, high = map(number, keys)
    between = low if low == high else f"between {low} and {high}"
    return f"W_K and W_V are apart by {between} of their length (two that have nothing in common: 1.41)."


def head_size(rows: int, columns: int, *, width: int) -> str:
    """Say how large the head's matrix is."""
    return f"The head's matrix is {rows:,} x {columns:,} for states of {width:,} numbers."


def at_last_token(token: str, layer: int, heads: str) -> str:
    """Say where heads were looked at, and what was seen."""
    return f"Layer {layer}, at the last token, {code(token)}: {heads}"


def tied(embedding: str, head: str) -> str:
    """Say whether embedding and head are one tensor."""
    if embedding == head:
        return "Embedding and head are one storage: the row that a token enters by is the row that predicts it."
    return "Embedding and head are two tensors of their own."


def nearest(choices: NearestRows) -> str:
    """Say how often the head's choice is the row nearest to the state."""
    positions = f"{choices.positions} {'position' if choices.positions == 1 else 'positions'}"
    return (
        f"At {choices.unscaled} of {positions} the likeliest token's row is also the row nearest to the state (its "
        f"rows are {number(choices.shortest)} to {number(choices.longest)} long); with all rows scaled to one length, "
        f"at {choices.equal} of {choices.positions}. A product is surely largest for the nearest row "
        "only where rows are equally long."
    )


def heads(joined: HeadsSideBySide) -> str:
    """Say what side by side means for heads, and what adding them up would lose."""
    rank = (
        "" if joined.rank is None else f" W_O has rank {joined.rank}; heads added up could fill {joined.width} at most."
    )
    return (
        f"{joined.heads} heads of {joined.width} stand side by side: {joined.heads * joined.width:,} numbers, so W_O "
        "does not reduce them by itself. Side by side times W_O is the sum of each head times its own rows of W_O (off "
        f"by {number(joined.sides)}). Let heads 0 and {joined.heads - 1} change places, and what attention gives moves "
        f"by {percent(joined.swapped) if joined.swapped < 1 else number(joined.swapped) + ' times'} of its length; "
        f"added up before W_O it would move by {number(joined.summed)}, for a sum does not tell which head spoke.{rank}"
    )


def _of(part: str) -> str:
    return PARTS[part].removeprefix("the ")
