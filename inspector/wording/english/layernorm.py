"""Sentences of the page Norms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from inspector.normalization import MASSIVE, MASSIVE_TIMES, OUTLIER_SIGMAS, in_words
from inspector.normalization import formula as latex
from inspector.normalization.depth import BATCH, LAYERS, SEED, TASK, TOKENS, WIDTH
from inspector.normalization.drift import DRIFT_LAYERS, DRIFT_STEPS
from inspector.normalization.other_norms import OtherNorm
from inspector.text import Named, number, signed
from inspector.wording.english.exactness import unknown_tokens
from inspector.wording.english.phrases import count_of, listed, named, percent

if TYPE_CHECKING:
    from inspector.normalization import Size
    from inspector.trace import NormRecord

ASKS = "More about these norms"
EVERY, LEARNED, CHANGE, OUTLIERS = (
    "Every norm and token",
    "Gamma and beta",
    "What each step changes",
    "Outlier dimensions",
)
OTHER, DEPTH, NUMBERS, FURTHER = "Another norm", "Pre-norm or post-norm", "All numbers", "More"
NORM, TOKEN = "Norm, in the order in which they run", "Token"
ONLY_GIVEN = "Only attention weights were given, so no norm is known. Record the text in its model to see its norms."
NO_NORM = "No norm of this model can be shown."

_FORMULAS = {"layer": "LayerNorm", "rms": "RMSNorm", "batch": "BatchNorm"}
_ONE = {"layer": "a LayerNorm", "rms": "an RMSNorm", "batch": "a BatchNorm"}
_PARTS = {
    "attention": "attention",
    "ffn": "FFN",
    "cross": "cross-attention",
    "mixer": "token mixer",
    "other": "further sublayer",
    "embedding": "embedding",
    "final": "end",
}
_STAND = {
    "pre": "before a sublayer (pre-norm)",
    "post": "after a residual sum (post-norm)",
    "output": "on a sublayer's output, before the residual sum",
    "inside": "inside a sublayer",
}
_PLACED = {"pre": "pre-norm", "post": "post-norm"}  # terms for two of them
_BEFORE = {"pre": "before", "post": "after", "output": "on the output of", "inside": "inside"}
SIZES: dict[Size, str] = {"std": "standard deviation", "rms": "root mean square"}
_OUTSIDE = {
    "embedding": ("follows the embedding", "follow the embedding"),
    "final": ("ends the stack", "end the stack"),
}


def kinds(*, formulas: Mapping[str, int], placements: Mapping[str, int], outside: Sequence[str]) -> str:
    """Say which norms there are and where they stand: "All 13 norms are LayerNorms; each of the 12 ...".

    formulas: how many are a "layer" (LayerNorm), an "rms" (RMSNorm) and a "batch"; placements: how many of the norms in
    the layers stand "pre", "post", "output" or "inside"; outside: the parts of the norms below and above the layers.
    """
    total = sum(formulas.values())
    if len(formulas) == 1:
        ((formula, _),) = formulas.items()
        sentence = f"All {total} norms are {_FORMULAS[formula]}s" if total > 1 else f"The one norm is {_ONE[formula]}"
    else:
        each = [_FORMULAS[formula] + "s" if count > 1 else _FORMULAS[formula] for formula, count in formulas.items()]
        counted = [f"{count} {kind}" for count, kind in zip(formulas.values(), each, strict=True)]
        sentence = f"The {total} norms are {listed(counted)}"
    inside = sum(placements.values())
    if len(placements) == 1:
        ((placement, _),) = placements.items()
        which = "the one in the layers" if inside == 1 else f"each of the {inside} in the layers"
        sentence += f"; {'it' if total == 1 else which} stands {_STAND[placement]}"
    elif placements:
        each = [
            f"{count} {'stands' if count == 1 else 'stand'} {_STAND[placement]}"
            for placement, count in placements.items()
        ]
        sentence += f"; of the {inside} in the layers {listed(each)}"
    if outside:
        counts = Counter(outside)
        sentence += f"; {listed([_outside(part, count, alone=total == 1) for part, count in counts.items()])}"
    return f"{sentence}."


def in_short(formulas: Mapping[str, int], placements: Mapping[str, int]) -> str:
    """Say in a few words which norms there are and where they stand: "The norms are LayerNorms, post-norm."."""
    where = "".join(f", {_PLACED[placement]}" for placement in placements if placement in _PLACED)
    if sum(formulas.values()) == 1:
        return f"The norm is {listed([_ONE[formula] for formula in formulas])}{where}."
    return f"The norms are {listed([f'{_FORMULAS[formula]}s' for formula in formulas])}{where}."


def widest(*, norm: NormRecord, size: Size, token: Named, before: float, after: float, stands_out: bool | None) -> str:
    """Say which token stands out before which norm, or that no token does.

    size: the measure; before, after: the token's size around the norm; stands_out: None where the text has one token.
    """
    span = f"from {number(before)} to {number(after)}"
    if stands_out is None:
        return f"The norm {name(norm)} takes the {SIZES[size]} of {named(token)} {span}."
    takes = f"the norm {name(norm)} takes its {SIZES[size]} {span}"
    if stands_out:
        return f"{_first(named(token))} stands out: {takes}."
    return f"Before no norm does a token stand far out. The largest is {named(token)}: {takes}."


def _first(name: str) -> str:
    """Begin a sentence with a token's name: "The 2nd `the`"."""
    return name[0].upper() + name[1:]


def others(*, norm: NormRecord, size: Size, before: float, middle: float) -> str:
    """Say how large the other tokens are before the norm of `widest`: the median; before: the token's size."""
    times = f"; it has {number(before / middle)} times that" if middle else ""
    return (
        f"Before the norm {name(norm)} the other tokens have a median {SIZES[size]} of {number(middle)}{times}. "
        "A token stands out from twice the median on."
    )


def way(
    *,
    token: Named,
    size: Size,
    smallest: tuple[float, NormRecord],
    largest: tuple[float, NormRecord],
    after: tuple[float, float],
) -> str:
    """Say how a token's size changes on its way: the smallest and the largest size before a norm, and after."""
    (small, first), (large, last) = smallest, largest
    low, high = map(number, after)
    subject = f"the {SIZES[size]} of {named(token)}"
    then = f"{low}" if low == high else f"between {low} and {high}"
    if number(small) == number(large):
        return f"Before every norm {subject} is {number(small)}, after it {then}."
    return (
        f"Before the norms {subject} is between {number(small)} (at the norm {name(first)}) and {number(large)} (at "
        f"the norm {name(last)}), after them {then}."
    )


VALUES = {
    "std_before": "deviation before",
    "rms_before": "root mean square before",
    "mean_before": "mean before",
    "std_after": "deviation after",
    "rms_after": "root mean square after",
    "mean_after": "mean after",
}
"""The name of each statistic of a token around a norm."""
STATISTIC, ROOT, ROOT_HELP = "Statistic", "Square-root colour", "One token can outshine the rest."
CLICK = (
    "Over the dimensions of each token. A row is a norm, named by its layer and sublayer. Click a cell to open its "
    "token and its norm."
)
THROUGH, ANOTHER_TOKEN = "One token through all norms", "Another token"
_TAKEN = {
    "layer": r"$\mu$ and $\sigma$ are the mean and the standard deviation of",
    "rms": "the mean of the squares is taken over",
    "batch": "$m$ and $v$ are what training kept as the mean and the variance of each of",
}


def every_alt(value: str) -> str:
    """Tell what the map of norms and tokens shows."""
    return f"{VALUES[value].capitalize()} each norm, a row for each norm and a column for each token"


def through_alt(position: int) -> str:
    """Tell what the chart of one token shows."""
    return f"size and mean of the vector of token {position} before and after each norm"


def refused(count: int, *, first: str, reason: str) -> str:
    """Say how many norms are not shown, which is the first of them, and why."""
    return f"{count} {'norm is' if count == 1 else 'norms are'} not shown (the first is {first}): {reason}."


def formula(norm: NormRecord, *, count: int, of: int) -> str:
    """Say by which formula `count` of the stream's norms compute, and over what."""
    return (
        rf"{count} of {of} norms: {in_words(norm)}. Of one token's vector $x$ each gives ${latex(norm)}$, where "
        rf"{_TAKEN[norm.kind]} its {len(norm.gamma)} dimensions and $\epsilon$ = {norm.epsilon:.0e}. No unit."
    )


FORM = "Form"
FORMS = {"dimension": "by dimension", "sorted": "sorted", "histogram": "histogram"}
NOTHING = "It has learned nothing: it has neither gamma nor beta."


def learned(name: str, *, width: int, mean: float, farthest: int, value: float, deviations: float) -> str:
    """Say what gamma or beta of a norm has become, and which dimension is farthest from the mean.

    value: of the farthest dimension. deviations: its distance in standard deviations, 0 where all are equal.
    """
    if not deviations:
        begins = mean == {"gamma": 1.0, "beta": 0.0}[name]
        return f"All {width} numbers of {name} are {signed(mean)}" + (", as before training." if begins else ".")
    return (
        f"{name.capitalize()} is {signed(mean)} on average; farthest from that is dimension {farthest} with "
        f"{signed(value)}."
    )


def beyond(name: str, *, width: int, farthest: int, deviations: float, outliers: int) -> str:
    """Say how far the farthest dimension of gamma or beta is from the mean, and how many others are far.

    deviations: its distance in standard deviations; outliers: how many are more than OUTLIER_SIGMAS away.
    """
    lie = "lie" if outliers > 1 else "lies"
    return (
        f"Dimension {farthest} of {name} lies {number(deviations)} standard deviations from the mean; "
        f"{outliers or 'none'} of {width} {lie} more than {OUTLIER_SIGMAS:g} away."
    )


def learned_alt(norm: NormRecord, *, form: str) -> str:
    """Tell what the picture of gamma and beta shows."""
    return f"{' and '.join(norm.learned)} of the norm {name(norm)}, {FORMS[form]}"


def one_formula(norm: NormRecord) -> str:
    """Write by which formula one norm computes."""
    return rf"{in_words(norm)}, ${latex(norm)}$ with $\epsilon$ = {norm.epsilon:.0e}."


def name(norm: NormRecord) -> str:
    """Name a norm by its place, to follow "the norm": "before layer 0's attention", "at the end"."""
    if norm.layer is None:
        return {"embedding": "of the embedding", "final": "at the end"}.get(norm.part, f"of the {norm.part}")
    part = _PARTS.get(norm.part, norm.part)
    return f"{_BEFORE.get(norm.placement, 'of')} layer {norm.layer}'s {part}"


def title(norm: NormRecord) -> str:
    """Name a norm by its place, alone: "layer 0, before attention"; "embedding"."""
    if norm.layer is None:
        return {"final": "final norm"}.get(norm.part, norm.part)
    return f"layer {norm.layer}, {_BEFORE.get(norm.placement, 'of')} {_PARTS.get(norm.part, norm.part)}"


def brief(norm: NormRecord) -> str:
    """Name a norm in a narrow place, by its layer and sublayer: "0 attention"; "embedding"."""
    if norm.layer is None:
        return norm.part
    return f"{norm.layer} {'FFN' if norm.part == 'ffn' else norm.part}"


def terms(formulas: Sequence[str], placements: Sequence[str], *, size: Size) -> tuple[str, ...]:
    """List the terms of the page's sentence that the glossary explains."""
    placed = [_PLACED.get(placement) for placement in placements]
    return (*(_FORMULAS[formula] for formula in formulas), *filter(None, placed), SIZES[size])


def _outside(part: str, count: int, *, alone: bool) -> str:
    """Say where norms outside the layers stand: "one follows the embedding"; alone: the stack has no other norm."""
    who = str(count) if count > 1 else "it" if alone else "one"
    singular, plural = _OUTSIDE.get(part, (f"belongs to the {part}", f"belong to the {part}"))
    return f"{who} {singular if count == 1 else plural}"


# --- What each step changes, outlier dimensions -----------------------------------------------------------------------


STEPS, STEPS_ALT = (
    "Centring, scaling, gamma, beta",
    "share of centring, scaling, gamma and beta in what each norm changes",
)
SHARE, SHARES = "share in %, mean over the tokens", "Share of each step in what a norm changes"
ALL_GATED = "All norms have a gate, which multiplies by more than these steps."
ABOUT_STEPS = (
    "A token goes from x to x − m, to n = (x − m) / s, to γ n, to γ n + β. A step's share is its length over "
    "the sum of the four lengths, so it says how far, not in which direction. Means are over all norms and tokens."
)
OF_ALL = {"mean": "mean", "std": "deviation", "rms": "RMS"}
MEDIANS = {"before": "before: median of the tokens", "after": "after: median of the tokens"}
FROM, TO, IN_CALL_ORDER = "from", "to", "norm, in call order"
BY_DEPTH_TITLE, BY_DEPTH_READ = "All tokens by depth", "line: median; shaded: smallest to largest token"
BY_DEPTH, BY_DEPTH_ALT = (
    "All tokens by depth",
    "mean, deviation and root mean square of all tokens before and after each norm",
)


def steps(shares: Mapping[str, float]) -> str:
    """Say how far each step goes, the largest first."""
    (first, most), *others = [(name, f"{share:.1%}".replace("%", " %")) for name, share in shares.items()]
    rest = listed([f"{name} {share}" for name, share in others])
    return (
        f"{first.capitalize()} changes the vectors most: it has {most} of the four steps' lengths, on average. Of the "
        f"others {rest}."
    )


def about_steps(gated: int) -> str:
    """Say what the steps are, and how many norms are left out; gated: of them."""
    verb = "is" if gated == 1 else "are"
    return ABOUT_STEPS + (f" {count_of(gated, 'norm')} with a gate {verb} left out." if gated else "")


DIRECTION, COSINE = "Direction", "cosine before and after, mean over the tokens"
DIRECTION_ALT = "Mean cosine of the tokens before and after each norm"


def turned(norm: str, *, cosine: float, mean: float) -> str:
    """Say which norm turns the tokens most: the norm with the least mean cosine."""
    most = f"The norm {norm} turns the tokens most: a mean cosine of {number(cosine)} before and after it"
    return f"{most}, {number(mean)} over all norms. Scaling alone would leave 1."


OUTLIERS_ALT = "Largest size of a dimension before each norm, a row for each norm and a column for each dimension"
TIMES = "times the median"
MOST_FAR = 5  # tokens that a sentence names


def outlier(
    *, norm: NormRecord, dimension: int, token: Named, value: float, times: float, largest: int, norms: int
) -> str:
    """Say which dimension stands out before which norm, and before how many norms that dimension is the largest."""
    return (
        f"Dimension {dimension} of {named(token)} stands out most: before the norm {name(norm)} it is {signed(value)}, "
        f"{number(times)} times the median there. It is the largest dimension before {largest} of {norms} norms."
    )


def massive(dimensions: Sequence[int]) -> str:
    """Say in which dimensions there are massive activations."""
    convention = f"size over {MASSIVE:g} and more than {MASSIVE_TIMES:,.0f} times the median (Sun et al. 2024)"
    if not dimensions:
        return f"No activation of this text is massive: {convention}."
    which = listed([str(dimension) for dimension in dimensions])
    return f"Massive activations ({convention}) are in {'dimension' if len(dimensions) == 1 else 'dimensions'} {which}."


def far(tokens: Sequence[tuple[Named, int, float]], *, norms: int, size: Size) -> str:
    """Name the tokens that stand out, the farthest first, and count the tokens for which there is no room.

    tokens: each token with the number of norms, of `norms`, before which it stands out, and its size in medians.
    """
    if not tokens:
        return f"No token has twice the median {SIZES[size]} before any norm."
    parts = [
        f"{named(token)} (before {count} of {norms} norms, up to {number(times)} times)"
        for token, count, times in tokens[:MOST_FAR]
    ]
    more = f"; {len(tokens) - MOST_FAR} more" if len(tokens) > MOST_FAR else ""
    return f"Tokens with at least twice the median {SIZES[size]}: {listed(parts)}{more}."


def about_outliers(dimensions: int) -> str:
    """Say what the map of the largest dimensions holds."""
    return (
        "The largest |x| of a dimension over all tokens before a norm, divided by the median of |x| there; the "
        f"{dimensions} largest dimensions, by their index. The same index in many rows is the same dimension."
    )


def numbers(*, norms: int, tokens: int) -> str:
    """Say what the table of all numbers holds."""
    return f"A row for each of {count_of(norms, 'norm')} and {count_of(tokens, 'token')}."


# --- Another norm -----------------------------------------------------------------------------------------------------


EXAMPLES = {
    "English": (
        "The cat sat on the mat because it was tired.\nYes.\nA dog barked.\n"
        "She sat by the river bank and wondered whether the bank would lend her the money.\nWho is there?"
    ),
    "Chinese": "猫坐在垫子上，因为它累了。\n好。\n狗叫了。\n她坐在河边，想着银行会不会借钱给她。\n谁在那里？",
    "One length": "The cat sat down.\nThe dog ran off.\nThe sun came out.\nThe rain went on.",
}
"""Sentences, a line each: their lengths differ, but for the last."""
ADDED, SIDE, HOLDS = "Columns of padding added", "Side of the padding", "The padding holds"
SIDES = {"right": "padding right", "left": "padding left"}
CONTENTS = {
    "what the model computes": "padding holds what the model computes",
    "zeros": "padding holds zeros",
}
AFFINE, AFFINE_HELP = "gamma and beta", "Those of the model."
ONE_BY_ONE = "An encoder-decoder reads a target for each text, so its texts are recorded one by one."
WRITE = "Write a sentence."
THE_SAME = "The same activations through another norm"
OF_TOKENS, OF_TOKENS_ALT = "Deviation of each token", "Deviation of each token, a row for each norm"
OF_DIMENSIONS, OF_DIMENSIONS_ALT = "Deviation of each dimension", "Deviation of each dimension, a row for each norm"
ABOUT_TOKENS = "Over the dimensions of a token. Before gamma and beta LayerNorm makes it 1 for every token."
COMPARED = "What each norm takes, keeps and lets in"
COMPARED_HEADS = {
    "norm": "norm",
    "pairs": "pairs",
    "cells": "numbers in each",
    "within": "order in a token",
    "across": "order in a dimension",
    "skew": "skew",
    "kurtosis": "kurtosis",
    "scaled": "change at 1,000 x",
    "others": "change without others",
}
COLUMN, TEXTS = "column", "texts"
BY_POSITION, BY_POSITION_ALT = "BatchNorm by position", "texts that reach each column, and the deviation over them"
SMALL, SMALL_ALT = "Small batches are noisy", "deviation of BatchNorm's mean by texts in the batch"
NOISE, IN_BATCH, OF_MEAN = "Noise of BatchNorm's mean", "texts in a batch", "deviation of the mean"
OF_DIMENSION = "of the dimension's own deviation"
FOR_AND_AGAINST, IS_IT_BEST = "For BatchNorm and against it", "Is LayerNorm the best norm?"
NAMES: dict[OtherNorm, str] = {
    "none": "no norm",
    "layer": "LayerNorm",
    "rms": "RMSNorm",
    "batch": "BatchNorm, padding counted",
    "masked batch": "BatchNorm, padding masked",
    "running batch": "BatchNorm, running statistics",
}
SHORT: dict[OtherNorm, str] = {
    **NAMES,
    "batch": "Batch, counted",
    "masked batch": "Batch, masked",
    "running batch": "Batch, running",
}
"""Names for a narrow place."""
STATISTICS = ("Mean in BatchNorm", "Deviation in BatchNorm", "Mean in LayerNorm", "Deviation in LayerNorm")
MASKED, MASKED_MEANS = "Masked BatchNorm moves by", "At most, of a real token's numbers."


def sentences(most: int) -> str:
    """Label the field of the sentences."""
    return f"Sentences, one a line, at most {most}"


def too_many(lines: int, *, most: int) -> str:
    """Say that some lines are not read."""
    return f"{lines} lines: the first {most} are read."


def too_large(texts: int, *, tokens: int, taken: str, most: str) -> str:
    """Say that a batch would take more memory than a recording may."""
    return (
        f"{texts} sentences of up to {tokens} tokens take up to {taken}, over the {most} of one recording: write "
        "shorter ones."
    )


def cells_alt(texts: int, *, columns: int) -> str:
    """Tell what the picture of a batch shows."""
    return f"{texts} sentences as rows of cells, padded to {columns} columns"


def unknown(count: int, *, of: int, chinese: bool) -> str:
    """Say how many tokens of the batch the model does not know; chinese: a sentence has Chinese characters."""
    other_model = " mini-BERT for Chinese reads Chinese characters: choose it in the sidebar." if chinese else ""
    return f"{unknown_tokens(count, of=of)}{other_model}"


def statistics(dimension: int) -> tuple[str, str, str, str]:
    """Say what each of STATISTICS is taken over."""
    return (
        f"Of dimension {dimension}, over all cells, padding counted.",
        "Of the same dimension, over the same cells.",
        "Of one token, over its own dimensions.",
        "Of the same token.",
    )


def padding(*, cells: int, of: int) -> str:
    """Say what padding does to BatchNorm's statistics and not to LayerNorm's; cells: of padding, and of all."""
    return (
        f"{cells} of the batch's {of} cells are padding. BatchNorm counts them in mean and deviation; LayerNorm takes "
        "each token by itself."
    )


def padding_added(*, cells: int, added: int, batch: float, layer: float, rounding: bool) -> str:
    """Say how far added columns of padding move real tokens.

    batch, layer: the largest change of a real token's number after either norm. rounding: LayerNorm's is no more.
    """
    stays = f"stays but for rounding ({number(layer)})" if rounding else f"moves by {number(layer)}"
    return (
        f"{cells} cells of the batch are padding, {added} columns of them added. BatchNorm moves a real token's "
        f"number by up to {number(batch)}; with LayerNorm every real token {stays if layer else 'stays'}."
    )


def about_others(norm: NormRecord, *, affine: bool, texts: int, others: int, tokens: int) -> str:
    """Say which norm is replaced, and what statistics the others take; tokens: of the `others` sentences."""
    return (
        f"Before the norm {name(norm)}, {'with' if affine else 'before'} gamma and beta; epsilon = {norm.epsilon:.0e}. "
        f"The batch's statistics are those of these {texts} sentences, running statistics those of {others} other "
        f"sentences of this page ({tokens} tokens, padding masked)."
    )


def about_dimensions(count: int) -> str:
    """Say which dimensions the map holds."""
    return f"Over the real tokens, the {count} largest dimensions. Before gamma and beta masked BatchNorm makes it 1."


def compared(*, layer: Mapping[str, float], batch: Mapping[str, float]) -> str:
    """Say what the table of norms holds; layer, batch: the rows of LayerNorm and of BatchNorm, padding masked."""
    return (
        f"LayerNorm takes {int(layer['pairs'])} pairs of mean and deviation, one for each token and none for a whole "
        f"text; BatchNorm {int(batch['pairs'])}, one for each dimension, over all texts and positions. Order is "
        "Kendall's tau before and after: 1 where no two dimensions of a token, or no two tokens of a dimension, change "
        "places. LayerNorm's output is standardised and need not be normal: its "
        f"skew is {number(layer['skew'])} and its kurtosis {number(layer['kurtosis'])}, those of a normal distribution "
        f"are 0 and 3. Without the other texts a token's numbers change by up to {number(batch['others'])} "
        f"in BatchNorm and by {number(layer['others'])} in LayerNorm, which computes the same in training and after. "
        "That noise of the batch is what can regularise in BatchNorm; LayerNorm has none."
    )


def by_position(alone: int, *, columns: int) -> str:
    """Say how many columns have one text, and what BatchNorm by position makes of such a column."""
    return (
        f"Statistics for each column alone: {alone} of {columns} columns have one text. Where there is one "
        "the deviation is 0, and BatchNorm makes every token beta. Pooled over columns, as nn.BatchNorm1d "
        "does it, this does not happen."
    )


def noise(*, sentences: int, one_text: float, many: float, texts: int) -> str:
    """Say how far BatchNorm's mean moves: by `one_text` with one text in the batch, by `many` with `texts`."""
    return (
        f"Drawn 400 times from the {sentences} other sentences: the mean of a dimension moves by "
        f"{number(one_text)} of the dimension's deviation with 1 text, by {number(many)} "
        f"with {texts}. Batches of Transformers are not small: Vaswani et al. (2017, section 5.1) took "
        "about 25,000 source and 25,000 target tokens. Shen et al. (2020) find that in language the statistics of a "
        "batch fluctuate more than in images, whose cells are all real and of one size."
    )


def against(
    *, texts: int, shortest: int, longest: int, columns: int, alone: int, padding: float, gap: float
) -> list[str]:
    """Say what speaks for BatchNorm and what against it, a line each, with a batch's numbers.

    shortest, longest: lengths of the texts; columns, alone: columns with a real token, and columns with only one;
    padding: the share of all cells. gap: the largest change of a real token's number from the batch's statistics,
    padding masked, to the running statistics.
    """
    between = f"of {longest} tokens" if shortest == longest else f"of {shortest} to {longest}"
    each = "each " if texts > 1 and shortest == longest else ""
    lengths = f"{count_of(texts, 'text')} {each}{between}{'' if shortest == longest else ' tokens'}"
    one_text = (
        f"{alone} of {columns} columns have one text"
        if alone
        else f"each of the {columns} columns has more than one text"
    )
    return [
        f"**Lengths differ.** Here are {lengths}: {percent(padding)} of the cells are padding, and {one_text}. "
        "A batch of images of one size has neither.",
        "**One token is no batch.** Its deviation in each dimension is 0, so BatchNorm would make it beta; LayerNorm "
        "needs no other token.",
        "**Training and use differ.** From the batch's own statistics to running ones a token's number moves by up to "
        f"{number(gap)} here; LayerNorm has one way to compute.",
        "**For BatchNorm.** Once trained it is one multiplication and one addition for each dimension, so it "
        "can be merged into the matrix beside it.",
    ]


BEST = (
    "**Measured by others, not here.** Shen et al. (2020) find BatchNorm worse than LayerNorm on text, and PowerNorm, "
    "which keeps a running mean of squares, better than both: than LayerNorm by 0.4 BLEU (IWSLT14) and 0.6 (WMT14). "
    "Zhang & Sennrich (2019) find RMSNorm about as good as LayerNorm, in 7 to 64 % less time. Xiong et al. (2020) "
    "train without warm-up where LayerNorm stands before the sublayers. So LayerNorm works well on text; none shows "
    "that it is the best."
)
"""The verdict on the best norm, from the papers."""


# --- Pre-norm or post-norm --------------------------------------------------------------------------------------------


UNTRAINED_LAYERS, UNTRAINED_ALONE = "24 untrained layers", "untrained: no model of the list is drawn here"
AFTER_LAYER = "after layer (−1: the embedding)"
WITH_AND_WITHOUT = "Pre-norm or post-norm, with and without residual"
RUNNING = "Running 24 untrained layers five times"
START = "Initialisation"
STARTS = {"xavier": "Glorot, as nn.Transformer", "torch": "as nn.Linear", "normal": "0.02, as BERT"}
STACKS_ALT = "activation, gradient and cosine of tokens by layer, in five untrained stacks"
ABOUT_STACKS = (
    f"The own Transformer's encoder, {LAYERS} layers of width {WIDTH}, seed {SEED}, not trained. It reads "
    f"{BATCH} texts of {TOKENS} random tokens; the loss is that of a task: {TASK}. Activation: the root mean "
    "square of what a layer gives; gradient: the Euclidean norm of the loss's gradient there; cosine: of two "
    "tokens of a text, 1 where they have become one (Dong et al. 2021). Xiong et al. (2020) explain with such "
    "gradients why post-norm needs a warm-up."
)
JACOBIANS, JACOBIANS_ALT = (
    "Jacobian by sublayer",
    "norm of the Jacobian of each sublayer, from the token itself, other tokens and other texts",
)
UNTRAINED_BLOCKS = "untrained: Euclidean norm of the blocks"
SUBLAYER, OF_JACOBIAN = "sublayer", "norm of the Jacobian"
INPUTS = {"own": "the token itself", "others": "other tokens of its text", "texts": "other texts"}
RESIDUAL, IS_IT_SHIFT = "What the residual is for", "Is it the internal covariate shift?"
SHIFT = (
    "**Measured by others, not here.** Ioffe & Szegedy (2015) explain BatchNorm by a smaller internal covariate shift: "
    "a layer's inputs move less while the layers before it learn. Santurkar et al. (2018) put such a shift back behind "
    "BatchNorm in networks for images: they learned about as fast. What they find instead is a smoother loss."
)
"""The verdict on internal covariate shift, from the papers."""
TRAIN, TRAINING = "Train three small stacks", f"Training each for {DRIFT_STEPS} steps"
MOVES = {
    "norm": "Norm",
    "mean": "Move of the mean",
    "deviation": "Move of the deviation",
    "first": "First loss",
    "last": "Last loss",
    "rough": "Spread along the gradient",
}
ABOUT_MOVES = (
    f"{DRIFT_LAYERS} layers of width {WIDTH} each, pre-norm or without, {DRIFT_STEPS} steps of Adam, one seed, the "
    "task above. Looked at is what goes into the last layer's FFN, on texts that are not learned from: the move of "
    "each dimension's mean and deviation in a step, over its deviation. Loss in nats per token; its spread is the "
    "largest less the smallest on a step's texts, over steps of 0.05 to 0.4 along the gradient."
)
VANISHED, EXPLODED, ALIKE = 1e-3, 1e3, 1e-3  # ratios of gradients, and 1 - cosine of tokens that have become one


def depth(*, gradient: Mapping[str, float], cosine: Mapping[str, float]) -> str:
    """Say what norm placement does to the gradient of an untrained stack.

    gradient: stack -> the gradient before layer 0 over the gradient after the last layer; cosine: of two tokens after
    the last layer.
    """
    post, pre = "post-norm", "pre-norm"
    return (
        f"Untrained, the gradient that reaches layer 0's input is {number(gradient[post])} times that at the last "
        f"layer's output with post-norm, and {number(gradient[pre])} times with pre-norm. Two tokens of a text end "
        f"with a mean cosine of {signed(cosine[post])} and {signed(cosine[pre])}."
    )


def jacobians(*, others: Mapping[str, float], texts: Mapping[str, float]) -> str:
    """Say what each sublayer lets a token see: other tokens of its text, and other texts."""
    return (
        "How much a token's output changes with each input (layer 0, untrained, Glorot). "
        f"FFN and LayerNorm see the token alone ({number(others['FFN'])} and {number(others['LayerNorm'])} from other "
        f"tokens); attention sees its text ({number(others['attention'])}); BatchNorm in training sees the whole batch "
        f"({number(others['BatchNorm'])} from its text, {number(texts['BatchNorm'])} from other texts)."
    )


def drift(*, moves: Mapping[str, float], losses: Mapping[str, float]) -> str:
    """Say whether the stack whose inputs move least learned best.

    moves: norm -> move of the mean in a step, in deviations; losses: norm -> loss of the last step.
    """
    still, best = (min(values, key=values.__getitem__) for values in (moves, losses))
    told = (
        f"Measured here: in one step the mean of an input moves by {_by_name(moves)} of its deviation. The last loss "
        f"is {_by_name(losses)}."
    )
    if still == best:
        return f"{told} Inputs move least with {still}, and it ends with the lowest loss."
    return (
        f"{told} Inputs move least with {still}; the lowest loss is with {best}: here the smaller shift did "
        "not decide which learned best."
    )


def residual(
    *,
    gradient: Mapping[str, float],
    activation: Mapping[str, float],
    cosine: Mapping[str, float],
    alike: Mapping[str, int | None],
) -> list[str]:
    """Say what a residual does in the untrained stacks, a line each; activation and cosine: of the last layer.

    alike: the first layer after which the tokens of a text have become one, None where they never do.
    """
    bare, summed = gradient["no norm, no residual"], gradient["no norm"]
    fate = "vanishes" if bare < VANISHED else "explodes" if bare > EXPLODED else "reaches layer 0"
    then = "vanishes too" if summed < VANISHED else "explodes" if summed > EXPLODED else "arrives"
    return [
        f"**Without norms** the gradient {fate} when there is no residual (ratio {number(bare)}); with it, it {then} "
        f"(ratio {number(summed)}), and the last activation is {number(activation['no norm'])}.",
        f"**LayerNorm without residual** has a ratio of {number(gradient['post-norm, no residual'])}, but the tokens "
        f"of a text {_become_one(alike, cosine, 'post-norm, no residual')}. With the residual they "
        f"{_become_one(alike, cosine, 'post-norm')} in post-norm, and {_become_one(alike, cosine, 'pre-norm')} in "
        "pre-norm.",
        "**Less overfitting?** Stacks that learned nothing cannot tell. He et al. (2016) brought residuals in against "
        "a higher training loss of deeper networks, which is no overfitting.",
    ]


def _become_one(alike: Mapping[str, int | None], cosine: Mapping[str, float], stack: str) -> str:
    layer = alike[stack]
    if layer is None:
        return f"stay apart to the end (mean cosine {signed(cosine[stack])})"
    return "are one after the first layer" if layer == 0 else f"become one after layer {layer}"


def bullets(lines: Sequence[str]) -> str:
    """Write lines as a list."""
    return "\n".join(f"- {line}" for line in lines)


def _by_name(values: Mapping[str, float]) -> str:
    return listed([f"{number(value)} ({name})" for name, value in values.items()])
