"""A view of the page as Python: the lines that give the same numbers without it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from inspector.explain import Explanation
from inspector.maps import Arrangement
from inspector.mixers import MixerCell
from inspector.sections.subject import given, recorded, recording
from inspector.trace import AttentionSite, MixerSite, Trace


@dataclass(frozen=True)
class ComparedMap:
    """One of two maps that are compared: a head, or with head=None the mean over a layer's heads.

    whole: the trace's tokens as they are hidden or merged; begin: how many of them are compared, None for all. kind:
    how the layer mixes tokens.
    """

    trace: Trace
    whole: Arrangement
    layer: int
    head: int | None
    stream: str
    call: int = 0
    begin: int | None = None
    kind: str = AttentionSite.kind

    @property
    def part(self) -> str:
        """The call that leaves only the beginning of a long text, to follow the arrangement."""
        return "" if self.begin is None else f".begin({self.begin})"


def lines(
    trace: Trace,
    shown: Arrangement,
    *,
    layer: int,
    head: int,
    stream: str,
    call: int = 0,
    window: tuple[slice, slice] | None = None,
) -> str:
    """Python lines after which `weights` holds one head's weights as the page shows them, [Q, T].

    shown: which tokens are hidden or merged; window: the queries and keys in sight of a long text. The model has to be
    at hand under its id.
    """
    place = _place(layer, head, stream, call)
    numbers = [f"weights = inspector.maps.weights(trace, shown, {place})"]
    if window is not None:
        down, across = (f"slice({part.start}, {part.stop})" for part in window)
        rows = f"shown = inspector.maps.part(shown, queries={down}, keys=slice(None))"
        numbers = [rows, *numbers, f"weights = weights[:, {across}]"]
    return "\n".join(
        [
            recorded(trace),
            f"shown = {_arranged('trace', trace, shown, stream)}",
            *numbers,
            f"inspector.show(trace, {place})  # in a notebook: all heads, and this one open",
        ]
    )


def mixer(
    trace: Trace,
    shown: Arrangement,
    *,
    site: MixerSite,
    head: int,
    window: tuple[slice, slice] | None = None,
) -> str:
    """Python lines after which `weights` holds the map of a head that mixes tokens without softmax, [Q, T].

    shown, window: as of `lines`.
    """
    place = f"layer={site.layer}, kind={site.kind!r}"
    if window is None and shown.is_plain(site):
        of_head = f"mixer = trace.mixer({place}).of_head({head})"
        gated = trace.mixer(layer=site.layer, kind=site.kind).gate is not None
        product = f"weights @ mixer.value[:, 0].numpy(){' * mixer.gate[:, 0].numpy()' * gated}"
        weights = f"weights = trace.attention({place}, head={head})"
        shown_there = f"inspector.show(trace, {place}, head={head})  # in a notebook: all heads, and this one open"
        return "\n".join([recorded(trace), weights, of_head, f"{product}  # equals mixer.output[:, 0]", shown_there])
    down, across = (f"slice({part.start}, {part.stop})" for part in window or (slice(None), slice(None)))
    return "\n".join(
        [
            recorded(trace),
            f"shown = {_arranged('trace', trace, replace(shown, renormalise=False), site.stream)}",
            f"read = inspector.mixers.reader(trace.mixer({place}), {head})",
            f"weights = inspector.maps.rows(shown, read, queries={down})[1][:, {across}]",
        ]
    )


def output_gate(trace: Trace, *, site: AttentionSite, head: int) -> str:
    """Python lines after which `shares` holds what a head's output gate lets through, [Q]."""
    call = f", call={site.call}" if site.call else ""
    place = f"layer={site.layer}, head={head}, stream={site.stream!r}{call}"
    return "\n".join([recorded(trace), f"shares = trace.output_gate({place})"])


def mixer_cell(trace: Trace, cell: MixerCell) -> str:
    """Python lines after which `cell` holds the steps to a weight of a mixer's map."""
    mixer = f"mixer = trace.mixer(layer={cell.site.layer}, kind={cell.site.kind!r})"
    size = f"size = inspector.mixers.read(mixer, {cell.head}).size"
    place = f"head={cell.head}, query={cell.query}, key={cell.key}, size=size"
    return "\n".join(
        [recorded(trace), mixer, size, f"cell = inspector.mixers.why(mixer, {place})", "cell.steps, cell.erasers"]
    )


def mixer_state(trace: Trace, *, site: MixerSite, head: int) -> dict[str, str]:
    """Python lines of what only heads without softmax have: by the name of what holds it, table, decays or erased."""
    mixer = f"{recorded(trace)}\nmixer = trace.mixer(layer={site.layer}, kind={site.kind!r})"
    return {
        "table": f"{mixer}\ntable = inspector.mixers.by_token(mixer, {head})",
        "decays": f"{mixer}\ndecays = inspector.mixers.decays(mixer)",
        "erased": f"{mixer}\nerased = inspector.mixers.erased_by(mixer, {head})",
    }


def rollout(trace: Trace, *, token: int, stream: str) -> str:
    """Python lines after which `shares` holds the rollout from a token, [L + 1, T], the last layer at the end."""
    followed = f'shares = flow.rollout(trace, token={token}, stream="{stream}")'
    return "\n".join([recorded(trace), "from inspector import flow", followed])


def one_token(trace: Trace, shown: Arrangement, *, token: int, side: str, stream: str) -> str:
    """Python lines after which `table` holds what a token gives or gets in every head, as the page's grid shows it."""
    return "\n".join(
        [
            recorded(trace),
            f"shown = {_arranged('trace', trace, shown, stream)}",
            f'table = inspector.one_token.table(trace, {token}, side="{side}", stream="{stream}", shown=shown)',
        ]
    )


def cell(trace: Trace, explained: Explanation) -> str:
    """Python lines after which `cell` holds one weight rebuilt step by step, as Why this weight shows it."""
    site = explained.site
    call = f", call={site.call}" if site.call else ""
    where = f'layer={site.layer}, head={explained.head}, stream="{site.stream}"{call}'
    place = f"{where}, query={explained.query}, key={explained.key}"
    return "\n".join(
        [
            recorded(trace),
            f"cell = inspector.explain.why(trace, {place})",
            "cell.steps, cell.products  # the way to the weight; what each dimension adds to q · k",
        ]
    )


def comparison(a: ComparedMap, b: ComparedMap) -> str:
    """Python lines after which `found` is the difference of two maps of one kind, with its numbers."""
    weights = [
        f"weights_{name} = {_between(name, side, f'both.shown[{place}]')}"
        for place, (name, side) in enumerate((("a", a), ("b", b)))
    ]
    lines = [
        f"found = inspector.compare.subtract{'' if a.kind == AttentionSite.kind else '_signed'}(",
        "    weights_a, weights_b, queries=both.queries.a.labels, keys=both.keys.a.labels",
        ")",
    ]
    return "\n".join([*_paired(a, b, by="pairing"), *weights, *lines])


def _between(trace: str, side: ComparedMap, shown: str) -> str:
    """Write a map between the groups of tokens that are shown."""
    if side.kind == AttentionSite.kind:
        place = _place(side.layer, side.head, side.stream, side.call)
        return f"inspector.maps.weights({trace}, {shown}, {place})"
    mixer = f"{trace}.mixer(layer={side.layer}, kind={side.kind!r})"
    return f"inspector.maps.rows({shown}, inspector.mixers.reader({mixer}, {side.head}), queries=slice(None))[1]"


def matched_heads(a: ComparedMap, b: ComparedMap) -> str:
    """Python lines after which `found` holds the distances of all heads of one recording from all heads of another."""
    lines = [
        f"found = inspector.head_distances.between(a, b, streams={(a.stream, b.stream)}, pairing=both)",
        "inspector.head_distances.matches(found)",
    ]
    return "\n".join([*_paired(a, b, by="pairing_of_one_text"), *lines])


def heads_among(trace: Trace, *, stream: str) -> str:
    """Python lines after which `found` holds the distances of all heads of a recording from each other."""
    return "\n".join(
        [
            "import inspector, models",
            "",
            f"trace = {recording(trace)}",
            f"found = inspector.head_distances.measure(trace, stream={stream!r})",
            "inspector.head_distances.matches(found)",
        ]
    )


def plane(trace: Trace, *, stream: str) -> str:
    """Python lines after which `points` holds a point of the plane for each head of a recording, [N, 2]."""
    return "\n".join(
        [
            *heads_among(trace, stream=stream).splitlines()[:-1],
            "points, share = inspector.head_distances.plane(found.values)  # in the order of found.places",
        ]
    )


def strips(trace: Trace, shown: Arrangement, *, layer: int, head: int, stream: str, call: int = 0) -> str:
    """Python lines after which `across` holds a head's map in every layer, and `within` every map of one layer."""
    number = _place(layer, head, stream, call).replace(f"head={head}", "head=head")
    return "\n".join(
        [
            recorded(trace),
            f"shown = {_arranged('trace', trace, shown, stream)}",
            f'sites = trace.sites_of("{stream}")',
            "across = [",
            f'    inspector.maps.weights(trace, shown, layer=at.layer, head={head}, stream="{stream}", call=at.call)',
            "    for at in sites",
            "]",
            f"within = [inspector.maps.weights(trace, shown, {number}) for head in range(sites[0].heads)]",
        ]
    )


def _paired(a: ComparedMap, b: ComparedMap, *, by: str) -> list[str]:
    """Lines after which `a` and `b` are recordings and `both` the tokens or words that they have in common."""
    sides = (("a", a), ("b", b))
    records = [f"{name} = {recording(side.trace)}" for name, side in sides]
    axes = [
        f"    alignment.axes({name}, {_arranged(name, side.trace, side.whole, side.stream)}{side.part}, "
        f'stream="{side.stream}"),'
        for name, side in sides
    ]
    return [
        "import inspector, models",
        "from inspector import alignment",
        "",
        *records,
        f"both = alignment.{by}(",
        *axes,
        ")",
    ]


def intervention(
    trace: Trace,
    what: str,
    *,
    hide: bool,
    words: bool,
    layer: int,
    head: int,
    stream: str,
    call: int = 0,
    predicts: bool = False,
) -> str:
    """Python lines after which `before` and `after` are a head's maps around a change, as the page shows them.

    what: the call of inspector.interventions without the model and the text: "swap(position=2, by='dog')". hide, words:
    special tokens are hidden, word pieces merged. predicts: the model predicts tokens, and `found` says which.
    """
    name, arguments = what.split("(", 1)
    switches = ", hide_special=True" * hide + ", merge_words=True" * words
    place = _place(layer, head, stream, call)
    return "\n".join(
        [
            "import inspector, models",
            "from inspector import interventions, maps",
            "",
            f"loaded = models.load({trace.model!r})",
            f"change = interventions.{name}(loaded, {given(trace)}, {arguments}",
            "shown, now = (",
            f'    maps.arrange(trace, stream="{stream}"{switches}, block=block)',
            "    for trace, block in zip((change.before, change.after), change.replaced)",
            ")",
            f"before = maps.weights(change.before, shown, {place})",
            f"after = maps.weights(change.after, now, {place})",
            *(["found = interventions.predict(loaded, change)"] if predicts else []),
        ]
    )


def _place(layer: int, head: int | None, stream: str, call: int) -> str:
    return f'layer={layer}, head={head}, stream="{stream}"' + (f", call={call}" if call else "")


def _arranged(name: str, trace: Trace, shown: Arrangement, stream: str) -> str:
    source = trace.encoding if stream == "cross" else trace.read_by(stream)
    switches = {
        "hide_special": len(shown.keys.positions) < len(source),
        "merge_words": max(shown.keys.sizes.max(), shown.queries.sizes.max()) > 1,
        "renormalise": shown.renormalise,
    }
    chosen = "".join(f", {switch}=True" for switch, on in switches.items() if on)
    return f'inspector.maps.arrange({name}, stream="{stream}"{chosen})'
