"""The size of a Transformer that a configuration asks for, counted before anything is built.

```python
check_size(config)  # ValueError for a Transformer that no machine would hold
```
"""

from __future__ import annotations

from models.transformer.config import TransformerConfig

MOST_PARAMETERS, MOST_BLOCKS = 200_000_000, 500  # of a Transformer that switches or a configuration make


def blocks(config: TransformerConfig) -> int:
    """Count the layers that one forward runs; a decoder's layer that reads a source too counts twice."""
    return config.layers + (2 * config.decoder_depth if config.shape == "encoder-decoder" else 0)


def parameters_at_most(config: TransformerConfig) -> int:
    """Count every table and matrix that a config can ask for; what a config leaves out counts too."""
    widest, embedded = config.heads * config.head_width, config.embedding_width or config.width
    attention = 4 * config.width * max(widest, config.width)
    if config.score not in ("dot", "cosine"):  # two matrices a head, at most
        attention += 2 * widest * config.head_width
    if config.positions == "shaw":
        attention += 2 * (2 * config.relative_distance + 1) * config.head_width
    if config.positions == "xl":
        attention += (config.width + 2) * widest
    tables = (config.vocabulary + config.decoder_vocabulary + config.max_positions + config.width) * embedded
    tables += config.relative_buckets * config.heads
    return blocks(config) * (attention + 3 * config.width * config.ffn_width) + tables


def numbers_at_most(config: TransformerConfig) -> int:
    """Count what a recording keeps of a token (queries, keys, values, what norms read), and what is there beside it.

    Beside it are the FFN's units of one layer and, for additive scores, the hidden units of a block of 128 queries.
    """
    heads = 2 * (config.heads + config.key_heads) * config.head_width
    if config.positions == "xl":  # the vector of each distance, on both sides
        heads += 2 * config.heads * config.head_width
    beside = 3 * config.ffn_width + (
        128 * config.heads * config.head_width if config.score.startswith("additive") else 0
    )
    return blocks(config) * (heads + 6 * config.width) + beside


def check_size(config: TransformerConfig) -> None:
    """Raise ValueError for a Transformer of more than MOST_PARAMETERS or MOST_BLOCKS."""
    if (parameters := parameters_at_most(config)) > MOST_PARAMETERS or blocks(config) > MOST_BLOCKS:
        raise ValueError(
            f"these choices make {blocks(config):,} layers and up to {parameters:,} parameters, the limits are "
            f"{MOST_BLOCKS:,} and {MOST_PARAMETERS:,}; choose fewer layers or smaller sizes"
        )
