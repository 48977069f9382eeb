"""The inside of a stream's layers, recorded once for a text: what all sections of the page Block start from."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from inspector import block, probe
from inspector.wording import block as words
from models.tokenizers import NoTokenizer

if TYPE_CHECKING:
    from torch import nn

    import models
    from inspector.block import Stage
    from inspector.sections.subject import Subject
    from inspector.trace.blocks import Blocks

SHORT = "A few words."  # enough to see whether a model's blocks can be followed
_reasons: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()  # why a network's blocks cannot be followed


def blocks(subject: Subject) -> Blocks:
    """Record what each sublayer of the model reads and adds; ValueError where it does not show it."""
    return subject.of_text("blocks", lambda: probe.record_blocks(subject.model, subject.trace))


def stages(subject: Subject) -> list[Stage]:
    """List every sublayer of the stream."""
    return subject.once("stages", lambda: block.stages(subject.trace, blocks(subject), stream=subject.stream))


def code(subject: Subject) -> str:
    """Write the Python lines after which `blocks` is there."""
    return f"{subject.code}blocks = inspector.record_blocks(loaded, trace)\n"


def streams(subject: Subject) -> tuple[str, ...]:
    """List the streams whose layers were seen; all streams of a model none of whose layers was."""
    try:
        return tuple(dict.fromkeys(layer.stream for layer in blocks(subject).layers))
    except ValueError:  # which a section that needs the layers says
        return subject.trace.streams


def why_not(loaded: models.LoadedModel) -> str:
    """Return why the model's blocks cannot be followed, "" where they can: tried once, on a few words."""
    if loaded.network not in _reasons:
        _reasons[loaded.network] = _tried(loaded)
    return _reasons[loaded.network]


def _tried(loaded: models.LoadedModel) -> str:
    target = SHORT if loaded.shape == "encoder-decoder" else None
    try:
        if isinstance(loaded.tokenizer, NoTokenizer):
            trace = probe.record(loaded, tokens=range(3))
        else:
            trace = probe.record(loaded, SHORT, target=target)
        recorded = probe.record_blocks(loaded, trace)
        for stream in {layer.stream for layer in recorded.layers}:
            block.stages(trace, recorded, stream=stream)
    except ValueError as error:
        return str(error).replace(loaded.card.id, loaded.card.title)
    return "" if recorded.layers else words.NO_LAYER
