"""Every word that a reader sees: a folder a language, a file a page. Only this module chooses the language.

A sentence is Markdown; every token of a text goes through `inspector.text.token`, which shows it letter by letter.

```python
from inspector.wording import attention as words  # inspector/wording/english/attention.py

words.grid(Grid(heads=72, counts={"previous": 21, "broad": 4}, tokens={}))
```
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.wording.english import atlas as atlas
    from inspector.wording.english import atlas_beside as atlas_beside
    from inspector.wording.english import atlas_card as atlas_card
    from inspector.wording.english import attention as attention
    from inspector.wording.english import batch as batch
    from inspector.wording.english import block as block
    from inspector.wording.english import compare as compare
    from inspector.wording.english import costs as costs
    from inspector.wording.english import exactness as exactness
    from inspector.wording.english import experts as experts
    from inspector.wording.english import find as find
    from inspector.wording.english import generate as generate
    from inspector.wording.english import gradients as gradients
    from inspector.wording.english import lab as lab
    from inspector.wording.english import layernorm as layernorm
    from inspector.wording.english import left_out as left_out
    from inspector.wording.english import lesson_collect as lesson_collect
    from inspector.wording.english import lesson_file as lesson_file
    from inspector.wording.english import lessons as lessons
    from inspector.wording.english import maps as maps
    from inspector.wording.english import mixers as mixers
    from inspector.wording.english import notebook as notebook
    from inspector.wording.english import pages as pages
    from inspector.wording.english import patching as patching
    from inspector.wording.english import phrases as phrases
    from inspector.wording.english import positions as positions
    from inspector.wording.english import practice as practice
    from inspector.wording.english import practice_verdict as practice_verdict
    from inspector.wording.english import queue as queue
    from inspector.wording.english import report as report
    from inspector.wording.english import score_functions as score_functions
    from inspector.wording.english import score_theory as score_theory
    from inspector.wording.english import scores as scores
    from inspector.wording.english import shell as shell
    from inspector.wording.english import switches as switches
    from inspector.wording.english import terms as terms
    from inspector.wording.english import time as time
    from inspector.wording.english import tokens as tokens
    from inspector.wording.english import training as training
    from inspector.wording.english import what_if as what_if
    from inspector.wording.english import writers as writers

FOLDERS = {"en": "english", "zh": "chinese"}
LANGUAGE = "en"


def in_language(language: str, name: str) -> ModuleType:
    """Return the module `name` in a language, for pages in several languages: in_language("zh", "questions.page")."""
    return import_module(f"{__name__}.{FOLDERS[language]}.{name}")


def __getattr__(name: str) -> ModuleType:
    """Return a page's words in the chosen language, at first use."""
    module = f"{__name__}.{FOLDERS[LANGUAGE]}.{name}"
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise AttributeError(f"{__name__} has no words {name!r}") from None
