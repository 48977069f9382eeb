"""Varied short English texts from templates and word lists: the same ones for the same count and seed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

NAMES = ("Ada", "Ben", "Cleo", "Dmitri", "Eve", "Grandmother", "the captain", "a neighbour")
NOUNS = ("cat", "dog", "river", "letter", "machine", "garden", "teacher", "window", "orchestra", "thunderstorm")
ADJECTIVES = ("old", "quiet", "green", "unbelievable", "small", "extraordinary", "cheap", "misunderstood")
VERBS = ("saw", "followed", "painted", "remembered", "overestimated", "sold", "watched", "liked")
PLACES = ("near the harbour", "in the kitchen", "behind the station", "under the bridge", "at home")
LONG_WORDS = ("antidisestablishmentarianism", "incomprehensibilities", "rollercoasters", "uncharacteristically")
SINGLE = ("Yes", "cat", "42", "!", "...", "Thunderstorms", "☃", "1987", "no", "antidisestablishmentarianism")
UNKNOWN = ("☃", "漢", "☃☃", "ჯ", "漢字")
LONG = 14  # sentences of a long text: about 150 tokens

Template = Callable[[Random], str]


def sentences(count: int = 200, *, seed: int = 20) -> list[str]:
    """`count` texts: the single words first, then each template in turn; every fortieth is a long one."""
    random = Random(seed)
    texts = list(SINGLE)
    while len(texts) < count:
        if len(texts) % 40 == 0:
            texts.append(" ".join(_template(number)(random) for number in range(LONG)))
        else:
            texts.append(_template(len(texts))(random))
    return texts[:count]


def _template(number: int) -> Template:
    return TEMPLATES[number % len(TEMPLATES)]


def _statement(random: Random) -> str:
    noun, other = random.choice(NOUNS), random.choice(NOUNS)
    return f"{random.choice(NAMES)} {random.choice(VERBS)} the {random.choice(ADJECTIVES)} {noun} and a {other}."


def _question(random: Random) -> str:
    return (
        f'"Who {random.choice(VERBS)} my {random.choice(NOUNS)} {random.choice(PLACES)}?" asked {random.choice(NAMES)}!'
    )


def _numbers(random: Random) -> str:
    year, price = random.randint(1900, 2030), random.randint(1, 999)
    return f"In {year}, {random.choice(NAMES)} paid {price}.50 for {random.randint(2, 99)} {random.choice(NOUNS)}s."


def _repeated(random: Random) -> str:
    noun, verb = random.choice(NOUNS), random.choice(VERBS)
    return f"the {noun} {verb} the {noun} and the {noun} {verb} the {random.choice(NOUNS)}"


def _echo(random: Random) -> str:
    return " ".join([random.choice(NOUNS)] * random.randint(2, 5))


def _long_word(random: Random) -> str:
    first, second = random.choice(LONG_WORDS), random.choice(LONG_WORDS)
    return f"{random.choice(NAMES)}'s {first} — {random.choice(ADJECTIVES)}, {second}"


def _unknown(random: Random) -> str:
    strange = random.choice(UNKNOWN)
    return f"The {strange} {random.choice(VERBS)} {strange}, {random.choice(UNKNOWN)} and the {random.choice(NOUNS)}."


def _marks(random: Random) -> str:
    return f"({random.choice(NOUNS)}; {random.choice(NOUNS)}) -- {random.choice(ADJECTIVES)}: $5 + 7% = ?!"


def _place(random: Random) -> str:
    return f"{random.choice(PLACES).capitalize()} {random.choice(NAMES)} {random.choice(VERBS)} it"


TEMPLATES: tuple[Template, ...] = (
    *(_statement, _question, _numbers, _repeated, _echo),
    *(_long_word, _unknown, _marks, _place, _statement, _repeated),
)
