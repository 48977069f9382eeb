"""The command of an installed Headlight: it starts the page, or does one thing without a browser.

headlight-inspector                                         the page, on this machine alone
headlight-inspector heads "The cat sat." --save map.html    what each head does, or one head as a file
headlight-inspector report "The cat sat." report.html       all sections about a text
headlight-inspector questions --model minilm --list         what people say of the Transformer, put to the test
headlight-inspector atlas build minilm texts.txt --out a    every head over a corpus
headlight-inspector practice 3 mine.py                      your own causal mask, held to the real layer
headlight-inspector lessons collect *.json                  students' answers to a lesson, as a table
headlight-inspector sheet sheet.html --text "The cat sat."  the questions, to print; .apkg: cards for Anki; .csv
headlight-inspector fetch minilm smollm2                    weights of others, 84 and 93 MB, into the cache
headlight-inspector models                                  ids that a model can be asked for by
headlight-inspector record "The cat sat." --save t.npz      what was recorded, kept in a file
headlight-inspector sections                                the sections of all pages
headlight-inspector section block/added "The cat sat."      one section about a text
headlight-inspector schema                                  of the JSON that --json prints
headlight-inspector mcp                                     a server of tools for other programs, on stdin and stdout
headlight-inspector --version

heads, record, sections, section, questions, practice, atlas and models take --json.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import NoReturn

TOP = Path(__file__).parent  # where app.py stands: in the repository, and installed
DISTRIBUTION = "headlight-inspector"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code, 2 with a sentence on stderr where there is no such command."""
    match list(sys.argv[1:] if arguments is None else arguments):
        case [] | ["page", *_] as given:
            _page(given[1:])
        case ["heads", *rest]:
            from inspector.__main__ import main as heads

            return heads(rest)
        case ["report", text, path]:
            from inspector.__main__ import main as heads

            return heads([text, "--report", path])
        case ["record", *rest]:
            from inspector.__main__ import main as heads

            return heads([*rest, "--record"])
        case ["sections", *rest]:
            from inspector.__main__ import main as heads

            return heads([*rest, "--sections"])
        case ["section", path, *rest]:
            from inspector.__main__ import main as heads

            return heads([*rest, "--section", path])
        case ["schema", *rest]:
            from inspector.plain.__main__ import main as schema

            return schema(rest)
        case ["mcp", *rest]:
            from inspector.mcp.__main__ import main as mcp

            return mcp(rest)
        case ["questions", *rest]:
            from inspector.questions.__main__ import main as questions

            return questions(rest)
        case ["practice", *rest]:
            from inspector.practice.__main__ import main as practice

            return practice(rest)
        case ["lessons", *rest]:
            from inspector.lessons.__main__ import main as lessons

            return lessons(rest)
        case ["atlas", *rest]:
            from inspector.atlas.__main__ import main as atlas

            return atlas(rest)
        case ["sheet", *rest]:
            from inspector.export.questions_sheet import main as sheet

            return sheet(rest)
        case ["fetch", *rest]:
            from models.fetch.__main__ import main as fetch

            return fetch(rest)
        case ["models"]:
            from models.cards import catalogue

            print(*(f"{card.id:16} {card.title}" for card in catalogue()), sep="\n")
            return 0
        case ["models", "--json"]:
            from inspector.plain import catalogue as described
            from inspector.plain.command import show
            from models.cards import catalogue

            show(described(catalogue()))
            return 0
        case ["--version"]:
            print(f"{DISTRIBUTION} {version()}")
            return 0
        case ["-h" | "--help"]:
            print(__doc__)
            return 0
        case given:
            print(f"{' '.join(given)!a} is no command of {DISTRIBUTION}; --help lists them.", file=sys.stderr)
            return 2


def version() -> str:
    """Return the version that is installed, or that of the repository."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
        return str(project["project"]["version"])


def _page(flags: Sequence[str]) -> NoReturn:
    """Serve the page until it is interrupted, and end the process. flags: of `streamlit run`: --server.port=8502."""
    from streamlit.web import cli

    # Streamlit reads the configuration beside app.py last, so that a file in the folder of the reader does not win.
    sys.exit(cli.main(["run", str(TOP / "app.py"), *flags]))


if __name__ == "__main__":
    sys.exit(main())
