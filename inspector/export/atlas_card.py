"""A head's card of an atlas as files: one HTML page without a script or a request, a picture, and tables.

```python
atlas = inspector.atlas.open("my-atlas")
place = atlas.place(layer=2, head=0, stream="encoder")
Path("card.html").write_text(atlas_card.page(atlas, place, measure="previous"), encoding="utf-8")
Path("card.png").write_bytes(atlas_card.picture(atlas, place, measure="previous").png())
```
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa

from inspector.atlas import head_examples
from inspector.atlas.distribution import distribution
from inspector.atlas.head_relations import better_than_offsets
from inspector.atlas.measures import MEASURES, find
from inspector.atlas.tables import parquet_bytes
from inspector.components import standalone
from inspector.plots.atlas import card as draw
from inspector.plots.atlas.relations import arrow
from inspector.readings import atlas_head
from inspector.wording.english import atlas_card as said

if TYPE_CHECKING:
    from inspector.atlas import Atlas
    from inspector.atlas.head_examples import SpansOf
    from inspector.plots.scene import Scene
    from inspector.plots.theme import Mode

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


def picture(atlas: Atlas, place: int, *, measure: str, mode: Mode = "light") -> Scene:
    """Lay out the card as one picture, for PNG and SVG."""
    read = atlas_head.read(atlas, place)
    return draw.card(
        title=f"{atlas.manifest.model}: {said.name(read)}",
        sentence=said.head(read),
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
        low, high = found.middle_half
        rows.append(
            {
                "measure": measure.name,
                "unit": measure.unit,
                "group": measure.group,
                "texts": found.texts,
                "mean": found.mean,
                "deviation": found.deviation,
                "smallest": found.smallest,
                "quarter": low,
                "three_quarters": high,
                "largest": found.largest,
                "correlation_with_length": found.correlation,
            }
        )
    return pd.DataFrame(rows)


def parquet(atlas: Atlas, place: int) -> bytes:
    """Write `numbers` as Parquet."""
    return parquet_bytes(pa.Table.from_pandas(numbers(atlas, place), preserve_index=False))


def page(atlas: Atlas, place: int, *, measure: str, spans_of: SpansOf | None = None) -> str:
    """Write the card as one HTML page that needs no server, script or network; all texts are escaped.

    spans_of: finds the characters of tokens, to mark the words of pairs; without it pairs are left out.
    """
    read, own = atlas_head.read(atlas, place), find(measure)
    found = distribution(atlas, measure, place)
    title = f"{atlas.manifest.model}: {said.name(read)}"
    css = f"{standalone.variables()}{_STYLE}"
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    modes: tuple[Mode, ...] = ("light", "dark")
    pictures = "".join(
        f'<div class="picture {mode}">{picture(atlas, place, measure=measure, mode=mode).svg()}</div>' for mode in modes
    )
    examples = [
        (said.STRONGEST, head_examples.strongest(atlas, measure, place)),
        (said.USUAL, head_examples.by_decile(atlas, measure, place)),
    ]
    listed = "".join(
        _section(heading, ((said.value(one.value, own), _quoted(one.text.text)) for one in rows))
        for heading, rows in examples
        if rows
    )
    marked = () if spans_of is None else head_examples.pairs(atlas, place, spans_of)
    pairs = [(said.value(one.weight, find("confidence")), _marked(one)) for one in marked]
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{html.escape(title)}</title>
<style>{css}</style>
</head>
<body>
<main>
<h1>{html.escape(title)}</h1>
<p class="said">{html.escape(said.head(read))}</p>
{pictures}
<p>{html.escape(said.chart(own))}: {html.escape(said.summary(found))}.</p>
{_relations(better_than_offsets(atlas, place))}
{listed}
{_section(said.PAIRS, pairs) if pairs else ""}
<h2>{said.EVERY}</h2>
<div class="wide">{_every(atlas, place)}</div>
<p class="quiet">{html.escape(said.source(atlas))}</p>
</main>
</body>
</html>
"""


def _section(heading: str, rows: Iterable[tuple[str, str]]) -> str:
    """Write a list of numbers and texts; the texts are HTML already."""
    lines = "".join(
        f'<tr><td class="number">{html.escape(number)}</td><td class="text">{text}</td></tr>' for number, text in rows
    )
    return f"<h2>{html.escape(heading)}</h2><table><tbody>{lines}</tbody></table>"


def _quoted(text: str) -> str:
    return html.escape(text if len(text) <= _TEXT else f"{text[:_TEXT]}…")


def _marked(pair: head_examples.Pair) -> str:
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
