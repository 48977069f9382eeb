"""The experts of a mixture: which each token goes through, with what weights, and how even their load is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from inspector import probe, routing
from inspector.components.matrix import Panel
from inspector.plots.chart import Chart
from inspector.sections.picks import Line, Listed, Token
from inspector.sections.section import (
    Block,
    Check,
    Figure,
    Map,
    Mark,
    Need,
    Note,
    Paragraph,
    Row,
    Section,
    Sentence,
    Table,
)
from inspector.text import named, plain
from inspector.wording import experts as words

if TYPE_CHECKING:
    import pandas as pd

    from inspector.sections.subject import Subject
    from inspector.trace.routing import RouterRecord, Routing

MOST_PLACES = 12  # of a word, drawn below each other
OTHER_MOST = 300  # characters of another text


def answer(subject: Subject, *, layer: int) -> Iterator[Block]:
    """Yield the experts of one layer, token by token, their load, and the evenness of all layers."""
    whole = _routing(subject)
    routers = whole.of(subject.stream)
    refused = _refused(whole, stream=subject.stream)
    if not routers:
        yield from refused or (Note(words.NONE),)
        return
    router, table = routers[layer], routing.by_layer(whole, stream=subject.stream)
    if router.weights.any():
        load = routing.load(router)
        most = int(load["tokens"].idxmax())
        yield Sentence(busiest(router), ("mixture of experts",), (Mark("experts-load", {"expert": most}),))
        yield Row((_weights(subject, router), _load(subject, router)), widths=(3, 2))
        yield Check(words.checked(router.off), True)
        yield Note(evenness(router, table.iloc[layer]))
        yield replace(SAME, answer=partial(_same, router=router))
    else:
        yield Note(words.no_token(router.layer))
    if len(routers) > 1:
        yield _by_depth(subject, table)
    yield from refused
    yield Table("block-experts", table, words=words.HEADS)


def busiest(router: RouterRecord) -> str:
    """Say which expert takes most tokens, against an even load."""
    most = routing.load(router).sort_values("tokens", ascending=False, kind="stable").iloc[0]
    return words.busiest(
        layer=router.layer,
        expert=int(most["expert"]),
        share=float(most["share"]),
        even=float(most["even"]),
        experts=router.experts,
    )


def evenness(router: RouterRecord, measured: pd.Series[Any]) -> str:
    """Say how even the load is, what all tokens share, and what else there is; measured: a row of `by_layer`."""
    load = words.evenness(
        used=int(measured["used"]),
        experts=router.experts,
        bits=float(measured["bits"]),
        most=float(measured["most"]),
    )
    further = words.particulars(
        weighs=router.weighs,
        scale=router.scale if router.shared is not None else 1.0,
        idle=range(router.idle, router.experts),
        without=int((router.weights == 0).all(axis=1).sum()),
    )
    return " ".join(part for part in (load, words.shared(float(measured["shared"])), further) if part)


def _weights(subject: Subject, router: RouterRecord) -> Map:
    """Draw the weights of tokens and experts, the more of the two to the right."""
    weights, tokens = router.matrix(), subject.tokens
    token, expert = (int(at) for at in np.unravel_index(int(weights.argmax()), weights.shape))
    sides = ((tokens, "token"), (range(router.experts), words.EXPERT))
    upright = router.experts > len(tokens)
    (rows, row_title), (columns, column_title) = sides if upright else sides[::-1]
    return Map(
        "experts-weights",
        words.WEIGHTS,
        (
            Panel(
                weights if upright else weights.T,
                rows=rows,
                columns=columns,
                named=(token, expert) if upright else (expert, token),
            ),
        ),
        row_title=row_title,
        column_title=column_title,
        alt=words.WEIGHTS_ALT,
        quantity=words.WEIGHT,
        numbered="rows" if upright else "columns",
        code=f"{_code(subject, router)}weights = router.matrix()",
        sentence=words.largest(named(tokens, token), expert=expert, weight=float(weights[token, expert])),
        note=words.CLICK,
        name=f"experts-layer{router.layer}",
        chooses=lambda row, column: {TOKEN: row if upright else column},
    )


def _load(subject: Subject, router: RouterRecord) -> Figure:
    load = routing.load(router)
    chart = Chart(
        load,
        "expert",
        "share",
        "bars",
        parts={"share": "ffn"},
        x_title=words.EXPERT,
        y_title=words.SHARE,
        y_marks={words.EVEN: float(load["even"].iloc[0])},
        title=words.LOAD,
    )
    code = f"{_code(subject, router)}table = inspector.routing.load(router)"
    return Figure("experts-load", words.LOAD, chart, words.LOAD_ALT, code, load)


def _by_depth(subject: Subject, table: pd.DataFrame) -> Figure:
    chart = Chart(
        table.melt("layer", list(words.MEASURES), "measure", "value"),
        "layer",
        "value",
        by="measure",
        names=words.MEASURES,
        parts={"bits": "ffn", "most": "residual", "token_bits": "router"},
        styles={"most": 1, "token_bits": 2},
        x_title="layer",
        y_title=words.BITS,
        title=words.DEPTH,
        from_zero=True,
    )
    code = f"{_code(subject)}table = inspector.routing.by_layer(routing, stream={subject.stream!r})"
    return Figure("experts-layers", words.DEPTH, chart, words.DEPTH_ALT, code, table)


def _refused(whole: Routing, *, stream: str) -> list[Note]:
    """Say for each reason of which layers no experts are shown."""
    layers = defaultdict(list)
    for other, layer, reason in whole.refused:
        if other == stream:
            layers[reason].append(layer)
    return [Note(plain(words.refused(numbers, reason=reason))) for reason, numbers in layers.items()]


# --- the same word, twice ---------------------------------------------------------------------------------------------


def _same(subject: Subject, *, token: int, routed_text: str, router: RouterRecord) -> Iterator[Block]:
    """Yield the experts of one word at each of its places, in the text and in another beside it."""
    tokens, word = subject.tokens, subject.tokens[token]
    other = _read(subject, routed_text) if routed_text.strip() else None
    places = [token, *(place for place in _places(tokens, word) if place != token)][:MOST_PLACES]
    others = [] if other is None else _places(other.tokens, word)[:MOST_PLACES]
    if other is not None and not others:
        yield Note(words.not_there(word))
    if len(places) + len(others) < 2:
        yield Note(words.once(named(tokens, token)))
        return
    panels, code = [_panel(router, tokens, places)], _code(subject)
    if other is not None and others:
        beside, second = _routing(other), others[0]
        name = words.in_other(named(other.tokens, second))
        there = _panel(beside.layer(subject.stream, router.layer), other.tokens, others)
        panels = [replace(panels[0], title=words.THIS), replace(there, title=words.OTHER)]
        code += f"other = inspector.record(loaded, {routed_text!r})\nbeside = inspector.record_routing(loaded, other)\n"
    else:
        beside, second = None, places[1]
        name = words.named(named(tokens, second))
    table = routing.agreement(_routing(subject), token, other=second, stream=subject.stream, beside=beside)
    here = table[table["layer"] == router.layer].iloc[0]
    yield Paragraph(
        words.common(
            words.named(named(tokens, token)),
            name,
            layer=router.layer,
            common=int(here["common"]),
            of=len(here["first"]),
            chance=float(here["chance"]),
        )
    )
    code += (
        f"table = inspector.routing.agreement(\n    routing, {token}, other={second}, stream={subject.stream!r}"
        f"{'' if beside is None else ', beside=beside'}\n)"
    )
    drawn = Map(
        "experts-places",
        words.PLACES,
        tuple(panels),
        row_title=words.PLACE,
        column_title=words.EXPERT,
        alt=words.SAME_ALT,
        quantity=words.WEIGHT,
        numbered="neither",
        code=f"{code}\nweights = routing.layer({subject.stream!r}, {router.layer}).matrix()[{places}]",
        name=f"experts-layer{router.layer}-token{token}",
    )
    yield Row((drawn, _common(table, code)), widths=(3, 2))


def _common(table: pd.DataFrame, code: str) -> Figure:
    chart = Chart(
        table.melt("layer", list(words.AGREEMENTS), "measure", "value"),
        "layer",
        "value",
        by="measure",
        names=words.AGREEMENTS,
        parts={"common": "ffn", "chance": "residual"},
        styles={"chance": 1},
        x_title="layer",
        y_title=words.COMMON,
        title=words.COMMON,
        from_zero=True,
    )
    return Figure("experts-common", words.COMMON, chart, words.COMMON_ALT, code, table)


def _panel(router: RouterRecord, tokens: Sequence[str], places: Sequence[int]) -> Panel:
    """Lay out the weights at some places of a text, a row each."""
    rows = [words.row(tokens[place], place) for place in places]
    return Panel(router.matrix()[list(places)], rows=rows, columns=range(router.experts))


def _places(tokens: Sequence[str], token: str) -> list[int]:
    """List where a word stands, with a space before it or without."""
    return [place for place, name in enumerate(tokens) if name.lstrip(_SPACES) == token.lstrip(_SPACES)]


def _repeated(subject: Subject) -> int:
    """Choose the first token that stands twice, else the second of the text."""
    tokens = subject.tokens
    return next((place for place, name in enumerate(tokens) if len(_places(tokens, name)) > 1), 1)


def _read(subject: Subject, text: str) -> Subject:
    """Record another text in the same model."""
    trace = subject.of_model(("other text", text), lambda: probe.record(subject.model, text))
    return replace(subject, recording=trace)


def _routing(subject: Subject) -> Routing:
    def make() -> Routing:
        with subject.progress(words.RUNNING, unit=words.MIXTURE) as on_progress:
            return probe.record_routing(subject.model, subject.trace, on_progress=on_progress)

    return subject.of_text("routing", make)


def _code(subject: Subject, router: RouterRecord | None = None) -> str:
    code = f"{subject.code}routing = inspector.record_routing(loaded, trace)\n"
    return code if router is None else f"{code}router = routing.layer({subject.stream!r}, {router.layer})\n"


def _layers(subject: Subject) -> list[str]:
    return [words.layer(router.layer) for router in _routing(subject).of(subject.stream)]


_SPACES = "▁Ġ"
LAYER = Listed("layer", words.LAYER, _layers, width=130)
TOKEN = Token("token", words.TOKEN, lambda subject: subject.tokens, default=_repeated)
TEXT = Line("routed_text", words.OTHER_TEXT, lambda subject: "", most=OTHER_MOST, help=words.OTHER_HELP)
SAME = Section("experts_same", words.SAME, _same, (TOKEN, TEXT))
SECTION = Section(
    "experts",
    words.EXPERTS,
    answer,
    (LAYER,),
    needs_model=True,
    parts=(SAME,),
    # Experts are shown where blocks cannot be followed, too.
    need=Need(words.EXPERTS, lambda loaded: True, ("minilm", "mini-bert")),
)
