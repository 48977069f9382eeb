"""Words of the page Training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, inf, log

from inspector.text import number, plain, quantity
from inspector.wording.english.phrases import DO

ASKS = "What to see of the training"
HEADS, LOSS, TRAINED = "Heads as they learned", "Loss", "What was trained"
PLAIN = tuple(label for label in DO if label != "broad")
"""Labels of heads that follow one plain pattern; where a training begins, heads spread their attention broadly."""
RUN, SENTENCE, STREAM, LAYER, HEAD, MEASURE, STEP = (
    "Trained model",
    "Sentence",
    "Stream",
    "Layer",
    "Head",
    "Measure",
    "Step",
)
TERMS = ("valid loss", "perplexity")


def none_tells(folder: str) -> str:
    """Say that no model tells of its training, and how to train one."""
    return f"No model in {folder} tells of its training. Train one: python -m models.train --help."


def fall(*, first: tuple[int, float], last: tuple[int, float]) -> str:
    """Say how the valid loss changed, and between how many equally likely tokens a model wavers that has it.

    first, last: the steps of the first and the last measurement, with the loss in nats a token.
    """
    (_, before), (_, after) = first, last
    among, then = (number(perplexity(loss)) for loss in (before, after))
    began, ended = number(before), number(after)
    if began == ended:
        return (
            f"The valid loss {'is' if first == last else 'stayed at'} {ended} nats a token: the model wavers between "
            f"{then} equally likely tokens."
        )
    learned = "learned" if after < before else "lost what it knew"
    return (
        f"The model {learned}: its valid loss {'fell' if after < before else 'rose'} from {began} to {ended} nats a "
        f"token. At first it wavered between {among} equally likely tokens, at the end between {then}."
    )


def perplexity(loss: float) -> float:
    """Return the number of equally likely tokens that are as hard to guess; infinite for a huge loss."""
    try:
        return exp(loss)
    except OverflowError:
        return inf


# --- the replay -------------------------------------------------------------------------------------------------------

TARGET = "Target:"
HEADS_LABEL, HEADS_FILE = "Heads, CSV", "Every measure of every head at every moment, of this sentence and stream"
MAPS_LABEL, MAPS_FILE = (
    "Maps, NPZ",
    "All maps of this sentence: numpy.load() gives STREAM.LAYER [moment, head, query, key], float16",
)
METRICS_LABEL, METRICS = (
    "Metrics, CSV",
    "Losses, accuracy, learning rate, gradient norm, speed: the training's own file",
)
GRID = "Rows are layers, columns heads. Click one to open it."
GRID_ALT = "A small map of every head at this step: rows are layers, columns heads"
MAPS_ALT = "The maps of the open head, at this step and at the end"
NOW, END = "Now", "At the end"
LABELS = (
    "previous, next, self: over 0.5 of the weight goes there; first, [CLS], [SEP]: over 0.6; broad: high "
    "entropy; several patterns: none of these. Entropy: -Σ A ln A, mean over queries, 0 where each looks at one "
    "token."
)
MEANS = "Means over the queries, as on the page Attention; the file has half precision, so they hold to 0.001."
INDUCTION = "Induction score by step"
INDUCTION_ALT = "A row for each head, a column for each step: the head's score on random repeats"
ABOUT_INDUCTION = (
    "A block of 32 random tokens, read twice: the mean weight that a head gives, from a token of the second time, "
    "to the token after its first place, which is the one that comes next (Olsson et al. 2022). 0 is none of the "
    "weight, 1 all of it; the tokens are drawn alike from all of the vocabulary but special tokens and bytes."
)
SIZES = "Size of the matrices"
SIZES_ALT = "A row for each matrix, a column for each step: how often the matrix has doubled since the start"
ABOUT_SIZES = (
    r"How large each matrix is beside its random start, $\log_2(\|W_t\| / \|W_0\|)$ with "
    r"$\|W\| = \sqrt{\sum W_{ij}^2}$: 0 is as large, 1 twice as large, −1 half as large."
)


def step_of(last: int) -> str:
    """Name the choice of a step."""
    return f"Step, of {last:,}"


def moment(*, step: int, last: int, now: Mapping[str, int], end: Mapping[str, int], opened: str = "") -> str:
    """Say how many heads of a stream follow one plain pattern at a step and at the last, and which is the commonest.

    now, end: label of `heads.label` -> number of heads. opened: of several that are as common, the label that is named.
    """
    before, after = (sum(counts.get(label, 0) for label in PLAIN) for counts in (now, end))
    commonest = max(PLAIN, key=lambda label: (end.get(label, 0), label == opened))
    one, several = DO[commonest]
    most = "" if not after else f": it {one}" if after == 1 else f", and the commonest is to {several}"
    if step == last:
        return f"At the end, step {last:,}, {_plain(after)}{most.format(commonest)}."
    does = "does" if after == 1 else "do"
    then = f"{after or 'none'} {does}{most.format(commonest)}"
    return f"At step {step:,}, {_plain(before)}; at the end {then}."


def _plain(count: int) -> str:
    return f"{count or 'no'} head{'' if count < 2 else 's'} follow{'s' if count < 2 else ''} one plain pattern"


def of_head(layer: int, head: int, *, labels: tuple[str, str], entropies: tuple[float, float]) -> str:
    """Say what a head mostly does, and how widely it looks, at a moment and at the end."""
    now, end = ("several patterns" if label == "other" else plain(label) for label in labels)
    return (
        f"**Layer {layer}, head {head}**: {now} now, {end} at the "
        f"end; entropy {number(entropies[0])} nats now, {number(entropies[1])} at the end."
    )


def layer(number: int) -> str:
    """Name a layer beside its row."""
    return f"layer {number}"


def every_head(name: str, stream: str, *, step: int) -> str:
    """Name the picture of all heads."""
    return f"{name}: every head of the {stream} at step {step:,}"


def at_step(step: int) -> str:
    """Name a moment."""
    return f"step {step:,}"


def at_end(step: int) -> str:
    """Name the last moment."""
    return f"the end, step {step:,}"


def head_at(layer: int, head: int, when: str) -> str:
    """Name a head's map."""
    return f"Layer {layer}, head {head} at {when}"


def head_of(name: str, layer: int, head: int, when: str) -> str:
    """Name a head's map in a file."""
    return f"{name}: layer {layer}, head {head} at {when}"


def softmax(width: int | None, *, top: float, decoder: bool) -> str:
    """Write what the maps show. width: of a head, None where unknown; top: the end of the colour scale."""
    known = "" if width is None else f" with $d_k$ = {width}"
    named = " A row is named by the token read and the token predicted (→)." if decoder else ""
    return (
        rf"$A = \mathrm{{softmax}}(QK^\top / \sqrt{{d_k}})${known}: row = query, column = key, each row sums to 1, no "
        f"unit; both on one colour scale, 0 to {top:.3g}.{named}"
    )


def as_learned(layer: int) -> str:
    """Name the figure of a layer's heads by step."""
    return f"The heads of layer {layer} as they learned"


def measure_alt(measure: str, layer: int) -> str:
    """Tell what the figure of a layer's heads shows."""
    return f"{measure} of every head of layer {layer} at every moment"


def grown(*, most: tuple[str, float], least: tuple[str, float]) -> str:
    """Say how much the matrices grew; most, least: a matrix's name, with its size over the size at the start."""
    (name, times), (smallest, factor) = most, least
    if number(factor) == number(times):
        return f"By the end every matrix has {number(times)} times the size that it began with."
    return (
        f"By the end the matrices have between {number(factor)} ({smallest}) and {number(times)} times ({name}) the "
        "size that they began with."
    )


# --- curves -----------------------------------------------------------------------------------------------------------

CURVES, LOGARITHMIC = "Loss, accuracy and gradient by step", "Logarithmic steps"
CURVES_ALT = "training and valid loss, valid accuracy and gradient norm by step"
RATES = "Learning rate by step"
_DECAYS = {
    "linear": r"{peak}\left(1 - \frac{{t - {warmup}}}{{{steps} - {warmup}}}\right)",
    "cosine": r"\frac{{{peak}}}{{2}}\left(1 + \cos \pi\frac{{t - {warmup}}}{{{steps} - {warmup}}}\right)",
    "noam": r"{peak}\sqrt{{{warmup} / t}}",
    "late": r"{peak}\min\left(1, \frac{{{steps} - t}}{{{steps} - {constant}}}\right)",
}


def explained(
    *,
    masked: bool,
    dropout: float | None,
    smoothing: float,
    least: float,
    valid: Sequence[tuple[int, float]],
    vocabulary: int | None,
) -> list[str]:
    """Explain the curves in sentences, with their numbers.

    masked: tokens behind a mask were learned, else the next token. dropout: None where the recipe is not known; least:
    the least loss under label smoothing. valid: the first and the last valid loss with their steps.
    """
    sentences = [
        r"Loss: the mean of $-\ln p$, in nats a token, where $p$ is what the model gives to the true "
        + ("token behind each mask." if masked else "next token.")
    ]
    if dropout is not None:
        harder = [f"with dropout {dropout:g}"] if dropout else []
        if smoothing:
            harder.append(f"with label smoothing e = {smoothing:g}, which keeps it above {number(least)}")
        made = f" is measured while it learns, {' and '.join(harder)}" if harder else " is measured while it learns"
        sentences.append(f"The training loss{made}; the valid loss on text that it never learned from, nothing added.")
    if valid:
        first, last = (f"$e^{{{loss:.5g}}}$ = {number(perplexity(loss))} at step {step:,}" for step, loss in valid)
        sentences.append(
            rf"Perplexity is $e^{{\mathrm{{loss}}}}$, valid {first} and {last}: "
            "as unsure as among so many equally likely tokens."
        )
    if vocabulary:
        nats = number(log(vocabulary))
        sentences.append(rf"A uniform guess among all $V$ = {vocabulary:,} tokens has $\ln V$ = {nats} nats.")
    return sentences


def no_recipe(name: str) -> str:
    """Say why no learning rate is drawn."""
    return f"models/training/recipes.py has no recipe {plain(name)}, so its learning rate is not drawn."


def schedule(decay: str, *, peak: float, warmup: int, steps: int, constant: int) -> str:
    """Write the learning rate of a recipe with its numbers; constant: the last step before a late decay."""
    formula = _DECAYS[decay].format(peak=f"{peak:g}", warmup=warmup, steps=steps, constant=constant)
    return (
        "How far a step moves the weights. It rises in a warm-up, while the gradients of random weights are still "
        "rough, and falls so that the weights come to rest. "
        rf"$\eta_t = {peak:g} \cdot t / {warmup}$ up to step {warmup}, then "
        rf"$\eta_t = {formula}$ ({decay}) to step {steps:,}."
    )


def rates_alt(decay: str) -> str:
    """Tell what the figure of learning rates shows."""
    return f"learning rate by step, {decay} decay after a warm-up, beside the other decays"


def rates_fit(points: int, *, off: float) -> str:
    """Say that the measured rates are the recipe's."""
    return f"The {points} measured points lie on the formula: the largest difference is {off:.1e}."


def other_rates(name: str) -> str:
    """Say that the measured rates are of another recipe."""
    return (
        f"The measured rates are not those of this recipe: models/training/recipes.py was changed after "
        f"{name} was trained. Its card, under {TRAINED}, has the recipe that it was trained by."
    )


# --- what was trained -------------------------------------------------------------------------------------------------

CARD = "The model's card: data, recipe, scores, limits"


def made(*, steps: int, seconds: float) -> str:
    """Say what it took to make a model."""
    return f"One training made this model: {steps:,} steps in {number(seconds / 60)} minutes."


def numbers(
    *, parameters: int | None, steps: int | None, seconds: float | None, loss: float | None, seed: int | None
) -> list[tuple[str, str, str]]:
    """Name, write and explain the numbers of a training; None for what is not known. loss: the last valid loss."""
    entries = []
    if parameters is not None:
        entries.append(("Parameters", quantity(parameters), f"{parameters:,} numbers were learned"))
    if steps is not None and seconds is not None:
        entries += [
            ("Steps", f"{steps:,}", "Each step reads a batch and moves every weight a little"),
            ("Time", f"{number(seconds / 60)} min", f"{seconds:,.0f} s, interruptions left out"),
        ]
    if loss is not None:
        entries.append(("Perplexity", number(perplexity(loss)), f"At the end, valid split: e^{loss:.5g}"))
    return [*entries, ("Seeds", "1", f"One training, one seed{_seed(seed)}")]


def data(lines: Sequence[str], *, hardware: str) -> str:
    """Say which data a model learned from, and on which machine."""
    return without_formulas(f"Data: {'; '.join(lines)}. Hardware: {hardware}")


def without_formulas(text: str) -> str:
    """Write Markdown of a card with its dollars as dollars."""
    return text.replace("$", r"\$")


def one_seed(seed: int | None) -> str:
    """Say what a single training does not prove."""
    return (
        f"**One training, one seed{_seed(seed)}**: with other random numbers every curve here would run a little "
        "differently, and a curve of one seed proves nothing about another choice of recipe."
    )


def _seed(seed: int | None) -> str:
    return "" if seed is None else f" ({seed})"
