"""Layers that mix tokens without softmax attention, each an exact matrix from token to token; and their seam.

A linear recurrence, a state space or a convolution is linear in its values: for a given text y = M v, with one matrix
M [query, key] a head or a channel. A core holds what the layer's own code made, linear in the text, and computes M
again from it in blocks of rows.

```python
calls = []
with watch_mixers(calls.append):
    network(input_ids=ids)
calls[0].kind, calls[0].core  # "gated delta rule", DecayingState(...)
```
"""

from models.mixers.by_channel import GatedConvolution, PastSoftmax, SelectiveScan
from models.mixers.core import BY_CHANNEL, Core, MixerKind, of_sequence, part_of
from models.mixers.decaying_state import CHUNK, DecayingState
from models.mixers.hash_collisions import HashCollisions
from models.mixers.seam import MixerCall, mark_begun, report_mixer, take_begun, watch_mixers, watches_mixers

__all__ = [
    "BY_CHANNEL",
    "CHUNK",
    "Core",
    "DecayingState",
    "GatedConvolution",
    "HashCollisions",
    "MixerCall",
    "MixerKind",
    "PastSoftmax",
    "SelectiveScan",
    "mark_begun",
    "of_sequence",
    "part_of",
    "report_mixer",
    "take_begun",
    "watch_mixers",
    "watches_mixers",
]
