"""The inputs of a model for one recording: texts as tokens, within limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import index
from typing import Any, SupportsIndex

from inspector.trace import Trace
from models import LoadedModel
from models.formatting import format_bytes
from models.in_memory import not_loaded
from models.limits import variable
from models.tokenizers import Cut, Encoding, encode, from_ids

WRITTEN = 40  # tokens at most that a model writes by itself where no target is given


@dataclass(frozen=True)
class TextLimits:
    """The most that a recording may read and keep, each limit inclusive; None where nothing is limited.

    characters: of each text. tokens: of a text as the model reads it, special tokens included. capture_bytes: of what
    the recording keeps. The page sets them by HEADLIGHT_CHARACTERS, HEADLIGHT_TOKENS and HEADLIGHT_CAPTURE_BYTES.
    """

    characters: int | None = None
    tokens: int | None = None
    capture_bytes: int | None = None

    def shorten(self, text: str) -> str:
        """The first characters of a text, as many as may be read."""
        return text if self.characters is None else text[: self.characters]

    def check_recording(self, trace: Trace) -> None:
        """Raise ValueError where a recording keeps too much; without a limit it is not counted, which takes time."""
        if self.capture_bytes is not None and (nbytes := trace.nbytes) > self.capture_bytes:
            raise ValueError(
                f"The recording of this text takes {format_bytes(nbytes)}, and the limit here is "
                f"{format_bytes(self.capture_bytes)}. Choose a shorter text, or start Headlight with a larger "
                f"{variable('capture_bytes')}."
            )


UNLIMITED = TextLimits()


def _check_texts(**texts: object) -> None:
    """Raise ValueError with the way out where several texts or token ids are given."""
    for name, text in texts.items():
        if isinstance(text, str) or (text is None and name != "text"):
            continue
        several = isinstance(text, list | tuple) and bool(text) and all(isinstance(part, str) for part in text)
        out = "record_batch reads several texts" if several else "give a string, or ids of tokens as tokens="
        raise ValueError(f"{name} is a {type(text).__name__}, not a string: {out}")


@dataclass(frozen=True)
class ModelInputs:
    """The texts of one recording as tokens.

    encoding: what the encoder reads, or a decoder without a source. target: what the decoder of an encoder-decoder
    reads: the start token, then the target but for its last token (teacher forcing). predicts: for each token that a
    decoder reads, the token that comes next, None behind the end of the text; None in an encoder.
    """

    encoding: Encoding
    target: Encoding | None = None
    predicts: tuple[str | None, ...] | None = None


def tokenize_inputs(
    loaded: LoadedModel,
    text: str | None,
    *,
    text_pair: str | None = None,
    target: str | None = None,
    limits: TextLimits = UNLIMITED,
) -> ModelInputs:
    """Tokenize for the model's shape, within limits; an encoder-decoder without a target writes its own.

    Raises ValueError for a pair or a target that the model cannot read, and for what is no model and no text.
    """
    if not isinstance(loaded, LoadedModel):
        raise ValueError(not_loaded(loaded))
    _check_texts(text=text, text_pair=text_pair, target=target)
    assert text is not None
    longest = loaded.max_tokens
    limit = None
    if limits.tokens is not None and limits.tokens < longest:
        loaded = replace(loaded, max_tokens=limits.tokens)
        allowed = f"{variable('tokens')} and {variable('capture_bytes')} allow {limits.tokens:,} here"
        limit = f"{allowed}, the model takes {longest:,}"
    given = [words for words in (text, text_pair, target) if words is not None]
    read = [limits.shorten(words) for words in given]
    text, text_pair = limits.shorten(text), text_pair and limits.shorten(text_pair)
    inputs = _tokenize(loaded, text, text_pair=text_pair, target=target and limits.shorten(target), limit=limit)
    before, after = (sum(map(len, texts)) for texts in (given, read))
    if after == before:
        return inputs
    cut = inputs.encoding.cut
    also = "" if cut is None else f"; of these the first {cut.kept:,} of {cut.total:,} {cut.unit}, for {cut.limit}"
    why = f"{variable('characters')} allows {limits.characters:,} for each text{also}"
    return replace(inputs, encoding=replace(inputs.encoding, cut=Cut(after, before, "characters", why)))


def inputs_of_ids(
    loaded: LoadedModel, ids: Sequence[int], *, target: str | None = None, limits: TextLimits = UNLIMITED
) -> ModelInputs:
    """Give ids of tokens to the model as they are, special tokens and all; target: as in `tokenize_inputs`.

    Raises ValueError for what are no ids of the model, and for more of them than it or the limits allow.
    """
    _check_texts(target=target)
    known = _checked_ids(ids, vocabulary=_vocabulary(loaded))
    most = min(loaded.max_tokens, limits.tokens or loaded.max_tokens)
    if len(known) > most:
        raise ValueError(f"tokens are {len(known):,} ids, and {loaded.card.id} reads at most {most:,} here: cut them")
    encoding = from_ids(loaded.tokenizer, known)
    if target is not None and loaded.shape == "encoder-decoder":
        whole = encode(loaded.tokenizer, limits.shorten(target), max_tokens=most)
        return _shaped(loaded, encoding, target=_started(loaded, whole))
    _check_no_target(loaded, target)
    if loaded.shape == "decoder":
        return ModelInputs(encoding, predicts=(*encoding.tokens[1:], None))
    return _shaped(loaded, encoding)


def _checked_ids(ids: object, *, vocabulary: int) -> list[int]:
    """Check a sequence of ids, or a torch or numpy array of one dimension."""
    numbers = ids.tolist() if hasattr(ids, "tolist") else ids
    if not isinstance(numbers, Sequence) or isinstance(numbers, str | bytes) or not numbers:
        raise ValueError(f"tokens are {str(ids)[:60]!a}, no sequence of ids: give ids of one text, such as [101, 102]")
    for place, id in enumerate(numbers):
        if not isinstance(id, SupportsIndex) or isinstance(id, bool):
            raise ValueError(f"token {place} is {str(id)[:60]!a}, a {type(id).__name__}: give ids of one text")
        if not 0 <= index(id) < vocabulary:
            raise ValueError(f"token {place} is {str(id)[:60]}: the model has ids from 0 to {vocabulary - 1:,}")
    return list(map(index, numbers))


def _vocabulary(loaded: LoadedModel) -> int:
    """Count the rows of the embedding of the tokens that the model reads."""
    if loaded.backend == "own":
        return int(loaded.config.vocabulary)
    network: Any = loaded.network
    return len(network.get_input_embeddings().weight)


def _check_no_target(loaded: LoadedModel, target: str | None) -> None:
    if target is not None and loaded.shape != "encoder-decoder":
        raise ValueError(
            f"{loaded.card.id} is {'an encoder' if loaded.shape == 'encoder' else 'a decoder'} and has no target; "
            "leave the target out, or choose an encoder-decoder"
        )


def _tokenize(
    loaded: LoadedModel, text: str, *, text_pair: str | None, target: str | None, limit: str | None
) -> ModelInputs:
    def encoded(text: str, text_pair: str | None = None) -> Encoding:
        most = loaded.max_tokens
        return encode(loaded.tokenizer, text, text_pair=text_pair, max_tokens=most, limit=limit)

    if text_pair is not None and loaded.shape != "encoder":
        raise ValueError(f"{loaded.card.id} reads one text, and a pair is for encoders; leave the second text out")
    _check_no_target(loaded, target)
    encoding = encoded(text, text_pair)
    return _shaped(loaded, encoding, target=None if target is None else _started(loaded, encoded(target)))


def _shaped(loaded: LoadedModel, encoding: Encoding, *, target: Encoding | None = None) -> ModelInputs:
    """Make a text the inputs of the model's shape; an encoder-decoder without a whole target writes its own."""
    if loaded.shape == "encoder":
        return ModelInputs(encoding)
    if loaded.shape == "decoder":
        begun = encoding.without_end()
        return ModelInputs(begun, predicts=(*encoding.tokens[1:], None)[: len(begun)])
    if target is None:
        if loaded.write is None:
            raise ValueError(f"{loaded.card.id} has no head that writes; give it a target")
        target = from_ids(loaded.tokenizer, loaded.generate_ids(encoding, new_tokens=WRITTEN))
    return ModelInputs(encoding, target=target.without_last(), predicts=target.tokens[1:])


def _started(loaded: LoadedModel, target: Encoding) -> Encoding:
    """Prepend the decoder's start token if the tokenizer does not."""
    if loaded.start is None:
        return target
    first = from_ids(loaded.tokenizer, [loaded.start])
    return replace(
        target,
        ids=first.ids + target.ids,
        tokens=first.tokens + target.tokens,
        words=first.words + target.words,
        segments=first.segments + target.segments,
        special=first.special + target.special,
        spans=None if target.spans is None else ((0, 0), *target.spans),
    )
