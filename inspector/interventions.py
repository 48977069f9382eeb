"""Run a model again, changed, and record what that does: a part of the probe.

Here a token is hidden from a masked language model, which then guesses it from both sides (Devlin et al. 2019, 3.1).

Shapes: T tokens of the text, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from inspector.probe import record_reading
from inspector.reading import read
from inspector.trace import Trace
from models import LoadedModel
from models.tokenizers import SPACE, Encoding, substituted, with_gaps

TOP = 5  # guesses that are kept of each token
_TRIED = 24  # words that are tried for the first view


@dataclass(frozen=True)
class Guess:
    """What a model expects at one position, as probabilities over its whole vocabulary.

    token: what the text has there; probability: its share, 0..1; rank: 1 where no token of the vocabulary is likelier.
    top: the likeliest (token, probability), falling. vocabulary: V, how many tokens it chose from.
    """

    position: int
    token: str
    probability: float
    rank: int
    top: tuple[tuple[str, float], ...]
    vocabulary: int


@dataclass(frozen=True, eq=False)
class Masked:
    """A text read twice: whole, and with the tokens at `positions` replaced by the mask token.

    before, after: the two recordings; position by position they hold the same token but for the masked ones.
    guesses: at each masked position, without the word; unmasked: there too, when the model could see it.
    gapped: the text with a gap for each masked token.
    """

    before: Trace
    after: Trace
    positions: tuple[int, ...]
    guesses: tuple[Guess, ...]
    unmasked: tuple[Guess, ...]
    gapped: str


def mask(
    loaded: LoadedModel, text: str, *, positions: Sequence[int], text_pair: str | None = None, top: int = TOP
) -> Masked:
    """Hide the tokens at `positions` (counted as in `Trace.tokens`) and record the text before and after.

    A guess is p = softmax(logits) over the V tokens of the vocabulary, in float64, from the last hidden state at its
    position. Several masked tokens are guessed independently of each other: none knows what another guess is.

    Raises ValueError for a model that does not guess, a tokenizer without a mask token, no position, a position out of
    range or of a special token, and for a text that cannot be read.
    """
    if not loaded.fills_masks:
        raise ValueError(
            f"{loaded.card.id} gives hidden states and has no masked-language head that turns them into tokens; "
            "choose mini-bert"
        )
    reading = read(loaded, text, text_pair=text_pair)
    places = tuple(sorted(set(positions)))
    hidden = _hide(loaded, reading.encoding, places)
    before = record_reading(loaded, reading, text=text, text_pair=text_pair)
    after = record_reading(loaded, replace(reading, encoding=hidden), text=text, text_pair=text_pair)
    asked = [(place, reading.encoding.ids[place]) for place in places]
    return Masked(
        before,
        after,
        places,
        guesses=_guesses(loaded, after, asked, top=top),
        unmasked=_guesses(loaded, before, asked, top=top),
        gapped=with_gaps(loaded.tokenizer, reading.encoding, places),
    )


def predictions(masked: Masked) -> pd.DataFrame:
    """Every guess as a table, a row per position, whether it is hidden, and candidate; the true token closes each.

    hidden: whether the model read the mask token there. rank: 1 for the likeliest. probability: share 0..1.
    """
    rows = []
    for hidden, guesses in ((True, masked.guesses), (False, masked.unmasked)):
        for guess in guesses:
            likeliest = [(rank, token, p) for rank, (token, p) in enumerate(guess.top, start=1)]
            true = (guess.rank, guess.token, guess.probability)
            for rank, token, p in [*(each for each in likeliest if each[1] != guess.token), true]:
                rows.append((guess.position, hidden, rank, token, p, token == guess.token))
    columns = ["position", "hidden", "rank", "token", "probability", "true"]
    return pd.DataFrame(rows, columns=columns).sort_values(
        ["hidden", "position", "rank"], ascending=[False, True, True]
    )


def maskable(encoding: Encoding) -> tuple[int, ...]:
    """The positions that can be masked: all but those of special tokens."""
    return tuple(position for position, special in enumerate(encoding.special) if not special)


def whole_words(encoding: Encoding, positions: Iterable[int]) -> tuple[int, ...]:
    """The positions of all pieces of the words that have a piece at one of `positions`, in order."""
    words = {encoding.words[position] for position in positions} - {None}
    return tuple(position for position in maskable(encoding) if encoding.words[position] in words)


@torch.inference_mode()
def most_telling(loaded: LoadedModel, encoding: Encoding) -> int:
    """The position to mask first: where the text has a mask token itself, there; else a long word that can be guessed.

    Each of the first words of one token is hidden alone. Of those that are among the 5 likeliest guesses the longest,
    and of equally long ones the least likely: it carries most. Where none is, the one that is guessed best; a text
    without a whole word gives its longest piece.
    """
    places, mask_id = maskable(encoding), loaded.tokenizer.mask_token_id
    if mask_id in encoding.ids:
        return encoding.ids.index(mask_id)
    pieces = [encoding.words[place] for place in places]
    lengths = {place: len(encoding.tokens[place].removeprefix("##").lstrip(SPACE)) for place in places}
    words = [place for place in places if lengths[place] > 2 and pieces.count(encoding.words[place]) == 1][:_TRIED]
    if not words or loaded.predict is None:
        return max(places, key=lambda place: lengths[place])
    ids = torch.tensor([encoding.ids] * len(words))
    rows = torch.arange(len(words))
    ids[rows, words] = mask_id
    hidden = loaded.run(ids, torch.ones_like(ids, dtype=torch.bool), torch.tensor([encoding.segments] * len(words)))
    logits = loaded.predict(hidden[rows, words][None])[0].double()  # [words, V]
    true = logits[rows, torch.tensor(encoding.ids)[words]]
    ranks = (logits > true[:, None]).sum(dim=-1) + 1
    chances = true - logits.logsumexp(dim=-1)
    guessed = [row for row in range(len(words)) if ranks[row] <= TOP]
    if not guessed:
        return words[int(chances.argmax())]
    return words[max(guessed, key=lambda row: (lengths[words[row]], -float(chances[row])))]


def _hide(loaded: LoadedModel, encoding: Encoding, positions: Sequence[int]) -> Encoding:
    """The encoding with the mask token at `positions`; all else as it was."""
    mask_id = loaded.tokenizer.mask_token_id
    if mask_id is None:
        raise ValueError(
            f"the tokenizer of {loaded.card.id} has no mask token, so nothing can be hidden from the model"
        )
    if not positions:
        raise ValueError("no token is masked; name one position or more")
    for position in positions:
        if not 0 <= position < len(encoding):
            raise ValueError(f"position {position} is out of range: the text has positions 0 to {len(encoding) - 1}")
        if encoding.special[position]:
            raise ValueError(
                f"position {position} is {encoding.tokens[position]}, which the tokenizer added: "
                "mask a token of the text"
            )
    return substituted(loaded.tokenizer, encoding, dict.fromkeys(positions, mask_id))


@torch.inference_mode()
def _guesses(loaded: LoadedModel, trace: Trace, asked: Sequence[tuple[int, int]], *, top: int) -> tuple[Guess, ...]:
    """asked: (position, id of the true token)."""
    assert loaded.predict is not None
    logits = loaded.predict(trace.hidden[None, [position for position, _ in asked]])[0]  # [positions, V]
    scores = logits.double().cpu().numpy()
    return tuple(
        _guess(loaded, position, true, row, top=top) for (position, true), row in zip(asked, scores, strict=True)
    )


def _guess(loaded: LoadedModel, position: int, true: int, scores: NDArray[np.float64], *, top: int) -> Guess:
    powers = np.exp(scores - scores.max())
    shares = powers / powers.sum()
    likeliest = np.argsort(-scores, kind="stable")[:top].tolist()
    names = loaded.tokenizer.convert_ids_to_tokens([true, *likeliest])
    return Guess(
        position,
        token=names[0],
        probability=float(shares[true]),
        rank=1 + int((scores > scores[true]).sum()),
        top=tuple(zip(names[1:], shares[likeliest].tolist(), strict=True)),
        vocabulary=len(scores),
    )
