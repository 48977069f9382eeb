"""Random tokens that repeat: what an induction head is trained and measured on (Olsson et al. 2022).

In a text that repeats at random nothing but the first time tells how the second goes on. A head that finds the token
after the last place of the token at hand is an induction head.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from models.attention import AttentionCall, watch
from models.training.batches import TrainingExample
from models.transformer.subwords import BYTES, SPECIAL

PIECES = len(SPECIAL) + len(BYTES)  # ids below this one are special tokens and single bytes


def short_repeats(pieces: Sequence[int], *, count: int, length: int, start: int, seed: int) -> list[TrainingExample]:
    """Draw `count` texts of `length` tokens: the start token, then 3 to 19 random ones of `pieces`, again and again."""
    generator = torch.Generator().manual_seed(seed)
    examples = []
    for _ in range(count):
        block = _draw(pieces, _between(3, 19, generator), generator)
        times = -(-(length - 1) // len(block))
        examples.append(TrainingExample((start, *(block * times)[: length - 1])))
    return examples


def random_twice(pieces: Sequence[int], *, count: int, longest: int, start: int, seed: int) -> list[TrainingExample]:
    """Draw `count` texts: the start token, then a block of random tokens twice, at most `longest` tokens in all."""
    generator = torch.Generator().manual_seed(seed)
    blocks = (_draw(pieces, _between(8, (longest - 1) // 2, generator), generator) for _ in range(count))
    return [TrainingExample((start, *block, *block)) for block in blocks]


def passages_twice(texts: Sequence[TrainingExample], *, count: int, longest: int, seed: int) -> list[TrainingExample]:
    """Take `count` passages of the texts and write each twice after the text's first token, in `longest` at most."""
    generator = torch.Generator().manual_seed(seed)
    examples = []
    for _ in range(count):
        first, *text = texts[_between(0, len(texts) - 1, generator)].source
        size = min(_between(8, (longest - 1) // 2, generator), len(text))
        at = _between(0, len(text) - size, generator)
        examples.append(TrainingExample((first, *text[at : at + size], *text[at : at + size])))
    return examples


def _between(least: int, most: int, generator: torch.Generator) -> int:
    return int(torch.randint(least, most + 1, (), generator=generator))


def _draw(pieces: Sequence[int], count: int, generator: torch.Generator) -> tuple[int, ...]:
    places = torch.randint(len(pieces), (count,), generator=generator).tolist()
    return tuple(pieces[place] for place in places)


@torch.inference_mode()
def induction_scores(network: nn.Module, *, vocabulary: int, start: int, block: int = 32, texts: int = 8) -> Tensor:
    """Measure each head's induction score on random repeats -> [L, H], from 0 to 1.

    score = mean over texts and over the places q of the second time of the weight from q to q - block + 1, the token
    after the same token's first place. The block's tokens are uniform over all of the vocabulary that are no special
    tokens and no bytes; the same ones each time.
    """
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randint(PIECES, vocabulary, (texts, block), generator=generator)
    ids = torch.cat([torch.full((texts, 1), start), drawn, drawn], dim=1).to(next(network.parameters()).device)
    calls: list[AttentionCall] = []
    training = network.training
    network.eval()
    with watch(calls.append):
        network(ids)
    network.train(training)
    queries = torch.arange(1 + block, 1 + 2 * block)
    scores = []
    for call in calls:
        allowed = None if call.mask is None else call.mask.rows(0, ids.shape[1]).to(ids.device)
        maps = call.function(call.query, call.key, call.value, allowed, rows=slice(0, ids.shape[1]))[1]
        scores.append(maps[:, :, queries, queries - block + 1].mean(dim=(0, 2)))
    return torch.stack(scores).cpu()
