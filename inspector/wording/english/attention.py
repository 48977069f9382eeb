"""Sentences of the page Attention."""

from __future__ import annotations

import math
from collections.abc import Mapping

from inspector.head_roles import Grid, HeadReading, Role
from inspector.one_token import TokenReading
from inspector.text import Named, number, signed, token
from inspector.token_links import STRONG, TokenLink
from inspector.wording.english.phrases import DO, heads_of, listed, named, percent, share
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
NOT_REBUILT = "Not rebuilt"
IN_ROPE = "In a model with RoPE, q and k are already turned by the angle of their position."
CELL_TABLES = "This cell as tables"
GRID_READ = (
    "Rows are layers, columns heads; each picture is one map. Click one, or walk with the arrow keys and open "
    "with Enter; [ and ] open the head before and after. In the open head a click pins a token; each picture is then "
    "the token's row, what it gives, or its column, what it gets."
)
ROLLOUT_READ = (
    r"Row $l$ = $e_{token}\,A'_{L-1} \cdots A'_l$ with $A' = \frac{1}{2}I + \frac{1}{2}\mathrm{mean}_h A_h$: "
    "half of a state is taken to stay (Abnar & Zuidema 2020). A row sums to 1 over all tokens, no unit; the "
    "top row is the token alone. Another token is chosen over the grid."
)
ATTENTION_ALONE = "Only attention is followed: what layers of another kind mix between tokens is left out."
ONE_TOKEN = "One token in all heads"
COMPARE_WITH = "Compare with …"
SIDES = "What the token gives, or gets"
ONE_TOKEN_CSV = "The token's share in every layer and head, to the last digit"
HANDS_OVER = (
    r"What each key hands over in this head: $\|v_j W_O\|$, the length that a weight of 1 would move, in the unit "
    "of the residual stream."
)
GATE = "What the layer's own gate lets through of this head's answer, by query"
GATE_SHARE, GATE_QUERY = "share of the length", "query"
LARGEST_OF_TILE = "the largest weight of its tile"
WHOLE_MAP = "These numbers are of the whole map, with nothing hidden or merged.\n\n"
WEIGHTS = "What share of its attention a query gives to each key."
SCORES = (
    "Scores before the softmax. A score higher by 1 gives a weight 2.72 times as large. Compare them within a row "
    "alone. Masked cells have none."
)
SCORES_ALONE = "Scores compare within a row of one head alone: their mean over heads means nothing. Choose weights."
NORM_WEIGHTED = (
    "A weight says what share is taken, the norm how much that is: a key that hands over next to nothing "
    "fades, whatever its weight (Kobayashi et al. 2020)."
)
NORMS_ALONE = "Vectors of several heads add up, their lengths do not: their mean says nothing. Choose weights."
ROLLOUT = (
    "A map is one head of one layer; rollout follows one token back through all of them, to the tokens that its last "
    "state came from (Abnar & Zuidema 2020)."
)
NOT_PINNED = "No token is pinned, so the first word is followed."
ROLLOUT_ALONE = "Rollout already takes the mean over all heads of every layer. Choose weights to see several heads."
SIGMOID_WEIGHTS = (
    "How open a key is to a query, from 0 to 1: a sigmoid of its score alone; a row need not sum to 1. What "
    "is said of shares of attention, and of entropy, is of each row divided by its sum."
)
SIGMOID_SCORES = (
    "What goes into the sigmoid: its log-odds. Each weight follows from its own score, so scores compare "
    "across rows too. Masked cells have none."
)
TURNED = "q and k are recorded after RoPE: both are already turned by the angle of their position (Su et al. 2021)."
NOT_SEEN = (
    "This model computes its attention by itself and shows its scores alone, so q and k are not known: only the "
    "softmax can be rebuilt. Its dot products, scale, mask and whatever it adds are all in the score."
)
PROOF = "Show how this number comes about."
WHY_HELP = "One cell rebuilt: query and key, their products, scale, bias, mask, softmax."
SHARE = "the share of the query's attention"
NO_SHARE = "the weight, which is no share of a row"
AS_MADE = "What goes into the softmax, as the model made it."
OWN_SCALE = "The scale of this model's scores."
LINEAR = "Linear attention divides this product by the row's sum; the softmax of its logarithm is that."
SIGMOID_NORMALISER = (
    "Less the log of 1 + e to the score: a sigmoid, of this key alone, so the weights of a row need no sum."
)
LAYERS_HELP = "The mean over all layers. Training aligns no heads: a number means nothing across layers."
RENORMALISE_HELP = "Divide each row by what is left after hiding, so that it sums to 1 again."
NO_ROLE = "It reaches the threshold of no role; point at a role above the grid to read its threshold."
DISTANCE_ABOUT = "Tokens: Σ A |i - j|, mean over queries (Vig & Belinkov 2019)"
CONFIDENCE_ABOUT = "Largest weight of a row, mean over queries, the end token left out (Voita et al. 2019)"
CLS_ABOUT = "Weight on [CLS], mean over queries (Clark et al. 2019)"
SEP_ABOUT = "Weight on [SEP], mean over queries (Clark et al. 2019)"
MORE = "More: how the grid is read, and what every head does in numbers"
SINK = "(sink)"  # the name of a column, in no tokenizer's words
BECAME = "How these heads became what they are"


def entropy_about(*, tokens: int, relative: float) -> str:
    """Say what an entropy is, and which share it is of what it could be at most."""
    return (
        f"-Σ A ln A, mean over queries; at most ln {tokens} = {math.log(tokens):.3g}, so {relative:.0%} of it "
        "(Clark et al. 2019)"
    )


def grid(roles: Grid) -> str:
    """Say what the heads do: "21 of 72 heads rest on [CLS] and 9 look one token back; 42 mix several patterns."."""
    if roles.alone:
        return "Each token sees only one token here, so every head gives it all of its attention."
    if roles.short:
        return "This text is too short to show what a head does."
    if roles.untrained == "looks untrained":
        return "This model looks untrained, so what its heads look at is chance."
    if roles.untrained:
        every = "The only head has" if roles.heads == 1 else f"All {roles.heads} heads have"
        return f"{every} random weights: what they look at is chance."
    if roles.by_chance:
        every = "The only head spreads its" if roles.heads == 1 else f"All {roles.heads} heads spread their"
        return f"{every} attention as random weights would."
    if not roles.counts:
        none = "The only head shows no" if roles.heads == 1 else f"None of the {roles.heads} heads shows one"
        return f"{none} plain pattern on this text."
    first, *further = roles.counts
    parts = [f"{roles.counts[name]} {_does(name, roles)}" for name in further]
    rest = roles.heads - sum(roles.counts.values())
    others = f"; {rest} {'mixes' if rest == 1 else 'mix'} several patterns" if rest else ""
    return f"{listed([_most(first, roles), *parts])}{others}."


def most(roles: Grid) -> str:
    """Say what most heads of one kind do: "21 of 72 heads rest on [CLS]."; where there is no kind, what `grid` says."""
    told = roles.counts and not (roles.alone or roles.short or roles.untrained or roles.by_chance)
    return f"{_most(next(iter(roles.counts)), roles)}." if told else grid(roles)


def _most(name: str, roles: Grid) -> str:
    clause = f"{heads_of(roles.counts[name], roles.heads)} {_does(name, roles)}"
    return clause[0].upper() + clause[1:]


def _does(name: str, roles: Grid) -> str:
    return DO[name][roles.counts[name] > 1].format(token(roles.tokens[name]) if name in roles.tokens else "")


def head(reading: HeadReading, *, proof: str = "") -> str:
    """Say what a head does, in one sentence with its number; proof: where the number of a single weight leads."""
    name = f"{layer_name(reading.layer, reading.call).capitalize()}, head {reading.head}"
    if reading.opens_with_link and reading.link is not None:
        return f"{name}: {_link(reading.link, reading.stream, proof)}."
    return _role(reading.role, name, _attention(reading), short=reading.short)


def pinned(link: TokenLink, reading: HeadReading, *, side: str, proof: str = "") -> str:
    """Say what the token that the reader pinned gives most to in a head, or gets most from, in one sentence.

    reading: of the head; proof: as for `head`, of what it gives: what it gets is another token's row.
    """
    name = f"{layer_name(reading.layer, reading.call).capitalize()}, head {reading.head}"
    if side == "gives":
        return f"{name}: {_link(link, reading.stream, proof)}."
    most = ", more than in any other head" if link.most else ""
    return (
        f"{name}: {named(link.key)} gets most from {named(link.query)}, "
        f"{share(link.weight)} of what {named(link.query)} gives{most}."
    )


def also(reading: HeadReading) -> str:
    """Say what else there is to a head, in one sentence; empty where there is nothing to add."""
    role, link = reading.role, reading.link
    if reading.opens_with_link:
        attention = _attention(reading, its="this head's attention")
        return f"Over the whole text, {_goes(role, attention)}."
    if link is None or link.key == role.key:
        return ""
    if link.weight < STRONG:
        return f"Its strongest link beyond chance: {_link(link, reading.stream)}."
    return f"Where it looks elsewhere: {_link(link, reading.stream)}."


def one_token(reading: TokenReading) -> str:
    """Say what a token gives or gets: "Beyond its neighbours `it` looks most at `cat`: 62 % of its attention in ...".

    One sentence, which goes on with where the token rests.
    """
    name, gives = named(reading.token), reading.side == "gives"
    rest = ""
    if reading.rest is not None:
        rest = f"; in {heads_of(reading.resting, reading.heads)} over half goes to {named(reading.rest)}"
    if reading.other is None:
        none = f"{name} gives no other word" if gives else f"no other word gives {name}"
        return _capital(f"{none} an unusual share of its attention in any head{rest}.")
    other = named(reading.other)
    among = "beyond its neighbours" if reading.beyond else "of all other words"
    looks, whole = ("looks most at", "its attention") if gives else ("gets most from", f"what {other} gives")
    where = f"in {layer_name(reading.layer, reading.call)}, head {reading.head}"
    return _capital(f"{among} {name} {looks} {other}: {share(reading.share)} of {whole} {where}{rest}.")


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def rollout(token: Named, *, layer: str, most: Named | None, share: float, itself: float) -> str:
    """Say where a token's state came from: "After layer 5 `it` goes back to `[CLS]` by 61 %, to itself by 5 %."."""
    back = f"After {layer} {named(token)} goes back to"
    if most is None:
        return f"{back} itself alone."
    return f"{back} {named(most)} by {percent(share)}, to itself by {percent(itself)}."


def not_rebuilt(*, rebuilt: float, recorded: float, more: str) -> str:
    """Say that a weight cannot be rebuilt; more: what else attention was given."""
    return (
        f"Rebuilt {rebuilt:.6g}, recorded {recorded:.6g}: this model's attention has more to it than the "
        f"steps above, so they do not explain this weight.{more}"
    )


def also_given(*, more: str) -> str:
    """Say what else attention was given."""
    return f" It was also given {more}."


def rebuilt(*, weight: float, recorded: float, apart: float, rank: int, seen: int) -> str:
    """Say how near the rebuilt weight is to the recorded weight."""
    return (
        f"Rebuilt from q and k alone: {weight:.7g}; in the map: {recorded:.7g}; they differ by "
        f"{apart:.1g}. Rank {rank} of {seen} in its row."
    )


def unseen(*, why: str, recorded: float) -> str:
    """Say why a query does not see a key."""
    return f"The query does not see this key: it is {why}. The map holds {recorded:.7g}."


def products(*, above: str, below: str) -> str:
    """Say what the products add up to."""
    return f"Products above zero add up to {above}, those below to {below}."


def carriers(*, of: int, count: int, named: str) -> str:
    """Say how many dimensions carry the dot product."""
    return (
        f"{count} of {of} dimensions alone reach 80 % of the dot product, the largest first: {named}"
        f"{' …' if count > 5 else ''}."
    )


def no_share(*, quantity: str) -> str:
    """Say that a quantity is no share."""
    return f"Tokens stand alone, and no row is renormalised: a {quantity} is no share to add up."


def tiles_read(*, top: float, root: bool) -> str:
    """Say how the grid of a long text is read; root: colours by square root."""
    return (
        f"Each cell is the largest weight of its tile. All share one colour scale, from 0 to {top:g}"
        f"{' by square root' if root else ''}: of a long text the weights are small. "
        "The 1 cell in 100 that is over it has the last colour."
    )


def no_projection(*, model: str | None) -> str:
    """Say that a saved trace has no model to read norms from."""
    return (
        f"The model {model!r} of this saved trace is not at hand, and how much a head hands over is read "
        "off its output projection. Choose weights or scores."
    )


def norms_read(*, top: float) -> str:
    """Say how a map of norms is read."""
    return (
        rf"$\|A_{{ij}}\,v_j W_O\|$: the length of what query $i$ (row) takes from key $j$ (column), in the unit of "
        rf"the residual stream; at most {number(top)} here. A weight times a vector's length: rows "
        "do not sum to 1."
    )


def scores_read(*, low: float, high: float, written: str, masked: str) -> str:
    """Say how a map of scores is read; written: the formula; masked: the sentence on grey cells."""
    return (
        f"$S = {written}$: row = query, column = key, in nats, from "
        f"{signed(low)} to {signed(high)} here; indigo above zero, amber below.{masked}"
    )


def keys_shown(*, shown: int, count: int) -> str:
    """Say how many keys are shown."""
    return f"The {shown} of {count} keys with the largest weights are shown."


def log_of_keys(*, keys: int) -> str:
    """Say what is taken off for the number of keys."""
    return (
        f"Less the log of n, the {keys} keys that the query sees: weights then start near 1 / n "
        "(Ramapuram et al. 2024)."
    )


def dot_product(*, width: int, note: str) -> str:
    """Say what the dot product is; note: a further sentence."""
    return f"How well query and key match: the sum of {width} products. {note}"


def divided(*, width: int) -> str:
    """Begin to say why scores are scaled."""
    return f"Divided by the root of the width, d_k = {width}: else the scores of wide vectors grow and the softmax "


def soft_cap(*, by: str) -> str:
    """Say what the soft-cap does."""
    return f"{by} tanh(s / {by}) keeps scores within ±{by} (Gemma 2)."


def masked_key(*, why: str | None) -> str:
    """Say why the key is masked."""
    return f"The key is {why}."


def weight_of(*, share: str, rank: int, seen: int) -> str:
    """Say what the weight is, and where it stands."""
    return f"e to that power is {share}. Rank {rank} of {seen} keys that it sees."


def normaliser(*, keys: int, beside: str) -> str:
    """Say what the log of the sum does; beside: the sentence on a sink."""
    return (
        f"Less the log of the sum of e to the score over the {keys} keys that the query sees{beside}: with it "
        "the weights of the row add up to 1."
    )


def heads_help(*, number: int) -> str:
    """Say what several heads show; number: the head that is shown without a choice."""
    return f"Heads of this layer: the heatmap shows their mean. Without a choice head {number} stands alone."


def colours_help(*, most: int) -> str:
    """Say for how many heads colours are."""
    return f"Each head's lines in a colour of its own, 2 to {most} heads of one layer."


def _role(role: Role, name: str, attention: str, *, short: bool) -> str:
    if not role.leads:
        none = "has too short a text for a pattern" if short else "mixes several patterns"
        return f"{name} {none}: {_goes(role, attention)}."
    match role.kind:
        case "alone":
            whole = f"the whole text is {token(role.tokens[0])}" if role.tokens else "each token sees only itself"
            return f"{name} has no choice: {whole}, so all of its attention stays there."
        case "random":
            return f"{name} has random weights, so what it looks at is chance."
        case "looks untrained":
            return f"{name} is of a model that looks untrained, so what it looks at is chance."
        case "chance":
            return f"{name} spreads its attention as random weights would: no token gets more than chance gives it."
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


_OF_NEIGHBOURS = {
    "previous": "the attention of all tokens but the first",
    "next": "the attention of all tokens but the last",
}


def _goes(role: Role, attention: str) -> str:
    """Say where a share goes: "81 % of its attention goes to `.`"."""
    if role.kind == "points":
        most = f"on average the largest weight of a token to write is {share(role.share)} of its attention"
        return f"{most}, on {role.keys} different source tokens"
    some = listed([token(mark) for mark in role.tokens[:3]]) if role.kind == "punctuation" else ""
    attention = _OF_NEIGHBOURS.get(role.kind, attention)
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
    if role.kind == "one token":
        return f"every {token(role.tokens[0])}"
    return named(role.key) if role.key is not None else listed([token(text) for text in role.tokens], "or")


def _attention(reading: HeadReading, *, its: str = "its attention") -> str:
    return "the attention of all tokens but the first" if reading.first_left_out else its


def _link(link: TokenLink, stream: str, proof: str = "") -> str:
    """Tell a link: "`it` gives two thirds of its attention to `tired`, more than in any other head"."""
    given = _share(link, proof)
    key = "itself" if stream != "cross" and link.at[0] == link.at[1] else named(link.key)
    key = f"another {token(link.key.token)}" if _alike(link) else key
    who = f"to write {named(link.query)} it gives" if stream == "cross" else f"{named(link.query)} gives"
    most = ", more than in any other head" if link.most else ""
    return f"{who} {given} of its attention to {key}{most}"


def _share(link: TokenLink, proof: str) -> str:
    return f'[{share(link.weight)}]({proof} "{PROOF}")' if proof else share(link.weight)


def _alike(link: TokenLink) -> bool:
    return link.at[0] != link.at[1] and link.key.of == 2 and link.query.token == link.key.token and link.query.of == 2


def terms(reading: HeadReading) -> tuple[str, ...]:
    """Return the glossary's names of what a head's sentence speaks of."""
    return ("head", "attention", *(() if reading.opens_with_link else _TERMS.get(reading.role.kind, ())))


def also_terms(reading: HeadReading) -> tuple[str, ...]:
    """Return the glossary's names of what `also` speaks of."""
    return _TERMS.get(reading.role.kind, ()) if reading.opens_with_link else ()


def gate(*, most: Named, least: Named, highest: float, lowest: float, mean: float) -> str:
    """Say how much of a head's answers its layer's gate lets through; most, least: the queries with the ends."""
    return (
        f"The layer multiplies this head's answer by a gate between 0 and 1 before the output projection, which no map "
        f"has: {percent(mean)} of its length is left on average, {percent(highest)} at {named(most)} and "
        f"{percent(lowest)} at {named(least)}."
    )


def convolutions(tokens: Mapping[str, int]) -> str:
    """Name the convolutions of a layer; tokens: how many each joins, by its path in the layer."""
    every = [f"`{name}` ({count} tokens)" for name, count in tokens.items()]
    mix = "A convolution mixes" if len(every) == 1 else "Convolutions mix"
    return f"{mix} neighbouring tokens in this layer too, beside its heads, and no map has that: {listed(every)}."
