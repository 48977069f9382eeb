"""The model and the text of the page, with what was found of the model's positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from inspector import interventions, positional
from inspector.export.python import given
from inspector.plots import positional as draw
from inspector.views.shell import available_models, session
from models import failures

if TYPE_CHECKING:
    import models
    from inspector.interventions import ScoreSplit
    from inspector.trace import Trace

PAPER, OWN = "the paper's, sinusoidal", "this model's, "
MOST = 512  # positions drawn where the model has no table
FEWEST = 64  # positions whose turns and biases are drawn, or as many as the text has
Stream = Literal["encoder", "decoder"]


@dataclass(frozen=True, eq=False)
class Subject:
    """A recorded text, its model, and the model's positions.

    own: the tables that the model adds, by the name that the page gives them. reach: of distances and positions shown.
    """

    loaded: models.LoadedModel
    trace: Trace
    own: dict[str, positional.PositionTable]
    rotations: tuple[positional.Rotation, ...]
    biases: tuple[positional.DistanceBias, ...]
    vectors: tuple[positional.DistanceVectors, ...]
    ways: tuple[positional.Way, ...]

    @property
    def inside(self) -> bool:
        """True where values were found of positions inside attention."""
        return bool(self.rotations or self.biases or self.vectors)

    @property
    def name(self) -> str:
        """The model's id."""
        return self.loaded.card.id

    @property
    def tokens(self) -> tuple[str, ...]:
        """The text's tokens."""
        return self.trace.tokens

    @property
    def width(self) -> int:
        """The width of a row: of the model's table, or of its hidden states."""
        widths = (table.values.shape[1] for table in self.own.values())
        return int(min(widths, default=self.trace.output.shape[1]))

    @property
    def tables(self) -> dict[str, draw.Table]:
        """The model's tables, and the paper's beside them, of as many positions."""
        positions = max((len(table.values) for table in self.own.values()), default=min(self.loaded.max_tokens, MOST))
        found: dict[str, draw.Table] = {named: table.values for named, table in self.own.items()}
        return found | {PAPER: positional.sinusoidal(positions, self.width)}

    @property
    def first(self) -> str:
        """The name of the model's first table; the paper's for a model without."""
        return next(iter(self.tables))

    @property
    def python(self) -> str:
        """The lines that load the model."""
        return f"import inspector, models\n\nloaded = models.load({self.name!r})\n"

    @property
    def recorded(self) -> str:
        """The lines that load the model and record the text."""
        return f"{self.python}trace = inspector.record(loaded, {given(self.trace)})\n"

    @property
    def stream(self) -> Stream:
        """The stream whose attention is shown: the encoder's where the model has an encoder."""
        return "encoder" if "encoder" in self.trace.streams else "decoder"

    def split(self) -> ScoreSplit:
        """Split the first layer's scores, once for all visitors; raises ValueError where there is no such sum."""

        def make() -> ScoreSplit:
            with failures.told("Splitting the scores", instead="Choose another model."):
                return interventions.split_scores(self.loaded, self.trace)

        return session.cached((self.trace.key, "four terms"), make)


def chosen() -> Subject:
    """Record the reader's text; where that is not possible the page says why and stops."""
    inspected = session.inspected()
    loaded = session.at_hand(inspected, so="its table is not")
    trace, key = inspected.trace, (loaded.card.id, available_models.version(loaded.card.id))
    found = session.cached(("position tables", *key), lambda: positional.tables(loaded))
    reach = min(max(len(trace.tokens), FEWEST), MOST)
    stacks = ("",) if len(found) == 1 else (" (encoder)", " (decoder)")
    return Subject(
        loaded,
        trace,
        {f"{OWN}{table.kind}{stack}": table for stack, table in zip(stacks, found, strict=False)},
        session.cached(("turns", *key, reach), lambda: positional.rotations(loaded, positions=reach)),
        session.cached(("biases", *key, reach), lambda: positional.biases(loaded, reach=reach)),
        session.cached(("distance vectors", *key, reach), lambda: positional.vectors(loaded, reach=reach)),
        positional.ways(loaded.config, found),
    )
