"""Documents of models: those that can be asked for by an id, and what a forward costs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from inspector.costs import breakdown
from inspector.plain.values import document, table
from models import Card
from models.registry import is_installed


def catalogue(cards: Iterable[Card]) -> dict[str, Any]:
    """Return the cards of models, and whether each is at hand.

    shape: encoder, decoder or encoder-decoder. installed: False where the weights are in a package that is not there.
    """
    return document(
        "models",
        models=[
            {
                "id": card.id,
                "title": card.title,
                "summary": card.summary,
                "licence": card.licence,
                "shape": card.shape,
                "trained": card.trained,
                "installed": is_installed(card.id),
            }
            for card in cards
        ],
    )


def costs(model: str, config: Any, *, tokens: int) -> dict[str, Any]:
    """Return what a forward of so many tokens costs, a row a stream, layer and component, and the sums.

    Columns are those of `inspector.costs.breakdown`, which raises ValueError for a kind of model that it has no
    formulas of.
    """
    every = breakdown(config, tokens=tokens)
    sums = every[["parameters", "flops", "activation_bytes", "cache_bytes"]].sum()
    by_part = every.groupby("part", sort=False)[list(sums.index)].sum()
    return document("costs", model=model, tokens=tokens, all=dict(sums), parts=table(by_part), components=table(every))
