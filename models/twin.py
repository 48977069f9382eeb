"""A twin of a network: a copy of its modules on the same memory, watched while the network itself is trained or run.

The twin may be put into eval mode, given hooks and another attention; of all this nothing reaches the network. Its
parameters are aliases that take no gradient: both see the next step of an optimiser, and neither holds the other.

```python
copied = twin(network)
copied.weight.data_ptr() == network.weight.data_ptr()  # True
```
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from models.failures import told

_FLOATS = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
_MARK = "headlight_"  # begins the names of what Headlight writes on modules that it has hooked
_HANDS_OUT_STATES = "_output_capturing_hooks_installed"  # transformers' mark of its hooks
_SAVED = "save it with save_pretrained, and load that folder with models.load"


def check_copyable(network: nn.Module) -> None:
    """Raise ValueError that names the part where a twin would not compute what the network does.

    Such are tensors of a class of their own (quantised, sharded), without numbers (on the meta device) or on several
    devices, and modules whose forward was replaced, or whose weights a hook makes anew for each call (pruning).
    """
    _check_modules(network)
    _check_tensors(network)


def twin(network: nn.Module) -> nn.Module:
    """Copy the modules of a copyable network, in eval mode and without hooks; each tensor is an alias of the network's.

    Tied weights stay tied. Hooks stay behind, for they may keep what they see. Raises ValueError where an attribute of
    a module cannot be copied.
    """
    copies: dict[int, Any] = {}
    for module in network.modules():
        copies |= {id(hooks): type(hooks)() for hooks in _hooks(module)}
        for parameter in module._parameters.values():
            if parameter is not None and id(parameter) not in copies:
                copies[id(parameter)] = nn.Parameter(parameter.detach(), requires_grad=False)
        for tensor in (*module._buffers.values(), *vars(module).values()):
            if isinstance(tensor, Tensor) and id(tensor) not in copies:
                copies[id(tensor)] = tensor.detach()
    with told(f"Copying the modules of {named(network)}", instead=f"To record it, {_SAVED}."):
        copied: nn.Module = deepcopy(network, copies)
    for module in copied.modules():
        for name in [name for name in vars(module) if name.lstrip("_").startswith(_MARK)]:
            delattr(module, name)
        vars(module).pop(_HANDS_OUT_STATES, None)
    return copied.eval()


def named(network: nn.Module) -> str:
    """Name a network's class in printable ASCII: the name may be a stranger's."""
    return f"{type(network).__name__[:60]!a}"[1:-1]


def has_hooks(network: nn.Module) -> bool:
    """Return True where a forward of the network runs hooks of its user's, which a forward of its twin does not run."""
    return not any(_MARK in name for name in vars(network)) and any(
        getattr(hook, "__module__", "") != "transformers.utils.output_capturing"
        for module in network.modules()
        for hooks in (module._forward_hooks, module._forward_pre_hooks)
        for hook in hooks.values()
    )


def _hooks(module: nn.Module) -> Iterator[dict[Any, Any]]:
    """Yield the tables of a module's hooks, of every kind."""
    for name, value in vars(module).items():
        if "_hooks" in name and isinstance(value, dict):
            yield value


def _check_modules(network: nn.Module) -> None:
    for path, module in network.named_modules():
        where = f"{named(network)} cannot be recorded as it is: its module {(path or 'itself')[:100]!a}"
        if "forward" in vars(module):
            raise ValueError(
                f"{where} has another forward than its class, as accelerate gives it for a device_map. Load the model "
                'without a device_map, or its folder with models.load(folder, device="auto")'
            )
        if isinstance(module, torch.jit.ScriptModule) or type(module).__module__.startswith("torch.ao."):
            raise ValueError(
                f"{where} is a {named(module)}, whose weights are packed. Record the model before it is quantised or "
                "scripted"
            )
        if any(type(hook).__module__.startswith("torch.nn.utils.") for hook in module._forward_pre_hooks.values()):
            raise ValueError(
                f"{where} makes its weights anew before each call, as pruning and weight norms do. Make them permanent "
                "first, by torch.nn.utils.prune.remove or remove_weight_norm"
            )


def _check_tensors(network: nn.Module) -> None:
    parameters = list(network.named_parameters())
    for name, tensor in (*parameters, *network.named_buffers()):
        where = f"{named(network)} cannot be recorded as it is: its {name[:100]!a}"
        if type(tensor) not in (Tensor, nn.Parameter):
            raise ValueError(
                f"{where} is a {type(tensor).__name__[:60]!a}, which is quantised, sharded or not made yet. Load the "
                "model in bfloat16 or float32 on one device"
            )
        if tensor.is_meta:
            raise ValueError(f"{where} is on the meta device and holds no numbers. Load its weights first")
    if not parameters:
        raise ValueError(f"{named(network)} has no weights, so there is nothing to record")
    for name, parameter in parameters:
        if parameter.dtype not in _FLOATS:
            raise ValueError(
                f"{named(network)} cannot be recorded as it is: its {name[:100]!a} is kept in {parameter.dtype}. Load "
                "the model in bfloat16 or float32"
            )
    devices = sorted({str(parameter.device) for _, parameter in parameters})
    if len(devices) > 1:
        raise ValueError(
            f"{named(network)} is spread over {' and '.join(devices)}. Move it to one device, or load its folder with "
            'models.load(folder, device="auto")'
        )
