"""Masking: the 80/10/10 rule on the reader's text, and what a model guesses at each rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import hypot
from typing import TYPE_CHECKING

import pandas as pd

from inspector import masked_lm
from inspector.plots.chart import Chart
from inspector.plots.tokens import masking as draw
from inspector.sections import names
from inspector.sections.picks import Count
from inspector.sections.section import (
    Ask,
    Block,
    Figure,
    Mark,
    Need,
    Note,
    Paragraph,
    Row,
    Section,
    Sentence,
    Table,
)
from inspector.text import plain
from inspector.wording import tokens as wording

if TYPE_CHECKING:
    from inspector.masked_lm import MaskingDraw
    from inspector.sections.subject import Subject

words = wording.masking

AT_ONCE = 7e10  # FLOPs of the guesses at all rates that no button is asked for: about two seconds
LAST_SEED = 9999


def answer(subject: Subject, *, mask_rate: int, mask_seed: int) -> Iterator[Block]:
    """Yield one draw on the text, the shares of many draws, and the guesses at every rate."""
    loaded, trace, rate, seed = subject.model, subject.trace, mask_rate / 100, mask_seed
    with names.told(words.MASKED, instead=words.MASKED_INSTEAD):
        drawn = subject.of_text(("masked", rate, seed), lambda: masked_lm.draw(loaded, trace, rate=rate, seed=seed))
        counted = subject.of_text(
            ("mask shares", rate, seed),
            lambda: masked_lm.shares(loaded, trace.encoding, rate=rate, seed=seed),
        )
    said = masking(drawn, model=plain(names.name(loaded)))
    yield Sentence(said, words.TERMS, (Mark("mask-draw", {}),))
    code = f"{subject.code}from inspector import masked_lm\n\n"
    across = 4 if subject.narrow else 8 if subject.stacked else 14
    yield Figure(
        "mask-draw",
        "",
        partial(draw.draw, drawn, across=across),
        words.DRAWN_ALT,
        f"{code}table = masked_lm.draw(loaded, trace, rate={rate}, seed={seed}).table",
        drawn.table,
        name=f"masking-{loaded.card.id}",
    )
    if len(drawn.tokens) > draw.MOST:
        yield Note(words.drawn_of(draw.MOST, len(drawn.tokens)))
    yield Note(words.FRAMES)
    told = (Paragraph(shares(counted)), Note(words.rule(rate, draws=masked_lm.DRAWS, seed=seed)))
    yield replace(RULE, answer=lambda subject: iter(told))
    yield Paragraph("", words.BY_RATE)
    if masked_lm.work(loaded, trace.encoding) > AT_ONCE:
        yield Ask("mask-rates", words.AT_EVERY_RATE, words.ASK)

    def make() -> pd.DataFrame:
        with (
            names.told(words.GUESSING, instead=words.MASKED_INSTEAD),
            subject.progress(words.GUESSING, unit=words.DRAW) as on_progress,
        ):
            return masked_lm.by_rate(loaded, trace.encoding, seed=seed, on_progress=on_progress)

    table = subject.of_text(("masking by rate", seed), make)
    trained = masked_lm.trained_rate(loaded)
    yield Paragraph(rated(table, trained=trained, model=plain(names.name(loaded))))
    code += f"table = masked_lm.by_rate(loaded, trace.encoding, seed={seed})"
    accuracy = replace(
        by_rate(table, words.GUESSES, trained=trained),
        y_title=words.SHARE_RIGHT,
        title=words.RIGHT_BY_RATE,
        y_range=(0, 1.03),
        y_format=".0%",
    )
    loss = replace(
        by_rate(table, words.LOSSES, trained=trained), y_title=words.NATS, title=words.LOSS_BY_RATE, from_zero=True
    )
    yield Row(
        (
            Figure("mask-accuracy", "", accuracy, words.ACCURACY_ALT, code, table),
            Figure("mask-loss", "", loss, words.LOSS_ALT, code, table),
        )
    )
    if said := words.fates(masked=pooled(table, "masked"), unchanged=pooled(table, "kept")):
        yield Paragraph(said)
    every = table[table["fate"] == "all"]
    yield Note(
        words.draws(
            fewest=int(every["draws"].min()),
            most=int(every["draws"].max()),
            tokens=int(every["count"].sum()),
            lowest=float(every["rate"].iloc[0]),
            share=float(every["share"].iloc[0]),
        )
    )
    named = table.assign(fate=table["fate"].map({"all": words.ALL_CHOSEN, **words.FATES}))
    yield Table("masking-by-rate", named, words.BY_FATE, height=320)


def by_rate(table: pd.DataFrame, names: Mapping[str, str], *, trained: float | None) -> Chart:
    """Draw columns of `masked_lm.by_rate`, over two standard errors either way.

    trained: the rate at which the model was trained, which is marked.
    """
    every = table[table["fate"] == "all"]
    rows = pd.concat(
        every.assign(guess=column, value=every[column], error=2 * every[f"{column}_error"]) for column in names
    )
    return Chart(
        rows.assign(low=rows["value"] - rows["error"], high=rows["value"] + rows["error"]),
        "rate",
        "value",
        by="guess",
        names=names,
        parts=dict.fromkeys(names, "prediction"),
        styles={column: at for at, column in enumerate(names)},
        error=("low", "high"),
        hover={"error": "±", "count": words.GUESSED},
        x_title=words.SHARE_CHOSEN,
        x_marks={} if trained is None else {words.TRAINED_AT: trained},
        x_range=(0, 0.53),
        x_format=".0%",
        height=320,
    )


def masking(drawn: MaskingDraw, *, model: str) -> str:
    """Say what one draw chose, and how the guesses fare."""
    return words.masking(
        rate=drawn.rate,
        tokens=len(drawn.choosable),
        by_chance=drawn.by_chance,
        none=(1 - drawn.rate) ** len(drawn.choosable),
        fates=[(one.token, one.fate, one.read) for one in drawn.chosen],
        right=drawn.right,
        sure=drawn.chosen[0].guess.top[0][1],
        model=model,
    )


def shares(table: pd.DataFrame) -> str:
    """Say what becomes of many tokens; table: of `masked_lm.shares`."""
    return words.shares(
        shares=list(table["share"]),
        rules=list(table["rule"]),
        away=float(table["away"].abs().max()),
        draws=masked_lm.DRAWS,
    )


def rated(table: pd.DataFrame, *, trained: float | None, model: str) -> str:
    """Say how the guesses fare by rate; table: of `masked_lm.by_rate`.

    Two shares differ where they are farther apart than twice the standard error of their difference.
    """
    every = table[table["fate"] == "all"]
    first, last = every.iloc[0], every.iloc[-1]
    error = hypot(first["top1_error"], last["top1_error"])
    return words.rated(
        low=(float(first["rate"]), float(first["top1"])),
        high=(float(last["rate"]), float(last["top1"])),
        differs=abs(float(first["top1"] - last["top1"])) > 2 * error,
        trained=trained,
        model=model,
    )


def pooled(table: pd.DataFrame, fate: str) -> float:
    """Compute the share that the first guess has right of all tokens of a fate; NaN where none was drawn."""
    rows = table[(table["fate"] == fate) & (table["count"] > 0)]
    total = rows["count"].sum()
    return float((rows["top1"] * rows["count"]).sum() / total) if total else float("nan")


RULE = Section("mask_rule", words.RULE, lambda subject: iter(()), folded=True)
SECTION = Section(
    "masking",
    words.MASKING,
    answer,
    (
        Count("mask_rate", words.CHOSEN, lambda subject: 50, lambda subject: 15, first_value=5, step=5, width=120),
        Count("mask_seed", words.SEED, lambda subject: LAST_SEED, lambda subject: 0, width=120, again=words.AGAIN),
    ),
    needs_model=True,
    long=True,
    parts=(RULE,),
    need=Need(words.CANNOT, lambda loaded: loaded.fills_masks, ("mini-bert", "mini-bert-zh")),
)
