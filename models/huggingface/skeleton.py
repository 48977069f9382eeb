"""A model of transformers on the meta device: its own code with shapes alone, no weights and no memory.

```python
network = build(LlamaConfig())
with torch.no_grad(), Answers():
    network(torch.zeros(1, 6, dtype=torch.long, device="meta"))
```

The network is private to its caller: eager attention unless asked otherwise, experts as one product for each choice
(`batched_mm`), nothing to differentiate. Numbers that no machine could hold are refused before anything is built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from functools import wraps
from typing import Any, Literal

import torch
import transformers
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import MODEL_MAPPING, PreTrainedModel
from transformers.initialization import no_init_weights

from models.build_lock import LOADING
from models.config_facts import check_counts
from models.formatting import one_line
from models.huggingface.block_sparse import longest_in_full

MOST_LAYERS = 512
MOST_EXPERTS = 4096
MOST_WIDTH = 2**20
MOST_VOCABULARY = 2**24
_POSITIONS = (
    *("max_position_embeddings", "n_positions", "n_ctx", "max_encoder_position_embeddings"),
    *("max_decoder_position_embeddings", "max_source_positions", "max_target_positions"),
)
_SIZES = ("hidden_size", "num_attention_heads", "num_hidden_layers", "vocab_size")
_NO_SIZE = ("theta", "base", "seed", "token_id", "frequency", "scal", "factor", "max_length", "label", "bos_", "eos_")
_NOT_BUILT = (
    *(ValueError, TypeError, KeyError, AttributeError, IndexError, ImportError),
    *(ZeroDivisionError, AssertionError, RuntimeError, OverflowError, NotImplementedError),
)
_aten = torch.ops.aten
_choosing: ContextVar[bool] = ContextVar("choosing_experts", default=False)


def build(config: Any, *, tokens: int = 0, attention: Literal["eager", "sdpa"] = "eager") -> PreTrainedModel:
    """Build the architecture of a transformers configuration on the meta device.

    The architecture is `architectures[0]`, or the bare model where the configuration names none. tokens: the longest
    text that it will be given; tables of positions are made longer where they are shorter than that. attention: the
    code of transformers that computes it, three steps or a call of torch's scaled_dot_product_attention.

    Raises ValueError for numbers over the limits, and for a configuration that no model can be built from.
    """
    check_numbers(config)
    architecture = architecture_of(config)
    config = deepcopy(config)
    if not isinstance(config, architecture.config_class or object):  # a text's class, for a model of more than text
        config = config.get_text_config()
    try:
        for part in (config, *(getattr(config, name, None) for name in config.sub_configs)):
            if part is not None:
                _lengthen(part, tokens)
        config._attn_implementation = attention
        config._experts_implementation = "batched_mm"
        with LOADING, no_init_weights(), torch.device("meta"):
            network = architecture(config)
            network.tie_weights()
        network = network.to("meta").eval().requires_grad_(False)  # XLNet makes its parameters where it pleases
    except _NOT_BUILT as error:
        raise ValueError(
            f"{architecture.__name__} cannot be built from this configuration: {one_line(error)}"
        ) from error
    for module in network.modules():
        if "Experts" in type(module).__name__:
            _wrap_experts(module)
    _choose_for_each_text(network)
    return network


def _choose_for_each_text(network: nn.Module) -> None:
    """Let a BigBird choose between blocks and full attention for each text, as a model fresh from its file does.

    transformers goes over to full attention at the first short text, and stays there.
    """
    switched: Any = next((part for part in network.modules() if hasattr(part, "set_attention_type")), None)
    if switched is None or switched.attention_type != "block_sparse":
        return

    def choose(_: nn.Module, args: Any, kwargs: Any) -> None:
        text = next(given for given in (*args, *kwargs.values()) if isinstance(given, Tensor))
        with torch.device("meta"):
            short = text.shape[1] <= longest_in_full(network.config)
            switched.set_attention_type("original_full" if short else "block_sparse")

    switched.register_forward_pre_hook(choose, with_kwargs=True)


def architecture_of(config: Any) -> type[PreTrainedModel]:
    """Return the class that a configuration names, if it is transformers' own for it, else the bare model.

    Raises ValueError for a configuration that transformers has no model for.
    """
    names = getattr(config, "architectures", None) or [None]
    named: Any = getattr(transformers, names[0], None) if isinstance(names[0], str) else None
    if isinstance(named, type) and issubclass(named, PreTrainedModel) and named is not PreTrainedModel:
        declared: type[PreTrainedModel] = named
        return declared
    if type(config) not in MODEL_MAPPING:
        name = names[0] or getattr(config, "model_type", None) or type(config).__name__
        raise ValueError(f"transformers has no model {str(name)[:60]!a}, so there is no code to count")
    listed = MODEL_MAPPING[type(config)]
    bare: type[PreTrainedModel] = listed[0] if isinstance(listed, tuple | list) else listed
    return bare


def check_numbers(config: Any) -> None:
    """Raise ValueError for a size below 1, no whole number, or over what any published model has.

    Layers are at most 512, experts 4,096, widths 2^20, vocabularies and positions 2^24: a model within these limits is
    laid out in seconds and takes no memory for weights.
    """
    for part in (config, *(getattr(config, name, None) for name in getattr(config, "sub_configs", ()))):
        for name in _SIZES:
            size = getattr(part, name, 1)
            if size is not None and not (isinstance(size, int) and not isinstance(size, bool)):
                if isinstance(size, list | tuple | dict):  # a size for each layer
                    continue
                raise ValueError(f"the configuration has {name} = {ascii(size)[:60]}; that is no whole number")
            if size is not None and size < 1:
                raise ValueError(f"the configuration has {name} = {_short(size)}; a model has 1 or more")
        if part is not None:
            check_counts(part)
    check_sizes(config.to_dict())


def check_sizes(fields: Mapping[str, Any]) -> None:
    """Raise ValueError for a number among the fields of a configuration, at any depth, over the limits."""
    for name, value in _numbers(fields):
        most = _most(name)
        if most is not None and abs(value) > most:
            raise ValueError(f"the configuration has {name[:60]} = {_short(value)}, over {most:,}")


def _most(name: str) -> int | None:
    if any(word in name for word in _NO_SIZE):
        return None
    width = name.endswith(("size", "dim"))
    if ("layer" in name or name.endswith(("depth", "_blocks"))) and not width:
        return MOST_LAYERS
    if "expert" in name and not width:
        return MOST_EXPERTS
    return MOST_VOCABULARY if "vocab" in name or not width else MOST_WIDTH


def _numbers(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, int]]:
    """Yield every whole number with the name that it stands under."""
    if depth > 16:
        raise ValueError("the configuration nests more than 16 deep; no published one does")
    if isinstance(value, dict):
        for name, field in value.items():
            if name not in ("label2id", "id2label"):
                yield from _numbers(field, str(name), depth + 1)
    elif isinstance(value, list | tuple):
        if len(value) > 2**16:
            raise ValueError(f"the configuration has a list {key[:60]} of {len(value):,} values; no published one does")
        for item in value:
            yield from _numbers(item, key, depth + 1)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield key, value


def _short(number: int) -> str:
    return f"{number:,}" if abs(number) < 10**15 else f"a number of {len(str(abs(number)))} digits"


def _lengthen(config: Any, tokens: int) -> None:
    """Make room for a text; a table of relative positions keeps its size, which may be that of the absolute ones."""
    for name in _POSITIONS:
        value = getattr(config, name, None)
        if isinstance(value, int) and 0 < value < tokens + 8:  # some tables begin behind the padding
            if getattr(config, "max_relative_positions", 1) < 1:
                config.max_relative_positions = value
            setattr(config, name, tokens + 8)


# --- code that asks for a value ------------------------------------------------------------------------------------


class Answers(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Answers for code that asks a tensor without data for a value, so that it runs as with an unpadded text.

    `all` is True, `any` is False, any other number 0; a boolean index keeps every element. A loop over the experts
    that were chosen runs once, on one expert that gets every choice: the products that all experts do together.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._all: set[int] = set()
        self._storages: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one operation of torch, or answer in its place."""
        return self.answer(func, args, kwargs or {})

    def answer(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Run one operation of torch, or answer in its place; for modes that look at more."""
        packet = func._overloadpacket
        if packet is _aten._local_scalar_dense and args[0].is_meta:
            number = args[0].untyped_storage()._cdata in self._all
            return number if args[0].dtype is torch.bool else int(number)
        if packet is _aten.nonzero and args[0].is_meta:
            return _nonzero(args[0])
        if packet is _aten._to_copy and args[0].is_meta and str(kwargs.get("device")) == "cpu":  # a list of its values
            return torch.zeros(args[0].shape, dtype=kwargs.get("dtype") or args[0].dtype)
        if packet is _aten.split_with_sizes and _choosing.get():  # the choices of each expert
            args = (args[0], [args[0].shape[0], *[0] * (len(args[1]) - 1)])
        if packet in (_aten.index, _aten.index_put, _aten.index_put_) and _masked(args[1]):
            args = (args[0], _as_numbers(args[1]), *args[2:])
            if packet is not _aten.index:  # the values may be fewer than the elements that the mask could choose
                return args[0] if packet is _aten.index_put_ else torch.empty_like(args[0])
        out = func(*args, **kwargs)
        if packet is _aten.all:
            storage = out.untyped_storage()
            self._storages.append(storage)  # so that no other storage gets its address
            self._all.add(storage._cdata)
        return out


def _masked(indices: Any) -> bool:
    return any(index is not None and index.is_meta and index.dtype in (torch.bool, torch.uint8) for index in indices)


def _as_numbers(indices: Any) -> list[Tensor | None]:
    """Replace each boolean index by as many numbers as it has elements."""
    numbers: list[Tensor | None] = []
    for index in indices:
        if index is None or index.dtype not in (torch.bool, torch.uint8):
            numbers.append(index)
        else:
            numbers += [torch.empty(index.numel(), dtype=torch.long, device="meta") for _ in range(index.ndim)]
    return numbers


def _nonzero(mask: Tensor) -> Tensor:
    if _choosing.get() and mask.ndim == 1:
        return torch.zeros(1, 1, dtype=torch.long)
    return torch.empty(mask.numel(), mask.ndim, dtype=torch.long, device="meta")


def _wrap_experts(module: nn.Module) -> None:
    forward: Callable[..., Any] = module.forward

    @wraps(forward)
    def chosen(*args: Any, **kwargs: Any) -> Any:
        with _while_choosing():
            return forward(*args, **kwargs)

    module.forward = chosen


@contextmanager
def _while_choosing() -> Iterator[None]:
    token = _choosing.set(True)
    try:
        yield
    finally:
        _choosing.reset(token)
