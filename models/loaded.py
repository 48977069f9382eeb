"""A model ready to be inspected, and what a reader should know of it before choosing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

# torch and transformers take seconds to import: they come with the first model, so that the page is drawn before.
if TYPE_CHECKING:
    from torch import Tensor, nn

    from models.tokenizers import Encoding
    from models.transformer.config import Shape

Backend = Literal["own", "probe", "eager output"]


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
    predict: where the model predicts tokens: last hidden state [B, T, D] -> logits [B, T, V] of the token that stands
    there (a masked language model) or comes next.
    backend: how its attention is seen: "own" and "probe" through `models.attention.attend`, "eager output" from its
    eager attention's softmax. linear: whether a recording grows with the text; where it is False, with its square,
    for the maps of an "eager output" that cannot be made again are kept.
    start: the id that a decoder begins its target with, where the tokenizer does not write it.
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
    backend: Backend = "own"
    linear: bool = True
    start: int | None = None

    @property
    def shape(self) -> Shape:
        """encoder, decoder or encoder-decoder."""
        return self.card.shape

    @property
    def layers(self) -> int:
        """How many layers of attention the configuration names; an encoder-decoder's decoder has two in each."""
        if self.backend != "own":
            from models.huggingface.runner import attention_count

            return attention_count(self.config, shape=self.shape)
        cross_and_own = 2 * self.config.decoder_depth if self.shape == "encoder-decoder" else 0
        return int(self.config.layers + cross_and_own)

    @property
    def placed(self) -> str:
        """The dtype and the devices of its weights, such as "float32 on cpu"."""
        from models.placed import in_words

        return in_words(self.network)

    @property
    def fills_masks(self) -> bool:
        """Whether it guesses hidden tokens from both sides: a masked language model."""
        return self.shape == "encoder" and self.predict is not None

    def encode(self, text: str, *, text_pair: str | None = None) -> Encoding:
        """Tokenize for this model, cut to what it can read; ValueError where there is nothing to read."""
        from models.tokenizers import encode

        return encode(self.tokenizer, text, text_pair=text_pair, max_tokens=self.max_tokens)

    def generate(self, text: str, *, new_tokens: int = 40) -> str:
        """What the model writes: the target of a source (the translator: by beam search), or how the text goes on.

        Raises ValueError for a model that does not write, or an empty text.
        """
        ids = self.generate_ids(self.encode(text), new_tokens=new_tokens)
        begun = 0 if self.shape == "encoder-decoder" else len(self.encode(text).without_end())
        written: str = self.tokenizer.decode(ids[begun:], skip_special_tokens=True)
        return written

    def generate_ids(self, encoding: Encoding, *, new_tokens: int) -> list[int]:
        """As `generate`, but the token ids, from the start token on."""
        import torch

        if self.write is None:
            raise ValueError(f"{self.card.id} is an encoder: it reads and does not write; choose a model that decodes")
        ids = encoding.ids if self.shape == "encoder-decoder" else encoding.without_end().ids
        room = self.max_tokens - (1 if self.shape == "encoder-decoder" else len(ids))
        if room < 1:
            raise ValueError(f"the text has {len(ids)} tokens and the model {self.max_tokens} positions; shorten it")
        written: list[int] = self.write(torch.tensor([ids]), min(new_tokens, room))[0].tolist()
        return written
