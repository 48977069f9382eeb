"""Sentences of the section Experts of the page Block."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.text import Named, cut, number
from inspector.text import token as code
from inspector.wording.english.phrases import count_of, listed, percent
from inspector.wording.english.phrases import named as named

EXPERTS, LAYER, TOKEN = "Experts", "Layer", "Token"
WEIGHTS, LOAD, DEPTH = "Which experts each token goes through", "How many tokens each expert takes", "Entropy by layer"
THIS, OTHER = "your text", "the other text"
SAME, OTHER_TEXT = "The same word, twice", "Another text with the word"
OTHER_HELP = "The same model reads it; the word's experts there stand beside those in your text."
EXPERT, WEIGHT, SHARE, PLACE = "expert", "weight", "share of the tokens", "place"
WEIGHTS_ALT = "The weight of each expert for each token of the text, 0 where the token does not go through it"
LOAD_ALT = "Share of the text's tokens that go through each expert, as bars, with the share of an even load"
DEPTH_ALT = "Entropy of the experts' load and of a token's weights by layer, in bits, under that of an even load"
SAME_ALT = "The weight of each expert at each place of the word"
COMMON_ALT = "Experts that two places of the word have in common, by layer, beside the number by chance"
EVEN, BITS, COMMON, PLACES = "even load", "bits", "Experts in common", "Its experts at each place"
RUNNING, MIXTURE = "Running the experts one at a time", "mixture"
AGREEMENTS = {"common": "in common", "chance": "by chance"}
MEASURES = {"bits": "load of the experts", "most": "even load", "token_bits": "weights of a token"}
CLICK = "A click chooses the token below."
HEADS = {
    "layer": "Layer",
    "experts": "Experts",
    "chosen": "A token goes through",
    "used": "Used",
    "bits": "Bits of the load",
    "most": "Even load",
    "token_bits": "Bits of a token",
    "shared": "Shared",
    "off": "Off by",
}
NONE = (
    "No layer of this model chooses among experts: every token goes through the same FFN. Mixtral, OLMoE, Qwen3-MoE "
    "and gpt-oss have experts."
)


def layer(number: int) -> str:
    """Name a layer in a list."""
    return f"Layer {number}"


def busiest(*, layer: int, expert: int, share: float, even: float, experts: int) -> str:
    """Say which expert takes most tokens, against an even load; share, even: of the text's tokens."""
    return (
        f"In layer {layer}, expert {expert} takes most tokens: {percent(share)}. An even load would give each of "
        f"{experts:,} experts {percent(even)}."
    )


def no_token(layer: int) -> str:
    """Say that a layer's experts are left out by all tokens."""
    return f"No token of this text goes through an expert of layer {layer}."


def largest(place: Named, *, expert: int, weight: float) -> str:
    """Say which token gives which expert the largest weight of a layer."""
    return f"The largest weight is {number(weight)}: expert {expert}, for {named(place)}."


def evenness(*, used: int, experts: int, bits: float, most: float) -> str:
    """Say how many experts are used, and how even their load is."""
    return (
        "Each expert was run alone at weight 1; summed with the weights shown here they give what the layer gave. "
        f"{used:,} of {count_of(experts, 'expert')} are used. The entropy of their load is {number(bits)} bits of "
        f"{number(most)}, its value where all take as many tokens."
    )


def shared(share: float) -> str:
    """Say how much of what a layer adds all tokens share; NaN where that cannot be told, 0 where nothing is shared."""
    if share != share:
        return "A norm behind the sum mixes what the experts add with what all tokens share, so no share is told."
    if share == 0:
        return "Nothing is added but what the experts give: no expert is shared by all tokens."
    return (
        f"Beside them the layer adds what all tokens share (a shared expert, a bias): {percent(share)} of the length "
        "of both, mean over the tokens."
    )


def particulars(*, weighs: str, scale: float | None, idle: Sequence[int], without: int) -> str:
    """Say what else a reader of the weights must know, "" for nothing.

    weighs: "input" where a weight multiplies what its expert is given. scale: what the layer multiplies the sum by,
    None for more than a number. idle: experts that hand a token on as it is. without: tokens that have no expert.
    """
    parts = []
    if weighs == "input":
        parts.append("Here a weight multiplies what its expert is given, not what the expert gives.")
    if scale is not None and scale != 1:
        parts.append(f"The layer multiplies the experts' sum by {number(scale)}.")
    if idle:
        names = listed([str(expert) for expert in idle])
        parts.append(
            f"Expert{'s' if len(idle) > 1 else ''} {names} hand{'' if len(idle) > 1 else 's'} a token on as it is."
        )
    if without:
        parts.append(f"{count_of(without, 'token')} {'goes' if without == 1 else 'go'} through no expert here.")
    return " ".join(parts)


def checked(off: float) -> str:
    """Say that the sum of the experts is what the layer gave; off: the difference, of the largest entry."""
    return f"Experts one by one sum up to the layer{', exactly' if not off else f' within {number(off)}'}"


def refused(layers: Sequence[int], *, reason: str) -> str:
    """Say of which layers the experts are not shown, and why."""
    name = "layer" if len(layers) == 1 else "layers"
    return f"Not shown of {name} {listed([str(layer) for layer in layers])}: {reason}."


def not_there(token: str) -> str:
    """Say that the other text has no such word."""
    return f"{code(token)} is no token of the other text."


def once(token: Named) -> str:
    """Say that a word stands once, and how to compare it."""
    return f"{named(token)} stands once in this text: write another text with it, or choose another token."


def common(first: str, second: str, *, layer: int, common: int, of: int, chance: float) -> str:
    """Say how many experts two places of a word have in common in a layer; first, second: the places, in Markdown."""
    return (
        f"In layer {layer}, {first} and {second} have {common} of {count_of(of, 'expert')} in common; two tokens would "
        f"have {number(chance)} by chance."
    )


def in_other(place: Named) -> str:
    """Name a place of a word in the other text."""
    return f"{named(place)} of the other text"


def row(token: str, position: int) -> str:
    """Label a place of a word in a picture."""
    return f"{cut(token.lstrip('▁Ġ') or token)} {position}"
