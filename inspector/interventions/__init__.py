"""Run a model again, changed, and record what that does: a part of the probe.

`reorder` reads a text in another order, with positions and without; `split_scores` splits the first layer's scores.
`mask` hides tokens, `swap` puts another word in the place of one, `drop` leaves heads out. Each gives a Change: the
recording before and the one after. `edit` puts a reader's function at a head, an FFN or the residual stream,
and `read_at` reads the numbers there. `predict` and `surprises` say what it did to what the model expects.
`against_fixed` holds attention beside a layer whose mixing is fixed.
"""

from inspector.interventions.change import Change
from inspector.interventions.dropping import Dropped, drop, drop_each, every_head
from inspector.interventions.editing import Edited, EditedPlace, edit, read_at
from inspector.interventions.first_scores import PARTS, ScoreSplit, split_scores
from inspector.interventions.fixed_mixing import FixedMixing, against_fixed
from inspector.interventions.guesses import TOP, Guess, Prediction, predict, prediction_table, surprises
from inspector.interventions.masking import (
    Masked,
    mask,
    maskable,
    most_telling,
    predictions,
    whole_words,
)
from inspector.interventions.reordering import ORDERS, Order, Reordered, reorder
from inspector.interventions.swapping import Swapped, first_to_swap, swap

__all__ = [
    "ORDERS",
    "PARTS",
    "TOP",
    "Change",
    "Dropped",
    "Edited",
    "EditedPlace",
    "FixedMixing",
    "Guess",
    "Masked",
    "Order",
    "Prediction",
    "Reordered",
    "ScoreSplit",
    "Swapped",
    "against_fixed",
    "drop",
    "drop_each",
    "edit",
    "every_head",
    "first_to_swap",
    "mask",
    "maskable",
    "most_telling",
    "predict",
    "prediction_table",
    "predictions",
    "read_at",
    "reorder",
    "split_scores",
    "surprises",
    "swap",
    "whole_words",
]
