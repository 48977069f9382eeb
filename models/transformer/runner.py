"""The project's Transformer as the inspector runs it: read a text, read a source and a target, write, predict.

```python
runner = OwnRunner.of(Decoder(config), tokenizer)
hidden = runner.read(ids, keep, segments)
```
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from models.decoding import BeamAnswer, BeamStep, DecodedStep, Decoding, LengthPenalty, Watch
from models.matrix_products import MatrixProducts
from models.placement import dtype_of, input_device
from models.transformer.generation import NextToken, beam_search, chooser, extend, greedy, likeliest
from models.transformer.masked_lm import MaskedLanguageModel
from models.transformer.stacks import Decoder, Encoder, EncoderDecoder


@dataclass(frozen=True)
class OwnRunner:
    """Runs one of the project's Transformers (see `models.loaded.Runner`).

    head: the network that holds the language head; None where tokens are not predicted.
    start: the id of the token that begins a target ([CLS] of a BERT's tokenizer); None for a tokenizer without.
    ends: the ids of the tokens that end a text ([SEP] of a BERT's tokenizer).
    beams: how many beams an encoder-decoder writes with; 1 for greedy decoding.
    """

    network: Encoder | Decoder | EncoderDecoder
    head: Decoder | EncoderDecoder | MaskedLanguageModel | None
    start: int | None
    ends: frozenset[int]
    beams: int = 1

    length_penalty: ClassVar[float] = 0.6
    divides_by: ClassVar[LengthPenalty] = "wu"

    @classmethod
    def of(
        cls,
        network: Encoder | Decoder | EncoderDecoder | MaskedLanguageModel,
        tokenizer: Any,
        *,
        beams: int = 1,
        ends: frozenset[int] = frozenset(),
    ) -> OwnRunner:
        """Take the head that the configuration names, and the tokenizer's tokens that begin and end a text.

        ends: those that end a text, where they are not the tokenizer's.
        """
        start, end = tokenizer.cls_token_id, tokenizer.sep_token_id
        ends = ends or (frozenset() if end is None else frozenset({end}))
        if isinstance(network, MaskedLanguageModel):
            return cls(network.encoder, network, start, ends, beams)
        head = None if isinstance(network, Encoder) or not network.config.output_head else network
        return cls(network, head, start, ends, beams)

    @property
    def whole(self) -> Encoder | Decoder | EncoderDecoder | MaskedLanguageModel:
        """The network with its language head, where it has one."""
        return self.network if self.head is None else self.head

    @property
    def reads_pairs(self) -> bool:
        """True if the network reads a source and a target."""
        return isinstance(self.network, EncoderDecoder)

    @property
    def writes(self) -> bool:
        """True if the network writes: a decoder or an encoder-decoder with a language head."""
        return self.predicts and not isinstance(self.network, Encoder)

    @property
    def predicts(self) -> bool:
        """True if the network has a language head."""
        return self.head is not None

    def read(self, ids: Tensor, keep: Tensor, segments: Tensor) -> Tensor:
        """Run ids, keep and segments [B, T] -> last hidden state [B, T, D]; an encoder-decoder runs its encoder."""
        network = self.network.encoder if isinstance(self.network, EncoderDecoder) else self.network
        device = input_device(network)
        takes = {"segments": segments.to(device)} if network.config.segments else {}
        hidden: Tensor = network(ids.to(device), keep=keep, **takes)  # masks are rules, and stay on the CPU
        return hidden.cpu()

    def read_packed(
        self, ids: Tensor, texts: Tensor, segments: Tensor, *, masked: bool = True, restart: bool = True
    ) -> Tensor:
        """Run rows of several texts each, [B, T] -> last hidden state [B, T, D].

        texts: the number of the text of each token. masked: whether texts are hidden from each other; restart: whether
        positions of a table begin anew with each text. Raises ValueError for an encoder-decoder, for masked=False with
        restart=True.
        """
        if isinstance(self.network, EncoderDecoder):
            raise ValueError("an encoder-decoder reads a source and a target, and packs neither; pad them")
        if restart and not masked:
            raise ValueError("positions begin anew where texts are told apart; leave the mask on, or restart off")
        device = input_device(self.network)
        takes = {"segments": segments.to(device)} if self.network.config.segments else {}
        packed = {"texts": texts, "restart": restart} if masked else {}
        hidden: Tensor = self.network(ids.to(device), **takes, **packed)
        return hidden.cpu()

    def read_pair(self, ids: Tensor, keep: Tensor, target: Tensor) -> Tensor:
        """Run a source's ids and keep [B, T] and the decoder's ids [B, Q] -> last hidden state [B, Q, D]."""
        device = input_device(self.network)
        hidden: Tensor = self.network(ids.to(device), target.to(device), source_keep=keep)
        return hidden.cpu()

    def write(self, ids: Tensor, new_tokens: int) -> Tensor:
        """Write after ids [1, T], a source or the beginning of a text -> [1, N].

        The result starts with the start token or the given beginning. At most `new_tokens` more follow, up to the end
        token: the likeliest token each time, or the best text of a beam.
        """
        ask, begun = self.begin(ids)
        if self.beams > 1:
            return beam_search(ask, begun, new_tokens=new_tokens, beams=self.beams, ends=self.ends)[0][None]
        return greedy(ask, begun, new_tokens=new_tokens, ends=self.ends)

    def begin(self, ids: Tensor, *, cached: bool = True) -> tuple[NextToken, Tensor]:
        """Prepare to write after ids [1, T], a source or the beginning of a text.

        Returns the model to ask for each next token, and the ids before the first new token: the start [1, 1], or the
        given beginning.
        """
        if isinstance(self.network, Encoder):
            raise ValueError("an encoder reads and does not write; choose a decoder or an encoder-decoder")
        if isinstance(self.network, EncoderDecoder):
            assert self.start is not None  # the tokenizers of the encoder-decoders that come with Headlight have one
            return NextToken(self.network, source=ids, cached=cached), ids.new_full((1, 1), self.start)
        return NextToken(self.network, cached=cached), ids

    @torch.inference_mode()
    def decode(self, ids: Tensor, how: Decoding, *, new_tokens: int, watch: Watch, cached: bool = True) -> Tensor:
        """Write after ids [1, T] token by token -> [1, N]; see `models.loaded.Runner.decode`."""
        choose, flops = chooser(how), 0
        ask, begun = self.begin(ids, cached=cached)

        def asked(ids: Tensor, rows: Tensor | None) -> Tensor:
            nonlocal flops
            with MatrixProducts() as counted:
                logits = ask(ids, rows)
            flops = counted.flops
            return logits

        def seen(logits: Tensor) -> Tensor:
            token = choose(logits)
            scores = likeliest(logits / how.temperature, top_k=how.top_k, top_p=how.top_p) if how.sampled else logits
            cache_bytes = 0 if ask.cache is None else ask.cache.nbytes
            watch(DecodedStep(logits[0], scores[0], int(token), flops, cache_bytes))
            return token

        return extend(asked, begun, seen, new_tokens=new_tokens, ends=self.ends)

    @torch.inference_mode()
    def follow(self, ids: Tensor, *, source: Tensor | None = None, watch: Watch, cached: bool = True) -> None:
        """Read given ids [1, T] one after the other; see `models.loaded.Runner.follow`."""
        if isinstance(self.network, Encoder):
            raise ValueError("an encoder reads a text at once, not step by step; choose a decoder")
        ask = NextToken(self.network, source=source, cached=cached)
        for read in range(1, ids.shape[1] + 1):
            with MatrixProducts() as counted:
                logits = ask(ids[:, :read])
            cache_bytes = 0 if ask.cache is None else ask.cache.nbytes
            watch(DecodedStep(logits[0], logits[0], int(logits[0].argmax()), counted.flops, cache_bytes))

    @torch.inference_mode()
    def search(
        self,
        ids: Tensor,
        *,
        beams: int,
        new_tokens: int,
        length_penalty: float | None = None,
        watch: Callable[[BeamStep], None],
    ) -> BeamAnswer:
        """Search with beams for the text after ids [1, T]; see `models.loaded.Runner.search`."""
        ask, begun = self.begin(ids)
        penalty = self.length_penalty if length_penalty is None else length_penalty
        text, score = beam_search(
            ask, begun, new_tokens=new_tokens, beams=beams, ends=self.ends, length_penalty=penalty, watch=watch
        )
        return BeamAnswer(tuple(text[begun.shape[1] :].tolist()), score, open_could_win=True)

    def predict(self, hidden: Tensor) -> Tensor:
        """Turn hidden states [..., D], in any dtype, into logits [..., V]."""
        if self.head is None:
            raise ValueError("this network has no language head; choose a model that predicts tokens")
        return self.head.logits(hidden.to(input_device(self.head), dtype_of(self.head))).cpu()
