"""The contract of a section, whoever wrote it: each check gives the faults of one section on one subject."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from jsonschema import Draft202012Validator, ValidationError
from markdown_it import MarkdownIt

import models
from inspector.export import spreadsheet
from inspector.plain import schema
from inspector.plots.chart import Chart, Panels
from inspector.plots.slide import WIDTH, enlarged, points
from inspector.sections import plain
from inspector.sections.picks import Pick
from inspector.sections.section import (
    Block,
    Figure,
    HeadMaps,
    Map,
    Mark,
    Measurement,
    Note,
    Numbers,
    Paragraph,
    Section,
    Sentence,
    Table,
    Thumbnails,
    flat,
)
from inspector.sections.subject import Subject
from inspector.trace import Trace
from tests.closeness import relative_error
from tests.inspector.sections.openings import length_faults, opening, tells

HOSTILE_VALUES = (None, -1, 10**9, 1.5, "", "nothing", "<script>alert(1)</script>", "9" * 5000, [], (), {}, object())
MARKS = ("<img", "**bold**", "javascript:", "onerror=")
"""Parts of the hostile text: none of them may stand in a block but as a token, letter by letter."""
CLOSE = 1e-5
BLOCK = Draft202012Validator({"$ref": "#/$defs/block", "$defs": schema()["$defs"]})
MATH = re.compile(r"\$[^$]+\$")


def blocks(section: Section, subject: Subject) -> list[Block]:
    """List a section's blocks at its default choices, those of its parts too, but for parts that run long."""
    listed: list[Block] = []
    for block in flat(section.blocks(subject)):
        listed.append(block)
        if isinstance(block, Section) and not block.starts:
            listed += blocks(block, subject)
    return listed


def opening_faults(listed: list[Block]) -> Iterator[str]:
    """A section opens with a short sentence that has a number, the marked datum's, or says why nothing is told."""
    first = next((block for block in listed if told(block)), None)
    if first is None:
        yield "it says nothing"
    elif isinstance(first, Sentence) and not re.search(r"\d", first.text):
        yield f"its sentence has no number: {first.text}"
    elif not told(first).rstrip().endswith((".", "?", ":", "`", "$")):
        yield f"its opening is no sentence: {told(first)}"
    text = opening(listed)
    yield from length_faults(text)
    yield from mark_faults(text, first.about if isinstance(first, Sentence) else (), listed)
    yield from frame_faults(listed)


def mark_faults(text: str, about: Sequence[Mark], listed: Sequence[Block]) -> Iterator[str]:
    """A picture shows what a sentence is about, and of a single row or cell a number of the sentence is a number of it.

    A mark of several rows is a place: what is told of them together, such as a sum, stands in no row.
    """
    figures = {block.id: block for block in listed if isinstance(block, Figure | Map | Thumbnails | HeadMaps)}
    for mark in about:
        if mark.figure not in figures:
            yield f"its sentence is about {mark.figure}, which is not there"
        elif isinstance(figure := figures[mark.figure], Figure):
            table = points(figure.draw(mode="light")) if figure.table is None else figure.table
            rows = table
            for column, value in mark.where.items():
                rows = rows[rows[column] == value] if column in rows else rows.iloc[:0]
            if len(rows) == 0:
                yield f"its sentence is about {dict(mark.where)}, which {mark.figure} does not show"
            elif hasattr(figure.draw, "marking") and not outlined(figure.draw(mode="light")):
                yield f"its sentence is about {dict(mark.where)}, which {mark.figure} does not outline"
            data = rows.drop(columns=list(mark.where), errors="ignore").select_dtypes("number")
            values = data.to_numpy(dtype=float, na_value=np.nan)
            if len(rows) == 1 and not any(tells(text, value) for value in values[0]):
                yield f"its sentence tells no number of {dict(mark.where)} in {mark.figure}, {values[0]}: {text}"
        elif isinstance(figure, Thumbnails | HeadMaps):
            if figure.named is None:
                yield f"its sentence is about {dict(mark.where)}, which {mark.figure} does not frame"
        elif all(map(np.isnan, framed(figure))):
            yield f"its sentence is about a cell, which {mark.figure} does not frame"
        elif not any(tells(text, value) for value in framed(figure)):
            yield f"its sentence tells no number of the cell that {mark.figure} frames, {framed(figure)}: {text}"


def frame_faults(listed: Sequence[Block]) -> Iterator[str]:
    """The sentence of a map tells the number of the cell that the map frames."""
    for block in listed:
        values = framed(block) if isinstance(block, Map) and block.sentence else []
        if values and not any(tells(told(block), value) for value in values):
            yield f"{block.id} tells no number of the cell that it frames, {values}: {told(block)}"


def framed(figure: Map) -> list[float]:
    """List the numbers of the cells that a map frames, and of doublings how many times as large they make."""
    values = [float(panel.numbers[panel.named]) for panel in figure.panels if panel.named is not None]
    return values + [2**value for value in values if figure.quantity.startswith("doublings")]


def outlined(figure: go.Figure) -> int:
    """Count the bars and points of a chart that have an outline."""
    widths = [trace.marker.line.width for trace in figure.data if trace.type in ("bar", "scatter")]
    return sum(sum(width > 1 for width in given) for given in widths if isinstance(given, list | tuple))


def told(block: Block) -> str:
    """Return the words of a block, those of a picture too."""
    if isinstance(block, Sentence | Paragraph | Note):
        return block.text
    if isinstance(block, Measurement):
        return block.about
    return block.sentence or block.note if isinstance(block, Figure | Map) else ""


def picture_faults(section: Section, listed: list[Block]) -> Iterator[str]:
    """Each picture has a heading, or its section's title, an alternative text, a table and a slide."""
    ids = [block.id for block in listed if isinstance(block, Figure | Map | Thumbnails | HeadMaps | Table)]
    yield from (f"two blocks have the id {id}" for id in set(ids) if ids.count(id) > 1)
    for block in listed:
        if isinstance(block, Figure | Map | Thumbnails | HeadMaps) and len(block.alt.split()) < 3:
            yield f"{block.id} has no alternative text: {block.alt!r}"
        if isinstance(block, Figure | Map) and not (block.heading or section.title):
            yield f"{block.id} has no heading"
        if isinstance(block, Figure):
            figure = block.draw(mode="dark")
            table = points(figure) if block.table is None else block.table
            if table.empty:
                yield f"{block.id} has no table"
            yield from _file_faults(block.id, table)
            if enlarged(figure).layout.width != WIDTH:
                yield f"{block.id} has no slide"
            if isinstance(block.draw, Chart | Panels):
                unchecked = go.Figure(**block.draw.content(mode="dark"), _validate=False)
                if json.loads(unchecked.to_json(validate=False)) != json.loads(figure.to_json()):
                    yield f"{block.id} is another figure once Plotly has validated it"
        if isinstance(block, Table):
            if block.frame.empty:
                yield f"the table {block.id} is empty"
            yield from _file_faults(block.id, block.frame)


def _file_faults(id: str, table: pd.DataFrame) -> Iterator[str]:
    """A table's file is a header and its rows, whatever its columns are named by."""
    try:
        lines = list(csv.reader(io.StringIO(spreadsheet.csv(table).decode(), newline="")))
    except (TypeError, ValueError) as error:
        yield f"the file of {id} cannot be written: {str(error)[:300]}"
        return
    if len(lines) != len(table) + 1 or len(lines[0]) != len(table.columns):
        yield f"the file of {id} has {len(lines)} lines, not a header and {len(table)} rows"


def record_faults(listed: list[Block], trace: Trace) -> Iterator[str]:
    """The Python lines that record the text in its model give its second text and its target too."""
    second = trace.text_pair or trace.target_text
    load, text = f"models.load({trace.model!r})", f"record(loaded, {trace.text!r}"
    for block in listed:
        code = getattr(block, "code", "")
        if second and load in code and text in code and repr(second) not in code:
            yield f"the Python lines of {getattr(block, 'id', type(block).__name__)} forget the second text"


def code_faults(listed: list[Block], load: Callable[..., Any]) -> Iterator[str]:
    """The Python lines of a picture run, and give its table."""
    real, ran = models.load, {}
    models.load = load
    try:
        for block in listed:
            if not isinstance(block, Figure | Map | Thumbnails | HeadMaps):
                continue
            if not block.code:
                yield f"{block.id} has no Python lines"
                continue
            try:
                if block.code not in ran:
                    space: dict[str, Any] = {}
                    exec(compile(block.code, block.id, "exec"), space)
                    ran[block.code] = space
            except Exception as error:  # whatever it is, it is the fault that is looked for
                yield f"the Python lines of {block.id} end in {type(error).__name__}: {error}"
                continue
            if isinstance(block, Figure) and block.table is not None:
                yield from _table_faults(block.id, ran[block.code].get("table"), block.table)
    finally:
        models.load = real


def _table_faults(id: str, given: object, shown: pd.DataFrame) -> Iterator[str]:
    if not isinstance(given, pd.DataFrame):
        yield f"the Python lines of {id} make no table"
        return
    missing = [column for column in shown if column not in given]
    if missing or len(given) < len(shown):
        yield f"the Python lines of {id} give {given.shape}, without {missing}; shown is {shown.shape}"
        return
    same = given.loc[shown.index, list(shown)] if len(given) > len(shown) else given  # the page shows some of the rows
    for column in shown:
        if (is_number := pd.api.types.is_numeric_dtype(shown[column])) and not relative_error(
            same[column].astype(float).fillna(0), shown[column].astype(float).fillna(0)
        ) < CLOSE:
            yield f"the Python lines of {id} give other numbers in {column}"
        if not is_number and list(map(str, same[column])) != list(map(str, shown[column])):
            yield f"the Python lines of {id} give other words in {column}"


def plain_faults(listed: list[Block]) -> Iterator[str]:
    """Each block has a plain form, for programs, that the schema knows."""
    for block in listed:
        try:
            for form in plain.block(block):
                BLOCK.validate(json.loads(json.dumps(form, allow_nan=False)))
        except (ValidationError, ValueError, TypeError) as error:
            yield f"{type(block).__name__} {getattr(block, 'id', '')} has no plain form: {str(error)[:300]}"


def pick_faults(section: Section, subject: Subject) -> Iterator[str]:
    """Each choice refuses with a sentence what is none of its options, and takes its own default."""
    picks: list[Pick] = [pick for part in (section, *section.parts) for pick in part.picks]
    for pick in picks:
        for value in HOSTILE_VALUES:
            try:
                pick.checked(subject, value)
            except ValueError as error:
                if not str(error).endswith(".") or len(str(error)) > 400 or "<script" in str(error).replace("'<", ""):
                    yield f"{pick.id} refuses {str(value)[:20]!r} in no sentence: {str(error)[:200]}"
            except Exception as error:
                yield f"{pick.id} meets {str(value)[:20]!r} with {type(error).__name__}"
    for pick in section.picks:
        first = pick.first(subject)
        if pick.checked(subject, first) != first:
            yield f"{pick.id} does not take its own default {first!r}"


def markup_faults(listed: list[Block]) -> Iterator[str]:
    """No block holds markup of the text: what Markdown would read in it stands in code, or as references."""
    reader = MarkdownIt("commonmark").disable("text_join")  # which would join references and letters
    for block in listed:
        for field in fields(block):
            value = getattr(block, field.name)
            if not isinstance(value, str) or field.name in ("code", "id", "name"):
                continue
            for token in reader.parse(MATH.sub("", value)):
                for inner in token.children or [token]:
                    raw = inner.type in ("html_inline", "html_block", "image", "link_open")
                    if raw or (inner.type == "text" and any(mark in inner.content for mark in MARKS)):
                        yield f"{type(block).__name__}.{field.name} holds markup of the text: {value[:120]}"
        if isinstance(block, Numbers):
            for number in block.numbers:
                if any(mark in f"{number.name}{number.value}{number.meaning}" for mark in MARKS):
                    yield f"a number holds markup of the text: {number}"
