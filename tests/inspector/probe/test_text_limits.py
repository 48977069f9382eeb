"""Limits of a recording: texts are cut with the reason, and a recording that takes too much is refused."""

from __future__ import annotations

import pytest

from inspector.probe import TextLimits, record
from models import LoadedModel

TEXT = "The cat sat on the mat because it was tired."


def test_a_recording_over_the_limit_is_refused_with_both_numbers(minilm: LoadedModel) -> None:
    taken = record(minilm, TEXT).nbytes
    record(minilm, TEXT, limits=TextLimits(capture_bytes=2 * taken))
    with pytest.raises(ValueError, match=r"takes .* [kM]B, and the limit here is .* HEADLIGHT_CAPTURE_BYTES"):
        record(minilm, TEXT, limits=TextLimits(capture_bytes=taken // 2))


def test_nothing_is_limited_by_default(minilm: LoadedModel) -> None:
    trace = record(minilm, TEXT * 100)
    assert trace.text == TEXT * 100
    assert trace.cut.limit == "this model takes at most 512"


def test_a_cut_names_the_limit_that_made_it(minilm: LoadedModel) -> None:
    few_tokens = record(minilm, TEXT, limits=TextLimits(tokens=6))
    assert few_tokens.tokens == ("[CLS]", "the", "cat", "sat", "on", "[SEP]")
    assert str(few_tokens.cut) == (
        "Only the first 6 of 13 tokens are read: HEADLIGHT_TOKENS and HEADLIGHT_CAPTURE_BYTES allow 6 here, the model "
        "takes 512. The last 7 are left out."
    )
    few_characters = record(minilm, TEXT, text_pair=TEXT, limits=TextLimits(characters=11, tokens=4096))
    assert (few_characters.text, few_characters.text_pair) == ("The cat sat", "The cat sat")
    assert str(few_characters.cut) == (
        "Only the first 22 of 88 characters are read: HEADLIGHT_CHARACTERS allows 11 for each text. "
        "The last 66 are left out."
    )
    both = record(minilm, TEXT, limits=TextLimits(characters=11, tokens=4))
    assert both.cut.limit == (
        "HEADLIGHT_CHARACTERS allows 11 for each text; of these the first 4 of 5 tokens, for HEADLIGHT_TOKENS and "
        "HEADLIGHT_CAPTURE_BYTES allow 4 here, the model takes 512"
    )
