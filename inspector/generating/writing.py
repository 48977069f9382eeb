"""A model at work as a writer: token by token, with the candidates at each step; a part of the probe.

Every step is decoded for real, with a KV cache and, where that is asked for, without. The attention of all steps comes
from one recording of the finished text: in a causal model row i of the map is what the newest token attended to at its
step, because no later token changes an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from time import perf_counter

import pandas as pd
import torch
from torch import nn

import models
from inspector.probe import ModelInputs, record_inputs
from inspector.trace import Trace
from models import LoadedModel
from models.decoding import DecodedStep, Decoding
from models.tokenizers import Encoding, from_ids, token_names

TOP = 5  # candidates that are kept of each step

Watch = Callable[[int], None]  # called with the number of tokens decoded so far


@dataclass(frozen=True)
class TokenCandidate:
    """A token that could come next: its probability, and the one it was drawn by (None where nothing is drawn).

    id: tells tokens apart whose names look alike.
    """

    token: str
    probability: float
    drawn: float | None
    id: int


@dataclass(frozen=True)
class WrittenToken:
    """One new token.

    rank: its place among all tokens of the vocabulary by probability, 1 for the likeliest; candidates: the 5 likeliest;
    cache_bytes: what the cache held after this step, flops: the decoder's matrix products in it, both as measured.
    ruled: a rule of the model's generation_config (a forced or a bad word, a least length, a penalty) took the choice
    from the token that was the likeliest. seconds: on the wall, with the counting of FLOPs; the first step also reads
    the source.
    """

    chosen: TokenCandidate
    rank: int
    candidates: tuple[TokenCandidate, ...]
    cache_bytes: int
    flops: int
    ruled: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class Prompt:
    """The input that a model writes from, and the number of new tokens that it has room for."""

    encoding: Encoding
    room: int


@dataclass(frozen=True, eq=False)
class WrittenText:
    """A text as it was written.

    steps: N of them; trace: of the finished text, whose query rows from `begun` - 1 on are the steps'; begun: how many
    tokens were there before the first new one; texts: what was written after each step; given: the text before them;
    whole: all that was decoded.
    uncached: the new ids as decoded without the cache, uncached_flops: the decoder's matrix products in each step, and
    uncached_seconds: their times; all empty where nothing was decoded without it.
    source: how many tokens an encoder-decoder read. off: the largest difference between a chosen token's probability as
    it was written and in the recording of the whole text, which the maps come from; all but 0 unless a model computes a
    text otherwise than its steps.
    """

    steps: tuple[WrittenToken, ...]
    trace: Trace
    begun: int
    whole: Encoding
    texts: tuple[str, ...]
    given: str
    ended: bool
    uncached: tuple[int, ...]
    uncached_flops: tuple[int, ...]
    off: float
    source: int | None = None
    uncached_seconds: tuple[float, ...] = ()

    @property
    def ids(self) -> tuple[int, ...]:
        """The new tokens' ids, [N]."""
        return self.whole.ids[self.begun :]

    @property
    def same_without_cache(self) -> bool:
        """True if the tokens were decoded without the cache too, and are the same."""
        return self.ids == self.uncached

    @property
    def likeliest(self) -> float:
        """The largest probability of all candidates of all steps, as the model gave it or as it was drawn by."""
        candidates = [candidate for step in self.steps for candidate in (step.chosen, *step.candidates)]
        return max(max(candidate.probability, candidate.drawn or 0.0) for candidate in candidates)

    def table(self) -> pd.DataFrame:
        """A row per step: step (from 1), token, id, probability, drawn_probability, rank, ruled, top1_token,
        top1_id, top1_probability and so on, cache_bytes; FLOPs of the decoder's matrix products flops_cached and
        flops_uncached, and their running sums total_cached and total_uncached; the times seconds_cached and
        seconds_uncached.

        Without the cache a text may end earlier, where rounding decides between two tokens: its FLOPs are NaN then.
        Where nothing was decoded without it, its columns are left out.
        """
        rows = []
        for number, step in enumerate(self.steps, start=1):
            row = {
                "step": number,
                "token": step.chosen.token,
                "id": step.chosen.id,
                "probability": step.chosen.probability,
                "drawn_probability": step.chosen.drawn,
                "rank": step.rank,
                "ruled": step.ruled,
            }
            for place, candidate in enumerate(step.candidates, start=1):
                row |= {
                    f"top{place}_token": candidate.token,
                    f"top{place}_id": candidate.id,
                    f"top{place}_probability": candidate.probability,
                }
            rows.append({**row, "cache_bytes": step.cache_bytes})
        table = pd.DataFrame(rows)
        ways = [("cached", [step.flops for step in self.steps], [step.seconds for step in self.steps])]
        if self.uncached:
            ways.append(("uncached", list(self.uncached_flops), list(self.uncached_seconds)))
        for name, flops, _ in ways:
            table[f"flops_{name}"] = pd.Series(flops[: len(table)])
            table[f"total_{name}"] = pd.Series(list(accumulate(flops[: len(table)])))
        for name, _, seconds in ways:
            table[f"seconds_{name}"] = pd.Series(seconds[: len(table)], dtype=float)
        return table


def prompt(loaded: LoadedModel | nn.Module, text: str) -> Prompt:
    """Tokenize what the model writes from, cut to what it can read.

    Raises ValueError for a model that does not write, an empty text, or one that leaves no room.
    """
    loaded = models.of(loaded)
    if loaded.write is None:
        raise ValueError(f"{loaded.card.id} {why_not(loaded)}; choose a model that writes")
    encoding = loaded.encode(text)
    if loaded.shape == "encoder-decoder":
        return Prompt(encoding, loaded.max_tokens - 1)
    encoding = encoding.without_end()  # what a decoder goes on from has not ended yet
    room = loaded.max_tokens - len(encoding)
    if room < 1:
        raise ValueError(
            f"The text fills all {loaded.max_tokens:,} tokens that this model reads, so it has no room to write. "
            "Shorten the text."
        )
    return Prompt(encoding, room)


def why_not(loaded: LoadedModel) -> str:
    """Say why a model does not write: the end of a sentence that begins with its name."""
    if loaded.shape == "encoder":
        return "is an encoder: it reads and does not write"
    return "has no head that predicts tokens, so it does not write"


@torch.inference_mode()
def write(
    loaded: LoadedModel | nn.Module,
    text: str,
    *,
    how: Decoding | None = None,
    new_tokens: int = 40,
    uncached: bool = True,
    watch: Watch | None = None,
) -> WrittenText:
    """Write at most `new_tokens` with the KV cache, again without it, and record the attention of the result.

    A model of transformers writes what its own `generate` writes, by the rules of its generation_config. uncached:
    False leaves out the run without the cache, which reads the whole text again at every step. watch is called with
    the number of tokens decoded so far, of both runs.

    Raises ValueError as `prompt`, for a number of tokens that is not 1 to the room, or a bad way to draw.
    """
    how, loaded = Decoding() if how is None else how, models.of(loaded)
    given = prompt(loaded, text)
    if not 1 <= new_tokens <= given.room:
        raise ValueError(f"new_tokens is {new_tokens}; after this text the model has room for 1 to {given.room}")
    if how.sampled:
        how.check()
    steps = list[WrittenToken]()
    again = list[tuple[int, int, float]]()  # token, FLOPs and seconds; all logits would be [N, V]
    begin, since = torch.tensor([given.encoding.ids]), perf_counter()

    def seen(step: DecodedStep) -> None:
        seconds = perf_counter() - since
        steps.append(replace(_step(loaded, step, how=how), seconds=seconds))
        tell()

    def seen_uncached(step: DecodedStep) -> None:
        again.append((step.token, step.flops, perf_counter() - since))
        tell()

    def tell() -> None:
        nonlocal since
        if watch is not None:
            watch(len(steps) + len(again))
        since = perf_counter()

    runner = loaded.runner
    ids: list[int] = runner.decode(begin, how, new_tokens=new_tokens, watch=seen)[0].tolist()
    since = perf_counter()
    if uncached:
        runner.decode(begin, how, new_tokens=new_tokens, watch=seen_uncached, cached=False)
    start = len(ids) - len(steps)
    whole = from_ids(loaded.tokenizer, ids)
    read, predicts = whole.without_last(), whole.tokens[1:]
    translates = loaded.shape == "encoder-decoder"
    inputs = ModelInputs(given.encoding, read, predicts) if translates else ModelInputs(read, predicts=predicts)
    trace = record_inputs(loaded, inputs, text=text)
    texts = [
        loaded.tokenizer.decode(ids[start : start + count], skip_special_tokens=True)
        for count in range(1, len(steps) + 1)
    ]
    read_whole = loaded.tokenizer.decode(ids, skip_special_tokens=True)
    if not read_whole.endswith(texts[-1]):  # as where a letter's bytes are cut between what was given and what is new
        read_whole = loaded.tokenizer.decode(ids[:start], skip_special_tokens=True) + texts[-1]
    return WrittenText(
        steps=tuple(steps),
        trace=trace,
        begun=start,
        whole=whole,
        texts=tuple(texts),
        given=read_whole.removesuffix(texts[-1]),
        ended=ids[-1] in runner.ends,
        uncached=tuple(token for token, *_ in again),
        uncached_flops=tuple(flops for _, flops, _ in again),
        uncached_seconds=tuple(seconds for *_, seconds in again),
        off=_off(loaded, trace, steps),
        source=len(given.encoding) if translates else None,
    )


def _off(loaded: LoadedModel, trace: Trace, steps: Sequence[WrittenToken]) -> float:
    logits = loaded.runner.predict(trace.hidden[None, -len(steps) :])[0]  # [N, V]
    probabilities = torch.softmax(logits.double(), dim=-1)
    chosen = enumerate(step.chosen for step in steps)
    return max(abs(candidate.probability - float(probabilities[row, candidate.id])) for row, candidate in chosen)


def _step(loaded: LoadedModel, step: DecodedStep, *, how: Decoding) -> WrittenToken:
    logits, token = step.logits, step.token
    probabilities = torch.softmax(logits.double(), dim=-1)  # [V]
    drawn = torch.softmax(step.scores.double(), dim=-1) if how.sampled else None
    best: Sequence[int] = logits.topk(min(TOP, len(logits))).indices.tolist()

    def candidate(id: int) -> TokenCandidate:
        (name,) = token_names(loaded.tokenizer, [id])
        return TokenCandidate(name, float(probabilities[id]), None if drawn is None else float(drawn[id]), id)

    return WrittenToken(
        chosen=candidate(token),
        rank=1 + int((logits > logits[token]).sum()),
        candidates=tuple(candidate(id) for id in best),
        cache_bytes=step.cache_bytes,
        flops=step.flops,
        ruled=bool(step.scores[int(logits.argmax())] < step.scores.max()),
    )
