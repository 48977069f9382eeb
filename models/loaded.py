"""A model ready to be inspected, its runner, and the card that a reader sees before choosing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

# torch and transformers take seconds to import: they come with the first model, so that the page is drawn before.
if TYPE_CHECKING:
    from torch import Tensor, nn

    from models.decoding import BeamAnswer, BeamStep, Decoding, LengthPenalty, Watch
    from models.tokenizers import Encoding

Shape = Literal["encoder", "decoder", "encoder-decoder"]
Backend = Literal["own", "probe", "eager output"]


@dataclass(frozen=True)
class Card:
    """The facts of a model that a reader sees before choosing it.

    trained: False where the weights are random and show nothing but the architecture.
    redrawn: of a variant the share of the weights that was drawn anew, from 0 to 1; None for a model as it is.
    parameters: how many numbers its weights are, where they are so many that room is made before they are read; else 0.
    """

    id: str
    title: str
    summary: str
    licence: str
    shape: Shape = "encoder"
    trained: bool = True
    redrawn: float | None = None
    parameters: int = 0


class Runner(Protocol):
    """Runs a network. Inputs and outputs are on the CPU, wherever the network is."""

    @property
    def reads_pairs(self) -> bool:
        """True if the network is made for `read_pair`: an encoder-decoder."""

    @property
    def writes(self) -> bool:
        """True if the network is made for `write`: a decoder or an encoder-decoder with a language head."""

    @property
    def predicts(self) -> bool:
        """True if the network is made for `predict`: it has a language head that can be run alone."""

    def read(self, ids: Tensor, keep: Tensor, segments: Tensor) -> Tensor:
        """Run ids, keep (boolean, False on padding) and segments [B, T] -> last hidden state [B, T, D].

        An encoder-decoder gives its encoder's last hidden state.
        """

    def read_pair(self, ids: Tensor, keep: Tensor, target: Tensor) -> Tensor:
        """Run a source's ids and keep [B, T] and the target ids [B, Q] that the decoder reads -> the decoder's last
        hidden state [B, Q, D].
        """

    def write(self, ids: Tensor, new_tokens: int) -> Tensor:
        """Write at most `new_tokens` after ids [1, T], a source or the beginning of a text -> ids [1, N]."""

    @property
    def ends(self) -> frozenset[int]:
        """The ids of the tokens that end a text."""

    @property
    def length_penalty(self) -> float:
        """The exponent of a beam search's length penalty, the model's own."""

    @property
    def divides_by(self) -> LengthPenalty:
        """The kind of a beam search's length penalty."""

    def decode(self, ids: Tensor, how: Decoding, *, new_tokens: int, watch: Watch, cached: bool = True) -> Tensor:
        """Write at most `new_tokens` after ids [1, T], a source or the beginning of a text -> ids [1, N].

        Each new token is reported to `watch` as it is chosen; an exception of it ends the writing. cached: with the KV
        cache, or all tokens again at every step. Raises ValueError for a way to draw that cannot draw.
        """

    def follow(self, ids: Tensor, *, source: Tensor | None = None, watch: Watch, cached: bool = True) -> None:
        """Read given ids [1, T] one after the other, as if they had been written, and report each to `watch`.

        The first step reads the first id; the token of a step is the likeliest, whatever id is given next. source: the
        ids of an encoder-decoder's source, None for a decoder. cached: as in `decode`.
        """

    def search(
        self,
        ids: Tensor,
        *,
        beams: int,
        new_tokens: int,
        length_penalty: float | None = None,
        watch: Callable[[BeamStep], None],
    ) -> BeamAnswer:
        """Search with beams for the text after ids [1, T], and report every step; length_penalty: None for its own."""

    def predict(self, hidden: Tensor) -> Tensor:
        """Turn the last hidden state [B, T, D] into logits [B, T, V].

        The logits predict the token at that position (a masked language model), or the next token.
        """


@dataclass(frozen=True)
class LoadedModel:
    """A model ready to be inspected, shared by all its readers: nothing here is ever changed.

    network: the project's Transformer or a transformers model, in eval mode.
    config: TransformerConfig or a transformers configuration.
    runner: runs the network; `run`, `run_pair`, `write` and `predict` are the runner's methods.
    layers: how many attention layers one forward runs; a decoder that reads a source has two in each layer.
    max_tokens: the longest text that the model can read, special tokens included.
    backend: how its attention is seen: "own" and "probe" through `models.attention.attend`, "eager output" from its
    eager attention's softmax. linear: whether a recording grows with the text; where it is False, with its square,
    for the maps of an "eager output" that cannot be made again are kept.
    start: the id that a decoder begins its target with, where the tokenizer does not write it.
    live: the weights are those of a model in memory (`models.of`), which may be trained on after a recording.
    """

    card: Card
    network: nn.Module
    config: Any
    tokenizer: Any
    runner: Runner
    layers: int
    max_tokens: int
    backend: Backend = "own"
    linear: bool = True
    start: int | None = None
    live: bool = False

    def __repr__(self) -> str:
        """Name the model, and what it reads, in a line."""
        reads = f"{self.shape} of {self.layers} attentions, reads {self.max_tokens:,} tokens"
        return f"<LoadedModel {self.card.id!r}: {self.card.title!r}, {reads}, {self.placed}>"

    @property
    def shape(self) -> Shape:
        """encoder, decoder or encoder-decoder."""
        return self.card.shape

    @property
    def run(self) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
        """The runner's `read`: (ids, keep, segments), each [B, T] -> last hidden state [B, T, D]."""
        return self.runner.read

    @property
    def run_pair(self) -> Callable[[Tensor, Tensor, Tensor], Tensor] | None:
        """The runner's `read_pair`: (source ids, source keep, target ids) -> [B, Q, D]; None for a single stack."""
        return self.runner.read_pair if self.runner.reads_pairs else None

    @property
    def write(self) -> Callable[[Tensor, int], Tensor] | None:
        """The runner's `write`: (ids [1, T], new tokens at most) -> ids [1, N]; None where the model does not write."""
        return self.runner.write if self.runner.writes else None

    @property
    def predict(self) -> Callable[[Tensor], Tensor] | None:
        """The runner's `predict`: last hidden state [B, T, D] -> logits [B, T, V]; None without a language head."""
        return self.runner.predict if self.runner.predicts else None

    @property
    def placed(self) -> str:
        """The dtype and the devices of the weights, such as "float32 on cpu"."""
        from models.placement import describe_placement

        return describe_placement(self.network)

    @property
    def fills_masks(self) -> bool:
        """True if the model guesses hidden tokens from both sides: a masked language model."""
        return self.shape == "encoder" and self.predict is not None

    def encode(self, text: str, *, text_pair: str | None = None) -> Encoding:
        """Tokenize for this model and cut to its longest text.

        Raises ValueError for a text without tokens.
        """
        from models.tokenizers import encode

        return encode(self.tokenizer, text, text_pair=text_pair, max_tokens=self.max_tokens)

    def generate(self, text: str, *, new_tokens: int = 40) -> str:
        """Write the target of a source (the translator: by beam search), or continue the text.

        Raises ValueError for a model that does not write, or an empty text.
        """
        ids = self.generate_ids(self.encode(text), new_tokens=new_tokens)
        begun = 0 if self.shape == "encoder-decoder" else len(self.encode(text).without_end())
        written: str = self.tokenizer.decode(ids[begun:], skip_special_tokens=True)
        return written

    def generate_ids(self, encoding: Encoding, *, new_tokens: int) -> list[int]:
        """Generate token ids, from the start token on; see `generate`."""
        import torch

        if self.write is None:
            raise ValueError(f"{self.card.id} is an encoder: it reads and does not write; choose a model that decodes")
        ids = encoding.ids if self.shape == "encoder-decoder" else encoding.without_end().ids
        room = self.max_tokens - (1 if self.shape == "encoder-decoder" else len(ids))
        if room < 1:
            raise ValueError(f"the text has {len(ids)} tokens and the model {self.max_tokens} positions; shorten it")
        written: list[int] = self.write(torch.tensor([ids]), min(new_tokens, room))[0].tolist()
        return written
