"""A recurrent encoder-decoder: an RNN reads the text in both directions, and another writes the answer.

With attention it is the model of Bahdanau et al. (2015), but for a linear layer where the paper has a maxout layer.
Without, the decoder gets one vector of the text, the same at every step, as in Cho et al. (2014), whose encoder reads
in one direction; here both have the same encoder, so that attention is the only difference.

Shapes: B batch, T source tokens, Q answer steps, D width, V vocabulary.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from models.recurrent.additive_attention import AdditiveAttention
from models.recurrent.config import Cell, RecurrentConfig

RNNS: dict[Cell, type[nn.GRU | nn.LSTM | nn.RNN]] = {"gru": nn.GRU, "lstm": nn.LSTM, "tanh": nn.RNN}
State: TypeAlias = tuple[Tensor, ...]  # of the decoder: (s,), or of an LSTM (s, its cell), each [B, D]


class EncodedSource(NamedTuple):
    """A text as the decoder gets it: every state with its key, and the last state of each direction, joined."""

    states: Tensor  # h_j [B, T, D]
    keys: Tensor  # U h_j [B, T, D]; of a network without attention empty
    last: Tensor  # [B, D]


class RecurrentEncoderDecoder(nn.Module):
    """An encoder-decoder of torch.nn's RNNs, as the configuration says."""

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        width, rnn = config.width, RNNS[config.cell]
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, width)
        self.encoder = rnn(width, width // 2, bidirectional=True, batch_first=True)
        self.first = nn.Linear(width, width)  # W_s of s_0
        self.attention = AdditiveAttention(width) if config.attention else None
        self.decoder = rnn(2 * width, width, batch_first=True)
        self.head = nn.Linear(3 * width, config.vocabulary)

    def forward(self, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor | None]:
        """Score what follows each token of the target (teacher forcing) -> logits [B, Q, V], weights [B, Q, T] or None.

        source [B, T] and target [B, Q] are token ids. Without attention all steps of torch's RNN run in one call; with
        attention each step's query is the state before it, so that they run one after the other.
        """
        read = self.encode(source)
        state, embedded = self.start(read), self.embedding(target)  # [B, Q, D]
        if self.attention is None:
            context = read.last[:, None].expand_as(embedded)
            states, _ = self.decoder(torch.cat([embedded, context], dim=-1), _given(state))
            logits: Tensor = self.head(torch.cat([states, embedded, context], dim=-1))
            return logits, None
        rows, maps = [], []
        for token in embedded.unbind(dim=1):
            row, state, weights = self._step(token, state, read)
            rows.append(row)
            maps.append(weights)
        return torch.stack(rows, dim=1), torch.stack([row for row in maps if row is not None], dim=1)

    def encode(self, source: Tensor) -> EncodedSource:
        """Read token ids [B, T] in both directions; h_j joins the two states at place j (section 3.2 of the paper)."""
        states, _ = self.encoder(self.embedding(source))
        half = states.shape[-1] // 2
        last = torch.cat([states[:, -1, :half], states[:, 0, half:]], dim=-1)  # each direction where it ends
        return EncodedSource(states, states[:, :0] if self.attention is None else self.attention.keys(states), last)

    def start(self, read: EncodedSource) -> State:
        """Make the decoder's first state: s_0 = tanh(W_s last); an LSTM's cell begins at 0 -> each [B, D].

        The paper takes the backward direction's last state alone; here both networks are given both.
        """
        first = torch.tanh(self.first(read.last))
        return (first, torch.zeros_like(first)) if isinstance(self.decoder, nn.LSTM) else (first,)

    def step(self, token: Tensor, state: State, read: EncodedSource) -> tuple[Tensor, State, Tensor | None]:
        """Read one token of the answer, ids [B] -> logits [B, V] of the next, the state after, weights [B, T] or None.

        s_i = f(s_(i-1), [y_(i-1); c_i]), logits = g([s_i; y_(i-1); c_i]), with f the cell and g a linear layer.
        """
        return self._step(self.embedding(token), state, read)

    def _step(self, embedded: Tensor, state: State, read: EncodedSource) -> tuple[Tensor, State, Tensor | None]:
        context, weights = read.last, None
        if self.attention is not None:
            context, weights = self.attention(state[0], read.keys, read.states)
        _, after = self.decoder(torch.cat([embedded, context], dim=-1)[:, None], _given(state))
        state = tuple(part[0] for part in (after if isinstance(after, tuple) else (after,)))
        return self.head(torch.cat([state[0], embedded, context], dim=-1)), state, weights

    @torch.inference_mode()
    def write(self, source: Tensor, *, start: int, steps: int, symbols: int) -> Tensor:
        """Write the likeliest of the first `symbols` tokens each time, from token `start` on -> ids [B, steps]."""
        read = self.encode(source)
        state, token, written = self.start(read), torch.full_like(source[:, 0], start), []
        for _ in range(steps):
            logits, state, _ = self.step(token, state, read)
            token = logits[:, :symbols].argmax(dim=-1)
            written.append(token)
        return torch.stack(written, dim=1)


def _given(state: State) -> Tensor | tuple[Tensor, ...]:
    """The state as torch.nn's RNNs take it: [1, B, D], of an LSTM a pair."""
    parts = tuple(part[None] for part in state)
    return parts[0] if len(parts) == 1 else parts
