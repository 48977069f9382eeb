"""Notes on unusual heads: a kv head that several heads share, a local layer whose queries see a window.

Of a model in which every head has a kv head of its own and every layer sees the whole text, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from inspector.wording import phrases

if TYPE_CHECKING:
    from inspector.trace import AttentionSite

layer_names = phrases.layer_names


def sharing(site: AttentionSite, head: int) -> str:
    """The kv head that a head reads, and the heads that share it: "kv head 1 (of 0 and 1), shared by heads 4 to 7".

    Empty where every head has a kv head of its own.
    """
    each = site.heads // site.kv_heads
    if each == 1:
        return ""
    first = site.kv_group(head) * each
    last = first + each - 1
    return f"kv head {_of_all(site, head)}, shared by heads {first} {'and' if each == 2 else 'to'} {last}"


def _of_all(site: AttentionSite, head: int) -> str:
    """Number the kv head of a head among all, which count from 0: "1 (of 0 and 1)", "0 (the only one)"."""
    last = site.kv_heads - 1
    every = f"of 0 {'and' if last == 1 else 'to'} {last}" if last else "the only one"
    return f"{site.kv_group(head)} ({every})"


def reach(site: AttentionSite) -> str:
    """Say how far the queries of a local layer see: "64 tokens to each side"; empty where they see the whole text."""
    if site.window is None:
        return ""
    if site.stream == "encoder":
        return f"{site.window - 1} tokens to each side"
    return f"the last {site.window} tokens, its own among them"


def cards(site: AttentionSite, head: int) -> list[tuple[str, str, str]]:
    """Write the cards of the open head, in the form that readings.cards takes."""
    facts, shared, reached = [], sharing(site, head), reach(site)
    if shared:
        meaning = f"Its keys and values are those of {shared} (Ainslie et al. 2023)"
        facts.append(("KV head", _of_all(site, head), meaning))
    if site.window is not None:
        width = f"± {site.window - 1} tokens" if site.stream == "encoder" else f"{site.window} tokens"
        facts.append(("Local layer", width, f"A query sees {reached} (Beltagy et al. 2020)"))
    return facts


def notes(sites: Iterable[AttentionSite], lines: Iterable[Sequence[str]]) -> list[list[str]]:
    """The lines of the grid's heads, by layer and head, with what is to be said of their place."""
    of_rows = []
    for site, row in zip(sites, lines, strict=True):
        reached = f"sees {reach(site)}" if site.window is not None else ""
        of_rows.append([", ".join(filter(None, (line, sharing(site, head), reached))) for head, line in enumerate(row)])
    return of_rows


def rows(sites: Sequence[AttentionSite]) -> str:
    """Write a note on the grid's rows where they are not simply the model's layers; else empty."""
    layers = dict.fromkeys(site.layer for site in sites)
    sentences = []
    if list(layers) != list(range(len(layers))):
        sentences.append("Layers that have no row do not attend: they mix tokens in another way, or not at all.")
    if len(layers) < len(sites):
        sentences.append("A layer that attends more than once has a row for each time.")
    return " ".join(sentences)


def in_file(site: AttentionSite) -> str:
    """Name a site in a file's name: "layer3", or "layer3-call1" for a layer's second attention."""
    return f"layer{site.layer}{f'-call{site.call}' if site.call else ''}"


def in_title(site: AttentionSite, head: int) -> str:
    """The shortest form, to follow a head's name: ", kv head 1, local"."""
    group = f", kv head {site.kv_group(head)}" if sharing(site, head) else ""
    return group + ("" if site.window is None else ", local")
