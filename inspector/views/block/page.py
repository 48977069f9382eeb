"""Block: the inside of a layer, from a token's state to what attention and FFN add to it."""

from __future__ import annotations

from inspector.views.block import additions, feedforward, sharing, way
from inspector.views.block.recorded import recorded
from inspector.views.shell import link, widgets

SECTIONS = {
    "way": "One token's way",
    "added": "What each part adds",
    "ffn": "FFN",
    "sharing": "Sharing",
}

link.parameters("layer", "token", "block_step")
found = recorded()
stream = widgets.stream(found.streams, key="block_stream")
match widgets.bar("Inside the block", list(SECTIONS), "section", words=SECTIONS.__getitem__):
    case "way":
        way.show(found, stream=stream)
    case "added":
        additions.show(found, stream=stream)
    case "ffn":
        feedforward.show(found, stream=stream)
    case _:
        sharing.show(found, stream=stream)
link.publish()
