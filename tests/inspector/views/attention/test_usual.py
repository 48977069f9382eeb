"""The way from the open head to its card over a corpus, in every model with an atlas, and in no other."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from tests.inspector.views.page import opened


def led_to(app: AppTest) -> list[dict[str, str]]:
    """Return the parameters of the links to Atlas on the page."""
    return [dict(parse_qsl(one.proto.query_string)) for one in app.get("page_link") if one.proto.page == "atlas"]


@pytest.mark.parametrize(
    ("model", "stream", "name"),
    [("minilm", "encoder", "Layer 1, head 7 "), ("translator", "cross", "Cross layer 1, head 2 ")],
)
def test_the_open_head_leads_to_its_card(model: str, stream: str, name: str) -> None:
    head = name.split()[-1]
    (given,) = led_to(opened(model=model, stream=stream, layer="1", head=head))
    card = opened("Atlas", **given)
    assert not card.warning
    assert card.header[0].value.startswith(name)


def test_a_model_without_an_atlas_leads_nowhere() -> None:
    assert not led_to(opened(model="own-encoder"))
