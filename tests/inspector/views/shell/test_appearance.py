"""A page's main button in the light and in the dark: what is written on it can be read on its ground."""

from __future__ import annotations

import re

import pytest
import streamlit as st

from inspector.views.shell import appearance


def luminance(colour: str) -> float:
    """The relative luminance of sRGB (WCAG 2.2)."""
    values = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values]
    return sum(share * value for share, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    dark, light = sorted(luminance(colour) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def test_the_label_in_the_light_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(appearance, "mode", lambda: "light")
    assert appearance.on_accent("Start", ":material/play_arrow:") == ("Start", ":material/play_arrow:")
    assert contrast(st.get_option("theme.light.primaryColor"), "#ffffff") >= 4.5


def test_the_label_in_the_dark_brings_its_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(appearance, "mode", lambda: "dark")
    label, icon = appearance.on_accent("Start", ":material/play_arrow:")
    found = re.fullmatch(r':color\[(.*)\]\{foreground="(#\w{6})" background="(#\w{6})"\}', label)
    assert found is not None
    assert (found[1], icon) == (":material/play_arrow: Start", None)
    assert found[3] == st.get_option("theme.dark.primaryColor")
    assert contrast(found[2], found[3]) >= 4.5
    assert appearance.on_accent("Start", disabled=True) == ("Start", None)  # on the page's ground
