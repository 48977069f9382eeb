"""Plain values: what JSON has not is written one way, and what it has is read back as it was."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator

from inspector import plain
from inspector.plain.values import value
from tests.inspector.plain.held import SCHEMA, held


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (math.nan, None),
        (np.float32("nan"), None),
        (math.inf, "Infinity"),
        (np.float32("-inf"), "-Infinity"),
        (np.float32(0.1), 0.1),
        (np.float64(0.1), 0.1),
        (np.int64(7), 7),
        (2**70, 2**70),
        (0.0, 0.0),
    ],
)
def test_a_number_is_written_one_way(given: float, written: object) -> None:
    assert plain.number(given) == written
    assert type(plain.number(given)) in (int, float, str, type(None))
    Draft202012Validator({"$ref": "#/$defs/number", "$defs": SCHEMA["$defs"]}).validate(plain.number(given))


def test_float32_is_read_back_to_the_bit() -> None:
    numbers = np.random.default_rng(0).standard_normal(2000).astype(np.float32) * np.float32(1e-20)
    numbers = np.concatenate([numbers, np.float32([1e-45, 3.4e38, -0.0, 1 / 3])])
    read = json.loads(json.dumps(plain.matrix(numbers[None])))
    np.testing.assert_array_equal(np.array(read, dtype=np.float32).view(np.int32)[0], numbers.view(np.int32))


def test_infinities_are_read_back_by_python() -> None:
    assert [float(plain.number(given)) for given in (math.inf, -math.inf)] == [math.inf, -math.inf]


def test_a_table_keeps_its_order_and_says_what_is_left_out() -> None:
    frame = pd.DataFrame({"layer": pd.array([0, pd.NA, 2], "Int64"), "share": [0.5, math.nan, math.inf]})
    frame["kept"] = [True, False, True]
    assert plain.table(frame) == {
        "columns": ["layer", "share", "kept"],
        "rows": [[0, 0.5, True], [None, None, False], [2, "Infinity", True]],
    }
    assert plain.table(frame, most=1) == {
        "columns": ["layer", "share", "kept"],
        "rows": [[0, 0.5, True]],
        "left_out": 2,
    }
    assert plain.table(frame.set_index("kept"))["columns"] == ["kept", "layer", "share"]
    assert plain.table(frame.head(0)) == {"columns": ["layer", "share", "kept"], "rows": []}


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="the column 'a' twice"):
        plain.table(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_what_has_no_plain_form_is_refused() -> None:
    with pytest.raises(TypeError, match="a object has no plain form"):
        value({"a": [object()]})


def test_nothing_that_a_terminal_obeys_leaves_a_document() -> None:
    text = "a\x1b[31m\x9b2J\u202eb\u200b\u2028猫\ud800\x07"
    line = plain.printed(plain.document("error", error=text))
    assert all(letter.isprintable() for letter in line)
    assert "猫" in line
    assert json.loads(line)["error"] == text
    assert held(line)["error"] == text


def test_a_planted_fault_is_seen_by_the_schema() -> None:
    right = plain.document("error", error="No.")
    assert held(plain.printed(right)) == right
    for wrong in (right | {"more": 1}, right | {"schema": 2}, right | {"kind": "heads"}, right | {"error": None}):
        with pytest.raises(Exception, match=r".") as refused:
            held(plain.printed(wrong))
        assert type(refused.value).__name__ == "ValidationError"
    with pytest.raises(AssertionError, match="NaN is no JSON"):
        held('{"schema": 1, "kind": "error", "error": NaN}')


def test_the_schema_is_one_and_names_every_kind() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    kinds = {name for name, given in SCHEMA["$defs"].items() if "kind" in given.get("properties", {})}
    assert {choice["$ref"].removeprefix("#/$defs/") for choice in SCHEMA["oneOf"]} == kinds
    assert all(SCHEMA["$defs"][kind]["properties"]["kind"]["const"] == kind for kind in kinds)
    assert all(SCHEMA["$defs"][kind]["properties"]["schema"]["const"] == plain.SCHEMA for kind in kinds)
