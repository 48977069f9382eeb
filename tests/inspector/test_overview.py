"""The head that is open first: the most telling, or one that links two words where that head tells little."""

from __future__ import annotations

import pytest

import inspector
from inspector import head_roles, heads, overview
from inspector.components.grid import sides
from models import LoadedModel

STREET = "The dog did not cross the street because it was too wide."
TOLD = "The cat sat on the mat because it was tired."


def first(loaded: LoadedModel, text: str) -> tuple[head_roles.HeadReading, head_roles.HeadReading]:
    """Read the head that is opened first, and the head that `heads.most_telling` chooses."""
    trace = inspector.record(loaded, text)
    look = overview.measure(trace, sides=sides(trace.sites))
    chosen, stream = heads.with_choice(look.measures, trace), trace.streams[0]
    places = overview.first_head(look, trace, stream=stream), heads.most_telling(look.measures)
    sites = trace.sites_of(stream)
    opened, telling = (head_roles.head(chosen, trace, sites[layer], head) for layer, head in places)
    return opened, telling


def test_a_head_that_links_two_words_goes_before_one_that_tells_little(minilm: LoadedModel) -> None:
    opened, telling = first(minilm, STREET)
    assert telling.link is not None
    assert telling.link.weight < 0.5
    assert opened.opens_with_link
    assert opened.link is not None
    assert (opened.link.query.token, opened.link.key.token) == ("it", "wide")
    assert opened.link.weight > 0.8


def test_a_head_that_tells_a_link_of_half_stays(minilm: LoadedModel) -> None:
    opened, telling = first(minilm, TOLD)
    assert opened == telling
    assert opened.link is not None
    assert opened.link.weight >= overview.HALF


@pytest.mark.parametrize("text", ["Hi", "a " * 200])
def test_short_and_long_texts_open_as_ever(minilm: LoadedModel, text: str) -> None:
    opened, telling = first(minilm, text)
    assert opened == telling
