"""The texts of the page Batch and the model that reads them, read once for each layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import streamlit as st

from inspector.views.shell import available_models, session, widgets
from models import failures

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    import models
    from inspector.batches import Batch, Layout
    from inspector.trace import AttentionSite

V = TypeVar("V")
LONGEST, MOST_TEXTS = 600, 7  # characters and lines of the field
MOST_CELLS = 384  # tokens of a batch, padding included: a map of them is drawn whole
EXAMPLES = {
    "English": "Yes.\nA dog barked at the door.\nShe sat by the river bank and watched the boats go by.",
    "Chinese": "好。\n狗叫了。\n她坐在河边，想着银行会不会借钱给她。",
    "One length": "The cat sat down.\nThe dog ran off.\nThe sun came out.",
}
FIRST = EXAMPLES["English"]
_INSTEAD = "Your texts are kept: change them, or choose another model."


@dataclass(frozen=True, eq=False)
class Subject:
    """The texts, the sidebar's first, the model, and its attentions."""

    loaded: models.LoadedModel
    texts: tuple[str, ...]
    sites: tuple[AttentionSite, ...]

    @property
    def name(self) -> str:
        """The model's id."""
        return self.loaded.card.id

    @property
    def own(self) -> bool:
        """True for a model in this project's own Transformer, which reads packed rows itself."""
        from models.transformer.runner import OwnRunner

        return isinstance(self.loaded.runner, OwnRunner)

    @property
    def python(self) -> str:
        """Lines after which `loaded`, `texts` and `batches` are there."""
        return (
            "import models\nfrom inspector import batches\n\n"
            f"loaded = models.load({self.name!r})\ntexts = {list(self.texts)!r}\n"
        )

    def read(self, layout: Layout, *, masked: bool = True, restart: bool = True) -> Batch:
        """Read the texts in a layout, once; ValueError where that cannot be."""
        from inspector import batches

        def make() -> Batch:
            with st.spinner("Reading the texts together"):
                return batches.read(
                    self.loaded, self.texts, layout=layout, masked=masked, restart=restart, most_cells=MOST_CELLS
                )

        return self.cached((layout, masked, restart), make)

    def cached(self, key: tuple[object, ...], make: Callable[[], V]) -> V:
        """`make()`, or what it gave for this model and these texts before; ValueError in a sentence where it fails."""
        version = available_models.version(self.name)
        with failures.told("Reading the texts together", instead=_INSTEAD):
            return session.cached(("batches", self.name, version, self.texts, *key), make)


def chosen(inspected: session.Inspected, place: DeltaGenerator) -> Subject:
    """Draw the field in a place, and give its texts behind the sidebar's, and the model that read that one.

    The page stops where the model is not at hand.
    """
    loaded = session.at_hand(inspected, so="no other texts can be read with it")
    with place:
        lines = _field()
        if len(lines) > MOST_TEXTS:
            st.caption(f"{len(lines)} lines: the first {MOST_TEXTS} are read.")
    texts = (inspected.trace.text, *lines[:MOST_TEXTS])
    return Subject(loaded, texts, inspected.trace.sites)


def _field() -> list[str]:
    """Take the reader's texts, a line each."""
    typed = widgets.text_with_examples(
        "More texts, one a line",
        "texts",
        examples=EXAMPLES,
        default=FIRST,
        most=LONGEST,
        height=140,
        help=f"Text 0 is the sidebar's. {MOST_TEXTS} lines and {LONGEST} characters at most.",
    )
    return [line.strip() for line in typed.splitlines() if line.strip()]
