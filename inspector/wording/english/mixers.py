"""Words for layers that mix tokens without softmax attention: kinds, papers, formulas, and what their maps are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from inspector.text import Named, number, signed
from inspector.text import named as name_of
from inspector.wording.english.phrases import listed, named, percent
from models.formatting import layers_in_words

if TYPE_CHECKING:  # which come with torch
    import numpy as np
    from numpy.typing import NDArray

    from inspector.compare import SignedDifference
    from inspector.mixers import HeadOfMixer, MixerCell
    from inspector.trace import MixerSite
    from models.mixers import MixerKind

SHORT: dict[str, str] = {
    "softmax": "softmax",
    "gated delta rule": "delta",
    "Kimi delta attention": "KDA",
    "lightning attention": "lightning",
    "state space": "SSM",
    "expected hash collisions": "YOSO",
    "selective scan": "scan",
    "RG-LRU": "LRU",
    "WKV": "WKV",
    "short convolution": "conv",
}
"""One word for each kind, for the name of a grid's row."""
PAPERS: dict[MixerKind, str] = {
    "gated delta rule": "Yang et al. 2024, Gated Delta Networks",
    "Kimi delta attention": "Kimi Team 2025, Kimi Linear",
    "lightning attention": "Qin et al. 2024, Lightning Attention-2",
    "state space": "Dao & Gu 2024, Mamba-2",
    "expected hash collisions": "Zeng et al. 2021, YOSO",
    "selective scan": "Gu & Dao 2023, Mamba",
    "RG-LRU": "De et al. 2024, Griffin",
    "WKV": "Peng et al. 2023, RWKV",
    "short convolution": "Liquid AI 2025, LFM2",
}
_DELTA = (
    r"$M = \mathrm{tril}(QK^\top \ast G)\,(I + \mathrm{diag}(\beta)\,\mathrm{stril}(KK^\top \ast G))^{-1}\,"
    r"\mathrm{diag}(\beta)$"
)
FORMULAS: dict[MixerKind, str] = {
    "gated delta rule": rf"{_DELTA}, with $G_{{ij}}$ the decay from $j$ to $i$",
    "Kimi delta attention": rf"{_DELTA}, with a decay $G$ for each dimension of a key",
    "lightning attention": r"$M = \mathrm{tril}(QK^\top \ast G)$, with $G_{ij}$ the decay from $j$ to $i$",
    "state space": (
        r"$M = \mathrm{tril}(CB^\top \ast G)\,\mathrm{diag}(\Delta) + D\,I$, with $G_{ij}$ the decay from $j$ to $i$"
    ),
    "expected hash collisions": (
        r"$M_{ij} = (1 - \arccos(q_i \cdot k_j) / \pi)^\tau$, with $\tau$ hyperplanes of a hash: how likely a query "
        "and a key fall into one bucket"
    ),
    "selective scan": (
        r"$M_{ij} = \sum_n C_{in} B_{jn} e^{A_n (Z_i - Z_j)} \Delta_j + D\,[i = j]$, with $Z$ the sum of $\Delta$"
    ),
    "RG-LRU": r"$M_{ij} = a_{j+1} \cdots a_i$, the gates from key to query",
    "WKV": (
        r"$M_{i \cdot} = \mathrm{softmax}_j(k_j + (i - 1 - j)\,w)$, and $k_i + u$ for the token itself, with decay $w$ "
        "and bonus $u$ of the channel"
    ),
    "short convolution": r"$M_{ij} = C_i\, w_{i-j}\, B_j$, with the gates $B$ and $C$ inside",
}
_CONVOLVED = "Before it a short convolution makes q, k and v of each token and the few before it"
BEFORE: dict[MixerKind, str] = {
    "gated delta rule": _CONVOLVED,
    "Kimi delta attention": _CONVOLVED,
    "lightning attention": "Before it each token makes its q, k and v by itself",
    "state space": "Before it a short convolution makes the values, B and C of each token and the few before it",
    "expected hash collisions": "Before it each token makes its q, k and v by itself",
    "selective scan": "Before it a short convolution makes x of each token and the few before it",
    "RG-LRU": "Before it a short convolution and an input gate make x",
    "WKV": "Before it each token is mixed with the one before to make k and v",
    "short convolution": "Before it a projection makes x, B and C of each token",
}
"""The way to a core, by its kind, which is not in its map."""
_GATED = "after it come a norm, a gate and the output projection"
AFTER: dict[MixerKind, str] = {
    "gated delta rule": _GATED,
    "Kimi delta attention": _GATED,
    "lightning attention": _GATED,
    "state space": _GATED,
    "expected hash collisions": "after it vectors are brought to length 1, and projected",
    "selective scan": "after it come the gate silu(z) and the output projection",
    "RG-LRU": "after it come the product with a second branch and the output projection",
    "WKV": "after it come the gate sigmoid(r) and the output projection",
    "short convolution": "after it comes the output projection",
}
"""The way on from a core, by its kind, which is not in its map."""
NOT_IN_IT = "None of these is in the map."
SIGNED = (
    "Weights have a sign and rows do not sum to 1: they are no shares of attention, so roles, entropy and rollout do "
    "not apply."
)
NOT_SIGNED = "Rows do not sum to 1: weights are no shares of attention, so roles, entropy and rollout do not apply."
OF_A_CHANNEL = (
    "Each channel has a map of its own, here of weights from 0 up whose rows sum to 1: no share of a head's attention, "
    "so roles, entropy and rollout do not apply."
)
AGAIN = "The model computes in half precision; for the map its core ran once more in float32, on what it was given."
REFUSED = "This head has no map: no matrix that was found is what the layer did."
NOT_SHOWN = "No attention here"
GRID_OF_ALL = (
    "Rows are layers in their order, of every kind. On the scale of colours zero is the background, indigo is above "
    "it and amber below. Pictures of softmax attention end at 1; each other picture ends at its own weight farthest "
    "from 0; a layer with a map for each channel has one picture, the mean size of their weights. Roles and "
    "measures are of softmax attention alone: other heads come last where heads are sorted."
)
ALL_MAPS = "how each layer mixes tokens"
IN_A_FILE = (
    "A layer without softmax attention has as its map the matrix M of which M v is what the layer's own core left on "
    "this text, within 1e-5 of its largest number. Its weights are no shares of attention."
)
ONE_TOKEN_OF_SOFTMAX = "Only heads of softmax attention are shown for one token: other weights are no shares."
FARTHEST_OF_TILE = "the weight of its tile that is the farthest from 0"
TILES_READ = f"Of this long text each cell of a small picture is {FARTHEST_OF_TILE}."
SOFTMAX_ALONE = (
    "Softmax attention alone is measured here: what mixes tokens in another way has weights that are no shares. Its "
    "maps are on the page Attention."
)
ROUNDING = 1e-4  # of sums that are 1
CHANNEL, CHANNELS = "Channel", "channels"
MIXES_BY = "Mixes by"
FURTHER = "What is further down compares shares: choose softmax attention in two panels to see it."
COSINE_ABOUT = "Cosine of the two maps as vectors, −1 to 1, whatever their scales"
WHY, NOT_REBUILT = "Why this weight", "Not rebuilt"
WHY_HELP = "One cell rebuilt from what the layer's own code made for its query, its key and the tokens between."
STEPS: dict[str, str] = {
    "match": "query times key, summed over the dimensions and scaled",
    "decay": "times the decay from the key to the query; where each dimension has its own, inside the sum",
    "erased": "less what later writes erased of the key, as far as the query reads them",
    "strength": "times how strongly the key was written (beta of a delta rule, dt of a state space)",
    "skip": "plus D, the way past the state, for a token's own value",
    "angle": "1 less the angle between query and key as a share of a half turn: one hyperplane agrees",
    "collision": "to the power of the hyperplanes of a hash: all agree",
    "score": "the key of the channel",
    "distance": "plus the decay by distance, or the bonus for the token itself",
    "softmax": "e to the score less the log of the row's sum",
    "kernel": "the convolution's weight at this distance",
    "gate of the key": "times the gate B of the key",
    "gate of the query": "times the gate C of the query",
}
"""Meanings of the steps to a weight."""
STEPS_CSV = "The steps to the weight, to the last digit"
PRODUCT = "product of query and key, decayed"
ERASER_COLUMNS = {
    "token": "later token",
    "weight": "its weight for the query",
    "overlap": "its overlap with the key",
    "erased": "erased",
}
STATE = "The state of this head: its size, its decay, and who erased what"
STATE_TITLES = {
    "state": "Size of the state after each token, its Frobenius norm",
    "decay": "Share of the state that is left at each token",
    "strength": "Strength with which each token is written",
}
DECAYS = "Share of the state that is left at a token, by head, mean over the tokens"
ERASED_BY, ERASED_SHARE = "Erased by", "share erased"
LATER, EARLIER, HEAD, TOKEN = "later token", "earlier token", "head", "token"
PNG_HELP = "The map as you see it"
SVG_HELP = "The map as you see it, sharp at any size"
CSV_HELP = "Weights as you see them, to the last digit"
NPZ_HELP = "Weights as you see them, bit by bit: numpy.load() gives values, queries, keys"
LARGEST_ABOUT = "The weight farthest from 0, without the first query of a decoder, which reads itself alone"
NEGATIVE_ABOUT = "The share of the weights on keys up to the query that are below 0"
SUMS_ABOUT = "The least and the largest sum of a row; a row of softmax attention sums to 1"


def no_attention(kind: str) -> str:
    """Say that a page needs softmax attention, which the model has in no layer."""
    return (
        f"This page reads maps of softmax attention, rows of shares that sum to 1, and no layer of this model has one: "
        f"its layers mix tokens by a {kind}. The page Attention shows their maps."
    )


def mixing(layers: Sequence[int]) -> str:
    """Say which layers mix tokens, for a model in which not all do: "layers 0 and 2 mix tokens"."""
    return layers_in_words(layers, do="mix tokens", does="mixes tokens")


def mixing_by(kind: str) -> Callable[[Sequence[int]], str]:
    """Make what says which layers mix tokens in a way: "layers 0 and 2 mix tokens by a gated delta rule"."""
    by = f"by a {kind}"
    return lambda layers: layers_in_words(layers, do=f"mix tokens {by}", does=f"mixes tokens {by}")


def not_subtracted(*, kinds: Sequence[str]) -> str:
    """Say why there is no difference of two maps; kinds: how their layers mix tokens."""
    return (
        f"A difference is drawn of two maps of one kind, and these are of the kinds {listed(kinds)}, whose weights "
        "have different scales. The maps stand side by side, each on a scale of its own."
    )


def pair(apart: SignedDifference, *, a: str, b: str, query: Named, key: Named, untrained: bool = False) -> str:
    """Say how alike two maps of one kind are and where they differ most; a, b: "A (layer 0 (KDA), head 1)"."""
    if not apart.largest:
        return f"{a} and {b} are equal on this text: every weight is the same."
    if untrained:
        return f"{a} and {b} are of a model that looks untrained, so no difference is told."
    first, second = (side.split(" ")[0] for side in (a, b))
    to = "itself" if query == key else named(key)
    return (
        f"{a} and {b} have a cosine of {signed(apart.cosine)} as maps. They differ most at {named(query)}, whose "
        f"weight on {to} is {signed(apart.a)} in {first} and {signed(apart.b)} in {second}."
    )


def difference_colours(*, a: str, b: str, end: str) -> str:
    """Say what the colours of a difference mean; end: its largest weight."""
    return (
        f"$M_{{{a}}} - M_{{{b}}}$: indigo where the weight is larger in {a}, amber where it is larger in {b}, from "
        f"−{end} to {end}."
    )


def place(site: MixerSite, head: int) -> str:
    """Name a head of a mixer, or a channel, in a panel's title: "layer 0 (gated delta rule), head 2"."""
    return f"{site.name}, {'channel' if site.by_channel else 'head'} {head}"


def softmax_alone(kinds: Iterable[str]) -> str:
    """Say that a page reads softmax attention alone in a model that mixes tokens in other ways too."""
    return (
        f"This page reads softmax attention alone. The model mixes tokens by {listed([f'a {kind}' for kind in kinds])} "
        "too, with weights that are no shares of a row: their maps are on the page Attention."
    )


def row(name: str, kind: str) -> str:
    """Name a row of the grid of a model whose layers mix tokens in several ways: "layer 3 (KDA)"; name: "layer 3"."""
    return (
        name if "(" in name else name.replace(" local", "") + f" ({SHORT[kind]})" + " local" * name.endswith(" local")
    )


def title(site: MixerSite, head: int) -> str:
    """Name a head of a mixer: "Layer 0 (gated delta rule), head 2"."""
    name = place(site, head)
    return name[0].upper() + name[1:]


def head(read: HeadOfMixer, *, query: Named, key: Named, untrained: str = "") -> str:
    """Say which weight of a head is the farthest from 0; untrained: as of `chance.untrained`, whose maps are chance."""
    where = title(read.site, read.head)
    if untrained:
        weights = "has random weights" if untrained == "random" else "is of a model that looks untrained"
        return f"{where} {weights}, so what it reads is chance."
    if len(read.site.queries) == 1:
        return f"{where} has no choice: the whole text is {named(query)}."
    to = "itself" if read.query == read.key else named(key)
    but = "beyond the first token, which reads itself alone, " if read.size > abs(read.weight) else ""
    return f"{where}: {but}the weight farthest from 0 is {signed(read.weight)}, from {named(query)} to {to}."


def what(read: HeadOfMixer) -> str:
    """Say what a map is of, by whom, and that its weights are no shares; with the paragraph's numbers."""
    kind, (least, largest) = read.site.kind, read.sums
    signs = f"{percent(read.negative)} of the weights are negative, and rows sum" if read.negative else "Rows sum"
    shares = abs(least - 1) < ROUNDING and abs(largest - 1) < ROUNDING
    plain = SIGNED if read.negative else OF_A_CHANNEL if shares else NOT_SIGNED
    return (
        f"{FORMULAS[kind]} ({PAPERS[kind]}). {signs} to {_between(least, largest)}. {plain} "
        f"{BEFORE[kind]}; {AFTER[kind]}. {NOT_IN_IT}"
    )


def _between(least: float, largest: float) -> str:
    low, high = signed(least), signed(largest)
    return low if low == high else f"{low} to {high}"


def held(difference: float, *, again: bool) -> str:
    """Say how near a map's product with the values is to what the layer's core left; again: as of `MixerRecord`."""
    near = f"On this text M v is what the layer's own core left, within {difference:.1e} of its largest number."
    return f"{near} {AGAIN}" if again else near


def numbers(read: HeadOfMixer) -> list[tuple[str, str, str]]:
    """Write the numbers of the line over the map: name, value and meaning."""
    return [
        ("Farthest from 0", signed(read.weight), LARGEST_ABOUT),
        ("Negative", percent(read.negative), NEGATIVE_ABOUT),
        ("Rows sum to", _between(*read.sums), SUMS_ABOUT),
    ]


def note(kind: str, *, largest: float) -> str:
    """Write the line of a small picture in the grid."""
    return f"{kind}, weight farthest from 0: {signed(largest)}"


def averaged(kind: str, *, channels: int, sampled: int) -> str:
    """Write the line of the one small picture of a layer that has a map for each channel."""
    which = "all" if channels == sampled else f"{sampled} evenly spaced"
    return f"{kind}, mean size of the weight over {which} of {channels:,} channels; a click opens one channel"


def refused(kind: str) -> str:
    """Write the line of a small picture whose map is not what the layer did."""
    return f"{kind}, no map: it is not what the layer did"


def equation(cell: MixerCell) -> str:
    """Write the way to a weight in one line of mathematics, its numbers filled in."""
    first, *further = cell.steps
    line = _tex(first.value)
    for step in further:
        by = "" if step.operand is None else _tex(step.operand)
        match step.name:
            case "decay" if step.operand is None:
                line = _tex(step.value)
            case "erased":
                line = rf"({line} - {_signed_tex(step.operand or 0.0)})"
            case "skip" | "distance":
                line = f"{line} + {_signed_tex(step.operand or 0.0)}"
            case "angle":
                line = rf"1 - \tfrac{{1}}{{\pi}}\arccos {line}"
            case "collision":
                line = f"({line})^{{{by}}}"
            case "softmax":
                line = rf"e^{{\,{line} - {_signed_tex(step.operand or 0.0)}}}"
            case _:
                line = rf"{line} \times {_signed_tex(step.operand or 0.0)}"
    return f"$M_{{{cell.query},{cell.key}}} = {line} = {_tex(cell.rebuilt)}$"


def rebuilt(cell: MixerCell) -> str:
    """Say how near the rebuilt weight is to the weight of the map."""
    return (
        f"Rebuilt: {cell.rebuilt:.7g}; in the map: {cell.weight:.7g}; they differ by "
        f"{abs(cell.rebuilt - cell.weight) / cell.size:.1g} of the map's weight farthest from 0."
    )


def products_alt(dimensions: int) -> str:
    """Describe the chart of the products."""
    return f"the products of query and key over {dimensions} dimensions, decayed"


def erasers(*, shown: int, of: int) -> str:
    """Say what the table of later tokens holds."""
    which = "every later token" if shown == of else f"the {shown} of {of} later tokens that erase most"
    return (
        f"Erased by {which}: its weight for the query times its overlap with the key, k of the later token with k of "
        "the key, decayed between them. The sum is what the step takes away."
    )


def _tex(value: float) -> str:
    digits, _, power = number(value).partition("e")
    digits = digits.replace(",", r"{,}")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits


def _signed_tex(value: float) -> str:
    return f"({_tex(value)})" if value < 0 else _tex(value)


def state(token: Named, *, size: float) -> str:
    """Say where a head's state is largest."""
    return (
        f"The state is largest after {named(token)}: {number(size)}. It is all that the head keeps of the text so far."
    )


def too_long_to_erase(*, most: int) -> str:
    """Say why there is no picture of who erased what."""
    return f"Who erased what is shown for texts of up to {most:,} tokens: it takes time with the square of the text."


def erased_by(shares: NDArray[np.float64], tokens: Sequence[str]) -> str:
    """Say which later token erased most of an earlier one; shares: [later, earlier]."""
    later, earlier = divmod(int(shares.argmax()), shares.shape[1])
    share_of = percent(float(shares[later, earlier]))
    return (
        f"Most was erased of {named(name_of(tokens, earlier))}: {share_of} of what was left of it, by "
        f"{named(name_of(tokens, later))}. A share is taken of the length with which a token's value stands in the "
        "state just before."
    )
