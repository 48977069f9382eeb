"""The recorded text and a reader's further texts, read together once for a layout: what all sections start from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from inspector import batches
from inspector.sections.picks import Texts
from inspector.sections.section import Block, Note, Section
from inspector.wording import batch as words
from models import failures
from models.transformer.runner import OwnRunner

if TYPE_CHECKING:
    import models
    from inspector.batches import Batch, Layout
    from inspector.sections.picks import Pick
    from inspector.sections.subject import Subject

V = TypeVar("V")
LONGEST, MOST_TEXTS = 600, 7  # characters and lines of the reader's texts
MOST_CELLS = 384  # tokens of a batch, padding included: a map of them is drawn whole
TEXTS = Texts(
    "texts",
    words.TEXTS,
    words.EXAMPLES["English"],
    LONGEST,
    words.EXAMPLES,
    height=140,
    help=words.texts_help(MOST_TEXTS, LONGEST),
)


@dataclass(frozen=True, eq=False)
class Together:
    """Texts, the recorded one first, and the subject whose model reads them."""

    subject: Subject
    texts: tuple[str, ...]

    @property
    def loaded(self) -> models.LoadedModel:
        """The model."""
        return self.subject.model

    @property
    def own(self) -> bool:
        """True for a model in this project's own Transformer, which reads packed rows itself."""
        return isinstance(self.loaded.runner, OwnRunner)

    @property
    def code(self) -> str:
        """The Python lines after which `loaded`, `texts` and `batches` are there."""
        return (
            "import models\nfrom inspector import batches\n\n"
            f"loaded = models.load({self.subject.trace.model!r})\ntexts = {list(self.texts)!r}\n"
        )

    def read(self, layout: Layout, *, masked: bool = True, restart: bool = True) -> Batch:
        """Read the texts in a layout, once."""
        read = partial(batches.read, layout=layout, masked=masked, restart=restart, most_cells=MOST_CELLS)
        return self.once((layout, masked, restart), lambda: read(self.loaded, self.texts))

    def once(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return `make()`, made once for the model, the texts and the key."""
        return self.subject.of_model(("batches", self.texts, key), make)


def section(
    id: str,
    title: str,
    answer: Callable[..., Iterator[Block]],
    picks: tuple[Pick, ...],
    parts: tuple[Section, ...] = (),
) -> Section:
    """Make a section that asks for the texts and for `picks`; answer: takes a `Together`, and what was picked.

    parts: those that the answer may yield.
    """

    def answered(subject: Subject, *, texts: Sequence[str]) -> Iterator[Block]:
        if len(texts) > MOST_TEXTS:
            yield Note(words.too_many(len(texts), read=MOST_TEXTS))
        read = Together(subject, (subject.trace.text, *texts[:MOST_TEXTS]))
        yield part(f"batch-{id}", lambda subject, **chosen: answer(read, **chosen), picks)

    return Section(
        id,
        title,
        partial(told, answered),
        (TEXTS,),
        about="model",
        needs_model=True,
        waits=words.READING,
        parts=(Section(f"batch-{id}", "", answer, picks), *parts),
        behind=words.MORE,
    )


def part(id: str, answer: Callable[..., Iterator[Block]], picks: tuple[Pick, ...]) -> Section:
    """Make a part that goes on with the section, with choices that depend on those above."""
    return Section(id, "", partial(told, answer), picks, needs_model=True, waits=words.READING)


def told(answer: Callable[..., Iterator[Block]], subject: Subject, **chosen: object) -> Iterator[Block]:
    """Yield the blocks of an answer; whatever fails in it is raised as a ValueError in a sentence."""
    try:
        with failures.told(words.READING, instead=words.INSTEAD):
            yield from answer(subject, **chosen)
    except ValueError as error:
        said = str(error).rstrip(".")
        raise ValueError(f"{said[:1].upper()}{said[1:]}.") from error
