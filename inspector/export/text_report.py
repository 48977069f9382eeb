"""A report of a text: each section about it in one HTML file that is read and printed offline.

Sections stand at their first choices, or at those that are given: here with two kept cuts.

```python
cuts = {"scores/scissors": {"cuts": "head 2.1 -> logit;ffn 1 -> zero"}}
inspector.report(trace, "report.html", loaded=loaded, chosen=cuts)
```
"""

from __future__ import annotations

import datetime
import html
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

import pandas as pd

from inspector.components import standalone
from inspector.components.document import document
from inspector.components.matrix.picture import picture
from inspector.export import markdown
from inspector.plots.scene import Cells
from inspector.plots.slide import points
from inspector.plots.still import still
from inspector.sections import registry
from inspector.sections.registry import Page
from inspector.sections.section import (
    Ask,
    Block,
    Check,
    Choices,
    Figure,
    Files,
    HeadMaps,
    Link,
    Map,
    Measurement,
    Note,
    Numbers,
    Paragraph,
    Problem,
    Quote,
    Row,
    Section,
    Sentence,
    Table,
    Thumbnails,
)
from inspector.sections.subject import Results, Subject
from inspector.text import number, visible
from inspector.wording import report as words

if TYPE_CHECKING:
    from torch import nn

    import models
    from inspector.plots.scene import Scene
    from inspector.plots.theme import Mode
    from inspector.trace import Trace

Chosen = Mapping[str, Mapping[str, Any]]
"""A section's place -> what is chosen there, by the ids of its choices."""
MOST_ROWS = 40  # of a table that is printed; the page and the Python lines have all
MOST_CELLS = 400  # of a map, each of which names its value
LONGEST_TEXT = 1000  # characters of the text that the report quotes
MODES: tuple[Mode, ...] = ("light", "dark")
STYLE = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--st-background-color); color: var(--st-text-color);
  font: 16px/1.5 var(--page-font), "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif;
  overflow-wrap: anywhere; }
main { max-width: 860px; margin: 0 auto; padding: 0 16px 48px; }
a { color: var(--st-primary-color); }
h1 { font-size: 27px; margin: 28px 0 6px; }
h2 { font-size: 23px; margin: 48px 0 4px; border-bottom: 1px solid var(--st-border-color); padding-bottom: 4px; }
h3 { font-size: 19px; margin: 30px 0 4px; }
h4 { font-size: 16px; margin: 22px 0 2px; }
p, ul, dl { margin: 4px 0 8px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 14px; }
dd { margin: 0; unicode-bidi: plaintext; white-space: pre-wrap; }
nav ul { list-style: none; padding: 0; columns: 2 330px; }
nav li { break-inside: avoid; }
.lead { font-size: 19px; line-height: 1.4; }
.note { font-size: 14px; }
figure { margin: 8px 0 16px; }
figure svg { display: block; max-width: 100%; height: auto; }
.dark { display: none; }
@media (prefers-color-scheme: dark) { .light { display: none; } .dark { display: block; } }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; margin: 4px 0; }
td, th { text-align: left; padding: 1px 14px 1px 0; border-bottom: 1px solid var(--st-border-color); }
td { font-variant-numeric: tabular-nums; }
th { font-weight: 600; }
summary { cursor: pointer; min-height: 24px; }
code { font-size: 14px; }
@media print {
  @page { size: A4; margin: 15mm 14mm; }
  :root { --st-background-color: #fff; --st-text-color: #111; --st-border-color: #bbb; --st-primary-color: #111; }
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  .light { display: block !important; } .dark { display: none !important; }
  h2, h3, h4 { break-after: avoid; }
  figure, p, tr { break-inside: avoid; }
  details { display: none; }
}
"""


@dataclass
class ReportCounts:
    """Counts of what was written: pictures, and how many of them as tables."""

    pictures: int = 0
    tables: int = 0


def report(
    trace: Trace,
    path: str | os.PathLike[str],
    *,
    loaded: models.LoadedModel | nn.Module | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    chosen: Chosen | None = None,
) -> None:
    """Write a text's sections as one HTML file that needs no script, server or network.

    loaded: the trace's model; sections that run it or read its weights are left out without. on_progress: is called
    with the sections that are written and their number; an exception in it ends the report, and no file is left.
    chosen: a section's place, "scores/scissors" -> what is chosen there, by the ids of its choices, where it is not
    what stands there at first.
    Raises ValueError for a name that does not end in .html, and for a section that there is not.
    """
    check_name(path)
    from models import of  # torch, only now

    loaded = None if loaded is None else of(loaded)
    written = html_report(trace, loaded=loaded, on_progress=on_progress, chosen=chosen)
    Path(path).write_text(written, encoding="utf-8")


def check_name(path: str | os.PathLike[str]) -> None:
    """Raise ValueError for a name that does not end in .html."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{Path(path).name!a} is no name for a report: end it in .html")


def html_report(
    trace: Trace,
    *,
    loaded: models.LoadedModel | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    subject: Subject | None = None,
    chosen: Chosen | None = None,
) -> str:
    """Return the report as HTML. subject: with the caches of a host; a new one where None. chosen: as in `report`."""
    subject = Subject(trace, loaded, cache=Results()) if subject is None else subject
    listed = [(page, section) for page in _pages() for section in _asked(page)]
    written, chapters, contents = ReportCounts(), [], []
    choices = {} if chosen is None else chosen
    if unknown := sorted(choices.keys() - {f"{page.address}/{section.id}" for page, section in listed}):
        raise ValueError(f"{unknown[0]!a} is no section of a report")
    for done, (page, section) in enumerate(listed):
        on_progress(done, len(listed))
        first = not done or listed[done - 1][0] is not page
        id = f"{page.address}-{section.id}"
        body = "".join(_section(page, section, subject, written, choices.get(f"{page.address}/{section.id}", {})))
        heading = f"<h2>{html.escape(page.title)}</h2><p>{html.escape(page.purpose)}</p>" if first else ""
        chapters.append(f'{heading}<section><h3 id="{id}">{html.escape(section.title)}</h3>{body}</section>')
        contents.append(f'<li><a href="#{id}">{html.escape(f"{page.title}: {section.title}")}</a></li>')
    on_progress(len(listed), len(listed))
    counted = words.counted(len(listed), pictures=written.pictures, tables=written.tables)
    body = (
        f"<main><h1>{words.TITLE}</h1>{_facts(trace)}<p>{html.escape(counted)}</p>{_mixers(trace)}"
        f"<nav aria-label='{words.CONTENTS}'><h2>{words.CONTENTS}</h2><ul>{''.join(contents)}</ul></nav>"
        f"{''.join(chapters)}</main>"
    )
    title = f"{words.TITLE}: {visible(trace.text[:60])}"
    return document(body, title=title, css=f"{standalone.variables()}{STYLE}", images=True)


def _pages() -> list[Page]:
    return [page for page in registry.PAGES.values() if not page.board]


def _asked(page: Page) -> list[Section]:
    """List the sections of a page that are about the text and do not run long."""
    return [
        section
        for section in registry.sections(page.address).sections
        if section.about == "text" and not section.starts
    ]


def _facts(trace: Trace) -> str:
    text = trace.text if len(trace.text) <= LONGEST_TEXT else f"{trace.text[:LONGEST_TEXT]}…"
    facts = {
        words.MODEL: trace.model,
        words.TEXT: text,
        words.SECOND: trace.text_pair,
        words.TARGET: trace.target_text,
        words.TOKENS: f"{len(trace.tokens):,}",
        words.DATE: datetime.date.today().isoformat(),
    }
    rows = [
        f"<dt>{html.escape(name)}</dt><dd>{html.escape(visible(fact))}</dd>" for name, fact in facts.items() if fact
    ]
    return f"<dl>{''.join(rows)}</dl>"


def _mixers(trace: Trace) -> str:
    kinds = dict.fromkeys(site.kind for site in trace.mixer_sites)
    return f"<p>{html.escape(words.mixers(kinds))}</p>" if kinds else ""


def _section(
    page: Page, section: Section, subject: Subject, written: ReportCounts, chosen: Mapping[str, Any]
) -> Iterator[str]:
    """Yield a section, or the sentence that says why it cannot be told of this text and model."""
    of_page = registry.sections(page.address)
    try:
        need = of_page.need_of(section)
        if need is not None and not need.can(subject.model):
            yield _paragraph(words.cannot(subject.trace.model, need.cannot), "note")
            return
        if streams := of_page.streams(subject):
            subject = replace(subject, stream=streams[0])
        yield from _blocks(section.blocks(subject, **chosen), subject, written)
    except ValueError as error:
        yield f'<p class="note">{html.escape(str(error))}</p>'


def _blocks(blocks: Iterator[Block], subject: Subject, written: ReportCounts) -> Iterator[str]:
    """Yield blocks up to long work that a reader starts, which a report does not do."""
    for block in blocks:
        yield from _block(block, subject, written)
        if isinstance(block, Ask):
            return


def _block(block: Block, subject: Subject, written: ReportCounts) -> Iterator[str]:
    match block:
        case Sentence():
            yield _paragraph(block.text, "lead")
        case Paragraph():
            yield _heading(block.heading) + _paragraph(block.text)
        case Note():
            yield _heading(block.heading) + _paragraph(block.text, "note")
        case Figure() | Map():
            written.pictures += 1
            yield _heading(block.heading) + _paragraph(block.sentence)
            yield _picture(block, written) + _paragraph(block.note, "note")
        case Numbers():
            pairs = [f"{number.name} **{number.value}**" for number in block.numbers]
            yield _heading(block.heading) + _paragraph(f"{' · '.join(pairs)}{block.of}")
        case Check():
            yield _paragraph(block.text)
        case Table():
            yield _heading(block.heading) + _table(block.frame, dict(block.words), folded=block.folded)
        case Ask():
            yield _paragraph(block.about, "note")
        case Quote():
            yield f"{_paragraph(block.said)}<blockquote>{html.escape(visible(block.text))}</blockquote>"
        case Choices():
            yield f"<p>{html.escape(' · '.join(choice.label for choice in block.choices))}</p>"
        case Problem():
            yield f'<p class="note">{html.escape(block.text)}</p>'
        case Link() | Files() | Measurement() | Thumbnails() | HeadMaps():  # heads stand on pages of courses alone
            return
        case Row():
            for column in block.columns:
                for inner in column if isinstance(column, tuple) else (column,):
                    yield from _block(inner, subject, written)
        case Section():
            if block.starts:
                return
            yield _heading(block.title)
            yield from _blocks(block.blocks(subject), subject, written)
        case _:
            assert_never(block)


def _picture(block: Figure | Map, written: ReportCounts) -> str:
    """Return a picture in both modes, and the page shows the reader's; a figure that is drawn by hand as its table."""

    def scene(mode: Mode) -> Scene:
        if isinstance(block, Map):
            return _unnamed(picture(block.message(), mode=mode))
        return still(block.draw(mode=mode), mode=mode)

    try:
        drawn = {mode: scene(mode).svg() for mode in MODES}
    except ValueError:
        written.tables += 1
        table = block.table if isinstance(block, Figure) else None
        if table is None and isinstance(block, Figure):
            table = points(block.draw(mode="light"))
        return "" if table is None else _table(table, {}, folded=False)
    alt = html.escape(block.alt, quote=True)
    shown = "".join(f'<div class="{mode}" role="img" aria-label="{alt}">{svg}</div>' for mode, svg in drawn.items())
    table = block.table if isinstance(block, Figure) else None
    return f"<figure>{shown}</figure>{'' if table is None else _table(table, {}, folded=True)}"


def _unnamed(scene: Scene) -> Scene:
    """Make one image of the cells where there are many: an element for each names its value, and takes 120 bytes."""
    marks = [
        replace(mark, values=None) if isinstance(mark, Cells) and mark.colours[..., 0].size > MOST_CELLS else mark
        for mark in scene.marks
    ]
    return replace(scene, marks=marks)


def _table(frame: pd.DataFrame, names: dict[str, str], *, folded: bool) -> str:
    heads = "".join(f'<th scope="col">{html.escape(str(names.get(name, name)))}</th>' for name in frame)
    rows = "".join(
        f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>"
        for row in frame.head(MOST_ROWS).itertuples(index=False)
    )
    more = words.more_rows(len(frame) - MOST_ROWS) if len(frame) > MOST_ROWS else ""
    table = (
        f'<div class="wide" tabindex="0" role="group" aria-label="{words.NUMBERS}"><table><thead><tr>{heads}</tr>'
        f"</thead><tbody>{rows}</tbody></table></div>{_paragraph(more, 'note')}"
    )
    return f"<details><summary>{words.NUMBERS}</summary>{table}</details>" if folded else table


def _cell(value: object) -> str:
    if value is pd.NA or (isinstance(value, float) and value != value):
        return "–"
    if isinstance(value, float):
        return number(value).replace("-", "−")
    return html.escape(visible(str(value)))


def _heading(heading: str) -> str:
    return f"<h4>{html.escape(heading)}</h4>" if heading else ""


def _paragraph(text: str, kind: str = "") -> str:
    """Return Markdown as HTML; "" where there is none."""
    if not text:
        return ""
    written = markdown.html(text)
    if "<math" in written:  # a formula may be wider than a phone, and scrolls by keyboard too
        return f'<div class="{kind} wide" tabindex="0" role="group" aria-label="{words.FORMULA}">{written}</div>'
    return f'<div class="{kind}">{written}</div>' if kind else written
