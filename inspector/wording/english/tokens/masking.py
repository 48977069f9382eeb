"""Sentences of the section Masking."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.text import number, token
from inspector.wording.english.phrases import listed, percent

MASKING = "Masking"
MASKED, MASKED_INSTEAD = "Masking the text", "Change the text, or choose another model."
CANNOT = "guesses no hidden words"
CHOSEN, SEED, AGAIN = "Chosen, %", "Seed", "Draw again"
BY_RATE, GUESSING, DRAW = "From 5 to 50 %", "Guessing hidden tokens", "draw"
GUESSES, LOSSES = {"top1": "first guess", "top5": "within five"}, {"loss": "loss"}
RIGHT_BY_RATE, SHARE_RIGHT, GUESSED = "Guessed right by rate", "share guessed right", "tokens guessed"
LOSS_BY_RATE, NATS = "Loss by rate", "loss, nats per chosen token"
SHARE_CHOSEN, TRAINED_AT = "share of the tokens that is chosen", "trained at"
ACCURACY_ALT, LOSS_ALT = "share of chosen tokens guessed right by rate", "loss of chosen tokens by rate"
DRAWN_ALT = "the text token by token: which are chosen, what is read there, and the first guess with its probability"
ASK, AT_EVERY_RATE = (
    "The text is read some hundred times with other tokens hidden, which takes some seconds, and a large model longer.",
    "Guess at every rate",
)
BY_FATE = "By what is read there"
TERMS = ("token", "probability")
FATES = {"masked": "[MASK]", "random": "a random token", "kept": "stays"}
FRAMES = "Filled: read as [MASK]; dashed: as a random token; plain frame: as it is."
RULE = "The 80/10/10 rule, on many tokens"
ALL_CHOSEN = "all chosen"
_LISTED = 4  # tokens that are named one by one
_CHANCE = 3.3  # standard deviations: binomial counts are within them 999 times of 1,000


def masking(
    *,
    rate: float,
    tokens: int,
    by_chance: bool,
    none: float,
    fates: Sequence[tuple[str, str, str]],
    right: int,
    sure: float,
    model: str,
) -> str:
    """Say how the guesses of one draw fare, and what it chose.

    tokens: how many can be chosen; by_chance: False where chance chose none, and the first was taken; none: the share
    of draws in which chance chooses none. fates: (token, fate, token read in its place) of the chosen tokens. right:
    how many of them the first guess has right; sure: the probability of the first one's guess.
    """
    chosen = len(fates)
    only = f"{'guesses' if right else 'misses'} the only one, at {percent(sure)}"
    guessed = only if chosen == 1 else f"guesses {right or 'none'} of {chosen}"
    sentence = f"BERT learns by guessing hidden words: here {model} {guessed}."
    told = f": {_fates(fates)}" if chosen <= _LISTED else ""
    if by_chance:
        return f"{sentence} At {percent(rate)} chance chose {'it' if chosen == 1 else 'them'} of {tokens} tokens{told}."
    return (
        f"{sentence} At {percent(rate)} chance chose none of {tokens} tokens, as in {percent(none)} of draws, so the "
        f"first is taken{told}."
    )


def drawn_of(drawn: int, tokens: int) -> str:
    """Say how much of a long text is drawn."""
    return f"The first {drawn} of {tokens} tokens are drawn; the CSV in the figure's menu has all."


def shares(*, shares: Sequence[float], rules: Sequence[float], away: float, draws: int) -> str:
    """Say what becomes of many tokens, and whether chance explains how far that is from the rule.

    shares, rules: the share of each fate, as counted and by the rule. away: the distance of the farthest share from the
    rule, in standard deviations; draws: the number of tokens drawn.
    """
    masked, random, unchanged = (f"{number(100 * share)} %" for share in shares)
    asked = listed([f"{number(100 * rule)}" for rule in rules])
    sentence = (
        f"Of {draws:,} tokens drawn so, **{masked}** became [MASK], **{random}** another token, and **{unchanged}** "
        f"were chosen and stayed; the rule asks for {asked} %."
    )
    if away <= _CHANCE:
        return f"{sentence} None is farther off than {number(away)} standard deviations: chance explains it."
    return f"{sentence} The farthest is {number(away)} standard deviations off, which chance hardly explains."


def rule(rate: float, *, draws: int, seed: int) -> str:
    """Write the rule with its numbers filled in; draws: how many tokens were drawn."""
    return (
        f"The rule of Devlin et al. 2019 (3.1): each token is chosen with r = {rate:.0%}; of the chosen 80 % are read "
        f"as [MASK], 10 % as a random token, 10 % as they are: 0.8 · {100 * rate:g} = {80 * rate:.3g} %, 0.1 · "
        f"{100 * rate:g} = {10 * rate:.3g} % and {10 * rate:.3g} % of all tokens. The text's own tokens are drawn over "
        f"and over, {draws:,} of them with seed {seed}, by the function that masked the texts when mini-BERT "
        "was trained."
    )


def rated(
    *, low: tuple[float, float], high: tuple[float, float], differs: bool, trained: float | None, model: str
) -> str:
    """Say how the guesses fare by rate, and that this does not tell which rate is best.

    low, high: the lowest and the highest rate, each with the share of tokens that the first guess has right. differs:
    the shares are farther apart than chance explains. trained: the rate of training.
    """
    (least, good), (most, poor) = low, high
    if differs:
        sentence = (
            f"With {percent(least)} of the tokens chosen the first guess is right for **{percent(good)}**, with "
            f"{percent(most)} for **{percent(poor)}**: "
        )
        sentence += (
            "the more is hidden, the less is left to guess from." if good > poor else "here more hidden tokens help."
        )
    else:
        sentence = (
            f"With {percent(least)} of the tokens chosen the first guess is right for {percent(good)}, with "
            f"{percent(most)} for {percent(poor)}: a difference that chance explains at so few draws of this text."
        )
    return f"{sentence} **That does not say which rate is best.** {_trained(trained, model=model)}"


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


def fates(*, masked: float, unchanged: float) -> str:
    """Say why some chosen tokens are not hidden; masked, unchanged: the shares guessed right, NaN for no draw."""
    if unchanged != unchanged or masked != masked:
        return ""
    return (
        f"Chosen tokens that stay are guessed right {percent(unchanged)} of the time, those read as [MASK] "
        f"{percent(masked)}. They are in the loss so that the model keeps a state of each word that it sees, for "
        "no text that it meets later has a [MASK]."
    )


def draws(*, fewest: int, most: int, tokens: int, lowest: float, share: float) -> str:
    """Say how many draws a curve is made of.

    fewest, most: draws of a rate; tokens: guessed in all. lowest: the lowest rate, and the share that chance chose.
    """
    return (
        f"All chosen tokens of {fewest} to {most} draws at each rate, together "
        f"{tokens:,} tokens, under the 80/10/10 rule. A draw that chooses none adds none: at "
        f"{lowest:.0%} chance chose {100 * share:.3g} % of the tokens. Bars: two "
        "standard errors over draws, on this one text. Another text gives another curve, and a text that the model "
        "learned from is easier than any other. "
        "Loss: mean of −ln p of the true token."
    )


def _fates(fates: Sequence[tuple[str, str, str]]) -> str:
    masked, random, unchanged = (
        [(token(true), token(read)) for true, fate, read in fates if fate == chosen_fate] for chosen_fate in FATES
    )
    parts = []
    if masked:
        parts.append(f"{listed([true for true, _ in masked])} {'is' if len(masked) == 1 else 'are'} read as [MASK]")
    parts += [f"{true} {'' if masked or at else 'is read '}as {read}" for at, (true, read) in enumerate(random)]
    if unchanged:
        parts.append(f"{listed([true for true, _ in unchanged])} {'stays' if len(unchanged) == 1 else 'stay'}")
    return listed(parts)
