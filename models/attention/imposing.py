"""Imposed masks: at the seam, where every model's attention passes, a rule hides keys that the model would have seen.

The weights were trained with all keys in sight: the model's output under a rule says what the rule takes from this
model, and nothing about a model trained under the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from models.attention.masks import Mask, all_of
from models.attention.running_layer import Stream

Rule = Callable[[int], Mask]
"""The mask of a text of T tokens that attends to itself."""

# A context variable, not a global: two visitors share one loaded model, each thread sees its own.
_rule: ContextVar[Rule | None] = ContextVar("imposed_mask", default=None)


@contextmanager
def imposing(rule: Rule) -> Iterator[None]:
    """Let every self-attention inside the block, in this thread alone, see no more than the rule shows.

    The model's own mask holds too, and a decoder's attention to its source is left alone. A forward with a KV cache
    raises ValueError, for its queries are not the text's.
    """
    token = _rule.set(rule)
    try:
        yield
    finally:
        _rule.reset(token)


def with_imposed(mask: Mask | None, stream: Stream, *, queries: int, keys: int) -> Mask | None:
    """Join the model's mask and the imposed rule, where there is one."""
    rule = _rule.get()
    if rule is None or stream == "cross":
        return mask
    if queries != keys:
        raise ValueError(f"a rule is imposed on whole texts, and {queries} queries meet {keys} keys; run without cache")
    return all_of(mask, rule(keys))
