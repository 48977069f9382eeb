"""Sentences of the page Generate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.generating.steps import StepReading, StrongestKey
from inspector.text import number, plain, quantity, signed, token, visible
from inspector.wording.english.phrases import ordinal

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from inspector.generating.beams import BeamGain
    from models.dialogue import Turn

_SURE, _LIKELY = 0.9, 0.5
_TORN = 0.25  # probability of each of two, below which others come near them too
MOST_TURNS = 6  # of a dialogue that are counted one by one
ASKS = "What to see of the writing"
WRITE, CACHE, BEAMS = "Write", "KV cache", "Beam search"
MORE, MORE_CACHE = "More: how bars and maps are read", "More: what is counted"
CACHE_TERMS = ("KV cache", "FLOPs")
NO_CACHE = "This model keeps no cache: it reads all tokens again at every step."
CACHE_BYTES = "**Bytes in the cache after each step**"
DECODER_FLOPS = "**FLOPs of the decoder**"
SAME_TOKENS = "Same tokens with and without"
OTHER_TOKENS = "Other tokens without"
OTHER_TOKENS_HELP = (
    "Where two tokens are all but equally likely, the last digit decides, and the two ways compute in "
    "another order. A few models of transformers compute otherwise without their cache."
)
COMPARE_COUNT = "Compare with the count from the configuration"
COMPARE_COUNT_HELP = "What prefill, steps and cache take by the model's sizes alone, without running it."
COUNTED_READ = (
    "Counted from the configuration alone: polynomials in the number of tokens, from the model's own code run on "
    "shapes (see Costs). Seconds are on the wall, and counting FLOPs beside them slows each step."
)
COUNTING = "Counting the model"
_OF_SMOLLM2 = (
    "This is a real language model, though a small one. It is right about what is often written, miscounts, and makes "
    "up what it does not know."
)
LIMITS = {
    "translator": "This small translator knows short everyday sentences. Longer ones, names and numbers go wrong.",
    "mini-gpt": "This small model makes up stories in the manner of novels. Leave the last sentence open: after a full "
    "stop it may end at once.",
    "smollm2": _OF_SMOLLM2,
    "smollm2-own": _OF_SMOLLM2,
}
"""Limits of small models, by their ids."""
DECODING_HELP = "greedy: the likeliest each time. sample: drawn by its probability."
NEW_TOKENS_HELP = "A text ends earlier where the model writes its end token."
TEMPERATURE_HELP = "Divides the scores: below 1 the likely tokens become likelier, above 1 the unlikely ones."
TOP_K_HELP = "Draw from the k likeliest alone; 0 for all (Fan et al. 2018)."
TOP_P_HELP = "Of the tokens that Top-k leaves, draw from the fewest that hold this share (Holtzman et al. 2020)."
SEED_HELP = "The same seed draws the same text again."
HOW_IT_WRITES = "How it writes"
ENDED = {True: "yes", False: "at the limit"}
BEAM_COLUMNS = {
    "text": "Text",
    "found_by": "Found by",
    "score": "Score",
    "log_probability": "log P",
    "tokens": "Tokens",
    "ended": "Ended by itself",
}
BEAMS_HELP = "How many texts are kept at each step."
TREE_READ = "A line is the thicker, the likelier its token; hover over a node for the numbers."
BEAM_TREE = "Beam search as a tree"
ALL_STEPS = "All steps in numbers"
TO_THE_TEXT = "**Attention to the text so far**"
TO_THE_SOURCE = "**Attention to the source**"
ONE_TOKEN = "The text ended after one token."
MEAN_OVER_HEADS = "Mean over heads"
UNTRAINED = ":orange-badge[Untrained] Its weights are random, and so is this text."
COULD_COME = "**What could come next**"
DRAWN_BY = " A mark says what a token was drawn by, after temperature and cuts."
NEW_TOKEN = "new token"


TAKE_ITS_EXAMPLE = "Take its example"
AS_DIALOGUE = "As a dialogue"
DIALOGUE_HELP = "Your text becomes a question in the template that the model was trained on, which says who speaks."


def not_its_example(*, model: str) -> str:
    """Say that a model has an example that it does better; model: its name as Markdown."""
    return f"**{model}** has an example of its own that it does better."


def in_turns(turns: Sequence[Turn]) -> str:
    """Say who speaks in what the model reads; nothing where it is no dialogue."""
    if not turns:
        return ""
    counted = [
        f"{plain(visible(turn.role)) or 'nobody'} ({turn.stop - turn.start} tokens)" for turn in turns[:MOST_TURNS]
    ]
    counted += [f"and {len(turns) - MOST_TURNS} more"] if len(turns) > MOST_TURNS else []
    return f"It reads a dialogue, marks included: {', '.join(counted)}."


def step(reading: StepReading) -> str:
    """Say what one step chose and what it looked at.

    "At step 5 the model was sure of `cat` (0.93); the runner-up was `dog` (0.02). It looked most at `the` (0.41;
    layer 2, mean over its heads)."
    """
    return f"At step {reading.step} the model {_choice(reading)}.{_looked(reading.look)}"


def beside_the_count(rows: pd.DataFrame) -> str:
    """Say whether the count from the configuration equals what was measured; rows: the table of `beside_the_count`."""
    flops, cache = rows.iloc[:-1], rows.iloc[-1]
    known = flops[flops["measured"].notna()]
    differ = known[known["counted"] != known["measured"]]
    if len(differ):
        first = differ.iloc[0]
        clause = (
            f"The configuration gives other FLOPs than were measured: {first['what']} {first['counted']:,} and "
            f"{first['measured']:,}"
        )
    else:
        clause = "By its configuration alone the model takes as many FLOPs as were measured, to the last"
    if cache["counted"] == cache["measured"]:
        return f"{clause}; the cache ends with {cache['counted']:,} bytes both ways."
    return f"{clause}; the cache ends with {cache['measured']:,} bytes, where its sizes give {cache['counted']:,}."


def cache_times(cached: float, uncached: float) -> str:
    """Say how long the text took with the cache and without, in seconds."""
    return f"It took {number(cached)} s with the cache and {number(uncached)} s without, counting included."


def takes_long(*, what: str, weights: int, tokens: int) -> str:
    """Say that work takes long with a large model; what: the work."""
    return (
        f"{what} takes a while with this model: it has {weights:,} weights and reads {tokens:,} tokens in all. "
        "You can stop it at any time."
    )


def flops_read(*, alone: bool) -> str:
    """Say how the FLOPs are counted; alone: the model has no encoder."""
    return (
        "With the cache a step works on the newest token alone, without it on all tokens so far. Counted as the "
        "decoder ran: its matrix products, 1 multiply-add = 2 FLOPs."
        + ("" if alone else " The encoder reads the source once, either way; that is left out.")
    )


def saved(*, cached: int, uncached: int, same: bool) -> str:
    """Say how many FLOPs the KV cache saved; same: the text is the same without it."""
    times = number(uncached / cached)
    if not same:
        return f"Without its KV cache this model wrote other tokens, with {times} times the FLOPs."
    if times == "1.00":
        return "The KV cache saves nothing yet: one token takes as many FLOPs with it as without."
    return f"The KV cache saves work and changes nothing: the same text took {times} times fewer FLOPs than without it."


def flops_alt(amount: str) -> str:
    """Tell what the chart of FLOPs shows; amount: "total" of all steps so far, or of each."""
    return f"FLOPs {'up to each step' if amount == 'total' else 'of each step'}, with the cache and without"


def step_adds(*, more: str) -> str:
    """Say how many bytes a step adds to the cache."""
    return f"Each step adds {more} bytes, as measured. "


def source_kept(*, tokens: int) -> str:
    """Say that the source's keys and values are kept."""
    return f" Those of the source's {tokens} tokens are kept too, and do not grow."


def cache_grows(*, each: str, source: str) -> str:
    """Say what a layer keeps; each, source: the sentences before and after."""
    return (
        rf"{each}A layer that attends to the whole text keeps $2 K E b$ bytes of each token, its key and its value "
        rf"($K$ key heads, $E$ numbers each of $b$ bytes); a layer with a window keeps the last tokens alone.{source}"
    )


def not_counted(*, why: object) -> str:
    """Say that the cache cannot be counted; why: the reason."""
    return f"Without running it the cache's figures are not known: {why}."


def greedy(*, most: int) -> str:
    """Say that the likeliest token is written each time."""
    return f"Greedy: the likeliest token each time, {most} at most."


def sampled(*, most: int, seed: int) -> str:
    """Say that tokens are drawn."""
    return f"Sampled: each token drawn by its probability, {most} at most, seed {seed}."


def decoded(*, done: int, uncached: bool) -> str:
    """Say how many tokens were decoded so far; uncached: without the cache too."""
    return f"{done} tokens decoded{', with the cache and then without' if uncached else ''}"


def searched(*, done: int, width: int) -> str:
    """Say how many steps of a beam search are done."""
    return f"{done} steps searched with {width} {'beam' if width == 1 else 'beams'}"


def gained(gain: BeamGain) -> str:
    """Say what a beam search found beside greedy decoding."""
    best, greedy = signed(gain.best), signed(gain.greedy)
    if gain.same:
        return f"The search answers with the text that greedy decoding writes too: no text that it kept beats {best}."
    if gain.best > gain.greedy:
        return f"A likely token can mislead: the search finds a text of score {best}, greedy decoding ends at {greedy}."
    return f"Greedy decoding does better here: its text has the score {greedy}, the best that the search kept {best}."


def beam_about(*, score: str, penalty: float) -> str:
    """Say what a beam search is; score: the formula."""
    return (
        "A beam search keeps several texts at each step and answers with the best score, "
        rf"{score}^{{{penalty:g}}}$ for $n$ new tokens. log P is the natural logarithm of the probability of the new "
        "tokens, the end token included."
    )


def source(*, text: str) -> str:
    """Name the source of a translation."""
    return f"From: {text}"


def step_of(*, of: int, step: int) -> str:
    """Name a step and how many there are."""
    return f"**Step {step} of {of}**"


def costs_of(*, held: int, flops: int, dtype: str) -> str:
    """Say how large the cache is after a step, and what the step took; dtype: of the cache's numbers."""
    return f"This step took {quantity(flops, 'FLOPs')}, and leaves {quantity(held, 'B')} of {dtype} in the cache."


def candidates_read(*, drawn: str) -> str:
    """Say how the likeliest tokens are read; drawn: the sentence on the mark."""
    return (
        rf"The 5 likeliest tokens, the chosen one in full colour: $p = e^z / \sum e^z$ over all the model knows.{drawn}"
    )


def maps_read(*, formulas: str) -> str:
    """Say how the maps are read; formulas: of their weights."""
    return (
        f"{formulas}, no unit. A row is named by the token that it wrote (→); the newest is framed. "
        "Row $i$ of the finished map is step $i$: an earlier token never sees a later one, so its keys, values and "
        "attention never change. That is why a cache can keep them, and why nothing is computed again as this plays."
    )


def differs(*, off: float) -> str:
    """Say that a run over the whole text gives other numbers."""
    return (
        f"The maps come from one run over the whole text, and this model computes that otherwise than step by "
        f"step: probabilities differ by up to {number(off)}."
    )


def _choice(reading: StepReading) -> str:
    chosen = f"{token(reading.token)} ({number(reading.probability)})"
    other = f"{token(reading.other)} ({number(reading.other_probability)})"
    end = ", which ends the text" if reading.ends else ""
    if reading.ruled and reading.rank > 1:
        return f"wrote {chosen}{end}: a rule of its generation_config set back {other}, the likeliest token"
    if reading.rank > 1:
        by = "drew" if reading.drawn else "chose"
        return f"{by} {chosen}, the {ordinal(reading.rank)} likeliest of all tokens{end}; the likeliest was {other}"
    if reading.close and reading.probability >= _TORN:
        return f"was torn between {chosen} and {other}, and wrote the first{end}"
    if reading.close:
        return f"hesitated: {chosen}, closely followed by {other}{end and '; the first ends the text'}"
    if reading.probability >= _LIKELY:
        was = "was sure of" if reading.probability >= _SURE else "leaned to"
        return f"{was} {chosen}{end}; the runner-up was {other}"
    return f"was unsure: {chosen} came before {other}{end and '; the first ends the text'}"


def _looked(look: StrongestKey | None) -> str:
    if look is None:
        return ""
    whose = f"layer {look.layer}, " + ("mean over its heads" if look.head is None else f"head {look.head}")
    where = " in the source" if look.source else ""
    if look.tied:
        most = f"It looked most at {token(look.token)}{where} ({number(look.weight)}; {whose})"
        return f" {most} and about as much at another token."
    return f" It looked most at {token(look.token)}{where} ({number(look.weight)}; {whose})."
