"""A token is hidden behind the mask token; a masked language model then guesses it from both sides (Devlin et al. 2019,
3.1).

Shapes: V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd
import torch

from inspector.interventions.change import Change, again, hide, inputs_of, recorded, truths_of
from inspector.interventions.guesses import TOP, Guess, guesses
from inspector.trace import Trace
from models import LoadedModel
from models.tokenizers import SPACE, Encoding, with_gaps

_TRIED = 24  # words that are tried for the first view


@dataclass(frozen=True, eq=False, kw_only=True)
class Masked(Change):
    """A text read twice: whole, and with the tokens at `positions` replaced by the mask token.

    Position by position both hold the same token but for the masked ones.
    guesses: at each masked position, without the word; unmasked: there too, when the model could see it. Both are empty
    for a model that does not guess hidden tokens. gapped: the text with a gap for each masked token.
    """

    positions: tuple[int, ...]
    guesses: tuple[Guess, ...]
    unmasked: tuple[Guess, ...]
    gapped: str


def mask(
    loaded: LoadedModel,
    text: str | Trace,
    *,
    positions: Sequence[int],
    text_pair: str | None = None,
    target: str | None = None,
    top: int = TOP,
) -> Masked:
    """Hide the tokens at `positions` (counted as in `Trace.tokens`) and record the text before and after.

    Several masked tokens are guessed independently of each other: none knows what another guess is. An encoder-decoder
    reads the same target twice. text: may be a recording, which is then `before`.

    Raises ValueError for a tokenizer without a mask token, no position, a position out of range or of a special token,
    and for a text that cannot be read.
    """
    before = recorded(loaded, text, text_pair=text_pair, target=target)
    places = tuple(sorted(set(positions)))
    if not places:
        raise ValueError("no token is masked; name one position or more")
    encoding = before.encoding
    after = again(loaded, before, replace(inputs_of(before), encoding=hide(loaded, encoding, places)))
    asked = [(place, encoding.ids[place]) for place in places] if loaded.fills_masks else []
    return Masked(
        before=before,
        after=after,
        truths=truths_of(loaded, before, hidden=places),
        positions=places,
        guesses=guesses(loaded, after, asked, top=top),
        unmasked=guesses(loaded, before, asked, top=top),
        gapped=with_gaps(loaded.tokenizer, encoding, places),
    )


def predictions(masked: Masked) -> pd.DataFrame:
    """Every guess as a table, a row per position, whether it is hidden, and candidate; the true token closes each.

    hidden: whether the model read the mask token there. rank: 1 for the likeliest. probability: share 0..1.
    """
    rows = []
    for hidden, made in ((True, masked.guesses), (False, masked.unmasked)):
        for guess in made:
            likeliest = [(rank, token, p) for rank, (token, p) in enumerate(guess.top, start=1)]
            true = (guess.rank, guess.token, guess.probability)
            for rank, token, p in [*(each for each in likeliest if each[1] != guess.token), true]:
                rows.append((guess.position, hidden, rank, token, p, token == guess.token))
    columns = ["position", "hidden", "rank", "token", "probability", "true"]
    return pd.DataFrame(rows, columns=columns).sort_values(
        ["hidden", "position", "rank"], ascending=[False, True, True]
    )


def maskable(encoding: Encoding) -> tuple[int, ...]:
    """The positions that can be masked: all but the special tokens'."""
    return tuple(position for position, special in enumerate(encoding.special) if not special)


def whole_words(encoding: Encoding, positions: Iterable[int]) -> tuple[int, ...]:
    """The positions of all pieces of the words that have a piece at one of `positions`, in order."""
    words = {encoding.words[position] for position in positions} - {None}
    return tuple(position for position in maskable(encoding) if encoding.words[position] in words)


@torch.inference_mode()
def most_telling(loaded: LoadedModel, encoding: Encoding) -> int:
    """The position to mask first: where the text has a mask token itself, there; else a long word that can be guessed.

    Each of the first words of one token is hidden alone. The longest word among those guessed in the top 5 is taken,
    for it carries most; ties go to the least likely. Where no word is guessed in the top 5, the best-guessed word is
    taken; a text without a whole word gives its longest piece.
    """
    places, mask_id = maskable(encoding), loaded.tokenizer.mask_token_id
    if mask_id in encoding.ids:
        return encoding.ids.index(mask_id)
    pieces = [encoding.words[place] for place in places]
    lengths = {place: len(encoding.tokens[place].removeprefix("##").lstrip(SPACE)) for place in places}
    words = [place for place in places if lengths[place] > 2 and pieces.count(encoding.words[place]) == 1][:_TRIED]
    if not words or mask_id is None or loaded.predict is None or not loaded.fills_masks:
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
