"""Two texts, one difference: parts of the clean text's run put into the corrupted one's; the page What if shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from inspector.components.matrix import Panel
from inspector.sections.head_link import to_map
from inspector.sections.picks import Line, Option
from inspector.sections.scores.open_head import HEAD, OPEN, OpenHead, code_of_stream, heads_map
from inspector.sections.section import Ask, Block, Map, Need, Note, Paragraph, Row, Section, Sentence, Table
from inspector.wording import patching as words
from inspector.wording import writers as writers_words
from models import failures
from models.cards import WRITERS

if TYPE_CHECKING:
    from inspector.patching import Pair
    from inspector.sections.subject import Subject

AT_ONCE = 1.0  # seconds: a grid that takes longer is asked for
_TELLING = 0.5  # of a logit: a first change that tells as much is taken
_PLACES = 4  # words that are tried at first
_CANDIDATES = ("dog", "man", "woman", "house", "London", "Mary", "old", "two")


def answer(subject: Subject, **chosen: Any) -> Iterator[Block]:
    """Yield what both texts answer, and how much of the difference comes with each part."""
    try:
        yield from _answer(subject, **chosen)
    except ValueError as error:
        raise ValueError(words.refused(str(error))) from None


def _answer(
    subject: Subject, *, head: tuple[int, int, int], corrupted: str, answer: str, against: str, patched: str, into: str
) -> Iterator[Block]:
    from inspector import patching

    loaded, trace = subject.model, subject.trace
    if corrupted.strip() == trace.text.strip():
        raise ValueError(words.WRITE_ANOTHER)

    def read() -> Pair:
        wanted, less = answer or None, against or None
        return patching.pair(loaded, trace, corrupted, answer=wanted, against=less, hidden=hidden(subject))

    both = subject.of_text(("pair", corrupted, answer, against), read)
    runs, _ = both.runs("corrupted" if into == "corrupted" else "clean")
    tokens = (trace.target or trace.encoding).tokens
    clean, dirty = both.measured(both.kept_clean), both.measured(both.kept_corrupted)
    named = both.answer.named(loaded.tokenizer)
    at = tokens[both.answer.position]
    told = words.texts(*named, clean=clean, corrupted=dirty, at=at, hidden=loaded.fills_masks)
    yield Sentence(told, ("logit",))
    if clean == dirty:
        yield Note(words.NOTHING_BROUGHT)
        return
    kind = "part" if patched in ("stream", "attention", "ffn") else patched
    stack = "decoder" if subject.stream == "cross" else subject.stream
    of = subject.stream if kind == "heads" else stack
    expected = patching.estimate(both, kind, into=into, stream=of)  # type: ignore[arg-type]
    if expected.seconds > AT_ONCE:
        key = (corrupted, answer, against, patched, into, subject.stream, head[0] if patched == "head tokens" else 0)
        yield Ask("patch-start", words.START, words.long(expected.runs, seconds=expected.seconds), key)
    opened = OpenHead.of(subject, head)
    table = _patched(subject, both, patched, into=into, opened=opened)
    code = _code(subject, corrupted, answer, against, both)
    if table.empty:
        raise ValueError(f"no {patched} of {loaded.card.title} was seen to add to the residual stream")
    if patched == "heads":
        yield _of_heads(opened, table, code, into)
    else:
        yield _of_tokens(opened, table, patched, code, into)
    if patched in ("heads", "head tokens"):
        most = table.loc[table["share"].abs().idxmax()]
        best = int(most["layer"]), int(most["head"]), int(most["call"])
        if best != opened.at:
            yield to_map(subject, *best)
        yield Paragraph("", words.OPENED)
        yield _maps(opened, both)
        yield to_map(subject, *opened.at)
    yield Note(f"{words.NOTE} {words.REUSED if runs.resumes else words.WHOLE}")
    yield Table("patched", table, words.ALL_CELLS, height=320)


def _patched(subject: Subject, both: Pair, patched: str, *, into: Any, opened: OpenHead) -> pd.DataFrame:
    """Make the grid layer by layer: those that were done stay, where the reader stops."""
    from inspector import patching

    stream, site = subject.stream, opened.site
    stack = "decoder" if stream == "cross" else stream
    runs, _ = both.runs(into)
    layers = sorted({place[1] for place in runs.mixed if place[0] == stream})
    if patched in ("stream", "attention", "ffn"):
        layers = list(range(len(runs.layers[stack])))
    if patched == "head tokens":
        layers = [site.layer]
    asked = (both.corrupted.text, both.answer, patched, into, stream)
    tables = []
    with (
        subject.progress(words.PATCHING, unit=words.RUNS) as on_progress,
        failures.told(words.PATCHING, instead=words.ANOTHER),
    ):
        for number, layer in enumerate(layers):

            def make(layer: int = layer, number: int = number) -> pd.DataFrame:
                def tell(done: int, total: int) -> None:
                    on_progress(number + done / max(total, 1), len(layers))

                given: dict[str, Any] = {"into": into, "on_progress": tell}
                if patched == "heads":
                    return patching.patch_heads(both, stream=stream, layers=[layer], **given)
                if patched == "head tokens":
                    return patching.patch_head_tokens(both, layer=layer, stream=stream, call=site.call, **given)
                parts: Any = [patched]
                return patching.patch_parts(both, parts=parts, stream=stack, layers=[layer], **given)

            tables.append(subject.of_text(("patched", *asked, layer, site.call), make))
    return pd.concat(tables, ignore_index=True)


def _of_heads(opened: OpenHead, table: pd.DataFrame, code: str, into: str) -> Map:
    most = table.loc[table["share"].abs().idxmax()]
    row = [(site.layer, site.call) for site in opened.sites].index((int(most["layer"]), int(most["call"])))
    drawn = heads_map(
        opened,
        table,
        "share",
        quantity=words.SHARE,
        code=f"{code}{code_of_stream(f'inspector.patching.patch_heads(pair, into={into!r})', opened.subject)}",
        id="patched-heads",
        top=_top(table),
        diverging=True,
        named=(row, int(most["head"])),
    )
    best = words.head_named(int(most["layer"]), int(most["head"]))
    return replace(drawn, sentence=words.best(best, float(most["share"])))


def _of_tokens(opened: OpenHead, table: pd.DataFrame, patched: str, code: str, into: str) -> Map:
    by_head = patched == "head tokens"
    most = table.loc[table["share"].abs().idxmax()]
    grid = table.pivot(index="head" if by_head else "layer", columns="position", values="share")
    tokens = table.drop_duplicates("position").sort_values("position")["token"].tolist()
    if by_head:
        best = words.head_at(int(most["layer"]), int(most["head"]), str(most["token"]))
        rows = [f"{words.HEAD.capitalize()} {head}" for head in grid.index]
        call = f"inspector.patching.patch_head_tokens(pair, layer={opened.site.layer}, into={into!r})"
    else:
        best = words.part_named(patched, int(most["layer"]), str(most["token"]))
        rows = [words.row_of(layer) for layer in grid.index]
        call = f"inspector.patching.patch_parts(pair, parts=[{patched!r}], into={into!r})"
    site = opened.site
    named = (list(grid.index).index(most["head" if by_head else "layer"]), int(most["position"]))
    return Map(
        "patched-tokens",
        "",
        (Panel(grid.to_numpy(), rows=rows, columns=tokens, named=named),),
        words.HEAD if by_head else words.LAYER,
        words.TOKEN,
        words.GRID_ALT,
        quantity=words.SHARE,
        numbered="columns",
        top=_top(table),
        diverging=True,
        code=f"{code}table = {call}",
        sentence=words.best(best, float(most["share"])),
        chooses=(lambda row, column: {HEAD: (site.layer, row, site.call)}) if by_head else None,
    )


def _top(table: pd.DataFrame) -> float:
    largest = float(table["share"].abs().max())
    return largest if np.isfinite(largest) and largest > 0 else 1.0


def _maps(opened: OpenHead, both: Pair) -> Row:
    """The open head's map in both texts."""
    site, maps = opened.site, []
    for title, trace in ((words.CLEAN_MAP, both.clean), (words.CORRUPTED_MAP, both.corrupted)):
        there = trace.record_of(site.layer, site.stream, call=site.call).site
        weights = trace.attention(layer=site.layer, head=opened.number, stream=site.stream, call=site.call)
        maps.append(
            Map(
                f"patched-map-{title}",
                title.capitalize(),
                (Panel(weights, rows=there.queries, columns=there.keys),),
                "query",
                "key",
                words.MAPS_ALT,
                code=f"{opened.subject.code}table = trace.attention(layer={site.layer}, head={opened.number}, "
                f"stream={site.stream!r})",
            )
        )
    return Row(tuple(maps))


def _code(subject: Subject, corrupted: str, answer: str, against: str, both: Pair) -> str:
    more = "".join(f", {name}={value!r}" for name, value in (("answer", answer), ("against", against)) if value)
    more += f", hidden={hidden(subject)}" if hidden(subject) else ""
    return f"{subject.code}pair = inspector.patching.pair(loaded, trace, {corrupted!r}{more})\n"


def hidden(subject: Subject) -> tuple[int, ...]:
    """The token that a masked language model guesses, where the text has no mask token itself."""
    from inspector import interventions

    loaded, trace = subject.model, subject.trace
    if not loaded.fills_masks or loaded.tokenizer.mask_token_id in trace.encoding.ids:
        return ()
    return (subject.of_text("hidden to patch", lambda: interventions.most_telling(loaded, trace.encoding)),)


def _corrupted(subject: Subject) -> str:
    """A text of equal length to begin with: a name that stands twice replaced, or a word whose change tells."""
    from inspector import patching

    loaded, trace = subject.model, subject.trace

    def make() -> str:
        fitting = _fitting(subject)
        if len(fitting) < 2:
            return fitting[0] if fitting else trace.text

        def moves(text: str) -> float:
            both = patching.pair(loaded, trace, text, hidden=hidden(subject))
            return abs(both.measured(both.kept_clean) - both.measured(both.kept_corrupted))

        moved = {text: moves(text) for text in fitting}
        return next((text for text in fitting if moved[text] >= _TELLING), max(fitting, key=moved.__getitem__))

    return subject.of_text("corrupted text", make)


def _fitting(subject: Subject) -> list[str]:
    """Texts with another word at one place, of as many tokens; the one with a name for another alone, if there is."""
    trace = subject.trace
    text, written = trace.text, trace.text.split()
    bare = [word.strip(".,;:!?\"'") for word in written]
    names = [word for word in bare[1:] if word.istitle()]
    twice = next((name for name in names if names.count(name) > 1), None)
    other = next((name for name in names if name != twice), None)
    if twice is not None and other is not None:
        head, _, tail = text.rpartition(twice)
        if _fits(subject, swapped := f"{head}{other}{tail}"):
            return [swapped]
    guessed = [trace.encoding.words[place] for place in hidden(subject)]
    places = [at for at in range(1, len(bare)) if len(bare[at]) > 2 and at not in guessed]
    places.sort(key=lambda at: not bare[at].istitle())
    fitting = []
    for at in places[:_PLACES]:
        words_here = [word for word in _CANDIDATES if word != bare[at] and word.istitle() == bare[at].istitle()]
        texts = [
            " ".join([*written[:at], written[at].replace(bare[at], word), *written[at + 1 :]]) for word in words_here
        ]
        fitting += [candidate for candidate in texts if _fits(subject, candidate)][:1]
    return fitting


def _fits(subject: Subject, text: str) -> bool:
    encoding = subject.model.encode(text)
    old = subject.trace.encoding
    return len(encoding) == len(old) and encoding.ids != old.ids and encoding.cut is None


CORRUPTED = Line("corrupted", words.CORRUPTED, _corrupted, 400, help=words.CORRUPTED_HELP, width=560)
ANSWER = Line("answer", words.ANSWER, lambda subject: "", 40, help=words.ANSWER_HELP, width=140)
AGAINST = Line("against", words.AGAINST, lambda subject: "", 40, width=140)
PATCHED = Option("patched", words.WHAT, lambda subject: words.GRIDS, look="list", width=230)
INTO = Option("into", words.INTO, lambda subject: words.RUN, look="list", width=230)
NEED = Need(writers_words.PREDICTS_NOTHING, lambda loaded: loaded.predict is not None, WRITERS)
SECTION = Section(
    "two_texts",
    words.TWO_TEXTS,
    answer,
    (OPEN, CORRUPTED, ANSWER, AGAINST, PATCHED, INTO),
    needs_model=True,
    long=True,
    need=NEED,
)
