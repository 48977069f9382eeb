"""The maps of all heads, sent once: each is what the open head's message holds, and only where the view is theirs."""

from __future__ import annotations

import gc
import re

import numpy as np
import pytest

from inspector.components.head import MOST_BYTES
from inspector.views.server import maps
from models import LoadedModel
from tests.inspector.components.messages import unpack
from tests.inspector.views.page import EXAMPLE, forget, message, messages, opened

ALONE = ("layer", "head", "title", "vmax")


@pytest.mark.parametrize(
    "link",
    [
        {},
        {"hide": "true", "renormalise": "true"},
        {"words": "true", "sqrt": "true"},
        {"model": "mini-gpt"},
        {"model": "translator", "stream": "cross"},
    ],
    ids=str,
)
def test_a_head_is_what_its_own_message_holds(link: dict[str, str]) -> None:
    app = opened(**link)
    every, maps = message(app, "heads")
    for at in (0, 7, len(every["heads"]) - 1):
        entry = every["heads"][at]
        layer, head = re.findall(r"\d+", entry["title"])
        other = opened(**link, layer=layer, head=head)
        header, weights = message(other, "head")
        assert {name: header[name] for name in ALONE} == entry
        rows = header["rows"] or {"entropy": [], "offset": []}
        numbers = np.concatenate([weights, rows["entropy"], rows["offset"]])
        np.testing.assert_array_equal(maps.reshape(len(every["heads"]), -1)[at], numbers)
        assert header["view"] == every["view"]
        assert message(other, "heads")[0] == every  # so that Streamlit sends no second one
        shared = {
            name: value for name, value in message(app, "head")[0].items() if name not in (*ALONE, "marked", "rows")
        }
        assert {name: header[name] for name in shared} == shared


@pytest.mark.parametrize("link", [{"kind": "scores"}, {"kind": "rollout"}, {"heads": ["1", "2"]}, {"layers": "true"}])
def test_a_view_of_something_else_sends_none(link: dict[str, str | list[str]]) -> None:
    app = opened(**link)
    assert messages(app, "heads") == []
    if link != {"kind": "rollout"}:
        assert "view" not in message(app, "head")[0]


def test_another_text_or_another_look_is_another_view() -> None:
    links = ({}, {"text": "The dog sat."}, {"hide": "true"}, {"sqrt": "true"}, {"model": "mini-bert"})
    assert len({message(opened(**link), "head")[0]["view"] for link in links}) == len(links)


def test_maps_are_sent_together_up_to_four_megabytes_and_fetched_one_by_one_above(minilm: LoadedModel) -> None:
    fits = int((MOST_BYTES / 4 / 72) ** 0.5)  # tokens, with [CLS] and [SEP]
    assert fits > len(minilm.tokenizer(EXAMPLE)["input_ids"])
    together, apart = (message(opened(text="cat " * (tokens - 2)), "heads") for tokens in (fits, fits + 1))
    assert "path" not in together[0]
    assert together[1].size == 72 * (fits**2 + 2 * fits)
    assert apart[0]["view"]
    assert len(apart[0]["heads"]) == 72
    assert apart[1].size == 0


def test_a_fetched_map_is_what_the_head_s_own_message_holds_and_keeps_no_recording() -> None:
    text = "cat dog " * 70
    app = opened(text=text, layer="4", head="3")
    header, weights = message(app, "head")
    name = message(app, "heads")[0]["path"].split("/")[1]
    make = maps._offered.maker(name)
    assert make
    of_head, numbers = unpack(make(4, 3) or b"", "<f4")
    assert of_head == {name: header[name] for name in ALONE}
    np.testing.assert_array_equal(numbers[: weights.size], weights)
    assert len(numbers) == weights.size + 2 * len(header["queries"])  # of each row its entropy and offset
    assert make(6, 0) is None
    assert make(0, 12) is None
    del app
    forget()
    gc.collect()
    assert make(4, 3) is None
