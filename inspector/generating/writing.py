"""A model at work as a writer: token by token, with the candidates at each step; a part of the probe.

Every step is decoded for real, once with a KV cache and once without. The attention of all steps comes from one
recording of the finished text: in a causal model row i of the map is what the newest token attended to at its step,
because no later token changes an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import pandas as pd
import torch
from torch import Tensor

from inspector.probe import ModelInputs, record_inputs
from inspector.trace import Trace
from models import LoadedModel
from models.tokenizers import Encoding, from_ids, token_names
from models.transformer.generation import NextToken, drawn_from, greedy, sample
from models.transformer.runner import OwnRunner

TOP = 5  # candidates that are kept of each step

Watch = Callable[[int], None]  # called with the number of tokens decoded so far


@dataclass(frozen=True)
class Decoding:
    """The choice of the next token: the likeliest, or drawn (parameters as in transformer/generation.py)."""

    sampled: bool = False
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Candidate:
    """A token that could come next: its probability, and the one it was drawn by (None where nothing is drawn)."""

    token: str
    probability: float
    drawn: float | None


@dataclass(frozen=True)
class Step:
    """One new token.

    rank: its place among all tokens of the vocabulary by probability, 1 for the likeliest; candidates: the 5 likeliest;
    cache_bytes: what the KV cache held after this step, as measured.
    """

    chosen: Candidate
    rank: int
    candidates: tuple[Candidate, ...]
    cache_bytes: int


@dataclass(frozen=True)
class Prompt:
    """The input that a model writes from, and the number of new tokens that it has room for."""

    encoding: Encoding
    room: int
    runner: OwnRunner

    @property
    def end(self) -> int:
        """The id of the token that ends a text."""
        return self.runner.end

    def begin(self, *, cached: bool = True) -> tuple[NextToken, Tensor]:
        """The model to be asked for each next token, and the ids [1, T] before the first new one."""
        return self.runner.begin(torch.tensor([self.encoding.ids]), cached=cached)


@dataclass(frozen=True, eq=False)
class Written:
    """A text as it was written.

    steps: N of them; trace: of the finished text, whose query rows from `begun` - 1 on are the steps'; begun: how many
    tokens were there before the first new one; texts: what was written after each step; whole: all that was decoded.
    uncached: the new ids as decoded without the cache; seconds, uncached_seconds: of all steps, as measured once.
    source: how many tokens an encoder-decoder read.
    """

    steps: tuple[Step, ...]
    trace: Trace
    begun: int
    whole: Encoding
    texts: tuple[str, ...]
    ended: bool
    uncached: tuple[int, ...]
    seconds: float
    uncached_seconds: float
    source: int | None = None

    @property
    def ids(self) -> tuple[int, ...]:
        """The new tokens' ids, [N]."""
        return self.whole.ids[self.begun :]

    @property
    def same(self) -> bool:
        """True if the tokens are the same with and without the cache."""
        return self.ids == self.uncached

    @property
    def likeliest(self) -> float:
        """The largest probability of all candidates of all steps, as the model gave it or as it was drawn by."""
        candidates = [candidate for step in self.steps for candidate in (step.chosen, *step.candidates)]
        return max(max(candidate.probability, candidate.drawn or 0.0) for candidate in candidates)

    def table(self) -> pd.DataFrame:
        """A row per step: step (from 1), token, probability, drawn_probability, rank, top1_token, top1_probability and
        so on, cache_bytes."""
        rows = []
        for number, step in enumerate(self.steps, start=1):
            row = {
                "step": number,
                "token": step.chosen.token,
                "probability": step.chosen.probability,
                "drawn_probability": step.chosen.drawn,
                "rank": step.rank,
            }
            for place, candidate in enumerate(step.candidates, start=1):
                row |= {f"top{place}_token": candidate.token, f"top{place}_probability": candidate.probability}
            rows.append({**row, "measured_cache_bytes": step.cache_bytes})
        return pd.DataFrame(rows)


def prompt(loaded: LoadedModel, text: str) -> Prompt:
    """Tokenize what the model writes from, cut to what it can read.

    Raises ValueError for a model that does not write, an empty text, or one that leaves no room.
    """
    if loaded.write is None:
        raise ValueError(f"{loaded.card.id} is an encoder: it reads and does not write; choose a model that decodes")
    if not isinstance(loaded.runner, OwnRunner):
        raise ValueError(
            f"{loaded.card.id} is run by transformers, whose cache is not followed token by token; choose an own model"
        )
    encoding = loaded.encode(text)
    if loaded.shape == "encoder-decoder":
        return Prompt(encoding, loaded.max_tokens - 1, loaded.runner)
    encoding = encoding.without_last()  # what a decoder goes on from has not ended yet
    return Prompt(encoding, loaded.max_tokens - len(encoding), loaded.runner)


@torch.inference_mode()
def write(
    loaded: LoadedModel, text: str, *, how: Decoding | None = None, new_tokens: int = 40, watch: Watch | None = None
) -> Written:
    """Write at most `new_tokens` with the KV cache, again without it, and record the attention of the result.

    watch is called with the number of tokens decoded so far, of both runs.

    Raises ValueError as `prompt`, for a number of tokens that is not 1 to the room, or a bad way to draw.
    """
    how = Decoding() if how is None else how
    given = prompt(loaded, text)
    if not 1 <= new_tokens <= given.room:
        raise ValueError(f"new_tokens is {new_tokens}; after this text the model has room for 1 to {given.room}")
    ask, begun = given.begin()
    given.begin()[0](begun)  # the first call of a model is slower, and none is to be measured slower for it
    with_cache = _Asked(ask, watch)
    ids = _decode(with_cache, begun, how=how, new_tokens=new_tokens, end=given.end)
    without = _Asked(given.begin(cached=False)[0], watch, before=len(with_cache.logits))
    uncached = _decode(without, begun, how=how, new_tokens=new_tokens, end=given.end)
    start = begun.shape[1]
    whole = from_ids(loaded.tokenizer, ids)
    read, predicts = whole.without_last(), whole.tokens[1:]
    translates = loaded.shape == "encoder-decoder"
    inputs = ModelInputs(given.encoding, read, predicts) if translates else ModelInputs(read, predicts=predicts)
    return Written(
        steps=tuple(
            _step(loaded, logits, token, how=how, cache_bytes=kept)
            for logits, token, kept in zip(with_cache.logits, ids[start:], with_cache.kept, strict=True)
        ),
        trace=record_inputs(loaded, inputs, text=text),
        begun=start,
        whole=whole,
        texts=tuple(
            loaded.tokenizer.decode(ids[start : start + count], skip_special_tokens=True)
            for count in range(1, len(ids) - start + 1)
        ),
        ended=ids[-1] == given.end,
        uncached=tuple(uncached[start:]),
        seconds=sum(with_cache.seconds),
        uncached_seconds=sum(without.seconds),
        source=len(given.encoding) if translates else None,
    )


class _Asked:
    """A NextToken that keeps what it answered: logits [V], bytes in its cache, seconds of each step."""

    def __init__(self, ask: NextToken, watch: Watch | None, *, before: int = 0) -> None:
        self.ask, self.watch, self.before = ask, watch, before
        self.logits: list[Tensor] = []
        self.kept: list[int] = []
        self.seconds: list[float] = []

    def __call__(self, ids: Tensor, rows: Tensor | None) -> Tensor:
        begin = perf_counter()
        logits = self.ask(ids, rows)
        self.seconds.append(perf_counter() - begin)
        self.logits.append(logits[0])
        self.kept.append(0 if self.ask.cache is None else self.ask.cache.nbytes)
        if self.watch is not None:
            self.watch(self.before + len(self.logits))
        return logits


def _decode(ask: _Asked, begun: Tensor, *, how: Decoding, new_tokens: int, end: int) -> list[int]:
    if not how.sampled:
        text: list[int] = greedy(ask, begun, new_tokens=new_tokens, end=end)[0].tolist()
        return text
    drawn: list[int] = sample(
        ask,
        begun,
        new_tokens=new_tokens,
        end=end,
        temperature=how.temperature,
        top_k=how.top_k,
        top_p=how.top_p,
        seed=how.seed,
    )[0].tolist()
    return drawn


def _step(loaded: LoadedModel, logits: Tensor, token: int, *, how: Decoding, cache_bytes: int) -> Step:
    probabilities = torch.softmax(logits.double(), dim=-1)  # [V]
    drawn = (
        drawn_from(logits[None], temperature=how.temperature, top_k=how.top_k, top_p=how.top_p)[0]
        if how.sampled
        else None
    )
    best: Sequence[int] = logits.topk(min(TOP, len(logits))).indices.tolist()

    def candidate(id: int) -> Candidate:
        (name,) = token_names(loaded.tokenizer, [id])
        return Candidate(name, float(probabilities[id]), None if drawn is None else float(drawn[id]))

    rank = 1 + int((logits > logits[token]).sum())
    return Step(candidate(token), rank, tuple(candidate(id) for id in best), cache_bytes)
