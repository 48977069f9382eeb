"""A lesson comes out of a link as it went in; a link that holds none, or a bomb, is one sentence."""

from __future__ import annotations

import base64
import random
import re
import tracemalloc
import zlib
from urllib.parse import quote

import pytest

from inspector.lessons import SHIPPED, read, shipped
from inspector.lessons.links import MOST_LETTERS, PATTERN, decode, encode
from inspector.lessons.reading import MOST_BYTES


def packed(content: bytes) -> str:
    return "z." + base64.urlsafe_b64encode(zlib.compress(content, 9)).decode().rstrip("=")


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_lesson_comes_back_from_its_link(name: str) -> None:
    source = shipped(name).source
    given = encode(source)
    assert given is not None
    assert len(given) <= MOST_LETTERS
    assert quote(given, safe="") == given  # no letter that an address would write otherwise
    assert decode(given) == source
    assert read(decode(given)) == shipped(name)


def test_random_texts_come_back() -> None:
    draw = random.Random(0)
    for _ in range(300):
        text = "".join(draw.choices('ab=\n"[]{}字é𝒳\\#', k=draw.randint(0, 200)))
        given = encode(text)
        assert given is not None
        assert decode(given) == text


def test_what_is_too_long_for_a_link_has_none() -> None:
    draw = random.Random(0)
    text = "".join(chr(draw.randint(0x4E00, 0x9FFF)) for _ in range(4000))
    assert len(text.encode()) < MOST_BYTES
    assert encode(text) is None


@pytest.mark.parametrize("size", [MOST_BYTES + 1, 10**6, 3 * 10**6])
def test_a_bomb_is_counted_while_it_is_unpacked(size: int) -> None:
    bomb = packed(b"\0" * size)
    assert len(bomb) < MOST_LETTERS
    tracemalloc.start()
    with pytest.raises(ValueError, match="larger than 32"):
        decode(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400_000  # of a megabyte and more


@pytest.mark.parametrize(
    "given",
    [
        "z.",
        "z.abc",
        "z." + "A" * MOST_LETTERS,
        "z.ab+/",
        "z.字",
        packed(b"title")[:-4],
        packed(b"\xff\xfe"),
        packed(b"title") + "AAAA",
        "z." + base64.urlsafe_b64encode(b"title = 3").decode().rstrip("="),
    ],
)
def test_a_link_that_holds_no_lesson_is_a_sentence(given: str) -> None:
    with pytest.raises(ValueError, match=r"^The link holds no lesson: it was cut or changed on its way\."):
        decode(given)


def test_random_links_give_a_text_or_a_sentence() -> None:
    draw, source = random.Random(1), shipped("evening").source
    given = encode(source)
    assert given is not None
    assert re.fullmatch(PATTERN, given)
    for _ in range(500):
        letters = list(given)
        for _ in range(draw.randint(1, 3)):
            letters[draw.randrange(2, len(letters))] = draw.choice("ABCabc019_-")
        changed = "".join(letters)
        said = ""
        try:
            assert decode(changed) == source
        except ValueError as error:
            said = str(error)
        assert not said or said.startswith(("The link holds no lesson", "The lesson is larger"))
