"""Texts of a corpus as the atlas reads them, with the dependency tree of a treebank's sentence where there is one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tree:
    """The dependency tree of a sentence; its words count from 0.

    starts, stops: the characters [start, stop) of each word in the text; words of one multiword token ("don't" in
    Universal Dependencies) share the token's. governors: the index of each word's governor, -1 for the root.
    relations: the name of each word's relation to its governor, as the treebank writes it ("nsubj", "nsubj:pass").
    """

    starts: tuple[int, ...]
    stops: tuple[int, ...]
    governors: tuple[int, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True)
class Text:
    """One text of a corpus. target: what an encoder-decoder is given to write, teacher-forced."""

    text: str
    target: str | None = None
    tree: Tree | None = None
