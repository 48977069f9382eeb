"""The routers of a mixture-of-experts model on a text: who goes where, how evenly, and how alike two tokens go.

```python
routing = inspector.record_routing(loaded, trace)
inspector.routing.load(routing.layer("decoder", 3))  # DataFrame, a row per expert
```

Shapes: Q query positions, C chosen experts a token, N experts.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from inspector.information import entropy, shares
from inspector.trace.routing import RouterRecord, Routing


def choices(router: RouterRecord, *, tokens: tuple[str, ...]) -> pd.DataFrame:
    """List every choice of a layer, a row per token and chosen expert.

    tokens: Q, of the stream. Columns: position, token, expert, weight, output (the length of the expert's output
    before its weight).
    """
    rows, slots = np.nonzero(router.weights)
    table = pd.DataFrame(
        {
            "position": rows,
            "token": [tokens[row] for row in rows],
            "expert": router.chosen[rows, slots],
            "weight": router.weights[rows, slots],
            "output": router.outputs[rows, slots],
        }
    )
    return table.sort_values(["position", "weight"], ascending=[True, False], ignore_index=True, kind="stable")


def load(router: RouterRecord) -> pd.DataFrame:
    """Count for each expert of a layer the tokens that go through it.

    Columns: expert; tokens, how many go through it; share, of all tokens, 0..1; even, the share of all tokens that each
    expert has where all have as many; weight, the share of all weight that is the expert's, 0..1.
    """
    matrix = router.matrix().astype(np.float64)
    tokens, weight = (matrix != 0).sum(axis=0), np.abs(matrix).sum(axis=0)
    return pd.DataFrame(
        {
            "expert": range(router.experts),
            "tokens": tokens,
            "share": tokens / len(matrix),
            "even": tokens.mean() / len(matrix),
            "weight": weight / max(weight.sum(), np.finfo(np.float64).tiny),
        }
    )


def by_layer(routing: Routing, *, stream: str) -> pd.DataFrame:
    """Measure the routers of a stream, a row each.

    Columns: layer; experts, N; chosen, how many experts a token goes through, mean over tokens; used, how many experts
    any token goes through; bits, the entropy (Shannon 1948) of the load (an expert's share of all choices), and most,
    log2 N, its value where the load is even; token_bits, the entropy of a token's weights, mean over the tokens that
    have an expert, at most log2 of how many they have; shared, as `shared_share`; off, as in `RouterRecord`.
    """
    rows = []
    for router in routing.of(stream):
        weights = np.abs(router.matrix())
        tokens = (weights > 0).sum(axis=0)
        rows.append(
            {
                "layer": router.layer,
                "experts": router.experts,
                "chosen": tokens.sum() / len(weights),
                "used": int((tokens > 0).sum()),
                "bits": float(entropy(shares(tokens))) / np.log(2) if tokens.any() else 0.0,
                "most": np.log2(router.experts),
                "token_bits": float(entropy(shares(weights[weights.any(axis=1)])).mean()) / np.log(2)
                if tokens.any()
                else 0.0,
                "shared": shared_share(router),
                "off": router.off,
            }
        )
    return pd.DataFrame(rows)


def shared_share(router: RouterRecord) -> float:
    """Compute |shared| / (|shared| + |routed|), mean over tokens, 0..1.

    shared is what the layer adds without its experts (a shared expert, a bias), routed what the experts add. 0 where
    nothing is shared; NaN where a norm behind the sum mixes the two.
    """
    if router.shared is None:
        return float("nan")
    shared, routed = router.shared.astype(np.float64), router.routed.astype(np.float64)
    return float((shared / np.maximum(shared + routed, np.finfo(np.float64).tiny)).mean())


def agreement(
    routing: Routing, position: int, *, other: int, stream: str, beside: Routing | None = None
) -> pd.DataFrame:
    """Compare the experts of two tokens of one model, a row per layer.

    position, other: of the two tokens; the other in the text of `beside` where that is given, else in the same text.
    Columns: layer; first, second, the experts of each; common, how many they have in common; chance, how many two
    draws without replacement of so many of N experts have in common in the mean, |first| |second| / N; overlap, the sum
    over the experts of the smaller of both weights, of the smaller token's whole weight, 0..1.
    """
    rows = []
    for router in routing.of(stream):
        second = router if beside is None else beside.layer(stream, router.layer)
        weights = [
            np.abs(record.matrix()[at].astype(np.float64)) for record, at in ((router, position), (second, other))
        ]
        sets = [tuple(np.flatnonzero(weight).tolist()) for weight in weights]
        least = max(min(float(weight.sum()) for weight in weights), np.finfo(np.float64).tiny)
        rows.append(
            {
                "layer": router.layer,
                "first": sets[0],
                "second": sets[1],
                "common": len(set(sets[0]) & set(sets[1])),
                "chance": len(sets[0]) * len(sets[1]) / router.experts,
                "overlap": float(np.minimum(*weights).sum()) / least,
            }
        )
    return pd.DataFrame(rows)
