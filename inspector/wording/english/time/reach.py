"""Sentences of the section Gradient by distance of the page Time."""

from __future__ import annotations

from inspector.distance.reach import MOST_TOKENS, Scalar
from inspector.plots.theme import number
from inspector.readings.time.reach import LEAST, Carried, Reached
from inspector.wording.english.phrases import named

SCALARS: dict[Scalar, str] = {"sum": "Sum of out_T", "direction": "A direction", "prediction": "The prediction"}
ALIKE = 1.5  # near and far tokens whose means differ by less are told as alike
WAYS = {"all": "all ways", "sublayers": "through sublayers alone", "skip": "the skip alone (token T)"}

WAYS_BACK = (
    "The states are the model's own on every way; only the way back changes. Every way passes the norms that come "
    "after a sum, and the last norm. Veit et al. (2016) read a residual network as such ways of every length. To run "
    "the model itself without the residual, turn Residual off under Switches."
)


def reached(found: Reached) -> str:
    """Say how much of the gradient far tokens get, beside near ones."""
    token = named(found.token)
    if found.reached == 0:
        return f"No token of this stream moves {_short(found)} of {token}: its gradient is 0 everywhere."
    if found.source:
        most = "" if found.top is None else f", most {number(found.top_norm)} at {named(found.top)}"
        return (
            f"What the decoder makes of {token} reaches back to {_counted(found)} of the source: at the input of the "
            f"encoder's layer 0 the gradient is {number(found.near or 0)} on average{most}."
        )
    alone = "even" if found.by_last == found.reached else f"{found.by_last} of them"
    begin = f"From {token} the gradient reaches {_counted(found)}, {alone} through the last layer alone"
    itself = f"{number(found.itself)} at {token} itself"
    if found.near is None:
        return f"{begin}: {itself}."
    if found.far is None:
        return f"{begin}: {itself}, and {number(found.near)} on average at the others."
    return (
        f"{begin}: {itself}, {number(found.near)} on average up to {_tokens(found.split)} off, and "
        f"{number(found.far)} farther off{_compared(found)}."
    )


def carried(found: Carried, reached: Reached) -> str:
    """Say what the residual does to the gradient of the other tokens."""
    if found.whole == 0 or found.sublayers == 0:
        times = ""
    else:
        factor = found.whole / found.sublayers
        times = f", {number(factor)} times less" if factor > 1 else ", no less"
    where = "to the source" if reached.source else f"to the other tokens than {named(reached.token)}"
    said = (
        f"**What the residual does.** Going back, every sublayer gives I + J: the skip, and its own derivatives "
        f"(its Jacobian). All ways together bring {number(found.whole)} {where}, down to the input of layer 0. The "
        "ways that take no skip, "
        f"from sublayer to sublayer, bring {number(found.sublayers)}{times}."
    )
    if reached.source:
        return f"{said} The skip alone brings nothing: it stays in the decoder."
    return (
        f"{said} The skip alone stays at its token, {number(found.skip)} beside {number(found.itself)} by all ways, "
        f"and brings 0 to all others: across {found.parts} sublayers of {found.layers} layers the residual carries the "
        "gradient down, "
        "and attention carries it sideways."
    )


def scalar(found: Reached, *, width: int, stream: str) -> str:
    """Say exactly what is differentiated by what."""
    made = {
        "sum": f"s = Σ_d out_T[d], the sum of the {width} numbers of out_T",
        "direction": f"s = u · out_T, with u ~ N(0, 1) of {width} numbers, drawn once (seed 0)",
        "prediction": "s = ln p of the token that the model finds likeliest at T",
    }[found.scalar]
    by = "the encoder's" if found.source else f"the {stream}'s"
    return (
        f"{made}; out_T is the last hidden state of {named(found.token)}, T = {found.position}. It is differentiated "
        f"by x_t, the state of token t in {by} residual stream where it enters a layer, with autograd in float64. The "
        f"norm is ‖∂s / ∂x_t‖; a token is reached where it is above {LEAST:.0e} of its layer's largest, and what a "
        "mask hides has 0. Compare the tokens of one layer: between layers the states themselves grow or shrink, "
        "and their gradients the other way."
    )


def moved_on(scalar: Scalar) -> str:
    """Say why another scalar is shown than the one that a section begins with."""
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


def _counted(found: Reached) -> str:
    if found.tokens == 1:
        return "the only token"
    if found.reached == found.tokens:
        return f"all {_tokens(found.tokens)}"
    return f"{found.reached} of {_tokens(found.tokens)}"


def _tokens(count: int) -> str:
    return f"{count:,} token{'' if count == 1 else 's'}"


def _short(found: Reached) -> str:
    return {"sum": "the sum", "direction": "the direction", "prediction": "the prediction"}[found.scalar]


def _compared(found: Reached) -> str:
    if not found.near or not found.far:
        return ""
    factor = found.far / found.near
    if 1 / ALIKE < factor < ALIKE:
        return ": distance costs little"
    return f": {number(factor)} times as much" if factor > 1 else f": {number(1 / factor)} times less"
