"""A checkpoint comes back as it went; a missing or damaged one says which file and what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import inspector
import models
from models.checkpoints.store import CONFIG, TOKENIZER, WEIGHTS, read_checkpoint, write_checkpoint
from models.placement import Placement
from models.registry import load_checkpoint
from models.transformer import EncoderDecoder, build
from models.transformer.config import TransformerConfig
from models.transformer.masked_lm import MaskedLanguageModel
from models.transformer.subwords import train_subwords
from tests.closeness import assert_close

SIZES = {"layers": 1, "width": 16, "heads": 2, "ffn_width": 32, "max_positions": 20}
TEXTS = ["the cat sat on the mat"] * 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tokenizer = train_subwords(TEXTS, vocabulary=290)
    config = TransformerConfig(
        vocabulary=tokenizer.get_vocab_size(), shape="encoder-decoder", tied_embeddings="three-way", **SIZES
    )
    write_checkpoint(tmp_path, build(config), tokenizer)
    return tmp_path


def test_an_encoder_decoder_comes_back_in_half_precision(tmp_path: Path) -> None:
    tokenizer = train_subwords(TEXTS, vocabulary=290)
    config = TransformerConfig(
        vocabulary=tokenizer.get_vocab_size(), shape="encoder-decoder", tied_embeddings="three-way", **SIZES
    )
    network = build(config)
    write_checkpoint(tmp_path, network, tokenizer)
    shipped = read_checkpoint(tmp_path)
    assert isinstance(shipped.network, EncoderDecoder)
    assert shipped.config == config
    assert not shipped.network.training
    saved, loaded = network.state_dict(), shipped.network.state_dict()
    assert saved.keys() == loaded.keys()
    assert all(torch.equal(loaded[name], tensor.half().float()) for name, tensor in saved.items())
    assert shipped.network.decoder.head.weight is shipped.network.encoder.embedding.token.weight
    assert shipped.tokenizer("the cat")["input_ids"] == tokenizer.encode("the cat").ids
    # The three embeddings are one, in the file too.
    parameters = sum(parameter.numel() for parameter in network.parameters())
    assert (tmp_path / WEIGHTS).stat().st_size < 2 * parameters + 8000


def test_a_masked_language_model_comes_back(tmp_path: Path) -> None:
    tokenizer = train_subwords(TEXTS, vocabulary=290)
    network = MaskedLanguageModel(TransformerConfig(vocabulary=tokenizer.get_vocab_size(), **SIZES)).eval()
    write_checkpoint(tmp_path, network, tokenizer)
    shipped = read_checkpoint(tmp_path)
    assert isinstance(shipped.network, MaskedLanguageModel)
    ids = torch.tensor([tokenizer.encode("the cat").ids])
    expected = network.half().float()
    assert_close(shipped.network.logits(shipped.network(ids)), expected.logits(expected(ids)), relative=1e-5)


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS, TOKENIZER])
def test_a_missing_file_is_named_with_the_way_out(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ValueError, match="git checkout") as caught:
        read_checkpoint(folder)
    assert f"There is no file {folder / name}" in str(caught.value)


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS, TOKENIZER])
@pytest.mark.parametrize("content", [b"", b"{", b'{"transformer": {"vocabulary": 3}}', b"\xff\xfe\x00" * 50])
def test_a_damaged_file_is_named_with_the_way_out(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(ValueError, match="git checkout") as caught:
        read_checkpoint(folder)
    assert f"{folder / name} is damaged" in str(caught.value)


def test_a_truncated_weights_file_is_named(folder: Path) -> None:
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged"):
        read_checkpoint(folder)


def test_weights_of_another_size_are_named(folder: Path) -> None:
    about = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    about["transformer"]["ffn_width"] = 40
    (folder / CONFIG).write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(ValueError, match=r"model\.safetensors does not fit its config\.json: .*ffn"):
        read_checkpoint(folder)


def test_a_tokenizer_of_another_model_is_named(folder: Path) -> None:
    other = train_subwords(["quite another text"], vocabulary=270)
    (folder / TOKENIZER).write_text(other.to_str(), encoding="utf-8")
    with pytest.raises(ValueError, match=r"tokenizer\.json has 2\d\d tokens, .*config\.json \d+: they are of two"):
        read_checkpoint(folder)


def test_the_yardstick_is_not_shipped(folder: Path) -> None:
    network = torch.nn.Linear(2, 2)
    network.config = None
    with pytest.raises(ValueError, match="Linear is no own Transformer"):
        write_checkpoint(folder, network, train_subwords(TEXTS, vocabulary=290))


def test_the_registry_says_what_is_wrong_with_a_shipped_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.checkpoints.FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"There is no file .*translator.config\.json\. Get translator again with"):
        models.load("translator")


def test_a_masked_language_model_is_an_encoder_that_predicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = train_subwords(TEXTS, vocabulary=290)
    network = MaskedLanguageModel(TransformerConfig(vocabulary=tokenizer.get_vocab_size(), **SIZES))
    write_checkpoint(tmp_path / "masked", network, tokenizer)
    monkeypatch.setattr("models.checkpoints.FOLDER", tmp_path)
    loaded = load_checkpoint(Placement(), card=models.Card("masked", "Masked", "A test", "MIT"))
    trace = inspector.record(loaded, "the cat")
    assert [site.stream for site in trace.sites] == ["encoder"]
    logits = loaded.predict(torch.tensor(trace.output))
    assert logits.shape == (len(trace.tokens), tokenizer.get_vocab_size())
    with pytest.raises(ValueError, match="is an encoder: it reads and does not write"):
        loaded.generate("the cat")
