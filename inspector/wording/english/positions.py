"""Sentences of the page Positions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING

from inspector.text import number, signed
from inspector.text import token as code
from inspector.wording.english.phrases import count_of, listed, percent

if TYPE_CHECKING:
    from inspector.interventions import Order
    from inspector.positional import Kind, Way

ASKS = "What to see of the positions"
OPENING, CURVES, DISTANCE = "How the order is known", "The table", "By distance"
MATTERS, LENGTH, KINDS, FURTHER = "Does it matter", "Longer than trained", "The kinds", "More"
PAPER = "the paper's, sinusoidal"
POSITION, DIMENSION, BY_QUERY = "position", "dimension", "key's position less query's"

WAYS: dict[Way, str] = {
    "learned": "adds to each token a learned vector for its place",
    "sinusoidal": "adds to each token a vector of sines and cosines for its place",
    "rope": "turns every query and key by angles that grow with the position (RoPE)",
    "t5": "adds to each score a learned number for the distance of query and key (as T5 does)",
    "alibi": "takes off each score a multiple of the distance of query and key (ALiBi)",
    "shaw": "adds a learned vector for the distance to every key and value (Shaw et al.)",
    "xl": "compares each query with sines and cosines of the distance to the key too, through a learned matrix "
    "(Transformer-XL)",
    "disentangled": "compares queries and keys with learned vectors for their distance too (DeBERTa)",
    "xlnet": "compares each query with sines and cosines of the distance to the key too (XLNet)",
    "profiles": "adds to each score a number for the distance that the query chooses from learned curves (Inkling)",
}
TERMS: dict[Way, str] = {"learned": "position table", "sinusoidal": "position table", "rope": "RoPE", "alibi": "ALiBi"}
"""The term of the glossary that a way has."""
_SCALINGS = {"yarn": "YaRN", "longrope": "LongRoPE", "llama3": "Llama 3's scaling", "dynamic": "dynamic scaling"}


def added_table(kind: str, *, stack: str) -> str:
    """Name a table of positions that the model adds; stack: the stack that adds it, "" where the model has one."""
    return f"this model's, {kind}" + (f" ({stack})" if stack else "")


def ways(kinds: Sequence[Way], *, none: bool = False, causal: bool = False) -> str:
    """Say how the model knows the order of its tokens; none: it was built without positions; causal: it masks."""
    if kinds:
        return f"This model {listed([WAYS[way] for way in kinds])}."
    if none and causal:
        return "This model has no positions: only its causal mask tells the order, for each token sees those before it."
    if none:
        return "This model has no positions: it reads a text as a bag of tokens, and cannot know their order."
    return "This model adds no vector for a token's place; if it knows the order, then in another way."


def alike(*, by_model: bool, near: float, far: float | None, apart: int, within: int | None) -> str:
    """Say how alike the places of this text are.

    by_model: by the model's table, else by the paper's. near, far: mean cosines of places 1 and `apart` apart; far is
    None for a text that is too short. within: the number of places that are compared, None for all of the text.
    """
    text = "On this text" if within is None else f"On the first {within} places of this text"
    where = "its vectors" if by_model else "the vectors of the paper's table, for comparison,"
    beyond = "" if far is None or isnan(far) else f" and {signed(far)} between places {apart} apart"
    return f"{text} {where} have a mean cosine of {signed(near)} between neighbours{beyond}."


def turns(*, pairs: int, still: int, shortest: float, longest: float, whole: int, tokens: int) -> str:
    """Say how fast RoPE's pairs turn, and how many turn whole within the text.

    still: how many of `pairs` are not turned. shortest, longest: tokens of a whole turn. whole: pairs that turn once or
    more within `tokens`.
    """
    if still == pairs:
        return "None of its pairs of dimensions is turned."
    span = f"once in {number(shortest)}{'' if shortest == longest else f' to {number(longest)}'} tokens"
    text = "this text's one token" if tokens == 1 else "this text"
    if pairs - still == 1:
        within = "it turns whole" if whole else "it does not turn whole"
        return f"{'Its pair' if pairs == 1 else 'One pair'} of dimensions turns {span}: {within} within {text}."
    within = "none turns" if not whole else f"{whole} of {pairs} turn{'s' if whole == 1 else ''}"
    return f"{'Its' if not still else 'Some'} pairs of dimensions turn {span}: {within} whole within {text}."


def stretches(factor: float, *, variant: str) -> str:
    """Say by how much the turns stretch queries and keys; variant: the model's name for the scaling of angles."""
    return (
        f"It is no pure rotation: {_SCALINGS.get(variant, variant)} multiplies cosines and sines by "
        f"{number(factor)}, and so every score by {number(factor**2)}."
    )


PAIR, COSINE_OF_ANGLE = "pair of dimensions", "cosine of the angle"
TURNED_ALT = "The cosine of the angle by which each pair of dimensions is turned, by position"
WHOLE_TURN, WHOLE_TURN_ALT = (
    "Tokens for one whole turn",
    "Tokens that each pair of dimensions needs for one whole turn, and the tokens of this text",
)
ONE_TURN, THIS_TEXT, TOKENS = "one turn", "this text", "tokens"
DECAY, DECAY_ALT = (
    "What is left of a match by distance",
    "The product of a query and a key of ones, turned, over that unturned, by their distance",
)
IN_TOKENS, SHARE_OF_PRODUCT = "distance (tokens)", "share of the product"
HEAD, BUCKET, BIAS, VALUE = "head", "bucket", "bias", "value"
BIAS_ALT, BUCKETS_ALT = "What each head adds to a score, by distance", "What each head adds to a score, by bucket"
VECTORS_ALT = "The numbers of the vector of each distance"
ALIKE, ALIKE_ALT = (
    "How alike the places of this text are",
    "The cosine of the vectors of every two places, as a map",
)
DIMENSIONS, A_DIMENSION = "A few dimensions along the tokens", "Dimension"
SINES, COSINES = "{}: sines", "{}: cosines"
WAVELENGTHS, WAVELENGTH, SHARE = "Wavelengths in the table", "wavelength (tokens)", "share"
ABOUT_WAVELENGTHS = "The Fourier transform of every column along the positions: the share of each wavelength."
ADDED, COMPARED = "What is added to a token, by its position", "The paper's sines and cosines"
ABOUT_COLOURS = "The colours span 99.5 % of the values, so that a few outlying dimensions do not pale the rest."


def turned(layers: str) -> str:
    """Head the map of RoPE's turns; layers: the kind of layers that turn so, "" for all."""
    kind = f" ({layers.replace('_', ' ')})" if layers else ""
    return f"How far queries and keys are turned{kind}"


def about_turns(variant: str, *, factor: float, pure: bool) -> str:
    """Say how a pair is turned, what the map draws, and whether the turns stretch too."""
    return (
        r"Pair $i$ of a query or key at position $p$ is turned by the angle $p\,w_i$; the cosine is drawn as this "
        f"model multiplies with it. Kind: {variant}. Length of (cos, sin): {number(factor)}."
        f"{'' if pure else f' {stretches(factor, variant=variant)}'}"
    )


def about_decay(spread: float) -> str:
    """Say what is multiplied, and by how much the products differ at distance 1."""
    return (
        "A query and a key of ones, turned: the mean cosine of all angles. At one distance it is the same wherever "
        f"the two stand, but for rounding: at distance 1 it differs by {number(spread)} at most."
    )


def bias(kind: str, *, stream: str) -> str:
    """Head the map of T5's or ALiBi's bias."""
    what = "T5's bias" if kind == "t5" else "ALiBi's bias"
    return f"{what}: what each head adds to a score ({stream})"


def slopes(values: Sequence[float]) -> str:
    """Say what ALiBi takes off a score."""
    written = ", ".join(map(number, values))
    return f"Nothing is learned: each head takes its slope off for each token of distance. Slopes: {written}."


def buckets(count: int) -> str:
    """Say how many numbers T5 learns."""
    return (
        f"{count} learned numbers a head, one for each bucket of distances: near distances have buckets of "
        "their own, far ones share them."
    )


def vectors(meets: str) -> str:
    """Head the map of the vectors of distances; meets: the vectors that they meet, "queries" or "queries and keys"."""
    return f"The vector of each distance, which {meets} meet"


def met(kind: str, *, layers: int) -> str:
    """Say what becomes of the vectors of distances in a score or a sum, and which layer they belong to."""
    sentence = {
        "shaw": "Queries are multiplied with the key and the first of these vectors, and the second is added to the "
        "value (Shaw et al. 2018). Distances beyond the last share its vector.",
        "xl": "Sines and cosines of the distance, multiplied by the layer's matrix W_R, the heads side by side: each "
        "query, with a learned vector v added, is multiplied with them (Dai et al. 2019).",
        "disentangled": "Each layer multiplies them by a matrix of its own before queries and keys meet them (He et "
        "al. 2021). Far distances share a vector.",
        "xlnet": "Sines and cosines of the distance, as of a position in Vaswani et al. 2017; each layer multiplies "
        "them by a matrix of its own before its queries meet them (Yang et al. 2019).",
        "profiles": "Each row is a curve over the distance; each query mixes them with numbers of its own.",
    }[kind]
    return (
        sentence
        if layers == 1
        else f"{sentence} Each of {count_of(layers, 'layer')} has its own; these are the first's."
    )


def origin(kind: str, *, own_waves: str) -> str:
    """Say where a table of the model comes from; own_waves: the difference of its waves from the paper's."""
    if kind == "learned":
        return "learned a table of its own"
    return f"uses the paper's sines and cosines {own_waves}" if own_waves else "uses the paper's very table"


def about_alike(origins: Collection[str], *, positions: int, width: int, longest: int, tokens: int) -> str:
    """Say what is compared, where the tables come from, and how long a text may be."""
    used = f"This model {' and '.join(origins)}, {positions} positions, added to the token's vector. "
    return (
        f"The cosine of the vectors of every two places, whatever token stands there. {used if origins else ''}"
        r"The paper's encoding is "
        r"$PE(p, 2i) = \sin(p / 10000^{2i/D})$, $PE(p, 2i+1) = \cos(p / 10000^{2i/D})$ (Vaswani et al. 2017, 3.5) "
        rf"with $D$ = {width}, and pairs $i$ from 0 to {max(width // 2 - 1, 0)}. No text can be longer than "
        f"{longest:,} tokens here; this text has {tokens}."
    )


def dimensions_alt(tables: Collection[str]) -> str:
    """Tell what the curves of dimensions show."""
    return f"Value of the chosen dimensions along the positions, a panel for each of {', '.join(tables)}"


def wavelengths_alt(tables: Collection[str]) -> str:
    """Tell what the chart of wavelengths shows."""
    return f"Share of each wavelength in {', '.join(tables)}"


def row_length(table: str, *, shortest: float, longest: float) -> tuple[str, str, str]:
    """Name and write how long the rows of a table are, as one number where both read alike."""
    between = " to ".join(dict.fromkeys((number(shortest), number(longest))))
    return f"Length of a row, {table}", between, "Euclidean norm."


def table_alt(table: str) -> str:
    """Tell what the map of a table shows."""
    return f"The first rows of {table}, as a map"


LOOK, LOOK_ALT = (
    "Where the heads look, by distance",
    "The mean weight that each head gives to the key at each distance",
)
MEAN_WEIGHT = "mean weight"
PRODUCTS, AFTER = "Products of two positions, by distance", "The same after a head's W_Q and W_K"
MEASURE = "Measure"
MEASURES = {"cosine": "Cosine", "dot": "Dot product"}
QUANTITIES = {"cosine": "cosine", "dot": "dot product"}
SPLIT_HEAD, PART_OF_SCORE, LAYER_0 = "Head of layer 0", "part of the score", "layer 0, head {}"
AFTER_ALT = "What two positions alone give to a score of this head, by their distance"
FEW_POSITIONS = "This model has too few positions to try it."
ABOUT_TURN = (
    r"$PE(p + k) = M_k\,PE(p)$: $M_k$ turns the pair (sin $wp$, cos $wp$) by the angle $kw$, the same for every "
    "$p$ (Vaswani et al. 2017, 3.5). It is built from the frequencies; a fit finds some matrix that need not hold "
    "beyond the rows it saw."
)


def about_looks(*, special: bool) -> str:
    """Say what is averaged; special: the text has special tokens, which are left out."""
    out = " Special tokens are left out: heads rest on them wherever the query stands." if special else ""
    return (
        "The weight to the key at each distance, mean over the queries that have a token there; 1.4 is layer 1, head 4."
        f"{out}"
    )


def looks(*, distances: int, within: int, layer: int, head: int, distance: int, weight: float, mean: int) -> str:
    """Say to which distance the heads give most, and which head gives most to one distance.

    within: the largest distance in tokens that is compared. distance, weight: the distance to which `head` of `layer`
    gives most, on average, and how much; mean: the distance at which the mean of all heads is largest.
    """
    if distances < 2:
        return "With one token there is one distance: every head looks at the token itself."
    return (
        f"Of distances up to {count_of(within, 'token')}, the mean of all heads is largest "
        f"{'at the token itself' if mean == 0 else _there(mean)}. Layer {layer}, head {head} gives most to one of "
        f"them: {percent(weight)} of its attention, on average, goes {_there(distance)}."
    )


def _there(distance: int) -> str:
    if distance == 0:
        return "to the token itself"
    return f"{count_of(abs(distance), 'token')} {'back' if distance < 0 else 'ahead'}"


def similarity_alt(quantity: str) -> str:
    """Tell what the chart of products shows."""
    return f"Mean {quantity} of positions against their distance"


def about_similarity(first_rise: int | None) -> str:
    """Say what the band means; first_rise: the distance at which the paper's products rise for the first time."""
    rises = f" The paper's falls until distance {first_rise}, then rises for the first time."
    return (
        "All positions, before any matrix, the same in both directions. The sinusoidal encoding knows distance "
        "alone, so its band is a line; a learned table may also know where it is."
        f"{'' if first_rise is None else rises}"
    )


def nothing_after(reason: str) -> str:
    """Say why there is no product after a head's matrices."""
    return f"After W_Q and W_K there is nothing to show: {reason}."


def about_after(*, sides: float, spread: float) -> str:
    """Say how far the share that positions give differs by the side, and by the places of the two tokens."""
    return (
        "After this head's W_Q and W_K, on this text: the position-position part of the scores. Between a distance "
        f"back and the same ahead its mean differs by up to {number(sides)}, and at one distance the part differs "
        f"by {number(spread)} (standard deviation), by where the two tokens stand."
    )


def one_turn(step: int) -> str:
    """Ask whether a step is a turn."""
    return f"Is the step from p to p + {step} one turn for every p?"


def missed(table: str, residual: float | None) -> tuple[str, str, str]:
    """Name and write by how much one turn misses a table's rows; None for a table that has no pairs to turn."""
    by = "there are no pairs of sine and cosine to turn" if residual is None else f"misses by {number(residual)}"
    return f"{table.capitalize()}: one turn", by, "Largest miss over all rows, of the largest entry, in float64."


def fitted(*, where: float, elsewhere: float) -> tuple[str, str, str]:
    """Name and write by how much a fitted matrix misses, where it was fitted and elsewhere."""
    by = f"misses by {number(where)} where it was fitted, by {number(elsewhere)} elsewhere"
    meaning = "Fitted to the first half of the positions, tried on the second: root mean square of the miss."
    return "a matrix fitted by least squares", by, meaning


def differs(spread: float, *, step: int) -> tuple[str, str, str]:
    """Name and write by how much RoPE's products at one distance differ."""
    meaning = f"Over all pairs of positions {step} apart, of length 1."
    return "RoPE's product", f"differs by {number(spread)}", meaning


ORDER, READING = "Order", "Reading the text in another order"
ORDERS = {"reverse": "Backwards", "shuffle": "Shuffled", "shift": "All later"}
ANOTHER, ANOTHER_ALT = (
    "The same tokens in another order",
    "Change of each token's last hidden state by the order, with positions and without",
)
CHANGES, CHANGE, TOKEN = "Change of each token's last hidden state", "change (%)", "token"
WITH_OR_WITHOUT = {"changed": "with positions", "without": "without positions"}
ANOTHER_TEXT, ANOTHER_MODEL = "Choose another text, or another model.", "Choose another model."
AT_ONCE = "In place of recurrence"
ABOUT_STEPS = (
    "A recurrent network knows the order by reading in order; attention alone does not: positions tell it, or a "
    "causal mask. Steps and paths: Vaswani et al. 2017, table 1."
)
DISTURBS, DISTURBS_ALT = (
    "Does adding a position disturb the token's vector?",
    "Length of each token's vector without its position, and of its position's row",
)
ADDED_UP, A_LENGTH = "Length of what is added up", "length"
ROW_OR_VECTOR = {"position": "the position's row", "content": "the token's vector"}
NO_DIRECTION = "The vectors of this text have length 0, so there is no direction to turn."
SPLITTING, FOUR, TERM = "Splitting the scores", "The scores of layer 0 as a sum of four", "Term"
THEIR_SUM = "Their sum, the score"
ROUNDING = 1e-4  # of a state's length: rounding alone stays below


def too_long(most: int) -> str:
    """Say why a long text is not read in another order."""
    return f"The text is read three times more for this, so it may have {most:,} tokens at most."


def too_long_to_count(most: int) -> str:
    """Say why the pairs of a long text are not counted."""
    return f"The pairs of a text of at most {most:,} tokens are counted."


def ordered(
    order: Order, *, by: int, changed: float, without: float | None, blind: bool, causal: bool, ways: Sequence[Way]
) -> str:
    """Say what another order does to the last hidden states, with the model's positions and without them.

    by: how many places later every token stands. changed, without: mean changes; without is None where positions
    cannot be taken away. blind: without positions the change is rounding. causal: a token sees only earlier tokens.
    """
    change = _share(changed)
    if order == "shift":
        places = f"{by} place{'s' if by != 1 else ''}"
        told = f"With every token {places} later, last hidden states change by {change} of their length on average"
        if changed < ROUNDING:
            return f"{told}, which is rounding. This model knows how far apart tokens are, not where they stand."
        return f"{told}. This model knows where a token stands, not only how far apart tokens are."
    moved = "backwards" if order == "reverse" else "in a shuffled order"
    told = f"Read {moved}, each token's last hidden state changes by {change} of its length on average"
    if not ways and without is not None:
        if blind:
            return f"{told}: nothing here tells this model the order."
        by_what = "its causal mask alone" if causal else "something that is not found here"
        return f"{told}. It adds no positions: {by_what} tells it the order."
    if without is None:
        return f"{told}. Its positions are made inside its attention, and cannot be taken away here to compare."
    bare = _share(without)
    if blind:
        end = f"{bare}, which is rounding: without them it cannot tell the order"
    elif causal:
        end = f"{bare}: it is not blind to order, for its causal mask shows each token only those before it"
    else:
        end = f"{bare}: it knows the order in another way too"
    return f"{told}. With its positions taken away it changes by {end}."


def about_order(tokens: Sequence[str], *, of_the_encoder: bool, more: bool) -> str:
    """Say what is compared, and the first tokens in the order of reading; no tokens where that is the text's order."""
    stack = " of the encoder" if of_the_encoder else ""
    read = f" Read: {' '.join(map(code, tokens))}{' …' if more else ''}." if tokens else ""
    return f"Each token's last hidden state{stack} is compared with its own before: |after − before| / |before|.{read}"


def steps(*, tokens: int, layers: int, layer: int, joined: int, pairs: int, ends: bool) -> str:
    """Say in how many steps a text is read, here and in a recurrent network.

    layers: the number of layers with attention. joined: pairs of query and key with a weight above 0 in some head of
    `layer`, of the `pairs` that the mask allows; ends: the last query and the first key are such a pair.
    """
    are = "is" if tokens == 1 else "are"
    follow = " that follow one another" if layers > 1 else ""
    told = (
        f"The {count_of(tokens, 'token')} {are} read at once, in {count_of(layers, 'layer')} of attention"
        f"{follow}; a recurrent network takes {count_of(tokens, 'step')}, one for each token. In layer {layer} alone "
        f"{joined:,} of {count_of(pairs, 'pair')} of query and key have a weight above 0"
    )
    if tokens < 2:
        return f"{told}."
    if not ends:
        return f"{told}; the last token gives none to the first there."
    apart = count_of(tokens - 1, "step")
    return f"{told}, the last token's to the first too: one step, where a recurrent network has {apart} between them."


def no_split(reason: str) -> str:
    """Say why the scores of the first layer are no sum of four."""
    return f"Here {reason}."


def moved(*, cosine: float, lowest: float, ratio: float) -> str:
    """Say how far the vectors of tokens turn as the position is added.

    cosine, lowest: mean and lowest cosine of a token's vector before and after. ratio: mean length of the position's
    row over the length of the token's vector.
    """
    return (
        f"Adding the position leaves a mean cosine of {signed(cosine)} between a token's vector before and after "
        f"(lowest {signed(lowest)}); the position's row is {number(ratio)} times as long as the token's vector, on "
        "average."
    )


def shares(terms: Mapping[str, float], *, head: int) -> str:
    """Say which of the four terms makes the scores of a head differ."""
    if any(isnan(share) for share in terms.values()):
        return (
            f"In layer 0, head {head} the scores of a query do not differ between keys, so no term makes a difference."
        )
    each = listed([f"{name} {signed(float(f'{100 * share:.3g}'))} %" for name, share in terms.items()])
    return f"What makes the scores of layer 0, head {head} differ between keys, by share: {each}."


def four_alt(term: str, *, head: int) -> str:
    """Tell what the two maps of the split show."""
    return f"The {term} part of the scores of layer 0, head {head}, beside the scores"


def about_four(missed: float) -> str:
    """Say what the four terms are, and by how much their sum misses the recorded score."""
    return (
        "A query is content W_Q + position W_Q, a key likewise, so a score is a sum of four products (Ke et al. 2021). "
        "The norm between is applied with each token's own deviation; biases and segments belong to the content. Their "
        f"sum differs from the recorded scores by {number(missed)} at most."
    )


def _share(value: float) -> str:
    return "under 0.01 %" if 0 < value < ROUNDING else f"{number(100 * value)} %"


BEYOND = "What is there beyond the longest text?"
ENDLESS_WAVES = "Its sines and cosines have a value at any position, also beyond those that it was trained on."
OTHER_ANGLES = "Its frequencies depend on the length: a longer text turns all of its tokens by other angles."
ENDLESS_DISTANCES = "Its sines and cosines of the distance have a value at any distance."
NO_END = "No positions are found in this model, so none of them ends."
COST, COST_ALT = (
    "What a token costs, by its position",
    "Bits a token by its position, read at once and in windows that fit",
)
BITS = "bits a token"
WINDOWS = {"at_once": "at once", "in_windows": "in windows that fit"}
ABOUT_LENGTH = (
    "That a formula has a value says nothing about what a model makes of it: models are often poor at lengths that "
    "they were not trained on (Press et al. 2022). The page Lab trains two small models with the positions that "
    "you choose and tries both on texts two and four times as long."
)
LEARNED = 0.1  # bits a token, less than which no cost is told of


def last_row(rows: int) -> str:
    """Say where a learned table of so many rows ends."""
    return (
        f"Its learned table ends with row {rows - 1:,}: for position {rows:,} there is no vector, and the model cannot "
        "read a longer text at all."
    )


def angles(unfinished: int, *, pairs: int, tokens: int) -> str:
    """Say how many of RoPE's pairs need more than `tokens` tokens for one turn."""
    if not unfinished:
        return (
            f"All {pairs} pairs of RoPE turn whole within {tokens:,} tokens, so that a longer text brings distances, "
            "but no angles, that are new."
        )
    return (
        f"RoPE has an angle for any position. But {unfinished} of its {pairs} pairs "
        f"{'needs' if unfinished == 1 else 'need'} more than {tokens:,} tokens for one turn: a longer text brings "
        "angles that no shorter one has."
    )


def last_bucket(farthest: int) -> str:
    """Say from how many tokens back on all keys are in T5's last bucket."""
    return f"T5's buckets end: all keys {farthest:,} or more tokens back get the same number, at any length."


def taken(*, tokens: int, flattest: float, steepest: float) -> str:
    """Say what ALiBi takes off the score of a key that is some tokens back."""
    return (
        f"ALiBi goes on as it began. From a key {tokens:,} tokens back {number(flattest)} is taken off in the flattest "
        f"head and {number(steepest)} in the steepest, and twice that at twice the distance."
    )


def nothing_farther(shared: int) -> str:
    """Say from how many tokens back on Inkling adds nothing."""
    return f"Nothing is added to the score of a key {count_of(shared, 'token')} back or more."


def last_vector(shared: int | None) -> str:
    """Say from how many tokens back on distances share a vector; None where that is not seen."""
    where = "beyond the table's last" if shared is None else f"of {count_of(shared, 'token')} back or more"
    return f"Distances {where} share one vector, the table's last."


def longest(tokens: int) -> tuple[str, str, str]:
    """Name and write how long a text may be."""
    return "Longest text here", f"{tokens:,} tokens", "What the configuration and the tokenizer allow."


def whole_pairs(whole: int, *, pairs: int) -> tuple[str, str, str]:
    """Name and write how many pairs turn whole within the longest text."""
    return "Pairs that turn whole", f"{whole} of {pairs}", "Within that many tokens."


def not_measured(reason: str) -> str:
    """Say why no longer text was read."""
    return f"Not measured on a longer text: {reason}. Try mini-GPT."


def longer(*, tokens: int, longest: int, at_once: float, in_windows: float) -> str:
    """Say what positions beyond the longest text cost, in bits a token, on a passage of so many tokens."""
    costs = at_once - in_windows
    told = (
        f"Measured on a passage of {tokens:,} tokens, at once: behind position {longest - 1:,} a token costs "
        f"{number(at_once)} bits. In windows of {longest:,} tokens, which fit, the same tokens cost "
        f"{number(in_windows)}"
    )
    if costs > LEARNED:
        return f"{told}. So positions beyond are defined, but not learned: they cost {number(costs)} bits a token."
    return f"{told}. On this passage positions beyond cost nothing."


def passage(longest: int) -> str:
    """Say which text is read, and how much text a token beyond the longest text has before it."""
    return (
        "The passage: after Lewis Carroll, Alice's Adventures in Wonderland (1865). Windows overlap by half, so that a "
        f"token beyond has at least {longest // 2} before it; read at once it has all."
    )


SIDE_BY_SIDE, YES = "The kinds side by side", "yes"
HEADS = {
    "kind": "Kind",
    "here": "This model",
    "same": "At one distance",
    "others": "Between distances",
    "where": "Changes",
    "adds": "Adds",
    "learned": "Learned",
    "beyond": "Beyond its longest text",
}
KIND_NAMES: dict[Kind, tuple[str, str, str, str, str]] = {
    "sinusoidal": ("Sinusoidal (Vaswani 2017)", "embedding, once", "a vector of waves", "nothing", "has a value"),
    "learned": ("Learned (Gehring 2017)", "embedding, once", "a vector for the place", "positions × width", "ends"),
    "shaw": (
        "Shaw (2018)",
        "keys and values",
        "a vector for the distance",
        "2 (2k + 1) × head width",
        "as the farthest",
    ),
    "xl": (
        "Transformer-XL (Dai 2019)",
        "scores",
        "waves of the distance, times a matrix",
        "a matrix, two vectors",
        "has a value",
    ),
    "t5": ("T5 (Raffel 2020)", "scores", "a number for the distance", "buckets × heads", "as the farthest"),
    "rope": ("RoPE (Su 2021)", "queries and keys", "nothing: they are turned", "nothing", "has a value"),
    "alibi": ("ALiBi (Press 2022)", "scores", "− slope × distance", "nothing", "has a value"),
}
"""Each kind: its name, what it changes, what it adds there, what it learns, and what it has beyond its longest text."""
_SHORT: dict[Kind, str] = {
    "sinusoidal": "sinusoidal positions",
    "learned": "learned positions",
    "shaw": "Shaw",
    "xl": "Transformer-XL",
    "t5": "T5",
    "rope": "RoPE",
    "alibi": "ALiBi",
}
FURTHER_KIND = (
    "A further kind, in no model here: complex numbers, whose angle grows with the position at a pace that each "
    "token learns (Wang et al. 2020)."
)


def sides(*, same: Sequence[Kind], more: Mapping[Kind, float]) -> str:
    """Say which kinds know the distance alone, by how far the score of one query and key differs at one distance.

    same: the kinds whose scores do not differ, or by rounding alone; more: the size of the differences.
    """
    differs = listed([f"{number(value)} with {_SHORT[kind]}" for kind, value in more.items()])
    return (
        f"With {listed([_SHORT[kind] for kind in same])} a query and a key have the same score at one distance, "
        f"wherever they stand. It differs by up to {differs}: these are added before W_Q and W_K, which keep no "
        "distance."
    )


def about_kinds(*, apart: int, places: int, rounding: Mapping[Kind, float]) -> str:
    """Say what the numbers of the table are; rounding: the kinds whose scores differ by rounding alone."""
    but = "".join(f"; with {_SHORT[kind]} {number(value)} is rounding" for kind, value in rounding.items())
    return (
        "At one distance: how far the score of the same query and key differs by where they stand "
        f"({apart} apart, {places} places, float64{but}). Between distances: how far its mean "
        "differs from 0 to 32 tokens back. Vectors, W_Q, W_K and what is learned are random here; the formula is the "
        "kind's."
    )


def own_rotation(*, apart: int, spread: float) -> str:
    """Say by how much the model's own turns make products at one distance differ."""
    return (
        "This model's own cosines and sines, in float32: products of places "
        f"{apart} apart differ by up to {number(spread)}."
    )
