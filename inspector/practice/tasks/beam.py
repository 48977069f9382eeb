"""Task 11: a step of beam search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from inspector.practice.record.task import Case, Mistake, Stages, Task
from inspector.practice.tasks import recordings
from inspector.practice.tasks.stages import Array, way
from inspector.questions.record.both import Both

Chosen = tuple[Array, Array, Array]


def _best(totals: Array, width: int) -> Chosen:
    """Return the best cells of [b, V]: their totals, rows and columns, best first."""
    places = np.argsort(-totals, axis=None, kind="stable")[:width]
    return totals.ravel()[places], places // totals.shape[1], places % totals.shape[1]


def computed(
    scores: Array,
    log_probs: Array,
    width: int,
    *,
    total: Callable[[Array, Array], Array] = lambda s, p: s[:, None] + p,
    choose: Callable[[Array, int], Chosen] = _best,
    told: Callable[[Chosen, Array, Array], Chosen] = lambda chosen, s, p: chosen,
    end: Callable[[Chosen], Any] = lambda chosen: chosen,
) -> Any:
    """Return the `width` best continuations: sums of log probabilities, beams, tokens."""
    return end(told(choose(total(scores, log_probs), width), scores, log_probs))


def _from(order: Callable[[Array], Array]) -> Callable[[Array, int], Chosen]:
    def choose(totals: Array, width: int) -> Chosen:
        places = order(totals)[:width]
        return totals.ravel()[places], places // totals.shape[1], places % totals.shape[1]

    return choose


def _worst_order(totals: Array) -> Array:
    return np.argsort(totals, axis=None, kind="stable")


def _one_a_beam(totals: Array, width: int) -> Chosen:
    """Return the best token of each beam, best first."""
    tokens = totals.argmax(1)
    best = totals.max(1)
    order = np.argsort(-best, kind="stable")[:width]
    return best[order], order, tokens[order]


def _one_a_beam_unsorted(totals: Array, width: int) -> Chosen:
    return totals.max(1)[:width], np.arange(len(totals))[:width], totals.argmax(1)[:width]


def _all_of_each(totals: Array, width: int) -> Chosen:
    """Return the `width` best of every beam, one beam after the other."""
    tokens = np.argsort(-totals, axis=1, kind="stable")[:, :width]
    beams = np.repeat(np.arange(len(totals)), tokens.shape[1])
    return np.take_along_axis(totals, tokens, 1).ravel(), beams, tokens.ravel()


def _all_of_each_2d(totals: Array, width: int) -> Chosen:
    tokens = np.argsort(-totals, axis=1, kind="stable")[:, :width]
    return np.take_along_axis(totals, tokens, 1), np.repeat(np.arange(len(totals))[:, None], tokens.shape[1], 1), tokens


def _first_of_each(totals: Array, width: int) -> Chosen:
    return tuple(part[:width] for part in _all_of_each(totals, width))  # type: ignore[return-value]


def _of_beam(which: Callable[[Array], int]) -> Callable[[Array, int], Chosen]:
    def choose(totals: Array, width: int) -> Chosen:
        beam = which(totals)
        best, _, tokens = _best(totals[beam : beam + 1], width)
        return best, np.full(len(best), beam), tokens

    return choose


def _other_tokens(totals: Array, width: int) -> Chosen:
    """Take each token once, from the beam in which it is best."""
    best, beams = totals.max(0), totals.argmax(0)
    order = np.argsort(-best, kind="stable")[:width]
    return best[order], beams[order], order


def _in_place(totals: Array, width: int) -> Chosen:
    """Give the best in the order of beams and tokens."""
    best, beams, tokens = _best(totals, width)
    order = np.lexsort((tokens, beams))
    return best[order], beams[order], tokens[order]


def _by_beam_sorted(totals: Array, width: int) -> Chosen:
    best, beams, tokens = _best(totals, width)
    order = np.argsort(beams, kind="stable")
    return best[order], beams[order], tokens[order]


def _by_token(totals: Array, width: int) -> Chosen:
    best, beams, tokens = _best(totals, width)
    order = np.lexsort((beams, tokens))
    return best[order], beams[order], tokens[order]


def _reversed(totals: Array, width: int) -> Chosen:
    best, beams, tokens = _best(totals, width)
    return best[::-1], beams[::-1], tokens[::-1]


def _places(
    of_beam: Callable[[Array, tuple[int, ...]], Array], of_token: Callable[[Array, tuple[int, ...]], Array]
) -> Stages:
    """Compute beams and tokens from the places in the flat totals otherwise."""

    def choose(totals: Array, width: int) -> Chosen:
        places = np.argsort(-totals, axis=None, kind="stable")[:width]
        return totals.ravel()[places], of_beam(places, totals.shape), of_token(places, totals.shape)

    return way(choose=choose)


def _flat_by_token(totals: Array, width: int) -> Chosen:
    """Read the places of the transposed totals as if these were not transposed."""
    flat = totals.T.ravel()
    places = np.argsort(-flat, kind="stable")[:width]
    return flat[places], places // totals.shape[1], places % totals.shape[1]


def _nucleus(count: Callable[[int, tuple[int, ...]], int]) -> Stages:
    return way(choose=lambda totals, width: _best(totals, count(width, totals.shape)))


def _retold(made: Callable[[Chosen, Array, Array], Array]) -> Stages:
    return way(told=lambda chosen, s, p: (made(chosen, s, p), chosen[1], chosen[2]))


def _normalised(scores: Array) -> Array:
    shifted = scores - scores.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))


MISTAKES = (
    Mistake("the beams' own scores are not added: the new token alone counts", (way(total=lambda s, p: p),)),
    Mistake(
        "the new token's log probability is not added to what is compared: the beams' old scores alone count",
        (way(total=lambda s, p: np.broadcast_to(s[:, None], p.shape)),),
    ),
    Mistake(
        "scores and log probabilities are multiplied, not added",
        (way(total=lambda s, p: s[:, None] * p), way(total=lambda s, p: -(s[:, None] * p))),
    ),
    Mistake(
        "probabilities are added to the scores: the logarithm is missing",
        (
            way(total=lambda s, p: s[:, None] + np.exp(p)),
            way(total=lambda s, p: np.exp(s)[:, None] + np.exp(p)),
        ),
    ),
    Mistake(
        "probabilities are multiplied and returned, not their logarithms",
        (
            way(total=lambda s, p: np.exp(s)[:, None] * np.exp(p)),
            _retold(lambda c, s, p: np.exp(c[0])),
            way(total=lambda s, p: s[:, None] * np.exp(p)),
            way(total=lambda s, p: np.exp(s)[:, None] * p),
        ),
    ),
    Mistake(
        "the logarithm is taken again",
        (
            way(total=lambda s, p: s[:, None] + np.log(-p)),
            way(total=lambda s, p: s[:, None] + np.log(p)),
            way(total=lambda s, p: np.log(s)[:, None] + p),
        ),
    ),
    Mistake(
        "the log probability is subtracted",
        (way(total=lambda s, p: s[:, None] - p), way(total=lambda s, p: p - s[:, None])),
    ),
    Mistake(
        "the mean of score and log probability is taken (a length penalty that is not asked for)",
        (
            way(total=lambda s, p: (s[:, None] + p) / 2),
            way(total=lambda s, p: s[:, None] / 2 + p),
            way(total=lambda s, p: (s[:, None] + p) / p.shape[1]),
        ),
    ),
    Mistake(
        "the scores are laid along the tokens, not along the beams",
        (
            way(total=lambda s, p: s + p),
            way(total=lambda s, p: np.resize(s, p.shape[1])[None] + p),
        ),
    ),
    Mistake(
        "every beam has the score of the first",
        (way(total=lambda s, p: s[0] + p), way(total=lambda s, p: s.max() + p), way(total=lambda s, p: s.sum() + p)),
    ),
    Mistake("the beams' scores are made to sum to 1 first", (way(total=lambda s, p: _normalised(s)[:, None] + p),)),
    Mistake(
        "the largest log probability of each beam is subtracted",
        (way(total=lambda s, p: s[:, None] + p - p.max(1, keepdims=True)),),
    ),
    Mistake(
        "a softmax is taken over the sums",
        (
            way(total=lambda s, p: np.exp(s[:, None] + p) / np.exp(s[:, None] + p).sum(1, keepdims=True)),
            way(total=lambda s, p: np.exp(s[:, None] + p) / np.exp(s[:, None] + p).sum()),
            way(total=lambda s, p: s[:, None] + p - np.log(np.exp(s[:, None] + p).sum(1, keepdims=True))),
            way(total=lambda s, p: s[:, None] + p - np.log(np.exp(s[:, None] + p).sum())),
        ),
    ),
    Mistake(
        "the worst are taken, not the best",
        (way(choose=_from(_worst_order)), way(choose=_from(lambda t: _worst_order(t)[::-1][-1:None:-1]))),
    ),
    Mistake("the best stand last: best first is due", (way(choose=_reversed),)),
    Mistake(
        "the worst are taken and stand in reverse order",
        (way(choose=lambda t, w: tuple(part[::-1] for part in _from(_worst_order)(t, w))),),
    ),
    Mistake(
        "the result is sorted by beam or token, not by score",
        (
            way(choose=_in_place),
            way(choose=_by_beam_sorted),
            way(choose=_by_token),
        ),
    ),
    Mistake(
        "every beam is continued by its own best token: two of one beam may be the best",
        (
            way(choose=_one_a_beam),
            way(choose=_one_a_beam_unsorted),
        ),
    ),
    Mistake(
        "the best of each beam are returned, and no choice is made among all beams",
        (
            way(choose=_all_of_each),
            way(choose=_all_of_each_2d),
            way(choose=_first_of_each),
        ),
    ),
    Mistake(
        "only the best beam is continued",
        (
            way(choose=_of_beam(lambda t: int(t.max(1).argmax()))),
            way(choose=_of_beam(lambda t: int(t.sum(1).argmax()))),
        ),
    ),
    Mistake("only the first beam is continued", (way(choose=_of_beam(lambda t: 0)),)),
    Mistake("a token is taken once, though two beams may go on with it", (way(choose=_other_tokens),)),
    Mistake(
        "beam and token are exchanged: place % V is the token, place // V the beam",
        (_places(lambda i, shape: i % shape[1], lambda i, shape: i // shape[1]),),
    ),
    Mistake(
        "the place is divided by the number of beams, not by the size of the vocabulary",
        (
            _places(lambda i, shape: i // shape[0], lambda i, shape: i % shape[0]),
            _places(lambda i, shape: i % shape[0], lambda i, shape: i // shape[0]),
            _places(lambda i, shape: i // shape[0], lambda i, shape: i % shape[1]),
            _places(lambda i, shape: i // shape[1], lambda i, shape: i % shape[0]),
            _places(lambda i, shape: i % shape[0], lambda i, shape: i % shape[1]),
        ),
    ),
    Mistake(
        "the place is divided by the width, not by the size of the vocabulary",
        (
            _places(lambda i, shape: i // max(len(i), 1), lambda i, shape: i % max(len(i), 1)),
            _places(lambda i, shape: i % max(len(i), 1), lambda i, shape: i // max(len(i), 1)),
        ),
    ),
    Mistake(
        "the tokens are places in the flat table: % V is missing",
        (_places(lambda i, shape: i // shape[1], lambda i, shape: i),),
    ),
    Mistake(
        "the beams are places in the flat table: // V is missing",
        (_places(lambda i, shape: i, lambda i, shape: i % shape[1]),),
    ),
    Mistake(
        "the place is divided by V − 1 or V + 1",
        (
            _places(lambda i, shape: i // (shape[1] - 1), lambda i, shape: i % (shape[1] - 1)),
            _places(lambda i, shape: i // (shape[1] + 1), lambda i, shape: i % (shape[1] + 1)),
        ),
    ),
    Mistake(
        "the beams are divided as numbers with a fraction (/ in place of //)",
        (_places(lambda i, shape: i / shape[1], lambda i, shape: i % shape[1]),),
    ),
    Mistake(
        "beams or tokens count from 1",
        (
            _places(lambda i, shape: i // shape[1] + 1, lambda i, shape: i % shape[1]),
            _places(lambda i, shape: i // shape[1], lambda i, shape: i % shape[1] + 1),
            _places(lambda i, shape: i // shape[1] + 1, lambda i, shape: i % shape[1] + 1),
        ),
    ),
    Mistake(
        "the beams are the ranks in the result, not those that are continued",
        (
            _places(lambda i, shape: np.arange(len(i)), lambda i, shape: i % shape[1]),
            _places(lambda i, shape: np.zeros(len(i), int), lambda i, shape: i % shape[1]),
        ),
    ),
    Mistake(
        "the table is flattened token by token, and the places are read beam by beam", (way(choose=_flat_by_token),)
    ),
    Mistake(
        "log probabilities of the new tokens are returned, not the sums", (_retold(lambda c, s, p: p[c[1], c[2]]),)
    ),
    Mistake("the beams' old scores are returned, not the sums", (_retold(lambda c, s, p: s[c[1]]),)),
    Mistake(
        "the first scores are returned, not those of the beams that are continued",
        (
            _retold(lambda c, s, p: np.resize(s, len(c[0]))),
            _retold(lambda c, s, p: np.resize(s, len(c[0])) + p[c[1], c[2]]),
        ),
    ),
    Mistake(
        "the scores are counted twice",
        (way(total=lambda s, p: 2 * s[:, None] + p), _retold(lambda c, s, p: c[0] + s[c[1]])),
    ),
    Mistake("the returned scores have the wrong sign", (_retold(lambda c, s, p: -c[0]),)),
    Mistake("as many as there are beams are returned, not `width`", (_nucleus(lambda w, shape: shape[0]),)),
    Mistake("one is returned, not `width`", (_nucleus(lambda w, shape: 1),)),
    Mistake(
        "one more or one less than `width` is returned",
        (_nucleus(lambda w, shape: w + 1), _nucleus(lambda w, shape: w - 1)),
    ),
    Mistake(
        "twice `width` or all are returned",
        (
            _nucleus(lambda w, shape: 2 * w),
            _nucleus(lambda w, shape: shape[0] * w),
            _nucleus(lambda w, shape: shape[0] * shape[1]),
        ),
    ),
    Mistake(
        "the parts stand in another order: scores, beams, tokens is due",
        (
            way(end=lambda c: (c[1], c[2], c[0])),
            way(end=lambda c: (c[0], c[2], c[1])),
            way(end=lambda c: (c[2], c[1], c[0])),
            way(end=lambda c: (c[2], c[0], c[1])),
            way(end=lambda c: (c[1], c[0], c[2])),
        ),
    ),
    Mistake(
        "one part is missing: scores, beams and tokens are due",
        (
            way(end=lambda c: (c[0], c[2])),
            way(end=lambda c: (c[0], c[1])),
            way(end=lambda c: (c[1], c[2])),
            way(end=lambda c: c[0]),
        ),
    ),
    Mistake(
        "the parts are a list of triples, not three arrays",
        (way(end=lambda c: np.stack([np.asarray(part, float) for part in c], axis=1)),),
    ),
)


def _log_softmax(x: Array) -> Array:
    shifted = x - x.max(-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))


def made() -> tuple[Case, ...]:
    """Make beams of different scores: two of the best go on from one beam, and a token is best in two beams."""
    random = np.random.default_rng(11)
    first = np.log(np.array([[0.5, 0.3, 0.15, 0.05], [0.6, 0.1, 0.28, 0.02]]))

    def some(beams: int, vocabulary: int, spread: float) -> tuple[Array, Array]:
        scores = -np.abs(random.normal(size=beams)) * spread - 1
        return scores.astype(np.float32), _log_softmax(random.normal(size=(beams, vocabulary)) * 2).astype(np.float32)

    return (
        Case("2 beams and 4 tokens, width 3", (np.array([-0.3, -0.9], np.float32), first.astype(np.float32), 3)),
        Case("3 beams and 7 tokens, width 4", (*some(3, 7, 0.5), 4)),
        Case("4 beams and 5 tokens, width 2", (*some(4, 5, 2.0), 2)),
        Case("one beam and 6 tokens, width 3", (*some(1, 6, 1.0), 3)),
        Case("as many beams as tokens", (*some(4, 4, 1.0), 4), square=True),
    )


def recorded() -> tuple[Case, ...]:
    """Give what mini-gpt expects behind three places of a text."""
    table = recordings.next_token("mini-gpt", (7, 9, 10))
    return (Case("mini-gpt's next token behind three places", (np.array([-2.5, -2.4, -2.6], np.float32), table, 6)),)


TASK = Task(
    11,
    "beam",
    "writing",
    "beam_step",
    ("scores", "log_probs", "width"),
    title=Both("A beam step", "束搜索的一步"),
    asked=Both(
        "scores [b] are the beams' sums of log probabilities so far, log_probs [b, V] those of every next token. "
        "Return a tuple of "
        "three, best first: the scores of the `width` best continuations, the beams that they continue, and their "
        "tokens.",
        "scores [b] 是各束到目前为止的对数概率之和，log_probs [b, V] 是每个下一 token 的对数概率。返回三元组（最好"
        "的在前）：最好的 width 个延续的分数、所延续的束、所选的 token。",
    ),
    hints=(
        Both(
            "total(beam, token) = scores[beam] + log_probs[beam, token]; the `width` largest of all b · V.",
            "total(束, token) = scores[束] + log_probs[束, token]；在全部 b · V 个中取最大的 width 个。",
        ),
        Both(
            "Two beams of −1 and −2 with log probabilities −0.1, −3 and −0.5, −0.9: the totals are −1.1, −4 and "
            "−2.5, −2.9. The two "
            "best are token 0 of beam 0 and token 0 of beam 1.",
            "两束分数 −1、−2，对数概率 −0.1、−3 与 −0.5、−0.9：总分为 −1.1、−4 与 −2.5、−2.9。最好的两个是束 0 的"
            " token 0 和束 1 的 token 0。",
        ),
        Both(
            "Choose among all beams at once, not the best of each. In the flat table a place is beam · V + token: "
            "divide by V for the "
            "beam, and the rest is the token.",
            "要在所有束中一起选，而不是每束各选一个。摊平后位置 = 束 · V + token：除以 V 得束，余数是 token。",
        ),
    ),
    compute=computed,
    mistakes=MISTAKES,
    made=made,
    recorded=recorded,
    result=("scores", "beams", "tokens"),
)
