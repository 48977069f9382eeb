"""Every public name is reached as the first access of a process: those that the texts promise, and those of a list."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import inspector
import models
from tests.rounds import in_turn

ROOT = Path(__file__).parents[1]
TEXTS = ("*.md", "docs/*.md", "models/README.md")
# A file's name (docs/models.md, models.py), a keyword's value and a command (python -m ...) are no names of Python.
NAME = re.compile(r"(?<![\w/.\"])(?<!-m )((?:inspector|models)(?:\.[A-Za-z_]\w*)+)(?![\w/])")
LISTED = (
    *("inspector.record", "inspector.record_batch", "inspector.open", "inspector.show"),
    *("inspector.Trace", "inspector.AttentionSite", "inspector.heads.measure", "inspector.normalization.statistics"),
    *("inspector.positional.table", "inspector.costs.breakdown", "inspector.decoding_costs", "inspector.maps"),
    *("inspector.flow", "inspector.lens", "inspector.explain", "inspector.exactness"),
    *("inspector.compare", "inspector.alignment", "inspector.head_distances", "inspector.export"),
    *(
        "inspector.export.write",
        "inspector.report",
        "inspector.sections.show",
        "inspector.text",
        "inspector.generating",
        "inspector.beams",
        "inspector.importance",
    ),
    *(
        "inspector.interventions.mask",
        "inspector.interventions.swap",
        "inspector.interventions.drop",
        "inspector.plots.attention.heatmap",
    ),
    *("inspector.plots.costs", "inspector.plots.normalization", "inspector.plots.positional", "inspector.plots.flow"),
    *("inspector.plots.explain", "inspector.plots.lab", "inspector.plots.training", "inspector.plots.theme"),
    *("models.load", "models.catalogue", "models.own_implementation", "models.Card"),
    *("models.LoadedModel", "models.LoadedModel.generate", "models.hub", "models.folders"),
    *("models.failures", "models.output_projection.find", "models.training.lab", "models.train"),
    *(
        "models.convert.from_transformers",
        "models.convert.config_from_transformers",
        "models.transformer.Encoder",
        "models.transformer.Decoder",
    ),
    *("models.transformer.EncoderDecoder", "models.transformer.build", "models.transformer.config.TransformerConfig"),
)
TRACE = ("attention", "cut", "encoding", "norms", "scores", "sites", "tokens")
# Libraries first, which take seconds; then a child process for each name, in which nothing of the project is imported.
FIRST = """
import json, os, pkgutil, sys
import pandas, plotly.graph_objects, tokenizers, torch, transformers.modeling_utils
def reach(name):
    if name.startswith("models."):
        return pkgutil.resolve_name(name)
    found = __import__("inspector")
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found
missing = {}
for name in json.loads(sys.argv[1]):
    assert not {"inspector", "models"} & set(sys.modules)
    out, into = os.pipe()
    if (child := os.fork()) == 0:
        try:
            reach(name)
        except BaseException as error:
            os.write(into, f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    os.close(into)
    with open(out, "rb") as said:
        if text := said.read().decode():
            missing[name] = text
    _, code = os.waitpid(child, 0)
    if code:
        missing.setdefault(name, f"the process ended with {code}")
print(json.dumps(missing))
"""


def promised() -> set[str]:
    """Collect the names that the texts promise."""
    files = (path for pattern in TEXTS for path in ROOT.glob(pattern) if path.name != "CONTRIBUTING.md")
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return {name for name in NAME.findall(text) if not name.endswith((".py", ".md"))}


def everything() -> list[str]:
    """Collect all public names but those that are reached on the way to another."""
    public = {f"inspector.{name}" for name in inspector.__all__}
    drawn = {f"inspector.plots.{name}" for name in inspector.plots.__all__}
    names = promised() | set(LISTED) | public | drawn | {f"models.{name}" for name in models.__all__}
    return sorted(name for name in names if not any(other.startswith(f"{name}.") for other in names))


def missing(names: list[str]) -> dict[str, str]:
    """Reach each name in a fresh process; the result tells what was not found, and why."""
    command = [sys.executable, "-W", "ignore", "-c", FIRST, json.dumps(names)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.skipif(sys.platform == "win32", reason="forks a process for each name")
@pytest.mark.heavy
def test_every_public_name_is_reached_first_and_one_that_vanished_would_be_seen() -> None:
    gone = ["inspector.gone", "inspector.heads.gone", "models.gone", "models.transformer.Gone"]
    not_found = missing([*in_turn(everything(), of=2), *gone])
    assert {name: why for name, why in not_found.items() if name not in gone} == {}
    assert sorted(not_found) == gone


def test_the_texts_promise_what_is_listed_here() -> None:
    """The expression still finds the names in the texts."""
    found = promised()
    assert {"inspector.record", "inspector.heads.measure", "models.load", "models.hub", "inspector.beams"} <= found
    assert len(found) > 20


@pytest.mark.parametrize("name", TRACE)
def test_a_trace_keeps_its_names(name: str) -> None:
    assert hasattr(inspector.Trace, name) or name in inspector.Trace.__dataclass_fields__
