"""Words of the page Costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor
from typing import TYPE_CHECKING

from inspector.costs.card import CardNeeds
from inspector.costs.clock import Kernel, LayerTimes
from inspector.costs.clocked import StreamTimes
from inspector.costs.derivation import Amount, DerivedNumber
from inspector.text import number, quantity
from inspector.wording.english.phrases import FRACTIONS, TOLERANCE, count_of, listed, percent

if TYPE_CHECKING:
    import pandas as pd

    from inspector.plots.costs import Value

# --- whose costs ------------------------------------------------------------------------------------------------------

NO_COSTS = "its costs are not"
WHOSE = "Whose costs"
SOURCES = {"model": "This model", "shape": "A known shape", "config": "Your config"}
GIVEN = {"shape": "Shape", "config": "Configuration"}
SHAPE, LENGTH = "Shape", "Text length, tokens"
LOADING = "Loading transformers (a few seconds, once)"
PASTE, NAME, COUNT_IT = "Paste a config.json", "Or name a folder, or a model on the hub", "Count it"
PASTED = '{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, ...}'
PASTE_HELP = "Its numbers are read, no code of it is run, nothing is fetched. It stays out of the link."
NAMED = "org/name or the path of a folder"
PRESS_COUNT = (
    "Press Count it: a configuration of some hundred bytes is enough to say what a model of any size costs. "
    "No weight is read or downloaded."
)
PASTED_NAME = "the pasted {}"
IGNORED = "Left out of it: {}."
READING, CHECK_IT = "Reading the configuration", "Check it, or choose a known shape."
CANNOT_BE_COUNTED = "Cannot be counted"


def shape(source: str, parameters: int, *, note: str) -> str:
    """Say where a shape's sizes stand, and how many parameters were published."""
    return f"Sizes from {source}. Published with {parameters:,} parameters{f': {note}' if note else ''}."


# --- the page ---------------------------------------------------------------------------------------------------------

ASKS = "More about these costs"
STREAM, COUNTED, COMPONENT, KERNEL = "Stream", "What is counted", "Derivation of", "Attention computed"
OPENING, LAYERS, WHOLE, MEMORY, CARD = "Shares", "By layer", "The whole model", "Memory and steps", "On your card"
HEADS, BESIDE, TIME, DERIVATION = "Heads", "Side by side", "Time", "How it is counted"
MEMORY_OF, FURTHER = "Memory", "More"
VALUES: dict[Value, str] = {
    "parameters": "Parameters",
    "flops": "FLOPs",
    "activation_bytes": "Activation bytes",
    "cache_bytes": "KV cache bytes",
    "milliseconds": "Milliseconds",
}
UNITS: dict[Value, str] = {"flops": "FLOP", "activation_bytes": "B", "cache_bytes": "B"}
COUNTING = "Counting: the model's code runs once without weights (the first model of a kind loads its code)"
COUNTING_MODEL, COUNTED_LENGTH, ANOTHER_MODEL = "Counting this model", "length", "Choose another one."


BY_COMPONENT = "{} by component"
BY_COMPONENT_ALT = "{} of each component, all layers together"
BY_LENGTH = "When does attention cost more than the FFN?"
BY_LENGTH_ALT = "FLOPs of attention and FFN against text length, with the two crossovers"
THIS_TEXT, CHOSEN = "this text", "chosen"
PARAMETERS = "Parameters by layer"
NOT_COUNTED = "FLOPs and crossovers are not shown: {}."
LOADED = "{:,} parameters take {} of memory as they are loaded."
PARAMETERS_ALT = "Parameters in matrices, norms and embeddings, by layer"


def forward(
    *, tokens: int, target_tokens: int | None, of_text: bool, parameters: int, flops: int, against: str, closed: bool
) -> str:
    """Say what one forward takes in all, and how it was counted.

    of_text: the text is the reader's. against: a sentence about attention and FFN, or "". closed: the costs come from
    closed formulas.
    """
    how = (
        "every count is a closed formula, and the matrix products equal PyTorch's own FLOP counter exactly."
        if closed
        else "the model's own code was run without weights, and every product it makes was counted."
    )
    target = "" if target_tokens is None else f" and a target of {target_tokens:,}"
    return (
        f"One forward pass over {'this text' if of_text else 'a text'} of {count_of(tokens, 'token')}{target}: "
        f"{quantity(parameters)} parameters and {quantity(flops)} FLOPs.{against} "
        f"1 multiply-add counts as 2 FLOPs; {how}"
    )


def against(*, flops: float, parameters: float, elementwise: bool, experts: bool) -> str:
    """Say how many times the FFN's FLOPs and parameters attention has."""
    chosen = " (FLOPs of the experts that a token chooses, parameters of all)" if experts else ""
    work = ", element-wise work included," if elementwise else ""
    needs, has = _times(flops, "the FFN's FLOPs"), _times(parameters, "its parameters")
    return f" Attention needs {needs}{work} and has {has}{chosen}."


def _times(ratio: float, what: str) -> str:
    """Write a ratio: "half its parameters", "about half its parameters (0.506)", "0.42 times its parameters"."""
    near = min(FRACTIONS, key=lambda fraction: abs(fraction - ratio))
    if abs(near - ratio) > TOLERANCE:
        return f"{ratio:.3g} times {what}"
    exactly = f"{ratio:.3g}" == f"{near:.3g}"
    fraction = f"{FRACTIONS[near]}{'' if near == 0.5 else ' of'} {what}"
    return fraction if exactly else f"about {fraction} ({ratio:.3g})"


def crossovers(*, core: float, sublayer: float | None, textbook: bool) -> str:
    """Say at which lengths attention and FFN cost the same; textbook: whether the textbook's formulas hold."""
    formulas = r"A layer's scores and mix cost $4n^2d$, its projections $8nd^2$, its FFN $4nd\,d_{ff}$. "
    equals = (r"$n = d_{ff}$ = ", r"$n = d_{ff} - 2d$ = ") if textbook else ("", "")
    all_of_it = (
        "costs more at any length"
        if sublayer is None
        else f"with its projections from {equals[1]}{sublayer:,.0f} tokens"
    )
    return (
        f"{formulas if textbook else ''}Scores and mix alone cost more than the FFN from "
        f"{equals[0]}{core:,.0f} tokens; attention {all_of_it}."
    )


# --- the derivation of a number ---------------------------------------------------------------------------------------

NO_COMPONENT = "choose a component"
COMPONENT_HELP = "Opens the formula of a number. A click on a bar does the same."
CLICK = (
    "Click a bar to see where its number comes from. Element-wise work, norms and sums are counted with "
    "fixed constants (see How it is counted)."
)
FORMULA, COUNT, CLOCK = "Formula", "Count", "Clock"
FORMULA_MEANS = "Closed formulas, from the configuration alone."
COUNT_MEANS = "The products that the model's own code makes, on shapes alone."
NO_CLOCK = "To see the time beside them, choose Milliseconds above and press Measure."
DIFFER = "Formula and count differ by {:,} FLOPs"
NO_COUNT = "The count is not there: {}."
AGREE = "Formula and count agree to the last FLOP"


def a_layer(milliseconds: float) -> str:
    """Write the time of a part in one layer."""
    return f"{number(milliseconds)} ms a layer"


def clock_means(name: str, rate: float) -> str:
    """Say what a time measures, and what the rate means."""
    return f"Of {name} together in one layer: {number(rate)} GFLOP/s."


# --- by layer, and the whole model ------------------------------------------------------------------------------------

PRESS_MEASURE = "Press Measure above: the bars are drawn when the clock has run."
BY_LAYER = "{} by layer"
OF_WHOLE = "{} of the whole model"
OF_WHOLE_ALT = "{} of every stream, layer, part and component as nested areas"
AREAS = "Each area is as large as its amount. Click one to open it, and the line above the picture to go back."


def of_layers(value: Value, *, stream: str, layers: int, least: float, most: float) -> str:
    """Say what a layer costs, from the least to the most."""

    def amount(of: float) -> str:
        if value == "milliseconds":
            return f"{number(of)} ms"
        return quantity(of, UNITS[value]) if value in UNITS else f"{quantity(of)} parameters"

    if layers == 1:
        return f"The only layer of the {stream} takes {amount(most)}."
    if least == most:
        return f"Each of the {count_of(layers, 'layer')} of the {stream} takes {amount(most)}."
    return f"The layers of the {stream} take from {amount(least)} to {amount(most)} each."


# --- memory and steps -------------------------------------------------------------------------------------------------

CACHE, STEP, TRAINING = "KV cache", "One more token", "A training step"
COUNTING_ACTIVATIONS, SHORTER = "Counting activations", "Choose a shorter text."
NO_STEP = "This model writes no text token by token, or keeps no cache."
SHARING_ALT = "KV cache where every head has its own keys and values, where some share, and where all share one"
ACTIVATIONS: dict[Kernel, tuple[str, str]] = {
    "eager": ("Activations, eager", "Where scores, softmax and mix are three steps."),
    "sdpa": ("Activations, fused", "Where torch's fused kernel computes attention (scaled_dot_product_attention)."),
}
SHARINGS = {
    "MHA": "multi-head attention",
    "GQA": "grouped-query attention",
    "MQA": "multi-query attention",
    "MLA": "multi-head latent attention",
}
TOKEN, SHARED = "A token", "Sharing"
SHARED_MEANS = "{} heads, {} of keys and values."
NO_CACHE = "There is none: {}."
TOKEN_MEANS = "Keys and values of all layers, 2 bytes a number."
WITH_CACHE, WITHOUT_CACHE, RATIO = "With the cache", "Without it", "Ratio"
RATIO_MEANS = "What the cache saves at this length."
FORWARD, BACKWARD, WEIGHTS, GRADIENTS, OPTIMIZER = "Forward", "Backward", "Weights", "Gradients", "Optimizer (Adam)"
WEIGHTS_MEANS = "4 bytes for each of {:,} parameters."
BACKWARD_MEANS = "Twice the forward: each product has two gradients."
GRADIENTS_MEANS = "As many numbers as there are parameters."
OPTIMIZER_MEANS = "Two float32 numbers a parameter: 8 bytes."


def cached(target: int, source: int | None) -> tuple[str, str]:
    """Name the cache of a text, and say what is kept; source: tokens of the source, for an encoder-decoder."""
    if source is None:
        return count_of(target, "token"), "All keys and values that are kept."
    named = f"{count_of(target, 'token')} and a source of {source:,}"
    return named, "All keys and values that are kept: of the target, and once of the source."


def cache_per_token(
    *, layers: int, numbers: Sequence[int], size: int, token: int, latent: bool, source: bool, window: int | None
) -> str:
    """Say what a layer caches for a token; numbers: how many; size: bytes of each; token: bytes in all layers."""
    each = " or ".join(f"{number:,}" for number in numbers)
    what = "the latent and the part with positions" if latent else "a key and a value for each of K heads"
    once = " A token of the source adds as many, once." if source else ""
    grows = (
        " So the cache grows in proportion to the text."
        if window is None
        else f" A layer with a window keeps {count_of(window, 'token')} at most."
    )
    return (
        f"{layers} layers × {each} numbers × {size} bytes = {token:,} bytes a token; a layer keeps {what}.{once}{grows}"
    )


def ways(kv_heads: Sequence[int]) -> list[str]:
    """Name the ways to share keys and values, from one pair for each head to a single pair."""
    last = len(kv_heads) - 1
    names = {0: "every head its own (MHA)", last: "one for all (MQA)"}
    return [names.get(place, f"{count} shared (GQA)") for place, count in enumerate(kv_heads)]


def with_cache(target: int, *, both: bool) -> str:
    """Say what a step with the cache reads."""
    return f"One token read after {target:,} {'of the target ' if both else ''}that are cached."


def without_cache(target: int, *, both: bool) -> str:
    """Say what a step without the cache reads."""
    return f"All {target + 1:,} tokens {'of the target ' if both else ''}read again."


def steps(*, both: bool) -> str:
    """Say what the cache saves as the text grows."""
    return (
        "With the cache a step costs the projections and the FFN of one token, and attention over the keys that are "
        "kept; without, the whole text is read again. Where attention is dense the first grows with n and the second "
        f"with n²; over all n steps of a text they add up to n² and n³."
        f"{' The source is encoded once, either way.' if both else ''}"
    )


def forward_means(source: int, target: int | None) -> str:
    """Say over which lengths a forward was counted."""
    over = (
        count_of(source, "token")
        if target is None
        else f"{count_of(source, 'token')} of a source and {target:,} of a target"
    )
    return f"Matrix products over {over}."


def activations(unknown: Mapping[str, str]) -> str:
    """Say what activations are, and which are not known; unknown: name -> why."""
    sentence = (
        "Activations are what autograd keeps of one text's forward for the backward, in float32 and without "
        "dropout; b texts keep b times as much, and checkpoints less, for a second forward. Eager attention "
        "keeps its n × n weights; torch's fused kernel for CPUs keeps queries, keys, values, its output, "
        "one number for each query and head, and a mask where it is given one."
    )
    return " ".join([sentence, *(f"{name}: not known; {why}." for name, why in unknown.items())])


# --- on a card --------------------------------------------------------------------------------------------------------

ON_CARD, BATCH, BITS = "Card", "Texts at once", "Bits of a number"
ANOTHER, YOUR_CARD = "Another card", "your card"
BYTES = {"2": "16 bits", "4": "32 bits", "1": "8 bits"}
CARD_MEMORY, CARD_BANDWIDTH, CARD_PEAK = "Memory, GB", "GB/s", "TFLOP/s"
READ, A_STEP, WRITING, AT_BEST = "Reading", "A step", "Writing", " at best"
CARD_WEIGHTS = "{:,} parameters of {} bytes."
READ_MEANS = "All texts read once; {} is the limit."
STEP_MEANS = "A token more of every text; {} is the limit."
CACHE_MEANS = "Keys and values of all texts, at their full length."
WRITING_MEANS = "All texts together, at this length."


def about_card(*, memory: int, bandwidth: int, peak: int) -> str:
    """Say what a card can do, and what the times are."""
    return (
        f"The card: {quantity(memory, 'B')}, {quantity(bandwidth, 'B')}/s, {quantity(peak, 'FLOP')}/s in dense matrix "
        "products. Times are what the "
        "products and the bytes that are read once take at the card's full speed (roofline, Williams et al. 2009); in "
        "practice they are longer. Activations, and what several cards tell each other, come on top. Numbers of 8 "
        "bits are computed in 16."
    )


# --- heads ------------------------------------------------------------------------------------------------------------

MORE_HEADS, WITH_HEADS, IN_A_LAYER = "Does it cost more to have more heads?", "Heads", " in one layer"
HEAD_WIDTH, PAIRS, SOFTMAX = "Width of a head", "Scores and mix", "Softmax"
HEAD_WIDTH_MEANS = "{:,} / {}"
PARAMETERS_MEAN = "4 d² without biases, whatever the number of heads."
PAIRS_MEAN = "4 n² d, whatever the number of heads."
SOFTMAX_MEANS = "5 h n²: as many maps as heads."
BY_HEADS, BY_HEADS_ALT = (
    "Scores, softmax and mix of one layer",
    "Milliseconds of scores, softmax and mix by the number of heads, eager and fused",
)
KERNELS = {"eager": "Eager", "sdpa": "Fused"}


def measures_heads(heads: Sequence[int], *, tokens: int) -> str:
    """Say what will be timed."""
    return (
        f"Do more heads take longer? Scores, softmax and mix of one layer are timed on this machine with "
        f"{listed(list(map(str, heads)))} heads at {count_of(tokens, 'token')}."
    )


# --- side by side -----------------------------------------------------------------------------------------------------

BESIDE_IT = "Beside it, at most {}"
COMPARING, OTHER_SHAPES = "Comparing", "Choose other shapes."
BESIDE_HEADS = {
    "model": "Model",
    "parameters": "Parameters",
    "flops": "FLOPs",
    "attention": "Attention's share",
    "core": "Scores and mix = FFN",
    "sublayer": "Attention = FFN",
    "cache_bytes": "KV cache, B a token",
}
ABOUT_BESIDE = (
    "FLOPs of one forward's matrix products, with the experts that a token chooses; parameters of all. The two "
    "lengths, in tokens, are those at which scores and mix alone, and all of attention, cost as much as the FFN in "
    "the first stream. KV cache of 2-byte numbers."
)


def beside(tokens: int) -> str:
    """Head the table of models."""
    return f"Models side by side at {count_of(tokens, 'token')}"


# --- time -------------------------------------------------------------------------------------------------------------

ON_CLOCK, ON_DEVICE = "On this machine's clock", "On a device of yours"
RUNS = {"eager": "attention, eager", "sdpa": "attention, fused", "ffn": "FFN"}
IN_MILLISECONDS, TEXT_LENGTH, IN_HEADS = "milliseconds", "text length (tokens)", "heads"
OF_A_LAYER = "Milliseconds of one layer"
LAYER_SHAPE, OTHER_MODEL = "Reading a layer's shape", "Choose another model."
BY_CLOCK_ALT = "Milliseconds of attention, eager and fused, and of the FFN, against text length"
RATES = "GFLOP/s and bytes moved, part by part"
RATE_HEADS = {"gflops": "GFLOP/s", "gbytes": "GB/s, at least"}
PEAK, BANDWIDTH = "GFLOP/s", "GB/s"
PEAK_HELP, BANDWIDTH_HELP = "What it computes at most.", "What its memory moves."
ROOFLINE_ALT = "Attainable FLOP/s of each part of a layer against its FLOPs a byte"


def measures(lengths: Sequence[int]) -> str:
    """Say what will be timed."""
    first, last = lengths[0], count_of(lengths[-1], "token")
    at = last if len(lengths) == 1 else f"lengths from {first:,} to {last}"
    return (
        "Milliseconds are measured on this machine: one layer of this shape, with random weights, is run part by part "
        f"at {at}. It takes some seconds."
    )


def medians(timings: LayerTimes) -> str:
    """Say whose medians the times are, and why FLOPs predict one kernel better."""
    return (
        f"Medians of {timings.repeats} runs that take turns, {timings.clock}, {timings.dtype} on {timings.device}. "
        "FLOPs predict the fused kernel better than eager attention: eager writes every map to memory and reads it "
        "again for the softmax, which computes little for each byte. A busy machine moves these numbers."
    )


def held_by_memory(parts: Sequence[str], *, ridge: float, tokens: int) -> str:
    """Say which parts memory limits on a device; ridge: the FLOPs a byte below which memory is the limit."""
    names = ", ".join({"fused": "SDPA", "ffn": "FFN"}.get(part, part) for part in parts) or "none"
    return (
        f"Below {ridge:.3g} FLOPs a byte memory is the limit, above it computing (Williams et al. 2009). At "
        f"{count_of(tokens, 'token')} memory limits: {names}. Bytes in float32, each tensor read or written once."
    )


# --- how it is counted ------------------------------------------------------------------------------------------------

POLYNOMIAL = "FLOPs as a formula of the text's length"
CLOSED_AGREES = "The closed formula and the count agree: {:,} FLOPs of matrix products."
CLOSED_DIFFERS = "The closed formula gives {:,} FLOPs of matrix products and the count {:,}."
NO_POLYNOMIAL = "No formula was found that holds at every length; each length is counted by itself."
NEEDED = "Computed, and needed"
MASKS = {"flops": "computed (FLOPs)", "needed": "needed (FLOPs)", "width": "width (tokens)"}
ABOUT_MASKS = (
    "Most code multiplies every query with every key and hides a part afterwards. A causal mask leaves n (n + 1) / "
    "2 of the n² pairs, a window of w at most w keys a query. All other numbers of this page are what is computed."
)
RULES = (
    "- A multiply-add counts as 2 FLOPs: a matrix of a by b on n tokens costs 2 n a b.\n"
    "- Counted are matrix products, by running the model's own code on shapes alone. It is the rule of PyTorch's "
    "FlopCounterMode.\n"
    "- Element-wise work, where it is shown: 5 FLOPs an element for softmax and LayerNorm, 8 for GELU."
)
PUBLISHED = "Published numbers, and how they count"
PUBLISHED_COLUMNS = ("what", "printed", "counted here", "unit", "convention")


def coefficients(*, both: bool) -> str:
    """Say what the columns of the polynomial are; both: the model is an encoder-decoder."""
    lengths = "n and m are the tokens of source and target" if both else "n is the text's tokens"
    return (
        f"FLOPs of a component in all layers of the stream: the sum of each column times its head; {lengths}. The "
        "coefficients are whole numbers, found from counts at a few lengths and proven at others."
    )


# --- sentences --------------------------------------------------------------------------------------------------------


def shares(
    *,
    stream: str,
    tokens: int,
    attention: float,
    ffn: float,
    sublayer: float | None,
    reads: int | None,
) -> str:
    """Say whether attention or the FFN costs more at this length, and at which length that turns.

    attention, ffn: shares, together 1, of the FLOPs of the matrix products in the layers of one stream. sublayer: a
    field of `Crossovers`. stream: "" where the model has only one. reads: the most tokens that the model reads.
    """
    at, whose = f"At {count_of(tokens, 'token')}", f"{stream}'s " if stream else ""
    of = f"of the FLOPs of the {whose}layers"
    if attention == ffn:
        return f"{at} attention and the FFN take {percent(ffn)} {of} each. In longer texts attention takes more."
    most = max(attention, ffn)
    share = f"just over {percent(most)}" if percent(attention) == percent(ffn) else percent(most)
    larger, smaller = ("attention", "the FFN") if attention > ffn else ("the FFN", "attention")
    return f"{at} {larger} takes {share} {of} and {smaller} the rest. {_turns(tokens, sublayer, reads)}."


def pairs(share: float, *, core: float) -> str:
    """Say what scores and mix take, and in which texts they cost more than the FFN; core: a field of `Crossovers`."""
    where = "at any length" if core < 1 else f"in texts of over {count_of(floor(core), 'token')}"
    return (
        f"Scores and mix, the part that grows with the square of the text, take {number(100 * share)} % of these "
        f"FLOPs; alone they cost more than the FFN {where}."
    )


def parameters(*, parameters: int, embeddings: int, layers: int) -> str:
    """Say how many parameters a model has, and how many of them are embeddings."""
    share = percent(embeddings / parameters) if parameters else "0 %"
    inside = count_of(layers, "layer")
    return f"This model has {quantity(parameters)} parameters in {inside}. Embeddings are {share} of them."


def needed(*, computed: int, known: int, needed: int) -> str:
    """Say how much of scores and mix their masks need.

    computed: FLOPs of all scores and mix; known: FLOPs under masks that are known rules; needed: FLOPs that these masks
    leave.
    """
    if not known:
        return "The masks of this model follow no rule that is known here, so what they need is not known."
    rest = computed - known
    beside = f" Of {quantity(rest, 'FLOP')} more the mask follows no rule that is known here." if rest else ""
    if needed == known:
        return f"No mask hides a pair: all {quantity(known, 'FLOP')} of scores and mix are needed.{beside}"
    return (
        f"The code computes {quantity(known, 'FLOP')} of scores and mix; the pairs that no mask hides need "
        f"{quantity(needed, 'FLOP')}, {percent(needed / known)}.{beside}"
    )


def linear(*, pairs: int, without: int) -> str:
    """Say what linear attention takes pair by pair, and what it would take without pairs."""
    return (
        f"This model's linear attention is computed pair by pair here, so that its maps can be shown: scores and mix "
        f"take {quantity(pairs, 'FLOP')}. Without pairs, φ(Q)(φ(K)ᵀV), it would take "
        f"{quantity(without, 'FLOP')}: in each head 2 d_k² for each key and 2 d_k² + 2 d_k for each query."
    )


def head_left_out(parameters: int) -> str:
    """Say that the head of a masked language model of this project is not counted; parameters: of the head."""
    return (
        f"The head that guesses hidden tokens, with {quantity(parameters)} parameters more, is left out; of a "
        "transformers model such as BertForMaskedLM the head is counted."
    )


def whole(*, tokens: int, parameters: int, flops: int, layers: int) -> str:
    """Say what a model has and what one forward takes."""
    return (
        f"At {count_of(tokens, 'token')} one forward takes {quantity(flops, 'FLOP')} in matrix products. "
        f"The model has {quantity(parameters)} parameters in {count_of(layers, 'layer')}."
    )


def measured(timings: LayerTimes) -> str:
    """Say where the clock puts the crossover, beside where FLOPs put it."""
    predicted = "at no length" if timings.counted is None else f"at {timings.counted:,.0f} tokens"
    longest = int(timings.table["tokens"].max())

    def where(length: float | None) -> str:
        return (
            f"at no length up to {count_of(longest, 'token')}" if length is None else f"from about {length:,.0f} tokens"
        )

    return (
        f"By FLOPs attention catches up with the FFN {predicted}. On this machine it takes longer "
        f"{where(timings.crossover('eager'))} in eager attention and {where(timings.crossover('sdpa'))} in the fused "
        "kernel."
    )


def stopped(done: int, total: int, *, timed_once: bool) -> str:
    """Say after how many runs a measurement was stopped; timed_once: every part has a time that is shown."""
    after = f"Stopped after {done:,} of {total:,} runs"
    if timed_once:
        return f"{after}. What was measured until then is shown: medians of fewer runs."
    return f"{after}, before every part was timed once: nothing is shown of it. Press Measure to begin anew."


AMOUNTS: dict[Amount, str] = {
    "flops": "FLOPs",
    "parameters": "parameters",
    "activation_bytes": "bytes of activations",
    "cache_bytes": "bytes in the KV cache",
}
LETTERS = {
    "d": "width",
    "H": "heads",
    "K": "heads of keys and values",
    "E": "width of a head",
    "F": "width of a value",
    "f": "width of the FFN",
    "V": "vocabulary",
    "A": "experts a token",
    "N": "experts",
    "L": "layers",
}


def derivation(derived: DerivedNumber) -> str:
    """Write a number as a formula and as the same formula with the model's own sizes."""
    name = f"{derived.component} ({derived.stream})" if derived.stream else derived.component
    product, unit = derived.product, AMOUNTS[derived.amount]
    if product is None:
        return f"{name}: {derived.value:,} {unit}"
    biases = f"; with {derived.biases:,} biases {derived.value:,}" if derived.biases else ""
    return f"{name}: {product.symbols} = {product.numbers} = {product.value:,} {unit}{biases}"


def derived_from(derived: DerivedNumber) -> str:
    """Say what a formula's letters stand for in this model, and what was counted in the model's own code."""
    sentences = []
    if derived.product is None:
        layers = f" in {count_of(derived.layers, 'layer')}" if derived.layers > 1 else ""
        sentences.append(f"This model does it in its own way{layers}: the textbook's formula gives another number.")
    else:
        letters = {name for name, _ in derived.product.factors}
        lengths = [f"{name} = {n:,} tokens" for name, n in zip("nm", derived.tokens, strict=False) if name in letters]
        sizes = [f"{name} = {size:,} ({LETTERS[name]})" for name, size in derived.product.sizes.items()]
        sentences.append(f"From {', '.join([*lengths, *sizes])}.")
    if derived.polynomial:
        terms = " + ".join(f"{number:,}" + ("" if term == "1" else f" {term}") for number, term in derived.polynomial)
        sentences.append(
            f"Counted in the model's own code: {terms} at any length, found at a few and proven at others."
        )
    return " ".join(sentences)


def timed(times: StreamTimes, measured: LayerTimes, *, kernel: Kernel, tokens: int) -> str:
    """Say which part of a layer takes longer, and how the times were measured."""
    attention, ffn = times.attention, times.ffn
    longer, shorter = ("attention", "the FFN") if attention > ffn else ("the FFN", "attention")
    ratio = max(attention, ffn) / min(attention, ffn)
    alike = count_of(times.layers, "layer")
    rest = f"; {times.others} of other sizes are left out" if times.others else ""
    computed = "as three steps" if kernel == "eager" else "in torch's fused kernel"
    return (
        f"Measured at {count_of(tokens, 'token')}: in one layer attention takes {number(attention)} ms and the FFN "
        f"{number(ffn)} ms, so {longer} takes {number(ratio)} times as long as {shorter}. One layer was timed, and "
        f"stands for the {alike} like it{rest}. Scores, softmax and mix are computed {computed}. Medians of "
        f"{measured.repeats} runs, {measured.clock}, {measured.dtype} on {measured.device}; norms and residual "
        "sums are not timed."
    )


def on_card(fit: CardNeeds, *, card: str, memory: int) -> str:
    """Say whether a model with its cache fits a card; card: its title, memory: its bytes."""
    takes = f"The weights {'and the KV cache ' if fit.cache else ''}take"
    if fit.cards == 1:
        return f"{takes} {percent(fit.bytes / memory)} of the memory of {card}."
    return (
        f"{takes} {number(fit.bytes / memory)} times the memory of {card}. At least {fit.cards:,} such cards hold it."
    )


def seconds(time: float) -> str:
    """Write a time with the unit that fits it: µs, ms, s, minutes, hours, days or years."""
    for most, size, unit in ((1e-3, 1e-6, "µs"), (1, 1e-3, "ms"), (100, 1, "s"), (6000, 60, "minutes")):
        if time < most:
            return f"{number(time / size)} {unit}"
    for most, size, unit in ((48 * 3600, 3600, "hours"), (730 * 86400, 86400, "days")):
        if time < most:
            return f"{number(time / size)} {unit}"
    return f"{number(time / (365.25 * 86400))} years"


def more_heads(heads: int, *, softmax: float) -> str:
    """Say what more heads cost; softmax: the FLOPs of the softmax over those with one head."""
    return (
        f"More heads cost no more, but for the softmax: with {count_of(heads, 'head')} it takes {number(softmax)} "
        "times the FLOPs that it takes with one."
    )


def heads(
    *, heads: int, width: int, tokens: int, head_width: int, parameters: int, projections: int, products: int,
    softmax: int, of_one: int,
) -> str:  # fmt: skip
    """Say what one layer's attention costs with some number of heads, and what heads of full width would cost.

    parameters; FLOPs of projections, products and softmax: of the layer; of_one: FLOPs of the softmax with 1 head.
    """
    many = count_of(heads, "head")
    full = (
        f" Without the reduction, {many} as wide as the model would cost {heads} times as much: 4 h d² = "
        f"{quantity(heads * parameters)} weights and "
        f"{quantity(heads * (projections + products), 'FLOP')}."
        if heads > 1
        else ""
    )
    return (
        f"{many}: the three matrices of queries, keys and values reduce width {width:,} to {head_width} in each head, "
        f"and a fourth joins the heads: 4 d² = {parameters:,} weights and 8 n d² = {projections:,} FLOPs at "
        f"n = {tokens:,}, with any number of heads. Each head's scores take 2 n² d/h, so all scores and mixes take "
        f"4 n² d = {products:,} FLOPs, as many as with 1 head. What grows is the number of weights, h n² = "
        f"{heads * tokens * tokens:,}, and with it the softmax: {softmax:,} FLOPs, {number(softmax / of_one)} "
        f"times those of 1 head.{full} Every head is counted "
        "with its own keys and values, as in the paper; heads that share them have fewer weights."
    )


def heads_timed(times: pd.DataFrame, *, tokens: int) -> str:
    """Say what scores, softmax and mix took with fewer heads and with more; times: columns heads, eager, sdpa."""
    eager = ", ".join(
        f"{number(1000 * row.eager)} ms with {row.heads} {'head' if row.heads == 1 else 'heads'}"
        for row in times.itertuples()
    )
    first, last = times.iloc[0], times.iloc[-1]
    ratio = float(last["eager"] / first["eager"])
    fused = float(last["sdpa"] / first["sdpa"])
    return (
        f"Measured at {count_of(tokens, 'token')}: scores, softmax and mix took {eager}. The products are equal; the "
        f"time with {int(last['heads'])} is {number(ratio)} times that with {int(first['heads'])}, and {number(fused)} "
        "times in torch's fused kernel."
    )


def rates(measured: LayerTimes) -> str:
    """Say which rates scores, softmax and FFN achieved on the longest text, and how much each computes for a byte."""
    table = measured.table[measured.table["tokens"] == measured.table["tokens"].max()].set_index("part")
    parts = [("the scores", "scores"), ("the softmax", "softmax"), ("the FFN", "ffn")]
    achieved = [
        (name, float(row["flops"] / row["seconds"] / 1e9), float(row["flops"] / row["bytes"]))
        for name, row in ((name, table.loc[part]) for name, part in parts)
    ]
    listing = ", ".join(
        f"{name} {number(rate)} GFLOP/s at {number(dense)} FLOPs a byte" for name, rate, dense in achieved
    )
    by_rate = sorted(achieved, key=lambda part: part[1])
    ordered = by_rate == sorted(achieved, key=lambda part: part[2])
    why = (
        " The fewer FLOPs a part does for each byte that it moves, the slower it computes: memory holds it up, not "
        "arithmetic."
        if ordered
        else ""
    )
    return f"At {count_of(int(measured.table['tokens'].max()), 'token')} this machine achieved: {listing}.{why}"


def _turns(tokens: int, sublayer: float | None, reads: int | None) -> str:
    if sublayer is None or sublayer < 1:
        return "Attention costs more at any length"
    verb = "overtook the FFN" if tokens > sublayer else "overtakes it"
    beyond = "" if reads is None or sublayer < reads else f", beyond the {reads:,} that this model reads"
    return f"Attention {verb} {_where(sublayer)}{beyond}"


def _where(length: float) -> str:
    """Say at which length: "at 768 tokens", or "between 767 and 768 tokens" where the two meet at no whole number."""
    whole = floor(length)
    return f"at {count_of(whole, 'token')}" if whole == length else f"between {whole:,} and {whole + 1:,} tokens"
