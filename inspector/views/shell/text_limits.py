"""A text is recorded up to the page's limits, and what was cut is said. From Python nothing is limited."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from models.formatting import bytes_in_words
from models.limits import Limits, variable

if TYPE_CHECKING:
    import models
    from inspector.probe import Progress
    from inspector.trace import Trace


def record(
    loaded: models.LoadedModel,
    text: str,
    *,
    text_pair: str | None,
    target: str | None,
    tokens: int,
    limits: Limits,
    on_progress: Progress,
) -> Trace:
    """Record as inspector.probe does: limits.characters of each text and `tokens` tokens at most; see trace.cut.

    Raises ValueError where there is nothing to read, and where the recording takes more memory than the limit: how much
    a map that cannot be computed again takes is known once it was made.
    """
    from inspector.probe import record

    given = [one for one in (text, text_pair, target) if one is not None]
    kept = [one[: limits.characters] for one in given]
    own = loaded.max_tokens
    trace = record(
        replace(loaded, max_tokens=min(tokens, own)),
        text[: limits.characters],
        text_pair=None if text_pair is None else text_pair[: limits.characters],
        target=None if target is None else target[: limits.characters],
        on_progress=on_progress,
    )
    if trace.nbytes > limits.capture_bytes:
        raise ValueError(
            f"The recording of this text takes {bytes_in_words(trace.nbytes)}, and the limit here is "
            f"{bytes_in_words(limits.capture_bytes)}. Choose a shorter text, or start Headlight with a larger "
            f"{variable('capture_bytes')}."
        )
    cut = trace.cut
    if cut is not None and cut.unit == "tokens" and tokens < own:
        why = f"{variable('tokens')} and {variable('capture_bytes')} allow {tokens:,} here, the model takes {own:,}"
        cut = replace(cut, limit=why)
    before, after = (sum(map(len, texts)) for texts in (given, kept))
    if after < before:
        from models.tokenizers import Cut

        also = "" if cut is None else f"; of these the first {cut.kept:,} of {cut.total:,} {cut.unit}, for {cut.limit}"
        why = f"{variable('characters')} allows {limits.characters:,} for each text{also}"
        cut = Cut(after, before, "characters", why)
    return replace(trace, encoding=replace(trace.encoding, cut=cut))
