"""The JSON Schema of all documents, printed.

python -m inspector.plain > headlight.schema.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from inspector.plain import command
from inspector.plain.values import schema


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the schema; returns the exit code, 2 where there is anything to be said of the arguments."""
    return command.run(_run, arguments)


def _run(given: Sequence[str]) -> int:
    command.Parser(prog="python -m inspector.plain", description="Print the JSON Schema of all documents.").parse_args(
        given
    )
    print(json.dumps(schema(), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
