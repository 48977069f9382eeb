"""Arguments of tools: each with the JSON Schema that a client reads, and the check that it is held to.

Whoever calls a tool is a stranger: what does not fit is refused in a sentence that quotes at most a few letters of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_QUOTED = 60  # characters of what was given
MOST_OF_OBJECT = 5000  # letters of an object's values
LARGEST = 1_000_000  # a whole number, where nothing else bounds it


@dataclass(frozen=True)
class Argument:
    """An argument of a tool.

    schema: of its value, by the keywords that `_checked` knows. default: stands where it is left out, which it cannot
    be where it is `required`.
    """

    name: str
    about: str
    schema: Mapping[str, Any]
    required: bool = False
    default: Any = None

    @property
    def described(self) -> dict[str, Any]:
        """The schema with the description, and the default where there is one."""
        default = {} if self.default is None else {"default": self.default}
        return {"description": self.about, **self.schema, **default}


def text(name: str, about: str, *, required: bool = False) -> Argument:
    """Make an argument that is a text of any length."""
    return Argument(name, about, {"type": "string"}, required)


def word(name: str, about: str, *, required: bool = False, default: str | None = None) -> Argument:
    """Make an argument that is a short text: an id, a path, the name of a measure."""
    return Argument(name, about, {"type": "string", "maxLength": 200}, required, default)


def choice(name: str, about: str, options: Sequence[str], *, default: str) -> Argument:
    """Make an argument that is one of a few words."""
    return Argument(name, about, {"type": "string", "enum": list(options)}, default=default)


def whole(
    name: str, about: str, *, least: int = 0, most: int = LARGEST, required: bool = False, default: int | None = None
) -> Argument:
    """Make an argument that is a whole number, both bounds included."""
    return Argument(name, about, {"type": "integer", "minimum": least, "maximum": most}, required, default)


def schema_of(arguments: Sequence[Argument]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments."""
    return {
        "type": "object",
        "properties": {argument.name: argument.described for argument in arguments},
        "required": [argument.name for argument in arguments if argument.required],
        "additionalProperties": False,
    }


def checked(arguments: Sequence[Argument], given: Any) -> dict[str, Any]:
    """Return every argument by its name, with defaults.

    Raises ValueError for one that is missing, unknown, of another type or out of range.
    """
    if given is not None and not isinstance(given, Mapping):
        raise ValueError(f"The arguments are {_quoted(given)}: give an object.")
    values = dict(given or {})
    names = [argument.name for argument in arguments]
    if unknown := [name for name in values if name not in names]:
        raise ValueError(f"There is no argument {_quoted(unknown[0])}; there are {', '.join(names) or 'none'}.")
    result = {}
    for argument in arguments:
        value = values.get(argument.name)
        if value is None and argument.required:
            raise ValueError(f"The argument {argument.name} is missing.")
        result[argument.name] = argument.default if value is None else _checked(argument.name, value, argument.schema)
    return result


def _checked(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    match schema["type"]:
        case "string":
            if not isinstance(value, str):
                raise ValueError(f"{name} is {_quoted(value)}: give a text.")
            if len(value) > (most := schema.get("maxLength", len(value))):
                raise ValueError(f"{name} is {_quoted(value)}: give at most {most} letters.")
            if value not in schema.get("enum", (value,)):
                raise ValueError(f"{name} is {_quoted(value)}; it can be {', '.join(schema['enum'])}.")
            return value
        case "integer":
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole and not (isinstance(value, float) and value.is_integer()):
                raise ValueError(f"{name} is {_quoted(value)}: give a whole number.")
            least, most = schema["minimum"], schema["maximum"]
            if not least <= value <= most:
                raise ValueError(f"{name} is {_quoted(value)}: give a whole number from {least} to {most:,}.")
            return int(value)
        case "array":
            if not isinstance(value, list) or not 1 <= len(value) <= schema["maxItems"]:
                raise ValueError(f"{name} is {_quoted(value)}: give a list of 1 to {schema['maxItems']}.")
            return [_checked(name, each, schema["items"]) for each in value]
        case "object":
            most = schema["maxProperties"]
            if not isinstance(value, Mapping) or len(value) > most or len(ascii(value)) > MOST_OF_OBJECT:
                raise ValueError(f"{name} is {_quoted(value)}: give an object of at most {most} short values.")
            if wrong := [key for key in value if not key.isidentifier()]:
                raise ValueError(f"{name} has {_quoted(wrong[0])}, which is no id.")
            return dict(value)
        case kind:
            raise AssertionError(f"{name} has a schema of the type {kind}")


def _quoted(value: Any) -> str:
    """Quote the beginning of a value, in letters that any terminal shows."""
    if isinstance(value, int) and value.bit_length() > 200:  # Python writes no number of more than 4,300 digits
        return "a number of more than 60 digits"
    words = ascii(value)
    return words if len(words) <= _QUOTED else f"{words[:_QUOTED]}…"
