"""Pages with a real model that writes: what it writes, as a dialogue, and in place of a model that writes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from inspector import examples
from inspector.wording import shell as words
from tests.inspector.views.page import opened, pressed, said, section_opened, sentence, turned


def text_so_far(app: AppTest) -> dict[str, Any]:
    """Give what the text and the row of its tokens were sent."""
    assert not app.exception
    assert not app.error
    sent = [e.proto for e in app.get("bidi_component") if e.proto.component_name.endswith("written")]
    text, tokens = (json.loads(proto.json) for proto in sent)
    return {**text, **tokens}


def test_it_writes_paris(smollm2_installed: None) -> None:
    app = opened("Generate", model="smollm2", text="The capital of France is", new_tokens="6")
    assert text_so_far(app)["tokens"][0] == "␣Paris"
    assert "It is right about what is often written" in said(app)


def test_a_question_becomes_a_dialogue(smollm2_installed: None) -> None:
    """The toggle gives what the template written out gives: nothing is put into it twice."""
    question = "What is the capital of France?"
    app = opened("Generate", model="smollm2", text=question, new_tokens="8")
    assert "It reads a dialogue" not in said(app)
    app.toggle(key="dialogue").set_value(True).run()
    seen = text_so_far(app)
    assert [role for role in seen["roles"] if role] == ["user", "assistant"]
    assert seen["before"][0] == seen["before"][-4] == "<|im_start|>"  # of the assistant: ass, istant, a line break
    assert seen["hidden"] + len(seen["before"]) == 37
    assert "Paris" in seen["text"] + seen["rest"]
    turns = "system (20 tokens), user (11 tokens), assistant (4 tokens)"
    assert f"It reads a dialogue, marks included: {turns}." in said(app)
    app.selectbox(key="example").select("A dialogue").run()
    assert text_so_far(app) == seen
    assert not [toggle for toggle in app.toggle if toggle.key == "dialogue"]
    assert words.LIMITS_OF_EXAMPLES["A dialogue"] in said(app)
    assert "has an example of its own" not in said(app)


def test_it_stands_in_where_it_is_installed(smollm2_installed: None) -> None:
    app = opened("Generate", new_tokens="4")
    assert "**MiniLM** does not write, so you see **SmolLM2**, on its own example." in said(app)
    assert text_so_far(app)["tokens"][0] == "␣Italy"
    app.session_state["reads"] = True  # a part that is asked once it is open
    turned(app, "Time")
    section_opened(app, "Teacher forcing")
    assert "SmolLM2's logits differ by" in sentence(app)
    section_opened(app, "Old keys and queries")
    assert "so the steps are **mini-GPT**'s" in said(app)  # what a cached step reads is no matter of size
    turned(app, "Generate")
    pressed(app, "choose stand-in")
    assert app.selectbox(key="model").value == "smollm2"
    assert app.text_area(key="text").value == examples.of("smollm2")


def test_a_role_of_the_readers_own_is_no_markup_and_is_cut(smollm2_installed: None) -> None:
    role = "![x](https://a.b/c.png) " + "long " * 40
    app = opened("Generate", model="smollm2", text=f"<|im_start|>{role}\nHi.<|im_end|>" * 8, new_tokens="2")
    assert not app.exception
    assert "It reads a dialogue" in said(app)
    assert "![x](" not in said(app)
    assert "long long long" not in said(app)
    assert "and 2 more" in said(app)


def test_the_template_of_a_strangers_model_is_not_run(smollm2_installed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.views.shell.variants.base", lambda id: "stranger")
    app = opened("Generate", model="smollm2", text="What is the capital of France?", new_tokens="2", dialogue="true")
    assert not app.exception
    assert "It reads a dialogue" not in said(app)
    assert "dialogue" not in [toggle.key for toggle in app.toggle]
