"""The page's sentence, and the search for heads by chips."""

from __future__ import annotations

import re

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button, Selectbox

from inspector.views.attention.find_head import POPOVER
from tests.inspector.views.page import message, opened, sentence, typed


def wished(app: AppTest, wish: str) -> AppTest:
    return next(pills for pills in app.button_group if pills.key == "wish").set_value(wish).run()


def rows(app: AppTest) -> list[Button]:
    """The heads that fit a wish, the best first."""
    return [button for button in app.button if (button.key or "").startswith("found-")]


def test_a_wish_lists_five_heads_and_a_row_opens_one_and_closes_the_list() -> None:
    app = opened()
    assert sentence(app) == ("Layer 1, head 7: `on` gives 70 % of its attention to `mat`, more than in any other head.")
    app.session_state[POPOVER] = True
    wished(app, "previous")
    assert sentence(app).startswith("Layer 1, head 7")  # nothing opens behind the list
    shares = [re.search(r"(\d+) %|nearly all", button.label.split(": ")[1]) for button in rows(app)]
    shares = [100 if share[1] is None else int(share[1]) for share in shares if share]
    assert len(shares) == 5
    assert shares == sorted(shares, reverse=True)
    rows(app)[0].click().run()
    assert app.session_state[POPOVER] is False
    assert sentence(app) == (
        "Layer 0, head 2 is a previous-token head: "
        "nearly all of the attention of all tokens but the first goes one token back."
    )
    header, _ = message(app, "head")
    assert (header["layer"], header["head"]) == (0, 2)
    second = rows(app)[1]
    second.click().run()
    row, head = map(int, second.key.split("-")[1:])
    assert sentence(app).startswith(f"Layer {row}, head {head}")


def test_a_link_is_chosen_and_a_shorter_text_forgets_it() -> None:
    app = wished(opened(), "link")
    assert side(app, "From").value == 4
    side(app, "From").set_value(8).run()
    side(app, "To").set_value(10).run()
    rows(app)[0].click().run()
    assert sentence(app).startswith("Layer 2, head 8: `it` gives 77 % of its attention to `tired`")
    assert (app.query_params["query"], app.query_params["key"]) == ("8", "10")
    header, _ = message(app, "head")
    assert header["picked"] == [8, 10]
    typed(app, "Hi.")
    assert not app.exception
    assert side(app, "To").value < 4


def side(app: AppTest, label: str) -> Selectbox:
    """The choice of a link's end."""
    return next(choice for choice in app.selectbox if choice.label == label)
