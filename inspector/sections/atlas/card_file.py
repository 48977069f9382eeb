"""A head's card of an atlas as files: one HTML page without a script or a request, a picture, and tables.

```python
atlas = inspector.atlas.open("my-atlas")
place = atlas.place(layer=2, head=0, stream="encoder")
Path("card.html").write_text(card_file.page(atlas, place, measure="previous"), encoding="utf-8")
Path("card.png").write_bytes(card_file.picture(atlas, place, measure="previous").png())
```
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from inspector.atlas.measures import MEASURES, find
from inspector.atlas.reading import head_examples
from inspector.atlas.reading.distribution import distribution
from inspector.atlas.reading.head_relations import better_than_offsets
from inspector.components import standalone
from inspector.components.document import document
from inspector.plots.atlas import card as draw
from inspector.plots.atlas.relations import arrow
from inspector.sections.atlas import card
from inspector.sections.section import Block, File, Files, Section
from inspector.wording import atlas_card as said

if TYPE_CHECKING:
    from inspector.atlas import Atlas
    from inspector.atlas.reading.head_examples import SpansOf
    from inspector.atlas.texts import Text
    from inspector.plots.scene import Scene
    from inspector.plots.theme import Mode
    from inspector.sections.atlas.colour import Colour
    from inspector.sections.subject import Subject

_TEXT = 1000  # characters of a text that the page quotes
_STYLE = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--st-background-color); color: var(--st-text-color);
  font: 16px/1.5 var(--page-font), sans-serif; overflow-wrap: anywhere; }
main { max-width: 900px; margin: 0 auto; padding: 12px 16px 48px; }
h1 { font-size: 25px; } h2 { font-size: 19px; margin: 32px 0 8px; }
.quiet, th[scope=col] { color: color-mix(in srgb, var(--st-text-color) 68%, var(--st-background-color)); }
.said { font-size: 19px; }
table { border-collapse: collapse; font-size: 15px; }
td, th { text-align: left; padding: 3px 18px 3px 0; border-bottom: 1px solid var(--st-border-color);
  vertical-align: top; font-weight: 400; }
td.number { font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }
td.text { white-space: pre-wrap; unicode-bidi: plaintext; }
mark { background: none; color: inherit; border-radius: 3px; padding: 0 2px; }
mark.query { box-shadow: inset 0 0 0 2px var(--st-primary-color); }
mark.key { background: var(--st-primary-color); color: var(--st-background-color); }
.wide { overflow-x: auto; }
.picture svg { max-width: 100%; height: auto; }
.dark { display: none; }
@media (prefers-color-scheme: dark) { .light { display: none; } .dark { display: block; } }
@media print { .light { display: block; } .dark { display: none; } }
"""


def answer(subject: Subject, *, place: int, colour: Colour) -> Iterator[Block]:
    """Yield the card as files: a picture, a page, and the numbers."""
    atlas, file = subject.atlas, card.file_name(subject.atlas, place)

    def drawn(mode: Mode) -> Scene:
        return picture(atlas, place, measure=colour.measure, mode=mode)

    def written(mode: Mode) -> str:
        return page(atlas, place, measure=colour.with_examples, spans_of=head_examples.spans_in(subject.model))

    yield Files((File(f"{file}.png", drawn, said.PNG), File(f"{file}.svg", drawn, said.SVG)))
    yield Files(
        (
            File(f"{file}.html", written, said.HTML),
            File(f"{file}.parquet", lambda mode: numbers(atlas, place), said.PARQUET),
            File(f"{file}.csv", lambda mode: numbers(atlas, place), said.CSV),
        )
    )


def picture(atlas: Atlas, place: int, *, measure: str, mode: Mode = "light") -> Scene:
    """Lay out the card as one picture, for PNG and SVG."""
    return draw.card(
        title=f"{atlas.manifest.model}: {card.name(atlas, place)}",
        sentence=card.does(atlas, place),
        chart=said.chart(find(measure)),
        distribution=distribution(atlas, measure, place),
        offsets=atlas.offsets(place),
        relations=better_than_offsets(atlas, place),
        note=said.source(atlas),
        mode=mode,
    )


def numbers(atlas: Atlas, place: int) -> pd.DataFrame:
    """Every measure of a head: a row each, with its unit, texts, mean, deviation, smallest, largest, correlation."""
    rows = []
    for measure in MEASURES:
        found = distribution(atlas, measure.name, place)
        rows.append(
            {
                "measure": measure.name,
                "unit": measure.unit,
                "group": measure.group,
                "texts": found.texts,
                "mean": found.mean,
                "deviation": found.deviation,
                "smallest": found.smallest,
                "quarter": found.quantile(0.25),
                "three_quarters": found.quantile(0.75),
                "largest": found.largest,
                "correlation_with_length": found.correlation,
            }
        )
    return pd.DataFrame(rows)


def page(atlas: Atlas, place: int, *, measure: str, spans_of: SpansOf | None = None) -> str:
    """Write the card as one HTML page that needs no server, script or network; all texts are escaped.

    spans_of: finds the characters of tokens, to mark the words of pairs; without it pairs are left out.
    """
    own = find(measure)
    found = distribution(atlas, measure, place)
    title = f"{atlas.manifest.model}: {card.name(atlas, place)}"
    modes: tuple[Mode, ...] = ("light", "dark")
    pictures = "".join(
        f'<div class="picture {mode}">{picture(atlas, place, measure=measure, mode=mode).svg()}</div>' for mode in modes
    )
    examples = [
        (said.STRONGEST, head_examples.strongest(atlas, measure, place)),
        (said.USUAL, head_examples.by_decile(atlas, measure, place)),
    ]
    listed = "".join(
        _section(heading, ((said.value(one.value, own), _quoted(one.text, atlas)) for one in rows))
        for heading, rows in examples
        if rows
    )
    marked = () if spans_of is None else head_examples.pairs(atlas, place, spans_of)
    pairs = [(said.value(one.weight, find("confidence")), _marked(one) + _credit(one.text, atlas)) for one in marked]
    body = f"""<main>
<h1>{html.escape(title)}</h1>
<p class="said">{html.escape(card.does(atlas, place))}</p>
{pictures}
<p>{html.escape(said.chart(own))}: {html.escape(said.summary(found))}.</p>
{_relations(better_than_offsets(atlas, place))}
{listed}
{_section(said.PAIRS, pairs) if pairs else ""}
<p class="quiet">{html.escape(said.quoted(atlas))}</p>
<h2>{said.EVERY}</h2>
<div class="wide">{_every(atlas, place)}</div>
<p class="quiet">{html.escape(said.source(atlas))}</p>
</main>"""
    return document(body, title=title, css=f"{standalone.variables()}{_STYLE}")


def _section(heading: str, rows: Iterable[tuple[str, str]]) -> str:
    """Write a list of numbers and texts; the texts are HTML already."""
    lines = "".join(
        f'<tr><td class="number">{html.escape(number)}</td><td class="text">{text}</td></tr>' for number, text in rows
    )
    return f"<h2>{html.escape(heading)}</h2><table><tbody>{lines}</tbody></table>"


def _quoted(text: Text, atlas: Atlas) -> str:
    cut = text.text if len(text.text) <= _TEXT else f"{text.text[:_TEXT]}…"
    return html.escape(cut) + _credit(text, atlas)


def _credit(text: Text, atlas: Atlas) -> str:
    """Name the authors of a text, where the atlas knows them."""
    credit = atlas.credits.get(text)
    return f'<br><small class="quiet">{html.escape(credit)}</small>' if credit else ""


def _marked(pair: head_examples.StrongPair) -> str:
    """Write a text with the words of a pair marked; a head between two texts has one in each."""
    texts = {"text": pair.text.text, "target": pair.text.target or ""}
    query, key = (pair.query_span, "query"), (pair.key_span, "key")
    if pair.query_in != pair.key_in:
        return f"{_with_marks(texts[pair.query_in], [query])}<br>{_with_marks(texts[pair.key_in], [key])}"
    return _with_marks(texts[pair.query_in], [query, key])


def _with_marks(text: str, spans: Sequence[tuple[tuple[int, int] | None, str]]) -> str:
    parts, at = [], 0
    for (start, stop), name in sorted((span, name) for span, name in spans if span is not None):
        if start < at:
            continue
        parts += [html.escape(text[at:start]), f'<mark class="{name}">{html.escape(text[start:stop])}</mark>']
        at = stop
    return "".join([*parts, html.escape(text[at:])])


def _relations(rows: pd.DataFrame) -> str:
    if rows.empty:
        return ""
    lines = "".join(
        f'<tr><th scope="row">{html.escape(arrow(row.relation, row.direction))}</th>'
        f'<td class="number">{row.share:.1%}</td><td class="number">{row.low:.1%} to {row.high:.1%}</td>'
        f'<td class="number">{row.baseline_share:.1%}</td>'
        f'<td class="number">{row.baseline_low:.1%} to {row.baseline_high:.1%}</td>'
        f'<td class="number">{row.baseline_offset:+d}</td><td class="number">{row.total:,}</td></tr>'
        for row in rows.itertuples()
    )
    heads = "".join(f'<th scope="col">{head}</th>' for head in said.RELATION_COLUMNS)
    return (
        f"<h2>{said.RELATIONS_BESIDE}</h2><p>{said.CHOSEN}</p>"
        f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>'
    )


def _every(atlas: Atlas, place: int) -> str:
    lines = "".join(
        f'<tr><th scope="row">{html.escape(row.measure)}</th><td class="number">{row.texts:,}</td>'
        f'<td class="number">{row.mean:.3g}</td><td class="number">{row.deviation:.3g}</td><td>{row.unit}</td></tr>'
        for row in numbers(atlas, place).itertuples()
        if row.texts
    )
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("measure", "texts", "mean", "deviation", "unit"))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


TAKE = Section("atlas_take", said.TAKE, answer, about="atlas", needs_model=True, folded=True, icon="download")
