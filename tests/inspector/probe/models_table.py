"""docs/models.md: what was measured of each family, written and read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import transformers

from inspector import Trace, block, positional, record_blocks, record_routing
from inspector.exactness import check_residual_stream
from inspector.probe.blocks import MANY, OTHER
from inspector.probe.norm_hooks import CHANGED, INSIDE, NO_VECTORS
from inspector.probe.norm_kinds import NO_FORMULA, NO_STATISTICS, POOLED
from inspector.trace.blocks import Blocks
from inspector.trace.routing import Routing
from models.huggingface.eager_attention import EagerAttention
from models.registry import LoadedModel
from tests.inspector.probe.families import (
    CAPTURED,
    LEARNED,
    NONE,
    NOT_RUN,
    NOT_TEXT,
    REFUSED,
    ROPE,
    SINUSOIDAL,
    UNLISTED_OF_MORE,
    UNLISTED_TEXT,
    WITHOUT_SOFTMAX,
    Family,
)

ROOT = Path(__file__).parents[3]
PATH = ROOT / "docs" / "models.md"
PROSE = (ROOT / "README.md", ROOT / "CHANGELOG.md")  # say in passing how many families are recorded
COUNT = re.compile(r"[\d,]+(?= families\b)")
COSTED = re.compile(r"\d+ of the \d+(?= model types\b)")
CAPTURED_HEAD = (
    *("family", "shape", "seen by", "maps", "outputs", "scores", "positions", "norms", "FFN", "block", "residual"),
    *("layers", "special", "costs"),
)
MIXED_HEAD = ("family", "shape", "norms", "residual", "layers", "special", "costs")
REFUSED_HEAD = ("family", "what it does", "what the loader says", "costs")
INTRODUCTION = """# Models of transformers

{captured} families of transformers {version}, each as a tiny model with random weights, held to transformers' own class
under `attn_implementation="eager"`; {without} more whose layers mix tokens without softmax attention; and {refused}
that are refused. Each of the {types} types in transformers' causal, masked and sequence-to-sequence lists is in one of
the tables. A model type that is not here is tried out when it is loaded, and refused if not every layer's attention can
be seen. `pytest tests/inspector/probe/test_families.py
--write-models-table` writes this page, and the test fails if the code no longer agrees with it.

{columns}

## Recorded

- **seen by** *probe*: through transformers' attention registry, block by block (attention in windows and blocks:
  beside the registry, by the same rule). *eager output*: the model bypasses the registry, so the softmax of its eager
  attention is watched; its output must equal the model's `output_attentions` when the model is tried out. *recomputed*:
  the computation of the scores is followed from queries and keys on, tried at once on every row, and kept instead of
  the scores. *kept*: the computation is not known, so the scores are kept. Memory is linear in the text except for
  *kept*, where it grows with the square.
- **maps**, **outputs**: the largest difference between the recording and transformers, over all weights of all layers,
  heads and streams (maps), and over the last hidden state and, if the model has a head, all logits (outputs).
  **scores**: the largest difference between the softmax (in float64) of the recorded scores and the recorded maps. Each
  is at most 1e-6; outputs of sparse attention (Longformer, LED, LongT5, Pegasus-X), which is summed in another order,
  at most 5e-6. Encoders read a pair of texts, encoder-decoders a target.
- **positions**: learned, sinusoidal: the table that the model adds to its tokens, compared with the measured difference
  of equal tokens. Without a table, equal tokens enter layer 0 with equal states.
- **norms**: pre: before a sublayer; post: after the residual sum; output: on the sublayer's output, before the sum;
  side by side: attention and FFN read the same norm; refused: norms that are not shown, with the reason. The norms
  shown are compared with what hooks on transformers' own modules saw.
- **FFN**: the activation function between an FFN's matrices, *gated* where it is multiplied by a third; each FFN's
  output is held to that formula as it runs. *2 of 4 experts*: each token goes through 2 FFNs of its own choice; which,
  and with what weights, is recorded on demand (`inspector.record_routing`). Each expert is run alone at weight 1, and
  the sum with the recorded weights is held to what the layer gave, within 1e-5 of its largest number. *experts* without
  numbers: some layer is refused.
- **block**: *followed*: what attention and FFN add to the residual stream was seen and sums up to what each layer
  leaves; what a mixture of experts adds is then what is left over. Else the sentence that the page Block says why not.
- **residual**: the residual stream before and after every layer, compared with transformers' `output_hidden_states`,
  or refused with the reason.
- **layers**: how many have a map from token to token. A layer that mixes tokens without softmax attention has one for
  each head (delta rules, lightning attention, state spaces) or channel (selective scans, RG-LRU, short convolutions):
  its product with the values is held to what the layer's own core left.
- **special**: 4:2 heads: 4 heads share 2 kv heads (GQA; 4:1 is MQA). A window of w: a query sees keys less than w
  tokens away. A sink: an extra score beside the keys' scores, so that rows sum to less than 1 without its column. A
  soft-cap bounds the scores.
- **costs**: what `inspector.costs.count` knows; all of it is compared with torch's `FlopCounterMode` on the model's own
  code, at lengths that no formula was made from. *formula*: the FLOPs of each component are a polynomial in the text's
  length, with exact coefficients; with a window or chunks where the length counts in pieces. *count*: no polynomial was
  proven, so each length is counted anew. *step*: reading one token more with a cache is counted too; *no cache*: the
  model hands out none; *not a further token*: why. *not counted*: why.

"""
REFUSED_INTRODUCTION = """
## Refused

The loader tries a model out on 5 tokens; its sentence begins "the attention of … cannot be captured:".

"""


UNLISTED = """
## Without a head that transformers lists

transformers lists no head that predicts tokens for these. The class that the configuration names is read, or the bare
model; maps are held to its own eager attention (tests/inspector/probe/test_unlisted_families.py).

- Text models: {text}.
- Models of more than text, read on text alone: {more}.
- Encoders of T5's kind saved by themselves (T5EncoderModel).

Refused, each with its reason: BROS, LayoutLMv2 and UDOP, which read the box of every word; CANINE, whose maps are not
between tokens; LiLT, which attends twice at once, to words and to boxes; pairs of a text's and a picture's model, such
as CLIP, whose text model is read where it is saved by itself; and what else transformers does not run on text alone.
"""


SECTIONS = {
    "Recorded, without softmax attention": "Every layer mixes tokens in another way, and has a map all the same.",
    "Not built or not run": "By transformers {version} itself, with the sizes of tests/inspector/probe/families.py.",
    "No text model": "What is read is not text.",
}
HEADS = {
    "Recorded, without softmax attention": MIXED_HEAD,
    "Not built or not run": ("family", "what transformers says"),
    "No text model": ("family", "what it reads"),
}
TABLES = {
    "Recorded": [family.name for family in CAPTURED],
    "Refused": [family.name for family in REFUSED],
    "Recorded, without softmax attention": [family.name for family in WITHOUT_SOFTMAX],
    "Not built or not run": [family.name for family in NOT_RUN],
    "No text model": list(NOT_TEXT),
}
"""Every model type of transformers' causal, masked and sequence-to-sequence lists, by the table it stands in."""
COUNTED = {family.name: family for family in (*CAPTURED, *REFUSED, *WITHOUT_SOFTMAX)}
"""The families of which the tables say what is known of their costs."""
BESIDE = "; side by side"
NORM_REASONS = {
    INSIDE: "inside a sublayer",
    NO_FORMULA: "no LayerNorm, RMSNorm or BatchNorm",
    NO_STATISTICS: "divides by nothing",
    POOLED: "pooled over tokens",
    NO_VECTORS: "not of one vector for each token",
    CHANGED: "gated behind its formula",
}
"""The code's reasons for refusing a norm, in few words."""


@dataclass(frozen=True)
class Row:
    """The row of a family. differences: of maps, outputs and scores; none where it is refused.

    costs: what is known of its costs; "" where its table does not say.
    """

    name: str
    cells: tuple[str, ...]
    differences: tuple[float, ...] = ()
    costs: str = ""

    @classmethod
    def of(cls, family: Family, loaded: LoadedModel, trace: Trace, differences: tuple[float, float, float]) -> Row:
        norms = "; ".join([norms_of(trace), *norms_refused(trace)])
        special = special_of(family, trace)
        inside = blocks_of(loaded, trace)
        cells = (
            loaded.shape,
            seen_by(loaded),
            positions_of(loaded, family),
            norms,
            *inside,
            residual_of(trace),
            layers_of(trace),
            special,
        )
        return cls(family.name, cells, differences)

    @classmethod
    def mixed(cls, family: Family, loaded: LoadedModel, trace: Trace) -> Row:
        norms = "; ".join([norms_of(trace).removesuffix(BESIDE), *norms_refused(trace)])
        cells = (loaded.shape, norms, residual_of(trace), layers_of(trace), special_of(family, trace))
        return cls(family.name, cells)

    @classmethod
    def refused(cls, family: Family, reason: str) -> Row:
        return cls(family.name, (family.note, reason))

    @classmethod
    def read(cls, line: str) -> Row:
        name, *cells = (cell.strip() for cell in line.strip().strip("|").split(" | "))
        costs = cells.pop() if name in COUNTED else ""
        if len(cells) < len(CAPTURED_HEAD) - 2:
            return cls(name, tuple(cells), costs=costs)
        return cls(name, (*cells[:2], *cells[5:]), tuple(map(float, cells[2:5])), costs)

    def line(self) -> str:
        shown = [f"{difference:.0e}" if difference else "0" for difference in self.differences]
        cells = (*self.cells[:2], *shown, *self.cells[2:]) if shown else self.cells
        cells = (*cells, self.costs) if self.name in COUNTED else cells
        return f"| {' | '.join((self.name, *cells))} |"

    def recorded(self) -> Row:
        """Give the row as it was recorded, without differences and costs."""
        return replace(self, differences=(), costs="")


def seen_by(loaded: LoadedModel) -> str:
    """Say how the family's attention is seen, and what becomes of a map that was seen at its softmax."""
    if loaded.backend != "eager output":
        return loaded.backend
    return f"{loaded.backend}, {'recomputed' if loaded.linear else 'kept'}"


def positions_of(loaded: LoadedModel, family: Family) -> str:
    """The tables that it adds and, beside them, how its attention knows where a token stands."""
    tables = dict.fromkeys(table.kind for table in positional.tables(loaded))
    beside = family.positions.split(" and ")[-1]
    turned = [ROPE] if positional.rotates(loaded.config) else []
    other = [beside] if beside not in (LEARNED, SINUSOIDAL, ROPE, NONE) else []
    return " and ".join([*tables, *turned, *other]) or NONE


def norms_of(trace: Trace) -> str:
    """Kind and placements, such as "RMS, pre"; where attention and FFN share one norm, that they stand side by side."""
    if not trace.norms:
        return "none"
    inside = [norm for norm in trace.norms if norm.layer is not None]
    kinds = dict.fromkeys({"layer": "LayerNorm", "rms": "RMS"}[norm.kind] for norm in inside)
    placements = dict.fromkeys(norm.placement for norm in inside)
    beside = "" if {"attention", "ffn"} <= {norm.part for norm in inside} else BESIDE
    return f"{' and '.join(kinds)}, {' and '.join(placements)}{beside}"


def norms_refused(trace: Trace) -> list[str]:
    """Count the norms that are not shown, by reason."""
    said = [refused.reason for refused in trace.refused if refused.what == "norm"]
    reasons = Counter(next(short for long, short in NORM_REASONS.items() if one.endswith(long)) for one in said)
    return [f"{count} refused: {reason}" for reason, count in reasons.items()]


def blocks_of(loaded: LoadedModel, trace: Trace) -> tuple[str, str]:
    """Say what its FFNs are made of, and whether its blocks are followed."""
    try:
        blocks = record_blocks(loaded, trace)
    except ValueError as error:
        return "–", _of_it(error, loaded)
    ffns = ffns_of(blocks, record_routing(loaded, trace))
    try:
        for stream in dict.fromkeys(layer.stream for layer in blocks.layers):
            block.stages(trace, blocks, stream=stream)
    except ValueError as error:
        return ffns, _of_it(error, loaded)
    return ffns, "followed"


def ffns_of(blocks: Blocks, routing: Routing) -> str:
    """Name the activation functions of all FFNs, and count the layers whose FFN is not shown, by reason.

    Experts have their numbers where the routers of all their layers are shown.
    """
    shown = dict.fromkeys(f"{ffn.activation}{', gated' if ffn.gate else ''}" for ffn in blocks.ffns)
    reasons = Counter({MANY: "experts", OTHER: "not seen"}[reason] for _, _, reason in blocks.refused)
    words = dict.fromkeys(
        f"{(router.matrix() != 0).sum(axis=1).max()} of {router.experts} experts" for router in routing.layers
    )
    if words and len(routing.layers) == reasons["experts"]:
        reasons = Counter({" or ".join(words) if reason == "experts" else reason: n for reason, n in reasons.items()})
    return "; ".join([*shown, *(f"{reason} in {_layers(count)}" for reason, count in reasons.items())])


def _layers(count: int) -> str:
    return f"{count} layer{'' if count == 1 else 's'}"


def _of_it(error: ValueError, loaded: LoadedModel) -> str:
    return str(error).replace(f"{loaded.card.id}'s", "its").replace(loaded.card.id, "it")


def residual_of(trace: Trace) -> str:
    """Say that the residual stream of every stack was held to what its layers gave, or why it is refused."""
    reasons = [refused.reason for refused in trace.refused if refused.what != "norm"]
    return (
        "refused: " + "; ".join(reasons)
        if reasons
        else "exact"
        if check_residual_stream(trace).exact
        else "not checked"
    )


def layers_of(trace: Trace) -> str:
    """Count the layers that have a map: of an attention, or of a mixer whose product with the values was held.

    Every layer leaves a state; where no state is known, the layers are those that were seen to mix tokens.
    """
    mixers = [record.site for record in trace.mixers if record.exact]
    shown = {(site.stream, site.layer) for site in (*trace.sites, *mixers) if site.stream != "cross"}
    ran = {(state.stream, state.layer) for state in trace.states if state.layer >= 0}
    return f"{len(shown)} of {len(ran | shown | {(site.stream, site.layer) for site in trace.mixer_sites})}"


def columns(rows: Iterable[Row]) -> str:
    """Count for each column the recorded families in which it is exact, refused or not there."""
    rows = list(rows)
    positions, norms, ffns, blocks, residual = zip(*(row.cells[2:7] for row in rows), strict=True)
    whole = sum("refused" not in cell for cell in norms)
    reasons = [
        f"{reason} in {said}" for reason in NORM_REASONS.values() if (said := sum(reason in cell for cell in norms))
    ]
    exact = residual.count("exact")
    left_out = [row.name for row in rows if row.cells[6] != "exact"]
    of_experts, unseen = (sum(word in cell for cell in ffns) for word in ("experts in", "not seen in"))
    routed = sum(bool(re.search(r"\d of \d+ experts in", cell)) for cell in ffns)
    followed = blocks.count("followed")
    kinds = Counter(kind for cell in positions for kind in cell.split(" and "))
    added = sum(LEARNED in cell or SINUSOIDAL in cell for cell in positions)
    tables = [f"{kind} in {kinds[kind]}" for kind in (LEARNED, SINUSOIDAL)]
    without = Counter(cell for cell in positions if LEARNED not in cell and SINUSOIDAL not in cell)
    others = [f"{'no positions' if kind == NONE else kind} {count}" for kind, count in without.most_common()]
    hidden = [row.name for row in rows if row.cells[3].startswith("none; ")]
    some = (
        f"{len(rows) - whole - len(hidden)} refuse some and show the others exactly, all are refused in {len(hidden)}"
    )
    lines = [
        ("column", "exact in", "else"),
        ("maps", f"all {len(rows)}", "–"),
        ("norms", f"{whole}, every one shown", f"{some} ({', '.join(hidden)}): {', '.join(reasons)}"),
        (
            "FFN",
            f"{len(rows) - of_experts - unseen - ffns.count('–')}, that of every layer",
            f"experts in {of_experts}: run one at a time they sum up to what every layer gives in {routed} of these; "
            f"in {unseen} some FFNs are not seen; no layer is told in {ffns.count('–')}",
        ),
        ("block", f"{followed} followed", f"refused in {len(rows) - followed}, each with its reason"),
        ("residual stream", str(exact), f"refused in {len(left_out)}: {', '.join(left_out)}"),
        layers_with_maps(rows),
        (
            "table of positions",
            f"{added}: {', '.join(tables)}",
            f"{len(rows) - added} have no table: {', '.join(others)}",
        ),
        costs_of(rows),
    ]
    return "\n".join(
        [f"| {' | '.join(lines[0])} |", "| --- | --- | --- |", *(f"| {' | '.join(line)} |" for line in lines[1:])]
    )


def layers_with_maps(rows: Iterable[Row]) -> tuple[str, str, str]:
    """Say how many layers of all families with softmax attention have a map."""
    counts = {row.name: tuple(map(int, row.cells[7].split(" of "))) for row in rows}
    shown, ran = (sum(pair[place] for pair in counts.values()) for place in (0, 1))
    without = [name for name, (some, every) in counts.items() if some < every]
    told = f"not every layer of {len(without)}: {', '.join(without)}" if without else "–"
    return "layers with a map", f"{shown} of {ran}, every one of {len(counts) - len(without)}", told


def costs_of(rows: Iterable[Row]) -> tuple[str, str, str]:
    """Say what is known of costs, in how many families."""
    cells = [row.costs for row in rows]
    anew = sum(cell.startswith("count") for cell in cells)
    missing = sum(cell.startswith("not counted") for cell in cells)
    step, without = (sum(cell.endswith(word) for cell in cells) for word in (", step", ", no cache"))
    known = f"{len(cells) - anew - missing}, a formula in the length"
    others = [f"counted anew at each length: {anew}", f"not counted: {missing}"]
    return "costs", known, f"{'; '.join(others)}; a step with a cache in {step}, no cache in {without}"


def special_of(family: Family, trace: Trace) -> str:
    """Say what else the record shows, and repeat the family's note."""
    found = [f"{site.heads}:{site.kv_heads} heads" for site in trace.sites if site.kv_heads < site.heads]
    windows = [site.window for site in trace.sites if site.window]
    functions = [call.function for call in trace.attentions if isinstance(call.function, EagerAttention)]
    found += [f"window {windows[0]} in {len(windows)} of {len(trace.sites)} layers"] if windows else []
    found += ["sinks"] if any("sinks" in function.module for function in functions) else []
    found += ["soft-cap"] if any("softcap" in function.arguments for function in functions) else []
    mixers = Counter(site.kind for site in trace.mixer_sites)
    found += [f"{kind} in {_layers(count)}" for kind, count in mixers.items()]
    found += ["cross-attention"] if any(site.stream == "cross" for site in trace.sites) else []
    return "; ".join(dict.fromkeys([*found, *([family.note] if family.note else [])])) or "–"


def write_table(rows: Iterable[Row]) -> None:
    """Write docs/models.md, and the numbers of families into the prose that says them."""
    by_name = {row.name: row for row in rows}
    tables = {title: [by_name[name] for name in names] for title, names in TABLES.items()}
    captured, refused = tables["Recorded"], tables["Refused"]
    version = transformers.__version__
    text = INTRODUCTION.format(
        captured=len(captured),
        without=len(WITHOUT_SOFTMAX),
        version=version,
        refused=len(refused),
        types=len(by_name),
        columns=columns(captured),
    )
    text += _table(CAPTURED_HEAD, captured) + REFUSED_INTRODUCTION + _table(REFUSED_HEAD, refused)
    for title, words in SECTIONS.items():
        text += f"\n## {title}\n\n{words.format(version=version)}\n\n" + _table(HEADS[title], tables[title])
    text += unlisted()
    PATH.write_text(text, encoding="utf-8")
    for prose in PROSE:
        text = COUNT.sub(f"{len(captured):,}", prose.read_text(encoding="utf-8"))
        prose.write_text(COSTED.sub(costed(by_name), text), encoding="utf-8")


def unlisted() -> str:
    """Name the model types that are read though transformers lists no head for them."""
    text, more = (", ".join(sorted(one.name for one in family)) for family in (UNLISTED_TEXT, UNLISTED_OF_MORE))
    return UNLISTED.format(text=text, more=more)


def costed(rows: Mapping[str, Row]) -> str:
    """Say of how many model types costs are known."""
    known = sum(not rows[name].costs.startswith("not counted") for name in COUNTED)
    return f"{known} of the {len(COUNTED)}"


def counts() -> dict[str, list[str]]:
    """Read from each text how many families are recorded, by the text's name."""
    return {prose.name: COUNT.findall(prose.read_text(encoding="utf-8")) for prose in (*PROSE, PATH)}


def read_rows() -> dict[str, Row]:
    names = {name for table in TABLES.values() for name in table}
    lines = [line for line in PATH.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    rows = [Row.read(line) for line in lines if line.split()[1] in names]
    return {row.name: row for row in rows}


def _table(head: tuple[str, ...], rows: Iterable[Row]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *(row.line() for row in rows)]
    return "\n".join(lines) + "\n"
