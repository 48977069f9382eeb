"""The Generate page with models of transformers, from folders: decoders, an encoder-decoder, a hybrid."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import models
from inspector.text import token_name
from tests.inspector.probe.families import CAPTURED, save
from tests.inspector.views.generate.test_page import figure, section, text_so_far
from tests.inspector.views.page import forget, messages, opened, pressed, said, sentence

TEXT = "the cat sat on the log"
NAMES = ("gpt2", "marian", "qwen3_next")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("root")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_ROOT", str(root))
        forget()
        for family in CAPTURED:
            if family.name in NAMES:
                save(family, root / family.name)
                app = opened(state={"picker.open": True}, model="own-encoder", text=TEXT)
                app.text_input(key="picker.other").set_value(str(root / family.name))
                pressed(pressed(app, "look"), "load")
        yield root
        forget()


@pytest.mark.parametrize("name", NAMES)
def test_it_writes_what_its_own_generate_writes(folder: Path, name: str) -> None:
    model = str(folder / name)
    link = {"text": TEXT, "new_tokens": "5", "beams": "2", "step": "3", "cache_counted": "true"}
    app = opened("Generate", state={"added": [model]}, model=model, **link)
    assert not app.exception
    loaded = models.load(model)
    encoding = loaded.encode(TEXT)
    ids = torch.tensor([encoding.ids if loaded.shape == "encoder-decoder" else encoding.without_end().ids])
    written = loaded.network.generate(
        input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=5, do_sample=False, num_beams=1
    )[0].tolist()
    begun = 1 if loaded.shape == "encoder-decoder" else ids.shape[1]
    tokens = loaded.tokenizer.convert_ids_to_tokens(written[begun:])
    assert text_so_far(app)["tokens"] == list(map(token_name, tokens))
    assert sentence(app).startswith("At step 3 the model ")
    assert len(messages(app, "matrix")) == (2 if loaded.shape == "encoder-decoder" else 1)
    if name == "qwen3_next":
        assert app.selectbox(key="gen_layer").value == 1  # layer 0 does not attend
    section(app, "KV cache")
    assert "times fewer FLOPs" in sentence(app)
    if name != "qwen3_next":  # whose layers without attention keep states of another kind
        assert "takes as many FLOPs as were measured, to the last; the cache ends with" in said(app)
        assert "bytes both ways" in said(app)
    assert figure(section(app, "Beam search"), "tree")["data"]
