"""One layer's attention with more heads or fewer, which share its width: what changes, and what does not.

```python
layer = attention_layer(models.load("minilm").config)
layer.with_heads(1, tokens=128).softmax  # FLOPs, a twelfth of what 12 heads take
```
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.costs.formulas import SOFTMAX_FLOPS
from models.transformer.config import TransformerConfig

if TYPE_CHECKING:
    from transformers import PreTrainedConfig


@dataclass(frozen=True)
class HeadsCost:
    """One layer's attention with some number of heads: the width of each, and what does and does not depend on it.

    parameters: 4 d². projections: FLOPs of the four matrices, 8 n d². products: of scores and mix, 4 n² d. softmax: 5
    FLOPs for each of h n² weights.
    """

    head_width: int
    parameters: int
    projections: int
    products: int
    softmax: int


@dataclass(frozen=True)
class AttentionLayer:
    """A layer's width d and its heads h, which share d among them."""

    width: int
    heads: int

    def compared(self, heads: int) -> list[int]:
        """Choose the numbers of heads to time beside `heads`: 1, the model's own, and the most up to 64."""
        most = max(number for number in self.divisors if number <= max(64, self.heads))
        return sorted({1, heads, self.heads, most})

    @property
    def divisors(self) -> list[int]:
        """The numbers of heads that divide the width, its own among them, up to 256."""
        return sorted({*(h for h in range(1, 257) if self.width % h == 0), self.heads})

    def with_heads(self, heads: int, *, tokens: int) -> HeadsCost:
        """Count the layer with another number of heads, each d / h wide with keys and values of its own."""
        d, n = self.width, tokens
        return HeadsCost(d // heads, 4 * d * d, 8 * n * d * d, 4 * n * n * d, SOFTMAX_FLOPS * heads * n * n)


def attention_layer(config: PreTrainedConfig | TransformerConfig) -> AttentionLayer:
    """Read width and heads from a configuration; raises ValueError where it does not name them."""
    if isinstance(config, TransformerConfig):
        return AttentionLayer(config.width, config.heads)
    from models.config_facts import attention_sizes, first_number, stack_configs

    heads, *_ = attention_sizes(config)
    return AttentionLayer(first_number(stack_configs(config)[-1], "hidden_size", "d_model"), heads)
