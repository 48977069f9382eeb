"""Sentences of the page Compare."""

from __future__ import annotations

from inspector.pairs import MapPair, PairedHeads
from inspector.text import number
from inspector.wording.english.phrases import count_of, named, percent
from models.formatting import layer_name

_ALIKE = ((0.05, "almost the same keys"), (1 / 3, "mostly the same keys"), (2 / 3, "partly the same keys"))
ONE_HEAD = "This model has one head, so there is nothing to compare it with."
DISTANCE = "distance in nats"
DIVERGENCE_ABOUT = "Jensen-Shannon divergence of the rows over the shared keys, mean over queries; 0 to ln 2 = 0.693"
RANK_ABOUT = (
    "Spearman's rank correlation of the cells of each row, those left out that are 0 in both (as behind a mask), mean "
    "over queries, −1 to 1; equal weights share their mean rank"
)
LARGEST_ABOUT = "Largest difference of two weights, without its sign"
NOTHING_LEFT = "Nothing is left over."
SEE_WHAT_IF = "One text before and after a change: see What if"
FILL_WITH = "Fill the panels with …"
MEAN = "mean"
MEAN_OVER_HEADS = "Mean over heads"
MORE = "More"
ANOTHER = "Another panel"
PRESETS = {
    "A and B": "A and B: one head under the switches of both sides",
    "layers": "Layers: one head position, layer after layer",
    "heads": "Heads: beside each other in one layer",
    "models": "Models: on one text, the mean over a layer's heads",
    "texts": "Texts: one head on several",
}


def pair(difference: MapPair, *, a: str, b: str) -> str:
    """Say how far two maps differ and where most; a, b: names of the maps, "A (layer 1, head 7)"."""
    if difference.equal:
        return f"{a} and {b} are equal on this text: every weight is the same."
    if difference.by_chance:
        return f"{a} and {b} both spread their attention as random weights would, so no difference is told."
    alike = next((words for most, words in _ALIKE if difference.moved < most), "mostly different keys")
    return (
        f"{a} and {b} look at {alike}: on average {percent(difference.moved)} of a query's weight lies elsewhere. "
        f"They differ most at {named(difference.query)}, {_cell(difference, *(side.split(' ')[0] for side in (a, b)))}."
    )


def heads(distances: PairedHeads, *, a: str, b: str) -> str:
    """Say which two heads are most alike, how alike that is, and how many have a partner; a, b: their models."""
    first, second = (
        f"{layer_name(layer, call)}, head {head}" for layer, head, call in (distances.best.a, distances.best.b)
    )
    if not distances.among:
        first, second = f"{first} of {a}", f"{second} of {b}"
    else:
        second = f"{second} of {a}"
    if distances.pairs == 1:
        return f"The one pair of heads, {first} and {second}, is {_apart(distances.best.distance)}."
    median = f"the median of all {distances.pairs:,} pairs is {number(distances.median)}"
    if distances.nearest == distances.pairs:
        return f"No two heads are more alike than others: all {distances.pairs:,} pairs are {_apart(distances.median)}."
    if distances.nearest > 1:
        most = f"{distances.nearest:,} pairs of heads are most alike, {first} and {second} among them"
    else:
        most = f"Most alike are {first} and {second}"
    return f"{most}: {_apart(distances.best.distance)}, where {median}. {_partners(distances, a, b)}"


def unmatched(*, why: str) -> str:
    """Say that some panels cannot be matched; why: the reason."""
    return f"Not every two panels can be matched: {why}."


def plane_read(*, share: float) -> str:
    """Say how the plane of heads is read."""
    return (
        "Each point is a head of panel A, near those that attend alike (Clark et al. 2019, figure 6): classical "
        f"scaling of these distances, of which the plane keeps {share:.0%}. Click one to open it in panel A."
    )


def which_rows(*, queries: int, of: int) -> str:
    """Say over which rows the mean is."""
    return "all queries" if queries == of else f"{queries} of {of:,} queries, evenly spaced"


def distances_read(*, queries: int, rows: str) -> str:
    """Say how the distances are read; rows: which rows the mean is over."""
    return (
        "The Jensen-Shannon divergence of every two heads, "
        r"$H(\frac{p+q}{2}) - \frac{H(p)+H(q)}{2}$ with $p$ and $q$ their rows and $H$ the entropy in nats, mean over "
        f"{rows}; 0 to ln 2 = 0.693. Clark et al. 2019, section 6, take the sum over rows: this times "
        f"{queries}. Rows and columns are heads, layer by layer. Click a cell to open its pair, or walk with the "
        "arrow keys and open with Enter."
    )


def best_matches(*, whose: str) -> str:
    """Say what the best matches are; whose: the models that are compared."""
    return f"**Best matches{whose}**: each is the nearest of the other. A click opens the two heads above."


def strips_read(*, top: str, layer: str, panel: str, number: int) -> str:
    """Say how the two strips are read; layer: the name of the open layer."""
    return (
        f"Above, head {number} of every layer; below, every head of {layer}. Each picture is one map, from "
        f"0 to {top}, no unit; click one to open it in panel {panel}. A head's number means nothing "
        "across layers: training does not align heads."
    )


def colours(*, a: str, b: str, end: str) -> str:
    """Say what the colours of a difference mean; end: its largest weight."""
    return (
        f"$A_{{{a}}} - A_{{{b}}}$, no unit: indigo where {a} attends more, amber where {b} does, from −{end} to {end}."
    )


def equal(*, a: str, b: str) -> str:
    """Say that two maps are equal."""
    return f"$A_{{{a}}} - A_{{{b}}} = 0$ everywhere: the two maps are equal."


def shared_about(*, alone_a: int, alone_b: int, a: str, b: str) -> str:
    """Say how many keys each side has alone."""
    return f"Keys that both have; {alone_a} are in {a} alone and {alone_b} in {b} alone"


def entropy_about(*, a: str, b: str) -> str:
    """Say what the entropy change measures."""
    return f"Entropy -Σ A ln A of {a} less that of {b}, mean over queries: above 0 {a} looks more broadly"


def words_compared(*, count: int) -> str:
    """Say that words are compared."""
    return (
        f"Two tokenizers cut the text in two ways, so its words are compared, {count} of them: to a "
        "word the sum over its pieces, from a word the mean (Clark et al. 2019, 4.1)."
    )


def tokens_compared(*, queries: int, keys: int, special: int, merged: bool) -> str:
    """Say that tokens or groups are compared: the rows and the columns of the difference; special: how many of them."""
    what = "groups" if merged else "tokens"
    number = f"{keys} {what}" if queries == keys else f"{queries} {what} as queries and {keys} as keys"
    added = f", {special} of them special tokens," if special else ""
    return f"{number} that both have{added} are compared, matched by name."


def reach(*, own_scale: bool, top: str) -> str:
    """Say how far the scale reaches; own_scale: each panel has a separate scale."""
    return "each from 0 to its own largest weight" if own_scale else f"all from 0 to {top}, the largest weight"


def panels_read(*, formula: str, reach: str) -> str:
    """Say how the panels are read; formula: of their weights."""
    return (
        f"{formula} Row = query, column = key, no unit; {reach}. What you point at in one panel "
        "lights up in the others."
    )


def own_text(*, text: str, name: str) -> str:
    """Say that a panel reads another text."""
    return f"{name} reads a text of its own: {text}"


def long(*, whole: int, window: int) -> str:
    """Say that a long text is compared in part."""
    return (
        f"A text of more than {whole} tokens is compared by its first {window} queries and keys; the numbers are "
        "theirs. The small pictures further down show the whole."
    )


def _partners(distances: PairedHeads, a: str, b: str) -> str:
    """Say how many heads have a partner, and what a partner is."""
    heads = f"{count_of(distances.count, 'head')}{'' if distances.among else f' of {a}'}"
    has = "has" if distances.mutual == 1 else "have"
    place = "" if distances.among else f" in {b}"
    return (
        f"{distances.mutual or 'None'} of the {heads} {has} a partner{place}: each of the two is nearest to the other."
    )


def _apart(distance: float) -> str:
    return f"{number(distance)} nats apart" if distance else "equal on this text"


def _cell(difference: MapPair, a: str, b: str) -> str:
    """Say what the query gives the key in both maps, or the difference where both weights read alike."""
    first, second = percent(difference.a), percent(difference.b)
    if first == second:
        more = f"more in {a if difference.a > difference.b else b}"
        return f"whose weight on {named(difference.key)} is {number(abs(difference.a - difference.b))} {more}"
    return f"which gives {named(difference.key)} {first} in {a} and {second} in {b}"
