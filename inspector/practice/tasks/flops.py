"""Task 12: the FLOPs of an encoder layer's matrix products."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inspector.practice.record.task import Case, Mistake, Task
from inspector.practice.tasks.stages import way
from inspector.questions.record.both import Both

Term = Callable[[int, int, int, int], float]


def computed(
    n: int,
    width: int,
    ffn: int,
    heads: int,
    *,
    projections: Term = lambda n, d, f, h: 8 * n * d * d,
    scores: Term = lambda n, d, f, h: 2 * n * n * d,
    mixing: Term = lambda n, d, f, h: 2 * n * n * d,
    feedforward: Term = lambda n, d, f, h: 4 * n * d * f,
    more: Term = lambda n, d, f, h: 0,
    end: Callable[[float, int, int, int, int], Any] = lambda total, n, d, f, h: total,
) -> Any:
    """Return 8 n D^2 + 4 n^2 D + 4 n D F."""
    given = (n, width, ffn, heads)
    return end(projections(*given) + scores(*given) + mixing(*given) + feedforward(*given) + more(*given), *given)


def _both(term: Term) -> Mapping[str, Any]:
    return way(scores=term, mixing=term)


_Z: Term = lambda n, d, f, h: 0  # noqa: E731

MISTAKES = (
    Mistake(
        "a multiplication and an addition count as one: 2 a multiply-add is due",
        (way(end=lambda t, n, d, f, h: t // 2),),
    ),
    Mistake(
        "the output projection is left out: 6 n D² in place of 8 n D²",
        (way(projections=lambda n, d, f, h: 6 * n * d * d),),
    ),
    Mistake(
        "only one of q, k and v is projected",
        (
            way(projections=lambda n, d, f, h: 4 * n * d * d),
            way(projections=lambda n, d, f, h: 2 * n * d * d),
        ),
    ),
    Mistake("the projections are left out", (way(projections=_Z),)),
    Mistake(
        "the projections have a factor too many or too few",
        (
            way(projections=lambda n, d, f, h: 10 * n * d * d),
            way(projections=lambda n, d, f, h: 12 * n * d * d),
            way(projections=lambda n, d, f, h: 16 * n * d * d),
        ),
    ),
    Mistake(
        "a multiply-add of the projections counts as one",
        (way(projections=lambda n, d, f, h: 4 * n * d * d), way(projections=lambda n, d, f, h: 3 * n * d * d)),
    ),
    Mistake(
        "the projections of every head are counted as wide as the whole: × heads",
        (
            way(projections=lambda n, d, f, h: 8 * n * d * d * h),
            way(projections=lambda n, d, f, h: 6 * n * d * d * h + 2 * n * d * d),
        ),
    ),
    Mistake(
        "the projections are divided by the number of heads",
        (
            way(projections=lambda n, d, f, h: 8 * n * d * d // h),
            way(projections=lambda n, d, f, h: 6 * n * d * d // h + 2 * n * d * d),
            way(projections=lambda n, d, f, h: 8 * n * (d // h) ** 2 * h),
            way(projections=lambda n, d, f, h: 8 * n * (d // h) ** 2),
            way(projections=lambda n, d, f, h: 6 * n * (d // h) ** 2 * h + 2 * n * d * d),
        ),
    ),
    Mistake(
        "the projections are counted for one token: the factor n is missing",
        (way(projections=lambda n, d, f, h: 8 * d * d),),
    ),
    Mistake("the projections are quadratic in the tokens", (way(projections=lambda n, d, f, h: 8 * n * n * d),)),
    Mistake("q kᵀ is left out", (way(scores=_Z),)),
    Mistake("weights @ v is left out", (way(mixing=_Z),)),
    Mistake("q kᵀ and weights @ v are left out: attention itself costs nothing", (_both(_Z),)),
    Mistake("a multiply-add of q kᵀ and weights @ v counts as one", (_both(lambda n, d, f, h: n * n * d),)),
    Mistake(
        "q kᵀ and weights @ v are counted as wide as the whole in every head: × heads",
        (
            _both(lambda n, d, f, h: 2 * n * n * d * h),
            way(scores=lambda n, d, f, h: 2 * n * n * d * h),
            way(mixing=lambda n, d, f, h: 2 * n * n * d * h),
        ),
    ),
    Mistake(
        "q kᵀ and weights @ v are counted for one head only: n² E in place of n² D",
        (
            _both(lambda n, d, f, h: 2 * n * n * (d // h)),
            way(scores=lambda n, d, f, h: 2 * n * n * (d // h)),
            way(mixing=lambda n, d, f, h: 2 * n * n * (d // h)),
        ),
    ),
    Mistake(
        "q kᵀ and weights @ v are linear in the tokens: n² is due",
        (
            _both(lambda n, d, f, h: 2 * n * d),
            way(scores=lambda n, d, f, h: 2 * n * d),
            way(mixing=lambda n, d, f, h: 2 * n * d),
        ),
    ),
    Mistake(
        "q kᵀ and weights @ v are quadratic in the width: n² D is due, not n D²",
        (
            _both(lambda n, d, f, h: 2 * n * d * d),
            way(scores=lambda n, d, f, h: 2 * n * d * d),
            way(mixing=lambda n, d, f, h: 2 * n * d * d),
        ),
    ),
    Mistake(
        "the width is missing in q kᵀ and weights @ v: n² alone",
        (
            _both(lambda n, d, f, h: 2 * n * n),
            _both(lambda n, d, f, h: 2 * n * n * h),
            way(scores=lambda n, d, f, h: 2 * n * n),
            way(mixing=lambda n, d, f, h: 2 * n * n),
            way(scores=lambda n, d, f, h: 2 * n * n * h),
            way(mixing=lambda n, d, f, h: 2 * n * n * h),
        ),
    ),
    Mistake(
        "n is cubed in weights @ v or q kᵀ",
        (
            way(mixing=lambda n, d, f, h: 2 * n**3),
            _both(lambda n, d, f, h: 2 * n**3),
            way(mixing=lambda n, d, f, h: 2 * n**3 * h),
        ),
    ),
    Mistake(
        "only the half of the map that a causal mask leaves is counted",
        (
            _both(lambda n, d, f, h: n * (n + 1) * d),
            _both(lambda n, d, f, h: n * (n - 1) * d),
        ),
    ),
    Mistake(
        "q kᵀ and weights @ v have a factor too many",
        (
            _both(lambda n, d, f, h: 4 * n * n * d),
            _both(lambda n, d, f, h: 3 * n * n * d),
        ),
    ),
    Mistake("one of the two FFN matrices is left out", (way(feedforward=lambda n, d, f, h: 2 * n * d * f),)),
    Mistake("three FFN matrices are counted (a gated FFN)", (way(feedforward=lambda n, d, f, h: 6 * n * d * f),)),
    Mistake("the FFN is left out", (way(feedforward=_Z),)),
    Mistake("a multiply-add of the FFN counts as one", (way(feedforward=lambda n, d, f, h: 2 * n * d * f),)),
    Mistake(
        "the FFN is taken as 4 D wide: the argument ffn is not used",
        (
            way(feedforward=lambda n, d, f, h: 16 * n * d * d),
            way(feedforward=lambda n, d, f, h: 8 * n * d * 4 * d),
        ),
    ),
    Mistake("ffn is taken as a factor of the width", (way(feedforward=lambda n, d, f, h: 4 * n * d * d * f),)),
    Mistake(
        "both FFN matrices are taken as square",
        (
            way(feedforward=lambda n, d, f, h: 4 * n * f * f),
            way(feedforward=lambda n, d, f, h: 4 * n * d * d),
            way(feedforward=lambda n, d, f, h: 2 * n * d * f + 2 * n * f * f),
            way(feedforward=lambda n, d, f, h: 2 * n * d * f + 2 * n * d * d),
        ),
    ),
    Mistake(
        "the FFN is counted for one token: the factor n is missing", (way(feedforward=lambda n, d, f, h: 4 * d * f),)
    ),
    Mistake(
        "the FFN is quadratic in the tokens",
        (way(feedforward=lambda n, d, f, h: 4 * n * n * f), way(feedforward=lambda n, d, f, h: 4 * n * n * d * f)),
    ),
    Mistake(
        "the FFN is counted for every head",
        (way(feedforward=lambda n, d, f, h: 4 * n * d * f * h), way(feedforward=lambda n, d, f, h: 4 * n * d * f // h)),
    ),
    Mistake(
        "the FFN has a factor too many",
        (way(feedforward=lambda n, d, f, h: 8 * n * d * f), way(feedforward=lambda n, d, f, h: 16 * n * d * f)),
    ),
    Mistake("all is counted for one token: the factor n is missing", (way(end=lambda t, n, d, f, h: t // n),)),
    Mistake(
        "projections and FFN are counted for one token: the factor n is missing",
        (way(projections=lambda n, d, f, h: 8 * d * d, feedforward=lambda n, d, f, h: 4 * d * f),),
    ),
    Mistake("all is multiplied by the number of heads", (way(end=lambda t, n, d, f, h: t * h),)),
    Mistake(
        "all is divided by the number of heads",
        (way(end=lambda t, n, d, f, h: t // h), way(end=lambda t, n, d, f, h: t / h)),
    ),
    Mistake(
        "attention is multiplied by the number of heads, projections and all",
        (
            way(
                projections=lambda n, d, f, h: 8 * n * d * d * h,
                scores=lambda n, d, f, h: 2 * n * n * d * h,
                mixing=lambda n, d, f, h: 2 * n * n * d * h,
            ),
            way(
                projections=lambda n, d, f, h: 6 * n * d * d * h + 2 * n * d * d,
                scores=lambda n, d, f, h: 2 * n * n * d * h,
                mixing=lambda n, d, f, h: 2 * n * n * d * h,
            ),
        ),
    ),
    Mistake(
        "attention is counted for one head only, projections and all",
        (
            way(
                projections=lambda n, d, f, h: 8 * n * d * d // h,
                scores=lambda n, d, f, h: 2 * n * n * d // h,
                mixing=lambda n, d, f, h: 2 * n * n * d // h,
            ),
            way(
                projections=lambda n, d, f, h: 6 * n * d * d // h + 2 * n * d * d,
                scores=lambda n, d, f, h: 2 * n * n * d // h,
                mixing=lambda n, d, f, h: 2 * n * n * d // h,
            ),
        ),
    ),
    Mistake(
        "weights are counted (parameters), not FLOPs",
        (
            way(end=lambda t, n, d, f, h: 4 * d * d + 2 * d * f),
            way(end=lambda t, n, d, f, h: 4 * d * d + 2 * d * f + 4 * d + d + f),
            way(end=lambda t, n, d, f, h: 2 * n * (4 * d * d + 2 * d * f)),
        ),
    ),
    Mistake("all is doubled: 2 a multiply-add is counted twice", (way(end=lambda t, n, d, f, h: 2 * t),)),
    Mistake("the backward pass is counted too: three times a forward", (way(end=lambda t, n, d, f, h: 3 * t),)),
    Mistake(
        "the softmax is counted too: matrix products alone are asked for",
        tuple(way(more=lambda n, d, f, h, c=c: c * n * n * h) for c in (1, 2, 3, 4, 5))
        + tuple(way(more=lambda n, d, f, h, c=c: c * n * n) for c in (1, 2, 3, 4, 5)),
    ),
    Mistake(
        "biases or additions of vectors are counted too",
        tuple(
            way(more=lambda n, d, f, h, c=c, e=e: c * n * d + e * n * f)
            for c in range(0, 11)
            for e in (0, 1, 2)
            if c or e
        ),
    ),
    Mistake(
        "norms are counted too: matrix products alone are asked for",
        tuple(way(more=lambda n, d, f, h, c=c: c * n * d) for c in (12, 14, 16, 20)),
    ),
    Mistake(
        "the number of additions is one less a cell: 2 k − 1 in place of 2 k",
        (
            way(
                projections=lambda n, d, f, h: 4 * n * d * (2 * d - 1),
                scores=lambda n, d, f, h: h * n * n * (2 * (d // h) - 1),
                mixing=lambda n, d, f, h: n * d * (2 * n - 1),
                feedforward=lambda n, d, f, h: n * f * (2 * d - 1) + n * d * (2 * f - 1),
            ),
        ),
    ),
    Mistake(
        "width and ffn are exchanged",
        (
            way(
                projections=lambda n, d, f, h: 8 * n * f * f,
                scores=lambda n, d, f, h: 2 * n * n * f,
                mixing=lambda n, d, f, h: 2 * n * n * f,
            ),
        ),
    ),
    Mistake(
        "n and width are exchanged",
        (
            way(
                projections=lambda n, d, f, h: 8 * d * n * n,
                scores=lambda n, d, f, h: 2 * d * d * n,
                mixing=lambda n, d, f, h: 2 * d * d * n,
                feedforward=lambda n, d, f, h: 4 * d * n * f,
            ),
        ),
    ),
)


def made() -> tuple[Case, ...]:
    """Make sizes without common multiples, and heads that divide the width."""
    return (
        Case("3 tokens, width 4, FFN of 10, 2 heads", (3, 4, 10, 2)),
        Case("7 tokens, width 12, FFN of 30, 3 heads", (7, 12, 30, 3)),
        Case("50 tokens, width 20, FFN of 44, 5 heads", (50, 20, 44, 5)),
        Case("11 tokens, width 8, FFN of 26, 1 head", (11, 8, 26, 1)),
    )


def recorded() -> tuple[Case, ...]:
    """Give the sizes of MiniLM and of mini-bert."""
    return (
        Case("a layer of MiniLM on 128 tokens", (128, 384, 1536, 12)),
        Case("one of the sizes of SmolLM2 on 13 tokens", (13, 576, 1536, 9)),
    )


TASK = Task(
    12,
    "flops",
    "beyond",
    "flops",
    ("n", "width", "ffn", "heads"),
    title=Both("The FLOP count", "数 FLOP"),
    asked=Both(
        "Return how many FLOPs the matrix products of one encoder layer take on n tokens, 2 a multiply-add: the "
        "projections of q, "
        "k, v and output, q kᵀ, weights @ v, and two FFN matrices. width is D, ffn the FFN's width, heads their "
        "number.",
        "返回一个编码器层在 n 个 token 上所有矩阵乘法的 FLOP 数（一次乘加算 2）：q、k、v 与输出投影，q kᵀ，权重 @ v"
        "，以及两个 FFN 矩阵。width 为 D，ffn 为 FFN 宽度，heads 为头数。",
    ),
    hints=(
        Both("[a, b] times [b, c] takes 2 a b c FLOPs.", "[a, b] 乘 [b, c] 需要 2abc 次 FLOP。"),
        Both(
            "One token, D = 2, FFN 3, one head: four projections of 8, q kᵀ 4, weights @ v 4, FFN 12 + 12: 64 in all.",
            "一个 token、D = 2、FFN 3、一个头：四个投影各 8，q kᵀ 4，权重 @ v 4，FFN 12 + 12，共 64。",
        ),
        Both(
            "The heads share the width: heads · E = D, so their number does not change the count. q kᵀ and weights "
            "@ v are quadratic in "
            "n, all else is linear.",
            "各头分享宽度：heads · E = D，所以头数不影响结果。q kᵀ 与权重 @ v 对 n 是平方的，其余都是线性的。",
        ),
    ),
    compute=computed,
    mistakes=MISTAKES,
    made=made,
    recorded=recorded,
    result=("FLOPs",),
    exact=True,
)
