"""The heads that can stand beside the open head: near ones at once, and any other by its layer and number."""

from __future__ import annotations

from urllib.parse import parse_qs

from streamlit.testing.v1 import AppTest

from tests.inspector.views.page import opened


def offered(app: AppTest) -> dict[str, dict[str, list[str]]]:
    """Return the address of each link to Compare, by its label."""
    links = [link.proto for link in app.get("page_link") if link.proto.page == "compare"]
    return {link.label: parse_qs(link.query_string) for link in links}


def test_any_head_stands_beside_the_open_head() -> None:
    app = opened(layer="2", head="3")
    app.session_state["compare with"] = True
    app.run()
    assert not app.exception
    near = {f"Layer {layer}, head 3" for layer in range(6) if layer != 2} | {
        f"Layer 2, head {head}" for head in range(12) if head != 3
    }
    assert set(offered(app)) == near | {"Layer 3, head 4"}  # any other, first one down and to the right
    app.selectbox(key="any row of 6").set_value(5).run()
    app.selectbox(key="any head of 12").set_value(9).run()
    assert not app.exception
    beside = offered(app)["Layer 5, head 9"]
    assert (beside["b_layer"], beside["b_head"]) == (["5"], ["9"])
    assert (beside["a_layer"], beside["a_head"]) == (["2"], ["3"])
