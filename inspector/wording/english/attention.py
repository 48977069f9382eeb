"""Sentences of the page Attention."""

from __future__ import annotations

from inspector.readings.attention import Grid, Head, Role
from inspector.readings.links import STRONG, Link
from inspector.wording import token
from inspector.wording.english.phrases import DO, listed, named, share
from models.formatting import layer_name

_TERMS = {
    "[SEP]": ("[SEP]",),
    "[CLS]": ("[CLS]",),
    "first": ("first token",),
    "previous": ("previous-token head",),
    "next": ("next-token head",),
    "broad": ("broad attention",),
    "induction": ("induction head",),
    "same word": ("token",),
    "points": ("cross-attention",),
}


def grid(found: Grid) -> str:
    """Say what the heads do: "21 of 72 heads rest on [CLS] and 9 look one token back; 42 show no one pattern."."""
    if found.alone:
        return "Each token sees only one token here, so every head gives it all of its attention."
    if found.short:
        return "This text is too short to show what a head does."
    if not found.counts:
        return f"None of the {found.heads} heads shows one plain pattern on this text."
    parts: list[str] = []
    for name, count in found.counts.items():
        does = DO[name][count > 1].format(token(found.tokens[name]) if name in found.tokens else "")
        parts.append(f"{count} {does}" if parts else f"{count} of {found.heads} heads {does}")
    rest = found.heads - sum(found.counts.values())
    others = f"; {rest} {'shows' if rest == 1 else 'show'} no one pattern" if rest else ""
    return f"{listed(parts)}{others}."


def head(found: Head) -> str:
    """Say what a head does, in one sentence with its number."""
    name = f"{layer_name(found.layer, found.call).capitalize()}, head {found.head}"
    if found.opens_with_link and found.link is not None:
        return f"{name}: {_link(found.link, found.stream)}."
    return _role(found.role, name, _attention(found), short=found.short)


def also(found: Head) -> str:
    """Say what else there is to a head, in one sentence; empty where there is nothing to add."""
    role, link = found.role, found.link
    if found.opens_with_link:
        said = _goes(role, _attention(found))
        return f"{said[0].upper()}{said[1:]}."
    if link is None or link.key == role.key:
        return ""
    if link.weight < STRONG:
        return f"Its strongest link between two words: {_link(link, found.stream)}."
    return f"Where it looks elsewhere: {_link(link, found.stream)}."


def _role(role: Role, name: str, attention: str, *, short: bool) -> str:
    if not role.leads:
        none = "has too short a text for a pattern" if short else "shows no one pattern"
        return f"{name} {none}: {_goes(role, attention)}."
    match role.kind:
        case "alone":
            whole = f"the whole text is {token(role.tokens[0])}" if role.tokens else "each token sees only itself"
            return f"{name} has no choice: {whole}, so all of its attention stays there."
        case "broad":
            keys = f"{role.share:.0f} of the {role.keys}"
            return f"{name} spreads its attention broadly: about as evenly as over {keys} tokens."
        case "previous":
            return f"{name} is a previous-token head: {_goes(role, attention)}."
        case "next":
            return f"{name} is a next-token head: {_goes(role, attention)}."
        case "self":
            return f"{name} looks at the token itself: {share(role.share)} of {attention} stays there."
        case "induction":
            told = f"{share(role.share)} of its attention goes to what followed it there"
            return f"{name} is an induction head: where a token stands elsewhere too, {told}."
        case "same word":
            told = f"each piece gives {share(role.share)} of its attention to the others"
            return f"{name} stays within the word: where a word is in pieces, {told}, on average."
        case "punctuation":
            return f"{name} looks at punctuation: {_goes(role, attention)}."
        case _:
            return f"{name} rests on {_target(role)}: {share(role.share)} of {attention} goes there."


def _goes(role: Role, attention: str) -> str:
    """Say where a share goes: "81 % of its attention goes one token back"."""
    if role.kind == "points":
        most = f"on average the largest weight of a token to write is {share(role.share)} of its attention"
        return f"{most}, on {role.keys} different source tokens"
    some = listed([token(mark) for mark in role.tokens[:3]]) if role.kind == "punctuation" else ""
    where = {
        "previous": "goes one token back",
        "next": "goes one token ahead",
        "self": "stays at the token itself",
        "punctuation": f"goes to {some}{' and other marks' if len(role.tokens) > 3 else ''}",
    }
    return f"{share(role.share)} of {attention} {where.get(role.kind) or f'goes to {_target(role)}'}"


def _target(role: Role) -> str:
    if role.kind == "first" and role.key is not None:
        return f"the first token, {token(role.key.token)}"
    return named(role.key) if role.key is not None else listed([token(one) for one in role.tokens], "or")


def _attention(found: Head) -> str:
    return "the attention of all tokens but the first" if found.first_left_out else "its attention"


def _link(link: Link, stream: str) -> str:
    """Tell a link: "`it` gives two thirds of its attention to `tired`, more than any other head does"."""
    key = f"another {token(link.key.token)}" if _alike(link) else named(link.key)
    who = f"to write {named(link.query)} it gives" if stream == "cross" else f"{named(link.query)} gives"
    most = ", more than any other head does" if link.most else ""
    return f"{who} {share(link.weight)} of its attention to {key}{most}"


def _alike(link: Link) -> bool:
    return link.key.of == 2 and link.query.token == link.key.token and link.query.of == 2


def terms(found: Head) -> tuple[str, ...]:
    """Return the glossary's names of what a head's sentence speaks of."""
    spoken = () if found.opens_with_link else _TERMS.get(found.role.kind, ())
    return ("head", "attention", *spoken)
