"""Experiments that are ready to be taken: each asks one question, and says what three seeds answered."""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.training.experiments import Experiment, Switches

PAPER = Switches()


@dataclass(frozen=True)
class Preset:
    """An experiment, its question, and its answer: shares are means over seeds 0, 1 and 2 on one core."""

    name: str
    question: str
    measured: str
    experiment: Experiment


_REPEATS = Switches(positions="rope", norm_placement="pre")
INDUCTION = Preset(
    "An induction head is born: one layer or two",
    "A block of random symbols is followed by itself. Can one layer find out how it goes on, or does it take two?",
    "It takes two, as Olsson et al. (2022) found: one head tells each token what stood before it, and a head in a "
    "later layer looks for the symbol at hand there. With two layers 99% of the symbols of the second time are right "
    "after 500 steps, and the best head of the second layer gives 82% to 87% of its attention to the token after the "
    "symbol's earlier place. It comes late and fast: half of the symbols are right only at step 250 to 260. With one "
    "layer 22% to 23% are right, and no head gives that token more than 17%. Four times as long, two layers fail as "
    "well (9% to 10%): such distances were never met.",
    Experiment(
        task="repeats",
        length=16,
        steps=500,
        learning_rate=0.003,
        a=_REPEATS,
        b=replace(_REPEATS, layers=1),
    ),
)
PRESETS = (
    Preset(
        "Reverse without positions",
        "Can a Transformer turn a text around when nothing tells it where a digit stands?",
        "At most the digits that stand in a text can be known, not their order: an encoder without positions gives "
        "equal digits equal answers wherever they stand. With sinusoidal positions 100% of the texts are right from "
        "about step 110 on. Without positions 31% of the digits and 0% of the texts are right, and more steps do "
        "not help. At twice the length both fail (13% and 23% of the digits are right): what was learned is a fixed "
        "pattern of 8 places.",
        Experiment(task="reverse", a=PAPER, b=Switches(positions="none")),
    ),
    INDUCTION,
    Preset(
        "Copy without positions",
        "And can it copy without positions?",
        "Yes: each digit already stands in its place, and the residual stream carries it there. 100% of the texts "
        "are right with and without positions, at all three lengths. Copying needs no attention at all.",
        Experiment(task="copy", a=PAPER, b=Switches(positions="none")),
    ),
    Preset(
        "Scaled or not",
        "What does dividing the scores by the root of the head width change?",
        "With one head of width 48, scores without the factor are about 7 times as large, so the softmax starts "
        "near one-hot and little gradient passes. With the scale 98% of the texts were sorted after 300 steps, "
        "without it 42%: it learns, only later. With four heads of width 12 the difference is small: 99% and 98%.",
        Experiment(task="sort", a=Switches(heads=1), b=Switches(heads=1, scale="none")),
    ),
    Preset(
        "Pre or post norm",
        "Does a deep network learn sooner with the norm before each sublayer than after it?",
        "Both learned everything in 200 steps, with 8 layers and a high learning rate: 99% to 100% of the texts are "
        "right. Pre-norm was sooner: half of the texts were right after about 80 steps, with post-norm after about "
        "130. At a learning rate of 0.002, or with 6 layers on sorting, there was less or nothing to see of it. A "
        "post-norm network that fails to learn, as large ones do, does not show at this size.",
        Experiment(steps=200, learning_rate=0.01, a=Switches(layers=8), b=Switches(layers=8, norm_placement="pre")),
    ),
    Preset(
        "Tied Q and K",
        "Can a head that asks and answers with the same matrix still look elsewhere?",
        "Yes: tied scores are symmetric before the softmax, but positions still tell the places apart. Both end "
        "with 100% of the texts right; with tied Q and K it takes a little longer (half of the texts are right "
        "after 127 steps instead of 113). At this size tying costs little.",
        Experiment(task="reverse", a=PAPER, b=Switches(shared_query_key=True)),
    ),
    Preset(
        "Additive or dot",
        "Does a small network inside the score learn more than a dot product?",
        "Not here: after 300 steps the dot product is right in 100% of the texts, the additive score in 72% (51% "
        "to 100%), and its step takes about twice the time. With 600 steps both reach 100%.",
        Experiment(task="reverse", a=PAPER, b=Switches(score="additive")),
    ),
    Preset(
        "Residual off",
        "How hard is it to copy, the simplest task of all, when each layer must pass everything on itself?",
        "Very hard: with the residual all texts are right within 50 steps. Without it, four layers deep, 29% of the "
        "digits and 0% of the texts are right: attention mixes the tokens and nothing brings the single one back "
        "(Dong et al. 2021). Two layers still learn it, a little later.",
        Experiment(task="copy", a=Switches(layers=4), b=Switches(layers=4, residual=False)),
    ),
    Preset(
        "Longer texts: sinusoidal or ALiBi",
        "Trained on 8 digits, which of the two can still sort 16?",
        "With sinusoidal positions 24% of the digits of 16 are right, where 8 are sorted almost without a mistake: "
        "such places were never met. With ALiBi 80% of the digits are right, but only 4% of the texts, and at 32 "
        "digits 46% of the digits. Its rule goes on at any distance, yet it is no exact sorter. On reverse ALiBi "
        "fails even at 8 digits (32% are right): its distances have no direction.",
        Experiment(task="sort", a=PAPER, b=Switches(positions="alibi")),
    ),
    Preset(
        "Longer texts: learned or RoPE",
        "Trained on 8 digits, which of the two can still sort 16?",
        "Neither: 21% and 38% of the digits are right, and 0% of the texts. Learned rows beyond the trained length "
        "are random; RoPE turns on, but to angles that were never met, and at 32 digits (6% are right) it is worse "
        "than guessing.",
        Experiment(task="sort", a=Switches(positions="learned"), b=Switches(positions="rope")),
    ),
)
