"""The borders of what can be drawn by."""

from __future__ import annotations

import pytest

from models.decoding import Decoding


@pytest.mark.parametrize(
    "at_the_border", [{"top_k": 1}, {"top_p": 1.0}, {"top_p": 1e-9}, {"temperature": 1e-9}], ids=str
)
def test_one_token_the_whole_share_and_little_of_either_can_be_drawn_from(at_the_border: dict[str, float]) -> None:
    Decoding(sampled=True, **at_the_border).check()


@pytest.mark.parametrize("beyond", [{"top_k": 0}, {"top_p": 0.0}, {"top_p": 1.01}, {"temperature": 0.0}], ids=str)
def test_beyond_the_border_the_number_is_named(beyond: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=f"is {next(iter(beyond.values()))}|top_p {next(iter(beyond.values()))}"):
        Decoding(sampled=True, **beyond).check()
