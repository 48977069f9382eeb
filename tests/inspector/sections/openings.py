"""The limit of an opening: the words and numbers of a page's or a section's first sentence, and of all of them.

    counted("Layer 1, head 7: `on` gives 70 % of its attention to `mat`.") == Count(words=12, numbers=1)

A word has a letter or a digit; a token of a text and a formula are one word each. A number is written in digits, or is
a plain fraction in words. No numbers are digits that name a layer, a head, a position, a dimension, a unit or a step
("layers 0 and 5"), those of a token, and those of a symbol or a name ("√d_k", "1/√d_k", "n²", "2nd", "GPT-2").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape

from inspector.sections.section import Ask, Block, Check, Figure, Map, Measurement, Note, Paragraph, Section, Sentence
from inspector.wording.english.phrases import FRACTIONS, TOLERANCE
from tests.inspector.wording.said import is_number, is_percent


@dataclass(frozen=True)
class Count:
    """Words and numbers of a text."""

    words: int
    numbers: int


ROUGH = 1e-5  # of a value: single precision may take or add as much
FIRST, WHOLE = Count(words=30, numbers=2), Count(words=50, numbers=4)
WORD = re.compile(r"[^\s–]*\w[^\s–]*")
NUMERAL = re.compile(
    r"(?<![\w-])(?<!\D/)"  # not within a name or a symbol
    r"[±+−-]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?(?: × 10)?[⁻⁰¹²³⁴-⁹]*(?: ?%)?"
    r"(?![\w⁻⁰¹²³⁴-⁹]|/\D|[.,]\d)"
)
FRACTION = re.compile(rf"\b(?:{'|'.join(FRACTIONS.values())})\b", re.IGNORECASE)
NAMES = re.compile(r"\b(?:layer|head|position|dimension|unit|step)s? $", re.IGNORECASE)  # what digits behind it name
GOES_ON = re.compile(r"(?:, |–| and | or | to )")  # between two digits that both name
TOKEN = re.compile(r"(?P<fence>`+)(?!`).*?(?<!`)(?P=fence)(?!`)", re.DOTALL)
FORMULA = re.compile(r"\$[^$]+\$")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
END = re.compile(r"(?<=[.?!])\s+(?=[^\W\d_a-z])")  # of a sentence: "Vaswani et al. 2017" goes on


def counted(text: str) -> Count:
    """Count the words and the numbers of a text in Markdown."""
    return Count(len(WORD.findall(_bare(text))), len(numbers(text)))


def numbers(text: str) -> list[str]:
    """List the numbers of a text in Markdown as they are written: "0.25", "70 %", "a third"."""
    bare, written, end = _bare(text), [], 0
    names = False  # the numeral before is a name
    for numeral in NUMERAL.finditer(bare):
        between = bare[end : numeral.start()]
        names = bool(NAMES.search(between)) or (names and bool(GOES_ON.fullmatch(between)))
        end = numeral.end()
        if not names:
            written.append(numeral.group())
    return written + FRACTION.findall(bare)


def tells(text: str, value: float) -> bool:
    """Return True if a text in Markdown tells a value: as a number of three digits, a share or a fraction."""
    words = ("nearly all" in text and is_percent("nearly all", value)) or ("nothing" in text and value == 0)
    return words or any(_is(numeral, value, text) for numeral in numbers(text))


def _is(numeral: str, value: float, text: str) -> bool:
    if fraction := [share for share, words in FRACTIONS.items() if words == numeral.lower()]:
        return abs(value - fraction[0]) <= TOLERANCE
    told = re.sub("^-", "−", numeral.removesuffix("%").rstrip()).replace("e−", "e-")
    value = value if told.startswith("−") else abs(value)  # what falls "by" some number
    if not numeral.endswith("%"):
        return is_number(told, value, rough=ROUGH * abs(value))
    rounded = {f"{words} {numeral}" for words in ("under", "over") if f"{words} {numeral}" in text}
    if told == "99.9":  # which is the most that a share below all of it is told as
        return 0.9985 <= value < 1
    whole = told.isdigit() and any(is_percent(share, value) for share in (numeral, *rounded))
    return whole or is_number(told, 100 * value, rough=ROUGH * 100 * abs(value))


def sentences(text: str) -> list[str]:
    """Cut a text in Markdown into its sentences, in which a token and a formula are a letter each."""
    return END.split(_bare(text))


def opening(listed: Sequence[Block]) -> str:
    """Join what is read before a section's first picture and its second heading.

    listed: its blocks in reading order, those of its parts too. A sentence stands on top wherever the section yields
    it, but for those of a part under a heading.
    """
    told: list[str] = []
    on_top = before = True
    for block in listed:
        if told and (block.title if isinstance(block, Section) else getattr(block, "heading", "")):
            before = False
        if isinstance(block, Section):
            on_top = on_top and not block.title
        elif isinstance(block, Sentence):
            told += [block.text] if on_top else []
        elif isinstance(block, Paragraph | Note | Check):
            told += [block.text] if before else []
        elif isinstance(block, Ask | Measurement):
            told += [block.about] if before else []
            before = False
        else:
            told += [block.sentence] if before and isinstance(block, Figure | Map) else []
            before = False
    return " ".join(filter(None, told))


def length_faults(text: str) -> Iterator[str]:
    """Yield what is too long of an opening, with its words and numbers."""
    for name, part, most in (("first sentence", sentences(text)[0], FIRST), ("opening", text, WHOLE)):
        count = counted(part)
        if count.words > most.words or count.numbers > most.numbers:
            yield (
                f"its {name} has {count.words} words and {count.numbers} numbers, of at most {most.words} and "
                f"{most.numbers}: {part}"
            )


def _bare(text: str) -> str:
    """Return a text with a letter in place of each token and formula, and of a link its words."""
    return unescape(LINK.sub(r"\1", FORMULA.sub("Q", TOKEN.sub("Q", text)))).replace("*", "").replace("\xa0", " ")
