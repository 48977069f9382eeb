"""The KV cache of a model that writes: the keys and values kept for every token so far, from the configuration alone.

A layer keeps K (E + E_v) numbers a token: K = H heads in multi-head attention (MHA), fewer that heads share in
grouped-query attention (GQA, Ainslie et al. 2023), 1 in multi-query attention (MQA, Shazeer 2019). Multi-head latent
attention (MLA, DeepSeek-AI 2024) keeps the d_c numbers that keys and values are made from and the d_rope that carry the
position. A layer with a sliding window attends to min(n, window) tokens and is counted so; transformers keeps one less,
for the newest token's own key comes with its step.

```python
cache = kv_cache(SHELF["llama-2-70b"].config())
cache.token_bytes()  # 327680, of 2-byte numbers
```

Letters: H heads, K heads of keys and values, E head width, n tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from models.transformer.config import TransformerConfig

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

Sharing = Literal["MHA", "GQA", "MQA", "MLA"]


@dataclass(frozen=True)
class CachedLayer:
    """The numbers that one layer keeps.

    numbers: a token, keys and values together. window: the tokens that it keeps at most, None for all. source: the
    numbers for each token of the source in an encoder-decoder, kept once.
    """

    numbers: int
    window: int | None = None
    source: int = 0


@dataclass(frozen=True)
class CacheSizes:
    """The cache of all layers that attend.

    sharing, heads, kv_heads: how heads share keys and values.
    """

    layers: tuple[CachedLayer, ...]
    sharing: Sharing
    heads: int
    kv_heads: int

    def token_bytes(self, element_bytes: int = 2) -> int:
        """Count the bytes that one more token adds before any window is full."""
        return element_bytes * sum(layer.numbers for layer in self.layers)

    def bytes(self, tokens: int, *, source: int = 0, element_bytes: int = 2) -> int:
        """Count the bytes after n tokens, and a source's; raises ValueError for a negative number of either."""
        if min(tokens, source) < 0:
            raise ValueError(f"tokens {tokens}, source {source}: neither can be negative")
        elements = sum(
            layer.numbers * min(tokens, tokens if layer.window is None else layer.window) + layer.source * source
            for layer in self.layers
        )
        return element_bytes * elements

    def shared_by(self, kv_heads: int) -> CacheSizes:
        """Make the cache of the same model with another number of K, between 1 and H; raises ValueError for others."""
        if not 1 <= kv_heads <= self.heads or self.heads % kv_heads:
            raise ValueError(f"{self.heads} heads cannot share {kv_heads} keys and values; choose a divisor")
        if self.sharing == "MLA":
            raise ValueError("in multi-head latent attention no heads share keys; each makes its own from the latent")
        layers = tuple(
            replace(
                layer,
                numbers=layer.numbers * kv_heads // self.kv_heads,
                source=layer.source * kv_heads // self.kv_heads,
            )
            for layer in self.layers
        )
        return CacheSizes(layers, _sharing(self.heads, kv_heads), self.heads, kv_heads)


def kv_cache(config: PreTrainedConfig | TransformerConfig) -> CacheSizes:
    """Derive the cache of a decoder, or of an encoder-decoder's decoder.

    Raises ValueError for an encoder, which keeps nothing, and for a configuration without the sizes.
    """
    return _of_own(config) if isinstance(config, TransformerConfig) else _foreign(config)


def shared(cache: CacheSizes, *, tokens: int, source: int = 0, element_bytes: int = 2) -> pd.DataFrame:
    """Give the bytes of a cache with every way to share keys and values; columns kv_heads, bytes, own.

    Where the model itself does not share in groups, the number of groups is the divisor nearest to a quarter of the
    heads. source: its tokens, which an encoder-decoder keeps too. own: whether it is what the model has.
    """
    ways = [cache.heads]
    if 1 < cache.kv_heads < cache.heads:
        ways.append(cache.kv_heads)
    elif between := [number for number in range(2, cache.heads) if cache.heads % number == 0]:
        ways.append(min(between, key=lambda number: (abs(4 * number - cache.heads), number)))
    ways.append(1)
    rows = [
        (
            kv_heads,
            cache.shared_by(kv_heads).bytes(tokens, source=source, element_bytes=element_bytes),
            kv_heads == cache.kv_heads,
        )
        for kv_heads in ways
    ]
    return pd.DataFrame(rows, columns=["kv_heads", "bytes", "own"])


def _of_own(config: TransformerConfig) -> CacheSizes:
    if config.shape == "encoder":
        raise ValueError("an encoder reads its text at once and keeps no keys and values")
    numbers = 2 * config.key_heads * config.head_width
    source = numbers if config.shape == "encoder-decoder" else 0
    layers = (CachedLayer(numbers, None, source),) * config.decoder_depth
    return CacheSizes(layers, _sharing(config.heads, config.key_heads), config.heads, config.key_heads)


def _foreign(config: Any) -> CacheSizes:
    from models.config_facts import attention_sizes, first_number, layer_counts, stack_configs, text_config

    writes = config.is_encoder_decoder or _is_causal(config)
    if not writes:
        raise ValueError(f"{config.model_type} is an encoder: it reads its text at once and keeps no keys and values")
    encoder_layers, decoder_layers = layer_counts(config)
    text = stack_configs(config)[-1] if config.is_encoder_decoder else text_config(config)
    heads, kv_heads, key_width, value_width = attention_sizes(config)
    count = decoder_layers if config.is_encoder_decoder else encoder_layers
    latent = getattr(text, "kv_lora_rank", None)
    sharing: Sharing
    if isinstance(latent, int) and latent > 0:
        numbers, sharing = latent + first_number(text, "qk_rope_head_dim"), "MLA"
    else:
        numbers, sharing = kv_heads * (key_width + value_width), _sharing(heads, kv_heads)
    source = numbers if config.is_encoder_decoder else 0
    layers = tuple(CachedLayer(numbers, window, source) for window in _windows(text, count))
    return CacheSizes(layers, sharing, heads, kv_heads)


def _sharing(heads: int, kv_heads: int) -> Sharing:
    return "MHA" if kv_heads == heads else "MQA" if kv_heads == 1 else "GQA"


def _is_causal(config: Any) -> bool:
    """Tell a decoder by the classes that transformers has for its configuration."""
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING

    if getattr(config, "is_decoder", False):
        return True
    kind = type(config)
    return kind in MODEL_FOR_CAUSAL_LM_MAPPING and kind not in MODEL_FOR_MASKED_LM_MAPPING


def _windows(text: Any, count: int) -> list[int | None]:
    """The window of every layer that attends, in order."""
    window = getattr(text, "sliding_window", None)
    if not isinstance(window, int) or window < 1 or getattr(text, "use_sliding_window", True) is False:
        window = None
    kinds = getattr(text, "layer_types", None) or getattr(text, "layers_block_type", None)
    if not kinds:
        return [window] * count
    attend = [kind for kind in kinds if kind.startswith("hybrid") or ("attention" in kind and "linear" not in kind)]
    return [window if "sliding" in kind else None for kind in attend]
