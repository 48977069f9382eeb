"""A view of the page as Python: the lines that give the same numbers without it."""

from __future__ import annotations

from inspector.explain import Explanation
from inspector.maps import Arrangement
from inspector.trace import Trace


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
    source = trace.encoding if stream == "cross" else trace.read_by(stream)
    switches = {
        "hide_special": len(shown.keys.positions) < len(source),
        "merge_words": max(shown.keys.sizes.max(), shown.queries.sizes.max()) > 1,
        "renormalise": shown.renormalise,
    }
    chosen = "".join(f", {name}=True" for name, on in switches.items() if on)
    place = f'layer={layer}, head={head}, stream="{stream}"' + (f", call={call}" if call else "")
    numbers = [f"weights = inspector.maps.weights(trace, shown, {place})"]
    if window is not None:
        down, across = (f"slice({part.start}, {part.stop})" for part in window)
        rows = f"shown = inspector.maps.part(shown, queries={down}, keys=slice(None))"
        numbers = [rows, *numbers, f"weights = weights[:, {across}]"]
    return "\n".join(
        [
            *_recorded(trace),
            f'shown = inspector.maps.arrange(trace, stream="{stream}"{chosen})',
            *numbers,
            f"inspector.show(trace, {place})  # in a notebook: all heads, and this one open",
        ]
    )


def rollout(trace: Trace, *, token: int, stream: str) -> str:
    """Python lines after which `shares` holds the rollout from a token, [L + 1, T], the last layer at the end."""
    followed = f'shares = flow.rollout(trace, token={token}, stream="{stream}")'
    return "\n".join([*_recorded(trace), "from inspector import flow", followed])


def cell(trace: Trace, explained: Explanation) -> str:
    """Python lines after which `cell` holds one weight rebuilt step by step, as Why this weight shows it."""
    site = explained.site
    call = f", call={site.call}" if site.call else ""
    where = f'layer={site.layer}, head={explained.head}, stream="{site.stream}"{call}'
    place = f"{where}, query={explained.query}, key={explained.key}"
    return "\n".join(
        [
            *_recorded(trace),
            f"cell = inspector.explain.why(trace, {place})",
            "cell.steps, cell.products  # the way to the weight; what each dimension adds to q · k",
        ]
    )


def _recorded(trace: Trace) -> list[str]:
    """Write the lines after which `trace` is this recording."""
    more = {"text_pair": trace.text_pair, "target": trace.target_text}
    given = "".join(f", {name}={text!r}" for name, text in more.items() if text is not None)
    return [
        "import inspector, models",
        "",
        f"loaded = models.load({trace.model!r})",
        f"trace = inspector.record(loaded, {trace.text!r}{given})",
    ]
