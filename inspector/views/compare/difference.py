"""One panel minus another: the signed difference where both have the same tokens or words, and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import streamlit as st

from inspector import alignment, chance, compare, maps, pairs
from inspector.alignment import ROLES, CommonRows, Number, Pairing
from inspector.components.head import HeadMessage, LinkedTokens, SharedLayout
from inspector.text import named, number, plain, signed
from inspector.trace import Array
from inspector.views.compare.panels import Panel
from inspector.views.components.head import head
from inspector.views.shell import link, problems, readings
from inspector.wording import compare as wording
from inspector.wording import mixers as mixer_words

Numbers = tuple[tuple[Number, ...], tuple[Number, ...]]
MOST_NAMES = 8  # words named as not aligned


@dataclass(frozen=True)
class PanelDifference:
    """Two panels between the tokens or words that both have: their maps there, and the difference a - b."""

    a: Panel
    b: Panel
    pairing: Pairing
    maps: tuple[Array, Array]
    apart: compare.Difference | compare.SignedDifference

    @property
    def title(self) -> str:
        """The difference in words."""
        return f"{self.a.name} minus {self.b.name}"

    @cached_property
    def read(self) -> pairs.MapPair:
        """The distance of the two maps, and the row in which it is largest."""
        width = max(panel.record.query.shape[-1] for panel in (self.a, self.b))
        return pairs.pair(*self.maps, queries=self.pairing.queries.a.read, keys=self.apart.keys, width=width)

    @property
    def named(self) -> tuple[int, int] | None:
        """The cell that the sentence names, among the tokens or words that both have; None where it names none."""
        if isinstance(self.apart, compare.SignedDifference):
            return None if self._untrained or not self.apart.largest else self.apart.cell
        return None if self.read.equal or self.read.by_chance else self.read.cell

    @property
    def _untrained(self) -> bool:
        """True where both panels' models have random weights, or look so."""
        return all(chance.untrained(panel.trace) for panel in (self.a, self.b))

    def named_in(self, panel: Panel) -> tuple[int, int] | None:
        """The cell in one of the two maps; None in another map, and where a token or word is several there."""
        if self.named is None or (panel is not self.a and panel is not self.b):
            return None
        sides = [common.a if panel is self.a else common.b for common in (self.pairing.queries, self.pairing.keys)]
        groups = [side.members[at] for side, at in zip(sides, self.named, strict=True)]
        shown = (panel.shown.queries, panel.shown.keys)
        first, last = (
            [axis.containing(group[end]) for axis, group in zip(shown, groups, strict=True)] for end in (0, -1)
        )
        query, key = first
        return None if query is None or key is None or first != last else (query, key)

    @property
    def sentence(self) -> str:
        """The page's sentence: how far the two maps differ, and where most."""
        same_model = self.a.model == self.b.model
        a, b = (
            f"{side.name} ({side.place})" if same_model else f"{side.name} ({plain(side.model)}, {side.place})"
            for side in (self.a, self.b)
        )
        if isinstance(self.apart, compare.SignedDifference):
            labels = self.pairing.queries.a.read, self.apart.keys
            query, key = (named(names, at) for names, at in zip(labels, self.apart.cell, strict=True))
            return mixer_words.pair(self.apart, a=a, b=b, query=query, key=key, untrained=self._untrained)
        return wording.pair(self.read, a=a, b=b)


def choice(names: Sequence[str]) -> tuple[str, str]:
    """The panels whose difference is drawn."""
    choices = {f"{a} minus {b}": (a, b) for a, b in permutations(names, 2)}
    first = next(iter(choices))
    named = st.selectbox(
        "Difference",
        list(choices),
        key="difference",
        bind=link.bind_choice("difference", default=first, options=list(choices)),
    )
    return choices[named]


def subtract(a: Panel, b: Panel) -> PanelDifference | str:
    """One panel's map minus another's; a sentence where they have nothing in common, or are of different kinds."""
    if a.site.kind != b.site.kind:
        return mixer_words.not_subtracted(kinds=[a.site.kind, b.site.kind])
    try:
        pairing = alignment.pairing(a.axes, b.axes)
    except ValueError as error:
        return str(error)
    first, second = (panel.between(shown) for panel, shown in zip((a, b), pairing.shown, strict=True))
    take_away = compare.subtract if a.attends else compare.subtract_signed
    apart = take_away(first, second, queries=pairing.queries.a.labels, keys=pairing.keys.a.labels)
    return PanelDifference(a, b, pairing, (first, second), apart)


def draw(pair: PanelDifference | str, *, numbers: Numbers, lines: bool, beside: SharedLayout) -> None:
    """The difference as a map; numbers: of the queries and keys of its first panel, for what lights up."""
    if isinstance(pair, str):
        problems.show(pair)
        return
    queries, keys, shown = pair.pairing.queries, pair.pairing.keys, pair.a.shown
    data = HeadMessage(
        pair.apart.values,
        queries=pair.apart.queries,
        keys=pair.apart.keys,
        title=pair.title,
        vmax=pair.apart.largest or 1.0,
        diverging=True,
        quantity="difference of weights",
        linked=LinkedTokens(
            "compare",
            _numbers(queries.a, shown.queries, numbers[0]),
            _numbers(keys.a, shown.keys, numbers[1]),
        ),
        beside=beside,
        lines=lines,
        marked=pair.named,
    ).to_bytes()
    head(data, key="difference-map")


def explain(pair: PanelDifference | str) -> None:
    """The numbers of the difference, what its colours mean, and what was compared."""
    if isinstance(pair, str):
        return
    a, b, apart = pair.a.name, pair.b.name, pair.apart
    readings.line(_told(apart, pair.pairing.keys, a=a, b=b))
    end = number(apart.largest)
    in_words = wording.colours if pair.a.attends else mixer_words.difference_colours
    colours = in_words(a=a, b=b, end=end) if apart.largest else wording.equal(a=a, b=b)
    st.caption(f"{_alignment(pair.pairing, a, b)} {colours}")


def _told(
    apart: compare.Difference | compare.SignedDifference, keys: CommonRows, *, a: str, b: str
) -> list[tuple[str, str, str]]:
    about = wording.shared_about(alone_a=len(keys.alone[0]), alone_b=len(keys.alone[1]), a=a, b=b)
    shared = (f"Shared {keys.unit}", f"{len(keys.a.labels)}", about)
    largest = ("Largest", number(apart.largest), wording.LARGEST_ABOUT)
    if isinstance(apart, compare.SignedDifference):
        return [shared, ("Cosine", signed(apart.cosine), mixer_words.COSINE_ABOUT), largest]
    change = number(apart.entropy_change).replace("-", "−")
    sign = "+" if apart.entropy_change > 0 else ""
    return [
        shared,
        ("Divergence", f"{number(apart.jensen_shannon)} nats", wording.DIVERGENCE_ABOUT),
        ("Rank correlation", number(apart.spearman).replace("-", "−"), wording.RANK_ABOUT),
        ("Entropy change", f"{sign}{change} nats", wording.entropy_about(a=a, b=b)),
        largest,
    ]


def _alignment(pairing: Pairing, a: str, b: str) -> str:
    """Say how many tokens or words were aligned, and which were not."""
    keys = pairing.keys
    if keys.unit == "words":
        begin = wording.words_compared(count=len(keys.a.labels))
    else:
        special = sum(label in ROLES for label in keys.a.labels)
        queries, count = len(pairing.queries.a.labels), len(keys.a.labels)
        begin = wording.tokens_compared(queries=queries, keys=count, special=special, merged=_merged(keys))
    rest = [
        f"Only in {name}: {', '.join(map(plain, alone[:MOST_NAMES]))}"
        + (f" and {len(alone) - MOST_NAMES} more." if len(alone) > MOST_NAMES else ".")
        for name, alone in zip((a, b), keys.alone, strict=True)
        if alone
    ]
    return " ".join([begin, *(rest or [wording.NOTHING_LEFT])])


def _merged(keys: CommonRows) -> bool:
    return any(len(group) > 1 for group in keys.a.members)


def _numbers(common: maps.Groups, shown: maps.Groups, numbers: tuple[Number, ...]) -> tuple[Number, ...]:
    """The numbers of a panel's tokens, for the rows or columns of its difference from another."""
    places = (shown.containing(group[0]) for group in common.members)
    return tuple(None if place is None else numbers[place] for place in places)
