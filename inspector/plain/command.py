"""A command of the shell: results on stdout, talk on stderr, one sentence where something is wrong.

With --json stdout holds one document and nothing else, of an error too: {"schema": 1, "kind": "error", "error": "..."}.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from models import failures
from models.formatting import shortened

JSON = "--json"


class Parser(argparse.ArgumentParser):
    """A parser that refuses with a ValueError, so that a wrong option is told as every other mistake is."""

    def error(self, message: str) -> NoReturn:
        """Raise ValueError with what is wrong."""
        raise ValueError(f"{shortened(message, 200)}; --help lists the options")


def run(command: Callable[[Sequence[str]], int], arguments: Sequence[str] | None, *, failed: int = 2) -> int:
    """Run a command on its arguments, those of the process where None, and return its exit code.

    Where it fails: one sentence on stderr, with --json as a document on stdout too, and the code `failed`.
    """
    given = sys.argv[1:] if arguments is None else arguments
    try:
        return command(given)
    except Exception as error:  # a command shows its reader one line, whatever fails
        logging.getLogger(__name__).debug("failed", exc_info=True)
        known = isinstance(error, ValueError | OSError)
        wrong = str(error) if known else failures.sentence(error, what="This", instead="Try another text or model.")
        sentence = " ".join(wrong.split())
        print(sentence, file=sys.stderr)
        if JSON in given:
            from inspector.plain.values import document

            show(document("error", error=sentence))
        return failed


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json to a command's options."""
    parser.add_argument(JSON, action="store_true", help="print one JSON document, and all else on stderr")


def show(plain: Mapping[str, Any]) -> None:
    """Print a document on stdout, a line of UTF-8 whatever the terminal's encoding is."""
    from inspector.plain.values import printed  # pandas, which --help does not wait for

    sys.stdout.flush()
    line = f"{printed(plain)}\n"
    if hasattr(sys.stdout, "buffer"):
        sys.stdout.buffer.write(line.encode())
        sys.stdout.buffer.flush()
    else:  # a test's or a notebook's
        sys.stdout.write(line)
