"""The shelf of models: the weights that live once for all visitors, and what outlives them.

Weights are kept under the budget of Limits.memory_bytes; what is known of a model (its card, its files) outlives them,
so that it is loaded again when a page needs it. A session holds ids only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import models
from inspector.memory.cache import SharedModels
from inspector.views.server import queue
from inspector.views.server.shared import Shared
from inspector.wording.reader import shell as words
from models.limits import Limits
from models.placement import Placement
from models.transformer.config import TransformerConfig

if TYPE_CHECKING:
    from models.huggingface.convolutions import Convolution
    from models.loaded import Backend
    from models.untrusted.candidates import Candidate

REMEMBERED = 100  # models that were looked at and perhaps never loaded, and variants that were


@dataclass(frozen=True)
class Fetched:
    """A model outside the catalogue that was fetched: how to load it, and again when it had to leave."""

    candidate: Candidate
    folder: Path
    version: str


@dataclass(frozen=True)
class Facts:
    """The facts about a model that loading it reveals. convolutions: over tokens, by layer."""

    card: models.Card
    max_tokens: int
    backend: Backend
    linear: bool
    placed: str
    convolutions: tuple[Convolution, ...] = ()

    @classmethod
    def of(cls, loaded: models.LoadedModel) -> Facts:
        """Return the facts about a loaded model."""
        from models.huggingface.convolutions import convolutions  # with torch, which is there by now

        beside = convolutions(loaded.network)
        return cls(loaded.card, loaded.max_tokens, loaded.backend, loaded.linear, loaded.placed, beside)

    @property
    def how_recorded(self) -> str:
        """A sentence on how the model's attention is recorded."""
        return words.BACKENDS[self.backend] if self.linear else words.KEEPS_MAPS


@dataclass(frozen=True)
class Shelf:
    """The models of this process. weights: of those in memory. candidates: described before anything was loaded."""

    weights: SharedModels
    candidates: dict[str, Candidate] = field(default_factory=dict)
    fetched: dict[str, Fetched] = field(default_factory=dict)
    facts: dict[str, Facts] = field(default_factory=dict)
    of_variants: dict[str, Facts] = field(default_factory=dict)
    configs: dict[tuple[str, str], TransformerConfig] = field(default_factory=dict)


@Shared
def shelf() -> Shelf:
    """Return the shelf of this process."""
    return Shelf(SharedModels(limits().memory_bytes, left=queue.release_later))


def below_root(name: str) -> str:
    """Write a folder as it lies below the folder of local models, for where that lies is the server's; others as is."""
    root = limits().root
    return name if root is None else name.removeprefix(f"{root.resolve()}/")


def in_link(id: str) -> str:
    """Write a model as a link names it: a folder as "./name" below the folder of local models, others as they are."""
    return f"./{below_root(id)}" if Path(id).is_absolute() else id


def limits() -> Limits:
    """Return the page's limits on a model and a text; raises ValueError for an unreadable HEADLIGHT_ variable."""
    return Limits.from_environment()


def placement() -> Placement:
    """Return the device and dtype of the page's models; raises ValueError for an unreadable HEADLIGHT_ variable."""
    return Placement.from_environment()
