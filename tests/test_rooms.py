"""docs/rooms.svg is the picture of the code as it stands: rooms of tests/rooms.py, arrows that no others make."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from docs import draw_rooms
from tests import rooms


def test_the_picture_is_that_of_the_imports() -> None:
    assert draw_rooms.PATH.read_text(encoding="utf-8") == draw_rooms.drawn(), "write it with: make rooms"


def test_every_room_is_drawn_once() -> None:
    svg = "{http://www.w3.org/2000/svg}"
    texts = [text.text or "" for text in ElementTree.parse(draw_rooms.PATH).iter(f"{svg}text")]
    found = {room for ends in rooms.arrows() for room in ends}  # a folder that holds folders alone has no arrow
    pages = {room for room in found if rooms.floor(room) == rooms.floor("inspector/views/*.py")}
    named = {draw_rooms.LABELS.get(room, room) for room in found - pages} | {draw_rooms.PAGES}
    assert sorted(texts) == sorted(named)


def test_an_arrow_that_others_make_in_steps_is_left_out() -> None:
    arrows = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("a", "d"), ("b", "e")]
    assert draw_rooms.shortest(arrows) == [("a", "b"), ("b", "c"), ("b", "e"), ("c", "d")]


def test_each_arrow_leads_down() -> None:
    paths = re.findall(r'<path d="(M .*?)"/>', draw_rooms.PATH.read_text(encoding="utf-8"))
    assert paths
    for path in paths:
        heights = [float(number) for number in re.findall(r"[-\d.]+ ([-\d.]+)", path)]
        assert heights == sorted(heights)
