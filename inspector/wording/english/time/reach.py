"""Sentences of the section Gradient by distance of the page Time."""

from __future__ import annotations

from typing import Literal

from inspector.distance.reach import MOST_TOKENS, Scalar
from inspector.text import Named, number
from inspector.wording.english.phrases import count_of, named

Order = Literal["alike", "grows", "fades"]

REACH, TOKEN, STREAM = "Gradient by distance", "Token T", "Stream"
ANOTHER = "Another token"
DIFFERENTIATED = "What is differentiated"
TAKING = "Taking gradients"
SCALARS: dict[Scalar, str] = {"sum": "Sum of out_T", "direction": "A direction", "prediction": "The prediction"}
ALIKE = 1.5  # near and far tokens whose means differ by less are told as alike
WAYS = {"all": "all ways", "sublayers": "through sublayers alone", "skip": "the skip alone (token T)"}

BY_LAYER, BY_LAYER_ALT = "By layer and token", "Share of a layer's gradient that each token has, by layer and token"
ROW, COLUMN, SHARE = "x into layer", "token t", "share of the layer's gradient"
BY_DISTANCE, BY_DISTANCE_ALT = (
    "By distance",
    "Size of the gradient at each token by its distance from T, on a logarithmic scale",
)
BY_WAY, BY_WAY_ALT = (
    "With the residual, and without",
    "Size of the whole gradient by layer: all ways, through the sublayers alone, and the skip alone",
)
WAYS_BACK = (
    "The states are the model's own on every way; only the way back changes. Every way passes the norms that come "
    "after a sum, and the last norm. Veit et al. (2016) read a residual network as such ways of every length. To run "
    "the model itself without the residual, turn Residual off under Switches."
)


def reached(
    *,
    token: Named,
    scalar: Scalar,
    tokens: int,
    itself: float,
    mean: float | None,
    halves: tuple[int, float, float] | None,
    top: tuple[Named, float] | None,
    source: bool,
) -> str:
    """Say what distance does to the gradient ||ds / dx_t|| of a token.

    tokens: of the stream. itself: the norm at T. mean: of the other tokens that have a gradient; None where none has.
    halves: the largest distance of a near token, the mean of the near ones and of those beyond, where both are there.
    top: the token that gets most, T left out, and its norm. source: the tokens belong to the source, whose positions
    cannot be compared.
    """
    from_token = named(token)
    if top is None or mean is None:
        if source or not itself:
            return f"No token of this stream moves {_SHORT[scalar]} of {from_token}: its gradient is 0 everywhere."
        others = "the text has no other" if tokens == 1 else "no other token has a part in it"
        return f"The gradient of {from_token} stays where it is: {number(itself)} at the token itself, and {others}."
    if source:
        most, norm = top
        return (
            f"What the decoder makes of {from_token} goes back most of all to {named(most)}: a gradient of "
            f"{number(norm)} there, {number(mean)} on average over the source."
        )
    if halves is None:
        return (
            f"From {from_token} the gradient reaches its neighbours: {number(mean)} on average, beside "
            f"{number(itself)} at the token itself."
        )
    split, near, far = halves
    return (
        f"{_DISTANCE[_compared(near, far)]} from {from_token}: tokens more than {split} off get {number(far / near)} "
        "times what nearer tokens get on average."
    )


def counted(*, tokens: int, reached: int, by_last: int, itself: float, source: bool) -> str:
    """Say how many tokens have a gradient, and what T itself gets.

    tokens: of the stream. reached: how many have a gradient, T among them; by_last: the same through the last layer
    alone. itself: the norm at T. source: T is none of the tokens.
    """
    alone = "even" if by_last == reached else f"{by_last} of them"
    through = "" if source else f", {alone} through the last layer alone; T itself gets {number(itself)}"
    return f"The gradient reaches {_counted(reached, of=tokens)}{through}."


def mean(distances: tuple[int, int], norm: float) -> str:
    """Name the line at the mean of tokens from the first to the last of these distances."""
    first, last = distances
    away = f"up to {_tokens(last)} off" if first == 1 else f"{first} to {last} off" if first < last else f"{first} off"
    return f"mean {away}: {number(norm)}"


def carried(
    *,
    token: Named,
    source: bool,
    whole: float,
    sublayers: float,
    itself: float,
    skip: float,
    layers: int,
    parts: int,
) -> str:
    """Say what the residual does to the gradient of tokens other than T, at the input of layer 0.

    whole: the norm by all ways. sublayers: through every sublayer, without a skip. itself, skip: the norm at T, by all
    ways and by the skip alone. layers, parts: the number of layers of the stream, and of their sublayers.
    """
    if whole == 0 or sublayers == 0:
        times = ""
    else:
        factor = whole / sublayers
        times = f", {number(factor)} times less" if factor > 1 else ", no less"
    where = "to the source" if source else f"to the other tokens than {named(token)}"
    sentence = (
        f"**What the residual does.** Going back, every sublayer gives I + J: the skip, and its own derivatives "
        f"(its Jacobian). All ways together bring {number(whole)} {where}, down to the input of layer 0. The "
        "ways that take no skip, "
        f"from sublayer to sublayer, bring {number(sublayers)}{times}."
    )
    if source:
        return f"{sentence} The skip alone brings nothing: it stays in the decoder."
    return (
        f"{sentence} The skip alone stays at its token, {number(skip)} beside {number(itself)} by all ways, "
        f"and brings 0 to all others: across {parts} sublayers of {count_of(layers, 'layer')} the residual carries the "
        "gradient down, and attention carries it sideways."
    )


def product(parts: int) -> str:
    """Write the gradient as the product of its sublayers."""
    end = r"\, \partial s / \partial out"
    return (
        rf"$\partial s / \partial x = (I + J_1)^\top \cdots (I + J_{{{parts}}})^\top {end}$; "
        rf"sublayers alone: $J_1^\top \cdots J_{{{parts}}}^\top {end}$"
    )


def scalar(name: Scalar, *, token: Named, position: int, width: int, stream: str, source: bool, least: float) -> str:
    """Say exactly what is differentiated by what; least: the share of a layer's largest that counts as reached."""
    made = {
        "sum": f"s = Σ_d out_T[d], the sum of the {width} numbers of out_T",
        "direction": f"s = u · out_T, with u ~ N(0, 1) of {width} numbers, drawn once (seed 0)",
        "prediction": "s = ln p of the token that the model finds likeliest at T",
    }[name]
    by = "the encoder's" if source else f"the {stream}'s"
    return (
        f"{made}; out_T is the last hidden state of {named(token)}, T = {position}. It is differentiated "
        f"by x_t, the state of token t in {by} residual stream where it enters a layer, with autograd in float64. The "
        f"norm is ‖∂s / ∂x_t‖; a token is reached where it is above {least:.0e} of its layer's largest, and what a "
        "mask hides has 0. Compare the tokens of one layer: between layers the states themselves grow or shrink, "
        "and their gradients the other way."
    )


def into(layer: int) -> str:
    """Name a row of the map."""
    return f"into {layer}"


def not_apart(reason: str) -> str:
    """Say why the ways back are not told apart."""
    return f"The residual is not taken apart here: {reason}."


def moved_on(scalar: Scalar) -> str:
    """Say why the shown scalar is not the scalar that a section begins with."""
    return (
        f"{SCALARS[scalar]} does not move: the last LayerNorm has equal gammas, so the numbers of every state have the "
        "same sum, and its gradient is 0. A direction is shown at first."
    )


def too_long(tokens: int) -> str:
    """Say what a long text takes, until the reader asks for it."""
    return (
        f"{tokens:,} tokens go forward and back through a copy of the model in float64 (up to {MOST_TOKENS} can), "
        "which takes a few seconds."
    )


def _counted(reached: int, *, of: int) -> str:
    if of == 1:
        return "the only token"
    return f"all {_tokens(of)}" if reached == of else f"{reached} of {_tokens(of)}"


def _tokens(count: int) -> str:
    return f"{count:,} token{'' if count == 1 else 's'}"


_SHORT: dict[Scalar, str] = {"sum": "the sum", "direction": "the direction", "prediction": "the prediction"}


_DISTANCE: dict[Order, str] = {
    "alike": "Distance costs the gradient little",
    "grows": "The gradient grows with distance",
    "fades": "The gradient fades with distance",
}


def _compared(near: float, far: float) -> Order:
    if 1 / ALIKE < far / near < ALIKE:
        return "alike"
    return "grows" if far > near else "fades"
