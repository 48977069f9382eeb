"""The page Costs on any model: loaded ones, known shapes, and configurations that a reader brings."""

from __future__ import annotations

import json

from streamlit.testing.v1 import AppTest

from tests.inspector.views.page import numbers, opened, said

TINY = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 100,
    "vocab_size": 50,
}


def chosen(app: AppTest, key: str, value: str) -> AppTest:
    """Click one option of a bar."""
    bar = next(one for one in app.button_group if one.key == key)
    bar.set_value(value).run()
    assert not app.exception
    return app


def test_a_shape_of_seventy_billion_is_told_in_every_section() -> None:
    app = opened("Costs", of="A known shape", length="128")
    assert "At 128 tokens the FFN takes" in said(app)
    assert "33,792 tokens" in said(app)
    assert "69.0 G parameters and 17.6 T FLOPs" in said(app)
    chosen(app, "section", "memory")
    found = numbers(app)
    assert found["a token"] == "327,680 B"
    assert found["with the cache"] == "138 GFLOP"
    assert found["backward"] == "35.3 TFLOP"
    chosen(app, "section", "heads")
    assert "4 n² d" not in said(app)
    assert numbers(app)["width of a head"] == "128"
    chosen(app, "section", "derivation")
    assert "The closed formula and the count agree: 17,633,525,104,640 FLOPs" in said(app)
    for section in ("whole", "time", "beside"):
        chosen(app, "section", section)
        assert "Cannot be" not in said(app)


def test_a_pasted_config_is_counted_and_a_hostile_one_gets_a_sentence() -> None:
    app = opened("Costs", of="Your config", named="org/name")
    assert "Press Count it" in said(app)  # a name in a link is asked about, nothing is fetched
    for fields, sentence in (
        ({**TINY, "num_hidden_layers": 10**9}, "'num_hidden_layers' = 1,000,000,000, over 128"),
        ({**TINY, "hidden_size": "wide"}, "expected int, got str"),
        ({**TINY, "model_type": "none"}, "is not one of transformers"),
        (TINY, "At 128 tokens"),
    ):
        app.text_area(key="pasted").set_value(json.dumps(fields))
        next(button for button in app.button if button.label == "Count it").click().run()
        assert not app.exception
        assert sentence in said(app)
    assert app.text_area(key="pasted").value == json.dumps(TINY)
