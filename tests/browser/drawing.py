"""A component alone in a browser tab: how the tests draw it, point at it and read it."""

from __future__ import annotations

import base64
import re

import numpy as np

from inspector.components.head import HeadMessage
from inspector.components.source import script, style

HOSTILE = (
    *("<img src=x onerror=alert(1)>", "**b**", "</script><script>alert(2)</script>", "مرحبا", "注意", "", "\u202eevil"),
    *("👨‍👩‍👧", "a\u200bb", "\n", "##ing", "$x$", "&lt;"),
)
TOKENS = ("[CLS]", "the", "cat", "sat", *HOSTILE, "[SEP]")
N = len(TOKENS)
# What the tooltip of a cell says: in three digits, and all of them in its last line.
SAID = re.compile(
    r"query (?P<query>\d+) .* → key (?P<key>\d+) .* weight \S+, "
    r"rank (?P<rank>\d+) of (?P<of>\d+) (?:in its row|in sight) "
    r"score \S+ before softmax entropy of the row \S+ nats "
    r"exactly (?P<weight>\S+) · score (?P<score>\S+) · entropy (?P<entropy>\S+)"
)
HARNESS = """<!doctype html><meta charset="utf-8"><style>
:root { --st-background-color: #ffffff; --st-text-color: #1c1d22; } body { margin: 20px; background: #ffffff; }
CSS</style><input id="text"><div id="root"></div><script type="module">SCRIPT
window.events = [];
window.draw = draw;
window.show = (data) => window.view =
  draw(document.querySelector("#root"), Uint8Array.from(atob(data), (c) => c.charCodeAt(0)),
  (name, value) => events.push([name, value]));
window.ready = true;
</script>"""


def weights(queries=N, keys=N, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(keys, 0.3), queries).astype(np.float32)


def head_message(values=None, tokens=TOKENS, **changes):
    return head_values(values, tokens, **changes).to_bytes()


def head_values(values=None, tokens=TOKENS, **changes):
    return HeadMessage(weights() if values is None else values, queries=tokens, keys=tokens, **changes)


def show(tab, component, message):
    if not tab.evaluate("window.ready"):
        page = HARNESS.replace("CSS", style(component)).replace("SCRIPT", script(component))
        tab.set_content(page)
        tab.wait_for_function("window.ready")
    tab.evaluate("(data) => void show(data)", base64.b64encode(message).decode())


def events(tab):
    return tab.evaluate("window.events")


def frame(tab):
    tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def point(tab, query, key, n=N, act="move"):
    box = tab.locator(".plot").bounding_box()
    place = box["x"] + (key + 0.5) / n * box["width"], box["y"] + (query + 0.5) / n * box["height"]
    getattr(tab.mouse, act)(*place)
    frame(tab)


def tooltip(tab):
    return tab.locator(".tip").inner_text().replace("\n", " ")


def pixel(tab, canvas, x, y):
    script = "(canvas, [x, y]) => [...canvas.getContext('2d').getImageData(x, y, 1, 1).data.slice(0, 3)]"
    return tab.locator(canvas).evaluate(script, [x, y])
