"""FLOPs of matrix products, counted as a model runs: 1 multiply-add = 2 FLOPs.

```python
with MatrixProducts() as counted:
    network(ids)
counted.flops
```
"""

from __future__ import annotations

from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry


class MatrixProducts(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A counter of what this thread multiplies inside the block, by the formulas of torch.utils.flop_counter.

    torch's own FlopCounterMode follows modules through hooks that all threads of a process share; this one does not.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.flops = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one operation of torch, and count it where it is a matrix product."""
        kwargs = kwargs or {}
        formula = flop_registry.get(func._overloadpacket)
        if formula is None:  # an operation made of others, such as a linear layer under inference mode
            with self:
                parts = func.decompose(*args, **kwargs)
            if parts is not NotImplemented:
                return parts
        out = func(*args, **kwargs)
        if formula is not None:
            self.flops += formula(*args, **kwargs, out_val=out)
        return out
