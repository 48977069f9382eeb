from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from transformers import (
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
)

import models
from inspector import record
from models import LoadedModel, fetch
from models.fetch import store
from models.registry import default_id, default_note, is_installed
from tests.closeness import assert_close


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny random BERT with the bundled tokenizer, as save_pretrained leaves it."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30522,
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
    )
    BertModel(config).save_pretrained(tmp_path)
    tokenizer = Tokenizer.from_file(str(fetch.folder("minilm") / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    special = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(tmp_path)
    return tmp_path


def test_the_bundled_weights_are_all_minilm_l6_v2() -> None:
    """sha256 of sentence-transformers/all-MiniLM-L6-v2's model.safetensors."""
    digest = hashlib.sha256((fetch.folder("minilm") / "model.safetensors").read_bytes()).hexdigest()
    assert digest == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def test_the_catalogue_loads(minilm: LoadedModel, minilm_own: LoadedModel) -> None:
    trained = ["minilm", "smollm2", "mini-bert", "mini-bert-zh", "mini-gpt", "translator", "minilm-own", "smollm2-own"]
    untrained = ["own-encoder", "own-decoder", "own-encoder-decoder"]
    assert [card.id for card in models.catalogue()] == [*trained, *untrained]
    assert minilm.card == models.catalogue()[0]
    assert minilm_own.card in models.catalogue()
    for loaded in (minilm, minilm_own):
        assert loaded.layers == 6
        assert loaded.max_tokens == 512
        assert not loaded.network.training
        assert not any(parameter.requires_grad for parameter in loaded.network.parameters())


@pytest.mark.heavy
@pytest.mark.parametrize("id", [card.id for card in models.catalogue() if is_installed(card.id)])
def test_a_tokenizer_alone_is_the_models(id: str) -> None:
    alone, loaded = models.load_tokenizer(id), models.load(id).tokenizer
    text = "Der Bäcker has 12  cats, 我爱水课。"
    assert alone.get_vocab() == loaded.get_vocab()
    assert alone(text)["input_ids"] == loaded(text)["input_ids"]
    assert alone.model_max_length == loaded.model_max_length


def test_a_tokenizer_alone_is_of_the_catalogue() -> None:
    with pytest.raises(ValueError, match="'no-model'"):
        models.load_tokenizer("no-model")


def test_without_fetched_weights_the_models_of_the_repository_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (default_id(), default_note()) == ("minilm", "")
    monkeypatch.setattr(store, "_found", lambda package: None)
    left = [card.id for card in models.catalogue() if is_installed(card.id)]
    assert left == ["mini-bert", "mini-bert-zh", "mini-gpt", "translator"]
    assert not is_installed("smollm2?scale=none")
    assert is_installed("org/name")
    assert default_id() == "mini-bert"
    assert "`python -m models.fetch minilm`. Until then mini-bert is the default." in default_note()


def test_a_local_folder(folder: Path) -> None:
    loaded = models.load(folder)
    trace = record(loaded, "The cat sat on the mat.")
    assert loaded.card.id == str(folder)
    assert [site.heads for site in trace.sites] == [2, 2]
    assert record(loaded, "cat " * 50).cut.kept == 32


def test_a_folders_model_in_the_own_transformer(folder: Path) -> None:
    theirs = models.load(folder)
    ours = models.own_implementation(theirs)
    assert ours.card.title.endswith("own implementation")
    assert (ours.layers, ours.max_tokens, ours.shape) == (theirs.layers, theirs.max_tokens, "encoder")
    one, other = (record(loaded, "The cat sat.", text_pair="It did.") for loaded in (theirs, ours))
    assert_close(other.output, one.output, relative=1e-5)
    assert_close(other.attention(layer=1), one.attention(layer=1), relative=1e-5)
    config = DistilBertConfig(vocab_size=30522, dim=8, n_heads=2, n_layers=1, hidden_dim=8)
    DistilBertModel(config).save_pretrained(folder)
    with pytest.raises(ValueError, match="DistilBertModel cannot become the own Transformer"):
        models.own_implementation(models.load(folder))


@pytest.mark.parametrize("name", ["nothing", "../etc", "\x1b[31m", "a" * 5000])
def test_an_unknown_model_is_a_sentence(name: str) -> None:
    with pytest.raises(ValueError, match=r"There is no model .*Choose one of minilm, minilm-own"):
        models.load(name)


def test_weights_that_were_not_fetched_are_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_found", lambda package: None)
    for load in (models.load, models.load_tokenizer):
        with pytest.raises(ValueError, match=r"^MiniLM is not here yet: .*`python -m models.fetch minilm`"):
            load("minilm")
        with pytest.raises(
            ValueError, match=r"The untrained models read with MiniLM's tokenizer.*`python -m models.fetch minilm`"
        ):
            load("own-encoder")


def test_a_decoder_from_a_folder(folder: Path) -> None:
    config = GPT2Config(vocab_size=30522, n_embd=8, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0)
    GPT2LMHeadModel(config).save_pretrained(folder)
    loaded = models.load(folder)
    assert (loaded.shape, loaded.backend, loaded.layers) == ("decoder", "probe", 1)
    assert record(loaded, "The cat sat.").sites[0].stream == "decoder"
    assert isinstance(loaded.generate("The cat", new_tokens=2), str)


def test_folders_that_hold_no_safe_model_are_refused(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.raises(ValueError, match=r"There is no config\.json"):
        models.load(tmp_path_factory.mktemp("empty"))
    weights = folder / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:1000])
    with pytest.raises(ValueError, match=r"weights of .* are damaged"):
        models.load(folder)
    weights.unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(ValueError, match="safetensors"):
        models.load(folder)
    weights.write_bytes(content)
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "evil/model"}', encoding="utf-8")
    with pytest.raises(ValueError, match="adapter"):
        models.load(folder)


def test_code_in_a_folder_is_never_run(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {"auto_map": {"AutoModel": "evil.Evil", "AutoConfig": "evil.Config"}, "model_type": "evil"}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "evil.py").write_text(f"open({str(folder / 'ran')!r}, 'w')", encoding="utf-8")
    with pytest.raises(ValueError, match="custom code is never run"):
        models.load(folder)
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("shape", ["encoder", "decoder", "encoder-decoder"])
def test_own_models_say_that_they_are_untrained(shape: str) -> None:
    loaded = models.load(f"own-{shape}")
    assert loaded.card in models.catalogue()
    assert "untrained" in loaded.card.title.lower()
    assert "untrained" in loaded.card.summary
    assert loaded.shape == shape
    assert not loaded.network.training
    assert not any(parameter.requires_grad for parameter in loaded.network.parameters())
    again = models.load(f"own-{shape}")
    for one, other in zip(loaded.network.parameters(), again.network.parameters(), strict=True):
        assert torch.equal(one, other)


def test_what_writes_writes_and_an_encoder_says_that_it_does_not(minilm: LoadedModel) -> None:
    for id in ("own-decoder", "own-encoder-decoder"):
        loaded = models.load(id)
        written = loaded.generate("I love cats.", new_tokens=5)
        assert isinstance(written, str)
        assert written == loaded.generate("I love cats.", new_tokens=5)
        assert "[CLS]" not in written
        assert len(loaded.generate_ids(loaded.encode("word " * 600), new_tokens=1)) <= 513
    for loaded in (minilm, models.load("own-encoder")):
        with pytest.raises(ValueError, match=r"is an encoder: it reads and does not write"):
            loaded.generate("I love cats.")
