"""A model on a card against arithmetic in plain numbers."""

from __future__ import annotations

import pytest

from inspector.costs import SHELF, count, kv_cache
from inspector.costs.card import CARDS, DeviceCard, on_card
from inspector.wording.english import costs as words


def test_llama_2_70b_with_eight_long_texts_on_an_a100() -> None:
    shape = SHELF["llama-2-70b"].config()
    counted, n = count(shape), 32768
    found = on_card(counted, kv_cache(shape), CARDS["a100"], tokens=n, batch=8)
    assert found.weights == 2 * 68_976_648_192
    assert found.cache == 8 * n * 327_680  # 2 x 80 layers x 8 heads x 128 numbers of 2 bytes a token
    assert found.cards == 3  # 223.9 GB of 80
    flops = 137_426_370_560 * n + 2_621_440 * n**2
    assert found.read == pytest.approx(8 * flops / 312e12)
    assert found.bound == "computing"
    active = 2 * (68_976_648_192 - 32000 * 8192 - 161 * 8192)  # a step looks one row of the table up; norms apart
    assert found.step == pytest.approx((active + found.cache) / 2039e9)
    assert found.step_bound == "memory"
    assert found.speed == pytest.approx(8 / found.step)
    assert words.on_card(found, card="A100 80 GB", memory=80 * 10**9) == (
        "The weights and the KV cache take 2.80 times the memory of A100 80 GB. At least 3 such cards hold it."
    )


def test_an_encoder_has_no_step_and_numbers_below_one_are_refused() -> None:
    shape = SHELF["bert-base"].config()
    found = on_card(count(shape), None, DeviceCard("slow", 10**9, 10**9, 10**12, 10**9), tokens=1, element_bytes=4)
    assert (found.step, found.speed, found.cache, found.cards) == (None, None, 0, 1)
    assert found.weights == 4 * 109_482_240
    assert found.bound == "memory"  # one token: each weight is read for two FLOPs
    with pytest.raises(ValueError, match="each must be at least 1"):
        on_card(count(shape), None, CARDS["h100"], tokens=1, batch=0)


@pytest.mark.parametrize(
    ("time", "said"),
    [(2e-6, "2.00 µs"), (0.25, "250 ms"), (99.0, "99.0 s"), (600, "10.0 minutes"), (7200, "2.00 hours"),
     (86400 * 30, "30.0 days"), (365.25 * 86400 * 10, "10.0 years")],
)  # fmt: skip
def test_a_time_has_the_unit_that_fits_it(time: float, said: str) -> None:
    assert words.seconds(time) == said
