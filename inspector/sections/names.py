"""Names of models as sentences have them, and what fails as a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import models
from inspector.wording import switches as words
from models import failures
from models.transformer import switches


def under(loaded: models.LoadedModel) -> tuple[str, dict[str, Any], int]:
    """Return the id of the model whose weights these are, the switches that were changed, and their seed."""
    return (loaded.card.id, {}, 0) if loaded.card.redrawn is None else switches.parse(loaded.card.id)


def name(loaded: models.LoadedModel) -> str:
    """Name a model within a sentence, with its changed switches; the name is a stranger's, and no Markdown yet."""
    changed = under(loaded)[1]
    return words.under(base_name(loaded), changed) if changed else base_name(loaded)


def named(id: str) -> str:
    """Name a model of the catalogue, which need not be loaded, within a sentence; the id of any other."""
    titles = {card.id: card.title for card in models.catalogue()}
    return titles.get(id, id).partition(",")[0]


def base_name(loaded: models.LoadedModel) -> str:
    """Name the model whose weights these are."""
    title = loaded.card.title.partition(",")[0]
    return title if loaded.card.redrawn is None else title.partition(":")[0]


@contextmanager
def told(doing: str, *, instead: str, loaded: models.LoadedModel | None = None) -> Iterator[None]:
    """Raise whatever fails in the block as a ValueError in a sentence, which names the model as the page does."""
    try:
        with failures.told(doing, instead=instead):
            yield
    except ValueError as error:
        said = str(error).rstrip(".")
        said = said if loaded is None else said.replace(loaded.card.id, name(loaded))
        raise ValueError(f"{said[:1].upper()}{said[1:]}.") from error
