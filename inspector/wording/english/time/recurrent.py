"""Sentences of the section RNN, LSTM, GRU of the page Time."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from inspector.distance import Kind, Setting
from inspector.plots.theme import number
from inspector.readings.time.recurrent import BACK, SCALE, Ordered, Recurrence, Shared
from inspector.wording.english.phrases import listed

ROUNDING = 1e-10  # of a state's length: less is told as none
EXPLODED = 1e-9  # of a gradient's largest entry: a difference that rounding alone does not make in float64
KERNEL = 3  # of the convolution in the table of path lengths
WINDOW = 16  # keys of the restricted attention


def name(kind: Kind, setting: Setting) -> str:
    """Name a network: "LSTM, forget bias 2"."""
    return f"LSTM, forget bias {setting.forget_bias:.3g}" if kind == "open LSTM" else kind


def recurrence(found: Recurrence) -> str:
    """Say what is left of the gradient at the first input, network by network."""
    first, setting = found.first, found.setting
    bias = f"{setting.forget_bias:.3g}"
    said = (
        f"After {setting.steps} steps the gradient at the first input, x₁, is {_size(first['tanh-RNN'])} in a "
        f"tanh-RNN, {_size(first['GRU'])} in a GRU, {_size(first['LSTM'])} in an LSTM and "
        f"{_size(first['open LSTM'])} in an LSTM with forget bias {bias}; in attention it is "
        f"{_size(first['attention'])}"
    )
    near = f", beside {_size(found.near)} only {BACK} steps back" if setting.steps > 2 * BACK else ""
    return f"{said}{near}.{_in(found, found.vanishing, 'vanishes')}{_in(found, found.exploding, 'explodes')}"


def claims(found: Recurrence) -> Iterator[str]:
    """Say why, a point each; `shared_weights` and `order` go on."""
    setting, steps = found.setting, found.setting.steps - 1
    side = "below" if found.radius < 1 else "above"
    yield (
        f"**It vanishes or explodes.** Between x₁ and h_T stand{'s' if steps == 1 else ''} {steps} "
        f"Jacobian{'' if steps == 1 else 's'}, and the gradient is their product "
        "(Bengio et al. 1994). Without tanh it would vanish where the spectral radius of W_hh is below 1 and explode "
        f"where it is above; tanh, whose slope is 1 at most, mostly takes off more (Pascanu et al. 2013). Here the "
        f"radius is {number(found.radius)}, {side} 1.{_try(found)}"
    )
    yield (
        "**Gates help if they are open.** The cell of an LSTM is multiplied by its forget gate at every step. At bias "
        f"{setting.forget_bias:.3g} the gate keeps about σ({setting.forget_bias:.3g}) = {number(found.gate)} of it, "
        f"over {steps} steps {number(found.gate)}^{steps} = {number(found.kept)}; the way round through W_hh adds to "
        f"that, and {_size(found.first['open LSTM'])} is left. As torch.nn draws it, the bias is near 0, "
        f"about half is lost at every step, and {_size(found.first['LSTM'])} is left: an LSTM mitigates, it does not "
        "cure."
    )
    yield (
        f"**Attention is one step away.** x₁ reaches out_T in one step, through the softmax of a row, however far off "
        f"it is: {_size(found.first['attention'])} at x₁. What does shrink with T is each weight, about 1 / T, for a "
        "row sums to 1."
    )


def shared_weights(found: Shared) -> str:
    """Say that the weights of early steps are those of late ones."""
    rounding = ": what explodes, blows up rounding too" if found.off > EXPLODED else ""
    vanishes = " What vanishes is what the early steps add to it." if found.first < found.last / 100 else ""
    return (
        "**The weights of early steps are updated**, for they are the weights of all steps: one W_ih and one W_hh, "
        "whose gradient is the sum of the steps' parts. In the tanh-RNN that sum is "
        f"{number(found.total)} long; the last step's part is {number(found.last)}, the first step's "
        f"{_size(found.first)}, and {found.counted} steps have a part above a hundredth of the largest.{vanishes} The "
        f"parts add up to autograd's own gradient within {number(found.off)} of its largest entry{rounding}."
    )


def order(found: Ordered) -> str:
    """Say what the order of the inputs changes."""
    low, high = (number(change) for change in found.recurrent)
    none = "does not move" if found.attention < ROUNDING else f"moves by {number(found.attention)} of its length"
    return (
        "**Positions in place of recurrence.** Shuffle all inputs but the last: out_T moves by "
        f"{low if low == high else f'{low} to {high}'} of its length in the recurrent networks, which read one after "
        f"another. In attention it {none}: a sum has no order. With the sinusoidal positions added it moves by "
        f"{number(found.with_positions)}, and no step waits for another (Vaswani et al. 2017, section 3.5). A whole "
        "Transformer has positions, so “it does not consider position” is said of attention alone."
    )


def zeros(found: Recurrence) -> str:
    """Say which gradients are 0 in float64; "" where none is."""
    if not found.zeros:
        return ""
    names = listed([name(kind, found.setting) for kind in found.zeros])
    return f" At x₁ it is 0 in float64, below 5e-324, of: {names}."


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
    """List the attention methods that are often named together, what each is, and the page that shows it."""
    rows = [
        ("Scaled dot product", "a score function", "Scores; Why this weight, on Attention"),
        ("Additive, general", "score functions", "Scores, One head; Switches"),
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


def _in(found: Recurrence, kinds: tuple[Kind, ...], verb: str) -> str:
    names = [f"the {name(kind, found.setting)}" for kind in kinds]
    return f" It {verb} in {listed(names)}." if names else ""


def _try(found: Recurrence) -> str:
    if found.exploding:
        return f" It explodes: {_size(found.first['tanh-RNN'])} at x₁ against {_size(found.last['tanh-RNN'])} at x_T."
    return f" Set the factor on W_hh to {SCALE:.3g} and see it explode." if found.setting.scale < SCALE else ""
