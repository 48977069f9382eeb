"""A server of tools for other programs, on stdin and stdout (Model Context Protocol).

python -m inspector.mcp                             the models that come along
python -m inspector.mcp --model ./mine              and one of yours
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

from inspector.plain import command
from models import settings
from models.limits import Limits


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stdin ends; returns the exit code, 2 with one sentence on stderr where it cannot begin."""
    return command.run(_run, arguments)


def _run(given: Sequence[str]) -> int:
    parser = command.Parser(
        prog="python -m inspector.mcp",
        description="Serve Headlight's tools on stdin and stdout. Nothing listens on the network.",
    )
    parser.add_argument(
        "--model",
        metavar="NAME",
        action="append",
        default=[],
        help="a folder or org/name that may be asked for, beside the models that come along; may be given again",
    )
    options = parser.parse_args(given)
    if find_spec("mcp") is None:
        raise ValueError(
            "The server needs the package mcp: pip install 'headlight-inspector[mcp]', "
            "or -r requirements-mcp.txt in the repository"
        )
    settings.check()

    import anyio

    from inspector.mcp.instrument import Instrument
    from inspector.mcp.server import serve

    anyio.run(serve, Instrument(Limits.from_environment(), allowed=options.model))
    return 0


if __name__ == "__main__":
    sys.exit(main())
