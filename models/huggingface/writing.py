"""A transformers model that writes, token by token: transformers' own `generate`, watched.

`generate` prepares what the model and its generation_config ask for (the start token, the encoder's output, the cache's
class, forced and bad words, lengths, penalties) and hands it to a decoding function. `decode` gives it a loop that
reports every step; `search` lets transformers' own beam search run and looks on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from transformers import LogitsProcessor, LogitsProcessorList, StoppingCriteria, StoppingCriteriaList

from models.decoding import BeamAnswer, BeamStep, DecodedStep, Decoding, Watch
from models.matrix_products import MatrixProducts

CACHES = ("past_key_values", "cache_params")  # the names under which transformers hands a cache around
_IMPOSSIBLE = -1e8  # transformers gives -1e9 to a beam that is none yet


def ends_of(network: Any) -> frozenset[int]:
    """The ids of the tokens that end a text; none where the model's configuration names none."""
    ends = network.generation_config.eos_token_id
    return frozenset() if ends is None else frozenset([ends] if isinstance(ends, int) else ends)


def cache_bytes(cache: Any) -> int:
    """Bytes of all states that a cache of transformers keeps, whatever its class; 0 for None.

    Keys and values of self-attention and, beside a source, of cross-attention; in hybrid models the states of layers
    without attention too. Whole numbers, by which some caches count tokens, are no states; a tensor that two layers
    share counts once.
    """
    return sum(tensor.nbytes for tensor in {id(tensor): tensor for tensor in _tensors(cache, set())}.values())


def _tensors(held: Any, seen: set[int]) -> Iterable[Tensor]:
    if isinstance(held, Tensor):
        if held.is_floating_point():
            yield held
    elif id(held) not in seen:
        seen.add(id(held))  # of an object that the cache keeps alive
        if isinstance(held, list | tuple):
            parts: Iterable[Any] = held
        elif isinstance(held, dict):
            parts = held.values()
        else:
            parts = vars(held).values() if type(held).__module__.startswith("transformers.") else ()
        for part in parts:
            yield from _tensors(part, seen)


def decode(network: Any, ids: Tensor, how: Decoding, *, new_tokens: int, cached: bool, watch: Watch) -> Tensor:
    """Write after ids [1, T] as `network.generate` does, and report every step -> [1, N].

    The drawn tokens equal what `generate` draws after `torch.manual_seed(how.seed)`; no other visitor's numbers change.
    """
    choose = _chooser(how)
    drawn = {"temperature": how.temperature, "top_k": how.top_k or 0, "top_p": how.top_p} if how.sampled else {}

    def loop(
        network: Any,
        ids: Tensor,
        logits_processor: LogitsProcessorList,
        stopping_criteria: StoppingCriteriaList,
        generation_config: Any,
        **state: Any,
    ) -> Tensor:
        first = True
        while True:
            logits, flops, state = _forward(network, ids, state, first=first)
            scores = logits_processor(ids, logits.clone())
            token = choose(scores)
            ids, first = torch.cat([ids, token[:, None]], dim=-1), False
            raw, ruled = logits[0].cpu(), scores[0].cpu()
            watch(DecodedStep(raw, ruled, int(token), flops, _state_bytes(state) if cached else 0))
            if bool(stopping_criteria(ids, None).all()):
                return ids

    with torch.inference_mode():
        written: Tensor = network.generate(
            **_source(network, ids),
            max_new_tokens=new_tokens,
            num_beams=1,
            do_sample=how.sampled,
            use_cache=cached,
            custom_generate=loop,
            **drawn,
        )
    return written


def follow(network: Any, ids: Tensor, *, source: Tensor | None, cached: bool, watch: Watch) -> None:
    """Read given ids [1, T] one after the other, each step prepared as `network.generate` prepares it, and report it.

    source: the ids of what an encoder-decoder translates. No rule of the generation_config changes what is read.
    """

    def loop(
        network: Any,
        begun: Tensor,
        logits_processor: LogitsProcessorList,
        stopping_criteria: StoppingCriteriaList,
        generation_config: Any,
        **state: Any,
    ) -> Tensor:
        for read in range(1, ids.shape[1] + 1):
            logits, flops, state = _forward(network, ids[:, :read], state, first=read == 1)
            raw = logits[0].cpu()
            watch(DecodedStep(raw, raw, int(raw.argmax()), flops, _state_bytes(state) if cached else 0))
        return ids

    first = ids[:, :1]
    begin = _source(network, first) if source is None else {**_source(network, source), "decoder_input_ids": first}
    with torch.inference_mode():
        network.generate(
            **begin, max_new_tokens=ids.shape[1], num_beams=1, do_sample=False, use_cache=cached, custom_generate=loop
        )


def _forward(network: Any, ids: Tensor, state: dict[str, Any], *, first: bool) -> tuple[Tensor, int, dict[str, Any]]:
    """Run one step of `generate`: ids so far [1, T] and its state -> logits [1, V], FLOPs, the state after it."""
    inputs = network.prepare_inputs_for_generation(
        ids,
        next_sequence_length=1 if state["use_cache"] and not first else None,  # the newest token alone
        is_first_iteration=first,
        **state,
    )
    with MatrixProducts() as counted:
        out = network(**inputs, return_dict=True)
    after = network._update_model_kwargs_for_generation(
        out, state, is_encoder_decoder=network.config.is_encoder_decoder
    )
    return out.logits[:, -1].to(ids.device, torch.float32, copy=True), counted.flops, after


def _state_bytes(state: dict[str, Any]) -> int:
    """Count the bytes of the cache in the state of `generate`."""
    return cache_bytes(next((cache for name in CACHES if (cache := state.get(name)) is not None), None))


def _chooser(how: Decoding) -> Callable[[Tensor], Tensor]:
    """Return the choice among scores [1, V], cut by transformers already -> [1]; a seed gives the CPU's numbers."""
    if not how.sampled:
        return lambda scores: scores.argmax(dim=-1)
    how.check()
    generator = torch.Generator().manual_seed(how.seed)

    def draw(scores: Tensor) -> Tensor:
        probabilities = torch.softmax(scores, dim=-1).cpu()
        return torch.multinomial(probabilities, 1, generator=generator)[:, 0].to(scores.device)

    return draw


def _source(network: Any, ids: Tensor) -> dict[str, Any]:
    """The inputs of `generate`: all tokens are real."""
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def search(
    network: Any,
    ids: Tensor,
    *,
    beams: int,
    new_tokens: int,
    length_penalty: float | None,
    watch: Callable[[BeamStep], None],
) -> BeamAnswer:
    """Search for the text after ids [1, T] with transformers' beam search, and report every step.

    length_penalty: None for the model's own (generation_config), as early stopping always is. One beam is greedy.
    """
    penalty = length_penalty_of(network) if length_penalty is None else length_penalty
    if beams == 1:
        return _one_beam(network, ids, new_tokens=new_tokens, length_penalty=penalty, watch=watch)
    watcher = _BeamWatcher(beams, ends=ends_of(network), new_tokens=new_tokens, length_penalty=penalty, watch=watch)
    with torch.inference_mode():
        out = network.generate(
            **_source(network, ids),
            max_new_tokens=new_tokens,
            num_beams=beams,
            do_sample=False,
            length_penalty=penalty,
            logits_processor=LogitsProcessorList([_SeenScores(watcher)]),
            stopping_criteria=StoppingCriteriaList([_SeenCandidates(watcher)]),
            return_dict_in_generate=True,
            output_scores=True,
        )
    begun = watcher.begun
    count = int((out.beam_indices[0] >= 0).sum())
    answer = out.sequences[0, begun : begun + count].tolist()
    return BeamAnswer(tuple(answer), float(out.sequences_scores[0]), open_could_win=watcher.full)


def length_penalty_of(network: Any) -> float:
    """The exponent of the new tokens' number in a beam's score, of the model's generation_config; 1 by default."""
    penalty = network.generation_config.length_penalty
    return 1.0 if penalty is None else float(penalty)


def _one_beam(
    network: Any, ids: Tensor, *, new_tokens: int, length_penalty: float, watch: Callable[[BeamStep], None]
) -> BeamAnswer:
    total, tokens, ends = 0.0, list[int](), ends_of(network)

    def seen(step: DecodedStep) -> None:
        nonlocal total
        total += float(torch.log_softmax(step.scores, dim=-1)[step.token])
        tokens.append(step.token)
        score = torch.tensor([total / len(tokens) ** length_penalty], dtype=torch.float64)
        watch(
            BeamStep(
                torch.zeros(1, dtype=torch.long),
                torch.tensor([step.token]),
                torch.tensor([total], dtype=torch.float64),
                score,
                torch.tensor([step.token in ends]),
            )
        )

    decode(network, ids, Decoding(), new_tokens=new_tokens, cached=True, watch=seen)
    return BeamAnswer(tuple(tokens), total / len(tokens) ** length_penalty, open_could_win=True)


class _BeamWatcher:
    """Follows transformers' beam search through its scores and its candidates, step by step.

    A step's candidates are twice as many as the beams or more, the likeliest first. A candidate among the first `beams`
    that ends a text finishes it; the first `beams` of all others go on.
    """

    def __init__(
        self,
        beams: int,
        *,
        ends: frozenset[int],
        new_tokens: int,
        length_penalty: float,
        watch: Callable[[BeamStep], None],
    ) -> None:
        self.beams, self.ends, self.new_tokens = beams, ends, new_tokens
        self.length_penalty, self.watch = length_penalty, watch
        self.begun = 0  # tokens before the first new one
        self.done = 0  # steps
        self.going: dict[tuple[int, ...], tuple[int, float]] = {(): (0, 0.0)}  # new tokens -> place in the step, total
        self.scores: Tensor | None = None
        self.read: Tensor | None = None

    @property
    def full(self) -> bool:
        """True if the search went on until no token was left to write."""
        return self.done == self.new_tokens

    def seen_scores(self, ids: Tensor, scores: Tensor) -> None:
        """Take the log probabilities [beams, V] of the tokens after ids [beams, T], the rules applied."""
        self.begun = self.begun or ids.shape[1]
        self.read, self.scores = ids, scores

    def seen_candidates(self, candidates: Tensor) -> None:
        """Take a step's candidates [C, T + 1], the likeliest first, and report the texts that it kept."""
        assert self.scores is not None
        assert self.read is not None
        rows = {tuple(ids): row for row, ids in reversed(list(enumerate(self.read[:, self.begun :].tolist())))}
        self.done += 1
        going_on, going = list[tuple[int, int, float, bool]](), dict[tuple[int, ...], tuple[int, float]]()
        for place, ids in enumerate(candidates[:, self.begun :].tolist()):
            before, token = tuple(ids[:-1]), ids[-1]
            if before not in self.going:  # of a beam that is none yet
                continue
            row, total = self.going[before]
            total += float(self.scores[rows[before], token])
            over = token in self.ends
            closed = over or self.full
            if total < _IMPOSSIBLE or (place >= self.beams if closed else len(going) >= self.beams):
                continue
            if not over:
                going[tuple(ids)] = (len(going), total)
            going_on.append((row, token, total, over))
        self.going = going
        totals = torch.tensor([text[2] for text in going_on], dtype=torch.float64)
        self.watch(
            BeamStep(
                torch.tensor([text[0] for text in going_on]),
                torch.tensor([text[1] for text in going_on]),
                totals,
                totals / self.done**self.length_penalty,
                torch.tensor([text[3] for text in going_on]),
            )
        )


class _SeenScores(LogitsProcessor):  # type: ignore[misc]
    def __init__(self, watcher: _BeamWatcher) -> None:
        self.watcher = watcher

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        self.watcher.seen_scores(input_ids, scores)
        return scores


class _SeenCandidates(StoppingCriteria):  # type: ignore[misc]
    def __init__(self, watcher: _BeamWatcher) -> None:
        self.watcher = watcher

    def __call__(self, input_ids: Tensor, scores: Any, **_: Any) -> Tensor:
        """Stop nothing: [C] of False."""
        self.watcher.seen_candidates(input_ids)
        return torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)
