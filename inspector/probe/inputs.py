"""What a model is given to read for one recording; a part of the probe."""

from __future__ import annotations

from dataclasses import dataclass, replace

from models import LoadedModel
from models.tokenizers import Encoding, from_ids

UNSEEN = "…"  # what the last token of a text has to predict
WRITTEN = 40  # tokens at most that a model writes by itself where no target is given


@dataclass(frozen=True)
class Reading:
    """The texts as tokens.

    encoding: what the encoder reads, or a decoder without a source. target: what the decoder of an encoder-decoder
    reads: the start token, then the target but for its last token (teacher forcing). predicts: for each token that a
    decoder reads, the one that comes next; None in an encoder.
    """

    encoding: Encoding
    target: Encoding | None = None
    predicts: tuple[str, ...] | None = None


def read(loaded: LoadedModel, text: str, *, text_pair: str | None = None, target: str | None = None) -> Reading:
    """Tokenize for the model's shape; an encoder-decoder without a target writes its own.

    Raises ValueError for a pair or a target that the model cannot read.
    """
    if text_pair is not None and loaded.shape != "encoder":
        raise ValueError(f"{loaded.card.id} reads one text, and a pair is for encoders; leave the second text out")
    if target is not None and loaded.shape != "encoder-decoder":
        raise ValueError(
            f"{loaded.card.id} is {'an encoder' if loaded.shape == 'encoder' else 'a decoder'} and has no target; "
            "leave the target out, or choose an encoder-decoder"
        )
    encoding = loaded.encode(text, text_pair=text_pair)
    if loaded.shape == "encoder":
        return Reading(encoding)
    if loaded.shape == "decoder":
        begun = encoding.without_end()
        return Reading(begun, predicts=(*encoding.tokens[1:], UNSEEN)[: len(begun)])
    if target is None:
        if loaded.write is None:
            raise ValueError(f"{loaded.card.id} has no head that writes; give it a target")
        whole = from_ids(loaded.tokenizer, loaded.generate_ids(encoding, new_tokens=WRITTEN))
    else:
        whole = _started(loaded, loaded.encode(target))
    return Reading(encoding, target=whole.without_last(), predicts=whole.tokens[1:])


def _started(loaded: LoadedModel, target: Encoding) -> Encoding:
    """With the decoder's start token before it, where the tokenizer does not write one."""
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
