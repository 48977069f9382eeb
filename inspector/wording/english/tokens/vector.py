"""Sentences of the section A sentence as a vector."""

from __future__ import annotations

from inspector.plots.theme import number
from inspector.readings.tokens.vector import Mixture, Pooled, Ranked
from inspector.wording.english.phrases import percent
from models import Card

TERMS = ("[CLS]", "cosine")
_TRAINED = {
    "minilm": "on pairs of sentences, by the mean",
    "mini-bert": "to guess words",
    "mini-bert-zh": "to guess characters",
}
POOLINGS = {"cls": "[CLS]", "mean": "Mean of all tokens"}


def pooled(found: Pooled, *, model: str) -> str:
    """Say which pooling finds the paraphrases better."""
    if found.cls is None or found.mean is None:
        return (
            f"[CLS] of {model} and the mean of its tokens are two sentence vectors, of cosine "
            f"{number(found.agreement)} here. Write a second sentence to compare."
        )
    better = found.mean.mean - found.cls.mean
    if better < 0:
        verdict = "By mean rank the mean of all tokens is the better sentence vector here"
    elif better > 0:
        verdict = "By mean rank [CLS] is the better sentence vector here"
    else:
        verdict = "[CLS] and the mean of all tokens rank alike here"
    return (
        f"{verdict}: in {model} it puts the paraphrase first for {_first(found.mean, found)}, [CLS] for "
        f"{_first(found.cls, found)}."
        if better < 0
        else f"{verdict}: in {model} [CLS] puts the paraphrase first for {_first(found.cls, found)}, the mean for "
        f"{_first(found.mean, found)}."
    )


def apart(found: Pooled) -> str:
    """Say how far paraphrases stand out of all other pairs, for both poolings."""
    if found.cls is None or found.mean is None or found.cls.apart != found.cls.apart:  # NaN: a single pair
        return ""
    return (
        f"By [CLS] paraphrases have a mean cosine of {number(found.cls.within)} and other pairs "
        f"{number(found.cls.apart)}; by the mean {number(found.mean.within)} and {number(found.mean.apart)}."
    )


def trained_for(card: Card) -> str:
    """Say in a few words what an encoder was trained for."""
    if not card.trained:
        return "not at all"
    return _TRAINED.get(_base(card.id), "see its card")


def training(model: str) -> str:
    """Say what the model was trained for, where that is known."""
    known = {
        "minilm": "MiniLM was trained on pairs of sentences, by the mean: its [CLS] was not asked to stand for them.",
        "mini-bert": "mini-BERT guesses words and never saw a pair: neither vector was trained for sentences.",
        "mini-bert-zh": "This model guesses characters and never saw a pair: neither vector was trained for sentences.",
    }
    return (
        f"{known.get(_base(model), '')} BERT trained its [CLS] to tell whether one sentence follows another (Devlin et "
        "al. 2019, section 3.1), not to sum one up: used as it is, it does worse than the mean, 29.2 against 54.8 in "
        "Spearman's ρ · 100 over seven tests of similarity; trained for them, [CLS] comes close to the mean (Reimers & "
        "Gurevych 2019, tables 1 and 6)."
    ).strip()


def _base(model: str) -> str:
    return model.partition("?")[0].removesuffix("-own")


def mixture(found: Mixture) -> str:
    """Say whether the last state of [CLS] is a weighted average of the other tokens."""
    own = (
        ""
        if found.own is None
        else f" After attention {percent(found.own)} of its state is its own, mean over layers: the residual stream "
        "carries it past."
    )
    return (
        f"**[CLS] is more than a weighted average of the others.** It gives {percent(found.itself)} of its attention "
        f"to itself, mean over layers (layer {found.layer}: {percent(found.most)}), and {percent(found.text)} to the "
        f"text.{own} The weighted average of the other last states that comes nearest to its own still misses it by "
        f"{percent(found.miss)} of its length (zero would miss by 100 %; cosine {number(found.cosine)}); for the other "
        f"tokens the nearest average misses by {percent(found.others)}."
    )


def _first(ranked: Ranked, found: Pooled) -> str:
    return f"{ranked.first} of {found.sentences} sentences (mean rank {number(ranked.mean)})"
