"""Every norm and every token: which norms there are, the token that stands out, and one token's way through them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from inspector import normalization
from inspector.components.matrix import Panel
from inspector.plots import normalization as draw
from inspector.sections.layernorm import stream
from inspector.sections.picks import Option, Switch, Token
from inspector.sections.section import Block, Figure, Map, Mark, Note, Row, Section, Sentence
from inspector.text import Named, named, plain
from inspector.wording import layernorm as words

if TYPE_CHECKING:
    from inspector.normalization import Size
    from inspector.sections.subject import Subject
    from inspector.trace import NormRecord

STANDS_OUT = 2.0  # times the other tokens' median


def answer(subject: Subject) -> Iterator[Block]:
    """Yield which norms there are, what each does to each token, and by which formula."""
    norms = stream.norms(subject)
    refused = sorted((one for one in subject.trace.refused if one.what == "norm"), key=lambda one: one.reason)
    if norms:
        size = stream.size(norms)
        found = _told(subject)
        formulas, placements, outside = kinds(norms)
        yield Sentence(
            f"{widest(found, norms, size=size)} {words.in_short(formulas, placements)}",
            words.terms(list(formulas), list(placements), size=size),
            (Mark("norms", {"norm": int(found["norm"]), "position": int(found["position"])}),),
        )
    elif not refused:
        yield Note(words.NO_NORM)
    for reason, alike in groupby(refused, key=lambda one: one.reason):
        paths = [one.name for one in alike]
        yield Note(plain(words.refused(len(paths), first=paths[0], reason=reason)))
    if norms:
        yield SEEN
        told = words.kinds(formulas=formulas, placements=placements, outside=outside)
        yield Note(f"{told} {others(found, norms, size=size)}".rstrip())
    for count, norm in normalization.kinds(norms.values()):
        yield Note(words.formula(norm, count=count, of=len(norms)))


def _told(subject: Subject) -> pd.Series[Any]:
    """Find the vector that the sentence tells."""
    size = stream.size(stream.norms(subject))
    return subject.once("outstanding vector", lambda: outstanding(stream.statistics(subject), size=size))


def _first(subject: Subject) -> int:
    """Take the token of the vector that the sentence tells."""
    return int(_told(subject)["position"]) if stream.norms(subject) else 0


def _seen(subject: Subject, *, statistic: str, norm_sqrt: bool) -> Iterator[Block]:
    """Yield a statistic of all norms and tokens as a map, beside one token through all norms."""
    wide = stream.statistics(subject).pivot_table(index="norm", columns="position", values=statistic)
    found = _told(subject)
    pivot = f".pivot_table(index='norm', columns='position', values={statistic!r})"
    yield Row(
        (
            Map(
                "norms",
                "",
                (
                    Panel(
                        wide.to_numpy(),
                        rows=[words.brief(norm) for norm in stream.norms(subject).values()],
                        columns=subject.tokens,
                        named=(list(wide.index).index(found["norm"]), list(wide.columns).index(found["position"])),
                    ),
                ),
                row_title="norm",
                column_title="token",
                alt=words.every_alt(statistic),
                quantity=words.VALUES[statistic],
                numbered="columns",
                diverging=statistic.startswith("mean"),
                scale="sqrt" if norm_sqrt else "linear",
                code=f"{stream.code(subject)}{pivot}",
                note=words.CLICK,
                name=f"layernorm-{statistic}",
                chooses=lambda row, column: {stream.NORM: row, TOKEN: column},
            ),
            ONE,
        ),
        widths=(3, 2),
    )


def _one(subject: Subject, *, token: int) -> Iterator[Block]:
    """Yield one token's way through all norms."""
    norms, table = stream.norms(subject), stream.statistics(subject)
    size = stream.size(norms)
    rows = table[table["position"] == token]
    yield Note(way(rows, norms, size=size, token=named(subject.tokens, token)))
    yield Figure(
        "one-token",
        "",
        draw.by_token(rows, position=token, size=size),
        words.through_alt(token),
        stream.code(subject, only=f"position == {token}"),
        rows,
        name=f"layernorm-token{token}",
    )


def kinds(norms: Mapping[int, NormRecord]) -> tuple[dict[str, int], dict[str, int], list[str]]:
    """Count the norms of a stream by formula and, those in the layers, by placement; list the parts of the others."""
    inside = [norm for norm in norms.values() if norm.layer is not None]
    return (
        dict(Counter(norm.kind for norm in norms.values())),
        dict(Counter(norm.placement for norm in inside)),
        [norm.part for norm in norms.values() if norm.layer is None],
    )


def outstanding(statistics: pd.DataFrame, *, size: Size) -> pd.Series[Any]:
    """Find the largest vector before a norm; where it does not stand out, the one that does most before any norm.

    So what does not stand out is the largest before all norms, and no token stands out before any. Returns its norm,
    position, token, `named` among its like, size before and after the norm, the `middle` of the other tokens there
    (their median, NaN where there is no other), and `times`: its size in medians, 0 where there is no other or all are
    0.
    """
    sizes = statistics.groupby("norm")[f"{size}_before"]
    peaks = pd.DataFrame([_peak(before) for _, before in sizes])
    largest, farthest = peaks.loc[peaks["before"].idxmax()], peaks.loc[peaks["times"].idxmax()]
    peak = farthest if farthest["times"] >= STANDS_OUT > largest["times"] else largest
    row = statistics.loc[int(peak["at"])]
    tokens = statistics.loc[statistics["norm"] == row["norm"], "token"]
    return pd.Series(
        {
            **row[["norm", "position", "token"]],
            "named": named(tuple(tokens), tokens.index.get_loc(row.name)),
            "before": peak["before"],
            "after": row[f"{size}_after"],
            "middle": peak["middle"],
            "times": peak["times"],
        }
    )


def _peak(before: pd.Series[float]) -> dict[str, float]:
    """Find the largest vector before one norm: of all tokens it is the most times the median of the others."""
    sizes = before.to_numpy()
    place = int(sizes.argmax())
    others = np.delete(sizes, place)
    middle = float(np.median(others)) if len(others) else nan
    times = sizes[place] / middle if middle else inf
    return {
        "at": before.index[place],
        "before": sizes[place],
        "middle": middle,
        "times": times if sizes[place] and middle == middle else 0.0,
    }


def widest(found: pd.Series[Any], norms: Mapping[int, NormRecord], *, size: Size) -> str:
    """Say which token stands out before which norm; found: of `outstanding`."""
    return words.widest(
        norm=norms[int(found["norm"])],
        size=size,
        token=found["named"],
        before=float(found["before"]),
        after=float(found["after"]),
        stands_out=None if pd.isna(found["middle"]) else bool(found["times"] >= STANDS_OUT),
    )


def others(found: pd.Series[Any], norms: Mapping[int, NormRecord], *, size: Size) -> str:
    """Say how large the other tokens are there, "" where there is none; found: of `outstanding`."""
    if pd.isna(found["middle"]):
        return ""
    norm, before = norms[int(found["norm"])], float(found["before"])
    return words.others(norm=norm, size=size, before=before, middle=float(found["middle"]))


def way(rows: pd.DataFrame, norms: Mapping[int, NormRecord], *, size: Size, token: Named) -> str:
    """Say how a token's size changes on its way through the norms; rows: of its statistics."""
    before, after = rows[f"{size}_before"], rows[f"{size}_after"]

    def at(index: int) -> tuple[float, NormRecord]:
        return float(before[index]), norms[int(rows["norm"][index])]

    return words.way(
        token=token,
        size=size,
        smallest=at(before.idxmin()),
        largest=at(before.idxmax()),
        after=(float(after.min()), float(after.max())),
    )


STATISTIC = Option(
    "statistic",
    words.STATISTIC,
    lambda subject: words.VALUES,
    lambda subject: f"{stream.size(stream.norms(subject))}_before",
    look="list",
    width=260,
)
ROOT = Switch("norm_sqrt", words.ROOT, default=True, help=words.ROOT_HELP)
TOKEN = Token("token", words.TOKEN, lambda subject: subject.tokens, default=_first)
ONE = Section("one", words.THROUGH, _one, (TOKEN,), behind=words.ANOTHER_TOKEN)
SEEN = Section("seen", "", _seen, (STATISTIC, ROOT))
SECTION = Section("every", words.EVERY, answer, parts=(SEEN, ONE))
