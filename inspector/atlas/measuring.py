"""Measures every head on a whole batch of texts at once, in arrays, while the model runs.

A batch holds texts of one length, so nothing is padded and no number depends on the batch. Each attention call is
measured as it comes, block by block of query rows, and forgotten: memory is that of one block of one call.

Shapes: B texts, H heads of a call, N heads of the model, Q query positions, T key positions, E head width, D width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import log

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from inspector import heads
from inspector.atlas import measures
from inspector.atlas.measures import FARTHEST, NAMES, PARTS
from inspector.heads import END_TOKENS, START_TOKENS
from inspector.probe.inputs import ModelInputs
from models import LoadedModel
from models.attention import AttentionCall, attend_rows, row_blocks, watch
from models.attention.running_layer import CallPlaces
from models.output_projection import OutputProjection, ProjectionPlace
from models.tokenizers import Encoding

Numbers = NDArray[np.float32]
Grams = Mapping[ProjectionPlace, Tensor]
_OFFSETS = tuple(range(-FARTHEST, FARTHEST + 1))
_NEIGHBOURS = {"previous": -1, "self": 0, "next": 1}


@dataclass(frozen=True)
class HeadSite:
    """One attention call of the model, stream, layer and call as in a trace, and its heads' places among all N."""

    stream: str
    layer: int
    call: int
    heads: slice


@dataclass(frozen=True)
class Band:
    """Weights [B, H, queries, T] of a block of query rows of one call, for other readers of the weights."""

    site: HeadSite
    queries: slice
    weights: Tensor


@dataclass(frozen=True)
class BatchPair:
    """A strong weight: the text's place in the batch, the query's and the key's positions, and the weight."""

    text: int
    query: int
    key: int
    weight: float


@dataclass(frozen=True)
class BatchMeasures:
    """One batch: numbers float32 [B, N, measures], and each head's strongest pair of two words in each text [B, N].

    A pair joins two different tokens of the text, neither special; pair_weights is NaN where a text has no such two.
    """

    numbers: Numbers
    pair_queries: NDArray[np.int32]
    pair_keys: NDArray[np.int32]
    pair_weights: Numbers


def batches(lengths: Sequence[tuple[int, int]], *, tokens: int, texts: int) -> Iterator[list[int]]:
    """Put texts of equal (tokens, target tokens) together, at most so many tokens and texts a batch; shortest first.

    A text longer than `tokens` is a batch of its own. Yields places in `lengths`.
    """
    order = sorted(range(len(lengths)), key=lambda place: (lengths[place], place))
    for length, same in groupby(order, key=lengths.__getitem__):
        places = list(same)
        most = max(1, min(texts, tokens // sum(length)))
        for start in range(0, len(places), most):
            yield places[start : start + most]


def measure(
    loaded: LoadedModel,
    batch: Sequence[ModelInputs],
    *,
    sites: Sequence[HeadSite],
    grams: Grams | None,
    on_band: Callable[[Band], None] | None = None,
) -> BatchMeasures:
    """Run the model on texts of equal length and measure all heads; `measures.MEASURES` says what.

    grams: what `grams` makes of the model; None leaves the norm-weighted measures NaN.
    on_band: called with each block of weights. Raises ValueError for texts of several lengths, and where the model
    makes other attention calls than `sites`.
    """
    lengths = {(len(inputs.encoding), len(inputs.target or ())) for inputs in batch}
    if len(lengths) != 1:
        raise ValueError(f"a batch has texts of one length, and these have {len(lengths)}")
    seen = _Batch(batch, sites, grams, on_band)
    with torch.inference_mode(), watch(seen.see):
        _forward(loaded, batch)
    return seen.result()


def sites(loaded: LoadedModel) -> tuple[HeadSite, ...]:
    """Find the attention calls that the model makes, by running it on a few tokens.

    Raises ValueError where none can be seen.
    """
    seen: list[tuple[str, int | None, int]] = []
    ids = torch.arange(min(4, loaded.max_tokens))[None]
    keep = torch.ones_like(ids, dtype=torch.bool)
    with torch.inference_mode(), watch(lambda call: seen.append((call.stream, call.layer, call.query.shape[1]))):
        if loaded.run_pair is None:
            loaded.run(ids, keep, torch.zeros_like(ids))
        else:
            loaded.run_pair(ids, keep, ids)
    if not seen:
        raise ValueError(f"{loaded.card.id} shows none of its attention, so there is nothing to measure")
    places, first, sites = CallPlaces(), 0, []
    for stream, layer, count in seen:
        sites.append(HeadSite(stream, *places.next(stream, layer), slice(first, first + count)))  # type: ignore[arg-type]
        first += count
    return tuple(sites)


def _forward(loaded: LoadedModel, batch: Sequence[ModelInputs]) -> None:
    ids = torch.tensor([inputs.encoding.ids for inputs in batch])
    keep = torch.ones_like(ids, dtype=torch.bool)
    if loaded.run_pair is None:
        loaded.run(ids, keep, torch.tensor([inputs.encoding.segments for inputs in batch]))
    else:
        targets = [inputs.target.ids for inputs in batch if inputs.target is not None]
        loaded.run_pair(ids, keep, torch.tensor(targets))


class _Batch:
    """Takes each attention call of one forward and fills the batch's numbers."""

    def __init__(
        self,
        batch: Sequence[ModelInputs],
        sites: Sequence[HeadSite],
        grams: Grams | None,
        on_band: Callable[[Band], None] | None,
    ) -> None:
        self._expected = iter(sites)
        self._places = CallPlaces()
        self._grams, self._on_band = grams, on_band
        text = _Texts([inputs.encoding for inputs in batch])
        target = _Texts([inputs.target or inputs.encoding for inputs in batch])
        self._read = {"encoder": (text, text), "decoder": (target, target), "cross": (target, text)}
        heads = sites[-1].heads.stop
        shape = (len(batch), heads)
        self._numbers = np.full((*shape, len(NAMES)), np.nan, np.float32)
        self._pairs = np.zeros((2, *shape), np.int32), np.full(shape, np.nan, np.float32)

    def see(self, call: AttentionCall) -> None:
        """Measure one attention call, before the model computes it."""
        site = next(self._expected, None)
        place = (call.stream, *self._places.next(call.stream, call.layer))
        heads = call.query.shape[1]
        if site is None or (site.stream, site.layer, site.call) != place or site.heads.stop - site.heads.start != heads:
            raise ValueError(f"the model made another attention call than on a few tokens: {place}, {heads} heads")
        queries, keys = self._read[call.stream]
        norms = None if self._grams is None else _norms(call, self._grams[place])
        sums = _Sums(call, queries=queries, keys=keys, norms=norms)
        for rows in row_blocks(call.query.shape[2], call.key.shape[2]):
            weights = _weights(call, rows)
            sums.add(weights, rows)
            if self._on_band is not None:
                self._on_band(Band(site, rows, weights))
        for name, values in sums.result().items():
            self._numbers[:, site.heads, NAMES.index(name)] = values.float().cpu().numpy()
        places, strongest = sums.pairs()
        self._pairs[0][:, :, site.heads] = places.cpu().numpy()
        self._pairs[1][:, site.heads] = strongest.float().cpu().numpy()

    def result(self) -> BatchMeasures:
        """The batch's numbers, once the model has run; ValueError where it left out a call."""
        if (left := next(self._expected, None)) is not None:
            raise ValueError(f"the model left out its attention of {left.stream} layer {left.layer} on these texts")
        return BatchMeasures(self._numbers, self._pairs[0][0], self._pairs[0][1], self._pairs[1])


def _weights(call: AttentionCall, rows: slice) -> Tensor:
    """Compute the shares of a block of rows with all keys, as `WeightBlock.shares` has them: [B, H, rows, T]."""
    attended = attend_rows(call.function, call.query[:, :, rows], call.key, call.value, mask=call.mask, rows=rows)
    weights = attended.weights.float()
    keys = call.key.shape[2]
    if attended.band != slice(0, keys):
        weights = torch.nn.functional.pad(weights, (attended.band.start, keys - attended.band.stop))
    weights = weights[..., :keys]
    if not call.function.normalised:
        mass = weights.sum(dim=-1, keepdim=True, dtype=torch.float64)
        weights = (weights / torch.where(mass > 0, mass, 1.0)).float()
    return weights


def grams(projections: Mapping[ProjectionPlace, OutputProjection], *, device: torch.device | None = None) -> Grams:
    """Compute W_O^h W_O^hT, float64 [H, E, E], of each call's output projection; device: that they are kept on."""
    weights = {
        place: projection.weight.to(device, torch.float64) for place, projection in projections.items()
    }  # a square loses half of its digits
    return {place: weight @ weight.transpose(1, 2) for place, weight in weights.items()}


def _norms(call: AttentionCall, gram: Tensor) -> Tensor:
    """||v_j W_O^h|| of each key and head, the root of v W_O W_O^T v^T: float32 [B, H, T]."""
    gram, value = gram.to(call.value.device), call.value.double()
    if value.shape[1] != len(gram):  # grouped-query attention
        value = value.repeat_interleave(len(gram) // value.shape[1], dim=1)
    squares = ((value @ gram) * value).sum(dim=-1)
    return squares.clamp_min(0).sqrt().float()


class _Texts:
    """Texts of one length as a stream reads them, and what their tokens are, as arrays [B, T]."""

    def __init__(self, encodings: Sequence[Encoding]) -> None:
        self.encodings = encodings
        self.length = len(encodings[0])
        self._classes: dict[str, NDArray[np.bool_]] = {}
        self._pairs: Tensor | None = None

    def __getitem__(self, name: str) -> NDArray[np.bool_]:
        """True for the tokens of a kind: one of `measures.CLASSES`, "cls", "sep" or "ends" [B, T]."""
        if not self._classes:
            every = [_kinds(encoding) for encoding in self.encodings]
            self._classes = {kind: np.stack([of_text[kind] for of_text in every]) for kind in every[0]}
        return self._classes[name]

    @cached_property
    def targets(self) -> dict[str, list[heads.TargetKeys]]:
        """Keys that follow from repeated tokens and from words, of each text, as `heads.measure` has them."""
        every = [heads.targets(encoding.tokens, encoding.words, known=encoding.known) for encoding in self.encodings]
        return {name: [of_text[name] for of_text in every] for name in every[0]}

    @cached_property
    def target_counts(self) -> dict[bool, NDArray[np.int64]]:
        """Counts of each text's queries that have targets, [targets, B]: True where queries see earlier keys alone."""
        every = self.targets.values()
        return {
            causal: np.array([[target_keys.queries(causal=causal) for target_keys in of_kind] for of_kind in every])
            for causal in (False, True)
        }

    def pairs(self, rows: slice, device: torch.device) -> Tensor:
        """1 where a key is a target of a query: float32 [B, rows * T, targets]; kept where the rows are all."""
        if self._pairs is not None:
            return self._pairs
        every = [
            np.stack([target_keys.pairs(rows, slice(0, self.length)) for target_keys in of_kind])
            for of_kind in self.targets.values()
        ]
        made = torch.tensor(np.stack(every, axis=-1), device=device).flatten(1, 2).float()
        if rows == slice(0, self.length):  # every layer asks again; of a long text it would be quadratic
            self._pairs = made
        return made


def _kinds(encoding: Encoding) -> dict[str, NDArray[np.bool_]]:
    special, known = np.array(encoding.special), np.array(encoding.known)
    words: Sequence[int | None] = encoding.words
    rest = [place > 0 and word is not None and word == words[place - 1] for place, word in enumerate(words)]
    kinds = {
        "special": special,
        "unknown": ~known,
        "punctuation": np.array([heads.is_punctuation(token) for token in encoding.tokens]),
        "number": np.array([_is_number(token) for token in encoding.tokens]),
        "rest": np.array(rest),
        "start": np.ones(len(words), np.bool_),
    }
    free = np.ones(len(words), np.bool_)
    for name, is_kind in kinds.items():
        kinds[name] = is_kind & free
        free = free & ~is_kind
    return kinds | {
        "cls": np.array([token in START_TOKENS for token in encoding.tokens]),
        "sep": np.array([token in END_TOKENS for token in encoding.tokens]),
        "any punctuation": np.array([heads.is_punctuation(token) for token in encoding.tokens]),
    }


def _is_number(token: str) -> bool:
    written = token.lstrip("▁Ġ").removeprefix("##")
    return bool(written) and all(letter.isnumeric() for letter in written)


class _Sums:
    """Sums over the query rows of one attention call, from which every measure is made."""

    def __init__(self, call: AttentionCall, *, queries: _Texts, keys: _Texts, norms: Tensor | None) -> None:
        texts, heads = call.query.shape[:2]
        self._device, self._normalised = call.query.device, call.function.normalised
        self._queries, self._keys, self._norms = queries, keys, norms
        self._between = call.stream == "cross"
        self._causal = call.stream != "encoder"
        self._shape = (texts, heads)
        self._entropy = self._zeros()
        self._likely = self._zeros()
        self._received = self._zeros(keys.length)
        self._patterns = self._zeros(len(_OFFSETS) + 1)
        self._weighted = self._zeros(keys.length)
        self._moved = self._zeros()
        self._weighted_neighbours = self._zeros(len(_NEIGHBOURS))
        self._moved_neighbours = self._zeros(len(_NEIGHBOURS))
        self._pair_weight = torch.full((texts, heads), -1.0, device=self._device)
        self._pair = torch.zeros((2, texts, heads), dtype=torch.int64, device=self._device)
        self._masses = self._zeros(0 if self._between else len(queries.targets))
        self._special = torch.tensor(keys["special"], device=self._device)
        self._query_special = torch.tensor(queries["special"], device=self._device)
        self._ends = [encoding.tokens[-1] in END_TOKENS for encoding in keys.encodings]
        self._candidates = torch.tensor(self._ends, device=self._device)

    def _zeros(self, *last: int) -> Tensor:
        return torch.zeros((*self._shape, *last), dtype=torch.float64, device=self._device)

    def add(self, weights: Tensor, rows: slice) -> None:
        """Add a block of query rows: [B, H, rows, T]."""
        texts, heads, count, keys = weights.shape
        flat = weights.flatten(2)  # [B, H, rows * T]
        self._entropy -= torch.xlogy(weights, weights).sum(dim=-1).sum(dim=-1, dtype=torch.float64)
        self._received += weights.sum(dim=2)
        self._likely += self._most(weights).sum(dim=-1, dtype=torch.float64)
        if not self._between:
            patterns = _pattern(rows.start, count, keys, self._device)  # [rows * T, P]
            self._patterns += (flat.view(texts * heads, -1) @ patterns).view(texts, heads, -1)
            self._masses += flat @ self._queries.pairs(rows, self._device)
        if self._norms is not None:
            self._add_weighted(weights, rows)
        self._add_pairs(weights, rows)

    def _most(self, weights: Tensor) -> Tensor:
        """The largest weight of each row, [B, H, rows]; an end token at the end of the text is no candidate."""
        if not any(self._ends):
            return weights.amax(dim=-1)
        without = weights[..., :-1].amax(dim=-1) if weights.shape[-1] > 1 else weights.new_zeros(weights.shape[:-1])
        if all(self._ends):
            return without
        return torch.where(self._candidates[:, None, None], without, weights.amax(dim=-1))

    def _add_weighted(self, weights: Tensor, rows: slice) -> None:
        """Add the rows of N_ij = A_ij ||f(x_j)|| / sum_k A_ik ||f(x_k)|| (Kobayashi et al. 2020).

        A query whose keys add nothing (a pruned head, a first token without a value) has no row of N.
        """
        assert self._norms is not None
        mass = (weights @ self._norms[..., None])[..., 0]  # [B, H, rows]
        share = torch.where(mass > 0, 1 / mass, 0.0)
        moved = mass > 0
        self._moved += moved.sum(dim=-1)
        self._weighted += (share[:, :, None] @ weights)[:, :, 0] * self._norms
        if self._between:
            return
        for number, offset in enumerate(_NEIGHBOURS.values()):
            if not self._with_key(offset):
                continue
            on_diagonal = torch.diagonal(weights, rows.start + offset, 2, 3)  # [B, H, those rows that have such a key]
            first = max(0, -(rows.start + offset))
            inside = slice(first, first + on_diagonal.shape[-1])
            keys = slice(rows.start + offset + first, rows.start + offset + first + on_diagonal.shape[-1])
            self._weighted_neighbours[..., number] += (on_diagonal * share[..., inside] * self._norms[..., keys]).sum(
                dim=-1
            )
            self._moved_neighbours[..., number] += moved[..., inside].sum(dim=-1)

    def _add_pairs(self, weights: Tensor, rows: slice) -> None:
        """Keep each text's strongest weight between two different tokens of its own; the first of equal ones."""
        keys = weights.shape[3]
        hidden = self._special[:, None, :] | self._query_special[:, rows, None]  # [B, rows, T]
        if not self._between:
            query_places = torch.arange(rows.start, rows.stop, device=self._device)[:, None]
            hidden = hidden | (torch.arange(keys, device=self._device) == query_places)
        masked = weights.masked_fill(hidden[:, None], -1.0)
        by_row = masked.amax(dim=-1)  # [B, H, rows]
        best = by_row.amax(dim=-1)
        row = _first(by_row == best[..., None])
        cells = torch.take_along_dim(masked, row[..., None, None], dim=2)[:, :, 0]
        key = _first(cells == best[..., None])
        better = best > self._pair_weight
        self._pair_weight = torch.where(better, best, self._pair_weight)
        self._pair = torch.where(better, torch.stack([row + rows.start, key]), self._pair)

    def pairs(self) -> tuple[Tensor, Tensor]:
        """Places (query, key) [2, B, H] and weights [B, H] of the strongest pairs; NaN where a text has none."""
        none = self._pair_weight < 0
        return self._pair, torch.where(none, torch.nan, self._pair_weight.double())

    def result(self) -> dict[str, Tensor]:
        """Each measure by its name, float64 [B, H]."""
        count, keys = self._queries.length, self._keys.length
        entropy, mean_row = self._entropy / count, self._received / count
        values = {
            "entropy": entropy,
            "relative_entropy": entropy / log(keys) if keys > 1 else torch.zeros_like(entropy),
            "first": mean_row[..., 0],
            "sink": mean_row.amax(dim=-1),
            "confidence": torch.where(self._candidates[:, None] & (keys == 1), torch.nan, self._likely / count),
            "information": (_entropy(mean_row) - entropy).clamp_min(0.0),  # only rounding takes it below 0
            **self._by_kind(mean_row, ""),
            **self._by_part(mean_row),
        }
        if not self._between:
            values |= self._by_offset()
        if self._norms is not None:
            values |= self._norm_weighted()
        return values

    def _by_kind(self, mean_row: Tensor, prefix: str) -> dict[str, Tensor]:
        kinds = {"cls": "cls", "sep": "sep", "punctuation": "any punctuation"}
        if not prefix:
            kinds |= {f"to_{name}": name for name in measures.CLASSES if name != "punctuation"}
        return {f"{prefix}{name}": self._share(mean_row, kind) for name, kind in kinds.items()}

    def _share(self, mean_row: Tensor, kind: str) -> Tensor:
        belongs = torch.tensor(self._keys[kind], device=self._device)
        share = (mean_row @ belongs.double()[..., None])[..., 0]
        return torch.where(belongs.any(dim=-1)[:, None], share, torch.nan)

    def _by_part(self, mean_row: Tensor) -> dict[str, Tensor]:
        part = torch.arange(self._keys.length, device=self._device) * PARTS // self._keys.length
        none = torch.full_like(mean_row[..., 0], torch.nan)  # a text of three tokens has no last quarter
        return {
            f"part_{number + 1}": mean_row[..., part == number].sum(dim=-1) if (part == number).any() else none
            for number in range(PARTS)
        }

    def _with_key(self, offset: int) -> int:
        """Count the queries that can see the key `offset` tokens ahead; a negative offset is back."""
        return 0 if self._causal and offset > 0 else max(0, self._queries.length - abs(offset))

    def _by_offset(self) -> dict[str, Tensor]:
        values = {"distance": self._patterns[..., -1] / self._queries.length}
        for offset in _OFFSETS:
            mass, count = self._patterns[..., offset + FARTHEST], self._with_key(offset)
            values[measures.offset_name(offset)] = mass / count if count else torch.full_like(mass, torch.nan)
        for number, name in enumerate(self._queries.targets):
            counts = self._queries.target_counts[self._causal][number]
            have = torch.tensor(counts, dtype=torch.float64, device=self._device)[:, None]
            values[name] = torch.where(have > 0, self._masses[..., number] / have, torch.nan)
        return values

    def _norm_weighted(self) -> dict[str, Tensor]:
        count = torch.where(self._moved > 0, self._moved, torch.nan)[..., None]  # queries that have a row of N
        mean_row = self._weighted / count
        values = {"norm_first": mean_row[..., 0], **self._by_kind(mean_row, "norm_")}
        if not self._between:
            have = self._moved_neighbours
            near = self._weighted_neighbours / torch.where(have > 0, have, torch.nan)
            values |= {f"norm_{name}": near[..., number] for number, name in enumerate(_NEIGHBOURS)}
        return values


def _first(true: Tensor) -> Tensor:
    """The first True of each row [..., T] -> [...]: argmax promises no order among equal numbers."""
    places = torch.arange(true.shape[-1], device=true.device)
    return torch.where(true, places, true.shape[-1]).amin(dim=-1)


def _entropy(rows: Tensor) -> Tensor:
    return -torch.xlogy(rows, rows).sum(dim=-1)


def _pattern(start: int, rows: int, keys: int, device: torch.device) -> Tensor:
    """Factors of a block's weights: each offset's own, and the distance: float32 [rows * T, offsets + 1]."""
    ahead = torch.arange(keys, device=device) - torch.arange(start, start + rows, device=device)[:, None]
    offsets = torch.tensor(_OFFSETS, device=device)
    factors = torch.cat([ahead[..., None] == offsets, ahead.abs()[..., None]], dim=-1)
    return factors.float().flatten(0, 1)
