"""Sentences of the page Time."""

from inspector.wording.english.time import clock as clock
from inspector.wording.english.time import forcing as forcing
from inspector.wording.english.time import past as past
from inspector.wording.english.time import reach as reach
from inspector.wording.english.time import recurrent as recurrent
from inspector.wording.english.time import segments as segments

ASKS = "What to see of time"
BESIDE, STEPS = "RNNs beside attention", "Step by step"
MORE = "More: how it is measured, and what follows"
SETTINGS = "Settings"
CHOOSE = "Choose another text or model."
