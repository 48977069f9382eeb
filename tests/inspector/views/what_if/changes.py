"""The page What if with a change made: what the tests of its parts share."""

from __future__ import annotations

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.inspector.views.page import messages, numbers, said, sentences
from tests.inspector.views.page import opened as start

SWAP, DROP = "Swap a word", "Drop heads"


def opened(model: str, part: str, **link: str) -> AppTest:
    return start("What if", model=model, part=part, **link)


def maps(app: AppTest) -> list[np.ndarray]:
    """The maps before and after, and their difference, as the browser gets them."""
    return [weights.reshape(len(header["queries"]), -1) for header, weights in messages(app, "head")]


def is_compared(app: AppTest, *, predicts: bool) -> None:
    """Check that the page opened with a sentence, three maps that fit together, and predictions where there are any."""
    assert not app.exception
    assert "Cannot be shown" not in said(app)
    before, after, apart = maps(app)
    np.testing.assert_array_equal(apart, after - before)
    assert "1 − the cosine of each token's last hidden state before and after" in said(app)
    assert ("predicts no tokens" in said(app)) == (not predicts)
    assert "divergence, nats" in numbers(app)
    assert ("its rank" in numbers(app)) == predicts
    did = "the probability of" if predicts else "turns the last hidden state of"
    (opening,) = sentences(app)
    assert did in opening or "changes nothing" in opening
