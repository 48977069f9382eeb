"""Sentences of the section RNN, LSTM, GRU of the page Time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from inspector.distance import Kind, Setting
from inspector.text import number
from inspector.wording.english.phrases import listed

RECURRENT = "RNN, LSTM, GRU"
RUNNING = "Running the networks"
STEPS, WIDTH, FORGET_BIAS, FACTOR, SEED = "Steps T", "Width", "Forget bias", "Factor on W_hh", "First seed"
FACTOR_HELP = "Multiplies the recurrent weights as torch.nn draws them: 4 makes a tanh-RNN explode."
DISTANCE, INPUT, NORM = "distance T − t, in steps", "input", "norm"
CURVES, GRADIENT = "Gradient by distance", "‖∂s / ∂x_t‖"
PARTS, PART = "Each step's part in the shared weights", "‖part of ∂s / ∂(W_ih, W_hh)‖"
PARTS_ALT = "Size of each step's part in the gradient of the recurrent networks' shared weights, by distance"
PATHS, SHUFFLED = "Work and paths of a layer", "What the order of the inputs changes"
ABOUT_SHUFFLED = "All inputs but the last are shuffled: ‖out_T' − out_T‖ / ‖out_T‖, the median of five seeds."
METHODS = "Which of these are attention methods?"
ABOUT_METHODS = "Only the first two rows are score functions. Positions and memory go with any of them."
TRAIN = "Train an RNN with and without attention: Lab"
NEAR = 10  # steps before the last: near, and no more the last itself
EXPLODES = 4.0  # times W_hh: with so large a factor a tanh-RNN of most widths explodes

ROUNDING = 1e-10  # of a state's length: less is told as none
EXPLODED = 1e-9  # of a gradient's largest entry: a difference that rounding alone does not make in float64
KERNEL = 3  # of the convolution in the table of path lengths
WINDOW = 16  # keys of the restricted attention


def name(kind: Kind, setting: Setting) -> str:
    """Name a network: "LSTM, forget bias 2"."""
    return f"LSTM, forget bias {setting.forget_bias:.3g}" if kind == "open LSTM" else kind


def edge(power: int) -> str:
    """Say what stands on the edge of the axis, which ends at a power of ten."""
    return f"triangles on the edge: below 1e{power}, or 0 in float64"


def recurrence(
    setting: Setting, *, first: Mapping[Kind, float], vanishing: Sequence[Kind], exploding: Sequence[Kind]
) -> str:
    """Say what is left of the gradient at the first input of a tanh-RNN and of attention, and where it is lost.

    first: ||ds / dx_1|| of each network. vanishing, exploding: the networks in which the first input moves the output
    far less than the last input does, or far more.
    """
    does = "forgets" if "tanh-RNN" in vanishing else "blows up" if "tanh-RNN" in exploding else "still moves with"
    over = f" Over {setting.steps} steps it"
    return (
        f"A tanh-RNN {does} its first input: the gradient there is {_size(first['tanh-RNN'])}, and in attention, one "
        f"step away, {_size(first['attention'])}.{_in(setting, vanishing, f'{over} vanishes')}"
        f"{_in(setting, exploding, f'{over} explodes')}"
    )


def curves_alt(sentence: str) -> str:
    """Tell what the curves show; sentence: the section's sentence on them."""
    return f"Size of the gradient of the last output by distance, on a logarithmic scale: {sentence}"


def claims(
    setting: Setting,
    *,
    first: Mapping[Kind, float],
    last: Mapping[Kind, float],
    near: float,
    radius: float,
    gate: float,
    exploding: Sequence[Kind],
) -> Iterator[str]:
    """Say why, a point each; `shared_weights` and `order` go on.

    first, last: ||ds / dx_1|| and ||ds / dx_T|| of each network. near: the norm in attention, NEAR steps before the
    last. radius: the spectral radius of the tanh-RNN's W_hh. gate: the share of the cell that an open LSTM's forget
    gate keeps at its bias.
    """
    steps = setting.steps - 1
    side = "below" if radius < 1 else "above"
    yield (
        f"**It vanishes or explodes.** Between x₁ and h_T stand{'s' if steps == 1 else ''} {steps} "
        f"Jacobian{'' if steps == 1 else 's'}, and the gradient is their product "
        "(Bengio et al. 1994). Without tanh it would vanish where the spectral radius of W_hh is below 1 and explode "
        f"where it is above; tanh, whose slope is 1 at most, mostly takes off more (Pascanu et al. 2013). Here the "
        f"radius is {number(radius)}, {side} 1.{_try(setting, first=first, last=last, explodes=bool(exploding))}"
    )
    yield (
        "**Gates help if they are open.** The cell of an LSTM is multiplied by its forget gate at every step. At bias "
        f"{setting.forget_bias:.3g} the gate keeps about σ({setting.forget_bias:.3g}) = {number(gate)} of it, "
        f"over {steps} steps {number(gate)}^{steps} = {number(gate**steps)}; the way round through W_hh adds to "
        f"that, and {_size(first['open LSTM'])} is left. As torch.nn draws it, the bias is near 0, "
        f"about half is lost at every step, and {_size(first['LSTM'])} is left: an LSTM mitigates, it does not "
        "cure."
    )
    beside = f", {_size(near)} only {NEAR} steps back" if setting.steps > 2 * NEAR else ""
    yield (
        f"**Attention is one step away.** x₁ reaches out_T in one step, through the softmax of a row, however far off "
        f"it is: {_size(first['attention'])} at x₁{beside}. What does shrink with T is each weight, about 1 / T, for a "
        "row sums to 1."
    )


def shared_weights(*, total: float, first: float, last: float, counted: int, off: float) -> str:
    """Say that early and late steps share their weights.

    total: the norm of the tanh-RNN's gradient; first, last: the norm of the first step's part and of the last step's.
    counted: how many steps have a part above a hundredth of the largest; off: the difference of the parts' sum from
    autograd's gradient.
    """
    rounding = ": what explodes, blows up rounding too" if off > EXPLODED else ""
    vanishes = " What vanishes is what the early steps add to it." if first < last / 100 else ""
    return (
        "**The weights of early steps are updated**, for they are the weights of all steps: one W_ih and one W_hh, "
        "whose gradient is the sum of the steps' parts. In the tanh-RNN that sum is "
        f"{number(total)} long; the last step's part is {number(last)}, the first step's "
        f"{_size(first)}, and {counted} steps have a part above a hundredth of the largest.{vanishes} The "
        f"parts add up to autograd's own gradient within {number(off)} of its largest entry{rounding}."
    )


def order(*, recurrent: tuple[float, float], attention: float, with_positions: float) -> str:
    """Say what the order of the inputs changes: the least and the largest move of out_T, over its length."""
    low, high = (number(change) for change in recurrent)
    none = "does not move" if attention < ROUNDING else f"moves by {number(attention)} of its length"
    return (
        "**Positions in place of recurrence.** Shuffle all inputs but the last: out_T moves by "
        f"{low if low == high else f'{low} to {high}'} of its length in the recurrent networks, which read one after "
        f"another. In attention it {none}: a sum has no order. With the sinusoidal positions added it moves by "
        f"{number(with_positions)}, and no step waits for another (Vaswani et al. 2017, section 3.5). A whole "
        "Transformer has positions, so “it does not consider position” is said of attention alone."
    )


def bullets(lines: Sequence[str]) -> str:
    """List lines below each other."""
    return "\n".join(f"- {line}" for line in lines)


def product(steps: int) -> str:
    """Write the gradient as the product of its Jacobians."""
    return (
        r"$\partial s / \partial x_1 = (\partial h_1 / \partial x_1)^\top J_2^\top \cdots "
        rf"J_{{{steps}}}^\top \mathbf{{1}}$, with $J_k = \partial h_k / \partial h_{{k-1}}$; in the tanh-RNN "
        r"$J_k = \mathrm{diag}(1 - h_k^2)\, W_{hh}$"
    )


def zeros(setting: Setting, kinds: Sequence[Kind]) -> str:
    """Say which gradients are 0 in float64; "" where none is."""
    if not kinds:
        return ""
    return f" At x₁ it is 0 in float64, below 5e-324, of: {listed([name(kind, setting) for kind in kinds])}."


def takes(setting: Setting) -> str:
    """Say what many steps or a large width take, until the reader asks for them."""
    return f"{setting.steps} steps of width {setting.width}, each with weights of its own, take a few seconds."


def about_paths(setting: Setting) -> str:
    """Say where the table of path lengths is from."""
    return (
        f"Vaswani et al. (2017), Table 1, with n = {setting.steps} and d = {setting.width}. The longest path "
        "counts the layers or steps between the two inputs that are farthest apart."
    )


def paths(setting: Setting) -> pd.DataFrame:
    """Table 1 of Vaswani et al. 2017, with this section's n and d filled in."""
    n, d, k, r = setting.steps, setting.width, KERNEL, min(WINDOW, setting.steps)
    layers = 0
    reached = 1
    while reached < n:
        reached, layers = reached * k, layers + 1
    rows = [
        ("Self-attention", "n² d", n * n * d, 1, "O(1)", 1),
        ("Recurrence", "n d²", n * d * d, n, "O(n)", n),
        (f"Convolution, k = {k}", "k n d²", k * n * d * d, 1, "O(log_k n), dilated", layers),
        (f"Attention to r = {r} keys", "r n d", r * n * d, 1, "O(n / r)", -(-n // r)),
    ]
    columns = ["Layer", "Work", "Work here", "Steps in a row", "Longest path", "Path here"]
    return pd.DataFrame(rows, columns=columns)


def methods() -> pd.DataFrame:
    """List the attention methods that are often named together, a description of each, and the page that shows it."""
    rows = [
        ("Scaled dot product", "a score function", "Scores; Why this weight, on Attention"),
        ("Additive, general", "score functions", "Scores, This head; Switches"),
        ("Multi-head attention", "several attentions side by side, any score", "Attention; What if"),
        ("Relative positions", "a position scheme: T5, ALiBi, RoPE", "Positions; Switches"),
        (
            "Transformer-XL",
            "recurrence over segments, relative positions",
            "Memory over segments, on this page; Switches",
        ),
    ]
    return pd.DataFrame(rows, columns=["Method", "What it is", "Where to see it"])


def ordered(table: pd.DataFrame, setting: Setting) -> pd.DataFrame:
    """The table of `distance.shuffled` under the page's names."""
    names = [name(kind, setting) for kind in table["network"]]
    return table.assign(network=names).rename(
        columns={"network": "Network", "change": "Change of out_T", "one_by_one": "Steps in a row"}
    )


def setting(setting: Setting) -> str:
    """Say what was run."""
    return (
        f"s = Σ out_T, the sum of the {setting.width} outputs at step T = {setting.steps}, differentiated by the input "
        f"x_t, in float64. x ~ N(0, 1); torch.nn's RNN, GRU, LSTM and MultiheadAttention (one head) of width "
        f"{setting.width}, untrained, with torch.nn's default initialisation; the median of seeds {setting.seed} to "
        f"{setting.seeds[-1]}."
    )


def _size(value: float) -> str:
    return "0" if value == 0 else number(value)


def _in(setting: Setting, kinds: Sequence[Kind], verb: str) -> str:
    names = [f"the {name(kind, setting)}" for kind in kinds]
    return f"{verb} in {listed(names)}." if names else ""


def _try(setting: Setting, *, first: Mapping[Kind, float], last: Mapping[Kind, float], explodes: bool) -> str:
    if explodes:
        return f" It explodes: {_size(first['tanh-RNN'])} at x₁ against {_size(last['tanh-RNN'])} at x_T."
    return f" Set the factor on W_hh to {EXPLODES:.3g} and see it explode." if setting.scale < EXPLODES else ""
