from __future__ import annotations

import html
import math

import numpy as np
import pytest

from inspector import text
from inspector.plots import theme

MODES = ("light", "dark")

# Full colour blindness as a matrix on linear RGB: Machado, Oliveira and Fernandes 2009, table 1, severity 1.
VISION = {
    "all colours": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(colour: str) -> np.ndarray:
    share = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def cielab(colours: tuple[str, ...], vision: str = "all colours") -> np.ndarray:
    """CIE 1976 L*a*b* (D65) of hex colours as seen by a kind of colour vision: [n, 3]."""
    seen = np.clip([np.array(VISION[vision]) @ linear(colour) for colour in colours], 0, 1)
    xyz = seen @ np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]).T
    x, y, z = np.where((t := xyz / [0.9505, 1, 1.089]) > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def contrast(first: str, second: str) -> float:
    """WCAG 2.1 contrast ratio."""
    bright, dark = sorted(
        (float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (first, second)), reverse=True
    )
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("mode", MODES)
def test_the_sequential_scale_takes_even_steps_of_lightness_for_every_eye(mode: str, vision: str) -> None:
    steps = np.diff(cielab(theme.SEQUENTIAL[mode], vision)[:, 0]) * (-1 if mode == "light" else 1)
    assert len(steps) >= 8
    assert steps.min() > 0
    assert steps.max() / steps.min() < 1.3  # viridis has 1.4 at as many stops


@pytest.mark.parametrize("mode", MODES)
def test_the_sequential_scale_keeps_one_hue(mode: str) -> None:
    _, a, b = cielab(theme.SEQUENTIAL[mode][1:]).T
    assert np.ptp(np.degrees(np.arctan2(b, a))) < 35  # CIELAB bends blues by as much; a rainbow turns by 270


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("mode", MODES)
def test_several_heads_are_told_apart_by_every_eye(mode: str, vision: str) -> None:
    seen = cielab(theme.HEADS[mode], vision)
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=-1)[~np.eye(len(seen), dtype=bool)]
    assert apart.min() > 15  # where 2 or 3 can just be seen
    assert min(contrast(colour, theme.BACKGROUND[mode]) for colour in theme.HEADS[mode]) > 2


@pytest.mark.parametrize("mode", MODES)
def test_zero_is_the_background(mode: str) -> None:
    assert theme.SEQUENTIAL[mode][0] == theme.BACKGROUND[mode]
    stops = theme.DIVERGING[mode]
    assert len(stops) % 2 == 1
    assert stops[len(stops) // 2] == theme.BACKGROUND[mode]


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("mode", MODES)
def test_the_diverging_scale_tells_its_signs_apart_and_treats_them_alike(mode: str, vision: str) -> None:
    lab = cielab(theme.DIVERGING[mode], vision)
    middle = len(lab) // 2
    below, above = lab[:middle][::-1], lab[middle + 1 :]
    apart = np.linalg.norm(below - above, axis=1)
    assert apart.min() > 15  # a difference of 2.3 is just noticed
    assert np.abs(below[:, 0] - above[:, 0]).max() < 8  # equal amounts look equally strong
    for arm in (below, above):
        assert (np.diff(arm[:, 0]) * (-1 if mode == "light" else 1) > 0).all()


@pytest.mark.parametrize("mode", MODES)
def test_text_and_parts_stand_out_from_the_page(mode: str) -> None:
    background = theme.BACKGROUND[mode]
    assert contrast(theme.TEXT[mode], background) > 7
    assert contrast(theme.MUTED[mode], background) > 4.5
    for part in ("attention", "ffn", "norm", "positions", "residual", "embedding", "prediction"):
        assert contrast(theme.PART[mode][part], background) > 3, part


def test_both_modes_colour_the_same_parts() -> None:
    assert theme.PART["light"].keys() == theme.PART["dark"].keys()
    assert all(theme.template(mode).layout.paper_bgcolor == theme.BACKGROUND[mode] for mode in MODES)


def test_plotly_scales_run_from_0_to_1() -> None:
    assert theme.plotly_scale(("#000000", "#111111", "#222222")) == [
        [0.0, "#000000"],
        [0.5, "#111111"],
        [1.0, "#222222"],
    ]
    assert [at for at, _ in theme.root_scale(("#0", "#1", "#2"))] == [0.0, 0.25, 1.0]
    assert [at for at, _ in theme.root_scale(("#0", "#1", "#2", "#3", "#4"), signed=True)] == [
        0.0,
        0.375,
        0.5,
        0.625,
        1.0,
    ]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((0.123456, "0.123"), (0.5, "0.500"), (4.5, "4.50"), (99.95, "100"), (0.09996, "0.100"), (-0.5, "-0.500")),
        *((12345, "12,300"), (999.6, "1,000"), (0, "0"), (1.234e-7, "1.23e-07"), (2.5e9, "2.50e+09")),
        *((math.nan, "–"), (-math.inf, "−∞"), (math.inf, "∞")),
    ],
)
def test_numbers_have_three_significant_digits(value: float, shown: str) -> None:
    assert text.number(value) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        *((22_347_251_712, "FLOP", "22.3 GFLOP"), (999_999, "", "1.00 M"), (768, "", "768"), (0, "B", "0 B")),
        *((109_482_240, "", "109 M"), (1.7e12, "FLOP", "1.70 TFLOP")),
    ],
)
def test_quantities_have_an_si_prefix(value: float, unit: str, shown: str) -> None:
    assert text.quantity(value, unit) == shown


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("cat", "cat"),
        ("<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"),
        ("&lt;b&gt;", "&lt;b&gt;"),
        ("$x^2$", "$x^2$"),
        ("a\u200bb", "aU+200Bb"),
        ("\n", "U+000A"),
        ("\u202eevil", "U+202Eevil"),
        ("\u00ad", "U+00AD"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("a\u200d", "aU+200D"),
        ("", ""),
    ],
)
def test_a_token_is_shown_letter_by_letter(token: str, shown: str) -> None:
    literal = theme.literal(token)
    assert html.unescape(literal) == shown
    assert not set(literal) & set("<>$")


def test_a_token_axis_keeps_every_token_and_labels_at_most_40() -> None:
    short = theme.token_axis(["the", "cat", "the"], title="key")
    assert list(short["ticktext"]) == ["the", "cat", "the"]
    assert [round(at) for at in short["tickvals"]] == [0, 1, 2]
    assert theme.token_names(["the", "cat", "the"]) == ["0 the", "1 cat", "2 the"]

    long = theme.token_axis([f"t{index}" for index in range(512)], title="key")
    assert len(long["ticktext"]) <= 40
    assert [f"{round(at)} t{round(at)}" for at in long["tickvals"]] == list(long["ticktext"])

    cut = theme.token_axis(["<" * 30], title="key")["ticktext"][0]
    assert html.unescape(cut) == "<" * 15 + "…"
