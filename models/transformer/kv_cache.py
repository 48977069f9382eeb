"""The KV cache: keys and values of the tokens already read, so that only the new token is computed.

Why keys and values, and not queries? Token t's output is softmax(q_t K^T) V: it needs every earlier key and value, and
of the queries its own alone. In a causal model an earlier token's output never changes, so its query, once used, is
never read again. Keys and values are the same at every later step for the same reason: no token sees a later one. (In
an encoder a new token changes every old one, and with it their keys from the second layer on: nothing can be kept.)

Memory: 2 L K E numbers for each token, linear in the text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass(eq=False)
class KeyValue:
    """Keys and values of one attention layer, [B, K, T, E] each; None before the first token."""

    key: Tensor | None = None
    value: Tensor | None = None

    @property
    def length(self) -> int:
        """T, the number of cached tokens."""
        return 0 if self.key is None else self.key.shape[2]

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add keys and values of new tokens [B, K, Q, E]; return all keys and values [B, K, T + Q, E]."""
        if self.key is not None and self.value is not None:
            key, value = torch.cat([self.key, key], dim=2), torch.cat([self.value, value], dim=2)
        self.key, self.value = key, value
        return key, value

    def once(self, compute: Callable[[], tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
        """Return the source's keys and values, computed at the first step alone: the source does not grow."""
        if self.key is None or self.value is None:
            self.key, self.value = compute()
        return self.key, self.value

    def take(self, rows: Tensor) -> None:
        """Keep the texts `rows` of the batch, in that order; a text may be taken twice."""
        if self.key is not None and self.value is not None:
            self.key, self.value = self.key[rows], self.value[rows]


@dataclass(eq=False)
class LayerCache:
    """The keys and values that one decoder layer keeps: of the text so far, and of the source."""

    text: KeyValue = field(default_factory=KeyValue)
    source: KeyValue = field(default_factory=KeyValue)


class KVCache:
    """The cache of a decoder with L layers, filled by its forward; a module shared by layers has one entry for each."""

    def __init__(self, layers: int) -> None:
        self.layers = [LayerCache() for _ in range(layers)]

    @property
    def length(self) -> int:
        """The number of tokens in the cache, which is the position of the next token."""
        return self.layers[0].text.length

    @property
    def nbytes(self) -> int:
        """Bytes of all keys and values."""
        tensors = (tensor for part in self._parts() for tensor in (part.key, part.value) if tensor is not None)
        return sum(tensor.nbytes for tensor in tensors)

    def take(self, rows: Tensor) -> None:
        """Keep the texts `rows` of the batch, in that order: in beam search a beam can go on twice."""
        for part in self._parts():
            part.take(rows)

    def _parts(self) -> list[KeyValue]:
        return [part for layer in self.layers for part in (layer.text, layer.source)]
