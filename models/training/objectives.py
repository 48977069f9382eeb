"""The training objectives: the cross-entropy of the target's tokens, of hidden tokens, or of each next token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from models.training.batches import TokenBatch
from models.training.recipes import Objective
from models.transformer import shift_right

IGNORED = -100  # the label of a token that is not predicted, as in torch's cross_entropy
SHARE_HIDDEN, SHARE_MASKED, SHARE_RANDOM = 0.15, 0.8, 0.1  # Devlin et al. 2019, section 3.1 and appendix A.1


class Predictor(Protocol):
    """A network that can be trained: a call returns hidden states, and `logits` turns them into predictions."""

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the last hidden states -> [B, T, D]."""
        ...

    def logits(self, hidden: Tensor) -> Tensor:
        """Predict tokens: hidden [..., D] -> [..., V]."""
        ...


@dataclass(frozen=True)
class Vocabulary:
    """The size of the vocabulary and the ids of its special tokens."""

    size: int
    padding: int
    start: int
    end: int
    mask: int
    specials: int  # ids below this one are special tokens


def predictions(
    network: Predictor,
    batch: TokenBatch,
    *,
    objective: Objective,
    vocabulary: Vocabulary,
    seed: int,
    hidden_share: float = SHARE_HIDDEN,
) -> tuple[Tensor, Tensor]:
    """Return the logits [N, V] of the N tokens that are predicted, and their true ids [N].

    objective: "translate" predicts every token of the target from the true tokens before it; "mask" predicts the
    share `hidden_share` of the text's tokens, which `seed` chooses; "write" predicts every token of the text from those
    before it.
    """
    if objective == "translate":
        # Padding stands at the end, where the causal mask hides it from every real token: target_keep is not needed.
        read = shift_right(batch.target, start=vocabulary.start)
        hidden = network(batch.source, read, source_keep=batch.keep)
        labels = batch.target.masked_fill(~batch.target_keep, IGNORED)
    elif objective == "mask":
        ids, labels = hide(batch.source, batch.keep, vocabulary=vocabulary, seed=seed, share=hidden_share)
        hidden = network(ids, keep=batch.keep)
    else:
        hidden = network(batch.source[:, :-1])
        labels = batch.source.masked_fill(~batch.keep, IGNORED)[:, 1:]
    chosen = labels != IGNORED
    return network.logits(hidden[chosen]), labels[chosen]


def loss(logits: Tensor, labels: Tensor, *, label_smoothing: float) -> Tensor:
    """Average -sum_v q(v) log p(v) over tokens, in nats, with q(v) = (1 - e) [v is the label] + e / V.

    logits [N, V], labels [N]. e, label_smoothing: Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4.
    """
    return nn.functional.cross_entropy(logits.float(), labels, label_smoothing=label_smoothing)


def hide(
    ids: Tensor,
    keep: Tensor,
    *,
    vocabulary: Vocabulary,
    seed: int,
    share: float = SHARE_HIDDEN,
    at_least_one: bool = True,
) -> tuple[Tensor, Tensor]:
    """Choose a share of the tokens, 15 %, to be predicted; of these 80 % become [MASK], 10 % any token, 10 % stay.

    ids and keep [B, T] -> ids to read and labels [B, T], IGNORED where nothing is predicted. Special tokens and
    padding are never chosen; where chance chooses no token of the batch, the first token is chosen, unless
    at_least_one is False.
    """
    generator = torch.Generator().manual_seed(seed)
    ids_here, text = ids.cpu(), (keep & (ids >= vocabulary.specials)).cpu()
    chosen = (torch.rand(ids.shape, generator=generator) < share) & text
    if at_least_one and not chosen.any():
        chosen.view(-1)[text.flatten().nonzero()[:1]] = True
    fate = torch.rand(ids.shape, generator=generator)
    random = torch.randint(vocabulary.specials, vocabulary.size, ids.shape, generator=generator)
    hidden = ids_here.masked_fill(chosen & (fate < SHARE_MASKED), vocabulary.mask)
    hidden = torch.where(chosen & (fate >= 1 - SHARE_RANDOM), random, hidden)
    return hidden.to(ids.device), ids_here.masked_fill(~chosen, IGNORED).to(ids.device)
