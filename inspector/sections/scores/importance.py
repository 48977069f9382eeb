"""Each token left out in turn, and which heads attend accordingly; the page What if shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from inspector.plots.chart import Chart
from inspector.sections.picks import Listed, Option
from inspector.sections.scores.open_head import OPEN, OpenHead, code_of_stream, heads_map, name_of, of_stream
from inspector.sections.section import Ask, Block, Figure, Mark, Note, Paragraph, Row, Section, Sentence, Table
from inspector.text import named, signed, token_name
from inspector.wording import left_out as words
from inspector.wording import scores
from models import failures

if TYPE_CHECKING:
    from inspector.interventions.leave_one_out import LeftOutTokens
    from inspector.sections.subject import Subject

AT_ONCE = 64  # tokens: as many are left out without being asked for
MOST = 600
NAMED = 40  # points with the token over them; of a longer text the tokens are named on hover


def answer(subject: Subject, *, head: tuple[int, int, int], left_at: int) -> Iterator[Block]:
    """Yield what each token's absence changes, and how every head's attention ranks the tokens beside it."""
    from inspector.interventions import leave_one_out

    loaded, trace = subject.model, subject.trace
    query = None if left_at == 0 else _places(subject)[left_at - 1]
    count = len(leave_one_out.candidates(loaded, trace, query=query))
    if count > MOST:
        raise ValueError(words.too_many(count, most=MOST))
    if count > AT_ONCE:
        seconds = subject.of_text("seconds a run", lambda: leave_one_out.seconds(loaded, trace))
        yield Ask("left-out-start", words.START, words.long(count, seconds=count * seconds), query)
    left = _left(subject, query)
    opened = OpenHead.of(subject, head)
    if own := subject.stream in left.streams:
        shown = subject
    else:
        shown = replace(subject, stream=left.streams[-1])
        opened = OpenHead(shown, 0, 0)
    every = subject.of_text(("left out rho", query), lambda: leave_one_out.correlations(left))
    table = of_stream(every, shown)
    ranked = int(table["rho"].notna().sum())
    yield Sentence(
        f"{most(left, whole=trace.tokens, guesses=loaded.fills_masks)} {accordingly(table)}",
        ("attention", "rank correlation"),
        (Mark("left-out-changes", {"position": left.positions[int(np.argmax(left.changes))]}),),
    )
    if not own:
        yield Note(words.TO_THE_SOURCE)
    code = f"{subject.code}left = inspector.leave_one_out.leave_out(loaded, trace, query={query})\n"
    if ranked:
        yield replace(HEADS, answer=partial(_heads, opened=opened, left=left, table=table, code=code))
    bars = Chart(
        left.table.assign(place=range(len(left.tokens))),
        "place",
        left.measure,
        "bars",
        parts={left.measure: "prediction"},
        tokens=left.tokens,
        x_title=words.TOKEN_LEFT_OUT,
        y_title=words.AXES[left.measure],
        title=words.CHANGES,
    )
    yield Figure(
        "left-out-changes",
        words.CHANGES,
        bars,
        words.CHANGES_ALT,
        f"{code}table = left.table",
        left.table,
        note=words.how(
            looked=left.query is not None,
            target=trace.target is not None,
            measure=left.measure,
            guesses=loaded.fills_masks,
        ),
    )
    if ranked:
        yield Paragraph(chance(subject, table, count=len(left.positions)))
    yield Paragraph(words.PAPERS)
    yield Table("left-out-tokens", left.table, words.ALL_TOKENS, height=300)
    yield Table("left-out-heads", every, scores.ALL_HEADS, height=300)


def _left(subject: Subject, query: int | None) -> LeftOutTokens:
    """Leave each token out."""
    from inspector.interventions import leave_one_out

    loaded, trace = subject.model, subject.trace

    def make() -> LeftOutTokens:
        with subject.progress(words.LEAVING, unit=words.TOKEN) as on_progress:
            return leave_one_out.leave_out(loaded, trace, query=query, on_progress=on_progress)

    try:
        with failures.told(words.LEAVING, instead=words.ANOTHER):
            return subject.of_text(("left out", query), make)
    except ValueError as error:
        raise ValueError(f"{str(error).replace(loaded.card.id, loaded.card.title).rstrip('.')}.") from None


def _heads(
    subject: Subject, *, left_head: str, opened: OpenHead, left: LeftOutTokens, table: pd.DataFrame, code: str
) -> Iterator[Block]:
    """Yield rho of every head of a stream, and one head's ranks."""
    from inspector.interventions import leave_one_out

    if left_head != words.OPEN:
        ranked = by_rho(table)
        row = ranked.iloc[0 if left_head == words.BEST else len(ranked) // 2]
        opened = OpenHead.of(opened.subject, (int(row["layer"]), int(row["head"]), int(row.get("call", 0))))
    site = opened.site
    attention = subject.of_text(
        ("left out attention", site.stream, site.layer, site.call, left.query),
        lambda: leave_one_out.received(left, site),
    )[opened.number]
    rho = float(opened.row_of(table)["rho"])
    of_heads = heads_map(
        opened,
        table,
        "rho",
        quantity=words.RHO,
        code=f"{code}{code_of_stream('inspector.leave_one_out.correlations(left)', opened.subject)}",
        id="left-out-rho",
        heading=words.RHO_OF_HEADS,
        top=1.0,
        diverging=True,
        chooses={LEFT_HEAD: words.OPEN},
    )
    named = f"{site.layer}, {site.stream!r}" + (f", call={site.call}" if site.call else "")
    of_head = Figure(
        "left-out-ranks",
        opened.name,
        ranks(left.tokens, attention, left.changes, head=opened.name, rho=rho),
        words.ranks_alt(opened.name),
        f"{code}site = left.trace.record_of({named}).site\n"
        f"table = left.table.assign(attention=inspector.leave_one_out.received(left, site)[{opened.number}])",
        left.table.assign(attention=attention),
    )
    yield Row((of_heads, of_head))


def ranks(
    tokens: Sequence[str], attention: Sequence[float], changes: Sequence[float], *, head: str, rho: float
) -> Chart:
    """Draw a point for each token: its rank by a head's attention, and by what leaving it out changes; 1 is the least.

    Spearman's rho is the correlation of these two ranks: 1 on the rising diagonal, -1 on the falling one.
    """
    last = len(tokens)
    points = pd.DataFrame({"token": tokens, "attention": attention, "change": changes, "of": "token"})
    level = pd.DataFrame({"x": [1, last], "y": [1, last], "of": "level"})
    margin = max(0.6, 0.06 * last)
    return Chart(
        pd.concat([level, points.assign(x=points["attention"].rank(), y=points["change"].rank())]),
        "x",
        "y",
        "points",
        by="of",
        names={"level": "", "token": ""},
        parts={"level": "muted", "token": "attention"},
        styles={"level": 2, "token": 0},
        marks={"level": "curves"},
        sizes={"level": 1, "token": 9},
        over="token" if last <= NAMED else "",
        hover={"token": "", "attention": "attention", "change": "change"},
        x_title=words.BY_ATTENTION,
        y_title=words.BY_CHANGE,
        title=words.ranks(head),
        subtitle=f"Spearman's ρ = {signed(rho)}",
        x_range=(1 - margin, last + margin),
        y_range=(1 - margin, last + margin),
        height=372,
    )


def by_rho(table: pd.DataFrame) -> pd.DataFrame:
    """Order the heads that have a rho, the largest first."""
    return table.dropna(subset=["rho"]).sort_values("rho", ascending=False, kind="stable")


def most(left: LeftOutTokens, *, whole: tuple[str, ...], guesses: bool) -> str:
    """Say which token's absence changes the output most; whole: the tokens, none hidden; guesses: from both sides."""
    largest = int(np.argmax(left.changes))
    looked: str | None = None if left.query is None else whole[left.query]
    if left.query is None:
        output: words.Output = "states"
    elif left.measure == "turned":
        output = "state"
    elif guesses:
        output = "guess"
    elif left.trace.target is not None:
        predicted = left.trace.sites[-1].predicted
        output, looked = "target", None if predicted is None else predicted[left.query]
    else:
        output = "next token"
    return words.tokens(
        named(whole, left.positions[largest]), output=output, looked=looked, change=left.changes[largest]
    )


def accordingly(table: pd.DataFrame) -> str:
    """Say how well the best and the median head's attention ranks the tokens; table: of `correlations`, one stream."""
    ranked = by_rho(table)
    if ranked.empty:
        return words.NO_HEAD
    best, middle = ranked.iloc[0], ranked.iloc[len(ranked) // 2]
    return words.heads(name_of(best), heads=len(ranked), best=float(best["rho"]), middle=float(middle["rho"]))


def chance(subject: Subject, table: pd.DataFrame, *, count: int) -> str:
    """Say what unrelated heads would reach with so few tokens; count: of tokens left out."""
    from inspector.interventions import leave_one_out

    rhos = table["rho"].dropna()
    single, by_chance = subject.of_all(
        ("rho by chance", count, len(rhos)), lambda: leave_one_out.chance(count, heads=len(rhos))
    )
    return words.chance(
        count=count,
        heads=len(rhos),
        best=float(rhos.max()),
        beyond=int((rhos.abs() > single).sum()),
        single=single,
        by_chance=by_chance,
        level=len(table) - len(rhos),
    )


# --- what is looked at ------------------------------------------------------------------------------------------------


def _places(subject: Subject) -> list[int]:
    """List the positions whose output can be looked at: enough tokens can be left out there."""
    from inspector.interventions import leave_one_out, maskable

    loaded, trace = subject.model, subject.trace
    read = (trace.target or trace.encoding).tokens
    special = trace.encoding.special if loaded.fills_masks else (False,) * len(read)
    places = maskable(trace.encoding)
    if len(places) <= leave_one_out.LEAST:
        return []
    first = places[leave_one_out.LEAST - 1] + 1 if loaded.shape == "decoder" else 0
    return [place for place in range(first, len(read)) if not special[place]]


def _outputs(subject: Subject) -> list[str]:
    """Name what can be looked at: all last states, or the output at a token."""
    read = (subject.trace.target or subject.trace.encoding).tokens
    return [words.ALL_STATES, *(f"{place} {token_name(read[place])}" for place in _places(subject))]


def _first(subject: Subject) -> int:
    """Choose the output to look at first: a telling token's, where the model predicts."""
    from inspector.interventions import most_telling

    loaded, trace = subject.model, subject.trace
    if loaded.predict is None or not (enough := _places(subject)):
        return 0
    telling = {
        "encoder": lambda: most_telling(loaded, trace.encoding),
        "decoder": lambda: enough[-1],
        "encoder-decoder": lambda: enough[min(1, len(enough) - 1)],
    }[loaded.shape]
    chosen = subject.of_text("left out first", telling)
    return 1 + enough.index(chosen) if chosen in enough else 1


LEFT_AT = Listed("left_at", words.OUTPUT_AT, _outputs, _first)
LEFT_HEAD = Option("left_head", words.BESIDE, lambda subject: words.HEADS)
HEADS = Section("left-out-of-heads", "", _heads, (LEFT_HEAD,))
SECTION = Section(
    "importance", words.LEAVE_EACH_OUT, answer, (OPEN, LEFT_AT), needs_model=True, long=True, parts=(HEADS,)
)
