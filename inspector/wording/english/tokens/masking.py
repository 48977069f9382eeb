"""Sentences of the section Masking."""

from __future__ import annotations

from inspector.plots.theme import number
from inspector.readings.tokens.masking import Masking, Rated
from inspector.wording import token
from inspector.wording.english.phrases import listed, percent

TERMS = ("token", "probability")
FATES = {"masked": "[MASK]", "random": "a random token", "kept": "stays"}
_LISTED = 4  # tokens that are named one by one
_CHANCE = 3.3  # standard deviations: binomial counts are within them 999 times of 1,000


def masking(found: Masking) -> str:
    """Say what one draw chose and how the guesses fare, and the shares of many draws."""
    chosen = len(found.fates)
    said = f"At {percent(found.rate)} this draw chose {chosen} of {found.tokens} tokens: {_fates(found)}."
    guess = "The model's first guess is right for all of them." if found.right == chosen > 1 else ""
    guess = guess or (
        f"The model's first guess is {'right' if found.right else 'wrong'}."
        if chosen == 1
        else f"The model's first guess is right for {found.right or 'none'} of them."
    )
    return f"{said} {guess}"


def shares(found: Masking) -> str:
    """Say what becomes of many tokens, and whether chance explains how far that is from the rule."""
    masked, random, kept = (f"{number(100 * share)} %" for share in found.shares)
    rules = listed([f"{number(100 * rule)}" for rule in found.rules])
    said = (
        f"Of {found.draws:,} tokens drawn so, **{masked}** became [MASK], **{random}** another token, and **{kept}** "
        f"were chosen and stayed; the rule asks for {rules} %."
    )
    if found.away <= _CHANCE:
        return f"{said} None is farther off than {number(found.away)} standard deviations: chance explains it."
    return f"{said} The farthest is {number(found.away)} standard deviations off, which chance hardly explains."


def rated(found: Rated, *, model: str) -> str:
    """Say how the guesses fare by rate, and what that does not show."""
    (low, good, _), (high, poor, _) = found.first, found.last
    if found.differs:
        said = (
            f"With {percent(low)} of the tokens chosen the first guess is right for **{percent(good)}**, with "
            f"{percent(high)} for **{percent(poor)}**: "
        )
        said += (
            "the more is hidden, the less is left to guess from." if good > poor else "here more hidden tokens help."
        )
    else:
        said = (
            f"With {percent(low)} of the tokens chosen the first guess is right for {percent(good)}, with "
            f"{percent(high)} for {percent(poor)}: a difference that chance explains at so few draws of this text."
        )
    return f"{said} **That does not say which rate is best.** {_trained(found.trained, model=model)}"


def _trained(rate: float | None, *, model: str) -> str:
    where = (
        f"At which rate {model} was trained its files do not say"
        if rate is None
        else f"{model} was trained at {percent(rate)}"
    )
    return (
        f"{where}, and this curve tests it at others. The rate of training is a choice found by trying: BERT's 15 % "
        "(Devlin et al. 2019) is no law, and large models trained at 40 % came out better (Wettig et al. 2023): a "
        "higher rate leaves less to guess from, but gives more guesses to learn from in each step."
    )


def fates(found: Rated) -> str:
    """Say why some chosen tokens are not hidden."""
    if found.kept != found.kept or found.masked != found.masked:  # NaN: none was drawn
        return ""
    return (
        f"Chosen tokens that stay are guessed right {percent(found.kept)} of the time, those read as [MASK] "
        f"{percent(found.masked)}. They are in the loss so that the model keeps a state of each word that it sees, for "
        "no text that it meets later has a [MASK]."
    )


def _fates(found: Masking) -> str:
    if len(found.fates) > _LISTED:
        counts = {name: sum(fate == one for _, one, _ in found.fates) for fate, name in FATES.items()}
        return (
            f"{counts['[MASK]']} {'is' if counts['[MASK]'] == 1 else 'are'} read as [MASK], "
            f"{counts['a random token']} as a random token, {counts['stays']} as "
            f"{'it is' if counts['stays'] == 1 else 'they are'}"
        )
    masked, random, kept = (
        [(token(true), token(read)) for true, fate, read in found.fates if fate == one] for one in FATES
    )
    parts = []
    if masked:
        parts.append(f"{listed([true for true, _ in masked])} {'is' if len(masked) == 1 else 'are'} read as [MASK]")
    parts += [f"{true} {'' if masked or at else 'is read '}as {read}" for at, (true, read) in enumerate(random)]
    if kept:
        parts.append(f"{listed([true for true, _ in kept])} {'stays' if len(kept) == 1 else 'stay'}")
    return listed(parts)
