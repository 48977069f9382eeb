"""An own Transformer as the inspector runs it: read a text, read a source and a target, write.

What goes in and what comes out is on the CPU, wherever the network is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from torch import Tensor, nn

from models.placed import dtype_of, input_device
from models.transformer.generation import NextToken, beam_search, greedy
from models.transformer.stacks import Decoder, Encoder, EncoderDecoder


@dataclass(frozen=True)
class Running:
    """start, end: ids of the tokens that begin and end a text ([CLS] and [SEP] of a BERT's tokenizer).

    beams: of an encoder-decoder; 1 for greedy decoding.
    """

    network: Encoder | Decoder | EncoderDecoder
    start: int
    end: int
    beams: int = 1

    @classmethod
    def of(cls, network: Encoder | Decoder | EncoderDecoder, tokenizer: Any, *, beams: int = 1) -> Running:
        """With the tokenizer's own start and end."""
        return cls(network, tokenizer.cls_token_id, tokenizer.sep_token_id, beams)

    def read(self, ids: Tensor, keep: Tensor, segments: Tensor) -> Tensor:
        """ids, keep and segments [B, T] -> last hidden state [B, T, D]; of an encoder-decoder, its encoder's."""
        network = self.network.encoder if isinstance(self.network, EncoderDecoder) else self.network
        there = input_device(network)
        takes = {"segments": segments.to(there)} if network.config.segments else {}
        hidden: Tensor = network(ids.to(there), keep=keep, **takes)  # masks are rules, and stay where they are
        return hidden.cpu()

    def read_pair(self, ids: Tensor, keep: Tensor, target: Tensor) -> Tensor:
        """ids and keep [B, T] of the source, target [B, Q], what the decoder reads -> last hidden state [B, Q, D]."""
        there = input_device(self.network)
        hidden: Tensor = self.network(ids.to(there), target.to(there), source_keep=keep)
        return hidden.cpu()

    def write(self, ids: Tensor, new_tokens: int) -> Tensor:
        """ids [1, T], a source or the beginning of a text -> [1, N]: the start or that beginning, then at most
        `new_tokens` more, up to the end token: the likeliest each time, or the best text of a beam.
        """
        ask, begun = self.begin(ids)
        if self.beams > 1:
            return beam_search(ask, begun, new_tokens=new_tokens, beams=self.beams, end=self.end)[0][None]
        return greedy(ask, begun, new_tokens=new_tokens, end=self.end)

    def begin(self, ids: Tensor, *, cached: bool = True) -> tuple[NextToken, Tensor]:
        """ids [1, T], a source or the beginning of a text -> the model to be asked for each next token, and what is
        written before the first: the start [1, 1], or that beginning.
        """
        if isinstance(self.network, Encoder):
            raise ValueError("an encoder reads and does not write; choose a decoder or an encoder-decoder")
        if isinstance(self.network, EncoderDecoder):
            return NextToken(self.network, source=ids, cached=cached), ids.new_full((1, 1), self.start)
        return NextToken(self.network, cached=cached), ids


def predicting(network: nn.Module) -> Callable[[Tensor], Tensor]:
    """The head of an own network: hidden states [..., D], in any dtype -> logits [..., V]."""
    logits = cast("Callable[[Tensor], Tensor]", network.logits)

    def predict(hidden: Tensor) -> Tensor:
        return logits(hidden.to(input_device(network), dtype_of(network))).cpu()

    return predict
