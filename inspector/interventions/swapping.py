"""The swap of one word of a text for another; all other tokens stay, and are matched token by token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from inspector.interventions.change import (
    Change,
    check_position,
    hidden_in,
    hide,
    inputs_of,
    recorded,
    truths_of,
)
from inspector.probe import ModelInputs, record_inputs, tokenize_inputs
from inspector.trace import Trace
from models import LoadedModel
from models.tokenizers import Encoding


@dataclass(frozen=True, eq=False, kw_only=True)
class Swapped(Change):
    """A text read with a word and with another in its place: `word`, `by`, as they are written."""

    word: str
    by: str


def swap(
    loaded: LoadedModel,
    text: str | Trace,
    *,
    position: int,
    by: str,
    text_pair: str | None = None,
    target: str | None = None,
    hidden: Sequence[int] = (),
) -> Swapped:
    """Record a text, or take its recording, and record it again with `by` for the word that has a piece at `position`.

    The words may be cut into different numbers of pieces: `replaced` holds both. Special tokens, the pair and the
    target stay: an encoder-decoder reads the same target twice. hidden: positions, counted before, of tokens that a
    masked language model does not see, before and after, and guesses.

    Raises ValueError for a position out of range, of a special token or in the word that is hidden, for nothing to put
    there, and where the new text no longer fits the model.
    """
    trace = recorded(loaded, text, text_pair=text_pair, target=target)
    check_position(trace.encoding, position)
    if not by.strip():
        raise ValueError("there is no word to put there; name one, or mask the token instead")
    word, texts = _written(loaded, trace, position, by=by.strip())
    new = _read(loaded, trace, *texts)
    replaced = _replaced(trace.encoding, new.encoding, word=_pieces(trace.encoding, position))
    change = Change(before=trace, after=trace, truths={}, replaced=replaced)
    inside = [place for place in hidden if place in replaced[0]]
    if inside:
        raise ValueError(f"position {inside[0]} is hidden and swapped at once; hide another token")
    before = hidden_in(loaded, trace, hidden)
    if hidden:
        new = replace(new, encoding=hide(loaded, new.encoding, [change.later(place) for place in hidden]))
    return Swapped(
        before=before,
        after=record_inputs(loaded, new, text=texts[0], text_pair=texts[1], target=trace.target_text),
        truths=truths_of(loaded, trace, hidden=hidden, replaced=replaced[0]),
        replaced=replaced,
        word=word,
        by=by.strip(),
    )


def first_to_swap(encoding: Encoding) -> int:
    """The position of the word to swap first: of three letters or more, and not the first, where there is one."""
    places = [place for place, special in enumerate(encoding.special) if not special]
    first = encoding.words[places[0]]
    longer = [place for place in places if sum(map(str.isalpha, encoding.tokens[place])) > 2]
    return next((place for place in longer if encoding.words[place] != first), places[0])


def _pieces(encoding: Encoding, position: int) -> range:
    """The positions of all pieces of the word at `position`."""
    word = encoding.words[position]
    places = [place for place, number in enumerate(encoding.words) if number == word and not encoding.special[place]]
    return range(places[0], places[-1] + 1)


def _written(loaded: LoadedModel, trace: Trace, position: int, *, by: str) -> tuple[str, tuple[str, str | None]]:
    """The word as the reader wrote it, and both texts with `by` in its place."""
    pair = trace.text_pair
    encoded = loaded.tokenizer(trace.text, pair, add_special_tokens=True, verbose=False)
    places = _pieces(trace.encoding, position)
    spans = [encoded.token_to_chars(place) for place in places]
    start, end = min(span.start for span in spans), max(span.end for span in spans)
    second = encoded.token_to_sequence(position) == 1
    whole = pair if second and pair is not None else trace.text
    start, end = end - len(whole[start:end].lstrip()), start + len(whole[start:end].rstrip())  # some count the space
    written = f"{whole[:start]}{by}{whole[end:]}"
    return whole[start:end], (trace.text, written) if second else (written, pair)


def _read(loaded: LoadedModel, trace: Trace, text: str, text_pair: str | None) -> ModelInputs:
    """Tokenize the new text, cut where the old text was, with the old text's target."""
    cut = trace.cut is not None and trace.cut.unit == "tokens"
    within = replace(loaded, max_tokens=len(trace.encoding)) if cut else loaded
    if trace.target is None:
        return tokenize_inputs(within, text, text_pair=text_pair)
    return replace(inputs_of(trace), encoding=within.encode(text))


def _replaced(before: Encoding, after: Encoding, *, word: range) -> tuple[range, range]:
    """The smallest blocks that hold the word and all tokens that differ.

    Raises ValueError where the new text was cut, so that what comes after the word is not what it was.
    """
    room = min(len(before), len(after))
    start = _agreeing(before.ids, after.ids, most=min(word.start, room))
    end = _agreeing(before.ids[::-1], after.ids[::-1], most=min(len(before) - word.stop, room - start))
    if after.cut is not None and end < len(before) - word.stop:
        raise ValueError(
            f"with the new word the text is cut after {len(after)} tokens, and its end is another; shorten the text"
        )
    return range(start, len(before) - end), range(start, len(after) - end)


def _agreeing(a: Sequence[int], b: Sequence[int], *, most: int) -> int:
    """Count the equal tokens at the start, at most `most`."""
    return next((count for count in range(most) if a[count] != b[count]), most)
