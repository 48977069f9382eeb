"""A document held to the schema as any other program would hold it: by its kind alone."""

from __future__ import annotations

import json
from typing import Any

from jsonschema import Draft202012Validator

from inspector import plain

SCHEMA = plain.schema()
VALIDATOR = Draft202012Validator(SCHEMA)


def held(printed: str) -> dict[str, Any]:
    """Read one line of JSON, which has no NaN and no infinity, and hold it to the schema."""
    (line,) = printed.splitlines()
    document: dict[str, Any] = json.loads(line, parse_constant=_refuse)
    Draft202012Validator({"$ref": f"#/$defs/{document['kind']}", "$defs": SCHEMA["$defs"]}).validate(document)
    VALIDATOR.validate(document)
    return document


def rows(table: dict[str, Any]) -> list[dict[str, Any]]:
    """Give a table's rows by the names of its columns."""
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")
