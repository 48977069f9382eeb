"""One draw of BERT's masking on a text, and the shares of many (Devlin et al. 2019, 3.1 and appendix A.1).

Each token is chosen with the rate r. 80 % of the chosen tokens are read as [MASK], 10 % as a random token and 10 % as
they are; the model has to predict all of them. So of all tokens 0.8 r become [MASK], 0.1 r another token, and 0.1 r
stay.

Shapes: T tokens of the text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal, get_args

import pandas as pd
import torch
from torch import Tensor

from inspector.interventions.change import again, inputs_of
from inspector.interventions.guesses import TOP, Guess, guesses
from inspector.trace import Trace
from models import LoadedModel
from models.tokenizers import Encoding, substituted
from models.training.objectives import IGNORED, SHARE_MASKED, SHARE_RANDOM, Vocabulary, hide
from models.training.recipes import RECIPES

Fate = Literal["masked", "random", "kept"]
FATES: tuple[Fate, ...] = get_args(Fate)
OF_CHOSEN: dict[Fate, float] = {
    "masked": SHARE_MASKED,
    "random": SHARE_RANDOM,
    "kept": 1 - SHARE_MASKED - SHARE_RANDOM,
}
DRAWS = 100_000  # tokens


@dataclass(frozen=True)
class ChosenToken:
    """A token that is to be predicted.

    fate: what it is read as; read: that token; guess: the model's, rated by the true token.
    """

    position: int
    token: str
    fate: Fate
    read: str
    guess: Guess


@dataclass(frozen=True, eq=False)
class MaskingDraw:
    """One draw on a text: its tokens [T], the tokens that can be chosen, and the chosen ones.

    by_chance: False where chance chose none, and the first token was taken, so that there is one to guess.
    """

    tokens: tuple[str, ...]
    choosable: tuple[int, ...]
    chosen: tuple[ChosenToken, ...]
    rate: float
    seed: int
    by_chance: bool

    @property
    def right(self) -> int:
        """The count of tokens that the model's first guess has right."""
        return sum(choice.guess.rank == 1 for choice in self.chosen)

    @property
    def table(self) -> pd.DataFrame:
        """The chosen tokens, a row each: position, token, fate, read, the first guess, and the true token's rating.

        Columns: guess, guess_probability; true_rank, true_probability.
        """
        rows = [
            (
                choice.position,
                choice.token,
                choice.fate,
                choice.read,
                *choice.guess.top[0],
                choice.guess.rank,
                choice.guess.probability,
            )
            for choice in self.chosen
        ]
        columns = ["position", "token", "fate", "read", "guess", "guess_probability"]
        return pd.DataFrame(rows, columns=[*columns, "true_rank", "true_probability"])


def draw(loaded: LoadedModel, trace: Trace, *, rate: float, seed: int) -> MaskingDraw:
    """Draw once on a recorded text, read it so, and have the model guess each chosen token.

    Where chance chooses no token the first is chosen, as training does for a batch. Raises ValueError for a rate that
    is not above 0 and at most 1, a model that guesses no hidden tokens, and a text without a token to choose.
    """
    encoding = trace.encoding
    places = choosable(loaded, encoding)
    ids, labels = hidden(loaded, encoding, rate=rate, seed=seed, rows=1, at_least_one=False)
    by_chance = bool((labels != IGNORED).any())
    if not by_chance:
        ids, labels = hidden(loaded, encoding, rate=rate, seed=seed, rows=1)
    read = {place: int(ids[0, place]) for place in places if int(labels[0, place]) != IGNORED}
    changed = substituted(loaded.tokenizer, encoding, read)
    after = again(loaded, trace, replace(inputs_of(trace), encoding=changed))
    guessed = guesses(loaded, after, [(place, encoding.ids[place]) for place in read], top=TOP)
    fates = fates_of(loaded, torch.tensor([encoding.ids]), ids)
    chosen = tuple(
        ChosenToken(guess.position, encoding.tokens[guess.position], FATES[int(fates[0, guess.position])], name, guess)
        for guess, name in zip(guessed, (changed.tokens[place] for place in read), strict=True)
    )
    return MaskingDraw(encoding.tokens, places, chosen, rate, seed, by_chance)


def shares(loaded: LoadedModel, encoding: Encoding, *, rate: float, seed: int, draws: int = DRAWS) -> pd.DataFrame:
    """Count what becomes of `draws` tokens, the text's over and over, a row per fate.

    Columns: fate, rule (the share of all tokens that the rule asks for), count, share (count / draws), deviation (the
    standard deviation of the share, sqrt(p (1 - p) / draws), as of a binomial count), away (share - rule, in standard
    deviations). A random token that happens to be the token itself, one of a vocabulary, counts as kept.

    Raises ValueError as `draw` does.
    """
    places = choosable(loaded, encoding)
    text = torch.tensor([encoding.ids[place] for place in places])
    ids = text.repeat(-(-draws // len(text)))[None, :draws]
    _check(rate)
    read, labels = hide(
        ids, torch.ones_like(ids, dtype=torch.bool), vocabulary=_vocabulary(loaded), seed=seed, share=rate
    )
    fates = fates_of(loaded, ids, read)[labels != IGNORED]
    rows = []
    for number, fate in enumerate(FATES):
        rule, count = rate * OF_CHOSEN[fate], int((fates == number).sum())
        deviation = sqrt(rule * (1 - rule) / draws)
        rows.append((fate, rule, count, count / draws, deviation, (count / draws - rule) / deviation))
    return pd.DataFrame(rows, columns=["fate", "rule", "count", "share", "deviation", "away"])


def choosable(loaded: LoadedModel, encoding: Encoding) -> tuple[int, ...]:
    """List the positions that can be chosen: no special token's, and no token's that the tokenizer does not know.

    Raises ValueError for a model that guesses no hidden tokens, and where no position is left.
    """
    specials = _vocabulary(loaded).specials
    columns = enumerate(zip(encoding.ids, encoding.special, encoding.known, strict=True))
    places = tuple(at for at, (id, special, known) in columns if known and not special and id >= specials)
    if not places:
        raise ValueError(
            f"{loaded.card.id} knows no token of this text, so none can be hidden from it; change the text"
        )
    return places


def trained_rate(loaded: LoadedModel) -> float | None:
    """Return the rate at which a model of this project was trained; None where it is not known."""
    recipe = RECIPES.get(loaded.card.id.partition("?")[0])
    return None if recipe is None or recipe.objective != "mask" else recipe.hidden_share


def hidden(
    loaded: LoadedModel, encoding: Encoding, *, rate: float, seed: int, rows: int, at_least_one: bool = True
) -> tuple[Tensor, Tensor]:
    """Draw on `rows` copies of a text -> the ids to read and the labels, [rows, T], of `models.training.objectives`.

    at_least_one: of all rows together, as `hide` has it. Raises ValueError as `draw` does.
    """
    _check(rate)
    keep = torch.zeros(len(encoding), dtype=torch.bool)
    keep[list(choosable(loaded, encoding))] = True
    ids = torch.tensor([encoding.ids]).repeat(rows, 1)
    keep = keep.repeat(rows, 1)
    return hide(ids, keep, vocabulary=_vocabulary(loaded), seed=seed, share=rate, at_least_one=at_least_one)


def fates_of(loaded: LoadedModel, true: Tensor, read: Tensor) -> Tensor:
    """Number the fate of each token, had it been chosen, by its place in FATES: true and read ids, same shape."""
    fates = torch.where(read == true, FATES.index("kept"), FATES.index("random"))
    return fates.masked_fill(read == loaded.tokenizer.mask_token_id, FATES.index("masked"))


def _check(rate: float) -> None:
    if not 0 < rate <= 1:
        raise ValueError(f"the rate is {rate}; it is a share of the tokens, above 0 and at most 1")


def _vocabulary(loaded: LoadedModel) -> Vocabulary:
    """The vocabulary as the training's masking knows it: ids from `specials` on can be drawn and chosen.

    A tokenizer may have special tokens at both ends: those at the end are kept from being chosen one by one.
    """
    tokenizer = loaded.tokenizer
    if not loaded.fills_masks or tokenizer.mask_token_id is None:
        raise ValueError(f"{loaded.card.id} guesses no hidden tokens; choose a masked language model, as mini-bert")
    size = len(tokenizer)
    first = [id for id in tokenizer.all_special_ids if id < size // 2]
    return Vocabulary(
        size=size,
        padding=tokenizer.pad_token_id or 0,
        start=tokenizer.cls_token_id or 0,
        end=tokenizer.sep_token_id or 0,
        mask=tokenizer.mask_token_id,
        specials=1 + max(first, default=-1),
    )
