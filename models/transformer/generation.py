"""Writing: greedy, sampled, or with a beam of alternatives, one token at a time.

A decoder gives a probability for every next token; decoding chooses. `NextToken` is the model asked for one more token,
with or without a KV cache; each way to decode is a loop around it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import torch
from torch import Tensor

from models.decoding import BeamStep, Decoding
from models.placement import input_device
from models.transformer.kv_cache import KVCache
from models.transformer.segment_memory import SegmentMemory
from models.transformer.stacks import Decoder, EncoderDecoder

Ask = Callable[[Tensor, Tensor | None], Tensor]  # ids [B, T], the rows they go on from -> logits [B, V]
Choose = Callable[[Tensor], Tensor]  # logits [B, V] -> the next token of each text [B]


class NextToken:
    """The logits of the token after `ids`, from a decoder or, with a source [B, T], an encoder-decoder.

    Ids, rows and logits are on the CPU, wherever the model is: what is chosen from them is the same everywhere. With
    `cached` each call reads the tokens that are new since the last call (kv_cache.py), so a NextToken serves one
    decoding; without, each call reads the whole text.
    """

    def __init__(
        self,
        model: Decoder | EncoderDecoder,
        *,
        source: Tensor | None = None,
        source_keep: Tensor | None = None,
        cached: bool = True,
    ) -> None:
        if isinstance(model, EncoderDecoder) != (source is not None):
            raise ValueError(
                f"{type(model).__name__} with source {'missing' if source is None else 'given'}; an EncoderDecoder "
                "reads a source, a Decoder does not"
            )
        self.decoder: Decoder = model.decoder if isinstance(model, EncoderDecoder) else model
        self.source_keep = source_keep
        self.device = input_device(model)
        source = None if source is None else source.to(self.device)
        self.source = model.encoder(source, keep=source_keep) if isinstance(model, EncoderDecoder) else None
        self.cache = KVCache(len(self.decoder.layers)) if cached else None

    def __call__(self, ids: Tensor, rows: Tensor | None = None) -> Tensor:
        """ids [B, T] -> [B, V]. rows: which text of the last call each of these goes on from, where that changed."""
        if rows is not None:
            self._take(rows)
        new = ids if self.cache is None else ids[:, self.cache.length :]
        hidden = self.decoder(new.to(self.device), source=self.source, source_keep=self.source_keep, cache=self.cache)
        logits = self.decoder.logits(hidden[:, -1:])[:, 0]
        return logits.to("cpu", torch.promote_types(logits.dtype, torch.float32))

    def _take(self, rows: Tensor) -> None:
        if self.cache is not None:
            self.cache.take(rows)
        if self.source is not None:
            self.source = self.source[rows]
        if self.source_keep is not None:
            self.source_keep = self.source_keep[rows]


class NextInSegments:
    """The logits of the token after `ids`, read in segments with a memory (segment_memory.py); serves one decoding.

    Earlier segments are read once; the segment at hand is read anew for each token.
    """

    def __init__(self, decoder: Decoder, *, segment: int, memory: int) -> None:
        self.decoder, self.segment, self.read = decoder, segment, 0
        self.memory = SegmentMemory(len(decoder.layers), tokens=memory)

    def __call__(self, ids: Tensor, rows: Tensor | None = None) -> Tensor:
        """ids [B, T] -> [B, V]. Raises ValueError for rows: texts go on as they began, in their order."""
        if rows is not None:
            raise ValueError("a memory over segments follows its texts alone; decode without a beam")
        while ids.shape[1] - self.read > self.segment:
            self.decoder(ids[:, self.read : self.read + self.segment], memory=self.memory)
            self.read += self.segment
        hidden = self.decoder(ids[:, self.read :], memory=self.memory.copy())
        return self.decoder.logits(hidden[:, -1:])[:, 0]


@torch.inference_mode()
def greedy(next_token: Ask, ids: Tensor, *, new_tokens: int, ends: Collection[int] = ()) -> Tensor:
    """Write the likeliest token each time: ids [B, T] so far -> [B, T + at most new_tokens].

    After one of `ends` a text is over; it is filled up with the least of them until the last text is over.
    """
    return extend(next_token, ids, chooser(Decoding()), new_tokens=new_tokens, ends=ends)


@torch.inference_mode()
def sample(
    next_token: Ask,
    ids: Tensor,
    *,
    new_tokens: int,
    ends: Collection[int] = (),
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    seed: int = 0,
) -> Tensor:
    """Draw tokens by their probability: ids [B, T] -> [B, T + at most new_tokens]; the parameters are `Decoding`'s."""
    how = Decoding(True, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed)
    return extend(next_token, ids, chooser(how), new_tokens=new_tokens, ends=ends)


def chooser(how: Decoding) -> Choose:
    """Return the function that chooses one token for each row of logits [B, V] -> [B], the likeliest or a drawn one.

    Raises ValueError for parameters by which nothing can be drawn.
    """
    if not how.sampled:
        return lambda logits: logits.argmax(dim=-1)
    how.check()
    generator = torch.Generator().manual_seed(how.seed)

    def draw(logits: Tensor) -> Tensor:
        probabilities = drawn_from(logits, temperature=how.temperature, top_k=how.top_k, top_p=how.top_p)
        return torch.multinomial(probabilities, 1, generator=generator)[:, 0]

    return draw


def drawn_from(logits: Tensor, *, temperature: float, top_k: int | None, top_p: float) -> Tensor:
    """The probabilities that `sample` draws by: logits [B, V] -> [B, V], rows sum to 1."""
    return torch.softmax(likeliest(logits / temperature, top_k=top_k, top_p=top_p), dim=-1)


def likeliest(logits: Tensor, *, top_k: int | None, top_p: float) -> Tensor:
    """Keep the k likeliest tokens, then of these the fewest that hold a share p: logits [B, V] -> [B, V], others -inf.

    The share is taken among the tokens that top_k has left, which are renormalised before, as in transformers'
    `generate`. Tokens that tie with the k-th all stay, as there.
    """
    if top_k is not None:
        last = logits.topk(min(top_k, logits.shape[-1])).values[..., -1:]
        logits = logits.masked_fill(logits < last, -torch.inf)
    if top_p == 1:  # rounding of a long sum would drop tokens that are unlikely, not impossible
        return logits
    ordered, order = logits.sort(dim=-1, descending=True)
    probabilities = torch.softmax(ordered, dim=-1)
    enough_before = probabilities.cumsum(dim=-1) - probabilities >= top_p  # the likeliest alone always stays
    ordered = ordered.masked_fill(enough_before, -torch.inf)
    return torch.empty_like(logits).scatter(-1, order, ordered)


@torch.inference_mode()
def beam_search(
    next_token: Ask,
    ids: Tensor,
    *,
    new_tokens: int,
    beams: int = 4,
    ends: Collection[int] = (),
    length_penalty: float = 0.6,
    watch: Callable[[BeamStep], None] | None = None,
) -> tuple[Tensor, float]:
    """Search with `beams` texts at each step: ids [1, T] -> (the best text's ids [T + at most new_tokens], its score).

    score = log P(new tokens) / ((5 + n) / 6)^length_penalty, n new tokens (Wu et al. 2016, eq. 14, without coverage).
    A text that reaches one of `ends` leaves the beam and keeps its score. watch is called with every step.
    """
    if ids.shape[0] != 1 or beams < 1 or new_tokens < 1:
        raise ValueError(
            f"beam search of {ids.shape[0]} texts, {beams} beams, {new_tokens} new tokens; search for one text at a "
            "time, with at least 1 of each"
        )
    begun, finished = ids.shape[1], list[tuple[float, Tensor]]()
    total = torch.zeros(1, dtype=torch.float64)  # log probability of each beam
    rows: Tensor | None = None
    for _ in range(new_tokens):
        logits = next_token(ids, rows)
        every = total[:, None] + torch.log_softmax(logits.double(), dim=-1)  # [beams, V]
        total, best = every.flatten().topk(min(beams, every.numel()))
        rows, tokens = best // logits.shape[1], best % logits.shape[1]
        ids = torch.cat([ids[rows], tokens[:, None]], dim=1)
        penalty = ((5 + ids.shape[1] - begun) / 6) ** length_penalty
        over = _ended(tokens, ends)
        scores = total / penalty
        if watch is not None:
            watch(BeamStep(rows, tokens, total, scores, over))
        finished += [(float(score), text) for score, text in zip(scores[over], ids[over], strict=True)]
        ids, total, scores, rows = ids[~over], total[~over], scores[~over], rows[~over]
        if not len(ids) or len(finished) >= beams:
            break
    finished += [(float(score), text) for score, text in zip(scores, ids, strict=True)]
    score, text = max(finished, key=lambda scored: scored[0])
    return text, score


def extend(next_token: Ask, ids: Tensor, choose: Choose, *, new_tokens: int, ends: Collection[int]) -> Tensor:
    """Add tokens one by one, each chosen from its logits: ids [B, T] -> [B, T + at most new_tokens]; see `greedy`."""
    over = torch.zeros(len(ids), dtype=torch.bool)
    for _ in range(new_tokens):
        chosen = choose(next_token(ids, None))  # [B]
        if ends:
            chosen = chosen.masked_fill(over, min(ends))
            over |= _ended(chosen, ends)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
        if over.all():
            break
    return ids


def _ended(tokens: Tensor, ends: Collection[int]) -> Tensor:
    return torch.isin(tokens, torch.tensor(sorted(ends), dtype=tokens.dtype))
