"""Sentences of the section Gradient by distance of the page Time."""

from __future__ import annotations

from inspector.distance.reach import MOST_TOKENS, Scalar
from inspector.text import Named, number
from inspector.wording.english.phrases import count_of, named

REACH, TOKEN, STREAM = "Gradient by distance", "Token T", "Stream"
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
    reached: int,
    by_last: int,
    itself: float,
    split: int,
    near: float | None,
    far: float | None,
    top: tuple[Named, float] | None,
    source: bool,
) -> str:
    """Say how much of the gradient ||ds / dx_t|| far tokens get, beside near ones.

    tokens: of the stream. reached: how many tokens have a gradient, T among them; by_last: the same through the last
    layer alone. itself: the norm at T. split: the largest distance of a near token. near, far: the mean norm of the
    other tokens up to `split` and beyond; None where there is no such token. top: the token that gets most, T left out,
    and its norm. source: the tokens belong to the source, whose positions cannot be compared: near is the mean of all.
    """
    from_token = named(token)
    if reached == 0:
        return f"No token of this stream moves {_SHORT[scalar]} of {from_token}: its gradient is 0 everywhere."
    count = _counted(reached, of=tokens)
    if source:
        most = "" if top is None else f", most {number(top[1])} at {named(top[0])}"
        return (
            f"What the decoder makes of {from_token} reaches back to {count} of the source: at the input of the "
            f"encoder's layer 0 the gradient is {number(near or 0)} on average{most}."
        )
    alone = "even" if by_last == reached else f"{by_last} of them"
    begin = f"From {from_token} the gradient reaches {count}, {alone} through the last layer alone"
    at_itself = f"{number(itself)} at {from_token} itself"
    if near is None:
        return f"{begin}: {at_itself}."
    if far is None:
        return f"{begin}: {at_itself}, and {number(near)} on average at the others."
    return (
        f"{begin}: {at_itself}, {number(near)} on average up to {_tokens(split)} off, and "
        f"{number(far)} farther off{_compared(near, far)}."
    )


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


def _compared(near: float, far: float) -> str:
    if not near or not far:
        return ""
    factor = far / near
    if 1 / ALIKE < factor < ALIKE:
        return ": distance costs little"
    return f": {number(factor)} times as much" if factor > 1 else f": {number(1 / factor)} times less"
