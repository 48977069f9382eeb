"""Ways to read a long text, run on a loaded model and held to its full attention on the same text.

Compared are last hidden states, token by token and as the mean of the text, what the model guesses, and the weight that
full attention gives to keys that a way does not see. A hierarchy's second level has no trained weights here:
A = softmax(cos(c_i, c_j)) over the chunk vectors c, and the text's vector is the mean of A c.

Shapes: L attention layers, H heads, T tokens of the encoding, n those without special tokens, D width, C chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from inspector.costs.clock import LayerShape, layer_shape
from inspector.interventions.change import hide
from inspector.long_texts.costs import layer_flops
from inspector.long_texts.patterns import Full, seen
from inspector.long_texts.ways import Name, ReadingWay, full, ways_for
from inspector.trace import Trace, recompute
from models import LoadedModel
from models.attention.imposing import imposing
from models.tokenizers import Encoding

MOST = 1024  # tokens of a text that is compared: maps of every head are read whole
HIDDEN = 0.15  # share of the tokens that a masked language model guesses (Devlin et al. 2019)
_ROWS = 64  # positions whose logits are held at once
Floats = NDArray[np.float64]
Watch = Callable[[int, int], object]


@dataclass(frozen=True, eq=False)
class ReadingComparison:
    """Ways beside full attention on one text.

    table: a row per way, full attention first: tokens (that it has a state of), dropped (share of the text), runs
    (tokens run, special ones included), passes, flops of all layers, cosine and worst (mean and least over its tokens),
    vector (cosine of the mean vector), cut (share of full attention's weight on keys that it does not see, mean over
    layers and heads), loss and accuracy on what it guesses, loss_full and accuracy_full: of full attention on the same
    tokens. NaN where the model guesses nothing.
    cosines: [n] for each way, NaN for dropped tokens. cut: [L, H] for each way, NaN where a layer has fewer heads.
    mixing: the hierarchy's second level [C, C]; plain: the cosine of its text's vector without that level.
    guessed: tokens that are guessed. shape: of a layer, None where FLOPs cannot be counted so.
    """

    ways: Mapping[Name, ReadingWay]
    tokens: tuple[str, ...]
    specials: int
    table: pd.DataFrame
    cosines: Mapping[Name, Floats]
    cut: Mapping[Name, Floats]
    mixing: Floats
    plain: float
    guessed: int
    shape: LayerShape | None


def compare(
    loaded: LoadedModel,
    trace: Trace,
    *,
    budget: int,
    overlap: int | None = None,
    seed: int = 0,
    on_progress: Watch = lambda done, total: None,
) -> ReadingComparison:
    """Run every way on a recorded text, with pieces of `budget` tokens, special tokens included.

    overlap: tokens that two windows share, half of a piece where None. seed: draws the tokens that a masked language
    model guesses. on_progress: called with the passes that are done and their number; what it raises ends the work.

    Raises ValueError for an encoder-decoder, for a model that does its attention by itself, for a trace of another
    model, for a text longer than MOST, and for a budget without room for a token of the text.
    """
    _check(loaded, trace)
    layout = _Layout.of(trace.encoding)
    room = budget - layout.specials
    if room < 1:
        raise ValueError(
            f"{budget} tokens have no room: the model puts {layout.specials} special tokens around a text; take more"
        )
    overlap = room // 2 if overlap is None else overlap
    causal = loaded.shape == "decoder"
    every = (
        full(layout.count),
        *ways_for(layout.count, room=room, overlap=overlap, specials=layout.specials, causal=causal),
    )
    guess = _Guesses.of(loaded, trace.encoding, layout, seed=seed)
    shape = _shape(loaded)
    states: dict[Name, Tensor] = {}
    losses: dict[Name, tuple[NDArray[np.bool_], Floats]] = {}
    total = len(every) * (2 if guess.rerun else 1) + 1
    for done, way in enumerate(every):
        whole = way.name == "full"  # it was recorded
        states[way.name] = _of_trace(trace, layout) if whole else _states(loaded, layout, way)
        losses[way.name] = guess.losses(loaded, way, states[way.name])
        on_progress((done + 1) * (total - 1) // len(every), total)
    cut = _cut(trace, layout, every[1:])
    on_progress(total, total)
    reference = states["full"]
    cosines = {way.name: _cosine(states[way.name], reference).numpy() for way in every[1:]}
    mixing, mixed, plain = _second_level(states["chunks"], next(way for way in every if way.name == "chunks"))
    mean = reference.mean(dim=0)
    vectors = {name: float(_cosine(_mean(way_states), mean)) for name, way_states in states.items()}
    vectors["chunks"] = float(_cosine(mixed, mean))
    table = pd.DataFrame([_row(way, layout, shape, len(trace.sites)) for way in every])
    values = [cosines.get(way.name, np.ones(layout.count)) for way in every]
    table["cosine"] = [float(np.nanmean(cosines)) for cosines in values]
    table["worst"] = [float(np.nanmin(cosines)) for cosines in values]
    table["vector"] = [vectors[way.name] for way in every]
    table["cut"] = [float(np.nanmean(cut[way.name])) if way.name in cut else 0.0 for way in every]
    table = pd.concat([table, pd.DataFrame([_scored(losses[way.name], losses["full"]) for way in every])], axis=1)
    ways = {way.name: way for way in every}
    tokens = tuple(trace.encoding.tokens[place] for place in layout.places)
    guessed = int(losses["full"][0].size)
    return ReadingComparison(
        ways, tokens, layout.specials, table, cosines, cut, mixing, float(_cosine(plain, mean)), guessed, shape
    )


@dataclass(frozen=True)
class PaddingCost:
    """A text's first tokens alone, and padded to `columns`: FLOPs of both, and the largest move of a number."""

    tokens: int
    columns: int
    alone: int
    flops: int
    moved: float


def padded(loaded: LoadedModel, trace: Trace, *, budget: int, columns: int) -> PaddingCost:
    """Read the first `budget` tokens of a text alone and padded to `columns`, and hold their states to each other.

    Raises ValueError for fewer columns than tokens, and where a layer's FLOPs cannot be counted.
    """
    layout = _Layout.of(trace.encoding)
    ids, segments = layout.piece(tuple(range(min(budget - layout.specials, layout.count))))
    if columns < len(ids):
        raise ValueError(f"{len(ids)} tokens do not fit into {columns} columns; give as many or more")
    filling = columns - len(ids)
    keep = torch.tensor([[True] * len(ids) + [False] * filling])
    pad = loaded.tokenizer.pad_token_id or 0
    with torch.inference_mode():
        alone = loaded.run(torch.tensor([ids]), keep[:, : len(ids)], torch.tensor([segments]))[0]
        filled = loaded.run(torch.tensor([ids + [pad] * filling]), keep, torch.tensor([segments + [0] * filling]))[0]
    shape, layers = layer_shape(loaded.config), len(trace.sites)
    return PaddingCost(
        len(ids),
        columns,
        layers * layer_flops(shape, Full(), len(ids)),
        layers * layer_flops(shape, Full(), columns),
        float((alone - filled[: len(ids)]).abs().max()),
    )


# --- running ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Layout:
    """An encoding as a text's tokens between the special tokens before and behind it. places: of the text's tokens."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    start: int
    stop: int

    @classmethod
    def of(cls, encoding: Encoding) -> _Layout:
        """Find where the text's tokens stand; a special token inside, as between a pair, is one of them."""
        real = [place for place, special in enumerate(encoding.special) if not special]
        return cls(encoding.ids, encoding.segments, real[0], real[-1] + 1)

    @property
    def count(self) -> int:
        return self.stop - self.start

    @property
    def specials(self) -> int:
        return len(self.ids) - self.count

    @property
    def places(self) -> range:
        return range(self.start, self.stop)

    def piece(self, reads: Sequence[int]) -> tuple[list[int], list[int]]:
        """Give ids and segments of a piece, with the special tokens around it."""
        places = [*range(self.start), *(self.start + at for at in reads), *range(self.stop, len(self.ids))]
        return [self.ids[at] for at in places], [self.segments[at] for at in places]


@torch.inference_mode()
def _states(loaded: LoadedModel, layout: _Layout, way: ReadingWay) -> Tensor:
    """Last hidden states of a text's tokens, float64 [n, D]; NaN for tokens that the way drops."""
    states: Tensor | None = None
    for _, same in groupby(way.pieces, key=lambda piece: len(piece.reads)):
        pieces = list(same)
        ids, segments = (torch.tensor(rows) for rows in zip(*(layout.piece(p.reads) for p in pieces), strict=True))
        hidden = _run(loaded, way, ids, segments)  # [pieces, length, D]
        if states is None:
            states = torch.full((layout.count, hidden.shape[-1]), torch.nan, dtype=torch.float64)
        for row, piece in enumerate(pieces):
            at = {position: index for index, position in enumerate(piece.reads)}
            inside = [layout.start + at[position] for position in piece.keeps]
            states[list(piece.keeps)] = hidden[row, inside].double()
    assert states is not None
    return states


def _of_trace(trace: Trace, layout: _Layout) -> Tensor:
    """Take the last hidden states of a text's tokens from its recording, float64 [n, D]."""
    return trace.hidden[layout.start : layout.stop].double()


def _run(loaded: LoadedModel, way: ReadingWay, ids: Tensor, segments: Tensor) -> Tensor:
    keep = torch.ones_like(ids, dtype=torch.bool)
    if way.pattern is None:
        return loaded.run(ids, keep, segments)
    with imposing(way.pattern.mask):
        return loaded.run(ids, keep, segments)


def _check(loaded: LoadedModel, trace: Trace) -> None:
    if loaded.shape == "encoder-decoder":
        raise ValueError(
            f"{loaded.card.id} writes a target beside what it reads; choose an encoder or a decoder to compare ways"
        )
    if loaded.backend == "eager output":
        raise ValueError(
            f"{loaded.card.id} does its attention by itself, so no mask can be imposed on it; choose another model"
        )
    if trace.model != loaded.card.id:
        raise ValueError(f"the trace is of {trace.model} and the model is {loaded.card.id}; give both of one model")
    if len(trace.encoding) > MOST:
        raise ValueError(
            f"the text has {len(trace.encoding):,} tokens, and ways are compared on {MOST:,} at most; shorten it"
        )


def _shape(loaded: LoadedModel) -> LayerShape | None:
    try:
        return layer_shape(loaded.config)
    except ValueError:  # layers of other parts: all but FLOPs is told
        return None


# --- measuring --------------------------------------------------------------------------------------------------------


def _cosine(a: Tensor, b: Tensor) -> Tensor:
    return torch.nn.functional.cosine_similarity(a, b, dim=-1)


def _mean(states: Tensor) -> Tensor:
    """Mean of the states that there are, [D]."""
    return states[~states[:, 0].isnan()].mean(dim=0)


def _second_level(states: Tensor, way: ReadingWay) -> tuple[Floats, Tensor, Tensor]:
    """Let chunk vectors attend to each other: A [C, C], the mean of A c [D], and the plain mean of c [D]."""
    chunks = torch.stack([states[list(piece.keeps)].mean(dim=0) for piece in way.pieces])  # [C, D]
    unit = chunks / chunks.norm(dim=-1, keepdim=True)
    mixing = torch.softmax(unit @ unit.T, dim=-1)
    weights: Floats = mixing.numpy()
    return weights, (mixing @ chunks).mean(dim=0), chunks.mean(dim=0)


def _cut(trace: Trace, layout: _Layout, ways: Sequence[ReadingWay]) -> dict[Name, Floats]:
    """Sum full attention's weight on keys that each way hides, mean over the tokens it has: [L, H] for each way."""
    tokens = len(layout.ids)
    hidden = {way.name: ~_sees(layout, way) for way in ways}
    rows = {way.name: layout.start + np.array(way.covered) for way in ways}
    most = max(site.heads for site in trace.sites)
    cut = {way.name: np.full((len(trace.sites), most), np.nan) for way in ways}
    for row, site in enumerate(trace.sites):
        sums = {way.name: np.zeros((site.heads, tokens)) for way in ways}
        for block in recompute.bands(trace.record_of(site.layer, site.stream, call=site.call)):
            for way in ways:
                away = hidden[way.name][block.queries, block.keys].astype(np.float32)
                sums[way.name][:, block.queries] = np.einsum("hqk,qk->hq", block.shares, away)
        for way in ways:
            cut[way.name][row, : site.heads] = sums[way.name][:, rows[way.name]].mean(axis=1)
    return cut


def _sees(layout: _Layout, way: ReadingWay) -> NDArray[np.bool_]:
    """Tell which keys each query of the whole encoding sees, [T, T]; special tokens stand around every piece."""
    tokens = len(layout.ids)
    if way.pattern is not None:
        return seen(way.pattern, tokens)
    sees = np.zeros((tokens, tokens), dtype=bool)
    sees[:, : layout.start] = sees[:, layout.stop :] = True
    for piece in way.pieces:
        sees[np.ix_(layout.start + np.array(piece.keeps, dtype=int), layout.start + np.array(piece.reads))] = True
    return sees


def _row(way: ReadingWay, layout: _Layout, shape: LayerShape | None, layers: int) -> dict[str, Any]:
    lengths = [len(piece.reads) + layout.specials for piece in way.pieces]
    pattern = way.pattern or Full()
    flops = float("nan") if shape is None else layers * sum(layer_flops(shape, pattern, length) for length in lengths)
    tokens = len(way.covered)
    return {
        **{"way": way.name, "tokens": tokens, "dropped": 1 - tokens / way.tokens},
        **{"runs": sum(lengths), "passes": len(lengths), "flops": flops},
    }


# --- guessing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Guesses:
    """Tokens that the model guesses: positions in the text, each with its true id.

    rerun: the layout with those tokens hidden, for a masked language model; None for one that guesses the next token,
    whose states are there already. Without positions nothing is guessed.
    """

    positions: tuple[int, ...]
    truths: tuple[int, ...]
    rerun: _Layout | None = None

    @classmethod
    def of(cls, loaded: LoadedModel, encoding: Encoding, layout: _Layout, *, seed: int) -> _Guesses:
        """Choose what is guessed: 15 % of the text's tokens, all hidden at once, or each token's next."""
        if loaded.predict is None:
            return cls((), ())
        if loaded.shape == "decoder":
            positions = tuple(range(layout.count - 1))
            return cls(positions, tuple(encoding.ids[layout.start + at + 1] for at in positions))
        if loaded.tokenizer.mask_token_id is None:
            return cls((), ())
        real = [at for at in range(layout.count) if not encoding.special[layout.start + at]]
        count = max(1, round(HIDDEN * len(real)))
        chosen = sorted(map(int, np.random.default_rng(seed).choice(real, size=count, replace=False)))
        hidden = hide(loaded, encoding, [layout.start + at for at in chosen])
        truths = tuple(encoding.ids[layout.start + at] for at in chosen)
        return cls(tuple(chosen), truths, _Layout.of(hidden))

    def losses(self, loaded: LoadedModel, way: ReadingWay, states: Tensor) -> tuple[NDArray[np.bool_], Floats]:
        """Guess what the way has a state of: whether each guess is right, and -ln p of the truth; NaN where dropped."""
        if not self.positions or loaded.predict is None:
            return np.zeros(0, dtype=bool), np.zeros(0)
        read = states if self.rerun is None else _states(loaded, self.rerun, way)
        right, losses = [], []
        for start in range(0, len(self.positions), _ROWS):
            rows = read[list(self.positions[start : start + _ROWS])]
            truths = torch.tensor(self.truths[start : start + _ROWS])
            with torch.inference_mode():
                logits = loaded.predict(rows[None].float())[0].double()
            right.append((logits.argmax(dim=-1) == truths).numpy())
            losses.append(torch.nn.functional.cross_entropy(logits, truths, reduction="none").numpy())
        return np.concatenate(right), np.concatenate(losses)


def _scored(way: tuple[NDArray[np.bool_], Floats], reference: tuple[NDArray[np.bool_], Floats]) -> dict[str, float]:
    """Average what a way guesses, and what full attention does on the same tokens."""
    there = ~np.isnan(way[1])
    if not there.any():
        return dict.fromkeys(("loss", "accuracy", "loss_full", "accuracy_full"), float("nan"))
    return {
        **{"loss": float(way[1][there].mean()), "accuracy": float(way[0][there].mean())},
        **{"loss_full": float(reference[1][there].mean()), "accuracy_full": float(reference[0][there].mean())},
    }
