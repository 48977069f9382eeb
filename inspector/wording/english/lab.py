"""Sentences of the page Lab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import cast

from inspector.lab_results import AnswerPlaces, Depth, LastReport, SeedProgress, UnfinishedTrainings, Verdict
from inspector.wording.english.phrases import listed, ordinal, percent
from models.training.tiny.experiments import (
    RECURRENT,
    SYMBOLS,
    TIMES,
    Experiment,
    LabRun,
    Network,
    Side,
    Switches,
    Task,
    idle,
)
from models.training.tiny.words import HELD_OUT, LEARNED

NAMES = {
    "network": "network",
    "cell": "cell",
    "shape": "shape",
    "layers": "layers",
    "decoder_layers": "decoder layers",
    "width": "width",
    "ffn_width": "FFN width",
    "shared_layers": "shared layers",
    "tied_embeddings": "tied embeddings",
    "positions": "positions",
    "rope_base": "RoPE base",
    "relative_buckets": "T5 buckets",
    "relative_distance": "farthest distance",
    "embedding_scale": "embedding times sqrt(D)",
    "embedding_norm": "norm on the embedding",
    "embedding_width": "embedding width",
    "score": "score",
    "scale": "scale",
    "weighting": "weighting",
    "heads": "heads",
    "kv_heads": "KV heads",
    "head_size": "head width",
    "projections": "W_Q, W_K and W_V",
    "shared_query_key": "tied Q and K",
    "shared_key_value": "K = V",
    "merge": "merge",
    "causal": "causal",
    "window": "window",
    "mask_fill": "mask fill",
    "mask_before_scale": "mask before the scale",
    "segment": "segment",
    "memory": "memory",
    "memory_gradient": "gradient through memory",
    "norm": "norm",
    "norm_placement": "norm placement",
    "final_norm": "final norm",
    "norm_epsilon": "norm epsilon",
    "residual": "residual",
    "activation": "activation",
    "bias": "bias",
    "learning_rate": "learning rate",
    "warmup": "warm-up",
    "optimizer": "optimizer",
    "weight_decay": "weight decay",
    "clip": "gradient clip",
    "dropout": "dropout",
    "attention_dropout": "attention dropout",
    "initialisation": "initialisation",
    "embeddings": "embeddings",
}
"""The name of each switch in a sentence."""
GROUPS = {
    "RNN": ("cell",),
    "Shape and size": ("shape", "decoder_layers", "width", "ffn_width", "shared_layers", "tied_embeddings"),
    "Positions and embedding": (
        *("rope_base", "relative_buckets", "relative_distance"),
        *("embedding_width", "embedding_scale", "embedding_norm"),
    ),
    "Attention": ("weighting", "kv_heads", "head_size", "merge", "projections", "shared_key_value"),
    "Mask": ("causal", "window", "mask_fill", "mask_before_scale"),
    "Segments of a decoder": ("segment", "memory", "memory_gradient"),
    "Block": ("norm", "final_norm", "norm_epsilon", "activation", "bias"),
    "Training": (
        *("learning_rate", "warmup", "optimizer", "weight_decay", "clip"),
        *("dropout", "attention_dropout", "initialisation", "embeddings"),
    ),
}
"""Switches beyond the first eight, in the groups of the paper's sections."""
NETWORKS: dict[Network, str] = {
    "transformer": "Transformer",
    "rnn": "RNN",
    "rnn with attention": "RNN with attention",
}
"""The name of each network."""
LEFT_OUT = {
    "shape": "by task",
    "decoder_layers": "as encoder",
    "embedding_width": "as width",
    "relative_distance": "by length",
    "kv_heads": "as heads",
    "causal": "by shape",
    "window": "none",
    "segment": "whole text",
    "final_norm": "with pre",
    "learning_rate": "as above",
    "warmup": "a tenth",
    "clip": "none",
}
"""Words for a switch that is left to the rest."""
LONGER = "Texts longer than the trained ones"
BY_PLACE = "The answer, place by place"
BY_LAYER = "Layer by layer"
ONE_TEXT = "One text, and where each side looks"
NEITHER = "Neither side can be asked: their weights are no numbers any more."
LENGTH = "Length of the text"
ROWS_SUM = "Each row sums to 1"
BEST_INDUCTION = "Best induction head of each"
DEPTH_ALT = "Gradient and residual stream by depth, before and after training"
DRIFT_ALT = "Mean and deviation of the FFN's inner units by step, and units that are off"
READY, EXPERIMENT = "Ready experiments on", "Experiment"
OWN_SETTINGS, SETTINGS, MORE = "Your own settings", "Settings", "More switches"
OWN_QUESTION = "What does the difference between A and B change?"
ANSWERED = "What three seeds answered here"
TASK, STEPS, RATE, SEEDS = "Task", "Steps", "Learning rate", "Seeds"
NOT_SWITCHED = (
    "The task sets the vocabularies, the segments and the output head, and the longest text of its test the number of "
    "positions."
)
START, STOP, STARTING = "Start", "Stop", "Starting"
LOADING = "Starting (the first time it loads torch, which takes a few seconds)"
WORK, TESTING = "The training", "Testing on longer texts"
CANNOT, OTHER_SETTINGS = "Cannot be trained", "Choose other settings and press Start."
CURVES = "Loss and accuracy of A and B by training step"
SETTINGS_CHANGED = "The settings have changed: what follows is of those of the last Start."
NOTHING_TRAINED = (
    "Nothing is trained yet: guess first, then press Start. A link keeps the settings, not what was learned."
)


def value(name: str, of: object) -> str:
    """Write a switch's value as the page shows it and the link holds it: "none", "0.001", "a tenth"."""
    if of is None:
        return LEFT_OUT[name]
    if name == "network":
        return NETWORKS[cast("Network", of)]
    return str(of).lower() if isinstance(of, bool) else str(of)


ABOUT = (
    "Two very small networks learn the same task from the same random texts, each step on 32 new ones. A Transformer's "
    "encoder names all digits of the answer at once; a decoder, alone or with an encoder, is trained on the right "
    "answer and tested on what it writes, token by token, and so is an RNN. Stop, or any change, ends a training; what "
    "was learned by then is kept."
)
"""A line on the page: who learns, from what, and until when."""
SEGMENTS = (
    " A line stands where a segment begins: keys left of a query's own segment are memory, and what is older than the "
    "memory has no weight at all."
)
"""The end of the caption over the maps of a text that is read in segments."""
LAYERS = (
    "Measured on the same 32 fresh texts each time, without dropout; means over seeds. Gradient: the length of the "
    "loss's gradient in all weights of a layer. Size: the root mean square of the residual stream after the layer. "
    "Mean and deviation: of the FFN's inner units before the activation, over all tokens and units; their drift is "
    "what was named internal covariate shift (Ioffe & Szegedy 2015). Santurkar et al. (2018) found BatchNorm to help "
    "without lessening it. A ReLU unit that is below 0 for every token gives nothing and learns nothing from it."
)
"""A caption of the layers' charts."""
FORCED = (
    " Where a network writes its answer token by token, these curves are of what it says when it is shown the right "
    "answer so far (teacher forcing); the sentence over them counts what it writes by itself, so it may count fewer."
)
"""A line at the curves, where a network writes."""
ALIGNMENT = (
    "In the map of an RNN a row is a step of the decoder. Its query is the decoder's previous state, the state before "
    "it reads the row's token: each step asks with a new query, not with the last output. Keys and values are the same "
    "encoder states: weight of token j at step i = softmax over j of vᵀ tanh(W s(i−1) + U h(j)) (Bahdanau et al. "
    "2015). A state h(j) has read the whole text in both directions, so the weight may lie beside the token that is "
    "copied."
)
"""A caption of the map of an RNN with attention."""
NO_BLOCKS = "An RNN has no blocks with a residual stream and an FFN, so nothing is measured of {}."
"""A line at the layers' charts, where a side is an RNN."""
_AS_SAID = {"shape": "as the task asks", "learning_rate": "the experiment's", "warmup": "a tenth of the steps"}
_LONGER = {2: "twice", 4: "four times"}
_NAMED = 3  # switches that tell a side in a sentence; more stand in the line above it


def progress(state: SeedProgress) -> str:
    """Say how much is right by now: "A has 35 % of the texts right so far, B 0 %."; the bar says at which step."""
    (side, share), *others = sorted(state.right.items())
    shares = [f"{side} has {percent(share)} of the texts right so far", *(f"{of} {percent(its)}" for of, its in others)]
    return f"{', '.join(shares)}."


def so_far(run: LabRun, *, step: int, losses: Mapping[str, float], speed: float, left: float) -> str:
    """Say where a training is. losses: in nats; speed: steps a second; left: seconds that the steps left will take."""
    shown = ", ".join(f"{side} {loss:.3f}" for side, loss in losses.items())
    return (
        f"Seed {run.seed}, step {step} of {run.steps}: loss {shown} nats per {unit(run.task)}, {speed:.0f} steps/s, "
        f"{left:.0f} s left"
    )


def estimated(seconds: float) -> str:
    """Say how long a training is expected to take."""
    return f"About {max(1, round(seconds))} s on an idle core, longer on a busy one."


def length(task: Task) -> str:
    """Label the number of symbols in a text."""
    return "Longest block" if task == "repeats" else "Digits in a text"


def title(side: Side, switches: Switches) -> str:
    """Head the switches of a side with what differs from the paper's."""
    return f"**{side}**, {changed(switches) or 'as in the paper'}"


def sides(experiment: Experiment) -> str:
    """Say what A is, and in what B differs: "A is as in the paper. B differs from A: positions none instead of ..."."""
    network = "" if not experiment.a.is_recurrent else f"an {NETWORKS[experiment.a.network]}"
    own = changed(experiment.a, but=("network",) if network else ())
    if network:
        return f"A is {network}{f' with {own}' if own else ''}. {differences(experiment)}"
    return f"A is as in the paper{f', but for {own}' if own else ''}. {differences(experiment)}"


def verdict(result: Verdict) -> str:
    """Say how A and B do: "A (positions sinusoidal) has 100 % of new texts right, B (positions none) 0 %."."""
    (side, tested), *others = sorted(result.sides.items())
    unseen = " of unseen words" if result.task == "kinds" else ""
    clauses = [f"{_named(side, result)} has {percent(tested.texts)} of new texts{unseen} right"]
    clauses += [f"{_named(other, result)} {percent(its.texts)}" for other, its in others]
    return f"{', '.join(clauses)}."


def tests(result: Verdict) -> str:
    """Say of what a verdict is, and what else was tested: single digits, longer texts, the best induction head."""
    fewest, most = result.reached
    reached = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    steps = reached if fewest == result.steps else f"{reached} of {result.steps}"
    after = f"after {steps} {'step' if result.steps == 1 else 'steps'}"
    sentences = [f"The points at the end are tests on {result.tried} new texts {after}{_seeds(result)}."]
    if any(its.texts < 1 for its in result.sides.values()):
        digits = {side: its.digits for side, its in result.sides.items()}
        sentences.append(f"Counted by single {unit(result.task)}s, {_each(digits)} are right.")
    for times, words in _LONGER.items():
        shares = {side: its.longer[times] for side, its in result.sides.items() if times in its.longer}
        if shares:
            sentences.append(f"At {words} the length, {_each(shares)} texts are right.")
            break
    scores = {side: its.induction for side, its in sorted(result.sides.items()) if its.induction is not None}
    if scores:
        (best, score), *rest = scores.items()
        beside = "".join(f", that of {other} {percent(its)}," for other, its in rest)
        sentences.append(
            f"The best head of {best} gives {percent(score)} of its attention{beside} to the token after the earlier "
            "place of the symbol at hand."
        )
    return " ".join(sentences)


def depth(depths: Mapping[Side, Depth]) -> str:
    """Say how the gradient's length goes with depth, how far the inner units drifted and how many are off."""
    sides = sorted(depths.items())
    sentences = [
        f"In {side} the gradient in the first layer is {times(values.first_gradient[0])} as long as in the last before "
        f"training, {times(values.first_gradient[1])} at step {values.step}."
        for side, values in sides
        if values.first_gradient is not None
    ]
    drifts = [f"{values.deviation[0]:.3g} to {values.deviation[1]:.3g} in {side}" for side, values in sides]
    sentences.append(f"The deviation of the last layer's inner units went from {listed(drifts)}.")
    off = [f"{percent(values.off)} of {side}'s" for side, values in sides]
    sentences.append(f"At the end {listed(off)} inner units are below 0 for every token.")
    return " ".join(sentences)


def places(by_side: Mapping[Side, AnswerPlaces], *, task: Task) -> str:
    """Say where in the answer each side is right: "A has the first of 8 digits right in 97 % of the texts, ..."."""
    sentences = []
    for side, digits in sorted(by_side.items()):
        place, share = digits.worst
        if share == 1:
            sentences.append(f"{side} has every one of the {digits.of} {unit(task)}s right.")
            continue
        first = f"the first of {digits.of} {unit(task)}s right in {percent(digits.first)} of the texts"
        worst = (
            f"; the {ordinal(place)} is its worst, right in {percent(share)}" if place > 1 else ", and no other less"
        )
        sentences.append(f"{side} has {first}{worst}.")
    return " ".join(sentences)


def methods(built: int, tried: tuple[int, int]) -> str:
    """Tell score functions from positions and recurrence, which lists of attention methods mix."""
    scores, positions = tried
    return (
        "Lists of attention methods often name scaled dot product, multi-head, relative positions and Transformer-XL "
        "side by side. Only the first is a score: how a query is compared with a key. Heads say how many comparisons "
        "run side by side; positions say what is known of where a token stands, some as a term added to the score; "
        "recurrence says what is passed on, from step to step (an RNN) or from segment to segment (Transformer-XL). "
        f"They are switches of their own here: {scores} scores with {positions} kinds of positions make "
        f"{scores * positions} pairs, of which {built} can be built. Nor does a Transformer ignore places: the paper's "
        "has sinusoidal positions, and the experiment Reverse without positions shows what is lost without them."
    )


def aligned(side: Side, counts: tuple[int, int, int], *, task: Task) -> str:
    """Say where the steps of an RNN look: "In 7 of 8 steps A looks most at the digit that it has to write"."""
    exact, near, steps = counts
    diagonal = "diagonal" if task == "copy" else "anti-diagonal"
    clause = f"In {exact} of {steps} steps {side} looks most at the digit that it has to write"
    return f"{clause}, in {near} at that digit or one beside it. A perfect {diagonal} would be {steps} of {steps}."


def without_a_map(side: Side, run: LabRun) -> str:
    """Say why an RNN without attention has no map."""
    return (
        f"{side} has no attention, so there is no map: one vector of {run.switches.width} numbers, the last state of "
        f"each of the encoder's two directions, carries all {run.length} digits of a trained text, and every step is "
        "given this same vector, as in Cho et al. (2014); Sutskever et al. (2014) give it to the first step alone."
    )


def times(ratio: float) -> str:
    """Write a ratio of three digits, or as a power of ten: "0.35 times", "2e-15 times"."""
    return f"{ratio:.3g} times" if ratio == 0 or 1e-3 <= ratio < 1e4 else f"{ratio:.0e} times"


def measured(task: Task) -> str:
    """Say what the curves are, and what guessing gives."""
    what, count = "kind" if task == "kinds" else unit(task), SYMBOLS[task]
    sentences = (
        f"Loss: cross-entropy, mean over the 10 steps before, in nats per {unit(task)}; naming {what}s at random gives "
        f"ln {count} = {log(count):.2f}. Every text is new, so accuracy is on texts that were never seen."
    )
    if task == "kinds":
        return (
            f"{sentences} Their words were seen, {len(LEARNED)} of ten kinds; the sentence above and the tests below "
            f"are of {len(HELD_OUT)} words that were not. Embeddings are random, or taken from mini-bert's table, "
            "scaled to the size of random ones, and then trained on (taken) or left as they are (frozen)."
        )
    if task != "repeats":
        return sentences
    return (
        f"{sentences} A text is a block of different symbols and the same block again; how long the block is is drawn "
        "anew for each text. Only the second time counts, from its second symbol on. The induction score is the mean "
        "weight on the token after the earlier place of the symbol at hand (Olsson et al. 2022), that of the head with "
        "the largest, on 32 fresh texts."
    )


def tried(task: Task) -> str:
    """Say what the tests of each length are, and what guessing gives."""
    what = "kind" if task == "kinds" else unit(task)
    return (
        f"256 fresh texts of each length, the same for A and B. {what.capitalize()}s named at random are right in "
        f"{100 / SYMBOLS[task]:.3g} % of the places; a text is right when no {what} is wrong."
    )


def unit(task: Task) -> str:
    """Name what a text of a task is made of, in the singular."""
    return {"repeats": "symbol", "kinds": "word"}.get(task, "digit")


def differences(experiment: Experiment) -> str:
    """Name the difference of the two sides in one line: "B differs from A: positions none instead of sinusoidal."."""
    pairs = experiment.differences
    waiting_a, waiting_b = (_waiting(pairs, which) for which in (0, 1))
    parts = [
        f"{NAMES[name]} {_shown(name, b)}" + ("" if name in waiting_a else f" instead of {_shown(name, a)}")
        for name, (a, b) in pairs.items()
        if name not in waiting_b
    ]
    if not parts:
        return "B does not differ from A: the two curves will be the same, number for number."
    return f"B differs from A: {', '.join(parts)}."


def changed(switches: Switches, *, but: Sequence[str] = ()) -> str:
    """Name what differs from the paper's choices, "" where nothing does: "positions rope, dropout 0.1".

    but: names that are told elsewhere.
    """
    usual = vars(Switches())
    own = {name: of for name, of in vars(switches).items() if of != usual[name] and name not in but}
    return ", ".join(f"{NAMES[name]} {_shown(name, of)}" for name, of in own.items())


def waits(network: Network) -> str:
    """Say which switches act in an RNN and which wait; "" for a Transformer, in which all but the cell act."""
    if network == "transformer":
        return ""
    acting = [NAMES[name] for name in RECURRENT[1:]]
    return f"In an RNN act: {listed(acting)}. The grey switches are the Transformer's and wait."


def behind(seeds: int) -> str:
    """Say how many seeds are behind a curve, and which conclusions they allow."""
    if seeds == 1:
        return "One seed: a difference here may be chance. Nothing follows from one run; take more seeds to see."
    return f"{seeds} seeds: thin lines are single seeds, the thick one is their mean. {seeds} are few; mind the range."


def diverged(end: LastReport) -> str:
    """Say that a training's loss became no number, and what follows from it."""
    return (
        f"{end.side}, seed {end.seed}: the loss became {end.loss} at step {end.step}. "
        "The training diverged and ended there; such a network is not tested."
    )


def unfinished(state: UnfinishedTrainings) -> str:
    """Say where the trainings were stopped, and how many did not begin; the tests are of networks stopped there."""
    parts = [f"{end.side}, seed {end.seed}, after step {end.step}" for end in state.stopped]
    sentence = f"Stopped before the end of {state.steps} steps" + (f": {'; '.join(parts)}." if parts else ".")
    return sentence + (f" {state.missing} of {state.trainings} trainings were not begun." if state.missing else "")


def beyond(run: LabRun) -> str:
    """Say what the switches mean for texts longer than the training's texts."""
    longest, what = max(TIMES) * run.length, f"{unit(run.task)}s"
    if run.switches.is_recurrent:
        return (
            f"An RNN has no table of places and can read any length, here up to {longest} {what}; but it was trained "
            f"on {run.length} {what} alone."
        )
    clipped = run.config.relative_distance
    return {
        "learned": f"Rows of the position table beyond {run.length} {what} were never trained: they are as random as "
        "at the start.",
        "sinusoidal": f"The table goes on beyond {run.length} {what}, but these positions were never met in training.",
        "none": "There are no positions, so no length is new in itself.",
        "rope": "Each angle between neighbours is known; larger distances were never met in training.",
        "alibi": "The farther the fainter: the rule goes on by itself at any distance.",
        "t5": "Distances share buckets, farther ones with farther ones; some buckets were never trained.",
        "xl": "Sines and cosines of the distance have a value at any distance, but it was not met in training.",
        "shaw": f"Distances are clipped at {clipped}: beyond it, near and far look the same.",
    }[run.switches.positions] + f" It can read up to {longest} {what} here."


def of_seeds(*, seeds: int) -> str:
    """Say of how many seeds the numbers are."""
    return "one seed" if seeds == 1 else f"{seeds} seeds: the mean, with smallest and largest"


def places_read(*, length: str) -> str:
    """Say which texts the shares are of; length: how long they are."""
    return (
        f"256 fresh texts, {length} as chosen above; means over seeds. A network that writes token by token goes "
        "on from its own mistakes."
    )


def block_of(*, symbols: int) -> str:
    """Say how long the block is that repeats."""
    return f" The block has {symbols} symbols; a dot stands where nothing is asked."


def wrong_marked(*, unit: str, wrong: str, dots: str) -> str:
    """Say how many are wrong; unit: what is counted; dots: the sentence on dots."""
    return f"^ marks a wrong {unit}. Wrong here: {wrong}.{dots}"


def wrong_words(*, wrong: str) -> str:
    """Say how many of the new words are wrong."""
    return f"No training saw these words. Wrong here: {wrong}."


def rows_differ(*, others: str) -> str:
    """Say what a sigmoid's rows sum to."""
    return f"A sigmoid's rows need not sum to 1: {others}"


def maps_read(*, sums: str, segments: str) -> str:
    """Say how the maps are read; sums: what rows sum to; segments: the sentence on segments."""
    return (
        "Row: the token that looks (query). Column: the token it looks at (key); ⊢ and ⊣ are the marks around a text. "
        f"{sums}, no unit; both sides share the colours.{segments}"
    )


def has_heads(*, side: str, layer: int, head: int) -> str:
    """Say which layers and heads a side has."""
    return f"{side} has layers 0 to {layer} and heads 0 to {head}."


EVERY_HEAD = "Every head of {}"


def all_heads(*, sides: str) -> str:
    """Say what the small pictures are."""
    return (
        f"Above are all heads of {sides}, named by layer and head. Each small picture is one "
        "map; its colours go from 0 to 1 by square root."
    )


def _seeds(result: Verdict) -> str:
    counts = {side: its.seeds for side, its in sorted(result.sides.items())}
    if len(set(counts.values())) > 1:
        each = listed([f"{count} {'seed' if count == 1 else 'seeds'} for {side}" for side, count in counts.items()])
        return f" (means of {each})"
    count = next(iter(counts.values()))
    return f", means of {count} seeds" if count > 1 else ""


def _each(shares: Mapping[Side, float]) -> str:
    return listed([f"{percent(share)} of {side}'s" for side, share in sorted(shares.items())])


def _named(side: str, result: Verdict) -> str:
    """A side with what sets it apart, where that is little: "A (positions sinusoidal)"."""
    which = 0 if side == "A" else 1
    waiting = _waiting(result.values, which)
    parts = [
        f"{NAMES[name]} {_shown(name, pair[which])}" for name, pair in result.values.items() if name not in waiting
    ]
    return f"{side} ({listed(parts)})" if 0 < len(parts) <= _NAMED else side


def _waiting(pairs: Mapping[str, tuple[object, object]], which: int) -> frozenset[str]:
    """The switches that do not act on a side, 0 for A and 1 for B, where the two are of different networks."""
    return idle(cast("Network", pairs["network"][which])) if "network" in pairs else frozenset()


def _shown(name: str, of: object) -> str:
    """A switch's value in a sentence: "on", "none", "a tenth"."""
    if of is None and name in _AS_SAID:
        return _AS_SAID[name]
    return {True: "on", False: "off"}[of] if isinstance(of, bool) else value(name, of)
