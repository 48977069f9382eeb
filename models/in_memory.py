"""A model that is in memory already, a transformers model or a network of this project, ready to be inspected.

It is run and watched on a twin (models/twin.py), so that the model itself is never changed: other threads may train or
run it meanwhile. A step of training in the midst of a recording is seen by the layers that run after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from copy import deepcopy
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from models.failures import told
from models.loaded import Card, LoadedModel
from models.tokenizers import NoTokenizer

if TYPE_CHECKING:  # torch and transformers take seconds to import: they come with the first model
    from torch import nn

    from models.transformer.variants import Network

_YOURS = "your "  # begins the id of a model in memory
_TOKENIZER = "Give a fast tokenizer of transformers, such as AutoTokenizer.from_pretrained(...) returns"
_PLAIN = frozenset((bool, int, float, str))
_UNREAD = frozenset(("_output_capturing_hooks_installed", "_attn_implementation_internal"))
"""Settings of a module and of its configuration that a twin does not take over."""


@dataclass(frozen=True)
class _Kept:
    """A model as it was made ready, with what it was then: its state, and the tokenizer as given with its length."""

    state: tuple[object, ...]
    tokenizer: Any
    tokens: int
    loaded: LoadedModel


_kept: WeakKeyDictionary[nn.Module, _Kept] = WeakKeyDictionary()
_ids: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()
_classes: Counter[str] = Counter()
_making = Lock()


def of(model: LoadedModel | nn.Module, *, tokenizer: Any = None) -> LoadedModel:
    """Make a model that is in memory ready to be inspected: a transformers model, or a network of models.transformer.

    ```python
    loaded = models.of(model, tokenizer=tokenizer)
    trace = inspector.record(loaded, "The cat sat on the mat.")
    ```

    The weights are the model's own memory, read as they are when a text is recorded. The model keeps its attention, its
    mode, its hooks and its gradients; what is recorded is run in eval mode and without its hooks. The answer is kept as
    long as the model lives, and made anew where its weights or settings have changed; a tokenizer that was given once
    is remembered. Without a tokenizer the model reads ids alone (`record(..., tokens=[...])`). A LoadedModel is
    returned unchanged.

    Raises ValueError for what is no such model, a tokenizer that is not fast, a model without a twin that computes the
    same (see `models.twin.check_copyable`), weights that are not finite, and attention that cannot be captured.
    """
    if isinstance(model, LoadedModel):
        if tokenizer is not None:
            raise ValueError(f"tokenizer goes with a model in memory, and {model.card.id!a} has a tokenizer already")
        return model
    _check_model(model)
    if tokenizer is not None:
        _check_tokenizer(tokenizer)
    with _making:
        kept, state = _kept.get(model), tuple(_state_of(model))
        if tokenizer is None and kept is not None:
            tokenizer = kept.tokenizer
        tokens = 0 if tokenizer is None else len(tokenizer)
        same = kept is not None and kept.tokenizer is tokenizer and kept.tokens == tokens
        if kept is None or not same or kept.state != state:
            copied = kept.loaded.tokenizer if kept is not None and same else _copied(tokenizer, model)
            kept = _kept[model] = _Kept(state, tokenizer, tokens, _made(model, copied))
        return kept.loaded


def forget_tokenizer(model: LoadedModel | nn.Module) -> None:
    """Forget the tokenizer that a model in memory was given; the next call gives it anew."""
    if not isinstance(model, LoadedModel):
        _kept.pop(model, None)


def is_of(loaded: LoadedModel, id: str) -> bool:
    """Tell whether a recording of this id may be of the model; ids of models in memory are counted anew each time."""
    return loaded.card.id == id or (loaded.live and id.startswith(_YOURS))


def not_loaded(model: object) -> str:
    """Say that something is no LoadedModel, and what to give instead."""
    kind = type(model).__name__[:60]
    named = f"{model[:60]!a} is no loaded model but" if isinstance(model, str) else "this is no loaded model but"
    out = 'give what models.load returns, such as models.load("minilm"), or what models.of makes of a model in memory'
    return f"{named} a {kind}: {out}"


def _check_model(model: object) -> None:
    """Raise ValueError with the way out for all but a transformers model and a network of this project."""
    from torch import nn

    if not isinstance(model, nn.Module):
        raise ValueError(not_loaded(model))
    from models.twin import named

    if not _is_known(model):
        parts = (f"{named(part)}, at {path[:100]!a}" for path, part in model.named_modules() if _is_known(part))
        inside = next(parts, None)
        out = "give a model of transformers, or a network of models.transformer"
        out = out if inside is None else f"it holds a {inside}: give that part, by get_submodule or as an attribute"
        raise ValueError(f"{named(model)} is neither a model of transformers nor a network of this project; {out}")


def _is_known(module: nn.Module) -> bool:
    from transformers import PreTrainedModel

    from models.transformer.masked_lm import MaskedLanguageModel
    from models.transformer.stacks import Decoder, Encoder, EncoderDecoder

    return isinstance(module, PreTrainedModel | MaskedLanguageModel | Decoder | Encoder | EncoderDecoder)


def _check_tokenizer(tokenizer: object) -> None:
    if not getattr(tokenizer, "is_fast", False) or not callable(tokenizer):
        raise ValueError(f"tokenizer is a {type(tokenizer).__name__[:60]!a} and no fast tokenizer. {_TOKENIZER}")


def _state_of(model: nn.Module) -> Iterator[object]:
    """Yield what a twin depends on: modules, their plain settings, each tensor's place and number of changes."""
    from torch import nn

    configs: dict[int, object] = {}
    ignored = _UNREAD | vars(nn.Module()).keys()
    for module in model.modules():
        settings = vars(module)
        if (config := settings.get("config")) is not None:
            configs[id(config)] = config
        yield id(module), id(settings.get("forward")), _plain(settings, ignored)
        for tensors in (module._parameters, module._buffers):
            for tensor in tensors.values():
                if tensor is not None:
                    changes = 0 if tensor.is_inference() else tensor._version
                    yield id(tensor), tensor.data_ptr(), tensor.dtype, changes
    for config in configs.values():
        yield _plain(getattr(config, "__dict__", {}), _UNREAD)


def _plain(settings: Mapping[str, object], ignored: Set[str] = frozenset()) -> tuple[object, ...]:
    """List the settings that are numbers or words, or hold such."""
    return tuple((name, _frozen(value)) for name, value in settings.items() if name not in ignored)


def _frozen(value: object) -> object:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    return _plain(value) if isinstance(value, dict) else None


def _copied(tokenizer: Any, model: Any) -> Any:
    """Copy a model's tokenizer: each call of a fast one sets how it cuts and pads, and its owner may be calling it."""
    if tokenizer is None:
        rows = model.get_input_embeddings().weight if hasattr(model, "get_input_embeddings") else None
        return NoTokenizer(model.config.vocabulary if rows is None else len(rows))
    with told("Copying the tokenizer", instead=f"{_TOKENIZER}."):
        return deepcopy(tokenizer)


def _made(model: Any, tokenizer: Any) -> LoadedModel:
    from transformers import PreTrainedModel

    from models.twin import check_copyable, has_hooks
    from models.untrusted.weights import check_finite

    check_copyable(model)
    check_finite(model, instead="Take weights from before its training went wrong.")
    loaded = _of_transformers(model, tokenizer) if isinstance(model, PreTrainedModel) else _own(model, tokenizer)
    if not has_hooks(model):
        return loaded
    return replace(loaded, card=replace(loaded.card, summary=f"{loaded.card.summary} Its hooks do not run here."))


def _of_transformers(model: Any, tokenizer: Any) -> LoadedModel:
    from models.huggingface.in_memory import runner_of
    from models.registry import watched_model

    runner = runner_of(model, tokenizer)
    card = replace(_card(model, kind=runner.config.model_type), shape=runner.shape)
    return replace(watched_model(card, runner), live=True)


def _own(model: Network, tokenizer: Any) -> LoadedModel:
    from models.registry import own_model
    from models.transformer.stacks import EncoderDecoder
    from models.twin import twin

    config, card = model.config, _card(model, kind=f"this project's own {model.config.shape}")
    if isinstance(tokenizer, NoTokenizer):
        if isinstance(model, EncoderDecoder):
            raise ValueError(f"{card.id} begins its target with a token of its tokenizer: give it as tokenizer=")
    elif len(tokenizer) > min(config.vocabulary, config.decoder_vocabulary):
        raise ValueError(
            f"the tokenizer has {len(tokenizer):,} tokens and {card.id} room for {config.vocabulary:,}: give the "
            "tokenizer that it was trained with"
        )
    copied: Any = twin(model)
    made = own_model(replace(card, shape=config.shape), copied, tokenizer, max_tokens=config.max_positions)
    return replace(made, live=True)


def _card(model: nn.Module, *, kind: str) -> Card:
    """Name the model by its class, and the second of a class with a number."""
    from models.twin import named

    if model not in _ids:
        _classes[named(model)] += 1
        count = _classes[named(model)]
        _ids[model] = f"{_YOURS}{named(model)}" if count == 1 else f"{_YOURS}{named(model)} {count}"
    parameters = sum(parameter.numel() for parameter in model.parameters())
    summary = f"{kind}, {parameters:,} parameters, a model in memory, with its weights as they are when a text is read."
    return Card(_ids[model], f"Your {named(model)}", summary, "yours")
