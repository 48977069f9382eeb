"""Batches of examples of about the same length, so that little of a batch is padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class TrainingExample:
    """Token ids of a text and of its translation; the target is empty for a masked language model."""

    source: tuple[int, ...]
    target: tuple[int, ...] = ()

    def __len__(self) -> int:
        return max(len(self.source), len(self.target))


@dataclass(frozen=True)
class TokenBatch:
    """source [B, T] and target [B, Q], padded; keep, target_keep: True on real tokens. Q is 0 without targets."""

    source: Tensor
    keep: Tensor
    target: Tensor
    target_keep: Tensor

    def to(self, device: torch.device) -> TokenBatch:
        """Copy the batch to another device."""
        return TokenBatch(
            self.source.to(device), self.keep.to(device), self.target.to(device), self.target_keep.to(device)
        )


def buckets(examples: Sequence[TrainingExample], *, batch_tokens: int, seed: int) -> list[list[int]]:
    """Divide the examples' indices into batches of rows * longest row <= batch_tokens, each example once.

    The examples are sorted by length, in random order where lengths are equal; then the batches are shuffled. The
    number of batches follows from the lengths alone, so every epoch has the same number.

    Raises ValueError for an example longer than a batch.
    """
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(examples), generator=generator).tolist()
    order.sort(key=lambda index: (len(examples[index]), len(examples[index].source)))
    if order and len(examples[order[-1]]) > batch_tokens:
        raise ValueError(f"a text of {len(examples[order[-1]])} tokens in batches of {batch_tokens}; cut it before")
    batches: list[list[int]] = []
    for index in order:
        if not batches or (len(batches[-1]) + 1) * len(examples[index]) > batch_tokens:
            batches.append([])
        batches[-1].append(index)
    return [batches[place] for place in torch.randperm(len(batches), generator=generator).tolist()]


def collate(examples: Sequence[TrainingExample], *, padding: int) -> TokenBatch:
    """Pad the examples and stack them into one batch."""
    source, keep = _padded([example.source for example in examples], padding)
    target, target_keep = _padded([example.target for example in examples], padding)
    return TokenBatch(source, keep, target, target_keep)


def _padded(rows: Sequence[Sequence[int]], padding: int) -> tuple[Tensor, Tensor]:
    lengths = torch.tensor([len(row) for row in rows])
    longest = int(lengths.max())
    ids = torch.tensor([[*row, *[padding] * (longest - len(row))] for row in rows], dtype=torch.long)
    return ids.reshape(len(rows), longest), torch.arange(longest) < lengths[:, None]


@dataclass(frozen=True)
class Phase:
    """A part of a training: examples, read `epochs` times in batches of at most `batch_tokens`."""

    examples: Sequence[TrainingExample]
    batch_tokens: int
    epochs: int

    def count(self, *, seed: int) -> int:
        """Count the batches of all epochs."""
        return self.epochs * len(buckets(self.examples, batch_tokens=self.batch_tokens, seed=seed))


def batches_of(phases: Sequence[Phase], *, padding: int, seed: int, done: int) -> Iterator[TokenBatch]:
    """Yield the batches of all phases, one after the other, except the first `done`."""
    for phase in phases:
        count = phase.count(seed=seed)
        yield from batches_from(
            phase.examples,
            batch_tokens=phase.batch_tokens,
            padding=padding,
            seed=seed,
            done=min(done, count),
            epochs=phase.epochs,
        )
        done -= min(done, count)


def batches_from(
    examples: Sequence[TrainingExample], *, batch_tokens: int, padding: int, seed: int, done: int, epochs: int
) -> Iterator[TokenBatch]:
    """Yield the batches of all epochs except the first `done`; `seed` and the epoch's number give an epoch's order."""
    for epoch in range(epochs):
        order = buckets(examples, batch_tokens=batch_tokens, seed=seed + epoch)
        skipped = min(done, len(order))
        done -= skipped
        for indices in order[skipped:]:
            yield collate([examples[index] for index in indices], padding=padding)
