"""Comparison of what pages tell before and after a change of their code: sentences, tables, figures' data and maps.

```sh
python -m tests.same_truth dump before.json --pages Block LayerNorm   # at the commit before, then at the one after
python -m tests.same_truth compare before.json after.json            # what only one of them tells; 1 where any differs
```
A case is a page, a section, a model and a text. Elements are compared as sets: where they stand is for the eye.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

CAT, WALK = "The cat sat on the mat because it was tired.", "She walks to the river bank, and sits by the river."
TEXTS: dict[str, tuple[str, ...]] = {
    "minilm": (CAT, WALK, "Yes."),
    "mini-gpt": ("He said that the old man was the first.", CAT),
    "translator": ("I love cats and dogs.",),
    "mini-bert-zh": ("猫坐在垫子上，因为它累了。",),
}


def cases(pages: list[str]) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield (name, page, link) of each page, section, model and text; the bar of a page tells its sections."""
    from tests.inspector.views.page import opened

    for page in pages:
        bar = [one for one in opened(page).segmented_control if one.key == "section"]
        for section in bar[0].options if bar else [""]:
            for model, texts in TEXTS.items():
                for text in texts:
                    link = {"model": model, "text": text} | ({"section": section} if section else {})
                    yield f"{page} / {section} / {model} / {text}", page, link


def told(app: AppTest) -> list[str]:
    """List what a page tells, an element a line."""
    kinds = ("header", "subheader", "markdown", "caption", "text", "warning", "code", "metric")
    lines = [f"{kind}: {element.value}" for kind in kinds for element in app.get(kind)]
    for element in app.get("plotly_chart"):
        for trace in json.loads(element.proto.spec)["data"]:
            kept = {key: _plain(trace[key]) for key in ("x", "y", "z", "name", "text", "base") if trace.get(key)}
            lines.append(f"figure {trace.get('type')}: {_short(kept)}")
    for frame in app.dataframe:
        lines.append(f"table: {list(frame.value.columns)} {_short(frame.value.to_csv(index=False))}")
    for element in app.get("bidi_component"):
        lines.append(
            f"component {element.proto.component_name}: {_short(hashlib.sha256(element.proto.bytes).hexdigest())}"
        )
    return sorted(line for line in lines if "the recording takes" not in line)  # which counts what is held, not said


def _plain(values: Any) -> Any:
    """Read plotly's arrays, some of which are bytes in base64."""
    if isinstance(values, dict) and "bdata" in values:
        array = np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
        return array.astype(float).round(12).tolist()
    return (
        [float(value) if isinstance(value, int) else value for value in values] if isinstance(values, list) else values
    )


def _short(value: Any) -> str:
    written = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return f"{written[:160]} #{hashlib.sha256(written.encode()).hexdigest()[:12]}"


def dump(path: Path, pages: list[str]) -> None:
    """Write what each case tells."""
    from tests.inspector.views.page import opened

    record = {}
    for name, page, link in cases(pages):
        app = opened(page, **link)
        record[name] = told(app)
        print(f"{len(record[name]):4} {name}", file=sys.stderr)
    path.write_text(json.dumps(record, ensure_ascii=False, indent=1), encoding="utf-8")


def compare(before: Path, after: Path) -> int:
    """Print what only one of two dumps tells; count the cases in which they differ."""
    one, other = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    different = 0
    for name in sorted(one.keys() | other.keys()):
        a, b = Counter(one.get(name, ())), Counter(other.get(name, ()))
        if a == b:
            continue
        different += 1
        print(name)
        for sign, lines in (("-", a - b), ("+", b - a)):
            for line in sorted(lines.elements()):
                print(f"  {sign} {line}")
    print(f"{len(one)} and {len(other)} cases, {different} differ")
    return different


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("dump")
    writing.add_argument("path", type=Path)
    writing.add_argument("--pages", nargs="+", required=True)
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "dump":
        dump(arguments.path, arguments.pages)
    else:
        sys.exit(bool(compare(arguments.before, arguments.after)))
