"""The instrument behind the tools: models at hand and recordings, within the limits of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import models
from inspector.memory.cache import ByteBudgetCache, SharedModels
from models import settings
from models.limits import Limits, needs_for_weights
from models.placement import Placement

if TYPE_CHECKING:
    from inspector.trace import Trace


class Instrument:
    """Models and recordings that tools share. It is used by one thread at a time.

    limits: of weights, texts and recordings. allowed: names of models beside the catalogue's, folders or org/name, as
    whoever starts the server wrote them; no other name is loaded.
    """

    def __init__(self, limits: Limits, *, allowed: Sequence[str] = ()) -> None:
        self.limits = limits
        self._allowed = tuple(allowed)
        self._placement = Placement.from_environment()
        self._models = SharedModels(limits.memory_bytes)
        self._traces: ByteBudgetCache[Trace] = ByteBudgetCache(limits.capture_bytes)

    @property
    def cards(self) -> list[models.Card]:
        """The cards of all models that can be asked for; of an allowed name it says that it was not looked at yet."""
        known = list(models.catalogue())
        unseen = replace(known[0], title="", summary="Allowed when the server was started.", licence="", parameters=0)
        return known + [replace(unseen, id=name, title=name) for name in self._allowed]

    def model(self, id: str) -> models.LoadedModel:
        """Return a model, loaded once.

        Raises ValueError for a name that is neither the catalogue's nor allowed, and over a limit.
        """
        names = (*models.names(), *self._allowed)
        if id not in names:
            raise ValueError(
                f"There is no model {id[:60]!a} here; there are {', '.join(names)}. "
                "Whoever starts this server can allow others by name, with --model."
            )
        here, parameters = self._placement, next((card.parameters for card in self.cards if card.id == id), 0)
        expected = parameters * here.torch_dtype(None).itemsize if parameters else 0
        self.limits.check(id, needs_for_weights(here.dtype, expected))
        loaded = self._models.get(id, lambda: models.load(id, dtype=here.dtype, device=here.device), expected=expected)
        import torch

        torch.set_num_threads(settings.number("THREADS"))  # which torch keeps per thread
        return loaded

    def trace(self, model: str, text: str, *, text_pair: str | None = None, target: str | None = None) -> Trace:
        """Return a recording of a text, made once while there is room for it; what does not fit the limits is cut.

        Raises ValueError for an empty text, and for a pair or a target that the model cannot read.
        """
        from inspector.probe import TextLimits, record

        loaded, limits = self.model(model), self.limits
        most = TextLimits(limits.characters, min(loaded.max_tokens, limits.tokens), limits.capture_bytes)
        texts = (text, text_pair, target)
        key = model, *(None if words is None else (words[: limits.characters], len(words)) for words in texts)
        return self._traces.get(
            key,
            lambda: record(loaded, text, text_pair=text_pair, target=target, limits=most),
            size=lambda trace: trace.nbytes,
        )
