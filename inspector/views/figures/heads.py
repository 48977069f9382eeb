"""Heads on a page: small pictures of all of them, and maps of one beside each other, each with its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from inspector.components.grid import grid_bytes
from inspector.components.head import HeadMessage
from inspector.sections.section import HeadMaps, Thumbnails
from inspector.views.components.grid import grid
from inspector.views.components.head import Choice, Step, head
from inspector.views.figures import map_files, save
from inspector.views.figures.map_files import MapPicture


def show(block: Thumbnails | HeadMaps, *, on_choose: Callable[[Mapping[str, int]], None]) -> None:
    """Draw a block of heads. on_choose: called with what a click or a key chooses, before the run that follows."""
    with st.container(gap=None):
        if isinstance(block, HeadMaps):
            _maps(block, on_choose)
        else:
            _thumbnails(block, on_choose)


def _thumbnails(block: Thumbnails, on_choose: Callable[[Mapping[str, int]], None]) -> None:
    save.figure(
        block.name, {"": block.scene}, table=lambda: block.table, key=block.id, about=block.alt, python=block.code
    )
    data = grid_bytes(
        block.pictures,
        tokens=block.tokens,
        selected=block.selected,
        named=block.named,
        notes=block.notes,
        roles=block.roles,
    )
    grid(data, key=block.id, on_open=lambda layer, number: on_choose(block.chooses(layer, number)))


def _maps(block: HeadMaps, on_choose: Callable[[Mapping[str, int]], None]) -> None:
    map_files.draw(
        {
            head_map.name: MapPicture(head_map.long, head_map.weights, block.queries, block.keys, block.top)
            for head_map in block.maps
        },
        name=block.name,
        about=block.alt,
        python=block.code,
    )
    for place, head_map in zip(st.columns(len(block.maps), gap="medium"), block.maps, strict=True):
        message = HeadMessage(
            head_map.weights,
            queries=block.queries,
            keys=block.keys,
            layer=block.layer,
            head=block.head,
            title=head_map.title,
            vmax=block.top,
            marked=block.named,
            lines=False,
        )
        with place:
            head(message.to_bytes(), key=f"{block.id}-{head_map.id}", on_event=partial(_follow, block, on_choose))


def _follow(block: HeadMaps, on_choose: Callable[[Mapping[str, int]], None], event: Choice | Step) -> None:
    if isinstance(event, Step):
        rows, heads = block.of
        on_choose(block.chooses(*event.leads_to(block.layer, block.head, rows=rows, heads=heads)))
