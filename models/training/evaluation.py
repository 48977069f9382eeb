"""Translation of a split and its BLEU score, computed by sacreBLEU (Post 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from models.training.batches import TrainingExample, collate
from models.training.objectives import Vocabulary
from models.training.reference import TorchNextToken, TorchTranslator
from models.transformer import EncoderDecoder
from models.transformer.generation import Ask, NextToken, beam_search, greedy

AT_ONCE = 64  # sentences, in greedy decoding


@torch.inference_mode()
def translate(
    network: nn.Module,
    sources: Sequence[str],
    *,
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    beams: int,
    longest: int,
) -> list[str]:
    """Translate the sources, in their order, into at most `longest` tokens each.

    beams: 1 for greedy decoding of many sentences at once; more for beam search, one sentence at a time.
    """
    examples = [TrainingExample(tuple(encoding.ids)) for encoding in tokenizer.encode_batch(list(sources))]
    order = sorted(range(len(examples)), key=lambda index: len(examples[index]))
    written: dict[int, list[int]] = {}
    at_once = AT_ONCE if beams == 1 else 1
    for first in range(0, len(order), at_once):
        rows = order[first : first + at_once]
        batch = collate([examples[row] for row in rows], padding=vocabulary.padding)
        ask = next_token(network, batch.source, batch.keep)
        begun = torch.full((len(rows), 1), vocabulary.start)
        if beams == 1:
            ids = greedy(ask, begun, new_tokens=longest, ends=[vocabulary.end])
        else:
            ids = beam_search(ask, begun, new_tokens=longest, beams=beams, ends=[vocabulary.end])[0][None]
        written |= dict(zip(rows, ids.tolist(), strict=True))
    return [tokenizer.decode(written[index], skip_special_tokens=True) for index in range(len(examples))]


def next_token(network: nn.Module, source: Tensor, keep: Tensor) -> Ask:
    """Return a function that predicts the next token of the sources' translations: source and keep [B, T]."""
    if isinstance(network, TorchTranslator):
        return TorchNextToken(network, source, keep)
    if isinstance(network, EncoderDecoder):
        return NextToken(network, source=source, source_keep=keep)
    raise ValueError(f"{type(network).__name__} does not translate; pass an EncoderDecoder or a TorchTranslator")


def has_judge() -> bool:
    """Return True if sacreBLEU is installed."""
    return find_spec("sacrebleu") is not None


def bleu(translations: Sequence[str], references: Sequence[str]) -> float:
    """Compute sacreBLEU for Chinese (tokenize zh: each character is a word), one reference a sentence, 0 to 100."""
    from sacrebleu import corpus_bleu

    return float(corpus_bleu(list(translations), [list(references)], tokenize="zh").score)
