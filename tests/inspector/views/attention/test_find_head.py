"""The page's sentence, and the search for heads by chips."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

from tests.inspector.views.page import message, opened, sentence, typed


def wished(app: AppTest, wish: str) -> AppTest:
    return next(pills for pills in app.button_group if pills.key == "wish").set_value(wish).run()


def test_the_page_opens_with_its_sentence_and_a_wish_opens_another_head() -> None:
    app = opened()
    assert sentence(app) == (
        "Layer 1, head 7: `on` gives 70 % of its attention to `mat`, more than any other head does."
    )
    wished(app, "previous")
    assert sentence(app) == (
        "Layer 0, head 2 is a previous-token head: "
        "nearly all of the attention of all tokens but the first goes one token back."
    )
    header, _ = message(app, "head")
    assert (header["layer"], header["head"]) == (0, 2)
    second = next(
        button for button in app.button if (button.key or "").startswith("found-") and button.key != "found-0-2"
    )
    second.click().run()
    row, head = map(int, second.key.split("-")[1:])
    assert sentence(app).startswith(f"Layer {row}, head {head}")


def test_a_link_is_chosen_and_a_shorter_text_forgets_it() -> None:
    app = wished(opened(), "link")
    assert side(app, "From").value == 4
    side(app, "From").set_value(8).run()
    side(app, "To").set_value(10).run()
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
