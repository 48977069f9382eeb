"""The instrument: record a model on a text, then read every layer and head.

```python
import inspector, models

trace = inspector.record(models.load("minilm"), "The cat sat on the mat because it was tired.")
inspector.heads.measure(trace)  # DataFrame, a row per stream, layer and head
```

Each module and room of this folder can be reached as an attribute, without an import of its own.
"""

# ruff: noqa: F401  (a type checker reads these imports; at run time __getattr__ makes the same ones)
from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspector import (
        activations,
        alignment,
        atlas,
        batches,
        block,
        compare,
        components,
        costs,
        distance,
        exactness,
        examples,
        explain,
        export,
        feedforward,
        flow,
        generating,
        head_distances,
        head_roles,
        head_search,
        heads,
        interventions,
        lab,
        lab_results,
        lens,
        long_texts,
        maps,
        masked_lm,
        memory,
        mixing,
        normalization,
        one_token,
        overview,
        pairs,
        patching,
        plain,
        plots,
        positional,
        probe,
        questions,
        routing,
        row_statistics,
        scores,
        sections,
        segments,
        self_checks,
        sentence_vectors,
        sharing,
        stepwise,
        text,
        token_links,
        trace,
        training,
        vocabularies,
        wording,
        writers,
    )
    from inspector.batches import record_many
    from inspector.costs import decoding as decoding_costs
    from inspector.export import report, show
    from inspector.generating import beams
    from inspector.interventions import gradients, importance, leave_one_out
    from inspector.probe import hold, record, record_batch, record_blocks, record_routing
    from inspector.trace import AttentionSite, PaddedBatch, Trace, from_attention
    from inspector.trace.file import open, save

_NAMES = {
    "AttentionSite": "trace",
    "PaddedBatch": "trace",
    "Trace": "trace",
    "from_attention": "trace",
    "hold": "probe",
    "open": "trace.file",
    "record": "probe",
    "record_batch": "probe",
    "record_blocks": "probe",
    "record_many": "batches",
    "record_routing": "probe",
    "report": "export",
    "save": "trace.file",
    "show": "export",
}
_PAGES = ("__main__", "mcp", "views")  # what runs Headlight itself
_MODULES = {
    **{module.name: module.name for module in pkgutil.iter_modules(__path__) if module.name not in _PAGES},
    "beams": "generating.beams",
    "decoding_costs": "costs.decoding",
    "gradients": "interventions.gradients",
    "importance": "interventions.importance",
    "leave_one_out": "interventions.leave_one_out",
}

__all__ = sorted([*_NAMES, *_MODULES])


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import on first use: torch and transformers take seconds, and the page draws its shell before."""
    if name in _NAMES:
        return getattr(importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{_MODULES[name]}")
    from models.guesses import no_attribute

    raise no_attribute(f"module {__name__!r}", name, known=__all__, elsewhere={})
